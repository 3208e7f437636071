"""How long things last, in the world and on record. Random worlds: here and in test_machine.py."""

import time
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from random import Random

import pytest
from lasting import check_periods, check_spans
from making import NOON, Clock, unchanged
from oracle import Said, World

import tms
from tms import timeline

Days = list[tuple[int | None, int | None]]


def day(number: int) -> datetime:
    return NOON + timedelta(days=number)


def days(found: tms.Periods) -> Days:
    """Tell periods in days since NOON."""
    return [
        tuple(bound and (bound - NOON).days for bound in (period.valid_from, period.valid_to))
        for period in found
    ]


def window(start: int | None, end: int | None) -> dict[str, datetime | None]:
    return {
        "valid_from": None if start is None else day(start),
        "valid_to": None if end is None else day(end),
    }


@pytest.fixture
def memory() -> Iterator[tms.Memory]:
    """Flag:1 by any of three feeds, Block:1 from it and a policy."""
    with tms.open(":memory:", clock=Clock()) as memory:
        for number, (start, end) in enumerate([(1, 5), (5, 9), (12, 20)], 1):
            memory.source(f"Feed:{number}", **window(start, end))
            memory.justify("Flag:1", f"Feed:{number}", id=f"feed-{number}")
        memory.source("Policy:1", **window(3, 15))
        memory.justify("Block:1", ["Flag:1", "Policy:1"], id="block")
        yield memory


def test_periods_that_touch_are_one_and_others_are_kept_apart(memory: tms.Memory) -> None:
    assert days(memory.periods("Flag:1")) == [(1, 9), (12, 20)]
    assert days(memory.periods("Block:1")) == [(3, 9), (12, 15)]
    assert days(memory.periods("Policy:1")) == [(3, 15)]
    assert days(memory.periods("justification:feed-2")) == [(5, 9)]
    assert days(memory.periods("justification:block")) == [(3, 9), (12, 15)]


def test_the_result_is_falsy_iterates_and_is_told(memory: tms.Memory) -> None:
    found = memory.periods("Flag:1")
    assert (bool(found), len(found), found.ref, found.at) == (True, 2, "Flag:1", memory.head)
    assert found.periods[0].valid_from == day(1)
    assert str(found) == (
        "Flag:1  holds\n  from 2026-07-22T12:00:00Z until 2026-07-30T12:00:00Z\n"
        "  from 2026-08-02T12:00:00Z until 2026-08-10T12:00:00Z"
    )
    assert tms.Periods.model_validate_json(found.to_json()) == found
    memory.fact("Flag:2")
    assert str(memory.periods("Flag:2")) == "Flag:2  holds\n  never"
    assert not memory.periods("Flag:2")
    memory.axiom("Flag:2")
    assert str(memory.periods("Flag:2")) == "Flag:2  holds\n  always"


def test_a_gap_of_a_microsecond_is_a_gap() -> None:
    with tms.open(":memory:") as memory:
        memory.source("S:1", valid_to=day(1))
        memory.source("S:2", valid_from=day(1) + timedelta(microseconds=1))
        memory.justify("F:1", "S:1")
        memory.justify("F:1", "S:2")
        first, second = memory.periods("F:1")
        assert (first.valid_from, first.valid_to) == (None, day(1))
        assert (second.valid_from, second.valid_to) == (day(1) + timedelta(microseconds=1), None)
        assert not memory.as_of(recorded=memory.head, valid=day(1)).believes("F:1")


def test_premises_that_never_hold_together_derive_nothing() -> None:
    with tms.open(":memory:") as memory:
        memory.source("S:1", **window(0, 5))
        memory.source("S:2", **window(5, 9))
        memory.justify("F:1", ["S:1", "S:2"], id="both")
        assert not memory.periods("F:1")
        assert not memory.periods("justification:both")


def test_windows_of_facts_justifications_and_axioms_limit_what_they_derive() -> None:
    with tms.open(":memory:") as memory:
        memory.fact("F:1", **window(2, 30))
        memory.axiom("F:1", id="axiom", **window(None, 10))
        memory.axiom("F:1", id="later", **window(20, None))
        memory.justify("F:2", "F:1", id="said", **window(5, 25))
        memory.fact("F:3", **window(None, 7))
        memory.justify(["F:3", "F:4"], "F:2")
        assert days(memory.periods("justification:axiom")) == [(None, 10)]
        assert days(memory.periods("justification:later")) == [(20, None)]
        assert days(memory.periods("F:1")) == [(2, 10), (20, 30)]
        assert days(memory.periods("F:2")) == [(5, 10), (20, 25)]
        assert days(memory.periods("justification:said")) == [(5, 10), (20, 25)]
        assert days(memory.periods("F:3")) == [(5, 7)]
        assert days(memory.periods("F:4")) == [(5, 10), (20, 25)]


def test_a_ring_holds_only_while_its_ground_does() -> None:
    with tms.open(":memory:") as memory:
        memory.justify("F:1", memory.fact("F:2"), id="one")
        memory.justify("F:2", "F:1", id="two")
        assert not memory.periods("F:1")
        assert not memory.periods("justification:two")
        memory.source("S:1", **window(1, 4))
        memory.source("S:2", **window(8, 9))
        memory.justify("F:1", "S:1")
        memory.justify("F:2", "S:2")
        memory.revise("F:2", **window(2, None))
        assert days(memory.periods("F:1")) == [(1, 4), (8, 9)]
        assert days(memory.periods("F:2")) == [(2, 4), (8, 9)]
        assert days(memory.periods("justification:one")) == [(2, 4), (8, 9)]


def test_what_is_switched_off_never_holds_and_supports_nothing(memory: tms.Memory) -> None:
    before = memory.head
    memory.retract("Feed:1")
    assert not memory.periods("Feed:1")
    assert days(memory.periods("Flag:1")) == [(5, 9), (12, 20)]
    memory.retract("justification:feed-2")
    assert not memory.periods("justification:feed-2")
    assert days(memory.periods("Flag:1")) == [(12, 20)]
    memory.retract("Flag:1")
    assert not memory.periods("Flag:1")
    assert not memory.periods("Block:1")
    assert days(memory.periods("justification:feed-3")) == [(12, 20)]
    assert not memory.periods("justification:block")
    memory.unretract(["Flag:1", "Feed:1"])
    assert days(memory.periods("Flag:1")) == [(1, 5), (12, 20)]
    assert days(memory.as_of(recorded=before).periods("Flag:1")) == [(1, 9), (12, 20)]


def test_an_earlier_commit_knows_what_was_known_then(memory: tms.Memory) -> None:
    before = memory.head
    memory.revise("Feed:3", **window(None, 0))
    memory.justify("Flag:1", "Policy:1", id="policy")
    assert days(memory.periods("Flag:1")) == [(None, 0), (1, 15)]
    then = memory.as_of(recorded=before)
    assert days(then.periods("Flag:1")) == [(1, 9), (12, 20)]
    assert then.periods("Flag:1").at == before
    with pytest.raises(tms.NoSuchJustification):
        then.periods("justification:policy")


def test_the_instant_that_is_looked_at_makes_no_difference(memory: tms.Memory) -> None:
    found = memory.periods("Block:1")
    for instant in (day(-10), day(4), day(10), day(100)):
        view = memory.as_of(valid=instant)
        view.believes("Block:1")
        assert view.periods("Block:1") == found
        assert view.believed_during("Block:1") == memory.believed_during("Block:1")


def test_the_first_and_the_last_instant_that_can_be_written() -> None:
    first, last = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)
    with tms.open(":memory:") as memory:
        memory.source("S:1", valid_from=first, valid_to=last)
        memory.source("S:2", valid_from=last)
        memory.source("S:3", valid_to=first)
        for number in (1, 2, 3):
            memory.justify(f"F:{number}", f"S:{number}")
            memory.justify("F:0", f"S:{number}")
        one, two, three = ((*memory.periods(f"F:{number}"),) for number in (1, 2, 3))
        assert [(period.valid_from, period.valid_to) for period in one] == [(first, last)]
        assert [(period.valid_from, period.valid_to) for period in two] == [(last, None)]
        assert [(period.valid_from, period.valid_to) for period in three] == [(None, first)]
        assert days(memory.periods("F:0")) == [(None, None)]
        assert memory.as_of(valid=first).believes("F:1")
        assert not memory.as_of(valid=last).believes("F:1")
        assert memory.as_of(valid=last).believes("F:2")


def many(memory: tms.Memory, count: int, *, gap: int) -> None:
    """Record F:0, which holds on ``count`` days, so many apart."""
    with memory.batch():
        for number in range(count):
            start = number * (gap + 1)
            memory.source(f"S:{number}", **window(start, start + 1))
            memory.justify("F:0", f"S:{number}")


@pytest.mark.parametrize("room", [1, timeline.ROOM])
def test_blocks_of_segments_leave_no_seam(room: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timeline, "ROOM", room)
    with tms.open(":memory:") as memory:
        many(memory, 500, gap=0)
        assert days(memory.periods("F:0")) == [(0, 500)]
    with tms.open(":memory:") as memory:
        many(memory, 500, gap=1)
        assert days(memory.periods("F:0")) == [(2 * n, 2 * n + 1) for n in range(500)]


def test_limits_are_marked_never_silent(memory: tms.Memory) -> None:
    assert days(memory.periods("Flag:1", limit=1)) == [(1, 9)]
    assert memory.periods("Flag:1", limit=1).truncated
    assert str(memory.periods("Flag:1", limit=1)).endswith("left out because of the limit")
    assert not memory.periods("Flag:1", limit=2).truncated
    memory.axiom("Flag:2")
    for _ in range(2):
        memory.retract("Flag:2")
        memory.unretract("Flag:2")
    assert len(memory.believed_during("Flag:2")) == 3
    some = memory.believed_during("Flag:2", limit=2)
    assert (some.truncated, some.spans) == (True, memory.believed_during("Flag:2").spans[:2])
    assert str(some).endswith("… more, left out")
    assert not memory.believed_during("Flag:2", limit=3).truncated


@pytest.mark.parametrize("verb", ["periods", "believed_during"])
def test_what_cannot_be_asked_is_refused(memory: tms.Memory, verb: str) -> None:
    ask: Callable[..., object] = getattr(memory, verb)
    for limit in (0, -1, True, None, 1.0, "1", 10**10):
        with pytest.raises(tms.InvalidArgument, match="limit is"):
            ask("Flag:1", limit=limit)
    for ref, error in (
        ("No:1", tms.NoSuchNode),
        ("justification:no", tms.NoSuchJustification),
        ("no", tms.InvalidRef),
        (None, tms.InvalidRef),
    ):
        with pytest.raises(error):
            ask(ref)
    unchanged(memory, lambda: ask("Flag:1"))
    with pytest.raises(tms.NoSuchNode), memory.batch():
        memory.fact("New:1")
        ask("New:1")


def test_what_is_believed_during_is_told_by_commits() -> None:
    with tms.open(":memory:", clock=Clock()) as memory:
        memory.source("S:1")
        memory.justify("F:1", "S:1", id="j")
        came = memory.head
        assert [(span.since, span.until) for span in memory.believed_during("F:1")] == [
            (came, None)
        ]
        went = memory.retract("S:1").after
        back = memory.unretract("S:1").after
        memory.retract("justification:j")
        memory.axiom("F:1")
        other = memory.head
        found = memory.believed_during("F:1")
        assert [(span.since, span.until) for span in found][:1] == [(came, went)]
        assert found.spans[-1] == tms.Span(since=other, until=None)
        assert found.at == memory.head
        assert str(found).startswith(f"F:1  was IN\n  since {came} until {went}\n  since {back} ")
        fired = memory.believed_during("justification:j")
        assert fired.spans == found.spans[:2]
        then = memory.as_of(recorded=went)
        assert then.believed_during("F:1").spans == (tms.Span(since=came, until=went),)
        assert then.believed_during("justification:j").spans == found.spans[:1]
        assert then.believed_during("justification:j").at == went
        memory.fact("F:2")
        assert not memory.believed_during("F:2")
        assert str(memory.believed_during("F:2")) == "F:2  was IN\n  never"


def test_what_moved_to_another_support_stayed_in() -> None:
    with tms.open(":memory:", clock=Clock()) as memory:
        for number in (1, 2):
            memory.justify("F:1", memory.source(f"S:{number}"))
        memory.retract("S:1")
        memory.retract("S:2")
        assert [event.what for event in memory.history("F:1")][2:] == ["moved", "out"]
        assert len(memory.believed_during("F:1")) == 1


@pytest.mark.parametrize(("beside", "came"), [(-1, 1), (0, 1), (1, 2)])
def test_a_justification_fires_from_the_commit_that_settles_its_window(
    beside: int, came: int
) -> None:
    now = [NOON]
    with tms.open(":memory:", clock=lambda: now[0]) as memory:
        memory.source("S:1")
        bounds = [NOON + timedelta(seconds=at, microseconds=beside) for at in (10, 20)]
        memory.justify("F:1", "S:1", id="j", valid_from=bounds[0], valid_to=bounds[1])
        ticks = []
        for at in (9.999, 10, 10.001, 15, 19.999, 20, 20.001, 21):
            now[0] = NOON + timedelta(seconds=at)
            memory.source(f"Tick:{at}")
            ticks.append(memory.head)
        (span,) = memory.believed_during("justification:j")
        assert (span.since, span.until) == (ticks[came], ticks[4 + came])
        assert memory.believed_during("F:1").spans == (span,)
        then = memory.as_of(recorded=ticks[3]).believed_during("justification:j")
        assert [(span.since, span.until) for span in then] == [(ticks[came], None)]
        assert not memory.as_of(recorded=ticks[0]).believed_during("justification:j")


def test_a_justification_that_is_declared_within_or_after_its_window() -> None:
    with tms.open(":memory:", clock=lambda: NOON) as memory:
        memory.source("S:1")
        memory.justify("F:1", "S:1", id="within", **window(-1, 1))
        within = memory.head
        memory.justify("F:1", "S:1", id="after", **window(-2, -1))
        assert not memory.believed_during("justification:after")
        found = memory.believed_during("justification:within")
        assert found.spans == (tms.Span(since=within, until=None),)


def test_random_worlds_agree_with_asking_at_every_bound() -> None:
    tally: Counter[str] = Counter()
    for seed in range(150):
        world, memory, names = random_world(Random(seed))
        snapshot = world.head
        check_periods(memory.as_of(recorded=memory.head), snapshot, names, tally)
        check_spans(memory, snapshot, world.revisions, names)
        memory.close()
    assert tally["in several periods"] > 200
    assert tally["in no period"] > 50


def random_world(random: Random) -> tuple[World, tms.Memory, dict[Said, tms.Ref]]:
    """Record rings, ANDs and ORs with many windows, on a memory and on the judge."""
    world, memory = World(), tms.open(":memory:", clock=lambda: day(0))
    world.now = int(day(0).timestamp() * 1000)
    facts = [f"F:{number}" for number in range(6)]
    sources = [f"S:{number}" for number in range(5)]
    names: dict[Said, tms.Ref] = {}

    def limits(often: float) -> dict[str, datetime]:
        if random.random() > often:
            return {}
        start = random.randrange(-9, 9)
        end = start + random.choice([1, 1, 2, 5])
        bounds = {"valid_from": day(start), "valid_to": day(end)}
        return {name: at for name, at in bounds.items() if random.random() < 0.9}

    for ref in sources:
        valid = limits(0.9)
        world.source(ref, **valid)
        memory.source(ref, **valid)
    for ref in facts:
        valid = limits(0.2)
        world.fact(ref, **valid)
        memory.fact(ref, **valid)
    for _ in range(14):
        derived = random.sample(facts, random.randint(1, 2))
        needed = random.sample(
            sorted({*sources, *facts}.difference(derived)), random.choice([1, 1, 2])
        )
        valid = limits(0.2)
        names[world.justify(derived, needed, **valid)] = memory.justify(derived, needed, **valid)
    for _ in range(2):
        target = random.choice([*sources, *facts, *names])
        world.retract([target])
        memory.retract(names.get(target, target))
    return world, memory, names


def test_a_long_chain_and_a_thousand_bounds_take_seconds() -> None:
    with tms.open(":memory:") as memory:
        with memory.batch():
            many(memory, 500, gap=1)
            for number in range(1, 100_000):
                limits = window(-number, None) if number % 1000 == 0 else {}
                memory.justify(f"F:{number}", f"F:{number - 1}", **limits)
        started = time.perf_counter()
        assert len(memory.periods("F:99999")) == 500
        assert time.perf_counter() - started < 15
        assert len(memory.believed_during("F:99999")) <= 1
