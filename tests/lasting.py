"""Judging how long things last: every bound is asked at, and every snapshot looked through."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from itertools import pairwise

from commands import EPOCH
from oracle import Said, Snapshot, Target
from seeing import MICROSECOND

import tms

FAR = 10**15
"""Microseconds to before the first bound, and to after the last."""


def check_periods(
    view: tms.View, snapshot: Snapshot, names: Mapping[Said, tms.Ref], tally: Counter[str]
) -> None:
    """Judge the periods of all that is on record at a snapshot."""
    bounds = sorted(snapshot.bounds) or [0]
    asked = [bounds[0] - FAR, *(bound + by for bound in bounds for by in (-1, 0, 1))]
    moments = {instant: snapshot.seen_at(instant) for instant in [*asked, bounds[-1] + FAR]}
    for target, ref in named(snapshot, names):
        found = view.periods(ref)
        assert (found.ref, found.at, found.truncated) == (ref, snapshot.anchor, False)
        windows = [(since(period.valid_from), since(period.valid_to)) for period in found]
        for start, end in windows:
            assert start is None or end is None or start < end
            assert {start, end} <= {None, *bounds}
        for (_, end), (start, _) in pairwise(windows):
            assert end is not None
            assert start is not None
            assert end < start
        for instant, seen in moments.items():
            inside = any(
                (start is None or start <= instant) and (end is None or instant < end)
                for start, end in windows
            )
            assert inside == holds(seen, target), (ref, instant, windows)
        tally["in several periods"] += len(found) > 1
        tally["in no period"] += not found


def check_spans(
    reader: tms.Memory | tms.View,
    snapshot: Snapshot,
    revisions: Sequence[Snapshot],
    names: Mapping[Said, tms.Ref],
) -> None:
    """Judge between which commits all that is on record was IN, up to a snapshot."""
    for target, ref in named(snapshot, names):
        found = reader.believed_during(ref)
        assert (found.ref, found.at, found.truncated) == (ref, snapshot.anchor, False)
        expected: list[tuple[str | None, str | None]] = []
        began = None
        for seen in revisions[: snapshot.revision + 1]:
            if holds(seen, target) == (began is not None):
                continue
            if began is not None:
                expected.append((began, seen.anchor))
            began = seen.anchor if began is None else None
        if began is not None:
            expected.append((began, None))
        assert [(span.since, span.until) for span in found] == expected


def named(snapshot: Snapshot, names: Mapping[Said, tms.Ref]) -> Iterator[tuple[Target, str]]:
    yield from ((ref, ref) for ref in snapshot.nodes)
    yield from ((said, names[said]) for said in snapshot.justifications)


def holds(snapshot: Snapshot, target: Target) -> bool:
    return snapshot.fires(target) if isinstance(target, Said) else target in snapshot.held


def since(bound: datetime | None) -> int | None:
    return None if bound is None else (bound - EPOCH) // MICROSECOND
