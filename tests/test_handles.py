import subprocess
import sys
from pathlib import Path

import pytest
from making import ROOT, Clock, dump, fill, no_guards, plain

import tms


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memory.db"


def python(script: str, *args: object) -> subprocess.Popen:
    return subprocess.Popen(
        [sys.executable, "-c", script, *map(str, args)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


# ---------------------------------------------------------------- doors that only read


WRITES = {
    "source": lambda memory: memory.source("Feed:9"),
    "fact": lambda memory: memory.fact("Flag:9"),
    "justify": lambda memory: memory.justify("Flag:9", ["Feed:1"]),
    "axiom": lambda memory: memory.axiom("Flag:9"),
    "revise": lambda memory: memory.revise("Feed:1", content={"rows": 9}),
    "retract": lambda memory: memory.retract("Feed:1"),
    "unretract": lambda memory: memory.unretract("Flag:22"),
    "load": lambda memory: memory.load([{"source": "Feed:9"}]),
    "import_": lambda memory: memory.import_(memory.export()),
    "batch": lambda memory: memory.batch().__enter__(),
    "rebuild": lambda memory: memory.rebuild(),
    "a verb that would change nothing": lambda memory: memory.source("Feed:1"),
}


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES.keys())
def test_a_write_through_a_door_that_only_reads_is_refused(path: Path, write) -> None:
    with tms.open(path) as memory:
        fill(memory)
    before = path.read_bytes()
    with tms.open(path, read_only=True) as memory:
        with pytest.raises(tms.ReadOnly, match="open for reading only") as caught:
            write(memory)
        assert isinstance(caught.value, PermissionError)
        assert memory.believes("Feed:1")
    assert path.read_bytes() == before


def test_a_door_that_only_reads_sees_what_another_writes(path: Path) -> None:
    with tms.open(path) as writer, tms.open(path, read_only=True) as reader:
        writer.source("Feed:1")
        assert reader.believes("Feed:1")
        writer.retract("Feed:1")
        assert not reader.believes("Feed:1")
        assert reader.head == writer.head


READS = {
    "believes": lambda memory: memory.believes("Feed:1"),
    "status": lambda memory: memory.status("Feed:1"),
    "get": lambda memory: memory.get("Feed:1"),
    "holding": lambda memory: list(memory.holding()),
    "scan": lambda memory: memory.scan(),
    "head": lambda memory: memory.head,
    "log": lambda memory: list(memory.log()),
    "report": lambda memory: memory.report("r1:0000000000000001:2026-07-21T12:00:00.000Z"),
    "history": lambda memory: memory.history("Feed:1"),
    "as_of": lambda memory: memory.as_of(recorded="r1:0000000000000001:2026-07-21T12:00:00.000Z"),
    "verify": lambda memory: memory.verify(),
    "stats": lambda memory: memory.stats(),
}


@pytest.mark.parametrize("use", [*WRITES.values(), *READS.values()], ids=[*WRITES, *READS])
def test_a_closed_memory_says_that_it_is_closed(path: Path, use) -> None:
    memory = tms.open(path)
    memory.close()
    memory.close()
    with pytest.raises(tms.Misuse, match="opened again"):
        use(memory)


def test_a_walk_that_outlives_its_memory_says_that_it_is_closed(path: Path) -> None:
    with tms.open(path, clock=Clock()) as memory:
        fill(memory)
        walks = [memory.holding(), memory.log()]
        view = memory.as_of(recorded=memory.head)
    for walk in walks:
        with pytest.raises(tms.Misuse):
            next(walk)
    with pytest.raises(tms.Misuse):
        view.believes("Feed:1")


def test_closing_inside_a_batch_drops_the_batch(path: Path) -> None:
    with tms.open(path) as memory, pytest.raises(tms.Misuse), memory.batch():
        memory.source("Feed:1")
        memory.close()
    with tms.open(path, clock=Clock()) as memory:
        assert memory.head is None
        assert memory.verify()


# ---------------------------------------------------------------- a file with two handles


def test_a_writer_is_refused_when_another_holds_the_file_longer_than_its_wait(path: Path) -> None:
    with tms.open(path) as one, tms.open(path, timeout=0) as two:
        with one.batch():
            one.source("Feed:1")
            for timeout in (0, 0.05):
                with tms.open(path, timeout=timeout) as other:
                    with pytest.raises(tms.Busy, match="longer than the wait") as caught:
                        other.source("Feed:2")
                    assert isinstance(caught.value, TimeoutError)
                    assert "Try again" in caught.value.hint
            with pytest.raises(tms.Busy):
                two.load([{"source": "Feed:2"}])
            assert two.head is None
        two.source("Feed:2")
        assert two.stats().sources == 2


def test_a_batch_takes_the_file_at_its_beginning_not_at_its_first_write(path: Path) -> None:
    with (
        tms.open(path) as one,
        tms.open(path, timeout=0) as two,
        one.batch(),
        pytest.raises(tms.Busy),
        two.batch(),
    ):
        raise AssertionError("never reached")


def test_a_refused_batch_can_be_begun_again(path: Path) -> None:
    with tms.open(path) as one, tms.open(path, timeout=0) as two:
        waiting = two.batch()
        with one.batch():
            one.source("Feed:1")
            with pytest.raises(tms.Busy):
                waiting.__enter__()
        with waiting:
            two.source("Feed:2")
        assert waiting.report.before == one.report(waiting.report.before).after


_HOLD = """
import sys, tms
with tms.open(sys.argv[1]) as memory:
    with memory.batch():
        memory.retract("Feed:1")
        print("held", flush=True)
        sys.stdin.readline()
"""


def test_a_writer_waits_for_another_and_then_sees_what_it_did(path: Path) -> None:
    with tms.open(path, timeout=60) as memory:
        memory.source("Feed:1")
        holder = python(_HOLD, path)
        assert holder.stdout.readline() == "held\n"
        asked = []

        def clock_is_read_with_the_file_in_hand():
            asked.append(holder.poll())
            return Clock()()

        with tms.open(path, timeout=60, clock=clock_is_read_with_the_file_in_hand) as waiting:
            holder.stdin.write("let go\n")
            holder.stdin.flush()
            waiting.justify("Flag:1", ["Feed:1"])
            assert not waiting.believes("Flag:1")
            assert waiting.head.revision == 3
        assert holder.communicate()[1] == ""
        assert len(asked) == 1
        assert memory.verify(revisions=None)


def test_two_handles_never_answer_from_before_the_other_wrote(path: Path) -> None:
    with tms.open(path) as one, tms.open(path) as two:
        handles = [one, two]
        one.justify("Flag:1", [one.source("Feed:1")])
        for turn in range(6):
            writer, reader = handles[turn % 2], handles[1 - turn % 2]
            report = writer.unretract("Feed:1") if turn % 2 else writer.retract("Feed:1")
            assert bool(report)
            assert reader.believes("Flag:1") == bool(turn % 2)
            assert reader.head == report.after
            assert reader.report(report.after) == report
            reader.justify(f"Flag:{turn + 2}", ["Flag:1"])
            assert writer.believes(f"Flag:{turn + 2}") == bool(turn % 2)
        assert one.verify(revisions=None)


_COUNT = """
import sys, tms
with tms.open(sys.argv[1], timeout=60) as memory:
    for number in range(40):
        memory.justify(f"Flag:{sys.argv[2]}{number}", ["Feed:1"])
        (memory.unretract if number % 2 else memory.retract)("Feed:" + sys.argv[2])
"""


def test_writers_in_many_processes_leave_one_serial_history(path: Path) -> None:
    with tms.open(path) as memory:
        for name in ("1", "a", "b", "c"):
            memory.source(f"Feed:{name}")
    writers = [python(_COUNT, path, name) for name in "abc"]
    assert [writer.communicate()[1] for writer in writers] == [""] * 3
    with tms.open(path, create=False) as memory:
        assert [commit.anchor.revision for commit in memory.log()] == list(range(1, 4 + 240 + 1))
        assert len(list(memory.holding("Flag"))) == 120
        assert memory.verify(revisions=None)


# ---------------------------------------------------------------- a file that fails


def test_a_file_damaged_in_the_middle_is_told_by_name(path: Path) -> None:
    with tms.open(path) as memory:
        fill(memory)
    content = bytearray(path.read_bytes())
    for place in range(4096, len(content), 4096):
        content[place : place + 64] = b"\xff" * 64
    path.write_bytes(content)
    with pytest.raises(tms.CorruptStore, match=r"memory\.db contradicts its format"):
        tms.open(path)
    assert path.read_bytes() == content


def test_text_that_is_none_is_told_by_name(path: Path) -> None:
    with tms.open(path) as memory:
        fill(memory)
    with no_guards(path) as connection:
        connection.execute("UPDATE content SET content = CAST(x'7bff' AS TEXT)")
    with tms.open(path) as memory:
        with pytest.raises(tms.CorruptStore, match="decode to UTF-8 column"):
            memory.get("Feed:1")
        assert not memory.verify()


def test_a_lost_table_is_told_by_name(path: Path) -> None:
    with tms.open(path) as memory:
        fill(memory)
    with tms.open(path) as memory:
        with plain(path) as connection:
            connection.execute("DROP TABLE commits")
        before = dump(path)
        for use in (lambda: memory.head, lambda: memory.source("Feed:9"), memory.stats):
            with pytest.raises(tms.CorruptStore, match="no such table"):
                use()
        assert not memory.verify()
    with pytest.raises(tms.CorruptStore, match="table commits"):
        tms.open(path)
    assert dump(path) == before
