"""The graph as the labelling reads it: whole waves by one statement, small ones key by key."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any

from tms.store.file import Connection

WIDE = 12
"""From how many keys on one statement for all of them is quicker than one for each."""

_LABELS = "SELECT l.node, l.rank, l.support FROM {from} cache_label AS l {on} l.node = {key}"
_USES = (
    "SELECT p.justification FROM {from} premise AS p INDEXED BY premise_by_node {on} p.node = {key}"
    " {and} NOT EXISTS (SELECT 1 FROM cache_off WHERE target = p.justification)"
)
_PREMISES = (
    "SELECT p.justification, p.node, l.rank FROM {from} premise AS p"
    " LEFT JOIN cache_label AS l ON l.node = p.node WHERE p.justification = {key}"
)
_CONCLUSIONS = (
    "SELECT d.justification, d.node, l.rank, l.support FROM {from} derive AS d"
    " LEFT JOIN cache_label AS l ON l.node = d.node WHERE d.justification = {key}"
    " AND NOT EXISTS (SELECT 1 FROM cache_off WHERE target = d.node)"
)
_DERIVATIONS = (
    "SELECT d.node, d.justification FROM {from} derive AS d INDEXED BY derive_by_node"
    " {on} d.node = {key}"
    " {and} NOT EXISTS (SELECT 1 FROM cache_off WHERE target = d.justification)"
)


def _both(statement: str) -> tuple[str, str]:
    """Return the statement for one key and for a JSON list of keys."""
    one = {"from": "", "on": "WHERE", "and": "AND", "key": "?"}
    # CROSS JOIN keeps the list outermost, so that every key is a seek.
    many = {
        "from": "json_each(?) AS e CROSS JOIN",
        "on": "ON",
        "and": "WHERE",
        "key": "e.value",
    }
    return statement.format_map(one), statement.format_map(many)


class SqlNetwork:
    """A ``labelling.Network`` over the record and the cached labels.

    Args:
        connection: the file.
        wide: from how many keys on one statement serves all of them.
    """

    _labels = _both(_LABELS)
    _uses = _both(_USES)
    _premises = _both(_PREMISES)
    _conclusions = _both(_CONCLUSIONS)
    _derivations = _both(_DERIVATIONS)

    def __init__(self, connection: Connection, *, wide: int = WIDE) -> None:
        self._execute = connection.sql.execute
        self._wide = wide

    def labels(self, nodes: Sequence[int]) -> Iterable[tuple[int, int, int | None]]:
        """Yield (node, rank, support) of those that are IN."""
        return self._rows(self._labels, nodes)

    def uses(self, nodes: Sequence[int]) -> Iterable[int]:
        """Yield the justifications, switched on, that need one of the nodes."""
        return (row[0] for row in self._rows(self._uses, nodes))

    def premises(self, justifications: Sequence[int]) -> Iterable[tuple[int, int, int | None]]:
        """Yield (justification, premise, rank)."""
        return self._rows(self._premises, justifications)

    def conclusions(
        self, justifications: Sequence[int]
    ) -> Iterable[tuple[int, int, int | None, int | None]]:
        """Yield (justification, fact, rank, support) for facts that are switched on."""
        return self._rows(self._conclusions, justifications)

    def derivations(self, facts: Sequence[int]) -> Iterable[tuple[int, int]]:
        """Yield (fact, justification) for justifications that are switched on."""
        return self._rows(self._derivations, facts)

    def _rows(self, statements: tuple[str, str], keys: Sequence[int]) -> Iterator[Any]:
        if len(keys) >= self._wide:
            rows: Iterator[Any] = self._execute(statements[1], (str(list(keys)),))
            return rows
        execute, statement = self._execute, statements[0]
        return chain.from_iterable(execute(statement, (key,)) for key in keys)
