"""How many sets can be had of which no two share a member: independent origins.

Over integers alone. Finding the largest such family is hard in general (set packing, Karp 1972), so
the search is bounded, and what it proves is said: no family is larger than the smallest set that
meets every member of it, so one that is as large as some cut is the largest.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from tms.assumptions import EFFORT, cuts, enough, environments
from tms.circuit import Circuit
from tms.dominance import ones

ENOUGH = 1000
"""How many environments are looked at."""

_EFFORT = 300_000
"""How many sets may be looked at to find the largest family among them."""

_MORE = 500_000
"""How many places may be visited to find further ones, each beside all before."""


class Packing(NamedTuple):
    """Sets of which no two share a member.

    Attributes:
        sets: as masks.
        most: there can be no more.
    """

    sets: list[int]
    most: bool


def origins(circuit: Circuit, goal: int, members: Sequence[int], shared: Iterable[int]) -> Packing:
    """Return environments of a goal of which no two share a member, as many as there are.

    Args:
        circuit: what is derived from what.
        goal: a place in it.
        members: leaves; the bits of the sets are by them.
        shared: the members that do not count.
    """
    among = set(shared)
    sources = [leaf for leaf in members if leaf not in among]
    counting = sum(1 << place for place, leaf in enumerate(members) if leaf not in among)
    found = environments(circuit, goal, members, limit=ENOUGH)
    alone = [item for item in found.sets if not item & counting]
    packing = packed({item & counting: item for item in reversed(found.sets) if item & counting})
    sets = [*alone, *packing.sets]
    if found.whole and packing.most:
        return Packing(sets, most=True)
    if alone:
        return Packing(sets, most=False)
    falling = cuts(circuit, goal, sources, limit=1, effort=EFFORT // 4)
    bound = min(item.bit_count() for item in falling.sets)
    if not found.whole:
        sets += _further(circuit, goal, members, among, sets, bound)
    return Packing(sets, most=len(sets) == bound)


def _further(
    circuit: Circuit,
    goal: int,
    members: Sequence[int],
    shared: set[int],
    sets: Sequence[int],
    bound: int,
) -> list[int]:
    """Return more environments beside those found, one after the other."""
    used = {members[place] for item in sets for place in ones(item)} - shared
    places = {leaf: place for place, leaf in enumerate(members)}
    more: list[int] = []
    for _ in range(min(bound - len(sets), _MORE // circuit.size)):
        left = [leaf for leaf in members if leaf not in used]
        if circuit.derive(goal, (), left).added is None:
            break
        leaves = enough(circuit, goal, left, used)
        used.update(leaf for leaf in leaves if leaf not in shared)
        more.append(sum(1 << places[leaf] for leaf in leaves))
    return more


def packed(sets: dict[int, int], effort: int = _EFFORT) -> Packing:
    """Return what as many as possible of the masks stand for, no two of them sharing a bit.

    Args:
        sets: what each mask stands for.
        effort: how many sets may be looked at.
    """
    small: list[int] = []
    for item in sorted(sets, key=lambda item: (item.bit_count(), item)):
        if not any(kept & item == kept for kept in small):
            small.append(item)
    chosen: list[int] = []
    most = True
    for group in _groups(small):
        best, effort = _largest(group, effort)
        most = most and effort > 0
        chosen += best
    return Packing([sets[item] for item in chosen], most)


def _groups(sets: Iterable[int]) -> list[list[int]]:
    """Part sets into groups of which no two share a member."""
    groups: list[tuple[int, list[int]]] = []
    for item in sets:
        mask, held = item, [item]
        apart = []
        for other, items in groups:
            if other & item:
                mask |= other
                held += items
            else:
                apart.append((other, items))
        groups = [*apart, (mask, held)]
    return [sorted(items, key=lambda item: (item.bit_count(), item)) for _, items in groups]


def _largest(sets: list[int], effort: int) -> tuple[list[int], int]:
    """Branch on taking the smallest set or leaving it out; return the best, and the effort left."""
    best: list[int] = []  # at first what comes of taking the smallest that is left, and so on
    used = 0
    for item in sets:
        if not item & used:
            used |= item
            best.append(item)
    branches: list[tuple[list[int], list[int]]] = [(sets, [])]
    while branches and effort > 0:
        left, taken = branches.pop()
        effort -= 1 + len(left)
        if not left:
            if len(taken) > len(best):
                best = taken
            continue
        bound, looked_at = _bound(left, len(best) - len(taken))
        effort -= looked_at
        if len(taken) + bound <= len(best):
            continue
        first, *rest = left
        beside = [item for item in rest if not item & first]
        if len(beside) < len(rest):
            branches.append((rest, taken))
        branches.append((beside, [*taken, first]))
    return best, 0 if branches else max(effort, 1)


def _bound(sets: list[int], needed: int) -> tuple[int, int]:
    """Return how many members meet all the sets, and how many sets were looked at.

    If they are more than needed, one more than that is returned.
    """
    count = looked_at = 0
    while sets and count <= needed:
        count += 1
        looked_at += len(sets)
        often: dict[int, int] = {}
        for item in sets:
            for place in ones(item):
                often[place] = often.get(place, 0) + 1
        bit = 1 << max(often, key=lambda place: often[place])
        sets = [item for item in sets if not item & bit]
    return count, looked_at
