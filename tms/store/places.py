"""Where a memory can lie: names that are paths of files, and what stands at them."""

import os
import stat
from typing import NamedTuple

from tms import errors

MEMORY = ":memory:"
"""The name of a memory that is never written to disk."""

BESIDE = ("-wal", "-shm", "-journal")
"""What SQLite adds to the name of a file for what it keeps beside it."""

_LONGEST_NAME = 255 - len("-journal")
_LONGEST_PATH = 512 - len("-journal")
"""In bytes; SQLite keeps room for 512."""

_WHERE = "Give the path of a memory, or a path where there is no file yet."


class Place(NamedTuple):
    """Where a memory lies, or is to be made.

    Attributes:
        real: the whole path of the file itself, without symbolic links.
        fresh: there is no file yet, or an empty one.
    """

    real: str
    fresh: bool


def unfit(name: str) -> str | None:
    """Return why a name cannot be the path of a file of ours; None if it can."""
    try:
        path = os.fsencode(os.path.abspath(name)) if name and "\0" not in name else b""
    except UnicodeEncodeError:
        path = b""
    if not path:
        return "not a path"
    last = os.path.basename(name)
    if last in ("", os.curdir, os.pardir):
        return "the path of a folder"
    if name.strip().lower() == MEMORY:
        return "not the path of a file"
    if last.endswith(BESIDE):
        return f"a name that SQLite gives to what it keeps beside {last.rpartition('-')[0]!r}"
    if len(os.fsencode(last)) > _LONGEST_NAME or len(path) > _LONGEST_PATH:
        return "too long for SQLite"
    return None


def find(name: str) -> Place:
    """Look at what stands at a path, and beside it, without opening anything.

    SQLite writes to what is beside a file, and removes it, so nothing else may be there.

    Raises:
        NotATMSFile: it can be the path of no memory, or what is there is none.
        NoSuchFile: it is a link to nothing.
        ContentConflict: what belongs to a memory is there already, without the memory.
        Misuse: the file has another name too.
    """
    reason = unfit(name)
    if reason is not None:
        raise errors.NotATMSFile(f"{name!r:.300} is {reason}.", hint="Give the path of a file.")
    real = os.path.realpath(name)
    there = _stat(name)
    if there is None and os.path.islink(name):
        raise errors.NoSuchFile(
            f"{name} is a link to {real}, where there is nothing.",
            hint="Make it there, or remove the link.",
            ids=(name,),
        )
    if there is not None and not stat.S_ISREG(there.st_mode):  # opening a pipe would wait for ever
        raise errors.NotATMSFile(
            f"{name} is a directory or a device, not a file.", hint=_WHERE, ids=(name,)
        )
    fresh = there is None or there.st_size == 0
    beside = [found for found in (f"{real}{end}" for end in BESIDE) if _stands(found)]
    if there is not None and beside[-1:] == [f"{real}{BESIDE[-1]}"]:
        beside.pop()  # another process is making the file, or was killed while it did
    if fresh and beside and _still(name, there):
        raise errors.ContentConflict(
            f"there is no memory at {name}, but {beside[0]}.",
            hint="Move that away; it may hold the last commits of a memory that was here.",
            ids=(name,),
        )
    return Place(real, fresh)


def check_names(name: str, real: str) -> None:
    """Check that a file, and each that stands beside it, has one name only.

    SQLite keeps the log of a file by the name that it was opened by: two handles that use two names
    of one file do not see each other's commits, and overwrite them.

    Raises:
        Misuse: one has several.
    """
    for path in (real, *(f"{real}{end}" for end in BESIDE)):
        found = _stat(path)
        if found is not None and found.st_nlink > 1:
            raise errors.Misuse(
                f"{path} has {found.st_nlink} names (hard links), and is safe with one only.",
                hint="Remove the others, which find -samefile tells, or open a copy of it.",
                ids=(name,),
            )


def unreadable(name: str, error: Exception) -> errors.NotATMSFile:
    """Return the error for a file that cannot be looked at."""
    reason = getattr(error, "strerror", None) or error
    refused = isinstance(error, PermissionError)
    hint = "Check its permissions, and those of its folder." if refused else "Check the path."
    return errors.NotATMSFile(f"cannot read {name}: {reason}.", hint=hint, ids=(name,))


def lies_still(real: str) -> bool:
    """Tell whether we could not write beside a file, and nobody has it open to write."""
    beside = any(_stands(f"{real}{end}") for end in BESIDE)
    return not beside and not os.access(os.path.dirname(real), os.W_OK)


def _stat(name: str) -> os.stat_result | None:
    try:
        return os.stat(name)
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise unreadable(name, error) from error


def _stands(path: str) -> bool:
    """Tell whether something stands beside a memory; refuse what SQLite did not put there."""
    try:
        found = os.lstat(path)
    except OSError:
        return False
    if not stat.S_ISREG(found.st_mode):
        raise errors.NotATMSFile(
            f"{path} is no file, but would be written to.", hint="Move it away.", ids=(path,)
        )
    return True


def _still(name: str, there: os.stat_result | None) -> bool:
    """Tell whether a file is as absent or empty as before; else another process is making it."""
    now = _stat(name)
    return now is None if there is None else now is not None and now.st_size == 0
