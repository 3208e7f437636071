"""A naive memory, the judge of the engine: it imports nothing of it and labels from scratch.

``World`` has the writing verbs of a memory. It keeps one whole snapshot a revision, and works out
belief by adding whatever a justification derives until nothing is added any more. A justification
is what it says: its premises, its conclusions and its rule.
"""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, NamedTuple

Content = Mapping[str, Any] | None


class Said(NamedTuple):
    """A justification."""

    premises: frozenset[str]
    conclusions: frozenset[str]
    rule: str | None


Target = str | Said
"""What has a switch: a node by its ref, a justification by its ref or by what it says."""


class Node(NamedTuple):
    role: str
    version: int
    content: str | None
    base: tuple[int, str | None]  # version and content that a revision in this commit starts from


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
        return said in self.justifications and said not in self.off and said.premises <= self.held

    def firing(self, fact: str) -> set[Said]:
        return {
            said for said in self.justifications if fact in said.conclusions and self.fires(said)
        }

    def relabel(self) -> None:
        self.held = least_fixpoint(
            [ref for ref, node in self.nodes.items() if node.role == "source"],
            {said: (said.premises, said.conclusions) for said in self.justifications},
            self.off,
        )


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
        believed_before=len(were),
        believed_after=len(are),
    )


def _targets(before: Snapshot, after: Snapshot) -> set[Target]:
    if after.op in ("source", "fact", "revise"):
        known = before.nodes
        return {
            ref
            for ref, node in after.nodes.items()
            if ref not in known or node.version != known[ref].version
        }
    if after.op in ("justify", "axiom"):
        return set(after.justifications.keys() - before.justifications.keys())
    return before.off ^ after.off


class World:
    """A memory by other means.

    Attributes:
        now: what the clock says, in milliseconds since 1970.
        revisions: a snapshot for each, from revision 0, the empty world.
    """

    def __init__(self) -> None:
        self.now = 0
        self.revisions = [Snapshot()]
        self._draft: _Draft | None = None

    @property
    def head(self) -> Snapshot:
        return self.revisions[-1]

    # ------------------------------------------------------------ commits

    @contextmanager
    def batch(
        self, *, reason: str | None = None, by: str | None = None, op: str = "batch"
    ) -> Iterator[None]:
        if self._draft is not None:
            kept = self._draft.copy()
            try:
                self._draft.say(reason, by)
                yield
            except BaseException:
                self._draft = kept
                raise
            return
        self._draft = _Draft.on(self.head)
        try:
            yield
            self._close(op, reason, by)
        finally:
            self._draft = None

    def _close(self, op: str, reason: str | None, by: str | None) -> None:
        draft, head = self._draft, self.head
        assert draft is not None
        nodes = {ref: node._replace(base=node[1:3]) for ref, node in draft.nodes.items()}
        after = Snapshot(
            revision=head.revision + 1,
            at=max(self.now, head.at) if head.revision else self.now,
            op=op,
            reason="; ".join(draft.reasons) or None if reason is None else reason,
            by=", ".join(draft.by) or None if by is None else by,
            nodes=nodes,
            justifications=draft.justifications,
            off=draft.off,
        )
        if (after.nodes, after.justifications, after.off) != (
            head.nodes,
            head.justifications,
            head.off,
        ):
            after.relabel()
            self.revisions.append(after)

    # ------------------------------------------------------------ verbs

    def source(self, ref: str, *, content: Content = None) -> None:
        self._declare("source", ref, content)

    def fact(self, ref: str, *, content: Content = None) -> None:
        self._declare("fact", ref, content)

    def _declare(self, role: str, ref: str, content: Content) -> None:
        with self.batch(op=role):
            nodes, text = self._draft.nodes, canonical(content)
            found = nodes.get(ref)
            if found is None:
                if ref.startswith("justification:"):
                    raise Refused("invalid-ref", "content-conflict")
                version = 0 if text is None else 1
                nodes[ref] = Node(role, version, text, (version, text))
            elif found.role != role:
                raise Refused("content-conflict")
            elif text is not None and found.content is None:
                nodes[ref] = found._replace(version=1, content=text)
            elif text is not None and found.content != text:
                raise Refused("content-conflict")

    def revise(
        self, ref: str, *, content: Content, reason: str | None = None, by: str | None = None
    ) -> None:
        with self.batch(op="revise", reason=reason, by=by):
            node = self._draft.nodes.get(ref)
            if node is None:
                raise Refused("no-such-node", "no-such-justification", "invalid-ref")
            text = canonical(content)
            version = node.base[0] + (text != node.base[1])
            self._draft.nodes[ref] = node._replace(version=version, content=text)

    def justify(
        self,
        conclusions: Iterable[str],
        premises: Iterable[str],
        *,
        rule: str | None = None,
        id: str | None = None,
    ) -> Said:
        needs, said = list(premises), Said(frozenset(premises), frozenset(conclusions), rule)
        if not needs:
            raise Refused("invalid-justification")
        return self._justify("justify", said, id)

    def axiom(
        self, conclusions: Iterable[str], *, rule: str | None = None, id: str | None = None
    ) -> Said:
        return self._justify("axiom", Said(frozenset(), frozenset(conclusions), rule), id)

    def _justify(self, op: str, said: Said, id: str | None) -> Said:
        with self.batch(op=op):
            draft = self._draft
            codes = set()
            for ref in said.conclusions:
                if ref in said.premises or (ref in draft.nodes and draft.nodes[ref].role != "fact"):
                    codes.add("invalid-justification")
            if any(ref.startswith("justification:") for ref in said.premises | said.conclusions):
                codes.add("invalid-justification")
            if not said.premises <= draft.nodes.keys():
                codes.add("no-such-node")
            if not said.conclusions:
                codes.add("invalid-justification")
            if id is not None and draft.named(id) not in (None, said):
                codes.add("content-conflict")
            if codes:
                raise Refused(*codes)
            if said not in draft.justifications:
                draft.justifications[said] = id
                for ref in sorted(said.conclusions, key=by_ref):
                    draft.nodes.setdefault(ref, Node("fact", 0, None, (0, None)))
        return said

    def retract(
        self, refs: Iterable[Target], *, reason: str | None = None, by: str | None = None
    ) -> None:
        with self.batch(op="retract", reason=reason, by=by):
            self._draft.off |= {self._target(ref) for ref in refs}

    def unretract(
        self, refs: Iterable[Target], *, reason: str | None = None, by: str | None = None
    ) -> None:
        with self.batch(op="unretract", reason=reason, by=by):
            self._draft.off -= {self._target(ref) for ref in refs}

    def _target(self, ref: Target) -> Target:
        if isinstance(ref, Said):
            if ref not in self._draft.justifications:
                raise Refused("no-such-justification")
            return ref
        if ref.startswith("justification:"):
            said = self._draft.named(ref.partition(":")[2])
            if said is None:
                raise Refused("no-such-justification")
            return said
        if ref not in self._draft.nodes:
            raise Refused("no-such-node")
        return ref

    def load(
        self, rows: Iterable[Mapping[str, Any]], *, reason: str | None = None, by: str | None = None
    ) -> None:
        with self.batch(op="load", reason=reason, by=by):
            for row in rows:
                self._row(**row)

    def _row(self, **row: Any) -> None:
        match row:
            case {"source": ref}:
                self.source(ref, content=row.get("content"))
            case {"fact": ref}:
                self.fact(ref, content=row.get("content"))
            case {"justification": id, "premises": premises, "derives": derives}:
                self.justify(derives, premises, rule=row.get("rule"), id=id)
            case {"axiom": refs}:
                self.axiom(_many(refs), rule=row.get("rule"), id=row.get("id"))
            case {"retract": refs}:
                self.retract(_many(refs), reason=row.get("reason"), by=row.get("by"))
            case {"unretract": refs}:
                self.unretract(_many(refs), reason=row.get("reason"), by=row.get("by"))
            case _:
                raise Refused("invalid-content")


@dataclass
class _Draft:
    """An open commit."""

    nodes: dict[str, Node]
    justifications: dict[Said, str | None]
    off: set[Target]
    reasons: list[str] = field(default_factory=list)
    by: list[str] = field(default_factory=list)

    @classmethod
    def on(cls, head: Snapshot) -> "_Draft":
        return cls(dict(head.nodes), dict(head.justifications), set(head.off))

    def copy(self) -> "_Draft":
        return _Draft(
            dict(self.nodes),
            dict(self.justifications),
            set(self.off),
            list(self.reasons),
            list(self.by),
        )

    def named(self, id: str) -> Said | None:
        return next((said for said, known in self.justifications.items() if known == id), None)

    def say(self, reason: str | None, by: str | None) -> None:
        for text, kept in ((reason, self.reasons), (by, self.by)):
            if text is not None and text not in kept:
                kept.append(text)


def canonical(content: Content) -> str | None:
    return None if content is None else json.dumps(content, sort_keys=True)


def by_ref(ref: str) -> tuple[str, str]:
    """Sort refs by (kind, id)."""
    kind, _, id = ref.partition(":")
    return kind, id


def _many(refs: str | Iterable[str]) -> Iterable[str]:
    return [refs] if isinstance(refs, str) else refs
