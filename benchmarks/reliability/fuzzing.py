"""Give rubbish to a memory and to the command line, and look at what comes of it.

It is taken or refused with a typed error in few words; never a traceback, never a hang, and what
was refused left nothing.
"""

import signal
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import chdir, contextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any

from click.testing import CliRunner
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import tms
from benchmarks.reliability.counting import Count
from benchmarks.reliability.inputs import AREAS, Area, arguments, packed
from benchmarks.reliability.judging import demand
from tms.cli import main as program
from tms.errors import LONGEST

NOON = datetime(2026, 7, 21, 12, tzinfo=UTC)
LONGEST_WAIT = 20
"""Seconds after which an input counts as one that hangs."""


class Hangs(BaseException):
    """It took too long."""


@contextmanager
def watched() -> Iterator[None]:
    """Stop what takes too long; only in the main thread.

    Raises:
        Hangs: it did.
    """

    def stop(_signal: int, _frame: FrameType | None) -> None:
        raise Hangs

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, LONGEST_WAIT)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def small(memory: tms.Memory) -> None:
    """Fill a memory with a little of everything."""
    with memory.batch():
        memory.source("Feed:1", content={"rows": 1})
        memory.source("Scan:1", valid_from="2020-01-01T00:00:00Z")
        memory.axiom("Policy:1")
        memory.justify("Flag:1", "Feed:1", rule="map", id="by-feed")
        memory.justify("Flag:1", "Scan:1")
        memory.justify(["Flag:2", "Block:1"], ["Flag:1", "Policy:1"])
    memory.retract("Feed:1", reason="bad", by="me")
    memory.unretract("Feed:1")


def try_memory(area: Area, parts: tuple[Any, ...]) -> str:
    """Give an input to a fresh memory; return what came of it.

    Raises:
        Wrong: it was refused and left something, or in many words.
    """
    with tms.open(":memory:", clock=lambda: NOON) as memory, watched():
        small(memory)
        before = memory.head, memory.stats()
        try:
            area.give(memory, *parts)
        except tms.TMSError as error:
            outcome = error.code
            demand(len(str(error)) <= 2 * LONGEST + 1, "a message of many words", str(error)[:200])
            if area is not AREAS["lines"]:  # of these the commits before are kept
                demand((memory.head, memory.stats()) == before, "refused, and something is left")
            memory.retract("Scan:1")
        else:
            outcome = "taken"
        demand(memory.verify(revisions=None), "verify")
    return outcome


def try_command(line: list[str], stdin: bytes, folder: Path) -> str:
    """Run a command line on a fresh file in the present folder; return what came of it.

    Raises:
        Wrong: it ended with a traceback or another exit status, or was refused and left something.
    """
    for left in folder.iterdir():
        left.unlink()
    path = folder / "memory.db"
    with tms.open(path) as memory:
        small(memory)
        before = memory.head
    (folder / "rows.jsonl").write_bytes(stdin)
    with watched():
        done = CliRunner().invoke(program, ["--db", str(path), *line], input=stdin)
    fault = done.exception if not isinstance(done.exception, SystemExit) else None
    demand(fault is None, "a traceback", line, repr(fault))
    demand(0 <= done.exit_code <= 4, "an exit status that is none", done.exit_code)
    demand("Traceback" not in done.output, "a traceback")
    demand(done.exit_code in (0, 1) or done.stderr, "refused without a word")
    with tms.open(path, scope="", create=False) as memory:
        refused = done.exit_code > 1 and line[0] != "import"  # that keeps the commits before
        demand(not refused or memory.head == before, "refused, and something is left", line)
        demand(memory.verify(revisions=None), "verify", line)
    return f"exit {done.exit_code}"


def fuzz(folder: Path, times: int) -> Iterator[Count]:
    """Give so many inputs to each area; yield what came of them."""
    for name, area in AREAS.items():
        outcomes = _tried(st.tuples(*area.inputs), times, partial(try_memory, area))
        yield _line(f"rubbish as {name}", outcomes)
    place = folder / "fuzzed"
    place.mkdir()
    with chdir(place):
        both = st.tuples(arguments(), packed())
        outcomes = _tried(both, times, lambda pair: try_command(*pair, place))
    yield _line("rubbish at the command line", outcomes)


def _tried(
    inputs: st.SearchStrategy[Any], times: int, attempt: Callable[[Any], str]
) -> Counter[str]:
    outcomes: Counter[str] = Counter()

    @settings(
        max_examples=times,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(inputs)
    def one(value: Any) -> None:
        outcomes[attempt(value)] += 1

    one()
    return outcomes


def _line(what: str, outcomes: Counter[str]) -> Count:
    taken = outcomes["taken"] + outcomes["exit 0"]
    told = f"{outcomes.total():,} inputs, {outcomes.total() - taken:,} refused"
    return Count(what, told, taken, 0)
