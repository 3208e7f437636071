import copy
import enum
import pickle
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import pytest
from making import Clock, dump, fill

import tms


@pytest.fixture
def memory() -> Iterator[tms.Memory]:
    with tms.open(":memory:", clock=Clock()) as memory:
        yield memory


# ---------------------------------------------------------------- the text


@pytest.mark.parametrize(
    ("text", "kind", "id"),
    [
        ("Feed:1", "Feed", "1"),
        ("Feed:2026-07-21T10:00:00Z", "Feed", "2026-07-21T10:00:00Z"),
        ("Feed::", "Feed", ":"),
        ("a: b ", "a", " b "),
        (" a :b", " a ", "b"),
        ("\n:\0", "\n", "\0"),
        ("🧠:💡", "🧠", "💡"),
    ],
)
def test_a_ref_is_split_at_its_first_colon(text: str, kind: str, id: str) -> None:
    ref = tms.Ref(text)
    assert (ref.kind, ref.id) == (kind, id)
    assert tms.Ref.of(kind, id) == ref == text
    assert str(ref) == text
    assert f"{ref}" == text
    assert hash(ref) == hash(text)


@pytest.mark.parametrize("text", ["", ":", "Feed", "Feed:", ":1", None, 5, b"Feed:1", ["Feed:1"]])
def test_what_is_no_kind_and_id_is_no_ref(text: object) -> None:
    with pytest.raises(tms.InvalidRef, match="not a ref"):
        tms.Ref(text)


@pytest.mark.parametrize(("kind", "id"), [("", "1"), ("Feed", ""), ("Fe:ed", "1"), (":", "1")])
def test_parts_that_would_read_back_as_others_are_refused(kind: str, id: str) -> None:
    with pytest.raises(tms.InvalidRef):
        tms.Ref.of(kind, id)


def test_a_ref_of_a_ref_is_that_ref() -> None:
    ref = tms.Ref("Feed:1")
    assert tms.Ref(ref) is ref
    assert repr(ref) == "Ref('Feed:1')"
    assert isinstance(ref, str)


def test_a_ref_survives_copies_and_pickles() -> None:
    ref = tms.Ref("Feed:1:\0🧠")
    for twin in (copy.copy(ref), copy.deepcopy(ref), pickle.loads(pickle.dumps(ref))):
        assert twin == ref
        assert type(twin) is tms.Ref


def test_refs_sort_by_kind_then_id_not_as_text() -> None:
    sorted_refs = [
        tms.Ref(text)
        for text in ("A:1", "A:10", "A:2", "A:a", "A!:0", "AB:0", "a:0", "ä:0", "あ:0", "😀:0")
    ]
    shuffled = sorted_refs[:]
    Random(7).shuffle(shuffled)
    assert sorted(shuffled) == sorted_refs
    assert sorted(map(str, shuffled)) != sorted_refs
    for lower, higher in pairwise(sorted_refs):
        assert lower < higher
        assert lower <= higher
        assert higher > lower
        assert higher >= lower
        assert not higher < lower
        assert not lower > higher
    assert sorted_refs[0] <= sorted_refs[0]
    assert sorted_refs[0] >= sorted_refs[0]


# ---------------------------------------------------------------- ids in a memory

ODD = [
    "nul\0inside",
    "\0",
    "new\nline\r\n\t",
    " ",
    ":",
    "é",
    "e\u0301",
    "ﬁ",
    "fi",
    "İ",
    "i̇",
    "ß",
    "SS",
    "ss",
    "עברית",
    "\u202eRTL\u202c",
    "\ufeff",
    "\u200d",
    "👩‍👩‍👧‍👦",
    "\U0010ffff",
    "\uffff",
    "%s {} \\ ' \" `; DROP TABLE node; --",
    "NULL",
    "1",
    "01",
    "1.0",
    "1e0",
    "x" * 1_000_000,
]


def test_odd_ids_are_each_their_own_node_and_come_back_as_they_were(memory: tms.Memory) -> None:
    feeds = [memory.source(tms.Ref.of("Feed", id)) for id in ODD]
    for feed in feeds:
        memory.justify(tms.Ref.of("Flag", feed.id), [feed], rule=feed.id, id=f"by {feed.id}")
    assert memory.stats().sources == memory.stats().facts == len(ODD)
    assert [ref.id for ref in memory.holding("Flag")] == sorted(ODD)
    for feed in feeds:
        flag, justification = tms.Ref.of("Flag", feed.id), f"justification:by {feed.id}"
        assert memory.get(feed).ref.id == feed.id
        assert memory.get(justification).rule == feed.id
        report = memory.retract(feed)
        assert (report.targets, report.died) == ((feed,), (flag,))
        assert memory.report(report.after) == report
        assert memory.source(feed) == feed
        assert memory.history(flag)[-1].what == "out"
        memory.unretract(feed)
    assert memory.verify()


def test_odd_kinds_are_kept_too(memory: tms.Memory) -> None:
    kinds = sorted({id for id in ODD if ":" not in id})
    for kind in kinds:
        memory.axiom(tms.Ref.of(kind, "1"))
    assert [ref.kind for ref in memory.holding()] == kinds
    for kind in kinds:
        assert list(memory.holding(kind)) == [tms.Ref.of(kind, "1")]
        assert [node.ref.kind for node in memory.scan(kind=kind).items] == [kind]


def test_holding_and_scan_give_refs_in_the_order_of_refs(memory: tms.Memory) -> None:
    refs = [tms.Ref.of(kind, id) for kind in ("A", "A!", "AB", "a", "ä", "😀") for id in ODD[:-1]]
    shuffled = refs[:]
    Random(3).shuffle(shuffled)
    for ref in shuffled:
        memory.axiom(ref)
    assert list(memory.holding()) == sorted(refs)
    assert [node.ref for node in memory.scan().items] == sorted(refs)
    report = memory.retract(shuffled)
    assert list(report.targets) == list(report.died) == sorted(refs)


def test_wherever_a_ref_is_meant_its_text_or_a_model_that_has_one_will_do(
    memory: tms.Memory,
) -> None:
    fill(memory)
    node, justification = memory.get("Feed:1"), memory.get("justification:by-feed")
    survivor = memory.retract(node).survived_via[0]
    memory.unretract(tms.Ref("Feed:1"))
    assert memory.believes(survivor)
    assert memory.get(survivor) == memory.get("Flag:14")
    assert memory.retract([justification, "Scan:1"]).died
    assert memory.unretract(ref for ref in (justification.ref, "Scan:1")).revived
    assert memory.justify("Flag:9", node) == memory.justify("Flag:9", [tms.Ref("Feed:1")])
    assert memory.justify(memory.get("Flag:9"), {"Scan:1"})


@pytest.mark.parametrize("value", [None, 5, 1.5, b"Feed:1", object(), [["Feed:1"]], [None], "Feed"])
def test_whatever_else_is_no_ref(memory: tms.Memory, value: object) -> None:
    memory.source("Feed:1")
    for use in (memory.retract, memory.unretract, lambda value: memory.justify("Flag:1", value)):
        with pytest.raises(tms.InvalidRef, match="not a ref"):
            use(value)
    for use in (memory.believes, memory.status, memory.get, memory.history, memory.source):
        with pytest.raises(tms.InvalidRef, match="not a ref"):
            use(value)
    assert memory.head.revision == 1


@pytest.mark.parametrize("kind", ["", "a:b", 5, b"Feed", "\ud800"])
def test_what_can_be_no_kind_is_refused(memory: tms.Memory, kind: object) -> None:
    with pytest.raises(tms.InvalidRef):
        memory.holding(kind)
    with pytest.raises(tms.InvalidRef):
        memory.scan(kind=kind)


def test_the_kind_of_justifications_is_reserved(memory: tms.Memory) -> None:
    for use in (memory.source, memory.fact):
        with pytest.raises(tms.InvalidRef, match="reserved"):
            use("justification:1")
    with pytest.raises(tms.InvalidJustification, match="cannot be a conclusion"):
        memory.axiom("justification:1")
    assert memory.head is None
    assert memory.source("Justification:1").kind == "Justification"


# ---------------------------------------------------------------- text that is none

LONE = "a\ud800b"
SURROGATES: dict[str, Callable[[tms.Memory], object]] = {
    "source": lambda memory: memory.source(f"Feed:{LONE}"),
    "kind": lambda memory: memory.source(f"{LONE}:1"),
    "fact": lambda memory: memory.fact(f"Flag:{LONE}"),
    "content": lambda memory: memory.source("Feed:9", content={"text": LONE}),
    "content key": lambda memory: memory.source("Feed:9", content={LONE: 1}),
    "conclusion": lambda memory: memory.justify(["Flag:9", f"Flag:{LONE}"], ["Feed:1"]),
    "premise": lambda memory: memory.justify("Flag:9", ["Feed:1", f"Feed:{LONE}"]),
    "rule": lambda memory: memory.justify("Flag:9", ["Feed:1"], rule=LONE),
    "id": lambda memory: memory.justify("Flag:9", ["Feed:1"], id=LONE),
    "axiom": lambda memory: memory.axiom("Flag:9", id=LONE),
    "revise": lambda memory: memory.revise("Feed:1", content={"text": LONE}),
    "revise reason": lambda memory: memory.revise("Feed:1", content={}, reason=LONE),
    "retract": lambda memory: memory.retract(["Feed:1", f"Feed:{LONE}"]),
    "reason": lambda memory: memory.retract("Feed:1", reason=LONE),
    "by": lambda memory: memory.retract("Feed:1", by=LONE),
    "unretract": lambda memory: memory.unretract("Flag:22", reason=LONE),
    "batch": lambda memory: memory.batch(by=LONE),
    "load reason": lambda memory: memory.load([{"source": "Feed:9"}], reason=LONE),
    "loaded source": lambda memory: memory.load([{"source": "Feed:9"}, {"source": LONE + ":1"}]),
    "loaded content": lambda memory: memory.load([{"fact": "Flag:9", "content": {"a": [LONE]}}]),
    "loaded justification": lambda memory: memory.load(
        [{"justification": LONE, "premises": ["Feed:1"], "derives": ["Flag:9"]}]
    ),
    "loaded rule": lambda memory: memory.load([{"axiom": "Flag:9", "rule": LONE}]),
    "loaded reason": lambda memory: memory.load([{"retract": "Feed:1", "reason": LONE}]),
}


@pytest.mark.parametrize("write", SURROGATES.values(), ids=SURROGATES.keys())
def test_a_lone_surrogate_is_refused_before_anything_is_written(
    tmp_path: Path, write: Callable[[tms.Memory], object]
) -> None:
    path = tmp_path / "memory.db"
    with tms.open(path, clock=Clock()) as memory:
        fill(memory)
        before = dump(path)
        with pytest.raises(
            (tms.InvalidRef, tms.InvalidContent, tms.InvalidJustification)
        ) as caught:
            write(memory)
        assert "surrogate" in str(caught.value)
        assert dump(path) == before
        assert memory.retract("Feed:1")


class Name(enum.StrEnum):
    """Names as programs keep them: texts, which print as something else."""

    FEED = "VulnFeed:2026-07-21"
    FLAG = "Vulnerable:svc-14"
    WORD = "nightly"
    COLON = "a:b"

    def __str__(self) -> str:
        return f"shown:{self.name}"


def test_a_member_of_an_enum_is_the_text_that_it_is() -> None:
    with tms.open(":memory:", scope=Name.WORD) as memory:
        assert memory.scope == "nightly"
        assert type(memory.scope) is str
        assert memory.source(Name.FEED) == "VulnFeed:2026-07-21"
        said = memory.justify(Name.FLAG, Name.FEED, id=Name.WORD, rule=Name.WORD)
        assert said == "justification:nightly"
        assert memory.get("justification:nightly").premises == ("VulnFeed:2026-07-21",)
        memory.load([{"fact": Name.COLON, "content": {"a": Name.WORD}}])
        assert memory.get("a:b").content == {"a": "nightly"}
        report = memory.retract(Name.FEED, reason=Name.WORD, by=Name.WORD)
        assert (report.died, report.reason) == ((Name.FLAG.value,), "nightly")
        assert [node.ref for node in memory.scan().items] == sorted(
            [Name.FEED.value, Name.FLAG.value, Name.COLON.value]
        )
        assert memory.subscribe(Name.WORD).name == "nightly"
        copy = list(memory.export())
    with tms.open(":memory:") as memory:
        memory.import_(copy)
        assert memory.verify(revisions=None)
        assert list(memory.export()) == copy
        anchors = enum.Enum("Anchors", {"HEAD": str(memory.head)}, type=str)
        digests = enum.Enum("Digests", {"HEAD": str(memory.digest())}, type=str)
        assert memory.report(anchors.HEAD) == memory.report(memory.head)
        assert memory.verify(kept=digests.HEAD)


@pytest.mark.parametrize("part", [5, None, b"K", pytest.param(10**5000, id="huge"), ["K"]])
def test_parts_of_a_ref_that_are_no_texts_are_refused(part: Any) -> None:
    for kind, id in ((part, "x"), ("K", part)):
        with pytest.raises(tms.InvalidRef, match="not a kind and an id"):
            tms.Ref.of(kind, id)
