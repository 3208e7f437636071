"""A million facts: taken in by the library and by the command line."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

from benchmarks import children
from benchmarks.families import memory
from benchmarks.rows import Row
from benchmarks.suite import Suite


def rows(suite: Suite) -> Iterator[Row]:
    """Load a large memory, and import it from a file."""
    n = suite.scale.large
    path, lines = suite.folder / "large.db", suite.folder / "large.jsonl"
    yield from taken_in(f"memory.load, memory({n:,})", n, children.spent("load", path, "memory", n))
    path.unlink()
    write(lines, n)
    spent, text = children.shown("verb", "--db", path, "import", lines)
    note = f"progress was shown {len(re.findall(r'[0-9] rows', text)):,} times"
    yield from taken_in(f"tms import, memory({n:,})", n, spent, note)
    path.unlink()
    lines.unlink()


def taken_in(what: str, facts: int, spent: children.Spent, note: str = "") -> Iterator[Row]:
    """Yield what taking in some facts took."""
    yield Row(what, spent.seconds, "s", note=note)
    yield Row(what, facts / spent.seconds, "facts/s")
    yield Row(f"peak memory, {what}", spent.peak, "MB", note=spent.memory)


def write(path: Path, n: int) -> None:
    """Write a memory as JSON Lines."""
    with path.open("w", encoding="utf-8") as file:
        for row in memory(n):
            file.write(json.dumps(row) + "\n")
