import json
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from making import SCHEMA, Clock, dump, fill, plain, tables

import tms

# ---------------------------------------------------------------- doors into a file

_ATTEMPTS = """
import json, sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
answers = []
for statement in json.load(sys.stdin):
    try:
        answers.append(str(connection.execute(statement).fetchall()))
    except sqlite3.Error as error:
        answers.append(str(error))
connection.close()
print(json.dumps(answers))
"""


def _here(path: Path, statements: list[str]) -> list[str]:
    answers = []
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for statement in statements:
            try:
                answers.append(str(connection.execute(statement).fetchall()))
            except sqlite3.Error as error:
                answers.append(str(error))
    return answers


def _elsewhere(path: Path, statements: list[str]) -> list[str]:
    run = subprocess.run(
        [sys.executable, "-c", _ATTEMPTS, path],
        input=json.dumps(statements),
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(run.stdout)


def _shell(program: str) -> Callable[[Path, list[str]], list[str]]:
    def answers(path: Path, statements: list[str]) -> list[str]:
        told = []
        for statement in statements:
            run = subprocess.run([program, path, statement], capture_output=True, text=True)
            told.append(run.stdout + run.stderr)
        return told

    return answers


DOORS = {"python": _here, "python -c": _elsewhere}
if SHELL := shutil.which("sqlite3"):
    DOORS["sqlite3"] = _shell(SHELL)

each_door = pytest.mark.parametrize("door", DOORS.values(), ids=DOORS.keys())


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("guards") / "memory.db"
    with tms.open(":memory:", clock=Clock()) as memory:
        first = memory.fact("Person:1", content={"name": "Ada"})
        begin = memory.head
        fill(memory)
        memory.redact(first)
        memory.prune(before=begin, path=path, reason="old", by="keeper")
    return path


# ---------------------------------------------------------------- what is tried

with closing(sqlite3.connect(":memory:")) as _empty:
    _empty.executescript(SCHEMA)
    TABLES = tables(_empty)

each_table = pytest.mark.parametrize("table", TABLES)


class Table:
    """One table of a file, with a row of it as SQL literals."""

    def __init__(self, connection: sqlite3.Connection, name: str) -> None:
        info = connection.execute(f"PRAGMA table_info({name})").fetchall()
        self.name = name
        self.types = {column[1]: column[2] for column in info}
        primary = [column[1] for column in sorted(info, key=lambda c: c[5]) if column[5]]
        self.keys = [primary]
        for _, index, unique, *_ in connection.execute(f"PRAGMA index_list({name})").fetchall():
            columns = [row[2] for row in connection.execute(f"PRAGMA index_info({index})")]
            if unique and columns not in self.keys:
                self.keys.append(columns)
        self.rowid = primary[0] if self.types[primary[0]] == "INTEGER" and not primary[1:] else None
        literals = ", ".join(f'quote("{column}")' for column in self.types)
        rows = connection.execute(f"SELECT {literals} FROM {name}").fetchall()
        self.rows = [dict(zip(self.types, row, strict=True)) for row in rows]
        # the row with the fewest NULLs clashes on the most keys
        self.row = min(self.rows, key=lambda row: list(row.values()).count("NULL"))
        (self.open,) = connection.execute("SELECT max(revision) + 1 FROM commits").fetchone()

    def fresh(self, column: str) -> str:
        """A value that no row has; in an open commit, so that only a clash can be refused."""
        if column == "revision" and self.name != "commits":
            return str(self.open)
        if column == "scope" and self.name != "scope":
            return "0"
        if self.types[column] == "INTEGER":
            return self.row[column] if column in ("state", "change", "believed") else "99999"
        return "x'99'" if self.types[column] == "BLOB" else "'new'"

    def row_with(self, key: list[str], row: dict[str, str]) -> dict[str, str]:
        """A new row but for one key, which it shares with a row that is there."""
        new = {column: self.fresh(column) for column in self.types}
        if self.name == "node":
            new["role"] = "'fact'"
        return new | {column: row[column] for column in key}

    def insert(self, verb: str, row: dict[str, str], *, tail: str = "", rowid: str = "") -> str:
        names = ", ".join(
            rowid if rowid and column == self.rowid else f'"{column}"' for column in row
        )
        return f"{verb} INTO {self.name} ({names}) VALUES ({', '.join(row.values())}){tail}"

    def where(self) -> str:
        return " AND ".join(f'"{column}" = {self.row[column]}' for column in self.keys[0])


def changes(table: Table) -> Iterator[str]:
    for column in table.types:
        new = f'SET "{column}" = {table.fresh(column)} WHERE {table.where()}'
        for verb in ("UPDATE", "UPDATE OR REPLACE", "UPDATE OR IGNORE", "UPDATE OR FAIL"):
            yield f"{verb} {table.name} {new}"
        yield f'UPDATE {table.name} SET "{column}" = "{column}"'


def removals(table: Table) -> Iterator[str]:
    yield f"DELETE FROM {table.name}"
    yield f"DELETE FROM {table.name} WHERE {table.where()}"
    if table.rowid:
        yield f"DELETE FROM {table.name} WHERE rowid = {table.row[table.rowid]}"


VERBS = (
    "REPLACE",
    "INSERT OR REPLACE",
    "INSERT OR IGNORE",
    "INSERT OR ABORT",
    "INSERT OR FAIL",
    "INSERT",
)


def clashes(table: Table) -> Iterator[str]:
    """Rows that are there whole, and new rows that share one key with a row that is there."""
    for row in [table.row, *(table.row_with(key, table.row) for key in table.keys)]:
        for verb in VERBS:
            yield table.insert(verb, row)
        yield table.insert("INSERT", row, tail=" ON CONFLICT DO NOTHING")
        for key in table.keys:
            if table.name == "justification" and key == ["scope", "name"]:
                continue  # a partial index takes part in an upsert only by its own condition
            target, column = ", ".join(f'"{name}"' for name in key), list(table.types)[-1]
            for what in ("NOTHING", f'UPDATE SET "{column}" = excluded."{column}"'):
                yield table.insert("INSERT", row, tail=f" ON CONFLICT ({target}) DO {what}")
        if table.rowid:
            for rowid in ("rowid", "_rowid_", "oid"):
                yield table.insert("INSERT OR REPLACE", row, rowid=rowid)
    columns = ", ".join(f'"{column}"' for column in table.types)
    yield f"INSERT OR REPLACE INTO {table.name} ({columns}) SELECT {columns} FROM {table.name}"


def additions(table: Table) -> Iterator[str]:
    """Rows of a commit that is closed, else new."""
    closed = "justification" if table.name in ("premise", "derive") else "revision"
    if closed in table.types:
        for revision in sorted({row[closed] for row in table.rows}):
            yield table.insert("INSERT", table.row_with([], table.row) | {closed: revision})
            yield table.insert(
                "INSERT OR REPLACE", table.row_with([], table.row) | {closed: revision}
            )


def refused(
    path: Path, door: Callable[[Path, list[str]], list[str]], statements: list[str]
) -> None:
    before = dump(path)
    answers = door(path, statements)
    assert len(answers) == len(statements)
    passed = [
        pair for pair in zip(statements, answers, strict=True) if "append-only" not in pair[1]
    ]
    assert passed == []
    assert dump(path) == before


@each_door
@each_table
def test_no_row_of_the_record_is_changed(filled: Path, table: str, door: Callable) -> None:
    with plain(filled) as connection:
        statements = list(changes(Table(connection, table)))
    refused(filled, door, statements)


@each_door
@each_table
def test_no_row_of_the_record_is_removed(filled: Path, table: str, door: Callable) -> None:
    with plain(filled) as connection:
        statements = list(removals(Table(connection, table)))
    refused(filled, door, statements)


@each_door
@each_table
def test_no_row_of_the_record_is_replaced_through_any_of_its_keys(
    filled: Path, table: str, door: Callable
) -> None:
    with plain(filled) as connection:
        statements = list(clashes(Table(connection, table)))
    refused(filled, door, statements)


@each_door
@pytest.mark.parametrize("table", [name for name in TABLES if name != "pruned"])
def test_a_closed_commit_takes_no_more_rows(filled: Path, table: str, door: Callable) -> None:
    with plain(filled) as connection:
        statements = list(additions(Table(connection, table)))
    assert statements
    refused(filled, door, statements)


@pytest.mark.parametrize("pragma", ["recursive_triggers", "foreign_keys"])
@each_door
def test_the_doors_are_plain_ones_with_checks_off(
    filled: Path, door: Callable, pragma: str
) -> None:
    (answer,) = door(filled, [f"PRAGMA {pragma}"])
    assert "0" in answer
    assert "1" not in answer


@each_door
def test_the_doors_do_write_where_nothing_forbids_it(
    filled: Path, tmp_path: Path, door: Callable
) -> None:
    copy = tmp_path / "memory.db"
    shutil.copy(filled, copy)
    statement = (
        "INSERT INTO scope (scope, name, revision)"
        " SELECT 7, 'another', max(revision) + 1 FROM commits"
    )
    (answer,) = door(copy, [statement])
    assert "append-only" not in answer
    assert dump(copy) != dump(filled)


@each_table
def test_without_its_guards_a_table_would_be_replaced(
    filled: Path, tmp_path: Path, table: str
) -> None:
    copy = tmp_path / "memory.db"
    shutil.copy(filled, copy)
    with plain(copy) as connection:
        statements = list(clashes(Table(connection, table)))
        for kind in ("insert", "update", "delete"):
            connection.execute(f"DROP TRIGGER {table}_{kind}")
    assert any("append-only" not in answer for answer in _here(copy, statements))
    assert dump(copy) != dump(filled)


def test_the_attempts_reach_every_table_and_every_key_of_it(filled: Path) -> None:
    with plain(filled) as connection:
        found = {name: Table(connection, name) for name in tables(connection)}
    assert list(found) == TABLES
    assert all(table.rows for table in found.values())
    assert {name: len(table.keys) for name, table in found.items() if len(table.keys) > 1} == {
        "justification": 3,
        "node": 2,
        "scope": 2,
    }
    assert "NULL" not in found["justification"].row.values()


@pytest.mark.parametrize("id", ["14", "+14", "'14'"])
def test_a_known_id_in_the_clothes_of_a_number_is_still_known(tmp_path: Path, id: str) -> None:
    path = tmp_path / "memory.db"
    with tms.open(path) as memory:
        memory.source("Ticket:14")
    columns, values = "node, scope, kind, id, role, revision", f"99, 0, 'Ticket', {id}, 'fact', 2"
    refused(path, _here, [f"INSERT OR REPLACE INTO node ({columns}) VALUES ({values})"])


@pytest.mark.parametrize("table", [name for name in TABLES if name not in ("scope", "commits")])
def test_the_guards_hold_inside_a_transaction_of_many_statements(
    filled: Path, tmp_path: Path, table: str
) -> None:
    copy = tmp_path / "memory.db"
    shutil.copy(filled, copy)
    with plain(copy) as connection:
        attempts = [*removals(found := Table(connection, table)), *clashes(found)]
        connection.execute("BEGIN")
        connection.execute(
            "INSERT INTO scope (scope, name, revision)"
            " SELECT 8, 'kept', max(revision) + 1 FROM commits"
        )
        for attempt in attempts:
            with pytest.raises(sqlite3.IntegrityError, match="append-only"):
                connection.execute(attempt)
    with plain(copy) as connection:
        connection.execute("BEGIN")
        assert connection.execute("SELECT count(*) FROM scope").fetchone() == (2,)
    assert [line for line in dump(copy) if "'kept'" not in line] == dump(filled)
