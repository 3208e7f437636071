import json
import os
import re
import sqlite3
from contextlib import closing
from datetime import UTC, datetime

import pytest
from click.testing import CliRunner
from shell import FIRST, kept, run, told

import tms
from tms.cli import main


@pytest.fixture
def path(tmp_path):
    return kept(tmp_path / "memory.db")


def test_a_memory_is_kept_by_its_verbs(tmp_path):
    path = tmp_path / "m.db"
    assert told(path, "init").startswith("head            no commit yet\n")
    assert told(path, "source", "Feed:1", "--content", '{"n": 1}') == "Feed:1\n"
    assert told(path, "source", "Scan:1", "--content", "-", input='{"ö": [1]}') == "Scan:1\n"
    assert told(path, "fact", "Flag:1") == "Flag:1\n"
    assert told(path, "status", "Flag:1") == "OUT\n"
    by_feed = told(path, "justify", "Flag:1", "Flag:2", "--from", "Feed:1", "--rule", "match")
    named = ["justify", "Flag:1", "--from", "Scan:1", "--from", "Feed:1", "--id", "both"]
    assert told(path, *named) == "justification:both\n"
    assert told(path, *named) == "justification:both\n"
    policy = told(path, "axiom", "Policy:1", "--rule", "board").strip()
    assert told(path, "status", "Flag:1") == "IN\n"
    assert told(path, "holding") == "Flag:1\nFlag:2\nPolicy:1\n"
    assert told(path, "holding", "--kind", "Flag") == "Flag:1\nFlag:2\n"
    with tms.open(path) as memory:
        assert memory.get("Scan:1").content == {"ö": [1]}
        assert memory.get("justification:both").premises == ("Feed:1", "Scan:1")
        found = memory.get(by_feed.strip())
        assert (found.rule, found.derives) == ("match", ("Flag:1", "Flag:2"))
        assert memory.get(policy).rule == "board"
    report = told(path, "retract", by_feed.strip(), "--reason", "wrong", "--by", "me")
    assert "  because    wrong  (by me)\n" in report
    assert "    Flag:2\n" in report
    assert "Flag:1  via both  (lost " in report
    again = run(path, "retract", by_feed.strip())
    assert (again.exit_code, again.stdout) == (0, "retract: nothing changed; 2 facts believed\n")
    assert "revived    1\n    Flag:2\n" in told(path, "unretract", by_feed.strip())
    revised = told(path, "revise", "Feed:1", "--content", '{"n": 2}', "--reason", "typo")
    assert revised.startswith("revise Feed:1\n  because    typo  (by -)\n")
    assert '{"n": 2}  (version 2)' in told(path, "show", "Feed:1")
    assert told(path, "verify") == "sound; labels compared at 9 revisions\n"
    kept = told(path, "head", "--digest").strip()
    assert kept.startswith(f"{told(path, 'head').strip()} ")
    assert json.loads(told(path, "head", "--digest", "--json")) == kept
    assert told(path, "verify", "--kept", kept) == told(path, "verify")
    other = f"{kept[:-1]}{'1' if kept[-1] == '0' else '0'}"
    found = run(path, "verify", "--kept", other)
    assert (found.exit_code, f"{kept} is there instead" in found.stdout) == (1, True)
    refused = run(path, "verify", "--kept", "r1:1")
    assert (refused.exit_code, "invalid-digest" in refused.stderr) == (2, True)
    assert json.loads(told(path, "verify", "--revisions", "2", "--json"))["revisions"] == [5, 9]
    assert len(json.loads(told(path, "verify", "--all", "--json"))["revisions"]) == 9


def test_how_long_something_holds_and_was_believed(path):
    declared = json.loads(told(path, "believed-during", "Flag:1", "--json"))["spans"][0]["since"]
    with tms.open(path) as memory:
        memory.source("Scan:1", valid_to="2020-01-01T00:00:00Z")
        memory.justify("Flag:2", ["Scan:1", "Feed:1"])
    before = told(path, "head").strip()
    assert told(path, "periods", "Flag:2") == "Flag:2  holds\n  until 2020-01-01T00:00:00Z\n"
    assert told(path, "periods", "Flag:1") == "Flag:1  holds\n  always\n"
    told(path, "retract", "Feed:1")
    after = told(path, "head").strip()
    assert told(path, "periods", "Flag:2") == "Flag:2  holds\n  never\n"
    assert "  until 2020" in told(path, "periods", "Flag:2", "--at", before)
    assert told(path, "believed-during", "Flag:2") == "Flag:2  was IN\n  never\n"
    spans = f"  since {declared} until {after}\n"
    assert told(path, "believed-during", "Flag:1") == f"Flag:1  was IN\n{spans}"
    then = told(path, "believed-during", "Flag:1", "--at", before)
    assert then == f"Flag:1  was IN\n  since {declared}\n"
    assert run(path, "periods", "No:1").exit_code == 3
    assert run(path, "believed-during", "Flag:1", "--limit", "0").exit_code == 2


def test_the_past_is_read_at_an_anchor(path):
    before = told(path, "head").strip()
    told(path, "retract", "Feed:1")
    told(path, "source", "Late:1")
    assert told(path, "holding") == ""
    assert told(path, "holding", "--at", before) == "Block:1\nFlag:1\n"
    assert told(path, "status", "Flag:1") == "OUT\n"
    assert told(path, "status", "Flag:1", "--at", before) == "IN\n"
    assert told(path, "show", "Feed:1").startswith("Feed:1  source, OUT, retracted\n")
    assert told(path, "show", "Feed:1", "--at", before).startswith("Feed:1  source, IN\n")
    assert len(told(path, "history", "Feed:1").splitlines()) == 4
    assert len(told(path, "history", "Feed:1", "--at", before).splitlines()) == 2
    assert "Late:1" in told(path, "scan")
    assert "Late:1" not in told(path, "scan", "--at", before)
    assert len(told(path, "log").splitlines()) == 5
    assert len(told(path, "log", "--at", before).splitlines()) == 3
    assert len(told(path, "log", "--after", before).splitlines()) == 2
    assert run(path, "show", "Late:1", "--at", before).exit_code == 3


def test_a_derivation_is_told_down_to_its_sources(path):
    before = told(path, "head").strip()
    assert "by justification:j1  rule match" in told(path, "why", "Block:1")
    assert "truncated" in told(path, "why", "Block:1", "--nodes", "1")
    assert "Feed:1  source" not in told(path, "why", "Block:1", "--depth", "1")
    told(path, "retract", "Feed:1")
    assert told(path, "why", "Block:1").startswith("Block:1  OUT\n")
    assert json.loads(told(path, "why", "Block:1", "--at", before, "--json"))["status"] == "IN"
    assert run(path, "why", "Block:2").exit_code == 3
    assert run(path, "why", "Block:1", "--nodes", "0").exit_code == 2


def test_what_if_is_what_retract_would_report_and_changes_nothing(path):
    before = told(path, "head")
    preview = json.loads(told(path, "what-if", "Feed:1", "--json"))
    assert "commit     none, this is a preview" in told(path, "what-if", "Feed:1")
    assert told(path, "head") == before
    done = json.loads(told(path, "retract", "Feed:1", "--json"))
    assert preview == {**done, "after": None}
    back = json.loads(told(path, "what-if", "--unretract", "Feed:1", "--json"))
    assert back["revived"] == ["Block:1", "Flag:1"]
    added = '{"derives": "Flag:9", "premises": ["Flag:1"]}'
    more = told(path, "what-if", "--unretract", "Feed:1", "--justify", added, "--json")
    assert json.loads(more)["revived"] == ["Block:1", "Flag:1", "Flag:9"]
    assert json.loads(told(path, "what-if", "Feed:1", "--at", before.strip(), "--json")) == preview
    assert run(path, "what-if").exit_code == 2
    assert run(path, "what-if", "Feed:9").exit_code == 3
    for wrong in ("{", "[]", '{"retract": "Feed:1"}', '{"derives": "Flag:1"}'):
        assert run(path, "what-if", "--justify", wrong).exit_code == 2


def test_impact_counts_all_that_rests_on_something(path):
    impact = json.loads(told(path, "impact", "Feed:1", "--json"))
    assert (impact["died"], impact["survived"], impact["believed"]) == (2, 0, 2)
    assert [(step["ref"], step["depth"]) for step in impact["reached"]] == [
        ("Flag:1", 1),
        ("Block:1", 2),
    ]
    assert "would die     2" in told(path, "impact", "Feed:1")
    cut = json.loads(told(path, "impact", "Feed:1", "--nodes", "1", "--json"))
    assert (len(cut["reached"]), cut["died"], cut["truncated"]) == (1, 2, True)


def test_what_is_missing_is_told_down_to_what_was_retracted(path):
    before = told(path, "head").strip()
    told(path, "retract", "Feed:1", "--reason", "bad mapping")
    assert "not by justification:j1  rule match" in told(path, "why-not", "Block:1")
    assert "Feed:1  source  retracted  OUT since" in told(path, "why-not", "Block:1")
    assert "left out" in told(path, "why-not", "Block:1", "--nodes", "1")
    assert "Feed:1  source" not in told(path, "why-not", "Block:1", "--depth", "1")
    assert told(path, "why-not", "Block:1", "--at", before).startswith("Block:1  IN\n")
    assert json.loads(told(path, "why-not", "Block:1", "--json"))["retracted"] == ["Feed:1"]
    assert "because of Flag:1" in told(path, "history", "Block:1")
    assert run(path, "why-not", "Block:2").exit_code == 3
    assert run(path, "why-not", "Block:1", "--nodes", "0").exit_code == 2


def test_what_holds_something_up_is_told(path):
    before = told(path, "head").strip()
    told(path, "source", "Scan:1")
    told(path, "justify", "Flag:1", "--from", "Scan:1")
    assert told(path, "environments", "Block:1") == (
        "Block:1  IN\n  environments  2\n    Feed:1\n    Scan:1\n"
    )
    assert "left out" in told(path, "environments", "Block:1", "--limit", "1")
    assert "independent origins  2" in told(path, "origins", "Block:1")
    assert json.loads(told(path, "cuts", "Block:1", "--json"))["sets"] == [["Feed:1", "Scan:1"]]
    assert json.loads(told(path, "cuts", "Block:1", "--at", before, "--json"))["sets"] == [
        ["Feed:1"]
    ]
    assert "no fact rests on one source alone" in told(path, "critical")
    assert "        2  Feed:1" in told(path, "critical", "--kind", "Feed", "--at", before)


def test_what_stands_around_something_is_told_as_far_as_asked(path):
    before = told(path, "head").strip()
    near = json.loads(told(path, "neighbourhood", "Flag:1", "--json"))
    assert [node["ref"] for node in near["nodes"]] == ["Flag:1", "Feed:1", "Block:1"]
    assert "Feed:1  source" not in told(path, "neighbourhood", "Block:1")
    assert "Feed:1  source" in told(path, "neighbourhood", "Block:1", "--depth", "2")
    assert "left out" in told(path, "neighbourhood", "Flag:1", "--nodes", "1")
    told(path, "retract", "Feed:1")
    assert "Feed:1  source, OUT, retracted" in told(path, "neighbourhood", "Feed:1")
    assert "Feed:1  source, IN" in told(path, "neighbourhood", "Feed:1", "--at", before)
    assert run(path, "neighbourhood", "No:1").exit_code == 3
    assert run(path, "neighbourhood", "Flag:1", "--depth", "-1").exit_code == 2


@pytest.mark.parametrize(
    "verb",
    [
        *("why", "why-not", "what-if", "impact", "neighbourhood", "report", "diff"),
        *("environments", "origins", "cuts", "critical"),
    ],
)
def test_an_answer_is_told_in_the_form_asked_for(path, verb):
    args = [verb, *{"report": [], "critical": [], "diff": [FIRST]}.get(verb, ["Block:1"])]
    assert told(path, *args, "--format", "json") == told(path, *args, "--json")
    assert told(path, *args, "--format", "mermaid").startswith("flowchart LR\n")
    assert told(path, *args, "--format", "dot").startswith("digraph tms {\n")
    page = told(path, *args, "--format", "html")
    assert page.startswith("<!doctype html>\n")
    assert page.endswith("</html>\n")
    assert re.search("(Block|Feed):1  ", told(path, *args, "--format", "text"))
    both = run(path, *args, "--json", "--format", "html")
    assert (both.exit_code, both.stdout) == (2, "")
    assert json.loads(both.stderr)["message"] == "Give --json or --format, not both."
    assert run(path, *args, "--format", "png").exit_code == 2


def test_asking_for_json_by_either_option_gives_errors_as_json(path):
    for asked in (["--json"], ["--format", "json"], ["--format=json"]):
        result = run(path, "why", "No:1", *asked)
        assert (result.exit_code, json.loads(result.stderr)["code"]) == (3, "no-such-node")
    assert run(path, "why", "No:1", "--format", "dot").stderr.startswith("error[no-such-node]")


def test_two_commits_are_compared_or_one_with_the_last(path):
    before = told(path, "head").strip()
    told(path, "retract", "Feed:1")
    after = told(path, "head").strip()
    told(path, "source", "Late:1")
    there = json.loads(told(path, "diff", before, after, "--json"))
    assert (there["died"], there["added"]) == (["Block:1", "Flag:1"], [])
    assert "Late:1" in told(path, "diff", before)
    assert "no difference" in told(path, "diff", before, "--at", before)
    assert json.loads(told(path, "diff", after, before, "--json"))["revived"] == there["died"]
    told(path, "import", "-", input="".join(f'{{"fact": "Many:{i}"}}\n' for i in range(30)))
    assert "Many:29" in told(path, "diff", before)  # plain text is whole
    assert run(path, "diff", after, "--at", before).exit_code == 3
    assert run(path, "diff", "yesterday").exit_code == 2


def test_a_report_is_of_the_last_commit_or_of_an_anchor(path, tmp_path):
    report = told(path, "retract", "Feed:1", "--json")
    anchor = json.loads(report)["after"]
    assert told(path, "report", "--json") == report
    told(path, "source", "Late:1")
    assert told(path, "report").startswith("source Late:1\n")
    assert told(path, "report", anchor, "--json") == report
    told(tmp_path / "empty.db", "init")
    result = run(tmp_path / "empty.db", "report")
    assert result.exit_code == 3
    assert result.stderr.startswith("error[no-such-anchor]: no commit yet.")


def test_a_scan_is_read_page_by_page(path):
    refs, after = [], []
    while True:
        page = json.loads(told(path, "scan", "--limit", "2", *after, "--json"))
        refs += [node["ref"] for node in page["items"]]
        if page["nextCursor"] is None:
            break
        text = told(path, "scan", "--limit", "2", *after)
        assert text.splitlines()[-1] == f"more after {page['nextCursor']}"
        after = ["--after", page["nextCursor"]]
    assert refs == ["Block:1", "Feed:1", "Flag:1"]


def test_a_cache_that_was_dropped_is_rebuilt(path):
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("DROP TABLE cache_label")
    stats = json.loads(told(path, "rebuild", "--json"))
    assert (stats["facts"], stats["believed"]) == (2, 2)
    assert told(path, "retract", "Feed:1").startswith("retract Feed:1\n")
    assert told(path, "verify").startswith("sound")


@pytest.mark.parametrize(
    ("args", "env", "name"),
    [
        (["--db", "a.db"], "b.db", "a.db"),
        ([], "b.db", "b.db"),
        ([], None, "memory.db"),
        ([], "", "memory.db"),
    ],
)
def test_the_file_is_named_by_the_option_or_the_environment_or_the_default(
    tmp_path, monkeypatch, args, env, name
):
    monkeypatch.chdir(tmp_path)
    CliRunner().invoke(main, [*args, "init"], env={"TMS_DB": env}, catch_exceptions=False)
    assert os.listdir() == [name]


def test_without_a_verb_the_help_is_printed(path):
    assert told(path).startswith("Usage: tms [OPTIONS] VERB ...\n")
    assert told(path, "--version") == f"tms, version {tms.__version__}\n"


def test_long_output_is_whole_off_a_terminal(path):
    refs = [f"Flag:{'x' * 200}{number:04}" for number in range(1500)]
    with tms.open(path) as memory:
        memory.source("Big:1")
        memory.justify(refs, "Big:1")
    assert told(path, "holding", "--kind", "Flag") == "".join(
        f"{ref}\n" for ref in ["Flag:1", *refs]
    )
    lines = told(path, "retract", "Big:1").splitlines()
    assert [line.strip() for line in lines if line.startswith("    ")] == refs


@pytest.mark.parametrize("verb", [["log"], ["history", "Feed:1"], ["report"], ["scan"]])
def test_what_is_long_is_read_page_by_page(path, verb):
    told(path, "retract", "Feed:1")
    items, cursor = [], []
    while True:
        page = json.loads(told(path, *verb, "--limit", "1", *cursor, "--json"))
        items += page["items"]
        text = told(path, *verb, "--limit", "1", *cursor)
        if page["nextCursor"] is None:
            assert "more after" not in text
            break
        assert text.splitlines()[-1] == f"more after {page['nextCursor']}"
        cursor = ["--cursor", page["nextCursor"]]
    assert len(items) >= 2
    assert items == json.loads(told(path, *verb, "--limit", "9", "--json"))["items"]
    assert (
        items[1:]
        == json.loads(
            told(path, *verb, "--json", "--cursor", json.loads(first(path, verb))["nextCursor"])
        )["items"]
    )


def first(path, verb):
    return told(path, *verb, "--limit", "1", "--json")


def test_a_page_of_a_log_begins_after_an_anchor(path):
    page = json.loads(told(path, "log", "--after", FIRST, "--limit", "1", "--json"))
    assert [entry["anchor"][:19] for entry in page["items"]] == ["r1:0000000000000002"]
    refused = run(path, "log", "--cursor", page["nextCursor"])
    assert refused.exit_code == 2
    assert refused.stderr.startswith("error[invalid-cursor]: the cursor is of a log of 'r1:")


def test_a_page_of_a_report_is_no_picture(path):
    result = run(path, "report", "--limit", "1", "--format", "dot")
    assert result.exit_code == 2
    assert "A page is told as text or JSON." in result.stderr


def test_the_commits_are_followed_from_the_command_line(path):
    told(path, "retract", "Feed:1")
    reports = told(path, "changes", "--json").splitlines()
    assert [json.loads(text)["op"] for text in reports] == ["source", *["justify"] * 2, "retract"]
    assert told(path, "changes", "--since", FIRST, "--json").splitlines() == reports[1:]
    assert told(path, "changes", "--at", FIRST, "--json").splitlines() == reports[:1]
    assert told(path, "changes").count("  believed   ") == 4
    assert told(path, "subscribe", "mail") == "nothing acknowledged yet\n"
    assert told(path, "subscribe", "mail", "--json") == "null\n"
    for _ in range(2):
        assert told(path, "subscribe", "mail", "--take", "3", "--json").splitlines() == reports[:3]
    third = json.loads(reports[2])["after"]
    rest = told(path, "subscribe", "mail", "--acknowledge", third, "--take", "3", "--json")
    assert rest.splitlines() == reports[3:]
    assert told(path, "subscribe", "mail") == f"{third}\n"
    assert told(path, "subscribe", "mail", "--acknowledge", FIRST) == f"{third}\n"
    assert "consumers       1\n" in told(path, "status")
    assert run(path, "subscribe", "mail", "--forget", "--take", "1").exit_code == 2
    assert told(path, "subscribe", "mail", "--forget") == "nothing acknowledged yet\n"
    ahead = tms.Anchor.kept(99, 0)
    assert run(path, "subscribe", "mail", "--acknowledge", ahead).exit_code == 3


def test_the_demo_tells_its_story_in_a_file_that_is_gone_afterwards(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(main, ["demo"], env={"TMS_DB": "mine.db"}, catch_exceptions=False)
    assert (result.exit_code, result.stderr) == (0, "")
    lines = result.stdout.splitlines()
    assert lines[-1] == "Verified: sound; labels compared at 11 revisions."
    assert "checked: BlockDeploy:svc-22 died: only the feed stood behind it" in lines
    assert os.listdir(tmp_path) == []


def test_the_demo_keeps_its_file_where_it_is_told_and_never_overwrites(tmp_path, path):
    kept = tmp_path / "kept.db"
    story = json.loads(told(kept, "demo", "--json"))
    assert story["verification"]["findings"] == []
    assert all(check["holds"] for check in story["checks"])
    assert (
        told(kept, "report", story["after"], "--json")
        == json.dumps(story["retraction"], ensure_ascii=False, separators=(",", ":")) + "\n"
    )
    for taken in (kept, path):
        before = taken.read_bytes()
        result = run(taken, "demo")
        assert result.exit_code == 4
        assert result.stderr.startswith("error[content-conflict]: there is something at ")
        assert taken.read_bytes() == before


def test_a_demo_that_does_not_come_out_as_told_fails(tmp_path, monkeypatch):
    turn = tms.Memory.unretract
    monkeypatch.setattr(tms.Memory, "unretract", lambda memory, *_, **__: turn(memory, []))
    result = run(tmp_path / "kept.db", "demo")
    assert result.exit_code == 1
    assert "WRONG: all is believed exactly as before the retraction" in result.stdout


def test_windows_are_given_revised_and_looked_into(path):
    told(path, "source", "Trial:1", "--valid-from", "2020-01-01T05:30+05:30")
    told(path, "fact", "Flag:2", "--valid-to", "2999-01-01T00:00:00Z")
    named = ["--from", "Trial:1", "--id", "j3", "--valid-to", "2030-01-01T00:00:00.000001Z"]
    shown = json.loads(told(path, "justify", "Flag:2", *named, "--json"))
    assert (shown["validFrom"], shown["validTo"]) == (None, "2030-01-01T00:00:00.000001Z")
    told(path, "axiom", "Policy:1", "--id", "p", "--valid-from", "2998-01-01T00:00:00Z")
    assert "  valid      from 2020-01-01T00:00:00Z\n" in told(path, "show", "Trial:1")
    for time, status in (
        ("2019-12-31T23:59:59.999999Z", "OUT"),
        ("2020-01-01T00:00:00Z", "IN"),
        ("2030-01-01T00:00:00Z", "IN"),
        ("2030-01-01T00:00:00.000001Z", "OUT"),
    ):
        assert told(path, "status", "Flag:2", "--valid", time) == f"{status}\n"
    assert told(path, "status", "Policy:1") == "OUT\n"
    assert told(path, "holding", "--valid", "2998-01-01T00:00:00Z", "--kind", "Policy") != ""
    head = told(path, "head").strip()
    changed = told(path, "revise", "Trial:1", "--valid-to", "2021-01-01T00:00:00Z", "--by", "me")
    assert "died       1\n    Flag:2\n" in changed
    assert told(path, "status", "Flag:2", "--valid", "2020-06-01T00:00:00Z") == "IN\n"
    seen = ["--valid", "2025-01-01T00:00:00Z"]
    assert told(path, "status", "Flag:2", *seen) == "OUT\n"
    assert told(path, "status", "Flag:2", *seen, "--at", head) == "IN\n"
    assert "Trial:1  source  not valid" in told(path, "why-not", "Flag:2", *seen)
    assert "Trial:1  source, OUT, not valid" in told(path, "neighbourhood", "Flag:2", *seen)
    assert "no difference" not in told(path, "diff", head)
    told(path, "revise", "Trial:1", "--valid-from", "open", "--valid-to", "open")
    assert "  valid " not in told(path, "show", "Trial:1")
    assert run(path, "revise", "Trial:1").exit_code == 2


@pytest.mark.parametrize("verb", ["source", "fact", "justify", "axiom"])
def test_a_window_that_cannot_be_makes_no_file(tmp_path, verb):
    given = ["Flag:1", "--from", "Feed:1"] if verb == "justify" else ["Flag:1"]
    for bounds in (
        ["--valid-from", "2026-07-21T12:00:00Z", "--valid-to", "2026-07-21T12:00:00Z"],
        ["--valid-from", "2026-07-21T12:00:00"],
        ["--valid-to", "2026-07-21"],
    ):
        result = run(tmp_path / "new.db", verb, *given, *bounds)
        assert (result.exit_code, result.stdout) == (2, "")
        assert result.stderr.startswith("error[invalid-window]: ")
    assert list(tmp_path.iterdir()) == []


def test_what_expired_is_committed_once_and_a_time_finds_its_commit(tmp_path):
    path = tmp_path / "memory.db"
    with tms.open(path, clock=lambda: datetime(2026, 7, 21, 10, tzinfo=UTC)) as memory:
        memory.source("Feed:1", valid_to="2026-07-22T00:00:00Z")
        memory.justify("Flag:1", "Feed:1", id="j1")
    assert told(path, "status", "Flag:1") == "OUT\n"
    assert told(path, "head") == told(path, "anchor-at", "2026-07-21T10:00:00.000Z")
    assert told(path, "anchor-at", "2026-07-21T09:59:59.999999Z") == "no commit by then\n"
    report = told(path, "settle", "--reason", "nightly", "--by", "cron")
    assert report.startswith("settle\n  because    nightly  (by cron)\n")
    assert "settled    1\n    Feed:1  expired 2026-07-22T00:00:00Z\n" in report
    assert "died       1\n    Flag:1\n" in report
    assert told(path, "settle") == "settle: nothing changed; 0 facts believed\n"
    assert told(path, "anchor-at", "9999-12-31T23:59:59Z") == told(path, "head")


def test_lines_of_a_file_have_windows(tmp_path):
    rows = [
        {"source": "S:1", "valid_from": "2026-01-01T00:00:00+02:00", "valid_to": None},
        {"fact": "F:1", "valid_to": "2026-03-01T00:00:00Z"},
        {"justification": "j", "premises": "S:1", "derives": "F:1"},
        {"axiom": "P:1", "id": "p", "valid_from": "2026-02-01T00:00:00Z"},
    ]
    path = tmp_path / "memory.db"
    told(path, "import", "-", input="\n".join(map(json.dumps, rows)))
    assert told(path, "import", "-", input="\n".join(map(json.dumps, rows))) != ""
    assert len(told(path, "log", "--json").splitlines()) == 1
    assert told(path, "holding", "--valid", "2026-01-31T00:00:00Z") == "F:1\n"
    assert told(path, "holding", "--valid", "2026-02-01T00:00:00Z") == "F:1\nP:1\n"
    assert told(path, "holding", "--valid", "2026-03-01T00:00:00Z") == "P:1\n"
    for valid_from, code in (
        ("2026-01-01", "invalid-window"),
        (1767225600, "invalid-content"),
        ("2999-01-01T00:00:00Z", "content-conflict"),
    ):
        row = json.dumps({"source": "S:1", "valid_from": valid_from})
        result = run(path, "import", "-", input=f"\n{row}\n")
        assert result.stderr.startswith(f"error[{code}]: line 2: ")
    again = run(path, "import", "-", input='{"source": "S:2", "valid_at": "2026-01-01T00:00:00Z"}')
    assert (again.exit_code, again.stdout) == (2, "")
