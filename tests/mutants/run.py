"""Try every mutant: ``python tests/mutants/run.py [--write] [NAME ...]``.

Each is put into a copy of the tree and the tests that judge the labelling are run there, the
quicker ones first, until one fails. ``--write`` keeps the table as docs/mutation.md.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from mutants import MUTANTS, Mutant

ROOT = Path(__file__).parents[2]
STAGES = (  # what to run, and after how many seconds it is said never to end
    (["tests/test_settle.py"], 200),
    (["tests/test_machine.py", "-k", "seeded"], 1000),
)


def main(arguments: list[str]) -> int:
    write = "--write" in arguments
    names = [name for name in arguments if name != "--write"]
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder)
        for name in ("tms", "tests"):
            shutil.copytree(ROOT / name, copy / name)
        for name in ("pyproject.toml", "schema.sql"):
            shutil.copy(ROOT / name, copy / name)
        for mutant in MUTANTS:
            if names and mutant.name not in names:
                continue
            found[mutant] = caught_by(mutant, copy)
            sys.stdout.write(f"{verdict(mutant, found[mutant]):<12} {mutant.name}\n")
            sys.stdout.flush()
    if write:
        (ROOT / "docs" / "mutation.md").write_text(table(found))
    return int(any(caught is None and not mutant.survives for mutant, caught in found.items()))


def caught_by(mutant: Mutant, copy: Path) -> str | None:
    """Return the test that fails with the mutant in place, or None."""
    text = (ROOT / "tms" / "labelling.py").read_text()
    (copy / "tms" / "labelling.py").write_text(text.replace(mutant.old, mutant.new))
    for stage, longest in STAGES:
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *stage]
        environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
        try:
            ran = subprocess.run(
                command,
                cwd=copy,
                env=environment,
                capture_output=True,
                text=True,
                timeout=longest,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return "(it never ends)"
        if ran.returncode == 1:
            failed = re.search(r"^FAILED \S+::(\w+)", ran.stdout, re.MULTILINE)
            return failed[1] if failed else "(unknown)"
        if ran.returncode:
            raise SystemExit(ran.stdout + ran.stderr)
    return None


def verdict(mutant: Mutant, caught: str | None) -> str:
    if caught is not None:
        return "caught"
    return "equivalent" if mutant.survives else "NOT CAUGHT"


def table(found: dict[Mutant, str | None]) -> str:
    caught = {mutant: test for mutant, test in found.items() if test is not None}
    rest = [mutant for mutant in found if mutant not in caught]
    lines = [
        "# Mutation check of the labelling",
        "",
        "Small breaks of `tms/labelling.py`, one at a time, and whether the tests notice.",
        "The breaks are in `tests/mutants/mutants.py`; this page is written by",
        "`python tests/mutants/run.py --write`.",
        "",
        f"{len(found)} mutants: {len(caught)} caught, {len(rest)} not.",
        "",
        "## Caught",
        "",
        "| mutant | the test that noticed first |",
        "|---|---|",
        *(f"| {mutant.name} | `{test}` |" for mutant, test in caught.items()),
        "",
        "## Not caught, and why",
        "",
        "| mutant | why |",
        "|---|---|",
        *(f"| {mutant.name} | {mutant.survives or 'NOT KNOWN'} |" for mutant in rest),
        "",
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
