import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import timedelta
from itertools import count
from pathlib import Path

import pytest
from failing import Failing, arm, failing  # noqa: F401
from making import ROOT, Clock, days, dump, fill, plain

import tms


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memory.db"


@pytest.fixture
def filled(path: Path) -> Path:
    with tms.open(path, clock=Clock()) as memory:
        fill(memory)
    return path


def frozen() -> Clock:
    return Clock(step=timedelta(0))


# ---------------------------------------------------------------- works of many writes


def _retract(memory: tms.Memory) -> None:
    memory.retract("Policy:1", reason="void", by="legal")


def _retract_many(memory: tms.Memory) -> None:
    memory.retract(["Feed:1", "Scan:1", "justification:block-14"])


def _justify(memory: tms.Memory) -> None:
    memory.justify(["Alarm:1", "Alarm:2"], ["Flag:14", "Scan:1"], rule="alarm")


def _revise(memory: tms.Memory) -> None:
    memory.revise("Feed:1", content={"rows": 3})


def _batch(memory: tms.Memory) -> None:
    with memory.batch(reason="all at once"):
        memory.source("Feed:2", content={"rows": 0})
        memory.justify("Flag:22", ["Feed:2"])
        memory.unretract("Flag:22")
        memory.retract("Feed:1")


def _nested(memory: tms.Memory) -> None:
    with memory.batch():
        memory.justify("Alarm:1", ["Flag:14"])
        with memory.batch(reason="inner"):
            memory.retract("Feed:1")
            memory.load([{"source": "Feed:3"}, {"retract": "Scan:1"}])
        memory.justify("Alarm:2", ["Alarm:1"])


def _load(memory: tms.Memory) -> None:
    memory.load(
        [
            {"source": "Feed:3", "content": {"rows": 3}},
            {"justification": "j3", "premises": ["Feed:3", "Flag:14"], "derives": ["Alarm:3"]},
            {"axiom": "Policy:2"},
            {"retract": ["Scan:1"], "reason": "old"},
        ]
    )


def _rebuild(memory: tms.Memory) -> None:
    memory.rebuild()


def _bundle(clock: Clock) -> list[str]:
    """Return what a memory that was filled exports after some more commits."""
    with tms.open(":memory:", clock=clock) as memory:
        fill(memory)
        memory.justify("Alarm:1", ["Flag:14"])
        memory.revise("Feed:1", content={"rows": 3})
        memory.retract("Policy:1", reason="void")
        return list(memory.export())


GOES_ON = _bundle(Clock())
ANOTHER = _bundle(Clock(days(1)))


def _import(memory: tms.Memory) -> None:
    assert memory.import_(GOES_ON).commits == 3


def _merge(memory: tms.Memory) -> None:
    assert memory.import_(ANOTHER).commits == 1


WORKS = [
    *(_retract, _retract_many, _justify, _revise, _batch, _nested, _load, _rebuild),
    *(_import, _merge),
]
each_work = pytest.mark.parametrize("work", WORKS, ids=[work.__name__.strip("_") for work in WORKS])


@each_work
@pytest.mark.usefixtures("failing")
def test_a_failure_between_any_two_writes_leaves_nothing_and_the_memory_goes_on(
    filled: Path, work: Callable[[tms.Memory], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "urandom", bytes)  # the marks of contents would differ
    twin = filled.with_name("twin.db")
    shutil.copy(filled, twin)
    with tms.open(twin, clock=frozen()) as memory:
        work(memory)
    before = dump(filled)
    with tms.open(filled, clock=frozen()) as memory:
        head = memory.head
        for writes in count():
            arm(writes)
            try:
                work(memory)
            except tms.StoreFailed:
                assert dump(filled) == before
                assert memory.head == head
            else:
                break
        arm(None)
        assert writes > 3
        assert memory.verify(revisions=None)
    assert dump(filled) == dump(twin)


@pytest.mark.usefixtures("failing")
def test_a_failure_that_the_caller_passes_over_inside_a_batch_is_all_or_nothing(
    filled: Path,
) -> None:
    def sloppy(memory: tms.Memory) -> None:
        with memory.batch():
            memory.justify(["Block:22", "Alarm:1"], ["Flag:14", "Policy:1"])
            memory.retract("Feed:1")
            try:
                with memory.batch():
                    memory.justify("Alarm:2", ["Alarm:1"])
                    memory.retract("Policy:1")
                    memory.load([{"source": "Feed:2"}])
            except tms.StoreFailed:
                passed_over.append(writes)
            memory.justify("Alarm:3", ["Alarm:1"])

    passed_over: list[int] = []
    ends = set()
    before = dump(filled)
    for writes in count():
        copy = filled.with_name(f"{writes}.db")
        shutil.copy(filled, copy)
        with tms.open(copy, clock=frozen()) as memory:
            arm(writes)
            try:
                sloppy(memory)
            except tms.TMSError:
                assert dump(copy) == before
            through = Failing.left is not None
            arm(None)
            ends.add(tuple(node.ref for node in memory.scan(kind="Alarm").items))
            assert memory.verify(revisions=None)
            memory.source("Feed:9")
            assert memory.verify(revisions=None)
        if through:
            break
    assert len(passed_over) > 3
    assert ends == {(), ("Alarm:1", "Alarm:2", "Alarm:3")}


@pytest.fixture
def connections(monkeypatch: pytest.MonkeyPatch) -> list[sqlite3.Connection]:
    connect, opened = sqlite3.connect, []

    def remembered(*args: object, **kwargs: object) -> sqlite3.Connection:
        opened.append(connect(*args, **kwargs))
        return opened[-1]

    monkeypatch.setattr(sqlite3, "connect", remembered)
    return opened


def _many_rows() -> Iterator[dict[str, object]]:
    for number in range(300):
        yield {"source": f"Feed:{number}", "content": {"text": "x" * 500}}
        yield {"justification": None, "premises": [f"Feed:{number}"], "derives": ["Flag:all"]}


def test_a_full_disk_at_any_page_leaves_nothing_and_the_memory_goes_on(
    path: Path, connections: list[sqlite3.Connection]
) -> None:
    with tms.open(path, clock=frozen()) as memory:
        memory.source("Scan:1")
        before = dump(path)
        disk = connections[0]
        pages = disk.execute("PRAGMA page_count").fetchone()[0]
        for more in count(step=7):
            disk.execute(f"PRAGMA max_page_count = {pages + more}")
            try:
                loaded = memory.load(_many_rows())
            except tms.StoreFailed:
                assert dump(path) == before
                memory.retract("Scan:1")
                memory.unretract("Scan:1")
                before = dump(path)
            else:
                break
        assert more > 20
        assert loaded.facts == 1
        assert memory.verify(revisions=None)


# ---------------------------------------------------------------- processes that are killed


def python(script: str, *args: object) -> subprocess.Popen:
    return subprocess.Popen(
        [sys.executable, "-c", script, *map(str, args)],
        cwd=ROOT,
        env={"PYTHONPATH": f"{ROOT}:{ROOT / 'tests'}"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def killed(process: subprocess.Popen) -> None:
    process.kill()
    process.communicate()
    assert process.returncode == -signal.SIGKILL


_BATCH = """
import sys, tms
def rows():
    for number in range(25_000):
        if number == 22_000:  # the first 20,000 rows are written by now
            print("in the middle", flush=True)
            sys.stdin.readline()
        yield {"source": f"Feed:{number}"}
with tms.open(sys.argv[1]) as memory:
    with memory.batch():
        memory.retract("Policy:1")
        memory.load(rows())
"""


def test_a_batch_whose_process_is_killed_leaves_nothing(filled: Path) -> None:
    before = dump(filled)
    process = python(_BATCH, filled)
    assert process.stdout.readline() == "in the middle\n"
    killed(process)
    with tms.open(filled, create=False) as memory:
        assert dump(filled) == before
        assert memory.verify(revisions=None)
        assert memory.retract("Policy:1").died


_COMMITS = """
import sys, tms
with tms.open(sys.argv[1]) as memory:
    while True:
        (memory.unretract("Feed:1") or memory.retract("Feed:1"))
        print(memory.head, flush=True)
"""


def test_what_a_killed_process_was_told_is_kept_is_kept(filled: Path) -> None:
    process = python(_COMMITS, filled)
    told = [process.stdout.readline().strip() for _ in range(40)]
    killed(process)
    with tms.open(filled, create=False) as memory:
        kept = [commit.anchor for commit in memory.log()]
        first = kept.index(told[0])
        assert kept[first : first + len(told)] == told
        assert memory.verify(revisions=None)


_AT_A_WRITE = """
import sqlite3, sys, failing
sqlite3.connect = failing.connect
import tms
from making import Clock
path, writes, verb = sys.argv[1], int(sys.argv[2]), sys.argv[3]
if verb == "make":
    failing.arm(writes, failing.die)
with tms.open(path, clock=Clock()) as memory:
    failing.arm(writes, failing.die)
    if verb == "retract":
        memory.retract("Policy:1")
"""


def test_a_cascade_whose_process_is_killed_between_its_writes_is_all_or_nothing(
    filled: Path,
) -> None:
    before = dump(filled)
    for writes in count(1, step=3):
        process = python(_AT_A_WRITE, filled, writes, "retract")
        process.communicate()
        if process.returncode == 0:
            break
        assert process.returncode == -signal.SIGKILL
        with tms.open(filled, create=False) as memory:
            assert dump(filled) == before
            assert memory.verify(revisions=None)
    assert writes > 6
    with tms.open(filled, create=False) as memory:
        assert not memory.believes("Policy:1")
        assert memory.verify(revisions=None)


@pytest.mark.parametrize("writes", [0, 3, 5, 25, 60])
def test_a_file_whose_making_was_killed_can_be_made_by_the_next(path: Path, writes: int) -> None:
    process = python(_AT_A_WRITE, path, writes, "make")
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    with tms.open(path) as memory:
        fill(memory)
        assert memory.verify(revisions=None)
    with plain(path) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
