"""Work in processes of their own: ``python -m benchmarks.children WORK ARGUMENT…``.

So the peak of memory is that of the work, and the process that measures stays small.
"""

import json
import os
import resource
import runpy
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import NamedTuple

import tms
from benchmarks.families import FAMILIES
from benchmarks.timing import timed
from examples.debian import take_in


class Spent(NamedTuple):
    """What a work took.

    Attributes:
        seconds: for the work alone, without the start of the process.
        before: MB, the peak of the process when the work began.
        peak: MB, the peak of the process when it was done.
    """

    seconds: float
    before: float
    peak: float

    @property
    def memory(self) -> str:
        """The peak in words."""
        return f"peak {self.peak:,.0f} MB, of which {self.before:,.0f} MB before the work"


def spent(work: str, *arguments: object) -> Spent:
    """Do some work of this module in a child, and return what it took."""
    done = subprocess.run(command(work, *arguments), check=True, stdout=subprocess.PIPE)
    return told(done.stdout)


def shown(work: str, *arguments: object) -> tuple[Spent, str]:
    """Do some work with a terminal as standard error; return also what appeared there."""
    ours, theirs = os.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "80"}
    with subprocess.Popen(
        command(work, *arguments), stdout=subprocess.PIPE, stderr=theirs, env=environment
    ) as process:
        os.close(theirs)
        seen = bytearray()
        with suppress(OSError):  # of a terminal that nobody writes to any more
            while block := os.read(ours, 65536):
                seen += block
        os.close(ours)
        output, _ = process.communicate()
    text = seen.decode(errors="replace")
    if process.returncode:
        raise RuntimeError(f"{work} failed: {text}")
    return told(output), text


def command(work: str, *arguments: object) -> list[str]:
    """Return the command that does some work of this module."""
    return [sys.executable, "-m", "benchmarks.children", work, *map(str, arguments)]


def told(output: bytes) -> Spent:
    """Read what a child says in its last line."""
    return Spent(*json.loads(output.splitlines()[-1]))


def peak() -> float:
    """Return the peak memory of this process so far, in MB.

    VmHWM starts anew with each program; ru_maxrss also counts what the parent had.
    """
    with suppress(OSError):
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (
        1024 * 1024 if sys.platform == "darwin" else 1024
    )


def load(path: str, family: str, n: str) -> float:
    """Load a world of a family into a new file."""
    with tms.open(path) as memory:
        return timed(lambda: memory.load(FAMILIES[family].rows(int(n))))


def packages(path: str, lines: str) -> float:
    """Load the packages of the Debian example."""
    with tms.open(path) as memory:
        return timed(lambda: list(take_in(memory, lines)))


def retract(path: str, source: str) -> float:
    """Retract a source."""
    with tms.open(path) as memory:
        return timed(lambda: memory.retract(source))


def verb(*arguments: str) -> float:
    """Run a verb of the command line."""
    sys.argv = ["tms", *arguments]
    return timed(partial(_program, "tms"))


def _program(module: str) -> None:
    try:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    except SystemExit as end:
        if end.code:
            raise


WORKS: dict[str, Callable[..., float]] = {
    "load": load,
    "packages": packages,
    "retract": retract,
    "verb": verb,
}
"""What a child can be asked to do; each returns the seconds."""


if __name__ == "__main__":
    start = peak()
    seconds = WORKS[sys.argv[1]](*sys.argv[2:])
    print(json.dumps([seconds, start, peak()]))
