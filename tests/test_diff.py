"""How two recorded commits differ. Random worlds are judged in test_machine.py."""

import json

import pytest

import tms


@pytest.fixture
def memory() -> tms.Memory:
    return tms.open(":memory:")


def test_the_net_difference_is_told_in_both_directions(memory: tms.Memory) -> None:
    feed = memory.source("Feed:1", content={"v": 1})
    memory.justify("Flag:1", [feed], rule="r", id="old")
    first = memory.head
    memory.source("Scan:1")
    memory.justify("Flag:2", ["Scan:1"], id="new")
    memory.revise(feed, content={"v": 2}, reason="fix")
    memory.revise(feed, content={"v": 3}, reason="fix")
    memory.retract(feed)
    memory.retract("justification:new")
    memory.unretract("justification:new")
    last = memory.head
    assert first is not None
    assert last is not None
    there = memory.diff(first, last)
    assert there
    assert there.died == ("Flag:1",)
    assert there.revived == ("Flag:2",)
    assert there.added == ("Flag:2", "Scan:1")
    assert there.new_justifications == ("justification:new",)
    assert there.retracted == ("Feed:1",)
    assert there.unretracted == ()
    assert [(item.ref, item.before, item.after) for item in there.revised] == [("Feed:1", 1, 3)]
    back = memory.diff(last, first)
    assert back.revived == ("Flag:1",)
    assert back.died == ("Flag:2",)
    assert back.missing == there.added
    assert back.missing_justifications == there.new_justifications
    assert back.unretracted == there.retracted
    assert [(item.before, item.after) for item in back.revised] == [(3, 1)]


def test_a_commit_does_not_differ_from_itself(memory: tms.Memory) -> None:
    memory.source("Feed:1")
    assert memory.head is not None
    same = memory.diff(memory.head, memory.head)
    assert not same
    assert "no difference" in str(same)


def test_what_came_and_went_in_between_is_no_difference(memory: tms.Memory) -> None:
    memory.source("Feed:1")
    memory.justify("Flag:1", ["Feed:1"])
    before = memory.head
    memory.retract("Feed:1")
    memory.unretract("Feed:1")
    assert before is not None
    assert memory.head is not None
    assert not memory.diff(before, memory.head)


def test_anchors_that_are_none_of_it_are_refused(memory: tms.Memory) -> None:
    memory.source("Feed:1")
    first = memory.head
    assert first is not None
    memory.source("Feed:2")
    last = memory.head
    assert last is not None
    view = memory.as_of(recorded=first)
    with pytest.raises(tms.NoSuchAnchor):
        view.diff(first, last)
    with pytest.raises(tms.NoSuchAnchor):
        memory.diff(first, last.replace("02:", "03:"))
    with pytest.raises(tms.InvalidAnchor):
        memory.diff("yesterday", last)


def test_the_forms_of_a_difference(memory: tms.Memory) -> None:
    memory.source("Feed:1")
    before = memory.head
    with memory.batch():
        for i in range(25):
            memory.justify(f"Flag:{i:02}", ["Feed:1"])
    assert before is not None
    assert memory.head is not None
    diff = memory.diff(before, memory.head)
    assert json.loads(diff.to_json())["newJustifications"] == list(diff.new_justifications)
    assert tms.Diff.model_validate_json(diff.to_json()) == diff
    assert "    … 5 more" in str(diff).splitlines()
    assert "more" not in diff.text()
    assert "    Flag:24" in diff.text().splitlines()
