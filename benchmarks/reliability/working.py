"""What the processes that are killed do: a world, and works of every kind that writes."""

import os
import random
import shutil
import signal
import sqlite3
import sys
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from threading import Timer

import tms
from benchmarks.families import FAMILIES
from tms.cli import main as program

FACTS = 1_000
"""How many facts the world has in each of its shapes: two that are wide, two that are deep."""

SWITCHES = ("Feed:bad", "Scan:sast", "Policy:block", "Root:0", "Ground:g0", "Ground:g1")
"""What is retracted there: thousands of facts rest on most of these."""

Told = Iterator[str]


def world(path: Path, facts: int = FACTS) -> None:
    """Make the world."""
    with tms.open(path) as memory:
        for shape in ("security", "fan", "chain", "rings"):
            memory.load(FAMILIES[shape].rows(facts))


def _anchor(memory: tms.Memory) -> str:
    assert memory.head is not None
    return str(memory.head)


def turn(memory: tms.Memory, chance: random.Random, by: str) -> None:
    """Turn a switch, which moves many beliefs."""
    ref = chance.choice(SWITCHES)
    (memory.unretract if memory.get(ref).retracted else memory.retract)(ref, by=by)


def _adds(path: Path, chance: random.Random, name: str) -> Told:
    with tms.open(path, timeout=60) as memory:
        for place in count():
            if chance.random() < 0.5:
                content = {"text": "x" * chance.randrange(5_000)}
                memory.source(f"Run:{name}-{place}", content=content)
            else:
                memory.justify(f"Note:{name}-{place}", chance.sample(SWITCHES, 2), rule="noted")
            yield _anchor(memory)


def _cascades(path: Path, chance: random.Random, name: str) -> Told:
    with tms.open(path, timeout=60) as memory:
        while True:
            turn(memory, chance, f"{name}+0")
            yield _anchor(memory)


def _batches(path: Path, chance: random.Random, name: str) -> Told:
    with tms.open(path, timeout=60) as memory:
        for place in count():
            many = chance.randrange(1, 300)
            with memory.batch(reason="several", by=f"{name}+{many}"):
                for step in range(many):
                    memory.justify(f"Many:{name}-{place}-{step}", chance.choice(SWITCHES))
                    if step % 100 == 50:
                        turn(memory, chance, "inside")
            yield _anchor(memory)


def _loads(path: Path, chance: random.Random, name: str) -> Told:
    with tms.open(path, timeout=60) as memory:
        for place in count():
            many = chance.randrange(1, 3_000)
            rows = (
                {"axiom": f"Loaded:{name}-{place}-{step}", "id": f"{name}-{place}-{step}"}
                for step in range(many)
            )
            memory.load(rows, by=f"{name}+{many}")
            yield _anchor(memory)


def _imports(path: Path, chance: random.Random, name: str) -> Told:
    file = path.with_name("rows.jsonl")
    for place in count():
        with file.open("w") as rows:
            for commit in range(4):
                many = chance.randrange(1, 1_000)
                rows.write(f'{{"commit": {{"by": "{name}+{many}"}}}}\n')
                for step in range(many):
                    rows.write(f'{{"source": "Row:{name}-{place}-{commit}-{step}"}}\n')
        program.main(["--db", str(path), "import", str(file), "--json"], standalone_mode=False)
        yield ""  # it told the anchors itself


def _bundles(path: Path, chance: random.Random, name: str) -> Told:
    """Take in bundles that go on where the file ends, and some that are of another history."""
    with tms.open(path, timeout=60) as memory:
        for place in count():
            many = chance.randrange(1, 5)
            elsewhere = path.with_name(f"elsewhere-{name}-{place}.db")
            if place % 3 < 2:
                memory.backup(elsewhere)
            with tms.open(elsewhere) as other:
                for step in range(many):
                    added = chance.randrange(1, 300)
                    with other.batch(by=f"{name}.{place} of {many}+{added}"):
                        for row in range(added):
                            other.source(f"Row:{name}-{place}-{step}-{row}", content={"n": row})
                bundle = list(other.export())
            for leftover in path.parent.glob(f"{elsewhere.name}*"):
                leftover.unlink()
            memory.import_(bundle)
            yield _anchor(memory)


def _scopes(path: Path, chance: random.Random, name: str) -> Told:
    """Write as scopes that nobody wrote as before, on what is shared."""
    for place in count():
        with tms.open(path, scope=f"{name}.{place}", timeout=60) as memory:
            for step in range(chance.randrange(1, 4)):
                added = chance.randrange(1, 40)
                with memory.batch(by=f"{name}+{2 * added}"):
                    for row in range(added):
                        source = memory.source(f"Own:{step}-{row}")
                        memory.justify(f"Mine:{step}-{row}", [source, chance.choice(SWITCHES)])
                yield _anchor(memory)


def _prunes(path: Path, chance: random.Random, name: str) -> Told:
    with tms.open(path, timeout=60) as memory:
        anchors = [commit.anchor for commit in memory.log()]
        for place in count():
            copy = path.with_name(f"copy-{name}-{place}.db")
            memory.prune(before=chance.choice(anchors), path=copy)
            yield f"copied {copy}"


def _backups(path: Path, _chance: random.Random, name: str) -> Told:
    with tms.open(path, timeout=60) as memory:
        for place in count():
            copy = path.with_name(f"copy-{name}-{place}.db")
            memory.backup(copy)
            yield f"copied {copy}"


def _redactions(path: Path, chance: random.Random, name: str) -> Told:
    with tms.open(path, timeout=60) as memory:
        for place in count():
            secret = f"secret-{name}-{place}-{chance.randrange(2**60):x}"
            ref = memory.source(f"Secret:{name}-{place}", content={"text": f"{secret} " * 50})
            yield _anchor(memory)
            memory.redact(ref, by=f"{name}+0")
            yield _anchor(memory)
            yield f"gone {secret}"


WORKS: dict[str, Callable[[Path, random.Random, str], Told]] = {
    "adds": _adds,
    "cascades": _cascades,
    "batches": _batches,
    "loads": _loads,
    "imports": _imports,
    "bundles": _bundles,
    "scopes": _scopes,
    "prune": _prunes,
    "backup": _backups,
    "redact": _redactions,
}
"""Each does one kind of work for ever, and yields what it was told is kept."""


def work(path: str, kind: str, name: str, seed: int, commits: int) -> None:
    """Work until killed, and print what is acknowledged.

    Args:
        path: the file.
        kind: which work.
        name: one that nobody had before.
        seed: of its choices.
        commits: die inside the commit of this number; 0 leaves the killing to others.
    """
    chance = random.Random(seed)
    if commits:
        _die_inside_a_commit(commits, chance.random())
    print("go", flush=True)
    for told in WORKS[kind](Path(path), chance, name):
        if told:
            print(told, flush=True)
        else:
            sys.stdout.flush()


def _die_inside_a_commit(commits: int, place: float) -> None:
    connect, left = sqlite3.connect, [commits]

    def about_to(statement: str) -> None:
        if statement.startswith(("COMMIT", "VACUUM", "PRAGMA journal_mode")):
            left[0] -= 1
            if left[0] == 0:
                Timer(place * _COMMIT, os.kill, (os.getpid(), signal.SIGKILL)).start()

    def connected(*args: object, **options: object) -> sqlite3.Connection:
        connection = connect(*args, **options)  # type: ignore[call-overload]
        connection.execute("PRAGMA synchronous = FULL")
        connection.set_trace_callback(about_to)
        return connection  # type: ignore[no-any-return]

    sqlite3.connect = connected  # type: ignore[assignment]


_COMMIT = 0.004
"""Seconds within which it dies, of which the first half is the starting of the timer."""


def fresh(pristine: Path, path: Path) -> None:
    """Put the world, as it was made, in the place of a file."""
    for suffix in ("-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
    shutil.copy(pristine, path)
