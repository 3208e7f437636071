"""A file under its final name, whole or not at all."""

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tms import errors
from tms.store.places import BESIDE

_KEPT = 40
"""How many characters of a name are told by that of the unfinished file, which must not be longer
than a name can be."""


def check_free(path: str) -> None:
    """Check that a new file can be made at a path.

    Raises:
        ContentConflict: there is something.
        NoSuchFile: there is no folder to make it in.
    """
    for taken in (path, *(f"{path}{end}" for end in BESIDE)):  # a log beside it would be read
        if os.path.lexists(taken):
            raise errors.ContentConflict(
                f"there is something at {taken} already.", hint="Give another path.", ids=(path,)
            )
    folder = Path(path).absolute().parent
    if not folder.is_dir():
        raise errors.NoSuchFile(f"there is no folder {folder}.", hint="Make it first.", ids=(path,))


@contextmanager
def appearing(path: str) -> Iterator[str]:
    """Yield the path of a file to write, beside the one that it becomes at the end.

    Raises:
        ContentConflict: there is something at the path, or beside it.
        NoSuchFile: there is no folder to make it in.
        StoreFailed: the disk refused.
    """
    check_free(path)
    folder, name = os.path.split(os.path.abspath(path))
    unfinished = os.path.join(folder, f".{name[:_KEPT]}.{secrets.token_hex(4)}.unfinished")
    try:
        yield unfinished
        _to_disk(unfinished)
        check_free(path)
        try:
            os.link(unfinished, path)  # unlike a rename, it never replaces what came meanwhile
            os.unlink(unfinished)  # at once: no memory is opened that has two names
        except FileExistsError:
            check_free(path)
            raise
        except OSError:  # no links on this file system
            os.rename(unfinished, path)
        _to_disk(folder)
    except errors.TMSError:
        raise
    except OSError as error:
        raise errors.StoreFailed(
            f"cannot write {path}: {error.strerror or error}.",
            hint="Check the folder, its permissions and the disk.",
            ids=(path,),
        ) from error
    finally:
        for suffix in ("", *BESIDE):
            with suppress(OSError):
                os.unlink(unfinished + suffix)


def _to_disk(path: str) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
