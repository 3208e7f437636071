"""Why something is OUT."""

import json
from collections.abc import Iterator
from typing import Any, Literal

from tms.answers.phrases import recorded
from tms.content import line
from tms.models import Model, Status
from tms.refs import Anchor, Ref


class Waiting(Model):
    """A justification of something that is OUT.

    It does not fire, unless the fact that it derives is switched off itself.

    Attributes:
        ref: which.
        rule: what it was drawn by.
        retracted: its own switch is off.
        outside: the instant asked about is outside its window.
        missing: its premises that are OUT.
        holding: its premises that are IN.
        recorded: the commit that recorded it.
        by, reason: of that commit.
    """

    ref: Ref
    rule: str | None
    retracted: bool
    outside: bool = False
    missing: tuple[Ref, ...]
    holding: tuple[Ref, ...]
    recorded: Anchor
    by: str | None
    reason: str | None

    def __str__(self) -> str:
        fires = not (self.retracted or self.outside or self.missing)
        parts = [f"{'by' if fires else 'not by'} {self.ref}"]
        if self.rule is not None:
            parts.append(f"rule {self.rule}")
        if self.retracted:
            parts.append("retracted")
        if self.outside:
            parts.append("not valid")
        parts.append(recorded(self.recorded, self.by, self.reason))
        if self.missing:
            parts.append(f"misses {', '.join(self.missing)}")
        if self.holding:
            parts.append(f"has {', '.join(self.holding)}")
        return line("  ".join(parts))


class Lack(Model):
    """A node that is OUT, and what it waits for.

    Attributes:
        ref, role: which.
        depth: how many missing premises lead there from what was asked, at least.
        content: its newest content at that commit.
        retracted: its own switch is off.
        outside: the instant asked about is outside its window.
        since: the commit since which it is OUT: the one that put it OUT, or that declared it. None
            if it is OUT only at the instant asked about, and was IN at the commit.
        was_in: it was IN before that.
        op, by, reason: of that commit.
        because: what was switched off in that commit under the support that it had, up to 20; empty
            if it never was IN, or if the limits, or pruning the file, left it out.
        waiting: its justifications, as they were recorded, up to 20; one that fires is the first.
            Empty for a source.
    """

    ref: Ref
    role: Literal["source", "fact"]
    depth: int
    content: dict[str, Any] | None
    retracted: bool
    outside: bool = False
    since: Anchor | None
    was_in: bool
    op: str | None
    by: str | None
    reason: str | None
    because: tuple[Ref, ...]
    waiting: tuple[Waiting, ...]

    def __str__(self) -> str:
        parts = [f"{self.ref}  {self.role}"]
        if self.retracted:
            parts.append("retracted")
        if self.outside:
            parts.append("not valid")
        if self.since is None:
            parts.append("OUT at this instant, no commit says so")
        else:
            parts.append("OUT since" if self.was_in else "never IN, declared")
            parts.append(recorded(self.since, self.by, self.reason))
        if self.because:
            parts.append(f"because of {', '.join(self.because)}")
        if self.content is not None:
            parts.append(json.dumps(self.content, ensure_ascii=False))
        if self.role == "fact" and not self.waiting:
            parts.append("nothing derives it")
        return "\n".join([line("  ".join(parts)), *(f"  {item}" for item in self.waiting)])


class WhyNot(Model):
    """What something that is OUT waits for. Falsy when it is IN.

    It iterates over its lacks. Each node stands in it once, and after some node that misses it.

    Attributes:
        ref, status: what was asked about.
        at: the commit asked about.
        lacks: the nodes that are OUT, from what was asked about down to what is switched off or
            has no justification. Of a justification: those that it misses, and so on down.
        retracted: what is switched off among all that, the nearest first: sources, facts and
            justifications.
        outside: what is outside its window among all that, likewise.
        circles: ungrounded circles: facts in a circle of missing premises, with a justification
            that waits for nothing but some of them, so that they would only hold each other up.
        repairs: the smallest sets of retracted sources any of which, brought back, would make it
            IN; the smallest first. Empty if no sources would.
        truncated: something was left out because of a limit, or is not known because the file
            was pruned.
    """

    ref: Ref
    status: Status
    at: Anchor | None
    lacks: tuple[Lack, ...]
    retracted: tuple[Ref, ...]
    outside: tuple[Ref, ...] = ()
    circles: tuple[tuple[Ref, ...], ...]
    repairs: tuple[tuple[Ref, ...], ...]
    truncated: bool

    def __bool__(self) -> bool:
        return self.status is Status.OUT

    def __iter__(self) -> Iterator[Lack]:  # type: ignore[override]
        return iter(self.lacks)

    def __str__(self) -> str:
        lines = [line(f"{self.ref}  {self.status}")]
        lines += [f"  {part}" for lack in self.lacks for part in str(lack).split("\n")]
        if self.retracted:
            lines.append(line(f"  retracted: {', '.join(self.retracted)}"))
        if self.outside:
            lines.append(line(f"  not valid: {', '.join(self.outside)}"))
        for circle in self.circles:
            lines.append(line(f"  an ungrounded circle: {', '.join(circle)}"))
        for repair in self.repairs:
            lines.append(line(f"  would be IN with {', '.join(repair)}"))
        if self and not self.repairs:
            lines.append("  no sources to bring back would make it IN")
        if self.truncated:
            lines.append("  … more, left out because of a limit")
        return "\n".join(lines)
