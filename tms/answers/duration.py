"""How long: when something holds in the world, and between which commits it was IN."""

from collections.abc import Iterator
from datetime import datetime

from tms.clock import iso
from tms.content import line
from tms.models import Model
from tms.refs import Anchor, Ref


class Period(Model):
    """An interval of valid time, half-open.

    Attributes:
        valid_from: the first instant; None is open.
        valid_to: the first instant after it; None is open.
    """

    valid_from: datetime | None
    valid_to: datetime | None

    def __str__(self) -> str:
        bounds = (("from", self.valid_from), ("until", self.valid_to))
        parts = [f"{word} {iso(bound)}" for word, bound in bounds if bound is not None]
        return " ".join(parts) or "always"


class Periods(Model):
    """When something holds in the world, as known at a commit. Falsy when it never does.

    It iterates over its periods, in the order of time. Between two of them there is a gap.

    Attributes:
        ref: what was asked about.
        at: the commit asked about.
        periods: when it holds.
        truncated: later ones were left out because of the limit.
    """

    ref: Ref
    at: Anchor | None
    periods: tuple[Period, ...]
    truncated: bool

    def __bool__(self) -> bool:
        return bool(self.periods)

    def __len__(self) -> int:
        return len(self.periods)

    def __iter__(self) -> Iterator[Period]:  # type: ignore[override]
        return iter(self.periods)

    def __str__(self) -> str:
        lines = [f"{self.ref}  holds", *(f"  {period}" for period in self.periods)]
        if not self.periods:
            lines.append("  never")
        if self.truncated:
            lines.append("  … more, left out because of the limit")
        return "\n".join(map(line, lines))


class Span(Model):
    """An interval of recorded time, half-open.

    Attributes:
        since: the first commit.
        until: the first commit after it; None if there is none yet.
    """

    since: Anchor
    until: Anchor | None

    def __str__(self) -> str:
        return f"since {self.since}" + ("" if self.until is None else f" until {self.until}")


class BelievedDuring(Model):
    """Between which commits something was IN. Falsy when it never was.

    It iterates over its spans, the oldest first.

    Attributes:
        ref: what was asked about.
        at: the commit up to which it was asked.
        spans: each from the commit in which it came IN to the one in which it went OUT.
        truncated: some were left out: later ones because of the limit, or those that ended before
            the file begins, if it was pruned.
    """

    ref: Ref
    at: Anchor | None
    spans: tuple[Span, ...]
    truncated: bool

    def __bool__(self) -> bool:
        return bool(self.spans)

    def __len__(self) -> int:
        return len(self.spans)

    def __iter__(self) -> Iterator[Span]:  # type: ignore[override]
        return iter(self.spans)

    def __str__(self) -> str:
        lines = [f"{self.ref}  was IN", *(f"  {span}" for span in self.spans)]
        if not self.spans:
            lines.append("  never")
        if self.truncated:
            lines.append("  … more, left out")
        return "\n".join(map(line, lines))
