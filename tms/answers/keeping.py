"""Copies of a file, what came of taking one in, and how a file fares."""

from tms.content import line
from tms.models import Finding, Model
from tms.refs import Anchor, Ref


class Backup(Model):
    """A copy of a file that was made.

    Attributes:
        path: where it is.
        head: its last commit.
        bytes: its size.
    """

    path: str
    head: Anchor | None
    bytes: int

    def __str__(self) -> str:
        return line(f"{self.path}  {self.head or 'no commit yet'}  {self.bytes:,} bytes")


class Imported(Model):
    """What came of importing a bundle. Falsy when nothing changed.

    Attributes:
        changed: whether there was a commit.
        before, after: the head before and after.
        commits: how many commits were made: those of the bundle that were missing, or one that
            merges it.
        rows: how many rows the bundle has beside those that begin a commit.
        known: how many of them told nothing new, or nothing that goes against what was decided
            here.
        sources, facts, justifications: how many were new.
        switched: how many switches were turned.
        retracted: what the bundle has as on and is retracted here; it stays so.
    """

    changed: bool
    before: Anchor | None
    after: Anchor | None
    commits: int
    rows: int
    known: int
    sources: int
    facts: int
    justifications: int
    switched: int
    retracted: tuple[Ref, ...]

    def __bool__(self) -> bool:
        return self.changed

    def __str__(self) -> str:
        lines = [
            f"{self.rows:,} rows, {self.known:,} of them known: {self.sources:,} new sources, "
            f"{self.facts:,} new facts, {self.justifications:,} new justifications, "
            f"{self.switched:,} switches turned; "
            + (f"{self.commits:,} commits; {self.after}" if self.changed else "nothing changed")
        ]
        if self.retracted:
            lines.append(f"  known, retracted here  {len(self.retracted):,}")
            lines += [f"    {ref}" for ref in self.retracted[:_SHOWN]]
            if (rest := len(self.retracted) - _SHOWN) > 0:
                lines.append(f"    … {rest:,} more")
        return "\n".join(map(line, lines))


_SHOWN = 20


class Health(Model):
    """How a file and the SQLite that reads it fare. Truthy when there is nothing to mend.

    Attributes:
        path: the file.
        sqlite: the version of SQLite.
        settings: (name, value) of the pragmas in force.
        bytes: size of the file.
        free: bytes in it that are not in use.
        log: bytes in the write-ahead log; None without one.
        disk: bytes free on the disk; None in memory.
        findings: what is amiss.
        notes: what is good to know.
    """

    path: str
    sqlite: str
    settings: tuple[tuple[str, str], ...]
    bytes: int
    free: int
    log: int | None
    disk: int | None
    findings: tuple[Finding, ...]
    notes: tuple[str, ...]

    def __bool__(self) -> bool:
        return not self.findings

    def __str__(self) -> str:
        lines = [
            f"file      {self.path}  {self.bytes:,} bytes, {self.free:,} of them free",
            f"log       {'none' if self.log is None else f'{self.log:,} bytes'}",
            f"disk      {'-' if self.disk is None else f'{self.disk:,} bytes free'}",
            f"SQLite    {self.sqlite}",
            f"settings  {', '.join(f'{name}={value}' for name, value in self.settings)}",
        ]
        lines += [f"note      {note}" for note in self.notes]
        lines += [f"  {found}" for found in self.findings] or ["nothing to mend"]
        return "\n".join(map(line, lines))
