"""What breaks when a package of Debian is pulled, on the data of examples/debian.py."""

from collections.abc import Iterator

import tms
from benchmarks import children, questions
from benchmarks.large import taken_in
from benchmarks.measures import turns
from benchmarks.rows import Row, against
from benchmarks.suite import Suite
from examples.debian import PULLED

LIBRARY = "libc6"
"""What most packages need."""


def rows(suite: Suite) -> Iterator[Row]:
    """Load the packages; then pull one after the other, and mend and break it again and again."""
    path = suite.folder / "debian.db"
    spent = children.spent("packages", path, suite.debian)
    with tms.open(path) as memory:
        stats = memory.stats()
    note = f"{stats.facts:,} facts, {stats.justifications:,} justifications"
    yield from taken_in(f"load {suite.debian.name}", stats.facts, spent, note)
    yield from asked_about(suite, LIBRARY)
    for package in PULLED:
        yield from pulled(suite, package)


def pulled(suite: Suite, package: str) -> Iterator[Row]:
    """Pull a package; measure how what rests on that dies and comes back."""
    path, source = suite.folder / "debian.db", f"Pulled:{package}"
    with tms.open(path) as memory:
        try:
            memory.unretract(source)
        except tms.NoSuchNode:
            return
    seen = turns(path, source, suite.scale.loads)
    with tms.open(path) as memory:
        memory.retract(source)
    yield against(f"retract {source}", seen.there, note=f"{seen.died:,} died")
    yield against(f"unretract {source}", seen.back)


def asked_about(suite: Suite, package: str) -> Iterator[Row]:
    """Ask what most rests on, then about one package: while it alone is pulled, and after."""
    times, broken, source = suite.scale.loads, f"Broken:{package}", f"Pulled:{package}"
    with tms.open(suite.folder / "debian.db") as memory:
        first = memory.as_of(recorded=next(iter(memory.log())).anchor)
        yield questions.critical("all pulled", times, first)
        try:
            memory.unretract(source)
        except tms.NoSuchNode:
            return
        pulled = f"{package} pulled"
        yield questions.critical(pulled, times, memory)
        yield questions.why(pulled, times, memory, broken)
        yield questions.impact(pulled, times, memory, source)
        memory.retract(source)
        yield questions.why_not("nothing pulled", times, memory, broken)
