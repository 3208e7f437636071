"""The floor: raw ``sqlite3`` doing the least work that any engine on these tables must.

Everything runs on a copy of the measured file, with the same settings, in the same run.
"""

import shutil
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from tms.store.file import CACHE_KIB
from tms.store.layout import schema

WALK = """
WITH RECURSIVE resting (node) AS (
    SELECT ?
    UNION
    SELECT d.node FROM resting AS r
    CROSS JOIN premise AS p INDEXED BY premise_by_node ON p.node = r.node
    CROSS JOIN derive AS d ON d.justification = p.justification
    CROSS JOIN cache_label AS l ON l.node = d.node AND l.support = d.justification
)
INSERT INTO transition (revision, node, change) SELECT ?, node, 0 FROM resting
"""
"""One recursive walk over the support rows, one INSERT … SELECT of the transition rows."""

COMMIT = (
    "INSERT INTO commits (revision, at, op, last_key, believed, micro, scope, digest)"
    " SELECT revision + 1, at, 'retract', last_key, believed, micro, scope, digest"
    " FROM commits ORDER BY revision DESC LIMIT 1"
)


def raw(path: Path) -> sqlite3.Connection:
    """Open a file with the settings of the engine."""
    sql = sqlite3.connect(path, isolation_level=None)
    for pragma in (
        "journal_mode = WAL",
        "synchronous = NORMAL",
        "foreign_keys = ON",
        f"cache_size = -{CACHE_KIB}",
    ):
        sql.execute(f"PRAGMA {pragma}")
    return sql


@contextmanager
def copied(path: Path) -> Iterator[Path]:
    """Copy a closed file, and remove the copy afterwards."""
    copy = path.with_suffix(".floor")
    shutil.copyfile(path, copy)
    try:
        yield copy
    finally:
        copy.unlink()


def opened(path: Path) -> closing[sqlite3.Connection]:
    """Open a file as ``raw`` does, for a ``with`` that closes it."""
    return closing(raw(path))


def retraction(sql: sqlite3.Connection, withdrawn: str) -> float:
    """Return the seconds that walking and writing one retraction take."""
    kind, id = withdrawn.split(":")
    (node,) = sql.execute(
        "SELECT node FROM node WHERE scope = 0 AND kind = ? AND id = ?", (kind, id)
    ).fetchone()
    (revision,) = sql.execute("SELECT max(revision) FROM commits").fetchone()
    started = time.perf_counter()
    sql.execute("BEGIN IMMEDIATE")
    sql.execute(WALK, (node, revision + 1))
    sql.execute(COMMIT)
    sql.execute("COMMIT")
    return time.perf_counter() - started


def whole_retraction(path: Path, withdrawn: str) -> float:
    """Return the seconds of opening a file, one retraction and closing it."""
    started = time.perf_counter()
    with opened(path) as sql:
        retraction(sql, withdrawn)
    return time.perf_counter() - started


TABLES = (
    "node",
    "justification",
    "premise",
    "derive",
    "transition",
    "cache_label",
    "concern",
    "commits",
)
"""The tables that a load fills, in an order that keeps the foreign keys."""


def rows_of(path: Path) -> dict[str, list[tuple[object, ...]]]:
    """Read all rows of a closed file."""
    sql = sqlite3.connect(path)
    try:
        rows = {table: sql.execute(f"SELECT * FROM {table}").fetchall() for table in TABLES}
        rows["cache_label"] = [row for row in rows["cache_label"] if row[0]]  # 0 is in every file
        return rows
    finally:
        sql.close()


def bulk(path: Path, rows: dict[str, list[tuple[object, ...]]]) -> float:
    """Return the seconds that ``executemany`` of the same rows takes, in one transaction."""
    sql = empty(path)
    try:
        started = time.perf_counter()
        sql.execute("BEGIN IMMEDIATE")
        for table in TABLES:
            if rows[table]:
                places = ", ".join("?" * len(rows[table][0]))
                sql.executemany(f"INSERT INTO {table} VALUES ({places})", rows[table])
        sql.execute("COMMIT")
        return time.perf_counter() - started
    finally:
        sql.close()


def commits(path: Path, count: int) -> float:
    """Return the seconds for ``count`` commits of the rows of one fact and its justification."""
    sql = empty(path)
    try:
        execute = sql.execute
        execute("INSERT INTO node VALUES (1, 0, 'Run', '0', 'source', 1)")
        execute("INSERT INTO transition VALUES (1, 1, 1, NULL)")
        execute("INSERT INTO commits VALUES (1, 0, 'source', NULL, NULL, 1, 0, 0, 0, zeroblob(32))")
        started = time.perf_counter()
        for i in range(count):
            revision, fact, j = i + 2, 2 * i + 3, 2 * i + 2
            execute("BEGIN IMMEDIATE")
            execute(
                "INSERT INTO node VALUES (?, 0, 'Fact', ?, 'fact', ?)", (fact, str(i), revision)
            )
            execute(
                "INSERT INTO justification VALUES (?, 0, NULL, ?, 'bench', ?)",
                (j, j.to_bytes(16, "big"), revision),
            )
            execute("INSERT INTO premise VALUES (?, 1)", (j,))
            execute("INSERT INTO derive VALUES (?, ?)", (j, fact))
            execute("INSERT INTO cache_label VALUES (?, 1, ?)", (fact, j))
            execute("INSERT INTO transition VALUES (?, ?, 1, ?)", (revision, fact, j))
            execute("INSERT INTO concern VALUES (0, ?, ?)", (revision, i + 1))
            execute(
                "INSERT INTO commits"
                " VALUES (?, 0, 'justify', NULL, NULL, ?, ?, 0, 0, zeroblob(32))",
                (revision, fact, i + 1),
            )
            execute("COMMIT")
        return time.perf_counter() - started
    finally:
        sql.close()


def empty(path: Path) -> sqlite3.Connection:
    """Make an empty file of our format at a path."""
    for leftover in (path, Path(f"{path}-wal"), Path(f"{path}-shm")):
        leftover.unlink(missing_ok=True)
    sql = raw(path)
    sql.executescript(schema())
    return sql
