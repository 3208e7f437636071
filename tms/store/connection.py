"""One connection: its transactions, and the errors of SQLite turned into ours."""

import os
import sqlite3
from threading import get_ident
from types import TracebackType
from typing import Any, NamedTuple, Self

from tms import errors
from tms.store import layout

OVERLAY = (
    "CREATE TEMP TABLE overlay"
    " (node INTEGER PRIMARY KEY, change INTEGER NOT NULL, support INTEGER)",
    "CREATE TEMP TABLE moment (id INTEGER PRIMARY KEY, instant INTEGER NOT NULL)",
    "CREATE TEMP TABLE mine (scope INTEGER PRIMARY KEY)",
    "INSERT INTO temp.mine VALUES (0)",
)
"""Tables of this connection alone: how another instant differs from that of the commit read, and
which scopes are seen."""

SHARED = 0
"""The key of the scope that all see."""

_NOWHERE = -1
"""The key of a scope to which nothing was written yet."""


class Overlay(NamedTuple):
    """What differs at an instant from what was labelled at the time of a commit.

    Attributes:
        revision: the commit.
        bound: the last bound of a window up to the instant; up to the next, all stays the same.
        instant: the instant, in microseconds.
        rows: (node, 1 IN or 0 OUT, support) of the nodes that differ.
        gained: by how many more facts are IN.
    """

    revision: int
    bound: int
    instant: int
    rows: tuple[tuple[int, int, int | None], ...]
    gained: int


class Connection:
    """A connection to one checked file, with its transactions and the errors they meet.

    Attributes:
        sql: the ``sqlite3`` connection; statements run on it as they are.
        path: the file, or ``:memory:``.
        file: the whole path of it, wherever the process goes and whatever links lead there; empty
            for ``:memory:``.
        overlay: what all reads are laid over with, if anything.
        scope: the name of the scope that it reads and writes as; empty for the shared one.
        own: the key of that scope.
    """

    def __init__(self, sql: Any, path: str, *, read_only: bool, scope: str = "") -> None:
        self.sql = sql
        self.path = path
        self.file = b"" if path == ":memory:" else os.path.realpath(os.fsencode(path))
        self._place = self.file and _whole(os.fsencode(path))
        self._inode = self._found()
        self.read_only = read_only
        self.writing = False
        self.overlay: Overlay | None = None
        self._touched = False
        self._baseline: int | None = None
        self.scope = scope
        self.own = _NOWHERE if scope else SHARED
        self._new_scope = False
        self._process = os.getpid()
        self._thread = get_ident()

    def _found(self) -> tuple[int, int] | None:
        """Return which file stands at the path now, wherever its links lead; None for none."""
        try:
            found = os.stat(self._place) if self._place else None
        except OSError:
            return None
        return None if found is None else (found.st_dev, found.st_ino)

    def check_place(self) -> None:
        """Check that the path still leads to the file that was opened. It costs one ``stat``.

        Elsewhere, whoever opens the file makes another log, and what goes into ours is lost.

        Raises:
            StoreFailed: it does not.
        """
        if self._place and (self._inode is None or self._found() != self._inode):
            raise errors.StoreFailed(
                f"{self.path} was moved, removed or replaced while it was open.",
                hint="Close this memory; nothing was written. Move a file only when nobody has it"
                " open.",
                ids=(self.path,),
            )

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction is open; none is once the file is closed."""
        try:
            return bool(self.sql.in_transaction)
        except sqlite3.ProgrammingError:
            return False

    @property
    def baseline(self) -> int:
        """The revision from which on the file can be asked; 0 if it was never pruned.

        It is that with which the file was made, so it is read once.
        """
        if self._baseline is None:
            statement = "SELECT ifnull(max(baseline), 0) FROM pruned"
            self._baseline = int(self.sql.execute(statement).fetchone()[0])
        return self._baseline

    def find_scope(self) -> None:
        """Look whether something was written to the scope by now, in no transaction."""
        if self.own == _NOWHERE and not self.in_transaction:
            self._look_up_scope()

    def claim_scope(self, revision: int) -> None:
        """Make sure, in an open commit, that there is the scope to write to."""
        if self.own == _NOWHERE:
            self._new_scope = True
            if not self._look_up_scope():
                self.sql.execute(
                    "INSERT INTO scope (scope, name, revision)"
                    " VALUES ((SELECT max(scope) + 1 FROM scope), ?, ?)",
                    (self.scope, revision),
                )
                self._look_up_scope()

    def _look_up_scope(self) -> bool:
        row = self.sql.execute("SELECT scope FROM scope WHERE name = ?", (self.scope,)).fetchone()
        if row is not None:
            self.sql.execute("INSERT OR IGNORE INTO temp.mine VALUES (?)", row)
            self.own = row[0]
        return row is not None

    def close(self) -> None:
        """Close the file. A transaction left open is rolled back.

        In a child after a fork this does nothing: the file is its parent's.
        """
        if self._process == os.getpid():
            with translated(self.path):
                self.sql.close()

    def check_owner(self) -> None:
        """Check that it is used where it was opened, before anything is touched.

        Raises:
            Misuse: the file was opened by another process or thread.
        """
        if self._process != os.getpid():
            raise errors.Misuse(
                f"the memory on {self.path} was opened by another process.",
                hint="After a fork each process opens its own.",
                ids=(self.path,),
            )
        if self._thread != get_ident():
            raise errors.Misuse(
                f"the memory on {self.path} cannot be used here: another thread opened it.",
                hint="A memory belongs to its thread; each thread opens its own.",
                ids=(self.path,),
            )

    def begin(self) -> None:
        """Take the write lock, waiting for other writers up to the busy timeout.

        Raises:
            Busy: another writer held it for longer than that.
            SchemaTooNew: a newer tms has changed the format of the file since it was opened.
            ReadOnly: the file is open for reading only.
            StoreFailed: the file was moved, removed or replaced since it was opened.
            Misuse: the file was opened by another process or thread.
        """
        self.check_owner()
        if self.read_only:
            raise errors.ReadOnly(
                f"{self.path} is open for reading only.",
                hint="Open it with read_only=False to write.",
                ids=(self.path,),
            )
        self.writing = False
        with self.translated():
            try:
                self.writing = True
                self.sql.execute("BEGIN IMMEDIATE")
                self.check_place()
                check_format(self.path, *self.sql.execute("PRAGMA user_version").fetchone())
                self.lay(None)
            except BaseException:
                self.rollback()
                raise

    def commit(self) -> None:
        """End the transaction and keep it."""
        with self.translated():
            self.sql.execute("COMMIT")
        self.writing = self._touched = self._new_scope = False

    def end(self) -> None:
        """End a transaction that only read; what was laid over it stays."""
        with translated(self.path):
            # COMMIT fails where something was found damaged on the way
            self.sql.execute("COMMIT" if self._touched else "ROLLBACK")
        self._touched = False

    def rollback(self) -> None:
        """End the transaction and drop it. SQLite may have done so by itself already."""
        try:
            if self.in_transaction and self._process == os.getpid():
                with translated(self.path):
                    self.sql.execute("ROLLBACK")
        finally:
            self.writing = False
            if self._new_scope:
                self.own, self._new_scope = _NOWHERE, False
            if self._touched:
                self.overlay, self._touched = _UNKNOWN, False

    def savepoint(self, name: str) -> None:
        """Mark a place in the transaction to come back to."""
        with translated(self.path):
            self.sql.execute(f'SAVEPOINT "{name}"')

    def release(self, name: str, *, undo: bool) -> None:
        """Forget the mark, after going back to it if ``undo``."""
        if not self.in_transaction:
            return
        with translated(self.path):
            if undo:
                self.sql.execute(f'ROLLBACK TO "{name}"')
            self.sql.execute(f'RELEASE "{name}"')

    def translated(self) -> "translated":
        """Return a context that turns the errors of SQLite into ours.

        Raises:
            Misuse: the file was opened by another process or thread.
        """
        self.check_owner()
        if not self.writing and self.in_transaction:  # left over by an interrupt
            self.rollback()
        return translated(self.path)

    def lay(self, overlay: Overlay | None) -> None:
        """Lay an overlay over all that is read from now on, or none."""
        if self.overlay is not overlay:
            self.overlay, self._touched = _UNKNOWN, True
            self.sql.execute("DELETE FROM temp.overlay")
            self.sql.execute("DELETE FROM temp.moment")
            if overlay is not None:
                self.sql.executemany("INSERT INTO temp.overlay VALUES (?, ?, ?)", overlay.rows)
                self.sql.execute("INSERT INTO temp.moment VALUES (0, ?)", (overlay.instant,))
            self.overlay = overlay

    def snapshot(self) -> "_Snapshot":
        """Return a context in which all reads see one state of the file."""
        return _Snapshot(self)


def _whole(path: bytes) -> bytes:
    """Return a path as the system goes it: ``..`` after a link leads where the link does."""
    return path if os.path.isabs(path) else os.path.join(os.getcwdb(), path)


def check_format(path: str, version: int) -> None:
    """Check that a file is of no later format than this code knows.

    Raises:
        SchemaTooNew: it is.
    """
    if version > layout.FORMAT:
        raise errors.SchemaTooNew(
            f"{path} has format {version}; this tms knows up to {layout.FORMAT}.",
            hint="Upgrade sqlite-tms to use it.",
            ids=(path,),
        )


_UNKNOWN = Overlay(0, 0, 0, (), 0)


class _Snapshot:
    """A read transaction, or part of the transaction that is open already."""

    __slots__ = ("_connection", "_outer", "_translated")

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._translated = connection.translated()

    def __enter__(self) -> Self:
        self._translated.__enter__()
        connection = self._connection
        try:
            self._outer = not connection.writing
            if self._outer:
                connection.find_scope()
                connection.sql.execute("BEGIN")
        except BaseException as error:
            self._translated.__exit__(type(error), error, error.__traceback__)
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        connection = self._connection
        if self._outer and error is None and connection.in_transaction:
            connection.end()
        elif self._outer:
            connection.rollback()
        elif connection.in_transaction:
            connection.lay(None)
        self._translated.__exit__(kind, error, trace)


class translated:
    """A context that turns the errors of SQLite into ours."""

    __slots__ = ("_path",)

    def __init__(self, path: str) -> None:
        self._path = path

    def __enter__(self) -> None:
        return None

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        if isinstance(error, (sqlite3.Error, sqlite3.Warning)):
            raise _translation(error, self._path) from error
        if isinstance(error, UnicodeDecodeError):  # SQLite quotes the damaged text in its message
            raise _corrupt(self._path, error) from error


def _translation(error: Exception, path: str) -> errors.TMSError:
    code = getattr(error, "sqlite_errorcode", None)
    primary = code & 0xFF if code is not None else None
    text = errors.clause(error)
    if primary in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return errors.Busy(
            f"another writer held {path} for longer than the wait.",
            hint="Nothing was written. Try again, or open with a longer timeout.",
            ids=(path,),
        )
    if code == sqlite3.SQLITE_READONLY_ROLLBACK:
        return errors.ReadOnly(
            f"{path} has a half-written commit, of a writer that was killed.",
            hint="Open it once for writing, which goes back to the commit before.",
            ids=(path,),
        )
    if primary in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM):
        return errors.ReadOnly(
            f"{path} cannot be written: {text}.", hint="Check its permissions.", ids=(path,)
        )
    if primary in (
        sqlite3.SQLITE_CORRUPT,
        sqlite3.SQLITE_NOTADB,
        sqlite3.SQLITE_CONSTRAINT,
        sqlite3.SQLITE_ERROR,
        sqlite3.SQLITE_MISMATCH,
    ) or text.startswith("Could not decode"):
        return _corrupt(path, error)
    if isinstance(error, sqlite3.ProgrammingError):
        return errors.Misuse(
            f"the memory on {path} cannot be used here: {text}.",
            hint="A closed memory must be opened again, and each thread opens its own.",
            ids=(path,),
        )
    return errors.StoreFailed(
        f"SQLite refused on {path}: {text}.",
        hint="Nothing of the operation was kept. Check the disk.",
        ids=(path,),
    )


def _corrupt(path: str, error: Exception) -> errors.CorruptStore:
    return errors.CorruptStore(
        f"{path} contradicts its format: {errors.clause(error)}.",
        hint="Nothing was written. Run tms verify on it.",
        ids=(path,),
    )
