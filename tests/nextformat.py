"""A format after the present one, made up; ``install`` lets tms take it for the present one."""

import os
import signal
import sqlite3
import time
from collections.abc import Callable, Iterator
from typing import Any

from sqlite_utils import Database

from tms.store import layout, migrations, shape

NEXT = layout.FORMAT + 1
PRESENT = layout.schema()

_TABLE = """\
CREATE TABLE note (
    note INTEGER PRIMARY KEY,
    node INTEGER NOT NULL REFERENCES node (node),
    text TEXT NOT NULL
) STRICT"""
_INDEX = "CREATE INDEX note_by_node ON note (node)"
_GUARD = """\
CREATE TRIGGER note_update BEFORE UPDATE ON note
BEGIN SELECT RAISE (ABORT, 'tms: the record is append-only'); END"""
_OLD_TABLE = "CREATE TABLE consumer (\n    name TEXT PRIMARY KEY,"
_NEW_TABLE = "CREATE TABLE consumer (\n    name TEXT PRIMARY KEY, -- of a reader"
_VIEW = "CREATE VIEW notes AS SELECT text FROM note"

SCHEMA = PRESENT.replace(_OLD_TABLE, _NEW_TABLE).replace(
    f"user_version = {NEXT - 1}", f"user_version = {NEXT}"
) + "\n".join(f"{statement};" for statement in (_TABLE, _INDEX, _GUARD, _VIEW, ""))


def _statements() -> Iterator[str]:
    """The step: something of each kind is made, a table is made anew, and rows are written."""
    yield "CREATE TEMP TABLE kept AS SELECT * FROM main.consumer"
    yield "DROP TABLE consumer"
    for statement in layout.statements(SCHEMA):
        if any(f" {kind} consumer" in statement for kind in ("TABLE", "ON")):
            yield statement
    yield "INSERT INTO consumer SELECT * FROM temp.kept"
    yield "DROP TABLE temp.kept"
    yield from (_TABLE, _INDEX)
    yield "INSERT INTO note (node, text) SELECT node, kind FROM node"
    yield from (_GUARD, _VIEW)


STEP = list(_statements())


def m002_next(database: Database) -> None:
    for statement in STEP:
        database.conn.execute(statement)


def stopping(at: int, stop: Callable[[], None]) -> Callable[[Database], None]:
    """Return the step, with a stop before one of its statements, or after the last."""

    def m002_next(database: Database) -> None:
        for statement in STEP[:at]:
            database.conn.execute(statement)
        stop()
        for statement in STEP[at:]:
            database.conn.execute(statement)

    return m002_next


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def dawdle() -> None:
    time.sleep(0.3)


def present() -> str:
    """Return what the present format will be known by in ``FORMER``."""
    made = sqlite3.connect(":memory:")
    try:
        for statement in layout.statements(PRESENT):
            made.execute(statement)
        return shape.digest(shape.declared(made))
    finally:
        made.close()


def changes(step: Callable[[Database], None] = m002_next) -> list[tuple[Any, str, Any]]:
    """Return what is another with the next format, as (module, name, value)."""
    return [
        (layout, "FORMAT", NEXT),
        (layout, "schema", lambda: SCHEMA),
        (migrations, "STEPS", (*migrations.STEPS, step)),
        (migrations, "FORMER", migrations.FORMER | {NEXT - 1: present()}),
    ]


def install(step: Callable[[Database], None] = m002_next) -> None:
    """Do it for the rest of the process."""
    for module, name, value in changes(step):
        setattr(module, name, value)
