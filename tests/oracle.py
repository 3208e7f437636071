"""A naive memory, the judge of the engine: it imports nothing of it and labels from scratch.

``World`` has the writing verbs of a memory. It keeps one whole snapshot a revision, and works out
belief by adding whatever a justification derives until nothing is added any more. A justification
is what it says: its premises, its conclusions, its rule and its window.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from snapshot import (
    ALWAYS,
    Content,
    Node,
    Refused,
    Said,
    Snapshot,
    Survivor,
    Target,
    Told,
    Valid,
    by_ref,
    canonical,
    least_fixpoint,
    settled,
    told,
)

__all__ = [
    "Node",
    "Refused",
    "Said",
    "Snapshot",
    "Survivor",
    "Target",
    "Told",
    "World",
    "by_ref",
    "canonical",
    "least_fixpoint",
    "told",
]


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
            redacted=draft.redacted,
        )
        after.instant = 1000 * after.at
        same = (after.nodes, after.justifications, after.off) == (
            head.nodes,
            head.justifications,
            head.off,
        )
        if (
            not same
            or draft.redacted is not None
            or (draft.settling and settled(head, after.instant))
        ):
            after.relabel()
            self.revisions.append(after)

    # ------------------------------------------------------------ verbs

    def source(self, ref: str, *, content: Content = None, **valid: Any) -> None:
        self._declare("source", ref, content, **valid)

    def fact(self, ref: str, *, content: Content = None, **valid: Any) -> None:
        self._declare("fact", ref, content, **valid)

    def _declare(
        self, role: str, ref: str, content: Content, valid_from: Any = None, valid_to: Any = None
    ) -> None:
        valid = _window(valid_from, valid_to)
        with self.batch(op=role):
            nodes, text = self._draft.nodes, canonical(content)
            found = nodes.get(ref)
            if found is None:
                if ref.startswith("justification:"):
                    raise Refused("invalid-ref", "content-conflict")
                version = 0 if text is None else 1
                nodes[ref] = Node(role, version, text, (version, text), valid)
            elif (
                found.role != role
                or valid not in (ALWAYS, found.valid)
                or (text is not None and found.content is None and found.version)
            ):
                raise Refused("content-conflict")
            elif text is not None and found.content is None:
                nodes[ref] = found._replace(version=1, content=text)
            elif text is not None and found.content != text:
                raise Refused("content-conflict")

    def revise(
        self,
        ref: str,
        *,
        content: Content = None,
        reason: str | None = None,
        by: str | None = None,
        **valid: Any,
    ) -> None:
        with self.batch(op="revise", reason=reason, by=by):
            node = self._draft.nodes.get(ref)
            if node is None:
                raise Refused("no-such-node", "no-such-justification", "invalid-ref")
            if valid:
                start = valid.get("valid_from", node.valid[0])
                node = node._replace(valid=_window(start, valid.get("valid_to", node.valid[1])))
            if content is not None:
                text = canonical(content)
                version = node.base[0] + (text != node.base[1])
                node = node._replace(version=version, content=text)
            self._draft.nodes[ref] = node

    def justify(
        self,
        conclusions: Iterable[str],
        premises: Iterable[str],
        *,
        rule: str | None = None,
        id: str | None = None,
        valid_from: Any = None,
        valid_to: Any = None,
    ) -> Said:
        valid = _window(valid_from, valid_to)
        needs, said = list(premises), Said(frozenset(premises), frozenset(conclusions), rule, valid)
        if not needs:
            raise Refused("invalid-justification")
        return self._justify("justify", said, id)

    def axiom(
        self,
        conclusions: Iterable[str],
        *,
        rule: str | None = None,
        id: str | None = None,
        valid_from: Any = None,
        valid_to: Any = None,
    ) -> Said:
        valid = _window(valid_from, valid_to)
        return self._justify("axiom", Said(frozenset(), frozenset(conclusions), rule, valid), id)

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

    def settle(self, *, reason: str | None = None, by: str | None = None) -> None:
        with self.batch(op="settle", reason=reason, by=by):
            self._draft.settling = True

    def redact(self, ref: str, *, reason: str | None = None, by: str | None = None) -> None:
        with self.batch(op="redact", reason=reason, by=by):
            if ref not in self._draft.nodes:
                raise Refused("no-such-node")
            for snapshot in (*self.revisions, self._draft):
                node = snapshot.nodes.get(ref)
                if node is not None and node.content is not None:
                    self._draft.redacted = ref
                    base = (node.base[0], None)
                    snapshot.nodes[ref] = node._replace(content=None, base=base)

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
                self.source(ref, content=row.get("content"), **_bounds(row))
            case {"fact": ref}:
                self.fact(ref, content=row.get("content"), **_bounds(row))
            case {"justification": id, "premises": premises, "derives": derives}:
                self.justify(derives, premises, rule=row.get("rule"), id=id, **_bounds(row))
            case {"axiom": refs}:
                self.axiom(_many(refs), rule=row.get("rule"), id=row.get("id"), **_bounds(row))
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
    settling: bool = False
    redacted: str | None = None
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
            self.settling,
            self.redacted,
            list(self.reasons),
            list(self.by),
        )

    def named(self, id: str) -> Said | None:
        return next((said for said, known in self.justifications.items() if known == id), None)

    def say(self, reason: str | None, by: str | None) -> None:
        for text, kept in ((reason, self.reasons), (by, self.by)):
            if text is not None and text not in kept:
                kept.append(text)


def _window(valid_from: datetime | None, valid_to: datetime | None) -> Valid:
    start, end = (
        bound
        if bound is None or isinstance(bound, int)
        else (bound - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)
        for bound in (valid_from, valid_to)
    )
    if start is not None and end is not None and start >= end:
        raise Refused("invalid-window")
    return start, end


def _bounds(row: Mapping[str, Any]) -> dict[str, Any]:
    return {key: row[key] for key in ("valid_from", "valid_to") if key in row}


def _many(refs: str | Iterable[str]) -> Iterable[str]:
    return [refs] if isinstance(refs, str) else refs
