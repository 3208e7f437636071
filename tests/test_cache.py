import shutil
from collections.abc import Callable, Iterator
from itertools import chain, combinations
from pathlib import Path

import pytest
from making import Clock, fill, no_guards, plain

import tms

CACHE = ("cache_label", "cache_off")
SOME = list(chain.from_iterable(combinations(CACHE, count) for count in (1, 2)))


def _only_sources(memory: tms.Memory) -> None:
    memory.source("Feed:1")


def _last_went_out(memory: tms.Memory) -> None:
    fill(memory)
    memory.retract("Scan:1")


def _last_switched_on(memory: tms.Memory) -> None:
    fill(memory)
    memory.retract("Scan:1")
    memory.unretract("Scan:1")


def _all_out(memory: tms.Memory) -> None:
    fill(memory)
    memory.retract(["Feed:1", "Scan:1", "Policy:1"])


def _last_declared(memory: tms.Memory) -> None:
    fill(memory)
    memory.fact("Flag:99")


def _no_switch_is_off(memory: tms.Memory) -> None:
    fill(memory)
    memory.unretract("Flag:22")


def _nothing(memory: tms.Memory) -> None:
    pass


STATES = (
    _nothing,
    _only_sources,
    fill,
    _last_went_out,
    _last_switched_on,
    _all_out,
    _last_declared,
    _no_switch_is_off,
)
each_state = pytest.mark.parametrize(
    "make", STATES, ids=[state.__name__.strip("_") for state in STATES]
)
each_loss = pytest.mark.parametrize("lost", SOME, ids=" and ".join)
each_way = pytest.mark.parametrize("way", ["DROP TABLE", "DELETE FROM"])


def cached(path: Path) -> list[list[tuple[int, ...]]]:
    with plain(path) as connection:
        return [sorted(connection.execute(f"SELECT * FROM {table}")) for table in CACHE]


def lose(path: Path, way: str, lost: tuple[str, ...]) -> None:
    with plain(path) as connection:
        for table in lost:
            connection.execute(f"{way} {table}")


def answers(memory: tms.Memory) -> Iterator[object]:
    yield memory.head
    yield list(memory.holding())
    yield memory.scan()
    for commit in memory.log():
        yield commit
        yield memory.report(commit.anchor)
        yield memory.as_of(recorded=commit.anchor).scan()
    for node in memory.scan().items:
        yield memory.believes(node)
        yield memory.history(node)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memory.db"


@each_way
@each_loss
@each_state
def test_reopening_rebuilds_a_lost_cache(
    path: Path, make: Callable, lost: tuple[str, ...], way: str
) -> None:
    with tms.open(path, clock=Clock()) as memory:
        make(memory)
    before = cached(path)
    lose(path, way, lost)
    with tms.open(path) as memory:
        assert memory.verify(revisions=None)
    assert cached(path) == before


@each_way
@each_loss
def test_a_rebuild_mends_a_lost_cache(path: Path, lost: tuple[str, ...], way: str) -> None:
    with tms.open(path, clock=Clock()) as memory:
        fill(memory)
        before = cached(path)
        lose(path, way, lost)
        memory.rebuild()
        assert cached(path) == before
        assert memory.verify(revisions=None)


def test_a_rebuild_mends_a_cache_that_lies(path: Path) -> None:
    with tms.open(path, clock=Clock()) as memory:
        fill(memory)
        before = cached(path)
        with plain(path) as connection:
            connection.execute("UPDATE cache_label SET rank = rank + 1, support = NULL")
            connection.execute("INSERT OR IGNORE INTO cache_off SELECT node FROM node")
        assert not memory.verify()
        memory.rebuild()
        assert memory.verify()
    assert cached(path) == before


@each_way
@each_loss
@each_state
def test_what_is_written_after_a_loss_is_what_would_have_been_written(
    path: Path, make: Callable, lost: tuple[str, ...], way: str
) -> None:
    twin = path.with_name("twin.db")
    with tms.open(path, clock=Clock()) as memory:
        make(memory)
    shutil.copy(path, twin)
    told = []
    for file in (path, twin):
        with tms.open(file, clock=Clock()) as memory:
            if file == path:
                lose(path, way, lost)  # under the feet of an open memory
            memory.source("Feed:1")
            memory.justify("Flag:77", ["Feed:1"], id="by-feed-77")
            turns = [memory.retract("Feed:1"), memory.unretract("Feed:1")]
            told.append([*turns, *answers(memory), memory.verify(revisions=None)])
    assert told[0] == told[1]
    assert told[0][-1]


@each_way
@each_loss
@pytest.mark.parametrize("read_only", [True, False])
def test_reading_needs_no_cache(
    path: Path, lost: tuple[str, ...], way: str, read_only: bool
) -> None:
    with tms.open(path, clock=Clock()) as memory:
        fill(memory)
        before = list(answers(memory))
    lose(path, way, lost)
    with tms.open(path, read_only=read_only) as memory:
        assert list(answers(memory)) == before


def test_a_cache_lost_in_a_file_that_is_only_read_stays_lost_and_is_told(path: Path) -> None:
    with tms.open(path, clock=Clock()) as memory:
        fill(memory)
    lose(path, "DROP TABLE", CACHE)
    with tms.open(path, read_only=True) as memory:
        found = memory.verify(revisions=None)
    assert [finding.rule for finding in found.findings] == ["cache"]
    assert len(found.revisions) > 1


def test_a_rebuild_inside_a_batch_is_refused(path: Path) -> None:
    with tms.open(path) as memory, memory.batch(), pytest.raises(tms.Misuse):
        memory.rebuild()


def test_a_record_that_contradicts_itself_is_not_rebuilt_into_a_cache(path: Path) -> None:
    with tms.open(path, clock=Clock()) as memory:
        fill(memory)
    before = cached(path)
    with no_guards(path) as connection:
        connection.execute(
            "INSERT INTO premise SELECT d.justification, d.node FROM derive AS d"
            " JOIN node AS n USING (node) WHERE n.kind = 'Policy'"
        )
    with tms.open(path) as memory, pytest.raises(tms.CorruptStore, match="does not hold"):
        memory.rebuild()
    assert cached(path) == before
