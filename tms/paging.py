"""What happened, whole or in pages: the log, the life of one thing, what a commit changed."""

from collections.abc import Iterator
from typing import Literal

from tms import cursors, history
from tms.answers import Change, Commit, Event
from tms.clock import moment
from tms.cursors import LARGEST_PAGE, Place, Question, Walk
from tms.models import Page, Report, Settled
from tms.reading import Reader
from tms.refs import Anchor, Ref, ref_of
from tms.store import Bound, Loss, Moves, Owned

_DIED, _REVIVED, _SURVIVED, _SETTLED = range(4)
_LAST_KEY = 2**63 - 1
_Found = list[tuple[Place, Change]]


class Paged(Reader):
    """What a memory and a view tell of what happened."""

    def report(self, anchor: str) -> Report:
        """Return the report of a commit, the same at any later time.

        Args:
            anchor: which commit.

        Raises:
            InvalidAnchor, NoSuchAnchor: it is none of this file.

        Cost: grows with what the commit moved.
        """
        with self._connection.snapshot():
            revision = history.revision_of(self._beliefs, anchor, self._recorded())
            return history.report(self._connection, revision)

    def history(self, ref: object) -> tuple[Event, ...]:
        """Return the life of one source, fact or justification, oldest first.

        What came IN, went OUT or moved says because of which premise or switch.

        Args:
            ref: a Ref, a model that has one, or ``"kind:id"``.

        Raises:
            NoSuchNode, NoSuchJustification: it names nothing here.

        Cost: grows with what happened to it and the premises of what it has rested on. Where it
        moved off a support that stood again within the commit, one of several that switched
        something off, also with all that it had rested on.
        """
        with self._connection.snapshot():
            at = self._recorded()
            lived = history.events(self._connection, self._named(ref_of(ref), at), at)
            return tuple(event for _, event in lived)

    def log_page(
        self, limit: int = LARGEST_PAGE, *, since: str | None = None, after: str | None = None
    ) -> Page[Commit]:
        """Return a page of the commits, oldest first.

        The pages end with the commit that was the last when the first page was asked for.

        Args:
            limit: at most this many, 1 to 1000.
            since: only those after this anchor.
            after: the ``next_cursor`` of the page before.

        Raises:
            InvalidAnchor, NoSuchAnchor: ``since`` is none of this file.
            InvalidCursor: the cursor is damaged, of another question, view or file.
            InvalidArgument: the limit is out of range.

        Cost: grows with what the commits of the page moved.
        """
        cursors.check_limit(limit)
        with self._connection.snapshot():
            question = Question("log", since, self._viewed, self.scope, (int,))
            walk = self._go_on(question, after)
            if walk.last is None and since is not None:
                start = history.revision_of(self._beliefs, since, walk.revision)
            else:
                (start,) = walk.last or (max(0, self._beliefs.baseline - 1),)
            rows = self._beliefs.commits(start, walk.revision, limit + 1)
            items = tuple(history.entry(self._beliefs, row) for row in rows[:limit])
            places: list[Place] = [(row.revision,) for row in rows]
            return Page[Commit](items=items, next_cursor=self._next(question, walk, places, limit))

    def history_page(
        self, ref: object, limit: int = LARGEST_PAGE, *, after: str | None = None
    ) -> Page[Event]:
        """Return a page of the life of one source, fact or justification, oldest first.

        The pages end with the commit that was the last when the first page was asked for.

        Args:
            ref: a Ref, a model that has one, or ``"kind:id"``.
            limit: at most so many events, 1 to 1000.
            after: the ``next_cursor`` of the page before.

        Raises:
            NoSuchNode, NoSuchJustification: it names nothing here.
            InvalidRef: it is no ref.
            InvalidCursor: the cursor is damaged, of another question, view or file.
            InvalidArgument: the limit is out of range.

        Cost: grows with the page and the causes of what happened in it; see ``history``.
        """
        cursors.check_limit(limit)
        with self._connection.snapshot():
            asked = ref_of(ref)
            question = Question("history", asked, self._viewed, self.scope, (int, int, int))
            walk = self._go_on(question, after)
            named = self._named(asked, walk.revision)
            last = history.BIRTH if walk.last is None else history.Moment(*walk.last)
            lived = history.events(self._connection, named, walk.revision, last, limit + 1)
            items = tuple(event for _, event in lived[:limit])
            places: list[Place] = [place for place, _ in lived]
            return Page[Event](items=items, next_cursor=self._next(question, walk, places, limit))

    def report_page(
        self, anchor: str, limit: int = LARGEST_PAGE, *, after: str | None = None
    ) -> Page[Change]:
        """Return a page of what a commit changed: what died, revived, survived and was settled.

        These come one after the other. What died and what revived are in the order in which they
        were declared, survivors in that of what they lost, and what was settled in that of time.

        Args:
            anchor: which commit.
            limit: at most so many changes, 1 to 1000.
            after: the ``next_cursor`` of the page before.

        Raises:
            InvalidAnchor, NoSuchAnchor: it is none of this file.
            InvalidCursor: the cursor is damaged, of another question, view or file.
            InvalidArgument: the limit is out of range.

        Cost: grows with the page; all pages together with what the commit moved, as ``report``.
        """
        cursors.check_limit(limit)
        with self._connection.snapshot():
            question = Question(
                "report", Anchor(anchor), self._viewed, self.scope, (int, int, int, int, int)
            )
            walk = self._go_on(question, after)
            revision = history.revision_of(self._beliefs, anchor, walk.revision)
            history.check_told(self._beliefs, revision)
            found = self._changes(revision, walk.last or (_DIED, 0, 0, 0, 0), limit + 1)
            items = tuple(change for _, change in found[:limit])
            places = [place for place, _ in found]
            return Page[Change](items=items, next_cursor=self._next(question, walk, places, limit))

    def _next(self, question: Question, walk: Walk, places: list[Place], limit: int) -> str | None:
        return self._cursor(question, walk, places[limit - 1]) if len(places) > limit else None

    def _changes(self, revision: int, last: Place, limit: int) -> _Found:
        found: _Found = []
        section, *place = map(int, last)
        for part in range(section, _SETTLED + 1):
            start = place if part == section else [0, 0, 0, 0]
            wanted = limit - len(found)
            if part in (_DIED, _REVIVED):
                found += self._moved(revision, part, start[0], wanted)
            elif part == _SURVIVED:
                found += self._survived(revision, Loss(*start), wanted)
            else:
                found += self._passed(revision, start if part == section else None, wanted)
            if len(found) == limit:
                break
        return found

    def _moved(self, revision: int, part: int, after: int, limit: int) -> _Found:
        rows = Moves(self._connection).facts(revision, part, after, limit)
        what: Literal["died", "revived"] = "revived" if part else "died"
        return [
            ((part, key, 0, 0, 0), Change(what=what, ref=Ref.kept(kind, id)))
            for key, kind, id in rows
        ]

    def _survived(self, revision: int, after: Loss, limit: int) -> _Found:
        moves = Moves(self._connection)
        losses = moves.survivors(revision, after, limit)
        lost = moves.lost(revision, [loss.fact for loss in losses])
        told = history.survivors(self._beliefs, revision, lost)
        return [
            (
                (_SURVIVED, *loss),
                Change(what="survived", ref=told[loss.fact].fact, survivor=told[loss.fact]),
            )
            for loss in losses
        ]

    def _passed(self, revision: int, after: list[int] | None, limit: int) -> _Found:
        since, upto = self._beliefs.instant(revision - 1), self._beliefs.instant(revision)
        if since is None or upto is None:
            return []
        last = (since, _LAST_KEY) if after is None else (after[0], after[1])
        passed = self._windows.settled_after(last, upto, revision, limit)
        names = self._beliefs.names([bound.target for bound in passed])
        return [
            ((_SETTLED, bound.at, bound.target, 0, 0), _settled(bound, names)) for bound in passed
        ]

    # ------------------------------------------------------------ the feed

    def changes(self, *, since: str | None = None) -> Iterator[Report]:
        """Yield the reports of the commits, oldest first, up to the head at the moment of the call.

        Args:
            since: only of those after this anchor.

        Raises:
            InvalidAnchor, NoSuchAnchor: ``since`` is none of this file.

        Cost: grows with what the commits moved, a commit at a time.
        """
        with self._connection.snapshot():
            head = self._recorded()
            start = 0 if since is None else history.revision_of(self._beliefs, since, head)
        return Owned(self._connection, self._told(start, head))

    def _told(self, after: int, head: int) -> Iterator[Report]:
        while True:
            with self._connection.snapshot():
                self._connection.lay(None)
                rows = self._beliefs.commits(after, head, 1)
                told = [history.report(self._connection, row.revision) for row in rows]
            yield from told
            if not rows:
                return
            after = rows[-1].revision


def _settled(bound: Bound, names: dict[int, tuple[str, str]]) -> Change:
    ref = Ref.kept(*names[bound.target])
    cause = "began" if bound.began else "expired"
    settled = Settled.model_validate({"ref": ref, "cause": cause, "at": moment(bound.at)})
    return Change(what="settled", ref=ref, settled=settled)
