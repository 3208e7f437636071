"""Adding to the record."""

import os
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain

from tms.clock import Window
from tms.store.chain import Chain, seal
from tms.store.connection import Connection
from tms.store.lookup import TOGETHER, Head, Lookup

_CONCERNS = """
WITH changed (scope, gained) AS (
    SELECT n.scope, CASE WHEN n.role = 'source' OR t.change = 2 THEN 0 ELSE 2 * t.change - 1 END
    FROM transition AS t CROSS JOIN node AS n ON n.node = t.node WHERE t.revision = :revision
    UNION ALL
    SELECT ifnull(
        (SELECT scope FROM node WHERE node = e.value),
        (SELECT scope FROM justification WHERE justification = e.value)
    ), 0 FROM json_each(:passed) AS e
    UNION ALL
    SELECT :own, 0
)
INSERT INTO concern (scope, revision, believed)
SELECT g.scope, :revision, sum(g.gained) + ifnull((
    SELECT c.believed FROM concern AS c WHERE c.scope = g.scope ORDER BY c.revision DESC LIMIT 1
), 0)
FROM changed AS g GROUP BY g.scope
"""

_BELIEVED = """
SELECT sum(ifnull((
    SELECT c.believed FROM concern AS c WHERE c.scope = m.scope ORDER BY c.revision DESC LIMIT 1
), 0)) FROM temp.mine AS m
"""

Changes = Mapping[int, tuple[tuple[int, int | None] | None, tuple[int, int | None] | None]]
"""Of each changed node the (rank, support) before and after; None is OUT."""


class Record(Lookup):
    """The append-only tables, and the cached labels beside them."""

    def __init__(self, connection: Connection, upto: int | None = None) -> None:
        super().__init__(connection, upto)
        self._chain = Chain(connection)

    def claim_scope(self, revision: int) -> None:
        """Make sure that there is the scope to write to."""
        self._connection.claim_scope(revision)

    def add_nodes(self, rows: Sequence[tuple[int, str, str, str, int]]) -> None:
        """Add (node, kind, id, role, revision) rows."""
        self._insert(
            "node (node, kind, id, role, revision, scope)", f"(?, ?, ?, ?, ?, {self.own})", rows
        )

    def add_contents(self, rows: Sequence[tuple[int, int, int, str]]) -> None:
        """Add (node, version, revision, content) rows, each with a mark of its own."""
        marks = os.urandom(_MARK * len(rows))
        self._insert(
            "content (node, version, revision, content, mark)",
            "(?, ?, ?, ?, ?)",
            [
                (*row, marks[start : start + _MARK])
                for start, row in zip(range(0, len(marks), _MARK), rows, strict=True)
            ],
        )

    def add_justifications(
        self, rows: Sequence[tuple[int, str | None, bytes, str | None, int]]
    ) -> None:
        """Add (justification, name, digest, rule, revision) rows."""
        self._insert(
            "justification (justification, name, digest, rule, revision, scope)",
            f"(?, ?, ?, ?, ?, {self.own})",
            rows,
        )

    def add_premises(self, rows: Sequence[tuple[int, int]]) -> None:
        """Add (justification, node) rows: what each needs."""
        self._insert("premise (justification, node)", "(?, ?)", rows)

    def add_conclusions(self, rows: Sequence[tuple[int, int]]) -> None:
        """Add (justification, node) rows: what each concludes."""
        self._insert("derive (justification, node)", "(?, ?)", rows)

    def redact(self, revision: int, nodes: Iterable[int]) -> None:
        """Remove all contents of some nodes for good; their seals stay."""
        for node in sorted(nodes):
            self._insert("redaction (node, revision)", "(?, ?)", [(node, revision)])
            versions = self._sql.execute(
                "SELECT version FROM content WHERE node = ? AND content IS NOT NULL", (node,)
            ).fetchall()
            for (version,) in versions:
                self._seal(node, version)

    def _seal(self, node: int, version: int) -> None:
        at = (node, version)
        content, mark = self._sql.execute(
            "SELECT CAST(content AS BLOB), mark FROM content WHERE (node, version) = (?, ?)", at
        ).fetchone()
        self._sql.execute(
            "UPDATE content SET content = NULL, mark = ? WHERE (node, version) = (?, ?)",
            (seal(content, mark), *at),
        )

    def turn(self, revision: int, switches: Iterable[tuple[int, bool]]) -> None:
        """Turn switches: (target, on) pairs, each a real turn."""
        self._insert(
            "switch (revision, target, state)",
            "(?, ?, ?)",
            [(revision, target, int(on)) for target, on in sorted(switches)],
        )

    def add_windows(self, revision: int, windows: Iterable[tuple[int, Window]]) -> None:
        """Add (target, window) pairs."""
        self._insert(
            "validity (revision, target, valid_from, valid_to)",
            "(?, ?, ?, ?)",
            [(revision, target, *window) for target, window in sorted(windows)],
        )

    def idle(self, idle: Sequence[int], working: Sequence[int]) -> None:
        """Note what supports nothing from now on, and what does again."""
        self._insert("cache_off (target)", "(?)", [(target,) for target in sorted(idle)])
        self._delete("cache_off WHERE target", sorted(working))

    def label(self, changes: Changes) -> None:
        """Bring the cached labels up to date."""
        out: list[int] = []
        came: list[tuple[int, int, int | None]] = []
        kept: list[tuple[int, int, int | None]] = []
        for node, (before, after) in changes.items():
            if after is None:
                out.append(node)
            else:
                (came if before is None else kept).append((node, *after))
        self._delete("cache_label WHERE node", sorted(out))
        self._delete("cache_label WHERE node", [row[0] for row in kept])
        self._insert("cache_label (node, rank, support)", "(?, ?, ?)", sorted(came + kept))

    def add_transitions(self, revision: int, changes: Changes) -> None:
        """Record the changes of belief; a change of rank alone is none."""
        out: list[int] = []
        came: list[int] = []
        moved: list[int] = []
        for node, (before, after) in changes.items():
            if after is None:
                out.append(node)
            elif before is None:
                came.append(node)
            elif before[1] != after[1]:
                moved.append(node)
        if out:
            self._sql.execute(
                "INSERT INTO transition (revision, node, change)"
                " SELECT ?, value, 0 FROM json_each(?)",
                (revision, str(sorted(out))),
            )
        for change, nodes in ((1, came), (2, moved)):
            if nodes:
                self._sql.execute(
                    "INSERT INTO transition (revision, node, change, support)"
                    " SELECT ?, l.node, ?, l.support"
                    " FROM json_each(?) AS e CROSS JOIN cache_label AS l ON l.node = e.value",
                    (revision, change, str(sorted(nodes))),
                )

    def add_new_transitions(self, revision: int, last_key: int) -> None:
        """Record the belief of the nodes that are newer than a key, from their labels."""
        self._sql.execute(
            "INSERT INTO transition (revision, node, change, support)"
            " SELECT ?, node, 1, support FROM cache_label WHERE node > ? ORDER BY node",
            (revision, last_key),
        )

    def add_commit(self, head: Head, op: str, reason: str | None, by: str | None) -> None:
        """Close the revision."""
        said = {"op": op, "reason": reason, "by": by, "scope": self.own}
        digest = self._chain.next({**head._asdict(), **said})
        self._sql.execute(
            "INSERT INTO commits"
            ' (revision, at, last_key, believed, micro, op, reason, "by", scope, digest)'
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (*head, op, reason, by, self.own, digest),
        )

    def add_concerns(self, head: Head, passed: Iterable[int]) -> int:
        """Tell of which scopes a commit is, once its beliefs are recorded.

        Returns:
            How many facts are IN after it, of what is seen.

        Args:
            head: what the head becomes.
            passed: the targets of the windows of which a bound was passed.

        Cost: one row; where there are several scopes, grows with what the commit moved.
        """
        values = {"revision": head.revision, "believed": head.believed, "own": self.own}
        (several,) = self._sql.execute("SELECT max(scope) > 0 FROM scope").fetchone()
        if several:
            self._sql.execute(_CONCERNS, {**values, "passed": str(sorted(passed))})
            return int(self._sql.execute(_BELIEVED).fetchone()[0])
        self._sql.execute(
            "INSERT INTO concern (scope, revision, believed) VALUES (:own, :revision, :believed)",
            values,
        )
        return head.believed

    def _insert(self, into: str, values: str, rows: Sequence[tuple[object, ...]]) -> None:
        """Insert rows, many to a statement: each statement saves the pages it may have to undo."""
        execute = self._sql.execute
        whole = len(rows) - len(rows) % TOGETHER
        if whole:
            statement = f"INSERT INTO {into} VALUES {', '.join([values] * TOGETHER)}"
            for start in range(0, whole, TOGETHER):
                execute(statement, list(chain.from_iterable(rows[start : start + TOGETHER])))
        if whole < len(rows):
            self._sql.executemany(f"INSERT INTO {into} VALUES {values}", rows[whole:])

    def _delete(self, where: str, keys: Sequence[int]) -> None:
        if keys:
            self._sql.execute(
                f"DELETE FROM {where} IN (SELECT value FROM json_each(?))", (str(list(keys)),)
            )


_MARK = 16
