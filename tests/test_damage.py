import sqlite3
from contextlib import closing

import pytest
from making import no_guards

import tms
from tms import render


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "memory.db"
    with tms.open(path) as memory:
        memory.source("Feed:1")
        memory.justify("Flag:1", "Feed:1")
        memory.justify("Block:1", "Flag:1")
    return path


def declare(path, table, before, after):
    """Change what the file says of a table, not what is in it."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute(
            "UPDATE sqlite_master SET sql = replace(sql, ?, ?) WHERE name = ?",
            (before, after, table),
        )
        connection.commit()


def test_a_schema_that_is_no_text_is_told_as_a_corrupt_file(path):
    written = path.read_bytes()
    assert b"node_insert BEFORE" in written
    path.write_bytes(written.replace(b"node_insert BEFORE", b"node_insert B\xffFORE"))
    for read_only in (False, True):
        with pytest.raises(tms.CorruptStore, match="contradicts its format"):
            tms.open(path, read_only=read_only)


def test_verify_tells_of_values_that_cannot_be_there_instead_of_tripping_over_them(path):
    declare(path, "cache_label", "rank INTEGER NOT NULL", "rank INTEGER")
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE cache_label SET rank = NULL")
        connection.commit()
    declare(path, "cache_label", "rank INTEGER,", "rank INTEGER NOT NULL,")
    with tms.open(path, read_only=True) as memory:
        found = memory.verify()
    assert not found
    assert [finding.rule for finding in found.findings] == ["integrity"]
    assert "NULL value in cache_label.rank" in str(found)


DAMAGED = {
    "no JSON": "hello",
    "a list": "[1]",
    "a number": "7",
    "deep": "[" * 5_000,
    "deeper than may be kept": '{"a":' + "[" * 400 + "]" * 400 + "}",
    "not a number": '{"a":NaN}',
    "half a character": '{"a":"\\ud800"}',
}

READERS = {
    "get": lambda m: m.get("Feed:1"),
    "scan": lambda m: m.scan(),
    "why": lambda m: m.why("Block:1"),
    "why_not": lambda m: m.why_not("Lost:1"),
    "history": lambda m: m.history("Feed:1"),
    "history_page": lambda m: m.history_page("Feed:1"),
    "neighbourhood": lambda m: m.neighbourhood("Flag:1"),
    "a picture": lambda m: render.mermaid(m.neighbourhood("Flag:1")),
    "a view": lambda m: m.as_of(recorded=m.head).get("Feed:1"),
}


@pytest.mark.parametrize("name", DAMAGED)
@pytest.mark.parametrize("reader", READERS)
def test_a_content_that_another_hand_damaged_is_named(tmp_path, name, reader):
    path = tmp_path / "memory.db"
    with tms.open(path) as memory:
        memory.source("Feed:1", content={"rows": 1})
        memory.source("Gone:1", content={"rows": 2})
        memory.justify("Flag:1", "Feed:1")
        memory.justify("Block:1", "Flag:1")
        memory.justify("Lost:1", ["Feed:1", "Gone:1"])
        memory.retract("Gone:1")
    with no_guards(path) as connection:
        connection.execute("UPDATE content SET content = ?", (DAMAGED[name],))
    with tms.open(path) as memory:
        with pytest.raises(tms.CorruptStore, match=r"the content of .+ is damaged") as caught:
            READERS[reader](memory)
        assert caught.value.hint == "Run tms verify."
        assert caught.value.ids in {("Feed:1",), ("Gone:1",)}
        assert not memory.verify()
        assert memory.believes("Block:1")  # belief does not read contents
