"""Faults that real systems had, each under the number it is kept by."""

from collections.abc import Iterator
from itertools import permutations
from pathlib import Path

import pytest
from making import Clock, dump

import tms


@pytest.fixture
def memory() -> Iterator[tms.Memory]:
    with tms.open(":memory:", clock=Clock()) as memory:
        yield memory


def supports(memory: tms.Memory, *pairs: str) -> None:
    """Record ``"A B => C"`` each; a name with an S is a source."""
    for pair in pairs:
        left, _, right = pair.partition(" => ")
        needed = [f"N:{name}" for name in left.split()]
        for ref in needed:
            if ref.startswith("N:S"):
                memory.source(ref)
        memory.justify([f"N:{name}" for name in right.split()], needed, id=pair)


def held(memory: tms.Memory | tms.View) -> str:
    return " ".join(ref.id for ref in memory.holding())


def ids(refs: tuple[tms.Ref, ...]) -> str:
    return " ".join(ref.id for ref in refs)


# ---------------------------------------------------------------- C01 cascade report


def test_c01_a_fact_reached_on_two_ways_dies_once_and_never_survives_through_what_dies_later(
    memory: tms.Memory,
) -> None:
    supports(memory, "S => R", "R => A", "R => X", "X => B", "A => D", "B => D", "D => E")
    report = memory.retract("N:S")
    assert ids(report.died) == "A B D E R X"
    assert report.survived_via == ()
    assert "moved" not in [event.what for event in memory.history("N:D")]
    assert memory.report(report.after) == report


def test_c01_two_premises_lost_in_one_call_leave_no_survivor_between_them(
    memory: tms.Memory,
) -> None:
    supports(memory, "S1 => A", "S2 => B", "A => D", "B => D")
    report = memory.retract(["N:S1", "N:S2"])
    assert ids(report.died) == "A B D"
    assert report.survived_via == ()


# ---------------------------------------------------------------- C03 shared origin


def test_c03_two_ways_from_one_source_are_one_origin_and_from_two_sources_are_two(
    memory: tms.Memory,
) -> None:
    supports(memory, "S => X", "X => A", "X => B", "A => D", "B => D")
    supports(memory, "S1 => A2", "S2 => B2", "A2 => D2", "B2 => D2")
    one, two = memory.origins("N:D"), memory.origins("N:D2")
    assert (one.count, one.sets) == (1, (("N:S",),))
    assert (two.count, two.sets) == (2, (("N:S1",), ("N:S2",)))
    assert not one.truncated
    assert not two.truncated
    memory.retract("N:S1")
    assert memory.believes("N:D2")
    assert memory.origins("N:D2").sets == (("N:S2",),)
    memory.unretract("N:S1")
    assert memory.origins("N:D2").sets == two.sets


# ---------------------------------------------------------------- C05 as of


def answers(memory: tms.Memory, anchor: tms.Anchor) -> tuple[str, ...]:
    """Return all that a commit tells about N:F and N:G, to the byte."""
    view = memory.as_of(recorded=anchor)
    shown = [
        view.scan(),
        view.report(anchor),
        view.what_if(retract="N:S1"),
        view.impact("N:S1"),
        view.critical(),
    ]
    for ref in ("N:F", "N:G"):
        asked = (view.get, view.why, view.why_not, view.environments, view.origins, view.cuts)
        shown += [ask(ref) for ask in asked]
        shown += view.history(ref)
    return held(view), *(model.model_dump_json() for model in shown)


def test_c05_what_is_told_of_a_commit_stays_the_same_whatever_is_written_later(
    memory: tms.Memory,
) -> None:
    supports(memory, "S1 => F", "F => G")
    anchors = [memory.head]
    supports(memory, "S2 => F")
    anchors.append(memory.head)
    memory.retract(["N:S1", "N:S2"])
    anchors.append(memory.head)
    assert [memory.as_of(recorded=at).origins("N:F").count for at in anchors] == [1, 2, 0]
    assert [memory.as_of(recorded=at).believes("N:F") for at in anchors] == [True, True, False]
    assert memory.as_of(recorded=anchors[0]).cuts("N:F").sets == (("N:S1",),)
    before = [answers(memory, anchor) for anchor in anchors]

    old = {"justification": "S1 => F", "premises": ["N:S1"], "derives": ["N:F"]}
    memory.load([{"source": "N:S1"}, old], reason="an old copy")
    supports(memory, "S3 => F", "F => H", "S1 => G", "S3 F => G")
    memory.unretract("N:S1")
    memory.revise("N:S2", content={"said": "later"}, reason="not known before")
    assert [answers(memory, anchor) for anchor in anchors] == before
    assert memory.origins("N:F").count == 2
    for anchor in anchors:
        view = memory.as_of(recorded=anchor)
        with pytest.raises(tms.NoSuchNode):
            view.why("N:H")
        with pytest.raises(tms.NoSuchJustification):
            view.origins("justification:S3 F => G")


# ---------------------------------------------------------------- C07 and C21 cyclic support


def test_c07_a_ring_whose_ground_is_gone_holds_nothing_up(memory: tms.Memory) -> None:
    supports(memory, "S => A", "A => B", "B => C", "C => A", "B C => D")
    for _ in range(3):
        report = memory.retract("N:S")
        assert ids(report.died) == "A B C D"
        assert report.survived_via == ()
        assert held(memory) == ""
        assert ids(memory.unretract("N:S").revived) == "A B C D"


def test_c07_a_fact_that_would_support_itself_is_refused(memory: tms.Memory) -> None:
    supports(memory, "S => D")
    with pytest.raises(tms.InvalidJustification, match="Nothing can support itself"):
        memory.justify("N:D", ["N:D"])
    assert memory.get("N:D").support == "S => D"


def test_c07_following_supports_in_a_ring_ends_in_its_source(memory: tms.Memory) -> None:
    supports(memory, "S => A", "A => B", "B => C", "C => A", "B C => D")
    seen, open_refs = set(), ["N:D"]
    while open_refs:
        ref = open_refs.pop()
        seen.add(ref)
        if memory.get(ref).role == "fact":
            needed = memory.get(f"justification:{memory.get(ref).support}").premises
            assert ref not in needed
            open_refs += [premise for premise in needed if premise not in seen]
    assert "N:S" in seen
    assert memory.get("N:A").support == "S => A"


def test_c07_an_explanation_within_a_ring_ends_in_its_source(memory: tms.Memory) -> None:
    supports(memory, "S => A", "A => B", "B => C", "C => A", "B C => D")
    for name, behind in (("A", "A S"), ("C", "A B C S"), ("D", "A B C D S")):
        why = memory.why(f"N:{name}")
        assert not why.truncated
        assert ids(tuple(sorted(step.ref for step in why))) == behind
        assert [step.ref for step in why if step.role == "source"] == ["N:S"]
        assert memory.environments(f"N:{name}").sets == (("N:S",),)
        assert memory.origins(f"N:{name}").count == 1
    memory.retract("N:S")
    assert not memory.why("N:A")
    assert memory.why_not("N:A").retracted == ("N:S",)
    assert memory.origins("N:A").count == 0


def test_c21_the_end_does_not_depend_on_the_order_in_which_the_grounds_of_a_ring_go(
    memory: tms.Memory,
) -> None:
    supports(memory, "S1 => A", "S2 => B", "A => B", "B => A", "A => T")
    report = memory.retract("N:S1")
    assert report.died == ()
    survivors = {survivor.fact.id: survivor.via for survivor in report.survived_via}
    assert survivors == {"A": ("B => A",)}
    assert ids(memory.retract("N:S2").died) == "A B T"
    assert ids(memory.unretract("N:S2").revived) == "A B T"
    memory.unretract("N:S1")

    report = memory.retract("N:S2")
    assert report.died == ()
    assert {survivor.fact.id: survivor.via for survivor in report.survived_via} == {
        "B": ("A => B",)
    }
    assert ids(memory.retract("N:S1").died) == "A B T"
    assert ids(memory.unretract("N:S1").revived) == "A B T"
    memory.unretract("N:S2")
    assert held(memory) == "A B T"


def test_c21_a_conclusion_keeps_its_other_ground_and_gains_one_back(memory: tms.Memory) -> None:
    supports(memory, "S4 => P", "S5 => R", "P => Q", "R => Q")
    report = memory.retract("N:S4")
    assert ids(report.died) == "P"
    assert {survivor.fact.id: survivor.via for survivor in report.survived_via} == {
        "Q": ("R => Q",)
    }
    supports(memory, "S6 => P")
    assert memory.believes("N:P")
    assert memory.believes("justification:P => Q")
    assert memory.believes("justification:R => Q")
    assert memory.retract("N:S5").survived_via[0].via == ("P => Q",)


# ---------------------------------------------------------------- C09 resurrect


OLD = [
    {"source": "N:S1"},
    {"justification": "S1 => F", "premises": ["N:S1"], "derives": ["N:F"]},
    {"justification": "F => D", "premises": ["N:F"], "derives": ["N:D"]},
]


def test_c09_loading_old_rows_brings_back_nothing_that_was_retracted_since(
    tmp_path: Path,
) -> None:
    path = tmp_path / "memory.db"
    with tms.open(path, clock=Clock()) as memory:
        memory.load(OLD)
        memory.retract("N:S1", reason="forgotten")
        before = dump(path)
        for _ in range(2):
            loaded = memory.load(OLD, reason="an old copy")
            assert not loaded
            assert (loaded.switched, loaded.believed_after) == (0, 0)
            assert held(memory) == ""
        assert dump(path) == before
        assert memory.get("N:S1").retracted


def test_c09_new_rows_over_old_ones_are_taken_without_waking_the_old(memory: tms.Memory) -> None:
    memory.load(OLD)
    memory.retract(["N:S1", "justification:F => D"])
    more = {"justification": "S2 => F", "premises": ["N:S2"], "derives": ["N:F"]}
    loaded = memory.load([*OLD, {"source": "N:S2"}, more])
    assert (loaded.sources, loaded.facts, loaded.justifications) == (1, 0, 1)
    assert held(memory) == "F"
    assert memory.get("N:S1").retracted
    assert memory.get("justification:F => D").retracted


def test_c09_rows_with_a_retraction_give_the_same_state_in_an_empty_file_and_twice(
    memory: tms.Memory,
) -> None:
    rows = [*OLD, {"retract": ["N:S1"], "reason": "forgotten"}]
    memory.load(rows)
    assert held(memory) == ""
    assert memory.get("N:S1").retracted
    head = memory.head
    assert not memory.load(rows)
    assert memory.head == head
    assert ids(memory.unretract("N:S1").revived) == "D F"


def test_c09_an_old_bundle_brings_nothing_back_and_a_new_one_brings_all_of_it(
    memory: tms.Memory,
) -> None:
    supports(memory, "S1 => F", "F => D", "S2 => G", "S2 => H")
    memory.source("Pin:F", content={"pinned": "N:F"})
    memory.retract("N:G", reason="G against H: H is right", by="oncall")  # a conflict, resolved
    old = list(memory.export())
    memory.retract("N:S1", reason="bad feed")
    told: list[tms.Report] = []
    memory.on_commit(told.append)
    before = memory.head
    for _ in range(2):
        imported = memory.import_(old)
        assert not imported
        assert imported.retracted == ("N:S1",)
        assert "known, retracted here  1\n    N:S1" in str(imported)
        assert (memory.head, held(memory), told) == (before, "H", [])

    new = list(memory.export())
    with tms.open(":memory:") as copy:
        copy.on_commit(told.append)
        assert copy.import_(new).commits == before.revision == len(told)
        assert list(copy.log()) == list(memory.log())
        assert list(copy.scan()) == list(memory.scan())
        for ref in ("N:F", "N:G", "N:S1", "Pin:F", "justification:F => D"):
            assert copy.get(ref) == memory.get(ref)
            assert list(copy.history(ref)) == list(memory.history(ref))
        assert copy.why_not("N:D") == memory.why_not("N:D")
        assert not copy.import_(new)
        assert (copy.head, len(told)) == (before, before.revision)
        assert list(copy.export()) == new
        assert copy.unretract("N:S1").revived == ("N:D", "N:F")


# ---------------------------------------------------------------- C15 crash


def test_c15_work_that_failed_is_not_kept_by_the_next_that_succeeds(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with tms.open(path, clock=Clock()) as memory:
        supports(memory, "S => A", "A => B", "B => C", "C => D", "D => E")
        before, head = dump(path), memory.head
        for attempt in range(3):
            with pytest.raises(RuntimeError), memory.batch():
                memory.retract("N:S")
                if attempt:
                    with memory.batch():
                        memory.fact("N:half")
                raise RuntimeError("in the middle")
            assert dump(path) == before
        memory.fact("N:unrelated")
        assert memory.head.revision == head.revision + 1
    with tms.open(path) as memory:
        assert held(memory) == "A B C D E"
        assert [node.ref.id for node in memory.scan().items][-1] == "unrelated"
        assert memory.verify(revisions=None)


# ---------------------------------------------------------------- C43 dead premise


def test_c43_a_conclusion_from_a_premise_that_is_gone_is_out_from_its_first_moment(
    memory: tms.Memory,
) -> None:
    supports(memory, "S1 => A", "S2 => B")
    memory.retract("N:S2")
    supports(memory, "A B => C")
    assert held(memory) == "A"
    assert not memory.believes("justification:A B => C")
    assert "in" not in [event.what for event in memory.history("N:C")]
    assert ids(memory.unretract("N:S2").revived) == "B C"
    assert ids(memory.retract("N:S2").died) == "B C"


@pytest.mark.parametrize("order", list(permutations(["retract", "conclude"])), ids=" then ".join)
def test_c43_a_premise_lost_in_the_same_batch_is_lost_in_both_orders(
    memory: tms.Memory, order: tuple[str, ...]
) -> None:
    supports(memory, "S1 => A", "S2 => B")
    with memory.batch() as batch:
        for step in order:
            if step == "retract":
                memory.retract("N:S2")
            else:
                supports(memory, "A B => C2")
    assert held(memory) == "A"
    assert ids(batch.report.died) == "B"
    assert batch.report.revived == ()


@pytest.mark.parametrize("order", list(permutations(["retract", "assert"])), ids=" then ".join)
def test_c43_a_fact_that_is_said_anew_in_the_same_batch_stays_in_both_orders(
    memory: tms.Memory, order: tuple[str, ...]
) -> None:
    supports(memory, "S1 => A", "S2 => B", "B => C")
    with memory.batch() as batch:
        for step in order:
            if step == "retract":
                memory.retract("N:S2")
            else:
                supports(memory, "S7 => B")
    assert held(memory) == "A B C"
    assert batch.report.died == batch.report.revived == ()
    assert memory.get("N:B").support == "S7 => B"
    assert {survivor.fact.id: survivor.via for survivor in batch.report.survived_via} == {
        "B": ("S7 => B",)
    }
