"""Judging absences: what is reached and what is missing, by closures; causes, by undoing them."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import pairwise

from oracle import Said, Snapshot, Target, by_ref, least_fixpoint

import tms

Names = Mapping[Said, tms.Ref]


class Absences:
    """A judge of what is OUT in one snapshot.

    Args:
        reader: what is judged, at that snapshot.
        revisions: all snapshots, from revision 0.
        snapshot: the one of them.
        names: the refs of justifications.
    """

    def __init__(
        self,
        reader: tms.Memory | tms.View,
        revisions: Sequence[Snapshot],
        snapshot: Snapshot,
        names: Names,
    ) -> None:
        self._reader = reader
        self._revisions = revisions
        self._snapshot = snapshot
        self._names = names
        self._deriving: dict[str, list[Said]] = {ref: [] for ref in snapshot.nodes}
        for said in snapshot.justifications:
            for fact in said.conclusions:
                self._deriving[fact].append(said)
        self._with_on = cache(self._with_on)

    def check(self, target: Target) -> tms.WhyNot:
        """Judge the whole absence of a node or a justification."""
        snapshot = self._snapshot
        named = isinstance(target, Said)
        ref = self._names[target] if named else target
        found = self._reader.why_not(ref, nodes=100_000)
        assert (found.ref, found.at) == (ref, snapshot.anchor)
        is_in = snapshot.fires(target) if named else target in snapshot.held
        assert bool(found) != is_in
        assert not found.truncated
        starts = target.premises - snapshot.held if named else {target} - snapshot.held
        depths = self._reached(() if is_in else starts)
        assert {lack.ref: lack.depth for lack in found} == depths
        assert [lack.depth for lack in found] == sorted(depths.values())
        assert len(found.lacks) == len(depths)
        for lack in found:
            self._check_lack(lack)
        for kind, told in ((snapshot.off, found.retracted), (snapshot.outside, found.outside)):
            off = {self._named(target): 0} if named and not is_in and target in kind else {}
            for lack in found:
                for item in (lack.ref, *self._deriving[lack.ref]):
                    if item in kind:
                        off.setdefault(self._named(item), lack.depth)
            assert list(told) == sorted(off, key=lambda ref: (off[ref], by_ref(ref)))
        circles = self._circles(depths.keys())
        assert found.circles == tuple(sorted(circles, key=lambda c: [by_ref(ref) for ref in c]))
        return found

    def _named(self, target: Target) -> str:
        return self._names[target] if isinstance(target, Said) else target

    def _ready(self, ref: str) -> bool:
        return ref in self._snapshot.idle and bool(self._snapshot.firing(ref))

    def _follows(self, ref: str, *, off: bool) -> set[str]:
        if self._ready(ref):
            return set()
        many = [said for said in self._deriving[ref] if off or said not in self._snapshot.idle]
        return {premise for said in many for premise in said.premises} - self._snapshot.held

    def _reached(self, starts: Sequence[str]) -> dict[str, int]:
        depths = dict.fromkeys(starts, 0)
        wave, depth = set(starts), 0
        while wave:
            depth += 1
            wave = {end for ref in wave for end in self._follows(ref, off=True)} - depths.keys()
            depths |= dict.fromkeys(wave, depth)
        return depths

    def _check_lack(self, lack: tms.Lack) -> None:
        snapshot, names = self._snapshot, self._names
        node = snapshot.nodes[lack.ref]
        assert lack.ref not in snapshot.held
        assert (lack.role, lack.retracted) == (node.role, lack.ref in snapshot.off)
        assert lack.outside == (lack.ref in snapshot.outside)
        assert lack.role == "fact" or lack.retracted or lack.outside
        told = {item.ref: item for item in lack.waiting}
        assert len(told) == len(lack.waiting)
        assert told.keys() == {names[said] for said in self._deriving[lack.ref]}
        for said in self._deriving[lack.ref]:
            item = told[names[said]]
            assert (item.rule, item.retracted) == (said.rule, said in snapshot.off)
            assert item.missing == tuple(sorted(said.premises - snapshot.held, key=by_ref))
            assert item.holding == tuple(sorted(said.premises & snapshot.held, key=by_ref))
            assert item.outside == (said in snapshot.outside)
            assert item.missing or {said, lack.ref} & snapshot.idle
        self._check_since(lack)

    def _check_since(self, lack: tms.Lack) -> None:
        ref, revisions = lack.ref, self._revisions[: self._snapshot.revision + 1]
        if ref in revisions[-1].held:  # it is OUT at another instant than that of the commit
            assert (lack.since, lack.op, lack.by, lack.reason) == (None,) * 4
            assert (lack.was_in, lack.because) == (True, ())
            return
        died = [
            after
            for before, after in pairwise(revisions)
            if ref in before.held and ref not in after.held
        ]
        declared = next(snapshot for snapshot in revisions if ref in snapshot.nodes)
        since = died[-1] if died else declared
        assert lack.was_in == bool(died)
        assert (lack.since, lack.op) == (since.anchor, since.op)
        assert (lack.by, lack.reason) == (since.by, since.reason)
        assert lack.because == tuple(sorted(lack.because, key=by_ref))
        assert bool(lack.because) == lack.was_in
        if died:
            assert ref in self._with_on(since.revision, lack.because)

    def _with_on(self, revision: int, refs: tuple[tms.Ref, ...]) -> set[str]:
        """Return what would be IN had some things not ceased to support in a commit."""
        before, after = self._revisions[revision - 1], self._revisions[revision]
        meant = {self._named(target): target for target in after.idle - before.idle}
        return least_fixpoint(
            [ref for ref, node in after.nodes.items() if node.role == "source"],
            {said: (said.premises, said.conclusions) for said in after.justifications},
            after.idle - {meant[ref] for ref in refs},
        )

    def _circles(self, reached: set[str]) -> list[tuple[str, ...]]:
        """Find who is behind whom and the other way round, one fact at a time."""
        behind: dict[str, set[str]] = {}
        for fact in reached:
            behind[fact], wave = set(), {fact}
            while wave:
                ends = {end for ref in wave for end in self._follows(ref, off=False)}
                wave = ends - behind[fact]
                behind[fact] |= wave
        circles = set()
        for fact in reached:
            circle = {other for other in behind[fact] if fact in behind[other]}
            if len(circle) > 1 and any(
                said.premises - self._snapshot.held <= circle
                for member in circle
                for said in self._deriving[member]
                if said not in self._snapshot.idle
            ):
                circles.add(tuple(sorted(circle, key=by_ref)))
        return list(circles)


def check_because(
    ref: str, events: Sequence[tms.Event], revisions: Sequence[Snapshot], names: Names
) -> int:
    """Judge because of what a node moved; return how often its last support stood again."""
    meant = {name.id: said for said, name in names.items()}
    rested: Said | None = None
    again = 0
    for event in events:
        if event.what not in ("in", "out", "moved"):
            assert event.because == ()
            continue
        before, after = (revisions[event.anchor.revision + step] for step in (-1, 0))
        support = None if event.support is None else meant[event.support]
        if event.what == "in":
            new = after.justifications.keys() - before.justifications.keys()
            turned = (before.idle - after.idle) | (new - after.idle)
            moved = after.held - before.held
            through = support
        else:
            turned = after.idle - before.idle
            moved = before.held - after.held
            through = rested
        expected: set[Target] = {ref, through} & turned
        expected |= moved & (through.premises if through else {ref})
        if event.what == "moved" and not expected:
            again += 1
            assert through is not None
            assert before.fires(through)
            assert after.fires(through)
            refs = {names[item] if isinstance(item, Said) else item for item in turned}
            assert refs.issuperset(event.because)
            assert event.because
        else:
            told = {names[item] if isinstance(item, Said) else item for item in expected}
            assert set(event.because) == told != set()
        assert event.because == tuple(sorted(set(event.because), key=by_ref))
        rested = support
    return again


def check_absences(
    view: tms.View, revisions: Sequence[Snapshot], snapshot: Snapshot, names: Names
) -> Iterator[tms.WhyNot]:
    """Judge why some things are not believed at an earlier commit; yield the answers."""
    absences = Absences(view, revisions, snapshot, names)
    targets = [*snapshot.nodes, *snapshot.justifications]
    for target in targets[snapshot.revision % 5 :: 5]:
        yield absences.check(target)
