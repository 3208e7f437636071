"""What happened: the entries of the log, the changes of a commit, and the life of one thing."""

import json
from datetime import datetime
from typing import Any, Literal

from tms.clock import period
from tms.content import line
from tms.models import Model, Settled, Survivor
from tms.refs import Anchor, Ref


class Commit(Model):
    """One entry of the log.

    Attributes:
        anchor: its name.
        op: the verb.
        reason, by: as they were given.
        died, revived: how many facts went from IN to OUT, and came IN.
        believed: how many facts are IN after it.
    """

    anchor: Anchor
    op: str
    reason: str | None
    by: str | None
    died: int
    revived: int
    believed: int

    def __str__(self) -> str:
        said = "  ".join(text for text in (self.reason, self.by and f"by {self.by}") if text)
        moved = f"-{self.died:,} +{self.revived:,} = {self.believed:,}"
        return line(f"{self.anchor}  {self.op:<9} {moved}  {said}".rstrip())


class Change(Model):
    """One thing that a commit changed.

    Attributes:
        what: ``died``, ``revived``, ``survived`` or ``settled``.
        ref: to what; of what was settled a source, a fact or a justification, else a fact.
        survivor: how it survived.
        settled: how it was settled.
    """

    what: Literal["died", "revived", "survived", "settled"]
    ref: Ref
    survivor: Survivor | None = None
    settled: Settled | None = None

    def __str__(self) -> str:
        return line(f"{self.what:<9}{self.survivor or self.settled or self.ref}")


class Event(Model):
    """One thing that happened to a node or a justification.

    Attributes:
        what: ``declared``, ``revised`` (a content version), ``valid`` (another window),
            ``redacted`` (its contents so far were removed), ``retracted``, ``unretracted``, ``in``
            (came IN), ``out`` (went OUT), or ``moved`` (stayed IN on another support). In a pruned
            file the first is ``pruned`` for what was on record by then: how it stood at the
            baseline, with its content, its window and its support.
        anchor: the commit.
        op, reason, by: of that commit.
        support: id of the justification that it rests on from then on.
        content: the version it was given then; None if that was redacted.
        valid_from, valid_to: the window it was given then; None is open.
        because: what moved with it in that commit. Of ``in``: what came IN, was recorded or was
            unretracted of its new support and its premises, and itself if it was unretracted or is
            a source. Of ``out`` and ``moved``: what went OUT or was retracted of its previous
            support and its premises, and itself if it was retracted. If the previous support of
            what ``moved`` stands again by the end of the commit: what was retracted below it.
    """

    what: Literal[
        "declared",
        "revised",
        "valid",
        "redacted",
        "retracted",
        "unretracted",
        "in",
        "out",
        "moved",
        "pruned",
    ]
    anchor: Anchor
    op: str
    reason: str | None
    by: str | None
    support: str | None = None
    content: dict[str, Any] | None = None
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    because: tuple[Ref, ...] = ()

    @property
    def valid(self) -> str:
        """The window it was given then, in words; empty if it was given none."""
        told = period(self.valid_from, self.valid_to)
        return told or ("always" if self.what == "valid" else "")

    def __str__(self) -> str:
        parts = [f"{self.anchor}  {self.what:<11}"]
        if self.support is not None:
            parts.append(f"via {self.support}")
        if self.because:
            parts.append(f"because of {', '.join(self.because)}")
        if self.content is not None:
            parts.append(json.dumps(self.content, ensure_ascii=False))
        if told := self.valid:
            parts.append(told)
        if self.reason is not None:
            parts.append(self.reason)
        if self.by is not None:
            parts.append(f"by {self.by}")
        return line("  ".join(parts).rstrip())
