"""Copies of a file, and how a file fares."""

from tms.content import line
from tms.models import Finding, Model
from tms.refs import Anchor


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
