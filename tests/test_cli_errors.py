import ast
import json
import re
import sqlite3
from contextlib import closing

import pytest
from click.testing import CliRunner
from making import ROOT, no_guards, plain
from shell import NEEDED, kept, run, told

import tms
from tms.cli import main
from tms.cli.program import ELSE, exit_status, program, spoken


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    """What a verb writes by a path that is not absolute is written there."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def path(tmp_path):
    return kept(tmp_path / "memory.db")


def test_every_error_has_its_exit_status():
    statuses = {
        public.code: exit_status(public("x"))
        for public in map(tms.__dict__.get, tms.__all__)
        if isinstance(public, type) and issubclass(public, tms.TMSError)
    }
    assert statuses == {
        "error": 1,
        **dict.fromkeys(["corrupt-store", "store-failed", "read-only", "schema-too-new"], 1),
        "misuse": 1,
        **dict.fromkeys(["invalid-ref", "invalid-anchor", "invalid-digest"], 2),
        **dict.fromkeys(["invalid-cursor", "invalid-window"], 2),
        **dict.fromkeys(["invalid-content", "invalid-justification", "invalid-argument"], 2),
        "scope-required": 2,
        "not-a-tms-file": 2,
        **dict.fromkeys(["no-such-node", "no-such-justification", "no-such-anchor"], 3),
        **dict.fromkeys(["no-such-file", "forgotten"], 3),
        **dict.fromkeys(["content-conflict", "busy"], 4),
    }


LATER = ["--valid-from", "2026-07-21T15:30:00.000001+05:30"]


@pytest.mark.parametrize(
    ("args", "status", "error", "hint"),
    [
        (["show", "x"], 2, "error[invalid-ref]: not a ref: 'x'.", "Write kind:id"),
        (
            ["show", "Fed:1"],
            3,
            "error[no-such-node]: no such node: Fed:1.",
            "tms source or tms fact",
        ),
        (
            ["show", "justification:x"],
            3,
            "error[no-such-justification]: no such justification: justification:x.",
            "tms justify returns the ref to use.",
        ),
        (
            ["source", "Feed:1", "--content", '{"n": 2}'],
            4,
            'error[content-conflict]: Feed:1 has other content: {"n":1}, not {"n":2}.',
            "To change it, tms revise",
        ),
        (
            ["justify", "Flag:2"],
            2,
            "error[invalid-justification]: a justification without premises.",
            "say tms axiom.",
        ),
        (["holding", "--at", "x"], 2, "error[invalid-anchor]: not an anchor: 'x'.", "tms head"),
        (["nonsense"], 2, "error[usage]: No such command 'nonsense'.", "See tms --help."),
        (["show"], 2, "error[usage]: Missing argument 'REF'.", "See tms show --help."),
        (["holding", "--db", "x"], 2, "error[usage]: No such option '--db'.", "before the verb"),
        (["status", "--at", "x"], 2, "error[usage]: --at needs a REF.", "See tms status --help."),
        (
            ["revise", "Feed:1"],
            2,
            "error[invalid-content]: nothing to revise Feed:1 to.",
            "Give --content JSON, --valid-from or --valid-to.",
        ),
        (
            ["holding", "--valid", "2026-07-21T10:00:00"],
            2,
            "error[invalid-window]: instant without a time zone: 2026-07-21T10:00:00.",
            "Write it with an offset, for instance 2026-07-21T12:00:00Z.",
        ),
        (
            ["fact", "Flag:9", "--valid-from", "yesterday"],
            2,
            "error[invalid-window]: not an instant: 'yesterday'.",
            "Write it with an offset, for instance 2026-07-21T12:00:00Z.",
        ),
        (
            [*("source", "Feed:9", "--valid-to", "2026-07-21T10:00:00Z"), *LATER],
            2,
            "error[invalid-window]: nothing lies between valid_from 2026-07-21T10:00:00.000001Z "
            "and valid_to 2026-07-21T10:00:00Z.",
            "leave one out if it is open.",
        ),
        (
            ["source", "Feed:1", "--valid-to", "2027-01-01T00:00:00Z"],
            4,
            "error[content-conflict]: Feed:1 is valid always, not until 2027-01-01T00:00:00Z.",
            "To change that, tms revise",
        ),
        (
            ["holding", "--at", "2026-07-21T10:00:00Z"],
            2,
            "error[invalid-anchor]: an instant is not an anchor: '2026-07-21T10:00:00Z'.",
            "tms anchor-at gives the last by then.",
        ),
        (["anchor-at", "now"], 2, "error[invalid-window]: not an instant: 'now'.", "an offset"),
        (
            ["status", "--valid", "2027-01-01T00:00:00Z"],
            2,
            "error[usage]: --valid needs a REF.",
            "See tms status --help.",
        ),
    ],
)
def test_an_error_says_what_is_wrong_and_what_to_do(path, args, status, error, hint):
    result = run(path, *args)
    assert (result.exit_code, result.stdout) == (status, "")
    said, advice = result.stderr.splitlines()
    assert said.startswith(error)
    assert advice.startswith("hint: ")
    assert hint in advice
    as_json = json.loads(run(path, *args, "--json").stderr)
    assert f"error[{as_json['code']}]: {as_json['message']}" == said
    assert f"hint: {as_json['hint']}" == advice


def test_an_error_as_json_names_what_it_is_about(path):
    error = json.loads(run(path, "retract", "Feed:1", "Nö:☃", "--json").stderr)
    assert error["code"] == "no-such-node"
    assert error["ids"] == ["Nö:☃"]
    with tms.open(path) as memory:
        assert memory.believes("Feed:1")


@pytest.mark.parametrize("verb", ["holding", "source", "import", "verify", "init"])
def test_what_is_no_memory_is_refused_untouched(tmp_path, verb):
    binary, other = tmp_path / "binary", tmp_path / "other.db"
    binary.write_bytes(bytes(range(256)) * 100)
    with closing(sqlite3.connect(other)) as connection:
        connection.execute("CREATE TABLE t (x)")
        connection.commit()
    for place in (binary, other, tmp_path):
        before = place.read_bytes() if place.is_file() else None
        result = run(place, verb, *NEEDED.get(verb, []), input="")
        assert result.exit_code == 2
        assert result.stderr.startswith("error[not-a-tms-file]: ")
        assert before == (place.read_bytes() if place.is_file() else None)
    assert sorted(tmp_path.iterdir()) == [binary, other]


def test_a_file_held_by_another_writer_is_a_conflict(path, monkeypatch):
    opening = tms.open
    monkeypatch.setattr(tms, "open", lambda *args, **given: opening(*args, timeout=0, **given))
    with opening(path) as memory, memory.batch():
        memory.source("Feed:2")
        result = run(path, "retract", "Feed:1")
    assert result.exit_code == 4
    assert result.stderr.startswith("error[busy]: ")


def test_a_damaged_file_is_told_as_one(path, monkeypatch):
    def trip(*_):
        raise KeyError("over what nobody thought of")

    monkeypatch.setattr(tms.Memory, "get", trip)
    with no_guards(path) as connection:
        connection.execute("UPDATE content SET content = '{\"n\": 1'")
    result = run(path, "show", "Feed:1")
    assert result.exit_code == 1
    assert result.stderr == f"error[corrupt-store]: {path} is damaged.\nhint: Run tms verify.\n"


def test_a_damaged_content_is_told_by_its_node(path):
    with no_guards(path) as connection:
        connection.execute("UPDATE content SET content = '{\"n\": 1'")
    result = run(path, "show", "Feed:1")
    assert result.exit_code == 1
    assert "the content of Feed:1 is damaged" in result.stderr
    assert "hint: Run tms verify." in result.stderr
    result = run(path, "verify")
    assert result.exit_code == 1
    assert result.stdout.startswith("unsound")
    assert "no JSON object" in result.stdout
    found = json.loads(run(path, "verify", "--json").stdout)
    assert {finding["rule"] for finding in found["findings"]} == {"chain", "content"}


@pytest.mark.parametrize("verb", ["show", "verify", "retract", "doctor"])
def test_a_file_that_declares_something_else_is_told_as_damaged(path, verb):
    with plain(path) as connection:
        connection.execute("DROP TRIGGER content_update")
    before = path.read_bytes()
    result = run(path, verb, *NEEDED.get(verb, []))
    assert result.exit_code == 1
    assert result.stderr.startswith(f"error[corrupt-store]: {path} is not as schema.sql has it: ")
    assert "trigger content_update" in result.stderr
    assert path.read_bytes() == before


def test_a_fault_of_our_own_is_not_hidden(path, monkeypatch):
    monkeypatch.setattr(tms.Memory, "get", lambda *_: {}["missing"])
    with pytest.raises(KeyError):
        run(path, "show", "Feed:1")


# ---------------------------------------------------------------- hints in the words of a shell


def texts():
    """Yield each text in the source that is no docstring, with an X for what is filled in."""
    for path in sorted((ROOT / "tms").rglob("*.py")):
        tree = ast.parse(path.read_text("utf-8"))
        inside = {node.value for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        for node in ast.walk(tree):
            if isinstance(node, ast.JoinedStr):
                inside.update(node.values)
                yield "".join(
                    getattr(part, "value", "X") if _is_text(part) else "X" for part in node.values
                )
            elif _is_text(node) and node not in inside:
                yield node.value


def _is_text(node):
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def test_whatever_a_hint_says_to_call_is_a_verb_at_the_command_line():
    named = [text for text in texts() if re.search(r"(?:^|[ (])memory\.[a-z_]+(?:\(|[ ,])", text)]
    assert len(named) > 12
    for text in named:
        told = spoken(text)
        assert "memory." not in told, told
        for verb in re.findall(r"tms ([a-z][a-z-]*)", told):
            assert verb in program.commands, told
        for verb, option in re.findall(r"tms ([a-z-]+) (--[a-z]+)", told):
            assert any(option in given.opts for given in program.commands[verb].params), told


def test_every_method_is_a_verb_or_has_another_name():
    for name in dir(tms.Memory):
        if name.startswith("_") or name in PYTHON_ALONE:
            assert name not in ELSE
            continue
        told = spoken(f"Say memory.{name}(x).")
        verb = re.fullmatch(r"Say tms ([a-z-]+)( --[a-z]+)?\.", told)
        assert told == "Say --at ANCHOR." if verb is None else verb[1] in program.commands, told


PYTHON_ALONE = {"close", "mend", "on_commit", "scope", "subscriptions"}


@pytest.mark.parametrize(
    ("hint", "told"),
    [
        ("Say memory.revise('F:(a)', content=...).", "Say tms revise."),
        ('Say memory.revise("F:it\'s", content=...).', "Say tms revise."),
        (
            'Open it with scope="name", or with scope="".',
            "Open it with --scope name, or with --scope ''.",
        ),
        ("A bundle is what memory.export() gives.", "A bundle is what tms export gives."),
    ],
)
def test_a_hint_is_told_in_the_words_of_the_command_line(hint, told):
    assert spoken(hint) == told


def test_a_hint_about_a_digest_names_what_prints_one(path):
    result = run(path, "verify", "--kept", "junk")
    assert "Take one from tms head --digest:" in result.stderr


def test_a_scope_that_must_not_verify_is_told_the_option(path):
    result = CliRunner().invoke(main, ["--db", str(path), "--scope", "alice", "verify"])
    assert "--scope ''" in result.stderr


def test_a_name_that_must_be_given_is_not_said_to_be_left_out(path):
    result = run(path, "subscribe", "")
    assert (result.exit_code, "leave it out" in result.stderr) == (2, False)


def test_what_is_only_counted_is_not_said_to_be_pruned(path, tmp_path):
    head = run(path, "head").stdout.strip()
    counted = run(path, "prune", head).stdout
    assert "would be left out" in counted
    assert "pruned" not in counted
    made = run(path, "prune", head, "--into", str(tmp_path / "new.db")).stdout
    assert made.startswith("pruned into")
    assert "would" not in made
    assert "pruned at" in run(tmp_path / "new.db", "status").stdout


# ---------------------------------------------------------------- made for nothing

FAILING = {
    "a premise that is unknown": (["justify", "F:1", "--from", "NO:1"], None, 3),
    "no ref": (["source", "x"], None, 2),
    "an import with a bad first line": (["import", "-"], "[1]\n", 2),
    "a bundle that is cut off": (["import", "-"], '{"bundle":1}\n', 2),
}


@pytest.mark.parametrize("name", FAILING)
def test_a_command_that_fails_leaves_no_new_memory_behind(tmp_path, name):
    args, given, status = FAILING[name]
    path = tmp_path / "new.db"
    assert run(path, *args, input=given).exit_code == status
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", FAILING)
def test_a_command_that_fails_leaves_what_was_there(tmp_path, name):
    args, given, status = FAILING[name]
    path = tmp_path / "new.db"
    told(path, "init")
    assert run(path, *args, input=given).exit_code == status
    assert list(tmp_path.iterdir()) == [path]
    path.write_bytes(b"")
    assert run(path, *args, input=given).exit_code == status
    assert list(tmp_path.iterdir()) == [path]


def test_an_import_that_fails_after_a_commit_leaves_the_commit(tmp_path):
    path = tmp_path / "new.db"
    given = '{"source": "Feed:1"}\n{"commit": {}}\n[1]\n'
    assert run(path, "import", "-", input=given).exit_code == 2
    assert told(path, "show", "Feed:1")


@pytest.mark.parametrize("use", ["open", "strict", "replaced"])
def test_what_others_use_by_then_is_left(tmp_path, monkeypatch, use):
    path = tmp_path / "new.db"
    others = []

    def fails(*_, **__):
        if use == "replaced":
            for name in tmp_path.iterdir():
                name.unlink()
        other = tms.open(path)
        if use == "open":
            others.append(other)
        else:
            other.require_scope(required=use == "strict")
            other.close()
        raise tms.Busy("somebody writes.")

    monkeypatch.setattr(tms.Memory, "source", fails)
    assert run(path, "source", "Feed:1").exit_code == 4
    assert path.exists()
    for other in others:
        other.fact("F:1")
        other.close()
    with tms.open(path, scope="") as memory:
        assert memory.verify()
