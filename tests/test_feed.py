import json
import logging
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
    "insert": "INSERT INTO consumer (name, revision) VALUES ('new', 15)",
    "replace": "INSERT OR REPLACE INTO consumer (name, revision) VALUES ('mail', 15)",
    "ignore": "INSERT OR IGNORE INTO consumer (name, revision) VALUES ('new', 15)",
    "upsert": "INSERT INTO consumer (name, revision) VALUES ('mail', 15)"
    " ON CONFLICT (name) DO UPDATE SET revision = 15",
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
    bad = tampered(path, tmp_path, "INSERT INTO consumer VALUES ('mail', 99)")
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


# ---------------------------------------------------------------- callbacks


def test_a_callback_hears_of_each_commit_once_with_its_report(memory: tms.Memory) -> None:
    heard: list[tms.Report] = []
    listener = memory.on_commit(heard.append)
    fill(memory)
    memory.load([{"source": "Load:1"}, {"fact": "Load:2"}])
    memory.load([{"source": "Load:1"}])
    with memory.batch(reason="all") as batch:
        memory.source("In:1")
        memory.justify("In:2", "In:1")
        with memory.batch():
            memory.retract("In:1")
        assert heard[-1].op == "load"
    assert heard == reports(memory)
    assert heard[-1] == batch.report
    with pytest.raises(KeyError), memory.batch():
        memory.source("Out:1")
        raise KeyError
    with memory.batch():
        pass
    with pytest.raises(tms.NoSuchNode):
        memory.retract("No:1")
    assert not memory.settle()
    assert heard == reports(memory)
    listener.stop()
    memory.source("Out:2")
    assert len(heard) == len(reports(memory)) - 1


def test_a_callback_hears_what_the_verb_returns_and_of_a_commit_that_others_can_read(
    path: Path,
) -> None:
    with tms.open(path, clock=Clock()) as memory, tms.open(path, clock=Clock()) as other:
        fill(memory)
        heard: list[tms.Report] = []

        def hear(report: tms.Report) -> None:
            assert report.after is not None
            assert memory.head == other.head == report.after
            assert other.report(report.after) == report
            assert not memory.believes("Feed:1")
            heard.append(report)

        with memory.on_commit(hear):
            report = memory.retract("Feed:1")
            assert heard[0] is report
        other.source("Other:1")
        memory.source("Mine:1")
        assert heard == [report]


def test_a_callback_that_fails_is_logged_and_harms_nothing(
    memory: tms.Memory, caplog: pytest.LogCaptureFixture
) -> None:
    heard: list[tms.Report] = []

    def fail(report: tms.Report) -> None:
        raise LookupError("no mail today")

    memory.on_commit(heard.append)
    memory.on_commit(fail)
    memory.on_commit(heard.append)
    with caplog.at_level(logging.ERROR, "tms"):
        assert memory.source("S:1") == "S:1"
        assert memory.retract("S:1").changed
    assert [report.op for report in heard] == ["source", "source", "retract", "retract"]
    assert [record.name for record in caplog.records] == ["tms", "tms"]
    assert "fail, called by on_commit after revision 1, failed; the commit stands." in caplog.text
    assert "LookupError: no mail today" in caplog.text
    assert heard[::2] == reports(memory)
    assert memory.verify()


def test_a_callback_may_write_and_all_hear_of_that_after(memory: tms.Memory) -> None:
    heard: list[tuple[str, int]] = []
    depth = most = 0

    def answer(report: tms.Report) -> None:
        nonlocal depth, most
        depth += 1
        most = max(most, depth)
        assert report.after is not None
        revision = report.after.revision
        heard.append(("answer", revision))
        if revision < 300:
            memory.source(f"Seen:{revision}")
            with memory.batch():
                memory.source(f"Seen:{revision}")
            assert memory.head is not None
            assert memory.head.revision == revision + 1
        depth -= 1

    memory.on_commit(answer)
    memory.on_commit(lambda report: heard.append(("hear", report.after.revision)))
    memory.source("S:1")
    assert most == 1
    assert heard == [(who, revision) for revision in range(1, 301) for who in ("answer", "hear")]
    assert memory.verify(revisions=None)


def test_a_callback_that_fails_half_way_through_a_verb_leaves_nothing_of_that(
    memory: tms.Memory, caplog: pytest.LogCaptureFixture
) -> None:
    def half(report: tms.Report) -> None:
        with memory.batch():
            memory.source("Half:1")
            memory.retract("No:1")

    memory.on_commit(half)
    memory.source("S:1")
    assert "NoSuchNode" in caplog.text
    assert [node.ref for node in memory.scan().items] == ["S:1"]
    assert memory.source("S:2") == "S:2"


def test_a_stopped_callback_is_not_called_even_for_what_was_committed_before(
    memory: tms.Memory,
) -> None:
    heard: list[str] = []

    def first(report: tms.Report) -> None:
        heard.append("first")
        second.stop()
        third.append(memory.on_commit(lambda report: heard.append("third")))

    third: list[tms.Listener] = []
    listener = memory.on_commit(first)
    second = memory.on_commit(lambda report: heard.append("second"))
    memory.source("S:1")
    assert heard == ["first"]
    listener.stop()
    memory.source("S:2")
    assert heard == ["first", "third"]


def test_an_interrupt_in_a_callback_passes_and_the_rest_is_told_after_the_next_commit(
    memory: tms.Memory,
) -> None:
    heard: list[str] = []

    def interrupt(report: tms.Report) -> None:
        if report.targets == ("S:1",):
            raise KeyboardInterrupt

    memory.on_commit(interrupt)
    memory.on_commit(lambda report: heard.extend(report.targets))
    with pytest.raises(KeyboardInterrupt):
        memory.source("S:1")
    assert memory.believes("S:1")
    memory.source("S:2")
    assert heard == ["S:1", "S:2"]


def test_a_callback_may_close_the_memory(caplog: pytest.LogCaptureFixture) -> None:
    memory = tms.open(":memory:")
    heard: list[tms.Report] = []
    memory.on_commit(lambda report: memory.close())
    memory.on_commit(heard.append)
    assert memory.source("S:1") == "S:1"
    assert heard == []
    assert caplog.text == ""
    with pytest.raises(tms.Misuse):
        memory.subscriptions()


def test_what_cannot_be_called_is_no_callback(memory: tms.Memory) -> None:
    with pytest.raises(tms.InvalidArgument, match="callback"):
        memory.on_commit("print")  # type: ignore[arg-type]


def test_without_callbacks_no_report_is_made(memory: tms.Memory) -> None:
    memory.source("S:1")
    statements: list[str] = []
    memory._connection.sql.set_trace_callback(statements.append)
    memory.source("S:2")
    memory._connection.sql.set_trace_callback(None)
    assert statements[-1] == "COMMIT"
