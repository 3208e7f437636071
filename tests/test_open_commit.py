"""What a batch leaves does not depend on how it was taken in, nor on what failed in it."""

import tracemalloc
from functools import partial
from unittest.mock import patch

import pytest

import tms
from tms.draft import Draft


def test_a_fact_that_gained_support_and_lost_it_again_in_one_batch_did_not_die() -> None:
    with tms.open(":memory:") as memory:
        memory.source("S:1")
        memory.fact("F:1")
        with memory.batch() as batch:
            memory.retract("S:1")
            memory.justify("F:1", "S:1")
            with memory.batch():
                pass
        assert batch.report.died == batch.report.revived == ()
        assert memory.verify()


def test_a_fact_taken_in_before_its_source_goes_off_did_not_die() -> None:
    with (
        patch("tms.batch.Draft", partial(Draft, most=1)),
        tms.open(":memory:") as memory,
    ):
        memory.source("S:1")
        memory.fact("F:1")
        with memory.batch() as batch:
            memory.justify("F:1", "S:1")
            memory.retract("S:1")
        assert batch.report.died == ()
        assert memory.verify()


def test_a_revision_before_an_inner_batch_is_kept() -> None:
    with tms.open(":memory:") as memory:
        memory.source("S:1", content={"v": 1})
        with memory.batch() as batch:
            memory.revise("S:1", content={"v": 2})
            with memory.batch():
                pass
        assert batch.report.changed
        assert memory.get("S:1").content == {"v": 2}


def test_first_content_of_a_known_node_before_an_inner_batch_is_kept() -> None:
    with tms.open(":memory:") as memory:
        memory.source("S:1")
        with memory.batch() as batch:
            memory.source("S:1", content={"v": 1})
            with memory.batch():
                pass
        assert batch.report.changed
        assert memory.get("S:1").content == {"v": 1}


@pytest.mark.parametrize("inner", [False, True])
def test_revising_there_and_back_in_one_batch_changes_nothing(inner: bool) -> None:
    with tms.open(":memory:") as memory:
        memory.source("S:1", content={"v": 1})
        head = memory.head
        with memory.batch() as batch:
            memory.revise("S:1", content={"v": 2})
            if inner:
                with memory.batch():
                    pass
            memory.revise("S:1", content={"v": 1})
        assert not batch.report.changed
        assert memory.head == head
        assert memory.get("S:1").version == 1


@pytest.mark.parametrize("inner", [False, True])
@pytest.mark.parametrize("known", [False, True])
def test_a_batch_revises_a_node_once_however_often_it_is_told_to(known: bool, inner: bool) -> None:
    with tms.open(":memory:") as memory:
        if known:
            memory.source("S:1", content={"v": 1})
        with memory.batch():
            memory.source("S:1", content={"v": 1})
            for v in (2, 3):
                if inner:
                    with memory.batch():
                        pass
                memory.revise("S:1", content={"v": v})
        assert memory.get("S:1").content == {"v": 3}
        assert memory.get("S:1").version == 2


def test_the_reason_of_an_inner_batch_that_failed_is_not_kept() -> None:
    with tms.open(":memory:") as memory:
        with memory.batch() as batch:
            memory.source("S:1")
            with pytest.raises(KeyError), memory.batch(reason="never", by="nobody"):
                raise KeyError
        assert (batch.report.reason, batch.report.by) == (None, None)


def test_the_reason_of_a_verb_that_was_refused_is_not_kept() -> None:
    with tms.open(":memory:") as memory:
        with memory.batch() as batch:
            memory.source("S:1")
            with pytest.raises(tms.NoSuchNode):
                memory.retract("S:2", reason="never", by="nobody")
        assert (batch.report.reason, batch.report.by) == (None, None)


def test_reasons_inside_a_batch_are_kept_in_the_order_in_which_they_were_given() -> None:
    with tms.open(":memory:") as memory:
        memory.source("S:1")
        memory.source("S:2")
        with memory.batch() as batch:
            with memory.batch(reason="one"):
                memory.retract("S:1", reason="two")
            memory.retract("S:2", reason="three")
        assert batch.report.reason == "one; two; three"


def test_a_justification_with_an_id_is_found_by_its_hash_in_the_batch_that_says_it() -> None:
    with tms.open(":memory:") as memory:
        memory.source("S:1")
        hashed = memory.justify("F:1", "S:1")
    with tms.open(":memory:") as memory:
        memory.source("S:1")
        with memory.batch() as batch:
            named = memory.justify("F:1", "S:1", id="j1")
            memory.retract(hashed)
        assert batch.report.targets == (named,)
        assert not memory.believes(hashed)


def test_a_load_keeps_few_of_its_rows_in_memory() -> None:
    rows = ({"source": f"S:{number}", "content": {"text": "x" * 4000}} for number in range(3000))
    with (
        patch("tms.batch.Draft", partial(Draft, most=50)),
        tms.open(":memory:") as memory,
    ):
        tracemalloc.start()
        try:
            memory.load(rows)
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    assert peak < 4_000_000
