"""Running the command line in tests."""

import signal
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

from click.testing import CliRunner

import tms
from tms.cli import main

ROOT = Path(__file__).parents[1]

FIRST = "r1:0000000000000001:2026-07-21T10:00:00.000Z"
"""The first commit in the memory of ``kept``."""

COPY = "a copy beside the memory"
"""Stands for the path of one, where nothing is yet."""

NEEDED = {
    "source": ["Feed:2"],
    "fact": ["Flag:2"],
    "justify": ["Flag:2", "--from", "Feed:1"],
    "axiom": ["Policy:1"],
    "retract": ["Feed:1"],
    "unretract": ["Feed:1"],
    "revise": ["Feed:1", "--content", "{}"],
    "show": ["Feed:1"],
    "history": ["Feed:1"],
    "why": ["Block:1"],
    "what-if": ["Feed:1"],
    "impact": ["Feed:1"],
    "why-not": ["Block:1"],
    "environments": ["Block:1"],
    "origins": ["Block:1"],
    "cuts": ["Block:1"],
    "neighbourhood": ["Flag:1"],
    "periods": ["Flag:1"],
    "believed-during": ["Flag:1"],
    "diff": [FIRST],
    "backup": [COPY],
    "export": [COPY],
    "anchor-at": ["2026-07-21T12:00:00Z"],
    "prune": [FIRST],
    "redact": ["Feed:1"],
    "import": ["-"],
    "subscribe": ["mail", "--take", "2"],
}
"""What a verb must be given so that it does something in the memory of ``kept``."""


def kept(path):
    """Make a small memory, whose first commit is FIRST."""
    with tms.open(path, clock=lambda: datetime(2026, 7, 21, 10, tzinfo=UTC)) as memory:
        memory.source("Feed:1", content={"n": 1})
        memory.justify("Flag:1", "Feed:1", rule="match", id="j1")
        memory.justify("Block:1", "Flag:1", id="j2")
    return path


def run(path, *args, input=None):
    """Run a verb on a file, in this process; a traceback fails the test."""
    if COPY in args:
        copy = Path(f"{path}.copy")
        copy.unlink(missing_ok=True)
        args = [str(copy) if arg == COPY else arg for arg in args]
    result = CliRunner().invoke(
        main, ["--db", str(path), *args], input=input, env={"TMS_DB": None, "TMS_SCOPE": None}
    )
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def told(path, *args, input=None):
    """Run a verb that must work, and return what it printed."""
    result = run(path, *args, input=input)
    assert (result.exit_code, result.stderr) == (0, "")
    return result.stdout


def process(*args, **given):
    """Run the command in a process of its own, to its end."""
    given = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **given}
    return subprocess.run(
        [sys.executable, "-m", "tms", *args], cwd=ROOT, timeout=60, check=False, **given
    )


def started(*args, **given):
    """Start the command in a process of its own, its streams being pipes."""
    given = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **given}
    return subprocess.Popen(
        [sys.executable, "-m", "tms", *args],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        preexec_fn=heeds_interrupts,
        **given,
    )


def heeds_interrupts():
    """Undo what a shell does to its background jobs, which is to ignore SIGINT."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
