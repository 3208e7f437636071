from collections.abc import Iterator
from enum import StrEnum
from types import MappingProxyType

import pytest
from making import Clock, fill, refused, unchanged

import tms

IN, OUT = tms.Status.IN, tms.Status.OUT


@pytest.fixture
def memory() -> Iterator[tms.Memory]:
    with tms.open(":memory:", clock=Clock()) as memory:
        yield memory


@pytest.fixture
def filled(memory: tms.Memory) -> tms.Memory:
    fill(memory)
    return memory


# ---------------------------------------------------------------- declaring


def test_a_source_supports_by_itself_and_a_fact_does_not(memory: tms.Memory) -> None:
    assert memory.source("Feed:1") == "Feed:1"
    assert memory.fact("Flag:1") == "Flag:1"
    assert (memory.status("Feed:1"), memory.status("Flag:1")) == (IN, OUT)
    assert (memory.believes("Feed:1"), memory.believes("Flag:1")) == (True, False)
    assert (memory.get("Feed:1").role, memory.get("Flag:1").role) == ("source", "fact")


@pytest.mark.parametrize("verb", ["source", "fact"])
def test_declaring_the_same_again_changes_nothing(memory: tms.Memory, verb: str) -> None:
    declare = getattr(memory, verb)
    ref = declare("Node:1", content={"a": 1, "b": [True, None, "é"]})
    for content in (
        {"b": [True, None, "é"], "a": 1},
        None,
        MappingProxyType({"a": 1, "b": (True, None, "é")}),
    ):
        assert unchanged(memory, lambda content=content: declare(ref, content=content)) == ref
    assert memory.get(ref).version == 1


@pytest.mark.parametrize("verb", ["source", "fact"])
def test_a_node_declared_bare_takes_a_content_later(memory: tms.Memory, verb: str) -> None:
    declare = getattr(memory, verb)
    ref = declare("Node:1")
    assert (memory.get(ref).content, memory.get(ref).version) == (None, 0)
    declare(ref, content={})
    assert (memory.get(ref).content, memory.get(ref).version) == ({}, 1)
    assert memory.head.revision == 2
    assert memory.report(memory.head).targets == (ref,)


@pytest.mark.parametrize("other", [{"a": 2}, {}, {"a": 1, "b": 1}, {"a": 1.0}, {"a": "1"}])
def test_other_content_is_refused_with_a_pointer_to_revise(memory: tms.Memory, other: dict) -> None:
    memory.source("Feed:1", content={"a": 1})
    refused(
        memory,
        tms.ContentConflict,
        r"Feed:1 has other content: \{\"a\":1\}.*memory\.revise\('Feed:1'",
        lambda: memory.source("Feed:1", content=other),
    )


def test_one_ref_names_one_thing_across_both_roles(memory: tms.Memory) -> None:
    memory.source("Feed:1")
    memory.fact("Flag:1")
    refused(memory, tms.ContentConflict, "a source already", lambda: memory.fact("Feed:1"))
    refused(memory, tms.ContentConflict, "a fact already", lambda: memory.source("Flag:1"))


class Colour(StrEnum):
    RED = "red"


@pytest.mark.parametrize(
    "content",
    [
        [],
        "text",
        5,
        True,
        {"a": float("nan")},
        {"a": float("inf")},
        {"a": b"bytes"},
        {"a": {1, 2}},
        {"a": object()},
        {1: "a"},
        {None: "a"},
        {("a",): 1},
        {"a": {2: 1}},
        {"a": [{True: 1}]},
        {"a": 1, 2: 1},
        {"a": MappingProxyType({})},
        {"a": 10**5000},
    ],
    ids=lambda content: type(content).__name__,
)
def test_content_that_json_cannot_keep_is_refused(memory: tms.Memory, content: object) -> None:
    memory.source("Feed:1")
    for work in (
        lambda: memory.source("Feed:2", content=content),
        lambda: memory.fact("Flag:2", content=content),
        lambda: memory.revise("Feed:1", content=content),
    ):
        refused(memory, tms.InvalidContent, "content", work)


def test_content_that_holds_itself_or_goes_too_deep_is_refused(memory: tms.Memory) -> None:
    ring: dict = {}
    ring["ring"] = [ring]
    deep: list = []
    for _ in range(100_000):
        deep = [deep]
    for content in (ring, {"deep": deep}):
        refused(
            memory,
            tms.InvalidContent,
            "JSON cannot keep|nested deeper than 100 levels",
            lambda content=content: memory.source("Feed:1", content=content),
        )


@pytest.mark.parametrize(
    "content",
    [
        {},
        {"": ""},
        {"nul": "a\0b", "emoji": "🧠", "both": ["é", "e\u0301"]},
        {"big": 2**80, "small": 5e-324, "zero": -0.0, "deep": {"a": {"b": {"c": [[[]]]}}}},
        {"kind": Colour.RED},
        {"text": "x" * 1_000_000},
    ],
    ids=lambda content: str(content)[:30],
)
def test_content_comes_back_as_it_was(memory: tms.Memory, content: dict) -> None:
    memory.source("Feed:1", content=content)
    assert memory.get("Feed:1").content == content
    assert repr(memory.get("Feed:1").content.get("zero")) == repr(content.get("zero"))


# ---------------------------------------------------------------- revising


def test_a_revision_appends_a_version_and_changes_no_belief(filled: tms.Memory) -> None:
    before, held = filled.get("Flag:14"), list(filled.holding())
    old = filled.head
    for version, content in enumerate(({"n": 1}, {"n": 2}, {"n": 1}), 1):
        report = filled.revise("Flag:14", content=content, reason="recount", by="me")
        assert (report.op, report.targets, report.reason) == ("revise", ("Flag:14",), "recount")
        assert (report.died, report.revived, report.survived_via) == ((), (), ())
        assert filled.get("Flag:14").version == version
        assert filled.get("Flag:14").content == content
        assert filled.report(report.after) == report
    assert list(filled.holding()) == held
    assert filled.as_of(recorded=old).get("Flag:14") == before
    assert [e.content for e in filled.history("Flag:14") if e.what == "revised"] == [
        *({"n": 1}, {"n": 2}, {"n": 1})
    ]


def test_a_revision_to_the_same_content_changes_nothing(filled: tms.Memory) -> None:
    report = unchanged(filled, lambda: filled.revise("Feed:1", content={"rows": 2}))
    assert not report
    assert report.targets == ()


def test_what_cannot_be_revised_is_refused(filled: tms.Memory) -> None:
    for ref, kind, text in (
        ("Feed:9", tms.NoSuchNode, "no such node: Feed:9"),
        ("justification:9", tms.NoSuchJustification, "no such justification"),
        ("justification:by-feed", tms.InvalidRef, "nothing to revise"),
    ):
        refused(filled, kind, text, lambda ref=ref: filled.revise(ref, content={}))
    for work in (lambda: filled.revise("Feed:1", content=None), lambda: filled.revise("Feed:1")):
        refused(filled, tms.InvalidContent, "nothing to revise", work)


def test_after_a_revision_the_new_content_is_the_one_that_is_declared(filled: tms.Memory) -> None:
    unchanged(filled, lambda: filled.source("Feed:1", content={"rows": 2}))
    refused(
        filled,
        tms.ContentConflict,
        "other content",
        lambda: filled.source("Feed:1", content={"rows": 1}),
    )


@pytest.mark.parametrize("text", [5, b"why", ["why"], True])
def test_a_reason_or_a_name_that_is_no_text_is_refused(filled: tms.Memory, text: object) -> None:
    for key in ("reason", "by"):
        for work in (
            lambda key=key: filled.retract("Feed:1", **{key: text}),
            lambda key=key: filled.unretract("Flag:22", **{key: text}),
            lambda key=key: filled.revise("Feed:1", content={}, **{key: text}),
            lambda key=key: filled.load([{"source": "Feed:9"}], **{key: text}),
            lambda key=key: filled.batch(**{key: text}),
        ):
            refused(filled, tms.InvalidContent, f"{key} is .*, not text", work)
