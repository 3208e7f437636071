"""What holds something up. Random worlds are judged here and in test_machine.py."""

import time
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from itertools import product
from random import Random

import pytest
from grounding import check_grounds
from oracle import Said, World

import tms
from benchmarks.families import FAMILIES
from tms import grounding


@pytest.fixture
def memory() -> Iterator[tms.Memory]:
    with tms.open(":memory:") as memory:
        memory.source("Feed:1")
        memory.source("Scan:1")
        memory.axiom("Policy:1", id="policy")
        memory.justify(["Flag:1", "Page:1"], "Feed:1", id="feed")
        memory.justify("Flag:1", "Scan:1", id="scan")
        memory.justify("Block:1", ["Flag:1", "Policy:1"], id="block")
        memory.justify("Flag:1", "Block:1", id="loop")
        yield memory


def world(*rows: tuple[str, str]) -> tms.Memory:
    """Record ``("premises", "conclusions")``: a source begins with S, an axiom has no premises."""
    memory = tms.open(":memory:")
    with memory.batch():
        for premises, conclusions in rows:
            needs = [f"N:{name}" for name in premises.split()]
            for need in needs:
                (memory.source if need.startswith("N:S") else memory.fact)(need)
            derived = [f"N:{name}" for name in conclusions.split()]
            if needs:
                memory.justify(derived, needs)
            else:
                memory.axiom(derived, id=conclusions)
    return memory


def told(sets: Iterable[Iterable[tms.Ref]]) -> list[str]:
    return [" ".join(ref.id for ref in refs) for refs in sets]


def repaired(memory: tms.Memory | tms.View, ref: str, limit: int = 100) -> tuple[list[str], bool]:
    at = memory._at()
    named = memory._named(tms.Ref(ref), at)
    sets, truncated = grounding.repairs(memory._connection, named, at, limit)
    return [" ".join(refs) for refs in sets], truncated


# ---------------------------------------------------------------- what they mean


def test_environments_are_sources_and_axioms_that_support_alone(memory: tms.Memory) -> None:
    assert list(memory.environments("Block:1")) == [
        ("Feed:1", "justification:policy"),
        ("Scan:1", "justification:policy"),
    ]
    assert list(memory.environments("Feed:1")) == [("Feed:1",)]
    assert list(memory.environments("Policy:1")) == [("justification:policy",)]
    assert list(memory.environments("justification:policy")) == [("justification:policy",)]
    assert memory.environments("justification:block").sets == memory.environments("Block:1").sets
    assert "    Feed:1, justification:policy" in str(memory.environments("Block:1"))


def test_cuts_are_sources_whose_loss_is_too_much(memory: tms.Memory) -> None:
    assert list(memory.cuts("Block:1")) == [("Feed:1", "Scan:1")]
    assert list(memory.cuts("justification:feed")) == [("Feed:1",)]
    assert list(memory.cuts("Feed:1")) == [("Feed:1",)]
    for axiom in ("Policy:1", "justification:policy"):
        assert not memory.cuts(axiom)
        assert memory.cuts(axiom).status == "IN"


def test_critical_sources_are_ranked_by_what_would_die(memory: tms.Memory) -> None:
    memory.justify(["Late:1", "Late:2"], "Scan:1")
    assert [(item.ref, item.facts) for item in memory.critical()] == [("Scan:1", 2), ("Feed:1", 1)]
    assert [item.ref for item in memory.critical("Feed")] == ["Feed:1"]
    assert not memory.critical("Nothing")
    assert memory.critical(limit=1).truncated
    assert not memory.critical(limit=2).truncated
    for item in memory.critical():
        assert len(memory.retract(item.ref).died) == item.facts
        memory.unretract(item.ref)


def test_a_shared_source_is_one_origin_and_separate_ones_are_two() -> None:
    shared = world(("S", "X"), ("X", "A"), ("X", "B"), ("A", "D"), ("B", "D"))
    assert (shared.origins("N:D").count, told(shared.cuts("N:D"))) == (1, ["S"])
    apart = world(("S1", "A"), ("S2", "B"), ("A", "D"), ("B", "D"))
    assert (apart.origins("N:D").count, told(apart.origins("N:D"))) == (2, ["S1", "S2"])
    ring = world(("S1 S2", "D"), ("S2 S3", "D"), ("S3 S1", "D"))
    assert ring.origins("N:D").count == 1  # although no single source is in all three


def test_axioms_may_be_shared_by_origins() -> None:
    with world(("", "P"), ("P S1", "D"), ("P S2", "D"), ("", "Q"), ("", "D")) as memory:
        found = memory.origins("N:D")
        assert (found.count, found.truncated) == (3, False)
        assert told(found) == ["D", "S1 P", "S2 P"]
        assert not memory.cuts("N:D")
        memory.retract("justification:D")
        assert told(memory.cuts("N:D")) == ["S1 S2"]


def test_what_is_off_supports_nothing(memory: tms.Memory) -> None:
    memory.retract("justification:policy")
    assert not memory.environments("Block:1")
    assert not memory.cuts("Block:1")
    assert memory.origins("Block:1").count == 0
    assert memory.environments("justification:policy").status == "OUT"
    memory.unretract("justification:policy")
    memory.retract("Feed:1")
    assert told(memory.environments("Flag:1")) == ["1"]
    assert list(memory.environments("Flag:1")) == [("Scan:1",)]
    memory.retract("Flag:1")
    assert not memory.environments("Flag:1")
    assert [item.ref for item in memory.critical()] == []


def test_a_view_answers_from_its_revision(memory: tms.Memory) -> None:
    before = memory.as_of(recorded=memory.head)
    memory.retract("Scan:1")
    memory.source("Late:1")
    memory.justify("Flag:1", "Late:1")
    assert told(before.environments("Flag:1")) == ["1", "1"]
    assert list(before.cuts("Flag:1")) == [("Feed:1", "Scan:1")]
    assert list(memory.cuts("Flag:1")) == [("Feed:1", "Late:1")]
    assert list(memory.origins("Flag:1")) == [("Feed:1",), ("Late:1",)]
    assert [item.facts for item in before.critical()] == [1]


def test_repairs_are_retracted_sources_that_would_bring_it_back(memory: tms.Memory) -> None:
    memory.source("Late:1")
    memory.source("Late:2")
    memory.justify("Flag:1", ["Late:1", "Late:2", "Policy:1"])
    memory.retract(["Feed:1", "Scan:1", "Late:1", "Late:2"])
    gone = memory.as_of(recorded=memory.head)
    ways = ["Feed:1", "Scan:1", "Late:1 Late:2"]
    assert repaired(memory, "Block:1") == (ways, False)
    assert repaired(memory, "Block:1", 2) == (ways[:2], True)
    assert repaired(memory, "justification:loop") == (ways, False)
    assert repaired(memory, "Feed:1") == (["Feed:1"], False)
    memory.unretract("Late:1")
    assert repaired(memory, "Block:1") == (["Feed:1", "Late:2", "Scan:1"], False)
    memory.retract("justification:block")
    assert repaired(memory, "Block:1") == ([], False)
    assert repaired(memory, "justification:block") == ([], False)
    memory.retract("Flag:1")
    assert repaired(memory, "Flag:1") == ([], False)
    assert repaired(gone, "Block:1") == (ways, False)


# ---------------------------------------------------------------- limits


@pytest.mark.parametrize("limit", [0, -1, True, None, 1.5, "3"])
def test_limits_out_of_range_are_refused(memory: tms.Memory, limit: int) -> None:
    for verb in (memory.environments, memory.cuts):
        with pytest.raises(tms.InvalidArgument):
            verb("Flag:1", limit=limit)
    with pytest.raises(tms.InvalidArgument):
        memory.critical(limit=limit)


def test_what_is_unknown_is_refused(memory: tms.Memory) -> None:
    for verb in (memory.environments, memory.origins, memory.cuts):
        with pytest.raises(tms.NoSuchNode):
            verb("Flag:2")
        with pytest.raises(tms.NoSuchJustification):
            verb("justification:none")
        with pytest.raises(tms.InvalidRef):
            verb(7)
    with pytest.raises(tms.InvalidRef):
        memory.critical("a:b")


def test_limits_are_marked_and_sizes_are_whole() -> None:
    rows = [(f"S{i}", "D") for i in range(5)] + [(f"S1{i} S2{i}", "D") for i in range(5)]
    with world(*rows) as memory:
        assert len(memory.environments("N:D")) == 10
        assert not memory.environments("N:D", limit=10).truncated
        for limit in range(1, 10):
            found = memory.environments("N:D", limit=limit)
            assert found.truncated
            assert found.sets == memory.environments("N:D").sets[:limit]
        assert memory.origins("N:D").count == 10
        assert len(memory.cuts("N:D")) == 32
        assert memory.cuts("N:D", limit=31).truncated
        assert memory.cuts("N:D", limit=31).sets == memory.cuts("N:D").sets[:31]


# ---------------------------------------------------------------- large and awkward shapes


def quick(work: Callable[[], object], seconds: float = 20) -> None:
    """Do what must not take minutes; generous, since machines differ."""
    started = time.perf_counter()
    work()
    assert time.perf_counter() - started < seconds


def test_a_ring_has_the_environments_of_its_grounds_and_falls_with_all_of_them() -> None:
    ring = [(f"R{i}", f"R{(i + 1) % 20}") for i in range(20)]
    back = [(f"R{i}", f"R{(i - 1) % 20}") for i in range(20)]
    with world(*ring, *back, ("S1", "R0"), ("S2 S3", "R7")) as memory:
        for i in (0, 7, 13):
            assert told(memory.environments(f"N:R{i}")) == ["S1", "S2 S3"]
            assert told(memory.cuts(f"N:R{i}")) == ["S1 S2", "S1 S3"]
            assert memory.origins(f"N:R{i}").count == 2
        assert not memory.critical()


def test_a_lattice_has_many_paths_and_few_environments() -> None:
    rows = [(name, f"{letter}0") for name, letter in (("SA", "A"), ("SB", "B"))]
    rows += [
        (f"{below}{level}", f"{above}{level + 1}")
        for level in range(30)
        for below, above in product("AB", repeat=2)
    ]
    with world(*rows) as memory:
        assert told(memory.environments("N:A30")) == ["SA", "SB"]
        assert told(memory.cuts("N:A30")) == ["SA SB"]
        assert memory.origins("N:A30").count == 2


def test_a_wide_and_is_one_environment_and_as_many_cuts() -> None:
    names = " ".join(f"S{i:04}" for i in range(1000))
    with world((names, "D")) as memory:
        assert told(memory.environments("N:D")) == [names]
        assert told(memory.cuts("N:D", limit=1000)) == names.split()
        assert memory.cuts("N:D").truncated
        assert memory.origins("N:D").count == 1
        assert len(memory.critical(limit=1000)) == 1000


def test_a_wide_fan_in_is_one_cut() -> None:
    names = [f"S{i:05}" for i in range(5000)]
    with world(*((name, "D") for name in names)) as memory:
        found = memory.environments("N:D")
        assert (told(found), found.truncated) == (names[:100], True)
        cuts = memory.cuts("N:D")
        assert (told(cuts), cuts.truncated) == ([" ".join(names)], False)
        assert memory.origins("N:D").count >= 1000
        assert memory.origins("N:D").truncated
        assert not memory.critical()


def test_labels_that_explode_are_cut_and_marked() -> None:
    # 8 ways for each of 40 premises: 8 to the 40th environments, all of size 40
    rows = [(f"S{i:02}{way}", f"P{i:02}") for i in range(40) for way in range(8)]
    rows.append((" ".join(f"P{i:02}" for i in range(40)), "D"))
    with world(*rows) as memory:
        found: list[tms.Environments] = []
        quick(lambda: found.append(memory.environments("N:D")))
        (only,) = found[0]
        assert found[0].truncated
        assert {ref.id[:3] for ref in only} == {f"S{i:02}" for i in range(40)}
        assert len(only) == 40
        cuts = memory.cuts("N:D")
        assert not cuts.truncated
        assert [len(cut) for cut in cuts] == [8] * 40
        origins = memory.origins("N:D")  # found one after the other; the cuts prove them all
        assert (origins.count, origins.truncated) == (8, False)
    rows = [(" ".join(f"S{i:02}{way}" for way in range(8)), "D") for i in range(40)]
    with world(*rows) as memory:
        quick(lambda: memory.cuts("N:D"))
        (cut,) = memory.cuts("N:D")
        assert memory.cuts("N:D").truncated
        assert len({ref.id[:3] for ref in cut}) == len(cut) == 40
        assert memory.origins("N:D").count == 40


def test_a_memory_with_exponentially_many_environments_is_answered_in_time() -> None:
    with tms.open(":memory:") as memory:
        memory.load(FAMILIES["memory"].rows(1000))
        for fact in list(memory.holding())[-10:]:
            quick(lambda fact=fact: memory.environments(fact))
            quick(lambda fact=fact: memory.cuts(fact))
            quick(lambda fact=fact: memory.origins(fact))


def test_a_long_chain_ends_without_recursion() -> None:
    with tms.open(":memory:") as memory:
        memory.load(FAMILIES["chain"].rows(20_000))
        assert list(memory.environments("Link:0019999")) == [("Root:0",)]
        assert list(memory.cuts("Link:0019999")) == [("Root:0",)]
        assert [(item.ref, item.facts) for item in memory.critical()] == [("Root:0", 20_000)]
        memory.retract("Root:0")
        assert repaired(memory, "Link:0019999") == (["Root:0"], False)


# ---------------------------------------------------------------- judged by trying every set


def random_world(seed: int) -> tuple[tms.Memory, World, dict[Said, tms.Ref]]:
    random, judge, names = Random(seed), World(), {}
    memory = tms.open(":memory:", clock=lambda: datetime(1970, 1, 1, tzinfo=UTC))
    sources = [f"S:{i}" for i in range(random.randint(1, 6))]
    facts = [f"F:{i}" for i in range(random.randint(2, 9))]
    for door in (judge, memory):
        for ref in sources:
            door.source(ref)
        for ref in facts:
            door.fact(ref)
    for _ in range(random.randint(3, 28)):
        derived = random.sample(facts, random.choice([1, 1, 1, 2]))
        others = [ref for ref in sources + facts if ref not in derived]
        needed = random.sample(others, min(len(others), random.choice([1, 1, 2, 2, 3])))
        if needed:
            said = judge.justify(derived, needed)
            names[said] = memory.justify(derived, needed)
    for fact in random.sample(facts, random.randint(0, 2)):
        names[judge.axiom([fact])] = memory.axiom(fact)
    targets = random.sample([*sources, *facts, *names], random.randint(0, 3))
    judge.retract(targets)
    memory.retract([names.get(target, target) for target in targets])
    return memory, judge, names


@pytest.mark.parametrize("seed", range(40))
def test_all_answers_are_those_of_trying_every_set(seed: int) -> None:
    memory, judge, names = random_world(seed)
    check_grounds(memory, judge.head, names)
