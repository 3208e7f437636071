"""A network in dictionaries, to try the labelling on without a file; it counts what is read."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from random import Random
from typing import Any

from oracle import least_fixpoint

from tms.labelling import Changes, Label, Turned, settle


class Graph:
    """A ``labelling.Network`` that can be added to and switched.

    Args:
        random: gives the order in which rows are yielded; none: the order in which they came.
    """

    def __init__(self, random: Random | None = None) -> None:
        self.sources: list[int] = []
        self.facts: list[int] = []
        self.justifications: dict[int, tuple[tuple[int, ...], tuple[int, ...]]] = {}
        self.off: set[int] = set()
        self.label: dict[int, Label] = {}
        self.asked: Counter[tuple[str, int]] = Counter()
        self.reads: Counter[str] = Counter()
        self._using: dict[int, list[int]] = {}
        self._deriving: dict[int, list[int]] = {}
        self._random = random
        self._last = 0
        self._new_sources: list[int] = []
        self._new_justifications: list[int] = []

    # ------------------------------------------------------------ changing

    def _key(self) -> int:
        self._last += 1
        return self._last

    def source(self) -> int:
        key = self._key()
        self.sources.append(key)
        self._new_sources.append(key)
        return key

    def fact(self) -> int:
        key = self._key()
        self.facts.append(key)
        return key

    def justify(self, conclusions: Iterable[int], premises: Iterable[int]) -> int:
        key = self._key()
        needs, facts = tuple(dict.fromkeys(premises)), tuple(dict.fromkeys(conclusions))
        self.justifications[key] = needs, facts
        for node in needs:
            self._using.setdefault(node, []).append(key)
        for fact in facts:
            self._deriving.setdefault(fact, []).append(key)
        self._new_justifications.append(key)
        return key

    def settle(self, off: Iterable[int] = (), on: Iterable[int] = ()) -> Changes:
        """Turn switches and settle them with what was added; return what changed."""
        off, on = list(off), list(on)
        self.off.update(off)
        self.off.difference_update(on)
        sources, gone = set(self.sources), set(off)
        said = self.justifications
        turned = Turned(
            nodes_off=[key for key in off if key not in said],
            justifications_off=[key for key in off if key in said],
            sources_on=[key for key in self._new_sources if key not in gone]
            + [key for key in on if key in sources],
            facts_on=[key for key in on if key not in sources and key not in said],
            justifications_on=[key for key in self._new_justifications if key not in gone]
            + [key for key in on if key in said],
        )
        self._new_sources, self._new_justifications = [], []
        self.asked.clear()
        self.reads.clear()
        changes = settle(self, turned)
        for node, (before, after) in changes.items():
            assert before == self.label.get(node), (node, before)
            assert before != after
            if after is None:
                del self.label[node]
            else:
                self.label[node] = after
        self._check_frame(changes)
        return changes

    def _check_frame(self, changes: Changes) -> None:
        """A label changes only where something that the node rested on changed."""
        for node, (before, _) in changes.items():
            waiting = [] if before is None or node in self.off else [before[1]]
            while waiting:
                support = waiting.pop()
                if support is None:
                    continue
                premises = self.justifications[support][0]
                if support in self.off or any(premise in changes for premise in premises):
                    break
                waiting += [self.label[premise][1] for premise in premises]
            else:
                assert before is None or node in self.off, node

    def check(self) -> None:
        """Compare the labels with a relabelling from scratch, and look at each support."""
        assert self.label.keys() == least_fixpoint(self.sources, self.justifications, self.off)
        for node, (rank, support) in self.label.items():
            if support is None:
                assert rank == 0
                assert node in self.sources
            else:
                premises, conclusions = self.justifications[support]
                assert support not in self.off
                assert node in conclusions
                assert all(self.label[premise][0] < rank for premise in premises)

    # ------------------------------------------------------------ asked by the labelling

    def _rows(self, what: str, keys: Sequence[int], rows: Iterable[Any]) -> Iterator[Any]:
        self.reads[what] += 1
        self.asked.update((what, key) for key in keys)
        if self._random is None:
            return iter(rows)
        shuffled = list(rows)
        self._random.shuffle(shuffled)
        return iter(shuffled)

    def labels(self, nodes: Sequence[int]) -> Iterator[tuple[int, int, int | None]]:
        rows = ((node, *self.label[node]) for node in nodes if node in self.label)
        return self._rows("labels", nodes, rows)

    def uses(self, nodes: Sequence[int]) -> Iterator[int]:
        using, off = self._using, self.off
        rows = (key for node in nodes for key in using.get(node, ()) if key not in off)
        return self._rows("uses", nodes, rows)

    def premises(self, justifications: Sequence[int]) -> Iterator[tuple[int, int, int | None]]:
        said, label = self.justifications, self.label
        rows = (
            (key, node, label[node][0] if node in label else None)
            for key in justifications
            for node in said[key][0]
        )
        return self._rows("premises", justifications, rows)

    def conclusions(
        self, justifications: Sequence[int]
    ) -> Iterator[tuple[int, int, int | None, int | None]]:
        said, label, off, out = self.justifications, self.label, self.off, (None, None)
        rows = (
            (key, fact, *label.get(fact, out))
            for key in justifications
            for fact in said[key][1]
            if fact not in off
        )
        return self._rows("conclusions", justifications, rows)

    def derivations(self, facts: Sequence[int]) -> Iterator[tuple[int, int]]:
        deriving, off, asked = self._deriving, self.off, self.asked
        for fact in facts:
            keys = self._rows("derivations", (fact,), deriving.get(fact, ()))
            for key in keys:
                if key not in off:
                    asked["derivation", fact] += 1
                    yield fact, key
