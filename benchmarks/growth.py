"""How cost grows with the file, the change and the history; and how much memory it takes."""

import json
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import tms
from benchmarks import floor
from benchmarks.families import FAMILIES
from benchmarks.measures import timed


class Point(NamedTuple):
    """One line of the table of growth."""

    what: str
    size: int
    milliseconds: float
    note: str = ""


def of_files(folder: Path, sizes: list[int], times: int) -> Iterator[Point]:
    """Measure small work in files of growing size: all of it should be flat."""
    family = FAMILIES["pods"]
    for n in sizes:
        path = folder / f"pods-{n}.db"
        with tms.open(path) as memory:
            spent = timed(lambda memory=memory, n=n: memory.load(family.rows(n)))
        yield Point("load, facts", n, spent * 1e3, f"{n / spent:,.0f} facts/s")

        def opened(path: Path = path) -> float:
            started = time.perf_counter()
            with tms.open(path) as memory:
                memory.retract(family.withdrawn)
                memory.unretract(family.withdrawn)
            return time.perf_counter() - started

        yield Point("open, retract 30, unretract, close", n, floor.median(times, opened) * 1e3)
        with tms.open(path) as memory:
            there: list[float] = []
            for _ in range(2 * times + 1):
                there.append(timed(lambda memory=memory: memory.retract(family.withdrawn)))
                memory.unretract(family.withdrawn)
            yield Point("retract 30, warm", n, sorted(there)[times] * 1e3)
            added = iter(range(10**9))
            spent = floor.median(
                2 * times + 1,
                lambda memory=memory, added=added: timed(
                    lambda: memory.justify(f"New:{next(added)}", "Pod:0001", rule="new")
                ),
            )
            yield Point("commit one fact", n, spent * 1e3)
        spent = floor.median(2 * times + 1, lambda path=path: timed(lambda: tms.open(path).close()))
        yield Point("open and close", n, spent * 1e3, f"{path.stat().st_size:,} bytes")


def of_changes(folder: Path, sizes: list[int], times: int) -> Iterator[Point]:
    """Measure retractions that kill more and more: linear at the most."""
    for n in sizes:
        with tms.open(folder / f"fan-{n}.db") as memory:
            memory.load(FAMILIES["fan"].rows(n))
            there: list[float] = []
            for _ in range(times + 1):
                there.append(timed(lambda memory=memory: memory.retract("Root:0")))
                memory.unretract("Root:0")
            spent = sorted(there[1:])[times // 2]
            yield Point("retract, deaths", n, spent * 1e3, f"{spent / n * 1e6:.2f} µs a death")


def of_history(folder: Path, n: int, commits: list[int], times: int) -> Iterator[Point]:
    """Measure a scan of the past as commits pile up on it: flat."""
    with tms.open(folder / "history.db") as memory:
        memory.load(FAMILIES["memory"].rows(n))
        past = memory.as_of(recorded=memory.head or "")
        made = 0
        for wanted in commits:
            while made < wanted:
                (memory.unretract if made % 2 else memory.retract)("Run:000000")
                made += 1
            spent = floor.median(times, lambda: timed(lambda: list(past.holding())))
            yield Point(f"scan {n:,} at a past revision, commits since", made, spent * 1e3)


PEAKS = {
    "load": "held.load(FAMILIES['memory'].rows(n))",
    "retract, all die": "held.retract('Root:0')",
    "small retract": "held.retract('Pod:0000')",
}
"""Work whose peak memory is measured, each in a process of its own."""


def peaks(folder: Path, n: int, large: int) -> Iterator[Point]:
    """Measure the peak memory of whole processes."""
    with tms.open(folder / "peak-fan.db") as memory:
        memory.load(FAMILIES["fan"].rows(n))
    files = {
        "load": (folder / "peak-load.db", large),
        "retract, all die": (folder / "peak-fan.db", n),
        "small retract": (folder / f"pods-{large}.db", large),
    }
    for what, work in PEAKS.items():
        path, size = files[what]
        done = subprocess.run(
            [sys.executable, "-m", "benchmarks.growth", str(path), str(size), work],
            check=True,
            capture_output=True,
            text=True,
        )
        before, after = json.loads(done.stdout)
        note = f"peak {after:,.0f} MB, of which {before:,.0f} MB before the work"
        yield Point(f"memory: {what}", size, 0, note)


def peak() -> float:
    """Return the peak memory of this process so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    given, n = sys.argv[1], int(sys.argv[2])
    with tms.open(given) as held:
        start = peak()
        exec(sys.argv[3])
    print(json.dumps([start, peak()]))
