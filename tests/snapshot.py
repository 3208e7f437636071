"""What a naive memory holds at one revision, labelled from scratch without the engine."""

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, NamedTuple, Self

Content = Mapping[str, Any] | None


Valid = tuple[int | None, int | None]
"""A window: from when until when, in microseconds; None is open."""

ALWAYS: Valid = (None, None)


def inside(valid: Valid, instant: int) -> bool:
    start, end = valid
    return (start is None or start <= instant) and (end is None or instant < end)


class Said(NamedTuple):
    """A justification."""

    premises: frozenset[str]
    conclusions: frozenset[str]
    rule: str | None
    valid: Valid = ALWAYS


Target = str | Said
"""What has a switch: a node by its ref, a justification by its ref or by what it says."""


class Node(NamedTuple):
    role: str
    version: int
    content: str | None
    base: tuple[int, str | None]  # version and content that a revision in this commit starts from
    valid: Valid = ALWAYS


class Refused(Exception):
    """A verb that must be refused, with the codes any of which is a fitting answer."""

    def __init__(self, *codes: str) -> None:
        super().__init__(*codes)
        self.codes = frozenset(codes)


def least_fixpoint(
    sources: Iterable[Any],
    justifications: Mapping[Any, tuple[Collection[Any], Collection[Any]]],
    off: Collection[Any],
) -> set[Any]:
    """Return what is IN, given justifications as (premises, conclusions)."""
    held = {source for source in sources if source not in off}
    while True:
        derived = {
            fact
            for key, (premises, conclusions) in justifications.items()
            if key not in off and all(premise in held for premise in premises)
            for fact in conclusions
            if fact not in off
        }
        if derived <= held:
            return held
        held |= derived


@dataclass
class Snapshot:
    """All of a world at one revision."""

    revision: int = 0
    at: int = 0
    op: str = ""
    reason: str | None = None
    by: str | None = None
    nodes: dict[str, Node] = field(default_factory=dict)
    justifications: dict[Said, str | None] = field(default_factory=dict)  # with the given ids
    off: set[Target] = field(default_factory=set)
    held: set[str] = field(default_factory=set)
    outside: set[Target] = field(default_factory=set)
    redacted: str | None = None  # whose contents went in this commit
    instant: int = 0  # in microseconds; that of the commit, unless it is looked at from elsewhere

    def seen_at(self, instant: int) -> Self:
        """Return this revision as it is at another instant."""
        seen = replace(self, instant=instant)
        seen.relabel()
        return seen

    @property
    def idle(self) -> set[Target]:
        """What supports nothing: it is off, or outside its window."""
        return self.off | self.outside

    @property
    def bounds(self) -> set[int]:
        """All instants at which something opens or closes."""
        windows = [node.valid for node in self.nodes.values()]
        windows += [said.valid for said in self.justifications]
        return {bound for window in windows for bound in window if bound is not None}

    @property
    def facts(self) -> list[str]:
        """The facts that are IN, by (kind, id)."""
        return sorted((ref for ref in self.held if self.nodes[ref].role == "fact"), key=by_ref)

    @property
    def anchor(self) -> str | None:
        if self.revision == 0:
            return None
        moment = datetime(1970, 1, 1) + timedelta(milliseconds=self.at)
        return f"r1:{self.revision:016d}:{moment.isoformat(timespec='milliseconds')}Z"

    def fires(self, said: Said) -> bool:
        return (
            said in self.justifications
            and said not in self.off
            and said not in self.outside
            and said.premises <= self.held
        )

    def firing(self, fact: str) -> set[Said]:
        return {
            said for said in self.justifications if fact in said.conclusions and self.fires(said)
        }

    def relabel(self) -> None:
        windows: dict[Target, Valid] = {ref: node.valid for ref, node in self.nodes.items()}
        windows |= {said: said.valid for said in self.justifications}
        self.outside = {key for key, valid in windows.items() if not inside(valid, self.instant)}
        self.held = least_fixpoint(
            [ref for ref, node in self.nodes.items() if node.role == "source"],
            {said: (said.premises, said.conclusions) for said in self.justifications},
            self.idle,
        )


class Settled(NamedTuple):
    at: int
    target: Target
    began: bool


class Survivor(NamedTuple):
    fact: str
    via: frozenset[Said]
    lost: frozenset[Said]


class Told(NamedTuple):
    """What a commit did."""

    op: str
    reason: str | None
    by: str | None
    before: str | None
    after: str | None
    targets: frozenset[Target]
    died: list[str]
    revived: list[str]
    survived: list[Survivor]
    settled: set[Settled]
    believed_before: int
    believed_after: int


def told(before: Snapshot, after: Snapshot) -> Told:
    """Compare two snapshots that follow one another."""
    were, are = set(before.facts), set(after.facts)
    survived = []
    for fact in sorted(were & are, key=by_ref):
        via = after.firing(fact)
        lost = before.firing(fact) - via
        if lost:
            survived.append(Survivor(fact, frozenset(via), frozenset(lost)))
    return Told(
        op=after.op,
        reason=after.reason,
        by=after.by,
        before=before.anchor,
        after=after.anchor,
        targets=frozenset(_targets(before, after)),
        died=sorted(were - are, key=by_ref),
        revived=sorted(are - were, key=by_ref),
        survived=survived,
        settled=settled(before, after.instant),
        believed_before=len(were),
        believed_after=len(are),
    )


def settled(before: Snapshot, upto: int) -> set[Settled]:
    """Return what began or expired after a commit up to an instant."""
    if not before.revision:
        return set()
    windows: list[tuple[Target, Valid]] = [(ref, node.valid) for ref, node in before.nodes.items()]
    windows += [(said, said.valid) for said in before.justifications]
    return {
        Settled(bound, target, began)
        for target, valid in windows
        for began, bound in ((True, valid[0]), (False, valid[1]))
        if bound is not None and before.instant < bound <= upto
    }


def _targets(before: Snapshot, after: Snapshot) -> set[Target]:
    if after.op in ("source", "fact", "revise"):
        known = before.nodes
        return {
            ref
            for ref, node in after.nodes.items()
            if ref not in known or node[1:5:3] != known[ref][1:5:3]  # version, valid
        }
    if after.redacted is not None:
        return {after.redacted}
    if after.op in ("justify", "axiom"):
        return set(after.justifications.keys() - before.justifications.keys())
    return before.off ^ after.off


def canonical(content: Content) -> str | None:
    return None if content is None else json.dumps(content, sort_keys=True)


def by_ref(ref: str) -> tuple[str, str]:
    """Sort refs by (kind, id)."""
    kind, _, id = ref.partition(":")
    return kind, id
