"""Opening a file: is it ours, and is it of this version."""

import os
import sqlite3
from pathlib import Path
from typing import Any
from urllib.parse import quote

from tms import errors
from tms.store.connection import OVERLAY, Connection, translated

APPLICATION_ID = 0x544D5331
"""``TMS1``: stands at byte 68 of each of our files."""

FORMAT = 1
"""The version of the file format that this code reads and writes (``user_version``)."""

CACHE_KIB = 64 * 1024
"""How much of a file SQLite may keep in memory. A cascade or a load larger than this spills pages
to the log again and again; a small change never fills it."""

_MAGIC = b"SQLite format 3\x00"
_HEADER = 100
_LONGEST_WAIT = 2_000_000
"""In seconds; SQLite counts the milliseconds of a wait in 31 bits."""

_WHERE = "Give the path of a memory, or a path where there is no file yet."


def open_file(
    path: str | os.PathLike[str],
    *,
    create: bool,
    read_only: bool,
    timeout: float,
    full: bool = False,
) -> Connection:
    """Open a file of ours, or make one.

    Args:
        path: where it is; ``:memory:`` for one that is never written to disk.
        create: make it if there is none (an empty file counts as none).
        read_only: never write to it.
        timeout: seconds to wait for other writers.
        full: each commit waits for the disk.

    Raises:
        InvalidArgument: the path is no path at all.
        NoSuchFile: there is none and none was to be made, or no folder to make it in.
        NotATMSFile: it is not ours; it was not touched.
        SchemaTooNew: it is of a later format.
        Busy, StoreFailed, CorruptStore: what SQLite met.
    """
    if not isinstance(path, (str, bytes, os.PathLike)):
        raise errors.InvalidArgument(
            f"the path is {errors.quoted(path)}.", hint="Give the path of a file."
        )
    name = os.fsdecode(path)
    if "\0" in name or not name:
        raise errors.NotATMSFile(f"not a path: {name!r}.", hint="Give the path of a file.")
    fresh = name == ":memory:" or _absent(name)
    if fresh and (read_only or not create):
        raise errors.NoSuchFile(
            f"there is no memory at {name}.",
            hint="Check the path, or let it be made (create=True, read_only=False).",
            ids=(name,),
        )
    if fresh and name != ":memory:" and not Path(name).absolute().parent.is_dir():
        raise errors.NoSuchFile(
            f"there is no folder {Path(name).parent}.", hint="Make it first.", ids=(name,)
        )
    if not fresh:
        _check_header(name)
    with translated(name):
        sql = _connect(name, read_only=read_only, timeout=timeout)
    try:
        connection = Connection(sql, name, read_only=read_only)
        with translated(name):
            _prepare(connection, full=full)
    except BaseException:
        sql.close()
        raise
    return connection


def _absent(name: str) -> bool:
    try:
        return Path(name).stat().st_size == 0 and Path(name).is_file()
    except FileNotFoundError:
        return True
    except (OSError, ValueError) as error:
        raise _unreadable(name, error) from error


def _unreadable(name: str, error: Exception) -> errors.NotATMSFile:
    reason = getattr(error, "strerror", None) or error
    return errors.NotATMSFile(f"cannot read {name}: {reason}.", hint="Check the path.", ids=(name,))


def _check_header(name: str) -> None:
    """Refuse a foreign file before SQLite sees it: our id stands in its first page at once."""
    try:
        if not Path(name).is_file():  # opening a pipe would wait for ever
            raise errors.NotATMSFile(
                f"{name} is a directory or a device, not a file.", hint=_WHERE, ids=(name,)
            )
        with Path(name).open("rb") as file:
            header = file.read(_HEADER)
    except OSError as error:
        raise _unreadable(name, error) from error
    id = int.from_bytes(header[68:72], "big")
    if header[:16] != _MAGIC or id != APPLICATION_ID:
        what = (
            f"a SQLite file of another application (application_id {id})"
            if header[:16] == _MAGIC
            else "not a SQLite file"
        )
        raise errors.NotATMSFile(f"{name} is {what}; it was not touched.", hint=_WHERE, ids=(name,))
    _check_version(name, int.from_bytes(header[60:64], "big", signed=True))


def _check_version(name: str, version: int) -> None:
    if version < 1:
        raise errors.NotATMSFile(
            f"{name} has our number, but format {version}, which never was; it was not touched.",
            hint=_WHERE,
            ids=(name,),
        )
    if version > FORMAT:
        raise errors.SchemaTooNew(
            f"{name} has format {version}; this tms knows up to {FORMAT}.",
            hint="Upgrade sqlite-tms to read it.",
            ids=(name,),
        )


def _connect(name: str, *, read_only: bool, timeout: float) -> Any:
    if name == ":memory:":
        return sqlite3.connect(name, isolation_level=None)
    mode = "ro" if read_only else "rwc"
    uri = f"file:{quote(os.path.abspath(os.fsencode(name)))}?mode={mode}"
    return sqlite3.connect(
        uri,
        uri=True,
        timeout=min(timeout, _LONGEST_WAIT),
        isolation_level=None,
        cached_statements=256,
    )


def _prepare(connection: Connection, *, full: bool) -> None:
    sql = connection.sql
    for pragma in ("foreign_keys = ON", "recursive_triggers = ON", "trusted_schema = OFF"):
        sql.execute(f"PRAGMA {pragma}")
    (version,) = sql.execute("PRAGMA user_version").fetchone()
    if version:
        _check_version(connection.path, version)
    else:
        _lay_out(connection)
    if not connection.read_only and connection.path != ":memory:":
        sql.execute("PRAGMA journal_mode = WAL")
    sql.execute(f"PRAGMA synchronous = {'FULL' if full else 'NORMAL'}")
    sql.execute("PRAGMA temp_store = MEMORY")
    for statement in OVERLAY:
        sql.execute(statement)
    sql.execute(f"PRAGMA cache_size = -{CACHE_KIB}")


def _lay_out(connection: Connection) -> None:
    """Bring the file to this format, in one transaction, alone.

    The rollback journal is still in use here, so application_id is in the file itself, not only
    in a write-ahead log, by the time anyone can look.
    """
    connection.begin()
    try:
        (version,) = connection.sql.execute("PRAGMA user_version").fetchone()
        (tables,) = connection.sql.execute("SELECT count(*) FROM sqlite_master").fetchone()
        if version == 0 and tables:
            raise errors.NotATMSFile(
                f"{connection.path} holds tables of another application; it was not touched.",
                hint=_WHERE,
                ids=(connection.path,),
            )
        if version < FORMAT:
            from tms.store.migrations import migrate  # a third of the import time, seldom needed

            migrate(connection.sql)
        connection.commit()
    except BaseException:
        connection.rollback()
        raise
