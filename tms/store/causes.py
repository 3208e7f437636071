"""What in a commit took nodes OUT or brought them IN: read from the record."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from tms.store.connection import Connection
from tms.store.fragments import ceased, resumed

_BEFORE = (
    "(SELECT support FROM transition AS t WHERE t.node = {node} AND t.revision < :at"
    " ORDER BY t.revision DESC LIMIT 1)"
)

_DIRECT = f"""
WITH asked (place, revision, change, node, support) AS MATERIALIZED (
    SELECT key, json_extract(value, '$[0]'), json_extract(value, '$[1]'),
        json_extract(value, '$[2]'), json_extract(value, '$[3]')
    FROM json_each(:changes)
)
SELECT a.place, p.node
FROM asked AS a
CROSS JOIN premise AS p ON p.justification = a.support
CROSS JOIN transition AS x ON x.revision = a.revision AND x.node = p.node
WHERE x.change = a.change
UNION
SELECT a.place, e.value
FROM asked AS a CROSS JOIN json_each(json_array(a.support, a.node)) AS e
WHERE e.value IS NOT NULL AND CASE a.change
    WHEN 0 THEN {ceased("e.value", "a.revision")} ELSE {resumed("e.value", "a.revision")} END
UNION
SELECT a.place, j.justification
FROM asked AS a CROSS JOIN justification AS j ON j.justification = a.support
WHERE j.revision = a.revision
"""

_CEASED = f"""
SELECT c.target FROM (
    SELECT target FROM switch INDEXED BY switch_by_revision WHERE revision = :at AND state = 0
    UNION
    SELECT target FROM validity INDEXED BY validity_by_revision WHERE revision = :at
    UNION
    SELECT target FROM validity INDEXED BY validity_by_end
    WHERE valid_to > (SELECT 1000 * at + micro FROM commits WHERE revision = :at - 1)
        AND valid_to <= (SELECT 1000 * at + micro FROM commits WHERE revision = :at)
) AS c
WHERE c.target <= (SELECT last_key FROM commits WHERE revision = :at - 1)
    AND ifnull(
        (SELECT scope FROM node WHERE node = c.target),
        (SELECT scope FROM justification WHERE justification = c.target)
    ) IN temp.mine
    AND {ceased("c.target", ":at")}
LIMIT 2
"""

_BELOW = f"""
WITH RECURSIVE below (support) AS (
    SELECT :support
    UNION
    SELECT {_BEFORE.format(node="p.node")}
    FROM below AS b CROSS JOIN premise AS p ON p.justification = b.support
)
SELECT b.support FROM below AS b WHERE b.support IS NOT NULL AND {ceased("b.support", ":at")}
UNION
SELECT p.node
FROM below AS b CROSS JOIN premise AS p ON p.justification = b.support
WHERE {ceased("p.node", ":at")}
"""

_SUPPORTS = f"""
SELECT e.value, {_BEFORE.format(node="e.value")} FROM json_each(:keys) AS e
"""

_FALLEN = f"""
WITH RECURSIVE fallen (support) AS (
    SELECT e.value FROM json_each(:keys) AS e
    UNION
    SELECT {_BEFORE.format(node="p.node")}
    FROM fallen AS f
    CROSS JOIN premise AS p ON p.justification = f.support
    CROSS JOIN transition AS x ON x.revision = :at AND x.node = p.node
    WHERE x.change = 0
    LIMIT :most + 1 -- a source has none, which counts as one
)
SELECT support FROM fallen WHERE support IS NOT NULL
"""

_LOST = f"""
SELECT p.justification, p.node, {_BEFORE.format(node="p.node")}
FROM json_each(:keys) AS e
CROSS JOIN premise AS p ON p.justification = e.value
CROSS JOIN transition AS x ON x.revision = :at AND x.node = p.node
WHERE x.change = 0
"""

_OFF = f"SELECT e.value FROM json_each(:keys) AS e WHERE {ceased('e.value', ':at')}"


class Change(NamedTuple):
    """A change of belief to look into.

    Attributes:
        revision: the commit.
        change: 1 if something came IN, 0 if it lost what it rested on.
        node: whose belief it is.
        support: the justification that it came to rest on, or had rested on before.
    """

    revision: int
    change: int
    node: int
    support: int | None


class Causes:
    """What in a commit moved belief. Nodes and justifications are given and returned by key."""

    def __init__(self, connection: Connection) -> None:
        self._sql = connection.sql

    def direct(self, changes: Sequence[Change]) -> list[list[int]]:
        """Return for each change what moved with it, in its commit and in its direction.

        These are premises of the support that went OUT or came IN, the support itself if it was
        switched or, for what came IN, recorded, and the node itself if it was switched.
        """
        found: list[list[int]] = [[] for _ in changes]
        for place, key in self._sql.execute(_DIRECT, {"changes": _listed(changes)}).fetchall():
            found[place].append(key)
        return found

    def only(self, revision: int) -> int | None:
        """Return what a commit switched off or found expired, if that was one thing."""
        rows = self._sql.execute(_CEASED, {"at": revision}).fetchall()
        return int(rows[0][0]) if len(rows) == 1 else None

    def below(self, support: int, revision: int) -> list[int]:
        """Return what a commit switched off or found expired of what a support rested on.

        Grows with all that it rested on.
        """
        rows = self._sql.execute(_BELOW, {"support": support, "at": revision}).fetchall()
        return [row[0] for row in rows]

    def supports(self, nodes: Iterable[int], revision: int) -> dict[int, int | None]:
        """Return what each node rested on before a commit."""
        return dict(self._rows(_SUPPORTS, nodes, revision))

    def fallen(self, supports: Iterable[int], revision: int, most: int) -> list[int]:
        """Return supports with those of the premises that went OUT in a commit, and so on down.

        At most so many; each stands there once.
        """
        return [row[0] for row in self._rows(_FALLEN, supports, revision, most=most)]

    def lost(self, supports: Iterable[int], revision: int) -> list[tuple[int, int, int | None]]:
        """Return (support, premise, what that rested on) for premises that went OUT in a commit."""
        return self._rows(_LOST, supports, revision)

    def off(self, targets: Iterable[int], revision: int) -> set[int]:
        """Return those of the targets that a commit switched off or found expired."""
        return {row[0] for row in self._rows(_OFF, targets, revision)}

    def _rows(self, statement: str, keys: Iterable[int], at: int, **more: int) -> list[Any]:
        values = {"keys": str(list(keys)), "at": at, **more}
        rows: list[Any] = self._sql.execute(statement, values).fetchall()
        return rows


def _listed(changes: Sequence[Change]) -> str:
    rows = (
        f"[{change.revision}, {change.change}, {change.node}, "
        f"{'null' if change.support is None else change.support}]"
        for change in changes
    )
    return f"[{', '.join(rows)}]"
