"""The steps from each file format to the next, kept by sqlite-utils."""

import sqlite3

from sqlite_utils import Database, Migrations

from tms.store.layout import schema, statements

_STEPS = Migrations("tms")


def migrate(sql: sqlite3.Connection) -> None:
    """Bring a file to the present format, inside the transaction that is open."""
    _STEPS.apply(Database(sql, execute_plugins=False))


@_STEPS()
def m001_first_format(database: Database) -> None:
    """Lay out an empty file as schema.sql says."""
    for statement in statements(schema()):
        database.conn.execute(statement)
