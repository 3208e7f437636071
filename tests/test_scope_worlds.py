"""A scope sees what it would see alone: random worlds of several, each beside a file of its own."""

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scoping import ASKED, LETTERS, OWNERS, Neighbours

import tms


@given(seed=st.integers(0, 2**32))
@settings(max_examples=max(8, settings.default.max_examples // 6))
def test_a_scope_sees_what_it_would_see_alone(
    tmp_path_factory: pytest.TempPathFactory, seed: int
) -> None:
    random = Random(seed)
    neighbours = Neighbours(tmp_path_factory.mktemp("scopes"), random)
    try:
        for _ in range(14):
            neighbours.step()
        for owner in OWNERS:
            assert neighbours.judge(owner, past=random.randrange(1000)) > 100
        assert neighbours.memories[""].verify(revisions=None)
    finally:
        neighbours.close()


@given(seed=st.integers(0, 2**32))
@settings(max_examples=max(8, settings.default.max_examples // 6))
def test_each_scope_exports_what_it_owns(
    tmp_path_factory: pytest.TempPathFactory, seed: int
) -> None:
    random = Random(seed)
    folder = tmp_path_factory.mktemp("bundles")
    neighbours = Neighbours(folder, random)
    try:
        for _ in range(20):
            neighbours.step()
        bundles = {owner: list(neighbours.memories[owner].export()) for owner in OWNERS}
        for owner, lines in bundles.items():
            for other in {"alice", "bob"} - {owner}:
                assert not [line for line in lines if f"secret of {LETTERS[other]}" in line]
                assert not [line for line in lines if f"S:{LETTERS[other]}" in line]
            assert not neighbours.memories[owner].import_(lines)
        with tms.open(folder / "shared.db", clock=neighbours.clock) as memory:
            assert memory.import_(bundles[""]).commits == len(bundles[""]) - sum(
                not line.startswith('{"commit":') for line in bundles[""]
            )
            assert list(memory.export()) == bundles[""]
        for owner in ("alice", "bob"):
            with tms.open(folder / "shared.db", scope=owner, clock=neighbours.clock) as memory:
                memory.import_(bundles[owner])
                assert list(memory.holding()) == list(neighbours.memories[owner].holding())
                assert not memory.import_(bundles[owner])
        with tms.open(folder / "shared.db") as memory:
            assert memory.verify(revisions=None)
    finally:
        neighbours.close()


def test_every_question_is_asked() -> None:
    public = {name for name in dir(tms.View) if not name.startswith("_")}
    assert public - ASKED == {"digest", "scope"}
