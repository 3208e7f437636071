"""The graph as the labelling reads it: whole waves by one statement, small ones key by key.

A long chain is a hundred thousand waves of one key each. Where the keys of small waves follow one
another closely, as they do when a chain was recorded in order, they are read a block ahead.
"""

from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from typing import Any, NamedTuple

from tms.store.connection import Connection

WIDE = 12
"""From how many keys on one statement for all of them is quicker than one for each."""

AHEAD = 256
"""How many keys are read at once, at most, where small waves follow one another closely."""


class Ways(NamedTuple):
    """One way along the graph as statements: for keys between two, and for the keys of a list."""

    between: str
    listed: str


def ways(statement: str) -> Ways:
    """Return a statement for keys between two, and for the keys of a list."""
    return Ways(
        statement.format_map({"from": "", "on": "WHERE", "and": "AND", "keys": "BETWEEN ? AND ?"}),
        # CROSS JOIN keeps the list outermost, so that every key is a seek.
        statement.format_map(
            {
                "from": "json_each(?) AS e CROSS JOIN",
                "on": "ON",
                "and": "WHERE",
                "keys": "= e.value",
            }
        ),
    )


_LABELS = ways("SELECT l.node, l.rank, l.support FROM {from} cache_label AS l {on} l.node {keys}")
_USES = ways(
    "SELECT p.node, p.justification FROM {from} premise AS p INDEXED BY premise_by_node"
    " {on} p.node {keys}"
    " {and} NOT EXISTS (SELECT 1 FROM cache_off WHERE target = p.justification)"
)
_PREMISES = ways(
    "SELECT p.justification, p.node, l.rank FROM {from} premise AS p"
    " LEFT JOIN cache_label AS l ON l.node = p.node WHERE p.justification {keys}"
)
_CONCLUSIONS = ways(
    "SELECT d.justification, d.node, l.rank, l.support FROM {from} derive AS d"
    " LEFT JOIN cache_label AS l ON l.node = d.node WHERE d.justification {keys}"
    " AND NOT EXISTS (SELECT 1 FROM cache_off WHERE target = d.node)"
)
_DERIVATIONS = ways(
    "SELECT d.node, d.justification FROM {from} derive AS d INDEXED BY derive_by_node"
    " {on} d.node {keys}"
    " {and} NOT EXISTS (SELECT 1 FROM cache_off WHERE target = d.justification)"
)


class SqlNetwork:
    """A ``labelling.Network`` over the record and the cached labels, for one settlement.

    Args:
        connection: the file.
        wide: from how many keys on one statement serves all of them.
        ahead: how many keys are read ahead, at most.
    """

    def __init__(self, connection: Connection, *, wide: int = WIDE, ahead: int = AHEAD) -> None:
        execute = connection.sql.execute
        self._labels = Relation(execute, _LABELS, wide, ahead)
        self._uses = Relation(execute, _USES, wide, ahead)
        self._premises = Relation(execute, _PREMISES, wide, ahead)
        self._conclusions = Relation(execute, _CONCLUSIONS, wide, ahead)
        self._derivations = Relation(execute, _DERIVATIONS, wide, ahead)

    def labels(self, nodes: Sequence[int]) -> Iterable[tuple[int, int, int | None]]:
        """Yield (node, rank, support) of those that are IN."""
        return self._labels.rows(nodes)

    def uses(self, nodes: Sequence[int]) -> Iterable[int]:
        """Yield the justifications, switched on, that need one of the nodes."""
        return [row[1] for row in self._uses.rows(nodes)]

    def premises(self, justifications: Sequence[int]) -> Iterable[tuple[int, int, int | None]]:
        """Yield (justification, premise, rank)."""
        return self._premises.rows(justifications)

    def conclusions(
        self, justifications: Sequence[int]
    ) -> Iterable[tuple[int, int, int | None, int | None]]:
        """Yield (justification, fact, rank, support) for facts that are switched on."""
        return self._conclusions.rows(justifications)

    def derivations(self, facts: Sequence[int]) -> Iterable[tuple[int, int]]:
        """Yield (fact, justification) for justifications that are switched on."""
        return self._derivations.rows(facts)


class Relation:
    """One way along the graph: from keys to rows that begin with the key."""

    def __init__(self, execute: Callable[..., Any], ways: Ways, wide: int, ahead: int) -> None:
        self._execute = execute
        self._between, self._listed = ways
        self._wide = wide
        self._ahead = ahead
        self._block: dict[int, list[Any]] = {}
        self._span = 1
        self._near = 0
        self._last = 0

    def rows(self, keys: Sequence[int]) -> Iterable[Any]:
        """Return the rows of the keys, key by key."""
        if len(keys) >= self._wide:
            rows: list[Any] = self._execute(self._listed, (str(list(keys)),)).fetchall()
            return rows
        if len(keys) == 1:
            return self._of(keys[0])
        return chain.from_iterable(map(self._of, keys))

    def _of(self, key: int) -> Iterable[Any]:
        held = self._block.get(key)
        if held is not None:
            self._near += 1
            return held
        close = abs(key - self._last) <= 2 * self._span
        self._last = key
        if close and self._near >= self._span // 4:
            self._span = min(2 * self._span, self._ahead)
        else:
            self._span = 1
        self._near = 0
        if self._span == 1:
            rows: list[Any] = self._execute(self._between, (key, key)).fetchall()
            return rows
        low = key - key % self._span
        block: dict[int, list[Any]] = {low + place: [] for place in range(self._span)}
        for row in self._execute(self._between, (low, low + self._span - 1)).fetchall():
            block[row[0]].append(row)
        self._block = block
        return block[key]
