"""Content that goes for good, and nothing else with it."""

import hashlib
import json
import os
import sqlite3
from pathlib import Path

import pytest
from making import Clock, dump, fill, plain, refused
from shell import kept, told

import tms


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memory.db"


SECRET = "b1f4f3a2-the-name-of-a-person"


def left(path: Path) -> list[str]:
    """The files beside a path that hold the secret."""
    return [
        name.name
        for name in path.parent.iterdir()
        if name.is_file() and SECRET.encode() in name.read_bytes()
    ]


@pytest.mark.parametrize("size", [1, 300])
def test_the_bytes_of_a_redacted_content_are_gone(path: Path, size: int) -> None:
    with tms.open(path, clock=Clock()) as memory:
        for number in range(60):
            memory.source(f"Feed:{number}", {"text": "x" * 997})
        memory.source("Person:1", {"name": SECRET * size})
        memory.revise("Person:1", {"name": SECRET, "more": 1}, reason="recount")
        for number in range(60):  # pages are split, and rows move
            memory.source(f"Another:{number}", {"text": "y" * (17 * number)})
            memory.revise(f"Feed:{number}", {"text": SECRET[:7] * number})
        assert left(path)
        report = memory.redact("Person:1", reason="asked for", by="keeper")
        assert (report.op, report.targets) == ("redact", ("Person:1",))
        assert (report.reason, report.by) == ("asked for", "keeper")
        assert left(path) == []
        node = memory.get("Person:1")
        assert (node.content, node.version, node.redacted) == (None, 2, True)
        assert "redacted" in str(node)
        assert memory.report(report.after).to_json() == report.to_json()
        assert memory.verify(revisions=None)
    assert left(path) == []


def test_a_redaction_keeps_the_digests_and_leaves_nothing_to_guess_from(path: Path) -> None:
    content = {"pin": "0000"}
    with tms.open(path, clock=Clock()) as memory:
        for number in range(2):
            memory.source(f"Person:{number}", content)
        memory.revise("Person:0", {"pin": "0001"})
        kept = memory.digest()
        with plain(path) as shell:
            rows = shell.execute("SELECT content, mark FROM content ORDER BY node, version")
            texts, marks = zip(*rows.fetchall(), strict=True)
        assert len(set(marks)) == 3
        assert [len(mark) for mark in marks] == [16, 16, 16]
        memory.redact("Person:0")
        memory.redact("Person:1")
        assert memory.verify(kept=kept, revisions=None)
    with plain(path) as shell:
        seals = [row[0] for row in shell.execute("SELECT mark FROM content ORDER BY 1")]
    assert sorted(seals) == sorted(
        hashlib.blake2b(text.encode(), key=mark, digest_size=32).digest()
        for text, mark in zip(texts, marks, strict=True)
    )
    assert len(set(seals)) == 3  # though two were of the same content
    left = [name for name in path.parent.iterdir() if name.is_file()]
    assert not [mark for mark in marks for name in left if mark in name.read_bytes()]


def test_a_memory_is_redacted_wherever_the_process_went_meanwhile(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    with tms.open("a name?#%20.db", clock=Clock()) as memory:
        memory.source("Person:1", {"name": SECRET})
        monkeypatch.chdir(tmp_path / "elsewhere")
        assert memory.redact("Person:1")
        assert os.listdir() == []
    assert left(path) == []


def test_all_else_stays_as_it_was(path: Path) -> None:
    with tms.open(path, clock=Clock()) as memory:
        fill(memory)
        every = [commit.anchor for commit in memory.log()]
        reports = [memory.report(anchor).to_json() for anchor in every]
        seen = [list(memory.as_of(recorded=anchor).scan().items) for anchor in every]
        log = list(memory.log())
        after = memory.redact("Feed:1", reason="asked for").after
        assert [memory.report(anchor).to_json() for anchor in every] == reports
        assert next(memory.log(after=every[-1])).op == "redact"
        assert list(memory.log())[:-1] == log
        for anchor, nodes in zip(every, seen, strict=True):
            now = memory.as_of(recorded=anchor).scan().items
            for one, other in zip(now, nodes, strict=True):
                if one.ref == "Feed:1":
                    assert (one.content, one.redacted) == (None, True)
                    other = other.model_copy(update={"content": None, "redacted": True})
                assert one == other
        events = memory.history("Feed:1")
        assert events[-1].what == "redacted"
        assert events[-1].anchor == after
        assert all(event.content is None for event in events)
        assert memory.why("Flag:14").steps[-1].content is None
        assert not memory.diff(every[-1], after)


def test_what_was_redacted_is_not_redacted_twice_and_takes_new_content_only_on_purpose(
    path: Path,
) -> None:
    with tms.open(path, clock=Clock()) as memory:
        feed = memory.source("Feed:1", {"n": 1})
        memory.fact("F:1")
        memory.redact(feed)
        for ref in (feed, "F:1"):
            head = memory.head
            assert not memory.redact(ref)
            assert memory.head == head
        memory.source(feed)
        refused(memory, tms.ContentConflict, "redacted", lambda: memory.source(feed, {"n": 1}))
        memory.revise(feed, {"n": 2})
        assert (memory.get(feed).content, memory.get(feed).redacted) == ({"n": 2}, False)
        assert memory.redact(feed)
        assert memory.get(feed).version == 2
        assert memory.verify(revisions=None)
        refused(memory, tms.NoSuchNode, "F:2", lambda: memory.redact("F:2"))
        ref = memory.justify("F:1", feed)
        refused(memory, tms.InvalidRef, "no content", lambda: memory.redact(ref))
        refused(memory, tms.InvalidContent, "reason", lambda: memory.redact(feed, reason=1))
    with tms.open(path, read_only=True) as memory:
        refused(memory, tms.ReadOnly, "reading only", lambda: memory.redact(feed))


def test_what_was_redacted_stays_so_in_a_pruned_file(path: Path, tmp_path: Path) -> None:
    with tms.open(path, clock=Clock()) as memory:
        fill(memory)
        memory.redact("Feed:1")
        memory.prune(before=memory.retract("Feed:1").after, path=tmp_path / "pruned.db")
    with tms.open(tmp_path / "pruned.db", clock=Clock()) as pruned:
        assert pruned.get("Feed:1").redacted
        assert not pruned.redact("Feed:1")
        assert pruned.verify(revisions=None)
        pruned.revise("Feed:1", {"n": 1})
        assert pruned.redact("Feed:1")
        assert pruned.verify(revisions=None)


def test_while_another_reads_what_is_redacted_it_sees_before_or_after(path: Path) -> None:
    with tms.open(path, clock=Clock(), timeout=0.1) as memory:
        memory.source("Person:1", {"name": SECRET})
        with plain(path) as reader:
            reader.execute("BEGIN")
            assert reader.execute("SELECT content FROM content").fetchone()[0].find(SECRET) > 0
            with pytest.raises(tms.Busy, match="Redact it again"):
                memory.redact("Person:1")
            assert reader.execute("SELECT content FROM content").fetchone()[0].find(SECRET) > 0
            reader.rollback()
            assert reader.execute("SELECT content FROM content").fetchone() == (None,)
        head = memory.head
        assert left(path)
        assert not memory.redact("Person:1")
        assert memory.head == head
        assert left(path) == []


def test_a_content_leaves_through_no_other_door(path: Path) -> None:
    with tms.open(path, clock=Clock()) as memory:
        memory.source("Feed:1", {"n": 1})
        memory.source("Feed:2", {"n": 2})
        memory.redact("Feed:2")
    before = dump(path)
    opened = "INSERT INTO redaction SELECT 1, max(revision) + 1 FROM commits"
    gone = "UPDATE content SET content = NULL, mark = zeroblob(32)"
    for statements in (
        [f"{gone} WHERE node = 1"],
        ["UPDATE content SET content = '{}' WHERE node = 2"],
        [opened, gone],
        [opened, "UPDATE content SET content = '{}' WHERE node = 1"],
        [opened, "UPDATE content SET mark = zeroblob(16) WHERE node = 1"],
        [opened, f"{gone}, version = 7 WHERE node = 1"],
        [opened, f"{gone}, node = 2 WHERE node = 1"],
        [opened, f"{gone} WHERE node = 1", f"{gone} WHERE node = 1"],
        ["INSERT INTO content VALUES (2, 2, 4, NULL, zeroblob(32))"],
        ["INSERT INTO redaction VALUES (1, 3)"],
        ["INSERT INTO redaction VALUES (99, 4)"],
        ["INSERT INTO pruned VALUES (1, 1, 0, NULL, NULL, 0, 0, 0, 0, 0, zeroblob(32))"],
    ):
        with plain(path) as shell:
            shell.execute("BEGIN")
            for statement in statements[:-1]:
                shell.execute(statement)
            with pytest.raises(sqlite3.IntegrityError, match="append-only"):
                shell.execute(statements[-1])
            shell.rollback()
    for mark in ("zeroblob(16)", "mark", "NULL"):  # the mark must go with the content
        with plain(path) as shell:
            shell.execute("BEGIN")
            shell.execute(opened)
            with pytest.raises(sqlite3.IntegrityError):
                shell.execute(f"UPDATE content SET content = NULL, mark = {mark} WHERE node = 1")
            shell.rollback()
    assert dump(path) == before
    with plain(path) as shell:
        shell.execute(opened)
        shell.execute(f"{gone} WHERE node = 1")
        shell.rollback()
    assert dump(path) == before


def test_the_command_line_redacts(path: Path) -> None:
    kept(path)
    report = json.loads(told(path, "redact", "Feed:1", "--reason", "asked for", "--json"))
    assert (report["op"], report["targets"], report["reason"]) == (
        "redact",
        ["Feed:1"],
        "asked for",
    )
    assert json.loads(told(path, "show", "Feed:1", "--json"))["redacted"] is True
    assert "nothing changed" in told(path, "redact", "Feed:1")
    assert "redacted" in told(path, "history", "Feed:1")


@pytest.mark.parametrize("code", ["SQLITE_FULL", "SQLITE_IOERR_WRITE", "SQLITE_CORRUPT"])
def test_a_disk_that_refuses_when_the_bytes_are_removed_is_told_and_the_rest_is_made_good_later(
    path: Path, monkeypatch: pytest.MonkeyPatch, code: str
) -> None:
    class Refusing(sqlite3.Connection):
        def execute(self, sql: str, *values: object) -> sqlite3.Cursor:
            if sql == "VACUUM":
                error = sqlite3.OperationalError("the disk refused")
                error.sqlite_errorcode = getattr(sqlite3, code)
                raise error
            return super().execute(sql, *values)

    connect = sqlite3.connect
    with tms.open(path) as memory:
        memory.source("Secret:1", content={"text": "hidden-hidden"})
        before = memory.head
        monkeypatch.setattr(sqlite3, "connect", lambda *a, **k: connect(*a, factory=Refusing, **k))
        with pytest.raises(tms.TMSError, match="the disk refused") as caught:
            memory.redact("Secret:1")
        assert isinstance(caught.value, (tms.StoreFailed, tms.CorruptStore))
        assert "It is redacted" in caught.value.hint
        assert "Redact it again" in caught.value.hint
        assert memory.head.revision == before.revision + 1
        assert memory.get("Secret:1").redacted
        monkeypatch.undo()
        assert not memory.redact("Secret:1")
        assert b"hidden-hidden" not in path.read_bytes()
        assert memory.verify(revisions=None)
