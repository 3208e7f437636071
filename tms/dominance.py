"""Which single leaves decide: without which alone something falls, or with which alone it stands.

Over integers alone: a leaf is a bit, and the answer for every gate is worked out for many leaves
at once. What falls without a leaf: a justification with any of its premises, a fact with all that
derives it, from "everything falls" down to the greatest fixpoint, since a ring falls together. What
stands with a leaf is the mirror image, up to the least fixpoint.

As in the dominators of flow graphs (Lengauer & Tarjan 1979), but with gates that need all of
several inputs, where what decides is a set and no longer a tree.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import reduce
from itertools import islice
from operator import and_, or_

from tms.circuit import Circuit

ROOM = 64_000_000
"""Bytes that the answers of one pass may take, about."""


def decisive(
    circuit: Circuit, goal: int, members: Sequence[int], gone: Iterable[int] = (), *, loss: bool
) -> set[int]:
    """Return the members that alone decide about a goal.

    Args:
        circuit: what stands on what.
        goal: a place that stands if all members do, and does not if none does.
        members: leaves.
        gone: leaves that are not there; all others are.
        loss: return those without which alone it falls; otherwise those with which alone it
            stands.
    """
    found: set[int] = set()
    for block, every in _blocks(circuit, members):
        values = dict.fromkeys(members, 0)
        values.update((leaf, 1 << place) for place, leaf in enumerate(block))
        if loss:
            values.update(dict.fromkeys(gone, every))
            mask = _falling(circuit, values, every)[goal]
        else:
            values.update(dict.fromkeys(gone, 0))
            mask = standing(circuit, values, every)[goal]
        found.update(block[place] for place in ones(mask))
    return found


def bearing(circuit: Circuit, members: Sequence[int], weights: Mapping[int, int]) -> Iterator[int]:
    """Yield for each member, a leaf, what weighs on it: the places that fall without it alone.

    Args:
        circuit: what stands on what; the leaves that are no members never fall.
        members: leaves.
        weights: how many facts stand at each place.

    Cost: grows with the circuit, once for each block of members that fits into memory.
    """
    for block, every in _blocks(circuit, members):
        bits = {leaf: 1 << place for place, leaf in enumerate(block)}
        values = _falling(circuit, bits, every)
        counts = _counted(
            (values[place], weight)
            for place, weight in weights.items()
            if place >= circuit.leaves and values[place]
        )
        for place, leaf in enumerate(block):
            yield weights.get(leaf, 0) + counts.get(place, 0)


def _falling(circuit: Circuit, leaves: Mapping[int, int], every: int) -> list[int]:
    """Return for each place without which bits it alone falls; other leaves never do."""
    return _masks(circuit, leaves, 0, every, (and_, or_))


def standing(circuit: Circuit, leaves: Mapping[int, int], every: int) -> list[int]:
    """Return for each place with which bits alone it stands; other leaves stand with any."""
    return _masks(circuit, leaves, every, 0, (or_, and_))


def _masks(
    circuit: Circuit,
    leaves: Mapping[int, int],
    other: int,
    start: int,
    ways: tuple[Callable[[int, int], int], Callable[[int, int], int]],
) -> list[int]:
    values = [other] * circuit.size
    for leaf, bit in leaves.items():
        values[leaf] = bit
    inputs, conjunctive = circuit.inputs, circuit.conjunctive

    def work(gate: int) -> int:
        return reduce(ways[conjunctive[gate]], [values[end] for end in inputs[gate]])

    circuit.settle(values, start, work, lambda _: None)
    return values


def _blocks(circuit: Circuit, members: Sequence[int]) -> Iterator[tuple[list[int], int]]:
    size = max(64, ROOM * 8 // max(1, circuit.size - circuit.leaves))
    # a leaf has a bit as wide as its block, too
    size = min(size, 1 << 14)
    left = iter(members)
    while block := list(islice(left, size)):
        yield block, (1 << len(block)) - 1


def _counted(masks: Iterable[tuple[int, int]]) -> dict[int, int]:
    """Return how often each bit stands in masks, by weight.

    The masks are added up as columns of binary digits, three of a column to one of it and one of
    the next (a carry-save adder), so that all bits are counted at once.
    """
    columns: list[list[int]] = []

    def put(column: int, mask: int) -> None:
        while mask:
            while len(columns) <= column:
                columns.append([])
            held = columns[column]
            if len(held) < 2:
                held.append(mask)
                return
            a, b = held.pop(), held.pop()
            held.append(a ^ b ^ mask)
            mask = (a & b) | (mask & (a ^ b))
            column += 1

    for mask, weight in masks:
        for column in range(weight.bit_length()):
            if weight >> column & 1:
                put(column, mask)
    counts: dict[int, int] = {}
    for column, held in enumerate(columns):
        for mask in held:
            for place in ones(mask):
                counts[place] = counts.get(place, 0) + (1 << column)
    return counts


def ones(mask: int) -> Iterator[int]:
    """Yield the places of the bits of a mask, lowest first."""
    at = -1
    digits = bin(mask)[:1:-1]
    while (at := digits.find("1", at + 1)) >= 0:
        yield at
