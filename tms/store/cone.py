"""What stands behind a node at a revision, and behind all of them: keys, read from the record.

Nodes and justifications share one sequence of keys, so a key is one or the other, and what is on
record at a revision has a key up to the last that was given out by then.
"""

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any, NamedTuple

from tms.store.connection import Connection
from tms.store.fragments import IDENTITY, fires, is_in, is_inside, is_on, works

# Each key once, a justification reached through any of its conclusions. It ends on cycles.
_FIRING = f"""
WITH RECURSIVE cone (key) AS (
    VALUES (:start)
    UNION
    SELECT d.justification
    FROM cone CROSS JOIN derive AS d INDEXED BY derive_by_node ON d.node = cone.key
    WHERE d.justification <= :last AND {fires("d.justification", ":at")}
    UNION
    SELECT p.node FROM cone CROSS JOIN premise AS p ON p.justification = cone.key
)
SELECT key FROM cone
"""

# Beyond what is IN nothing is missing, and beyond what is switched off nothing can come.
_WAITING = f"""
WITH RECURSIVE cone (key, state) AS (
    VALUES (:start, 1)
    UNION
    SELECT d.justification, {works("d.justification", ":at")}
    FROM cone CROSS JOIN derive AS d INDEXED BY derive_by_node ON d.node = cone.key
    WHERE cone.state = 1 AND d.justification <= :last
    UNION
    SELECT p.node, CASE WHEN {is_in("p.node", ":at")} THEN 2
        WHEN {is_inside("p.node", ":at")} THEN {is_on("p.node", ":at")} ELSE 3 END
    FROM cone CROSS JOIN premise AS p ON p.justification = cone.key
    WHERE cone.state = 1
)
SELECT key, state FROM cone
"""

# Whether it is believed or not, and whatever its window: only what is switched off is left out.
_POSSIBLE = f"""
WITH RECURSIVE cone (key) AS (
    SELECT :start WHERE {is_on(":start", ":at")} = 1
    UNION
    SELECT d.justification
    FROM cone CROSS JOIN derive AS d INDEXED BY derive_by_node ON d.node = cone.key
    WHERE d.justification <= :last AND {is_on("d.justification", ":at")} = 1
    UNION
    SELECT p.node FROM cone CROSS JOIN premise AS p ON p.justification = cone.key
    WHERE {is_on("p.node", ":at")} = 1
)
SELECT key FROM cone
"""

_PREMISES = """
SELECT p.justification, p.node
FROM json_each(:keys) AS e CROSS JOIN premise AS p ON p.justification = e.value
"""

_CONCLUSIONS = """
SELECT d.justification, d.node
FROM json_each(:keys) AS e CROSS JOIN derive AS d ON d.justification = e.value
"""

_SOURCES = """
SELECT n.node, n.kind, n.id
FROM json_each(:keys) AS e CROSS JOIN node AS n ON n.node = e.value WHERE n.role = 'source'
"""

_IDS = f"""
SELECT j.justification, {IDENTITY}
FROM json_each(:keys) AS e CROSS JOIN justification AS j ON j.justification = e.value
"""

# With max(), a column beside it is that of the row with the most.
_BELIEFS = """
SELECT node, change, max(revision) FROM transition WHERE revision <= :at GROUP BY node
"""
_SWITCHES = "SELECT target, state, max(revision) FROM switch WHERE revision <= :at GROUP BY target"
_OVERLAID = "SELECT node, change FROM temp.overlay"
_OUTSIDE = f"""
SELECT DISTINCT b.target FROM validity AS b
WHERE b.target <= :last AND NOT {is_inside("b.target", ":at")}
"""
_UNSEEN = """
SELECT node FROM node
WHERE (SELECT max(scope) FROM scope) > 0 AND scope NOT IN temp.mine
"""
_ALL_PREMISES = """
SELECT justification, node FROM premise WHERE justification <= :last ORDER BY justification
"""
_ALL_CONCLUSIONS = """
SELECT justification, node FROM derive WHERE justification <= :last ORDER BY justification
"""
_ALL_SOURCES = """
SELECT node FROM node WHERE node <= :last AND role = 'source' AND (:kind IS NULL OR kind = :kind)
    AND +scope IN temp.mine
"""


class Support(NamedTuple):
    """Justifications and what they join.

    Attributes:
        needs: the premises of each justification; an axiom has none and stands only in derives.
        derives: the conclusions of each justification.
    """

    needs: dict[int, list[int]]
    derives: dict[int, list[int]]


class Cone:
    """What stands behind nodes at one revision.

    Args:
        connection: the file.
        at: the revision.
        last: the last key on record by then.
    """

    def __init__(self, connection: Connection, at: int, last: int) -> None:
        self._sql = connection.sql
        self._values = {"at": at, "last": last}

    def firing(self, start: int) -> tuple[set[int], Support]:
        """Return all keys behind a node or justification through what fires, itself too."""
        rows = self._sql.execute(_FIRING, {**self._values, "start": start})
        keys = {row[0] for row in rows}
        return keys, self._support(keys)

    def waiting(self, start: int) -> tuple[dict[int, int], Support]:
        """Return all keys behind what is OUT, itself too, and how each stands.

        Returns:
            0 for what is switched off, 1 for what is on and for the start, 2 for a node that is IN,
            3 for a node outside its window. Only behind 1 more is looked at.
        """
        rows = self._sql.execute(_WAITING, {**self._values, "start": start})
        states: dict[int, int] = {row[0]: row[1] for row in rows}
        return states, self._support({key for key, state in states.items() if state == 1})

    def possible(self, start: int) -> tuple[set[int], Support]:
        """Return all keys behind a node or justification through what is on, itself too if it is.

        A justification may need what is off, which is not among the keys.
        """
        rows = self._sql.execute(_POSSIBLE, {**self._values, "start": start})
        keys = {row[0] for row in rows}
        return keys, self._support(keys)

    def _support(self, keys: set[int]) -> Support:
        """Return what joins some keys; conclusions outside of them are left out."""
        listed = sorted(keys)
        needs: dict[int, list[int]] = {}
        for justification, node in self._listed(_PREMISES, listed):
            needs.setdefault(justification, []).append(node)
        derives: dict[int, list[int]] = {}
        for justification, node in self._listed(_CONCLUSIONS, listed):
            if node in keys:
                derives.setdefault(justification, []).append(node)
        return Support(needs, derives)

    def sources(self, keys: Iterable[int]) -> dict[int, tuple[str, str]]:
        """Return (kind, id) of those of the keys that are sources."""
        rows = self._listed(_SOURCES, sorted(keys))
        return {key: (kind, id) for key, kind, id in rows}

    def ids(self, justifications: Iterable[int]) -> dict[int, str]:
        """Return the ids by which justifications are known."""
        return dict(self._listed(_IDS, sorted(justifications)))

    def _listed(self, statement: str, keys: Sequence[int]) -> list[Any]:
        rows: list[Any] = self._sql.execute(statement, {"keys": str(list(keys))}).fetchall()
        return rows

    # ------------------------------------------------------------ the whole memory

    def all_sources(self, kind: str | None = None) -> list[int]:
        """Return the sources on record, of a kind. Reads all nodes."""
        rows = self._sql.execute(_ALL_SOURCES, {**self._values, "kind": kind})
        return [row[0] for row in rows]

    def all_believed(self) -> set[int]:
        """Return the nodes that are IN. Reads all transitions; with scopes, all nodes."""
        believed = {row[0] for row in self._sql.execute(_BELIEFS, self._values) if row[1] > 0}
        for node, change in self._sql.execute(_OVERLAID):
            (believed.add if change else believed.discard)(node)
        believed.difference_update(row[0] for row in self._sql.execute(_UNSEEN))
        return believed

    def all_firing(self, believed: set[int]) -> Support:
        """Return what fires, and what that derives. Reads all justifications.

        Args:
            believed: the nodes that are IN.
        """
        off = {row[0] for row in self._sql.execute(_SWITCHES, self._values) if row[1] == 0}
        off.update(row[0] for row in self._sql.execute(_OUTSIDE, self._values))
        dead: set[int] = set()
        needs: dict[int, list[int]] = {}
        rows = self._sql.execute(_ALL_PREMISES, self._values)
        for justification, edges in groupby(rows, key=_first):
            premises = [edge[1] for edge in edges]
            if justification not in off and believed.issuperset(premises):
                needs[justification] = premises
            else:
                dead.add(justification)
        derives: dict[int, list[int]] = {}
        rows = self._sql.execute(_ALL_CONCLUSIONS, self._values)
        for justification, edges in groupby(rows, key=_first):
            if justification not in dead and justification not in off:
                derives[justification] = [edge[1] for edge in edges if edge[1] in believed]
        return Support(needs, derives)


def _first(edge: tuple[int, int]) -> int:
    return edge[0]
