"""A memory as a bundle: the record, commit by commit, as JSON Lines. See docs/bundle.md."""

import hashlib
import json
from collections.abc import Callable, Iterator
from heapq import merge
from itertools import groupby, islice
from operator import attrgetter
from typing import Any, Generic, TypeVar

from tms.clock import Window, moment, told
from tms.errors import Busy
from tms.store import Chronicle, Connection, chronicle

Item = TypeVar("Item")

FIRST = '{"bundle":1}'
"""The first line, which gives the version of the form."""

TOGETHER = 500
"""How many refs stand in one row that turns switches."""

COMMIT, REDACT = '{"commit":', '{"redact":'
"""How the row of a commit begins, and that of a redaction, and no other row."""

_encode = json.JSONEncoder(
    ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":")
).encode

_BREAKS = {code: f"\\u{code:04x}" for code in (0x85, 0x2028, 0x2029)}
"""What some readers take for the end of a line. JSON escapes the others by itself."""


def bundle(connection: Connection, upto: int) -> Iterator[str]:
    """Yield the lines of the bundle of all commits up to a revision, each with its end.

    Raises:
        Busy: a content was redacted meanwhile.
    """
    digest = hashlib.sha256()
    line = f"{FIRST}\n"
    digest.update(line.encode())
    yield line
    commits = 0
    for row in rows(connection, 0, upto):
        commits += row.startswith(COMMIT)
        line = f"{row}\n"
        digest.update(line.encode())
        yield line
    if Chronicle(connection, 0, upto).redacted_since():
        raise Busy("a content was redacted during the export.", hint="Export again.")
    yield f"{_written({'commits': commits, 'sha256': digest.hexdigest()})}\n"


def rows(connection: Connection, after: int, upto: int) -> Iterator[str]:
    """Yield the rows of a bundle for the commits after a revision up to another."""
    story = Chronicle(connection, after, upto)
    additions = _Ahead(story.additions())
    both: list[Iterator[chronicle.Later]] = [story.contents(), story.windows()]
    later = _Ahead(merge(*both, key=_place))
    redactions, turns = _Ahead(story.redactions()), _Ahead(story.turns())
    for commit in story.commits():
        yield _commit(commit)
        yield from map(_addition, additions.while_(_within(commit.last_key)))
        now = _of(commit.revision)
        for _, given in groupby(later.while_(now), key=attrgetter("key")):
            yield _revision(list(given))
        for redaction in redactions.while_(now):
            yield _written({"redact": redaction.ref})
        yield from _turns(turns.while_(now))


class _Ahead(Generic[Item]):
    """An iterator of which the next item can be left for later."""

    def __init__(self, items: Iterator[Item]) -> None:
        self._items = items
        self._next = next(items, None)

    def while_(self, wanted: Callable[[Item], bool]) -> Iterator[Item]:
        """Yield the items up to the first that is not wanted, which stays."""
        while self._next is not None and wanted(self._next):
            yield self._next
            self._next = next(self._items, None)


def _within(last_key: int) -> Callable[[chronicle.Addition], bool]:
    return lambda row: row.key <= last_key


def _of(revision: int) -> Callable[[Any], bool]:
    return lambda row: bool(row.revision == revision)


def _place(row: chronicle.Later) -> tuple[int, int]:
    return row.revision, row.key


def _written(row: dict[str, Any], content: str | None = None) -> str:
    """Write a row in its one form: sorted keys, no spaces, nothing that breaks the line.

    The content is given as it is kept; its key sorts before all others.
    """
    text = _encode(row)
    if content is not None:
        text = f'{{"content":{content},{text[1:]}'
    return text if text.isascii() else text.translate(_BREAKS)


def _commit(commit: chronicle.Made) -> str:
    at = moment(commit.instant).replace(tzinfo=None).isoformat(timespec="microseconds")
    said = {"at": f"{at}Z", "op": commit.op, "reason": commit.reason, "by": commit.by}
    return _written({"commit": {key: value for key, value in said.items() if value is not None}})


def _addition(row: chronicle.Addition) -> str:
    if isinstance(row, chronicle.Declared):
        said: dict[str, Any] = {row.role: row.ref, **_bounds(row.window)}
        if row.has_content and row.content is None:
            said["redacted"] = True
        return _written(said, row.content)
    if row.premises:
        said = {"justification": row.name, "premises": row.premises, "derives": row.conclusions}
    else:
        said = {"axiom": row.conclusions} | ({} if row.name is None else {"id": row.name})
    if row.shared:
        said["shared"] = row.shared
    if row.rule is not None:
        said["rule"] = row.rule
    return _written(said | _bounds(row.window))


def _bounds(window: Window) -> dict[str, str | None]:
    named = zip(("valid_from", "valid_to"), window, strict=True)
    return {name: told(bound) for name, bound in named if bound is not None}


def _revision(given: list[chronicle.Later]) -> str:
    said: dict[str, Any] = {"revise": given[0].ref}
    content = None
    for row in given:
        if isinstance(row, chronicle.Rewindowed):
            said |= {"valid_from": None, "valid_to": None} | _bounds(row.window)
        else:
            said["version"], content = row.version, row.content
            if content is None:
                said["redacted"] = True
    return _written(said, content)


def _turns(turns: Iterator[chronicle.Switched]) -> Iterator[str]:
    for on, run in groupby(turns, key=attrgetter("on")):
        while refs := [turn.ref for turn in islice(run, TOGETHER)]:
            yield _written({"unretract" if on else "retract": refs})
