"""When something came and went in recorded time: commits, in order, from the record alone."""

from tms.store.connection import Connection

# A pruned file begins with the newest row of each node up to its baseline, whichever that was.
_LATER = "EXISTS (SELECT 1 FROM transition WHERE node = t.node AND revision < t.revision)"
_TURNED = f"CASE t.change WHEN 1 THEN 1 WHEN 0 THEN {_LATER} ELSE NOT {_LATER} END"
_NODE = f"""
SELECT t.revision, t.change FROM transition AS t INDEXED BY transition_by_node
WHERE t.node = :key AND t.revision <= :at AND {_TURNED}
"""
_PREMISES = f"""
SELECT t.revision, t.change
FROM premise AS p
CROSS JOIN transition AS t INDEXED BY transition_by_node ON t.node = p.node
WHERE p.justification = :key AND t.revision <= :at AND {_TURNED}
"""
_NEEDED = "SELECT count(*) FROM premise WHERE justification = ?"


class Turns:
    """What came IN or went OUT up to a revision."""

    def __init__(self, connection: Connection, at: int) -> None:
        self._sql = connection.sql
        self._at = at

    def of_node(self, node: int) -> list[tuple[int, bool]]:
        """Return (revision, whether it came IN) for each change. Grows with them."""
        return self._rows(_NODE, node)

    def of_premises(self, justification: int) -> list[tuple[int, bool]]:
        """Return the same for all that a justification needs."""
        return self._rows(_PREMISES, justification)

    def needed(self, justification: int) -> int:
        """Return how many premises a justification has."""
        (count,) = self._sql.execute(_NEEDED, (justification,)).fetchone()
        return int(count)

    def _rows(self, statement: str, key: int) -> list[tuple[int, bool]]:
        rows = self._sql.execute(statement, {"key": key, "at": self._at})
        return [(revision, change > 0) for revision, change in rows]
