import base64
import json
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from making import NOON, Clock, fill

import tms

IN, OUT = tms.Status.IN, tms.Status.OUT


@pytest.fixture
def memory() -> Iterator[tms.Memory]:
    with tms.open(":memory:", clock=Clock()) as memory:
        yield memory


@pytest.fixture
def filled(memory: tms.Memory) -> tms.Memory:
    fill(memory)
    return memory


def walk(reader: tms.Memory | tms.View, limit: int, kind: str | None = None) -> list[tms.Node]:
    items, page = [], reader.scan(kind=kind, limit=limit)
    while True:
        items += page.items
        if page.next_cursor is None:
            return items
        assert len(page.items) == limit
        page = reader.scan(kind=kind, limit=limit, after=page.next_cursor)


# ---------------------------------------------------------------- one thing


def test_believing_and_status_say_the_same_of_nodes_and_justifications(filled: tms.Memory) -> None:
    believed = {"Feed:1", "Scan:1", "Policy:1", "Flag:14", "Block:14", "Page:14"}
    refs = [*(node.ref for node in filled.scan().items), "justification:by-feed"]
    refs += ["justification:block-22", "justification:only-feed"]
    believed |= {"justification:by-feed", "justification:only-feed"}
    for ref in refs:
        assert filled.believes(ref) is (ref in believed)
        assert filled.status(ref) is (IN if ref in believed else OUT)
        assert filled.get(ref).status is filled.status(ref)


@pytest.mark.parametrize("verb", ["believes", "status", "get", "history"])
def test_an_unknown_ref_is_named_by_every_question(filled: tms.Memory, verb: str) -> None:
    view = filled.as_of(recorded=filled.head)
    for reader, hint in ((filled, "declare it first"), (view, "declared after this anchor")):
        with pytest.raises(tms.NoSuchNode, match="no such node: Fede:1") as caught:
            getattr(reader, verb)("Fede:1")
        assert hint in caught.value.hint
        with pytest.raises(tms.NoSuchJustification, match="no such justification"):
            getattr(reader, verb)("justification:Fede")


def test_the_life_of_a_fact_is_told_in_order(filled: tms.Memory) -> None:
    filled.retract("Scan:1", reason="noisy", by="oncall")
    told = [(event.anchor.revision, event.what) for event in filled.history("Flag:14")]
    assert told[:2] == [(4, "declared"), (4, "in")]
    assert {what for _, what in told[2:]} == {"moved"}
    assert told == sorted(told, key=lambda event: event[0])
    supports = [event.support for event in filled.history("Flag:14") if event.support]
    assert supports[-1] == filled.get("Flag:14").support == "by-feed"
    assert [event.what for event in filled.history("Flag:22")] == [
        *("declared", "in", "out", "in", "retracted", "out")
    ]
    last = filled.history("Scan:1")[-1]
    assert (last.what, last.op, last.reason, last.by) == ("out", "retract", "noisy", "oncall")


def test_the_life_of_a_justification_is_told_too(filled: tms.Memory) -> None:
    told = [(event.what, event.reason) for event in filled.history("justification:block-14")]
    assert told == [("declared", None), ("retracted", "false alarm"), ("unretracted", None)]


# ---------------------------------------------------------------- many things


def test_holding_gives_the_facts_that_are_in_and_no_sources(filled: tms.Memory) -> None:
    assert list(filled.holding()) == ["Block:14", "Flag:14", "Page:14", "Policy:1"]
    assert list(filled.holding("Flag")) == list(filled.holding(kind="Flag")) == ["Flag:14"]
    assert list(filled.holding("Feed")) == list(filled.holding("Nothing")) == []
    assert all(type(ref) is tms.Ref for ref in filled.holding())


def test_a_walk_over_what_holds_is_pinned_to_the_moment_of_the_call(memory: tms.Memory) -> None:
    feed = memory.source("Feed:1")
    memory.load(
        {"justification": None, "premises": [feed], "derives": [f"Flag:{n:05}"]}
        for n in range(2500)
    )
    walk = memory.holding()
    first = next(walk)
    memory.retract(feed)
    memory.axiom("Flag:new")
    rest = list(walk)
    assert [first, *rest] == [f"Flag:{n:05}" for n in range(2500)]
    assert list(memory.holding()) == ["Flag:new"]


def test_the_log_tells_every_commit_up_to_the_call(filled: tms.Memory) -> None:
    log = filled.log()
    next(log)
    filled.source("Feed:9")
    assert sum(1 for _ in log) == 12
    commits = list(filled.log())
    assert [commit.anchor.revision for commit in commits] == list(range(1, 15))
    assert commits[0].op == "source"
    assert [commit.op for commit in commits[8:10]] == ["revise", "retract"]
    assert (commits[9].died, commits[9].revived, commits[9].believed) == (2, 0, 4)
    for commit in commits:
        assert list(filled.log(after=commit.anchor)) == commits[commit.anchor.revision :]


def test_the_log_of_many_commits_is_whole(memory: tms.Memory) -> None:
    for _ in range(600):
        memory.retract("Feed:1") or memory.unretract("Feed:1") if memory.head else memory.source(
            "Feed:1"
        )
    assert [commit.anchor.revision for commit in memory.log()] == list(range(1, 601))


def test_counts_say_how_much_there_is(filled: tms.Memory) -> None:
    stats = filled.stats()
    assert (stats.sources, stats.facts, stats.justifications) == (2, 6, 6)
    assert (stats.believed, stats.retracted) == (4, 1)
    assert (stats.head, stats.format) == (filled.head, 1)
    assert stats.bytes > 4096
    assert stats.sqlite.count(".") == 2


def test_an_empty_memory_answers_too(memory: tms.Memory) -> None:
    assert memory.head is None
    assert list(memory.holding()) == list(memory.log()) == []
    assert memory.scan() == tms.Page(items=(), next_cursor=None)
    assert memory.stats().believed == 0
    assert memory.verify()


# ---------------------------------------------------------------- scans


def test_ct05_a_scan_goes_on_from_its_cursor(filled: tms.Memory) -> None:
    first = filled.scan(limit=2)
    second = filled.scan(limit=2, after=first.next_cursor)
    assert [node.ref for node in (*first.items, *second.items)] == [
        *("Block:14", "Block:22", "Feed:1", "Flag:14")
    ]


def test_a_scan_gives_every_node_once_whatever_the_page(filled: tms.Memory) -> None:
    whole = filled.scan()
    assert whole.next_cursor is None
    for limit in range(1, 9):
        assert walk(filled, limit) == list(whole.items)
    assert len(whole.items) == 8
    for kind in ("Flag", "Feed", "Nothing"):
        assert walk(filled, 1, kind) == [node for node in whole.items if node.ref.kind == kind]


def test_a_page_that_ends_with_the_last_node_has_no_cursor(filled: tms.Memory) -> None:
    assert filled.scan(limit=8).next_cursor is None
    assert filled.scan(limit=7).next_cursor is not None


def test_the_pages_of_a_scan_show_the_commit_at_which_it_began(memory: tms.Memory) -> None:
    memory.load({"axiom": f"Fact:{number:03}"} for number in range(201))
    for limit in (1, 50):
        before = memory.scan(limit=1000)
        cursor, seen, number = None, [], 0
        while True:
            page = memory.scan(limit=limit, after=cursor)
            seen += page.items
            cursor = page.next_cursor
            if cursor is None:
                break
            if number < 5:
                memory.axiom([f"Fact:{number:03}-{limit}", f"Fact:{200 - number:03}-{limit}"])
                memory.retract([f"Fact:{number:03}", f"Fact:{180 + number:03}"])
                memory.revise(f"Fact:{190 + number:03}", content={"limit": limit, "n": number})
            number += 1
        assert seen == list(before.items)
        assert len(memory.scan(limit=1000).items) > len(seen)


@pytest.mark.parametrize("limit", [0, -1, 1001, 10**20, 1.0, "10", None, True])
def test_a_limit_out_of_range_is_refused(filled: tms.Memory, limit: object) -> None:
    with pytest.raises(tms.InvalidArgument, match="limit"):
        filled.scan(limit=limit)


@pytest.mark.parametrize("limit", [1, 1000])
def test_a_limit_at_the_end_of_its_range_is_taken(filled: tms.Memory, limit: int) -> None:
    assert filled.scan(limit=limit).items


def test_a_cursor_that_was_changed_is_refused(filled: tms.Memory) -> None:
    cursor = filled.scan(limit=2).next_cursor
    raw = base64.urlsafe_b64decode(cursor)
    changed = [
        cursor[:-4],
        cursor[4:],
        cursor + "AAAA",
        cursor + "\n",
        "",
        "0",
        "é",
        "[]",
        cursor[::-1],
    ]
    changed += [base64.urlsafe_b64encode(raw[:8] + raw[8:].replace(b"scan", b"scam")).decode()]
    for place in range(len(raw)):
        flipped = bytearray(raw)
        flipped[place] ^= 1
        changed.append(base64.urlsafe_b64encode(bytes(flipped)).decode())
    for wrong in (*changed, 5, b"here", True):
        with pytest.raises(tms.InvalidCursor, match="not a cursor"):
            filled.scan(limit=2, after=wrong)
    assert filled.scan(limit=2, after=cursor).items


def test_a_cursor_belongs_to_the_kind_it_was_given_for(filled: tms.Memory) -> None:
    of_all, of_flags = (
        filled.scan(limit=1).next_cursor,
        filled.scan(kind="Flag", limit=1).next_cursor,
    )
    for cursor, kind in ((of_all, "Flag"), (of_flags, None), (of_flags, "Block")):
        with pytest.raises(tms.InvalidCursor, match="of a scan of"):
            filled.scan(kind=kind, after=cursor)


def test_a_cursor_belongs_to_the_view_it_was_given_by(filled: tms.Memory) -> None:
    anchors = [commit.anchor for commit in filled.log()]
    old, now = (filled.as_of(recorded=anchor) for anchor in (anchors[7], anchors[-1]))
    cursors = {reader: reader.scan(limit=1).next_cursor for reader in (old, now, filled)}
    for giver, cursor in cursors.items():
        for taker in (old, now, filled):
            if taker is giver:
                assert taker.scan(limit=1, after=cursor).items
            else:
                with pytest.raises(tms.InvalidCursor):
                    taker.scan(limit=1, after=cursor)


def test_a_cursor_of_a_view_goes_on_in_another_view_of_the_same_commit(filled: tms.Memory) -> None:
    anchor = filled.head
    cursor = filled.as_of(recorded=anchor).scan(limit=3).next_cursor
    filled.source("A:1")
    rest = filled.as_of(recorded=anchor).scan(after=cursor).items
    assert [node.ref for node in rest] == ["Flag:14", "Flag:22", "Page:14", "Policy:1", "Scan:1"]


def test_a_cursor_of_another_file_is_refused(filled: tms.Memory) -> None:
    with tms.open(":memory:", clock=Clock(NOON + timedelta(days=1))) as other:
        fill(other)
        cursor = other.scan(limit=1).next_cursor
        other.source("Feed:9")
        ahead = other.scan(limit=1).next_cursor
    for wrong in (cursor, ahead):
        with pytest.raises(tms.InvalidCursor, match="another file"):
            filled.scan(limit=1, after=wrong)


# ---------------------------------------------------------------- the past


def test_a_view_shows_each_commit_as_it_was_whatever_came_later(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"

    def shown(reader: tms.Memory | tms.View) -> str:
        found = [reader.head, *reader.holding(), *reader.log(), reader.scan()]
        for node in reader.scan().items:
            found += [*reader.history(node), reader.get(node), reader.believes(node)]
        return json.dumps([str(item) for item in found])

    seen: dict[str, str] = {}

    class Watching(Clock):
        def __call__(self):  # what is seen just before the next commit is the last one
            if self.memory.head is not None:
                seen[self.memory.head] = shown(self.reader)
            return super().__call__()

    clock = Watching()
    with tms.open(path, clock=clock) as memory, tms.open(path, read_only=True) as reader:
        clock.memory, clock.reader = memory, reader
        fill(memory)
        seen[memory.head] = shown(memory)
        memory.retract(["Feed:1", "Scan:1", "Policy:1"])
        memory.revise("Feed:1", content={})
    assert len(seen) >= 14
    with tms.open(path, read_only=True) as memory:
        for anchor, text in seen.items():
            assert shown(memory.as_of(recorded=anchor)) == text


def test_what_was_declared_later_is_unknown_in_a_view(filled: tms.Memory) -> None:
    first = next(filled.log()).anchor
    view = filled.as_of(recorded=first)
    assert [node.ref for node in view.scan().items] == ["Feed:1"]
    assert view.get("Feed:1").content == {"rows": 1}
    for ref, kind in (
        ("Flag:14", tms.NoSuchNode),
        ("justification:by-feed", tms.NoSuchJustification),
    ):
        for verb in (view.believes, view.status, view.get, view.history):
            with pytest.raises(kind):
                verb(ref)


def test_a_view_has_no_verbs_that_write(filled: tms.Memory) -> None:
    view = filled.as_of(recorded=filled.head)
    for verb in ("source", "fact", "justify", "axiom", "revise", "retract", "unretract", "load"):
        assert not hasattr(view, verb)
