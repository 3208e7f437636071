"""Reading what is fed in: the rows of an import, and the content of a node."""

import gzip
import os
import sys
import zlib
from array import array
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Self, cast

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

import tms
from tms import interchange, limits
from tms.content import parsed
from tms.errors import clause

Row = Mapping[str, Any]

_GZIP = b"\x1f\x8b"
_STDIN = "standard input"


def content_of(text: str | None) -> dict[str, Any] | None:
    """Return the content that an option gives: a JSON object, or ``-`` for standard input.

    Raises:
        InvalidContent: it is no JSON object.
    """
    if text is None:
        return None
    hint = """Write a JSON object, for instance --content '{"text": "…"}', or - for stdin."""
    given = _read_stdin() if text == "-" else text
    try:
        content = parsed(given.decode("utf-8-sig") if isinstance(given, bytes) else given)
    except ValueError as error:
        raise tms.InvalidContent(
            f"the content cannot be read: {clause(error)}.", hint=hint
        ) from None
    if not isinstance(content, dict):
        raise tms.InvalidContent(
            f"the content is no JSON object but a {type(content).__name__}.", hint=hint
        )
    return content


def _stdin() -> BinaryIO:
    if sys.stdin is None:
        raise tms.InvalidArgument("standard input is closed.", hint="Give a file instead of -.")
    return sys.stdin.buffer


def _read_stdin() -> bytes:
    try:
        read = _stdin().read(limits.LINE + 1)
    except OSError as error:
        raise _unreadable(_STDIN, error) from None
    if len(read) > limits.LINE:
        raise _too_long("the content on standard input")
    return read


def _too_long(what: str) -> tms.InvalidContent:
    return tms.InvalidContent(
        f"{what} is longer than {limits.said(limits.LINE)}.", hint="Nothing of it was kept."
    )


class Lines:
    """The lines of a file, plain or gzip, counted.

    Attributes:
        number: of the line that was read last, from 1 up.
    """

    def __init__(self, file: BinaryIO, name: str) -> None:
        self._file = file
        self._name = name
        self.number = 0

    def __iter__(self) -> Iterator[bytes]:
        try:
            start = self._file.readline(len(_GZIP))
            joined = cast(BinaryIO, _Joined(start, self._file))
            file = gzip.GzipFile(fileobj=joined) if start == _GZIP else joined
            while line := file.readline(limits.LINE + 1):
                self.number += 1
                if len(line) > limits.LINE:
                    raise _too_long(f"line {self.number}")
                yield line
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise tms.InvalidArgument(
                f"{self._name} is damaged: {clause(error)}.",
                hint="Nothing of the commit that this is in was kept.",
                ids=(self._name,),
            ) from None
        except OSError as error:
            raise _unreadable(self._name, error) from None

    @property
    def size(self) -> int | None:
        """How many bytes there are to read; None if nobody knows."""
        try:
            return os.fstat(self._file.fileno()).st_size or None
        except OSError:
            return None

    @property
    def position(self) -> int:
        """How many of them were read; 0 where ``size`` is None."""
        return 0 if self.size is None else self._file.tell()


class _Joined:
    """A file whose beginning was read already."""

    def __init__(self, start: bytes, rest: BinaryIO) -> None:
        self._start = start
        self._rest = rest

    def read(self, size: int) -> bytes:
        part, self._start = self._start[:size], self._start[size:]
        return part or self._rest.read(size)

    def readline(self, size: int) -> bytes:
        start, self._start = self._start, b""
        return start if start.endswith(b"\n") else start + self._rest.readline(size - len(start))


@contextmanager
def opened(name: str) -> Iterator[Lines]:
    """Open a file of rows; ``-`` is standard input.

    Raises:
        NoSuchFile: there is none.
        InvalidArgument: it cannot be read.
    """
    if name == "-":
        yield Lines(_stdin(), _STDIN)
    else:
        with _file(name) as file:
            yield Lines(file, name)


def _file(name: str) -> BinaryIO:
    try:
        return Path(name).open("rb")
    except FileNotFoundError:
        raise tms.NoSuchFile(
            f"there is no file {name}.", hint="Check the path.", ids=(name,)
        ) from None
    except (OSError, ValueError) as error:
        raise _unreadable(name, error) from None


def _unreadable(name: str, error: Exception) -> tms.InvalidArgument:
    reason = getattr(error, "strerror", None) or error
    return tms.InvalidArgument(
        f"cannot read {name}: {reason}.", hint="Give a file, or another one.", ids=(name,)
    )


@contextmanager
def located(rows: Iterable[Row], lines: Lines) -> Iterator[Iterator[Row]]:
    """Give the rows of a load, and say in the error of one which line of the file it is."""
    numbers = array("Q")

    def numbered() -> Iterator[Row]:
        for row in rows:
            numbers.append(lines.number)
            yield row

    try:
        yield numbered()
    except tms.TMSError as error:
        if error.row is not None and not error.message.startswith("line "):
            read = error.row <= len(numbers)
            number = numbers[error.row - 1] if read else lines.number
            error.message = f"line {number}: {error.message}"
        raise


class Bar:
    """A progress bar for a person at a terminal, shown once there have been many rows."""

    def __init__(self, lines: Lines) -> None:
        self._lines = lines
        self._shown = False
        self._seen = sys.stderr is not None and sys.stderr.isatty()
        self._bar = Progress(
            TextColumn("{task.fields[rows]:,} rows"),
            BarColumn(),
            TimeElapsedColumn(),
            console=Console(stderr=True),
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        )
        self._task = self._bar.add_task("", total=lines.size, rows=0)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.clear()

    def show(self, before: int, more: int) -> None:
        """Show that so many rows were read, in the commits before and in this one."""
        rows = before + more
        if self._seen and rows >= interchange.PROGRESS:
            self._bar.update(self._task, completed=self._lines.position, rows=rows)
            self._shown = True
            self._bar.start()

    def clear(self) -> None:
        """Take the bar off the terminal, so that something else can be written there."""
        if self._shown:
            self._bar.stop()
