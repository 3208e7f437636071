"""Copies of a file, and how it fares."""

import json
import os
from collections.abc import Iterable, Iterator

from tms.answers import Backup, Health
from tms.clock import MILLI, instant
from tms.exporting import COMMIT
from tms.models import Finding
from tms.refs import Anchor
from tms.store import Condition, Connection, back_up, condition, write_out

_LARGE = 64 * 1024 * 1024
"""From how many bytes on a log is worth a word, and below how many free ones a disk is."""

_MENDED = ((3, 44, 6), (3, 50, 7), (3, 51, 3))
"""The releases that mended the WAL-reset bug of 3.7.0 to 3.51.2, one a line of releases."""


def backup(connection: Connection, path: str) -> Backup:
    """Copy a file; see ``Upkeep.backup``."""
    size, revision, at = back_up(connection, path)
    head = Anchor.kept(revision, at) if revision else None
    return Backup(path=shown(path), head=head, bytes=size)


def write_bundle(lines: Iterable[str], path: str) -> Backup:
    """Write a bundle into a new file, which is there whole or not at all.

    Args:
        lines: what ``Memory.export`` gives.
        path: the file.

    Raises:
        ContentConflict, NoSuchFile, StoreFailed: see ``Upkeep.backup``.
    """
    head: list[Anchor] = []

    def noted() -> Iterator[str]:
        commits, last = 0, None
        for line in lines:
            if line.startswith(COMMIT):
                commits, last = commits + 1, line
            yield line
        if last is not None:
            at = instant(json.loads(last)["commit"]["at"])
            head.append(Anchor.kept(commits, at // MILLI))

    size = write_out(noted(), path)
    return Backup(path=shown(path), head=head[0] if head else None, bytes=size)


def shown(path: str) -> str:
    """Return a path as text that can be written anywhere; bytes that are no text as escapes."""
    return os.fsencode(path).decode(errors="backslashreplace")


def doctor(connection: Connection, damage: list[str]) -> Health:
    """Say how a file fares; see ``Upkeep.doctor``.

    Args:
        connection: the file, in a snapshot.
        damage: what SQLite finds wrong with its pages.
    """
    found = condition(connection)
    findings = [_finding("integrity", "SQLite finds the file damaged", damage)] if damage else []
    findings += _findings(found)
    return Health(
        path=shown(connection.path),
        sqlite=".".join(map(str, found.sqlite)),
        settings=tuple(found.pragmas.items()),
        bytes=found.pages * found.page_size,
        free=found.free_pages * found.page_size,
        log=found.wal,
        disk=found.disk,
        findings=tuple(findings),
        notes=tuple(_notes(found)),
    )


def _findings(found: Condition) -> Iterator[Finding]:
    if found.disk is not None and found.disk < _LARGE:
        yield _finding("disk", "the disk is almost full", [f"{found.disk:,} bytes free"])


def _notes(found: Condition) -> Iterator[str]:
    if not _mended(found.sqlite):
        yield (
            "this SQLite can, very rarely, damage a file that several processes write at once"
            " (the WAL-reset bug, mended in 3.51.3)"
        )
    if found.wal is not None and found.wal > _LARGE:
        yield "the log is large: some reader has been open for long, or a commit was large"


def _mended(version: tuple[int, int, int]) -> bool:
    return version >= _MENDED[-1] or any(
        version[:2] == line[:2] and version >= line for line in _MENDED
    )


def _finding(rule: str, message: str, examples: list[str]) -> Finding:
    return Finding(rule=rule, message=message, count=len(examples), examples=tuple(examples[:5]))
