"""The steps from each file format to the next, kept by sqlite-utils.

What changes the format: the new schema.sql and ``FORMAT``, here a step at the end of ``STEPS`` and
what the format before is known by in ``FORMER``, and a file of the new format among the tests
(``python -m tests.formats``). A step finds no tables of the cache, and makes none: the cache is
made anew after it. What it makes must read as in schema.sql to the letter: a table is not renamed
(SQLite would put its name in quotes) but made again under its name, from a copy of its rows.
"""

import sqlite3
from collections.abc import Callable

from sqlite_utils import Database, Migrations

from tms.store import layout
from tms.store.shape import MIGRATIONS


def m001_first_format(database: Database) -> None:
    """Lay out an empty file as schema.sql says, whatever format that is."""
    for statement in layout.statements(layout.schema()):
        database.conn.execute(statement)


STEPS: tuple[Callable[[Database], None], ...] = (m001_first_format,)
"""The first lays out an empty file; the n-th of the others brings format n - 1 to format n."""

FORMER: dict[int, str] = {}
"""The digest (``shape.digest``) of each format before this one: a file that declares anything else
is not brought to this format, since its guards would run on the way."""


def migrate(sql: sqlite3.Connection, version: int) -> None:
    """Bring a file of an earlier format, or an empty one (0), to this one.

    Runs inside the transaction that is open. ``user_version`` tells which steps are wanted, as a
    file that schema.sql alone made has no table of sqlite-utils.
    """
    database = Database(sql, execute_plugins=False)
    if Migrations.migrations_table not in database.table_names():
        for statement in MIGRATIONS:
            sql.execute(statement)
    if version:
        for name in database.table_names():
            if name.startswith("cache_"):
                sql.execute(f'DROP TABLE "{name}"')
    wanted = Migrations("tms")
    for step in STEPS[version:] if version else STEPS[:1]:
        wanted()(step)
    wanted.apply(database)
    sql.execute(f"PRAGMA user_version = {layout.FORMAT}")
