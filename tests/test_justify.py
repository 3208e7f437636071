import hashlib
from collections.abc import Iterator

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


def test_a_new_conclusion_is_declared_by_its_justification(memory: tms.Memory) -> None:
    feed = memory.source("Feed:1")
    ref = memory.justify(["Flag:1", "Flag:2"], feed, rule="map")
    assert ref.kind == "justification"
    found = memory.get(ref)
    assert (found.premises, found.derives, found.rule) == (("Feed:1",), ("Flag:1", "Flag:2"), "map")
    assert (found.status, found.retracted) == (IN, False)
    assert memory.get("Flag:1").support == memory.get("Flag:2").support == ref.id
    assert memory.head.revision == 2
    assert memory.report(memory.head).targets == (ref,)
    assert memory.report(memory.head).revived == ("Flag:1", "Flag:2")


def test_many_premises_are_needed_all(memory: tms.Memory) -> None:
    feeds = [memory.source(f"Feed:{number}") for number in range(3)]
    memory.justify("Flag:1", feeds)
    for feed in feeds:
        assert memory.retract(feed).died == ("Flag:1",)
        assert memory.unretract(feed).revived == ("Flag:1",)
    memory.retract(feeds[:2])
    assert memory.unretract(feeds[0]).revived == ()
    assert memory.unretract(feeds[1]).revived == ("Flag:1",)


def test_an_unknown_premise_is_named_and_nothing_is_created(memory: tms.Memory) -> None:
    memory.source("Feed:1")
    refused(
        memory,
        tms.NoSuchNode,
        "no such node: Fede:1.*Check the spelling, or declare it first",
        lambda: memory.justify("Flag:1", ["Feed:1", "Fede:1"]),
    )
    with pytest.raises(tms.NoSuchNode):
        memory.get("Flag:1")


def test_a_conclusion_is_no_premise_of_its_own_even_if_it_is_new(memory: tms.Memory) -> None:
    for ref in ("Feed:1", "Feed:2"):
        memory.source(ref)
    for conclusions, premises in (
        ("Flag:1", ["Flag:1"]),
        (["Flag:1", "Flag:2"], ["Feed:1", "Flag:2"]),
        ("Feed:1", ["Feed:2", "Feed:1"]),
    ):
        refused(
            memory,
            tms.InvalidJustification,
            "among its own premises",
            lambda c=conclusions, p=premises: memory.justify(c, p),
        )


def test_what_can_be_no_conclusion_or_premise_is_refused(filled: tms.Memory) -> None:
    for conclusions, premises, text in (
        ("Scan:1", "Feed:1", "Scan:1 is a source"),
        (["Flag:9", "Scan:1"], "Feed:1", "Scan:1 is a source"),
        ("justification:by-feed", "Feed:1", "cannot be a conclusion"),
        ("justification:new", "Feed:1", "cannot be a conclusion"),
        ("Flag:9", ["Feed:1", "justification:by-feed"], "cannot be a premise"),
        ("Flag:9", "justification:unknown", "cannot be a premise"),
        ([], "Feed:1", "no conclusion"),
        ("Flag:9", [], r"without premises.*memory\.axiom"),
        ([], [], "without premises"),
    ):
        refused(
            filled,
            tms.InvalidJustification,
            text,
            lambda c=conclusions, p=premises: filled.justify(c, p),
        )
    refused(filled, tms.InvalidJustification, "no conclusion", lambda: filled.axiom([]))
    refused(filled, tms.InvalidJustification, "is a source", lambda: filled.axiom("Feed:1"))


def test_the_same_justification_is_one_whatever_the_order_and_the_repeats(
    memory: tms.Memory,
) -> None:
    a, b = memory.source("Feed:a"), memory.source("Feed:b")
    ref = memory.justify(["Flag:1", "Flag:2"], [a, b], rule="both")
    for conclusions, premises in (
        (["Flag:2", "Flag:1"], [b, a]),
        (["Flag:1", "Flag:2", "Flag:1"], [a, b, a, a]),
        ({"Flag:1", "Flag:2"}, {a, b}),
    ):
        again = unchanged(
            memory, lambda c=conclusions, p=premises: memory.justify(c, p, rule="both")
        )
        assert again == ref
    assert memory.get(ref).premises == (a, b)


def test_another_rule_premise_or_conclusion_is_another_justification(memory: tms.Memory) -> None:
    a, b = memory.source("Feed:a"), memory.source("Feed:b")
    refs = [
        memory.justify("Flag:1", [a]),
        memory.justify("Flag:1", [a], rule=""),
        memory.justify("Flag:1", [a], rule="one"),
        memory.justify("Flag:1", [a], rule="One"),
        memory.justify("Flag:1", [a, b]),
        memory.justify(["Flag:1", "Flag:2"], [a]),
        memory.justify("Flag:2", [a]),
        memory.axiom("Flag:1"),
        memory.axiom("Flag:1", rule="one"),
    ]
    assert len(set(refs)) == len(refs)
    assert [memory.get(ref).rule for ref in refs[:4]] == [None, "", "one", "One"]


def test_an_id_of_ones_own_names_a_justification(memory: tms.Memory) -> None:
    feed = memory.source("Feed:1")
    ref = memory.justify("Flag:1", feed, rule="map", id="CVE-1: é/🧠")
    assert ref == "justification:CVE-1: é/🧠"
    assert unchanged(memory, lambda: memory.justify("Flag:1", feed, rule="map", id=ref.id)) == ref
    for id in (None, "another-name"):
        again = unchanged(memory, lambda id=id: memory.justify("Flag:1", feed, rule="map", id=id))
        assert again == ref
    for work in (
        lambda: memory.justify("Flag:1", feed, rule="other", id=ref.id),
        lambda: memory.justify("Flag:2", feed, rule="map", id=ref.id),
        lambda: memory.axiom("Flag:1", id=ref.id),
    ):
        refused(memory, tms.ContentConflict, "says something else already", work)


def test_an_id_that_is_taken_by_another_is_refused_for_a_known_justification_too(
    memory: tms.Memory,
) -> None:
    feed = memory.source("Feed:1")
    memory.justify("Flag:1", feed, id="one")
    memory.justify("Flag:2", feed, id="two")
    refused(
        memory,
        tms.ContentConflict,
        "justification:two says something else",
        lambda: memory.justify("Flag:1", feed, id="two"),
    )


def test_an_id_that_looks_like_a_content_hash_must_be_the_content_hash(
    memory: tms.Memory,
) -> None:
    feed = memory.source("Feed:1")
    own = memory.justify("Flag:1", feed).id
    assert len(own) == 32
    assert unchanged(memory, lambda: memory.justify("Flag:1", feed, id=own)).id == own
    wrong = hashlib.md5(b"another").hexdigest()
    for work in (
        lambda: memory.justify("Flag:1", feed, id=wrong),
        lambda: memory.justify("Flag:2", feed, id=own),
        lambda: memory.axiom("Flag:2", id=own),
    ):
        refused(memory, tms.InvalidJustification, "looks like a content hash", work)
    for id in (wrong[:31], wrong + "0", wrong.upper(), "g" * 32, "\uff10" * 32):
        assert memory.justify(f"Flag:{id}", feed, id=id).id == id
        assert memory.believes(f"justification:{id}")


def test_a_named_justification_is_also_found_by_its_content_hash(memory: tms.Memory) -> None:
    feed = memory.source("Feed:1")
    with tms.open(":memory:") as other:
        hashed = other.justify("Flag:1", other.source("Feed:1"))
    named = memory.justify("Flag:1", feed, id="named")
    assert memory.get(hashed).ref == named
    report = memory.retract([hashed, named, hashed])
    assert report.targets == (named,)
    assert report.died == ("Flag:1",)


@pytest.mark.parametrize("text", [5, b"rule", ["rule"], True])
def test_a_rule_or_an_id_that_is_no_text_is_refused(memory: tms.Memory, text: object) -> None:
    memory.source("Feed:1")
    for key in ("rule", "id"):
        for verb in (
            lambda **given: memory.justify("Flag:1", "Feed:1", **given),
            lambda **given: memory.axiom("Flag:1", **given),
        ):
            refused(
                memory,
                tms.InvalidJustification,
                f"{key} is .*, not text",
                lambda verb=verb, key=key: verb(**{key: text}),
            )
    refused(memory, tms.InvalidJustification, "id is empty", lambda: memory.axiom("Flag:1", id=""))


def test_an_axiom_holds_without_premises_until_it_is_withdrawn(memory: tms.Memory) -> None:
    axiom = memory.axiom(["Policy:1", "Policy:2"], rule="house rule", id="house")
    assert (
        unchanged(memory, lambda: memory.axiom(["Policy:2", "Policy:1"], rule="house rule"))
        == axiom
    )
    assert list(memory.holding()) == ["Policy:1", "Policy:2"]
    assert memory.get(axiom).premises == ()
    assert memory.retract(axiom).died == ("Policy:1", "Policy:2")
    assert memory.unretract(axiom).revived == ("Policy:1", "Policy:2")
