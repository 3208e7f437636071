"""When something holds, out of when everything behind it does: intervals on a line.

Over integers alone. The bounds of all windows cut the line into segments in which nothing opens or
closes. A segment is a bit, and the least fixpoint is worked out in all of them at once: a
justification holds where all its premises do, a fact where anything that derives it does, and both
within their windows. A ring without ground holds in no segment.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import count

from tms.circuit import Circuit
from tms.clock import ALWAYS, Window
from tms.dominance import standing

ROOM = 64_000_000
"""Bytes that the segments of one pass may take, about."""


def holds(
    goal: int,
    leaves: Collection[int],
    needs: Mapping[int, Sequence[int]],
    derives: Mapping[int, Sequence[int]],
    windows: Mapping[int, Window],
) -> Iterator[Window]:
    """Yield the intervals in which a goal holds, in order, with a gap between any two.

    Args:
        goal: a key.
        leaves: keys of sources, and of justifications without premises.
        needs: the premises of each other justification, each once.
        derives: the conclusions of each justification.
        windows: when a key may hold; always, if it is not in there.

    Cost: grows with the keys and edges, once for each block of segments that fits into ``ROOM``.
    """
    circuit, limited = _circuit(leaves, needs, derives, windows)
    place = circuit.place.get(goal)
    if place is None:
        return
    edges = [None, *sorted({bound for window in limited.values() for bound in window.bounds}), None]
    spans = _spans(circuit, place, limited, edges)
    for low, high in _fused(spans):
        yield Window(edges[low], edges[high])


def _circuit(
    leaves: Collection[int],
    needs: Mapping[int, Sequence[int]],
    derives: Mapping[int, Sequence[int]],
    windows: Mapping[int, Window],
) -> tuple[Circuit, dict[int, Window]]:
    """Return the circuit, a window of what is no leaf being one, and the leaves that are limited.

    A fact in a window is what its derivations derive, and the window.
    """
    limited = {key: windows[key] for key in leaves if windows.get(key, ALWAYS) != ALWAYS}
    fresh = count(-1, -1)
    needed, derived = dict(needs), dict(derives)
    within: dict[Window, int] = {}
    inner: dict[int, int] = {}
    for key, window in windows.items():
        if key in limited or window == ALWAYS:
            continue
        if window not in within:
            within[window] = next(fresh)
        if key in needs:
            needed[key] = [*needs[key], within[window]]
        else:
            inner[key], gate = next(fresh), next(fresh)
            needed[gate], derived[gate] = [inner[key], within[window]], [key]
    if inner:
        for key in derives:
            derived[key] = [inner.get(fact, fact) for fact in derives[key]]
    circuit = Circuit([*leaves, *within.values()], needed, derived)
    limited.update((leaf, window) for window, leaf in within.items())
    return circuit, {circuit.place[key]: window for key, window in limited.items()}


def _spans(
    circuit: Circuit, place: int, limited: Mapping[int, Window], edges: Sequence[int | None]
) -> Iterator[tuple[int, int]]:
    """Yield from which edge to which a place holds, in order; two may meet where a block ends."""
    last = len(edges) - 1
    index = {edge: at for at, edge in enumerate(edges)}
    ranges = {
        leaf: (
            0 if window.start is None else index[window.start],
            last if window.end is None else index[window.end],
        )
        for leaf, window in limited.items()
    }
    size = max(64, ROOM * 8 // circuit.size)
    for low in range(0, last, size):
        high = min(low + size, last)
        bits = {
            leaf: _bits(max(start, low) - low, min(end, high) - low)
            for leaf, (start, end) in ranges.items()
        }
        values = standing(circuit, bits, _bits(0, high - low))
        for start, end in _runs(values[place]):
            yield low + start, low + end


def _bits(start: int, end: int) -> int:
    return (1 << end) - (1 << start) if start < end else 0


def _runs(mask: int) -> Iterator[tuple[int, int]]:
    """Yield where each run of ones begins and ends, lowest first."""
    digits = bin(mask)[:1:-1] + "0"
    start = digits.find("1")
    while start >= 0:
        end = digits.find("0", start)
        yield start, end
        start = digits.find("1", end)


def _fused(spans: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Yield spans, those that meet as one."""
    held: tuple[int, int] | None = None
    for start, end in spans:
        if held is None:
            held = start, end
        elif held[1] == start:
            held = held[0], end
        else:
            yield held
            held = start, end
    if held is not None:
        yield held


def during(changes: Iterable[tuple[int, int]], needed: int) -> Iterator[tuple[int, int | None]]:
    """Yield from when until when so many conditions are met together, in order.

    Args:
        changes: (when, 1 or -1) for each condition that is met from then on, or no longer.
        needed: how many there are.

    Yields:
        When it began, and when it ended; None if it does not.
    """
    total: dict[int, int] = {}
    for at, change in changes:
        total[at] = total.get(at, 0) + change
    met, began = 0, None
    for at in sorted(total):
        met += total[at]
        if (met == needed) == (began is not None):
            continue
        if began is not None:
            yield began, at
        began = at if began is None else None
    if began is not None:
        yield began, None
