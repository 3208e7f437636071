import gzip
import json

import pytest
from shell import kept, process, run, told

import tms


@pytest.fixture
def path(tmp_path):
    return kept(tmp_path / "memory.db")


@pytest.fixture
def bundle(path, tmp_path):
    file = tmp_path / "bundle.jsonl"
    told(path, "export", str(file))
    return file


def test_what_is_exported_is_imported_into_the_same(path, tmp_path, bundle):
    other = tmp_path / "other.db"
    text = told(other, "import", str(bundle))
    assert text.startswith("3 rows, 0 of them known: 1 new sources, 2 new facts, ")
    assert told(other, "export") == bundle.read_text("utf-8")
    assert told(other, "log", "--json") == told(path, "log", "--json")
    assert "nothing changed" in told(other, "import", str(bundle))
    told(other, "retract", "Feed:1")
    text = told(other, "import", str(bundle))
    assert text.endswith("  known, retracted here  1\n    Feed:1\n")
    told_so = tms.Imported.model_validate_json(told(other, "import", str(bundle), "--json"))
    assert (told_so.known, told_so.retracted) == (3, ("Feed:1",))


def test_an_export_to_a_file_says_what_was_written(path, tmp_path):
    file = tmp_path / "bundle.jsonl"
    with tms.open(path) as memory:
        memory.source("Feed:Ŝ\u2028\udc00".replace("\udc00", "\0"), content={"é": "\x85"})
        head, lines = memory.head, list(memory.export())
    made = json.loads(told(path, "export", str(file), "--json"))
    assert made == {"path": str(file), "head": head, "bytes": file.stat().st_size}
    assert file.read_bytes() == "".join(lines).encode()
    assert process("--db", str(path), "export").stdout == file.read_bytes()
    assert process("--db", str(path), "export", "--json").stdout == file.read_bytes()
    empty = tmp_path / "empty.db"
    told(empty, "init")
    assert json.loads(told(empty, "export", f"{file}.empty", "--json"))["head"] is None


def test_an_export_replaces_nothing_and_leaves_nothing_unfinished(path, tmp_path, bundle):
    before = bundle.read_bytes()
    result = run(path, "export", str(bundle))
    assert (result.exit_code, bundle.read_bytes()) == (4, before)
    assert result.stderr.startswith("error[content-conflict]: there is something at ")
    assert run(path, "export", str(tmp_path / "no" / "bundle.jsonl")).exit_code == 3
    assert run(path, "export", "a\0b").exit_code == 2
    pruned = tmp_path / "pruned.db"
    told(path, "prune", told(path, "head").strip(), "--into", str(pruned))
    result = run(pruned, "export", str(tmp_path / "pruned.jsonl"))
    assert (result.exit_code, "tms backup copies it as it is" in result.stderr) == (3, True)
    names = sorted(file.name for file in tmp_path.iterdir() if "db" not in file.suffix)
    assert names == ["bundle.jsonl"]


def test_a_bundle_comes_packed_by_stdin_and_whole_or_not_at_all(tmp_path, bundle):
    data = bundle.read_bytes()
    for n, given in enumerate((data, gzip.compress(data), b"\xef\xbb\xbf" + data)):
        text = told(tmp_path / f"{n}.db", "import", "-", "--json", input=given)
        assert json.loads(text)["commits"] == 3
    for given in (data[:-100], data.replace(b"j1", b"j9"), gzip.compress(data)[:-9]):
        result = run(tmp_path / "cut.db", "import", "-", input=given)
        assert result.exit_code == 2
        assert not (tmp_path / "cut.db").exists()
    result = run(tmp_path / "cut.db", "import", "-", input='{"bundle":2}\n{}')
    assert result.stderr.startswith("error[invalid-content]: a bundle of another form")
