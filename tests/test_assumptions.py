"""The labels alone, over integers: what is given when the effort is spent, and disjoint sets."""

from collections.abc import Callable, Iterable
from itertools import combinations
from random import Random

import pytest
from oracle import least_fixpoint

from tms import assumptions
from tms.assumptions import Family
from tms.circuit import Circuit
from tms.disjoint import packed
from tms.dominance import ones


@pytest.mark.parametrize("seed", range(60))
def test_without_effort_there_is_still_one_minimal_set(seed: int) -> None:
    random = Random(seed)
    leaves, facts = list(range(7)), list(range(10, 20))
    needs = {
        key: random.sample(leaves + facts, random.choice([1, 2, 2, 3])) for key in range(100, 130)
    }
    derives = {key: [random.choice(facts)] for key in needs}
    free = leaves[: random.choice([0, 0, 1])]
    members = leaves[len(free) :]
    circuit = Circuit(leaves, needs, derives)
    rows = {key: (needs[key], derives[key]) for key in needs}

    def stands(goal: int, there: Iterable[int]) -> bool:
        return goal in least_fixpoint([*free, *there], rows, ())

    for goal in facts:
        place = circuit.place.get(goal)
        assert (place is not None) == stands(goal, members)
        if place is None or stands(goal, ()):
            continue
        for effort in (0, 1, 20, 300):
            found = assumptions.environments(circuit, place, members, limit=99, effort=effort)
            check(found, members, lambda some, goal=goal: stands(goal, some))
            found = assumptions.cuts(circuit, place, members, limit=99, effort=effort)
            check(
                found, members, lambda some, goal=goal: not stands(goal, set(members) - set(some))
            )


def check(found: Family, members: list[int], enough: Callable[[tuple[int, ...]], bool]) -> None:
    sets = [tuple(members[place] for place in ones(mask)) for mask in found.sets]
    assert sets
    for some in sets:
        assert enough(some)
        assert not any(enough(less) for less in combinations(some, len(some) - 1))
    assert sets == sorted(set(sets), key=lambda some: (len(some), some))
    if found.whole or len(sets) > 1:  # one alone may be any
        most = len(members) if found.whole else len(sets[-1])
        subsets = [some for size in range(most + 1) for some in combinations(members, size)]
        minimal = [
            some
            for some in subsets
            if enough(some) and not any(enough(less) for less in combinations(some, len(some) - 1))
        ]
        assert sets == minimal


@pytest.mark.parametrize("seed", range(40))
def test_the_largest_family_of_disjoint_sets_is_found(seed: int) -> None:
    random = Random(seed)
    sets = {random.getrandbits(9) & random.getrandbits(9) or 1 for _ in range(random.randint(1, 9))}
    found = packed({item: item for item in sets})
    most = max(
        size
        for size in range(1, 10)
        for some in combinations(sets, size)
        if sum(item.bit_count() for item in some) == sum(some).bit_count()
        and all(not a & b for a, b in combinations(some, 2))
    )
    assert (len(found.sets), found.most) == (most, True)
    assert all(not a & b for a, b in combinations(found.sets, 2))
    cut = packed({item: item for item in sets}, effort=1)
    assert 1 <= len(cut.sets) <= most
    assert len(cut.sets) == most or not cut.most
