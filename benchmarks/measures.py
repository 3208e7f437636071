"""The rows of the speed contract: each a figure of ours, the floor's, and what is aimed at."""

import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from statistics import median
from typing import NamedTuple

import tms
from benchmarks import children, floor
from benchmarks.families import FAMILIES, memory
from benchmarks.rows import Row, against, at_least, at_most
from benchmarks.suite import Suite
from benchmarks.timing import Pair, paired, repeated, timed

AIMS: dict[str, tuple[float | None, float | None]] = {
    "fan": (3, None),
    "security": (3, None),
    "rings": (3, None),
    "chain": (6, 6),
    "memory": (None, None),
}
"""For each family the ratio to the floor that a retraction is to reach, and an unretraction."""


class Turns(NamedTuple):
    """Retractions and unretractions, each measured beside the floor's retraction."""

    there: Pair
    back: Pair
    died: int
    survived: int


def turns(path: Path, source: str, times: int) -> Turns:
    """Measure the floor's retraction, ours, our unretraction, and again; the first do not count."""
    least: list[float] = []
    there: list[float] = []
    back: list[float] = []
    with (
        floor.copied(path) as copy,
        floor.opened(copy) as sql,
        tms.open(path) as held,
    ):
        floor.retraction(sql, source)
        report = held.retract(source)
        died, survived = len(report.died), len(report.survived_via)
        held.unretract(source)
        for _ in range(times):
            least.append(floor.retraction(sql, source))
            there.append(timed(lambda: held.retract(source)))
            back.append(timed(lambda: held.unretract(source)))
    lowest = median(least)
    return Turns(Pair(median(there), lowest), Pair(median(back), lowest), died, survived)


def switched(held: tms.Memory, source: str) -> float:
    """Return the seconds of a retraction; the way back is not counted."""
    seconds = timed(lambda: held.retract(source))
    held.unretract(source)
    return seconds


def retractions(suite: Suite) -> Iterator[Row]:
    """Retract and unretract the source of each family."""
    n, times = suite.scale.facts, suite.scale.times
    for name, (there, back) in AIMS.items():
        seen = turns(suite.world(name, n).path, FAMILIES[name].withdrawn, times)
        note = f"{seen.died:,} died, {seen.survived:,} survived"
        yield against(f"retract {name}({n:,})", seen.there, there, note=note)
        yield against(f"unretract {name}({n:,})", seen.back, back)
    with tms.open(suite.world("layers", n).path) as held:
        seconds = repeated(times, lambda: switched(held, FAMILIES["layers"].withdrawn))
    note = "nothing dies; the floor would walk all"
    yield at_most(f"retract layers({n:,})", seconds * 1e3, "ms", 20, note=note)


def pods(suite: Suite) -> Iterator[Row]:
    """Retract what 30 facts rest on, in the largest file."""
    small, large = suite.scale.sizes[0], suite.scale.sizes[-1]
    source, times = FAMILIES["pods"].withdrawn, suite.scale.often
    path, beside = suite.world("pods", large).path, suite.world("pods", small).path
    with floor.copied(path) as copy:
        with tms.open(path) as held, floor.opened(copy) as sql:
            warm = paired(
                times, lambda: switched(held, source), lambda: floor.retraction(sql, source)
            )
        cold = paired(
            times, lambda: whole(path, source), lambda: floor.whole_retraction(copy, source)
        )
    with tms.open(path) as held, tms.open(beside) as lesser:
        sizes = paired(times, lambda: switched(held, source), lambda: switched(lesser, source))
    what = f"retract 30 facts in {large:,}"
    yield at_most(f"{what}, warm", warm.ours * 1e3, "ms", 1, floor=warm.floor * 1e3)
    yield against(f"{what}, warm", sizes, 2, other=f"in {small:,}")
    what = f"open, {what}, close"
    yield at_most(what, cold.ours * 1e3, "ms", 10, floor=cold.floor * 1e3)


def whole(path: Path, source: str) -> float:
    """Return the seconds of opening a file, one retraction and closing it."""

    def work() -> None:
        with tms.open(path) as held:
            held.retract(source)

    seconds = timed(work)
    with tms.open(path) as held:
        held.unretract(source)
    return seconds


def commits(suite: Suite) -> Iterator[Row]:
    """Make commits of one fact and its justification, against the same rows in raw commits."""
    count = suite.scale.commits

    def ours() -> float:
        with tms.open(fresh(suite.folder / "commits.db")) as held:
            held.source("Run:0")

            def work() -> None:
                for i in range(count):
                    held.justify(f"Fact:{i}", "Run:0", rule="bench")

            return timed(work)

    pair = paired(suite.scale.times, ours, lambda: floor.commits(suite.folder / "raw.db", count))
    what = f"{count:,} commits of a fact and a justification"
    yield against(what, pair, 2.5)
    yield at_least(what, count / pair.ours, "commits/s", 4_000, floor=count / pair.floor)


def load(suite: Suite) -> Iterator[Row]:
    """Load a memory in bulk, against executemany of the same rows."""
    n, path = suite.scale.facts, suite.folder / "load.db"
    rows = list(memory(n))

    def ours() -> float:
        with tms.open(fresh(path)) as held:
            return timed(lambda: held.load(rows))

    ours()
    kept = floor.rows_of(path)
    bulk = suite.folder / "bulk.db"
    pair = paired(suite.scale.loads, ours, lambda: floor.bulk(bulk, kept), warm=False)
    what = f"load memory({n:,})"
    yield against(what, pair, 4)
    yield at_least(what, n / pair.ours, "facts/s", 60_000, floor=n / pair.floor)
    note = "without content; sources and justifications counted in"
    size, least = (file.stat().st_size / n for file in (path, bulk))
    yield at_most(f"file of {what}", size, "bytes/fact", 400, floor=least, note=note)


def fresh(path: Path) -> Path:
    """Return a path where nothing is any more."""
    for leftover in path.parent.glob(f"{path.name}*"):
        leftover.unlink()
    return path


def reads(suite: Suite) -> Iterator[Row]:
    """Ask about the past, against asking about the present, many commits later."""
    n, later, times = suite.scale.facts, suite.scale.later[-1], suite.scale.often
    family = FAMILIES["memory"]
    refs = [f"Fact:{i:07}" for i in range(0, n, max(1, n // 1000))]
    with tms.open(suite.world("memory", n).path) as held:
        past = held.as_of(recorded=held.head or "")
        for i in range(later):
            (held.unretract if i % 2 else held.retract)(family.withdrawn)

        def believing(reader: tms.Memory | tms.View) -> float:
            return timed(lambda: [reader.believes(ref) for ref in refs])

        def scanning(reader: tms.Memory | tms.View) -> float:
            return timed(lambda: list(reader.holding()))

        for what, read in ((f"believes, {len(refs):,} refs", believing), ("scan of all", scanning)):
            pair = paired(times, partial(read, past), partial(read, held))
            yield against(f"{what}, {later:,} commits ago", pair, 2, other="live")


def peaks(suite: Suite) -> Iterator[Row]:
    """Measure the peak memory of whole processes that change a file."""
    large, n = suite.scale.sizes[-1], suite.scale.facts
    path, family = suite.world("pods", large).path, FAMILIES["pods"]
    spent = children.spent("retract", path, family.withdrawn)
    what = f"peak memory, retract 30 facts in {large:,}"
    yield at_most(what, spent.peak, "MB", 60, note=spent.memory)
    path, family = suite.world("fan", n).path, FAMILIES["fan"]
    spent = children.spent("retract", path, family.withdrawn)
    yield Row(f"peak memory, retract fan({n:,})", spent.peak, "MB", note=spent.memory)
    for name, size in (("pods", large), ("fan", n)):
        with tms.open(suite.world(name, size).path) as held:
            held.unretract(FAMILIES[name].withdrawn)


def start(suite: Suite) -> Iterator[Row]:
    """Import tms, against importing what it stands on, each time in a new process."""
    times, least = suite.scale.starts, "pydantic, sqlite_utils"
    pair = paired(times, lambda: importing("tms"), lambda: importing(least))
    yield against("import tms", pair, 1.3, note=f"against import {least}")
    pair = paired(times, lambda: starting("tms"), lambda: starting(least))
    yield against("python -c 'import tms'", pair, note="the whole process")


def importing(modules: str) -> float:
    """Return the seconds that an import says it took."""
    said = f"from time import perf_counter as t; s = t(); import {modules}; print(t() - s)"
    return float(subprocess.check_output([sys.executable, "-c", said]))


def starting(modules: str) -> float:
    """Return the seconds of a process that does nothing but import."""
    return timed(lambda: subprocess.check_call([sys.executable, "-c", f"import {modules}"]))
