"""Valid time: when things hold in the world. The machine judges the rest."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta, timezone

import pytest
from making import NOON, Hand, days, refused, unchanged

import tms

MICROSECOND = timedelta(microseconds=1)
FIRST, LAST = datetime(1, 1, 1, tzinfo=UTC), datetime.max.replace(tzinfo=UTC)


@pytest.fixture
def clock() -> Hand:
    return Hand()


@pytest.fixture
def memory(clock: Hand) -> Iterator[tms.Memory]:
    with tms.open(":memory:", clock=clock) as memory:
        yield memory


# ---------------------------------------------------------------- half-open bounds


def place(memory: tms.Memory, what: str, **window: object) -> str:
    """Give a source, a fact or a justification a window, under ``F:1`` that holds through it."""
    memory.source("S:1", **(window if what == "source" else {}))
    memory.fact("F:1", **(window if what == "fact" else {}))
    memory.justify("F:1", "S:1", id="j", **(window if what == "justification" else {}))
    return {"source": "S:1", "fact": "F:1", "justification": "justification:j"}[what]


@pytest.mark.parametrize("what", ["source", "fact", "justification"])
def test_a_window_holds_from_its_start_on_and_no_longer_at_its_end(
    memory: tms.Memory, clock: Hand, what: str
) -> None:
    ref = place(memory, what, valid_from=days(1), valid_to=days(2))
    shown = memory.get(ref)
    assert (shown.valid_from, shown.valid_to) == (days(1), days(2))
    for instant, holds in (
        (days(1) - MICROSECOND, False),
        (days(1), True),
        (days(1) + MICROSECOND, True),
        (days(2) - MICROSECOND, True),
        (days(2), False),
        (days(2) + MICROSECOND, False),
    ):
        clock.now = instant
        for reader in (memory, memory.as_of(valid=instant)):
            assert reader.believes(ref) == holds, instant
            assert reader.believes("F:1") == holds, instant
            assert list(reader.holding()) == (["F:1"] if holds else [])
            assert bool(reader.why("F:1")) == holds
            why_not = reader.why_not("F:1")
            assert why_not.outside == (() if holds else (ref,))
    assert memory.stats().believed == 0
    assert memory.head.revision == 3
    assert memory.verify(revisions=None)


@pytest.mark.parametrize("bound", [FIRST, FIRST + MICROSECOND, LAST - MICROSECOND, LAST])
def test_the_first_and_the_last_year_are_years_like_others(
    memory: tms.Memory, clock: Hand, bound: datetime
) -> None:
    memory.source("S:until", valid_to=bound)
    memory.source("S:from", valid_from=bound)
    for instant in (FIRST, FIRST + MICROSECOND, NOON, LAST - MICROSECOND, LAST):
        clock.now = instant
        for reader in (memory, memory.as_of(valid=instant)):
            assert reader.believes("S:until") == (instant < bound)
            assert reader.believes("S:from") == (instant >= bound)
    clock.now = LAST
    memory.settle()
    assert memory.get("S:from").valid_from == memory.get("S:until").valid_to == bound
    assert memory.verify(revisions=None)


@pytest.mark.parametrize(
    ("valid_from", "valid_to"),
    [
        (FIRST, FIRST + MICROSECOND),
        (LAST - MICROSECOND, LAST),
        (NOON, NOON + MICROSECOND),
    ],
)
def test_the_smallest_window_is_a_microsecond(
    memory: tms.Memory, valid_from: datetime, valid_to: datetime
) -> None:
    memory.source("S:1", valid_from=valid_from, valid_to=valid_to)
    assert memory.as_of(valid=valid_from).believes("S:1")
    assert not memory.as_of(valid=valid_to).believes("S:1")


def test_an_instant_may_have_any_offset_and_is_told_in_utc(memory: tms.Memory) -> None:
    forms = (
        "2026-07-21T12:00:00Z",
        "2026-07-21T12:00Z",
        "2026-07-21 12:00:00.000Z",
        "2026-07-21T17:30:00+05:30",
        "2026-07-21T17:30+0530",
        "2026-07-20T22:00:00.000000000-14:00",
        NOON,
        NOON.astimezone(timezone(timedelta(hours=5, minutes=30))),
        NOON.astimezone(timezone(timedelta(seconds=-1))),
    )
    for form in forms:
        memory.source("S:1", valid_to=form)
        assert memory.head.revision == 1
        assert not memory.as_of(valid=form).believes("S:1")
        assert memory.anchor_at(form) == memory.head
    assert memory.get("S:1").valid_to == NOON
    assert '"validTo":"2026-07-21T12:00:00Z"' in memory.get("S:1").to_json()


# ---------------------------------------------------------------- what is refused

NO_INSTANT = [
    datetime(2026, 7, 21, 12),
    "2026-07-21T12:00:00",
    "2026-07-21",
    "2026-W30-2T12:00:00Z",
    "12:00:00Z",
    "2026-07-21T12:00:00.0000001Z",
    "2026-02-30T12:00:00Z",
    "2026-07-21T24:00:01Z",
    "2026-07-21T12:00:00+25:00",
    "10000-01-01T00:00:00Z",
    "0000-01-01T00:00:00Z",
    "0001-01-01T00:00:00+00:01",
    "9999-12-31T23:59:59-00:01",
    "２０２６-07-21T12:00:00Z",
    " 2026-07-21T12:00:00Z",
    "now",
    "open",
    "",
    NOON.date(),
    timedelta(0),
    1_784_635_200,
    1_784_635_200.5,
    True,
    b"2026-07-21T12:00:00Z",
    ["2026-07-21T12:00:00Z"],
]


@pytest.mark.parametrize("value", NO_INSTANT, ids=repr)
def test_what_is_no_instant_is_refused_wherever_one_is_meant(
    memory: tms.Memory, value: object
) -> None:
    memory.source("S:1")
    memory.axiom("F:1", id="a")
    works: list[Callable[[], object]] = [
        lambda: memory.as_of(valid=value),
        lambda: memory.as_of(recorded=memory.head, valid=value),
        lambda: memory.anchor_at(value),
    ]
    for bound in ("valid_from", "valid_to"):
        given = {bound: value}
        works += [
            lambda given=given: memory.source("S:2", **given),
            lambda given=given: memory.source("S:1", **given),
            lambda given=given: memory.fact("F:2", **given),
            lambda given=given: memory.justify("F:2", "S:1", **given),
            lambda given=given: memory.axiom("F:2", **given),
            lambda given=given: memory.revise("S:1", **given),
        ]
    for work in works:
        refused(memory, tms.InvalidWindow, "instant", work)


@pytest.mark.parametrize("width", [0, -1, -(10**12)])
def test_a_window_that_holds_nothing_is_refused_with_both_bounds_named(
    memory: tms.Memory, width: int
) -> None:
    memory.source("S:1", valid_to=NOON)
    start, end = NOON, NOON + width * MICROSECOND
    window = {"valid_from": start, "valid_to": end}
    text = f"valid_from {start:%Y-%m-%dT%H:%M}.* and valid_to {end:%Y-%m-%dT%H:%M}"
    rows = {"valid_from": start.isoformat(), "valid_to": end.isoformat()}
    for work in (
        lambda: memory.source("S:2", **window),
        lambda: memory.fact("F:2", **window),
        lambda: memory.justify("F:2", "S:1", **window),
        lambda: memory.axiom("F:2", **window),
        lambda: memory.revise("S:1", **window),
        lambda: memory.load([{"source": "S:2", **rows}]),
        lambda: memory.load([{"axiom": "F:2", **rows}]),
    ):
        refused(memory, tms.InvalidWindow, text, work)
    refused(
        memory, tms.InvalidWindow, "nothing lies", lambda: memory.revise("S:1", valid_from=NOON)
    )


def test_declared_again_with_another_window_is_a_conflict_that_points_to_revise(
    memory: tms.Memory,
) -> None:
    for declare in (memory.source, memory.fact):
        ref = declare(f"{declare.__name__}:1", valid_from=days(-1), valid_to=days(1))
        unchanged(memory, lambda d=declare, r=ref: d(r))
        unchanged(memory, lambda d=declare, r=ref: d(r, valid_from=days(-1), valid_to=days(1)))
        for window in ({"valid_from": days(-1)}, {"valid_to": days(2)}, {"valid_from": days(0)}):
            with pytest.raises(tms.ContentConflict, match=r"valid from .* until .*, not") as caught:
                declare(ref, **window)
            assert "memory.revise" in caught.value.hint
            assert caught.value.ids == (ref,)
    memory.source("S:always")
    refused(
        memory,
        tms.ContentConflict,
        "S:always is valid always, not until",
        lambda: memory.source("S:always", valid_to=days(1)),
    )


def test_a_justification_with_another_window_is_another(memory: tms.Memory) -> None:
    memory.source("S:1")
    one = memory.justify("F:1", "S:1", valid_to=days(1))
    assert unchanged(memory, lambda: memory.justify("F:1", "S:1", valid_to=days(1))) == one
    assert memory.justify("F:1", "S:1") != one
    memory.justify("F:1", "S:1", id="named", valid_from=days(2))
    refused(
        memory,
        tms.ContentConflict,
        "says something else",
        lambda: memory.justify("F:1", "S:1", id="named", valid_from=days(3)),
    )
    refused(memory, tms.InvalidRef, "revise", lambda: memory.revise(one, valid_to=days(2)))


def test_as_of_takes_its_clocks_by_name_and_at_least_one(memory: tms.Memory) -> None:
    refused(memory, tms.InvalidArgument, "as of when", memory.as_of)
    with pytest.raises(TypeError):
        memory.as_of(NOON)
    refused(memory, tms.InvalidAnchor, "anchor", lambda: memory.as_of(recorded=NOON.isoformat()))
    view = memory.as_of(valid=NOON)
    assert view.head is None
    assert list(view.holding()) == []


# ---------------------------------------------------------------- derivations through time


def test_a_fact_has_the_periods_of_its_derivations_kept_apart(
    memory: tms.Memory, clock: Hand
) -> None:
    clock.now = days(-10)
    memory.source("S:1", valid_from=days(0), valid_to=days(3))
    memory.source("S:2", valid_from=days(2), valid_to=days(6))
    memory.justify("F:1", ["S:1", "S:2"], id="both")
    memory.axiom("F:1", id="later", valid_from=days(8), valid_to=days(9))
    memory.justify("F:2", "F:1", id="on")
    memory.justify("F:1", "F:2", id="back")
    head = memory.head
    for at, holds in ((1, 0), (2, 1), (2.9, 1), (3, 0), (7, 0), (8, 1), (8.9, 1), (9, 0)):
        clock.now = days(at)
        assert memory.believes("F:2") == memory.as_of(valid=days(at)).believes("F:2") == holds
    clock.now = days(8)
    assert memory.get("F:1").support == "later"
    assert memory.why_not("F:1", nodes=9).status == "IN"
    assert memory.as_of(valid=days(2)).get("F:1").support == "both"
    clock.now = days(9)
    why_not = memory.why_not("F:2")
    assert why_not.outside == ("justification:later", "S:1", "S:2")
    assert why_not.retracted == ()
    assert memory.head == head


def test_another_window_is_a_revision_and_the_one_before_stays_known(
    memory: tms.Memory, clock: Hand
) -> None:
    memory.source("S:1", content={"n": 1}, valid_from=days(-1), valid_to=days(1))
    memory.justify("F:1", "S:1", id="j")
    before = memory.head
    report = memory.revise("S:1", valid_to=days(0), reason="ended today", by="me")
    assert (report.targets, report.died, report.settled) == (("S:1",), ("F:1",), ())
    shown = memory.get("S:1")
    assert (shown.valid_from, shown.valid_to) == (days(-1), days(0))
    assert (shown.content, shown.version) == ({"n": 1}, 1)
    assert not unchanged(memory, lambda: memory.revise("S:1", valid_to=days(0)))
    view = memory.as_of(recorded=before)
    assert view.believes("F:1")
    assert view.get("S:1").valid_to == days(1)
    assert memory.as_of(recorded=before, valid=days(0.5)).believes("F:1")
    assert not memory.as_of(valid=days(0.5)).believes("F:1")
    (change,) = memory.diff(before, memory.head).revalidated
    assert (change.ref, change.to_before, change.to_after) == ("S:1", days(1), days(0))
    assert memory.revise("S:1", valid_from=None, valid_to=None).revived == ("F:1",)
    assert [event.what for event in memory.history("S:1")] == [
        *("declared", "in", "valid", "out", "valid", "in")
    ]
    clock.now = days(5)
    assert memory.believes("F:1")
    assert memory.verify(revisions=None)


def test_a_window_given_and_taken_back_in_a_batch_is_no_change(memory: tms.Memory) -> None:
    memory.source("S:1", valid_to=days(1))
    head = memory.head
    with memory.batch():
        memory.revise("S:1", valid_to=days(-1))
        memory.revise("S:1", valid_to=days(1))
    assert memory.head == head
    with memory.batch() as batch:
        memory.source("S:2", valid_to=days(-1))
        memory.revise("S:2", valid_to=None)
        memory.justify("F:2", "S:2")
    assert batch.report.revived == ("F:2",)
    assert memory.verify(revisions=None)


def test_rows_have_windows_in_text_or_as_instants(memory: tms.Memory) -> None:
    rows = [
        {"source": "S:1", "valid_from": "2026-07-22T14:00+02:00", "valid_to": None},
        {"fact": "F:1", "valid_to": days(3)},
        {"justification": "j", "premises": ["S:1"], "derives": ["F:1"], "valid_to": days(2)},
        {"axiom": "F:2", "id": "a", "valid_from": "2026-07-23T12:00:00Z"},
    ]
    assert memory.load(rows).believed_after == 0
    assert not memory.load(rows)
    held = [" ".join(memory.as_of(valid=days(at)).holding()) for at in (0, 1, 2, 3)]
    assert held == ["", "F:1", "F:2", "F:2"]
    again = {"source": "S:1", "valid_from": days(2)}
    refused(memory, tms.ContentConflict, "S:1 is valid from", lambda: memory.load([again]))
    for value, kind, text in (
        (1, tms.InvalidContent, "valid_from"),
        ("2026-07-22", tms.InvalidWindow, "not an instant"),
    ):
        row = {"source": "S:9", "valid_from": value}
        refused(memory, kind, text, lambda row=row: memory.load([row]))
    assert memory.what_if(justify=[rows[3] | {"id": "b", "valid_from": days(-1)}]).revived == (
        "F:2",
    )
