"""The file format as statements: what schema.sql says."""

import sqlite3
from collections.abc import Iterator
from functools import cache
from pathlib import Path

FORMAT = 1
"""The version of the file format that this code reads and writes (``user_version``)."""


@cache
def schema() -> str:
    """Return the text of schema.sql, from the installed package or the source tree."""
    package = Path(__file__).parents[1]
    packaged = package / "schema.sql"
    return (packaged if packaged.is_file() else package.parent / "schema.sql").read_text("utf-8")


def statements(script: str) -> Iterator[str]:
    """Split a script, since ``executescript`` would commit the transaction it runs in."""
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""
