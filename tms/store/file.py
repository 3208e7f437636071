"""Opening a file: is it ours, is it of this version, and does it declare what schema.sql says."""

import os
import sqlite3
from contextlib import closing, suppress
from pathlib import Path
from time import monotonic, sleep
from typing import Any
from urllib.parse import quote

from tms import errors
from tms.store import layout, places, shape
from tms.store.connection import OVERLAY, Connection, check_format, translated
from tms.store.places import MEMORY
from tms.store.settings import is_strict

APPLICATION_ID = 0x544D5331
"""``TMS1``: stands at byte 68 of each of our files."""

CACHE_KIB = 64 * 1024
"""How much of a file SQLite may keep in memory. A cascade or a load larger than this spills pages
to the log again and again; a small change never fills it."""

_MAGIC = b"SQLite format 3\x00"
_HEADER = 100
_NAMED = 5
_PAUSE = 0.005
_LONGEST_WAIT = 2_000_000
"""In seconds; SQLite counts the milliseconds of a wait in 31 bits."""

_BACK = (
    "Nothing of it was run or changed. Go back to a copy from before, and remove the -wal and"
    " -shm file here first, or SQLite lays the old log over it; or put back what schema.sql says,"
    " or drop a table of the cache, with the sqlite3 shell."
)
_WHERE = "Give the path of a memory, or a path where there is no file yet."


def open_file(
    path: str | os.PathLike[str],
    *,
    create: bool,
    read_only: bool,
    timeout: float,
    full: bool = False,
    scope: str | None = None,
) -> Connection:
    """Open a file of ours, or make one.

    What a file declares (tables, guards, views) is compared with schema.sql before any statement is
    run that could run it. A file of an earlier format is brought to this one.

    Args:
        path: where it is; ``:memory:`` for one that is never written to disk.
        create: make it if there is none (an empty file counts as none).
        read_only: never write to it. Where nobody with our rights can write, and nobody has it
            open, it is read as it lies there (SQLite's ``immutable``).
        timeout: seconds to wait for other writers.
        full: each commit waits for the disk.
        scope: as which scope it is read and written; None for the shared one, if that will do.

    Raises:
        ScopeRequired: the file is strict, and no scope was said.
        InvalidArgument: the path is no path at all.
        NoSuchFile: there is none and none was to be made, or no folder to make it in.
        NotATMSFile: it is not ours; it was not touched.
        SchemaTooNew: it is of a later format.
        ReadOnly: it is of an earlier format and was not to be written.
        ContentConflict: the log of another memory is where that of a new one would be.
        Misuse: it has several names.
        CorruptStore: it declares something else than schema.sql says; nothing of it was run.
        Busy, StoreFailed: what SQLite met.
    """
    if not isinstance(path, (str, bytes, os.PathLike)):
        raise errors.InvalidArgument(
            f"the path is {errors.quoted(path)}.", hint="Give the path of a file."
        )
    name = str.__str__(os.fsdecode(path))  # an enum shows another text than it is
    real, fresh = ("", True) if name == MEMORY else places.find(name)
    if fresh and (read_only or not create):
        raise errors.NoSuchFile(
            f"there is no memory at {name}.",
            hint="Check the path, or let it be made (create=True, read_only=False).",
            ids=(name,),
        )
    if name != MEMORY:
        if not fresh:
            _check_header(name, real)
        elif not os.path.isdir(os.path.dirname(real)):
            raise errors.NoSuchFile(
                f"there is no folder {Path(name).parent}.", hint="Make it first.", ids=(name,)
            )
        places.check_names(name, real)
    mode = "ro" if read_only else "rwc"
    try:
        return _opened(name, real, mode, timeout=timeout, full=full, scope=scope)
    except (errors.ReadOnly, errors.StoreFailed) as error:
        if not (read_only and _wanted_to_write(error) and places.lies_still(real)):
            raise
    return _opened(name, real, "ro&immutable=1", timeout=timeout, full=full, scope=scope)


def _opened(
    name: str, real: str, mode: str, *, timeout: float, full: bool, scope: str | None
) -> Connection:
    with translated(name):
        sql = _connect(real, mode, timeout)
    try:
        connection = Connection(sql, name, read_only=mode != "rwc", scope=scope or "")
        with translated(name):
            _prepare(connection, timeout=timeout, full=full)
            if scope is None and is_strict(connection):
                raise errors.ScopeRequired.to("open", name)
    except BaseException:
        _leave(sql, real)
        raise
    return connection


def _connect(real: str, mode: str, timeout: float = 0.0) -> sqlite3.Connection:
    return sqlite3.connect(
        f"file:{quote(os.fsencode(real))}?mode={mode}" if real else MEMORY,
        uri=bool(real),
        timeout=min(timeout, _LONGEST_WAIT),
        isolation_level=None,
        cached_statements=256,
    )


def _leave(sql: sqlite3.Connection, real: str) -> None:
    """Close what was refused, and not as the last: that would write its log into the file."""
    with suppress(OSError, sqlite3.Error):
        if real and os.path.getsize(f"{real}-wal"):
            with closing(_connect(real, "ro")) as witness:
                witness.execute("PRAGMA user_version").fetchone()
                sql.close()
    sql.close()


def _wanted_to_write(error: errors.TMSError) -> bool:
    """Tell whether reading failed for want of a log, which nobody but a writer can make."""
    code = getattr(error.__cause__, "sqlite_errorcode", 0) & 0xFF
    return code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN)


def _check_header(name: str, real: str) -> None:
    """Refuse a foreign file before SQLite sees it: our id stands in its first page at once."""
    try:
        with open(real, "rb") as file:
            header = file.read(_HEADER)
    except OSError as error:
        raise places.unreadable(name, error) from error
    id = int.from_bytes(header[68:72], "big")
    if header[:16] != _MAGIC:
        raise errors.NotATMSFile(
            f"{name} is not a SQLite file; it was not touched.", hint=_WHERE, ids=(name,)
        )
    _check_numbers(name, id, int.from_bytes(header[60:64], "big", signed=True))


def _check_numbers(name: str, id: int, version: int) -> None:
    if id != APPLICATION_ID:
        raise errors.NotATMSFile(
            f"{name} is a SQLite file of another application (application_id {id});"
            " it was not touched.",
            hint=_WHERE,
            ids=(name,),
        )
    if version < 1:
        raise errors.NotATMSFile(
            f"{name} has our number, but format {version}, which never was; it was not touched.",
            hint=_WHERE,
            ids=(name,),
        )
    check_format(name, version)


def _prepare(connection: Connection, *, timeout: float, full: bool) -> None:
    sql = connection.sql
    for pragma in ("trusted_schema = OFF", "recursive_triggers = ON"):
        sql.execute(f"PRAGMA {pragma}")
    sql.execute("BEGIN")
    try:
        with translated(connection.path):
            version = _checked(connection)
    except errors.CorruptStore as error:
        error.hint = _BACK
        raise
    finally:
        connection.rollback()
    if version < layout.FORMAT:
        _bring_up(connection, version)
    sql.execute("PRAGMA foreign_keys = ON")
    if not connection.read_only and connection.path != MEMORY:
        _keep_a_log(sql, timeout)
    sql.execute(f"PRAGMA synchronous = {'FULL' if full else 'NORMAL'}")
    sql.execute("PRAGMA temp_store = MEMORY")
    for statement in OVERLAY:
        sql.execute(statement)
    sql.execute(f"PRAGMA cache_size = -{CACHE_KIB}")


def _keep_a_log(sql: sqlite3.Connection, timeout: float) -> None:
    """Turn on the write-ahead log. SQLite does not wait for another writer here, so this does."""
    last = monotonic() + timeout
    while True:
        try:
            sql.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or monotonic() > last:
                raise
            sleep(_PAUSE)
        else:
            return


def _checked(connection: Connection) -> int:
    """Return the format of a file that declares what it should, 0 if it declares nothing.

    It runs nothing of the file, and is run in a transaction: log and file may say different things.
    """

    def pragma(name: str) -> Any:
        return connection.sql.execute(f"PRAGMA {name}").fetchone()[0]

    path, version, rows = connection.path, pragma("user_version"), shape.declared(connection.sql)
    if version == 0 and not rows:
        return 0
    _check_numbers(path, pragma("application_id"), version)
    encoding = pragma("encoding")
    if encoding != "UTF-8":
        raise _other(path, [f"text in {encoding}"])
    if version == layout.FORMAT:
        altered = shape.compared(rows).altered
        if altered:
            raise _other(path, altered)
    else:
        from tms.store.migrations import FORMER

        if shape.digest(rows) != FORMER[version]:
            raise _other(path, [f"no file of format {version}"])
    return int(version)


def _other(path: str, altered: list[str]) -> errors.CorruptStore:
    named, more = ", ".join(altered[:_NAMED]), len(altered) - _NAMED
    return errors.CorruptStore(
        f"{path} is not as schema.sql has it: {named}{f' and {more} more' if more > 0 else ''}.",
        ids=(path,),
    )


def _bring_up(connection: Connection, version: int) -> None:
    """Bring an empty file or one of an earlier format to this one, in one transaction, alone.

    For an empty file the rollback journal is still in use, so application_id is in the file itself,
    not only in a write-ahead log, by the time anyone can look.
    """
    path = connection.path
    if connection.read_only:
        raise errors.ReadOnly(
            f"{path} has format {version}; this tms reads format {layout.FORMAT}.",
            hint="Open it once for writing, which brings it to that.",
            ids=(path,),
        )
    connection.begin()
    try:
        version = _checked(connection)  # another process may have done it meanwhile
        if version < layout.FORMAT:
            from tms.store.migrations import migrate  # a third of the import time, seldom needed

            migrate(connection.sql, version)
            lost = connection.sql.execute("PRAGMA foreign_key_check").fetchone()
            if _checked(connection) != layout.FORMAT or lost is not None:
                raise errors.CorruptStore(
                    f"{path} cannot be brought from format {version} to {layout.FORMAT}.",
                    hint="It was left as it is. Run tms verify on it with the tms that made it.",
                    ids=(path,),
                )
        connection.commit()
    except BaseException:
        connection.rollback()
        raise
