import gzip
import json

import pytest
from shell import kept, run, told

import tms


@pytest.fixture
def path(tmp_path):
    return kept(tmp_path / "memory.db")


def lines_of(*rows):
    return "".join(json.dumps(row) + "\n" for row in rows)


STORY = lines_of(
    {"commit": {"reason": "nightly", "by": "ingest"}},
    {"source": "Feed:9", "content": {"n": 9}},
    {"justification": "j9", "premises": ["Feed:9"], "derives": ["Flag:9"], "rule": "match"},
    {"axiom": "Policy:1"},
    {"commit": {}},
    {"retract": ["Feed:9"], "reason": "wrong"},
)


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("by_stdin", [False, True])
def test_an_import_makes_one_commit_a_commit_line(path, tmp_path, packed, by_stdin):
    data = gzip.compress(STORY.encode()) if packed else STORY.encode()
    file = tmp_path / "story.jsonl"
    file.write_bytes(data)
    if by_stdin:
        text = told(path, "import", "-", "--json", input=data)
    else:
        text = told(path, "import", str(file), "--json")
    first, second = (tms.Loaded.model_validate_json(line) for line in text.splitlines())
    assert (first.rows, first.sources, first.facts, first.justifications) == (3, 1, 2, 2)
    assert (second.rows, second.switched, second.believed_after) == (1, 1, 3)
    with tms.open(path) as memory:
        *_, loaded, retracted = memory.log()
        assert (loaded.anchor, loaded.reason, loaded.by) == (first.after, "nightly", "ingest")
        assert (retracted.anchor, retracted.reason) == (second.after, "wrong")
        assert memory.get("Feed:9").content == {"n": 9}


def test_an_import_without_commit_lines_is_one_commit(path):
    rows = [{"source": "Feed:9"}, {"fact": "Flag:9"}]
    text = told(path, "import", "-", input=lines_of(*rows))
    assert text.startswith("2 rows: 1 new sources, 1 new facts, ")
    assert told(path, "import", "-", input=lines_of(*rows)).endswith("nothing changed\n")
    assert told(path, "import", "-", input="\n\n").startswith("0 rows: ")
    with tms.open(path) as memory:
        assert len(list(memory.log())) == 4


@pytest.mark.parametrize(
    ("line", "status", "message"),
    [
        ('{"source": "x"}', 2, "line 4: not a ref: 'x'."),
        ('{"fact": ', 2, "line 4 is no JSON: Expecting value at character 11."),
        ("[1]", 2, "line 4 is no JSON object: [1]."),
        ('{"nonsense": 1}', 2, "line 4: not an interchange object: {'nonsense': 1}."),
        ('{"source": 1}', 2, "line 4: a source row that does not fit: source: "),
        ('{"source": "Feed:8", "content": {"a": NaN}}', 2, "line 4: content that JSON cannot keep"),
        ('{"commit": 3}', 2, "line 4: a commit row has one key and an object in it"),
        ('{"retract": ["Feed:8"]}', 3, "line 4: no such node: Feed:8."),
        ('{"retract": "justification:8"}', 3, "line 4: no such justification: justification:8."),
        ('{"source": "Feed:9", "content": {}}', 4, "line 4: Feed:9 has other content"),
        (
            '{"justification": null, "premises": [], "derives": ["Flag:8"]}',
            2,
            "line 4: a justification without premises.",
        ),
    ],
)
def test_a_line_that_cannot_be_taken_in_is_named_and_its_commit_is_dropped(
    path, line, status, message
):
    head = [
        {"source": "Feed:9", "content": {"n": 9}},
        {"commit": {}},
        {"source": "Feed:10"},
    ]
    for as_json in ([], ["--json"]):
        result = run(path, "import", "-", *as_json, input=lines_of(*head) + line + "\n")
        assert result.exit_code == status
        error = json.loads(result.stderr)["message"] if as_json else result.stderr
        assert message in error
        assert len(result.stdout.splitlines()) == 1
        with tms.open(path) as memory:
            assert memory.believes("Feed:9")
            with pytest.raises(tms.NoSuchNode):
                memory.get("Feed:10")


def test_the_line_that_is_named_is_the_first_wrong_one_however_far_reading_went(path):
    good = lines_of({"source": "Feed:8"}, {"fact": "Flag:8"})
    after = lines_of({"source": "Feed:10"}) * 5 + "no JSON"
    for wrong in ('{"source": "Feed:1", "content": {"n": 2}}', '{"retract": "Feed:7"}', "[]", "x"):
        for before in ("", good + '{"commit": {}}\n'):
            text = f"{before}\n \n{good}\n{wrong}\n{after}\n"
            line = text.splitlines().index(wrong) + 1
            result = run(path, "import", "-", input=text)
            assert f": line {line}" in result.stderr


def test_a_wrong_row_of_a_load_is_told_by_its_number():
    rows = [{"source": "Feed:1"}, {"fact": "Flag:1"}, {"retract": "Feed:2"}, {"fact": "x"}]
    with tms.open(":memory:") as memory:
        with pytest.raises(tms.NoSuchNode) as caught:
            memory.load(rows)
        assert caught.value.row == 3
        with pytest.raises(tms.InvalidRef) as caught:
            memory.load([rows[0], rows[3]])
        assert caught.value.row == 2
        with pytest.raises(tms.NoSuchNode) as caught:
            memory.retract("Feed:2")
        assert caught.value.row is None


def test_what_cannot_be_imported_is_told_and_makes_no_memory(tmp_path):
    path = tmp_path / "m.db"
    result = run(path, "import", str(tmp_path / "missing.jsonl"))
    assert result.exit_code == 3
    assert result.stderr.startswith("error[no-such-file]: there is no file ")
    result = run(path, "import", str(tmp_path))
    assert result.exit_code == 2
    assert "Is a directory" in result.stderr
    assert run(path, "import", "a\0b").exit_code == 2
    assert not path.exists()


@pytest.mark.parametrize("cut", [5, 60])
def test_a_damaged_archive_is_told_and_nothing_of_it_is_kept(path, cut):
    packed = gzip.compress(lines_of(*({"source": f"Feed:{n * 7919}"} for n in range(500))).encode())
    for data in (packed[:-cut], packed[:100] + b"\0" * cut + packed[100 + cut :]):
        result = run(path, "import", "-", input=data)
        assert result.exit_code == 2
        assert "standard input is damaged: " in result.stderr
    with tms.open(path) as memory:
        assert len(list(memory.log())) == 3
