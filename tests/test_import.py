"""Importing a bundle: known, going on where the file ends, or of another history."""

import hashlib
import json
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from commands import Boom, Command, perform
from histories import histories
from hypothesis import given
from making import Clock, days, fill, refused, unchanged
from player import Engine, Player

import tms


@pytest.fixture
def memory() -> Iterator[tms.Memory]:
    with tms.open(":memory:", clock=Clock()) as memory:
        yield memory


@pytest.fixture
def other() -> Iterator[tms.Memory]:
    """A memory whose clock is a day ahead."""
    with tms.open(":memory:", clock=Clock(days(1))) as memory:
        yield memory


def lines(memory: tms.Memory) -> list[str]:
    return list(memory.export())


def off(memory: tms.Memory) -> set[str]:
    """Return what is switched off, justifications included."""
    rows = [json.loads(line) for line in memory.export()]
    state: dict[str, bool] = {}
    for row in rows:
        state.update(dict.fromkeys(row.get("retract", ()), True))
        state.update(dict.fromkeys(row.get("unretract", ()), False))
    return {ref for ref, is_off in state.items() if is_off}


def signed(rows: list[str]) -> list[str]:
    """Give rows a first and a last line that fit."""
    text = ['{"bundle":1}\n', *(f"{row}\n" for row in rows)]
    digest = hashlib.sha256("".join(text).encode()).hexdigest()
    commits = sum('"commit"' in row for row in rows)
    return [*text, json.dumps({"commits": commits, "sha256": digest})]


def edited(memory: tms.Memory, old: str, new: str) -> list[str]:
    """Return the bundle of a memory with a change that its last line covers."""
    rows = [line.rstrip("\n") for line in memory.export()][1:-1]
    assert any(old in row for row in rows)
    return signed([row.replace(old, new) for row in rows])


COMMIT = '{"commit":{"at":"2026-07-21T12:00:00.000000Z","op":"load"}}'


# ---------------------------------------------------------------- known


def test_an_old_bundle_changes_nothing_and_says_what_was_retracted_since(
    memory: tms.Memory,
) -> None:
    fill(memory)
    old = lines(memory)
    memory.retract(["Feed:1", "justification:by-feed"])
    memory.redact("Feed:1")
    memory.source("Feed:2")
    memory.retract("Feed:2")
    imported = unchanged(memory, lambda: memory.import_(old))
    assert not imported
    assert imported.retracted == ("Feed:1", "justification:by-feed")
    assert imported.rows == imported.known > 0
    assert "\n  known, retracted here  2\n    Feed:1\n    justification:by-feed" in str(imported)
    assert memory.get("Feed:1").redacted


def test_what_is_told_of_many_that_are_retracted_is_cut(memory: tms.Memory) -> None:
    memory.load({"source": f"Feed:{n}"} for n in range(30))
    old = lines(memory)
    memory.retract([f"Feed:{n}" for n in range(30)])
    imported = memory.import_(old)
    assert len(imported.retracted) == 30
    assert str(imported).endswith("    … 10 more")


def test_the_bundle_of_an_empty_memory_is_taken_anywhere(
    memory: tms.Memory, other: tms.Memory
) -> None:
    empty = lines(other)
    assert json.loads(empty[0]) == {"bundle": 1}
    assert json.loads(empty[1])["commits"] == 0
    assert not memory.import_(empty)
    fill(memory)
    assert not memory.import_(empty)


# ---------------------------------------------------------------- going on


def test_a_copy_follows_its_original(memory: tms.Memory, other: tms.Memory) -> None:
    fill(memory)
    assert other.import_(lines(memory)).commits == memory.head.revision
    told = []
    other.on_commit(told.append)
    before = memory.head
    memory.source("Feed:2")
    memory.retract("Policy:1", reason="void", by="legal")
    imported = other.import_(memory.export())
    assert (imported.before, imported.after, imported.commits) == (before, memory.head, 2)
    assert (imported.sources, imported.facts, imported.switched) == (1, 0, 1)
    assert imported.known == imported.rows - 2
    assert lines(other) == lines(memory)
    assert told == [memory.report(commit.anchor) for commit in memory.log(after=before)]


def test_a_content_that_was_redacted_leaves_the_bytes_of_a_copy_too(tmp_path: Path) -> None:
    path = tmp_path / "copy.db"
    with tms.open(":memory:") as memory, tms.open(path) as copy:
        memory.source("Person:1", content={"name": "Rumpelstilzchen"})
        copy.import_(memory.export())
        copy.revise("Person:1", content={"name": "Rapunzel"})
        memory.import_(copy.export())
        old = lines(memory)
        memory.redact("Person:1", reason="asked for")
        copy.import_(memory.export())
        assert copy.get("Person:1").redacted
        assert not copy.import_(old)
        assert lines(copy) == lines(memory)
    assert b"Rumpelstilzchen" not in path.read_bytes()
    assert b"Rapunzel" not in path.read_bytes()


def test_versions_that_were_redacted_together_keep_their_places(
    memory: tms.Memory, other: tms.Memory
) -> None:
    with memory.batch():
        memory.source("Person:1", content={"v": 1})
        memory.revise("Person:1", content={"v": 2})
    memory.revise("Person:1", content={"v": 3})
    memory.redact("Person:1")
    memory.revise("Person:1", content={})
    other.import_(memory.export())
    assert lines(other) == lines(memory)
    assert other.get("Person:1") == memory.get("Person:1")
    assert other.get("Person:1").version == 4


# ---------------------------------------------------------------- of another history


def apart(memory: tms.Memory, other: tms.Memory) -> None:
    """Let two memories begin alike and go on differently."""
    fill(memory)
    other.import_(memory.export())
    memory.source("Feed:mine")
    other.source("Feed:yours")


def test_what_is_new_is_added_in_one_commit(memory: tms.Memory, other: tms.Memory) -> None:
    apart(memory, other)
    other.justify("Flag:99", ["Feed:yours", "Scan:1"], rule="map")
    imported = memory.import_(other.export())
    assert (imported.commits, imported.sources, imported.facts) == (1, 1, 1)
    assert imported.justifications == 1
    assert imported.known == imported.rows - 2
    assert memory.believes("Flag:99")
    commit = list(memory.log())[-1]
    assert (commit.op, commit.anchor) == ("import", imported.after)
    assert commit.anchor.at >= other.head.at
    assert not unchanged(memory, lambda: memory.import_(other.export()))


def test_a_merge_switches_on_nothing(memory: tms.Memory, other: tms.Memory) -> None:
    apart(memory, other)
    memory.retract(["Scan:1", "justification:by-feed", "Block:22"])
    other.retract("Scan:1")
    other.unretract("Scan:1")
    imported = unchanged_but_added(memory, other)
    assert imported.retracted == ("Block:22", "Scan:1", "justification:by-feed")
    assert not memory.believes("Scan:1")


def unchanged_but_added(memory: tms.Memory, other: tms.Memory) -> tms.Imported:
    before = off(memory)
    imported = memory.import_(other.export())
    assert off(memory) >= before
    return imported


def test_what_was_retracted_there_later_is_retracted_with_its_reasons(
    memory: tms.Memory, other: tms.Memory
) -> None:
    apart(memory, other)
    other.retract("Scan:1", reason="broken", by="oncall")
    other.retract(["Feed:yours", "justification:block-22"], reason="wrong feed", by="me")
    imported = memory.import_(other.export())
    assert imported.switched == 3
    report = memory.report(imported.after)
    assert report.targets == ("Feed:yours", "Scan:1", "justification:block-22")
    assert (report.reason, report.by) == ("broken; wrong feed", "oncall, me")
    memory.unretract("Scan:1", reason="it was not")
    assert not unchanged(memory, lambda: memory.import_(other.export()))
    assert memory.believes("Scan:1")


def test_what_was_turned_here_later_stays_as_it_is(memory: tms.Memory, other: tms.Memory) -> None:
    apart(memory, other)
    other.retract("Scan:1")
    late = Clock(days(2))
    memory._writer._clock = late
    memory.retract("Scan:1")
    memory.unretract("Scan:1")
    assert memory.import_(other.export()).switched == 0
    assert memory.believes("Scan:1")


def test_a_justification_of_another_name_is_the_same(memory: tms.Memory, other: tms.Memory) -> None:
    memory.source("Feed:1")
    memory.justify("Flag:1", "Feed:1", id="mine")
    other.source("Feed:1")
    other.justify("Flag:1", "Feed:1", id="yours")
    other.retract("justification:yours")
    assert memory.import_(other.export()).switched == 1
    assert not memory.believes("justification:mine")
    memory.unretract("justification:mine")
    assert not memory.import_(other.export())


def test_a_later_content_is_taken_if_the_one_here_is_known_there(
    memory: tms.Memory, other: tms.Memory
) -> None:
    apart(memory, other)
    memory.fact("Flag:14", content={"a": 1})
    other.fact("Block:22", content={"b": 1})
    other.revise("Feed:1", content={"rows": 3})
    other.revise("Feed:1", content={"rows": 4})
    imported = memory.import_(other.export())
    assert memory.get("Feed:1").content == {"rows": 4}
    assert (memory.get("Feed:1").version, other.get("Feed:1").version) == (3, 4)
    assert memory.get("Block:22").content == {"b": 1}
    assert memory.get("Flag:14").content == {"a": 1}
    assert imported.known == imported.rows - 3
    memory.revise("Feed:1", content={"rows": 2})
    assert not unchanged(memory, lambda: memory.import_(other.export()))


def test_contents_that_do_not_follow_one_another_are_a_conflict(
    memory: tms.Memory, other: tms.Memory
) -> None:
    apart(memory, other)
    memory.revise("Feed:1", content={"rows": 3})
    other.revise("Feed:1", content={"rows": 4})
    number = 1 + next(n for n, row in enumerate(lines(other)) if '{"content":{"rows":4}' in row)
    message = f"line {number} of the bundle: Feed:1 has other content here"
    refused(memory, tms.ContentConflict, message, lambda: memory.import_(other.export()))
    memory.revise("Feed:1", content={"rows": 4})
    assert memory.import_(other.export()).sources == 1


def test_a_redaction_is_not_undone_by_a_merge_and_removes_nothing_here(
    memory: tms.Memory, other: tms.Memory
) -> None:
    apart(memory, other)
    memory.redact("Feed:1")
    other.fact("Flag:14", content={"a": 1})
    memory.fact("Flag:14", content={"a": 1})
    other.redact("Flag:14")
    memory.import_(other.export())
    assert memory.get("Feed:1").redacted
    assert memory.get("Flag:14").content == {"a": 1}
    other.revise("Flag:14", content={"a": 2})
    memory.import_(other.export())
    assert memory.get("Flag:14").content == {"a": 2}


def test_what_is_new_and_was_redacted_comes_without_content(
    memory: tms.Memory, other: tms.Memory
) -> None:
    apart(memory, other)
    other.source("Person:1", content={"name": "x"})
    other.source("Person:2", content={"name": "y"})
    other.redact("Person:1")
    other.redact("Person:2")
    other.revise("Person:2", content={"name": "z"})
    memory.import_(other.export())
    assert (memory.get("Person:1").version, memory.get("Person:1").redacted) == (1, True)
    assert memory.get("Person:2").content == {"name": "z"}
    assert not memory.import_(other.export())


def test_windows_are_taken_as_contents_are(memory: tms.Memory, other: tms.Memory) -> None:
    with memory.batch():
        for n in range(5):
            memory.source(f"Cert:{n}", valid_to=days(90) if n else None)
        memory.justify("Trusted:1", "Cert:1")
    other.import_(memory.export())
    memory.source("Feed:mine")
    other.revise("Cert:0", valid_to=days(80))
    other.revise("Cert:1", valid_to=days(81))
    other.revise("Cert:2", valid_to=None)
    memory.revise("Cert:3", valid_to=days(83))
    other.source("Cert:5", valid_from=days(-1))
    other.revise("Cert:5", valid_from=days(-2))
    other.revise("Trusted:1", valid_to=days(85))
    memory.import_(other.export())
    found = [memory.get(f"Cert:{n}").valid_to for n in range(5)]
    assert found == [days(80), days(81), None, days(83), days(90)]
    assert memory.get("Cert:5").valid_from == days(-2)
    assert memory.get("Trusted:1").valid_to == days(85)
    memory.revise("Cert:2", valid_to=days(90))
    assert not unchanged(memory, lambda: memory.import_(other.export()))
    memory.revise("Cert:4", valid_to=days(84))
    other.revise("Cert:4", valid_to=days(88))
    refused(
        memory,
        tms.ContentConflict,
        "Cert:4 has another window here",
        lambda: memory.import_(other.export()),
    )


def test_a_window_of_one_that_was_declared_without_is_a_conflict(
    memory: tms.Memory, other: tms.Memory
) -> None:
    memory.source("Cert:1")
    other.source("Cert:1", valid_to=days(9))
    refused(memory, tms.ContentConflict, "window", lambda: memory.import_(other.export()))
    assert not other.import_(memory.export())


def test_a_node_of_the_other_role_or_another_justification_of_that_name_is_a_conflict(
    memory: tms.Memory, other: tms.Memory
) -> None:
    memory.source("Feed:1")
    other.fact("Feed:1")
    refused(memory, tms.ContentConflict, "line 3 of the", lambda: memory.import_(other.export()))
    with tms.open(":memory:") as one, tms.open(":memory:") as two:
        one.axiom("Policy:1", id="said")
        two.axiom("Policy:2", id="said")
        refused(one, tms.ContentConflict, "line 3 of the", lambda: one.import_(two.export()))


def test_a_pruned_file_takes_bundles_and_gives_none(tmp_path: Path, memory: tms.Memory) -> None:
    fill(memory)
    path = tmp_path / "pruned.db"
    old = lines(memory)
    memory.retract("Scan:1")
    memory.prune(before=memory.head, path=path)
    with tms.open(path, clock=Clock(days(3))) as pruned:
        with pytest.raises(tms.Forgotten, match=r"memory\.backup"):
            pruned.export()
        imported = pruned.import_(old)
        assert (imported.changed, imported.retracted) == (False, ("Scan:1",))


@given(shared=histories(4), mine=histories(5), yours=histories(5))
def test_a_merge_happens_once_and_revives_nothing(
    shared: list[Command], mine: list[Command], yours: list[Command]
) -> None:
    with Player() as player, tms.open(":memory:", clock=player.clock) as other:
        for command in shared:
            player.play(command)
        memory = player.memory
        other.import_(memory.export())
        for target, commands in ((memory, mine), (other, yours)):
            for command in commands:
                player.tick()
                with suppress(tms.TMSError, Boom):
                    perform(Engine(target, player.names), command, tms.TMSError, [])
        bundle = lines(other)
        before, reports = off(memory), [memory.report(commit.anchor) for commit in memory.log()]
        head = memory.head
        try:
            imported = memory.import_(bundle)
        except (tms.ContentConflict, tms.InvalidJustification):
            assert memory.head == head
            assert memory.verify(revisions=None)
            return
        if imported.after != other.head:  # otherwise it went on where it ended
            assert off(memory) >= before
        assert set(imported.retracted) <= off(memory) - off(other)
        assert memory.verify(revisions=None)
        assert [memory.report(commit.anchor) for commit in memory.log()][: len(reports)] == reports
        refs = {item.ref for item in memory.scan().items}
        assert refs >= {item.ref for item in other.scan().items}
        again = unchanged(memory, lambda: memory.import_(bundle))
        assert (again.rows, again.retracted) == (again.known, tuple(sorted(again.retracted)))
        turned = sorted(off(memory) - before)
        memory.unretract(turned)
        unchanged(memory, lambda: memory.import_(bundle))
        with tms.open(":memory:", clock=player.clock) as copy:
            copy.import_(memory.export())
            assert lines(copy) == lines(memory)


# ---------------------------------------------------------------- what is no bundle


def test_a_bundle_that_was_cut_off_or_changed_anywhere_is_refused_and_nothing_is_written(
    memory: tms.Memory, other: tms.Memory
) -> None:
    fill(memory)
    text = "".join(memory.export())
    whole = text.splitlines(keepends=True)
    for n in range(len(whole)):
        refused(other, tms.InvalidContent, "bundle", lambda n=n: other.import_(whole[:n]))
        without = [*whole[:n], *whole[n + 1 :]]
        refused(other, tms.InvalidContent, "bundle", lambda w=without: other.import_(w))
    for n in range(0, len(text), 7):
        changed = text[:n] + chr(ord(text[n]) ^ 1) + text[n + 1 :]
        parts = changed.splitlines(keepends=True)
        refused(other, tms.InvalidContent, "bundle", lambda p=parts: other.import_(p))
    refused(other, tms.InvalidContent, "not whole", lambda: other.import_([*whole, *whole]))
    refused(other, tms.InvalidContent, "not whole", lambda: other.import_([*whole[:-1], "{}"]))


@pytest.mark.parametrize(
    "form", ["text", "bytes", "no ends", "dos", "blank lines", "bom", "file", "in pieces"]
)
def test_a_bundle_is_taken_however_its_lines_come(
    memory: tms.Memory, other: tms.Memory, tmp_path: Path, form: str
) -> None:
    fill(memory)
    memory.source("Ŝ:\0\u2028\U0001f719\r\n\x85", content={"said": "a\u2028b\u2029c\x85d\r\ne\0"})
    text = "".join(memory.export())
    assert text.splitlines(keepends=True) == lines(memory)
    path = tmp_path / "bundle.jsonl"
    path.write_text(text, encoding="utf-8", newline="\n")
    given = {
        "text": lines(memory),
        "bytes": [line.encode() for line in lines(memory)],
        "no ends": text.splitlines(),
        "dos": [line[:-1] + "\r\n" for line in lines(memory)],
        "blank lines": [part for line in lines(memory) for part in (line, "\n", " ")],
        "bom": [b"\xef\xbb\xbf" + lines(memory)[0].encode(), *lines(memory)[1:]],
        "in pieces": iter(lines(memory)),
    }
    if form == "file":
        with path.open(encoding="utf-8") as file:
            other.import_(file)
    else:
        other.import_(given[form])
    assert "".join(other.export()) == text


@pytest.mark.parametrize(
    ("given", "kind", "message"),
    [
        (7, tms.InvalidArgument, "the lines are 7"),
        ('{"bundle":1}', tms.InvalidArgument, "the lines are"),
        ({"bundle": 1}, tms.InvalidArgument, "the lines are"),
        ([7], tms.InvalidArgument, "a line is 7"),
        (['{"bundle":1}\n{}'], tms.InvalidArgument, "several lines"),
        ([b'{"bundle":\xff'], tms.InvalidContent, "no text"),
        (['{"bundle":"\ud800"}'], tms.InvalidContent, "no text"),
        ([], tms.InvalidContent, "not whole"),
        (['{"source":"Feed:1"}'], tms.InvalidContent, "not a bundle"),
        (['{"bundle":2}', "{}"], tms.InvalidContent, "another form"),
        (['{"bundle":1,"more":2}', "{}"], tms.InvalidContent, "another form"),
        (['{"bundle":true}', "{}"], tms.InvalidContent, "another form"),
        (['{"bundle":1}'], tms.InvalidContent, "not whole"),
    ],
)
def test_what_is_no_bundle_is_refused(memory: tms.Memory, given, kind, message) -> None:
    refused(memory, kind, message, lambda: memory.import_(given))


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("[]", "no row"),
        ("{}", "no row"),
        ("x", "no row"),
        ('{"source":"Feed:1","fact":"Feed:2"}', "no row"),
        ('{"source":"Feed:1","more":1}', "does not fit"),
        ('{"source":1}', "does not fit"),
        ('{"source":"Feed:1","ref":"Feed:2"}', "no row"),
        ('{"ref":"Feed:2"}', "no row"),
        ('{"source":"Feed"}', "not a ref"),
        ('{"source":"Feed:1","version":1}', "makes something else"),
        ('{"source":"Feed:1","redacted":true}', "makes something else"),
        ('{"source": "Feed:1"}', "makes something else"),
        ('{"source":"Feed:1","valid_to":"2026-01-01T00:00:00+01:00"}', "makes something else"),
        ('{"source":"Feed:1","valid_to":"2026"}', "not an instant"),
        ('{"revise":"Feed:1","version":1}', "no such node"),
        ('{"redact":"Feed:1","content":{}}', "no such node"),
        ('{"redact":"Feed:1"}', "no such node"),
        ('{"retract":["Feed:1"]}', "no such node"),
        ('{"retract":[1]}', "does not fit"),
        ('{"retract":[],"reason":"x"}', "does not fit"),
        ('{"retract":[]}', "a commit that changes nothing"),
        ('{"axiom":[]}', "no conclusion"),
        ('{"axiom":["Flag:1"],"more":1}', "does not fit"),
        ('{"justification":null,"premises":["Feed:1"],"derives":["Flag:1"]}', "no such node"),
        ('{"commit":{"at":"2026-07-21T12:00:00.000000Z"}}', "does not fit"),
        ('{"commit":{"at":"2026-07-21T12:00:00","op":"load"}}', "without a time zone"),
        ('{"commit":{"at":"2026-07-21T11:00:00.000000Z","op":"load"}}', "is before the one"),
        ('{"commit":{"at":"2026-07-21T12:00:00.000000Z","op":"load"},"a":1}', "does not fit"),
        (COMMIT, "a commit that changes nothing"),
    ],
)
def test_a_row_that_cannot_be_is_named_by_its_line(
    memory: tms.Memory, row: str, message: str
) -> None:
    bundle = signed([COMMIT, row])
    refused(memory, tms.TMSError, f"of the bundle: .*({message})", lambda: memory.import_(bundle))


def test_a_row_before_the_first_commit_is_refused(memory: tms.Memory) -> None:
    bundle = signed(['{"source":"Feed:1"}'])
    refused(memory, tms.InvalidContent, "line 2 .* no commit", lambda: memory.import_(bundle))
    memory.source("Feed:1")
    refused(memory, tms.InvalidContent, "line 2 .* no commit", lambda: memory.import_(bundle))


def test_a_bundle_that_says_other_than_it_makes_is_refused(
    memory: tms.Memory, other: tms.Memory
) -> None:
    fill(memory)
    for old, new in (
        ('"version":2', '"version":3'),
        ('{"retract":["Feed:1"]}', '{"retract":["Feed:1","Feed:1"]}'),
        ('{"unretract":["Feed:1"]}', '{"unretract":["Feed:1","Scan:1"]}'),
        ('"premises":["Policy:1","Flag:14"]', '"premises":["Flag:14","Policy:1"]'),
        ('"op":"axiom"', '"op":"axiom","reason":null'),
    ):
        bundle = edited(memory, old, new)
        refused(other, tms.InvalidContent, "something else", lambda b=bundle: other.import_(b))


# ---------------------------------------------------------------- doors


def test_an_open_batch_neither_exports_nor_imports(memory: tms.Memory) -> None:
    fill(memory)
    bundle = lines(memory)
    with memory.batch():
        memory.source("Feed:7")
        with pytest.raises(tms.Misuse):
            memory.export()
        with pytest.raises(tms.Misuse):
            memory.import_(bundle)

    def begun() -> Iterator[str]:
        memory.batch().__enter__()
        yield from bundle

    with pytest.raises(tms.Misuse):
        memory.import_(begun())


def test_a_door_that_only_reads_exports(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with tms.open(path) as memory:
        fill(memory)
        bundle = lines(memory)
    before = path.read_bytes()
    with tms.open(path, read_only=True) as memory:
        assert lines(memory) == bundle
        with pytest.raises(tms.ReadOnly):
            memory.import_(bundle)
    assert path.read_bytes() == before


def test_an_export_is_of_the_moment_at_which_it_was_asked_for(memory: tms.Memory) -> None:
    fill(memory)
    whole = lines(memory)
    export = memory.export()
    first = next(export)
    memory.source("Feed:7", content={"n": 7})
    memory.retract("Scan:1")
    assert [first, *export] == whole
    export = memory.export()
    next(export)
    memory.redact("Feed:1")
    with pytest.raises(tms.Busy, match="redacted during the export"):
        list(export)
    assert [line for line in memory.export() if '"redact":' in line] == ['{"redact":"Feed:1"}\n']


def test_a_redaction_comes_along_where_histories_differ(tmp_path: Path) -> None:
    with tms.open(":memory:", clock=Clock()) as origin:
        origin.source("Person:1", content={"name": "Ada"})
        old = list(origin.export())
        origin.redact("Person:1")
        new = list(origin.export())
    with tms.open(tmp_path / "other.db", clock=Clock()) as other:
        other.source("Other:1")
        other.import_(new)
        assert other.get("Person:1").redacted
        assert other.get("Person:1").content is None
        assert not other.import_(old)
        assert not other.import_(new)
        assert other.get("Person:1").redacted
        assert other.verify(revisions=None)
        bundle = list(other.export())
    with tms.open(":memory:") as copy:
        copy.import_(bundle)
        assert list(copy.export()) == bundle
        assert copy.get("Person:1").redacted


def test_a_redaction_comes_along_to_what_has_no_content_here() -> None:
    with tms.open(":memory:", clock=Clock()) as origin:
        origin.source("Person:1", content={"name": "Ada"})
        origin.fact("Person:2")
        origin.revise("Person:2", content={"name": "Eve"})
        old = list(origin.export())
        origin.redact("Person:1")
        origin.redact("Person:2")
        new = list(origin.export())
    with tms.open(":memory:", clock=Clock()) as other:
        other.source("Person:1")
        other.fact("Person:2")
        assert other.import_(new)
        assert not other.import_(new)
        assert not other.import_(old)
        for ref in ("Person:1", "Person:2"):
            assert (other.get(ref).redacted, other.get(ref).content) == (True, None)
        assert other.verify(revisions=None)


def test_two_that_become_one_are_told_as_a_conflict(tmp_path: Path) -> None:
    with tms.open(tmp_path / "a.db") as shared:
        shared.source("Feed:1")
    with tms.open(tmp_path / "a.db", scope="alice") as alice:
        first = alice.justify("Flag:1", "Feed:1")
        alice.source("Feed:1")
        alice.justify("Flag:1", "Feed:1")
        alice.retract(first)
        bundle = list(alice.export())
    with tms.open(tmp_path / "b.db") as shared:
        shared.source("Feed:1")
        refused(shared, tms.ContentConflict, "the same here", lambda: shared.import_(bundle))
    with tms.open(tmp_path / "b.db", scope="bob") as bob:
        bob.import_(bundle)
        assert bob.believes("Flag:1")
        assert not bob.believes(first)


def test_what_came_back_after_a_redaction_comes_along_as_it_is() -> None:
    with (
        tms.open(":memory:", clock=Clock()) as origin,
        tms.open(":memory:", clock=Clock()) as other,
    ):
        origin.source("Person:1", content={"name": "Ada"})
        origin.redact("Person:1")
        origin.revise("Person:1", content={"name": "somebody"})
        other.source("Other:1")
        other.import_(origin.export())
        assert other.get("Person:1").content == {"name": "somebody"}
        assert other.verify(revisions=None)


@pytest.mark.parametrize("pruned", [False, True])
def test_a_bundle_tells_what_is_shared_from_what_has_the_same_name(
    tmp_path: Path, pruned: bool
) -> None:
    path = tmp_path / "memory.db"
    clock = Clock()
    with tms.open(path, clock=clock) as shared:
        shared.source("Feed:1")
    with tms.open(path, scope="alice", clock=clock) as alice:
        alice.justify("Flag:1", "Feed:1")  # on the shared one
        alice.source("Feed:1")  # from now on her own
        alice.retract(alice.justify("Flag:2", "Feed:1"))
        bundle = list(alice.export())
    with tms.open(path, clock=clock) as shared:
        shared.retract("Feed:1")
        if pruned:
            shared.prune(before=shared.head, path=tmp_path / "pruned.db")
            path = tmp_path / "pruned.db"
    with tms.open(path, scope="alice", clock=clock) as alice:
        assert not alice.import_(bundle)
        assert not alice.believes("Flag:1")
        assert alice.stats().justifications == 2
    with tms.open(tmp_path / "other.db", clock=clock) as shared:
        shared.source("Feed:1")
        shared.source("Else:1")
    with tms.open(tmp_path / "other.db", scope="alice", clock=clock) as alice:
        alice.source("Mine:1")
        assert alice.import_(bundle).justifications == 2
        alice.retract("Feed:1")
        assert alice.believes("Flag:1")
        assert not alice.import_(bundle)
    with tms.open(tmp_path / "other.db") as shared:
        shared.retract("Feed:1")
        assert shared.verify(revisions=None)
    with tms.open(tmp_path / "other.db", scope="alice") as alice:
        assert not alice.believes("Flag:1")
