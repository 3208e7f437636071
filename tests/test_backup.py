"""Copies under their final names, whole or not at all; how a file fares."""

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from making import ROOT, Clock, fill, plain

import tms
from tms.keeping import _mended


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "memory.db"
    with tms.open(path, clock=Clock()) as memory:
        fill(memory)
    return path


def alone(path: Path) -> bool:
    """Whether a file has nothing beside it that is part of it or of the making of it."""
    return [name for name in os.listdir(path.parent) if path.name in name] == [path.name]


def test_c35_a_backup_holds_all_commits_also_those_still_in_the_log(
    path: Path, tmp_path: Path
) -> None:
    copy = tmp_path / "copies" / "copy.db"
    copy.parent.mkdir()
    with tms.open(path, clock=Clock()) as memory:
        for i in range(50):
            memory.source(f"Late:{i}")
        made = memory.backup(copy)
        assert (made.path, made.head, made.bytes) == (str(copy), memory.head, copy.stat().st_size)
        assert str(made.head) in str(made)
        assert alone(copy)
        with tms.open(copy) as again:
            assert again.head == memory.head
            assert list(again.scan().items) == list(memory.scan().items)
            assert [r.to_json() for r in again.log()] == [r.to_json() for r in memory.log()]
            assert again.verify(revisions=None)
            again.retract("Late:7")
            assert again.report(again.head).before == memory.head
    with plain(copy) as shell:
        assert shell.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


def test_a_backup_of_what_is_only_in_memory_and_of_nothing(tmp_path: Path) -> None:
    with tms.open(":memory:") as memory:
        assert memory.backup(tmp_path / "empty.db").head is None
        memory.source("Feed:1")
        memory.backup(tmp_path / "one.db")
    with tms.open(tmp_path / "one.db", read_only=True) as copy:
        assert copy.believes("Feed:1")
    with tms.open(tmp_path / "empty.db", create=False) as copy:
        assert copy.head is None


def test_nothing_is_ever_overwritten_and_nothing_half_made_is_left(
    path: Path, tmp_path: Path
) -> None:
    taken = tmp_path / "taken.db"
    taken.write_text("something else")
    (tmp_path / "dangling.db").symlink_to(tmp_path / "nowhere")
    with tms.open(path) as memory:
        before = sorted(os.listdir(tmp_path))
        for target in (taken, path, tmp_path, tmp_path / "dangling.db"):
            with pytest.raises(tms.ContentConflict, match="something at"):
                memory.backup(target)
        with pytest.raises(tms.NoSuchFile):
            memory.backup(tmp_path / "no" / "copy.db")
        for wrong in ("", "a\0b", 3, None, b"bytes", "f/\ud800", ":memory:", 1.5, []):
            with pytest.raises(tms.InvalidArgument):
                memory.backup(wrong)
            if wrong is not None:
                with pytest.raises(tms.InvalidArgument):
                    memory.prune(before=memory.head, path=wrong)
        with memory.batch(), pytest.raises(tms.Misuse):
            memory.backup(tmp_path / "copy.db")
        assert sorted(os.listdir(tmp_path)) == before
    assert taken.read_text() == "something else"


def test_a_backup_is_one_state_while_another_process_writes(path: Path, tmp_path: Path) -> None:
    with tms.open(path) as memory:
        memory.load([{"fact": f"Many:{i}", "content": {"text": "x" * 500}} for i in range(4_000)])
    stop = threading.Event()

    def write() -> None:
        with tms.open(path) as writer:
            while not stop.is_set():
                writer.retract("Feed:1")
                writer.unretract("Feed:1")

    thread = threading.Thread(target=write)
    thread.start()
    try:
        with tms.open(path, read_only=True) as memory:
            for place in range(5):
                copy = tmp_path / f"copy{place}.db"
                made = memory.backup(copy)
                with tms.open(copy) as again:
                    assert again.head == made.head
                    assert again.verify(revisions=2)
                assert memory.report(made.head)
    finally:
        stop.set()
        thread.join()


def test_c35_a_backup_that_is_killed_leaves_nothing_under_the_final_name(
    path: Path, tmp_path: Path
) -> None:
    with tms.open(path) as memory:
        memory.load([{"fact": f"Many:{i}", "content": {"text": "x" * 900}} for i in range(20_000)])
    script = (
        "import sys, tms; memory = tms.open(sys.argv[1], read_only=True); print('go', flush=True);"
        " memory.backup(sys.argv[2]); print('done', flush=True)"
    )
    killed = 0
    for place in range(6):
        copy = tmp_path / f"copy{place}.db"
        with subprocess.Popen(
            [sys.executable, "-c", script, str(path), str(copy)],
            stdout=subprocess.PIPE,
            cwd=ROOT,
        ) as run:
            assert run.stdout is not None
            run.stdout.readline()
            time.sleep(0.004 * place)
            run.send_signal(signal.SIGKILL)
            rest = run.stdout.read()
        killed += b"done" not in rest
        if copy.exists():
            with tms.open(copy) as again:
                assert again.stats().facts > 20_000
        else:
            assert b"done" not in rest
    assert killed


def test_c35_a_plain_copy_is_whole_once_the_last_handle_is_closed(
    path: Path, tmp_path: Path
) -> None:
    with tms.open(path) as memory:
        memory.source("Late:1")
        head = memory.head
        shutil.copyfile(path, tmp_path / "early.db")
    shutil.copyfile(path, tmp_path / "late.db")
    with tms.open(tmp_path / "late.db") as copy:
        assert copy.head == head
    with tms.open(tmp_path / "early.db") as copy:  # without the log: older, and sound
        assert copy.head is None or copy.head <= head
        assert copy.verify(revisions=None)


_LEFT = """
import os, sys, tms
memory = tms.open(sys.argv[1])
for i in range(50):
    memory.source(f"Late:{i}")
os._exit(0)  # the log stays, as after a crash
"""


def test_c35_a_file_moved_away_from_its_log_is_older_and_what_is_begun_anew_is_not_mixed_with_it(
    path: Path, tmp_path: Path
) -> None:
    with tms.open(path) as memory:
        before = memory.head
    subprocess.run([sys.executable, "-c", _LEFT, str(path)], cwd=ROOT, check=True)
    assert path.with_name("memory.db-wal").stat().st_size > 0
    moved = tmp_path / "moved.db"
    path.rename(moved)
    with tms.open(moved) as older:
        assert older.head == before
        assert older.verify(revisions=None)
    log = path.with_name("memory.db-wal")
    left = log.read_bytes()
    with pytest.raises(tms.ContentConflict, match="may hold the last commits"):
        tms.open(path)  # SQLite would throw the log away
    assert log.read_bytes() == left
    log.rename(tmp_path / "moved.db-wal")
    path.with_name("memory.db-shm").unlink(missing_ok=True)
    with tms.open(path) as fresh:
        assert fresh.head is None
        fresh.source("New:1")
        assert fresh.verify(revisions=None)


def test_a_doctor_tells_how_a_file_fares(path: Path) -> None:
    with tms.open(path, read_only=True) as memory:
        health = memory.doctor()
    assert {found.rule for found in health.findings} <= {"disk"}
    assert ("WAL-reset" in str(health)) == (not _mended(sqlite3.sqlite_version_info[:3]))
    assert dict(health.settings)["foreign_keys"] == "1"
    assert dict(health.settings)["trusted_schema"] == "0"
    assert health.bytes == path.stat().st_size
    assert health.sqlite == sqlite3.sqlite_version
    assert bool(health) == (not health.findings)
    assert "SQLite    " in str(health)
    with tms.open(":memory:") as memory:
        assert (memory.doctor().log, memory.doctor().disk) == (None, None)


@pytest.mark.parametrize(
    ("version", "mended"),
    [
        ((3, 40, 1), False),
        ((3, 44, 5), False),
        ((3, 44, 6), True),
        ((3, 45, 0), False),
        ((3, 50, 6), False),
        ((3, 50, 7), True),
        ((3, 51, 2), False),
        ((3, 51, 3), True),
        ((3, 53, 0), True),
        ((4, 0, 0), True),
    ],
)
def test_the_releases_with_the_wal_reset_bug_are_known(
    version: tuple[int, int, int], mended: bool
) -> None:
    assert _mended(version) == mended


def test_a_damaged_page_is_a_finding(path: Path, tmp_path: Path) -> None:
    whole = path.read_bytes()
    size = int.from_bytes(whole[16:18], "big")
    found = 0
    for place in range(size, len(whole), size):
        broken = tmp_path / f"broken{place}.db"
        broken.write_bytes(whole[:place] + bytes(size) + whole[place + size :])
        try:
            with tms.open(broken, read_only=True) as memory:
                health = memory.doctor()
        except tms.CorruptStore:
            continue
        found += {finding.rule for finding in health.findings} == {"integrity"}
        assert bool(health) == (not health.findings)
    assert found
