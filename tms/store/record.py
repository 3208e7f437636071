"""Adding to the record, and looking up what the next addition needs to know."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

from tms.clock import ALWAYS, MILLI, Window
from tms.errors import CorruptStore
from tms.refs import is_digest
from tms.store.chain import Chain
from tms.store.connection import Connection

SHARED = 0
"""The scope of everything that has no owner."""

_BEYOND = """
SELECT ifnull((SELECT max(node) FROM node), 0) > :last_key
    OR ifnull((SELECT max(justification) FROM justification), 0) > :last_key
    OR ifnull((SELECT max(justification) FROM premise), 0) > :last_key
    OR ifnull((SELECT max(justification) FROM derive), 0) > :last_key
    OR EXISTS (SELECT 1 FROM content WHERE revision > :revision)
    OR EXISTS (SELECT 1 FROM switch INDEXED BY switch_by_revision WHERE revision > :revision)
    OR EXISTS (SELECT 1 FROM validity INDEXED BY validity_by_revision WHERE revision > :revision)
    OR EXISTS (SELECT 1 FROM transition WHERE revision > :revision)
    OR EXISTS (SELECT 1 FROM redaction INDEXED BY redaction_by_revision
        WHERE revision > :revision)
"""

_PASSED = """
WITH bound (target) AS (
    SELECT target FROM validity INDEXED BY validity_by_start
    WHERE valid_from > :low AND valid_from <= :high
    UNION
    SELECT target FROM validity INDEXED BY validity_by_end
    WHERE valid_to > :low AND valid_to <= :high
)
SELECT b.target, ifnull(n.role, 'justification'), v.valid_from, v.valid_to,
    ifnull((SELECT state FROM switch AS w WHERE w.target = b.target AND w.revision <= :at
        ORDER BY w.revision DESC LIMIT 1), 1)
FROM bound AS b
CROSS JOIN validity AS v ON v.target = b.target AND v.revision = (
    SELECT u.revision FROM validity AS u WHERE u.target = b.target AND u.revision <= :at
    ORDER BY u.revision DESC LIMIT 1
)
LEFT JOIN node AS n ON n.node = b.target
WHERE (v.valid_from > :low AND v.valid_from <= :high)
    OR (v.valid_to > :low AND v.valid_to <= :high)
ORDER BY b.target
"""

Changes = Mapping[int, tuple[tuple[int, int | None] | None, tuple[int, int | None] | None]]
"""Of each changed node the (rank, support) before and after; None is OUT."""


class Head(NamedTuple):
    """The last commit; revision 0 is a file without any."""

    revision: int
    at: int
    last_key: int
    believed: int
    micro: int = 0

    @property
    def instant(self) -> int:
        """When it was made, in microseconds."""
        return self.at * MILLI + self.micro


class Named(NamedTuple):
    """What a ref names: a key, the role of its node, and the revision that declared it."""

    key: int
    role: str
    revision: int


class Crossed(NamedTuple):
    """A window of which a bound was passed, and the switch of its target."""

    target: int
    role: str
    window: Window
    on: bool


class Record:
    """The append-only tables, and the cached labels beside them."""

    def __init__(self, connection: Connection) -> None:
        self._sql = connection.sql
        self._chain = Chain(connection)

    # ------------------------------------------------------------ looking up

    def head(self) -> Head:
        """Return the last commit. One seek."""
        row = self._sql.execute(
            "SELECT revision, at, last_key, believed, micro"
            " FROM commits ORDER BY revision DESC LIMIT 1"
        ).fetchone()
        return Head(*row) if row else Head(0, 0, 0, 0)

    def check_end(self, head: Head) -> None:
        """Check that nothing stands after the last commit. A seek for each table.

        Raises:
            CorruptStore: something does, so another program wrote to the record.
        """
        (beyond,) = self._sql.execute(_BEYOND, head._asdict()).fetchone()
        if beyond:
            raise CorruptStore(
                "rows of no commit stand at the end of the record.",
                hint="Another program wrote them. Run tms verify, and go back to a copy.",
            )

    def node(self, kind: str, id: str) -> Named | None:
        """Return the node of that ref. One seek."""
        row = self._sql.execute(
            "SELECT node, role, revision FROM node WHERE scope = ? AND kind = ? AND id = ?",
            (SHARED, kind, id),
        ).fetchone()
        return Named(*row) if row else None

    def justification(self, id: str) -> Named | None:
        """Return the justification of that id: a given name, or a digest in hex. One seek."""
        if is_digest(id):
            return self.same_justification(bytes.fromhex(id))
        row = self._sql.execute(
            "SELECT justification, revision FROM justification WHERE scope = ? AND name = ?",
            (SHARED, id),
        ).fetchone()
        return Named(row[0], "justification", row[1]) if row else None

    def same_justification(self, digest: bytes) -> Named | None:
        """Return the justification with these premises, conclusions and rule. One seek."""
        row = self._sql.execute(
            "SELECT justification, revision FROM justification WHERE scope = ? AND digest = ?",
            (SHARED, digest),
        ).fetchone()
        return Named(row[0], "justification", row[1]) if row else None

    def identity(self, justification: int) -> tuple[bytes, str]:
        """Return the digest of a justification and the id it is known by. One seek."""
        digest, name = self._sql.execute(
            "SELECT digest, name FROM justification WHERE justification = ?", (justification,)
        ).fetchone()
        return digest, name if name is not None else digest.hex()

    def nodes(self, refs: Sequence[tuple[str, str]]) -> dict[tuple[str, str], Named]:
        """Return those of many (kind, id) that name nodes. One seek each."""
        rows = self._many(
            "SELECT n.kind, n.id, n.node, n.role, n.revision FROM (VALUES {places}) AS v"
            f" CROSS JOIN node AS n ON n.scope = {SHARED}"
            " AND n.kind = v.column1 AND n.id = v.column2",
            "(?, ?)",
            refs,
        )
        return {(kind, id): Named(*rest) for kind, id, *rest in rows}

    def digests(self, digests: Sequence[bytes]) -> dict[bytes, str]:
        """Return the ids of those of many digests that are on record. One seek each."""
        rows = self._many(
            "SELECT digest, name FROM justification"
            f" WHERE scope = {SHARED} AND digest IN ({{places}})",
            "?",
            [(digest,) for digest in digests],
        )
        return {digest: digest.hex() if name is None else name for digest, name in rows}

    def given_names(self, names: Sequence[str]) -> dict[str, Named]:
        """Return those of many given names that name justifications. One seek each."""
        rows = self._many(
            "SELECT name, justification, revision FROM justification"
            f" WHERE scope = {SHARED} AND name IN ({{places}})",
            "?",
            [(name,) for name in names],
        )
        return {name: Named(key, "justification", revision) for name, key, revision in rows}

    def _many(
        self, statement: str, place: str, values: Sequence[tuple[object, ...]]
    ) -> Iterator[tuple[Any, ...]]:
        for start in range(0, len(values), _TOGETHER):
            some = values[start : start + _TOGETHER]
            places = ", ".join([place] * len(some))
            yield from self._sql.execute(
                statement.format(places=places), list(chain.from_iterable(some))
            ).fetchall()

    def content(self, node: int) -> tuple[int, str | None]:
        """Return the newest content of a node and its version; (0, None) if it has none."""
        row = self._sql.execute(
            "SELECT version, content FROM content WHERE node = ? ORDER BY version DESC LIMIT 1",
            (node,),
        ).fetchone()
        return (row[0], row[1]) if row else (0, None)

    def has_content(self, node: int) -> bool:
        """Return whether a content version of a node was not redacted. Grows with its versions."""
        (has,) = self._sql.execute(
            "SELECT EXISTS (SELECT 1 FROM content WHERE node = ? AND content IS NOT NULL)", (node,)
        ).fetchone()
        return bool(has)

    def is_off(self, target: int) -> bool:
        """Return whether the switch of the target is off. One seek."""
        row = self._sql.execute(
            "SELECT state FROM switch WHERE target = ? ORDER BY revision DESC LIMIT 1", (target,)
        ).fetchone()
        return row is not None and not row[0]

    def is_idle(self, target: int) -> bool:
        """Return whether the target supports nothing: it is off, or outside its window."""
        row = self._sql.execute("SELECT 1 FROM cache_off WHERE target = ?", (target,)).fetchone()
        return row is not None

    def window(self, target: int) -> Window:
        """Return when the target holds. One seek."""
        row = self._sql.execute(
            "SELECT valid_from, valid_to FROM validity WHERE target = ?"
            " ORDER BY revision DESC LIMIT 1",
            (target,),
        ).fetchone()
        return ALWAYS if row is None else Window(*row)

    def passed(self, low: int, high: int, at: int) -> list[Crossed]:
        """Return the windows, as of a revision, with a bound after an instant up to another.

        Args:
            low: the instant after which, in microseconds.
            high: the instant up to which.
            at: the revision.

        Cost: two seeks, and what was passed.
        """
        rows = self._sql.execute(_PASSED, {"low": low, "high": high, "at": at}).fetchall()
        return [
            Crossed(target, role, Window(start, end), bool(on))
            for target, role, start, end, on in rows
        ]

    # ------------------------------------------------------------ adding

    def add_nodes(self, rows: Sequence[tuple[int, str, str, str, int]]) -> None:
        """Add (node, kind, id, role, revision) rows."""
        self._insert(
            "node (node, kind, id, role, revision, scope)", f"(?, ?, ?, ?, ?, {SHARED})", rows
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
            f"(?, ?, ?, ?, ?, {SHARED})",
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
            self._sql.execute(
                "UPDATE content SET content = NULL, mark = seal(CAST(content AS BLOB), mark)"
                " WHERE node = ? AND content IS NOT NULL",
                (node,),
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
        digest = self._chain.next({**head._asdict(), "op": op, "reason": reason, "by": by})
        self._sql.execute(
            "INSERT INTO commits"
            ' (revision, at, last_key, believed, micro, op, reason, "by", digest)'
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (*head, op, reason, by, digest),
        )

    def _insert(self, into: str, values: str, rows: Sequence[tuple[object, ...]]) -> None:
        """Insert rows, many to a statement: each statement saves the pages it may have to undo."""
        execute = self._sql.execute
        whole = len(rows) - len(rows) % _TOGETHER
        if whole:
            statement = f"INSERT INTO {into} VALUES {', '.join([values] * _TOGETHER)}"
            for start in range(0, whole, _TOGETHER):
                execute(statement, list(chain.from_iterable(rows[start : start + _TOGETHER])))
        if whole < len(rows):
            self._sql.executemany(f"INSERT INTO {into} VALUES {values}", rows[whole:])

    def _delete(self, where: str, keys: Sequence[int]) -> None:
        if keys:
            self._sql.execute(
                f"DELETE FROM {where} IN (SELECT value FROM json_each(?))", (str(list(keys)),)
            )


_TOGETHER = 128
_MARK = 16
