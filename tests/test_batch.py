import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from making import Clock, dump, fill, unchanged

import tms


@pytest.fixture
def memory() -> Iterator[tms.Memory]:
    with tms.open(":memory:", clock=Clock()) as memory:
        yield memory


@pytest.fixture
def filled(memory: tms.Memory) -> tms.Memory:
    fill(memory)
    return memory


# ---------------------------------------------------------------- one commit


def test_all_verbs_of_a_batch_are_one_commit_and_one_report(filled: tms.Memory) -> None:
    head = filled.head
    with filled.batch(reason="audit", by="oncall") as batch:
        filled.source("Person:1", content={"name": "Ada"})
        filled.justify("Flag:30", ["Person:1"])
        filled.axiom("Policy:2")
        filled.revise("Feed:1", content={"rows": 3})
        filled.retract(["Feed:1", "Scan:1"])
        filled.unretract("Flag:22")
    report = batch.report
    assert (report.op, report.reason, report.by) == ("batch", "audit", "oncall")
    assert (report.before, report.after) == (head, filled.head)
    assert filled.head.revision == head.revision + 1
    assert report.targets == ("Feed:1", "Flag:22", "Scan:1")
    assert report.died == ("Block:14", "Flag:14", "Page:14")
    assert report.revived == ("Flag:30", "Policy:2")
    assert filled.report(report.after) == report
    assert filled.verify(revisions=None)


def test_a_batch_is_settled_at_its_end_not_verb_by_verb(filled: tms.Memory) -> None:
    with filled.batch() as batch:
        filled.retract("Scan:1")
        filled.retract("Feed:1")
        filled.justify("Flag:14", [filled.source("Person:1")])
    assert batch.report.died == ()
    (survivor,) = batch.report.survived_via
    assert survivor.fact == "Flag:14"
    assert len(survivor.lost) == 2


def test_a_batch_that_changes_nothing_makes_no_commit(filled: tms.Memory) -> None:
    def work() -> tms.Report:
        with filled.batch(reason="nothing to do", by="me") as batch:
            filled.source("Feed:1")
            filled.retract("Flag:22")
            filled.retract("Feed:1")
            filled.unretract("Feed:1")
            filled.revise("Feed:1", content={"rows": 99})
            filled.revise("Feed:1", content={"rows": 2})
        return batch.report

    report = unchanged(filled, work)
    assert not report
    assert (report.op, report.reason, report.by) == ("batch", "nothing to do", "me")


def test_what_is_new_and_retracted_in_one_batch_never_was_in(memory: tms.Memory) -> None:
    with memory.batch() as batch:
        memory.source("Feed:1")
        memory.justify("Flag:1", ["Feed:1"])
        memory.retract("Feed:1")
    assert batch.report.targets == ("Feed:1",)
    assert batch.report.died == batch.report.revived == ()
    assert not memory.believes("Feed:1")
    assert [event.what for event in memory.history("Feed:1")] == ["declared", "retracted"]
    assert memory.unretract("Feed:1").revived == ("Flag:1",)


def test_what_comes_in_and_goes_out_within_one_batch_is_no_change(memory: tms.Memory) -> None:
    memory.source("Feed:1")
    memory.fact("Flag:1")
    memory.justify("Block:1", ["Flag:1"])
    with memory.batch() as batch:
        memory.justify("Flag:1", ["Feed:1"])
        with memory.batch():
            memory.retract("Feed:1")
    assert batch.report.died == batch.report.revived == ()
    assert [event.what for event in memory.history("Flag:1")] == ["declared"]
    assert memory.verify(revisions=None)


def test_what_goes_out_and_comes_back_within_one_batch_is_no_change(filled: tms.Memory) -> None:
    before = filled.history("Block:14")
    with filled.batch() as batch:
        filled.retract("Flag:14")
        with filled.batch():
            filled.source("Feed:2")
        filled.unretract("Flag:14")
    assert batch.report.died == batch.report.revived == batch.report.survived_via == ()
    assert filled.history("Block:14") == before


def test_the_last_of_several_revisions_in_a_batch_is_one_version(filled: tms.Memory) -> None:
    with filled.batch():
        for number in range(5):
            filled.revise("Feed:1", content={"rows": number})
        filled.source("Feed:2", content={"a": 1})
        filled.revise("Feed:2", content={"a": 2})
    assert (filled.get("Feed:1").content, filled.get("Feed:1").version) == ({"rows": 4}, 3)
    assert (filled.get("Feed:2").content, filled.get("Feed:2").version) == ({"a": 2}, 2)


def test_conflicts_within_a_batch_are_seen(memory: tms.Memory) -> None:
    with memory.batch():
        memory.source("Feed:1", content={"a": 1})
        with pytest.raises(tms.ContentConflict):
            memory.source("Feed:1", content={"a": 2})
        with pytest.raises(tms.ContentConflict):
            memory.fact("Feed:1")
        first = memory.justify("Flag:1", ["Feed:1"], id="one")
        assert memory.justify("Flag:1", ["Feed:1"], id="two") == first
        with pytest.raises(tms.ContentConflict):
            memory.justify("Flag:2", ["Feed:1"], id="one")
    assert memory.stats().justifications == 1
    assert [node.ref for node in memory.scan().items] == ["Feed:1", "Flag:1"]


# ---------------------------------------------------------------- reasons


def test_the_reasons_and_names_of_the_verbs_are_kept_if_the_batch_gives_none(
    filled: tms.Memory,
) -> None:
    with filled.batch() as batch:
        filled.retract("Feed:1", reason="bad", by="ann")
        filled.retract("Scan:1", reason="noisy", by="bob")
        with filled.batch(reason="inner", by="ann"):
            filled.unretract("Flag:22", reason="bad")
            filled.load([{"source": "Feed:2"}], reason="import", by="cid")
    assert batch.report.reason == "bad; noisy; inner; import"
    assert batch.report.by == "ann, bob, cid"


def test_the_reason_of_the_outer_batch_is_the_reason(filled: tms.Memory) -> None:
    with filled.batch(reason="") as batch:
        filled.retract("Feed:1", reason="bad", by="ann")
    assert (batch.report.reason, batch.report.by) == ("", "ann")


def test_the_reason_of_a_verb_that_was_refused_is_not_kept(filled: tms.Memory) -> None:
    with filled.batch() as batch:
        with pytest.raises(tms.NoSuchNode):
            filled.retract("Feed:9", reason="typo", by="ann")
        filled.retract("Feed:1", reason="bad")
    assert (batch.report.reason, batch.report.by) == ("bad", None)


# ---------------------------------------------------------------- reports


def test_a_report_inside_a_batch_can_be_read_after_it(filled: tms.Memory) -> None:
    with filled.batch() as batch:
        first = filled.retract("Feed:1")
        second = filled.retract("Scan:1")
        for early in (
            lambda: batch.report,
            lambda: first.died,
            lambda: bool(first),
            lambda: str(first),
        ):
            with pytest.raises(tms.Misuse, match="no report of this batch"):
                early()
        assert "after the batch" in repr(first)
    assert first.died == second.died == batch.report.died == ("Block:14", "Flag:14", "Page:14")
    assert first
    assert str(first) == str(batch.report)


def test_a_batch_that_failed_or_never_began_has_no_report(memory: tms.Memory) -> None:
    batches = [memory.batch(), memory.batch()]
    with pytest.raises(ZeroDivisionError), batches[1]:
        memory.source("Feed:1")
        _ = 1 / 0
    for batch in batches:
        with pytest.raises(tms.Misuse):
            _ = batch.report


def test_a_batch_is_used_once(memory: tms.Memory) -> None:
    batch = memory.batch()
    with batch:
        memory.source("Feed:1")
        with pytest.raises(tms.Misuse, match="used before"):
            batch.__enter__()
    with pytest.raises(tms.Misuse, match="used before"):
        batch.__enter__()
    assert memory.source("Feed:2")
    assert memory.stats().sources == 2


# ---------------------------------------------------------------- reading inside


def test_reading_inside_a_batch_shows_the_last_commit(filled: tms.Memory) -> None:
    def shown() -> list[object]:
        view = filled.as_of(recorded=filled.head)
        return [
            filled.head,
            list(filled.holding()),
            filled.scan(),
            list(filled.log()),
            filled.report(filled.head),
            filled.history("Feed:1"),
            filled.get("justification:by-feed"),
            view.scan(),
            (filled.stats().sources, filled.stats().facts, filled.stats().justifications),
            (filled.stats().believed, filled.stats().retracted),
        ]

    before = shown()
    with filled.batch():
        filled.source("Feed:2", content={"a": 1})
        filled.justify("Flag:22", ["Feed:2"])
        filled.justify("Flag:30", ["Feed:2"])
        filled.revise("Feed:1", content={})
        filled.retract(["Feed:1", "justification:by-feed"])
        assert shown() == before
        with filled.batch():  # what was added is written by now
            assert shown() == before
            filled.load({"source": f"Many:{number}"} for number in range(25_000))
            assert shown() == before
        for ref in ("Feed:2", "Flag:30", "Many:1"):
            with pytest.raises(tms.NoSuchNode, match="reading shows the last commit"):
                filled.believes(ref)
        for work in (filled.verify, filled.rebuild):
            with pytest.raises(tms.Misuse, match="a batch is open"):
                work()
    assert filled.believes("Flag:30")
    assert filled.stats().sources == 25_003


# ---------------------------------------------------------------- failing


@pytest.mark.parametrize("error", [ValueError, tms.NoSuchNode, KeyboardInterrupt, GeneratorExit])
def test_whatever_leaves_a_batch_leaves_nothing_of_it(
    tmp_path: Path, error: type[BaseException]
) -> None:
    path = tmp_path / "memory.db"
    with tms.open(path, clock=Clock()) as memory:
        fill(memory)
        before = dump(path)
        with pytest.raises(error, match="mine"), memory.batch():
            memory.justify("Flag:9", ["Feed:1"])
            memory.retract("Feed:1")
            with memory.batch():
                memory.load([{"source": "Feed:2"}])
            raise error("mine")
        assert dump(path) == before
        memory.source("Feed:2")
        assert memory.verify(revisions=None)


def test_a_verb_that_was_refused_and_passed_over_adds_nothing_and_the_rest_is_kept(
    filled: tms.Memory,
) -> None:
    with filled.batch() as batch:
        filled.source("Feed:2")
        for work in (
            lambda: filled.justify(["Flag:9", "Scan:1"], ["Feed:2"]),
            lambda: filled.justify("Flag:9", ["Feed:2", "Feed:9"]),
            lambda: filled.retract(["Feed:1", "Feed:9"]),
            lambda: filled.source("Feed:3", content={"a": b""}),
            lambda: filled.fact("Feed:2"),
            lambda: filled.load([{"source": "Feed:4"}, {"retract": "Feed:1"}, {"source": "Feed"}]),
        ):
            with pytest.raises(tms.TMSError):
                work()
        filled.justify("Flag:10", ["Feed:2"])
    assert batch.report.targets == ()
    assert batch.report.revived == ("Flag:10",)
    names = {node.ref for node in filled.scan().items}
    assert names.isdisjoint({"Flag:9", "Feed:3", "Feed:4", "Feed:9"})
    assert filled.verify(revisions=None)


def test_an_inner_batch_that_failed_and_was_passed_over_is_undone_alone(
    filled: tms.Memory,
) -> None:
    with filled.batch() as outer:
        filled.source("Feed:2")
        filled.justify("Flag:22", ["Feed:2"])
        filled.retract("Scan:1", reason="noisy")
        with pytest.raises(ZeroDivisionError), filled.batch(reason="inner") as inner:
            filled.source("Feed:3")
            filled.justify("Flag:9", ["Feed:2"])
            filled.unretract(["Scan:1", "Flag:22"], reason="undone")
            filled.revise("Feed:1", content={"rows": 99})
            with filled.batch():
                filled.retract("Policy:1")
                filled.load({"source": f"Many:{number}"} for number in range(25_000))
            _ = 1 / 0
        filled.justify("Flag:10", ["Feed:2"])
        with filled.batch():
            filled.retract("Feed:1")
    assert outer.report.targets == ("Feed:1", "Scan:1")
    assert outer.report.died == ("Block:14", "Flag:14", "Page:14")
    assert outer.report.revived == ("Flag:10",)
    assert outer.report.reason == "noisy"
    with pytest.raises(tms.NoSuchNode):
        filled.get("Feed:3")
    assert filled.get("Feed:1").content == {"rows": 2}
    assert inner.report == outer.report
    assert filled.verify(revisions=None)
    assert filled.source("Feed:3")


def test_a_batch_inside_a_batch_shares_its_report(filled: tms.Memory) -> None:
    with filled.batch(reason="outer") as outer:
        with filled.batch(reason="inner") as inner:
            filled.retract("Feed:1")
        with pytest.raises(tms.Misuse):
            _ = inner.report
    assert inner.report == outer.report
    assert outer.report.reason == "outer"


# ---------------------------------------------------------------- threads


def test_a_memory_belongs_to_the_thread_that_opened_it(filled: tms.Memory) -> None:
    caught: list[BaseException] = []

    def use() -> None:
        for work in (lambda: filled.source("Feed:9"), lambda: filled.believes("Feed:1")):
            try:
                work()
            except tms.Misuse as error:
                caught.append(error)

    thread = threading.Thread(target=use)
    thread.start()
    thread.join()
    assert len(caught) == 2
    assert all("each thread opens its own" in str(error) for error in caught)
    assert filled.source("Feed:9")
