"""A copy of a file under its final name, whole or not at all."""

import os
import sqlite3
import tempfile
from collections.abc import Callable
from pathlib import Path

from tms import errors
from tms.store.connection import Connection, translated

_HEAD = "SELECT revision, at FROM commits ORDER BY revision DESC LIMIT 1"


def complete(path: str, write: Callable[[str], None]) -> int:
    """Have a file written, and give it its name only when it is complete and on disk.

    Args:
        path: its name; nothing may be there yet.
        write: writes it under the name given, in the same folder, and closes it.

    Returns:
        Its size in bytes.

    Raises:
        InvalidArgument: something is there.
        NoSuchFile: there is no such folder.
        StoreFailed: the disk refused.
    """
    target = Path(path)
    if os.path.lexists(target):
        raise _taken(path)
    folder = target.absolute().parent
    if not folder.is_dir():
        raise errors.NoSuchFile(f"there is no folder {folder}.", hint="Make it first.")
    try:
        handle, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".part", dir=folder)
    except OSError as error:
        raise _failed(path, error) from error
    os.close(handle)
    try:
        with translated(name):
            write(name)
        with Path(name).open("rb") as file:
            os.fsync(file.fileno())
            size = os.fstat(file.fileno()).st_size
        _name(name, target)
    except OSError as error:
        raise _failed(path, error) from error
    finally:
        for leftover in (name, f"{name}-wal", f"{name}-shm", f"{name}-journal"):
            Path(leftover).unlink(missing_ok=True)
    return size


def _name(name: str, target: Path) -> None:
    """Give a file its name, unless something came to be there meanwhile; make that durable."""
    try:
        os.link(name, target)  # unlike a rename, it never takes the place of another file
    except FileExistsError:
        raise _taken(str(target)) from None
    except OSError:  # a file system without links
        Path(name).rename(target)
    if os.name == "posix":
        folder = os.open(target.absolute().parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def _taken(path: str) -> errors.InvalidArgument:
    return errors.InvalidArgument(
        f"there is something at {path} already.", hint="Name a path where nothing is yet."
    )


def _failed(path: str, error: OSError) -> errors.StoreFailed:
    return errors.StoreFailed(
        f"cannot write {path}: {error.strerror or error}.",
        hint="Check the folder, its permissions and the disk.",
    )


def back_up(connection: Connection, path: str) -> tuple[int, int, int]:
    """Copy a file as it is now, page by page; return (size, revision, time) of the copy.

    Other processes may write meanwhile: the copy is of one state, that of the last commit before.

    Raises:
        InvalidArgument: something is at the path.
        NoSuchFile: there is no such folder.
        StoreFailed: the disk refused.

    Cost: grows with the file.
    """
    head = (0, 0)

    def write(name: str) -> None:
        nonlocal head
        target = sqlite3.connect(name, isolation_level=None)
        try:
            connection.sql.backup(target)
            target.execute("PRAGMA journal_mode = DELETE")  # so that nothing stands beside it
            head = target.execute(_HEAD).fetchone() or head
        finally:
            target.close()

    return (complete(path, write), *head)
