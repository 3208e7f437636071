"""Removing contents for good: from the record, and their bytes from the file."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from urllib.parse import quote

from tms import errors
from tms.store.connection import Connection


@contextmanager
def overwriting(connection: Connection) -> Iterator[None]:
    """Let SQLite overwrite what is removed meanwhile with zeros."""
    with connection.translated():
        (before,) = connection.sql.execute("PRAGMA secure_delete").fetchone()
        connection.sql.execute("PRAGMA secure_delete = 1")
    try:
        yield
    finally:
        with connection.translated():
            connection.sql.execute(f"PRAGMA secure_delete = {before}")


def scrub(connection: Connection) -> None:
    """Write the file anew, without free pages or rests of removed rows, and empty its log.

    A row that moved between pages when others came leaves a rest, which ``secure_delete`` cannot
    reach any more; so all pages are written again.

    Args:
        connection: the file, in no transaction.

    Raises:
        Busy: somebody read or wrote for longer than the busy timeout.
        StoreFailed, CorruptStore: what else SQLite met. What was redacted is so, each says.

    Cost: grows with the file.
    """
    try:
        with connection.translated():
            _write_anew(connection)
    except errors.Busy:
        raise errors.Busy(
            f"{connection.path} was used by others for longer than the wait.",
            hint=_LEFT,
            ids=(connection.path,),
        ) from None
    except errors.TMSError as error:
        error.hint = _LEFT
        raise


def _write_anew(connection: Connection) -> None:
    if not connection.file:
        connection.sql.execute("VACUUM")
        return
    connection.check_place()
    (timeout,) = connection.sql.execute("PRAGMA busy_timeout").fetchone()
    # A connection of its own: with ours VACUUM would hold the whole file in memory.
    uri = f"file:{quote(connection.file)}?mode=rw"
    other = sqlite3.connect(uri, uri=True, timeout=timeout / 1000, isolation_level=None)
    with closing(other) as sql:
        sql.execute("VACUUM")
        (busy, *_) = sql.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    if busy:
        raise errors.Busy("the log could not be emptied.")


_LEFT = "It is redacted, but bytes of it are left. Redact it again to remove them."
