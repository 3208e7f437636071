"""A memory that is only read: its file stays byte for byte as it is, wherever it lies."""

import hashlib
import os
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from making import NOON, Clock, fill, plain

import tms

ASKED: dict[str, Callable[[tms.Memory, Path], object]] = {
    "anchor_at": lambda memory, _: memory.anchor_at(NOON.replace(year=2030)),
    "as_of": lambda memory, _: list(memory.as_of(recorded=memory.head, valid=NOON).holding()),
    "backup": lambda memory, folder: memory.backup(folder / "copy.db"),
    "believed_during": lambda memory, _: memory.believed_during("Flag:14"),
    "believes": lambda memory, _: memory.believes("Flag:14"),
    "changes": lambda memory, _: list(memory.changes()),
    "critical": lambda memory, _: memory.critical(),
    "cuts": lambda memory, _: list(memory.cuts("Flag:14")),
    "diff": lambda memory, _: memory.diff(next(iter(memory.log())).anchor, memory.head),
    "digest": lambda memory, _: memory.digest(),
    "doctor": lambda memory, _: memory.doctor(),
    "environments": lambda memory, _: list(memory.environments("Flag:14")),
    "export": lambda memory, _: list(memory.export()),
    "get": lambda memory, _: memory.get("Flag:14"),
    "head": lambda memory, _: memory.head,
    "history": lambda memory, _: list(memory.history("Flag:14")),
    "history_page": lambda memory, _: memory.history_page("Flag:14"),
    "holding": lambda memory, _: list(memory.holding()),
    "impact": lambda memory, _: memory.impact("Feed:1"),
    "log": lambda memory, _: list(memory.log()),
    "log_page": lambda memory, _: memory.log_page(),
    "neighbourhood": lambda memory, _: memory.neighbourhood("Flag:14"),
    "on_commit": lambda memory, _: memory.on_commit(print),
    "origins": lambda memory, _: memory.origins("Flag:14"),
    "periods": lambda memory, _: memory.periods("Flag:14"),
    "prune": lambda memory, folder: memory.prune(before=memory.head, path=folder / "pruned.db"),
    "report": lambda memory, _: memory.report(memory.head),
    "report_page": lambda memory, _: memory.report_page(memory.head),
    "scan": lambda memory, _: memory.scan(),
    "scope": lambda memory, _: memory.scope,
    "stats": lambda memory, _: memory.stats(),
    "status": lambda memory, _: memory.status("Flag:14"),
    "subscriptions": lambda memory, _: memory.subscriptions(),
    "subscribe": lambda memory, _: list(memory.subscribe("mail")),
    "verify": lambda memory, _: memory.verify(revisions=None),
    "what_if": lambda memory, _: memory.what_if(retract="Feed:1"),
    "why": lambda memory, _: memory.why("Flag:14"),
    "why_not": lambda memory, _: memory.why_not("Flag:22"),
    "close": lambda memory, _: memory.close(),
}
"""All that may be asked of a memory that is only read."""

WRITES: dict[str, Callable[[tms.Memory], object]] = {
    "axiom": lambda memory: memory.axiom("Flag:14"),
    "batch": lambda memory: memory.batch().__enter__(),
    "fact": lambda memory: memory.fact("Flag:99"),
    "import_": lambda memory: memory.import_(list(memory.export())),
    "justify": lambda memory: memory.justify("Flag:99", "Feed:1"),
    "load": lambda memory: memory.load([{"fact": "Flag:99"}]),
    "mend": lambda memory: memory.mend(),
    "rebuild": lambda memory: memory.rebuild(),
    "redact": lambda memory: memory.redact("Feed:1"),
    "require_scope": lambda memory: memory.require_scope(),
    "retract": lambda memory: memory.retract("Feed:1"),
    "revise": lambda memory: memory.revise("Feed:1", content={}),
    "settle": lambda memory: memory.settle(),
    "source": lambda memory: memory.source("Feed:99"),
    "unretract": lambda memory: memory.unretract("Flag:22"),
}
"""All that is refused."""


def clean(path: Path) -> None:
    with tms.open(path, clock=Clock()) as memory:
        fill(memory)


def logged(path: Path) -> None:
    """Its last commits stand in its log alone, as after a crash."""
    made = path.with_name("made.db")
    with tms.open(made, clock=Clock()) as memory:
        fill(memory)
        for end in ("", "-wal"):
            shutil.copy(f"{made}{end}", f"{path}{end}")
    made.unlink()


def without_cache(path: Path) -> None:
    clean(path)
    with plain(path) as connection:
        connection.execute("DROP TABLE cache_label")
        connection.execute("DELETE FROM cache_off")


def with_a_rollback_journal(path: Path) -> None:
    clean(path)
    with plain(path) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")


MADE = (clean, logged, without_cache, with_a_rollback_journal)
each_made = pytest.mark.parametrize("make", MADE, ids=[make.__name__ for make in MADE])


def hashes(path: Path) -> dict[str, str]:
    """The file, and its log where something is in it."""
    files = [path, *(file for file in [Path(f"{path}-wal")] if file.exists())]
    return {
        file.name: hashlib.sha256(file.read_bytes()).hexdigest()
        for file in files
        if file.stat().st_size
    }


def test_all_that_a_memory_does_is_asked_here() -> None:
    public = {name for name in dir(tms.Memory) if not name.startswith("_")}
    assert public == ASKED.keys() | WRITES.keys()


@each_made
def test_a_file_that_is_only_read_stays_byte_for_byte(
    tmp_path: Path, make: Callable[[Path], None]
) -> None:
    path = tmp_path / "folder" / "memory.db"
    path.parent.mkdir()
    make(path)
    before, stamp = hashes(path), path.stat().st_mtime_ns
    assert len(before) == (2 if make is logged else 1)
    with tms.open(path, read_only=True) as memory:
        for ask in ASKED.values():
            ask(memory, tmp_path)
            assert hashes(path) == before
    assert hashes(path) == before
    assert path.stat().st_mtime_ns == stamp
    beside = {f"memory.db{end}" for end in ("", "-wal", "-shm")}
    assert {file.name for file in path.parent.iterdir()} <= beside
    with tms.open(path) as memory:  # and what is left beside it goes with the next to write
        assert memory.verify(revisions=None)
    assert os.listdir(path.parent) == ["memory.db"]


@each_made
@pytest.mark.parametrize("verb", WRITES)
def test_whatever_writes_is_refused_and_changes_nothing(
    tmp_path: Path, make: Callable[[Path], None], verb: str
) -> None:
    path = tmp_path / "memory.db"
    make(path)
    before = hashes(path)
    with tms.open(path, read_only=True) as memory:
        if verb == "mend" and make is not without_cache:
            WRITES[verb](memory)  # there is nothing to mend
        else:
            with pytest.raises(tms.ReadOnly):
                WRITES[verb](memory)
        assert hashes(path) == before
    assert hashes(path) == before


# ---------------------------------------------------------------- where we cannot write

NOBODY = 65534


def as_nobody(work: Callable[[], object]) -> str:
    """Do something in a process without rights; return what it returned, or the error, as text."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            if os.geteuid() == 0:
                os.setgroups([])
                os.setgid(NOBODY)
                os.setuid(NOBODY)
            told = repr(work())
        except BaseException as error:
            told = repr(error)
        os.write(writing, told.encode())
        os._exit(0)
    os.close(writing)
    with open(reading, encoding="utf-8") as pipe:
        told = pipe.read()
    os.waitpid(child, 0)
    return told


@pytest.fixture
def locked() -> Iterator[Path]:
    """A path in a folder of its own, that everybody may read."""
    with TemporaryDirectory() as name:  # not below the folder of pytest, which is ours alone
        folder = Path(name)
        folder.chmod(0o755)
        yield folder / "memory.db"
        folder.chmod(0o755)


def lock(path: Path) -> None:
    """Forbid all to write beside a file, but for root, who becomes nobody."""
    path.parent.chmod(0o555)


def reading(path: Path) -> Callable[[], object]:
    def work() -> object:
        with tms.open(path, read_only=True) as memory:
            told = memory.head, memory.believes("Block:14"), bool(memory.verify(revisions=None))
            return (told[0].revision, *told[1:])

    return work


def test_a_clean_file_is_read_in_a_folder_that_we_cannot_write(locked: Path) -> None:
    clean(locked)
    lock(locked)
    before = hashes(locked)
    assert as_nobody(reading(locked)) == "(13, True, True)"
    assert hashes(locked) == before
    assert os.listdir(locked.parent) == [locked.name]


def test_a_file_that_somebody_writes_is_read_in_a_folder_that_we_cannot_write(locked: Path) -> None:
    clean(locked)
    with tms.open(locked) as memory:
        memory.source("Feed:2")
        lock(locked)
        assert as_nobody(reading(locked)) == "(14, True, True)"
        locked.parent.chmod(0o755)


def test_a_log_of_a_crash_is_never_passed_over(locked: Path) -> None:
    logged(locked)
    lock(locked)
    before = hashes(locked)
    told = as_nobody(reading(locked))
    assert told == "(13, True, True)" or told.startswith(("ReadOnly", "StoreFailed"))
    assert hashes(locked) == before


def test_nothing_is_written_without_the_right_to(locked: Path) -> None:
    def work(path: Path, **options: Any) -> Callable[[], object]:
        def write() -> object:
            with tms.open(path, **options) as memory:
                return memory.source("Feed:2")

        return write

    clean(locked)
    locked.chmod(0o444)
    lock(locked)
    assert as_nobody(work(locked)).startswith("ReadOnly")
    new = locked.with_name("new.db")
    assert as_nobody(work(new)).startswith(("ReadOnly", "StoreFailed"))
    assert as_nobody(lambda: tms.open(locked, read_only=True).backup(new)).startswith("StoreFailed")
    assert os.listdir(locked.parent) == [locked.name]
    locked.chmod(0o000)
    for options in ({}, {"read_only": True}):
        assert as_nobody(work(locked, **options)).startswith("NotATMSFile('cannot read")


def test_a_reader_sees_what_is_committed_while_it_is_open(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    clean(path)
    with tms.open(path, read_only=True) as reader:
        before = reader.head
        with tms.open(path) as writer:
            writer.retract("Feed:1")
        assert reader.head > before
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
