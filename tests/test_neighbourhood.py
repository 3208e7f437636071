"""What stands around something. Random worlds are judged in test_machine.py."""

import pytest
from making import fill

import tms
from benchmarks.families import FAMILIES


@pytest.fixture
def memory() -> tms.Memory:
    memory = tms.open(":memory:")
    fill(memory)
    return memory


def test_it_goes_both_ways_and_never_to_what_merely_shares_a_premise(memory: tms.Memory) -> None:
    near = memory.neighbourhood("Flag:14", depth=2)
    assert {node.ref: (node.down, node.up) for node in near} == {
        "Flag:14": (0, 0),
        "Feed:1": (1, None),
        "Scan:1": (1, None),
        "Block:14": (None, 1),
        "Page:14": (None, 1),
    }
    assert near.nodes[0].ref == "Flag:14"
    block = next(link for link in near.justifications if link.rule == "block")
    assert block.premises == ("Flag:14", "Policy:1")  # beside the way: named, not told
    assert not near.truncated
    assert tms.Neighbourhood.model_validate_json(near.to_json()) == near


def test_what_does_not_fire_is_in_it_and_says_so(memory: tms.Memory) -> None:
    near = memory.neighbourhood("Block:22", depth=2)
    nodes = {node.ref: node for node in near}
    assert (nodes["Flag:22"].status, nodes["Flag:22"].retracted) == ("OUT", True)
    links = {link.ref.id: (link.status, link.retracted) for link in near.justifications}
    assert links["block-22"] == ("OUT", False)
    memory.retract("justification:only-feed")
    near = memory.neighbourhood("Flag:22")
    assert ("OUT", True) in [(link.status, link.retracted) for link in near.justifications]
    assert "justification:only-feed  does not fire, retracted" in str(near)


def test_a_ring_ends_and_a_node_on_it_is_near_both_ways() -> None:
    with tms.open(":memory:") as memory:
        memory.fact("F:1")
        memory.justify("F:2", "F:1")
        memory.justify("F:1", "F:2")
        near = memory.neighbourhood("F:1", depth=1_000_000)
        assert [(node.ref, node.down, node.up) for node in near] == [("F:1", 0, 0), ("F:2", 1, 1)]
        assert len(near.justifications) == 2


def test_of_a_justification_it_begins_with_its_own_ends(memory: tms.Memory) -> None:
    near = memory.neighbourhood("justification:block-14")
    assert {node.ref: (node.down, node.up) for node in near} == {
        "Flag:14": (1, None),
        "Policy:1": (1, None),
        "Block:14": (None, 1),
        "Page:14": (None, 1),
    }
    assert [link.ref for link in near.justifications] == ["justification:block-14"]
    alone = memory.neighbourhood("justification:block-14", depth=0)
    assert (alone.nodes, len(alone.justifications)) == ((), 1)


def test_depth_nought_is_the_node_itself_and_falsy(memory: tms.Memory) -> None:
    near = memory.neighbourhood("Flag:14", depth=0)
    assert [node.ref for node in near] == ["Flag:14"]
    assert not near
    assert memory.neighbourhood("Flag:14")


def test_a_view_knows_only_what_was_on_record(memory: tms.Memory) -> None:
    before = memory.head
    memory.justify("Flag:14", memory.source("Late:1"), id="late")
    assert "Late:1" in {node.ref for node in memory.neighbourhood("Flag:14")}
    then = memory.as_of(recorded=before or "").neighbourhood("Flag:14")
    assert "Late:1" not in {node.ref for node in then}
    assert "justification:late" not in {link.ref for link in then.justifications}


def test_limits_are_marked_never_silent() -> None:
    with tms.open(":memory:") as memory:
        memory.load(FAMILIES["fan"].rows(3_000))
        near = memory.neighbourhood("Root:0")
        assert (near.truncated, len(near.nodes)) == (True, 100)
        assert len(near.justifications) <= 100
        assert "left out" in str(near)
    with tms.open(":memory:") as memory:
        many = [memory.source(f"S:{number}") for number in range(30)]
        memory.justify("F:1", many, id="wide")
        assert not memory.neighbourhood("F:1", nodes=31).truncated
        near = memory.neighbourhood("F:1", nodes=30)
        assert (near.truncated, len(near.nodes)) == (True, 30)
        near = memory.neighbourhood(many[-1], nodes=5)
        assert near.truncated
        assert many[-1] in near.justifications[0].premises  # whatever else is cut


@pytest.mark.parametrize(
    "limits", [{"nodes": 0}, {"nodes": None}, {"nodes": True}, {"depth": -1}, {"depth": None}]
)
def test_limits_out_of_range_are_refused(memory: tms.Memory, limits: dict[str, int]) -> None:
    with pytest.raises(tms.InvalidArgument):
        memory.neighbourhood("Flag:14", **limits)


def test_a_long_chain_is_followed_without_recursion() -> None:
    with tms.open(":memory:") as memory:
        memory.load(FAMILIES["chain"].rows(3_000))
        last = list(memory.holding())[-1]
        near = memory.neighbourhood(last, depth=10_000, nodes=10_000)
        assert len(near.nodes) == 3_001
