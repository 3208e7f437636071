import shutil
import sqlite3
from datetime import timedelta
from pathlib import Path
from random import Random

import pytest
from making import (
    Clock,
    fill,
    found,
    no_guards,
    plain,
    tables,
    tampered,
    unguarded,
    wander,
)

import tms


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("verify") / "memory.db"
    with tms.open(path, clock=Clock()) as memory:
        fill(memory)
        memory.fact("Flag:30", content={"alone": True})
    return path


# ---------------------------------------------------------------- sound files


@pytest.mark.parametrize("seed", range(6))
def test_a_file_that_only_tms_wrote_is_sound(tmp_path: Path, seed: int) -> None:
    path = tmp_path / "memory.db"
    with tms.open(path, clock=Clock(step=timedelta(microseconds=300))) as memory:
        wander(memory, Random(seed), 60)
        verification = memory.verify(revisions=None)
        assert verification
        assert verification.findings == ()
        assert verification.revisions == tuple(range(1, memory.head.revision + 1))
    assert found(path, revisions=None) == {}


@pytest.mark.parametrize(
    ("asked", "compared"),
    [(1, (14,)), (2, (7, 14)), (3, (5, 10, 14)), (13, None), (14, None), (99, None), (None, None)],
)
def test_the_labels_are_compared_at_as_many_revisions_as_was_asked(
    good: Path, asked: int | None, compared: tuple[int, ...] | None
) -> None:
    with tms.open(good, read_only=True) as memory:
        revisions = memory.verify(revisions=asked).revisions
    assert revisions[-1] == 14
    assert len(revisions) == min(asked or 14, 14)
    assert list(revisions) == sorted(set(revisions))
    if compared:
        assert revisions == compared


@pytest.mark.parametrize("revisions", [0, -1, True, False, "all", 1.5])
def test_a_number_of_revisions_that_is_none_is_refused(good: Path, revisions: object) -> None:
    with tms.open(good, read_only=True) as memory, pytest.raises(tms.InvalidArgument):
        memory.verify(revisions=revisions)


# ---------------------------------------------------------------- the schema

WEAKENED = (
    "UPDATE sqlite_master SET sql = replace(sql, 'BEGIN', 'WHEN 0 BEGIN')"
    " WHERE name = 'node_update'"
)
"""Needs ``PRAGMA writable_schema``."""

ALTERATIONS = pytest.mark.parametrize(
    ("statement", "example"),
    [
        ("DROP TRIGGER node_update", "trigger node_update"),
        ("DROP TRIGGER transition_insert", "trigger transition_insert"),
        ("DROP VIEW why", "view why"),
        ("DROP INDEX switch_by_revision", "index switch_by_revision"),
        ("DROP TABLE switch", "table switch"),
        ("CREATE TABLE another (a)", "table another"),
        ("CREATE INDEX another ON node (role)", "index another"),
        ("CREATE TRIGGER another AFTER INSERT ON node BEGIN SELECT 1; END", "trigger another"),
        ("ALTER TABLE node ADD COLUMN another TEXT", "table node"),
        ("ALTER TABLE commits RENAME TO commitments", "table commitments"),
        (WEAKENED, "trigger node_update"),
    ],
)


def alter(connection: sqlite3.Connection, statement: str) -> None:
    connection.execute("PRAGMA writable_schema = ON")
    connection.execute(statement)
    (version,) = connection.execute("PRAGMA schema_version").fetchone()
    connection.execute(f"PRAGMA schema_version = {version + 1}")  # so that others notice


@ALTERATIONS
@pytest.mark.parametrize("read_only", [False, True])
def test_what_is_altered_under_an_open_memory_is_named(
    good: Path, tmp_path: Path, statement: str, example: str, read_only: bool
) -> None:
    path = tmp_path / "tampered.db"
    shutil.copy(good, path)
    with tms.open(path, read_only=read_only) as memory:
        with plain(path) as connection:
            alter(connection, statement)
        verification = memory.verify()
        named = [finding.examples for finding in verification.findings if finding.rule == "schema"]
        assert any(example in examples for examples in named)
        assert verification.revisions == () or not example.startswith("table")


@ALTERATIONS
@pytest.mark.parametrize("read_only", [False, True])
def test_what_is_not_as_schema_sql_has_it_is_named_and_not_opened(
    good: Path, tmp_path: Path, statement: str, example: str, read_only: bool
) -> None:
    path = tmp_path / "tampered.db"
    shutil.copy(good, path)
    with plain(path) as connection:
        alter(connection, statement)
    before = path.read_bytes()
    with pytest.raises(tms.CorruptStore, match=f"not as schema.sql has it: .*{example}"):
        tms.open(path, read_only=read_only)
    assert path.read_bytes() == before


@pytest.mark.parametrize("lost", ["cache_label", "cache_off"])
def test_a_lost_cache_is_found_and_the_rest_is_checked_still(
    good: Path, tmp_path: Path, lost: str
) -> None:
    statements = (f"DROP TABLE {lost}", "UPDATE commits SET believed = 0 WHERE revision = 14")
    findings = found(tampered(good, tmp_path, *statements))
    assert findings.keys() == {"cache", "believed", "chain"}
    assert findings["cache"].examples == (f"table {lost}",)


def test_damaged_pages_are_found_wherever_the_file_can_still_be_opened(
    good: Path, tmp_path: Path
) -> None:
    path = tmp_path / "damaged.db"
    whole = good.read_bytes()
    opened = refused = 0
    for start in range(4096, len(whole), 4096):
        path.write_bytes(whole[:start] + Random(start).randbytes(4096) + whole[start + 4096 :])
        try:
            findings = found(path)
        except tms.CorruptStore:
            refused += 1
        else:
            assert list(findings) == ["integrity"]
            opened += 1
    assert opened > refused > 0


# ---------------------------------------------------------------- whatever is written


def _scramble(connection: sqlite3.Connection, random: Random) -> None:
    """Change something somewhere: a value, a row, or what a row refers to."""
    table = random.choice([*tables(connection), "cache_label", "cache_off"])
    columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
    column = random.choice(columns)
    values = [0, 1, -1, 2, 99, 2**62, -(2**62), None, "", "x", "justification", "{", b"\xff", 0.5]
    rows = connection.execute(f"SELECT * FROM {table}").fetchall()
    row = list(random.choice(rows)) if rows else [random.choice(values) for _ in columns]
    act = random.choice(["UPDATE", "DELETE", "INSERT", "INSERT"])
    where = " AND ".join(f'"{name}" IS ?' for name in columns)
    if act == "UPDATE":
        value = random.choice([*values, *row])
        connection.execute(
            f'UPDATE OR REPLACE {table} SET "{column}" = ? WHERE {where}', [value, *row]
        )
    elif act == "DELETE":
        connection.execute(f"DELETE FROM {table} WHERE {where}", row)
    else:
        row[columns.index(column)] = random.choice(values)
        connection.execute(
            f"INSERT OR REPLACE INTO {table} VALUES ({', '.join('?' * len(row))})", row
        )


@pytest.mark.parametrize("seed", range(60))
def test_whatever_is_tampered_with_verification_answers_and_never_raises(
    good: Path, tmp_path: Path, seed: int
) -> None:
    path = tmp_path / "tampered.db"
    shutil.copy(good, path)
    random = Random(seed)
    with tms.open(path) as memory:
        with no_guards(path) as connection:
            for _ in range(random.randint(1, 6)):
                try:
                    _scramble(connection, random)
                except (sqlite3.IntegrityError, OverflowError):
                    continue
        findings = found(path, revisions=None)
        with plain(path) as connection:
            unguarded(connection)
        unguarded_too = memory.verify(revisions=None)
    told = {finding.rule for finding in unguarded_too.findings}
    assert told == findings.keys() | {"schema"} or told == {"integrity"} == findings.keys()


# ---------------------------------------------------------------- mending


def test_verification_changes_nothing(good: Path, tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    shutil.copy(good, path)
    before = path.read_bytes()
    with tms.open(path) as memory:
        memory.verify(revisions=None)
    assert path.read_bytes() == before
    assert found(path) == {}
