"""SQLite connections that fail, or kill their process, at a write of one's choice."""

import os
import signal
import sqlite3
from collections.abc import Callable, Iterable
from typing import Any

_connect = sqlite3.connect


def refuse() -> None:
    """Fail as SQLite does."""
    raise sqlite3.OperationalError("this write was made to fail")


def die() -> None:
    """Kill this process."""
    os.kill(os.getpid(), signal.SIGKILL)


class Failing(sqlite3.Connection):
    """Counts its writes, each row of an ``executemany`` and each COMMIT as one."""

    left: int | None = None
    then: Callable[[], None] = staticmethod(refuse)

    def _write(self) -> None:
        if Failing.left is not None:
            if Failing.left == 0:
                Failing.left = None
                Failing.then()
            else:
                Failing.left -= 1

    def execute(self, sql: str, *values: Any) -> sqlite3.Cursor:
        """Execute, unless this is the write that fails."""
        if not sql.lstrip().startswith(("SELECT", "WITH", "ROLLBACK")):
            self._write()
        return super().execute(sql, *values)

    def executemany(self, sql: str, rows: Iterable[Any]) -> sqlite3.Cursor:
        """Execute for each row, unless one is the write that fails."""

        def counted() -> Iterable[Any]:
            for row in rows:
                self._write()
                yield row

        return super().executemany(sql, counted())


def arm(left: int | None, then: Callable[[], None] = refuse) -> None:
    """Let so many writes pass, then fail; None lets all pass."""
    Failing.left, Failing.then = left, staticmethod(then)


def connect(*args: Any, **kwargs: Any) -> sqlite3.Connection:
    """Open a connection that can fail."""
    return _connect(*args, factory=Failing, **kwargs)
