"""Reading all of a file: to rebuild what can be rebuilt, and to check what must hold."""

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

from tms.errors import CorruptStore
from tms.store import layout
from tms.store.baseline import LeftOut, left_out
from tms.store.connection import Connection
from tms.store.fragments import works
from tms.store.shape import Shape, compared, declared

COLUMNS = {
    "scope": ("scope", "revision"),
    "commits": ("revision", "at", "last_key", "believed", "micro", "scope"),
    "concern": ("scope", "revision", "believed"),
    "node": ("node", "kind", "id", "role", "revision", "scope"),
    "content": ("node", "version", "revision", "content"),
    "justification": ("justification", "revision", "digest", "rule", "scope"),
    "premise": ("justification", "node"),
    "derive": ("justification", "node"),
    "switch": ("revision", "target", "state"),
    "validity": ("revision", "target", "valid_from", "valid_to"),
    "transition": ("revision", "node", "change", "support"),
    "redaction": ("node", "revision"),
    "pruned": ("pruning", "baseline", "commits", "contents"),
    "consumer": ("name", "revision"),
    "cache_label": ("node", "rank", "support"),
    "cache_off": ("target", "1"),
}
"""What ``Audit.rows`` yields of each table, its key first."""

_OF_COMMITS = (
    "scope",
    "concern",
    "node",
    "content",
    "justification",
    "switch",
    "validity",
    "transition",
    "redaction",
)

_TEXTS = {
    "scope": "name",
    "commits": 'op, reason, "by"',
    "node": "kind, id",
    "content": "content",
    "justification": "name, rule",
    "pruned": 'reason, "by"',
    "consumer": "name",
}


class Sizes(NamedTuple):
    """How much a file holds."""

    sources: int
    facts: int
    justifications: int
    off: int
    consumers: int
    bytes: int


class Audit:
    """Reads that grow with the file, and the rebuilding of the cache."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._sql = connection.sql

    # ------------------------------------------------------------ the cache

    def cache_stands(self) -> bool:
        """Return whether the cache was neither dropped nor emptied. Two seeks.

        The rows of key 0 tell; ``verify`` compares all of it.
        """
        try:
            (stands,) = self._sql.execute(
                "SELECT EXISTS (SELECT 1 FROM cache_label WHERE node = 0)"
                " AND EXISTS (SELECT 1 FROM cache_off WHERE target = 0)"
            ).fetchone()
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_ERROR:  # not for want of a table
                raise
            return False
        return bool(stands)

    def mend(self) -> None:
        """Rebuild the cache unless it stands. Runs inside a write transaction."""
        if not self.cache_stands():
            self.rebuild()

    def rebuild(self) -> None:
        """Make the cache anew from the record. Runs inside a write transaction.

        Raises:
            CorruptStore: a recorded support is circular or does not hold.
        """
        for table in ("cache_label", "cache_off"):
            self._sql.execute(f"DROP TABLE IF EXISTS {table}")
        for statement in layout.statements(layout.schema()):
            if "CREATE TABLE cache_" in statement or "INSERT INTO cache_" in statement:
                self._sql.execute(statement)
        last = "(SELECT max(revision) FROM commits)"
        self._sql.execute(
            "INSERT INTO cache_off (target)"
            " SELECT b.target"
            " FROM (SELECT target FROM switch UNION SELECT target FROM validity) AS b"
            f" WHERE NOT {works('b.target', last)}"
        )
        supports = dict(self._held())
        ranks = self._ranks(supports)
        self._sql.executemany(
            "INSERT INTO cache_label (node, rank, support) VALUES (?, ?, ?)",
            [(node, ranks[node], support) for node, support in supports.items()],
        )

    def ranks(self) -> dict[int, int]:
        """Return the ranks that a rebuilt cache has. Grows with the file.

        Raises:
            CorruptStore: a recorded support is circular or does not hold.
        """
        return self._ranks(dict(self._held()))

    def _held(self) -> list[tuple[int, int | None]]:
        rows: list[tuple[int, int | None]] = self._sql.execute(
            "SELECT t.node, t.support FROM transition AS t INDEXED BY transition_by_node"
            " WHERE t.change > 0 AND t.revision ="
            " (SELECT max(revision) FROM transition AS u WHERE u.node = t.node) ORDER BY t.node"
        ).fetchall()
        return rows

    def _ranks(self, supports: dict[int, int | None]) -> dict[int, int]:
        """Rank each node above all premises of its support, from the sources upwards."""
        waiting: dict[int, int] = {}
        resting: dict[int, list[int]] = {}
        ranks: dict[int, int] = {}
        for node, support in supports.items():
            if support is None:
                ranks[node] = 0
                continue
            needs = [
                row[0]
                for row in self._sql.execute(
                    "SELECT node FROM premise WHERE justification = ?", (support,)
                ).fetchall()
            ]
            waiting[node] = len(needs)
            for need in needs:
                resting.setdefault(need, []).append(node)
        ready = list(ranks)
        for node, count in waiting.items():
            if count == 0:
                ranks[node] = 1
                ready.append(node)
        for node in ready:
            for fact in resting.get(node, ()):
                waiting[fact] -= 1
                ranks[fact] = max(ranks.get(fact, 0), ranks[node] + 1)
                if waiting[fact] == 0:
                    ready.append(fact)
        if len(ready) < len(supports):
            raise CorruptStore(
                f"{len(supports) - len(ready)} facts rest on support that does not hold"
                f" in {self._connection.path}.",
                hint="Run tms verify, and go back to a copy from before.",
                ids=(self._connection.path,),
            )
        return ranks

    # ------------------------------------------------------------ sizes

    def sizes(self, at: int) -> Sizes:
        """Count what is on record at a revision. Grows with the file, slowly."""
        values = {"at": at}
        roles = dict(
            self._sql.execute(
                "SELECT role, count(*) FROM node WHERE revision <= :at AND +scope IN temp.mine"
                " GROUP BY role",
                values,
            ).fetchall()
        )
        (justifications,) = self._sql.execute(
            "SELECT count(*) FROM justification WHERE revision <= :at AND +scope IN temp.mine",
            values,
        ).fetchone()
        (off,) = self._sql.execute(
            "SELECT count(*) FROM switch AS s WHERE s.state = 0 AND s.revision ="
            " (SELECT max(revision) FROM switch WHERE target = s.target AND revision <= :at)"
            " AND ifnull((SELECT scope FROM node WHERE node = s.target),"
            " (SELECT scope FROM justification WHERE justification = s.target)) IN temp.mine",
            values,
        ).fetchone()
        (consumers,) = self._sql.execute(
            "SELECT count(*) FROM consumer WHERE scope = ?", (self._connection.scope,)
        ).fetchone()
        (pages,) = self._sql.execute("PRAGMA page_count").fetchone()
        (size,) = self._sql.execute("PRAGMA page_size").fetchone()
        return Sizes(
            roles.get("source", 0),
            roles.get("fact", 0),
            justifications,
            off,
            consumers,
            pages * size,
        )

    # ------------------------------------------------------------ all of the record

    def rows(self, table: str) -> list[Any]:
        """Return the rows of a table in the order of its key; ``COLUMNS`` says which columns."""
        columns = ", ".join(COLUMNS[table])
        rows: list[Any] = self._sql.execute(
            f"SELECT {columns} FROM {table} ORDER BY 1, 2"
        ).fetchall()
        return rows

    def orphans(self) -> list[str]:
        """Return the rows whose revision was never committed."""
        return [
            f"{table} row of revision {revision}"
            for table in _OF_COMMITS
            for (revision,) in self._sql.execute(
                f"SELECT revision FROM {table} WHERE revision NOT IN (SELECT revision FROM commits)"
                + (" AND scope <> 0" if table == "scope" else "")  # the shared one was always there
            ).fetchall()
        ]

    def superseded(self, baseline: int) -> LeftOut:
        """Count the rows that a record which begins with a revision does not have."""
        return left_out(self._connection, baseline)

    def complaints(self) -> list[str]:
        """Return what SQLite's own integrity check finds."""
        try:
            found = [row[0] for row in self._sql.execute("PRAGMA integrity_check(100)").fetchall()]
        except sqlite3.DatabaseError as error:
            found = [str(error)]
        return [] if found == ["ok"] else found

    @contextmanager
    def lenient(self) -> Iterator[Mapping[str, None]]:
        """Read text that is no UTF-8 too, with escapes in it; yield what was so."""
        strict = self._sql.text_factory
        broken: dict[str, None] = {}

        def read(raw: bytes) -> str:
            try:
                return raw.decode()
            except UnicodeDecodeError:
                broken[raw.decode(errors="backslashreplace")] = None
                return raw.decode(errors="backslashreplace")

        self._sql.text_factory = read
        try:
            yield broken
        finally:
            self._sql.text_factory = strict

    def read_texts(self) -> None:
        """Read every text on record."""
        for table, columns in _TEXTS.items():
            self._sql.execute(f"SELECT {columns} FROM {table}").fetchall()

    def dangling(self) -> list[str]:
        """Return the rows that refer to nothing."""
        return [
            f"{table} refers to no {parent}"
            for table, _, parent, _ in self._sql.execute("PRAGMA foreign_key_check").fetchall()
        ]

    def shape(self) -> Shape:
        """Compare what the file declares with what schema.sql says."""
        return compared(declared(self._sql))


def versions() -> tuple[int, str]:
    """Return the file format of this code and the SQLite in use."""
    return layout.FORMAT, str(sqlite3.sqlite_version)
