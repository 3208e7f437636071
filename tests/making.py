"""Small memories, clocks and plain looks into files that several tests share."""

import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random

import pytest

import tms

ROOT = Path(__file__).parents[1]
SCHEMA = (ROOT / "schema.sql").read_text("utf-8")
NOON = datetime(2026, 7, 21, 12, tzinfo=UTC)


class Clock:
    """Gives the instants it was told, then goes on from the last by a step."""

    def __init__(self, *instants: datetime, step: timedelta = timedelta(seconds=1)) -> None:
        self._instants = list(instants) or [NOON]
        self._step = step

    def __call__(self) -> datetime:
        now = self._instants.pop(0)
        if not self._instants:
            self._instants.append(now + self._step)
        return now


class Hand:
    """A clock that stands until it is set: ``clock.now = ...``."""

    def __init__(self, now: datetime = NOON) -> None:
        self.now = now

    def __call__(self) -> datetime:
        return self.now


def days(number: float) -> datetime:
    """Return the instant so many days after noon."""
    return NOON + timedelta(days=number)


def fill(memory: tms.Memory) -> None:
    """Record something of every kind: each table gets rows, each change of belief happens."""
    feed = memory.source("Feed:1", content={"rows": 1})
    scan = memory.source("Scan:1", valid_from="2020-01-01T00:00:00Z")
    memory.axiom("Policy:1", rule="house rule")
    memory.justify("Flag:14", [feed], rule="map", id="by-feed")
    memory.justify("Flag:14", [scan], rule="map")
    memory.justify("Flag:22", [feed], id="only-feed")
    memory.justify(["Block:14", "Page:14"], ["Flag:14", "Policy:1"], rule="block", id="block-14")
    memory.justify("Block:22", ["Flag:22", "Policy:1"], rule="block", id="block-22")
    memory.revise(feed, content={"rows": 2}, reason="recount", by="importer")
    memory.retract(feed, reason="bad mapping", by="oncall")
    memory.unretract(feed, reason="mapping repaired")
    memory.retract(["Flag:22", "justification:block-14"], reason="false alarm")
    memory.unretract("justification:block-14")


@contextmanager
def plain(path: Path | str) -> Iterator[sqlite3.Connection]:
    """Open a file as anybody would, without tms, and keep what is written."""
    with closing(sqlite3.connect(path)) as connection:
        yield connection
        connection.commit()


def unguarded(connection: sqlite3.Connection) -> None:
    """Drop all guards, to tamper with what they protect."""
    names = connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall()
    for (name,) in names:
        connection.execute(f"DROP TRIGGER {name}")


@contextmanager
def no_guards(path: Path | str) -> Iterator[sqlite3.Connection]:
    """Open a file without tms and without its guards, which are set up again as they were."""
    with plain(path) as connection:
        guards = connection.execute(
            "SELECT sql FROM sqlite_master WHERE type = 'trigger'"
        ).fetchall()
        unguarded(connection)
        yield connection
        for (guard,) in guards:
            connection.execute(guard)


def dump(path: Path | str) -> list[str]:
    """Return all that a file says, as the statements that would make it again."""
    with plain(path) as connection:
        return list(connection.iterdump())


def tables(connection: sqlite3.Connection) -> list[str]:
    """Return the record tables of a file: all but positions, the cache and sqlite-utils' own."""
    rows = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
    return [
        name
        for (name,) in rows
        if not name.startswith(("cache_", "sqlite_"))
        and name not in ("consumer", "setting", "_sqlite_migrations")
    ]


def wander(memory: tms.Memory, random: Random, steps: int) -> list[tms.Ref]:
    """Record a small world at random, rings and switches included; return its justifications."""
    nodes = [memory.source(f"S:{number}") for number in range(4)]
    facts = [memory.fact(f"F:{number}") for number in range(8)]
    nodes += facts
    justifications: list[tms.Ref] = []
    for step in range(steps):
        act = random.choice(["justify", "justify", "retract", "unretract", "axiom", "revise"])
        if act == "justify":
            derived = random.sample(facts, random.randint(1, 2))
            needed = random.sample([node for node in nodes if node not in derived], 2)
            id = f"j{step}" if random.random() < 0.5 else None
            rule = random.choice([None, "one", "two"])
            justifications.append(memory.justify(derived, needed, rule=rule, id=id))
        elif act == "axiom":
            justifications.append(memory.axiom(random.choice(facts), rule="said"))
        elif act == "revise":
            memory.revise(random.choice(nodes), content={"step": step})
        else:
            refs = random.sample(nodes + justifications, random.randint(1, 3))
            (memory.retract if act == "retract" else memory.unretract)(refs, reason=act)
    return list(dict.fromkeys(justifications))


def unchanged(memory: tms.Memory, work: Callable[[], object]) -> object:
    """Do what must change nothing, and return what it returns."""
    head, stats = memory.head, memory.stats()
    result = work()
    assert memory.head == head
    assert memory.stats() == stats
    return result


def refused(memory: tms.Memory, kind: type[tms.TMSError], text: str, work: Callable) -> None:
    """Do what must be refused with such an error, and change nothing."""
    head, stats = memory.head, memory.stats()
    with pytest.raises(kind, match=text):
        work()
    assert (memory.head, memory.stats()) == (head, stats)


def found(path: Path, **options: object) -> dict[str, tms.Finding]:
    """What is found in a file that is only read, by rule; a rule that is found twice is joined."""
    with tms.open(path, read_only=True) as memory:
        verification = memory.verify(**options)
    assert bool(verification) == (not verification.findings)
    for finding in verification.findings:
        assert 1 <= len(finding.examples) <= 5
        assert finding.count >= len(finding.examples)
        assert finding.rule in str(verification)
        assert finding.examples[0] in str(verification)
    joined: dict[str, tms.Finding] = {}
    for finding in verification.findings:
        before = joined.get(finding.rule, finding)
        examples = tuple(dict.fromkeys((*before.examples, *finding.examples)))
        joined[finding.rule] = finding.model_copy(update={"examples": examples})
    return joined


def tampered(good: Path, tmp_path: Path, *statements: str) -> Path:
    """A copy of the file in which somebody dropped the guards, wrote, and set them up again."""
    path = tmp_path / "tampered.db"
    shutil.copy(good, path)
    with no_guards(path) as connection:
        for statement in statements:
            assert connection.execute(statement).rowcount != 0, statement
    return path
