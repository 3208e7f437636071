"""Removing a file that was made for nothing."""

import os
import sqlite3
from contextlib import closing, suppress
from urllib.parse import quote

_USED = (
    "SELECT EXISTS (SELECT 1 FROM commits) OR EXISTS (SELECT 1 FROM consumer)"
    " OR EXISTS (SELECT 1 FROM setting)"
)


def unmake(path: str, made: os.stat_result) -> None:
    """Remove a file, if it is still the one that was made, has no commit, and is open nowhere.

    Else, and where the system refuses, it stays as it is. Who opens it at this very moment waits
    for the lock, and is then refused as the file is gone.

    Args:
        path: where it was made.
        made: what ``os.stat`` told of it then.

    Cost: opening and locking it once.
    """
    uri = f"file:{quote(os.fsencode(os.path.realpath(path)))}?mode=rw"
    with suppress(OSError, sqlite3.Error):
        if not os.path.samestat(os.stat(path), made):
            return
        with closing(sqlite3.connect(uri, uri=True, timeout=0, isolation_level=None)) as sql:
            sql.execute("PRAGMA journal_mode = DELETE")  # fails if anybody has it open
            sql.execute("BEGIN EXCLUSIVE")
            (mode,) = sql.execute("PRAGMA journal_mode").fetchone()
            (used,) = sql.execute(_USED).fetchone()
            if mode == "delete" and not used and os.path.samestat(os.stat(path), made):
                os.unlink(path)
