"""Why something is not believed. Random worlds are judged in test_machine.py."""

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


def test_the_walk_goes_down_to_what_was_switched_off(memory: tms.Memory) -> None:
    memory.retract("Scan:1", reason="stale", by="ops")
    memory.retract("Feed:1", reason="wrong mapping", by="oncall")
    absence = memory.why_not("Block:14")
    assert absence
    assert [(lack.ref, lack.depth) for lack in absence] == [
        ("Block:14", 0),
        ("Flag:14", 1),
        ("Feed:1", 2),
        ("Scan:1", 2),
    ]
    block, flag, feed, _ = absence
    assert [(item.ref, item.missing, item.holding) for item in block.waiting] == [
        ("justification:block", ("Flag:14",), ("Policy:1",))
    ]
    assert [item.missing for item in flag.waiting] == [("Feed:1",), ("Scan:1",), ("Block:14",)]
    assert (flag.because, flag.op, flag.reason) == (("Feed:1",), "retract", "wrong mapping")
    assert (feed.content, feed.retracted, feed.because) == ({"v": 1}, True, ("Feed:1",))
    assert absence.retracted == ("Feed:1", "Scan:1")
    assert absence.circles == (("Block:14", "Flag:14"),)
    assert tms.WhyNot.model_validate_json(absence.to_json()) == absence
    assert "an ungrounded circle: Block:14, Flag:14" in str(absence)
    assert "misses Flag:14  has Policy:1" in str(absence)


def test_what_is_in_waits_for_nothing(memory: tms.Memory) -> None:
    for ref in ("Block:14", "Feed:1", "justification:block"):
        absence = memory.why_not(ref)
        assert not absence
        assert (absence.lacks, absence.retracted, absence.circles) == ((), (), ())
        assert not absence.truncated


def test_what_its_own_switch_keeps_out_is_an_end(memory: tms.Memory) -> None:
    memory.retract("Feed:1")
    memory.retract("Flag:14", reason="false alarm")
    (flag,) = memory.why_not("Flag:14")
    assert [item.ref.id for item in flag.waiting] == ["scan", "feed", "loop"]
    assert str(flag.waiting[0]).startswith("by justification:scan")
    assert flag.because == ("Flag:14",)
    memory.retract("Scan:1")
    assert memory.why_not("Flag:14").retracted == ("Flag:14", "Feed:1", "Scan:1")


def test_what_never_was_in_is_out_since_it_was_declared(memory: tms.Memory) -> None:
    memory.fact("Flag:22")
    (lack,) = memory.why_not("Flag:22")
    assert (lack.was_in, lack.since, lack.op, lack.because) == (False, memory.head, "fact", ())
    assert "never IN" in str(lack)
    assert "nothing derives it" in str(lack)
    with memory.batch():
        memory.source("Feed:2")
        memory.retract("Feed:2")
    (lack,) = memory.why_not("Feed:2")
    assert (lack.was_in, lack.retracted, lack.because) == (False, True, ())


def test_of_a_justification_it_is_what_it_misses(memory: tms.Memory) -> None:
    memory.retract(["Feed:1", "Scan:1"])
    absence = memory.why_not("justification:block")
    assert [(lack.ref, lack.depth) for lack in absence][:2] == [("Flag:14", 0), ("Feed:1", 1)]
    memory.unretract("Feed:1")
    memory.retract("justification:block")
    absence = memory.why_not("justification:block")
    assert absence
    assert (absence.lacks, absence.retracted) == ((), ("justification:block",))
    assert "retracted: justification:block" in str(absence)


def test_a_justification_switched_off_is_marked_and_followed(memory: tms.Memory) -> None:
    memory.retract(["Feed:1", "Scan:1", "justification:feed"])
    absence = memory.why_not("Flag:14")
    assert absence.lacks[0].waiting[0].retracted
    assert "Feed:1" in {lack.ref for lack in absence}
    assert absence.retracted == ("justification:feed", "Feed:1", "Scan:1")


def test_causes_are_what_was_switched_off_along_the_support_it_had(memory: tms.Memory) -> None:
    memory.source("Other:1")
    memory.retract(["Feed:1", "Scan:1", "Other:1"])
    block = memory.why_not("Block:14").lacks[0]
    assert set(block.because) <= {"Feed:1", "Scan:1"}
    assert block.because
    memory.unretract(["Feed:1", "Scan:1", "Other:1"])
    memory.retract(["Block:14", "justification:block", "Other:1"])
    assert memory.why_not("Block:14").lacks[0].because == ("Block:14", "justification:block")


def test_the_past_is_answered_from_the_record(memory: tms.Memory) -> None:
    memory.retract(["Feed:1", "Scan:1"])
    view = memory.as_of(recorded=memory.head or "")
    before = view.why_not("Block:14").to_json()
    memory.unretract("Feed:1")
    memory.justify("Block:14", memory.fact("Flag:22"))
    assert view.why_not("Block:14").to_json() == before
    assert not memory.why_not("Block:14")
    with pytest.raises(tms.NoSuchNode):
        view.why_not("Flag:22")


def test_limits_are_marked_never_silent(memory: tms.Memory) -> None:
    memory.retract(["Feed:1", "Scan:1"])
    assert not memory.why_not("Block:14").truncated
    assert memory.why_not("Block:14", nodes=3).truncated
    assert not memory.why_not("Block:14", nodes=4).truncated
    assert memory.why_not("Block:14", depth=1).truncated
    assert not memory.why_not("Block:14", depth=2).truncated
    assert [lack.ref for lack in memory.why_not("Block:14", depth=0)] == ["Block:14"]
    with memory.batch():
        for i in range(17):
            memory.justify("Flag:14", f"{memory.fact(f'Scan:{i + 2}')}")
    assert not memory.why_not("Flag:14").truncated
    memory.justify("Flag:14", "Scan:1", rule="again")
    absence = memory.why_not("Flag:14")
    assert absence.truncated
    assert len(absence.lacks[0].waiting) == 20
    memory.justify("Flag:14", "Policy:1", id="fires")
    memory.retract("Flag:14")
    (flag,) = memory.why_not("Flag:14")
    assert (flag.waiting[0].ref.id, len(flag.waiting)) == ("fires", 20)


def test_more_causes_than_are_named_are_marked() -> None:
    with tms.open(":memory:") as memory:
        feeds = [memory.source(f"Feed:{i:02}") for i in range(30)]
        memory.justify("Flag:1", feeds[:20])
        memory.justify("Flag:2", feeds)
        memory.retract(feeds)
        absence = memory.why_not("Flag:1")
        assert (absence.lacks[0].because, absence.truncated) == (tuple(feeds[:20]), False)
        absence = memory.why_not("Flag:2")
        assert (absence.lacks[0].because, absence.truncated) == (tuple(feeds[:20]), True)


@pytest.mark.parametrize("limits", [{"nodes": 0}, {"nodes": None}, {"nodes": True}, {"depth": -1}])
def test_limits_out_of_range_are_refused(memory: tms.Memory, limits: dict[str, int]) -> None:
    with pytest.raises(tms.InvalidArgument):
        memory.why_not("Block:14", **limits)


def test_shared_premises_are_one_lack_each_however_many_paths_there_are() -> None:
    with tms.open(":memory:") as memory:
        with memory.batch():
            for name in ("A", "B"):
                memory.source(f"{name}:0")
            for level in range(31):
                for name in ("A", "B"):
                    memory.justify(f"{name}:{level + 1}", [f"A:{level}", f"B:{level}"])
        memory.retract(["A:0", "B:0"])
        absence = memory.why_not("A:31")
        assert len(absence.lacks) == 63
        assert not absence.truncated
        assert absence.lacks[0].because == ("A:0", "B:0")


def test_a_long_chain_is_followed_to_its_end_without_recursion() -> None:
    with tms.open(":memory:") as memory:
        chain = FAMILIES["chain"]
        memory.load(chain.rows(5_000))
        last = list(memory.holding())[-1]
        memory.source("Other:1")
        for targets in ([chain.withdrawn], [chain.withdrawn, "Other:1"]):
            memory.retract(targets)
            absence = memory.why_not(last, nodes=10_000)
            assert len(absence.lacks) == 5_001
            assert not absence.truncated
            assert {lack.because for lack in absence} == {(chain.withdrawn,)}
            assert memory.why_not(last).truncated
            memory.unretract(targets)


def test_a_long_circle_is_found_without_recursion() -> None:
    with tms.open(":memory:") as memory:
        with memory.batch():
            facts = [memory.fact(f"F:{i:04}") for i in range(3_000)]
            for place, fact in enumerate(facts):
                memory.justify(fact, facts[place - 1])
        absence = memory.why_not(facts[0], nodes=3_000)
        assert absence.circles == (tuple(facts),)
        assert (absence.retracted, absence.truncated) == ((), False)


def test_a_fact_of_very_many_justifications_names_the_first() -> None:
    with tms.open(":memory:") as memory:
        with memory.batch():
            for i in range(3_000):
                memory.justify("Flag:1", memory.fact(f"Sign:{i}"))
            memory.justify("Flag:2", [f"Sign:{i}" for i in range(3_000)])
        absence = memory.why_not("Flag:1")
        assert (len(absence.lacks), absence.truncated) == (21, True)
        absence = memory.why_not("Flag:2")
        assert (len(absence.lacks), absence.truncated) == (1000, True)
        assert len(absence.lacks[0].waiting[0].missing) == 3_000


def test_history_tells_because_of_which_premise(memory: tms.Memory) -> None:
    memory.retract("Feed:1", reason="wrong mapping", by="oncall")
    memory.retract("Scan:1")
    memory.unretract("Scan:1")
    flag = [(e.what, e.because) for e in memory.history("Flag:14") if e.what != "declared"]
    assert flag == [
        ("in", ("justification:feed",)),
        ("moved", ("Feed:1",)),
        ("out", ("Scan:1",)),
        ("in", ("Scan:1",)),
    ]
    block = [(e.what, e.because) for e in memory.history("Block:14") if e.what != "declared"]
    assert block == [
        ("in", ("justification:block",)),
        ("out", ("Flag:14",)),
        ("in", ("Flag:14",)),
    ]
    feed = [(e.what, e.because) for e in memory.history("Feed:1")]
    assert feed == [
        ("declared", ()),
        ("in", ("Feed:1",)),
        ("retracted", ()),
        ("out", ("Feed:1",)),
    ]
    assert "because of Feed:1" in str(memory.history("Flag:14")[2])


def test_history_tells_of_its_own_switch_and_that_of_its_justification(memory: tms.Memory) -> None:
    memory.retract("Block:14")
    memory.unretract("Block:14")
    memory.retract("justification:block")
    memory.unretract("justification:block")
    moves = [e for e in memory.history("Block:14") if e.what in ("in", "out")]
    assert [event.because for event in moves] == [
        ("justification:block",),
        ("Block:14",),
        ("Block:14",),
        ("justification:block",),
        ("justification:block",),
    ]


@pytest.mark.parametrize("others", [[], ["Other:1"]])
def test_what_moved_off_a_support_that_stood_again_names_what_lay_below(others: list[str]) -> None:
    with tms.open(":memory:") as memory:
        for ref in ("S:1", "S:2", "Other:1"):
            memory.source(ref)
        memory.justify("A:1", "S:1")
        memory.justify("B:1", "A:1")
        memory.justify("C:1", "B:1", id="by-b")
        memory.justify("D:1", "S:2")
        memory.justify("E:1", "D:1")
        memory.justify("A:1", "E:1")
        memory.justify("C:1", "A:1", id="by-a")
        memory.retract(["S:1", *others])
        event = memory.history("C:1")[-1]
        assert event.what == "moved"
        assert memory.believes("justification:by-b")
        assert event.because == ("S:1",)


def test_a_fact_kept_by_another_source_never_cites_the_one_withdrawn(memory: tms.Memory) -> None:
    retraction = memory.retract("Feed:1", reason="wrong mapping", by="oncall")
    for ref in ("Flag:14", "Block:14", "justification:block"):
        why = memory.why(ref)
        assert why
        cited = {step.ref for step in why} | {
            ref for step in why for item in step.because for ref in (item.ref, *item.premises)
        }
        assert "Scan:1" in cited
        assert not cited & {"Feed:1", "justification:feed"}
        assert "Feed:1" not in str(why)
        assert "Feed:1" not in why.to_json()
    assert memory.get("Flag:14").support == "scan"
    (told,) = [event for event in memory.history("Feed:1") if event.what == "retracted"]
    assert (told.anchor, told.op) == (retraction.after, "retract")
    assert (told.by, told.reason) == ("oncall", "wrong mapping")
    moved = memory.history("Flag:14")[-1]
    assert (moved.what, moved.support, moved.because) == ("moved", "scan", ("Feed:1",))


def test_the_smallest_sets_of_sources_to_bring_back_are_named() -> None:
    with tms.open(":memory:") as memory:
        for name in ("A:1", "A:2", "B:1", "C:1"):
            memory.source(name)
        memory.justify("F:1", ["A:1", "A:2"])
        memory.justify("F:1", ["B:1", "C:1"])
        memory.justify("F:2", "F:1")
        memory.retract(["A:1", "A:2", "B:1"])
        absence = memory.why_not("F:2")
        assert absence.repairs == (("B:1",), ("A:1", "A:2"))
        assert "would be IN with B:1" in str(absence)
        assert memory.why_not("F:2", repairs=1).truncated
        memory.retract("F:1")
        assert memory.why_not("F:2").repairs == ()
        with pytest.raises(tms.InvalidArgument):
            memory.why_not("F:2", repairs=0)
