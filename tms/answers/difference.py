"""How two commits differ."""

from collections.abc import Sequence
from datetime import datetime

from tms.clock import period
from tms.content import line
from tms.models import Model
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


class Revalidated(Model):
    """A node whose window differs between two commits. None is open.

    Attributes:
        ref: which.
        from_before, to_before: its window at the first.
        from_after, to_after: its window at the second.
    """

    ref: Ref
    from_before: datetime | None
    to_before: datetime | None
    from_after: datetime | None
    to_after: datetime | None

    @property
    def change(self) -> str:
        """Both windows in words, with an arrow between."""
        before = period(self.from_before, self.to_before) or "always"
        after = period(self.from_after, self.to_after) or "always"
        return f"{before} → {after}"

    def __str__(self) -> str:
        return line(f"{self.ref}  valid {self.change}")


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
        revalidated: what was on record at both and had another window.
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
    revalidated: tuple[Revalidated, ...] = ()

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
            ("revalidated", self.revalidated),
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
