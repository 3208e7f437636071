"""Copying a record into a new file without what came before a commit."""

import sqlite3
from typing import NamedTuple

from tms.store.appearing import appearing
from tms.store.audit import Audit
from tms.store.baseline import KEPT, LeftOut
from tms.store.chain import Chain
from tms.store.connection import Connection
from tms.store.file import open_file

_RECORD = """
SELECT name FROM sqlite_master WHERE type = 'table'
    AND substr(name, 1, 6) <> 'cache_' AND substr(name, 1, 7) <> 'sqlite_'
    AND name <> '_sqlite_migrations'
"""

_PRUNED = """
INSERT INTO pruned (pruning, baseline, at, reason, "by", commits, contents, switches, windows,
    transitions, digest)
VALUES (:pruning, :baseline, :at, :reason, :by, :commits, :contents, :switches, :windows,
    :transitions, :digest)
"""

_PRUNINGS = """
SELECT p.baseline, c.at, p.at, p.reason, p."by",
    p.commits, p.contents, p.switches, p.windows, p.transitions
FROM pruned AS p JOIN commits AS c ON c.revision = p.baseline ORDER BY p.pruning
"""


class Pruning(NamedTuple):
    """That a record was pruned: its baseline, when that was committed, and the rest of it."""

    baseline: int
    committed: int
    at: int
    reason: str | None
    by: str | None
    left_out: LeftOut


class Pruner:
    """Writes what of a record stands at a baseline or came after it.

    Args:
        connection: the file, in a snapshot.
        baseline: the revision with which the pruned record begins.
    """

    def __init__(self, connection: Connection, baseline: int) -> None:
        self._sql = connection.sql
        self._cache_stands = Audit(connection).cache_stands()
        self._values = {"baseline": baseline}

    def write(self, path: str, pruning: Pruning) -> None:
        """Write what is kept, and that it was pruned, into a new file.

        It appears under its name only when it is complete and on the disk.

        Raises:
            ContentConflict: there is something at the path.
            NoSuchFile: there is no folder to make it in.
        """
        with appearing(path) as unfinished:
            target = open_file(unfinished, create=True, read_only=False, timeout=5.0)
            try:
                with target.translated():
                    target.sql.execute("PRAGMA foreign_keys = OFF")  # tables come in any order
                target.begin()
                try:
                    with target.translated():
                        lifted = _lifted(target.sql)
                        self._copy(target.sql)
                        for statement in lifted["index"]:
                            target.sql.execute(statement)
                        self._say(target, pruning)
                        for statement in lifted["trigger"]:
                            target.sql.execute(statement)
                        if not self._cache_stands:
                            Audit(target).rebuild()
                    target.commit()
                except BaseException:
                    target.rollback()
                    raise
            finally:
                target.close()

    def _say(self, target: Connection, pruning: Pruning) -> None:
        """Note in what is kept that it was pruned, with a digest over all of it."""
        (earlier,) = target.sql.execute("SELECT count(*) FROM pruned").fetchone()
        said = pruning._asdict() | pruning.left_out._asdict() | {"pruning": earlier + 1}
        said = {name: said[name] for name in _SAID}
        target.sql.execute(_PRUNED, {**said, "digest": Chain(target).kept(said)})

    def _copy(self, target: sqlite3.Connection) -> None:
        names = [row[0] for row in target.execute(_RECORD).fetchall()]
        if self._cache_stands:
            names += ["cache_label", "cache_off"]
        for name in names:
            info = target.execute(f"PRAGMA table_info({name})").fetchall()
            listed, places = ", ".join(f'"{row[1]}"' for row in info), ", ".join("?" * len(info))
            key = ", ".join(f'"{row[1]}"' for row in info if row[5])
            target.execute(f"DELETE FROM {name}")
            target.executemany(
                f"INSERT INTO {name} ({listed}) VALUES ({places})",
                self._sql.execute(
                    f"SELECT {listed} FROM {name} AS k WHERE {KEPT.get(name, '1')} ORDER BY {key}",
                    self._values if name in KEPT else {},
                ),
            )


_SAID = ("pruning", "baseline", "at", "reason", "by", *LeftOut._fields)


def prunings(connection: Connection) -> list[Pruning]:
    """Return each time that the record was pruned, oldest first."""
    rows = connection.sql.execute(_PRUNINGS).fetchall()
    return [
        Pruning(baseline, committed, at, reason, by, LeftOut(*counts))
        for baseline, committed, at, reason, by, *counts in rows
    ]


def _lifted(sql: sqlite3.Connection) -> dict[str, list[str]]:
    """Drop the guards and indexes of a file that is being made; return them, to make them again."""
    lifted: dict[str, list[str]] = {"index": [], "trigger": []}
    for kind, name, text in sql.execute(
        "SELECT type, name, sql FROM sqlite_master"
        " WHERE type IN ('trigger', 'index') AND sql IS NOT NULL"
    ).fetchall():
        sql.execute(f'DROP {kind} "{name}"')
        lifted[kind].append(text)
    return lifted
