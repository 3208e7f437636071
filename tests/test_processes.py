"""Several processes on one file: every outcome is one that some order of them has."""

import subprocess
import sys
from pathlib import Path

import pytest

import tms

ROUNDS = 250

OTHER = """
import sys, time, tms
path, first = sys.argv[1], sys.argv[2] == "first"
with tms.open(path, timeout=60) as memory:
    for line in sys.stdin:
        source = line.strip()
        if first:
            with memory.batch(by="other"):
                memory.retract(source)
                print("inside", flush=True)
                time.sleep(0.002)
        else:
            print("now", flush=True)
            memory.retract(source, by="other")
        print("done", flush=True)
"""


@pytest.mark.parametrize("order", ["first", "second"])
def test_c13_what_a_batch_has_read_stays_true_until_it_is_kept(tmp_path: Path, order: str) -> None:
    path = tmp_path / "memory.db"
    with tms.open(path, timeout=60) as memory:
        with memory.batch():
            for i in range(ROUNDS):
                memory.source(f"S:{i}")
                memory.justify(f"P:{i}", f"S:{i}")
        built_on = memory.head
        args = [sys.executable, "-c", OTHER, path, order]
        with subprocess.Popen(
            args, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as other:
            assert other.stdin is not None
            assert other.stdout is not None

            def tell(ref: str) -> None:
                assert other.stdin is not None
                other.stdin.write(f"{ref}\n")
                other.stdin.flush()

            for i in range(ROUNDS):
                if order == "first":
                    tell(f"S:{i}")
                    assert other.stdout.readline() == "inside\n"
                with memory.batch(by="this") as batch:
                    stood = memory.believes(f"P:{i}")
                    if order == "second":
                        tell(f"S:{i}")  # it waits for this batch, however long that takes
                        assert other.stdout.readline() == "now\n"
                    memory.justify(f"Q:{i}", f"P:{i}")
                    assert memory.believes(f"P:{i}") == stood == (order == "second")
                assert other.stdout.readline() == "done\n"
                assert batch.report.revived == ((f"Q:{i}",) if stood else ())
                assert not memory.believes(f"P:{i}")
                assert not memory.believes(f"Q:{i}")
            other.stdin.close()
        assert other.returncode == 0
        assert memory.head.revision == built_on.revision + 2 * ROUNDS
        turns = [commit.by for commit in memory.log(after=built_on)]
        assert turns == (["other", "this"] if order == "first" else ["this", "other"]) * ROUNDS
        assert memory.verify(revisions=None)
