import base64
import json
import re
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Any

import pytest
from making import NOON, Clock, fill, wander
from paging import check_history, check_report, items, pages

import tms
from benchmarks.families import FAMILIES
from tms import cursors


@pytest.fixture
def memory() -> Iterator[tms.Memory]:
    with tms.open(":memory:", clock=Clock()) as memory:
        yield memory


@pytest.fixture
def filled(memory: tms.Memory) -> tms.Memory:
    fill(memory)
    return memory


ASKED: dict[str, Callable[..., tms.Page[Any]]] = {
    "scan": lambda reader, **given: reader.scan(**given),
    "log": lambda reader, **given: reader.log_page(**given),
    "history": lambda reader, **given: reader.history_page("Feed:1", **given),
    "report": lambda reader, **given: reader.report_page(retraction(reader), **given),
}
each = pytest.mark.parametrize("ask", ASKED.values(), ids=ASKED.keys())


def retraction(reader: Any) -> tms.Anchor:
    """The commit of ``fill`` that moved most."""
    (anchor,) = [entry.anchor for entry in reader.log() if entry.reason == "bad mapping"]
    return anchor


# ---------------------------------------------------------------- whole and in pages


@pytest.mark.parametrize("seed", range(6))
def test_the_pages_of_the_past_are_the_whole_of_it(memory: tms.Memory, seed: int) -> None:
    justifications = wander(memory, Random(seed), 60)
    entries = list(memory.log())
    view = memory.as_of(recorded=entries[len(entries) // 2].anchor)
    for limit in (1, 2, 7, 1000):
        assert items(memory.log_page, limit) == entries
        assert items(view.log_page, limit) == list(view.log())
        for entry in entries:
            check_report(memory, memory.report(entry.anchor), limit)
        for ref in [*(node.ref for node in memory.scan().items), *justifications]:
            check_history(memory, ref, limit)
    for node in view.scan().items:
        check_history(view, node.ref, 2)


def test_the_pages_of_a_log_begin_after_an_anchor(filled: tms.Memory) -> None:
    entries = list(filled.log())
    for since in (entries[0].anchor, entries[7].anchor, entries[-1].anchor):
        found = items(lambda **given: filled.log_page(since=since, **given), 2)  # noqa: B023
        assert found == list(filled.log(after=since))
    with pytest.raises(tms.NoSuchAnchor):
        filled.log_page(since=tms.Anchor.kept(99, 0))


def test_an_empty_memory_has_an_empty_log(memory: tms.Memory) -> None:
    assert memory.log_page() == tms.Page(items=(), next_cursor=None)


@pytest.mark.parametrize("limit", [1, 3, 64, 100])
def test_survivors_of_many_losses_come_once_each(memory: tms.Memory, limit: int) -> None:
    """Facts that lose by a switch, by expiry and by several premises at once, of wide ones too."""
    soon = NOON + timedelta(hours=1)
    with memory.batch():
        for name in ("Gone:1", "Gone:2", "Kept:1"):
            memory.source(name)
        facts = [f"Fact:{number:03}" for number in range(150)]
        memory.justify(facts, "Kept:1", id="stays")
        memory.justify(facts, ["Gone:1", "Gone:2"], id="wide")
        for number, fact in enumerate(facts):
            if number % 2:
                memory.justify(fact, "Gone:2", id=f"one-{number}")
            if number % 3 == 0:
                memory.justify(fact, "Kept:1", id=f"off-{number}", rule="b")
            if number % 5 == 0:
                memory.justify(fact, "Kept:1", id=f"late-{number}", valid_to=soon, rule="c")
    off = [f"justification:off-{number}" for number in range(0, 150, 3)]
    memory._writer._clock = lambda: soon
    report = memory.retract(["Gone:1", "Gone:2", *off])
    assert len(report.survived_via) == 150
    assert len(report.settled) == 30
    check_report(memory, report, limit)


def test_what_began_and_expired_at_one_instant_is_told_once(memory: tms.Memory) -> None:
    when = NOON + timedelta(minutes=1)
    with memory.batch():
        for number in range(7):
            memory.source(f"Early:{number}", valid_to=when)
            memory.source(f"Late:{number}", valid_from=when)
    memory._writer._clock = lambda: when
    report = memory.settle()
    assert len(report.settled) == 14
    for limit in (1, 2, 3, 14):
        check_report(memory, report, limit)


# ---------------------------------------------------------------- c31: while others write


@pytest.mark.parametrize("limit", [50, 1])
@each
def test_c31_a_walk_shows_the_commit_at_which_it_began(
    tmp_path: Path, ask: Callable[..., tms.Page[Any]], limit: int
) -> None:
    path = tmp_path / "memory.db"
    with (
        tms.open(path, clock=Clock()) as memory,
        tms.open(path, clock=Clock(NOON + timedelta(days=1))) as other,
    ):
        memory.source("Feed:1", content={"n": 0})
        memory.load(
            {"justification": f"j{number}", "premises": ["Feed:1"], "derives": [f"F:{number:03}"]}
            for number in range(201)
        )
        for number in range(60):
            memory.revise("Feed:1", content={"n": 1 + number})
        memory.retract("Feed:1", reason="bad mapping")
        memory.unretract("Feed:1")
        before = list(ask(memory, limit=1000).items)
        assert len(before) >= 62
        walked: list[Any] = []
        for number, page in enumerate(pages(lambda **given: ask(memory, **given), limit)):
            walked += page.items
            if number < 4:
                first, last = number * 5, 200 - number * 5
                other.axiom([f"F:{first:03}-{place}" for place in range(10)], rule=str(number))
                other.retract([f"F:{place:03}" for place in range(first, first + 5)])
                other.retract([f"F:{place:03}" for place in range(last - 5, last)])
                for place in (0, 100, 200):
                    other.revise(f"F:{place:03}", content={"confidence": number})
                memory.revise("Feed:1", content={"n": -1 - number})
        assert walked == before


@each
def test_c31_a_damaged_cursor_is_refused(
    filled: tms.Memory, ask: Callable[..., tms.Page[Any]]
) -> None:
    cursor = ask(filled, limit=2).next_cursor
    assert cursor is not None
    raw = base64.urlsafe_b64decode(cursor)
    wrong: list[Any] = [cursor[:-4], cursor[4:], cursor + "AAAA", "", "0", "é", "[]", cursor[::-1]]
    wrong += [5, b"here", True, "r1:0000000000000001:2026-07-21T12:00:00.000Z", "x" * 10_000]
    for place in range(len(raw)):
        flipped = bytearray(raw)
        flipped[place] ^= 1
        wrong.append(base64.urlsafe_b64encode(bytes(flipped)).decode())
    for text in wrong:
        with pytest.raises(tms.InvalidCursor, match="not a cursor") as caught:
            ask(filled, limit=2, after=text)
        assert len(caught.value.message) < 300
    assert ask(filled, limit=2, after=cursor).items


SAID = ["what", "of", False, "", "r1:0000000000000001:2026-07-21T12:00:00.000Z", None, ""]


@pytest.mark.parametrize(
    "last", [[], ["1"] * 5, [1.0] * 5, [True] * 5, [2**63] * 5, [1] * 6, None, 5, {}, "12345"]
)
@each
def test_a_cursor_with_a_true_seal_and_a_place_that_cannot_be_is_refused(
    filled: tms.Memory, ask: Callable[..., tms.Page[Any]], last: object
) -> None:
    cursor = ask(filled, limit=2).next_cursor
    assert cursor is not None
    body = json.loads(base64.urlsafe_b64decode(cursor)[8:])
    assert len(body) == len(SAID)
    for said in ([*body[:-1], last], body[:-1], [*body[:-2], "now", body[-1]]):
        text = json.dumps(said).encode()
        forged = base64.urlsafe_b64encode(cursors._seal(text) + text).decode()
        with pytest.raises(tms.InvalidCursor, match="not a cursor"):
            ask(filled, limit=2, after=forged)


def test_c31_a_cursor_belongs_to_what_was_asked(filled: tms.Memory) -> None:
    anchors = [entry.anchor for entry in filled.log()]
    asked: dict[str, Callable[..., tms.Page[Any]]] = {
        "a scan of all": filled.scan,
        "a scan of kind 'Flag'": lambda **given: filled.scan(kind="Flag", **given),
        "a log of all": filled.log_page,
        f"a log of '{anchors[0]}'": lambda **given: filled.log_page(since=anchors[0], **given),
        "a history of 'Feed:1'": lambda **given: filled.history_page("Feed:1", **given),
        "a history of 'Flag:14'": lambda **given: filled.history_page("Flag:14", **given),
    }
    for anchor in (retraction(filled), anchors[-3]):
        asked[f"a report of '{anchor}'"] = lambda anchor=anchor, **given: filled.report_page(
            anchor, **given
        )
    given_out = {name: ask(limit=1).next_cursor for name, ask in asked.items()}
    for name, cursor in given_out.items():
        assert asked[name](limit=1, after=cursor).items
        for other in asked.keys() - {name}:
            told = re.escape(f"the cursor is of {name}, not of {other}.")
            with pytest.raises(tms.InvalidCursor, match=told):
                asked[other](limit=1, after=cursor)


@each
def test_c31_a_cursor_belongs_to_the_view_it_was_given_by(
    filled: tms.Memory, ask: Callable[..., tms.Page[Any]]
) -> None:
    anchors = [entry.anchor for entry in filled.log()]
    readers = [
        filled,
        filled.as_of(recorded=anchors[-1]),
        filled.as_of(recorded=anchors[-2]),
        filled.as_of(recorded=anchors[-1], valid="2020-06-01T00:00:00Z"),
        filled.as_of(recorded=anchors[-1], valid="2019-06-01T00:00:00Z"),
    ]
    cursor_of = {reader: ask(reader, limit=1).next_cursor for reader in readers}
    filled.source("A:1")
    for giver, cursor in cursor_of.items():
        for taker in readers:
            if taker is giver:
                assert ask(taker, limit=1, after=cursor).items
            else:
                with pytest.raises(tms.InvalidCursor):
                    ask(taker, limit=1, after=cursor)


def test_a_view_of_an_instant_goes_on_where_nothing_has_a_window(memory: tms.Memory) -> None:
    memory.axiom(["F:1", "F:2"])
    view = memory.as_of(valid="2020-06-01T00:00:00Z")
    assert [node.ref for node in items(view.scan, 1)] == ["F:1", "F:2"]


@each
def test_c31_a_cursor_of_another_file_is_refused(
    filled: tms.Memory, ask: Callable[..., tms.Page[Any]]
) -> None:
    with tms.open(":memory:", clock=Clock(NOON + timedelta(days=1))) as other:
        fill(other)
        cursor = ask(other, limit=1).next_cursor
    with pytest.raises(tms.InvalidCursor, match=r"another file|of a report of"):
        ask(filled, limit=1, after=cursor)


@pytest.mark.parametrize("limit", [0, -1, 1001, 10**20, 1.0, "10", None, True])
@each
def test_a_limit_out_of_range_is_refused(
    filled: tms.Memory, ask: Callable[..., tms.Page[Any]], limit: object
) -> None:
    with pytest.raises(tms.InvalidArgument, match="limit"):
        ask(filled, limit=limit)


def test_what_is_not_there_has_no_pages(filled: tms.Memory) -> None:
    view = filled.as_of(recorded=next(filled.log()).anchor)
    for reader, ref in ((filled, "No:1"), (view, "Scan:1")):
        with pytest.raises(tms.NoSuchNode):
            reader.history_page(ref)
    for wrong in (filled.head, tms.Anchor.kept(99, 0)):
        with pytest.raises(tms.NoSuchAnchor):
            view.report_page(wrong)
    with pytest.raises(tms.InvalidAnchor):
        filled.report_page("2026-07-21")


# ---------------------------------------------------------------- what a page costs


def steps(memory: tms.Memory, work: Callable[[], object]) -> int:
    """Count the steps of SQLite's machine, in hundreds."""
    count = 0

    def step() -> None:
        nonlocal count
        count += 1

    memory._connection.sql.set_progress_handler(step, 100)
    work()
    memory._connection.sql.set_progress_handler(None, 0)
    return count


@pytest.mark.parametrize("family", ["security", "fan"])
def test_a_page_of_a_report_costs_the_same_in_a_report_ten_times_as_long(family: str) -> None:
    costs = []
    for size in (1_000, 10_000):
        with tms.open(":memory:") as memory:
            memory.load(FAMILIES[family].rows(size))
            anchor = memory.retract(FAMILIES[family].withdrawn).after
            walked: list[int] = []
            cursor: list[str | None] = [None]

            def ask() -> None:
                page = memory.report_page(anchor, 50, after=cursor[-1])  # noqa: B023
                cursor.append(page.next_cursor)  # noqa: B023

            while len(walked) == 0 or cursor[-1] is not None:
                walked.append(steps(memory, ask))
            costs.append(sorted(walked))
    middle = [walked[len(walked) // 2] for walked in costs]
    assert middle[1] <= 1.2 * middle[0] + 5
    assert sum(costs[1]) <= 15 * sum(costs[0])


def test_a_page_of_a_life_costs_the_same_in_a_life_ten_times_as_long() -> None:
    costs = []
    for size in (50, 500):
        with tms.open(":memory:", clock=Clock()) as memory:
            memory.justify("F:1", memory.source("S:1", content={"n": -1}))
            for number in range(size):
                memory.retract("S:1")
                memory.revise("S:1", content={"n": number})
                memory.unretract("S:1")
                memory.revise("F:1", content={"n": number})
            for ref in ("S:1", "F:1"):
                cursor = memory.history_page(ref, limit=2 * size).next_cursor
                work = lambda: memory.history_page(ref, 10, after=cursor)  # noqa: E731, B023
                costs.append(steps(memory, work))
    assert costs[2] <= 1.2 * costs[0] + 2
    assert costs[3] <= 1.2 * costs[1] + 2
