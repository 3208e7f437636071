"""A commit that is only imagined: what a draft adds is kept in memory, and nothing is written."""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, groupby

from tms.clock import Window
from tms.store.adjacency import Adjacency, Row
from tms.store.audit import Audit
from tms.store.beliefs import Beliefs
from tms.store.connection import Connection
from tms.store.lookup import Crossed, Head, Named
from tms.store.record import Changes, Record
from tms.store.windows import Windows


class Imagined(Record):
    """A record as it was at a revision, to which a draft adds in memory alone.

    It looks up and takes in what a ``Record`` does, for one commit that is settled once, and is
    the ``labelling.Network`` of that settlement. Labels of the cache have their ranks. Labels of
    the record have none, and need none but along the supports of what the commit takes away:
    nothing else is reconsidered, so all the rest may stand at rank 0.

    Args:
        connection: the file, in a snapshot.
        at: the revision on which the commit stands.
        live: that is the head, and its cached labels may be used.

    Attributes:
        graph: what is on record at that revision.
        moves: of each node on record whose label changes, the labels before and after.
        labels_of_new: the labels of the new nodes that come IN.
        new: the (kind, id, role) of the new nodes by their keys.
        justified: the ids of the new justifications by their keys.
        switched: the targets of the switches turned.
        off, on: what supports no longer, and again.
        closed: the head that the commit would make; None if it is empty.
    """

    def __init__(self, connection: Connection, at: int, *, live: bool) -> None:
        super().__init__(connection, at)
        self._beliefs = beliefs = Beliefs(connection)
        overlay = connection.overlay
        self._base = beliefs.head(at, 0 if overlay is None else overlay.gained)
        self._windows = Windows(connection)
        audit = Audit(connection)
        at_head = live and not connection.writing and overlay is None
        cached = at_head and audit.cache_stands()
        # Without its cache, the head is labelled as a commit would find it, with the cache mended.
        ranks = audit.ranks() if at_head and not cached else None
        self.graph = Adjacency(connection, self._base, cached=cached)
        self._ranks = ranks or {}
        self._ranked = ranks is not None or cached
        self._new_uses: dict[int, list[int]] = {}
        self._new_derivations: dict[int, list[int]] = {}
        self._new_premises: dict[int, list[int]] = {}
        self._new_conclusions: dict[int, list[int]] = {}
        self.moves: Changes = {}
        self.labels_of_new: dict[int, tuple[int, int | None]] = {}
        self.new: dict[int, tuple[str, str, str]] = {}
        self.justified: dict[int, str] = {}
        self.switched: list[int] = []
        self.off: set[int] = set()
        self.on: set[int] = set()
        self.closed: Head | None = None

    # ------------------------------------------------------------ looking up

    def head(self) -> Head:
        """Return the revision on which the commit stands."""
        return self._base

    def content(self, node: int) -> tuple[int, str | None]:
        """Return the newest content of a node at the revision, and its version."""
        if node > self._base.last_key:
            return (0, None)
        row = self._beliefs.node(node, self._base.revision)
        return (row.version or 0, row.content)

    def is_off(self, target: int) -> bool:
        """Return whether the switch of the target is off at the revision."""
        return not self._beliefs.is_on(target, self._base.revision)

    def is_idle(self, target: int) -> bool:
        """Return whether the target supports nothing: it is off, or outside its window."""
        return self.graph.is_off(target)

    def window(self, target: int) -> Window:
        """Return when the target holds, as known at the revision."""
        return self._windows.of(target, self._base.revision)

    def passed(self, low: int, high: int, at: int) -> list[Crossed]:
        """Return those of the passed windows that are seen, in the way of ``Record.passed``."""
        found = super().passed(low, high, at)
        seen = self._beliefs.names([one.target for one in found])
        return [one for one in found if one.target in seen]

    # ------------------------------------------------------------ adding

    def may_write(self, named: Named) -> bool:
        """Return True: what others may change can be imagined to change, too."""
        return True

    def add_nodes(self, rows: Sequence[tuple[int, str, str, str, int]]) -> None:
        """Take in nodes."""
        self.new.update((key, (kind, id, role)) for key, kind, id, role, _ in rows)

    def add_contents(self, rows: Sequence[tuple[int, int, int, str]]) -> None:
        """Take in contents, which nothing asks for: belief does not depend on them."""

    def add_justifications(
        self, rows: Sequence[tuple[int, str | None, bytes, str | None, int]]
    ) -> None:
        """Take in justifications."""
        for key, name, digest, _, _ in rows:
            self.justified[key] = digest.hex() if name is None else name
            self._new_premises[key], self._new_conclusions[key] = [], []

    def add_premises(self, rows: Sequence[tuple[int, int]]) -> None:
        """Take in what justifications need."""
        for justification, node in rows:
            self._new_premises[justification].append(node)
            self._new_uses.setdefault(node, []).append(justification)

    def add_conclusions(self, rows: Sequence[tuple[int, int]]) -> None:
        """Take in what justifications conclude."""
        for justification, node in rows:
            self._new_conclusions[justification].append(node)
            self._new_derivations.setdefault(node, []).append(justification)

    def turn(self, revision: int, switches: Iterable[tuple[int, bool]]) -> None:
        """Take in the turned switches."""
        self.switched = [target for target, _ in switches]

    def add_windows(self, revision: int, windows: Iterable[tuple[int, Window]]) -> None:
        """Take in windows, which the draft looks after."""

    def idle(self, idle: Sequence[int], working: Sequence[int]) -> None:
        """Take in what supports no longer, or again; rank what stands on what does no longer."""
        self.off.update(idle)
        self.off.difference_update(working)
        self.on.update(working)
        if not self._ranked:
            self._ranks = self._ranks_above(sorted(self.off))

    def label(self, changes: Changes) -> None:
        """Take in the labels of the new nodes."""
        for node, (_, after) in changes.items():
            if node > self._base.last_key and after is not None:
                self.labels_of_new[node] = after

    def add_transitions(self, revision: int, changes: Changes) -> None:
        """Take in how the labels of the nodes on record change."""
        self.moves = changes

    def add_new_transitions(self, revision: int, last_key: int) -> None:
        """Take in nothing: ``label`` told of the new nodes."""

    def add_concerns(self, head: Head, passed: Iterable[int]) -> int:
        """Take in nothing: all that is imagined is seen."""
        return head.believed

    def add_commit(self, head: Head, op: str, reason: str | None, by: str | None) -> None:
        """Take in what the head would be."""
        self.closed = head

    def _ranks_above(self, targets: list[int]) -> dict[int, int]:
        """Return ranks, 1 or more, of all that rests on some switches through supports.

        They rise along supports. What is not in them rests on none of the targets.
        """
        graph = self.graph
        above: dict[int, list[int]] = {}
        needs: dict[int, int] = {}
        wave = [node for node, _, _ in graph.labels(targets)]
        ranks = dict.fromkeys(wave, 1)
        rested = [fact for key, fact, _, support, _ in graph.conclusions(targets) if support == key]
        wave = list(dict.fromkeys([*wave, *rested]))
        seen = set(wave)
        while wave:
            users: dict[int, list[int]] = {}
            for node, justification, _ in graph.uses(wave):
                users.setdefault(justification, []).append(node)
            found: dict[int, None] = {}
            for justification, fact, _, support, _ in graph.conclusions(list(users)):
                if support == justification:
                    for node in users[justification]:
                        above.setdefault(node, []).append(fact)
                        needs[fact] = needs.get(fact, 0) + 1
                    found[fact] = None
            wave = [fact for fact in found if fact not in seen]
            seen.update(wave)
        queue = deque(node for node in seen if node not in needs)
        while queue:
            node = queue.popleft()
            rank = ranks.setdefault(node, 1)
            for fact in above.get(node, ()):
                ranks[fact] = max(ranks.get(fact, 1), rank + 1)
                needs[fact] -= 1
                if not needs[fact]:
                    queue.append(fact)
        return ranks

    # ------------------------------------------------------------ the network

    def labels(self, nodes: Sequence[int]) -> Iterable[tuple[int, int, int | None]]:
        """Yield (node, rank, support) of those that are IN before the commit."""
        for node, rank, support in self.graph.labels(nodes):
            yield node, self._ranks.get(node, rank), support

    def uses(self, nodes: Sequence[int]) -> Iterable[int]:
        """Yield the justifications, switched on after it, that need one of the nodes."""
        return [key for _, key in self._on(self.graph.uses(nodes), nodes, self._new_uses)]

    def derivations(self, facts: Sequence[int]) -> Iterable[tuple[int, int]]:
        """Yield (fact, justification) for justifications that are switched on after it."""
        return self._on(self.graph.derivations(facts), facts, self._new_derivations)

    def _on(
        self, rows: Iterable[Row], nodes: Sequence[int], new: dict[int, list[int]]
    ) -> Iterator[tuple[int, int]]:
        """Yield (node, justification) for what is on, node by node, the new ones last of each."""
        on, off = self.on, self.off
        held = ((node, key) for node, key, was in rows if (key in on if was else key not in off))
        if not any(node in new for node in nodes):
            yield from held
            return
        by_node = {node: [key for _, key in some] for node, some in groupby(held, lambda r: r[0])}
        for node in nodes:
            for key in chain(by_node.get(node, ()), new.get(node, ())):
                if key not in off:
                    yield node, key

    def premises(self, justifications: Sequence[int]) -> Iterable[tuple[int, int, int | None]]:
        """Yield (justification, premise, rank before the commit)."""
        ranks = self._ranks
        last = self._base.last_key
        old = [key for key in justifications if key <= last]
        for justification, node, rank in self.graph.premises(old):
            yield justification, node, None if rank is None else ranks.get(node, rank)
        new = [key for key in justifications if key > last]
        needed = {node for key in new for node in self._new_premises[key] if node <= last}
        labels = {node: rank for node, rank, _ in self.labels(sorted(needed))}
        for key in new:
            for node in self._new_premises[key]:
                yield key, node, labels.get(node)

    def conclusions(
        self, justifications: Sequence[int]
    ) -> Iterable[tuple[int, int, int | None, int | None]]:
        """Yield (justification, fact, rank, support) for facts that are switched on after it."""
        last = self._base.last_key
        for new, some in groupby(justifications, lambda key: key > last):
            keys = list(some)
            rows = self._said(keys) if new else self.graph.conclusions(keys)
            for key, fact, rank, support, was in rows:
                if fact in self.on if was else fact not in self.off:
                    standing = None if rank is None else self._ranks.get(fact, rank)
                    yield key, fact, standing, support

    def _said(self, justifications: Sequence[int]) -> Iterator[Row]:
        last = self._base.last_key
        for key in justifications:
            facts = self._new_conclusions[key]
            old = [fact for fact in facts if fact <= last]
            labels = {node: (rank, support) for node, rank, support in self.graph.labels(old)}
            for fact in facts:
                off = fact <= last and self.graph.is_off(fact)
                yield key, fact, *labels.get(fact, (None, None)), off
