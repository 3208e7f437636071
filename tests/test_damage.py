import sqlite3
from contextlib import closing

import pytest

import tms


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
