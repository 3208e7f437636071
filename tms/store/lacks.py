"""What nodes that are OUT wait for at a revision, many at a time: read from the record."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from tms.store.connection import Connection
from tms.store.fragments import IDENTITY, fires, is_in, is_inside, is_on

_NODES = f"""
SELECT n.node, n.kind, n.id, n.role, n.revision,
    {is_on("n.node", ":at")} = 0, {is_inside("n.node", ":at")} = 0,
    (SELECT CASE change WHEN 0 THEN revision ELSE 0 END FROM transition AS t
        WHERE t.node = n.node AND t.revision <= :at ORDER BY t.revision DESC LIMIT 1),
    (SELECT content FROM content AS v WHERE v.node = n.node AND v.revision <= :at
        ORDER BY v.version DESC LIMIT 1)
FROM json_each(:keys) AS e CROSS JOIN node AS n ON n.node = e.value
"""

_FIRST = """
WITH asked (fact, upto) AS MATERIALIZED (
    SELECT value, ifnull((SELECT justification FROM derive INDEXED BY derive_by_node
        WHERE node = value AND justification <= :last
        ORDER BY justification LIMIT 1 OFFSET :most - 1), :last)
    FROM json_each(:keys)
)
"""

_ROW = (
    f"j.justification, {IDENTITY}, j.rule, j.revision,"
    f" {is_on('j.justification', ':at')} = 0, {is_inside('j.justification', ':at')} = 0"
)

_WAITING = f"""
{_FIRST}
SELECT a.fact, {_ROW}
FROM asked AS a
CROSS JOIN derive AS d INDEXED BY derive_by_node
    ON d.node = a.fact AND d.justification <= a.upto
CROSS JOIN justification AS j ON j.justification = d.justification
ORDER BY a.fact, j.justification
"""

_READY = f"""
{_FIRST}
SELECT a.fact, {_ROW}
FROM asked AS a
CROSS JOIN justification AS j ON j.justification = (
    SELECT d.justification FROM derive AS d INDEXED BY derive_by_node
    WHERE d.node = a.fact AND d.justification <= a.upto AND {fires("d.justification", ":at")}
    ORDER BY d.justification LIMIT 1
)
"""

_ONE = f"SELECT NULL, {_ROW} FROM justification AS j WHERE j.justification = :key"

_PREMISES = f"""
SELECT p.justification, p.node, {is_in("p.node", ":at")}
FROM json_each(:keys) AS e CROSS JOIN premise AS p ON p.justification = e.value
"""


class Absent(NamedTuple):
    """A node that is OUT.

    Attributes:
        off: it is switched off.
        outside: it is outside its window.
        fell: the revision that put it OUT; None if it never was IN, 0 if only the time that passed
            since the commit put it OUT.
    """

    node: int
    kind: str
    id: str
    role: str
    revision: int
    off: int
    outside: int
    fell: int | None
    content: str | None


class Awaited(NamedTuple):
    """A justification that derives a fact, whether it is off and whether outside its window."""

    fact: int
    justification: int
    id: str
    rule: str | None
    revision: int
    off: int
    outside: int


class Lacks:
    """What nodes wait for at one revision. Each method is one statement, a seek for each key.

    Args:
        connection: to the file.
        at: the revision.
        last: the largest key on record at that revision.
    """

    def __init__(self, connection: Connection, at: int, last: int) -> None:
        self._sql = connection.sql
        self._values = {"at": at, "last": last}

    def absent(self, nodes: Sequence[int]) -> dict[int, Absent]:
        """Return the nodes of these keys, which are OUT."""
        return {row[0]: Absent(*row) for row in self._rows(_NODES, nodes)}

    def waiting(self, facts: Sequence[int], most: int) -> list[Awaited]:
        """Return what derives each fact, at most so many of one, as it was recorded."""
        return [Awaited(*row) for row in self._rows(_WAITING, facts, most=most)]

    def ready(self, facts: Sequence[int], most: int) -> list[Awaited]:
        """Return the first that fires of what derives each fact, looking at so many of one."""
        return [Awaited(*row) for row in self._rows(_READY, facts, most=most)]

    def justification(self, key: int) -> Awaited:
        """Return a justification, as deriving nothing in particular."""
        return Awaited(*self._sql.execute(_ONE, {**self._values, "key": key}).fetchone())

    def premises(self, justifications: Sequence[int]) -> list[tuple[int, int, int]]:
        """Return (justification, premise, whether it is IN) for each premise of each."""
        return self._rows(_PREMISES, justifications)

    def _rows(self, statement: str, keys: Sequence[int], **more: int) -> list[Any]:
        values = {**self._values, **more, "keys": str(list(keys))}
        rows: list[Any] = self._sql.execute(statement, values).fetchall()
        return rows
