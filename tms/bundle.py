"""Reading a bundle: is it whole, and what does each row say. See docs/bundle.md."""

import hashlib
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from types import TracebackType
from typing import NamedTuple, Self

from tms.content import parsed
from tms.errors import InvalidArgument, InvalidContent, quoted
from tms.exporting import COMMIT, FIRST, REDACT
from tms.interchange import BLOCK
from tms.rows import AGAIN, Commit, Row, located, read

_IN_MEMORY = 4 * 1024 * 1024
"""From how many bytes on a bundle is kept in a temporary file while it is read."""

_BOM = b"\xef\xbb\xbf"


class Place(NamedTuple):
    """Where a line of a bundle begins: its number from 1 up, and its first byte."""

    number: int
    offset: int


class Bundle:
    """A bundle that was read to its end and is whole. A context manager, which drops it.

    Args:
        lines: its lines.

    Attributes:
        commits: how many commits it tells of.
        rows: how many rows it has beside those.
        redacts: whether one of them redacts.
        start: where they begin.

    Raises:
        InvalidArgument: these are no lines.
        InvalidContent: it is no bundle, was cut off or damaged, or is of a later form.
    """

    def __init__(self, lines: Iterable[str | bytes]) -> None:
        if isinstance(lines, (str, bytes, Mapping)) or not isinstance(lines, Iterable):
            raise InvalidArgument(
                f"the lines are {quoted(lines)}.", hint="Give an open file, or memory.export()."
            )
        self.commits = self.rows = 0
        self.redacts = False
        self._newest: tuple[int, str] | None = None
        self._file = tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY)  # noqa: SIM115 - closed here
        try:
            self._take(lines)
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._file.close()

    def _take(self, lines: Iterable[str | bytes]) -> None:
        digest = hashlib.sha256()
        last: bytes | None = None
        for line in lines:
            now = _line(line)
            if not now.strip():
                continue
            if last is None:
                _check_first(now)
                self.start = Place(2, len(now))
            else:
                digest.update(last)
                self._file.write(last)
                is_commit = now.startswith(_COMMIT)
                self.commits += is_commit
                self.rows += not is_commit
                self.redacts = self.redacts or now.startswith(_REDACT)
                if is_commit:
                    self._newest = 1 + self.commits + self.rows, now.decode()
            last = now
        self.rows -= 1  # the end is none
        if last is None or not self._is_end(last, digest.hexdigest()):
            raise InvalidContent("the bundle is not whole: it was cut off or changed.", hint=AGAIN)

    @property
    def latest(self) -> int | None:
        """When the last commit was made, in microseconds; None if there is none.

        Raises:
            InvalidContent: its row does not fit.
        """
        if self._newest is None:
            return None
        number, text = self._newest
        with located(number):
            commit = read(number, text)
        return commit.at if isinstance(commit, Commit) else None

    def _is_end(self, line: bytes, digest: str) -> bool:
        """Return whether a line is the last one of this bundle."""
        try:
            return bool(parsed(line.decode()) == {"commits": self.commits, "sha256": digest})
        except ValueError:
            return False

    def lines(self, start: Place) -> Iterator[tuple[Place, str]]:
        """Yield the lines of commits and rows from a place on, without their ends.

        One reading ends before another begins.
        """
        self._file.seek(start.offset)
        number, offset = start
        for line in self._file:
            yield Place(number, offset), line[:-1].decode()
            number += 1
            offset += len(line)

    def blocks(self, start: Place) -> Iterator[Commit | list[Row]]:
        """Yield what is told from a place on: each commit, then its rows, some at a time.

        Raises:
            InvalidContent: a line is none of a bundle.
        """
        rows: list[Row] = []
        last: Commit | None = None
        for place, text in self.lines(start):
            with located(place.number):
                item = read(place.number, text)
                if isinstance(item, Commit):
                    last = _following(last, item)
                elif last is None:
                    raise InvalidContent("it belongs to no commit.", hint=AGAIN)
            if isinstance(item, Commit) or len(rows) == BLOCK:
                if rows:
                    yield rows
                rows = []
            if isinstance(item, Commit):
                yield item
            else:
                rows.append(item)
        if rows:
            yield rows


def _following(last: Commit | None, now: Commit) -> Commit:
    if last is not None and now.at < last.at:
        raise InvalidContent("the commit is before the one that it follows.", hint=AGAIN)
    return now


def is_bundle(line: str | bytes) -> bool:
    """Return whether a first line is that of a bundle, of whichever form."""
    try:
        row = parsed(_line(line).decode())
    except (ValueError, InvalidArgument):
        return False
    return isinstance(row, dict) and "bundle" in row


def _check_first(line: bytes) -> None:
    if not is_bundle(line):
        raise InvalidContent(
            f"not a bundle: it begins with {line[:80]!r}.",
            hint="A bundle is what memory.export() gives; memory.load(...) takes other rows.",
        )
    if line.rstrip() != FIRST.encode():
        raise InvalidContent(
            f"a bundle of another form: {line[:80]!r}.", hint="A later tms made it; upgrade."
        )


def _line(line: str | bytes) -> bytes:
    """Return a line as it is in a file, whatever it was read from."""
    if not isinstance(line, (str, bytes)):
        raise InvalidArgument(f"a line is {quoted(line)}.", hint="Give lines of text.")
    try:
        kept = line.encode() if isinstance(line, str) else line
        kept.decode()
    except UnicodeError as error:
        raise InvalidContent(f"the bundle is no text: {error}.", hint=AGAIN) from None
    kept = kept.removeprefix(_BOM).rstrip(b"\r\n")
    if b"\n" in kept:
        raise InvalidArgument("several lines at once.", hint="Give them one by one.")
    return kept + b"\n"


_COMMIT, _REDACT = COMMIT.encode(), REDACT.encode()
