"""How cost grows with the file, the change and the history."""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import count
from pathlib import Path
from typing import NamedTuple

import tms
from benchmarks.families import FAMILIES
from benchmarks.measures import switched, whole
from benchmarks.questions import retracted
from benchmarks.suite import Suite
from benchmarks.timing import repeated, timed

WITHDRAWN = FAMILIES["pods"].withdrawn
"""What 30 facts rest on, in a file of any size."""

FALLING = tuple(f"State:0-{i:07}" for i in range(30))
"""Those facts."""


class Point(NamedTuple):
    """One line of a table of growth.

    Attributes:
        what: was measured.
        size: of what it may depend on.
        seconds: that it took.
        growth: how often it took the time of the first size.
        note: what else was seen.
    """

    what: str
    size: int
    seconds: float
    growth: float
    note: str

    @property
    def line(self) -> str:
        """The point in Markdown."""
        each = self.seconds / self.size * 1e6
        spent = f"{self.seconds * 1e3:,.2f} | {self.growth:.2f} | {each:,.2f}"
        return f"| {self.what} | {self.size:,} | {spent} | {self.note} |"


def head(size: str) -> str:
    """Return the head of a table: what is flat stays in "× the first", what is linear in "each"."""
    return f"| what | {size} | ms | × the first | each, µs | |\n|---|---:|---:|---:|---:|---|"


def series(
    what: str,
    sizes: Iterable[int],
    measure: Callable[[int], float],
    note: Callable[[int], str] = lambda _: "",
) -> Iterator[Point]:
    """Measure the same for one size after the other."""
    first = None
    for size in sizes:
        seconds = measure(size)
        first = first or seconds
        yield Point(what, size, seconds, seconds / first, note(size))


def of_files(suite: Suite) -> Iterator[Point]:
    """Measure small work in files of growing size: all but the load should be flat."""

    def path(n: int) -> Path:
        return suite.world("pods", n).path

    def size(n: int) -> str:
        return f"{path(n).stat().st_size / 1e6:,.1f} MB"

    def measure(work: Callable[[Path, int], float], n: int) -> float:
        return work(path(n), suite.scale.often)

    sizes = suite.scale.sizes
    yield from series("load", sizes, lambda n: suite.world("pods", n).spent.seconds, size)
    for what, work in SMALL.items():
        yield from series(what, sizes, partial(measure, work))


def retracting(path: Path, times: int) -> float:
    """Return the seconds of a retraction in an open file."""
    with tms.open(path) as memory:
        return repeated(times, lambda: switched(memory, WITHDRAWN))


def committing(path: Path, times: int) -> float:
    """Return the seconds of a commit of one fact in an open file."""
    numbers = count()
    with tms.open(path) as memory:
        return repeated(
            times,
            lambda: timed(lambda: memory.justify(f"New:{next(numbers)}", "Pod:0001", rule="new")),
        )


def asking(ask: Callable[[tms.Memory], object], path: Path, times: int) -> float:
    """Return the seconds of a question in an open file."""
    with tms.open(path) as memory:
        return repeated(times, lambda: timed(lambda: ask(memory)))


def why_not(path: Path, times: int) -> float:
    """Return the seconds of asking why the 30 facts are OUT, in an open file."""
    with tms.open(path) as memory, retracted(memory, WITHDRAWN):
        return repeated(times, lambda: timed(lambda: [memory.why_not(ref) for ref in FALLING]))


SMALL: dict[str, Callable[[Path, int], float]] = {
    "retract 30 facts, warm": retracting,
    "open, retract 30 facts, close": lambda path, times: repeated(
        times, lambda: whole(path, WITHDRAWN)
    ),
    "why, of 30 facts": partial(asking, lambda memory: [memory.why(ref) for ref in FALLING]),
    "why_not, of 30 facts": why_not,
    "what_if, 30 facts": partial(asking, lambda memory: memory.what_if(retract=WITHDRAWN)),
    "impact, 30 facts": partial(asking, lambda memory: memory.impact(WITHDRAWN)),
    "neighbourhood, 30 facts": partial(asking, lambda memory: memory.neighbourhood(WITHDRAWN)),
    "commit one fact": committing,
    "open and close": lambda path, times: repeated(
        times, lambda: timed(lambda: tms.open(path).close())
    ),
}
"""Work that must not grow with the file: the seconds for a file, the median of so many."""


def of_changes(suite: Suite) -> Iterator[Point]:
    """Measure retractions that kill more and more: linear at the most."""

    def measure(n: int) -> float:
        with tms.open(suite.world("fan", n).path) as memory:
            return repeated(suite.scale.times, lambda: switched(memory, FAMILIES["fan"].withdrawn))

    yield from series("retract fan", suite.scale.changes, measure)


def of_history(suite: Suite) -> Iterator[Point]:
    """Measure a scan of the past as commits pile up on it: flat."""
    n, source = suite.scale.facts, FAMILIES["memory"].withdrawn
    with tms.open(suite.world("memory", n).path) as memory:
        past = memory.as_of(recorded=memory.head or "")
        made = dict(zip(suite.scale.later, (0, *suite.scale.later), strict=False))

        def measure(wanted: int) -> float:
            for i in range(made[wanted], wanted):
                (memory.unretract if i % 2 else memory.retract)(source)
            return repeated(suite.scale.often, lambda: timed(lambda: list(past.holding())))

        yield from series(f"scan of {n:,} facts in the past", suite.scale.later, measure)
