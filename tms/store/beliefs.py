"""What was believed at a revision, and what a commit did: read from the record alone."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar

from tms.store.commits import Commits
from tms.store.connection import SHARED
from tms.store.fragments import IDENTITY, fires, is_in, is_inside, is_on, support

Place = tuple[str, str, int]
"""Kind, id, and 0 for what is shared, 1 for what is of the own scope."""

Row = TypeVar("Row")

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
WHERE j.revision < :at AND +j.scope IN temp.mine
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
    {_BOUND.format("valid_from")}, {_BOUND.format("valid_to")},
    (SELECT name FROM scope AS s WHERE s.scope = n.scope), n.scope > 0
FROM node AS n JOIN commits AS c ON c.revision = n.revision
"""

_IS_IN = f"SELECT {is_in(':node', ':at')}"


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
    scope: str
    own: int


class Beliefs(Commits):
    """Questions about any revision. Nothing here reads the cache, so nothing depends on it."""

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

    def nodes(self, at: int, kind: str | None, after: Place | None, limit: int) -> list[NodeRow]:
        """Return a page of the nodes on record at a revision, by (kind, id), shared ones first."""
        statement = f"{_NODE} WHERE {{}} AND n.revision <= :at {{}}"
        rows = [NodeRow(*row) for row in self._page(statement, at, kind, after, limit)]
        return _merged(rows, lambda row: (row.kind, row.id, row.own), limit)

    def holding(self, at: int, kind: str | None, after: Place | None, limit: int) -> list[Place]:
        """Return a page of the facts that were IN at a revision, as places, in their order.

        Only facts rest on a support, so the node itself need not be read.
        """
        statement = (
            "SELECT n.kind, n.id, n.scope > 0 FROM node AS n INDEXED BY node_by_ref WHERE {}"
            f" AND {support(node='n.node', at=':at')} IS NOT NULL {{}}"
        )
        return _merged(self._page(statement, at, kind, after, limit), _itself, limit)

    def _page(
        self, statement: str, at: int, kind: str | None, after: Place | None, limit: int
    ) -> list[Any]:
        """Return a page for each scope that is seen, one after the other."""
        found: list[Any] = []
        for scope in dict.fromkeys((SHARED, self._connection.own)):
            where, order, values = _page(kind, after, scope)
            values.update(at=at, limit=limit, scope=scope)
            found += self._sql.execute(statement.format(where, order), values).fetchall()
        return found

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

    def survived(self, revision: int) -> list[tuple[int, str]]:
        """Return (fact, id of a justification) for each fact that stayed IN and what it lost.

        Grows with the uses of what went OUT in the commit.
        """
        rows: list[tuple[int, str]] = self._sql.execute(_SURVIVED, {"at": revision}).fetchall()
        return rows

    def firing(self, facts: Sequence[int], at: int) -> list[tuple[int, str, int]]:
        """Return (fact, id, whether it rests on it) for each that fired and derives a fact."""
        rows: list[tuple[int, str, int]] = self._sql.execute(
            _FIRING, {"facts": str(list(facts)), "at": at}
        ).fetchall()
        return rows

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


def _merged(rows: list[Row], key: Callable[[Row], Place], limit: int) -> list[Row]:
    return sorted(rows, key=key)[:limit]


def _itself(row: Place) -> Place:
    return row


def _page(kind: str | None, after: Place | None, scope: int) -> tuple[str, str, dict[str, object]]:
    where = ["n.scope = :scope"]
    values: dict[str, object] = {}
    # after what is shared comes the namesake of the own scope
    beyond = ">=" if after is not None and scope != SHARED and not after[2] else ">"
    if kind is not None:
        where.append("n.kind = :kind")
        values["kind"] = kind
    if after is not None and kind is not None:
        where.append(f"n.id {beyond} :after_id")
        values["after_id"] = after[1]
    elif after is not None:
        where.append(f"(n.kind, n.id) {beyond} (:after_kind, :after_id)")
        values["after_kind"], values["after_id"] = after[:2]
    return " AND ".join(where), "ORDER BY n.kind, n.id LIMIT :limit", values
