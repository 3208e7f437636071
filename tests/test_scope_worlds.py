"""A scope sees what it would see alone: random worlds of several, each beside a file of its own."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scoping import ASKED, OWNERS, Neighbours

import tms


@given(seed=st.integers(0, 2**32))
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


def test_every_question_is_asked() -> None:
    public = {name for name in dir(tms.View) if not name.startswith("_")}
    assert public - ASKED == {"digest", "scope"}
