"""Judging the differences between commits: from whole snapshots, and by adding them up."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta

from commands import EPOCH
from oracle import Said, Snapshot, Target, by_ref
from snapshot import Valid

import tms

Names = Mapping[Said, tms.Ref]

PAIRS = (
    ("died", "revived"),
    ("added", "missing"),
    ("new_justifications", "missing_justifications"),
    ("retracted", "unretracted"),
)
"""What a thing leaves and what it enters; the other way round on the way back."""


def expected(a: Snapshot, b: Snapshot, names: Names) -> tms.Diff:
    """Compare two snapshots."""

    def refs(targets: Iterable[Target]) -> tuple[tms.Ref, ...]:
        named = [names[target] if isinstance(target, Said) else target for target in targets]
        return tuple(tms.Ref(ref) for ref in sorted(named, key=by_ref))

    assert a.anchor is not None
    assert b.anchor is not None
    return tms.Diff(
        before=tms.Anchor(a.anchor),
        after=tms.Anchor(b.anchor),
        died=refs(set(a.facts) - set(b.facts)),
        revived=refs(set(b.facts) - set(a.facts)),
        added=refs(b.nodes.keys() - a.nodes.keys()),
        missing=refs(a.nodes.keys() - b.nodes.keys()),
        new_justifications=refs(b.justifications.keys() - a.justifications.keys()),
        missing_justifications=refs(a.justifications.keys() - b.justifications.keys()),
        retracted=refs(b.off - a.off),
        unretracted=refs(a.off - b.off),
        revised=tuple(
            tms.Revised(ref=tms.Ref(ref), before=was, after=now)
            for ref in sorted(a.nodes.keys() & b.nodes.keys(), key=by_ref)
            if (was := a.nodes[ref].version) != (now := b.nodes[ref].version)
        ),
        revalidated=tuple(
            revalidated(ref, was, now)
            for ref in sorted(a.nodes.keys() & b.nodes.keys(), key=by_ref)
            if (was := a.nodes[ref].valid) != (now := b.nodes[ref].valid)
        ),
    )


def revalidated(ref: str, was: Valid, now: Valid) -> tms.Revalidated:
    bounds = [
        None if bound is None else EPOCH + timedelta(microseconds=bound) for bound in (*was, *now)
    ]
    return tms.Revalidated(
        ref=tms.Ref(ref),
        from_before=bounds[0],
        to_before=bounds[1],
        from_after=bounds[2],
        to_after=bounds[3],
    )


def after_one_another(first: tms.Diff, second: tms.Diff) -> tms.Diff:
    """Return the difference that two differences make, the second from where the first ended."""
    assert first.after == second.before
    parts: dict[str, object] = {"before": first.before, "after": second.after}
    for pair in PAIRS:
        for here, there in (pair, pair[::-1]):
            left = set(getattr(first, here)) - set(getattr(second, there))
            came = set(getattr(second, here)) - set(getattr(first, there))
            parts[here] = tuple(sorted(left | came))
    passing = {*first.added, *first.missing, *second.added, *second.missing}
    versions = {item.ref: [item.before, item.after] for item in first.revised}
    for item in second.revised:
        versions.setdefault(item.ref, [item.before, 0])[1] = item.after
    windows = {item.ref: item for item in first.revalidated}
    for item in second.revalidated:
        one = windows.get(item.ref, item)
        windows[item.ref] = one.model_copy(
            update={"from_after": item.from_after, "to_after": item.to_after}
        )
    parts["revalidated"] = tuple(
        item
        for ref, item in sorted(windows.items())
        if ref not in passing
        and (item.from_before, item.to_before) != (item.from_after, item.to_after)
    )
    parts["revised"] = tuple(
        tms.Revised(ref=ref, before=was, after=now)
        for ref, (was, now) in sorted(versions.items())
        if was != now and ref not in passing
    )
    return tms.Diff.model_validate(parts)


def check_diffs(memory: tms.Memory, revisions: Sequence[Snapshot], names: Names) -> None:
    """Judge differences between commits a growing number apart, in both directions."""
    seen = revisions[1:]
    step = 1
    while step < len(seen):
        for a, b in zip(seen[::step], seen[step::step], strict=False):
            there = memory.diff(a.anchor or "", b.anchor or "")
            assert there == expected(a, b, names)
            assert memory.diff(b.anchor or "", a.anchor or "") == expected(b, a, names)
            middle = seen[(a.revision + b.revision) // 2 - 1].anchor or ""
            halves = memory.diff(there.before, middle), memory.diff(middle, there.after)
            assert after_one_another(*halves) == there
        step *= 2
