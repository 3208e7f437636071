import gc
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from making import Clock, dump, fill, unchanged

import tms


@pytest.fixture
def memory() -> Iterator[tms.Memory]:
    with tms.open(":memory:", clock=Clock()) as memory:
        yield memory


ROWS: list[dict] = [
    {"source": "Feed:1", "content": {"rows": 1}},
    {"source": "Scan:1"},
    {"fact": "Flag:14", "content": {"package": "zlib"}},
    {"fact": "Flag:22", "content": None},
    {"axiom": "Policy:1", "rule": "house rule", "id": "house"},
    {"axiom": ["Policy:2", "Policy:3"]},
    {"justification": "j1", "premises": ["Feed:1"], "derives": ["Flag:14"], "rule": "map"},
    {"justification": None, "premises": ["Scan:1"], "derives": ["Flag:14"]},
    {
        "justification": "j3",
        "premises": ["Flag:14", "Policy:1"],
        "derives": ["Block:14", "Page:14"],
    },
    {"retract": "Scan:1", "reason": "noisy", "by": "oncall"},
    {"retract": ["justification:j3", "Policy:2"], "reason": "void"},
    {"unretract": ["Policy:2"]},
]


def test_a_load_is_one_commit_and_says_what_it_took_in(memory: tms.Memory) -> None:
    loaded = memory.load(ROWS)
    assert loaded
    assert loaded.rows == len(ROWS)
    assert (loaded.sources, loaded.facts, loaded.justifications, loaded.switched) == (2, 7, 5, 2)
    assert (loaded.before, loaded.after) == (None, memory.head)
    assert (loaded.believed_before, loaded.believed_after) == (0, 4)
    assert memory.head.revision == 1
    report = memory.report(loaded.after)
    assert (report.op, report.reason, report.by) == ("load", "noisy; void", "oncall")
    assert report.targets == ("Scan:1", "justification:j3")
    assert list(memory.holding()) == ["Flag:14", "Policy:1", "Policy:2", "Policy:3"]
    assert memory.get("Flag:14").content == {"package": "zlib"}
    assert memory.get("justification:j1").rule == "map"
    assert memory.verify(revisions=None)


def test_loading_rows_does_what_the_verbs_do(memory: tms.Memory) -> None:
    memory.load(ROWS)
    with tms.open(":memory:", clock=Clock()) as other:
        with other.batch():
            other.source("Feed:1", content={"rows": 1})
            other.source("Scan:1")
            other.fact("Flag:14", content={"package": "zlib"})
            other.fact("Flag:22")
            other.axiom("Policy:1", rule="house rule", id="house")
            other.axiom(["Policy:2", "Policy:3"])
            other.justify("Flag:14", ["Feed:1"], rule="map", id="j1")
            other.justify("Flag:14", ["Scan:1"])
            other.justify(["Block:14", "Page:14"], ["Flag:14", "Policy:1"], id="j3")
            other.retract("Scan:1")
            other.retract(["justification:j3"])
        assert other.scan() == memory.scan()
        for ref in ("justification:j1", "justification:j3", "justification:house"):
            assert other.get(ref) == memory.get(ref)


def test_loading_the_same_again_changes_nothing(memory: tms.Memory) -> None:
    memory.load(ROWS)
    loaded = unchanged(memory, lambda: memory.load(ROWS, reason="again"))
    assert not loaded
    assert loaded.before == loaded.after == memory.head
    assert (loaded.sources, loaded.facts, loaded.justifications, loaded.switched) == (0, 0, 0, 0)


def test_an_empty_load_changes_nothing(memory: tms.Memory) -> None:
    loaded = unchanged(memory, lambda: memory.load(iter(())))
    assert (loaded.changed, loaded.rows, loaded.before, loaded.after) == (False, 0, None, None)


def test_the_reason_of_the_load_stands_before_those_of_its_rows(memory: tms.Memory) -> None:
    loaded = memory.load(ROWS, reason="nightly", by="cron")
    report = memory.report(loaded.after)
    assert (report.reason, report.by) == ("nightly", "cron")


BAD: dict[str, tuple[object, type[tms.TMSError], str]] = {
    "no object": ("Feed:1", tms.InvalidContent, "not an interchange object"),
    "a list": (["source", "Feed:1"], tms.InvalidContent, "not an interchange object"),
    "None": (None, tms.InvalidContent, "not an interchange object"),
    "an empty object": ({}, tms.InvalidContent, "not an interchange object"),
    "an unknown key": ({"feed": "Feed:1"}, tms.InvalidContent, "not an interchange object"),
    "one key too many": (
        {"source": "Feed:2", "colour": "red"},
        tms.InvalidContent,
        "a source row that does not fit: colour",
    ),
    "two verbs": (
        {"source": "Feed:2", "fact": "Flag:2"},
        tms.InvalidContent,
        "a source row that does not fit: fact",
    ),
    "a ref that is no text": ({"source": 5}, tms.InvalidContent, "does not fit: source"),
    "a ref that is none": ({"source": "Feed"}, tms.InvalidRef, "not a ref: 'Feed'"),
    "a content that is none": (
        {"source": "Feed:2", "content": [1]},
        tms.InvalidContent,
        "does not fit: content",
    ),
    "other content": (
        {"source": "Feed:1", "content": {"rows": 2}},
        tms.ContentConflict,
        "Feed:1 has other content",
    ),
    "another role": ({"fact": "Feed:1"}, tms.ContentConflict, "a source already"),
    "premises that are no list": (
        {"justification": None, "premises": 5, "derives": ["Flag:9"]},
        tms.InvalidContent,
        "does not fit: premises",
    ),
    "no premises": (
        {"justification": None, "premises": [], "derives": ["Flag:9"]},
        tms.InvalidJustification,
        "without premises",
    ),
    "no premises key": (
        {"justification": None, "derives": ["Flag:9"]},
        tms.InvalidContent,
        "does not fit: premises",
    ),
    "no conclusion": (
        {"justification": None, "premises": ["Feed:1"], "derives": []},
        tms.InvalidJustification,
        "no conclusion",
    ),
    "an unknown premise": (
        {"justification": None, "premises": ["Feed:9"], "derives": ["Flag:9"]},
        tms.NoSuchNode,
        "no such node: Feed:9",
    ),
    "a taken id": (
        {"justification": "j1", "premises": ["Feed:1"], "derives": ["Flag:9"]},
        tms.ContentConflict,
        "justification:j1 says something else",
    ),
    "an id that is no text": (
        {"justification": 1, "premises": ["Feed:1"], "derives": ["Flag:9"]},
        tms.InvalidContent,
        "does not fit: justification",
    ),
    "an unknown target": ({"retract": ["Feed:1", "Feed:9"]}, tms.NoSuchNode, "Feed:9"),
    "a target that is no text": (
        {"retract": {"a": 1}},
        tms.InvalidContent,
        "does not fit: retract",
    ),
    "a reason that is no text": (
        {"retract": "Feed:1", "reason": 5},
        tms.InvalidContent,
        "does not fit: reason",
    ),
    "an axiom on a source": ({"axiom": "Feed:1"}, tms.InvalidJustification, "is a source"),
    "a commit": ({"commit": {"reason": "r"}}, tms.InvalidContent, "a load is one commit"),
}


@pytest.mark.parametrize(("row", "kind", "text"), BAD.values(), ids=BAD.keys())
def test_a_bad_row_is_told_by_its_number_and_leaves_nothing(
    tmp_path: Path, row: object, kind: type[tms.TMSError], text: str
) -> None:
    path = tmp_path / "memory.db"
    with tms.open(path, clock=Clock()) as memory:
        memory.load(ROWS)
        before = dump(path)
        good = [{"source": "Feed:7"}, {"retract": "Feed:1", "reason": "never"}]
        with pytest.raises(kind, match=f"(?i){text}") as caught:
            memory.load([*good, row, {"source": "Feed:8"}])
        assert caught.value.__notes__ == ["in row 3 of the load"]
        assert dump(path) == before
        memory.load(good)
        assert memory.verify(revisions=None)


def test_what_the_rows_themselves_raise_passes_as_it_is_and_leaves_nothing(
    tmp_path: Path,
) -> None:
    def rows() -> Iterator[dict]:
        yield {"source": "Feed:9"}
        raise ZeroDivisionError("mine")

    path = tmp_path / "memory.db"
    with tms.open(path, clock=Clock()) as memory:
        fill(memory)
        before = dump(path)
        with pytest.raises(ZeroDivisionError, match="mine"):
            memory.load(rows())
        assert dump(path) == before


@pytest.mark.parametrize("rows", [None, 5, "text", b"bytes", {"source": "Feed:1"}])
def test_rows_that_are_none_leave_the_memory_as_it_was(memory: tms.Memory, rows: object) -> None:
    with pytest.raises(tms.InvalidArgument, match="rows are"):
        memory.load(rows)
    with pytest.raises(tms.InvalidArgument, match="progress is"):
        memory.load([], progress=5)
    assert memory.source("Feed:1")
    assert memory.head.revision == 1


def test_progress_is_told_now_and_then_and_at_the_end(memory: tms.Memory) -> None:
    told: list[int] = []
    drawn: list[int] = []

    def rows() -> Iterator[dict]:
        for number in range(12_000):
            drawn.append(number)
            yield {"source": f"Feed:{number}"}

    def progress(count: int) -> None:
        told.append(count)
        assert len(drawn) == count  # rows are drawn as they are needed, not ahead

    assert memory.load(rows(), progress=progress).rows == 12_000
    assert told == [5_000, 10_000, 12_000]


def test_progress_that_raises_stops_the_load_and_leaves_nothing(memory: tms.Memory) -> None:
    def progress(count: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        memory.load(({"source": f"Feed:{number}"} for number in range(9_000)), progress=progress)
    assert memory.head is None
    assert memory.load([{"source": "Feed:1"}])


def test_a_load_inside_a_batch_joins_it(memory: tms.Memory) -> None:
    with memory.batch(reason="outer") as batch:
        memory.source("Feed:0")
        loaded = memory.load(ROWS)
        memory.retract("Feed:1")
        assert memory.head is None
    assert (loaded.rows, loaded.sources, loaded.facts, loaded.switched) == (12, 2, 7, 2)
    assert not loaded.changed
    assert memory.head.revision == 1
    assert batch.report.reason == "outer"
    assert memory.stats().sources == 3
    assert not memory.believes("Flag:14")


def _world(size: int) -> Iterator[dict]:
    yield {"source": "Feed:0"}
    yield {"source": "Feed:1"}
    for number in range(size):
        yield {
            "justification": None,
            "premises": [f"Feed:{number % 2}"] if number < 10 else [f"Flag:{number - 7}"],
            "derives": [f"Flag:{number}"],
        }
        if number % 2_000 == 1_999:
            yield {"retract": f"Flag:{number - 3}"}
            yield {"justification": None, "premises": ["Feed:1"], "derives": [f"Flag:{number - 2}"]}
    yield {"retract": "Feed:0"}


def test_a_load_larger_than_what_is_kept_in_memory_ends_as_many_small_ones_do(
    memory: tms.Memory,
) -> None:
    rows = list(_world(12_000))
    memory.load(rows)
    with tms.open(":memory:", clock=Clock()) as other:
        for start in range(0, len(rows), 3_000):
            other.load(rows[start : start + 3_000])
        assert list(other.holding()) == list(memory.holding())
        assert other.stats().believed == memory.stats().believed
    assert 0 < memory.stats().believed < 12_000
    assert memory.report(memory.head).died == ()
    assert memory.verify(revisions=None)


def test_the_cycle_collector_is_left_as_it_was_whatever_happens(memory: tms.Memory) -> None:
    def failing() -> Iterator[dict[str, str]]:
        yield {"source": "Feed:new"}
        raise ZeroDivisionError

    for rows in (failing(), [{"source": "no colon"}], [{"fact": "Fact:new"}]):
        with suppress(ZeroDivisionError, tms.InvalidRef):
            memory.load(rows)
        assert gc.isenabled()
    gc.disable()
    try:
        memory.load([{"fact": "Fact:newer"}])
        memory.retract("Fact:newer")
        assert not gc.isenabled()
    finally:
        gc.enable()
