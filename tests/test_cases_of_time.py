"""Faults that real systems had with time, each under the number it is kept by."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from making import NOON, Hand, days, plain, refused, unchanged

import tms

MICROSECOND = timedelta(microseconds=1)
JANUARY, FEBRUARY, MARCH, APRIL, MAY, JUNE, JULY = (
    datetime(2025, month, 1, tzinfo=UTC) for month in range(1, 8)
)


@pytest.fixture
def clock() -> Hand:
    return Hand()


@pytest.fixture
def memory(clock: Hand) -> Iterator[tms.Memory]:
    with tms.open(":memory:", clock=clock) as memory:
        yield memory


# ---------------------------------------------------------------- C11 two periods


def test_c11_what_ended_and_became_true_again_has_two_periods_of_one_fact(
    memory: tms.Memory,
) -> None:
    memory.source("S:1")
    memory.source("S:2")
    one = memory.justify("F:1", "S:1", valid_from=JANUARY, valid_to=MARCH)
    two = memory.justify("F:1", "S:2", valid_from=JUNE)
    head = memory.head
    assert one != two

    def held() -> list[bool]:
        return [memory.as_of(valid=at).believes("F:1") for at in (FEBRUARY, APRIL, JULY)]

    assert held() == [True, False, True]
    memory.retract("S:2")
    assert held() == [True, False, False]
    memory.unretract("S:2")
    memory.retract("S:1")
    assert held() == [False, False, True]
    memory.unretract("S:1")
    assert held() == [True, False, True]
    for at, holds in ((MARCH - MICROSECOND, True), (MARCH, False), (JUNE, True)):
        assert memory.as_of(valid=at).believes("F:1") == holds
        assert memory.as_of(recorded=head, valid=at).believes("F:1") == holds
    assert [node.ref for node in memory.scan(kind="F").items] == ["F:1"]
    assert (
        unchanged(memory, lambda: memory.justify("F:1", "S:2", valid_from="2025-06-01T02:00+02:00"))
        == two
    )
    assert memory.verify(revisions=None)


# ---------------------------------------------------------------- C17 and C25 clock


def test_c17_a_clock_that_steps_back_blocks_nothing_and_turns_no_order_round(
    tmp_path: Path,
) -> None:
    instants = [
        NOON + timedelta(milliseconds=100),
        NOON + timedelta(minutes=10),
        NOON + timedelta(milliseconds=50),
        NOON + timedelta(milliseconds=50),
        NOON + timedelta(seconds=1),
    ]
    path = tmp_path / "memory.db"
    for number, instant in enumerate(instants, 1):
        with tms.open(path, clock=Hand(instant)) as memory:
            memory.source(f"N:S{number}")
    with tms.open(path, clock=Hand()) as memory:
        commits = list(memory.log())
        assert [commit.anchor.revision for commit in commits] == [1, 2, 3, 4, 5]
        times = [commit.anchor.milliseconds for commit in commits]
        assert times == sorted(times)
        assert times[1:] == [times[1]] * 4
        for number, commit in enumerate(commits, 1):
            shown = memory.as_of(recorded=commit.anchor).scan().items
            assert [node.ref.id for node in shown] == [f"S{n}" for n in range(1, number + 1)]
        assert memory.anchor_at(NOON + timedelta(minutes=5)) == commits[0].anchor
        assert memory.anchor_at(NOON + timedelta(minutes=10)) == commits[4].anchor
        assert memory.anchor_at(NOON) is None
        memory.source("N:S6")
        assert memory.head.revision == 6
        assert not memory.settle()
        assert memory.verify(revisions=None)


def test_c25_commits_in_one_tick_are_told_apart_on_every_path(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    tick = datetime(2026, 7, 21, 12, 0, 0, 123456, tzinfo=UTC)
    with tms.open(path, clock=Hand(tick)) as memory:
        memory.axiom("N:F", id="F")
        memory.retract("justification:F")
        memory.axiom("N:G", id="G")
        anchors = [commit.anchor for commit in memory.log()]
        assert [anchor.revision for anchor in anchors] == [1, 2, 3]
        assert {anchor.at for anchor in anchors} == {tick.replace(microsecond=123000)}
        views = [memory.as_of(recorded=anchor) for anchor in anchors]
        assert [list(view.holding()) for view in views] == [["N:F"], [], ["N:G"]]
        assert [
            [node.ref.id for node in view.scan().items if node.status == "IN"] for view in views
        ] == [["F"], [], ["G"]]
        assert [view.head for view in views] == anchors
        assert [event.anchor.revision for event in memory.history("N:F")] == [1, 1, 2]
        assert [memory.report(anchor).after for anchor in anchors] == anchors
        printed = [anchor.split(":", 2)[2] for anchor in anchors]
        for time in (tick, tick.replace(microsecond=123000), *printed):
            assert memory.anchor_at(time) == anchors[2]
        assert memory.anchor_at(tick.replace(microsecond=0)) is None
    with plain(path) as connection:
        rows = connection.execute("SELECT revision, anchor FROM log ORDER BY anchor").fetchall()
    assert rows == list(enumerate(anchors, 1))


# ---------------------------------------------------------------- C33 one instant, many forms


def test_c33_an_instant_is_one_whatever_it_is_written_as_and_sorts_as_an_instant(
    memory: tms.Memory, clock: Hand
) -> None:
    aware = (
        "2026-07-21T17:30:00+05:30",
        "2026-07-21T12:00:00Z",
        "2026-07-21T12:00:00.000Z",
        "2026-07-21 12:00:00Z",
        NOON.astimezone(timezone(timedelta(hours=-7))),
    )
    clock.now = NOON - timedelta(days=1)
    for number, form in enumerate(aware):
        stored = memory.get(memory.source(f"S:{number}", valid_to=form)).valid_to
        assert (stored, stored.utcoffset()) == (NOON, timedelta(0))
    for form in ("2026-07-21T12:00:00", 1_784_635_200, "1784635200", "2026-07-21"):
        refused(
            memory,
            tms.InvalidWindow,
            "instant",
            lambda form=form: memory.source("S:9", valid_to=form),
        )
    borders = [NOON, NOON + timedelta(milliseconds=500), NOON - MICROSECOND, NOON + MICROSECOND]
    for number, border in enumerate(borders):
        memory.source(f"T:{number}", valid_from=border)
    clock.now = NOON + timedelta(seconds=1)
    settled = memory.settle().settled
    assert [item.at for item in settled if item.cause == "began"] == sorted(borders)
    assert [str(item).split()[-1] for item in settled if item.cause == "began"] == [
        "2026-07-21T11:59:59.999999Z",
        "2026-07-21T12:00:00Z",
        "2026-07-21T12:00:00.000001Z",
        "2026-07-21T12:00:00.500000Z",
    ]
    for form in aware:
        view = memory.as_of(valid=form)
        assert [view.believes(f"T:{n}") for n in range(4)] == [True, False, True, False]


# ---------------------------------------------------------------- C41 nothing between


def test_c41_a_window_with_nothing_in_it_is_refused_on_every_path(memory: tms.Memory) -> None:
    memory.source("S:1", valid_from=JANUARY, valid_to=MARCH)
    memory.justify("F:1", "S:1", id="j")
    for start, end in ((MARCH, JANUARY), (MARCH, MARCH)):
        text = f"valid_from {start:%Y-%m-%d}T00:00:00Z and valid_to {end:%Y-%m-%d}T00:00:00Z"
        window = {"valid_from": start, "valid_to": end}
        for work in (
            lambda w=window: memory.source("S:2", **w),
            lambda w=window: memory.fact("F:2", **w),
            lambda w=window: memory.justify("F:2", "S:1", **w),
            lambda w=window: memory.revise("S:1", **w),
            lambda w=window: memory.what_if(justify=[{"source": "S:2", **w}]),
        ):
            refused(memory, tms.InvalidWindow, text, work)
    refused(
        memory,
        tms.InvalidWindow,
        "valid_from 2025-01-01T00:00:00Z and valid_to 2025-01-01T00:00:00Z",
        lambda: memory.revise("S:1", valid_to=JANUARY),
    )
    refused(
        memory,
        tms.InvalidWindow,
        "valid_from 2025-03-01T00:00:00Z and valid_to 2025-03-01T00:00:00Z",
        lambda: memory.revise("S:1", valid_from=MARCH),
    )
    refused(memory, tms.InvalidWindow, "instant", lambda: memory.source("S:3", valid_from="2025"))
    assert memory.as_of(valid=FEBRUARY).believes("F:1")


# ---------------------------------------------------------------- both clocks


def test_what_was_known_when_of_which_time_is_asked_by_both_clocks_at_once(
    memory: tms.Memory, clock: Hand
) -> None:
    clock.now = JANUARY
    memory.source("S:1", valid_from=FEBRUARY, valid_to=APRIL)
    memory.justify("F:1", "S:1", id="j")
    clock.now = JUNE
    memory.retract("S:1", reason="superseded")

    def known(valid: datetime, recorded: datetime) -> bool:
        anchor = memory.anchor_at(recorded)
        return memory.as_of(recorded=anchor, valid=valid).believes("F:1")

    march, may, july = (datetime(2025, month, 1, tzinfo=UTC) for month in (3, 5, 7))
    assert known(march, may)
    assert not known(march, july)
    assert not known(may, may)
    assert not known(march, JUNE)  # a change at the very instant is in
    assert known(march, JUNE - MICROSECOND)
    assert not memory.as_of(recorded=memory.anchor_at(may)).believes("F:1")  # both clocks: January
    shown = memory.get("S:1")
    assert (shown.valid_to, shown.retracted) == (APRIL, True)
    assert [event.what for event in memory.history("S:1")] == ["declared", "retracted"]
    settled = memory.report(memory.head).settled
    assert [(item.cause, item.at) for item in settled] == [("began", FEBRUARY), ("expired", APRIL)]


def test_a_view_of_a_commit_is_of_its_own_instant_and_not_of_now(
    memory: tms.Memory, clock: Hand
) -> None:
    memory.source("S:1", valid_to=days(1))
    memory.source("Lone:1")
    memory.justify("F:1", "S:1", id="j")
    head = memory.head
    clock.now = days(2)
    assert not memory.believes("F:1")
    assert memory.as_of(recorded=head).believes("F:1")
    assert not memory.as_of(recorded=head, valid=clock.now).believes("F:1")
    assert memory.as_of(valid=days(0)).believes("F:1")
    assert memory.as_of(valid=days(9)).head == memory.anchor_at(days(9)) == head
    view = memory.as_of(recorded=head)
    assert [(node.ref, node.status) for node in view.scan().items] == [
        *(("F:1", "IN"), ("Lone:1", "IN"), ("S:1", "IN"))
    ]
    assert [node.ref for node in view.neighbourhood("Lone:1")] == ["Lone:1"]
