"""Every error that tms raises on purpose, in one tree.

::

    TMSError
    ├── NoSuchNode            LookupError     a ref that names nothing here
    ├── NoSuchJustification   LookupError     a justification id that names nothing here
    ├── NoSuchAnchor          LookupError     an anchor of another file, or ahead of the head
    │   └── Forgotten         LookupError     one from before the file was pruned
    ├── InvalidRef            ValueError      text that is no ``kind:id``
    ├── InvalidAnchor         ValueError      text that is no anchor
    ├── InvalidDigest         ValueError      text that is no anchor with its digest
    ├── InvalidCursor         ValueError      a cursor of another scan, or a damaged one
    ├── InvalidWindow         ValueError      an instant without a time zone
    ├── InvalidContent        ValueError      content, rule, reason or row that cannot be kept
    ├── InvalidJustification  ValueError      no premises, no conclusions, or one in the other
    ├── InvalidArgument       ValueError      a limit, clock or option out of its range
    ├── ContentConflict       ValueError      the name is taken by something else
    ├── NotATMSFile           ValueError      not one of our files
    │   └── NoSuchFile        FileNotFoundError
    ├── ScopeRequired         ValueError      a strict file, and no scope was said
    ├── SchemaTooNew          RuntimeError    written by a newer tms
    ├── ReadOnly              PermissionError a write through a read-only door
    ├── Busy                  TimeoutError    another writer holds the file (try again)
    ├── CorruptStore          RuntimeError    the file contradicts itself
    ├── StoreFailed           OSError         the disk or SQLite refused (full, I/O)
    └── Misuse                RuntimeError    a closed memory, an open batch asked for its report

Each carries ``code`` (stable, kebab-case), ``hint`` (what to do next) and ``ids`` (what it is
about). ``str(error)`` is the message and the hint in one sentence or two; whatever they quote, each
has at most ``LONGEST`` characters, while ``ids`` are whole.
"""

from typing import ClassVar

LONGEST = 1000
"""How many characters a message or a hint may have: an id or a reason that it quotes may be
megabytes."""

_TAIL = 400
_QUOTED = 100


def shortened(text: str) -> str:
    """Return a message that is not too long; its middle gives way."""
    if len(text) <= LONGEST:
        return text
    return f"{text[: LONGEST - _TAIL - 1]}…{text[-_TAIL:]}"


def clause(error: Exception) -> str:
    """Return what an error of another hand says, to stand in a sentence of ours."""
    return str(error).rstrip(".")


def quoted(value: object) -> str:
    """Return what something looks like, in few words, whatever it is.

    There are values without a ``repr``: an int of more than 4,300 digits is one.
    """
    try:
        text = repr(value)
    except Exception:
        return f"a {type(value).__name__} that cannot be shown"
    return text if len(text) <= _QUOTED else f"{text[:_QUOTED]}…"


class TMSError(Exception):
    """The base of every error tms raises on purpose.

    Attributes:
        code: stable name of the kind of error, for programs.
        hint: what to do next.
        ids: the refs, anchors or paths that it is about.
        row: which row of a load it was met in, from 1 up; None outside of one.
    """

    code: ClassVar[str] = "error"

    def __init__(self, message: str, *, hint: str = "", ids: tuple[str, ...] = ()) -> None:
        self.message = shortened(message)
        super().__init__(self.message)
        self.hint = shortened(hint)
        self.ids = ids
        self.row: int | None = None

    def __str__(self) -> str:
        return f"{self.message} {self.hint}" if self.hint else self.message


class NoSuchNode(TMSError, LookupError):
    """A ref names no source and no fact here. Declare it first, or mend the spelling."""

    code = "no-such-node"


class NoSuchJustification(TMSError, LookupError):
    """A justification id names nothing here. ``justify`` returns the ref to use."""

    code = "no-such-justification"


class NoSuchAnchor(TMSError, LookupError):
    """An anchor that this file never gave out. Take anchors from ``head``, ``log`` or a report."""

    code = "no-such-anchor"


class Forgotten(NoSuchAnchor, LookupError):
    """A commit from before the file was pruned. The message says from which anchor on to ask."""

    code = "forgotten"


class InvalidRef(TMSError, ValueError):
    """Text that cannot be a ref. Write ``kind:id``."""

    code = "invalid-ref"


class InvalidAnchor(TMSError, ValueError):
    """Text that cannot be an anchor. Anchors come from ``head``, ``log`` or a report."""

    code = "invalid-anchor"


class InvalidDigest(TMSError, ValueError):
    """Text that is no anchor with its digest. ``memory.digest()`` returns one to keep."""

    code = "invalid-digest"


class InvalidCursor(TMSError, ValueError):
    """A cursor that does not belong to this scan. Start the scan again without it."""

    code = "invalid-cursor"


class InvalidWindow(TMSError, ValueError):
    """An instant without a time zone. Give an aware ``datetime``."""

    code = "invalid-window"


class InvalidContent(TMSError, ValueError):
    """Content, a rule, a reason or an interchange row that cannot be kept as it is."""

    code = "invalid-content"


class InvalidJustification(TMSError, ValueError):
    """A justification that could never be one: see the message for which part."""

    code = "invalid-justification"


class InvalidArgument(TMSError, ValueError):
    """A limit, a clock or an option out of its range. The message says which range."""

    code = "invalid-argument"


class ContentConflict(TMSError, ValueError):
    """The name is taken by something with other content or another role. See ``revise``."""

    code = "content-conflict"


class NotATMSFile(TMSError, ValueError):
    """The path holds something that tms did not make. It was not touched."""

    code = "not-a-tms-file"


class NoSuchFile(NotATMSFile, FileNotFoundError):
    """There is no file at the path and none was to be made."""

    code = "no-such-file"


class ScopeRequired(TMSError, ValueError):
    """The file is marked strict: it takes no operation that does not say as which scope.

    Attributes:
        operation: what was asked for.
    """

    code = "scope-required"
    operation = "open"

    @classmethod
    def to(cls, operation: str, path: str) -> "ScopeRequired":
        """Return the error that refuses an operation on a file."""
        error = cls(
            f"{operation} needs a scope: {path} is strict.",
            hint='Open it with scope="name", or with scope="" for what is shared.',
            ids=(path,),
        )
        error.operation = operation
        return error


class SchemaTooNew(TMSError, RuntimeError):
    """The file was written by a newer tms. Upgrade, or open a copy made by this version."""

    code = "schema-too-new"


class ReadOnly(TMSError, PermissionError):
    """A write was asked of a memory or view that only reads."""

    code = "read-only"


class Busy(TMSError, TimeoutError):
    """Another writer held the file for longer than the wait. Nothing was written; try again."""

    code = "busy"


class CorruptStore(TMSError, RuntimeError):
    """The file contradicts itself, its guards or schema.sql. Run ``tms verify`` if it opens."""

    code = "corrupt-store"


class StoreFailed(TMSError, OSError):
    """SQLite or the disk refused (full, I/O error). Nothing of the operation was kept."""

    code = "store-failed"


class Misuse(TMSError, RuntimeError):
    """The call makes no sense at this moment: see the message."""

    code = "misuse"
