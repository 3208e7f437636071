"""Minimal sets of leaves: which of them together hold something up, and whose loss fells it.

Over integers alone: a set of leaves is an int with their bits, a label a family of sets none of
which holds another. The environments of a fact (the labels of de Kleer 1986) are those of all that
derives it, of a justification the unions of one of each premise, up to the least fixpoint. The
cuts are the mirror image, down to the greatest: a ring falls together.

A label may have exponentially many sets, so they are worked out up to a size, and that size is
raised until none was left out anywhere, enough were found, or the effort is spent. The sets of at
most k leaves follow exactly from the sets of at most k leaves of the inputs: both fixpoints are
taken for each set of leaves by itself, so leaving out the larger ones changes nothing for others.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from tms.circuit import Circuit
from tms.dominance import decisive, ones

EFFORT = 15_000_000
"""How many comparisons of two sets may be made for one family; a union counts as ``_UNION``."""

_UNION = 12


class Label(NamedTuple):
    """A family of sets none of which holds another.

    Attributes:
        singles: the sets of one, all in one int.
        sets: the others, by size; only the empty set in it means that nothing is needed.
    """

    singles: int
    sets: tuple[int, ...]


NOTHING = Label(0, ())
"""No set."""

FREE = Label(0, (0,))
"""The empty set alone."""


class Family(NamedTuple):
    """The sets found for a goal.

    Attributes:
        sets: as masks, the smallest first, equal ones by the places of their bits.
        whole: these are all.
    """

    sets: list[int]
    whole: bool


class _Spent(Exception):
    """The effort is spent."""


def environments(
    circuit: Circuit,
    goal: int,
    members: Sequence[int],
    *,
    limit: int,
    effort: int = EFFORT,
) -> Family:
    """Return the minimal sets of members that derive a goal, with the other leaves for nothing.

    Args:
        circuit: what is derived from what.
        goal: a place in it.
        members: leaves; the bits of the sets, and among equal sets the order, are by them.
        limit: at most so many sets.
        effort: how many comparisons of sets may be made.

    Returns:
        The sets; those of a size are all there before the next size begins. If the effort is
        spent before any was found, one minimal set.
    """
    found = _Search(circuit, members, loss=False, effort=effort).found(goal, limit)
    return found or Family([_mask(members, enough(circuit, goal, members))], whole=False)


def cuts(
    circuit: Circuit,
    goal: int,
    members: Sequence[int],
    *,
    limit: int,
    effort: int = EFFORT,
) -> Family:
    """Return the minimal sets of members whose loss fells a goal; see ``environments``.

    The other leaves are never lost; if they hold the goal up, there is no such set.
    """
    among = set(members)
    others = [leaf for leaf in range(circuit.leaves) if leaf not in among]
    if circuit.derive(goal, others, ()).added is not None:
        return Family([], whole=True)
    found = _Search(circuit, members, loss=True, effort=effort).found(goal, limit)
    return found or Family([_mask(members, _lost(circuit, goal, members))], whole=False)


def enough(
    circuit: Circuit, goal: int, members: Sequence[int], gone: Iterable[int] = ()
) -> list[int]:
    """Return one minimal set of members that derives a goal, which all together do.

    From a derivation everything that is not needed is left out: first what no single one decides
    about is added again, one after the other, until the goal stands, and so on.

    Args:
        circuit: what is derived from what.
        goal: a place in it.
        members: leaves.
        gone: leaves that are not there; those that are no members either are there for nothing.
    """
    away = set(gone)
    absent = {*away, *members}
    free = [leaf for leaf in range(circuit.leaves) if leaf not in absent]
    among = set(members)
    kept = [leaf for leaf in circuit.derive(goal, free, members).ends if leaf in among]
    while True:
        others = away | among.difference(kept)
        needed = decisive(circuit, goal, kept, others, loss=True)
        more = [leaf for leaf in kept if leaf not in needed]
        if not more:
            return kept
        ends = circuit.derive(goal, [*free, *needed], more).ends
        kept = [leaf for leaf in ends if leaf in among]


def _lost(circuit: Circuit, goal: int, members: Sequence[int]) -> list[int]:
    """Return one minimal set of members whose loss fells a goal, as the loss of all does."""
    lost = list(members)
    while True:
        needed = decisive(circuit, goal, lost, loss=False)
        more = [leaf for leaf in lost if leaf not in needed]
        if not more:
            return lost
        missing = set(lost)
        there = [leaf for leaf in range(circuit.leaves) if leaf not in missing]
        added = circuit.derive(goal, there, more).added
        lost = [*needed, *(more[added - 1 :] if added else ())]


def _mask(members: Sequence[int], leaves: Iterable[int]) -> int:
    places = {leaf: place for place, leaf in enumerate(members)}
    return sum(1 << places[leaf] for leaf in leaves)


class _Search:
    """The search for one family.

    ``loss`` turns it from environments into cuts: what is needed together and what alone change
    places.
    """

    def __init__(
        self, circuit: Circuit, members: Sequence[int], *, loss: bool, effort: int
    ) -> None:
        self._circuit = circuit
        self._bits = {leaf: place for place, leaf in enumerate(members)}
        self._loss = loss
        self._left = effort
        self._weight = 1 + len(members) // 1024  # of handling a set of this width
        self._most = 0
        self._least_left_out = 0

    def found(self, goal: int, limit: int) -> Family | None:
        """Raise the size until all is found, or enough; None if nothing could be found."""
        best: list[int] | None = None
        size = 1
        while True:
            before = self._left
            try:
                label = self._settled(goal, size)
                sets = self._sorted(label, limit)
            except _Spent:
                return Family(best, whole=False) if best else None
            if not self._least_left_out or len(sets) > limit:
                return Family(sets[:limit], whole=len(sets) <= limit)
            best = sets
            spent = before - self._left
            step = size if spent < self._left // 64 else 1
            size = max(size + step, self._least_left_out)

    def _settled(self, goal: int, size: int) -> Label:
        self._most, self._least_left_out = size, 0
        circuit = self._circuit
        values = [NOTHING if self._loss else FREE] * circuit.size
        inputs, conjunctive = circuit.inputs, circuit.conjunctive

        def value(place: int) -> Label:
            bit = self._bits.get(place)
            return values[place] if bit is None else Label(1 << bit, ())

        def work(gate: int) -> Label:
            ends = inputs[gate]
            crossing = bool(conjunctive[gate]) is not self._loss
            return self._crossed(map(value, ends)) if crossing else self._joined(map(value, ends))

        def again(gate: int) -> None:
            self._spend(len(inputs[gate]))

        circuit.settle(values, FREE if self._loss else NOTHING, work, again)
        return value(goal)

    def _spend(self, effort: int) -> None:
        self._left -= effort
        if self._left < 0:
            raise _Spent

    def _joined(self, labels: Iterable[Label]) -> Label:
        singles = 0
        families: set[tuple[int, ...]] = set()
        for label in labels:
            if label == FREE:
                return FREE
            singles |= label.singles
            if label.sets:
                families.add(label.sets)
        if len(families) < 2:
            (sets,) = families or {()}
        else:
            sets = self._minimal(item for family in families for item in family)
        if singles:
            sets = tuple(item for item in sets if not item & singles)
        return Label(singles, sets)

    def _crossed(self, labels: Iterable[Label]) -> Label:
        together = 0
        several: list[Label] = []
        for label in labels:
            if label == NOTHING:
                return NOTHING
            if _count(label) > 1:
                several.append(label)
            else:
                together |= label.singles or label.sets[0]
        size = together.bit_count()
        if size and not self._small(size):
            return NOTHING
        crossed = Label(together, ()) if size == 1 else Label(0, (together,))
        for label in sorted(several, key=_count):
            crossed = self._pairs(crossed, label)
            if crossed == NOTHING:
                break
        return crossed

    def _pairs(self, a: Label, b: Label) -> Label:
        if a in (b, FREE):
            return b
        common = a.singles & b.singles
        pairs = (_count(a) - common.bit_count()) * (_count(b) - common.bit_count())
        self._spend(pairs * _UNION * self._weight)
        left = [*(1 << place for place in ones(a.singles ^ common)), *a.sets]
        right = [*(1 << place for place in ones(b.singles ^ common)), *b.sets]
        return Label(common, self._minimal(s | t for s in left for t in right))

    def _minimal(self, items: Iterable[int]) -> tuple[int, ...]:
        """Return the sets that hold no other, by size, without those that are too large."""
        sized: dict[int, list[int]] = {}
        for item in set(items):
            sized.setdefault(item.bit_count(), []).append(item)
        kept: list[int] = []
        for size in sorted(sized):
            if not self._small(size):
                break
            self._spend(len(kept) * len(sized[size]) * self._weight)
            kept += [t for t in sorted(sized[size]) if not any(s & t == s for s in kept)]
        return tuple(kept)

    def _small(self, size: int) -> bool:
        """Return whether a set is to be kept; mark that some was not."""
        if size > self._most:
            least = self._least_left_out
            self._least_left_out = min(least, size) if least else size
        return size <= self._most

    def _sorted(self, label: Label, limit: int) -> list[int]:
        """Return the sets of a label in order, but only one more than the limit if it has more."""
        if label == FREE:
            return [0]
        sets: list[int] = []
        for place in ones(label.singles):
            sets.append(1 << place)
            if len(sets) > limit:
                return sets
        sized: dict[int, list[int]] = {}
        for item in label.sets:
            sized.setdefault(item.bit_count(), []).append(item)
        for size in sorted(sized):
            self._spend(len(sized[size]) * self._weight)
            sets += sorted(sized[size], key=lambda item: list(ones(item)))
            if len(sets) > limit:
                break
        return sets[: limit + 1]


def _count(label: Label) -> int:
    return label.singles.bit_count() + len(label.sets)
