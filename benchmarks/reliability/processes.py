"""The processes of this harness."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def child(*args: object, stdin: int | None = None) -> subprocess.Popen[str]:
    """Start one, to do what ``--child`` and these arguments say."""
    command = [sys.executable, "-m", "benchmarks.reliability", "--child", *map(str, args)]
    return subprocess.Popen(command, stdin=stdin, stdout=subprocess.PIPE, text=True, cwd=ROOT)
