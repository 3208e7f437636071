"""Why something is IN."""

import json
from collections.abc import Iterator
from typing import Any, Literal

from tms.answers.phrases import recorded
from tms.content import line
from tms.models import Model, Status
from tms.refs import Anchor, Ref


class Because(Model):
    """A justification that fires for a fact.

    Attributes:
        ref: which.
        rule: what it was drawn by.
        premises: what it needs; empty for an axiom.
        supports: the fact rests on it.
        circular: it fires only because the fact itself is IN, so it could not hold it up; None if
            that was not found out within the limits.
        recorded: the commit that recorded it.
        by, reason: of that commit.
    """

    ref: Ref
    rule: str | None
    premises: tuple[Ref, ...]
    supports: bool
    circular: bool | None
    recorded: Anchor
    by: str | None
    reason: str | None

    def __str__(self) -> str:
        kind = "by" if self.supports else "also by"
        parts = [f"{kind} {self.ref}"]
        if self.rule is not None:
            parts.append(f"rule {self.rule}")
        if self.circular is not False:
            parts.append("circular" if self.circular else "perhaps circular")
        parts.append(recorded(self.recorded, self.by, self.reason))
        needs = f"from {', '.join(self.premises)}" if self.premises else "an axiom"
        return line("  ".join([*parts, needs]))


class Step(Model):
    """A node of a derivation.

    Attributes:
        ref, role: which.
        depth: how many supports lead there from what was asked, at least.
        content: its newest content at that commit.
        recorded: the commit that declared it.
        by, reason: of that commit.
        because: what fires for it, its support first; empty for a source.
    """

    ref: Ref
    role: Literal["source", "fact"]
    depth: int
    content: dict[str, Any] | None
    recorded: Anchor
    by: str | None
    reason: str | None
    because: tuple[Because, ...]

    def __str__(self) -> str:
        parts = [f"{self.ref}  {self.role}"]
        if self.content is not None:
            parts.append(json.dumps(self.content, ensure_ascii=False))
        parts.append(recorded(self.recorded, self.by, self.reason))
        return "\n".join([line("  ".join(parts)), *(f"  {item}" for item in self.because)])


class Why(Model):
    """A well-founded derivation. Falsy when what was asked about is OUT.

    It iterates over its steps. Each node stands in it once, and after some node that needs it.

    Attributes:
        ref, status: what was asked about.
        at: the commit asked about.
        steps: its nodes, from what was asked about down to sources and axioms.
        truncated: something was left out because of a limit.
    """

    ref: Ref
    status: Status
    at: Anchor | None
    steps: tuple[Step, ...]
    truncated: bool

    def __bool__(self) -> bool:
        return self.status is Status.IN

    def __iter__(self) -> Iterator[Step]:  # type: ignore[override]
        return iter(self.steps)

    def __str__(self) -> str:
        lines = [line(f"{self.ref}  {self.status}")]
        lines += [f"  {part}" for step in self.steps for part in str(step).split("\n")]
        if not self:
            lines.append("  nothing that fires derives it; why_not tells what it waits for")
        if self.truncated:
            lines.append("  … truncated")
        return "\n".join(lines)
