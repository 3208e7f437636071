"""Taking in a bundle: what is known is passed over, what follows replayed, the rest merged."""

from enum import Enum, auto
from typing import NamedTuple

from tms import exporting, history
from tms.answers import Imported
from tms.batch import Series, Writer
from tms.bundle import Bundle, Place
from tms.clock import becoming
from tms.collecting import uncollected
from tms.content import parsed
from tms.draft import Draft
from tms.errors import InvalidContent
from tms.merging import Merge, Tally
from tms.rows import (
    Commit,
    Declared,
    Justified,
    Redacted,
    Revised,
    Row,
    Turned,
    foresee,
    located,
    read,
)
from tms.store import Beliefs, Chronicle, Connection, Head

_EDITED = "Somebody edited it, or another version of tms made it; export it again."


class _Relation(Enum):
    """How the commits of a bundle stand to those of the file."""

    KNOWN = auto()  # they are its first ones
    AHEAD = auto()  # they go on where it ends
    APART = auto()


class _Compared(NamedTuple):
    """How they stand; how many rows are the same, and where the bundle goes on after them."""

    relation: _Relation
    rows: int
    place: Place


def take_in(writer: Writer, bundle: Bundle) -> tuple[Imported, bool]:
    """Take in a bundle, all of it or nothing.

    Returns:
        What came of it, and whether contents that the file had were redacted.
    """
    connection = writer.connection
    with writer.series() as series, uncollected():
        found = _compare(connection, series.base, bundle)
        if found.relation is _Relation.AHEAD:
            tally = _Replay(connection, series, bundle).take(found)
        elif found.relation is _Relation.APART:
            tally = _merge(connection, series, bundle)
        else:
            tally = _known(connection, series, bundle)
        beliefs = Beliefs(connection)
        imported = Imported(
            changed=bool(series.made),
            before=history.anchor(beliefs, series.base.revision),
            after=history.anchor(beliefs, series.head.revision),
            commits=len(series.made),
            rows=bundle.rows,
            known=tally.known,
            sources=tally.sources,
            facts=tally.facts,
            justifications=tally.justifications,
            switched=tally.switched,
            retracted=tuple(tally.retracted),
        )
    return imported, tally.redacted


def _compare(connection: Connection, base: Head, bundle: Bundle) -> _Compared:
    same = 0
    place = bundle.start
    if Beliefs(connection).baseline:  # a pruned file no longer knows its first commits
        return _Compared(_Relation.APART, same, place)
    ours = exporting.rows(connection, 0, base.revision)
    for place, theirs in bundle.lines(bundle.start):
        mine = next(ours, None)
        if mine is None:
            goes_on = theirs.startswith(exporting.COMMIT) and _follows(base, theirs)
            return _Compared(_Relation.AHEAD if goes_on else _Relation.APART, same, place)
        if mine != theirs and not _same_but_redacted(mine, theirs):
            return _Compared(_Relation.APART, same, place)
        same += not mine.startswith(exporting.COMMIT)
    mine = next(ours, None)
    ends = mine is None or mine.startswith(exporting.COMMIT)
    return _Compared(_Relation.KNOWN if ends else _Relation.APART, same, place)


def _follows(base: Head, row: str) -> bool:
    """Return whether a commit can be made with its own time: another scope may have gone on."""
    commit = read(0, row)
    return isinstance(commit, Commit) and commit.at >= base.instant


_REDACTED = '"redacted":true'


def _same_but_redacted(mine: str, theirs: str) -> bool:
    """Return whether two rows differ only in a content that one of them no longer has."""
    if _REDACTED not in mine and _REDACTED not in theirs:
        return False
    one, other = parsed(mine), parsed(theirs)
    for row in (one, other):
        if row.pop("redacted", None) is None and row.pop("content", None) is None:
            return False
    return bool(one == other)


def _known(connection: Connection, series: Series, bundle: Bundle) -> Tally:
    story = Chronicle(connection, 0, series.base.revision)
    last = story.nth(bundle.commits)
    last_key = story.last_key(last)
    off = story.retracted_since(last)
    retracted = [ref for key, ref in off.items() if key <= last_key]
    return Tally(known=bundle.rows, retracted=sorted(retracted))


def _merge(connection: Connection, series: Series, bundle: Bundle) -> Tally:
    # not before what it tells of, so that whatever is turned here later counts as later
    latest = series.now if bundle.latest is None else bundle.latest
    draft = series.draft(max(series.now, latest))
    tally = Merge(connection, series.record, draft).take(bundle)
    series.seal(draft, "import", None, None)
    return tally


class _Replay:
    """The commits of a bundle, made again as they were."""

    def __init__(self, connection: Connection, series: Series, bundle: Bundle) -> None:
        self._connection = connection
        self._series = series
        self._bundle = bundle

    def take(self, found: _Compared) -> Tally:
        """Make the commits that go on where the file ends.

        Raises:
            InvalidContent: the bundle is not what the record makes of it.
            TMSError: what adding one of its rows raises.
        """
        tally = Tally(known=found.rows)
        open_: tuple[Commit, Draft] | None = None
        for part in self._bundle.blocks(found.place):
            if isinstance(part, Commit):
                if open_ is not None:
                    self._seal(*open_, tally)
                open_ = part, self._series.draft(part.at)
                open_[1].settling = True
            elif open_ is not None:
                self._add(part, open_[1], tally)
        if open_ is not None:
            self._seal(*open_, tally)
        self._check(found.place)
        return tally

    def _add(self, rows: list[Row], draft: Draft, tally: Tally) -> None:
        foresee(draft, rows)
        for row in rows:
            with located(row.number):
                _replay(row, draft)
            if isinstance(row, Redacted):
                known = draft.named(row.ref).key <= self._series.base.last_key
                tally.redacted = tally.redacted or known

    def _seal(self, commit: Commit, draft: Draft, tally: Tally) -> None:
        tally.add(draft)
        with located(commit.number):
            if not self._series.seal(draft, commit.op, commit.reason, commit.by):
                raise InvalidContent("a commit that changes nothing.", hint=_EDITED)

    def _check(self, place: Place) -> None:
        """Check that the new commits, exported, are what was read, so that nothing is lost."""
        series = self._series
        made = exporting.rows(self._connection, series.base.revision, series.head.revision)
        for at, theirs in self._bundle.lines(place):
            if next(made, None) != theirs:
                with located(at.number):
                    raise InvalidContent("the record makes something else of it.", hint=_EDITED)


def _replay(row: Row, draft: Draft) -> None:
    match row:
        case Justified(_, said, shared):
            draft.justify(said, shared)
        case Declared(_, ref, role, _, _, window):
            draft.declare(ref, role, _content(row), window)
        case Revised(_, ref, _, _, _, window):
            draft.revise(ref, _content(row), window and becoming(window))
        case Redacted(_, ref):
            draft.redact(ref)
        case Turned(_, refs, on):
            draft.turn(refs, on=on)


def _content(row: Declared | Revised) -> str | None:
    """Return the content, or in its place one that a later row removes, unlike any beside it."""
    return f'{{"redacted":{row.number}}}' if row.redacted else row.content
