"""Judging what holds things up: every set of sources and axioms is tried in a world of its own."""

from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import combinations

from oracle import Said, Snapshot, Target, by_ref, least_fixpoint

import tms
from tms import grounding

Sets = list[frozenset[Target]]


class Grounds:
    """What stands in a snapshot with any set of what can be lost, or come back."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot
        sources = [ref for ref, node in snapshot.nodes.items() if node.role == "source"]
        self.sources = [ref for ref in sources if ref in snapshot.held]
        self.retracted = [
            ref for ref in sources if ref in snapshot.off and ref not in snapshot.outside
        ]
        self.axioms = [said for said in snapshot.justifications if not said.premises]
        self.axioms = [said for said in self.axioms if snapshot.fires(said)]

    @property
    def members(self) -> int:
        return max(len(self.sources) + len(self.axioms), len(self.retracted))

    def held(self, stands: Iterable[Target], *, back: Iterable[Target] = ()) -> set[Target]:
        """Return what stands with some sources and axioms alone: nodes, and what fires."""
        stands, said = {*stands, *back}, self.snapshot.justifications
        held = least_fixpoint(
            [ref for ref in stands if isinstance(ref, str)],
            {key: (key.premises, key.conclusions) for key in said if key.premises or key in stands},
            self.snapshot.idle.difference(back),
        )
        off = self.snapshot.idle
        return held | {
            key
            for key in said
            if key not in off and key.premises <= held and (key.premises or key in stands)
        }

    def alone(self) -> list[tuple[frozenset[Target], set[Target]]]:
        """Of each set of sources and axioms: what stands on it alone."""
        return [(some, self.held(some)) for some in _subsets([*self.sources, *self.axioms])]

    def without(self) -> list[tuple[frozenset[Target], set[Target]]]:
        """Of each set of sources: what stands without it."""
        every = {*self.sources, *self.axioms}
        return [(some, self.held(every - some)) for some in _subsets(self.sources)]

    def again(self) -> list[tuple[frozenset[Target], set[Target]]]:
        """Of each set of retracted sources: what stands if it came back."""
        every = {*self.sources, *self.axioms}
        return [(some, self.held(every, back=some)) for some in _subsets(self.retracted)]


def _subsets(members: list[Target]) -> list[frozenset[Target]]:
    return [
        frozenset(some) for size in range(len(members) + 1) for some in combinations(members, size)
    ]


def _minimal(sets: Iterable[frozenset[Target]]) -> Sets:
    kept: Sets = []
    for some in sets:
        if not any(other <= some for other in kept):
            kept.append(some)
    return kept


def _apart(sets: Sets, sources: set[Target]) -> int:
    """How many of the sets can be had of which no two share a source."""
    if not sets:
        return 0
    first, *rest = sets
    beside = [some for some in rest if not some & first & sources]
    if len(beside) == len(rest):
        return 1 + _apart(rest, sources)
    return max(1 + _apart(beside, sources), _apart(rest, sources))


def _named(sets: Sets, names: Mapping[Said, tms.Ref]) -> list[tuple[str, ...]]:
    refs = [
        tuple(
            sorted((names[item] if isinstance(item, Said) else item for item in some), key=by_ref)
        )
        for some in sets
    ]
    return sorted(refs, key=lambda some: (len(some), [by_ref(ref) for ref in some]))


def check_grounds(
    reader: tms.Memory | tms.View,
    snapshot: Snapshot,
    names: Mapping[Said, tms.Ref],
    *,
    members: int = 10,
    every: int = 1,
) -> None:
    """Judge all that is said of what holds things up at a snapshot, unless there is too much.

    Args:
        reader: the memory or a view.
        snapshot: what it shows.
        names: the refs of justifications.
        members: pass over a snapshot with more sources and axioms.
        every: ask of one node in so many.
    """
    grounds = Grounds(snapshot)
    if grounds.members > members:
        return
    alone, without, again = grounds.alone(), grounds.without(), grounds.again()
    at, sources = snapshot.anchor, set(grounds.sources)
    targets: list[Target] = [*snapshot.nodes, *snapshot.justifications]
    standing = without[0][1]
    for target in targets[snapshot.revision % every :: every]:
        ref = names[target] if isinstance(target, Said) else target
        status = "IN" if target in standing else "OUT"
        environments = _minimal(some for some, held in alone if target in held)
        found = reader.environments(ref, limit=1000)
        assert (found.ref, found.status, found.at, found.truncated) == (ref, status, at, False)
        assert list(found) == _named(environments, names)
        assert bool(found) == (status == "IN")
        origins = reader.origins(ref)
        assert (origins.ref, origins.status, origins.at) == (ref, status, at)
        assert (origins.count, origins.truncated) == (_apart(environments, sources), False)
        assert set(origins) <= set(found)
        told = Counter(item for some in origins for item in some)
        assert all(told[source] <= 1 for source in sources)
        cuts = reader.cuts(ref, limit=1000)
        assert (cuts.ref, cuts.status, cuts.at, cuts.truncated) == (ref, status, at, False)
        fallen = [some for some, held in without if target not in held]
        assert list(cuts) == (_named(_minimal(fallen), names) if status == "IN" else [])
        if status == "OUT":
            missing = _minimal(some for some, held in again if target in held)
            revision = snapshot.revision
            named = reader._named(tms.Ref(ref), revision)
            repairs = grounding.repairs(reader._connection, named, revision, 1000)
            assert repairs == (tuple(_named(missing, names)), False)
    facts = set(snapshot.facts)
    falls = {source: len(facts - held) for (source, *more), held in without[1:] if not more}
    ranked = sorted(
        ((count, ref) for ref, count in falls.items() if count),
        key=lambda item: (-item[0], by_ref(item[1])),
    )
    critical = reader.critical()
    assert (critical.at, critical.truncated) == (at, False)
    assert [(item.facts, item.ref) for item in critical] == ranked
    for kind in {ref.partition(":")[0] for ref in sources}:
        of_kind = [item for item in ranked if item[1].startswith(f"{kind}:")]
        assert [(item.facts, item.ref) for item in reader.critical(kind)] == of_kind
