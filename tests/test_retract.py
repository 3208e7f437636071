from collections.abc import Iterator
from itertools import permutations
from pathlib import Path

import pytest
from making import Clock, fill, refused, unchanged

import tms


@pytest.fixture
def memory() -> Iterator[tms.Memory]:
    with tms.open(":memory:", clock=Clock()) as memory:
        yield memory


@pytest.fixture
def filled(memory: tms.Memory) -> tms.Memory:
    fill(memory)
    return memory


def held(memory: tms.Memory) -> set[tms.Ref]:
    return set(memory.holding())


# ---------------------------------------------------------------- the switches


def test_retracting_a_source_says_what_died_and_what_survived_via_what(
    filled: tms.Memory,
) -> None:
    filled.unretract("Flag:22")
    before = filled.head
    report = filled.retract("Feed:1", reason="bad mapping", by="oncall")
    assert (report.op, report.changed, bool(report)) == ("retract", True, True)
    assert (report.before, report.after) == (before, filled.head)
    assert report.targets == ("Feed:1",)
    assert report.died == ("Block:22", "Flag:22")
    assert report.revived == ()
    (survivor,) = report.survived_via
    assert (survivor.fact, survivor.ref) == ("Flag:14", "Flag:14")
    assert survivor.lost == ("by-feed",)
    assert survivor.via == (survivor.support,) == (filled.get("Flag:14").support,)
    assert (report.reason, report.by) == ("bad mapping", "oncall")
    assert (report.believed_before, report.believed_after) == (6, 4)


def test_unretracting_is_the_exact_inverse(filled: tms.Memory) -> None:
    before = {node.ref: (node.status, node.retracted) for node in filled.scan().items}
    for refs in ("Feed:1", "Scan:1", ["Feed:1", "Scan:1"], "Flag:14", "justification:block-14"):
        died = filled.retract(refs).died
        report = filled.unretract(refs)
        assert report.revived == died
        assert report.died == report.survived_via == ()
        after = {node.ref: (node.status, node.retracted) for node in filled.scan().items}
        assert after == before


def test_a_fact_that_is_retracted_is_out_whatever_supports_it(filled: tms.Memory) -> None:
    assert filled.retract("Flag:14").died == ("Block:14", "Flag:14", "Page:14")
    filled.justify("Flag:14", [filled.source("Person:1")], rule="seen")
    assert not filled.believes("Flag:14")
    assert filled.get("Flag:14").retracted
    assert filled.unretract("Flag:14").revived == ("Block:14", "Flag:14", "Page:14")


def test_a_justification_that_is_retracted_does_not_fire(filled: tms.Memory) -> None:
    report = filled.retract("justification:block-14", reason="rule withdrawn")
    assert report.targets == ("justification:block-14",)
    assert report.died == ("Block:14", "Page:14")
    assert filled.believes("Flag:14")
    assert not filled.believes("justification:block-14")
    assert filled.get("justification:block-14").retracted
    unchanged(
        filled,
        lambda: filled.justify(["Block:14", "Page:14"], ["Flag:14", "Policy:1"], rule="block"),
    )
    assert filled.unretract("justification:block-14").revived == ("Block:14", "Page:14")


def test_a_fact_without_support_can_be_retracted_beforehand(memory: tms.Memory) -> None:
    memory.fact("Flag:1")
    report = memory.retract("Flag:1")
    assert report
    assert (report.targets, report.died) == (("Flag:1",), ())
    memory.justify("Flag:1", [memory.source("Feed:1")])
    assert not memory.believes("Flag:1")
    assert memory.unretract("Flag:1").revived == ("Flag:1",)


def test_several_refs_are_one_commit_and_each_counts_once(filled: tms.Memory) -> None:
    head = filled.head
    refs = ["Scan:1", "Feed:1", "justification:block-22", "Scan:1", "Feed:1"]
    report = filled.retract(refs)
    assert report.targets == ("Feed:1", "Scan:1", "justification:block-22")
    assert report.died == ("Block:14", "Flag:14", "Page:14")
    assert report.after.revision == head.revision + 1


def test_those_that_are_off_already_are_left_as_they_are(filled: tms.Memory) -> None:
    filled.retract("Feed:1", reason="first")
    report = filled.retract(["Feed:1", "Scan:1"], reason="second")
    assert report.targets == ("Scan:1",)
    assert [event.reason for event in filled.history("Feed:1") if event.what == "retracted"] == [
        *("bad mapping", "first")
    ]


def test_turning_a_switch_to_where_it_is_changes_nothing(filled: tms.Memory) -> None:
    filled.retract("Scan:1")
    for work in (
        lambda: filled.retract("Scan:1", reason="again"),
        lambda: filled.retract(["Scan:1", "Flag:22"]),
        lambda: filled.retract([]),
        lambda: filled.unretract(["Feed:1", "justification:by-feed", "Block:14"]),
        lambda: filled.unretract([]),
    ):
        report = unchanged(filled, work)
        assert not report
        assert report.before == report.after == filled.head
        assert report.targets == report.died == report.revived == report.survived_via == ()


def test_an_unknown_ref_among_known_ones_switches_nothing(filled: tms.Memory) -> None:
    for verb in (filled.retract, filled.unretract):
        for unknown, kind in (
            ("Feed:9", tms.NoSuchNode),
            ("justification:9", tms.NoSuchJustification),
            ("justification:" + "0" * 32, tms.NoSuchJustification),
        ):
            refs = ["Feed:1", "Flag:22", unknown]
            refused(filled, kind, f"no such .*: {unknown}", lambda v=verb, r=refs: v(r))


def test_a_report_is_replayed_to_the_byte_at_any_later_time(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with tms.open(path, clock=Clock()) as memory:
        fill(memory)
        told = [memory.retract("Feed:1", reason="why", by="who"), memory.unretract("Feed:1")]
        told += [memory.revise("Feed:1", content={}), memory.retract(["Scan:1", "Policy:1"])]
        memory.justify("Block:14", ["Feed:1"])
    with tms.open(path, read_only=True) as memory:
        for report in told:
            assert memory.report(report.after) == report
            assert memory.report(report.after).to_json() == report.to_json()


# ---------------------------------------------------------------- worked examples of retraction


@pytest.fixture
def story(memory: tms.Memory) -> tms.Memory:
    """Sixty services flagged by one feed; a scan and some other runs flag a few of them too."""
    memory.source("VulnFeed:2026-07-21")
    memory.source("ScanRun:sast")
    memory.axiom("Policy:block-on-vuln")
    with memory.batch():
        for number in range(60):
            flag = memory.fact(f"Vulnerable:svc-{number}")
            memory.justify(flag, ["VulnFeed:2026-07-21"], rule="feed", id=f"feed-{number}")
            memory.justify(
                f"BlockDeploy:svc-{number}", [flag, "Policy:block-on-vuln"], rule="block"
            )
    memory.justify("Vulnerable:svc-14", ["ScanRun:sast"], rule="sast", id="sast-14")
    return memory


def test_ct01_a_bad_feed_takes_its_own_flags_and_blocks_and_no_others(story: tms.Memory) -> None:
    report = story.retract("VulnFeed:2026-07-21", reason="bad package mapping")
    assert len(report.died) == 59 * 2
    assert {"Vulnerable:svc-22", "BlockDeploy:svc-22"} < set(report.died)
    assert held(story) == {*("Policy:block-on-vuln", "Vulnerable:svc-14", "BlockDeploy:svc-14")}
    (survivor,) = report.survived_via
    assert (survivor.fact, survivor.via, survivor.lost) == (
        *("Vulnerable:svc-14", ("sast-14",), ("feed-14",)),
    )


def test_ct02_one_agent_run_among_three_takes_its_own_flags_only(memory: tms.Memory) -> None:
    for run in range(3):
        memory.source(f"AgentRun:{run}")
        for number in range(4):
            memory.justify(f"Flag:{run}-{number}", [f"AgentRun:{run}"])
    memory.justify("Flag:shared", ["AgentRun:0"], id="0")
    memory.justify("Flag:shared", ["AgentRun:1"], id="1")
    report = memory.retract("AgentRun:1", reason="hallucinated")
    assert report.died == tuple(f"Flag:1-{number}" for number in range(4))
    assert len(held(memory)) == 9
    assert memory.believes("Flag:shared")


def test_ct03_what_was_blocked_before_is_not_blocked_after_and_both_can_be_seen(
    story: tms.Memory,
) -> None:
    report = story.retract("VulnFeed:2026-07-21")
    before = story.as_of(recorded=report.before)
    after = story.as_of(recorded=report.after)
    assert before.believes("BlockDeploy:svc-22")
    assert not after.believes("BlockDeploy:svc-22")
    story.unretract("VulnFeed:2026-07-21")
    assert story.believes("BlockDeploy:svc-22")
    assert not after.believes("BlockDeploy:svc-22")
    assert set(before.holding()) - set(after.holding()) == set(report.died)


def test_ct06_a_chain_dies_and_comes_back_whole(memory: tms.Memory) -> None:
    last = memory.source("Feed:1")
    for number in range(9):
        memory.justify(f"Step:{number}", [last])
        last = tms.Ref(f"Step:{number}")
    chain = tuple(f"Step:{number}" for number in range(9))
    assert memory.retract("Feed:1").died == chain
    assert memory.unretract("Feed:1").revived == chain
    assert memory.retract("Step:4").died == chain[4:]
    assert memory.unretract("Step:4").revived == chain[4:]


def test_ct06_another_justification_keeps_a_fact_and_what_rests_on_it(memory: tms.Memory) -> None:
    memory.source("Feed:1")
    memory.source("Feed:2")
    memory.justify("Flag:1", ["Feed:1"], id="one")
    memory.justify("Flag:1", ["Feed:2"], id="two")
    memory.justify("Block:1", ["Flag:1"])
    for lost, kept in (("1", "2"), ("2", "1")):
        report = memory.retract(f"Feed:{lost}")
        assert report.died == ()
        (survivor,) = report.survived_via
        assert (survivor.fact, survivor.support) == ("Flag:1", {"1": "one", "2": "two"}[kept])
        assert not memory.unretract(f"Feed:{lost}").survived_via


def test_ct06_a_fact_that_died_is_still_the_same_fact_and_can_be_justified_again(
    memory: tms.Memory,
) -> None:
    memory.justify("Flag:1", [memory.source("Feed:1")])
    memory.fact("Flag:1", content={"package": "zlib"})
    memory.retract("Feed:1")
    unchanged(memory, lambda: memory.fact("Flag:1", content={"package": "zlib"}))
    memory.justify("Flag:1", [memory.source("Feed:2")])
    assert memory.believes("Flag:1")
    assert memory.stats().facts == 1
    memory.unretract("Feed:1")
    assert memory.retract("Feed:2").died == ()


@pytest.mark.parametrize("grounded", [False, True])
def test_ct06_a_ring_holds_only_while_something_grounds_it(
    memory: tms.Memory, grounded: bool
) -> None:
    ring = [memory.fact(f"Ring:{number}") for number in range(5)]
    for place, fact in enumerate(ring):
        memory.justify(ring[(place + 1) % 5], [fact])
    assert held(memory) == set()
    if grounded:
        memory.justify(ring[2], [memory.source("Feed:1")])
        assert held(memory) == set(ring)
        assert memory.retract("Feed:1").died == tuple(ring)
        assert memory.unretract("Feed:1").revived == tuple(ring)


def test_ct06_reopening_the_file_changes_no_answer(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with tms.open(path, clock=Clock()) as memory:
        fill(memory)
        memory.retract("Scan:1")
        answers = list(memory.holding()), memory.scan(), list(memory.log())
    with tms.open(path, clock=Clock()) as memory:
        assert (list(memory.holding()), memory.scan(), list(memory.log())) == answers
        assert memory.unretract("Scan:1").after.revision == answers[2][-1].anchor.revision + 1


def test_ct07_two_independent_sources_retracted_at_once_leave_no_support(
    memory: tms.Memory,
) -> None:
    memory.justify("Flag:1", [memory.source("Feed:1")])
    memory.justify("Flag:1", [memory.source("Feed:2")])
    memory.justify("Block:1", ["Flag:1"])
    report = memory.retract(["Feed:1", "Feed:2"])
    assert report.died == ("Block:1", "Flag:1")
    assert report.survived_via == ()


def test_ct08_a_conclusion_named_twice_is_derived_once(memory: tms.Memory) -> None:
    ref = memory.justify(["Flag:1", "Flag:1"], [memory.source("Feed:1"), "Feed:1"])
    assert memory.get(ref).derives == ("Flag:1",)
    assert memory.retract("Feed:1").died == ("Flag:1",)
    nul = memory.justify("Flag:a\0b", [memory.source("Feed:\0")])
    assert memory.retract("Feed:\0").died == ("Flag:a\0b",)
    assert memory.get(nul).premises == ("Feed:\0",)


def test_ct09_the_order_and_the_grouping_of_retractions_do_not_matter(tmp_path: Path) -> None:
    refs = ["Feed:1", "Scan:1", "justification:block-14", "Block:22"]
    groupings = [[[ref] for ref in order] for order in permutations(refs)]
    groupings += [[refs], [refs[:2], refs[2:]], [refs[3:], refs[:3]]]
    ends = set()
    for grouping in groupings:
        with tms.open(":memory:") as memory:
            fill(memory)
            for group in grouping:
                memory.retract(group)
            ends.add(tuple((node.ref, node.status) for node in memory.scan().items))
            for group in grouping:
                memory.unretract(group)
            ends.add(tuple((node.ref, node.status) for node in memory.scan().items))
    assert len(ends) == 2


def test_ct10_exactly_the_facts_that_lose_all_support_are_let_go(story: tms.Memory) -> None:
    before = held(story)
    report = story.retract(["VulnFeed:2026-07-21", "justification:sast-14"])
    assert held(story) == before - set(report.died) == {"Policy:block-on-vuln"}
    assert report.survived_via == ()
    assert len(report.died) == 120


def test_a_revived_fact_can_stand_on_what_was_recorded_while_it_was_out(
    memory: tms.Memory,
) -> None:
    memory.justify("Flag:1", [memory.source("Feed:1")])
    memory.retract("Feed:1")
    memory.justify("Block:1", ["Flag:1"])
    assert not memory.believes("Block:1")
    assert memory.unretract("Feed:1").revived == ("Block:1", "Flag:1")


def test_a_survivor_is_named_with_all_it_stands_on_and_all_it_lost(memory: tms.Memory) -> None:
    for number in range(6):
        memory.source(f"Feed:{number}")
        memory.justify("Flag:1", [f"Feed:{number}"], id=f"j{number}")
    report = memory.retract(["Feed:1", "Feed:4", "justification:j5"])
    (survivor,) = report.survived_via
    assert survivor.via == ("j0", "j2", "j3")
    assert survivor.lost == ("j1", "j4", "j5")
    assert survivor.support in survivor.via
    assert memory.retract("Feed:0").survived_via[0].lost == ("j0",)
