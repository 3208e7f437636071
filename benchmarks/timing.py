"""Timing: medians, and two works measured turn by turn, so that noise meets both alike."""

import sqlite3
import time
from collections.abc import Callable
from statistics import median
from typing import NamedTuple


class Pair(NamedTuple):
    """The medians of two works that were measured alternately, in seconds."""

    ours: float
    floor: float

    @property
    def ratio(self) -> float:
        """Our time over the floor's."""
        return self.ours / self.floor


def timed(work: Callable[[], object]) -> float:
    """Return the seconds that some work takes."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def repeated(times: int, measure: Callable[[], float]) -> float:
    """Return the median of several measurements, after one that does not count."""
    measure()
    return median(measure() for _ in range(times))


def paired(
    times: int, ours: Callable[[], float], floor: Callable[[], float], *, warm: bool = True
) -> Pair:
    """Measure floor, ours, floor, ours and so on; the first pair does not count, if it is to warm.

    Returns:
        The medians of the others.
    """
    turns = [(floor(), ours()) for _ in range(times + warm)][warm:]
    return Pair(median(turn[1] for turn in turns), median(turn[0] for turn in turns))


def calibration() -> str:
    """Say how fast this machine is, so that figures of different machines can be compared."""
    return (
        f"Calibration: 10,000,000 additions in a Python loop take {timed(_add):.2f} s, "
        f"1,000,000 raw inserts into SQLite in memory {timed(_insert):.2f} s."
    )


def _add() -> None:
    total = 0
    for i in range(10_000_000):
        total += i


def _insert() -> None:
    sql = sqlite3.connect(":memory:", isolation_level=None)
    sql.execute("CREATE TABLE number (number INTEGER PRIMARY KEY, double INTEGER)")
    sql.execute("BEGIN")
    sql.executemany("INSERT INTO number VALUES (?, ?)", ((i, 2 * i) for i in range(1_000_000)))
    sql.execute("COMMIT")
    sql.close()
