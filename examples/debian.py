"""What breaks when a package is pulled: every package of Debian 12, its alternatives and cycles.

    python examples/debian.py tests/data/debian-cut.jsonl.gz [memory.db]

A cut of 1,400 packages is among the tests; the whole has 63,681 and takes minutes.

Each package has a source ``Pulled:<name>`` (it is gone from the archive) and a fact
``Broken:<name>``. It is broken if it is pulled, and if all alternatives of one of its dependencies
are broken. Nothing is pulled at first; then single packages are pulled and put back.
"""

import gzip
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import tms
from tms.interchange import commits, objects

PULLED = ("libssl3", "liblzma5", "zlib1g", "python3", "curl")
"""Packages to pull, one after the other."""


def take_in(memory: tms.Memory, path: str | os.PathLike[str]) -> Iterator[tms.Loaded]:
    """Load a file of interchange rows, a commit for each of its commit rows."""
    with gzip.open(path, "rb") as lines:
        for group in commits(objects(lines)):
            loaded = memory.load(group.rows, reason=group.reason, by=group.by)
            if loaded:
                yield loaded


def pull(memory: tms.Memory, package: str) -> tms.Report:
    """Pull a package, put it back, check that all is as before; return what pulling did."""
    pulled = memory.unretract(f"Pulled:{package}", reason="what if it were pulled?")
    put_back = memory.retract(f"Pulled:{package}", reason="put back")
    assert put_back.died == pulled.revived
    assert put_back.believed_after == pulled.believed_before
    return pulled


def main(path: str, database: str) -> None:
    """Tell the story on one file of packages."""
    with tms.open(database) as memory:
        started = time.perf_counter()
        for loaded in take_in(memory, path):
            print(loaded)
        print(f"taken in within {time.perf_counter() - started:.1f} s\n")
        for package in PULLED:
            started = time.perf_counter()
            try:
                report = pull(memory, package)
            except tms.NoSuchNode:
                print(f"pull {package:<10} cannot be done: it is not in this file")
                continue
            spent = time.perf_counter() - started
            print(f"pull {package:<10} breaks {len(report.revived):>6,} packages", end="")
            print(f"   (there and back in {spent:.2f} s)")
        print(f"\nand when all is put back, {len(list(memory.holding()))} packages are broken")
        print(f"verify: {memory.verify(revisions=3)}")


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    if len(sys.argv) == 3:
        main(*sys.argv[1:])
    else:
        with tempfile.TemporaryDirectory() as folder:
            main(sys.argv[1], str(Path(folder, "debian.db")))
