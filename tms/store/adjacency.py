"""The graph at one revision, with its labels: what a supposition is tried on.

At the head the labels are those of the cache. At an earlier revision they are those of the
record, which keeps supports and no ranks; what is to be settled there gives its own (see
``Imagined``). Whole waves are read by one statement, as for the labelling itself.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from tms.store.connection import Connection
from tms.store.fragments import is_in, support, works
from tms.store.lookup import Head
from tms.store.network import AHEAD, WIDE, Relation, ways

_SEEN = (
    "(SELECT scope FROM justification AS s WHERE s.justification = p.justification) IN temp.mine"
)

Label = tuple[int, int | None]
Row = tuple[Any, ...]


class Adjacency:
    """What is on record at a revision, by ways along the graph.

    A rank of None means OUT; of the record, any rank is 0. ``off`` tells whether a justification or
    a fact is switched off or outside its window.

    Args:
        connection: the file.
        head: the revision.
        cached: the cache holds the labels of that revision.
    """

    def __init__(
        self,
        connection: Connection,
        head: Head,
        *,
        cached: bool,
        wide: int = WIDE,
        ahead: int = AHEAD,
    ) -> None:
        self.cached = cached
        self.last_key = head.last_key
        execute = connection.sql.execute
        rank, support = _labels(str(head.revision), cached=cached)
        off = _off(str(head.revision), cached=cached)
        known = f"p.justification <= {head.last_key}"
        (several,) = execute("SELECT max(scope) > 0 FROM scope").fetchone()
        seen = f" AND {_SEEN}" if several else ""

        def relation(statement: str) -> Relation:
            return Relation(execute, ways(statement), wide, ahead)

        self._labels = relation(
            f"SELECT n.node, {rank('n.node')}, {support('n.node')}"
            " FROM {from} node AS n {on} n.node {keys}"
        )
        self._uses = relation(
            f"SELECT p.node, p.justification, {off('p.justification')}"
            " FROM {from} premise AS p INDEXED BY premise_by_node {on} p.node {keys}"
            f" {{and}} {known}{seen}"
        )
        self._premises = relation(
            f"SELECT p.justification, p.node, {rank('p.node')}"
            " FROM {from} premise AS p {on} p.justification {keys}"
        )
        self._conclusions = relation(
            f"SELECT p.justification, p.node, {rank('p.node')}, {support('p.node')},"
            f" {off('p.node')} FROM {{from}} derive AS p {{on}} p.justification {{keys}}"
        )
        self._derivations = relation(
            f"SELECT p.node, p.justification, {off('p.justification')}"
            " FROM {from} derive AS p INDEXED BY derive_by_node {on} p.node {keys}"
            f" {{and}} {known}"
        )
        self._switch = f"SELECT {off('?1')}"
        self._execute = execute

    def labels(self, nodes: Sequence[int]) -> list[tuple[int, int, int | None]]:
        """Return (node, rank, support) of those that are IN."""
        return [row for row in self._labels.rows(nodes) if row[1] is not None]

    def uses(self, nodes: Sequence[int]) -> Iterable[Row]:
        """Yield (node, justification, off) for each that needs one of the nodes."""
        return self._uses.rows(nodes)

    def premises(self, justifications: Sequence[int]) -> Iterable[Row]:
        """Yield (justification, premise, rank)."""
        return self._premises.rows(justifications)

    def conclusions(self, justifications: Sequence[int]) -> Iterable[Row]:
        """Yield (justification, fact, rank, support, off)."""
        return self._conclusions.rows(justifications)

    def derivations(self, facts: Sequence[int]) -> Iterable[Row]:
        """Yield (fact, justification, off) for each that derives one of the facts."""
        return self._derivations.rows(facts)

    def is_off(self, target: int) -> bool:
        """Return whether a target is switched off or outside its window. Two seeks."""
        (off,) = self._execute(self._switch, (target,)).fetchone()
        return bool(off)


def _labels(at: str, *, cached: bool) -> tuple[Any, Any]:
    if cached:
        return (
            "(SELECT rank FROM cache_label WHERE node = {0})".format,
            "(SELECT support FROM cache_label WHERE node = {0})".format,
        )
    return (
        lambda node: f"CASE WHEN {is_in(node, at)} THEN 0 END",
        lambda node: support(node, at),
    )


def _off(at: str, *, cached: bool) -> Any:
    if cached:
        return "EXISTS (SELECT 1 FROM cache_off WHERE target = {0})".format
    return lambda target: f"NOT {works(target, at)}"
