"""What expires and begins by itself, and clocks that jump."""

import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random

import pytest
from making import Hand, days, dump, refused, unchanged

import tms

MICROSECOND = timedelta(microseconds=1)


@pytest.fixture
def clock() -> Hand:
    return Hand()


@pytest.fixture
def memory(clock: Hand) -> Iterator[tms.Memory]:
    with tms.open(":memory:", clock=clock) as memory:
        yield memory


# ---------------------------------------------------------------- expiry


def test_settling_makes_one_commit_with_the_causes_and_then_none(
    memory: tms.Memory, clock: Hand
) -> None:
    memory.source("S:1", valid_to=days(1))
    memory.source("S:2", valid_from=days(2), valid_to=days(3))
    memory.justify("F:1", "S:1", id="j1")
    memory.justify("F:1", "S:2", id="j2", valid_from=days(2))
    assert not unchanged(memory, memory.settle)
    clock.now = days(2.5)
    assert memory.believes("F:1")
    report = memory.settle(reason="nightly", by="cron")
    assert (report.op, report.reason, report.by, report.targets) == (
        "settle",
        "nightly",
        "cron",
        (),
    )
    assert [(item.ref, item.cause, item.at) for item in report.settled] == [
        ("S:1", "expired", days(1)),
        ("S:2", "began", days(2)),
        ("justification:j2", "began", days(2)),
    ]
    assert (report.died, report.revived) == ((), ())
    (survivor,) = report.survived_via
    assert (survivor.fact, survivor.lost, survivor.via) == ("F:1", ("j1",), ("j2",))
    assert memory.report(report.after) == report
    assert not unchanged(memory, memory.settle)
    clock.now = days(3)
    report = memory.source("S:3") and memory.report(memory.head)
    assert (report.op, report.died) == ("source", ("F:1",))
    assert [(item.ref, item.cause) for item in report.settled] == [("S:2", "expired")]
    assert memory.verify(revisions=None)


READ = """
import sys, tms
from datetime import datetime
with tms.open(sys.argv[1], read_only=sys.argv[3] == "ro", create=False,
              clock=lambda: datetime.fromisoformat(sys.argv[2])) as memory:
    print(*memory.holding(), *(memory.status(ref) for ref in ("S:1", "F:1", "justification:j")),
          memory.stats().believed, memory.why_not("F:1").outside, len(memory.scan().items),
          memory.head.revision, sep=",")
"""


@pytest.mark.parametrize("mode", ["rw", "ro"])
def test_another_process_sees_what_expired_and_nobody_writes(tmp_path: Path, mode: str) -> None:
    path = tmp_path / "memory.db"
    with tms.open(path, clock=Hand()) as memory:
        memory.source("S:1", valid_to=days(1))
        memory.justify("F:1", "S:1", id="j")
    before, said = path.read_bytes(), dump(path)

    def seen(at: datetime) -> str:
        args = [sys.executable, "-c", READ, path, at.isoformat(), mode]
        done = subprocess.run(args, capture_output=True, text=True, timeout=60, check=True)
        return done.stdout.strip()

    assert seen(days(1) - MICROSECOND) == "F:1,IN,IN,IN,1,(),2,2"
    assert seen(days(1)) == "OUT,OUT,OUT,0,(Ref('S:1'),),2,2"
    assert path.read_bytes() == before
    assert dump(path) == said
    if mode == "ro":
        with tms.open(path, read_only=True, clock=Hand(days(2))) as memory:
            refused(memory, tms.ReadOnly, "reading only", memory.settle)


def test_a_walk_that_began_before_something_expired_ends_as_it_began(
    memory: tms.Memory, clock: Hand
) -> None:
    memory.source("S:1", valid_to=days(1))
    memory.justify([f"F:{n:03}" for n in range(30)], "S:1")
    walk, page = memory.holding(), memory.scan(limit=10)
    first = next(walk)
    clock.now = days(1)
    assert list(memory.holding()) == []
    assert len([first, *walk]) == 30
    states = {node.status for node in memory.scan(limit=30, after=page.next_cursor).items}
    assert states == {"IN"}
    other = memory.as_of(valid=days(0))
    cursor = other.scan(limit=10).next_cursor
    assert memory.as_of(valid=days(0)).scan(after=cursor).items[0].status == "IN"
    for reader in (memory, memory.as_of(valid=days(2)), memory.as_of(recorded=memory.head)):
        refused(memory, tms.InvalidCursor, "cursor", lambda r=reader: r.scan(after=cursor))


# ---------------------------------------------------------------- clocks that jump


class Week:
    """A memory whose clock jumps, beside what must come of each step.

    Attributes:
        clock: what jumps.
        windows: the windows of its sources.
        off: those that are retracted.
        seen: what was believed at the instant of each commit, by anchor.
        made: the instant of the last commit, to the microsecond.
    """

    def __init__(self, path: Path, random: Random) -> None:
        self.clock = Hand()
        self.windows: dict[str, tuple[datetime | None, datetime | None]] = {}
        self.off: set[str] = set()
        self.seen: dict[tms.Anchor, set[str]] = {}
        self.made = self.clock.now
        self._random = random
        self._path = path
        self._true = self.clock.now
        self.memory = tms.open(path, clock=self.clock)

    def reopen(self) -> None:
        self.memory.close()
        self.memory = tms.open(self._path, clock=self.clock)

    def pass_time(self, step: int) -> None:
        """Let time pass, or nearly none, and let the clock jump now and then."""
        random = self._random
        if random.random() < 0.7:
            self._true += timedelta(
                minutes=random.randint(1, 120), microseconds=random.randint(0, 999)
            )
            self.clock.now = self._true
        if random.random() < 0.3:
            self.clock.now = self._true + timedelta(seconds=random.randint(-7200, 7200))
        if step == 60:
            self.clock.now = self._true + timedelta(days=1826)

    def believed(self, at: datetime) -> set[str]:
        """Return the flags of the sources that hold at an instant."""
        return {
            f"Flag:{ref.partition(':')[2]}"
            for ref, (start, end) in self.windows.items()
            if ref not in self.off and (start is None or start <= at) and (end is None or at < end)
        }

    def write(self, step: int) -> tms.Report:
        """Do something that makes a commit, and return its report."""
        random, memory = self._random, self.memory
        act = random.choice(["new", "new", "turn", "revise"]) if self.windows else "new"
        if act == "new":
            near = [self.clock.now + timedelta(minutes=random.randint(-90, 300)) for _ in range(2)]
            start, end = sorted(near)
            window = random.choice([(None, end), (start, None), (start, end + MICROSECOND)])
            ref = f"S:{step}"
            with memory.batch() as batch:
                memory.source(ref, valid_from=window[0], valid_to=window[1])
                memory.justify(f"Flag:{step}", ref)
            self.windows[ref] = window
            return batch.report
        ref = random.choice(list(self.windows))
        if act == "revise":
            end = self.clock.now + timedelta(minutes=random.randint(0, 300), microseconds=step)
            self.windows[ref] = (None, end)
            return memory.revise(ref, valid_from=None, valid_to=end)
        verb = "unretract" if ref in self.off else "retract"
        preview = memory.what_if(**{verb: ref})
        report = getattr(memory, verb)(ref)
        self.off ^= {ref}
        assert preview.to_json() == report.model_copy(update={"after": None}).to_json()
        return report

    def check(self, report: tms.Report) -> None:
        memory, head = self.memory, self.memory.head
        previous, self.made = self.made, max(self.made, self.clock.now)
        assert report.after == head
        assert head.at == self.made.replace(microsecond=self.made.microsecond // 1000 * 1000)
        assert memory.anchor_at(head.at) == head
        before = report.before
        if before is not None:
            assert (head.revision, head.at >= before.at) == (before.revision + 1, True)
            assert memory.report(before).after == before
            assert memory.anchor_at(before.at).at == before.at
            assert all(previous < item.at <= self.made for item in report.settled)
        self.seen[head] = self.believed(self.made)
        assert set(report.revived) - set(report.died) <= self.seen[head]
        assert report.believed_after == len(self.seen[head])
        assert set(memory.as_of(recorded=head).holding()) == self.seen[head]
        self.look()

    def look(self) -> None:
        now = self.clock.now
        assert set(self.memory.holding()) == self.believed(now)
        assert set(self.memory.as_of(valid=now).holding()) == self.believed(now)
        assert self.memory.stats().believed == len(self.believed(now))


@pytest.mark.parametrize("seed", range(4))
def test_a_week_of_jumping_clocks_harms_neither_order_nor_belief(tmp_path: Path, seed: int) -> None:
    random = Random(seed)
    week = Week(tmp_path / "memory.db", random)
    for step in range(240):
        week.pass_time(step)
        week.look()
        if random.random() < 0.2:
            head = week.memory.head
            report = week.memory.settle()
            assert bool(report) == bool(report.settled) == (week.memory.head != head)
            if report:
                week.check(report)
            assert not unchanged(week.memory, week.memory.settle)
        week.check(week.write(step))
        if random.random() < 0.05:
            week.reopen()
    memory = week.memory
    anchors = [commit.anchor for commit in memory.log()]
    assert anchors == list(week.seen) == sorted(anchors)
    assert [anchor.revision for anchor in anchors] == list(range(1, len(anchors) + 1))
    assert [anchor.at for anchor in anchors] == sorted(anchor.at for anchor in anchors)
    for anchor, believed in week.seen.items():
        assert set(memory.as_of(recorded=anchor).holding()) == believed
    assert len({anchor.at for anchor in anchors}) < len(anchors)
    assert memory.verify(revisions=None)
    memory.close()


def test_one_wild_jump_of_the_clock_is_no_reason_to_wait(memory: tms.Memory, clock: Hand) -> None:
    memory.source("S:1", valid_to=days(1))
    memory.justify("F:1", "S:1", id="j")
    clock.now = days(3650)
    assert memory.settle().died == ("F:1",)
    clock.now = days(0.5)
    assert memory.believes("F:1")
    assert memory.retract("S:1").died == ()
    assert not memory.believes("F:1")
    assert memory.unretract("S:1").revived == ()
    assert memory.believes("F:1")
    assert memory.head.at == days(3650)
    memory.source("S:2", valid_from=days(0.5), valid_to=days(0.75))
    assert memory.believes("S:2")
    assert not memory.as_of(recorded=memory.head).believes("S:2")
    assert memory.anchor_at(days(0.5)).revision == 2
    clock.now = days(3651)
    assert memory.settle().settled == ()
    assert memory.verify(revisions=None)


def test_commits_in_one_millisecond_are_kept_apart_and_their_time_finds_the_last(
    memory: tms.Memory, clock: Hand
) -> None:
    clock.now = datetime(2026, 7, 21, 12, 0, 0, 123456, tzinfo=UTC)
    for number in range(5):
        memory.source(f"S:{number}", valid_to=clock.now + number * MICROSECOND)
    printed = memory.head.at
    assert printed == clock.now.replace(microsecond=123000)
    assert memory.anchor_at(printed) == memory.anchor_at(clock.now) == memory.head
    assert memory.anchor_at(printed - MICROSECOND) is None
    assert [memory.believes(f"S:{number}") for number in range(5)] == [False, *[True] * 4]
    views = [memory.as_of(recorded=commit.anchor) for commit in memory.log()]
    assert [len(view.scan().items) for view in views] == [1, 2, 3, 4, 5]
    assert not unchanged(memory, memory.settle)
    clock.now += timedelta(milliseconds=1)
    assert [item.ref for item in memory.settle().settled] == [f"S:{n}" for n in range(1, 5)]


def test_what_ends_at_the_instant_of_writing_is_reported_by_that_commit(
    memory: tms.Memory, clock: Hand
) -> None:
    clock.now = datetime(2026, 7, 21, 12, 0, 0, 123456, tzinfo=UTC)
    memory.source("S:1")
    memory.justify("F:1", "S:1")
    clock.now += timedelta(microseconds=321)
    report = memory.revise("S:1", valid_to=clock.now)
    assert report.died == ("F:1",)
    assert report.before is not None
    assert report.after is not None
    assert report.before.at == report.after.at  # they print the same time
    assert memory.as_of(recorded=report.before).believes("F:1")
    assert not memory.as_of(recorded=report.after).believes("F:1")
    assert not unchanged(memory, memory.settle)
    memory.source("S:2", valid_from=clock.now + MICROSECOND)
    memory.justify("F:2", "S:2")
    clock.now += MICROSECOND
    assert memory.settle().revived == ("F:2",)
    assert memory.verify(revisions=None)


BAD_ANCHORS = {
    "ahead": ("r1:0000000000000009:2026-07-21T12:00:00.000Z", tms.NoSuchAnchor),
    "another time": ("r1:0000000000000001:2026-07-21T12:00:00.001Z", tms.NoSuchAnchor),
    "mistyped": ("r1:0000000000000001:2026-07-21T12:00:00.000", tms.InvalidAnchor),
    "zero": ("r1:0000000000000000:2026-07-21T12:00:00.000Z", tms.InvalidAnchor),
    "negative": ("r1:-000000000000001:2026-07-21T12:00:00.000Z", tms.InvalidAnchor),
    "more zeros": ("r1:00000000000000001:2026-07-21T12:00:00.000Z", tms.InvalidAnchor),
    "fewer zeros": ("r1:1:2026-07-21T12:00:00.000Z", tms.InvalidAnchor),
    "an instant": ("2026-07-21T12:00:00.000Z", tms.InvalidAnchor),
    "a number": (1, tms.InvalidAnchor),
}


@pytest.mark.parametrize("name", BAD_ANCHORS)
def test_an_anchor_that_is_none_is_refused_and_never_rounded(memory: tms.Memory, name: str) -> None:
    anchor, kind = BAD_ANCHORS[name]
    memory.source("S:1")
    head = memory.head
    for work in (
        lambda: memory.as_of(recorded=anchor),
        lambda: memory.as_of(recorded=anchor, valid=days(1)),
        lambda: memory.as_of(recorded=head).report(anchor),
        lambda: memory.diff(anchor, head),
        lambda: list(memory.log(after=anchor)),
    ):
        refused(memory, kind, "anchor", work)
