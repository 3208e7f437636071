"""What each kind of answer shows: a function for each, from the answer to a picture."""

import json
from collections.abc import Iterable, Sequence
from functools import singledispatch
from itertools import chain
from typing import Any

from tms.answers import Diff, Impact, Lack, Link, Near, Neighbourhood, Step, Waiting, Why, WhyNot
from tms.clock import iso
from tms.errors import InvalidArgument
from tms.models import Report, Settled, Status
from tms.refs import JUSTIFICATION, Anchor, Ref
from tms.render.sketch import MOST, Kind, Known, Picture, Role, Sketch, Tree


def picture(answer: object, *, most: int = MOST) -> Picture:
    """Return what an answer shows.

    Args:
        answer: what ``why``, ``why_not``, ``impact``, ``neighbourhood``, ``report``, a verb that
            writes, or ``diff`` returned.
        most: at most so many nodes; what is left out is counted.

    Raises:
        InvalidArgument: there is no picture of such a thing, or the limit is out of range.

    Cost: grows with the answer.
    """
    return sketched(answer).picture(most)


@singledispatch
def sketched(answer: object) -> Sketch:
    """Return all that an answer shows."""
    raise InvalidArgument(
        f"there is no picture of a {type(answer).__name__}.",
        hint="Give the answer to a question: what why, why_not, impact, diff … returned.",
    )


TRUNCATED = "the answer was cut at a limit: there is more"
_OUTSIDE = "not valid"


def _idle(item: Waiting | Near | Link) -> list[str]:
    """Return why something supports nothing of itself."""
    return ["retracted"] * item.retracted + [_OUTSIDE] * item.outside


@sketched.register
def _(why: Why) -> Sketch:
    sketch = Sketch(f"Why {why.ref} is {why.status}")
    sketch.spot(why.ref, status=why.status.value, marks=["asked"])
    sketch.notes += as_of(why.at)
    for step in why:
        _step(sketch, step)
        if step.depth == 0 and step.ref != why.ref:
            sketch.edge(step.ref, why.ref, "premise")
    if not why:
        sketch.notes.append("nothing that fires derives it; why_not tells what it waits for")
    if why.truncated:
        sketch.notes.append(TRUNCATED)
    sketch.trees.append(Tree("", (why.ref,), forward=False))
    return sketch


def _step(sketch: Sketch, step: Step) -> None:
    details = {**_record(step), "content": _content(step.content)}
    sketch.spot(step.ref, step.role, "IN", details=details)
    for item in step.because:
        details = _record(item)
        if item.circular is None:
            details["note"] = "perhaps circular"
        sketch.spot(item.ref, status="IN", rule=item.rule, details=details)
        kind: Kind = "supports" if item.supports else "circular" if item.circular else "derives"
        sketch.edge(item.ref, step.ref, kind)
        for premise in item.premises:
            sketch.spot(premise, status="IN")
            sketch.edge(premise, item.ref, "premise")


@sketched.register
def _(why_not: WhyNot) -> Sketch:
    sketch = Sketch(f"Why {why_not.ref} is {why_not.status}")
    sketch.spot(why_not.ref, status=why_not.status.value, marks=["asked"])
    sketch.notes += as_of(why_not.at)
    for lack in why_not:
        details = {
            "OUT since": _since(lack),
            "through": lack.op,
            "of": ", ".join(lack.because),
            "by": lack.by,
            "reason": lack.reason,
            "content": _content(lack.content),
        }
        sketch.spot(lack.ref, lack.role, "OUT", details=details)
        if lack.depth == 0 and lack.ref != why_not.ref:
            sketch.edge(lack.ref, why_not.ref, "premise")
        for item in lack.waiting:
            _waiting(sketch, item, lack.ref)
    for ref in why_not.retracted:
        sketch.spot(ref, status="OUT", marks=["retracted"])
    for ref in why_not.outside:
        sketch.spot(ref, status="OUT", marks=[_OUTSIDE])
    for circle in why_not.circles:
        sketch.notes.append(f"an ungrounded circle: {_some(circle)}")
        for ref in circle:
            sketch.spot(ref, marks=["in a circle"])
    for repair in why_not.repairs:
        sketch.notes.append(f"would be IN with {_some(repair)}")
        for ref in repair:
            sketch.spot(ref, marks=["would help"])
    if why_not and not why_not.repairs:
        sketch.notes.append("no sources to bring back would make it IN")
    if why_not.truncated:
        sketch.notes.append(TRUNCATED)
    sketch.trees.append(Tree("", (why_not.ref,), forward=False))
    return sketch


def _since(lack: Lack) -> str:
    if lack.since is None:
        return "at this instant, no commit says so"
    return f"{lack.since}" + ("" if lack.was_in else " (it never was IN)")


def _waiting(sketch: Sketch, item: Waiting, fact: Ref) -> None:
    marks = _idle(item)
    sketch.spot(item.ref, status="OUT", rule=item.rule, marks=marks, details=_record(item))
    sketch.edge(item.ref, fact, "derives")
    for status, premises in (("OUT", item.missing), ("IN", item.holding)):
        for premise in premises:
            sketch.spot(premise, status="IN" if status == "IN" else "OUT")
            sketch.edge(premise, item.ref, "premise")


@sketched.register
def _(impact: Impact) -> Sketch:
    sketch = Sketch(f"If {impact.ref} were retracted")
    source = bool(impact.reached) and impact.reached[0].ref != impact.ref
    role: Role = "source" if source else "node"
    sketch.spot(impact.ref, role, "OUT", marks=["asked", "retracted"])
    sketch.notes += as_of(impact.at)
    counts = (
        ("die", impact.died),
        ("survive", impact.survived),
        ("untouched", impact.untouched),
        ("out of reach", impact.out_of_reach),
    )
    told = ", ".join(f"{count:,} {word}" for word, count in counts)
    sketch.notes.append(f"of {impact.believed:,} facts believed: {told}")
    if not impact:
        sketch.notes.append("nothing rests on it")
    for item in impact:
        died = item.fate == "died"
        marks = [] if item.ref == impact.ref else [item.fate]
        sketch.spot(item.ref, "fact", "OUT" if died else "IN", marks=marks)
        if item.through is not None:
            lost = died or item.through.id in item.lost
            sketch.spot(item.through, status="OUT" if lost else "IN")
            sketch.edge(item.through, item.ref, "lost" if lost else "derives")
            if item.previous not in (None, item.through):
                sketch.edge(str(item.previous), item.through, "premise")
        _kept(sketch, item.ref, item.via, item.lost)
    if impact.truncated:
        sketch.notes.append(TRUNCATED)
    sketch.trees.append(Tree("", (impact.ref,), forward=True))
    return sketch


def _kept(
    sketch: Sketch,
    fact: Ref,
    via: Sequence[str],
    lost: Sequence[str],
    support: str | None = None,
    group: int = 0,
) -> None:
    """Show the justifications that a survivor keeps and those that it loses."""
    sketch.spot(fact, details={"via": ", ".join(via), "lost": ", ".join(lost)})
    for id in via:
        ref = Ref.kept(JUSTIFICATION, id)
        sketch.spot(ref, status="IN", group=group)
        sketch.edge(ref, fact, "supports" if id == support else "derives")
    for id in lost:
        ref = Ref.kept(JUSTIFICATION, id)
        sketch.spot(ref, status="OUT", group=group)
        sketch.edge(ref, fact, "lost")


@sketched.register
def _(near: Neighbourhood) -> Sketch:
    sketch = Sketch(f"What stands around {near.ref}")
    sketch.spot(near.ref, status=near.status.value, marks=["asked"])
    steps = f"{near.depth:,} justification{'s' * (near.depth != 1)}"
    sketch.notes += [*as_of(near.at), f"within {steps}, whether they fire or not"]
    supports = {node.ref: node.support for node in near}
    for node in near:
        _near(sketch, node)
    for link in near.justifications:
        _link(sketch, link, supports)
    if near.truncated:
        sketch.notes.append(TRUNCATED)
    sketch.trees.append(Tree("what it rests on", (near.ref,), forward=False))
    sketch.trees.append(Tree("what rests on it", (near.ref,), forward=True))
    return sketch


def _near(sketch: Sketch, node: Near) -> None:
    sketch.spot(
        node.ref,
        node.role,
        node.status.value,
        marks=_idle(node),
        details={**_record(node), "content": _content(node.content)},
    )


def _link(sketch: Sketch, link: Link, supports: dict[Ref, str | None]) -> None:
    marks = _idle(link)
    fires = link.status is Status.IN
    details = _record(link)
    sketch.spot(link.ref, status=link.status.value, rule=link.rule, marks=marks, details=details)
    for premise in link.premises:
        sketch.spot(premise, status="IN" if fires else "")
        sketch.edge(premise, link.ref, "premise")
    for fact in link.derives:
        sketch.spot(fact, "fact")
        sketch.edge(link.ref, fact, "supports" if supports.get(fact) == link.ref.id else "derives")


@sketched.register
def _(report: Report) -> Sketch:
    targets = _some(report.targets)
    word = {"retract": "retracted", "unretract": "unretracted"}.get(report.op, "target")
    off: Known = "OUT" if word == "retracted" else ""
    groups = (
        (word, report.targets),
        ("died", report.died),
        ("revived", report.revived),
        ("survived", report.survived_via),
        ("settled", report.settled),
    )
    title = f"{report.op} {targets}".rstrip() if report.changed else f"{report.op}: nothing changed"
    preview = report.changed and report.after is None
    sketch = Sketch(
        f"What if: {title}" if preview else title,
        [f"{word} {len(items):,}" for word, items in groups],
    )
    sketch.notes += ["a preview: nothing was done"] if preview else []
    sketch.notes += as_of(report.before if preview else report.after)
    if report.reason is not None or report.by is not None:
        sketch.notes.append(f"because: {report.reason or '-'} (by {report.by or '-'})")
    sketch.notes.append(f"believed {report.believed_before:,} → {report.believed_after:,}")
    for ref in report.targets:
        sketch.spot(ref, status=off, marks=[word], group=0)
    for ref in report.died:
        sketch.spot(ref, "fact", "OUT", marks=["died"], group=1)
    for ref in report.revived:
        sketch.spot(ref, "fact", "IN", marks=["revived"], group=2)
    for survivor in report.survived_via:
        sketch.spot(survivor.fact, "fact", "IN", marks=["survived"], group=3)
        _kept(sketch, survivor.fact, survivor.via, survivor.lost, survivor.support, group=3)
    for ref, passed in _passed(report.settled):
        details = {"at": ", ".join(iso(item.at) for item in passed)}
        sketch.spot(ref, marks=[item.cause for item in passed], group=4, details=details)
    _told(sketch, ((title, [_ref(item) for item in items]) for title, items in groups))
    return sketch


@sketched.register
def _(diff: Diff) -> Sketch:
    groups: tuple[tuple[str, Known, Sequence[object]], ...] = (
        ("died", "OUT", diff.died),
        ("revived", "IN", diff.revived),
        ("retracted", "OUT", diff.retracted),
        ("unretracted", "", diff.unretracted),
        ("added", "", (*diff.added, *diff.new_justifications)),
        ("missing", "", (*diff.missing, *diff.missing_justifications)),
        ("revised", "", diff.revised),
        ("revalidated", "", diff.revalidated),
    )
    sketch = Sketch(
        f"From revision {diff.before.revision} to revision {diff.after.revision}",
        [f"{word} {len(items):,}" for word, _, items in groups],
    )
    sketch.notes += [f"from {diff.before}", f"to {diff.after}"]
    if not diff:
        sketch.notes.append("no difference")
    for place, (word, status, items) in enumerate(groups):
        role: Role = "fact" if word in ("died", "revived") else "node"
        for item in items:
            sketch.spot(_ref(item), role, status, marks=[word], group=place)
    for item in diff.revised:
        sketch.spot(item.ref, details={"version": f"{item.before} → {item.after}"})
    for change in diff.revalidated:
        sketch.spot(change.ref, details={"valid": change.change})
    _told(sketch, ((word, [_ref(item) for item in items]) for word, _, items in groups))
    return sketch


def _passed(settled: Iterable[Settled]) -> Iterable[tuple[Ref, list[Settled]]]:
    """Return what began or expired, each once, with all that happened to it."""
    by_ref: dict[Ref, list[Settled]] = {}
    for item in settled:
        by_ref.setdefault(item.ref, []).append(item)
    return by_ref.items()


def _told(sketch: Sketch, groups: Iterable[tuple[str, Sequence[Ref]]]) -> None:
    for title, refs in groups:
        if refs:
            sketch.trees.append(Tree(f"{title} {len(refs):,}", tuple(refs), forward=False))


def _ref(item: Any) -> Ref:
    return item if isinstance(item, Ref) else item.ref


def _some(refs: Sequence[Ref]) -> str:
    more = [f"{len(refs) - 3:,} more"] if len(refs) > 3 else []
    return " and ".join(chain(filter(None, [", ".join(refs[:3])]), more))


def as_of(at: Anchor | None) -> list[str]:
    """Return the note that tells which commit was asked about."""
    return [] if at is None else [f"as of {at}"]


def _record(item: Any) -> dict[str, str | None]:
    return {"recorded": str(item.recorded), "by": item.by, "reason": item.reason}


def _content(content: dict[str, Any] | None) -> str | None:
    return None if content is None else json.dumps(content, ensure_ascii=False, indent=2)
