"""Copying a file as it is, page by page, and writing others beside it."""

import os
import sqlite3
from collections.abc import Iterable

from tms.store.appearing import appearing
from tms.store.connection import Connection, translated

_HEAD = "SELECT revision, at FROM commits ORDER BY revision DESC LIMIT 1"


def back_up(connection: Connection, path: str) -> tuple[int, int, int]:
    """Copy a file as it is now; return (size, revision, time) of the copy.

    Other processes may write meanwhile: the copy is of one state, that of the last commit before.

    Raises:
        ContentConflict: something is at the path.
        NoSuchFile: there is no such folder.
        StoreFailed: the disk refused.

    Cost: grows with the file.
    """
    with appearing(path) as unfinished, translated(path):
        target = sqlite3.connect(unfinished, isolation_level=None)
        try:
            connection.sql.backup(target)
            target.execute("PRAGMA journal_mode = DELETE")  # so that nothing stands beside it
            head = target.execute(_HEAD).fetchone() or (0, 0)
        finally:
            target.close()
        size = os.path.getsize(unfinished)
    return (size, *head)


def write_out(lines: Iterable[str], path: str) -> int:
    """Write lines into a new file, which is there whole or not at all; return its size.

    Raises:
        ContentConflict: something is at the path.
        NoSuchFile: there is no such folder.
        StoreFailed: the disk refused.
    """
    with appearing(path) as unfinished:
        with open(unfinished, "x", encoding="utf-8", newline="\n") as file:
            file.writelines(lines)
        return os.path.getsize(unfinished)
