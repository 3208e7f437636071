"""Answers to questions about belief: frozen models like every result."""

import json
from collections.abc import Iterator, Sequence
from typing import Any, Literal

from tms.content import line
from tms.models import Model, Status
from tms.refs import Anchor, Ref

_SHOWN = 20


class Revised(Model):
    """A node whose newest content differs between two commits.

    Attributes:
        ref: which.
        before, after: the number of its newest content version at each; 0 is none.
    """

    ref: Ref
    before: int
    after: int

    def __str__(self) -> str:
        return line(f"{self.ref}  version {self.before} → {self.after}")


class Diff(Model):
    """How two recorded commits differ. Falsy when they do not.

    It tells the net difference: what came and went in between is not in it, but for versions of
    contents, which only grow. From the later to the earlier commit it is the mirror image.

    Attributes:
        before, after: the two commits, in the order asked.
        died: facts IN at ``before`` that are not IN at ``after``.
        revived: facts IN at ``after`` that were not IN at ``before``.
        added, missing: sources and facts on record only at ``after``, only at ``before``.
        new_justifications, missing_justifications: the same of justifications.
        retracted: what is switched off at ``after`` and was not at ``before``.
        unretracted: what was switched off at ``before`` and is not at ``after``.
        revised: what was on record at both, with another version of its content as the newest; that
            may say the same as before, if it was revised there and back.
    """

    before: Anchor
    after: Anchor
    died: tuple[Ref, ...]
    revived: tuple[Ref, ...]
    added: tuple[Ref, ...]
    missing: tuple[Ref, ...]
    new_justifications: tuple[Ref, ...]
    missing_justifications: tuple[Ref, ...]
    retracted: tuple[Ref, ...]
    unretracted: tuple[Ref, ...]
    revised: tuple[Revised, ...]

    def _parts(self) -> list[tuple[str, Sequence[object]]]:
        return [
            ("died", self.died),
            ("revived", self.revived),
            ("added", self.added),
            ("missing", self.missing),
            ("new justifications", self.new_justifications),
            ("missing justifications", self.missing_justifications),
            ("retracted", self.retracted),
            ("unretracted", self.unretracted),
            ("revised", self.revised),
        ]

    def __bool__(self) -> bool:
        return any(items for _, items in self._parts())

    def __str__(self) -> str:
        return self.text(most=_SHOWN)

    def text(self, *, most: int | None = None) -> str:
        """Return the text form; ``str(diff)`` is the same, cut after 20 refs of each kind.

        Args:
            most: how many refs of each kind are named; None for all.
        """
        lines = [f"from {self.before}", f"to   {self.after}"]
        if not self:
            lines.append("  no difference")
        for name, items in self._parts():
            if items:
                lines.append(f"  {name}  {len(items):,}")
                lines += [f"    {line(item)}" for item in items[:most]]
                if most is not None and len(items) > most:
                    lines.append(f"    … {len(items) - most:,} more")
        return "\n".join(lines)


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
        parts.append(_recorded(self.recorded, self.by, self.reason))
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
        parts.append(_recorded(self.recorded, self.by, self.reason))
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
            lines.append("  nothing that fires derives it")
        if self.truncated:
            lines.append("  … truncated")
        return "\n".join(lines)


def _recorded(anchor: Anchor, by: str | None, reason: str | None) -> str:
    said = "".join([f", by {by}" if by else "", f": {reason}" if reason else ""])
    return f"(revision {anchor.revision}, {anchor.at:%Y-%m-%d %H:%M}{said})"
