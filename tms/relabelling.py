"""Labels from scratch: what a file should believe, worked out by other means than the engine's."""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple


class Said(NamedTuple):
    """A justification, by keys."""

    key: int
    revision: int
    premises: tuple[int, ...]
    conclusions: tuple[int, ...]


class Graph:
    """All nodes and justifications of a file.

    Args:
        nodes: (kind, id, role, revision) by key.
        justifications: by key.
    """

    def __init__(
        self,
        nodes: Mapping[int, tuple[str, str, str, int]],
        justifications: Mapping[int, Said],
    ) -> None:
        self._nodes = nodes
        self._justifications = justifications

    def fixpoint(self, revision: int, off: set[int]) -> set[int]:
        """Label from scratch (Dowling & Gallier 1984): count the premises that are missing."""
        missing: dict[int, int] = {}
        uses: dict[int, list[int]] = {}
        held = {
            key
            for key, node in self._nodes.items()
            if node[2] == "source" and node[3] <= revision and key not in off
        }
        arrived = list(held)
        firing: list[int] = []
        for item in self._justifications.values():
            if item.revision > revision or item.key in off:
                continue
            missing[item.key] = len(item.premises)
            for premise in item.premises:
                uses.setdefault(premise, []).append(item.key)
            if not item.premises:
                firing.append(item.key)
        while arrived or firing:
            for node in arrived:
                for key in uses.get(node, ()):
                    missing[key] -= 1
                    if missing[key] == 0:
                        firing.append(key)
            arrived = []
            for key in firing:
                for fact in self._justifications[key].conclusions:
                    if fact not in held and fact not in off:
                        held.add(fact)
                        arrived.append(fact)
            firing = []
        return held

    def unfounded(self, revision: int, off: set[int], held: dict[int, int | None]) -> Iterator[int]:
        """Yield the IN nodes that the recorded supports do not carry down to sources and axioms."""
        waiting: dict[int, int] = {}
        resting: dict[int, list[int]] = {}
        ready: list[int] = []
        for node, support in held.items():
            item = self._justifications.get(support) if support is not None else None
            is_fact = node in self._nodes and self._nodes[node][2] == "fact"
            if (item is None) == is_fact:
                continue
            if item is None:
                ready.append(node)
            elif item.key not in off and item.revision <= revision and node in item.conclusions:
                waiting[node] = len(item.premises)
                for premise in item.premises:
                    resting.setdefault(premise, []).append(node)
                if not item.premises:
                    ready.append(node)
        for node in ready:
            for fact in resting.get(node, ()):
                waiting[fact] -= 1
                if waiting[fact] == 0:
                    ready.append(fact)
        for node in sorted(held.keys() - set(ready)):
            yield node


def grouped(rows: Iterable[tuple[int, int]]) -> dict[int, tuple[int, ...]]:
    """Gather rows (key, node) by their keys."""
    groups: dict[int, list[int]] = {}
    for key, node in rows:
        groups.setdefault(key, []).append(node)
    return {key: tuple(nodes) for key, nodes in groups.items()}


def by_revision(rows: Iterable[tuple[int, ...]]) -> dict[int, list[tuple[int, ...]]]:
    """Gather rows by their first column."""
    groups: dict[int, list[tuple[int, ...]]] = {}
    for row in rows:
        groups.setdefault(row[0], []).append(row)
    return groups
