"""What a commit moved, a page at a time, in an order that the indexes have.

Facts come in the order of their keys. Survivors have no index of their own: they come in the order
of what stopped supporting them, each with the first of the justifications that it lost.
"""

from collections.abc import Iterable
from typing import Any, NamedTuple

from tms.store.connection import Connection
from tms.store.fragments import IDENTITY, fires

_FACTS = """
SELECT m.node, n.kind, n.id FROM transition AS m CROSS JOIN node AS n ON n.node = m.node
WHERE m.revision = :at AND m.node > :after AND m.change = :change AND n.role = 'fact'
    AND +n.scope IN temp.mine
ORDER BY m.node LIMIT :limit
"""

_STAYED = f"""
j.revision < :at AND +j.scope IN temp.mine
AND (
    SELECT CASE WHEN m.revision = :at THEN m.change = 2 ELSE m.change > 0 END
    FROM transition AS m WHERE m.node = d.node AND m.revision <= :at
    ORDER BY m.revision DESC LIMIT 1
)
AND {fires("d.justification", ":at - 1")}
"""

# Within a justification the facts come by key: the loops run as they are joined, the innermost one
# along the key of derive. Told to, SQLite would sort all that one thing was a premise of.
_SWITCHED = f"""
SELECT 0, d.justification, d.node
FROM switch AS s INDEXED BY switch_by_revision
CROSS JOIN justification AS j ON j.justification = s.target
CROSS JOIN derive AS d ON d.justification = s.target
    AND d.node > CASE WHEN s.target = :justification THEN :fact ELSE 0 END
WHERE s.revision = :at AND s.target >= :justification AND s.state = 0 AND {_STAYED}
ORDER BY s.target LIMIT :limit
"""

_EXPIRED = f"""
SELECT x.valid_to, d.justification, d.node
FROM validity AS x INDEXED BY validity_by_end
CROSS JOIN justification AS j ON j.justification = x.target
CROSS JOIN derive AS d ON d.justification = x.target
    AND d.node > CASE WHEN (x.valid_to, x.target) = (:cause, :justification) THEN :fact ELSE 0 END
WHERE (x.valid_to, x.target) >= (:cause, :justification)
    AND x.valid_to > (SELECT 1000 * at + micro FROM commits WHERE revision = :at - 1)
    AND x.valid_to <= (SELECT 1000 * at + micro FROM commits WHERE revision = :at)
    AND {_STAYED}
ORDER BY x.valid_to, x.target LIMIT :limit
"""

_BEREFT = f"""
SELECT g.node, d.justification, d.node
FROM transition AS g
CROSS JOIN premise AS u INDEXED BY premise_by_node ON u.node = g.node
    AND u.justification >= CASE WHEN g.node = :cause THEN :justification ELSE 0 END
CROSS JOIN justification AS j ON j.justification = u.justification
CROSS JOIN derive AS d ON d.justification = u.justification
    AND d.node > CASE
        WHEN (g.node, u.justification) = (:cause, :justification) THEN :fact ELSE 0 END
WHERE g.revision = :at AND g.node >= :cause AND g.change = 0 AND {_STAYED}
ORDER BY g.node, u.justification LIMIT :limit
"""

_WAYS = (_SWITCHED, _EXPIRED, _BEREFT)
"""How a justification stops to fire; where several apply the first counts."""

_LOST = f"""
d.node = e.value AND j.revision < :at
AND NOT ({fires("d.justification", ":at")}) AND {fires("d.justification", ":at - 1")}
"""

_FIRST_LOST = f"""
SELECT e.value, (
    SELECT d.justification FROM derive AS d INDEXED BY derive_by_node
    CROSS JOIN justification AS j ON j.justification = d.justification
    WHERE {_LOST} ORDER BY d.justification LIMIT 1
)
FROM json_each(:keys) AS e
"""

_ALL_LOST = f"""
SELECT e.value, {IDENTITY}
FROM json_each(:keys) AS e
CROSS JOIN derive AS d INDEXED BY derive_by_node ON d.node = e.value
CROSS JOIN justification AS j ON j.justification = d.justification
WHERE {_LOST}
"""

_CAUSE = """
SELECT e.value,
    EXISTS (SELECT 1 FROM switch WHERE target = e.value AND revision = :at AND state = 0),
    (
        SELECT x.valid_to FROM validity AS x WHERE x.target = e.value
            AND x.valid_to > (SELECT 1000 * at + micro FROM commits WHERE revision = :at - 1)
            AND x.valid_to <= (SELECT 1000 * at + micro FROM commits WHERE revision = :at)
    ),
    (
        SELECT u.node FROM premise AS u
        CROSS JOIN transition AS g ON g.revision = :at AND g.node = u.node
        WHERE u.justification = e.value AND g.change = 0 ORDER BY u.node LIMIT 1
    )
FROM json_each(:keys) AS e
"""

_LEAST, _MOST = 64, 16_384


class Loss(NamedTuple):
    """A fact that survived the loss of a justification.

    Attributes:
        way: how that stopped to fire: it was switched off (0), expired (1) or lost a premise (2).
        cause: when it expired, or the premise.
        justification: which.
        fact: what survived.
    """

    way: int
    cause: int
    justification: int
    fact: int


class Moves:
    """What a commit moved. Nothing may be laid over what is read."""

    def __init__(self, connection: Connection) -> None:
        self._sql = connection.sql

    def facts(
        self, revision: int, change: int, after: int, limit: int
    ) -> list[tuple[int, str, str]]:
        """Return (key, kind, id) of facts that went OUT (0) or came IN (1), by key.

        Cost: grows with the page, and what else the commit moved between the facts of it.
        """
        values = {"at": revision, "change": change, "after": after, "limit": limit}
        rows: list[tuple[int, str, str]] = self._sql.execute(_FACTS, values).fetchall()
        return rows

    def survivors(self, revision: int, after: Loss, limit: int) -> list[Loss]:
        """Return facts that stayed IN and lost a firing justification, each once.

        Cost: grows with the page, and the uses between of what went OUT.
        """
        found: list[Loss] = []
        size = max(_LEAST, limit)
        while len(found) < limit:
            losses = self._losses(revision, after, size)
            found += self._firsts(revision, losses)
            if len(losses) == size:
                after, size = losses[-1], min(4 * size, _MOST)
            elif after.way + 1 < len(_WAYS):
                after = Loss(after.way + 1, -(2**63) if after.way == 0 else 0, 0, 0)
            else:
                break
        return found[:limit]

    def lost(self, revision: int, facts: Iterable[int]) -> list[tuple[int, str]]:
        """Return (fact, id of a justification) for each that stopped to fire for a fact."""
        return self._rows(_ALL_LOST, revision, facts)

    def _losses(self, revision: int, after: Loss, limit: int) -> list[Loss]:
        values = {**after._asdict(), "at": revision, "limit": limit}
        return [
            Loss(after.way, *row) for row in self._sql.execute(_WAYS[after.way], values).fetchall()
        ]

    def _firsts(self, revision: int, losses: list[Loss]) -> list[Loss]:
        """Keep of each fact its first loss."""
        firsts = dict(self._rows(_FIRST_LOST, revision, {loss.fact for loss in losses}))
        losses = [loss for loss in losses if firsts[loss.fact] == loss.justification]
        causes = {
            key: (0, 0) if switched else (2, bereft) if expired is None else (1, expired)
            for key, switched, expired, bereft in self._rows(
                _CAUSE, revision, {loss.justification for loss in losses}
            )
        }
        return [loss for loss in losses if causes[loss.justification] == loss[:2]]

    def _rows(self, statement: str, at: int, keys: Iterable[int]) -> list[Any]:
        values = {"keys": str(sorted(keys)), "at": at}
        rows: list[Any] = self._sql.execute(statement, values).fetchall()
        return rows
