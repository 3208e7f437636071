"""Scopes: what a scope sees, what it may write, and that nobody else is in what it is told."""

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from making import Clock, Hand, days, found, plain, tampered
from scoping import asked, told
from shell import run

import tms
from tms.cli import main


class Open:
    """Handles on one file, by scope."""

    def __init__(self, path: Path, stack: ExitStack) -> None:
        self._path = path
        self._stack = stack
        self.clock = Hand()
        self._handles: dict[str | None, tms.Memory] = {}

    def __getitem__(self, scope: str | None) -> tms.Memory:
        if scope not in self._handles:
            memory = tms.open(self._path, scope=scope, clock=self.clock)
            self._handles[scope] = self._stack.enter_context(memory)
        return self._handles[scope]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memory.db"


@pytest.fixture
def file(path: Path) -> Iterator[Open]:
    with ExitStack() as stack:
        yield Open(path, stack)


def filled(file: Open) -> None:
    """What is shared, and of two owners the same with a secret each."""
    file[""].justify("Rule:1", [file[""].source("Policy:1", content={"text": "shared"})], id="r")
    for owner in ("alice", "bob"):
        memory = file[owner]
        memory.source("Note:1", content={"text": f"secret of {owner}"})
        memory.justify("Plan:1", ["Note:1", "Rule:1"], rule=f"rule of {owner}", id="p")
        memory.source(f"Secret:{owner}", content={"text": f"secret of {owner}"})
        memory.justify(f"Plan:{owner}", ["Plan:1"], id=f"p-{owner}")
        memory.retract(f"Plan:{owner}", reason=f"reason of {owner}", by=owner)
        memory.subscribe(f"reader of {owner}").acknowledge(memory.head)


# ---------------------------------------------------------------- what is seen


def test_two_owners_and_a_shared_row_have_four_outcomes(file: Open) -> None:
    """Own, shared, foreign, unknown: the last two cannot be told apart."""
    filled(file)
    alice = file["alice"]
    assert alice.get("Note:1").content == {"text": "secret of alice"}
    assert alice.get("Note:1").scope == "alice"
    assert alice.get("Policy:1").content == {"text": "shared"}
    assert alice.get("Policy:1").scope == ""
    answers = []
    for ref in ("Plan:bob", "Plan:nobody"):
        with pytest.raises(tms.NoSuchNode) as caught:
            alice.get(ref)
        answers.append(str(caught.value).replace(ref, "it"))
    assert answers[0] == answers[1]


READS = (
    *("believes", "status", "get", "why", "why_not", "impact", "environments", "origins", "cuts"),
    *("periods", "believed_during", "neighbourhood", "history", "history_page"),
)
"""The questions that are about one ref."""

VERBS: dict[str, Callable[[tms.Memory, str], object]] = {
    **{name: partial(lambda name, memory, ref: getattr(memory, name)(ref), name) for name in READS},
    "what_if": lambda memory, ref: memory.what_if(retract=ref),
    "what_if unretract": lambda memory, ref: memory.what_if(unretract=ref),
    "what_if justify": lambda memory, ref: memory.what_if(justify=[("Plan:new", [ref])]),
    "justify": lambda memory, ref: memory.justify("Plan:new", [ref]),
    "load": lambda memory, ref: memory.load(
        [{"justification": None, "premises": [ref], "derives": ["Plan:new"]}]
    ),
    "retract": lambda memory, ref: memory.retract(ref),
    "unretract": lambda memory, ref: memory.unretract(ref),
    "revise": lambda memory, ref: memory.revise(ref, content={"text": "new"}),
    "redact": lambda memory, ref: memory.redact(ref),
}
"""All that is asked of, or done to, something that is there."""

CHANGES = ("retract", "unretract", "revise", "redact")
NEW = ("source", "fact", "axiom")
ELSE = {
    *("scope", "head", "holding", "scan", "log", "log_page", "report", "report_page", "changes"),
    *("diff", "critical", "stats", "as_of", "anchor_at", "subscriptions", "subscribe", "on_commit"),
    *("export", "import_", "batch", "settle", "mend", "close"),
}
"""What is asked without the ref of one thing: see the other tests here and random worlds."""


def test_all_verbs_are_walked() -> None:
    public = {name for name in dir(tms.Memory) if not name.startswith("_")}
    walked = {name.partition(" ")[0] for name in VERBS}
    assert public == walked | set(NEW) | ELSE | WHOLE.keys()


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_four_outcomes(file: Open, verb: str) -> None:
    """Own: done. Shared: answered, and not changed. Foreign and unknown: the same refusal."""
    filled(file)
    alice, work = file["alice"], VERBS[verb]
    told = []
    for ref in ("Secret:bob", "Secret:nobody"):
        before = alice.head
        with pytest.raises(tms.TMSError) as caught:
            work(alice, ref)
        error = caught.value
        text = [error.code, error.message, error.hint, *error.ids]
        told.append([part.replace(ref, "it") for part in text])
        assert alice.head == before
    assert told[0] == told[1]
    assert told[0][0] == "no-such-node"
    if verb in CHANGES:
        with pytest.raises(tms.ReadOnly):
            work(alice, "Policy:1")
    else:
        work(alice, "Policy:1")
    work(alice, "Note:1")
    assert file["bob"].believes("Secret:bob")
    assert file["bob"].get("Secret:bob").version == 1
    assert file[""].believes("Policy:1")


@pytest.mark.parametrize("verb", NEW)
def test_what_is_declared_is_the_own_whatever_others_have(file: Open, verb: str) -> None:
    filled(file)
    for ref in ("Secret:bob", "Secret:nobody"):
        getattr(file["alice"], verb)(ref)
        assert file["alice"].get(ref).scope == "alice"
    assert file["bob"].get("Secret:bob").content == {"text": "secret of bob"}
    assert file["bob"].get("Secret:bob").role == "source"


def test_without_a_scope_it_is_what_is_shared(file: Open) -> None:
    filled(file)
    for scope in (None, ""):
        assert list(file[scope].holding()) == ["Rule:1"]
        assert [node.ref for node in file[scope].scan().items] == ["Policy:1", "Rule:1"]
        assert file[scope].scope == ""
        with pytest.raises(tms.NoSuchNode):
            file[scope].get("Note:1")


def everything(memory: tms.Memory) -> Iterator[tuple[str, Any]]:
    refs = ["Note:1", "Plan:1", "Plan:alice", "Plan:bob", "Policy:1", "Rule:1"]
    refs += ["justification:p", "justification:p-alice", "justification:p-bob"]
    commits = [commit.anchor for commit in memory.log()]
    yield from asked(memory, refs, commits)
    for anchor in commits:
        yield from asked(memory.as_of(recorded=anchor), refs, commits[: commits.index(anchor) + 1])
    yield from asked(memory.as_of(valid=days(1)), refs, commits)
    yield "stats", told(memory.stats())
    yield "subscriptions", [one.name for one in memory.subscriptions()]
    yield "repr", repr(memory)


@pytest.mark.parametrize("scope", ["alice", "bob", ""])
def test_nobody_else_is_in_any_answer(file: Open, scope: str) -> None:
    filled(file)
    for name, answer in everything(file[scope]):
        text = json.dumps(answer)
        for other in {"alice", "bob"} - {scope}:
            if name.rpartition(" ")[2] not in (f"Plan:{other}", f"justification:p-{other}"):
                assert other not in text, (name, text)
            elif "[" in text:  # what was asked for is repeated, as it is for any unknown ref
                assert "no such" in text, (name, text)


NAMES = (
    *("alice", "Alice", "ALICE", "al%", "%", "al_ce", "_", "a/b", "a", "a\0b", "a\0c", "ali'ce"),
    *("ÅLICE", "ålice", "\U0001f419", "alice ", " ", "*", "..", "0", "; DROP TABLE node"),
)


@pytest.mark.parametrize("name", NAMES)
def test_a_name_is_nothing_but_itself(file: Open, name: str) -> None:
    names = ["alice", "Alice", "al%", "%", "_", "a/b", "a\0b", "a", "ali'ce", "ålice", " ", "*"]
    for other in {*names, name}:
        file[other].source("Note:1", content={"of": other})
    assert file[name].get("Note:1").content == {"of": name}
    assert len(file[name].scan().items) == 1
    assert file[name].scope == name
    assert file[""].verify(revisions=None)


@pytest.mark.parametrize("name", [5, b"alice", ["alice"], "\ud800"])
def test_a_name_that_is_none_is_refused(path: Path, name: Any) -> None:
    with pytest.raises(tms.InvalidArgument, match="scope"):
        tms.open(path, scope=name)
    assert not path.exists()


def test_a_scope_to_which_nothing_was_written_sees_what_is_shared(file: Open) -> None:
    filled(file)
    carol = file["carol"]
    assert list(carol.holding()) == ["Rule:1"]
    assert carol.head == file[""].head
    assert carol.what_if(retract="Policy:1").died == ("Rule:1",)
    carol.subscribe("mail").acknowledge(carol.head)
    with plain(file._path) as connection:
        assert connection.execute("SELECT count(*) FROM scope").fetchone() == (3,)


def test_a_handle_learns_of_its_scope_when_another_one_writes_to_it(file: Open, path: Path) -> None:
    early = file["alice"]
    assert early.head is None
    assert early.scan().items == ()
    with tms.open(path, scope="alice") as other:
        other.source("Note:1")
    assert early.believes("Note:1")
    assert early.retract("Note:1").targets == ("Note:1",)


def test_a_first_commit_that_fails_leaves_no_scope(file: Open) -> None:
    alice = file["alice"]
    with pytest.raises(ZeroDivisionError), alice.batch():
        alice.source("Note:1")
        raise ZeroDivisionError
    with pytest.raises(tms.NoSuchNode):
        alice.retract("Note:1")
    assert not alice.retract([])
    with plain(file._path) as connection:
        assert connection.execute("SELECT name FROM scope").fetchall() == [("",)]
    alice.source("Note:2")
    assert [node.ref for node in alice.scan().items] == ["Note:2"]
    assert file[""].verify(revisions=None)


# ---------------------------------------------------------------- what is written


def test_what_is_shared_can_be_rested_on_but_not_changed(file: Open) -> None:
    filled(file)
    alice = file["alice"]
    changes: list[Callable[[], object]] = [
        lambda: alice.retract("Policy:1"),
        lambda: alice.retract("justification:r"),
        lambda: alice.unretract("Rule:1"),
        lambda: alice.revise("Policy:1", content={}),
        lambda: alice.redact("Policy:1"),
        lambda: alice.load([{"retract": ["Policy:1"]}]),
    ]
    for change in changes:
        before = alice.head
        with pytest.raises(tms.ReadOnly, match="shared; a scope changes only its own"):
            change()
        assert alice.head == before
    assert alice.what_if(retract="Policy:1").died == ("Plan:1", "Rule:1")
    assert file[""].retract("Policy:1").died == ("Rule:1",)
    assert alice.report(alice.head).died == ("Plan:1", "Rule:1")


def test_what_is_shared_does_not_rest_on_what_a_scope_owns(file: Open) -> None:
    filled(file)
    for scope in ("", "bob"):
        with pytest.raises(tms.NoSuchNode, match="Plan:alice"):
            file[scope].justify("Rule:2", ["Plan:alice"])


def test_the_same_ref_in_a_scope_and_shared_is_two_things(file: Open) -> None:
    shared, alice = file[""], file["alice"]
    alice.source("Note:1", content={"of": "alice"})
    shared.source("Note:1", content={"of": "all"})
    shared.source("Note:2", content={"of": "all"})
    assert alice.source("Note:2", content={"of": "alice"}) == "Note:2"
    for ref in ("Note:1", "Note:2"):
        assert alice.get(ref).content == {"of": "alice"}
        assert shared.get(ref).content == {"of": "all"}
    owners = [(node.ref, node.scope) for node in alice.scan().items]
    assert owners == [("Note:1", ""), ("Note:1", "alice"), ("Note:2", ""), ("Note:2", "alice")]
    walked, cursor = [], None
    while True:
        page = alice.scan(limit=1, after=cursor)
        walked += [(node.ref, node.scope) for node in page.items]
        cursor = page.next_cursor
        if cursor is None:
            break
    assert walked == owners
    assert [(node.ref, node.scope) for node in alice.scan(kind="Note").items] == owners
    alice.retract("Note:1")
    assert not alice.believes("Note:1")
    assert shared.believes("Note:1")
    assert file[""].verify(revisions=None)


def test_before_a_scope_had_its_own_the_ref_meant_what_is_shared(file: Open) -> None:
    shared, alice = file[""], file["alice"]
    shared.source("Note:1", content={"of": "all"})
    before = alice.head
    alice.source("Note:1", content={"of": "alice"})
    alice.retract("Note:1")
    assert alice.as_of(recorded=before).get("Note:1").content == {"of": "all"}
    assert alice.as_of(recorded=before).believes("Note:1")
    assert not alice.believes("Note:1")


def test_a_justification_is_the_same_only_on_the_same_premises(file: Open) -> None:
    shared, alice = file[""], file["alice"]
    shared.source("Note:1")
    first = alice.justify("Plan:1", ["Note:1"])
    assert alice.justify("Plan:1", ["Note:1"]) == first
    assert alice.justify("Plan:1", ["Note:1"], id=first.id) == first
    alice.source("Note:1")
    second = alice.justify("Plan:1", ["Note:1"])
    assert second != first
    alice.retract("Note:1")
    assert alice.believes(first)
    assert not alice.believes(second)
    with pytest.raises(tms.InvalidJustification, match="content hash"):
        alice.justify("Plan:1", ["Note:1"], id="0" * 32)
    shared.retract("Note:1")
    assert not alice.believes("Plan:1")
    assert shared.verify(revisions=None)


def test_c45_what_one_owner_loses_the_other_keeps(file: Open) -> None:
    for owner, sources in {"x": ("S:1", "S:3"), "y": ("S:2",)}.items():
        memory = file[owner]
        for source in sources:
            memory.justify("Likes:ada-tea", [memory.source(source)])
        memory.justify("Serve:tea", ["Likes:ada-tea"])
    x, y = file["x"], file["y"]
    before = dict(asked(y, ["Likes:ada-tea", "Serve:tea"], []))
    anchor = y.head
    (survivor,) = x.retract("S:1").survived_via
    assert survivor.fact == "Likes:ada-tea"
    assert x.believes("Serve:tea")
    report = x.retract("S:3")
    assert report.died == ("Likes:ada-tea", "Serve:tea")
    assert report.believed_after == 0
    after = dict(asked(y, ["Likes:ada-tea", "Serve:tea"], []))
    assert after == before
    assert y.head == anchor
    assert x.unretract("S:1").revived == ("Likes:ada-tea", "Serve:tea")
    assert y.as_of(recorded=anchor).believes("Serve:tea")
    for source in ("S:1", "S:3"):
        x.revise(source, content={"name": "Ada"})
        x.redact(source)
    assert dict(asked(y, ["Likes:ada-tea", "Serve:tea"], [])) == before


def test_a_batch_and_a_load_are_of_their_scope(file: Open) -> None:
    filled(file)
    alice = file["alice"]
    with alice.batch(reason="more") as batch:
        alice.justify("Plan:2", [alice.source("Note:2"), "Rule:1"])
    assert batch.report.revived == ("Plan:2",)
    assert (batch.report.believed_before, batch.report.believed_after) == (2, 3)
    loaded = alice.load(
        [
            {"source": "Note:3"},
            {"justification": None, "premises": ["Note:3", "Rule:1"], "derives": ["Plan:3"]},
        ]
    )
    assert (loaded.believed_before, loaded.believed_after) == (3, 4)
    assert (loaded.before, loaded.after) == (batch.report.after, alice.head)
    assert "Plan:3" not in list(file["bob"].holding())
    assert file[""].verify(revisions=None)


# ---------------------------------------------------------------- commits


def test_commits_of_others_are_no_commits_here(file: Open) -> None:
    filled(file)
    alice, bob = file["alice"], file["bob"]
    foreign = [commit.anchor for commit in bob.log() if commit.by == "bob"]
    assert foreign
    for anchor in foreign:
        for ask in (alice.report, lambda at: alice.as_of(recorded=at), alice.report_page):
            with pytest.raises(tms.NoSuchAnchor) as caught:
                ask(anchor)
            assert str(anchor) in str(caught.value)
            assert str(caught.value).count("r1:") <= 2  # the asked one, and the own head
    assert alice.report(alice.head).by == "alice"


def test_what_a_foreign_commit_settles_here_is_told_as_settled_by_nobody(file: Open) -> None:
    alice, bob = file["alice"], file["bob"]
    alice.justify("Plan:1", [alice.source("Note:1", valid_to=days(1))])
    bob.source("Note:1")
    before = alice.head
    file.clock.now += timedelta(days=2)
    bob.retract("Note:1", reason="secret", by="bob")
    report = alice.report(alice.head)
    assert (report.op, report.reason, report.by) == ("settle", None, None)
    assert (report.before, report.died, report.targets) == (before, ("Plan:1",), ())
    assert [settled.ref for settled in report.settled] == ["Note:1"]
    assert [event.op for event in alice.history("Plan:1")][-1] == "settle"
    assert alice.why_not("Plan:1").lacks
    assert "bob" not in json.dumps([answer for _, answer in asked(alice, ["Plan:1"], [])])
    assert bob.report(bob.head).settled == ()
    assert file[""].head is None


@pytest.mark.parametrize("scope", ["alice", ""])
def test_to_settle_what_others_own_is_no_commit_here(file: Open, scope: str) -> None:
    file["bob"].source("Contract:1", valid_to=days(1))
    file[scope].source("Note:1")
    file.clock.now += timedelta(days=2)
    before = file[scope].head
    assert not file[scope].settle(reason="look")
    assert file[scope].head == before
    assert file["bob"].settle().settled


def test_a_callback_hears_of_the_own_commits_alone(file: Open) -> None:
    filled(file)
    heard: list[tms.Report] = []
    file["alice"].on_commit(heard.append)
    file["bob"].source("Note:9")
    file["alice"].source("Note:2")
    assert [report.targets for report in heard] == [("Note:2",)]


def test_readers_of_one_name_in_two_scopes_are_two(file: Open) -> None:
    filled(file)
    alice, bob = file["alice"], file["bob"]
    alice.subscribe("mail").acknowledge(alice.head)
    assert bob.subscribe("mail").position is None
    assert [one.name for one in bob.subscriptions()] == ["reader of bob"]
    assert len(list(bob.subscribe("mail"))) == len(list(bob.log()))
    assert alice.subscribe("mail").forget()


def test_a_cursor_belongs_to_its_scope(file: Open) -> None:
    filled(file)
    for ask in ("scan", "log_page"):
        cursor = getattr(file["alice"], ask)(limit=1).next_cursor
        assert getattr(file["alice"], ask)(limit=1, after=cursor).items
        for other in ("bob", ""):
            with pytest.raises(tms.InvalidCursor, match="another scope") as caught:
                getattr(file[other], ask)(limit=1, after=cursor)
            assert "alice" not in str(caught.value)


# ---------------------------------------------------------------- the whole file


WHOLE: dict[str, Callable[[tms.Memory, Path], object]] = {
    "verify": lambda memory, _: memory.verify(),
    "rebuild": lambda memory, _: memory.rebuild(),
    "doctor": lambda memory, _: memory.doctor(),
    "digest": lambda memory, _: memory.digest(),
    "backup": lambda memory, target: memory.backup(target),
    "prune": lambda memory, target: memory.prune(before=memory.head, path=target),
    "require_scope": lambda memory, _: memory.require_scope(),
}


def test_what_is_about_the_whole_file_is_not_for_a_scope(file: Open, tmp_path: Path) -> None:
    filled(file)
    alice, target = file["alice"], tmp_path / "copy.db"
    for name, work in WHOLE.items():
        with pytest.raises(tms.Misuse, match=f"{name} is about the whole file"):
            work(alice, target)
    with pytest.raises(tms.Misuse, match="digest is about the whole file"):
        alice.as_of(recorded=alice.head).digest()
    assert not target.exists()
    assert alice.stats().bytes is None
    assert file[""].stats().bytes > 0


def test_a_pruned_file_tells_each_scope_what_it_told_before(file: Open, tmp_path: Path) -> None:
    filled(file)
    file[""].retract("Policy:1")
    baseline = file[""].head
    file["alice"].source("Note:2")
    file["bob"].source("Note:2")
    file[""].unretract("Policy:1")
    target = tmp_path / "pruned.db"
    file[""].prune(before=baseline, path=target)
    refs = ["Note:1", "Note:2", "Plan:1", "Policy:1", "Rule:1"]
    for scope in ("", "alice", "bob"):
        with tms.open(target, scope=scope, clock=file.clock) as pruned:
            later = [commit.anchor for commit in pruned.log()][1:]
            assert later == [commit.anchor for commit in file[scope].log()][-len(later) :]
            assert told(pruned.scan()) == told(file[scope].scan())
            assert list(pruned.holding()) == list(file[scope].holding())
            for anchor in later:
                assert pruned.report(anchor) == file[scope].report(anchor)
            for ref in refs:
                if scope or ref in ("Policy:1", "Rule:1"):
                    assert pruned.get(ref) == file[scope].get(ref)
            with pytest.raises(tms.Forgotten) as caught:
                pruned.report(next(file[scope].log()).anchor)
            assert {"": "alice", "alice": "bob", "bob": "alice"}[scope] not in str(caught.value)
    with tms.open(target) as pruned:
        assert pruned.verify(revisions=None)


def test_a_file_can_be_pruned_before_any_commit_of_it(file: Open, tmp_path: Path) -> None:
    file["alice"].source("Note:1", content={"n": 1})
    file["alice"].revise("Note:1", content={"n": 2})
    assert file[""].head is None
    last = file[""].digest()
    assert file[""].prune(before=last.anchor, path=tmp_path / "pruned.db").contents == 1
    assert file[""].backup(tmp_path / "copy.db").head == last.anchor
    with tms.open(tmp_path / "pruned.db", scope="alice") as alice:
        assert alice.get("Note:1").content == {"n": 2}
    for wrong in (str(last.anchor).replace("12:00:00", "12:00:01"), str(last.anchor)[:-26] + "9"):
        with pytest.raises((tms.NoSuchAnchor, tms.InvalidAnchor)):
            file[""].prune(before=wrong)


def test_damage_to_a_scope_is_told_without_its_names(file: Open, tmp_path: Path) -> None:
    filled(file)
    file[""].backup(tmp_path / "copy.db")
    wrong = tampered(
        tmp_path / "copy.db",
        tmp_path,
        "UPDATE transition SET change = 0, support = NULL WHERE node IN"
        " (SELECT node FROM node WHERE scope = 1 AND role = 'fact')",
    )  # fmt: skip
    findings = found(wrong)
    assert findings
    assert not [
        text for finding in findings.values() for text in finding.examples if "Plan" in text
    ]


# ---------------------------------------------------------------- strict files


def test_a_strict_file_wants_a_scope(path: Path) -> None:
    with tms.open(path, clock=Clock()) as memory:
        memory.source("Policy:1")
        memory.require_scope()
        assert memory.believes("Policy:1")
    for given in ({}, {"scope": None}, {"read_only": True}):
        with pytest.raises(tms.ScopeRequired, match="open needs a scope") as caught:
            tms.open(path, **given)
        assert caught.value.operation == "open"
        assert isinstance(caught.value, ValueError)
    for scope in ("", "alice"):
        with tms.open(path, scope=scope) as memory:
            assert memory.believes("Policy:1")
    with tms.open(path, scope="") as memory:
        memory.require_scope(required=False)
    tms.open(path).close()


@pytest.mark.parametrize("verb", ["holding", "stats", "verify", "head", "require-scope"])
def test_a_strict_file_refuses_a_command_by_its_name(path: Path, verb: str) -> None:
    with tms.open(path) as memory:
        memory.require_scope()
    verb = "log" if verb == "stats" else verb
    result = run(path, verb)
    assert result.exit_code == 2
    assert f"{verb} needs a scope" in result.stderr
    assert "--scope" in result.stderr


def test_a_command_is_of_the_scope_that_it_names(path: Path) -> None:
    with tms.open(path) as memory:
        memory.source("Policy:1")
    for scope in ("alice", "bob"):
        assert run(path, "--scope", scope, "source", "Note:1").exit_code == 0
        assert (
            run(path, "--scope", scope, "justify", f"Plan:{scope}", "--from", "Note:1").exit_code
            == 0
        )
    assert run(path, "--scope", "alice", "holding").stdout == "Plan:alice\n"
    assert run(path, "holding").stdout == ""
    assert run(path, "--scope", "alice", "show", "Plan:bob").exit_code == 3
    assert run(path, "--scope", "alice", "retract", "Policy:1").exit_code == 1
    assert run(path, "--scope", "", "require-scope").exit_code == 0
    assert run(path, "holding").exit_code == 2
    assert run(path, "--scope", "", "require-scope", "--off").exit_code == 0


NAMING = [
    verb
    for verb, command in main.commands.items()
    if {"ref", "refs"} & {param.name for param in command.params} and verb not in NEW
]


def test_the_verbs_at_the_command_line_that_name_something_are_known() -> None:
    assert len(NAMING) >= 15


@pytest.mark.parametrize("verb", NAMING)
def test_at_the_command_line_foreign_is_unknown(path: Path, verb: str) -> None:
    with ExitStack() as stack:
        filled(Open(path, stack))
    more = {"revise": ["--content", "{}"]}.get(verb, [])
    answers = []
    for ref in ("Secret:bob", "Secret:nobody"):
        for flags in ([], ["--json"]):
            result = run(path, "--scope", "alice", verb, ref, *more, *flags)
            assert result.exit_code == 3
            answers.append((result.stdout + result.stderr).replace(ref, "it"))
    assert answers[:2] == answers[2:]
    assert run(path, "--scope", "bob", verb, "Secret:bob", *more).exit_code == 0


@pytest.mark.parametrize(
    "verb", ["log", "scan", "changes", "holding", "status", "critical", "head"]
)
def test_at_the_command_line_a_list_is_of_the_scope(path: Path, verb: str) -> None:
    with ExitStack() as stack:
        filled(Open(path, stack))
    for flags in ([], ["--json"]):
        for scope, other in (("alice", "bob"), ("bob", "alice"), ("", "alice")):
            result = run(path, "--scope", scope, verb, *flags)
            assert result.exit_code == 0
            assert other not in result.stdout


def test_a_wrong_mark_is_refused(file: Open) -> None:
    for wrong in (0, None, "no"):
        with pytest.raises(tms.InvalidArgument, match="True or False"):
            file[""].require_scope(required=wrong)
