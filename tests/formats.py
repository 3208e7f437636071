"""Makes the files in ``tests/formats``: one story, as each format of the file tells it.

``python -m tests.formats`` makes those of the present format, ``N.db`` and ``N-pruned.db``, each
with what it must answer beside it, for ever. They are made once, when a format is released: what
exists is not made again.
"""

import json
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import tms
from tms.store.layout import FORMAT

FOLDER = Path(__file__).with_suffix("")
BEGUN = datetime(2026, 1, 1, tzinfo=UTC)
READ = BEGUN + timedelta(days=1000)


class Ticking:
    """A clock that goes on by an hour and a bit at each look."""

    def __init__(self) -> None:
        self._now = BEGUN

    def __call__(self) -> datetime:
        self._now += timedelta(hours=1, microseconds=1_001)
        return self._now


def tell(memory: tms.Memory) -> tms.Anchor:
    """Record something of every kind; return an anchor from the middle."""
    feed = memory.source("VulnFeed:2026-07-21", content={"rows": 3, "text": "naïve 🧠", "n": None})
    trial = memory.source("Trial:1", valid_from=BEGUN, valid_to=BEGUN + timedelta(hours=20))
    later = memory.source("Later:1", valid_from=BEGUN + timedelta(days=500))
    memory.axiom("Policy:1", rule="house rule")
    memory.justify("Vulnerable:svc-14", [feed], rule="feed says so", id="by-feed")
    memory.justify("Vulnerable:svc-14", [trial])
    memory.justify("Vulnerable:svc-22", [feed], valid_to=BEGUN + timedelta(days=900), id="short")
    memory.justify(["Block:svc-14", "Page:svc-14"], ["Vulnerable:svc-14", "Policy:1"], id="block")
    memory.justify("Block:svc-22", ["Vulnerable:svc-22", "Policy:1"], rule="block")
    memory.justify("Ring:1", [later], id="ground")
    memory.justify("Ring:2", ["Ring:1"], id="up")
    memory.justify("Ring:1", ["Ring:2"], id="down")
    memory.source("Odd:a:b\0'\"\n\U0001f719", content={"deep": [{"er": [1.5, True]}]})
    memory.revise(feed, content={"rows": 4}, reason="recount", by="importer")
    memory.retract(feed, reason="bad mapping", by="oncall")
    memory.fact("Alone:1")
    middle = memory.unretract(feed, reason="mapping repaired").after
    memory.retract(["Vulnerable:svc-22", "justification:block"], reason="false alarm")
    with memory.batch(reason="nightly", by="agent-7"):
        memory.unretract("justification:block")
        memory.source("AgentRun:7", content={"seed": 11})
        memory.justify("Owner:svc-14", "AgentRun:7", rule="catalogue")
    memory.revise("Trial:1", valid_to=BEGUN + timedelta(days=800), reason="prolonged")
    memory.redact("AgentRun:7", reason="asked for", by="privacy")
    memory.settle(reason="nightly")
    memory.retract("Policy:1")
    memory.subscribe("mail").acknowledge(middle)
    return middle


def tell_as_alice(memory: tms.Memory) -> None:
    """Record something of another scope, on what is shared."""
    memory.source("Note:1", content={"text": "hers"}, valid_to=BEGUN + timedelta(days=700))
    memory.source("VulnFeed:2026-07-21", content={"rows": "her own"})
    memory.justify("Plan:1", ["Note:1", "Vulnerable:svc-14"], rule="mine")
    memory.retract("VulnFeed:2026-07-21", reason="hers is wrong", by="alice")
    memory.subscribe("mail").acknowledge(memory.head)


def all_answers(path: Path, **options: Any) -> dict[str, Any]:
    """Ask a file what the story is asked, as the shared scope and as another."""
    with tms.open(path, clock=lambda: READ, **options) as memory:
        told = answers(memory)
    with tms.open(path, scope="alice", clock=lambda: READ, **options) as memory:
        return {**told, "alice": answers(memory)}


def answers(memory: tms.Memory) -> dict[str, Any]:
    """Ask a memory what the story is asked."""
    log = list(memory.log())
    scan = memory.scan().items
    anchors = [commit.anchor for commit in log]
    return {
        "log": [_json(commit) for commit in log],
        "reports": {
            anchor: _json(memory.report(anchor))
            for anchor in anchors[1 if memory.believed_during("Policy:1").truncated else 0 :]
        },
        "holding": {anchor: list(memory.as_of(recorded=anchor).holding()) for anchor in anchors},
        "valid": {
            str(days): list(memory.as_of(valid=BEGUN + timedelta(days=days)).holding())
            for days in (-1, 0, 1, 600, 850, 950)
        },
        "scan": [_json(node) for node in scan],
        "history": {node.ref: [_json(event) for event in memory.history(node)] for node in scan},
        "why": {ref: _json(memory.why(ref)) for ref in memory.holding()},
        "changes": [report.after for report in memory.subscribe("mail")],
    }


def _json(result: Any) -> Any:
    return json.loads(result.to_json())


def make(folder: Path) -> Iterator[Path]:
    """Make the files of the present format; yield each when it is there, with its answers."""
    whole, pruned = folder / f"{FORMAT}.db", folder / f"{FORMAT}-pruned.db"
    for path in (whole, pruned, *(path.with_suffix(".json") for path in (whole, pruned))):
        if path.exists():
            raise FileExistsError(f"{path} is made once and kept for ever.")
    folder.mkdir(exist_ok=True)
    clock = Ticking()
    with (
        tms.open(whole, clock=clock) as memory,
        tms.open(whole, scope="alice", clock=clock) as alice,
    ):
        middle = tell(memory)
        tell_as_alice(alice)
        memory.retract("VulnFeed:2026-07-21")
        memory.prune(before=middle, path=pruned, reason="too long", by="keeper")
    for path in (whole, pruned):
        text = json.dumps(all_answers(path), ensure_ascii=False, indent=1, sort_keys=True)
        path.with_suffix(".json").write_text(text + "\n", "utf-8")
        yield path


if __name__ == "__main__":
    try:
        for made in make(FOLDER):
            sys.stdout.write(f"{made}\n")
    except FileExistsError as error:
        sys.exit(str(error))
