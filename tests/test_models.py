import json
import re
from collections.abc import Iterator
from datetime import datetime, timedelta

import pytest
from making import NOON, Clock, fill, no_guards
from pydantic import ValidationError

import tms
from tms.models import Model


@pytest.fixture(scope="module")
def memory() -> Iterator[tms.Memory]:
    with tms.open(":memory:", clock=Clock()) as memory:
        fill(memory)
        yield memory


@pytest.fixture(scope="module")
def results(memory: tms.Memory, tmp_path_factory: pytest.TempPathFactory) -> list[Model]:
    """What the verbs return: every kind of result, with and without its optional parts."""
    found: list[Model] = [memory.stats(), memory.verify(), memory.scan(limit=2), memory.scan()]
    found += [memory.get(ref) for ref in ("Feed:1", "Scan:1", "Flag:14", "Flag:22")]
    found += [memory.get(f"justification:{id}") for id in ("by-feed", "block-14")]
    for commit in memory.log():
        report = memory.report(commit.anchor)
        found += [commit, report, *report.survived_via]
    found += [*memory.history("Feed:1"), *memory.history("Flag:14")]
    found += [item for commit in memory.log() for item in memory.report_page(commit.anchor).items]
    for ref in ("Flag:14", "Flag:22", "Feed:1"):
        found += [why := memory.why(ref), *why, *(item for step in why for item in step.because)]
    for ref in ("Feed:1", "Flag:14", "justification:block-14"):
        found += [memory.what_if(retract=ref), impact := memory.impact(ref), *impact]
    for lacking in (memory.why_not("Block:22"), memory.why_not("Feed:1")):
        found += [lacking, *lacking, *(item for lack in lacking for item in lack.waiting)]
    for ref in ("Block:14", "Flag:22"):
        found += [memory.environments(ref), memory.origins(ref), memory.cuts(ref)]
    for ref in ("Flag:14", "Flag:22", "justification:block-14"):
        found += [near := memory.neighbourhood(ref), *near, *near.justifications]
    anchors = [commit.anchor for commit in memory.log()]
    with tms.open(":memory:", clock=Clock()) as timed:
        timed.source("S:1", valid_to=NOON + timedelta(seconds=3))
        timed.justify("F:1", "S:1")
        revised = timed.revise("S:1", valid_from="2020-01-01T00:00:00Z")
        timed.believes("F:1")
        report = timed.settle()
        found += [report, *report.settled, diff := timed.diff(revised.before, revised.after)]
        found += [
            when := timed.periods("F:1"),
            *when,
            spans := timed.believed_during("F:1"),
            *spans,
        ]
        timed_bundle = list(timed.export())
        timed.retract("S:1")
        found += [timed.import_(timed_bundle)]
        found += [*diff.revalidated, *timed.history("S:1"), timed.get("S:1"), timed.why_not("F:1")]
    critical = memory.as_of(recorded=anchors[7]).critical()
    found += [critical, *critical, memory.critical("Flag")]
    for diff in (memory.diff(anchors[0], anchors[-1]), memory.diff(anchors[-1], anchors[-1])):
        found += [diff, *diff.revised]
    found += [
        memory.retract("Flag:22", reason="again"),
        memory.load([]),
        memory.load([{"fact": "F:1"}]),
    ]
    folder = tmp_path_factory.mktemp("models")
    path = folder / "memory.db"
    found += [memory.backup(folder / "copy.db"), memory.doctor()]
    with tms.open(path) as other:
        fill(other)
        found += [other.stats()]
        found += [other.prune(before=other.head), other.redact("Feed:1"), other.get("Feed:1")]
        found += [other.prune(before=other.head, path=path.with_name("pruned.db"), by="me")]
        found += other.history("Feed:1")
    with tms.open(path.with_name("pruned.db")) as other:
        found += [other.stats(), *other.history("Feed:1")]
    with no_guards(path) as connection:
        connection.execute("UPDATE commits SET believed = believed + 1")
    with tms.open(path) as other:
        found += [unsound := other.verify(), *unsound.findings]
    with tms.open(":memory:") as empty:
        found += [empty.import_(timed_bundle), empty.import_(timed_bundle)]
    with tms.open(":memory:") as empty:
        found += [empty.stats(), empty.verify(), empty.scan(), empty.retract([]), empty.load([])]
    return found


def values(value: object) -> Iterator[object]:
    """All values in a result but those of a content, which is the caller's own."""
    yield value
    if isinstance(value, Model):
        for name in type(value).model_fields:
            if name != "content":
                yield from values(getattr(value, name))
    elif isinstance(value, tuple):
        for item in value:
            yield from values(item)


def keys(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield key
            if key != "content":
                yield from keys(item)
    elif isinstance(value, list):
        for item in value:
            yield from keys(item)


def test_the_results_here_are_of_every_kind(results: list[Model]) -> None:
    kinds = {
        getattr(tms, name)
        for name in tms.__all__
        if isinstance(getattr(tms, name), type) and issubclass(getattr(tms, name), Model)
    }
    assert kinds <= {kind for result in results for kind in type(result).__mro__}


def test_a_result_cannot_be_changed(results: list[Model]) -> None:
    for result in results:
        for name in type(result).model_fields:
            with pytest.raises(ValidationError, match="frozen"):
                setattr(result, name, getattr(result, name))
        with pytest.raises(ValidationError):
            result.another = 1


def test_a_result_holds_tuples_and_plain_values_never_lists(results: list[Model]) -> None:
    allowed = (Model, tuple, str, int, bool, datetime, type(None))
    for result in results:
        strange = [value for value in values(result) if not isinstance(value, allowed)]
        assert strange == []


def test_a_result_has_refs_and_anchors_where_it_names_things(memory: tms.Memory) -> None:
    report = memory.report("r1:0000000000000010:2026-07-21T12:00:09.000Z")
    assert report.survived_via
    for ref in (*report.targets, *report.died, report.survived_via[0].fact):
        assert type(ref) is tms.Ref
    assert type(report.before) is type(report.after) is tms.Anchor
    assert type(memory.get("Flag:14").ref) is tms.Ref
    assert type(memory.history("Flag:14")[0].anchor) is tms.Anchor


def test_the_json_of_a_result_has_camel_case_keys(results: list[Model]) -> None:
    seen = {key for result in results for key in keys(json.loads(result.to_json()))}
    assert [key for key in seen if not re.fullmatch(r"[a-z]+([A-Z][a-z]+)*", key)] == []
    assert seen >= {"survivedVia", "believedBefore", "believedAfter", "nextCursor"}


def test_a_result_reads_back_from_its_json(results: list[Model]) -> None:
    for result in results:
        twin = type(result).model_validate_json(result.to_json())
        assert twin == result
        assert twin.to_json() == result.to_json()
        assert [type(value) for value in values(twin)] == [type(value) for value in values(result)]


def test_a_result_reads_back_from_its_values_by_either_name(results: list[Model]) -> None:
    for result in results:
        assert type(result).model_validate(result.model_dump()) == result
        assert type(result).model_validate(result.model_dump(by_alias=False)) == result


def test_json_of_another_form_does_not_read_back(memory: tms.Memory) -> None:
    good = json.loads(memory.get("Feed:1").to_json())
    for wrong in (
        {"unknown": 1},
        {"ref": "Feed"},
        {"ref": 5},
        {"declared": "yesterday"},
        {"role": "rumour"},
        {"status": "MAYBE"},
    ):
        with pytest.raises(ValidationError):
            tms.Node.model_validate_json(json.dumps(good | wrong))


def test_the_keys_of_a_content_are_the_callers_own() -> None:
    content = {"snake_key": [{"Another Key": None}], "": {"🧠": 1.5}, "a\0b": "c\0d"}
    with tms.open(":memory:") as memory:
        node = memory.get(memory.source("Feed:1", content=content))
        assert node.content == content
        assert json.loads(node.to_json())["content"] == content
        assert tms.Node.model_validate_json(node.to_json()) == node
        node.content["snake_key"].append("mine")  # a copy: the memory does not change
        assert memory.get("Feed:1").content == content


def test_the_same_result_is_the_same_bytes(tmp_path) -> None:
    texts = []
    for name in ("one.db", "two.db"):
        with tms.open(tmp_path / name, clock=Clock()) as memory:
            fill(memory)
            texts.append([memory.report(commit.anchor).to_json() for commit in memory.log()])
            texts[-1].append(memory.scan().to_json())
    assert texts[0] == texts[1]


def test_a_report_is_true_when_something_changed(memory: tms.Memory) -> None:
    head = memory.head
    nothing = memory.retract("Flag:22", reason="again", by="me")
    assert not nothing
    assert (nothing.changed, nothing.before, nothing.after) == (False, head, head)
    assert (nothing.reason, nothing.by) == ("again", "me")
    assert memory.report(head)
    assert not memory.load([])


# ---------------------------------------------------------------- the text forms


def test_a_report_reads_well(memory: tms.Memory) -> None:
    text = str(memory.report("r1:0000000000000010:2026-07-21T12:00:09.000Z"))
    survivor = (
        memory.get("Flag:14").ref,
        memory.report("r1:0000000000000010:2026-07-21T12:00:09.000Z").survived_via[0].via[0],
    )
    assert text == "\n".join(
        [
            "retract Feed:1",
            "  because    bad mapping  (by oncall)",
            "  commit     r1:0000000000000010:2026-07-21T12:00:09.000Z",
            "  died       2",
            "    Block:22",
            "    Flag:22",
            "  survived   1",
            f"    {survivor[0]}  via {survivor[1]}  (lost by-feed)",
            "  believed   6 → 4",
        ]
    )


def test_a_report_of_nothing_reads_well(memory: tms.Memory) -> None:
    assert str(memory.retract("Flag:22")) == "retract: nothing changed; 4 facts believed"


def test_a_long_report_is_cut_and_says_by_how_much() -> None:
    with tms.open(":memory:", clock=Clock()) as memory:
        feeds = [memory.source(f"Feed:{number:04d}") for number in range(22)]
        memory.load(
            {"justification": None, "premises": feeds[:1], "derives": [f"Flag:{number:04d}"]}
            for number in range(1230)
        )
        lines = str(memory.retract(feeds)).splitlines()
    assert lines[0].startswith("retract Feed:0000, Feed:0001, ")
    assert lines[0].endswith(", Feed:0019 and 2 more")
    assert lines[2:4] == ["  died       1,230", "    Flag:0000"]
    assert lines[-2:] == ["    … 1,210 more", "  believed   1,230 → 0"]
    assert len(lines) == 25


def test_nodes_justifications_commits_and_events_read_well(memory: tms.Memory) -> None:
    assert str(memory.get("Feed:1")) == (
        "Feed:1  source, IN\n"
        '  content    {"rows": 2}  (version 2)\n'
        "  declared   r1:0000000000000001:2026-07-21T12:00:00.000Z"
    )
    assert str(memory.get("Flag:22")).splitlines()[0] == "Flag:22  fact, OUT, retracted"
    assert str(memory.get("justification:block-14")) == (
        "justification:block-14  fires\n"
        "  rule       block\n"
        "  premises   Flag:14, Policy:1\n"
        "  derives    Block:14, Page:14\n"
        "  declared   r1:0000000000000007:2026-07-21T12:00:06.000Z"
    )
    commits = list(memory.log())
    assert str(commits[9]) == (
        "r1:0000000000000010:2026-07-21T12:00:09.000Z  retract   -2 +0 = 4  bad mapping  by oncall"
    )
    assert str(commits[0]) == "r1:0000000000000001:2026-07-21T12:00:00.000Z  source    -0 +0 = 0"
    assert str(memory.history("Feed:1")[0]) == (
        'r1:0000000000000001:2026-07-21T12:00:00.000Z  declared     {"rows": 1}'
    )
    assert [event.what for event in memory.history("Feed:1")] == [
        *("declared", "in", "revised", "retracted", "out", "unretracted", "in")
    ]


def test_the_smaller_results_read_well(memory: tms.Memory) -> None:
    assert str(memory.scan(limit=1)).startswith("Block:14  fact, IN\n  rests on   justification:")
    assert str(memory.load([])) == (
        "0 rows: 0 new sources, 0 new facts, 0 new justifications, 0 switches turned; "
        "believed 4 → 4; nothing changed"
    )
    assert str(memory.verify(revisions=2)) == "sound; labels compared at 2 revisions"
    with tms.open(":memory:") as empty:
        assert str(empty.stats()).startswith("head            no commit yet\nsources         0\n")


@pytest.mark.parametrize("status", list(tms.Status))
def test_a_status_is_its_text(status: tms.Status) -> None:
    assert status == str(status) == status.value
    assert {tms.Status.IN, tms.Status.OUT} == {"IN", "OUT"}
