"""How a file wants to be opened. This is no part of the record."""

from tms.store.connection import Connection


def is_strict(connection: Connection) -> bool:
    """Return whether a file is to be opened only with a scope. One seek."""
    row = connection.sql.execute("SELECT value FROM setting WHERE name = 'strict'").fetchone()
    return row is not None and bool(row[0])


def be_strict(connection: Connection, *, strict: bool) -> None:
    """Mark a file as one to be opened only with a scope, or as any. Runs in a transaction."""
    connection.sql.execute(
        "INSERT INTO setting (name, value) VALUES ('strict', ?)"
        " ON CONFLICT (name) DO UPDATE SET value = excluded.value",
        (int(strict),),
    )
