"""What stands around something, whether it fires or not."""

import json
from collections.abc import Iterator
from typing import Any, Literal

from tms.answers.phrases import recorded
from tms.content import line
from tms.models import Model, Status
from tms.refs import Anchor, Ref


class Near(Model):
    """A source or a fact close to what was asked about.

    Attributes:
        ref, role: which.
        status: IN or OUT.
        retracted: its own switch is off.
        outside: the instant asked about is outside its window.
        down: how many justifications lead from what was asked about back to it, at least; None if
            that does not rest on it, or only from further away.
        up: how many justifications lead from what was asked about on to it, at least; likewise.
        support: id of the justification an IN fact rests on.
        content: its newest content at that commit.
        recorded: the commit that declared it.
        by, reason: of that commit.
    """

    ref: Ref
    role: Literal["source", "fact"]
    status: Status
    retracted: bool
    outside: bool = False
    down: int | None
    up: int | None
    support: str | None
    content: dict[str, Any] | None
    recorded: Anchor
    by: str | None
    reason: str | None

    def __str__(self) -> str:
        marks = f"{', retracted' * self.retracted}{', not valid' * self.outside}"
        parts = [f"{self.ref}  {self.role}, {self.status}{marks}"]
        if self.content is not None:
            parts.append(json.dumps(self.content, ensure_ascii=False))
        parts.append(recorded(self.recorded, self.by, self.reason))
        return line("  ".join(parts))


class Link(Model):
    """A justification close to what was asked about.

    Attributes:
        ref: which.
        rule: what it was drawn by.
        status: IN while it fires: it is on and valid, and all its premises are IN.
        retracted: its own switch is off.
        outside: the instant asked about is outside its window.
        premises: what it needs; empty for an axiom.
        derives: what it concludes.
        recorded: the commit that recorded it.
        by, reason: of that commit.
    """

    ref: Ref
    rule: str | None
    status: Status
    retracted: bool
    outside: bool = False
    premises: tuple[Ref, ...]
    derives: tuple[Ref, ...]
    recorded: Anchor
    by: str | None
    reason: str | None

    def __str__(self) -> str:
        fires = "fires" if self.status is Status.IN else "does not fire"
        marks = f"{', retracted' * self.retracted}{', not valid' * self.outside}"
        parts = [f"{self.ref}  {fires}{marks}"]
        if self.rule is not None:
            parts.append(f"rule {self.rule}")
        parts.append(f"from {', '.join(self.premises)}" if self.premises else "an axiom")
        parts.append(f"to {', '.join(self.derives)}")
        return line("  ".join(parts))


class Neighbourhood(Model):
    """What something rests on and what rests on it, on record and close by.

    It iterates over its nodes; it is falsy when there is no justification in it.

    Attributes:
        ref, status: what was asked about.
        at: the commit asked about.
        depth: how many justifications away the search went, both ways.
        nodes: the nodes within that, the nearest first; of a justification without itself.
        justifications: those passed on the way, firing or not. The nodes that they name may be
            beside the way, and then stand in no ``nodes``.
        truncated: something within that depth was left out because of a limit.
    """

    ref: Ref
    status: Status
    at: Anchor | None
    depth: int
    nodes: tuple[Near, ...]
    justifications: tuple[Link, ...]
    truncated: bool

    def __bool__(self) -> bool:
        return bool(self.justifications)

    def __iter__(self) -> Iterator[Near]:  # type: ignore[override]
        return iter(self.nodes)

    def __str__(self) -> str:
        lines = [f"{self.ref}  {self.status}"]
        for title, nodes in (
            ("itself", [node for node in self.nodes if node.down == 0]),
            ("what it rests on", [node for node in self.nodes if node.down]),
            ("what rests on it", [node for node in self.nodes if node.up]),
        ):
            lines += [f"  {title}"] if nodes else []
            lines += [f"    {node}" for node in nodes]
        if self.justifications:
            lines.append("  through")
        lines += [f"    {link}" for link in self.justifications]
        if self.truncated:
            lines.append("  … more, left out because of a limit")
        return "\n".join(map(line, lines))
