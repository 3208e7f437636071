"""Paths that are odd, or lead elsewhere: no other file is read or written than the one named."""

import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner
from making import Clock, fill, plain
from shell import process, run

import tms
from tms.cli import main


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def path(folder: Path) -> Path:
    path = folder / "memory.db"
    with tms.open(path, clock=Clock()) as memory:
        fill(memory)
    return path


def there() -> dict[str, bytes | None]:
    return {
        name: Path(name).read_bytes() if Path(name).is_file() else None for name in os.listdir()
    }


NO_PATH = {
    "nothing": "",
    "a NUL": "a\0b",
    "a lone surrogate": "a\ud800b",
    "this folder": ".",
    "the folder above": "..",
    "a folder by its end": "new/",
    "this folder by its end": "new/.",
    "memory with a blank": ":memory: ",
    "memory with a line": "\n:memory:",
    "memory in capitals": ":MEMORY:",
    "a log": "other.db-wal",
    "an index of a log": "other.db-shm",
    "a journal": "other.db-journal",
    "a name that leaves no room for a journal": "n" * 248,
    "a name that is too long": "n" * 300,
    "a path that is too long": "/".join(["f" * 100] * 6),
}
LITERAL = [
    "-x.db",
    "--db",
    "~",
    "~root.db",
    " ",
    "memory.db ",
    "memory.db\n",
    "\t",
    "file:memory.db",
    "file:memory.db?mode=ro",
    "file::memory:?cache=shared",
    "memory.db?mode=ro&immutable=1",
    "memory.db#fragment",
    "%2e%2e%2fmemory.db",
    "$HOME",
    "*",
    ":memory:.db",
    "memory.db-wal2",
    "wal",
    "-wal.db",
    "n" * 247,
    "é" * 123,
]


@pytest.mark.parametrize("what", NO_PATH)
def test_what_can_be_no_path_of_a_memory_is_refused_everywhere(path: Path, what: str) -> None:
    name, before = NO_PATH[what], there()
    for options in ({}, {"read_only": True}, {"create": False}):
        with pytest.raises(tms.NotATMSFile):
            tms.open(name, **options)
    with tms.open(path, read_only=True) as memory:
        with pytest.raises(tms.InvalidArgument):
            memory.backup(name)
        with pytest.raises(tms.InvalidArgument):
            memory.prune(before=memory.head, path=name)
    result = run(name, "source", "Feed:1")
    assert (result.exit_code, result.stderr[:23]) == (2, "error[not-a-tms-file]: ")
    for verb in (["backup", name], ["prune", tms.Anchor(memory_head(path)), "--into", name]):
        result = run(path, *verb)
        assert (result.exit_code, result.stderr[:25]) == (2, "error[invalid-argument]: ")
    assert {name: there()[name] for name in before} == before
    assert there().keys() - before.keys() <= {"memory.db-wal", "memory.db-shm"}


def memory_head(path: Path) -> str:
    with tms.open(path, read_only=True) as memory:
        return str(memory.head)


@pytest.mark.parametrize("name", LITERAL)
def test_a_name_is_taken_as_it_is(name: str) -> None:
    with tms.open(name) as memory:
        memory.source("Feed:1")
    assert os.listdir() == [name]
    assert run(name, "show", "Feed:1").exit_code == 0
    assert run(name, "retract", "Feed:1").exit_code == 0
    assert os.listdir() == [name]


@pytest.mark.parametrize("name", LITERAL)
def test_a_copy_is_made_under_the_name_as_it_is(name: str) -> None:
    with tms.open(":memory:") as memory:
        memory.source("Feed:1")
        memory.backup(name)
        assert os.listdir() == [name]
        os.unlink(name)
        memory.prune(before=memory.head, path=name)
    assert os.listdir() == [name]
    with tms.open(name) as memory:
        assert memory.believes("Feed:1")


def test_the_command_takes_bytes_that_are_no_text_as_they_are() -> None:
    here = os.getcwdb()
    copy = here + b"/\xfe.db"
    for verb in ([b"source", b"Feed:1"], [b"backup", copy], [b"doctor", b"--json"]):
        ran = process(b"--db", here + b"/\xff.db", *verb)
        assert (ran.returncode, ran.stderr) == (0, b""), ran.stderr
    ran = process(b"--db", here + b"/\xfd.db", b"doctor", b"--json")
    assert ran.returncode == 3
    assert b"Traceback" not in ran.stderr
    found = {name for name in os.listdir(b".") if not name.endswith((b"-wal", b"-shm"))}
    assert found == {b"\xff.db", b"\xfe.db"}


@pytest.mark.parametrize("given", ["", "new/", ":memory: "])
def test_the_environment_names_a_file_by_the_same_rules(given: str) -> None:
    result = CliRunner().invoke(main, ["source", "Feed:1"], env={"TMS_DB": given})
    if given:
        assert result.stderr.startswith("error[not-a-tms-file]: ")
        assert os.listdir() == []
    else:
        assert os.listdir() == ["memory.db"]


# ---------------------------------------------------------------- links


def test_a_link_to_nothing_makes_nothing() -> None:
    os.symlink("elsewhere.db", "link.db")
    for options in ({}, {"read_only": True}):
        with pytest.raises(tms.NoSuchFile, match=r"link to .*elsewhere\.db"):
            tms.open("link.db", **options)
    assert os.listdir() == ["link.db"]


def test_a_ring_of_links_is_told() -> None:
    os.symlink("one", "two")
    os.symlink("two", "one")
    with pytest.raises(tms.NotATMSFile, match="cannot read"):
        tms.open("one")


def _linked(path: Path) -> Iterator[str]:
    os.symlink(path, "link.db")
    os.symlink("link.db", "link-of-link.db")
    os.mkdir("deep")
    os.symlink("..", "deep/up")
    yield from ("memory.db", "./memory.db", "link.db", "link-of-link.db", "deep/up/memory.db")
    yield f"deep/../{path.name}"
    yield str(path)


def test_two_names_by_symbolic_links_or_folders_are_one_file(path: Path) -> None:
    names = list(_linked(path))
    handles = [tms.open(name) for name in names]
    for number in range(3):
        for place, memory in enumerate(handles):
            memory.source(f"S:{number}:{place}")
    heads = {memory.head for memory in handles}
    assert len(heads) == 1
    for memory in handles:
        assert memory.doctor().log > 0
        memory.close()
    with tms.open(path) as memory:
        assert len([node for node in memory.scan().items if node.ref.kind == "S"]) == 21
        assert memory.verify(revisions=None)
    assert sorted(os.listdir()) == ["deep", "link-of-link.db", "link.db", "memory.db"]


def test_two_names_by_hard_links_would_lose_commits(path: Path) -> None:
    """The reason for what the next test demands: SQLite alone does not notice."""
    os.link(path, "other.db")
    script = (
        "import sqlite3; connection = sqlite3.connect('other.db');"
        "connection.execute('INSERT INTO setting VALUES (?, 1)', ('strict',));"
        "connection.commit(); connection.close()"
    )
    with closing(sqlite3.connect(path)) as one:
        one.execute("INSERT INTO consumer VALUES ('', 'one', 0)")
        one.commit()
        subprocess.run([sys.executable, "-c", script], check=True)
    with plain(path) as connection:
        assert connection.execute("SELECT name FROM consumer").fetchall() == [("one",)]
        assert connection.execute("SELECT name FROM setting").fetchall() == []


@pytest.mark.parametrize("options", [{}, {"read_only": True}, {"create": False}], ids=str)
def test_a_file_with_a_second_name_is_refused_until_it_is_gone(path: Path, options: dict) -> None:
    os.link(path, "other.db")
    before = there()
    for name in ("memory.db", "other.db"):
        with pytest.raises(tms.Misuse, match="2 names") as caught:
            tms.open(name, **options)
        assert caught.value.ids == (name,)
    assert there() == before
    os.unlink("other.db")
    with tms.open(path, **options) as memory:
        assert memory.verify()


def test_an_empty_file_with_a_second_name_does_not_become_a_memory() -> None:
    Path("one").touch()
    os.link("one", "two")
    with pytest.raises(tms.Misuse, match="2 names"):
        tms.open("one")
    assert there() == {"one": b"", "two": b""}


def test_a_copy_has_one_name_as_soon_as_it_has_its_own(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []
    fsync = os.fsync

    def watched(handle: int) -> None:
        if Path("copy.db").exists():
            with tms.open("copy.db", read_only=True) as copy:
                seen.append(copy.head)
        fsync(handle)

    monkeypatch.setattr(os, "fsync", watched)
    with tms.open(path) as memory:
        memory.backup("copy.db")
        assert seen == [memory.head]


# ---------------------------------------------------------------- what stands beside

ENDS = ("-wal", "-shm", "-journal")
each_end = pytest.mark.parametrize("end", ENDS)


@each_end
def test_what_stands_beside_a_name_is_not_lost_to_a_new_memory(end: str) -> None:
    Path(f"notes{end}").write_text("mine")
    before = there()
    with pytest.raises(tms.ContentConflict, match=f"no memory at notes, but .*notes{end}"):
        tms.open("notes")
    with tms.open(":memory:") as memory:
        memory.source("Feed:1")
        with pytest.raises(tms.ContentConflict):
            memory.backup("notes")
        with pytest.raises(tms.ContentConflict):
            memory.prune(before=memory.head, path="notes")
    assert there() == before


def test_the_log_of_a_memory_that_was_removed_is_not_lost(path: Path) -> None:
    with tms.open(path) as memory:
        memory.source("Late:1")
        shutil.copy("memory.db-wal", "log")
        shutil.copy("memory.db", "file")
    os.unlink("memory.db")
    os.rename("log", "memory.db-wal")
    with pytest.raises(tms.ContentConflict, match="last commits"):
        tms.open(path)
    os.rename("file", "memory.db")
    with tms.open(path) as memory:
        assert memory.believes("Late:1")


@each_end
@pytest.mark.parametrize("read_only", [False, True])
@pytest.mark.parametrize("make", [os.mkdir, os.mkfifo, lambda name: os.symlink("precious", name)])
def test_what_is_no_file_beside_a_memory_is_not_written_through(
    path: Path, end: str, read_only: bool, make: Callable[[str], None]
) -> None:
    Path("precious").write_text("precious")
    make(f"memory.db{end}")
    before = there()
    with pytest.raises(tms.NotATMSFile, match=f"memory.db{end} is no file"):
        tms.open(path, read_only=read_only)
    assert there() == before


def test_a_log_with_a_second_name_is_not_written(path: Path) -> None:
    Path("precious").write_text("precious")
    os.link("precious", "memory.db-wal")
    before = there()
    with pytest.raises(tms.Misuse, match=r"memory\.db-wal has 2 names"):
        tms.open(path)
    assert there() == before


def test_the_log_of_another_memory_is_no_memory(path: Path) -> None:
    with tms.open(path) as memory:
        memory.source("Late:1")
        shutil.copy("memory.db-wal", "log.db")
        for name in ("memory.db-wal", "memory.db-shm", "log.db"):
            for read_only in (False, True):
                with pytest.raises(tms.NotATMSFile):
                    tms.open(name, read_only=read_only)
        for name in ("memory.db", "memory.db-wal", "memory.db-shm", "memory.db-journal"):
            with pytest.raises((tms.ContentConflict, tms.InvalidArgument)):
                memory.backup(name)
            with pytest.raises((tms.ContentConflict, tms.InvalidArgument)):
                memory.prune(before=memory.head, path=name)
        assert memory.verify()


def test_a_memory_goes_on_when_the_process_goes_elsewhere(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.mkdir("elsewhere")
    with tms.open("memory.db") as memory:
        monkeypatch.chdir("elsewhere")
        memory.source("Late:1")
        assert memory.doctor().log > 0
        memory.redact("Feed:1")
    assert os.listdir() == []
    with plain(path) as connection:
        assert connection.execute("SELECT count(*) FROM redaction").fetchone() == (1,)


# ---------------------------------------------------------------- moved while it is open


def renamed(path: Path) -> None:
    path.rename("moved.db")


def removed(path: Path) -> None:
    path.unlink()


def replaced(path: Path) -> None:
    shutil.copy(path, "copy.db")
    os.replace("copy.db", path)


def folder_renamed(path: Path) -> None:
    path.parent.rename(path.parent.with_name(f"{path.parent.name}-elsewhere"))


MOVED = {
    "renamed": renamed,
    "removed": removed,
    "replaced": replaced,
    "its folder renamed": folder_renamed,
}
WRITES: dict[str, Callable[[tms.Memory], object]] = {
    "source": lambda memory: memory.source("New:1"),
    "retract": lambda memory: memory.retract("Scan:1"),
    "redact": lambda memory: memory.redact("Feed:1"),
    "rebuild": lambda memory: memory.rebuild(),
    "require_scope": lambda memory: memory.require_scope(),
}


def refuses_to_write(memory: tms.Memory, write: Callable[[tms.Memory], object]) -> None:
    head = memory.head
    with pytest.raises(tms.StoreFailed, match="was moved, removed or replaced") as caught:
        write(memory)
    assert "nothing was written" in caught.value.hint
    assert memory.head == head
    assert memory.believes("Flag:14")  # reading goes on
    assert memory.get("Feed:1").content == {"rows": 2}


@pytest.mark.parametrize("how", MOVED)
@pytest.mark.parametrize("write", WRITES)
def test_a_file_that_was_moved_while_it_is_open_takes_no_more_commits(
    path: Path, how: str, write: str
) -> None:
    with tms.open(path, clock=Clock()) as memory:
        memory.unretract("Feed:1")
        MOVED[how](path)
        refuses_to_write(memory, WRITES[write])


def test_a_link_that_leads_elsewhere_by_now_takes_no_more_commits(path: Path) -> None:
    path.rename("first.db")
    os.symlink("first.db", "link.db")
    shutil.copy("first.db", "second.db")
    with tms.open("link.db", clock=Clock()) as memory:
        os.symlink("second.db", "new.db")
        os.replace("new.db", "link.db")
        refuses_to_write(memory, WRITES["source"])
        os.symlink("first.db", "new.db")
        os.replace("new.db", "link.db")
        assert memory.source("New:1")  # it leads back


def test_a_file_that_is_moved_before_the_scrub_leaves_another_file_alone(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with tms.open(path, clock=Clock()) as memory:
        scrub = tms.verbs.scrub

        def moved(connection: object) -> None:
            os.rename(path, "moved.db")
            Path(path).write_bytes(b"of somebody else")
            scrub(connection)

        monkeypatch.setattr(tms.verbs, "scrub", moved)
        with pytest.raises(tms.StoreFailed, match="was moved") as caught:
            memory.redact("Feed:1")
        assert "It is redacted" in caught.value.hint
    assert path.read_bytes() == b"of somebody else"


def test_a_path_through_a_link_and_back_leads_where_the_system_says(path: Path) -> None:
    os.makedirs("one/two")
    os.symlink("one/two", "link")
    with tms.open("link/../there.db", clock=Clock()) as memory:
        assert memory.source("New:1")
    assert os.path.exists("one/there.db")


def test_a_relative_path_is_of_the_folder_in_which_it_was_opened(path: Path) -> None:
    with tms.open(path.name, clock=Clock()) as memory:
        os.mkdir("elsewhere")
        os.chdir("elsewhere")
        assert memory.source("New:1")


_KILLED = """
import os, sqlite3, sys
sql = sqlite3.connect(sys.argv[1], isolation_level=None)
sql.execute("PRAGMA journal_mode = DELETE")
sql.execute("PRAGMA cache_size = 1")
sql.execute("BEGIN IMMEDIATE")
sql.execute("CREATE TABLE wide (text)")
sql.executemany("INSERT INTO wide VALUES (?)", [("x" * 5000,)] * 500)
os._exit(0)
"""


def test_a_half_written_commit_that_may_not_be_undone_is_told(path: Path) -> None:
    subprocess.run([sys.executable, "-c", _KILLED, str(path)], check=True)
    assert os.path.getsize(f"{path}-journal")
    with pytest.raises(tms.ReadOnly, match="half-written commit") as caught:
        tms.open(path, read_only=True)
    assert "permissions" not in caught.value.hint
    with tms.open(path) as memory:
        assert memory.verify()
    with tms.open(path, read_only=True) as memory:
        assert memory.believes("Flag:14")


def test_a_file_that_may_not_be_read_is_told_as_such(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("builtins.open", refuse)  # the tests may run as root, whom nothing stops
    with pytest.raises(tms.NotATMSFile, match="Permission denied") as caught:
        tms.open(path)
    assert "permissions" in caught.value.hint
