"""Files of every format that was released are opened, brought to this one, and answer alike."""

import json
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import formats
import nextformat
import pytest
from making import ROOT, SCHEMA, Clock, dump, fill, found, plain

import tms
from tms.store import layout, migrations, shape

FILES = sorted(formats.FOLDER.glob("*.db"))
each_file = pytest.mark.parametrize("file", FILES, ids=[file.stem for file in FILES])
each_door = pytest.mark.parametrize("read_only", [False, True], ids=["writing", "reading"])


def declared(path: Path) -> set[tuple[object, ...]]:
    with plain(path) as connection:
        rows = connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_master")
        return {row for row in rows if row[2] != "_sqlite_migrations"}


def covers(told: Any, kept: Any) -> bool:
    """Whether all that was told once is told still; more may be told now."""
    if isinstance(kept, dict):
        return isinstance(told, dict) and all(
            key in told and covers(told[key], value) for key, value in kept.items()
        )
    if isinstance(kept, list):
        return len(told) == len(kept) and all(map(covers, told, kept))
    return bool(told == kept)


def answered(path: Path, **options: Any) -> Any:
    return json.loads(json.dumps(formats.all_answers(path, **options)))


# ---------------------------------------------------------------- what was released


def test_there_are_files_of_every_format_so_far() -> None:
    for number in range(1, layout.FORMAT + 1):
        for name in (f"{number}", f"{number}-pruned"):
            assert (formats.FOLDER / f"{name}.db").exists()
            assert (formats.FOLDER / f"{name}.json").exists()
    assert len(FILES) == 2 * layout.FORMAT


def test_what_each_former_format_is_known_by_is_what_its_files_declare() -> None:
    assert sorted(migrations.FORMER) == list(range(1, layout.FORMAT))
    assert len(migrations.STEPS) == layout.FORMAT
    for file in FILES:
        with plain(file) as connection:
            (version,) = connection.execute("PRAGMA user_version").fetchone()
            assert int(file.stem.partition("-")[0]) == version
            if version < layout.FORMAT:
                assert shape.digest(shape.declared(connection)) == migrations.FORMER[version]


@each_file
def test_a_file_of_any_format_opens_is_sound_and_answers_as_it_did(
    file: Path, tmp_path: Path
) -> None:
    path = tmp_path / "memory.db"
    shutil.copy(file, path)
    kept = json.loads(file.with_suffix(".json").read_text("utf-8"))
    told = answered(path, create=False)
    for question, answer in kept.items():
        assert covers(told[question], answer), question
    assert found(path, revisions=None) == {}
    made = tmp_path / "made.db"
    with plain(made) as connection:
        connection.executescript(SCHEMA)
    assert declared(path) == declared(made)
    with tms.open(path, clock=lambda: formats.READ) as memory:
        assert memory.unretract("Policy:1").revived
        assert memory.verify(revisions=None)


@pytest.mark.parametrize("stem", [f"{layout.FORMAT}", f"{layout.FORMAT}-pruned"])
def test_the_story_is_still_told_as_it_was(stem: str, tmp_path: Path) -> None:
    list(formats.make(tmp_path))
    kept = json.loads((formats.FOLDER / f"{stem}.json").read_text("utf-8"))
    assert covers(json.loads((tmp_path / f"{stem}.json").read_text("utf-8")), kept)


@pytest.mark.parametrize("stem", [f"{layout.FORMAT}", f"{layout.FORMAT}-pruned"])
def test_a_file_that_is_only_read_answers_alike_and_stays_as_it_is(
    stem: str, tmp_path: Path
) -> None:
    path = tmp_path / "memory.db"
    shutil.copy(formats.FOLDER / f"{stem}.db", path)
    kept = json.loads((formats.FOLDER / f"{stem}.json").read_text("utf-8"))
    assert covers(answered(path, read_only=True), kept)
    assert path.read_bytes() == (formats.FOLDER / f"{stem}.db").read_bytes()


def test_a_file_that_was_made_is_not_made_again(tmp_path: Path) -> None:
    list(formats.make(tmp_path))
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    with pytest.raises(FileExistsError, match="kept for ever"):
        list(formats.make(tmp_path))
    for name in before:
        (tmp_path / name).unlink()
        with pytest.raises(FileExistsError):
            list(formats.make(tmp_path))
        (tmp_path / name).write_bytes(before[name])
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == before


# ---------------------------------------------------------------- the step to a next format


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """A file of the present format, which is about to be an old one."""
    path = tmp_path / "memory.db"
    with tms.open(path, clock=Clock()) as memory:
        fill(memory)
        memory.subscribe("mail").acknowledge(memory.head)
    return path


Install = Callable[..., None]


@pytest.fixture
def install(monkeypatch: pytest.MonkeyPatch) -> Install:
    def installed(*step: Any) -> None:
        for module, name, value in nextformat.changes(*step):
            monkeypatch.setattr(module, name, value)

    return installed


def told(path: Path, **options: Any) -> list[object]:
    with tms.open(path, **options) as memory:
        reports = [memory.report(commit.anchor).to_json() for commit in memory.log()]
        return [*reports, list(memory.holding()), memory.scan().to_json()]


def version(path: Path) -> int:
    with plain(path) as connection:
        return int(connection.execute("PRAGMA user_version").fetchone()[0])


VARIANTS: dict[str, tuple[str, ...]] = {
    "as it is": (),
    "with a rollback journal": ("PRAGMA journal_mode = DELETE",),
    "without the table of sqlite-utils": ("DROP TABLE _sqlite_migrations",),
    "without its cache": ("DROP TABLE cache_label", "DROP TABLE cache_off"),
    "analyzed": ("ANALYZE",),
}


@pytest.mark.parametrize("what", VARIANTS)
def test_an_old_file_is_brought_to_the_next_format(old: Path, install: Install, what: str) -> None:
    before = told(old)
    with plain(old) as connection:
        for statement in VARIANTS[what]:
            connection.execute(statement)
    install()
    assert told(old) == before
    assert version(old) == nextformat.NEXT
    made = old.with_name("made.db")
    tms.open(made).close()
    assert {row for row in declared(old) if "sqlite_stat" not in str(row[1])} == declared(made)
    with tms.open(old, clock=Clock()) as memory:
        assert memory.verify(revisions=None)
        assert memory.retract(["Feed:1", "Scan:1"]).died
        assert list(memory.subscribe("mail"))
        assert memory.verify(revisions=None)
    with plain(old) as connection:
        assert connection.execute("SELECT count(*) FROM notes").fetchone()[0] > 5


def test_a_new_file_is_of_the_next_format_at_once(tmp_path: Path, install: Install) -> None:
    install(nextformat.stopping(0, lambda: pytest.fail("there is nothing to be brought")))
    with tms.open(tmp_path / "memory.db") as memory:
        fill(memory)
        assert memory.verify(revisions=None)
    assert version(tmp_path / "memory.db") == nextformat.NEXT


def test_an_old_file_that_is_only_read_is_refused_until_it_was_opened_for_writing(
    old: Path, install: Install
) -> None:
    before = told(old)
    install()
    content = old.read_bytes()
    with pytest.raises(tms.ReadOnly, match=f"has format {nextformat.NEXT - 1}.*for writing"):
        tms.open(old, read_only=True)
    assert old.read_bytes() == content
    tms.open(old).close()
    assert told(old, read_only=True) == before


def test_the_next_format_is_too_new_for_this_code(
    old: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        for module, name, value in nextformat.changes():
            patch.setattr(module, name, value)
        tms.open(old).close()
    with pytest.raises(tms.SchemaTooNew):
        tms.open(old)


def test_a_handle_from_before_does_not_write_into_the_next_format(
    old: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with tms.open(old) as memory:
        with monkeypatch.context() as patch:
            for module, name, value in nextformat.changes():
                patch.setattr(module, name, value)
            tms.open(old).close()
        before = dump(old)
        with pytest.raises(tms.SchemaTooNew):
            memory.retract("Feed:1")
        with pytest.raises(tms.SchemaTooNew), memory.batch():
            memory.retract("Feed:1")
    assert dump(old) == before


# ---------------------------------------------------------------- a step that does not end

each_place = pytest.mark.parametrize("at", range(len(nextformat.STEP) + 1))


def boom() -> None:
    raise RuntimeError("stopped")


@each_place
def test_a_step_that_fails_leaves_the_old_file(
    old: Path, install: Install, monkeypatch: pytest.MonkeyPatch, at: int
) -> None:
    before, content = dump(old), told(old)
    with monkeypatch.context() as patch:
        for module, name, value in nextformat.changes(nextformat.stopping(at, boom)):
            patch.setattr(module, name, value)
        with pytest.raises(RuntimeError, match="stopped"):
            tms.open(old)
    assert dump(old) == before
    assert told(old) == content
    install()
    assert told(old) == content
    assert version(old) == nextformat.NEXT


KILLED = """
import sys
sys.path.insert(0, "tests")
import nextformat, tms
nextformat.install(nextformat.stopping(int(sys.argv[2]), getattr(nextformat, sys.argv[3])))
tms.open(sys.argv[1], timeout=30).close()
"""


def process(path: Path, at: int, what: str) -> subprocess.Popen:
    return subprocess.Popen(
        [sys.executable, "-c", KILLED, path, str(at), what],
        cwd=ROOT,
        stderr=subprocess.PIPE,
        text=True,
    )


@each_place
@pytest.mark.parametrize("mode", ["WAL", "DELETE"])
def test_a_process_that_is_killed_in_a_step_leaves_the_old_file(
    old: Path, install: Install, at: int, mode: str
) -> None:
    with plain(old) as connection:
        connection.execute(f"PRAGMA journal_mode = {mode}")
    before = dump(old)
    with process(old, at, "die") as killed:
        assert killed.communicate()[1] == ""
    assert killed.returncode == -9
    assert dump(old) == before
    content = told(old)
    install()
    assert told(old) == content
    assert version(old) == nextformat.NEXT


def test_of_two_processes_that_open_an_old_file_at_once_one_waits(
    old: Path, install: Install
) -> None:
    content = told(old)
    both = [process(old, 3, "dawdle") for _ in range(3)]
    assert [one.communicate()[1] for one in both] == ["", "", ""]
    install(nextformat.stopping(0, lambda: pytest.fail("it was done already")))
    assert told(old) == content
    with plain(old) as connection:
        rows = connection.execute("SELECT name FROM _sqlite_migrations").fetchall()
    assert sorted(rows) == [("m001_first_format",), ("m002_next",)]


# ---------------------------------------------------------------- a step that is not what it says


@pytest.mark.parametrize(
    ("statements", "message"),
    [
        (nextformat.STEP[:-1], "view notes"),
        ([*nextformat.STEP, "CREATE TABLE more (a)"], "table more"),
        ([*nextformat.STEP, "ALTER TABLE note RENAME TO remark"], "table note"),
        (
            [*nextformat.STEP, "INSERT INTO note VALUES (999, 999, 'of nobody')"],
            "cannot be brought",
        ),
        ([*nextformat.STEP, "SELECT * FROM nowhere"], "no such table"),
    ],
    ids=["too little", "too much", "another name", "of nobody", "in error"],
)
def test_a_step_that_does_not_lead_to_schema_sql_is_undone(
    old: Path, install: Install, statements: list[str], message: str
) -> None:
    def m002_next(database: Any) -> None:
        for statement in statements:
            database.conn.execute(statement)

    before = dump(old)
    install(m002_next)
    with pytest.raises(tms.CorruptStore, match=message):
        tms.open(old)
    assert dump(old) == before


def test_an_old_file_that_says_it_was_brought_there_already_is_left(
    old: Path, install: Install
) -> None:
    with plain(old) as connection:
        connection.execute(
            "INSERT INTO _sqlite_migrations (migration_set, name) VALUES ('tms', 'm002_next')"
        )
    before = dump(old)
    install()
    with pytest.raises(tms.CorruptStore, match=r"is not as schema\.sql has it"):
        tms.open(old)
    assert dump(old) == before


CRAFTED = {
    "a trigger": ("CREATE TRIGGER evil AFTER INSERT ON consumer BEGIN DELETE FROM cache_off; END",),
    "a trigger on the cache": (
        "CREATE TRIGGER evil AFTER DELETE ON cache_off BEGIN DELETE FROM consumer; END",
    ),
    "a guard that is gone": ("DROP TRIGGER node_update",),
    "a table too many": ("CREATE TABLE note (a)",),
    "a view in place of the cache": (
        "DROP TABLE cache_off",
        "CREATE VIEW cache_off AS SELECT 1 AS target",
    ),
    "two tables on the same pages": (
        "PRAGMA writable_schema = ON",
        "UPDATE sqlite_master SET rootpage = (SELECT rootpage FROM sqlite_master"
        " WHERE name = 'commits') WHERE name = 'cache_off'",
    ),
}


@each_door
@pytest.mark.parametrize("what", CRAFTED)
def test_an_old_file_that_was_crafted_is_refused_untouched(
    old: Path, install: Install, what: str, read_only: bool
) -> None:
    with closing(sqlite3.connect(old)) as connection:
        for statement in CRAFTED[what]:
            connection.execute(statement)
        connection.commit()
    before = old.read_bytes()
    install(nextformat.stopping(0, lambda: pytest.fail("it runs")))
    with pytest.raises(tms.CorruptStore, match=f"no file of format {nextformat.NEXT - 1}"):
        tms.open(old, read_only=read_only)
    assert old.read_bytes() == before
