"""All that is on record near some nodes at a revision, whether it fires or not."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from tms.store.connection import Connection
from tms.store.fragments import IDENTITY, fires, is_inside, is_on

_SEEN = (
    "(SELECT scope FROM justification AS s WHERE s.justification = {}.justification) IN temp.mine"
)


def _edges(table: str, start: str, end: str) -> str:
    """Return SQL for the edges from some keys, for each key one more than ``:most`` of them."""
    index = f"INDEXED BY {table}_by_node" if start == "node" else ""
    # what is shared is used by all scopes; the other ways lead only to what is seen
    seen = f"AND {_SEEN}" if (table, start) == ("premise", "node") else ""
    return f"""
    SELECT x.{start}, x.{end}
    FROM json_each(:keys) AS e CROSS JOIN {table} AS x {index} ON x.{start} = e.value
    WHERE x.{end} <= ifnull(
        (SELECT y.{end} FROM {table} AS y {index} WHERE y.{start} = e.value AND y.{end} <= :last
            {seen.format("y")} ORDER BY y.{end} LIMIT 1 OFFSET :most), :last) {seen.format("x")}
    ORDER BY e.key, x.{end}
    """


_DERIVING = _edges("derive", "node", "justification")
_USING = _edges("premise", "node", "justification")
_NEEDS = _edges("premise", "justification", "node")
_CONCLUDES = _edges("derive", "justification", "node")

_PASSED = f"""
SELECT j.justification, {IDENTITY}, j.rule, j.revision, {fires("j.justification", ":at")},
    {is_on("j.justification", ":at")} = 0, {is_inside("j.justification", ":at")} = 0
FROM json_each(:keys) AS e CROSS JOIN justification AS j ON j.justification = e.value
"""

_IDLE = f"""
SELECT e.value, {is_on("e.value", ":at")} = 0 AS off, {is_inside("e.value", ":at")} = 0 AS outside
FROM json_each(:keys) AS e WHERE off OR outside
"""


class Passed(NamedTuple):
    """A justification at a revision."""

    justification: int
    id: str
    rule: str | None
    revision: int
    fires: int
    off: int
    outside: int


class Around:
    """The edges on record at one revision. Each method is one statement, a seek for each key.

    Args:
        connection: the file.
        at: the revision.
        last: the last key of that revision: what has a larger one came later.
        most: of each key at most so many edges are read, and one more.
    """

    def __init__(self, connection: Connection, at: int, *, last: int, most: int) -> None:
        self._sql = connection.sql
        self._values = {"at": at, "last": last, "most": most}

    def deriving(self, facts: Sequence[int]) -> list[tuple[int, int]]:
        """Return (fact, justification) for what derives the facts."""
        return self._rows(_DERIVING, facts)

    def using(self, nodes: Sequence[int]) -> list[tuple[int, int]]:
        """Return (node, justification) for what needs the nodes."""
        return self._rows(_USING, nodes)

    def needs(self, justifications: Sequence[int]) -> list[tuple[int, int]]:
        """Return (justification, node) for what the justifications need."""
        return self._rows(_NEEDS, justifications)

    def concludes(self, justifications: Sequence[int]) -> list[tuple[int, int]]:
        """Return (justification, fact) for what the justifications derive."""
        return self._rows(_CONCLUDES, justifications)

    def passed(self, justifications: Sequence[int]) -> dict[int, Passed]:
        """Return the justifications of these keys. Grows with their premises."""
        return {row[0]: Passed(*row) for row in self._rows(_PASSED, justifications)}

    def idle(self, targets: Iterable[int]) -> dict[int, tuple[bool, bool]]:
        """Return which of these are switched off or outside their window, and which of the two."""
        rows = self._rows(_IDLE, list(targets))
        return {key: (bool(off), bool(outside)) for key, off, outside in rows}

    def _rows(self, statement: str, keys: Sequence[int]) -> list[Any]:
        values = {"keys": str(list(keys)), **self._values}
        rows: list[Any] = self._sql.execute(statement, values).fetchall()
        return rows
