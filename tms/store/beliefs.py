"""What was believed at a revision, and what a commit did: read from the record alone."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from tms.store.connection import Connection
from tms.store.fragments import IDENTITY, fires, is_in, is_inside, is_on, support
from tms.store.record import SHARED, Head

_SURVIVED = f"""
WITH stopped (justification) AS MATERIALIZED (
    SELECT p.justification
    FROM transition AS g CROSS JOIN premise AS p INDEXED BY premise_by_node ON p.node = g.node
    WHERE g.revision = :at AND g.change = 0
    UNION
    SELECT s.target
    FROM switch AS s CROSS JOIN justification AS j ON j.justification = s.target
    WHERE s.revision = :at AND s.state = 0
    UNION
    SELECT v.target
    FROM validity AS v INDEXED BY validity_by_end
    CROSS JOIN justification AS j ON j.justification = v.target
    WHERE v.valid_to > (SELECT 1000 * at + micro FROM commits WHERE revision = :at - 1)
        AND v.valid_to <= (SELECT 1000 * at + micro FROM commits WHERE revision = :at)
)
SELECT d.node, {IDENTITY}
FROM stopped AS l
CROSS JOIN justification AS j ON j.justification = l.justification
CROSS JOIN derive AS d ON d.justification = l.justification
WHERE j.revision < :at
    AND (
        SELECT CASE WHEN t.revision = :at THEN t.change = 2 ELSE t.change > 0 END
        FROM transition AS t WHERE t.node = d.node AND t.revision <= :at
        ORDER BY t.revision DESC LIMIT 1
    )
    AND {fires("d.justification", ":at - 1")}
"""

_FIRING = f"""
SELECT d.node, {IDENTITY}, d.justification = {support(node="d.node", at=":at")}
FROM json_each(:facts) AS e
CROSS JOIN derive AS d INDEXED BY derive_by_node ON d.node = e.value
CROSS JOIN justification AS j ON j.justification = d.justification
WHERE j.revision <= :at AND {fires("d.justification", ":at")}
"""

_BOUND = (
    "(SELECT {} FROM validity AS b WHERE b.target = n.node AND b.revision <= :at"
    " ORDER BY b.revision DESC LIMIT 1)"
)

_NODE = f"""
SELECT n.kind, n.id, n.role, n.revision, c.at,
    {is_in("n.node", ":at")},
    {is_on("n.node", ":at")} = 0,
    (SELECT version FROM content AS v WHERE v.node = n.node AND v.revision <= :at
        ORDER BY v.version DESC LIMIT 1),
    (SELECT content FROM content AS v WHERE v.node = n.node AND v.revision <= :at
        ORDER BY v.version DESC LIMIT 1),
    (SELECT {IDENTITY} FROM justification AS j
        WHERE j.justification = {support(node="n.node", at=":at")}),
    {_BOUND.format("valid_from")}, {_BOUND.format("valid_to")}
FROM node AS n JOIN commits AS c ON c.revision = n.revision
"""

_IS_IN = f"SELECT {is_in(':node', ':at')}"

_COMMIT = 'SELECT revision, at, op, reason, "by", believed, micro FROM commits'

_MOVED = """
SELECT count(*) FROM transition AS t CROSS JOIN node AS n ON n.node = t.node
WHERE t.revision = ? AND t.change = ? AND n.role = 'fact'
"""


class NodeRow(NamedTuple):
    """A node as it was at a revision."""

    kind: str
    id: str
    role: str
    revision: int
    at: int
    is_in: int
    off: int
    version: int | None
    content: str | None
    support: str | None
    valid_from: int | None
    valid_to: int | None


class CommitRow(NamedTuple):
    """A commit as it was made."""

    revision: int
    at: int
    op: str
    reason: str | None
    by: str | None
    believed: int
    micro: int


class Beliefs:
    """Questions about any revision. Nothing here reads the cache, so nothing depends on it."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._sql = connection.sql

    @property
    def baseline(self) -> int:
        """The revision from which on the file can be asked; 0 if it was never pruned."""
        return self._connection.baseline

    def is_in(self, node: int, at: int) -> bool:
        """Return whether a node was IN at a revision. One seek."""
        (held,) = self._sql.execute(_IS_IN, {"node": node, "at": at}).fetchone()
        return bool(held)

    def fires(self, justification: int, at: int) -> bool:
        """Return whether a justification fired at a revision. Grows with its premises."""
        (fired,) = self._sql.execute(
            f"SELECT {fires(':justification', ':at')}", {"justification": justification, "at": at}
        ).fetchone()
        return bool(fired)

    def is_on(self, target: int, at: int) -> bool:
        """Return whether a switch was on at a revision. One seek."""
        (state,) = self._sql.execute(
            f"SELECT {is_on(':target', ':at')}", {"target": target, "at": at}
        ).fetchone()
        return bool(state)

    def is_inside(self, target: int, at: int) -> bool:
        """Return whether a target was inside its window at a revision. One seek."""
        (inside,) = self._sql.execute(
            f"SELECT {is_inside(':target', ':at')}", {"target": target, "at": at}
        ).fetchone()
        return bool(inside)

    def node(self, node: int, at: int) -> NodeRow:
        """Return a node as it was at a revision."""
        return NodeRow(
            *self._sql.execute(_NODE + "WHERE n.node = :node", {"node": node, "at": at}).fetchone()
        )

    def nodes(
        self, at: int, kind: str | None, after: tuple[str, str] | None, limit: int
    ) -> list[NodeRow]:
        """Return a page of the nodes on record at a revision, by (kind, id)."""
        where, order, values = _page(kind, after)
        rows = self._sql.execute(
            f"{_NODE} WHERE {where} AND n.revision <= :at {order}",
            {**values, "at": at, "limit": limit},
        ).fetchall()
        return [NodeRow(*row) for row in rows]

    def holding(
        self, at: int, kind: str | None, after: tuple[str, str] | None, limit: int
    ) -> list[tuple[str, str]]:
        """Return a page of the facts that were IN at a revision, by (kind, id).

        Only facts rest on a support, so the node itself need not be read.
        """
        where, order, values = _page(kind, after)
        rows: list[tuple[str, str]] = self._sql.execute(
            f"SELECT n.kind, n.id FROM node AS n INDEXED BY node_by_ref WHERE {where}"
            f" AND {support(node='n.node', at=':at')} IS NOT NULL {order}",
            {**values, "at": at, "limit": limit},
        ).fetchall()
        return rows

    def premises(self, justification: int) -> list[tuple[str, str]]:
        """Return (kind, id) of what a justification needs, in that order."""
        return self._ends("premise", justification)

    def conclusions(self, justification: int) -> list[tuple[str, str]]:
        """Return (kind, id) of what a justification concludes, in that order."""
        return self._ends("derive", justification)

    def _ends(self, edge: str, justification: int) -> list[tuple[str, str]]:
        rows: list[tuple[str, str]] = self._sql.execute(
            f"SELECT n.kind, n.id FROM {edge} AS e CROSS JOIN node AS n ON n.node = e.node"
            " WHERE e.justification = ? ORDER BY n.kind, n.id",
            (justification,),
        ).fetchall()
        return rows

    def rule(self, justification: int) -> str | None:
        """Return the rule of a justification."""
        (rule,) = self._sql.execute(
            "SELECT rule FROM justification WHERE justification = ?", (justification,)
        ).fetchone()
        return None if rule is None else str(rule)

    # ------------------------------------------------------------ commits

    def commit(self, revision: int) -> CommitRow:
        """Return a commit that there is. One seek."""
        return CommitRow(
            *self._sql.execute(_COMMIT + " WHERE revision = ?", (revision,)).fetchone()
        )

    def head(self, revision: int, gained: int) -> Head:
        """Return a revision as a head, with so many more facts believed."""
        if not revision:
            return Head(0, 0, 0, 0)
        row = self.commit(revision)
        return Head(revision, row.at, self.last_key(revision), row.believed + gained, row.micro)

    def commits(self, after: int, upto: int, limit: int) -> list[CommitRow]:
        """Return a page of the commits after a revision, oldest first."""
        rows = self._sql.execute(
            _COMMIT + " WHERE revision > ? AND revision <= ? ORDER BY revision LIMIT ?",
            (after, upto, limit),
        ).fetchall()
        return [CommitRow(*row) for row in rows]

    def count_moved(self, revision: int, change: int) -> int:
        """Count the facts that went OUT (0) or came IN (1) in a commit. Grows with them."""
        (count,) = self._sql.execute(_MOVED, (revision, change)).fetchone()
        return int(count)

    def last_revision(self) -> int:
        """Return the number of the last commit; 0 if there is none. One seek."""
        (last,) = self._sql.execute("SELECT ifnull(max(revision), 0) FROM commits").fetchone()
        return int(last)

    def instant(self, revision: int) -> int | None:
        """Return when a revision was committed, in microseconds. One seek."""
        row = self._sql.execute(
            "SELECT 1000 * at + micro FROM commits WHERE revision = ?", (revision,)
        ).fetchone()
        return row[0] if row else None

    def last_key(self, revision: int) -> int:
        """Return the largest key given out up to a revision."""
        row = self._sql.execute(
            "SELECT last_key FROM commits WHERE revision = ?", (revision,)
        ).fetchone()
        return row[0] if row else 0

    def believed(self, revision: int) -> int:
        """Return how many facts were IN at a revision. One seek."""
        row = self._sql.execute(
            "SELECT believed FROM commits WHERE revision = ?", (revision,)
        ).fetchone()
        return row[0] if row else 0

    def moved(self, revision: int, change: int) -> list[tuple[str, str]]:
        """Return (kind, id) of the facts that went OUT (0) or came IN (1) in a commit."""
        rows: list[tuple[str, str]] = self._sql.execute(
            "SELECT n.kind, n.id FROM transition AS t CROSS JOIN node AS n ON n.node = t.node"
            " WHERE t.revision = ? AND t.change = ? AND n.role = 'fact' ORDER BY n.kind, n.id",
            (revision, change),
        ).fetchall()
        return rows

    def turned(self, revision: int) -> list[int]:
        """Return the targets of the switches turned in a commit."""
        rows = self._sql.execute(
            "SELECT target FROM switch WHERE revision = ?", (revision,)
        ).fetchall()
        return [row[0] for row in rows]

    def declared(self, revision: int) -> Iterable[int]:
        """Return the keys that a commit gave out."""
        return range(self.last_key(revision - 1) + 1, self.last_key(revision) + 1)

    def revised(self, revision: int) -> list[int]:
        """Return the older nodes to which a commit gave a content version or a window."""
        rows = self._sql.execute(
            "SELECT node FROM content WHERE revision = :revision AND node <= :last"
            " UNION SELECT target FROM validity INDEXED BY validity_by_revision"
            " WHERE revision = :revision AND target <= :last",
            {"revision": revision, "last": self.last_key(revision - 1)},
        ).fetchall()
        return [row[0] for row in rows]

    def survived(self, revision: int) -> list[tuple[int, str]]:
        """Return (fact, id of a justification) for each fact that stayed IN and what it lost.

        Grows with the uses of what went OUT in the commit.
        """
        rows: list[tuple[int, str]] = self._sql.execute(_SURVIVED, {"at": revision}).fetchall()
        return rows

    def revision_at(self, instant: int, head: int) -> int:
        """Return the last revision at or before an instant, in microseconds.

        The one before the first, if there is none.
        """
        low, high = max(self.baseline - 1, 0), head
        while low < high:  # the times never go back
            middle = (low + high + 1) // 2
            time = self.instant(middle)
            low, high = (
                (middle, high) if time is not None and time <= instant else (low, middle - 1)
            )
        return low

    def firing(self, facts: Sequence[int], at: int) -> list[tuple[int, str, int]]:
        """Return (fact, id, whether it rests on it) for each that fired and derives a fact."""
        rows: list[tuple[int, str, int]] = self._sql.execute(
            _FIRING, {"facts": str(list(facts)), "at": at}
        ).fetchall()
        return rows

    def names(self, keys: Sequence[int]) -> dict[int, tuple[str, str]]:
        """Return (kind, id) of nodes and justifications by their keys."""
        rows = self._sql.execute(
            "SELECT n.node, n.kind, n.id FROM json_each(:keys) AS e"
            " CROSS JOIN node AS n ON n.node = e.value"
            f" UNION ALL SELECT j.justification, 'justification', {IDENTITY}"
            " FROM json_each(:keys) AS e CROSS JOIN justification AS j"
            " ON j.justification = e.value",
            {"keys": str(list(keys))},
        ).fetchall()
        return {key: (kind, id) for key, kind, id in rows}

    # ------------------------------------------------------------ the life of one

    def versions(
        self, node: int, at: int, after: int = 0, limit: int = -1
    ) -> list[tuple[int, int, str | None]]:
        """Return (revision, version, content) of a node, oldest first, after a version."""
        return self._life(
            "SELECT revision, version, content FROM content"
            " WHERE node = ? AND revision <= ? AND version > ? ORDER BY version LIMIT ?",
            (node, at, after, limit),
        )

    def redactions(self, node: int, at: int, since: int = 0, limit: int = -1) -> list[tuple[int]]:
        """Return the revision of each redaction of a node, oldest first."""
        return self._life(
            "SELECT revision FROM redaction"
            " WHERE node = ? AND revision <= ? AND revision >= ? ORDER BY revision LIMIT ?",
            (node, at, since, limit),
        )

    def redacted(self, revision: int) -> list[int]:
        """Return the nodes that a commit redacted."""
        rows = self._sql.execute(
            "SELECT node FROM redaction INDEXED BY redaction_by_revision WHERE revision = ?",
            (revision,),
        ).fetchall()
        return [row[0] for row in rows]

    def switches(
        self, target: int, at: int, since: int = 0, limit: int = -1
    ) -> list[tuple[int, int]]:
        """Return (revision, state) for each turn of a switch, oldest first."""
        return self._life(
            "SELECT revision, state FROM switch"
            " WHERE target = ? AND revision <= ? AND revision >= ? ORDER BY revision LIMIT ?",
            (target, at, since, limit),
        )

    def transitions(
        self, node: int, at: int, since: int = 0, limit: int = -1
    ) -> list[tuple[int, int, str | None, int | None]]:
        """Return (revision, change, id and key of the support), oldest first, of each change."""
        return self._life(
            f"SELECT t.revision, t.change, (SELECT {IDENTITY} FROM justification AS j"
            " WHERE j.justification = t.support), t.support FROM transition AS t"
            " WHERE t.node = ? AND t.revision <= ? AND t.revision >= ? ORDER BY t.revision LIMIT ?",
            (node, at, since, limit),
        )

    def rested(self, node: int, before: int) -> int | None:
        """Return the key of what a node rested on before a commit. One seek."""
        row = self._sql.execute(
            "SELECT support FROM transition WHERE node = ? AND revision < ?"
            " ORDER BY revision DESC LIMIT 1",
            (node, before),
        ).fetchone()
        return row[0] if row else None

    def _life(self, statement: str, values: tuple[int, ...]) -> list[Any]:
        rows: list[Any] = self._sql.execute(statement, values).fetchall()
        return rows


def _page(kind: str | None, after: tuple[str, str] | None) -> tuple[str, str, dict[str, object]]:
    where = [f"n.scope = {SHARED}"]
    values: dict[str, object] = {}
    if kind is not None:
        where.append("n.kind = :kind")
        values["kind"] = kind
    if after is not None and kind is not None:
        where.append("n.id > :after_id")
        values["after_id"] = after[1]
    elif after is not None:
        where.append("(n.kind, n.id) > (:after_kind, :after_id)")
        values["after_kind"], values["after_id"] = after
    return " AND ".join(where), "ORDER BY n.kind, n.id LIMIT :limit", values
