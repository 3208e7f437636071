import json
import runpy
import subprocess
import sys

import click
import pytest
from shell import NEEDED, ROOT, kept, run, told

import tms
from tms.cli import main

VERBS = sorted(main.commands)

MAKING = {"init", "source", "fact", "justify", "axiom", "import"}
MODELS = {
    "init": tms.Stats,
    "rebuild": tms.Stats,
    "status": tms.Stats,
    "source": tms.Node,
    "fact": tms.Node,
    "show": tms.Node,
    "justify": tms.Justification,
    "axiom": tms.Justification,
    "retract": tms.Report,
    "unretract": tms.Report,
    "revise": tms.Report,
    "settle": tms.Report,
    "report": tms.Report,
    "scan": tms.Page[tms.Node],
    "log": tms.Commit,
    "history": tms.Event,
    "why": tms.Why,
    "what-if": tms.Report,
    "impact": tms.Impact,
    "why-not": tms.WhyNot,
    "environments": tms.Environments,
    "origins": tms.Origins,
    "cuts": tms.Cuts,
    "critical": tms.Critical,
    "neighbourhood": tms.Neighbourhood,
    "periods": tms.Periods,
    "believed-during": tms.BelievedDuring,
    "diff": tms.Diff,
    "backup": tms.Backup,
    "export": tms.Backup,
    "doctor": tms.Health,
    "import": tms.Loaded,
    "verify": tms.Verification,
    "prune": tms.Pruned,
    "require-scope": tms.Stats,
    "redact": tms.Report,
    "changes": tms.Report,
    "subscribe": tms.Report,
}


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    """What a verb writes by a path that is not absolute is written there."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def path(tmp_path):
    return kept(tmp_path / "memory.db")


def test_every_verb_of_a_memory_that_has_a_command_line_is_there():
    assert set(VERBS) == {
        *("init", "source", "fact", "justify", "axiom", "retract", "unretract", "revise"),
        *("settle", "anchor-at"),
        *("holding", "show", "status", "head", "log", "report", "history", "why", "diff"),
        *("why-not", "what-if", "impact", "backup", "export", "doctor"),
        *("environments", "origins", "cuts", "critical", "neighbourhood"),
        *("periods", "believed-during"),
        *("changes", "subscribe", "prune", "redact", "require-scope"),
        *("scan", "import", "verify", "rebuild", "demo"),
    }


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_help_and_is_listed_with_a_whole_sentence(path, verb):
    command = main.commands[verb]
    assert command.help
    text = told(path, verb, "--help")
    assert text.startswith(f"Usage: tms {verb} ")
    assert all(option.help for option in command.params if isinstance(option, click.Option)), (
        "an option without help"
    )
    listing = told(path).partition("Commands:\n")[2].splitlines()
    (listed,) = [line for line in listing if line.startswith(f"  {verb} ")]
    assert listed.endswith(".")
    assert not listed.endswith("...")


@pytest.mark.parametrize("verb", sorted(MODELS))
def test_every_verb_prints_the_json_of_its_model(path, verb):
    model = MODELS[verb]
    text = told(path, verb, *NEEDED.get(verb, []), "--json", input='{"source":"Feed:3"}')
    lines = text.splitlines()
    assert lines
    for line in lines:
        assert model.model_validate_json(line).to_json() == line
    if verb not in ("log", "history", "import", "changes", "subscribe"):
        assert len(lines) == 1


def test_the_verbs_that_print_no_model_print_a_json_text(path, tmp_path):
    with tms.open(path) as memory:
        head = memory.head
    assert json.loads(told(path, "head", "--json")) == head
    assert json.loads(told(path, "anchor-at", "2026-07-21T10:00:00Z", "--json")) == head
    assert told(path, "anchor-at", "2026-07-21T09:59:59.999999Z", "--json") == "null\n"
    assert json.loads(told(path, "status", "Flag:1", "--json")) == "IN"
    lines = told(path, "holding", "--json").splitlines()
    assert [json.loads(line) for line in lines] == ["Block:1", "Flag:1"]
    told(tmp_path / "empty.db", "init")
    assert told(tmp_path / "empty.db", "head", "--json") == "null\n"
    assert told(tmp_path / "empty.db", "head") == "no commit yet\n"
    assert told(tmp_path / "empty.db", "log", "--json") == ""
    assert set(MODELS) | {"head", "anchor-at", "holding", "demo"} == set(VERBS)


@pytest.mark.parametrize("verb", sorted(set(VERBS) - MAKING - {"demo"}))
def test_a_mistyped_path_is_not_found_and_nothing_is_made(tmp_path, verb):
    result = run(tmp_path / "mistyped.db", verb, *NEEDED.get(verb, []))
    assert result.exit_code == 3
    assert result.stderr.startswith("error[no-such-file]: there is no memory at ")
    assert "hint: Check --db and TMS_DB" in result.stderr
    assert result.stdout == ""
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("verb", sorted(MAKING))
def test_a_verb_that_adds_makes_the_file(tmp_path, verb):
    path = tmp_path / "new.db"
    args = ["Flag:2", "--from", "Feed:1"] if verb == "justify" else NEEDED.get(verb, [])
    result = run(path, verb, *args, input='{"source":"Feed:3"}')
    assert result.exit_code == (3 if verb == "justify" else 0)
    assert path.exists() == (verb != "justify")  # what fails leaves nothing


BAD = [
    pytest.param(["x"], id="no ref"),
    pytest.param(["no:such"], id="no such node"),
    pytest.param(["justification:none"], id="no such justification"),
    pytest.param(["\udcff:1"], id="undecodable"),
    pytest.param(["Feed:\udcff"], id="undecodable id"),
    pytest.param([""], id="empty"),
    pytest.param(["Feed:1", "--content", "{"], id="broken JSON"),
    pytest.param(["Feed:1", "--content", "[" * 100_000], id="deep JSON"),
    pytest.param(["Feed:1", "--content", '{"a":' * 400 + "1" + "}" * 400], id="deep content"),
    pytest.param(["Feed:1", "--content", "null"], id="null"),
    pytest.param(["Feed:1", "--content", '{"a": NaN}'], id="NaN"),
    pytest.param(["Feed:1", "--content", '{"a": "\\ud800"}'], id="lone surrogate"),
    pytest.param(["Feed:1", "--content", "1" * 5_000], id="long number"),
    pytest.param(["Feed:1", "--content", "-"], id="stdin is no JSON"),
    pytest.param(["Feed:1", "--reason", "\udcff"], id="undecodable reason"),
    pytest.param(["Feed:1", "--at", "2026-07-21"], id="an instant"),
    pytest.param(["Feed:1", "--at", "r1:9999999999999999:x"], id="broken anchor"),
    pytest.param(
        ["Feed:1", "--at", "r1:0000000000000099:2026-07-21T10:00:00.000Z"], id="anchor ahead"
    ),
    pytest.param(["r1:0000000000000001:1999-07-21T10:00:00.000Z"], id="foreign anchor"),
    pytest.param(["--at", "\udcff"], id="undecodable anchor"),
    pytest.param(["--after", "x"], id="no cursor"),
    pytest.param(["--after", "\udcff"], id="undecodable cursor"),
    pytest.param(["2026-07-21"], id="a date"),
    pytest.param(["Feed:1", "--valid", "2026-07-21T10:00:00"], id="no offset"),
    pytest.param(["Feed:1", "--valid", "\udcff"], id="undecodable instant"),
    pytest.param(["Feed:1", "--valid-from", "now"], id="no instant"),
    pytest.param(["Feed:1", "--valid-to", ""], id="empty instant"),
    pytest.param(["Feed:1", "--valid-from", "open"], id="open"),
    pytest.param(
        ["Feed:1", *("--valid-from", "9999-01-01T00:00:00Z", "--valid-to", "0001-01-01T00:00:00Z")],
        id="inverted",
    ),
    pytest.param(["--cursor", "x"], id="no such cursor"),
    pytest.param(["Feed:1", "--limit", "0"], id="no limit of a page"),
    pytest.param(["--since", "2026-07-21"], id="since an instant"),
    pytest.param(["mail", "--acknowledge", "x"], id="nothing to acknowledge"),
    pytest.param(["--kind", "a:b"], id="no kind"),
    pytest.param(["--kind", "\udcff"], id="undecodable kind"),
    pytest.param(["--limit", "0"], id="no limit"),
    pytest.param(["--revisions", "x"], id="no number"),
    pytest.param(["Flag:1", "--from", "Flag:1"], id="in a ring with itself"),
    pytest.param(["Feed:1", "--from", "Flag:1"], id="a source as conclusion"),
    pytest.param(["Flag:1", "--from", "Feed:1", "--id", ""], id="empty id"),
    pytest.param(["--db", "x.db"], id="--db after the verb"),
    pytest.param(["--nonsense"], id="no such option"),
    pytest.param(["a:1", "b:2", "c:3"], id="too many"),
    pytest.param([], id="nothing"),
    pytest.param(["/"], id="a folder"),
    pytest.param(["-"], id="stdin"),
]


@pytest.mark.parametrize("args", BAD)
def test_no_bad_input_shows_a_traceback(path, args):
    for place, verb in enumerate(sorted(set(VERBS) - {"demo"}), len(str(args))):
        with_json = ["--json"] if place % 2 else []
        result = run(path, verb, *args, *with_json, input=b"\xff\x00")
        assert result.exit_code in (0, 2, 3, 4)
        if result.exit_code == 0:
            assert result.stderr == ""
        elif with_json:
            assert set(json.loads(result.stderr)) == {"code", "message", "hint", "ids"}
        else:
            assert result.stderr.startswith("error[")
            assert result.stderr.count("\n") == 2


def test_the_command_reference_is_what_the_help_says():
    build = runpy.run_path(str(ROOT / "docs" / "build.py"))
    assert build["TARGET"].read_text(encoding="utf-8") == build["reference"](), (
        "run python docs/build.py"
    )


def test_importing_tms_does_not_bring_in_the_command_line():
    code = "import sys, tms; print('rich' in sys.modules, 'tms.cli' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, check=True, timeout=60
    )
    assert done.stdout.split() == [b"False", b"False"]
