"""A pruned file: every later answer as before, and what was before refused."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from random import Random

import pytest
from commands import Boom, Command, Maker, perform
from making import Clock, dump, fill, found, plain, refused
from player import Engine, Player
from retaining import answers
from seeing import moment
from shell import FIRST, kept, run, told

import tms


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memory.db"


def anchors(memory: tms.Memory) -> list[tms.Anchor]:
    return [commit.anchor for commit in memory.log()]


# ---------------------------------------------------------------- pruning keeps every later answer


def same(one: tms.Memory, other: tms.Memory, since: int, instants: list[datetime]) -> None:
    """Compare all that two memories answer about the commits from one on."""
    for mine, yours in zip(
        answers(one, since, instants), answers(other, since, instants), strict=True
    ):
        assert mine == yours


def instants_of(player: Player) -> list[datetime]:
    bounds = sorted(player.world.head.bounds)
    return [moment(bound + step) for bound in bounds for step in (-1, 0)]


def do(memory: tms.Memory, command: Command, names: dict) -> None:
    with suppress(tms.TMSError, Boom):
        perform(Engine(memory, names), command, tms.TMSError, [])


@pytest.mark.parametrize("seed", range(6))
def test_a_pruned_file_answers_all_later_questions_as_the_original(
    tmp_path: Path, seed: int
) -> None:
    random = Random(seed)
    maker = Maker(random.randrange)
    with Player(str(tmp_path / "memory.db")) as player:
        player.play(maker.base())
        for _ in range(12):
            player.play(maker.command(player.world.head))
        original = player.memory
        instants = instants_of(player)
        for anchor in anchors(original)[seed % 2 :: 2]:
            target = tmp_path / f"{anchor.revision}.db"
            original.prune(before=anchor, path=target)
            with tms.open(target, clock=player.clock) as pruned:
                assert not pruned.verify(revisions=None).findings
                same(original, pruned, anchor.revision, instants[anchor.revision % 3 :: 3])
                pruned.rebuild()
                assert pruned.verify()
        assert original.verify(revisions=None)


@pytest.mark.parametrize("seed", range(6))
def test_a_pruned_file_lives_on_as_the_original(tmp_path: Path, seed: int) -> None:
    random = Random(1000 + seed)
    maker = Maker(random.randrange)
    with Player(str(tmp_path / "memory.db")) as player:
        player.play(maker.base())
        forks: list[tuple[int, tms.Memory]] = []
        try:
            for step in range(20):
                if step % 6 == 3:
                    at = random.choice(anchors(player.memory))
                    target = tmp_path / f"{step}.db"
                    source = player.memory
                    if forks and forks[-1][0] <= at.revision:  # of a file that was pruned before
                        source = forks[-1][1]
                    source.prune(before=at, path=target)
                    forks.append((at.revision, tms.open(target, clock=player.clock)))
                names = dict(player.names)
                command = maker.command(player.world.head)
                player.play(command)
                for _, fork in forks:
                    do(fork, command, names)
                    assert fork.head == player.memory.head
            for since, fork in forks:
                assert not fork.verify(revisions=None).findings
                same(player.memory, fork, since, instants_of(player)[::3])
        finally:
            for _, fork in forks:
                fork.close()


def test_what_was_before_a_pruned_file_is_refused_and_it_says_from_where_to_ask(
    path: Path, tmp_path: Path
) -> None:
    with tms.open(path, clock=Clock()) as memory:
        fill(memory)
        every = anchors(memory)
        cursor = memory.as_of(recorded=every[3]).scan(limit=1).next_cursor
        memory.prune(before=every[9], path=tmp_path / "pruned.db")
    with tms.open(tmp_path / "pruned.db", clock=Clock()) as pruned:
        first = every[9]
        asked: list[Callable[[], object]] = [
            lambda: pruned.report(every[3]),
            lambda: pruned.report(first),
            lambda: pruned.as_of(recorded=every[8]),
            lambda: pruned.diff(every[8], every[12]),
            lambda: pruned.diff(every[12], every[0]),
            lambda: pruned.log(after=every[5]),
            lambda: pruned.anchor_at(every[8].at),
            lambda: pruned.prune(before=every[2]),
        ]
        mail = pruned.subscribe("mail")
        follow: list[Callable[[], object]] = [
            mail.take,
            lambda: list(mail),
            lambda: list(pruned.changes()),
        ]
        for ask in asked + follow:
            with pytest.raises(tms.Forgotten, match="was pruned") as caught:
                ask()
            assert caught.value.ids == (first,)
            assert str(first) in caught.value.hint
            if ask in follow:
                assert "acknowledges that commit" in caught.value.hint
            assert isinstance(caught.value, tms.NoSuchAnchor)
        mail.acknowledge(first)
        assert [report.after for report in mail.take()] == every[10:]
        assert [report.after for report in pruned.changes(since=first)] == every[10:]
        with pytest.raises(tms.InvalidCursor):
            pruned.as_of(recorded=first).scan(after=cursor)
        assert anchors(pruned) == every[9:]
        assert pruned.report(every[10]).before == first
        (stood, *later) = pruned.history("Feed:1")
        assert (stood.what, stood.anchor, stood.content) == ("pruned", first, {"rows": 2})
        assert {event.anchor for event in later} == {every[10]}
        (only,) = pruned.history("justification:by-feed")
        assert (only.what, only.anchor) == ("pruned", first)
        with plain(tmp_path / "pruned.db") as shell:
            (begins,) = shell.execute("SELECT min(revision) FROM log").fetchone()
            assert begins == first.revision


def test_pruning_says_what_is_left_out_and_the_new_file_remembers_it(
    path: Path, tmp_path: Path
) -> None:
    with tms.open(path, clock=Clock()) as memory:
        feed = memory.source("Feed:1", {"n": 1}, valid_from="2020-01-01T00:00:00Z")
        memory.justify("F:1", feed)
        memory.revise(feed, {"n": 2})
        memory.revise(feed, valid_from="2021-01-01T00:00:00Z")
        memory.retract(feed)
        memory.unretract(feed)
        last = memory.revise(feed, {"n": 3}).after
        before = dump(path)
        counted = memory.prune(before=last, reason="a year is over", by="keeper")
        assert counted.path is None
        assert (counted.commits, counted.contents, counted.windows) == (2, 2, 1)
        assert (counted.switches, counted.transitions) == (2, 4)
        assert list(tmp_path.glob("*.db")) == [path]
        target = tmp_path / "pruned.db"
        written = memory.prune(before=last, path=target, reason="a year is over", by="keeper")
        assert written.path == str(target)
        assert written.model_copy(update={"path": None, "at": counted.at}) == counted
        assert memory.stats().pruned == ()
        assert dump(path) == before
    with tms.open(target, clock=Clock()) as pruned:
        assert pruned.stats().pruned == (written.model_copy(update={"path": None}),)
        assert "a year is over" in str(pruned.stats())
        head = pruned.retract(feed).after
        again = pruned.prune(before=head, path=tmp_path / "again.db")
    with tms.open(tmp_path / "again.db") as last_one:
        assert [one.before for one in last_one.stats().pruned] == [last, head]
        assert last_one.stats().pruned[1].commits == again.commits
        assert last_one.verify(revisions=None)


def test_nothing_is_written_where_something_is_and_no_half_file_is_left(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken = tmp_path / "taken.db"
    taken.write_text("mine")
    with tms.open(path, clock=Clock()) as memory:
        fill(memory)
        head = memory.head
        for target in (taken, path):
            refused(
                memory,
                tms.ContentConflict,
                "already",
                lambda target=target: memory.prune(before=head, path=target),
            )
        refused(
            memory,
            tms.NoSuchFile,
            "folder",
            lambda: memory.prune(before=head, path=tmp_path / "no" / "pruned.db"),
        )
        with memory.batch():
            with pytest.raises(tms.Misuse):
                memory.prune(before=head)
            with pytest.raises(tms.Misuse):
                memory.redact("Feed:1")
        for broken in ("fsync", "link"):
            with monkeypatch.context() as patch:

                def fails(*_: object) -> None:
                    raise KeyboardInterrupt

                patch.setattr(os, broken, fails)
                with pytest.raises(KeyboardInterrupt):
                    memory.prune(before=head, path=tmp_path / "pruned.db")
            assert not list(tmp_path.glob("*pruned*"))
            assert not list(tmp_path.glob(".*"))
        with monkeypatch.context() as patch:

            def unlinkable(*_: object) -> None:
                raise OSError("no links here")

            patch.setattr(os, "link", unlinkable)
            memory.prune(before=head, path=tmp_path / "pruned.db")
    assert taken.read_text() == "mine"
    assert sorted(os.listdir(tmp_path)) == ["memory.db", "pruned.db", "taken.db"]
    assert found(tmp_path / "pruned.db") == {}


def test_a_process_that_dies_while_it_prunes_leaves_nothing_under_the_name(
    path: Path, tmp_path: Path
) -> None:
    with tms.open(path, clock=Clock()) as memory:
        fill(memory)
    script = (
        "import os, sys, tms\n"
        "os.link = lambda *_: os._exit(9)\n"
        "with tms.open(sys.argv[1]) as memory:\n"
        "    memory.prune(before=memory.head, path=sys.argv[2])\n"
    )
    target = tmp_path / "pruned.db"
    run = subprocess.run([sys.executable, "-c", script, path, target], check=False)
    assert run.returncode == 9
    assert not target.exists()
    with tms.open(path) as memory:
        memory.prune(before=memory.head, path=target)
    assert found(target) == {}


def test_a_memory_is_pruned_while_others_write_and_from_a_file_that_is_only_read(
    path: Path, tmp_path: Path
) -> None:
    with tms.open(path, clock=Clock()) as memory:
        fill(memory)
        head = memory.head
    stop = threading.Event()
    written: list[int] = []

    def write() -> None:
        with tms.open(path) as other:
            while not stop.is_set():
                written.append(len(written))
                other.source(f"Other:{len(written)}")

    writer = threading.Thread(target=write)
    writer.start()
    try:
        with tms.open(path, read_only=True) as memory:
            for number in range(5):
                seen = memory.head
                target = tmp_path / f"{number}.db"
                memory.prune(before=head, path=target)
                with tms.open(target, create=False) as pruned:
                    assert pruned.head >= seen
                    assert pruned.verify(revisions=2)
    finally:
        stop.set()
        writer.join()
    assert written


def test_a_memory_that_is_in_no_file_is_pruned_into_one_and_a_lost_cache_is_made_anew(
    path: Path, tmp_path: Path
) -> None:
    with tms.open(":memory:", clock=Clock()) as memory:
        fill(memory)
        memory.prune(before=memory.head, path=path)
    assert found(path) == {}
    with plain(path) as shell:
        shell.execute("DROP TABLE cache_off")
    with tms.open(path, read_only=True) as memory:
        memory.prune(before=memory.head, path=tmp_path / "pruned.db")
    assert found(tmp_path / "pruned.db") == {}


# ---------------------------------------------------------------- the command line


def test_the_command_line_prunes_into_a_file_only_when_it_is_told_to(
    path: Path, tmp_path: Path
) -> None:
    kept(path)
    head = json.loads(told(path, "head", "--json"))
    counted = tms.Pruned.model_validate_json(told(path, "prune", head, "--json"))
    assert (counted.before, counted.path) == (head, None)
    assert not list(tmp_path.glob("*pruned*"))
    target = tmp_path / "pruned.db"
    text = told(path, "prune", head, "--into", target, "--reason", "old", "--by", "me")
    assert text.startswith(f"pruned into {target} at ")
    assert "because old (by me)" in text
    assert told(target, "log").startswith(head)
    again = run(path, "prune", head, "--into", str(target))
    assert (again.exit_code, again.stderr[:24]) == (4, "error[content-conflict]:")
    refusal = run(target, "report", FIRST, "--json")
    assert refusal.exit_code == 3
    assert json.loads(refusal.stderr)["code"] == "forgotten"
    assert json.loads(refusal.stderr)["ids"] == [head]


def test_what_was_out_or_had_moved_at_the_baseline_is_told_of_from_there_on(tmp_path: Path) -> None:
    with tms.open(tmp_path / "whole.db", clock=Clock()) as memory:
        for ref in ("S:1", "S:2", "S:3"):
            memory.source(ref)
        memory.justify("F:1", "S:1", id="j1")
        memory.justify("F:2", "S:2", id="j2")
        memory.justify("F:2", "S:3", id="j3")
        memory.retract("S:1")
        memory.retract("S:2")  # F:2 moves to S:3
        base = memory.source("X:1") and memory.head
        memory.unretract("S:1")
        memory.retract("S:3")
        memory.prune(before=base, path=tmp_path / "pruned.db")
        with tms.open(tmp_path / "pruned.db") as pruned:
            refs = ("S:1", "S:2", "S:3", "F:1", "F:2", "justification:j1", "justification:j3")
            for ref in refs:
                whole = [span.until for span in memory.believed_during(ref)]
                told = [span.until for span in pruned.believed_during(ref)]
                after = [until for until in whole if until is None or until > base]
                assert told == after, ref
            assert pruned.believed_during("S:1").spans == memory.believed_during("S:1").spans[1:]


def test_what_ended_before_the_baseline_is_not_told_in_silence(tmp_path: Path) -> None:
    with tms.open(tmp_path / "whole.db", clock=Clock()) as memory:
        memory.source("S:1")
        memory.justify("F:1", "S:1")
        memory.retract("S:1")
        base = memory.unretract("S:1").after
        memory.retract("S:1")
        whole = memory.believed_during("F:1")
        assert (len(whole.spans), whole.truncated) == (2, False)
        memory.prune(before=base, path=tmp_path / "pruned.db")
    with tms.open(tmp_path / "pruned.db") as memory:
        cut = memory.believed_during("F:1")
        assert (cut.spans, cut.truncated) == (whole.spans[1:], True)
        assert memory.log_page().items == tuple(memory.log())
        for ask in (memory.report, memory.report_page):
            with pytest.raises(tms.Forgotten):
                ask(base)
        for ask in (memory.changes, memory.subscribe("mail").take):
            with pytest.raises(tms.Forgotten):
                list(ask())
        assert [report.op for report in memory.changes(since=base)] == ["retract"]
        for limit in (1, 2, 3):
            page = memory.history_page("F:1", limit)
            told = list(page.items)
            while page.next_cursor is not None:
                page = memory.history_page("F:1", limit, after=page.next_cursor)
                told += page.items
            assert tuple(told) == memory.history("F:1")
