"""Files that somebody made to run something of theirs when they are opened."""

import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from making import SCHEMA, Clock, fill, found, plain, unguarded

import tms


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("crafted") / "memory.db"
    with tms.open(path, clock=Clock()) as memory:
        fill(memory)
    return path


class Witness:
    """What was run on the connections that were opened since, and whether ``boom`` was called."""

    def __init__(self) -> None:
        self.ran: list[str] = []
        self.booms = 0

    def boom(self, *_: object) -> int:
        self.booms += 1
        return 1


@pytest.fixture
def witness(monkeypatch: pytest.MonkeyPatch) -> Iterator[Witness]:
    seen = Witness()
    connect = sqlite3.connect

    def watched(*args: object, **kwargs: object) -> sqlite3.Connection:
        connection = connect(*args, **kwargs)
        connection.create_function("boom", -1, seen.boom)
        connection.set_trace_callback(seen.ran.append)
        return connection

    with monkeypatch.context() as patch:
        patch.setattr(sqlite3, "connect", watched)
        yield seen


LOOKS = ("PRAGMA ", "BEGIN", "ROLLBACK", "SELECT type, name, tbl_name, sql, rootpage FROM sqlite_")
"""How the statements begin that may run on a file that is refused."""


OVERFLOW = "abs(-9223372036854775808)"
"""Fails where it is worked out, and may stand where ``boom`` may not."""

OURS = "is not as schema.sql has it: .*"
THEIRS = "malformed database schema"
"""What SQLite says where it sees by itself that something cannot be; which releases do, differs."""


def master(name: str, text: str | None, *, kind: str = "table", root: int | str = 0) -> str:
    said = "NULL" if text is None else "'" + text.replace("'", "''") + "'"
    values = f"('{kind}', '{name}', '{name}', {root}, {said})"
    return f"INSERT INTO sqlite_master (type, name, tbl_name, rootpage, sql) VALUES {values}"


def rewritten(table: str, before: str, after: str) -> str:
    return (
        f"UPDATE sqlite_master SET sql = replace(sql, '{before}', '{after}') WHERE name = '{table}'"
    )


def root(name: str) -> str:
    return f"(SELECT rootpage FROM sqlite_master WHERE name = '{name}')"


CRAFTED: dict[str, tuple[tuple[str, ...], str]] = {
    "a guard is gone": (("DROP TRIGGER node_update",), "trigger node_update"),
    "an index is gone": (("DROP INDEX switch_by_revision",), "index switch_by_revision"),
    "a view is gone": (("DROP VIEW log",), "view log"),
    "a table is gone": (("DROP TABLE pruned",), "table pruned"),
    "a trigger on the record": (
        ("CREATE TRIGGER evil AFTER INSERT ON commits BEGIN SELECT boom(); END",),
        "trigger evil",
    ),
    "a trigger on the positions": (
        ("CREATE TRIGGER evil BEFORE INSERT ON consumer BEGIN DELETE FROM cache_off; END",),
        "trigger evil",
    ),
    "a trigger on the cache": (
        ("CREATE TRIGGER evil AFTER DELETE ON cache_label BEGIN SELECT boom(); END",),
        "trigger evil",
    ),
    "a trigger on the table of sqlite-utils": (
        ("CREATE TRIGGER evil AFTER INSERT ON _sqlite_migrations BEGIN SELECT boom(); END",),
        "trigger evil",
    ),
    "a trigger on a view": (
        ("CREATE TRIGGER evil INSTEAD OF INSERT ON log BEGIN SELECT boom(); END",),
        "trigger evil",
    ),
    "a guard that guards nothing": (
        (rewritten("node_update", "BEGIN", "WHEN 0 BEGIN"),),
        "trigger node_update",
    ),
    "a guard that does more": (
        (rewritten("node_update", "BEGIN", "BEGIN SELECT boom();"),),
        "trigger node_update",
    ),
    "a guard of the same words in another place": (
        (
            "UPDATE sqlite_master SET tbl_name = 'scope' WHERE name = 'node_update'",
            "UPDATE sqlite_master SET tbl_name = 'node' WHERE name = 'scope_update'",
        ),
        "trigger node_update",
    ),
    "a view in place of the cache": (
        ("DROP TABLE cache_off", "CREATE VIEW cache_off AS SELECT boom() AS target"),
        "view cache_off",
    ),
    "a view in place of a table": (
        ("DROP TABLE pruned", "CREATE VIEW pruned AS SELECT boom() AS baseline"),
        "view pruned",
    ),
    "a view over what is asked when a file is opened": (
        ("CREATE VIEW overlay AS SELECT boom()",),
        "view overlay",
    ),
    "a view over another": ((rewritten("log", "c.op", "boom() AS op"),), "view log"),
    "a check that calls": (
        (rewritten("consumer", "CHECK (revision >= 0)", "CHECK (boom())"),),
        "table consumer",
    ),
    "a default that calls": (
        (rewritten("consumer", "NOT NULL", "NOT NULL DEFAULT (boom())"),),
        "table consumer",
    ),
    "a column that is worked out": (
        (rewritten("commits", "reason TEXT", f"reason TEXT AS ({OVERFLOW})"),),
        "table commits",
    ),
    "a column that is worked out in the cache": (
        (
            rewritten(
                "cache_label",
                "rank INTEGER NOT NULL",
                f"rank INTEGER AS ({OVERFLOW})",
            ),
        ),
        "table cache_label",
    ),
    "an index on an expression": (
        ("CREATE INDEX evil ON node (abs(node))",),
        "index evil",
    ),
    "a table of its own": (("CREATE TABLE another (a)",), "table another"),
    "a cache that nobody knows": (
        ("CREATE TABLE cache_more (a)",),
        "table cache_more",
    ),
    "a virtual table": (("CREATE VIRTUAL TABLE evil USING fts5 (x)",), "table evil"),
    "a virtual table of no module": (
        (master("evil", "CREATE VIRTUAL TABLE evil USING nobody (x)"),),
        "table evil",
    ),
    "a counter of keys": (("CREATE TABLE a (a INTEGER PRIMARY KEY AUTOINCREMENT)",), "table a"),
    "statistics of another form": (
        ("ANALYZE", rewritten("sqlite_stat1", ",stat", ",stat DEFAULT (boom())")),
        "table sqlite_stat1",
    ),
    "statistics that are a view": (
        (master("sqlite_stat1", "CREATE VIEW sqlite_stat1 AS SELECT boom(), 2, 3", kind="view"),),
        "view sqlite_stat1",
    ),
    "migrations of another form": (
        (rewritten("_sqlite_migrations", "TEXT", "TEXT DEFAULT (boom())"),),
        "table _sqlite_migrations",
    ),
    "a table that says it is one of the cache": (
        (master("cache_x", "CREATE TRIGGER x AFTER INSERT ON node BEGIN SELECT boom(); END"),),
        "table cache_x",
    ),
    "a table that says it is a trigger": (
        ("UPDATE sqlite_master SET type = 'trigger' WHERE name = 'consumer'",),
        "trigger consumer",
    ),
    "two tables on the same pages": (
        (f"UPDATE sqlite_master SET rootpage = {root('commits')} WHERE name = 'cache_off'",),
        "table cache_off",
    ),
    "a table on the first page": (
        ("UPDATE sqlite_master SET rootpage = 1 WHERE name = 'cache_off'",),
        "table cache_off",
    ),
    "a name to fool the reader": (
        ('CREATE TABLE "a\x1b[2J\nall is well" (a)',),
        r"table a\\x1b\[2J\\nall is well",
    ),
    "a very long name": ((f"CREATE TABLE {'a' * 5000} (a)",), "table a{54}…"),
    "much": (tuple(f"CREATE TABLE t{number} (a)" for number in range(40)), "and 35 more"),
}

BROKEN = {
    "a text that is none": (
        "UPDATE sqlite_master SET sql = CAST(x'ff' AS TEXT) WHERE name = 'log'",
    ),
    "a statement that is none": (rewritten("consumer", "CREATE TABLE", "CREATE NONSENSE"),),
    "a table without a statement": ("UPDATE sqlite_master SET sql = NULL WHERE name = 'node'",),
    "a table twice": (
        "INSERT INTO sqlite_master SELECT * FROM sqlite_master WHERE name = 'consumer'",
    ),
    "a table on no page": ("UPDATE sqlite_master SET rootpage = 9999 WHERE name = 'consumer'",),
    "a table on text": ("UPDATE sqlite_master SET rootpage = 'x' WHERE name = 'consumer'",),
    "a statement that is no text": (
        "UPDATE sqlite_master SET sql = CAST(sql AS BLOB) WHERE name = 'log'",
    ),
    "an index that SQLite made is gone": (
        "DELETE FROM sqlite_master WHERE name = 'sqlite_autoindex_scope_1'",
    ),
    "all is gone": ("DELETE FROM sqlite_master",),
}


def craft(good: Path, folder: Path, statements: tuple[str, ...], *, logged: bool = False) -> Path:
    """A copy of the file that somebody changed, ``logged`` if that is in its log alone."""
    path = folder / "crafted.db"
    shutil.copy(good, path)
    with plain(path) as connection:
        if logged:
            connection.execute("PRAGMA wal_autocheckpoint = 0")
        connection.execute("PRAGMA writable_schema = ON")
        for statement in statements:
            connection.execute(statement)
        (version,) = connection.execute("PRAGMA schema_version").fetchone()
        connection.execute(f"PRAGMA schema_version = {version + 1}")
        connection.commit()
        if logged:
            for end in ("", "-wal"):
                shutil.copy(f"{path}{end}", f"{path}{end}.kept")
    if logged:
        for end in ("", "-wal"):
            Path(f"{path}{end}.kept").rename(f"{path}{end}")
    return path


def there(folder: Path) -> dict[str, bytes]:
    return {
        file.name: file.read_bytes()
        for file in folder.iterdir()
        if not file.name.endswith("-shm") and (file.stat().st_size or "-wal" not in file.name)
    }


each_door = pytest.mark.parametrize("read_only", [False, True], ids=["writing", "reading"])
each_place = pytest.mark.parametrize("logged", [False, True], ids=["file", "log"])


@each_place
@each_door
@pytest.mark.parametrize("what", CRAFTED)
def test_a_crafted_file_is_refused_before_anything_of_it_runs(
    good: Path, tmp_path: Path, witness: Witness, what: str, read_only: bool, logged: bool
) -> None:
    statements, named = CRAFTED[what]
    path = craft(good, tmp_path, statements, logged=logged)
    before = there(tmp_path)
    assert ("crafted.db-wal" in before) == logged
    witness.ran.clear()
    witness.booms = 0
    with pytest.raises(tms.CorruptStore, match=f"{OURS}{named}|{THEIRS}") as caught:
        tms.open(path, read_only=read_only)
    assert caught.value.ids == (str(path),)
    assert str(caught.value).isprintable()
    assert witness.booms == 0
    assert [text for text in witness.ran if not text.startswith(LOOKS)] == []
    assert there(tmp_path) == before
    if not read_only and not logged:
        assert [file.name for file in tmp_path.iterdir()] == ["crafted.db"]


@each_place
@each_door
@pytest.mark.parametrize("what", BROKEN)
def test_a_file_whose_tables_cannot_be_told_is_refused_untouched(
    good: Path, tmp_path: Path, what: str, read_only: bool, logged: bool
) -> None:
    path = craft(good, tmp_path, BROKEN[what], logged=logged)
    before = there(tmp_path)
    with pytest.raises((tms.CorruptStore, tms.NotATMSFile)):
        tms.open(path, read_only=read_only)
    assert there(tmp_path) == before


# ---------------------------------------------------------------- what may be there


@each_door
@pytest.mark.parametrize(
    "statements",
    [
        ("ANALYZE",),
        ("DROP TABLE _sqlite_migrations",),
        ("DROP TABLE cache_label",),
        ("DROP TABLE cache_label", "DROP TABLE cache_off", "ANALYZE"),
        ("VACUUM",),
        ("REINDEX",),
    ],
    ids="; ".join,
)
def test_what_changes_nothing_that_is_promised_is_opened(
    good: Path, tmp_path: Path, statements: tuple[str, ...], read_only: bool
) -> None:
    path = tmp_path / "memory.db"
    shutil.copy(good, path)
    with plain(path) as connection:
        for statement in statements:
            connection.execute(statement)
    with tms.open(path, read_only=read_only) as memory:
        assert memory.believes("Block:14")
        if not read_only:
            assert memory.retract("Feed:1")
    assert not read_only or found(path).keys() <= {"cache"}


def test_what_is_told_of_schema_sql_is_what_sqlite_keeps_of_it(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with plain(path) as connection:
        connection.executescript(SCHEMA)
        kept = connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_master").fetchall()
    from tms.store.shape import _wanted

    assert _wanted(SCHEMA) == set(kept)
    assert len(kept) > 60


# ---------------------------------------------------------------- headers that lie


def _patched(place: int, value: bytes):
    def patch(content: bytearray) -> bytearray:
        content[place : place + len(value)] = value
        return content

    return patch


HEADERS = {
    "no page size": _patched(16, b"\x00\x00"),
    "a page size that is none": _patched(16, b"\x03\x00"),
    "another page size": _patched(16, b"\x02\x00"),
    "a format to be written by nobody": _patched(18, b"\x09\x09"),
    "other fractions": _patched(21, b"\x01\x01\x01"),
    "a format of tables that never was": _patched(44, b"\x00\x00\x00\x63"),
    "text in UTF-16": _patched(56, b"\x00\x00\x00\x02"),
    "a format far ahead": _patched(60, b"\x7f\xff\xff\xff"),
    "a format before all": _patched(60, b"\xff\xff\xff\xff"),
    "another application": _patched(68, b"\x00\x00\x00\x01"),
    "a tree that is none": _patched(100, b"\x63"),
    "zeros from its tables on": _patched(100, bytes(4096 - 100)),
    "one byte": lambda content: content[:1],
    "its magic alone": lambda content: content[:16],
    "its header alone": lambda content: content[:100],
    "its first page alone": lambda content: content[:4096],
    "all but its last byte": lambda content: content[:-1],
}


@each_door
@pytest.mark.parametrize("what", HEADERS)
def test_a_header_that_lies_is_told_and_nothing_is_touched(
    good: Path, tmp_path: Path, what: str, read_only: bool
) -> None:
    path = tmp_path / "memory.db"
    path.write_bytes(HEADERS[what](bytearray(good.read_bytes())))
    before = there(tmp_path)
    with pytest.raises((tms.CorruptStore, tms.NotATMSFile, tms.SchemaTooNew)):
        tms.open(path, read_only=read_only)
    assert there(tmp_path) == before


def test_room_that_is_said_to_be_reserved_is_found(good: Path, tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    path.write_bytes(_patched(20, b"\xff")(bytearray(good.read_bytes())))
    with tms.open(path, read_only=True) as memory:
        assert [finding.rule for finding in memory.verify().findings] == ["integrity"]


def test_a_file_that_keeps_text_in_another_encoding_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with plain(path) as connection:
        connection.execute("PRAGMA encoding = 'UTF-16le'")
        connection.executescript(SCHEMA)
    with pytest.raises(tms.CorruptStore, match="text in UTF-16le"):
        tms.open(path)


def test_a_log_that_says_it_is_of_another_application_is_believed(
    good: Path, tmp_path: Path
) -> None:
    path = craft(good, tmp_path, ("PRAGMA application_id = 7",), logged=True)
    before = there(tmp_path)
    for read_only in (False, True):
        with pytest.raises(tms.NotATMSFile, match="another application"):
            tms.open(path, read_only=read_only)
    assert there(tmp_path) == before


def test_guards_that_are_gone_are_told_and_can_be_put_back(good: Path, tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    shutil.copy(good, path)
    with plain(path) as connection:
        unguarded(connection)
    with pytest.raises(tms.CorruptStore, match="sqlite3 shell"):
        tms.open(path)
    with plain(path) as connection:
        for statement in SCHEMA.split("\n\n"):
            for part in statement.split("END;"):
                if "CREATE TRIGGER" in part:
                    connection.execute(part[part.index("CREATE TRIGGER") :] + "END")
    with tms.open(path) as memory:
        assert memory.verify(revisions=None)
