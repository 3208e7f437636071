"""The commits in order for those that follow them, and a durable place among them."""

import json
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from failing import Failing, arm, failing  # noqa: F401
from making import Clock, fill, found, plain, tampered

import tms


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memory.db"


@pytest.fixture
def memory() -> Iterator[tms.Memory]:
    with tms.open(":memory:", clock=Clock()) as memory:
        yield memory


def reports(memory: tms.Memory) -> list[tms.Report]:
    return [memory.report(entry.anchor) for entry in memory.log()]


def anchors(memory: tms.Memory) -> list[tms.Anchor]:
    return [entry.anchor for entry in memory.log()]


# ---------------------------------------------------------------- changes


def test_changes_are_the_reports_since_an_anchor_in_order(memory: tms.Memory) -> None:
    assert list(memory.changes()) == []
    fill(memory)
    told = reports(memory)
    assert list(memory.changes()) == told
    for place, report in enumerate(told, 1):
        assert list(memory.changes(since=report.after)) == told[place:]
    view = memory.as_of(recorded=told[4].after)
    assert list(view.changes(since=told[1].after)) == told[2:5]
    with pytest.raises(tms.NoSuchAnchor):
        view.changes(since=told[5].after)


def test_changes_end_with_the_head_at_the_call(memory: tms.Memory) -> None:
    fill(memory)
    told = reports(memory)
    changes = memory.changes()
    seen = []
    for report in changes:
        memory.source(f"New:{len(seen)}")
        seen.append(report)
    assert seen == told


@pytest.mark.parametrize("since", ["now", "2026-07-21", 5, True])
def test_changes_since_what_is_no_anchor_are_refused(memory: tms.Memory, since: Any) -> None:
    with pytest.raises(tms.InvalidAnchor):
        memory.changes(since=since)


def test_changes_since_an_anchor_of_another_file_are_refused(memory: tms.Memory) -> None:
    fill(memory)
    assert memory.head is not None
    for wrong in (
        tms.Anchor.kept(3, 0),
        tms.Anchor.kept(99, 0),
        tms.Anchor.kept(memory.head.revision + 1, memory.head.milliseconds),
    ):
        with pytest.raises(tms.NoSuchAnchor):
            memory.changes(since=wrong)
        with pytest.raises(tms.NoSuchAnchor):
            memory.subscribe("mail").acknowledge(wrong)
    assert memory.subscriptions() == ()


# ---------------------------------------------------------------- subscriptions


def test_what_is_not_acknowledged_is_given_again(path: Path) -> None:
    with tms.open(path, clock=Clock()) as memory:
        fill(memory)
        told = reports(memory)
        mail = memory.subscribe("mail")
        assert mail.position is None
        assert mail.take(3) == mail.take(3) == tuple(told[:3])
        assert list(mail) == told
        assert mail.acknowledge(told[1].after) == mail.position == told[1].after
        assert mail.take(2) == tuple(told[2:4])
    with tms.open(path) as memory:
        mail = memory.subscribe("mail")
        assert repr(mail) == "<tms subscription 'mail'>"
        assert list(mail) == told[2:]
        mail.acknowledge(told[-1].after)
        assert (mail.take(), list(mail)) == ((), [])
        memory.source("New:1")
        assert [report.targets for report in mail] == [("New:1",)]


def test_a_position_never_moves_back(memory: tms.Memory) -> None:
    fill(memory)
    told = anchors(memory)
    mail = memory.subscribe("mail")
    furthest = 0
    for place in (5, 3, 5, 0, 6, 2):
        furthest = max(furthest, place)
        assert mail.acknowledge(told[place]) == mail.position == told[furthest]


def test_readers_of_other_names_do_not_see_each_other(memory: tms.Memory) -> None:
    fill(memory)
    told = reports(memory)
    names = ["mail", "Mail", "mail ", "", "é", "e\u0301", "a\0b", "a", "😀", "'; DROP"]
    for place, name in enumerate(names):
        if name:
            memory.subscribe(name).acknowledge(told[place].after)
    for place, name in enumerate(names):
        if name:
            assert list(memory.subscribe(name)) == told[place + 1 :]
    assert [one.name for one in memory.subscriptions()] == sorted(filter(None, names))
    assert memory.stats().consumers == len(names) - 1
    assert memory.subscribe("mail").forget()
    assert not memory.subscribe("mail").forget()
    assert list(memory.subscribe("mail")) == told
    assert memory.verify()


@pytest.mark.parametrize("name", [None, "", 5, b"mail", "\ud800", ["mail"]])
def test_a_name_that_cannot_be_kept_is_refused(memory: tms.Memory, name: Any) -> None:
    with pytest.raises(tms.InvalidArgument, match="name"):
        memory.subscribe(name)


@pytest.mark.parametrize("limit", [0, 1001, True, "1", None, 1.0])
def test_a_limit_out_of_range_is_refused(memory: tms.Memory, limit: Any) -> None:
    with pytest.raises(tms.InvalidArgument, match="limit"):
        memory.subscribe("mail").take(limit)


def test_moving_a_position_is_no_commit(memory: tms.Memory) -> None:
    fill(memory)
    before, heard = reports(memory), []
    memory.on_commit(heard.append)
    memory.subscribe("mail").acknowledge(before[-1].after)
    memory.subscribe("mail").forget()
    assert (reports(memory), heard) == (before, [])


def test_a_position_moves_neither_in_a_batch_nor_through_a_door_for_reading(path: Path) -> None:
    with tms.open(path, clock=Clock()) as memory:
        fill(memory)
        told = reports(memory)
        mail = memory.subscribe("mail")
        with memory.batch():
            memory.source("New:1")
            for work in (lambda: mail.acknowledge(told[0].after), mail.forget):
                with pytest.raises(tms.Misuse, match="a batch is open"):
                    work()
            assert list(mail) == told
    with tms.open(path, read_only=True) as memory:
        mail = memory.subscribe("mail")
        assert list(mail)[:-1] == told
        with pytest.raises(tms.ReadOnly):
            mail.acknowledge(told[0].after)


# ---------------------------------------------------------------- the table of positions


ANYBODY = {
    "insert": "INSERT INTO consumer (scope, name, revision) VALUES ('', 'new', 15)",
    "replace": "INSERT OR REPLACE INTO consumer (scope, name, revision) VALUES ('', 'mail', 15)",
    "ignore": "INSERT OR IGNORE INTO consumer (scope, name, revision) VALUES ('', 'new', 15)",
    "upsert": "INSERT INTO consumer (scope, name, revision) VALUES ('', 'mail', 15)"
    " ON CONFLICT (scope, name) DO UPDATE SET revision = 15",
    "update": "UPDATE consumer SET revision = 15",
    "update or replace": "UPDATE OR REPLACE consumer SET revision = 15",
    "text": "UPDATE consumer SET revision = '15'",
}


@pytest.mark.parametrize("how", ANYBODY)
def test_nobody_puts_a_position_ahead_of_the_head(path: Path, how: str) -> None:
    with tms.open(path, clock=Clock()) as memory:
        fill(memory)
        assert memory.head is not None
        assert memory.head.revision == 13
        memory.subscribe("mail").acknowledge(memory.head)
    with plain(path) as connection, pytest.raises(sqlite3.IntegrityError, match="not ahead"):
        connection.execute(ANYBODY[how].replace("15", "14"))
    with plain(path) as connection:
        connection.execute(ANYBODY[how].replace("15", "12"))
        connection.execute("UPDATE consumer SET revision = 3 WHERE name = 'mail'")
        connection.execute("DELETE FROM consumer WHERE name = 'new'")
        for wrong in ("-1", "NULL", "'x'", "0.5"):
            with pytest.raises(sqlite3.IntegrityError):
                connection.execute(f"UPDATE consumer SET revision = {wrong}")
    with tms.open(path) as memory:
        position = memory.subscribe("mail").position
        assert position is not None
        assert position.revision == 3
        assert memory.verify()


def test_a_position_where_there_is_no_commit_is_found_and_can_be_forgotten(
    path: Path, tmp_path: Path
) -> None:
    with tms.open(path, clock=Clock()) as memory:
        fill(memory)
    bad = tampered(path, tmp_path, "INSERT INTO consumer VALUES ('', 'mail', 99)")
    assert found(bad)["consumer"].examples == ("mail",)
    with tms.open(bad) as memory:
        mail = memory.subscribe("mail")
        for work in (lambda: mail.position, lambda: mail.acknowledge(anchors(memory)[0])):
            with pytest.raises(tms.CorruptStore, match="revision 99"):
                work()
        assert mail.forget()
        assert list(mail) == reports(memory)
        assert memory.verify()


def test_anybody_can_read_the_positions(path: Path) -> None:
    with tms.open(path, clock=Clock()) as memory:
        fill(memory)
        memory.subscribe("mail").acknowledge(anchors(memory)[6])
        memory.rebuild()
    with plain(path) as connection:
        rows = connection.execute("SELECT name, revision FROM consumer").fetchall()
    assert rows == [("mail", 7)]


# ---------------------------------------------------------------- c39: failures and other processes


@pytest.mark.usefixtures("failing")
def test_c39_nothing_is_told_of_what_was_rolled_back(path: Path) -> None:
    with tms.open(path, clock=Clock()) as memory, tms.open(path) as reader:
        for number in (1, 2, 3):
            memory.justify(
                f"F:{number}", [f"F:{number - 1}" if number > 1 else memory.source("S:1")]
            )
        memory.justify("F:3", memory.source("S:2"))
        heard: list[tms.Report] = []
        memory.on_commit(heard.append)
        mail = reader.subscribe("mail")
        mail.acknowledge(anchors(reader)[-1])
        for writes in count():
            arm(writes)
            try:
                report = memory.retract("S:1")
            except tms.StoreFailed:
                assert (heard, mail.take(), list(reader.changes(since=mail.position))) == (
                    [],
                    (),
                    [],
                )
            else:
                break
        arm(None)
        assert writes > 3
        assert heard == list(mail.take()) == [report]
        assert report.died == ("F:1", "F:2")
        assert [survivor.fact for survivor in report.survived_via] == ["F:3"]
        assert not memory.retract("S:1")
        assert heard == list(mail.take()) == [report]


@pytest.mark.usefixtures("failing")
def test_a_position_moves_whole_or_not_at_all(path: Path) -> None:
    with tms.open(path, clock=Clock()) as memory:
        fill(memory)
        told = anchors(memory)
        mail = memory.subscribe("mail")
        mail.acknowledge(told[0])
        for writes in count():
            arm(writes)
            try:
                mail.acknowledge(told[3])
            except tms.StoreFailed:
                arm(None)
                assert mail.position == told[0]
            else:
                break
        arm(None)
        assert Failing.left is None
        assert writes >= 2
        assert mail.position == told[3]


_WRITER = """
import sys, tms
with tms.open(sys.argv[1], timeout=60) as memory:
    source = memory.source("Run:" + sys.argv[2])
    for number in range(int(sys.argv[3])):
        memory.justify(f"F:{sys.argv[2]}-{number}", source)
        try:
            with memory.batch():
                memory.retract(source)
                raise KeyError
        except KeyError:
            pass
        memory.retract(source)
        memory.retract(source)
        memory.unretract(source)
"""

_READER = """
import os, signal, sys, tms
with tms.open(sys.argv[1], timeout=60) as memory:
    mail = memory.subscribe("mail")
    for report in mail.take(int(sys.argv[2])):
        print(report.to_json(), flush=True)
    if sys.argv[3] == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    print(mail.acknowledge(report.after), flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
"""


_DYING = """
import os, signal, sys, tms
with tms.open(sys.argv[1]) as memory:
    memory.on_commit(lambda report: os.kill(os.getpid(), signal.SIGKILL))
    memory.retract("Feed:1", reason="then it died")
"""


def started(code: str, *args: object) -> "subprocess.Popen[bytes]":
    return subprocess.Popen([sys.executable, "-c", code, *map(str, args)], stdout=subprocess.PIPE)


def test_c39_a_reader_that_polls_sees_each_commit_of_two_writers_once_in_order(path: Path) -> None:
    with tms.open(path, timeout=60) as memory:
        writers = [started(_WRITER, path, name, 12) for name in ("a", "b")]
        mail = memory.subscribe("mail")
        seen: list[tms.Report] = []
        running = True
        while running or mail.take(1):
            running = any(writer.poll() is None for writer in writers)
            given = mail.take(1 + len(seen) % 7)
            seen += given
            if given:
                mail.acknowledge(given[-1].after)
        assert [writer.wait() for writer in writers] == [0, 0]
        for writer in writers:
            assert writer.stdout is not None
            writer.stdout.close()
        assert seen == reports(memory)
        assert [report.after.revision for report in seen] == list(range(1, 2 * (1 + 3 * 12) + 1))
        assert memory.verify()


def test_c39_what_a_killed_reader_took_and_did_not_acknowledge_is_given_again(path: Path) -> None:
    with tms.open(path, clock=Clock()) as memory:
        fill(memory)
        told = [report.to_json() for report in reports(memory)]
    for end, lines in (("die", told[:3]), ("die", told[:3]), ("acknowledge", told[:3])):
        with started(_READER, path, 3, end) as reader:
            out, _ = reader.communicate(timeout=60)
        assert reader.returncode == -signal.SIGKILL
        assert out.decode().splitlines()[:3] == lines
    with tms.open(path) as memory:
        mail = memory.subscribe("mail")
        assert mail.position == json.loads(told[2])["after"]
        assert [report.to_json() for report in mail] == told[3:]


def test_c39_what_a_writer_committed_and_never_told_is_given_to_a_subscriber(path: Path) -> None:
    with tms.open(path, clock=Clock()) as memory:
        fill(memory)
        mail = memory.subscribe("mail")
        mail.acknowledge(anchors(memory)[-1])
        with started(_DYING, path) as writer:
            writer.communicate(timeout=60)
        assert writer.returncode == -signal.SIGKILL
        (report,) = mail.take()
        assert report.reason == "then it died"
        assert report == reports(memory)[-1]
        assert not memory.retract("Feed:1")
        assert mail.take() == (report,)
