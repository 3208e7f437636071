"""What is measured: each a row of a name, our time, the floor's, and the ratio that is aimed at."""

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import tms
from benchmarks import floor
from benchmarks.families import FAMILIES, Family, memory


class Row(NamedTuple):
    """One line of the table."""

    what: str
    ours: float
    floor: float
    aim: float
    note: str

    @property
    def ratio(self) -> float:
        """Our time over the floor's."""
        return self.ours / self.floor


def timed(work: Callable[[], object]) -> float:
    """Return the seconds that some work takes."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def retractions(folder: Path, family: Family, n: int, aim: float, times: int) -> Iterator[Row]:
    """Retract and unretract the source of a family, against the floor."""
    path = folder / f"{family.name}.db"
    with tms.open(path) as held:
        held.load(family.rows(n))
    with floor.copied(path) as sql:
        least = floor.median(times, lambda: floor.retraction(sql, family.withdrawn))
    there: list[float] = []
    back: list[float] = []
    with tms.open(path) as held:
        for _ in range(times + 1):
            started = time.perf_counter()
            report = held.retract(family.withdrawn)
            middle = time.perf_counter()
            held.unretract(family.withdrawn)
            there.append(middle - started)
            back.append(time.perf_counter() - middle)
    note = f"{len(report.died):,} died, {len(report.survived_via):,} survived"
    name = f"{family.name}({n:,})"
    yield Row(f"retract {name}", sorted(there[1:])[times // 2], least, aim, note)
    yield Row(f"unretract {name}", sorted(back[1:])[times // 2], least, aim, "")
    path.unlink()


def load(folder: Path, n: int, times: int) -> Row:
    """Load a memory in bulk, against executemany of the same rows."""
    path = folder / "load.db"
    rows = list(memory(n))

    def ours() -> float:
        for leftover in folder.glob("load.db*"):
            leftover.unlink()
        with tms.open(path) as held:
            return timed(lambda: held.load(rows))

    spent = floor.median(times, ours)
    kept = floor.rows_of(path)
    least = floor.median(times, lambda: floor.bulk(folder / "bulk.db", kept))
    facts = sum(row[4] == "fact" for row in kept["node"])
    size = path.stat().st_size / facts
    note = f"{facts / spent:,.0f} facts/s, {size:.0f} bytes a fact"
    return Row(f"load memory({n:,})", spent, least, 4, note)


def commits(folder: Path, count: int, times: int) -> Row:
    """Make commits of one fact and its justification, against the same rows in raw commits."""

    def ours() -> float:
        for leftover in folder.glob("commits.db*"):
            leftover.unlink()
        with tms.open(folder / "commits.db") as held:
            held.source("Run:0")
            started = time.perf_counter()
            for i in range(count):
                held.justify(f"Fact:{i}", "Run:0", rule="bench")
            return time.perf_counter() - started

    spent = floor.median(times, ours)
    least = floor.median(times, lambda: floor.commits(folder / "raw.db", count))
    return Row(f"{count:,} commits", spent, least, 2.5, f"{count / spent:,.0f} commits/s")


def reads(folder: Path, n: int, later: int, times: int) -> Iterator[Row]:
    """Ask about the past, against asking about the present, many commits later."""
    path = folder / "reads.db"
    with tms.open(path) as held:
        held.load(FAMILIES["memory"].rows(n))
        anchor = held.head
        for i in range(later):
            (held.unretract if i % 2 else held.retract)("Run:000000")
        past = held.as_of(recorded=anchor)
        refs = [f"Fact:{i:07}" for i in range(0, n, max(1, n // 1000))]
        for what, ask, again in (
            (
                "believes",
                lambda: [held.believes(r) for r in refs],
                lambda: [past.believes(r) for r in refs],
            ),
            ("holding", lambda: list(held.holding()), lambda: list(past.holding())),
        ):
            now = floor.median(times, lambda ask=ask: timed(ask))
            then = floor.median(times, lambda again=again: timed(again))
            yield Row(
                f"past {what}, {later:,} commits later", then, now, 2, "against the live read"
            )


def imported(times: int) -> Row:
    """Start Python and import tms, against importing what it stands on."""

    def start(statement: str) -> float:
        return timed(lambda: subprocess.run([sys.executable, "-c", statement], check=True))

    return Row(
        "import tms",
        floor.median(times, lambda: start("import tms")),
        floor.median(times, lambda: start("import pydantic, sqlite_utils")),
        1.3,
        "whole process",
    )
