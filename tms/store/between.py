"""What differs between two revisions: read from the record, along what was written in between."""

from collections.abc import Sequence

from tms.clock import Window
from tms.store.connection import Connection
from tms.store.fragments import IDENTITY, is_in, is_on

_BELIEF = f"""
WITH moved (node) AS MATERIALIZED (
    SELECT DISTINCT node FROM transition WHERE revision > :low AND revision <= :high
),
told (node, was, became) AS MATERIALIZED (
    SELECT node, {is_in("moved.node", ":low")}, {is_in("moved.node", ":high")} FROM moved
)
SELECT n.kind, n.id, o.became FROM told AS o CROSS JOIN node AS n ON n.node = o.node
WHERE o.was <> o.became AND n.role = 'fact' AND +n.scope IN temp.mine ORDER BY n.kind, n.id
"""

_SWITCHES = f"""
WITH turned (target) AS MATERIALIZED (
    SELECT DISTINCT target FROM switch INDEXED BY switch_by_revision
    WHERE revision > :low AND revision <= :high
),
told (target, was, became) AS MATERIALIZED (
    SELECT target, {is_on("turned.target", ":low")}, {is_on("turned.target", ":high")} FROM turned
)
SELECT n.kind, n.id, o.became FROM told AS o CROSS JOIN node AS n ON n.node = o.target
WHERE o.was <> o.became AND +n.scope IN temp.mine
UNION ALL
SELECT 'justification', {IDENTITY}, o.became
FROM told AS o CROSS JOIN justification AS j ON j.justification = o.target
WHERE o.was <> o.became AND +j.scope IN temp.mine ORDER BY 1, 2
"""

_VERSION = (
    "ifnull((SELECT v.version FROM content AS v WHERE v.node = r.node AND v.revision <= {at}"
    " ORDER BY v.version DESC LIMIT 1), 0)"
)

_CONTENTS = f"""
WITH revised (node) AS MATERIALIZED (
    SELECT DISTINCT node FROM content INDEXED BY content_by_revision
    WHERE revision > :low AND revision <= :high
)
SELECT n.kind, n.id, {_VERSION.format(at=":low")}, {_VERSION.format(at=":high")}
FROM revised AS r CROSS JOIN node AS n ON n.node = r.node
WHERE n.revision <= :low AND +n.scope IN temp.mine ORDER BY n.kind, n.id
"""

_WINDOW = (
    "(SELECT {column} FROM validity AS v WHERE v.target = r.target AND v.revision <= {at}"
    " ORDER BY v.revision DESC LIMIT 1)"
)

_BOUNDS = ", ".join(
    _WINDOW.format(column=column, at=at)
    for at in (":low", ":high")
    for column in ("valid_from", "valid_to")
)

_WINDOWS = f"""
WITH revised (target) AS MATERIALIZED (
    SELECT DISTINCT target FROM validity INDEXED BY validity_by_revision
    WHERE revision > :low AND revision <= :high
)
SELECT n.kind, n.id, {_BOUNDS}
FROM revised AS r CROSS JOIN node AS n ON n.node = r.target
WHERE n.revision <= :low AND +n.scope IN temp.mine ORDER BY n.kind, n.id
"""

_ADDED = {
    "node": "SELECT kind, id FROM node AS n WHERE n.node > ? AND n.node <= ?"
    " AND +n.scope IN temp.mine ORDER BY kind, id",
    "justification": f"SELECT 'justification', {IDENTITY} FROM justification AS j"
    " WHERE j.justification > ? AND j.justification <= ? AND +j.scope IN temp.mine ORDER BY 2",
}

Name = tuple[str, str]
"""Kind and id."""


class Between:
    """Two revisions, the first not after the second. All lists are by (kind, id).

    Cost: grows with what was written between them, not with the file.
    """

    def __init__(self, connection: Connection, low: int, high: int) -> None:
        self._sql = connection.sql
        self._revisions = {"low": low, "high": high}

    def belief(self) -> tuple[list[Name], list[Name]]:
        """Return the facts that are IN only at the first, and those only at the second."""
        return _split(self._sql.execute(_BELIEF, self._revisions).fetchall())

    def switches(self) -> tuple[list[Name], list[Name]]:
        """Return what is switched on only at the first, and what only at the second."""
        return _split(self._sql.execute(_SWITCHES, self._revisions).fetchall())

    def contents(self) -> list[tuple[str, str, int, int]]:
        """Return (kind, id, version, version) of older nodes with contents of another version."""
        rows: list[tuple[str, str, int, int]] = self._sql.execute(
            _CONTENTS, self._revisions
        ).fetchall()
        return rows

    def windows(self) -> list[tuple[str, str, Window, Window]]:
        """Return (kind, id, window, window) of older nodes with other windows."""
        rows = self._sql.execute(_WINDOWS, self._revisions).fetchall()
        pairs = [(kind, id, Window(*bounds[:2]), Window(*bounds[2:])) for kind, id, *bounds in rows]
        return [pair for pair in pairs if pair[2] != pair[3]]

    def added(self, table: str, low_key: int, high_key: int) -> list[Name]:
        """Return the nodes or the justifications with keys above one and up to another."""
        rows: list[Name] = self._sql.execute(_ADDED[table], (low_key, high_key)).fetchall()
        return rows


def _split(rows: Sequence[tuple[str, str, int]]) -> tuple[list[Name], list[Name]]:
    return (
        [(kind, id) for kind, id, became in rows if not became],
        [(kind, id) for kind, id, became in rows if became],
    )
