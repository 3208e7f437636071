"""Whatever stops a call, the handle then reads the head and can write; and so can others."""

import os
import sqlite3
import sys
from contextlib import closing
from datetime import UTC, datetime, timedelta, timezone
from itertools import count
from threading import Thread

import pytest

import tms
import tms.batch
import tms.store.chain
import tms.store.connection
import tms.store.record

WATCHED = (tms.batch.__file__, tms.store.connection.__file__)


class Stop(BaseException):
    """Stands for KeyboardInterrupt at a chosen line."""


def stopped_at(line, work):
    """Run work, stopped at the n-th line that it runs in the watched rooms; tell if it was."""
    steps = count()

    def trace(frame, event, _):
        if frame.f_code.co_filename not in WATCHED or frame.f_code.co_name in ("rollback", "undo"):
            return None
        if event == "line" and next(steps) == line:
            raise Stop
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        work()
    except Stop as error:
        return error  # kept, with its traceback and all that it holds
    finally:
        sys.settrace(before)
    return None


def bundle(ref):
    with tms.open(":memory:") as memory:
        memory.source(ref)
        return list(memory.export())


WORK = {
    "a source": lambda m, i: m.source(f"New:{i}"),
    "a justification": lambda m, i: m.justify(f"Fact:{i}", "S:1"),
    "a retraction": lambda m, i: (m.retract("S:2"), m.unretract("S:2")),
    "an import": lambda m, i: m.import_(bundle(f"There:{i}")),
    "reading": lambda m, i: (m.stats(), m.get("F:1"), m.scan(limit=2), m.head, m.history("F:1")),
    "reading the past": lambda m, i: m.as_of(recorded=m.head).get("F:1"),
}


@pytest.mark.parametrize("name", WORK)
def test_a_call_stopped_anywhere_leaves_a_handle_that_reads_the_head_and_writes(tmp_path, name):
    path = tmp_path / "memory.db"
    with tms.open(path, timeout=0.2) as memory, tms.open(path, timeout=0.2) as other:
        memory.justify("F:1", [memory.source("S:1"), memory.source("S:2")])
        kept = []
        for line in count(step=3):
            stopped = stopped_at(line, lambda line=line: WORK[name](memory, line))
            if stopped is None:
                break
            kept.append(stopped)
            other.unretract(["S:1", "S:2"])  # nobody holds the file
            other.retract("S:1")
            assert not memory.believes("F:1")
            assert memory.head == other.head
            memory.unretract("S:1")
            assert other.believes("F:1")
        assert len(kept) > 5
        assert memory.verify(revisions=None)


def test_a_child_after_a_fork_is_refused_and_the_parent_loses_nothing(tmp_path):
    with tms.open(tmp_path / "memory.db") as memory:
        memory.source("P:0")
        with memory.batch():
            memory.source("P:1")
            reader, writer = os.pipe()
            child = os.fork()
            if not child:
                told = b"kept"
                try:
                    memory.source("C:1")
                except tms.Misuse as error:
                    told = b"refused" if "another process" in str(error) else b"other"
                os.write(writer, told)
                os._exit(0)
            os.waitpid(child, 0)
            assert os.read(reader, 100) == b"refused"
            os.close(reader)
            os.close(writer)
            memory.source("P:2")
        assert memory.head.revision == 2
        assert memory.verify()


@pytest.mark.parametrize("hours", [-12, 12])
def test_a_clock_beyond_what_can_be_written_is_refused_before_anything_is(tmp_path, hours):
    edge = datetime.max if hours < 0 else datetime.min
    bad = edge.replace(tzinfo=timezone(timedelta(hours=hours)))
    with tms.open(tmp_path / "memory.db", clock=lambda: bad) as memory:
        with pytest.raises(tms.InvalidWindow, match="years 1 to 9999"):
            memory.source("S:1")
        assert memory.head is None


def test_a_clock_that_writes_to_its_memory_is_refused_as_such(tmp_path):
    def clock():
        if memory.head is None:
            memory.source("Tick:1")
        return datetime.now(UTC)

    with tms.open(tmp_path / "memory.db", clock=clock) as memory:
        with pytest.raises(tms.Misuse, match="the clock of this memory used the memory"):
            memory.source("S:1")
        assert memory.head is None
        assert memory.verify()


def test_batches_that_end_out_of_turn_keep_nothing_and_say_so(tmp_path):
    with tms.open(tmp_path / "memory.db") as memory:
        outer, inner = memory.batch(), memory.batch()
        outer.__enter__()
        inner.__enter__()
        memory.source("S:1")
        with pytest.raises(tms.Misuse, match="out of turn"):
            outer.__exit__(None, None, None)
        with pytest.raises(tms.Misuse, match="ended before"):
            inner.__exit__(None, None, None)
        with pytest.raises(tms.Misuse, match="not begun"):
            memory.batch().__exit__(None, None, None)
        assert memory.head is None
        assert memory.source("S:2")
        assert memory.head.revision == 1


@pytest.mark.parametrize(
    "forged",
    [
        "INSERT INTO content VALUES (1, 1, 2, '{}', zeroblob(16))",
        "INSERT INTO switch VALUES (1, 2, 0)",
        "INSERT INTO transition VALUES (2, 1, 0, NULL)",
        "INSERT INTO node VALUES (9, 0, 'K', 'x', 'source', 2)",
        "INSERT INTO justification VALUES (9, 0, NULL, zeroblob(16), NULL, 2)",
        "INSERT INTO premise VALUES (2, 1)",
        "INSERT INTO derive VALUES (2, 1)",
    ],
)
def test_rows_that_another_program_put_at_the_end_are_not_built_upon(tmp_path, forged):
    path = tmp_path / "memory.db"
    with tms.open(path) as memory:
        memory.source("S:1")
        other = tms.store.connection.sqlite3.connect(path)
        with other:
            other.execute(forged)
        other.close()
        for _ in range(2):
            with pytest.raises(tms.CorruptStore, match="rows of no commit"):
                memory.source("S:2")
        assert {found.rule for found in memory.verify().findings} & {
            "orphan",
            "keys",
            "foreign-key",
        }
        assert memory.believes("S:1")


def test_a_commit_that_claims_keys_it_never_gave_out_is_refused_by_the_file(tmp_path):
    path = tmp_path / "memory.db"
    with tms.open(path) as memory:
        memory.source("S:1")
    sql = tms.store.connection.sqlite3.connect(path)
    for last_key in (0, 2, 2**63 - 1):
        with pytest.raises(tms.store.connection.sqlite3.IntegrityError, match="append-only"):
            sql.execute(
                "INSERT INTO commits"
                " VALUES (2, 4000000000000, 'x', NULL, NULL, ?, 0, 0, 0, zeroblob(32))",
                (last_key,),
            )
    sql.close()


def test_a_damaged_cache_is_told_as_damage(tmp_path):
    path = tmp_path / "memory.db"
    with tms.open(path) as memory:
        for n in (1, 2):
            memory.justify("F:1", memory.source(f"S:{n}"), rule=f"r{n}")
        sql = tms.store.connection.sqlite3.connect(path)
        with sql:
            sql.execute("UPDATE cache_label SET support = NULL")
        sql.close()
        with pytest.raises(tms.CorruptStore):
            memory.retract("S:2")
            memory.retract("S:1")
        assert "cache" in {found.rule for found in memory.verify().findings}


def test_a_newline_in_a_name_or_a_reason_cannot_forge_a_line_of_a_report():
    with tms.open(":memory:") as memory:
        memory.justify("F:1\n    F:never-existed", memory.source("S:1"), rule="a\nb")
        report = memory.retract("S:1", reason="x\n  died       99", by="me\u2028you")
        texts = [str(report), *map(str, memory.log()), *map(str, memory.history(report.died[0]))]
        texts += [str(memory.get(report.died[0])), str(memory.scan())]
        for text in texts:
            assert "\n    F:never-existed" not in text
            assert "\n  died       99" not in text
            assert "\u2028" not in text
        assert str(report).count("\n") == 5


@pytest.mark.parametrize(
    "line", ['{"source":"D:1","source":"D:2"}', '{"source":"D:1","content":{"a":1,"a":2}}']
)
def test_a_row_that_gives_a_key_twice_is_refused(line):
    from tms.interchange import objects

    with pytest.raises(tms.InvalidContent, match="given twice"):
        list(objects([line]))


FOREIGN = {
    "close": lambda m: m.close(),
    "source": lambda m: m.source("S:t"),
    "batch": lambda m: m.batch().__enter__(),
    "load": lambda m: m.load([{"source": "S:t"}]),
    "export": lambda m: m.export(),
    "import_": lambda m: m.import_(bundle("There:1")),
    "retract": lambda m: m.retract("S:1"),
    "believes": lambda m: m.believes("S:1"),
    "holding": lambda m: list(m.holding()),
    "verify": lambda m: m.verify(),
    "rebuild": lambda m: m.rebuild(),
    "head": lambda m: m.head,
}


def refused_elsewhere(work):
    """Run work in another thread; return what it was refused with."""
    told = []

    def run():
        try:
            work()
        except tms.Misuse as error:
            told.append(error)

    thread = Thread(target=run)
    thread.start()
    thread.join()
    return told


@pytest.mark.parametrize("name", FOREIGN)
def test_what_another_thread_is_refused_does_not_touch_the_open_batch(tmp_path, name):
    with tms.open(tmp_path / "memory.db") as memory:
        memory.source("S:1")
        with memory.batch():
            memory.source("S:2")
            assert refused_elsewhere(lambda: FOREIGN[name](memory))
            memory.source("S:3")
        assert [item.ref for item in memory.scan().items] == ["S:1", "S:2", "S:3"]
        assert memory.head.revision == 2
        assert memory.verify()


@pytest.mark.parametrize("name", FOREIGN)
def test_what_another_thread_is_refused_does_not_touch_a_running_verb(tmp_path, name):
    armed = []

    def clock():
        if armed:
            armed.clear()
            assert refused_elsewhere(lambda: FOREIGN[name](memory))
        return datetime.now(UTC)

    with tms.open(tmp_path / "memory.db", clock=clock) as memory:
        memory.source("S:1")
        armed.append(True)
        memory.source("S:2")
        assert memory.believes("S:2")
        assert memory.head.revision == 2


def functions(sql):
    return set(sql.execute("SELECT name, narg FROM pragma_function_list"))


def test_sqlite_calls_no_function_of_ours_which_would_make_its_own_error_of_an_interrupt():
    with tms.open(":memory:") as memory, closing(sqlite3.connect(":memory:")) as plain:
        assert functions(memory._connection.sql) == functions(plain)


SEALING = {
    "adding a content": lambda m: m.source("New:1", content={"a": 1}),
    "revising one": lambda m: m.revise("S:1", content={"a": 2}),
    "redacting one": lambda m: m.redact("S:1"),
    "verifying": lambda m: m.verify(),
}


@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError, Stop])
@pytest.mark.parametrize("name", SEALING)
def test_what_interrupts_the_sealing_of_a_content_comes_out_as_it_is(
    tmp_path, monkeypatch, name, error
):
    def stop(content, mark):
        raise error

    with tms.open(tmp_path / "memory.db") as memory:
        memory.source("S:1", content={"a": 1})
        head = memory.head
        for room in (tms.store.chain, tms.store.record):
            monkeypatch.setattr(room, "seal", stop)
        with pytest.raises(error):
            SEALING[name](memory)
        monkeypatch.undo()
        assert memory.head == head
        assert memory.get("S:1").content == {"a": 1}
        SEALING[name](memory)
        assert memory.verify(revisions=None)


WALKS = {
    "holding": lambda m: m.holding(),
    "log": lambda m: m.log(),
    "changes": lambda m: m.changes(),
    "export": lambda m: m.export(),
    "holding of a view": lambda m: m.as_of(recorded=m.head).holding(),
}


@pytest.mark.parametrize("name", WALKS)
def test_a_walk_that_another_thread_is_refused_goes_on_in_its_own(tmp_path, name):
    with tms.open(tmp_path / "memory.db") as memory:
        for number in range(5):
            memory.axiom(f"F:{number}")
        whole = list(WALKS[name](memory))
        walk = WALKS[name](memory)
        assert iter(walk) is walk
        got = [next(walk), next(walk)]
        for _ in range(2):
            assert refused_elsewhere(lambda: next(walk))
        assert [*got, *walk] == whole
        with pytest.raises(StopIteration):
            next(walk)


@pytest.mark.parametrize("name", WALKS)
def test_a_walk_is_refused_after_a_fork_and_goes_on_in_the_parent(tmp_path, name):
    with tms.open(tmp_path / "memory.db") as memory:
        for number in range(5):
            memory.axiom(f"F:{number}")
        whole = list(WALKS[name](memory))
        walk = WALKS[name](memory)
        got = [next(walk)]
        child = os.fork()
        if child == 0:
            try:
                next(walk)
            except tms.Misuse:
                os._exit(0)
            finally:
                os._exit(1)
        assert os.waitpid(child, 0)[1] == 0
        assert [*got, *walk] == whole
