"""What is told in the process after a commit, and what cannot harm it."""

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest
from failing import Failing, arm, failing  # noqa: F401
from making import Clock, fill

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
