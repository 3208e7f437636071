"""Print tables of ratios and aims: ``python -m benchmarks`` (all, for half an hour)."""

import argparse
import gzip
import os
import platform
import sqlite3
import tempfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from benchmarks import debian, digests, growth, large, measures, questions
from benchmarks.rows import HEAD, Row
from benchmarks.suite import CUT, FULL, SMOKE, Suite
from benchmarks.timing import calibration


class Section(NamedTuple):
    """A table: the head of its columns, and what measures its lines."""

    head: str
    lines: Callable[[Suite], Iterator[Row | growth.Point]]


SECTIONS = {
    "import": Section(HEAD, measures.start),
    "retractions": Section(HEAD, measures.retractions),
    "small change in a large file": Section(HEAD, measures.pods),
    "commits": Section(HEAD, measures.commits),
    "load": Section(HEAD, measures.load),
    "digests": Section(HEAD, digests.rows),
    "reads of the past": Section(HEAD, measures.reads),
    "memory": Section(HEAD, measures.peaks),
    "questions": Section(HEAD, questions.rows),
    "debian": Section(HEAD, debian.rows),
    "large": Section(HEAD, large.rows),
    "growth with the file": Section(growth.head("facts"), growth.of_files),
    "growth with the change": Section(growth.head("deaths"), growth.of_changes),
    "growth with the history": Section(growth.head("commits since"), growth.of_history),
}
"""Every section by its name."""


def lines(suite: Suite, names: list[str]) -> Iterator[str]:
    """Yield the lines of a run, measured one after the other."""
    yield (
        f"CPython {platform.python_version()}, SQLite {sqlite3.sqlite_version}, "
        f"{platform.machine()}, {os.cpu_count()} cores. {calibration()}\n"
    )
    yield (
        "The floor is raw sqlite3 doing the least work, measured in turn with ours; where an aim\n"
        "is absolute, it shows what this machine lets anyone reach. All figures are medians."
    )
    aims: list[Row] = []
    for name in names:
        head, measured = SECTIONS[name]
        yield f"\n## {name.capitalize()}\n\n{head}"
        for row in measured(suite):
            yield row.line
            if isinstance(row, Row) and row.aim:
                aims.append(row)
    missed = [f"{row.what}, {row.aim}" for row in aims if not row.reached]
    yield f"\n{len(aims) - len(missed)} of {len(aims)} aims reached."
    if missed:
        yield f"Missed: {'; '.join(missed)}."


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--smoke", action="store_true", help="a small run that keeps nothing")
    parser.add_argument(
        "--only", metavar="NAME", help=f"of {', '.join(SECTIONS)}: those with this part"
    )
    parser.add_argument(
        "--debian", metavar="FILE", type=Path, default=CUT, help="all packages, instead of a cut"
    )
    given = parser.parse_args()
    given.names = [name for name in SECTIONS if given.only is None or given.only in name]
    if not given.names or given.only == "":
        parser.error(f"no section is named like {given.only!r}.")
    if not given.debian.is_file():
        parser.error(f"there is no file {given.debian}.")
    try:
        with gzip.open(given.debian) as packages:
            while packages.read(1 << 20):
                pass
    except (OSError, EOFError, zlib.error) as error:
        parser.error(f"{given.debian} cannot be read as gzip: {error}.")
    return given


def main() -> None:
    """Measure, print, and for a full run keep the tables in RESULTS.md."""
    given = arguments()
    kept: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        suite = Suite(Path(folder), SMOKE if given.smoke else FULL, given.debian)
        for line in lines(suite, given.names):
            print(line, flush=True)
            kept.append(line)
    if not (given.smoke or given.only):
        text = "# Results\n\nWritten by `python -m benchmarks`.\n\n" + "\n".join(kept) + "\n"
        Path(__file__).with_name("RESULTS.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
