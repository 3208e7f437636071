"""What a run measures on: how large, how often, and the files, each made once."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from benchmarks import children
from benchmarks.children import Spent

CUT = Path(__file__).parents[1] / "tests" / "data" / "debian-cut.jsonl.gz"
"""A part of the Debian packages."""


class Scale(NamedTuple):
    """How large and how often.

    Attributes:
        times: how often what takes long is measured; the median counts.
        often: how often what takes milliseconds is.
        loads: how often a load is.
        starts: how often the start of a process is.
        facts: in a world of a family.
        commits: made one after the other.
        sizes: of files, for what must not grow with them.
        changes: in facts, for what may only grow with them.
        later: commits made upon a past that is then asked.
        large: facts in a large load.
    """

    times: int
    often: int
    loads: int
    starts: int
    facts: int
    commits: int
    sizes: tuple[int, ...]
    changes: tuple[int, ...]
    later: tuple[int, ...]
    large: int


FULL = Scale(
    times=5,
    often=21,
    loads=3,
    starts=9,
    facts=100_000,
    commits=5_000,
    sizes=(10_000, 100_000, 1_000_000),
    changes=(100, 1_000, 10_000, 100_000),
    later=(1, 100, 1_000),
    large=1_000_000,
)
"""What the contract speaks of."""

SMOKE = Scale(
    times=1,
    often=3,
    loads=1,
    starts=1,
    facts=2_000,
    commits=200,
    sizes=(200, 400),
    changes=(100, 2_000),
    later=(1, 10),
    large=4_000,
)
"""Enough to see that everything runs; the aims mean little here."""


class World(NamedTuple):
    """A file that was loaded, and what that took."""

    path: Path
    spent: Spent


@dataclass(frozen=True)
class Suite:
    """One run of the benchmarks."""

    folder: Path
    scale: Scale
    debian: Path = CUT
    _worlds: dict[tuple[str, int], World] = field(default_factory=dict)

    def world(self, family: str, n: int) -> World:
        """Return the file of a family and a size, made the first time by a child."""
        if (family, n) not in self._worlds:
            path = self.folder / f"{family}-{n}.db"
            self._worlds[family, n] = World(path, children.spent("load", path, family, n))
        return self._worlds[family, n]
