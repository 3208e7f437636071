"""Kill processes at random moments, and look at what they left."""

import random
import re
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import tms
from benchmarks.reliability.counting import Count
from benchmarks.reliability.judging import anchors_of, demand, fingerprint, in_order, judge
from benchmarks.reliability.processes import child
from benchmarks.reliability.working import WORKS, fresh, world

SPAN = 0.4
"""Seconds of work within which a process is killed."""

_SLOW = {"bundles": 8, "prune": 4, "batches": 3}
"""Works of larger pieces, and how many times as long they may take."""

_EACH = 10
"""After so many kills of the same file a new one is taken, so that looking at it stays quick."""

_READING = ("prune", "backup")
"""Works that must not touch the file that they are done on."""

_LONGEST = 120
"""Seconds that a process may take until it dies inside one of its commits."""

_ANCHOR = re.compile(r"r1:\d{16}:[0-9T:.-]+Z")


def kills(folder: Path, times: int, seed: int) -> Iterator[Count]:
    """Kill processes at each kind of work so many times, a third of them inside a COMMIT."""
    pristine = folder / "pristine.db"
    world(pristine)
    for kind in WORKS:
        yield _Killing(kind, folder, pristine, random.Random(f"{seed} {kind}")).run(times)


class _Killing:
    def __init__(self, kind: str, folder: Path, pristine: Path, chance: random.Random) -> None:
        self._kind = kind
        self._path = folder / f"{kind}.db"
        self._pristine = pristine
        self._chance = chance
        self._known: list[str] = []
        self._promised = 0
        self._lost = 0

    def run(self, times: int) -> Count:
        inside = 0
        for place in range(times):
            if place % _EACH == 0:
                fresh(self._pristine, self._path)
                self._known = []
            before = fingerprint(self._path) if self._kind in _READING else ""
            commits = 1 + self._chance.randrange(4) if place % 3 == 2 else 0
            inside += commits > 0
            told = self._killed(f"w{place}", commits)
            self._look(told, before, place)
        judge(self._path, last=50)
        what = f"killed (-9) at {self._kind}"
        return Count(what, f"{times:,} kills, {inside:,} in COMMIT", self._promised, self._lost)

    def _killed(self, name: str, commits: int) -> list[str]:
        seed = self._chance.randrange(2**30)
        with child("work", self._path, self._kind, name, seed, commits) as worker:
            assert worker.stdout is not None
            demand(worker.stdout.readline() == "go\n", "the process did not begin")
            if not commits:
                time.sleep(self._chance.random() * SPAN * _SLOW.get(self._kind, 1))
                worker.send_signal(signal.SIGKILL)
            told = worker.communicate(timeout=_LONGEST)[0]
        demand(worker.returncode == -signal.SIGKILL, "it ended by itself", worker.returncode)
        return [line for line in told.split("\n")[:-1] if line]

    def _look(self, told: list[str], before: str, place: int) -> None:
        """Look at what was left, check that it goes on, and count what is lost."""
        anchors = [anchor for line in told for anchor in _ANCHOR.findall(line)[-1:]]
        self._known += anchors
        self._promised += len(anchors)
        demand(in_order(self._known), "told out of order")
        if self._kind in _READING:
            demand(fingerprint(self._path) == before, "the source was touched")
            self._copies(told)
        head = judge(self._path, last=2)
        if self._known:
            demand(head <= int(self._known[-1][3:19]) + 1, "more commits than were begun")
        with tms.open(self._path, create=False) as memory:
            if place % 5 == 0:
                demand(memory.verify(revisions=2), "verify")
            memory.retract("Policy:block") or memory.unretract("Policy:block")
            assert memory.head is not None
            demand(memory.head.revision == head + 1, "the next commit is not the next")
            self._known.append(str(memory.head))
        self._lost += len(set(self._known[:-1]) - anchors_of(self._path))
        self._gone(told)

    def _copies(self, told: list[str]) -> None:
        done = {Path(line.removeprefix("copied ")) for line in told if line.startswith("copied ")}
        self._promised += len(done)
        there = set(self._path.parent.glob("copy-*.db"))
        self._lost += len(done - there)
        demand(len(there - done) <= 1, "copies that nobody made")
        for copy in there:
            judge(copy, last=1)
        for copy in there - done:  # it has its name, and who made it was killed before saying so
            with tms.open(copy, create=False) as memory:
                demand(memory.verify(revisions=2), "verify", copy)
        for left in (*there, *self._path.parent.glob(".copy-*"), *self._path.parent.glob("copy-*")):
            left.unlink(missing_ok=True)

    def _gone(self, told: list[str]) -> None:
        data = self._path.read_bytes()
        for line in told:
            if line.startswith("gone "):
                self._promised += 1
                demand(line.removeprefix("gone ").encode() not in data, "a secret is left", line)
