"""Several processes write and read one file at once."""

import random
import subprocess
import sys
import time
from itertools import count, cycle
from pathlib import Path
from threading import Lock, Thread

import tms
from benchmarks.reliability.counting import Count
from benchmarks.reliability.judging import demand, in_order, judge
from benchmarks.reliability.processes import child
from benchmarks.reliability.working import SWITCHES, turn, world

FACTS = 300
WAIT = 0.02
"""Seconds that an impatient writer waits for the others."""


# ---------------------------------------------------------------- what the processes do


def write(path: str, name: str, seed: int, commits: int) -> None:
    """Retract, justify and batch until so many commits are made; print the anchor of each.

    Each second writer is impatient: it is refused after a short wait, not before, and tries again.
    """
    chance = random.Random(seed)
    impatient = seed % 2 == 1
    made = refused = 0
    with tms.open(path, timeout=WAIT if impatient else 600) as memory:
        for place in count():
            began = time.monotonic()
            try:
                report = _act(memory, chance, f"{name}.{place}")
            except tms.Busy:
                waited = time.monotonic() - began
                assert impatient, "another writer was not waited for"
                assert waited >= WAIT * 0.9, f"busy after {waited} s"
                refused += 1
                continue
            assert (report.by or "").startswith(name), "the report of another"
            print(report.after, flush=True)
            made += 1
            if made == commits:
                break
    print(f"refused {refused}", flush=True)


def _act(memory: tms.Memory, chance: random.Random, name: str) -> tms.Report:
    which, ref = chance.randrange(3), chance.choice(SWITCHES)
    if which == 0:
        with memory.batch(by=f"{name}+1") as batch:
            turn(memory, chance, name)
            memory.source(f"Run:{name}")
    elif which == 1:
        with memory.batch(by=f"{name}+1") as batch:
            stood = memory.believes(ref)
            memory.justify(f"Note:{name}", ref, rule="noted")
        expected = (f"Note:{name}",) if stood else ()
        assert batch.report.revived == expected, "what was read had changed before the commit"
    else:
        with memory.batch(by=f"{name}+5") as batch:
            for step in range(5):
                memory.justify(f"Many:{name}-{step}", chance.choice(SWITCHES))
            memory.retract(ref)
    return batch.report


def read(path: str) -> None:
    """Read after each anchor that is told: it is there, the state is whole, time goes forwards."""
    seen = 0
    last = None
    with tms.open(path, read_only=True, timeout=60) as memory:
        for line in sys.stdin:
            told, head = tms.Anchor(line.strip()), memory.head
            assert head is not None
            assert head >= told, f"told of {told}, shown {head}"
            assert last is None or head >= last, "a reader went back in time"
            view = memory.as_of(recorded=head)
            assert sum(1 for _ in view.holding()) == view.report(head).believed_after
            assert memory.report(told).after == told
            last, seen = head, seen + 1
    print(f"seen {seen}", flush=True)


# ---------------------------------------------------------------- what is counted


class _Relay:
    """Tells readers what writers were told, at once."""

    def __init__(self, readers: list[subprocess.Popen[str]]) -> None:
        self._readers = cycle(readers)
        self._lock = Lock()
        self.refused = 0

    def pass_on(self, writer: subprocess.Popen[str], told: list[str]) -> None:
        assert writer.stdout is not None
        for line in map(str.strip, writer.stdout):
            if line.startswith("refused "):
                self.refused += int(line.removeprefix("refused "))
                continue
            told.append(line)
            with self._lock:
                reader = next(self._readers)
                assert reader.stdin is not None
                reader.stdin.write(f"{line}\n")
                reader.stdin.flush()


def crowd(folder: Path, writers: int, readers: int, commits: int, seed: int) -> Count:
    """Let processes write and read one file; the log is their order, and nothing of it is lost."""
    path = folder / "crowd.db"
    world(path, FACTS)
    first = judge(path)
    watching = [child("read", path, stdin=subprocess.PIPE) for _ in range(readers)]
    working = [child("write", path, f"w{n}", seed + n, commits) for n in range(writers)]
    relay = _Relay(watching)
    told: list[list[str]] = [[] for _ in working]
    threads = [Thread(target=relay.pass_on, args=pair) for pair in zip(working, told, strict=True)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for worker in working:
        worker.communicate()
    seen = sum(int(reader.communicate()[0].removeprefix("seen ")) for reader in watching)
    failed = [process.args for process in (*working, *watching) if process.wait()]
    demand(not failed, "a process failed", failed)
    demand(seen == writers * commits, "a reader saw less than it was told of")
    head = judge(path)
    demand(head == first + writers * commits, "commits that nobody made, or too few")
    with tms.open(path, create=False) as memory:
        there = [str(commit.anchor) for commit in memory.log()]
        demand(memory.verify(revisions=20), "verify")
    demand(all(map(in_order, told)), "a writer saw its commits out of order")
    lost = {anchor for anchors in told for anchor in anchors} - set(there)
    what = f"{writers} writers and {readers} readers at once"
    times = f"{seen:,} reads after another's commit, {relay.refused:,} times `Busy`, tried again"
    return Count(what, times, writers * commits, len(lost))
