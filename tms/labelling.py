"""Which nodes are IN: the ranked support forest, kept up to date as switches turn.

The algorithm alone, over integers: it knows neither SQL nor models, and reads the graph through
``Network``. A node is a source or a fact; a justification fires when it is on and all its premises
are IN; a fact is IN when it is on and a firing justification derives it, and nothing else is: the
least fixpoint (Dowling & Gallier 1984), so a ring of facts that only support one another is OUT.

Every IN node has a label: a rank, and for a fact its supporting justification (Doyle 1979). A
source has rank 0; a fact has a rank above that of every premise of its support. Following
supports therefore goes strictly down and ends in sources and axioms: the support forest has no
cycle, and that is what makes belief well-founded.

``settle`` takes every change of a commit at once and works in two phases that never mix, after
Forbus & de Kleer 1993 (retraction) and the delete-and-rederive of Gupta, Mumick & Subrahmanian
1993, with ranks in the role that Motik et al. 2015 give to a backward check:

1. *Lose.* What lost its support is taken in waves of rising rank. In the wave of rank r a fact
   that has a firing justification with all premises below r adopts it and survives; nothing above
   it is looked at. Any other goes OUT, and the facts that rest on it join the waves above. A fact
   with a firing justification that needs some premise at rank r or above is remembered: that
   premise may rest on the fact itself, so it is not trusted yet.
2. *Gain.* What was switched on, what is new, and the remembered facts that can stand again come
   IN, and so does whatever then fires.

Why the result is the fixpoint.
Nothing unfounded stays IN: phase 1 handles ranks in rising order and only ever adds waves above
the present one, so when a fact is considered at rank r all IN nodes below r are final for the
phase, and support adopted from below r cannot run through the fact. Phase 2 adds only facts whose
premises are already IN, above their ranks. So every label keeps its rank above its premises'.
Nothing founded stays OUT: let a justification have all premises IN at the end and a conclusion c
OUT. If no premise came IN in this settlement and it was not switched on, it fired before, so c
was IN before and went OUT in phase 1; c was then remembered, and phase 2 looked at it. Otherwise
phase 2 looked at the justification when its last premise came IN or when it was switched on.

Cost: grows with the changed nodes, their justifications and the premises of these; no node is
taken up twice in a phase, no premise list is walked again for each premise that arrives.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import islice
from typing import Protocol

Label = tuple[int, int | None]
"""What an IN node has: its rank, and its supporting justification (None for a source)."""

Changes = dict[int, tuple[Label | None, Label | None]]
"""Of each node whose label changed: the label before and after; None is OUT."""


class Network(Protocol):
    """The graph as it is stored: labels of before the settlement, switches of after it.

    A rank of None means that the node is stored as OUT. Each method may be given many keys at
    once and may yield lazily.
    """

    def labels(self, nodes: Sequence[int]) -> Iterable[tuple[int, int, int | None]]:
        """Yield (node, rank, support) of those that are IN."""
        ...

    def uses(self, nodes: Sequence[int]) -> Iterable[int]:
        """Yield the justifications, switched on, that have one of the nodes as a premise."""
        ...

    def premises(self, justifications: Sequence[int]) -> Iterable[tuple[int, int, int | None]]:
        """Yield (justification, premise, rank) for each premise of each."""
        ...

    def conclusions(
        self, justifications: Sequence[int]
    ) -> Iterable[tuple[int, int, int | None, int | None]]:
        """Yield (justification, fact, rank, support) for each conclusion that is switched on."""
        ...

    def derivations(self, facts: Sequence[int]) -> Iterable[tuple[int, int]]:
        """Yield (fact, justification) for each justification, switched on, that derives it."""
        ...


@dataclass(frozen=True, slots=True)
class Turned:
    """What a commit switched off and on. What is new counts as switched on."""

    nodes_off: Sequence[int] = ()
    justifications_off: Sequence[int] = ()
    sources_on: Sequence[int] = ()
    facts_on: Sequence[int] = ()
    justifications_on: Sequence[int] = ()


def settle(network: Network, turned: Turned) -> Changes:
    """Return how the labels change when the switches have been turned.

    Args:
        network: the stored graph.
        turned: every switch of the commit; a key stands in at most one place.

    Returns:
        The changed labels of the changed nodes, in the order in which they first changed.
    """
    settlement = _Settlement(network)
    hopeful = settlement.lose(turned.nodes_off, turned.justifications_off)
    settlement.gain(turned.sources_on, [*hopeful, *turned.facts_on], turned.justifications_on)
    return settlement.changes()


class _Settlement:
    """One settlement under way: the labels changed so far, over those of the network."""

    def __init__(self, network: Network) -> None:
        self._network = network
        self._now: dict[int, Label | None] = {}
        self._dead: set[int] = set()  # justifications known not to fire at the end of phase 1
        self._before: dict[int, Label | None] = {}

    def changes(self) -> Changes:
        before = self._before
        return {
            node: (before[node], label)
            for node, label in self._now.items()
            if before[node] != label
        }

    def _set(self, node: int, label: Label | None, stored: Label | None) -> None:
        self._before.setdefault(node, stored)
        self._now[node] = label

    # ------------------------------------------------------------ phase 1

    def lose(self, nodes: Sequence[int], justifications: Sequence[int]) -> list[int]:
        """Take OUT what rests on what was switched off; return the facts to look at again."""
        network, now, before = self._network, self._now, self._before
        switched_off = set(nodes)
        dead = self._dead
        dead.update(justifications)
        hopeful: list[int] = []
        waves = _Waves()
        for node, rank, support in network.labels(nodes):
            waves.wave(rank)[node] = support
        self._disturb(justifications, waves)
        for rank, wave in waves:
            adopted, pending = self._alternatives(
                [fact for fact in wave if fact not in switched_off], rank
            )
            hopeful += pending
            gone = []
            for node, support in wave.items():
                before[node] = (rank, support)
                label = now[node] = adopted.get(node)
                if label is None:
                    gone.append(node)
            fallen = [j for j in dict.fromkeys(network.uses(gone)) if j not in dead]
            dead.update(fallen)
            self._disturb(fallen, waves)
        return [fact for fact in hopeful if now[fact] is None]

    def _disturb(self, justifications: Sequence[int], waves: "_Waves") -> None:
        """Queue the facts that rest on one of the justifications, which no longer fire."""
        now, wave = self._now, waves.wave
        for justification, fact, rank, support in self._network.conclusions(justifications):
            if support == justification and rank is not None and fact not in now:
                wave(rank)[fact] = support

    def _alternatives(self, facts: Sequence[int], below: int) -> tuple[dict[int, Label], list[int]]:
        """Find other support for the facts of a wave.

        Returns the labels of those that have a firing justification with all premises at ranks
        under ``below``, and a list of those that have one only through higher premises. Looks at
        derivations in growing blocks, so a fact with very many stops at the first that will do.
        """
        dead = self._dead
        adopted: dict[int, Label] = {}
        hopeful: dict[int, None] = {}
        block = 16
        rows = iter(self._network.derivations(facts)) if facts else iter(())
        while len(adopted) < len(facts) and (pairs := list(islice(rows, block))):
            block *= 4
            pairs = [pair for pair in pairs if pair[1] not in dead and pair[0] not in adopted]
            if not pairs:
                continue
            heights = self._heights([pair[1] for pair in pairs])
            for fact, justification in pairs:
                height = heights.get(justification)
                if height is None or fact in adopted:
                    continue
                if height < below:
                    adopted[fact] = (height + 1, justification)
                    hopeful.pop(fact, None)
                else:
                    hopeful[fact] = None
        return adopted, list(hopeful)

    def _heights(self, justifications: Sequence[int]) -> dict[int, int]:
        """Return the highest premise rank of each that fires; the others are dead."""
        dead = self._dead
        heights = dict.fromkeys(justifications, 0)
        for justification, premise, stored in self._network.premises(list(heights)):
            label = self._now.get(premise, _STORED)
            rank = stored if label is _STORED else label and label[0]
            if rank is None:
                heights.pop(justification, None)
                dead.add(justification)
            elif justification in heights and rank > heights[justification]:
                heights[justification] = rank
        return heights

    # ------------------------------------------------------------ phase 2

    def gain(
        self, sources: Iterable[int], facts: Sequence[int], justifications: Sequence[int]
    ) -> None:
        """Bring IN what was switched on, the facts that can stand again, and what follows."""
        network, now = self._network, self._now
        arrived = list(sources)
        for source in arrived:
            self._set(source, (0, None), None)
        # A justification that phase 1 found dead is passed over: it can only fire through a premise
        # that comes IN, and is then looked at as a use of that.
        adopted, _ = self._alternatives(facts, _NO_LIMIT)
        for fact, label in adopted.items():
            self._set(fact, label, None)
            arrived.append(fact)
        watches = _Watches(network, now)
        looked_at: Iterable[int] = justifications
        while arrived or looked_at:
            ready = watches.firing(dict.fromkeys((*looked_at, *network.uses(arrived))))
            arrived, looked_at = [], ()
            for justification, fact, rank, support in network.conclusions(list(ready)):
                stored = None if rank is None else (rank, support)
                if now.get(fact, stored) is None:
                    self._set(fact, (ready[justification] + 1, justification), stored)
                    arrived.append(fact)


class _Waves:
    """Facts to consider, by rank, lowest first; may be added to above while it is walked."""

    def __init__(self) -> None:
        self._ranks: list[int] = []
        self._waves: dict[int, dict[int, int | None]] = {}

    def wave(self, rank: int) -> dict[int, int | None]:
        """Return the facts of a rank so far, each with the support it lost."""
        wave = self._waves.get(rank)
        if wave is None:
            wave = self._waves[rank] = {}
            heappush(self._ranks, rank)
        return wave

    def __iter__(self) -> Iterator[tuple[int, dict[int, int | None]]]:
        while self._ranks:
            rank = heappop(self._ranks)
            yield rank, self._waves.pop(rank)


class _Watches:
    """The premises that each justification still waits for.

    Only the last of them is watched: it is passed when it is IN, so over all arrivals the list is
    walked once.
    """

    def __init__(self, network: Network, now: dict[int, Label | None]) -> None:
        self._network = network
        self._now = now
        self._missing: dict[int, list[int]] = {}
        self._height: dict[int, int] = {}

    def firing(self, justifications: Iterable[int]) -> dict[int, int]:
        """Return those with all premises IN, each with its highest premise rank."""
        now, missing, height = self._now, self._missing, self._height
        keys = list(justifications)
        fresh = [key for key in keys if key not in missing]
        for key in fresh:
            missing[key] = []
            height[key] = 0
        for key, premise, stored in self._network.premises(fresh):
            label = now.get(premise, _STORED)
            rank = stored if label is _STORED else label and label[0]
            if rank is None:
                missing[key].append(premise)
            elif rank > height[key]:
                height[key] = rank
        firing = {}
        for key in keys:
            waiting = missing[key]
            while waiting and (label := now.get(waiting[-1])):
                height[key] = max(height[key], label[0])
                waiting.pop()
            if not waiting:
                firing[key] = height[key]
        return firing


_STORED: Label = (-1, None)
_NO_LIMIT = 1 << 62
