"""What nodes rest on at a revision, many at a time: read from the record."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from tms.store.connection import Connection
from tms.store.fragments import IDENTITY, fires, is_in, support, told

_NODES = f"""
SELECT n.node, n.kind, n.id, n.role, n.revision, {is_in("n.node", ":at")},
    {support("n.node", ":at")},
    (SELECT content FROM content AS v WHERE v.node = n.node AND v.revision <= :at
        ORDER BY v.version DESC LIMIT 1)
FROM json_each(:keys) AS e CROSS JOIN node AS n ON n.node = e.value
"""

_FIRING = f"""
SELECT d.node, j.justification, {IDENTITY}, j.rule, j.revision
FROM json_each(:keys) AS e
CROSS JOIN derive AS d INDEXED BY derive_by_node ON d.node = e.value
CROSS JOIN justification AS j ON j.justification = d.justification
WHERE j.revision <= :at AND {fires("d.justification", ":at")}
ORDER BY e.key, j.justification
"""

_ONE = f"""
SELECT d.node, j.justification, {IDENTITY}, j.rule, j.revision
FROM derive AS d INDEXED BY derive_by_node
CROSS JOIN justification AS j ON j.justification = d.justification
WHERE d.node = :fact AND j.revision <= :at AND {fires("d.justification", ":at")}
"""

_PREMISES = """
SELECT p.justification, p.node
FROM json_each(:keys) AS e CROSS JOIN premise AS p ON p.justification = e.value
"""

_COMMITS = f"""
SELECT c.revision, c.at, {told("c")}
FROM json_each(:keys) AS e CROSS JOIN commits AS c ON c.revision = e.value
"""


class Standing(NamedTuple):
    """A node at a revision; ``support`` is the key of what an IN fact rests on."""

    node: int
    kind: str
    id: str
    role: str
    revision: int
    is_in: int
    support: int | None
    content: str | None


class Firing(NamedTuple):
    """A justification that fires and derives a fact."""

    fact: int
    justification: int
    id: str
    rule: str | None
    revision: int


class Recorded(NamedTuple):
    """When, how, why and by whom something was recorded."""

    revision: int
    at: int
    op: str
    reason: str | None
    by: str | None


class Grounds:
    """What nodes rest on at one revision. Each method is one statement, a seek for each key."""

    def __init__(self, connection: Connection, at: int) -> None:
        self._sql = connection.sql
        self._at = at

    def standings(self, nodes: Sequence[int]) -> dict[int, Standing]:
        """Return the nodes of these keys."""
        rows = self._rows(_NODES, nodes)
        return {row[0]: Standing(*row) for row in rows}

    def firing(self, fact: int, support: int, others: int) -> list[Firing]:
        """Return what fact rests on, and then what else fires for it, as it was recorded.

        Args:
            fact: the key of a fact that is IN.
            support: the justification that it rests on.
            others: at most so many others.
        """
        values = {"fact": fact, "support": support, "at": self._at, "others": others}
        first = self._sql.execute(_ONE + "AND j.justification = :support", values).fetchall()
        rest = self._sql.execute(
            _ONE + "AND j.justification <> :support ORDER BY j.justification LIMIT :others", values
        ).fetchall()
        return [Firing(*row) for row in (*first, *rest)]

    def all_firing(self, facts: Sequence[int]) -> list[Firing]:
        """Return all that fires and derives one of the facts."""
        return [Firing(*row) for row in self._rows(_FIRING, facts)]

    def premises(self, justifications: Sequence[int]) -> dict[int, list[int]]:
        """Return what each justification needs."""
        needs: dict[int, list[int]] = {key: [] for key in justifications}
        for justification, node in self._rows(_PREMISES, list(needs)):
            needs[justification].append(node)
        return needs

    def commits(self, revisions: Iterable[int]) -> dict[int, Recorded]:
        """Return when, how, why and by whom revisions were recorded."""
        return {row[0]: Recorded(*row) for row in self._rows(_COMMITS, sorted(set(revisions)))}

    def _rows(self, statement: str, keys: Sequence[int]) -> list[Any]:
        values = {"keys": str(list(keys)), "at": self._at}
        rows: list[Any] = self._sql.execute(statement, values).fetchall()
        return rows
