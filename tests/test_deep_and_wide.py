import sys
from collections.abc import Iterable, Iterator
from itertools import pairwise

import pytest
from making import Clock

import tms

MANY = 100_000


@pytest.fixture
def memory() -> Iterator[tms.Memory]:
    with tms.open(":memory:", clock=Clock()) as memory:
        yield memory


@pytest.fixture(autouse=True)
def shallow() -> Iterator[None]:
    """Leave little room for recursion: a hundred frames, where the worlds are thousands deep."""
    depth, frame = 0, sys._getframe()
    while frame is not None:
        depth, frame = depth + 1, frame.f_back
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(depth + 200)
    yield
    sys.setrecursionlimit(limit)


def because(derived: str | list[str], *needed: str, id: str | None = None) -> dict[str, object]:
    derives = [derived] if isinstance(derived, str) else derived
    return {"justification": id, "premises": list(needed), "derives": derives}


def sources(names: Iterable[str]) -> Iterator[dict[str, object]]:
    return ({"source": name} for name in names)


def refs(kind: str, count: int) -> list[str]:
    return [f"{kind}:{number:06}" for number in range(count)]


def believed(memory: tms.Memory) -> int:
    assert memory.stats().believed == sum(1 for _ in memory.holding())
    return memory.stats().believed


def there_and_back(
    memory: tms.Memory, switched: str | list[str], died: list[str]
) -> tuple[tms.Report, tms.Report]:
    """Retract and unretract; what died comes back, and both reports are replayed alike."""
    before = memory.stats().believed
    lost = memory.retract(switched)
    assert list(lost.died) == died
    assert believed(memory) == lost.believed_after == before - len(died)
    back = memory.unretract(switched)
    assert list(back.revived) == died
    assert (back.died, back.survived_via) == ((), ())
    assert back.believed_after == before
    assert memory.report(lost.after) == lost
    return lost, back


def test_a_chain_of_a_hundred_thousand_dies_and_comes_back(memory: tms.Memory) -> None:
    chain = refs("Step", MANY)
    memory.load([{"source": "Feed:1"}, because(chain[0], "Feed:1")])
    memory.load(because(after, before) for before, after in pairwise(chain))
    there_and_back(memory, "Feed:1", chain)
    there_and_back(memory, chain[-1000], chain[-1000:])


def test_a_chain_recorded_backwards_comes_in_at_once(memory: tms.Memory) -> None:
    chain = refs("Step", MANY // 10)
    memory.load({"fact": step} for step in chain)
    pairs = list(pairwise(chain))
    memory.load(because(after, before) for before, after in reversed(pairs))
    assert believed(memory) == 0
    memory.load([{"source": "Feed:1"}, because(chain[0], "Feed:1")])
    assert believed(memory) == len(chain)
    assert memory.verify(revisions=1)


def test_a_fan_of_a_hundred_thousand_dies_and_comes_back(memory: tms.Memory) -> None:
    fan = refs("Flag", MANY)
    memory.load([{"source": "Feed:1"}])
    memory.load(because(flag, "Feed:1") for flag in fan)
    there_and_back(memory, "Feed:1", fan)


def test_a_fan_of_which_half_stands_elsewhere_too_loses_the_other_half(memory: tms.Memory) -> None:
    fan = refs("Flag", MANY // 10)
    memory.load(sources(["Feed:1", "Scan:1"]))
    memory.load(because(flag, "Feed:1") for flag in fan)
    memory.load(because(flag, "Scan:1", id=f"scan {flag}") for flag in fan[::2])
    lost, _ = there_and_back(memory, "Feed:1", fan[1::2])
    assert [survivor.fact for survivor in lost.survived_via] == fan[::2]
    assert {survivor.via for survivor in lost.survived_via} == {(f"scan {f}",) for f in fan[::2]}


def test_a_lattice_with_a_billion_paths_is_no_deeper_than_its_rows(memory: tms.Memory) -> None:
    depth = 31
    memory.source("Feed:1")
    memory.justify(["Row00:a", "Row00:b"], ["Feed:1"])
    for row in range(1, depth):
        for upper in "ab":
            for lower in "ab":
                memory.justify(
                    f"Row{row:02}:{upper}", [f"Row{row - 1:02}:{lower}"], id=f"{row}{upper}{lower}"
                )
    rows = [f"Row{row:02}:{side}" for row in range(depth) for side in "ab"]
    there_and_back(memory, "Feed:1", rows)
    lost, _ = there_and_back(memory, "Row15:a", ["Row15:a"])
    assert [survivor.fact for survivor in lost.survived_via] == ["Row16:a", "Row16:b"]
    there_and_back(memory, ["Row15:a", "Row15:b"], rows[30:])
    assert memory.verify(revisions=None)


def test_a_thousand_rings_fall_with_their_last_ground(memory: tms.Memory) -> None:
    rings = [[f"Ring{ring:03}:{place:02}" for place in range(100)] for ring in range(1000)]
    memory.load(sources(["Ground:0", "Ground:1"]))
    memory.load(
        because(ring[(place + 1) % 100], fact)
        for ring in rings
        for place, fact in [(-1, "Ground:0"), *enumerate(ring)]
    )
    memory.load(because(ring[50], "Ground:1") for ring in rings[::2])
    alone = [fact for ring in rings[1::2] for fact in ring]
    lost, _ = there_and_back(memory, "Ground:0", alone)
    assert [survivor.fact for survivor in lost.survived_via] == [ring[0] for ring in rings[::2]]
    lost, _ = there_and_back(memory, "Ground:1", [])
    assert [survivor.fact for survivor in lost.survived_via] == [ring[50] for ring in rings[::2]]
    there_and_back(memory, ["Ground:0", "Ground:1"], [fact for ring in rings for fact in ring])


def test_a_fact_with_a_hundred_thousand_justifications_falls_with_the_last(
    memory: tms.Memory,
) -> None:
    feeds = refs("Feed", MANY)
    memory.load(sources(feeds))
    memory.load(because("Flag:1", feed, id=feed[5:]) for feed in feeds)
    memory.justify("Block:1", ["Flag:1"])
    support = f"Feed:{memory.get('Flag:1').support}"
    lost = memory.retract(support)
    assert lost.died == ()
    (survivor,) = lost.survived_via
    assert survivor.lost == (support[5:],)
    assert len(survivor.via) == MANY - 1
    memory.unretract(support)
    lost = memory.retract(feeds[:-1])
    assert lost.died == ()
    assert [(s.fact, s.via, len(s.lost)) for s in lost.survived_via] == [
        ("Flag:1", (feeds[-1][5:],), MANY - 1)
    ]
    assert memory.retract(feeds[-1]).died == ("Block:1", "Flag:1")
    assert memory.unretract(feeds[MANY // 2]).revived == ("Block:1", "Flag:1")


def test_a_justification_with_a_hundred_thousand_premises_needs_them_all(
    memory: tms.Memory,
) -> None:
    feeds = refs("Feed", MANY)
    memory.load(sources(feeds))
    memory.load([because("Flag:1", *feeds, id="all")])
    for some in (feeds[0], feeds[-1], feeds[:: MANY // 100]):
        there_and_back(memory, some, ["Flag:1"])
    assert memory.retract(feeds).died == ("Flag:1",)
    assert memory.unretract(feeds[1:]).revived == ()
    assert memory.unretract(feeds[0]).revived == ("Flag:1",)


def test_premises_that_arrive_one_after_another_are_not_all_looked_at_each_time(
    memory: tms.Memory,
) -> None:
    chain = refs("Step", 10_000)
    memory.load({"fact": step} for step in chain)
    memory.load([because("Flag:1", *chain, id="all")])
    memory.load(because(after, before) for before, after in pairwise(chain))
    memory.load([{"source": "Feed:1"}, because(chain[0], "Feed:1")])
    assert believed(memory) == 10_001
    there_and_back(memory, "Feed:1", ["Flag:1", *chain])


def test_a_thousand_premises_derive_a_thousand_conclusions(memory: tms.Memory) -> None:
    feeds, flags = refs("Feed", 1000), refs("Flag", 1000)
    memory.load(sources(feeds))
    memory.load([because(flags, *feeds, id="all")])
    memory.load(
        because(flag, "Scan:1") if flag else {"source": "Scan:1"} for flag in ["", *flags[:500]]
    )
    lost, _ = there_and_back(memory, feeds[77], flags[500:])
    assert len(lost.survived_via) == 500
    there_and_back(memory, "justification:all", flags[500:])
    there_and_back(memory, [*feeds[:50], "Scan:1"], flags)
