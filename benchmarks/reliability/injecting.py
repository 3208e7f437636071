"""Make writes fail, one at a time, and look at what is left: nothing, and a handle that works."""

import random
import resource
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from unittest.mock import patch

import tms
from benchmarks.reliability.counting import Count
from benchmarks.reliability.failing import Failing, arm, connect
from benchmarks.reliability.judging import Wrong, demand, fingerprint, judge
from benchmarks.reliability.working import fresh, world

Work = Callable[[tms.Memory], object]

FACTS = 100
WAIT = 0.02
"""Seconds that a writer waits for another here."""


def _load(memory: tms.Memory) -> None:
    rows: list[dict[str, object]] = [{"retract": "Root:0"}]
    for number in range(200):
        rows.append({"source": f"Row:{number}", "content": {"text": "x" * 400}})
        rows.append({"justification": None, "premises": f"Row:{number}", "derives": "Sum:1"})
    memory.load(rows)


def _batch(memory: tms.Memory) -> None:
    with memory.batch(reason="several"):
        for number in range(50):
            memory.justify([f"A:{number}", f"B:{number}"], ["Policy:block", "Scan:sast"])
            with memory.batch(by="inner"):
                memory.source(f"C:{number}", content={"text": "x" * 400})
        memory.retract(["Ground:g0", "Ground:g1"])


WORKS: dict[str, Work] = {
    "a cascade": lambda memory: memory.retract(["Feed:bad", "Scan:sast", "Root:0"]),
    "a revival": lambda memory: memory.unretract("Policy:block"),
    "rings": lambda memory: memory.retract("Ground:g0"),
    "a justification": lambda memory: memory.justify("New:1", ["Feed:bad", "Root:0"], rule="new"),
    "a revision": lambda memory: memory.revise("Feed:bad", content={"text": "x" * 9_000}),
    "a load": _load,
    "a batch": _batch,
}


class _Injury(Exception):
    """What is injected where no error of SQLite is."""


class Injecting:
    """A file on which works are made to fail.

    Args:
        folder: where to have files.
        seed: of what fails and where.
    """

    def __init__(self, folder: Path, seed: int) -> None:
        self._path = folder / "failing.db"
        self._chance = random.Random(seed)
        self._pristine = folder / "injected.db"
        world(self._pristine, FACTS)
        with tms.open(self._pristine) as memory:
            memory.retract("Policy:block")
        self._kept = 0
        self._goes_on = 0

    def run(self, times: int) -> Iterator[Count]:
        """Make each kind of failure happen so many times."""
        for what, fail in (
            ("an exception between any two writes", self._between),
            ("SQLITE_FULL inside a write", self._full),
            ("SQLITE_IOERR inside a write or COMMIT", self._io),
            ("SQLITE_BUSY at the beginning", self._busy),
        ):
            happened = tried = self._goes_on = 0
            while happened < times:
                if tried % 20 == 0:
                    fresh(self._pristine, self._path)
                name = list(WORKS)[tried % len(WORKS)]
                happened += fail(WORKS[name])
                tried += 1
                if tried > 10 * times + 20:
                    raise Wrong(f"{what} happened {happened} times only")
            judge(self._path)
            yield Count(what, f"{happened:,} failures", self._goes_on, 0)

    @contextmanager
    def _opened(self, timeout: float = 5.0) -> Iterator[tuple[tms.Memory, Failing]]:
        opened: list[Failing] = []

        def remembered(*args: object, **options: object) -> sqlite3.Connection:
            opened.append(connect(*args, **options))  # type: ignore[arg-type]
            return opened[-1]

        with (
            patch("sqlite3.connect", remembered),
            tms.open(self._path, timeout=timeout, create=False) as memory,
        ):
            yield memory, opened[0]

    def _attempt(self, memory: tms.Memory, work: Work) -> BaseException | None:
        """Do work that may fail; check that a failure left nothing and that the memory goes on."""
        before, head = fingerprint(self._path), memory.head
        try:
            work(memory)
        except (tms.TMSError, MemoryError, KeyboardInterrupt, _Injury) as failure:
            error: BaseException | None = failure
        else:
            error = None
        return error if error is None else self._kept_nothing(memory, head, before, error)

    def _kept_nothing(
        self, memory: tms.Memory, head: tms.Anchor | None, before: str, error: BaseException
    ) -> BaseException:
        demand(memory.head == head, "the head moved", error)
        demand(fingerprint(self._path) == before, "something was kept", error)
        return error

    def _go_on(self, memory: tms.Memory) -> None:
        """The next verb makes the next commit."""
        before = memory.head
        assert before is not None
        ref = "Ground:g1"
        report = memory.retract(ref) or memory.unretract(ref)
        demand(report.before == before, "the next commit does not follow")
        assert report.after is not None
        demand(report.after.revision == before.revision + 1, "a revision was used up")
        self._goes_on += 1
        judge(self._path, last=2)

    def _between(self, work: Work) -> bool:
        with self._opened() as (memory, _):
            writes = self._writes(work)
            kind = self._chance.choice(
                [sqlite3.OperationalError, MemoryError, KeyboardInterrupt, _Injury]
            )
            injected = kind("injected")

            def fail() -> None:
                raise injected

            place = self._chance.randrange(writes)
            error = self._attempt(memory, lambda memory: (arm(place, fail), work(memory)))
            arm(None)
            demand(error is not None, "it did not fail")
            first = error is injected or getattr(error, "__cause__", None) is injected
            demand(first, "another error was told than the first", repr(error))
            self._go_on(memory)
        return True

    def _writes(self, work: Work) -> int:
        """Count the writes of a work, on a copy."""
        copy = self._path.with_name("counted.db")
        copy.unlink(missing_ok=True)
        with tms.open(self._path) as memory:
            memory.backup(copy)
        with patch("sqlite3.connect", connect), tms.open(copy) as memory:
            arm(10**9)
            work(memory)
            assert Failing.left is not None
            writes = 10**9 - Failing.left
            arm(None)
        return max(1, writes)

    def _full(self, work: Work) -> bool:
        with self._opened() as (memory, sql):
            (pages,) = sql.execute("PRAGMA page_count").fetchone()
            sql.execute(f"PRAGMA max_page_count = {pages + self._chance.randrange(6)}")
            error = self._attempt(memory, work)
            sql.execute("PRAGMA max_page_count = 1000000")
            if error is not None:
                demand(isinstance(error, tms.StoreFailed) and "full" in str(error), repr(error))
                self._go_on(memory)
        return error is not None

    def _io(self, work: Work) -> bool:
        """Forbid files beyond a size: writing fails, at the latest in the middle of a COMMIT."""
        with self._opened() as (memory, sql):
            sql.execute(f"PRAGMA cache_size = {self._chance.choice([10, 2000])}")  # spill, or not
            log = self._path.with_name(self._path.name + "-wal")
            size = log.stat().st_size if log.exists() else 0
            limits = resource.getrlimit(resource.RLIMIT_FSIZE)
            bound = size + self._chance.randrange(60_000)
            resource.setrlimit(resource.RLIMIT_FSIZE, (bound, limits[1]))
            try:
                error = self._attempt(memory, work)
            finally:
                resource.setrlimit(resource.RLIMIT_FSIZE, limits)
            if error is not None:
                fits = isinstance(error, tms.StoreFailed) and "I/O" in str(error)
                demand(fits, repr(error), repr(error.__cause__))
                self._go_on(memory)
        return error is not None

    def _busy(self, work: Work) -> bool:
        with (
            self._opened(timeout=WAIT) as (memory, _),
            tms.open(self._path, create=False) as other,
        ):
            with other.batch():
                other.source("Other:1")
                began = monotonic()
                error = self._attempt(memory, work)
                waited = monotonic() - began
            demand(isinstance(error, tms.Busy), repr(error))
            demand(waited >= WAIT * 0.9, "busy before the wait was over", waited)
            other.unretract("Ground:g1")
            self._go_on(memory)
        return True


def failures(folder: Path, times: int, seed: int) -> Iterator[Count]:
    """Yield a line for each kind of failure."""
    return Injecting(folder, seed).run(times)
