"""What was begun and left lying, or runs on the side, holds nobody up and commits nothing."""

import sqlite3
from collections.abc import Callable
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from making import Clock, dump, plain

import tms
from tms.draft import Draft
from tms.store.layout import statements
from tms.store.migrations import migrate


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "memory.db"
    with tms.open(path, clock=Clock()) as memory:
        memory.load([{"source": f"Feed:{number}"} for number in range(3_000)])
        memory.load(
            [
                {"justification": f"j{number}", "premises": "Feed:1", "derives": f"Flag:{number}"}
                for number in range(3_000)
            ]
        )
        for _ in range(5):
            memory.retract("Feed:1")
            memory.unretract("Feed:1")
    return path


BEGUN: dict[str, Callable[[tms.Memory], Any]] = {
    "holding": lambda memory: memory.holding(),
    "holding of a view": lambda memory: memory.as_of(recorded=memory.head).holding(),
    "log": lambda memory: memory.log(),
    "changes": lambda memory: memory.changes(),
    "a subscription": lambda memory: iter(memory.subscribe("mail")),
    "export of a page": lambda memory: iter(memory.scan(limit=2)),
}


@pytest.mark.parametrize("name", BEGUN)
@pytest.mark.parametrize("read_only", [False, True])
def test_an_iterator_that_lies_idle_blocks_no_writer_and_no_checkpoint(
    path: Path, name: str, read_only: bool
) -> None:
    with tms.open(path, read_only=read_only) as reader, tms.open(path, timeout=0) as writer:
        begun = BEGUN[name](reader)
        assert len(list(islice(begun, 2))) == 2
        before = writer.head
        writer.retract("Feed:2")
        assert reader.head != before
        with plain(path) as other:
            busy, in_log, moved = other.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            assert (busy, in_log, moved) == (0, 0, 0)
        assert path.with_name("memory.db-wal").stat().st_size == 0
        writer.unretract("Feed:2")
        if not read_only:
            reader.retract("Feed:3")  # the reader itself is not blocked either
        assert len(list(begun)) >= 0
        assert writer.verify(revisions=2)


# ---------------------------------------------------------------- C15: a script in between

SCRIPT = "CREATE TABLE extra (id INTEGER);\nINSERT INTO extra VALUES (1);\n"


def _half_open(memory: tms.Memory) -> None:
    memory.retract("Feed:1")
    memory.load([{"source": f"Late:{number}"} for number in range(50)])


class Stop(Exception):
    pass


@pytest.mark.parametrize("fails", [True, False])
def test_c15_a_script_on_another_connection_never_commits_a_half_open_operation(
    path: Path, fails: bool
) -> None:
    before = dump(path)
    with patch("tms.batch.Draft", partial(Draft, most=1)), tms.open(path) as memory:
        try:
            with memory.batch():
                _half_open(memory)
                other = sqlite3.connect(path, timeout=0)
                with pytest.raises(sqlite3.OperationalError, match="locked"):
                    other.executescript(SCRIPT)
                assert dump(path) == before
                if fails:
                    raise Stop
        except Stop:
            assert dump(path) == before
        other.executescript(SCRIPT)
        other.close()
        assert memory.head.revision == (12 if fails else 13)
        memory.source("Unrelated:1")
        assert memory.head.revision == (13 if fails else 14)
        assert memory.believes("Flag:1") == fails
    with plain(path) as sql:
        sql.execute("DROP TABLE extra")
    with tms.open(path) as memory:
        assert memory.verify(revisions=None)


def test_c15_a_script_on_our_own_connection_stays_inside_the_operation(path: Path) -> None:
    before = dump(path)
    with patch("tms.batch.Draft", partial(Draft, most=1)), tms.open(path) as memory:
        sql = memory._connection.sql
        with pytest.raises(Stop), memory.batch():
            _half_open(memory)
            for statement in statements(SCRIPT):
                sql.execute(statement)
            assert sql.in_transaction
            raise Stop
        assert dump(path) == before
        memory.source("Unrelated:1")
        assert memory.head.revision == 13
        assert memory.verify(revisions=None)


def test_c15_the_script_of_the_schema_commits_nothing_before_its_transaction_does(
    tmp_path: Path,
) -> None:
    with plain(tmp_path / "new.db") as sql:
        sql.isolation_level = None
        sql.execute("BEGIN IMMEDIATE")
        sql.execute("CREATE TABLE half_open (id INTEGER)")
        migrate(sql, 0)
        assert sql.in_transaction
        sql.execute("ROLLBACK")
    assert dump(tmp_path / "new.db") == ["BEGIN TRANSACTION;", "COMMIT;"]
