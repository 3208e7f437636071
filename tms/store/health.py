"""How a file and the SQLite that reads it fare."""

import os
import shutil
import sqlite3
from pathlib import Path
from typing import NamedTuple

from tms.store.connection import Connection


class Condition(NamedTuple):
    """What was found.

    Attributes:
        sqlite: the version of SQLite.
        pragmas: settings by name, as they are in force.
        pages, page_size, free_pages: of the file.
        wal: bytes in the write-ahead log; None without one.
        disk: bytes that are free where the file is; None in memory.
    """

    sqlite: tuple[int, int, int]
    pragmas: dict[str, str]
    pages: int
    page_size: int
    free_pages: int
    wal: int | None
    disk: int | None


PRAGMAS = (
    "journal_mode",
    "synchronous",
    "foreign_keys",
    "recursive_triggers",
    "trusted_schema",
    "busy_timeout",
    "cache_size",
    "page_size",
    "user_version",
    "application_id",
)
"""The settings that are told."""


def condition(connection: Connection) -> Condition:
    """Look at a file and at the settings in force. Does not grow with the file."""

    def pragma(name: str) -> int:
        (value,) = connection.sql.execute(f"PRAGMA {name}").fetchone()
        return int(value)

    wal = disk = None
    if connection.file:
        log = Path(os.fsdecode(connection.file + b"-wal"))
        wal = log.stat().st_size if log.exists() else None
        disk = shutil.disk_usage(os.path.dirname(connection.file)).free
    major, minor, patch = sqlite3.sqlite_version_info
    return Condition(
        sqlite=(major, minor, patch),
        pragmas={
            name: str(connection.sql.execute(f"PRAGMA {name}").fetchone()[0]) for name in PRAGMAS
        },
        pages=pragma("page_count"),
        page_size=pragma("page_size"),
        free_pages=pragma("freelist_count"),
        wal=wal,
        disk=disk,
    )
