"""All that a memory answers about the commits from one on, to compare one file with another."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from seeing import scan

import tms


def answers(memory: tms.Memory, since: int, instants: list[datetime]) -> Iterator[tuple[str, ...]]:
    """Yield what is asked with what is answered, of every commit from a revision on.

    Left out is what a file that begins with it does not know: the report of that commit, what
    happened up to it, and because of what something is OUT since then.
    """
    anchors = [commit.anchor for commit in memory.log() if commit.anchor.revision >= since]
    yield "head", str(memory.head)
    for commit in memory.log():
        if commit.anchor in anchors:
            yield "log", commit.to_json()
    yield "log after", *(commit.to_json() for commit in memory.log(after=anchors[0]))
    for anchor in anchors[1:]:
        yield "report", memory.report(anchor).to_json()
    for place, one in enumerate(anchors):
        for other in anchors[place :: 1 + len(anchors) // 4]:
            yield "diff", memory.diff(one, other).to_json()
            yield "diff", memory.diff(other, one).to_json()
        yield "anchor at", str(memory.anchor_at(one.at))
    for place, anchor in enumerate(anchors[:: 1 + len(anchors) // 3]):
        yield from _seen(memory.as_of(recorded=anchor), since, str(anchor), every=2)
        for instant in instants[place::4]:
            view = memory.as_of(recorded=anchor, valid=instant)
            yield from _seen(view, since, f"{anchor} {instant}", every=5)
    for instant in instants[::3]:
        yield from _seen(memory.as_of(valid=instant), since, str(instant), every=5)
    yield from _seen(memory, since, "now")
    stats = memory.stats().model_dump_json(exclude={"bytes", "pruned"})
    yield "stats", stats


def _seen(
    reader: tms.Memory | tms.View, since: int, when: str, *, every: int = 1
) -> Iterator[tuple[str, ...]]:
    nodes = list(scan(reader, 1000))
    justifications = {f"justification:{node.support}" for node in nodes if node.support}
    yield when, "scan", *(node.to_json() for node in nodes)
    yield when, "scan in pages", *(node.to_json() for node in scan(reader, 3))
    yield when, "holding", *reader.holding()
    for place, ref in enumerate([*(node.ref for node in nodes), *sorted(justifications)]):
        if place % every:
            continue
        yield when, "get", reader.get(ref).to_json()
        yield when, "believes", ref, str(reader.believes(ref))
        yield when, "history", ref, *_life(reader, ref, since)
        yield when, "why", reader.why(ref).to_json()
        yield when, "why not", _why_not(reader.why_not(ref), since)
        yield when, "impact", reader.impact(ref).to_json()
        if place % 4 == 0:
            yield when, "around", reader.neighbourhood(ref, depth=2).to_json()
            yield when, "what if", _preview(reader.what_if(retract=[ref]))
            yield when, "what if", _preview(reader.what_if(unretract=[ref]))
            yield when, "environments", reader.environments(ref).to_json()
            yield when, "cuts", reader.cuts(ref).to_json()
    yield when, "critical", reader.critical().to_json()


def _preview(report: tms.Report) -> str:
    return report.to_json()


def _life(reader: tms.Memory | tms.View, ref: str, since: int) -> Iterator[str]:
    for event in reader.history(ref):
        if event.anchor.revision > since:
            yield event.to_json()


def _why_not(found: tms.WhyNot, since: int) -> str:
    told: dict[str, Any] = found.model_dump(mode="json")
    for lack in told["lacks"]:
        if lack["since"] is not None and tms.Anchor(lack["since"]).revision <= since:
            lack["because"], told["truncated"] = [], True
    return str(told)
