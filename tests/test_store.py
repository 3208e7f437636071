import os
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path
from typing import Any, Literal

import pytest
from making import ROOT, SCHEMA, fill, plain

import tms

APPLICATION_ID = 0x544D5331


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memory.db"


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[sqlite3.Connection]:
    """The SQLite connections that were opened since."""
    connections: list[sqlite3.Connection] = []
    connect = sqlite3.connect

    def remembered(*args: object, **kwargs: object) -> sqlite3.Connection:
        connections.append(connect(*args, **kwargs))
        return connections[-1]

    monkeypatch.setattr(sqlite3, "connect", remembered)
    return connections


def header(path: Path, place: int) -> int:
    return int.from_bytes(path.read_bytes()[place : place + 4], "big", signed=True)


# ---------------------------------------------------------------- a path without a file


@pytest.mark.parametrize("options", [{"create": False}, {"read_only": True}], ids=str)
def test_a_mistyped_path_is_told_and_nothing_is_made(path: Path, options: dict) -> None:
    with pytest.raises(tms.NoSuchFile, match="no memory at") as caught:
        tms.open(path, **options)
    assert caught.value.ids == (str(path),)
    assert isinstance(caught.value, FileNotFoundError)
    assert list(path.parent.iterdir()) == []


@pytest.mark.parametrize("options", [{"create": False}, {"read_only": True}], ids=str)
def test_an_empty_file_is_no_memory_unless_one_may_be_made(path: Path, options: dict) -> None:
    path.touch()
    with pytest.raises(tms.NoSuchFile):
        tms.open(path, **options)
    assert [(file.name, file.stat().st_size) for file in path.parent.iterdir()] == [(path.name, 0)]


def test_an_empty_file_becomes_a_memory(path: Path) -> None:
    path.touch()
    with tms.open(path) as memory:
        memory.source("Feed:1")
    with tms.open(path, create=False) as memory:
        assert memory.believes("Feed:1")


def test_a_folder_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(tms.NoSuchFile, match=r"no folder .*nowhere"):
        tms.open(tmp_path / "nowhere" / "memory.db")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "name",
    [
        "with space.db",
        "gedächtnis 记忆 🧠.db",
        "what?mode=ro.db",
        "a#b.db",
        "100%.db",
        "%41.db",
        "a&b=c;d.db",
        "'quoted\".db",
        "file:memory.db",
        "new\nline.db",
    ],
)
def test_a_memory_lies_at_exactly_the_path_that_was_given(tmp_path: Path, name: str) -> None:
    with tms.open(tmp_path / name) as memory:
        memory.source("Feed:1")
    assert [file.name for file in tmp_path.iterdir()] == [name]
    with tms.open(os.fspath(tmp_path / name), create=False, read_only=True) as memory:
        assert memory.believes("Feed:1")


def test_a_path_may_be_relative_text_bytes_or_a_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Place:
        def __fspath__(self) -> bytes:
            return b"here.db"

    monkeypatch.chdir(tmp_path)
    for place in ("here.db", b"here.db", Path("here.db"), Place()):
        with tms.open(place) as memory:
            memory.source("Feed:1")
            assert memory.stats().sources == 1
    assert [file.name for file in tmp_path.iterdir()] == ["here.db"]


def test_a_path_that_is_no_unicode_text_is_kept_byte_for_byte(tmp_path: Path) -> None:
    name = os.fsencode(tmp_path) + b"/\xff\xfe.db"
    for place in (name, os.fsdecode(name)):
        with tms.open(place) as memory:
            memory.source("Feed:1")
    assert os.listdir(os.fsencode(tmp_path)) == [b"\xff\xfe.db"]


@pytest.mark.parametrize("place", ["", "a\0b", b"a\0b"])
def test_what_can_be_no_path_is_refused(place: str | bytes) -> None:
    with pytest.raises(tms.NotATMSFile, match="not a path"):
        tms.open(place)


def test_a_memory_in_memory_is_gone_when_it_is_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with tms.open(":memory:") as memory:
        fill(memory)
        assert memory.verify(revisions=None)
    with tms.open(":memory:") as memory:
        assert memory.head is None
    assert list(tmp_path.iterdir()) == []


# ---------------------------------------------------------------- files of others


def _sqlite_file(path: Path) -> None:
    with plain(path) as connection:
        connection.execute("CREATE TABLE other (a)")


def _sqlite_file_in_wal_mode(path: Path) -> None:
    with plain(path) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("CREATE TABLE other (a)")


def _other_application(path: Path) -> None:
    with plain(path) as connection:
        connection.executescript(SCHEMA)
        connection.execute("PRAGMA application_id = 252006673")


def _our_number_on_other_tables(path: Path) -> None:
    with plain(path) as connection:
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute("CREATE TABLE other (a)")


def _text(path: Path) -> None:
    path.write_text("SQLite format 3\n" * 100)


def _short_text(path: Path) -> None:
    path.write_text("hello")


def _magic_alone(path: Path) -> None:
    path.write_bytes(b"SQLite format 3\x00")


def _cut_in_its_header(path: Path) -> None:
    with tms.open(path) as memory:
        fill(memory)
    path.write_bytes(path.read_bytes()[:70])


FOREIGN = [
    _sqlite_file,
    _sqlite_file_in_wal_mode,
    _other_application,
    _our_number_on_other_tables,
    _text,
    _short_text,
    _magic_alone,
    _cut_in_its_header,
]
each_foreign = pytest.mark.parametrize(
    "make", FOREIGN, ids=[make.__name__.strip("_") for make in FOREIGN]
)


@each_foreign
@pytest.mark.parametrize("read_only", [False, True])
def test_a_file_that_is_not_ours_is_refused_untouched(path: Path, make, read_only: bool) -> None:
    make(path)
    before = path.read_bytes(), path.stat().st_mtime_ns
    with pytest.raises((tms.NotATMSFile, tms.ReadOnly) if read_only else tms.NotATMSFile) as caught:
        tms.open(path, read_only=read_only)
    assert str(path) in str(caught.value)
    assert (path.read_bytes(), path.stat().st_mtime_ns) == before
    assert [file.name for file in path.parent.iterdir()] == [path.name]


@pytest.mark.parametrize("size", [100, 1000, 4096, 8192, 20000])
def test_a_file_of_ours_that_was_cut_short_is_refused_untouched(path: Path, size: int) -> None:
    with tms.open(path) as memory:
        fill(memory)
    path.write_bytes(path.read_bytes()[:size])
    before = path.read_bytes()
    with pytest.raises(tms.CorruptStore, match="a copy from before"):
        tms.open(path)
    assert path.read_bytes() == before
    assert [file.name for file in path.parent.iterdir()] == [path.name]


@pytest.mark.parametrize("read_only", [False, True])
def test_a_folder_is_no_memory(tmp_path: Path, read_only: bool) -> None:
    with pytest.raises(tms.NotATMSFile, match="directory"):
        tms.open(tmp_path, read_only=read_only)
    assert list(tmp_path.iterdir()) == []


def test_a_device_and_a_pipe_are_no_memories(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for place in (tmp_path / "pipe", "/dev/null", "/dev/zero"):
        with pytest.raises(tms.NotATMSFile):
            tms.open(place)


def test_a_path_below_a_file_is_no_memory(path: Path) -> None:
    path.write_text("a file")
    with pytest.raises(tms.NotATMSFile, match="cannot read"):
        tms.open(path / "memory.db")


@pytest.mark.parametrize("read_only", [False, True])
def test_a_newer_format_is_refused_untouched(path: Path, read_only: bool) -> None:
    with tms.open(path) as memory:
        fill(memory)
    with plain(path) as connection:
        connection.execute("PRAGMA user_version = 2")
    before = path.read_bytes()
    with pytest.raises(tms.SchemaTooNew, match="format 2; this tms knows up to 1") as caught:
        tms.open(path, read_only=read_only)
    assert "Upgrade" in caught.value.hint
    assert path.read_bytes() == before
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_a_newer_format_with_a_log_beside_it_is_refused_untouched(path: Path) -> None:
    with tms.open(path) as memory:
        fill(memory)
    with plain(path) as connection:
        connection.execute("PRAGMA user_version = 2")
    left = path.with_name("left.db")
    with closing(sqlite3.connect(path)) as writer:
        writer.execute("INSERT INTO consumer VALUES ('', 'in the log', 1)")
        writer.commit()
        for suffix in ("", "-wal"):
            Path(f"{left}{suffix}").write_bytes(Path(f"{path}{suffix}").read_bytes())
    before = {file.name: file.read_bytes() for file in path.parent.glob("left*")}
    with pytest.raises(tms.SchemaTooNew):
        tms.open(left)
    assert {file.name: file.read_bytes() for file in path.parent.glob("left*")} == before


# ---------------------------------------------------------------- how a file is opened


def test_a_new_file_says_at_once_whose_it_is(path: Path) -> None:
    with tms.open(path):
        assert header(path, 68) == APPLICATION_ID
        assert header(path, 60) == 1


def test_a_connection_has_the_pragmas_that_the_promises_need(
    path: Path, opened: list[sqlite3.Connection]
) -> None:
    with tms.open(path, timeout=7.5):
        pragmas = {
            name: opened[-1].execute(f"PRAGMA {name}").fetchone()[0]
            for name in (
                "journal_mode",
                "foreign_keys",
                "synchronous",
                "recursive_triggers",
                "trusted_schema",
                "busy_timeout",
            )
        }
    assert pragmas == {
        "journal_mode": "wal",
        "foreign_keys": 1,
        "synchronous": 1,
        "recursive_triggers": 1,
        "trusted_schema": 0,
        "busy_timeout": 7500,
    }


@pytest.mark.parametrize(("name", "number"), [("normal", 1), ("full", 2)])
def test_whoever_wants_each_commit_on_disk_says_so(
    path: Path, opened: list[sqlite3.Connection], name: Literal["normal", "full"], number: int
) -> None:
    for _ in range(2):  # the setting is of the handle, not of the file
        with tms.open(path, synchronous=name) as memory:
            memory.source("S:1")
            assert opened[-1].execute("PRAGMA synchronous").fetchone() == (number,)
            assert dict(memory.doctor().settings)["synchronous"] == str(number)
    with tms.open(path):
        assert opened[-1].execute("PRAGMA synchronous").fetchone() == (1,)


@pytest.mark.parametrize("given", ["FULL", "off", "", None, 2, True, ["full"]])
def test_another_promise_about_the_disk_is_refused(path: Path, given: Any) -> None:
    with pytest.raises(tms.InvalidArgument, match="synchronous"):
        tms.open(path, synchronous=given)
    assert not path.exists()


@pytest.mark.parametrize("timeout", [1e6, 1e12, float("inf")])
def test_a_very_long_wait_is_still_a_wait(
    path: Path, opened: list[sqlite3.Connection], timeout: float
) -> None:
    with tms.open(path, timeout=timeout):
        assert opened[-1].execute("PRAGMA busy_timeout").fetchone()[0] > 24 * 60 * 60 * 1000 * 10


@pytest.mark.parametrize("timeout", [-1, float("nan"), "5", None, True, 10**400])
def test_a_wait_that_is_none_is_refused(path: Path, timeout: object) -> None:
    with pytest.raises(tms.InvalidArgument, match="timeout"):
        tms.open(path, timeout=timeout)
    assert list(path.parent.iterdir()) == []


def test_a_clock_that_cannot_be_called_is_refused(path: Path) -> None:
    with pytest.raises(tms.InvalidArgument, match="clock"):
        tms.open(path, clock=12)
    assert list(path.parent.iterdir()) == []


def test_the_last_to_close_leaves_one_plain_file(path: Path) -> None:
    with tms.open(path) as memory:
        fill(memory)
        with tms.open(path) as other:
            other.source("Feed:2")
    assert [file.name for file in path.parent.iterdir()] == [path.name]


@pytest.mark.parametrize("statement", ["BEGIN IMMEDIATE", "BEGIN EXCLUSIVE"])
def test_a_file_without_a_log_is_opened_once_its_writer_is_done(path: Path, statement: str) -> None:
    with tms.open(path) as memory:
        fill(memory)
    with closing(sqlite3.connect(path, isolation_level=None, check_same_thread=False)) as writer:
        writer.execute("PRAGMA journal_mode = DELETE")
        writer.execute(statement)
        with pytest.raises(tms.Busy):
            tms.open(path, timeout=0.05)
        done = threading.Timer(0.2, writer.execute, ("COMMIT",))
        done.start()
        with tms.open(path, timeout=10) as memory:
            assert memory.verify()
        done.join()


_CREATE = """
import sys, tms
sys.stdin.readline()
with tms.open(sys.argv[1], timeout=30) as memory:
    memory.source("Feed:" + sys.argv[2])
"""


def python(script: str, *args: object) -> subprocess.Popen:
    return subprocess.Popen(
        [sys.executable, "-c", script, *map(str, args)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_two_processes_that_make_the_same_file_at_once_share_it(tmp_path: Path) -> None:
    paths = [tmp_path / f"{number}.db" for number in range(3)]
    both = [[python(_CREATE, path, name) for name in ("a", "b")] for path in paths]
    for pair in both:
        for process in pair:
            process.stdin.write("go\n")
            process.stdin.flush()
        assert [process.communicate()[1] for process in pair] == ["", ""]
    for path in paths:
        with tms.open(path, create=False) as memory:
            assert [str(node.ref) for node in memory.scan().items] == ["Feed:a", "Feed:b"]
            assert memory.verify(revisions=None)
