"""What tamper evidence costs: the share of a commit, and of a check, that goes into its digest."""

import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from unittest.mock import patch

import tms
from benchmarks.families import FAMILIES
from benchmarks.measures import fresh
from benchmarks.rows import Row, at_most
from benchmarks.suite import Suite
from benchmarks.timing import timed
from tms.store import Chain

LARGEST = 10
"""The share of a commit, in per cent, that its digest may take."""


def share(what: str, work: Callable[[], object], aim: float | None = LARGEST) -> Row:
    """Return the row of the share of some work that is spent inside the chain."""
    spent: list[float] = []
    worked_out = Chain.next

    def watched(chain: Chain, said: Mapping[str, Any]) -> bytes:
        started = time.perf_counter()
        digest = worked_out(chain, said)
        spent.append(time.perf_counter() - started)
        return digest

    with patch.object(Chain, "next", watched):
        whole = timed(work)
    part, inside = 100 * sum(spent) / whole, sum(spent)
    note = f"{inside * 1e3:,.1f} of {whole * 1e3:,.1f} ms, {len(spent):,} digests"
    what = f"digest of {what}"
    return (
        Row(what, part, "%", note=note) if aim is None else at_most(what, part, "%", aim, note=note)
    )


def rows(suite: Suite) -> Iterator[Row]:
    """Measure the share of small commits, loads, large retractions and a check of the file."""
    n, count, path = suite.scale.facts, suite.scale.commits, suite.folder / "digests.db"
    with tms.open(fresh(path)) as held:
        held.source("Run:0")

        def commit() -> None:
            for i in range(count):
                held.justify(f"Fact:{i}", "Run:0", rule="bench")

        yield share(f"{count:,} commits of a fact and a justification", commit)
        yield share(f"all {count:,} commits, in verify", lambda: held.verify(revisions=1), None)
    for name in ("memory", "fan"):
        given = list(FAMILIES[name].rows(n))
        with tms.open(fresh(path)) as held:
            yield share(f"load {name}({n:,})", lambda: held.load(given))  # noqa: B023
    said = [{"source": f"Page:{i}", "content": {"text": "x" * 100, "n": i}} for i in range(n)]
    with tms.open(fresh(path)) as held:
        yield share(f"load {n:,} contents", lambda: held.load(said))
    for name in ("fan", "security", "chain"):
        source = FAMILIES[name].withdrawn
        with tms.open(suite.world(name, n).path) as held:
            held.retract(source)
            held.unretract(source)  # so that both are warm
            yield share(f"retract {name}({n:,})", lambda: held.retract(source))  # noqa: B023
            yield share(f"unretract {name}({n:,})", lambda: held.unretract(source))  # noqa: B023
