"""How much a memory holds, and what was left out of it."""

from datetime import datetime

from tms.clock import iso
from tms.content import line
from tms.models import Model
from tms.refs import Anchor


class Pruned(Model):
    """What was left out when a record was pruned into a new file.

    Attributes:
        before: the baseline: the new file begins with this commit, and tells of all later ones.
        path: the new file; None of a dry run, and of what ``stats`` tells of the past.
        at: when.
        reason, by: as they were given.
        commits: how many commits were left out.
        contents: how many content versions, each with a later one at the baseline.
        switches: how many turns of switches, each with a later one or of what was on again.
        windows: how many windows, each with a later one.
        transitions: how many changes of belief, each with a later one.
    """

    before: Anchor
    path: str | None
    at: datetime
    reason: str | None
    by: str | None
    commits: int
    contents: int
    switches: int
    windows: int
    transitions: int

    def __str__(self) -> str:
        if self.path is None:
            return self._told("", "would be left out")
        return self._told(f"pruned into {self.path} at {iso(self.at)}, ", "left out")

    def past(self) -> str:
        """Return the text of what was pruned once, into the file that tells of it."""
        return self._told(f"pruned at {iso(self.at)}, ", "left out")

    def _told(self, began: str, ended: str) -> str:
        said = f"  because {self.reason or '-'} (by {self.by or '-'})"
        return line(
            f"{began}before {self.before}: {self.commits:,} commits, "
            f"{self.contents:,} contents, {self.switches:,} switches, {self.windows:,} windows, "
            f"{self.transitions:,} transitions {ended}"
            + (said if self.reason is not None or self.by is not None else "")
        )


class Stats(Model):
    """How much a memory holds.

    Attributes:
        head: the last commit, or None.
        sources, facts, justifications: how many are on record.
        believed: how many facts are IN.
        retracted: how many switches are off.
        consumers: how many subscriptions have acknowledged something.
        bytes: size of the file; None of a scope, as others are in the file too.
        format: version of the file format.
        sqlite: version of SQLite in use.
        pruned: each time that the file was pruned, oldest first. It can be asked from the last
            ``before`` on. Not told to a scope.
    """

    head: Anchor | None
    sources: int
    facts: int
    justifications: int
    believed: int
    retracted: int
    consumers: int
    bytes: int | None
    format: int
    sqlite: str
    pruned: tuple[Pruned, ...] = ()

    def __str__(self) -> str:
        return "\n".join(
            [
                f"head            {self.head or 'no commit yet'}",
                f"sources         {self.sources:,}",
                f"facts           {self.facts:,}  ({self.believed:,} believed)",
                f"justifications  {self.justifications:,}",
                f"retracted       {self.retracted:,}",
                f"consumers       {self.consumers:,}",
                *([] if self.bytes is None else [f"size            {self.bytes:,} bytes"]),
                f"format          {self.format}  (SQLite {self.sqlite})",
                *(pruned.past() for pruned in self.pruned),
            ]
        )
