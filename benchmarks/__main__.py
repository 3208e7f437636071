"""Print a table of ratios: ``python -m benchmarks`` (all), ``--smoke`` (small and quick)."""

import argparse
import os
import platform
import sqlite3
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks import growth, measures
from benchmarks.families import FAMILIES

AIMS = {"security": 3, "chain": 6, "fan": 3, "rings": 3, "layers": 20, "memory": 6, "pods": 6}
"""The ratio to the floor that a retraction in each family is to reach."""


def rows(folder: Path, *, scale: int, times: int) -> Iterator[measures.Row]:
    """Yield the rows of the table, measured one after the other."""
    for name, family in FAMILIES.items():
        yield from measures.retractions(folder, family, scale, AIMS[name], times)
    yield measures.load(folder, scale, times)
    yield measures.commits(folder, scale // 10, times)
    yield from measures.reads(folder, scale, scale // 100, times)
    yield measures.imported(times)


def points(folder: Path, *, smoke: bool, times: int) -> Iterator[growth.Point]:
    """Yield the points of the table of growth."""
    sizes = [200, 400] if smoke else [10_000, 100_000, 1_000_000]
    yield from growth.of_files(folder, sizes, times)
    changes = [100, 400] if smoke else [100, 1_000, 10_000, 100_000]
    yield from growth.of_changes(folder, changes, times)
    yield from growth.of_history(folder, changes[-1], [1, 10] if smoke else [1, 100, 1000], times)
    yield from growth.peaks(folder, changes[-1], sizes[-1])


def main() -> None:
    """Measure, print, and for a full run keep the tables in RESULTS.md."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--smoke", action="store_true", help="a small run that keeps nothing")
    smoke = parser.parse_args().smoke
    scale, times = (2_000, 1) if smoke else (100_000, 5)
    lines: list[str] = []

    def put(line: str) -> None:
        print(line, flush=True)
        lines.append(line)

    put(
        f"CPython {platform.python_version()}, SQLite {sqlite3.sqlite_version}, "
        f"{platform.machine()}, {os.cpu_count()} cores; median of {times}; milliseconds."
    )
    with tempfile.TemporaryDirectory() as folder:
        put("\nThe ratio is what to read: the floor is raw sqlite3 in the same run.\n")
        put("| what | ours | floor | ratio | aim | |\n|---|---:|---:|---:|---:|---|")
        for row in rows(Path(folder), scale=scale, times=times):
            put(
                f"| {row.what} | {row.ours * 1e3:,.2f} | {row.floor * 1e3:,.2f} | "
                f"{row.ratio:.2f} | {row.aim:g} | {row.note} |"
            )
        put("\nHow cost grows.\n")
        put("| what | size | ms | |\n|---|---:|---:|---|")
        for point in points(Path(folder), smoke=smoke, times=times):
            put(
                f"| {point.what} | {point.size:,} | "
                f"{f'{point.milliseconds:,.2f}' if point.milliseconds else ''} | {point.note} |"
            )
    if not smoke:
        text = "# Results\n\nWritten by `python -m benchmarks`.\n\n" + "\n".join(lines) + "\n"
        Path(__file__).with_name("RESULTS.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
