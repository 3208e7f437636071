import copy
import pickle
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from making import NOON, Clock, dump, fill

import tms

GOOD = "r1:0000000000000001:2026-07-21T12:00:00.000Z"


@pytest.fixture
def memory() -> Iterator[tms.Memory]:
    with tms.open(":memory:", clock=Clock()) as memory:
        yield memory


# ---------------------------------------------------------------- the text


def test_an_anchor_reads_back_what_it_says() -> None:
    anchor = tms.Anchor("r1:0000000000000042:1969-12-31T23:59:59.007Z")
    assert anchor.revision == 42
    assert anchor.at == datetime(1969, 12, 31, 23, 59, 59, 7000, tzinfo=UTC)
    assert anchor.milliseconds == -993
    assert str(anchor) == "r1:0000000000000042:1969-12-31T23:59:59.007Z"
    assert repr(anchor) == f"Anchor({str(anchor)!r})"
    assert tms.Anchor(anchor) is anchor
    for twin in (copy.deepcopy(anchor), pickle.loads(pickle.dumps(anchor))):
        assert twin == anchor
        assert type(twin) is tms.Anchor


@pytest.mark.parametrize(
    "text",
    [
        "",
        "r1",
        "r1:",
        "42",
        "0000000000000001",
        "r1:0000000000000001",
        "r1:0000000000000001:",
        "r1:1:2026-07-21T12:00:00.000Z",
        "r1:000000000000001:2026-07-21T12:00:00.000Z",
        "r1:00000000000000001:2026-07-21T12:00:00.000Z",
        "r1:0000000000000000:2026-07-21T12:00:00.000Z",
        "r1:-000000000000001:2026-07-21T12:00:00.000Z",
        "r1:+000000000000001:2026-07-21T12:00:00.000Z",
        "r1:9007199254740991:2026-07-21T12:00:00.000Z",
        "r1:9999999999999999:2026-07-21T12:00:00.000Z",
        "r1:000000000000000x:2026-07-21T12:00:00.000Z",
        "r1:0000_0000_0000_01:2026-07-21T12:00:00.000Z",
        "r1:０００００００００００００００１:2026-07-21T12:00:00.000Z",
        "r1:٠٠٠٠٠٠٠٠٠٠٠٠٠٠٠١:2026-07-21T12:00:00.000Z",
        "r1:               1:2026-07-21T12:00:00.000Z",
        "r1:0000000000000001:２０２６-07-21T12:00:00.000Z",
        "r2:0000000000000001:2026-07-21T12:00:00.000Z",
        "R1:0000000000000001:2026-07-21T12:00:00.000Z",
        " " + GOOD,
        GOOD + " ",
        GOOD + "\n",
        GOOD + "\0",
        GOOD[:-1],
        GOOD[:-1] + "z",
        GOOD[:-1] + "+00:00",
        "r1:0000000000000001:2026-07-21T12:00:00Z",
        "r1:0000000000000001:2026-07-21T12:00:00.0Z",
        "r1:0000000000000001:2026-07-21T12:00:00.000000Z",
        "r1:0000000000000001:2026-07-21 12:00:00.000Z",
        "r1:0000000000000001:2026-7-21T12:00:00.000Z",
        "r1:0000000000000001:2026-02-30T12:00:00.000Z",
        "r1:0000000000000001:2026-07-21T24:00:00.000Z",
        "r1:0000000000000001:2026-07-21T12:00:60.000Z",
        "r1:0000000000000001:0000-07-21T12:00:00.000Z",
        "r1:0000000000000001:12026-07-21T12:00:00.000Z",
        "r1:0000000000000001:\ud800",
    ],
)
def test_any_text_of_another_form_is_no_anchor(memory: tms.Memory, text: str) -> None:
    memory.source("Feed:1")
    for use in (
        tms.Anchor,
        memory.report,
        lambda text: memory.as_of(recorded=text),
        lambda text: memory.log(after=text),
    ):
        with pytest.raises(tms.InvalidAnchor, match="not an anchor") as caught:
            use(text)
        assert "memory.head" in caught.value.hint


@pytest.mark.parametrize(
    "text",
    [
        "2026-07-21T12:00:00.000Z",
        "2026-07-21T12:00:00Z",
        "2026-07-21T12:00:00.000+02:00",
        "2026-07-21 12:00:00",
        "2026-07-21",
    ],
)
def test_a_plain_instant_is_no_anchor_and_the_error_says_where_anchors_come_from(
    memory: tms.Memory, text: str
) -> None:
    memory.source("Feed:1")
    with pytest.raises(tms.InvalidAnchor, match="an instant is not an anchor") as caught:
        memory.as_of(recorded=text)
    assert "Several commits may share an instant" in caught.value.hint
    assert "memory.anchor_at(instant)" in caught.value.hint
    assert "memory.head, memory.log() or a report" in caught.value.hint
    assert caught.value.ids == (text,)


@pytest.mark.parametrize("value", [1, 1.0, True, NOON, GOOD.encode(), [GOOD]])
def test_what_is_no_text_is_no_anchor(memory: tms.Memory, value: object) -> None:
    memory.source("Feed:1")
    with pytest.raises(tms.InvalidAnchor):
        memory.report(value)
    with pytest.raises(tms.InvalidAnchor):
        memory.as_of(recorded=value)


def test_anchors_sort_by_revision_as_text_too() -> None:
    revisions = [1, 2, 9, 10, 11, 99, 100, 12345, 2**31, 2**53 - 2]
    anchors = [
        tms.Anchor(f"r1:{revision:016d}:{2026 - place:04d}-07-21T12:00:00.000Z")
        for place, revision in enumerate(revisions)
    ]
    shuffled = anchors[5:] + anchors[:5]
    assert sorted(shuffled) == anchors
    assert sorted(map(str, shuffled)) == anchors
    assert [anchor.revision for anchor in anchors] == revisions
    assert max(anchors).revision == 2**53 - 2


# ---------------------------------------------------------------- anchors of a file


def test_an_anchor_ahead_of_the_head_is_told_so(memory: tms.Memory) -> None:
    for use in (memory.report, lambda anchor: memory.as_of(recorded=anchor)):
        with pytest.raises(tms.NoSuchAnchor, match=r"ahead of the head \(no commit yet\)"):
            use(GOOD)
    memory.source("Feed:1")
    ahead = "r1:0000000000000002:2026-07-21T12:00:01.000Z"
    with pytest.raises(tms.NoSuchAnchor, match="ahead of the head") as caught:
        memory.report(ahead)
    assert memory.head in str(caught.value)
    assert caught.value.ids == (ahead,)
    assert isinstance(caught.value, LookupError)
    memory.source("Feed:2")
    assert memory.report(ahead).targets == ("Feed:2",)


@pytest.mark.parametrize("time", ["2026-07-21T12:00:00.001Z", "2026-07-21T11:59:59.999Z"])
def test_a_right_revision_with_a_wrong_time_is_of_another_history(
    memory: tms.Memory, time: str
) -> None:
    fill(memory)
    with pytest.raises(tms.NoSuchAnchor, match="another history: here revision 1 is") as caught:
        memory.as_of(recorded=f"r1:0000000000000001:{time}")
    assert GOOD in str(caught.value)


def test_an_anchor_of_another_file_is_refused(memory: tms.Memory) -> None:
    fill(memory)
    with tms.open(":memory:", clock=Clock(NOON + timedelta(days=1))) as other:
        fill(other)
        with pytest.raises(tms.NoSuchAnchor, match="another history"):
            other.report(memory.head)
        with pytest.raises(tms.NoSuchAnchor, match="another history"):
            other.log(after=memory.head)


def test_an_anchor_ahead_of_a_view_is_ahead_of_it(memory: tms.Memory) -> None:
    fill(memory)
    first, second, *_ = [commit.anchor for commit in memory.log()]
    view = memory.as_of(recorded=first)
    assert view.head == first
    assert [commit.anchor for commit in view.log()] == [first]
    assert view.report(first) == memory.report(first)
    with pytest.raises(tms.NoSuchAnchor, match="ahead of the head"):
        view.report(second)


def test_each_commit_gives_its_anchor_everywhere_the_same(memory: tms.Memory) -> None:
    fill(memory)
    memory.retract("Scan:1")
    last = list(memory.log())[-1]
    assert memory.head == last.anchor == memory.report(last.anchor).after == memory.stats().head
    assert memory.history("Scan:1")[-1].anchor == last.anchor
    assert memory.as_of(recorded=last.anchor).head == last.anchor
    assert [type(anchor) for anchor in (memory.head, last.anchor)] == [tms.Anchor, tms.Anchor]


def test_a_read_makes_no_anchor(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with tms.open(path, clock=Clock()) as memory:
        fill(memory)
        before, head = dump(path), memory.head
        list(memory.holding()), list(memory.log()), memory.scan(), memory.stats(), memory.verify()
        memory.report(head), memory.history("Feed:1"), memory.get("Flag:14")
        assert memory.head == head
    assert dump(path) == before


# ---------------------------------------------------------------- clocks


def test_the_time_of_a_commit_is_rounded_down_and_put_in_utc() -> None:
    india = timezone(timedelta(hours=5, minutes=30))
    instants = (
        datetime(1969, 12, 31, 23, 59, 59, 999999, tzinfo=UTC),
        datetime(2026, 7, 21, 17, 30, 0, 123999, tzinfo=india),
    )
    with tms.open(":memory:", clock=Clock(*instants)) as memory:
        memory.source("Feed:1")
        memory.source("Feed:2")
        assert [commit.anchor for commit in memory.log()] == [
            "r1:0000000000000001:1969-12-31T23:59:59.999Z",
            "r1:0000000000000002:2026-07-21T12:00:00.123Z",
        ]


def test_ct04_five_commits_within_two_milliseconds_have_anchors_of_their_own() -> None:
    with tms.open(":memory:", clock=Clock(step=timedelta(microseconds=400))) as memory:
        for number in range(5):
            memory.source(f"Feed:{number}")
        anchors = [commit.anchor for commit in memory.log()]
        assert [anchor.revision for anchor in anchors] == [1, 2, 3, 4, 5]
        assert [anchor.milliseconds - anchors[0].milliseconds for anchor in anchors] == [
            *(0, 0, 0, 1, 1)
        ]
        for number, anchor in enumerate(anchors, 1):
            assert len(memory.as_of(recorded=anchor).scan().items) == number


def test_times_never_go_back_when_the_clock_does(tmp_path: Path) -> None:
    back = [NOON, NOON + timedelta(minutes=10), NOON - timedelta(days=400), NOON]
    path = tmp_path / "memory.db"
    for number, instant in enumerate(back):
        with tms.open(path, clock=lambda instant=instant: instant) as memory:
            memory.source(f"Feed:{number}")
    with tms.open(path, clock=lambda: NOON + timedelta(minutes=11)) as memory:
        memory.source("Feed:last")
        times = [commit.anchor.at - NOON for commit in memory.log()]
        assert times == [timedelta(minutes=minutes) for minutes in (0, 10, 10, 10, 11)]
        assert memory.verify(revisions=None)


@pytest.mark.parametrize(
    "instant",
    [NOON.replace(tzinfo=None), NOON.timestamp(), "2026-07-21T12:00:00Z", None, NOON.date()],
)
def test_a_clock_that_gives_no_aware_instant_is_refused_and_nothing_is_written(
    tmp_path: Path, instant: object
) -> None:
    path = tmp_path / "memory.db"
    answers = [NOON, NOON, instant, instant, NOON]
    with tms.open(path, clock=lambda: answers.pop(0)) as memory:
        memory.source("Feed:1")
        memory.justify("Flag:1", ["Feed:1"])
        before = dump(path)
        with pytest.raises(tms.InvalidWindow, match="instant") as caught:
            memory.retract("Feed:1")
        assert "aware datetime" in caught.value.hint
        with pytest.raises(tms.InvalidWindow), memory.batch():
            raise AssertionError("never reached")
        assert dump(path) == before
        assert memory.retract("Feed:1").died == ("Flag:1",)


def test_a_clock_that_fails_leaves_nothing(memory: tms.Memory, tmp_path: Path) -> None:
    answers = [NOON]
    with tms.open(tmp_path / "memory.db", clock=lambda: answers.pop(0)) as memory:
        memory.source("Feed:1")
        with pytest.raises(IndexError):
            memory.source("Feed:2")
        answers.append(NOON)
        memory.source("Feed:3")
        assert [node.ref for node in memory.scan().items] == ["Feed:1", "Feed:3"]


def test_the_machines_clock_is_the_default() -> None:
    before = datetime.now(UTC)
    with tms.open(":memory:") as memory:
        memory.source("Feed:1")
        assert before - timedelta(milliseconds=1) <= memory.head.at <= datetime.now(UTC)
