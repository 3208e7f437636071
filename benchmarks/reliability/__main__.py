"""Count what is lost when processes die, fail or crowd: ``python -m benchmarks.reliability``.

Nothing may be: every commit that was acknowledged is there, in order, once; what was not is there
whole or not at all; and labels are those of a relabelling from scratch. ``--kills 0`` and the like
leave a part out.
"""

import argparse
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.reliability.counting import HEAD, Count
from benchmarks.reliability.crowding import crowd, read, write
from benchmarks.reliability.fuzzing import fuzz
from benchmarks.reliability.injecting import failures
from benchmarks.reliability.killing import kills
from benchmarks.reliability.working import work


def counts(given: argparse.Namespace) -> Iterator[Count]:
    """Yield the lines of the table, each as soon as it is known."""
    with tempfile.TemporaryDirectory() as folder:
        if given.kills:
            yield from kills(Path(folder), given.kills, given.seed)
        if given.failures:
            yield from failures(Path(folder), given.failures, given.seed)
        if given.fuzz:
            yield from fuzz(Path(folder), given.fuzz)
        if given.commits:
            yield crowd(Path(folder), given.writers, given.readers, given.commits, given.seed)


def _child(verb: str, path: str, *args: str) -> None:
    if verb == "read":
        read(path)
        return
    *what, seed, commits = args
    if verb == "write":
        write(path, *what, int(seed), int(commits))
    else:
        work(path, *what, int(seed), int(commits))


def main() -> int:
    """Count, print a table; exit status 1 if anything was lost."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.reliability", description=__doc__)
    parser.add_argument("--kills", type=int, default=40, help="at each kind of work")
    parser.add_argument("--failures", type=int, default=100, help="of each kind")
    parser.add_argument("--fuzz", type=int, default=300, help="inputs of each kind")
    parser.add_argument("--commits", type=int, default=1_000, help="of each of the writers at once")
    parser.add_argument("--writers", type=int, default=4)
    parser.add_argument("--readers", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--child", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        _child(*given.child)
        return 0
    print(HEAD)
    lost = 0
    for count in counts(given):
        print(count.line, flush=True)
        lost += count.lost
    return 1 if lost else 0


if __name__ == "__main__":
    sys.exit(main())
