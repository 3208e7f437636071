"""The shape of a file: what it declares, and where that differs from what schema.sql says.

Tables, indexes, guards and views are compared as the text that SQLite keeps of them, so that
nothing of a file has to be run to find out what it would do.
"""

import re
import sqlite3
from functools import cache
from hashlib import sha256
from typing import Any, NamedTuple

from tms.store import layout

_ROWS = "SELECT type, name, tbl_name, sql, rootpage FROM sqlite_master"
_CREATE = re.compile(r"CREATE (?:UNIQUE )?(TABLE|INDEX|TRIGGER|VIEW) (\w+)")
_ON = re.compile(r" ON (\w+)")
_NO_STATEMENT = re.compile(r"\A(?:\s|--[^\n]*\n)*")
_SHOWN = 60

MIGRATIONS = (
    'CREATE TABLE "_sqlite_migrations" (\n'
    '   "id" INTEGER PRIMARY KEY,\n'
    '   "migration_set" TEXT,\n'
    '   "name" TEXT,\n'
    '   "applied_at" TEXT\n'
    ")",
    'CREATE UNIQUE INDEX "idx__sqlite_migrations_migration_set_name"\n'
    '    ON "_sqlite_migrations" ("migration_set", "name")',
)
"""What sqlite-utils keeps for itself. Made here, so that it is the same with every release."""

_MAY_BE = frozenset(
    (
        ("table", "_sqlite_migrations", "_sqlite_migrations", MIGRATIONS[0]),
        (
            "index",
            "idx__sqlite_migrations_migration_set_name",
            "_sqlite_migrations",
            MIGRATIONS[1],
        ),
        ("table", "sqlite_stat1", "sqlite_stat1", "CREATE TABLE sqlite_stat1(tbl,idx,stat)"),
        (
            "table",
            "sqlite_stat4",
            "sqlite_stat4",
            "CREATE TABLE sqlite_stat4(tbl,idx,neq,nlt,ndlt,sample)",
        ),
    )
)
"""What a file may declare besides: the table of sqlite-utils, and what ANALYZE leaves."""


class Shape(NamedTuple):
    """How a file differs from what schema.sql says.

    Attributes:
        altered: what is there in another way, too much or not at all, as ``"trigger node_update"``.
        dropped: tables of the cache that are not there, which loses nothing.
    """

    altered: list[str]
    dropped: list[str]


def declared(sql: sqlite3.Connection) -> list[Any]:
    """Return what a file declares. It runs nothing of it.

    Raises:
        sqlite3.DatabaseError: it declares what SQLite cannot read.
    """
    return sql.execute(_ROWS).fetchall()


def compared(rows: list[Any]) -> Shape:
    """Compare what a file declares with schema.sql."""
    wanted = _wanted(layout.schema())
    there = {row[:4] for row in rows}
    extra = there - wanted - _MAY_BE
    missing = wanted - there
    named = {row[:2] for row in there}
    dropped = {row for row in missing if _of_cache(row) and row[:2] not in named}
    odd = {*extra, *(missing - dropped), *_misplaced(rows)}
    return Shape(sorted({_shown(row) for row in odd}), sorted(map(_shown, dropped)))


def digest(rows: list[Any]) -> str:
    """Return a digest of what a file declares, without the cache and what may be there besides."""
    kept = sorted(repr(row[:4]) for row in rows if not _of_cache(row) and row[:4] not in _MAY_BE)
    misplaced = sorted(map(_shown, _misplaced(rows)))
    return sha256("\n".join(kept + misplaced).encode()).hexdigest()


@cache
def _wanted(script: str) -> frozenset[tuple[str, str, str, str | None]]:
    """Return what SQLite keeps of the statements of a script."""
    found: set[tuple[str, str, str, str | None]] = set()
    for statement in layout.statements(script):
        text = _NO_STATEMENT.sub("", statement).rstrip().removesuffix(";").rstrip()
        if create := _CREATE.match(text):
            kind, name = create[1].lower(), create[2]
            on = _ON.search(text) if kind in ("index", "trigger") else None
            found.add((kind, name, on[1] if on else name, text))
            for number in range(text.count(" UNIQUE") if kind == "table" else 0):
                found.add(("index", f"sqlite_autoindex_{name}_{number + 1}", name, None))
    return frozenset(found)


def _of_cache(row: tuple[Any, ...]) -> bool:
    """Tell whether it is a table of the cache, by its name and the beginning of its text."""
    name = str(row[1])
    begins = str(row[3]).startswith(f"CREATE TABLE {name} ")
    return row[0] == "table" and name.startswith("cache_") and begins


def _misplaced(rows: list[Any]) -> list[Any]:
    """Return what claims pages that are those of something else, or to have pages and cannot."""
    taken = {0, 1}
    found = []
    for row in rows:
        root = row[4] or 0
        if (root in taken) if row[0] in ("table", "index") else root != 0:
            found.append(row[:4])
        taken.add(root)
    return found


def _shown(row: tuple[Any, ...]) -> str:
    text = f"{row[0]} {row[1]}"
    text = text if text.isprintable() else ascii(text)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
