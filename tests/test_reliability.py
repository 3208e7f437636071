"""Short runs of ``python -m benchmarks.reliability``, and that its judge sees faults."""

import subprocess
import sys
from pathlib import Path

import pytest
from making import ROOT, Clock, fill, tampered

import tms
from benchmarks.reliability import killing
from benchmarks.reliability.crowding import crowd
from benchmarks.reliability.judging import Wrong, fingerprint, judge
from benchmarks.reliability.killing import kills
from benchmarks.reliability.working import WORKS, world


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("judged") / "good.db"
    world(path, 20)
    with tms.open(path) as memory:
        memory.retract("Feed:bad")
        with memory.batch(by="me+2"):
            memory.source("New:1")
            memory.source("New:2")
        memory.unretract("Feed:bad")
    return path


def test_a_sound_file_passes_the_judge(good: Path, tmp_path: Path) -> None:
    assert judge(good) == judge(good, last=1) == 7
    with tms.open(tmp_path / "filled.db", clock=Clock()) as memory:
        fill(memory)
        assert judge(tmp_path / "filled.db") == memory.head.revision
        memory.prune(before=memory.head, path=tmp_path / "pruned.db")
        assert judge(tmp_path / "pruned.db") == memory.head.revision


@pytest.mark.parametrize(
    ("statement", "fault"),
    [
        ("DELETE FROM transition WHERE revision = 5 AND node > 1", "labels"),
        ("DELETE FROM switch WHERE revision = 5", "labels"),
        ("DELETE FROM node WHERE id = '2' AND kind = 'New'", "half a commit"),
        ("DELETE FROM commits WHERE revision = 6", "revisions"),
        ("INSERT INTO switch VALUES (1, 8, 0)", "rows of no commit"),
        ("INSERT INTO premise VALUES (1000, 1)", "rows of no commit"),
        ("UPDATE commits SET believed = believed + 1 WHERE revision = 5", "believed"),
    ],
)
def test_a_file_that_breaks_a_promise_does_not(
    good: Path, tmp_path: Path, statement: str, fault: str
) -> None:
    path = tampered(good, tmp_path, statement)
    assert fingerprint(path) != fingerprint(good)
    with pytest.raises(Wrong) as caught:
        judge(path)
    assert caught.value.args[0] == fault


def test_killed_processes_leave_all_or_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(killing, "WORKS", {kind: WORKS[kind] for kind in ("imports", "cascades")})
    for count in kills(tmp_path, 3, seed=2):
        assert count.lost == 0
        assert count.times == "3 kills, 1 in COMMIT"


def test_failures_leave_nothing_and_the_memory_goes_on() -> None:
    # in a process of its own: it forbids large files for a while
    args = [sys.executable, "-m", "benchmarks.reliability", "--kills=0", "--commits=0", "--fuzz=0"]
    done = subprocess.run([*args, "--failures=7"], cwd=ROOT, capture_output=True, text=True)
    assert done.stderr == ""
    assert done.stdout.count("| 7 failures | 7 | 0 |") == 4


def test_a_crowd_leaves_one_serial_history_and_reads_no_stale_answer(tmp_path: Path) -> None:
    count = crowd(tmp_path, writers=3, readers=2, commits=40, seed=1)
    assert (count.commits, count.lost) == (120, 0)
    assert count.times.startswith("120 reads")
