"""How long something holds in the world, and between which commits it was believed."""

from collections.abc import Iterator
from itertools import islice

from tms import history, timeline
from tms.answers import BelievedDuring, Period, Periods
from tms.paging import Paged
from tms.reading import check_limit
from tms.refs import JUSTIFICATION, Ref, ref_of
from tms.store import Beliefs, Cone, Connection, Named, Turns, Windows


class Lasting(Paged):
    """What can be asked about how long things last."""

    def periods(self, ref: object, *, limit: int = 1000) -> Periods:
        """Return when it holds in the world, as known at the commit that is read.

        For the switches and windows known then, it is what ``believes`` would say at every instant,
        whatever instant is looked at here. For a justification: when it fires.

        Args:
            ref: a Ref, a model that has one, or ``"kind:id"``.
            limit: at most so many periods.

        Returns:
            The periods in the order of time, half-open, with a gap between any two; falsy if it
            never holds, ``truncated`` if the limit left some out.

        Raises:
            NoSuchNode, NoSuchJustification: it names nothing here.
            InvalidRef: it is no ref.
            InvalidArgument: the limit is out of range.

        Cost: grows with all that stands or could stand behind it, and with the bounds there: a bit
        for each bound and node, in blocks of 64 MB.

        Source: the least fixpoint (Dowling & Gallier 1984), at all instants at once.
        """
        check_limit("limit", limit, 1)
        with self._connection.snapshot():
            at, asked = self._recorded(), ref_of(ref)
            return _periods(self._connection, asked, self._named(asked, at), at, limit)

    def believed_during(self, ref: object, *, limit: int = 1000) -> BelievedDuring:
        """Return between which commits it was IN, or a justification fired.

        What opens or expires counts from the commit that settles it.

        Args:
            ref: a Ref, a model that has one, or ``"kind:id"``.
            limit: at most so many spans.

        Returns:
            The spans, oldest first, each from the commit in which it came IN to the one in which it
            went OUT, None if it is IN at the last; falsy if it never was, ``truncated`` if the
            limit left some out.

        Raises:
            NoSuchNode, NoSuchJustification: it names nothing here.
            InvalidRef: it is no ref.
            InvalidArgument: the limit is out of range.

        Cost: grows with how often it came and went; for a justification with how often its premises
        did.
        """
        check_limit("limit", limit, 1)
        with self._connection.snapshot():
            at, asked = self._recorded(), ref_of(ref)
            named = self._named(asked, at)
            return _believed_during(self._connection, asked, named, at, limit)


def _periods(connection: Connection, ref: Ref, named: Named, at: int, limit: int) -> Periods:
    """Return when a node or a justification holds, as known at a revision."""
    beliefs = Beliefs(connection)
    cone = Cone(connection, at, beliefs.last_key(at))
    keys, support = cone.possible(named.key)
    axioms = support.derives.keys() - support.needs.keys()
    if named.role == JUSTIFICATION:
        axioms |= keys & {named.key} - support.needs.keys()  # of which no conclusion was reached
    found = timeline.holds(
        named.key,
        [*cone.sources(keys), *axioms],
        support.needs,
        support.derives,
        Windows(connection).of_all(keys, at),
    )
    kept = [
        Period(valid_from=history.opened(start), valid_to=history.opened(end))
        for start, end in islice(found, limit)
    ]
    return Periods(
        ref=ref,
        at=history.anchor(beliefs, at),
        periods=tuple(kept),
        truncated=next(found, None) is not None,
    )


def _believed_during(
    connection: Connection, ref: Ref, named: Named, at: int, limit: int
) -> BelievedDuring:
    """Return between which commits a node was IN or a justification fired."""
    turns = Turns(connection, at)
    if named.role == JUSTIFICATION:
        conditions = turns.needed(named.key) + 2
        changes = [*_signed(turns.of_premises(named.key)), *_worked(connection, named, at)]
    else:
        conditions, changes = 1, [*_signed(turns.of_node(named.key))]
    found = timeline.during(changes, conditions)
    kept = list(islice(found, limit))
    beliefs = Beliefs(connection)
    ends = {revision for span in kept for revision in span if revision is not None}
    anchors = {revision: history.anchor(beliefs, revision) for revision in ends}
    return BelievedDuring.model_validate(
        {
            "ref": ref,
            "at": history.anchor(beliefs, at),
            "spans": [
                {"since": anchors[since], "until": None if until is None else anchors[until]}
                for since, until in kept
            ],
            "truncated": next(found, None) is not None or beliefs.baseline > 0,
        }
    )


def _signed(turns: list[tuple[int, bool]]) -> Iterator[tuple[int, int]]:
    return ((revision, 1 if came else -1) for revision, came in turns)


def _worked(connection: Connection, named: Named, at: int) -> Iterator[tuple[int, int]]:
    """Yield when a justification was on record and on, and when within its window."""
    beliefs = Beliefs(connection)
    yield named.revision, 1
    on = 1
    for revision, state in beliefs.switches(named.key, at):
        yield revision, state - on
        on = state

    def first(instant: int) -> int:
        """Return the first commit at or after an instant, as if one followed the last."""
        return beliefs.revision_at(instant - 1, at) + 1

    start, end = Windows(connection).of(named.key, at)
    opened = 0 if start is None else first(start)
    closed = at + 1 if end is None else first(end)
    if opened < closed:
        yield opened, 1
        if closed <= at:
            yield closed, -1
