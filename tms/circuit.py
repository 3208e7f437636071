"""Justifications and facts as one circuit of gates, made small: what labels are worked out on.

Over integers alone. A justification is a gate that needs all its inputs (AND), a fact a gate that
needs any of them (OR); sources and axioms are the leaves. A gate with one input is what its input
is, so it is no gate of its own: long chains and wide fans fold away.

The gates come in components, what they need first: a component of several gates is circular, any
other is settled in one step. No order of the keys and no recursion is needed for that.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from heapq import heapify, heappop, heappush
from typing import NamedTuple, TypeVar

Value = TypeVar("Value")


class Derived(NamedTuple):
    """What came of adding leaves one after the other.

    Attributes:
        added: how many were added when the goal was derived; None if it never was.
        ends: the leaves that its derivation rests on.
    """

    added: int | None
    ends: list[int]


class Circuit:
    """What can be derived from some leaves, and through what.

    Justifications that need something underivable are left out.

    Args:
        leaves: keys of sources, and of justifications without premises.
        needs: the premises of each other justification, each once.
        derives: the conclusions of each justification.

    Attributes:
        place: the gate or leaf that stands for a key. Of equal gates one stands for all. The
            leaves are 0, 1, 2 … in the order in which they were given.
        leaves: how many leaves there are.
        size: how many places there are.
        inputs: of each gate, none of a leaf.
        conjunctive: which gates need all their inputs.
        components: the gates, what they need first.
    """

    def __init__(
        self,
        leaves: Iterable[int],
        needs: Mapping[int, Sequence[int]],
        derives: Mapping[int, Sequence[int]],
    ) -> None:
        order = list(leaves)
        self.leaves = len(order)
        into = _derivations(order, needs, derives)
        self.place: dict[int, int] = {key: leaf for leaf, key in enumerate(order[: self.leaves])}
        place = self.place
        gates: list[tuple[int, Sequence[int]]] = []
        for key in order[self.leaves :]:
            ends = needs[key] if key in needs else into[key]
            found = {place.get(end, -1) for end in ends} if len(ends) > 1 else {place[ends[0]]}
            if len(found) == 1:
                (place[key],) = found
            else:
                place[key] = self.leaves + len(gates)
                gates.append((key, ends))
        self.size = self.leaves + len(gates)
        self.inputs: list[list[int]] = [[]] * self.leaves
        self.conjunctive = bytearray(self.size)
        for gate, (key, ends) in enumerate(gates, self.leaves):
            # a fact that derives itself through equal gates gains nothing from that
            self.inputs.append(sorted({place[end] for end in ends} - {gate}))
            self.conjunctive[gate] = key in needs
        self.components = _components(self.inputs, self.leaves)
        self._users: list[list[int]] | None = None

    @property
    def users(self) -> list[list[int]]:
        """The gates that each place is an input of."""
        if self._users is None:
            self._users = [[] for _ in range(self.size)]
            for gate, ends in enumerate(self.inputs):
                for end in ends:
                    self._users[end].append(gate)
        return self._users

    def settle(
        self,
        values: list[Value],
        start: Value,
        work: Callable[[int], Value],
        again: Callable[[int], None],
    ) -> None:
        """Give each gate its value: the fixpoint that is reached from a start.

        Args:
            values: of each leaf already; those of the gates are written.
            start: what the gates of a circle have at first.
            work: returns the value of a gate from those of its inputs.
            again: told each gate that is worked out more than once, before it is.
        """
        for component in self.components:
            if len(component) == 1:
                values[component[0]] = work(component[0])
            else:
                self._circle(component, values, start, work, again)

    def _circle(
        self,
        component: list[int],
        values: list[Value],
        start: Value,
        work: Callable[[int], Value],
        again: Callable[[int], None],
    ) -> None:
        for gate in component:
            values[gate] = start
        users, among = self.users, set(component)
        seen: set[int] = set()
        following = set(component)
        while following:
            # In rounds from the leaves on, so that a wide gate is not worked out for every input.
            wave, waiting, following = list(following), following, set()
            heapify(wave)
            while wave:
                gate = heappop(wave)
                waiting.discard(gate)
                if gate in seen:
                    again(gate)
                seen.add(gate)
                value = work(gate)
                if value == values[gate]:
                    continue
                values[gate] = value
                for user in users[gate]:
                    if user not in among:
                        continue
                    if user <= gate:
                        following.add(user)
                    elif user not in waiting:
                        waiting.add(user)
                        heappush(wave, user)

    def derive(self, goal: int, free: Iterable[int], more: Sequence[int]) -> Derived:
        """Derive a goal from leaves: all that are free, then more one after the other."""
        users, conjunctive = self.users, self.conjunctive
        waiting = [len(ends) if conjunctive[gate] else 1 for gate, ends in enumerate(self.inputs)]
        through: dict[int, int] = {}
        held = bytearray(self.size)

        def hold(queue: list[int]) -> None:
            for place in queue:
                held[place] = 1
            for place in queue:
                for user in users[place]:
                    if held[user]:
                        continue
                    waiting[user] -= 1
                    if waiting[user] <= 0:
                        held[user] = 1
                        through[user] = place
                        queue.append(user)

        hold(list(free))
        added = 0
        while not held[goal]:
            if added == len(more):
                return Derived(None, [])
            hold([more[added]])
            added += 1
        ends, seen, queue = [], {goal}, [goal]
        for place in queue:
            if place < self.leaves:
                ends.append(place)
                continue
            below = self.inputs[place] if conjunctive[place] else [through[place]]
            fresh = [end for end in below if end not in seen]
            seen.update(fresh)
            queue += fresh
        return Derived(added, ends)


def _derivations(
    order: list[int], needs: Mapping[int, Sequence[int]], derives: Mapping[int, Sequence[int]]
) -> dict[int, list[int]]:
    """Add to the leaves what can be derived, in order; return what derives each fact."""
    uses: dict[int, list[int]] = {}
    waiting = {}
    for justification, premises in needs.items():
        waiting[justification] = len(premises)
        for premise in premises:
            uses.setdefault(premise, []).append(justification)
    into: dict[int, list[int]] = {}
    for key in order:
        for fact in derives.get(key, ()):
            if fact in into:
                into[fact].append(key)
            else:
                into[fact] = [key]
                order.append(fact)
        for justification in uses.get(key, ()):
            waiting[justification] -= 1
            if not waiting[justification]:
                order.append(justification)
    return into


def _components(inputs: list[list[int]], leaves: int) -> list[list[int]]:
    """Return the strongly connected gates, what they need first (Tarjan 1972)."""
    found: list[list[int]] = []
    number = [0] * len(inputs)
    low = [0] * len(inputs)
    count = 0
    stack: list[int] = []
    done = len(inputs) + 1
    for root in range(leaves, len(inputs)):
        if number[root]:
            continue
        count += 1
        number[root] = low[root] = count
        stack.append(root)
        path = [(root, iter(inputs[root]))]
        while path:
            gate, ends = path[-1]
            for end in ends:
                if end < leaves:
                    continue
                if not number[end]:
                    count += 1
                    number[end] = low[end] = count
                    stack.append(end)
                    path.append((end, iter(inputs[end])))
                    break
                low[gate] = min(low[gate], number[end])
            else:
                path.pop()
                if path:
                    below = path[-1][0]
                    low[below] = min(low[below], low[gate])
                if low[gate] == number[gate]:
                    component: list[int] = []
                    while not component or component[-1] != gate:
                        component.append(stack.pop())
                        number[component[-1]] = done  # no longer on the stack: never the lower
                    found.append(component)
    return found
