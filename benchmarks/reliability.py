"""Count what is lost when processes are killed, or crowd: ``python -m benchmarks.reliability``.

Nothing may be: every commit that was acknowledged is there, in order, once; what was not is there
whole or not at all; and labels are those of a relabelling from scratch.
"""

import argparse
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import tms
from benchmarks.families import FAMILIES

FACTS = 300
"""How many facts the world has in which a writer is killed: a cascade through half of them."""


class Count(NamedTuple):
    """A line of the table."""

    what: str
    times: int
    commits: int
    lost: int

    @property
    def line(self) -> str:
        """The line as Markdown."""
        return f"| {self.what} | {self.times:,} | {self.commits:,} | {self.lost:,} |"


# ---------------------------------------------------------------- what the children do


def _world(path: Path) -> None:
    with tms.open(path) as memory:
        memory.load(FAMILIES["security"].rows(FACTS))
        memory.load(FAMILIES["rings"].rows(200))


def _act(memory: tms.Memory, chance: random.Random, name: str, place: int) -> None:
    """Do one of the things that write, mostly such as move many beliefs."""
    which = chance.randrange(8)
    feeds = ["Feed:bad", "Scan:sast", "Ground:g0", "Ground:g1"]
    if which < 3:
        ref = chance.choice(feeds)
        (memory.unretract if memory.get(ref).retracted else memory.retract)(ref)
    elif which == 3:
        memory.source(f"Run:{name}-{place}", content={"text": "x" * chance.randrange(2_000)})
    elif which == 4:
        memory.justify(f"Note:{name}-{place}", chance.sample(feeds, 2), rule="noted")
    elif which == 5:
        with memory.batch(reason="several"):
            for step in range(chance.randrange(1, 20)):
                memory.justify([f"Many:{name}-{place}-{step}"], [chance.choice(feeds)])
            memory.retract(chance.choice(feeds))
    elif which == 6:
        rows = [{"source": f"Loaded:{name}-{place}-{step}"} for step in range(200)]
        memory.load(rows)
    else:
        memory.revise("Feed:bad", content={"by": name, "place": place})


def write(path: str, name: str, seed: int, commits: int) -> None:
    """Write until so many commits are made; print the anchor of each once it stands."""
    chance = random.Random(seed)
    with tms.open(path, timeout=60) as memory:
        made = place = 0
        while made < commits:
            place += 1
            try:
                with memory.batch(by=name) as batch:
                    _act(memory, chance, name, place)
            except tms.Busy:
                continue
            if batch.report:
                print(batch.report.after, flush=True)
                made += 1


def read(path: str, seconds: float) -> None:
    """Read for some seconds: whole commits only, and never an older one after a newer."""
    last = None
    seen = 0
    end = time.monotonic() + seconds
    with tms.open(path, read_only=True, timeout=60) as memory:
        while time.monotonic() < end:
            head = memory.head
            assert head is not None
            assert last is None or head >= last, "a reader went back in time"
            view = memory.as_of(recorded=head)
            assert len(list(view.holding())) == view.report(head).believed_after
            last, seen = head, seen + 1
    print(seen, flush=True)


def _child(*args: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "benchmarks.reliability", "--child", *map(str, args)]
    root = Path(__file__).parents[1]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=root)


# ---------------------------------------------------------------- what is counted


def kills(folder: Path, times: int, seed: int) -> Count:
    """Kill a writer at random moments, always on the same file, and look at what it left."""
    path = folder / "killed.db"
    _world(path)
    chance = random.Random(seed)
    known: list[str] = []
    lost = 0
    for place in range(times):
        with _child("write", path, f"w{place}", chance.randrange(2**30), 10**9) as writer:
            assert writer.stdout is not None
            first = writer.stdout.readline()
            time.sleep(chance.random() * 0.3)
            writer.send_signal(signal.SIGKILL)
            told = [first, *writer.stdout.read().splitlines()]
        known += [text.strip() for text in told if text.strip().endswith("Z")]
        lost += _missing(path, known, revisions=2 if place % 10 == 0 else None)
    lost += _missing(path, known, revisions=20)
    return Count("killed while writing", times, len(known), lost)


def _missing(path: Path, known: list[str], *, revisions: int | None) -> int:
    """Return how many acknowledged commits are gone; check that the file goes on and is sound."""
    with tms.open(path) as memory:
        if revisions is not None:
            verification = memory.verify(revisions=revisions)
            assert verification, verification
        there = [str(commit.anchor) for commit in memory.log()]
        assert len(there) == len(set(there)), "a revision was used twice"
        before = memory.head
        memory.retract("Policy:block")
        memory.unretract("Policy:block")
        assert memory.head is not None
        assert before is not None
        assert memory.head.revision == before.revision + 2, "the next commit is not the next"
    return len(set(known) - set(there))


def crowd(folder: Path, writers: int, readers: int, commits: int, seed: int) -> Count:
    """Have several processes write and read one file at once."""
    path = folder / "crowd.db"
    _world(path)
    with tms.open(path) as memory:
        before = memory.head
    children = [
        _child("write", path, f"w{place}.", seed + place, commits) for place in range(writers)
    ]
    watchers = [_child("read", path, 2.0 + commits / 50) for _ in range(readers)]
    told = [child.communicate()[0].split() for child in children]
    seen = [int(child.communicate()[0] or 0) for child in watchers]
    assert not any(child.returncode for child in (*children, *watchers)), "a child failed"
    assert all(seen), "a reader saw nothing"
    with tms.open(path) as memory:
        there = [str(commit.anchor) for commit in memory.log(after=before)]
        verification = memory.verify(revisions=20)
        assert verification, verification
    known = {anchor for anchors in told for anchor in anchors}
    for anchors in told:
        assert anchors == sorted(set(anchors)), "a writer saw its commits out of order"
    what = f"{writers} writers and {readers} readers at once"
    return Count(what, sum(seen), len(there), len(known - set(there)))


def counts(given: argparse.Namespace) -> Iterator[Count]:
    """Yield the lines of the table, each as soon as it is known."""
    with tempfile.TemporaryDirectory() as folder:
        if given.kills:
            yield kills(Path(folder), given.kills, given.seed)
        if given.commits:
            yield crowd(Path(folder), given.writers, given.readers, given.commits, given.seed)


def main() -> int:
    """Count, print a table; exit status 1 if anything was lost."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.reliability", description=__doc__)
    parser.add_argument("--kills", type=int, default=300, help="how often a writer is killed")
    parser.add_argument("--commits", type=int, default=1_000, help="of each of the writers at once")
    parser.add_argument("--writers", type=int, default=4)
    parser.add_argument("--readers", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--child", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        verb, path, *rest = given.child
        if verb == "read":
            read(path, float(rest[0]))
        else:
            write(path, rest[0], int(rest[1]), int(rest[2]))
        return 0
    print("| what | times | commits acknowledged | lost |\n|---|---:|---:|---:|")
    lost = 0
    for count in counts(given):
        print(count.line, flush=True)
        lost += count.lost
    return 1 if lost else 0


if __name__ == "__main__":
    sys.exit(main())
