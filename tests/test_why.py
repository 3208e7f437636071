"""Why something is believed. Random worlds are judged in test_machine.py."""

import pytest

import tms
from benchmarks.families import FAMILIES


@pytest.fixture
def memory() -> tms.Memory:
    memory = tms.open(":memory:")
    memory.source("Feed:1", content={"v": 1})
    memory.source("Scan:1")
    memory.axiom("Policy:1")
    memory.justify("Flag:14", "Feed:1", rule="match", id="feed")
    memory.justify("Flag:14", "Scan:1", rule="scan", id="scan")
    memory.justify("Block:14", ["Flag:14", "Policy:1"], rule="block", id="block")
    memory.justify("Flag:14", "Block:14", rule="loop", id="loop")
    return memory


def test_a_derivation_ends_in_sources_and_axioms(memory: tms.Memory) -> None:
    why = memory.why("Block:14")
    assert [(step.ref, step.depth) for step in why] == [
        ("Block:14", 0),
        ("Policy:1", 1),
        ("Flag:14", 1),
        ("Feed:1", 2),
    ]
    flag = why.steps[2]
    assert [(item.ref, item.supports, item.circular) for item in flag.because] == [
        ("justification:feed", True, False),
        ("justification:scan", False, False),
        ("justification:loop", False, True),
    ]
    assert why.steps[1].because[0].premises == ()
    assert why.steps[3].content == {"v": 1}
    assert tms.Why.model_validate_json(why.to_json()) == why
    assert "also by justification:loop  rule loop  circular" in str(why)


def test_what_is_kept_by_another_source_does_not_cite_the_one_withdrawn(memory: tms.Memory) -> None:
    before = memory.head
    memory.retract("Feed:1", reason="wrong mapping", by="oncall")
    assert "Feed:1" not in {step.ref for step in memory.why("Block:14")}
    assert "justification:feed" not in str(memory.why("Block:14"))
    (withdrawn,) = [event for event in memory.history("Feed:1") if event.what == "retracted"]
    assert (withdrawn.reason, withdrawn.by) == ("wrong mapping", "oncall")
    view = memory.as_of(recorded=before or "")
    assert "Feed:1" in {step.ref for step in view.why("Block:14")}


def test_what_is_out_has_no_derivation(memory: tms.Memory) -> None:
    memory.retract(["Feed:1", "Scan:1"])
    why = memory.why("Block:14")
    assert not why
    assert why.steps == ()
    assert not memory.why("justification:block")
    assert memory.why("Policy:1")


def test_of_a_justification_it_is_the_derivation_of_its_premises(memory: tms.Memory) -> None:
    why = memory.why("justification:block")
    assert why
    assert [step.ref for step in why] == ["Policy:1", "Flag:14", "Feed:1"]


def test_limits_are_marked_never_silent(memory: tms.Memory) -> None:
    assert not memory.why("Block:14").truncated
    assert memory.why("Block:14", nodes=3).truncated
    assert not memory.why("Block:14", nodes=4).truncated
    assert memory.why("Block:14", depth=1).truncated
    assert not memory.why("Block:14", depth=2).truncated
    assert [step.ref for step in memory.why("Block:14", depth=0)] == ["Block:14"]
    with memory.batch():
        for i in range(30):
            memory.justify("Flag:14", f"{memory.source(f'Scan:{i + 2}')}")
    why = memory.why("Flag:14")
    assert why.truncated
    assert len(why.steps[0].because) == 21


def test_premises_that_come_from_one_justification_are_no_circle() -> None:
    with tms.open(":memory:") as memory:
        memory.source("S:1")
        memory.justify(["F:1", "F:2"], "S:1")
        memory.justify("F:3", "S:1", id="first")
        memory.justify("F:3", ["F:1", "F:2"], id="second")
        (step, *_) = memory.why("F:3")
        assert [item.circular for item in step.because] == [False, False]


@pytest.mark.parametrize("limits", [{"nodes": 0}, {"nodes": None}, {"nodes": True}, {"depth": -1}])
def test_limits_out_of_range_are_refused(memory: tms.Memory, limits: dict[str, int]) -> None:
    with pytest.raises(tms.InvalidArgument):
        memory.why("Block:14", **limits)


def test_shared_premises_are_one_step_each_however_many_paths_there_are() -> None:
    with tms.open(":memory:") as memory:
        with memory.batch():
            for name in ("A", "B"):
                memory.axiom(f"{name}:0")
            for level in range(31):
                for name in ("A", "B"):
                    memory.justify(f"{name}:{level + 1}", [f"A:{level}", f"B:{level}"])
        why = memory.why("A:31")
        assert len(why.steps) == 63
        assert not why.truncated


def test_a_long_chain_is_followed_to_its_end_without_recursion() -> None:
    with tms.open(":memory:") as memory:
        memory.load(FAMILIES["chain"].rows(5_000))
        last = list(memory.holding())[-1]
        why = memory.why(last, nodes=10_000)
        assert len(why.steps) == 5_001
        assert not why.truncated
