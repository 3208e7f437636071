"""Results: frozen models, camelCase as JSON, and a text form made to be read."""

import json
from collections.abc import Sized
from datetime import datetime
from enum import StrEnum
from typing import Any, Generic, Literal, TypeVar

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel

from tms.clock import iso, period
from tms.content import line
from tms.refs import Anchor, Ref

Item = TypeVar("Item")

_SHOWN = 20


def _lines(lines: list[str]) -> str:
    return "\n".join(map(line, lines))


def _more(before: str, items: Sized, most: int | None) -> str:
    rest = 0 if most is None else len(items) - most
    return f"{before}{rest:,} more" if rest > 0 else ""


def _owner(scope: str) -> list[str]:
    return [f"  scope      {scope}"] if scope else []


def _window(valid_from: datetime | None, valid_to: datetime | None) -> list[str]:
    told = period(valid_from, valid_to)
    return [f"  valid      {told}"] if told else []


class Model(BaseModel):
    """The base of every result: frozen, camelCase as JSON, tuples for lists."""

    model_config = ConfigDict(
        frozen=True,
        alias_generator=to_camel,
        validate_by_name=True,
        validate_by_alias=True,
        serialize_by_alias=True,
        extra="forbid",
        arbitrary_types_allowed=True,
        defer_build=True,
    )

    def to_json(self) -> str:
        """Return the JSON form. The same result is always the same text."""
        return self.model_dump_json()


class Status(StrEnum):
    """Support status. OUT is not "false": nothing that holds supports it."""

    IN = "IN"
    OUT = "OUT"


class Node(Model):
    """A source or a fact, as it was at the revision asked about.

    Attributes:
        ref: its name.
        role: ``source`` or ``fact``.
        status: IN or OUT.
        retracted: its own switch is off.
        valid_from, valid_to: when it holds in the world; None is open.
        content: the newest content version, or None.
        version: number of that version, 0 without content.
        redacted: that version was redacted, so its content is None.
        support: id of the justification an IN fact rests on.
        declared: the commit that declared it.
        scope: who owns it; empty for what is shared.
    """

    ref: Ref
    role: Literal["source", "fact"]
    status: Status
    retracted: bool
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    content: dict[str, Any] | None
    version: int
    redacted: bool = False
    support: str | None
    declared: Anchor
    scope: str = ""

    def __str__(self) -> str:
        lines = [f"{self.ref}  {self.role}, {self.status}{', retracted' * self.retracted}"]
        if self.support is not None:
            lines.append(f"  rests on   justification:{self.support}")
        if self.content is not None:
            text = json.dumps(self.content, ensure_ascii=False)
            lines.append(f"  content    {text}  (version {self.version})")
        elif self.redacted:
            lines.append(f"  content    redacted  (version {self.version})")
        lines += _window(self.valid_from, self.valid_to)
        lines.append(f"  declared   {self.declared}")
        lines += _owner(self.scope)
        return _lines(lines)


class Justification(Model):
    """A justification, as it was at the revision asked about.

    Attributes:
        ref: its name, ``justification:<id>``.
        status: IN while it fires: it is on and valid, and all its premises are IN.
        retracted: its own switch is off.
        valid_from, valid_to: when it holds in the world; None is open.
        premises: what it needs; empty for an axiom.
        derives: what it concludes.
        rule: what it was drawn by (Doyle's informant).
        declared: the commit that declared it.
        scope: who owns it; empty for what is shared.
    """

    ref: Ref
    status: Status
    retracted: bool
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    premises: tuple[Ref, ...]
    derives: tuple[Ref, ...]
    rule: str | None
    declared: Anchor
    scope: str = ""

    def __str__(self) -> str:
        fires = "fires" if self.status is Status.IN else "does not fire"
        lines = [f"{self.ref}  {fires}{', retracted' * self.retracted}"]
        if self.rule is not None:
            lines.append(f"  rule       {self.rule}")
        lines.append(f"  premises   {', '.join(self.premises) or 'none (an axiom)'}")
        lines.append(f"  derives    {', '.join(self.derives)}")
        lines += _window(self.valid_from, self.valid_to)
        lines.append(f"  declared   {self.declared}")
        lines += _owner(self.scope)
        return _lines(lines)


class Survivor(Model):
    """A fact that stayed IN although a firing justification of it stopped firing.

    Attributes:
        fact: which.
        via: ids of the justifications of it that fire after the commit.
        lost: ids of those that stopped firing in it.
        support: the one of ``via`` that it rests on, well-founded.
    """

    fact: Ref
    via: tuple[str, ...]
    lost: tuple[str, ...]
    support: str

    @property
    def ref(self) -> Ref:
        """The fact, so that a survivor is taken wherever a ref is."""
        return self.fact

    def __str__(self) -> str:
        return line(f"{self.fact}  via {', '.join(self.via)}  (lost {', '.join(self.lost)})")


class Settled(Model):
    """Something whose window opened or closed between two commits.

    Attributes:
        ref: a source, a fact or a justification.
        cause: ``began`` or ``expired``.
        at: when.
    """

    ref: Ref
    cause: Literal["began", "expired"]
    at: datetime

    def __str__(self) -> str:
        return line(f"{self.ref}  {self.cause} {iso(self.at)}")


class Report(Model):
    """What a commit did to belief. Falsy when nothing changed.

    It is a function of the record: ``memory.report(anchor)`` gives the same at any later time.

    Attributes:
        op: the verb.
        changed: whether there was a commit.
        before, after: the head before and after; the same when nothing changed. A preview of a
            change has no ``after``.
        targets: the refs whose switch was turned; of a single declaration or revision, that ref.
        died: facts that went from IN to OUT.
        revived: facts that came IN.
        survived_via: facts that stayed IN but lost a firing justification.
        settled: what began or expired since the commit before, in the order of time; it was settled
            in the same commit.
        reason, by: as they were given.
        believed_before, believed_after: how many facts are IN.
    """

    op: str
    changed: bool
    before: Anchor | None
    after: Anchor | None
    targets: tuple[Ref, ...]
    died: tuple[Ref, ...]
    revived: tuple[Ref, ...]
    survived_via: tuple[Survivor, ...]
    settled: tuple[Settled, ...] = ()
    reason: str | None
    by: str | None
    believed_before: int
    believed_after: int

    def __bool__(self) -> bool:
        return self.changed

    def __str__(self) -> str:
        return self.text(most=_SHOWN)

    def text(self, *, most: int | None = None) -> str:
        """Return the text form; ``str(report)`` is the same, cut after 20 refs of a change.

        Args:
            most: how many refs of each change are named; None for all.
        """
        if not self.changed:
            return f"{self.op}: nothing changed; {self.believed_after:,} facts believed"
        lines = [self.op]
        if self.targets:
            lines[0] += f" {', '.join(self.targets[:most])}{_more(' and ', self.targets, most)}"
        if self.reason is not None or self.by is not None:
            lines.append(f"  because    {self.reason or '-'}  (by {self.by or '-'})")
        lines.append(f"  commit     {self.after or 'none, this is a preview'}")
        for name, items in (
            ("died", self.died),
            ("revived", self.revived),
            ("survived", self.survived_via),
            ("settled", self.settled),
        ):
            if items:
                lines.append(f"  {name:<10} {len(items):,}")
                lines += [f"    {item}" for item in items[:most]]
                if rest := _more("    … ", items, most):
                    lines.append(rest)
        lines.append(f"  believed   {self.believed_before:,} → {self.believed_after:,}")
        return _lines(lines)


class Page(Model, Generic[Item]):
    """A page of an answer.

    Attributes:
        items: at most as many as were asked for.
        next_cursor: give it as ``after`` for the next page; None on the last.
    """

    items: tuple[Item, ...]
    next_cursor: str | None

    def __str__(self) -> str:
        lines = [str(item) for item in self.items]
        if self.next_cursor is not None:
            lines.append(f"more after {self.next_cursor}")
        return "\n".join(lines)


class Loaded(Model):
    """What a load took in.

    Attributes:
        changed: whether there was a commit.
        before, after: the head before and after.
        rows: how many rows were read.
        sources, facts, justifications: how many were new.
        switched: how many switches were turned.
        believed_before, believed_after: how many facts are IN.
    """

    changed: bool
    before: Anchor | None
    after: Anchor | None
    rows: int
    sources: int
    facts: int
    justifications: int
    switched: int
    believed_before: int
    believed_after: int

    def __bool__(self) -> bool:
        return self.changed

    def __str__(self) -> str:
        return (
            f"{self.rows:,} rows: {self.sources:,} new sources, {self.facts:,} new facts, "
            f"{self.justifications:,} new justifications, {self.switched:,} switches turned; "
            f"believed {self.believed_before:,} → {self.believed_after:,}"
            + (f"; {self.after}" if self.changed else "; nothing changed")
        )


class Finding(Model):
    """One way in which a file is unsound.

    Attributes:
        rule: which promise is broken, kebab-case.
        message: what is wrong, in a sentence.
        count: how often.
        examples: up to five.
    """

    rule: str
    message: str
    count: int
    examples: tuple[str, ...]

    def __str__(self) -> str:
        return line(f"{self.rule}: {self.message} ({self.count:,}: {', '.join(self.examples)})")


class Verification(Model):
    """Whether the file keeps its promises. Truthy when it does.

    Attributes:
        findings: what is wrong; empty when sound.
        revisions: the revisions whose labels were worked out from scratch and compared.
    """

    findings: tuple[Finding, ...]
    revisions: tuple[int, ...]

    def __bool__(self) -> bool:
        return not self.findings

    def __str__(self) -> str:
        checked = f"labels compared at {len(self.revisions):,} revisions"
        if not self.findings:
            return f"sound; {checked}"
        return "\n".join([f"unsound; {checked}", *(f"  {found}" for found in self.findings)])
