"""What the questions cost; those that look ahead, beside the retraction that they foresee."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from statistics import median
from typing import TypeVar

import tms
from benchmarks import floor
from benchmarks.families import FAMILIES
from benchmarks.measures import switched
from benchmarks.rows import Row, against
from benchmarks.suite import Suite
from benchmarks.timing import Pair, timed

FORESEEN = ("chain", "fan", "layers", "rings", "security")
"""The families whose withdrawn source is asked about before it is retracted."""

ROWS = 31
"""Rows of the lattice: 2 to the power of 30 paths lead up to its last."""

CUT = {True: ", truncated", False: ""}
"""What is said of an answer that was cut at a limit, and of one that was not."""

Answer = TypeVar("Answer")
Grounds = tms.Environments | tms.Origins | tms.Cuts


def asked(what: str, times: int, ask: Callable[[], Answer], note: Callable[[Answer], str]) -> Row:
    """Return the row of a question; the first answer is noted, and its time does not count."""
    told = note(ask())
    seconds = median(timed(ask) for _ in range(times))
    return Row(what, seconds * 1e3, "ms", note=told)


def rows(suite: Suite) -> Iterator[Row]:
    """Ask every question where it is dear."""
    yield from derivations(suite)
    for name in FORESEEN:
        yield from foresights(suite, name)
    yield from grounds(suite)
    yield from surroundings(suite)
    yield from rankings(suite)
    yield from differences(suite)


def derivations(suite: Suite) -> Iterator[Row]:
    """Ask why where very many ways lead up, or a long one, or one beside many; and why not."""
    n, times = suite.scale.facts, suite.scale.often
    ends = {
        "lattice": (2 * ROWS, f"Row:{ROWS - 1:05}-a"),
        "chain": (n, f"Link:{n - 1:07}"),
        "fan": (n, f"Blade:{n - 1:07}"),
    }
    for name, (size, ref) in ends.items():
        with tms.open(suite.world(name, size).path) as held:
            yield why(f"{name}({size:,})", times, held, ref)
    name, (size, ref) = "chain", ends["chain"]
    with (
        tms.open(suite.world(name, size).path) as held,
        retracted(held, FAMILIES[name].withdrawn),
    ):
        yield why_not(f"{name}({size:,})", suite.scale.times, held, ref)


def why(where: str, times: int, held: tms.Memory, ref: str) -> Row:
    """Ask why something is IN."""

    def note(why: tms.Why) -> str:
        return f"{len(why.steps):,} steps{CUT[why.truncated]}"

    return asked(f"why {ref}, {where}", times, lambda: held.why(ref), note)


def why_not(where: str, times: int, held: tms.Memory, ref: str) -> Row:
    """Ask why something is OUT."""

    def note(absence: tms.WhyNot) -> str:
        found = f"{len(absence.lacks):,} nodes, {len(absence.repairs):,} repairs"
        return found + CUT[absence.truncated]

    return asked(f"why_not {ref}, {where}", times, lambda: held.why_not(ref), note)


def impact(where: str, times: int, held: tms.Memory, ref: str) -> Row:
    """Ask what would become of all that rests on something."""
    return asked(f"impact {ref}, {where}", times, lambda: held.impact(ref), fates)


def fates(found: tms.Impact) -> str:
    """Say how many facts would meet which fate."""
    return f"{found.died:,} die, {found.survived:,} survive, {found.untouched:,} untouched"


def critical(where: str, times: int, held: tms.Memory | tms.View) -> Row:
    """Ask which sources most rests on."""

    def note(found: tms.Critical) -> str:
        if not found:
            return "none"
        first = found.sources[0]
        return f"{first.facts:,} facts on {first.ref}{CUT[found.truncated]}"

    return asked(f"critical, {where}", times, held.critical, note)


@contextmanager
def retracted(held: tms.Memory, source: str) -> Iterator[None]:
    """Retract a source for a while."""
    held.retract(source)
    try:
        yield
    finally:
        held.unretract(source)


def foresights(suite: Suite, name: str) -> Iterator[Row]:
    """Ask what a retraction would do, now and in the past; in turn with that retraction."""
    n, source = suite.scale.facts, FAMILIES[name].withdrawn
    with tms.open(suite.world(name, n).path) as held:
        past = held.as_of(recorded=held.head or "")
        switched(held, source)
        done: list[float] = []
        world = f"{name}({n:,})"
        ways: dict[str, Callable[[], object]] = {
            f"what_if {source}, {world}": lambda: held.what_if(retract=source),
            f"what_if {source}, in the past, {world}": lambda: past.what_if(retract=source),
            f"impact {source}, {world}": lambda: held.impact(source),
        }
        note = fates(held.impact(source))
        spent: dict[str, list[float]] = {what: [] for what in ways}
        for _ in range(suite.scale.loads):
            for what, ask in ways.items():
                spent[what].append(timed(ask))
            done.append(switched(held, source))
    for what, seconds in spent.items():
        told = note if what.startswith("impact") else "against the retraction"
        yield against(what, Pair(median(seconds), median(done)), note=told)


def grounds(suite: Suite) -> Iterator[Row]:
    """Ask what something stands on: where much is behind it, and where many sources are."""
    n = suite.scale.facts
    worlds = {"memory": (f"Fact:{n // 100:07}", f"Fact:{n // 2:07}"), "inlet": ("Sum:0",)}

    def note(found: Grounds) -> str:
        return f"{len(found.sets):,} sets{CUT[found.truncated]}"

    for name, refs in worlds.items():
        with tms.open(suite.world(name, n).path) as held:
            for ref in refs:
                ways: dict[str, Callable[[str], Grounds]] = {
                    "environments": held.environments,
                    "origins": held.origins,
                    "cuts": held.cuts,
                }
                for what, ask in ways.items():
                    where = f"{what} {ref}, {name}({n:,})"
                    yield asked(where, suite.scale.loads, partial(ask, ref), note)


def surroundings(suite: Suite) -> Iterator[Row]:
    """Ask what stands around something that has few or very many neighbours."""
    n = suite.scale.facts
    worlds = {"memory": (f"Fact:{n // 2:07}", 3), "fan": ("Root:0", 1), "inlet": ("Sum:0", 1)}

    def note(found: tms.Neighbourhood) -> str:
        size = f"{len(found.nodes):,} nodes, {len(found.justifications):,} justifications"
        return size + CUT[found.truncated]

    for name, (ref, depth) in worlds.items():
        with tms.open(suite.world(name, n).path) as held:
            ask = partial(held.neighbourhood, ref, depth=depth)
            what = f"neighbourhood {ref}, depth {depth}, {name}({n:,})"
            yield asked(what, suite.scale.often, ask, note)


def rankings(suite: Suite) -> Iterator[Row]:
    """Ask which sources are critical."""
    n = suite.scale.facts
    for name in ("memory", "security"):
        with tms.open(suite.world(name, n).path) as held:
            yield critical(f"{name}({n:,})", suite.scale.loads, held)


def differences(suite: Suite) -> Iterator[Row]:
    """Compare two commits that are far apart."""
    n, between = suite.scale.facts, suite.scale.later[-1]
    with floor.copied(suite.world("memory", n).path) as copy, tms.open(copy) as held:
        first = held.head or ""
        for i in range(between):
            held.retract(f"Run:{i:06}")
        last = held.head or ""
        what = f"diff, {between:,} retractions apart, memory({n:,})"
        times = suite.scale.loads
        yield asked(what, times, lambda: held.diff(first, last), lambda d: f"{len(d.died):,} died")
