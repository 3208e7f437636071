"""A memory: one verb, one transaction, one commit, one report."""

from datetime import datetime
from os import PathLike
from types import TracebackType
from typing import Literal, Self

from tms import history
from tms.clock import (
    MILLI,
    Clock,
    checked,
    instant,
    told,
)
from tms.content import check_text
from tms.errors import InvalidArgument, quoted
from tms.refs import Anchor
from tms.store import open_file
from tms.verbs import Verbs
from tms.view import View


def open(
    path: str | PathLike[str],
    *,
    scope: str | None = None,
    clock: Clock | None = None,
    read_only: bool = False,
    create: bool = True,
    timeout: float = 5.0,
    synchronous: Literal["normal", "full"] = "normal",
) -> "Memory":
    """Open a memory, and make its file if there is none.

    A file that declares anything but what schema.sql says (another guard, view or table, or one too
    few) is refused before anything of it runs; dropped tables of the cache are made anew. A file of
    an earlier format is brought to the present one, whole or not at all.

    Args:
        path: the file, or ``":memory:"`` for one that is never written to disk. It is taken as it
            is: no ``~`` and no URI. Symbolic links are followed.
        scope: as whom. A scope sees what it wrote itself and what is shared, and writes its own;
            what others wrote is unknown to it. ``""``, or None if the file is not strict, is the
            shared scope. Any text, compared exactly.
        clock: where the time of a commit comes from, a callable that returns an aware
            ``datetime``; the machine's clock by default.
        read_only: never write to the file, which stays byte for byte as it is. Beside it there may
            stay an empty ``-wal`` and a ``-shm`` file, which others may share and the next writer
            removes. In a folder that we cannot write, where neither is, the file is read as it lies
            there; nobody may write to it meanwhile.
        create: make the file if there is none.
        timeout: seconds to wait while another writer holds the file.
        synchronous: when a commit waits for the disk. ``"normal"``: hardly ever; a power cut may
            lose the last commits, whole ones. ``"full"``: each one does, and what a verb of this
            handle returned from stays. A crash of the program loses nothing with either.

    Returns:
        The memory. Use it as a context manager, or close it.

    Raises:
        InvalidArgument: one of these is none of what it may be.
        NoSuchFile: there is no file and ``create`` is false.
        NotATMSFile: the file is not ours; it was not touched.
        SchemaTooNew: it was written by a newer tms.
        ScopeRequired: the file is strict, and ``scope`` is None; see ``require_scope``.
        CorruptStore: it declares something else than schema.sql says, or is damaged.
        ReadOnly: it is of an earlier format and was to be read only, or cannot be written.
        Misuse: it has several names by hard links, which SQLite would take for several files.
        ContentConflict: there is no file, but the log of one.
        Busy: another writer held the file for longer than ``timeout``.

    Cost: does not grow with the file.
    """
    waited = _seconds(timeout)
    if synchronous not in ("normal", "full"):
        raise InvalidArgument(
            f"synchronous is {quoted(synchronous)}.", hint='Give "normal" or "full".'
        )
    check_text("scope", scope, InvalidArgument)
    told_by = checked(clock)
    connection = open_file(
        path,
        create=create,
        read_only=read_only,
        timeout=waited,
        full=synchronous == "full",
        scope=None if scope is None else str.__str__(scope),
    )
    memory = Memory(connection, told_by)
    try:
        if not read_only:
            memory.mend()
    except BaseException:
        memory.close()
        raise
    return memory


def _seconds(timeout: object) -> float:
    try:
        if isinstance(timeout, (int, float)) and not isinstance(timeout, bool) and timeout >= 0:
            return float(timeout)
    except OverflowError:  # an integer that is larger than any float
        pass
    raise InvalidArgument(f"timeout is {quoted(timeout)}.", hint="Give seconds, 0 or more.")


class Memory(Verbs):
    """An agent's memory that knows why it believes each thing. Made by ``tms.open``.

    Every verb that writes is one commit, unless it stands in ``with memory.batch()``. A verb that
    is refused, or that fails half-way, leaves nothing. A verb that would change nothing makes no
    commit.
    """

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        scope = f" as {self.scope!r}" if self.scope else ""
        return f"<tms memory {self._connection.path}{scope}>"

    def close(self) -> None:
        """Close the file. An open batch is dropped."""
        self._connection.close()
        self._writer.drop()
        self._writer.listeners.clear()

    def _revision(self) -> int:
        self._writer.heal()
        return self._beliefs.last_revision()

    def _instant(self) -> int:
        return self._writer.now()

    def _unknown(self) -> str:
        if self._writer.draft is not None:
            return (
                "In an open batch, reading shows the last commit; what the batch declared can be "
                "read after it."
            )
        return super()._unknown()

    def _supposed(self) -> tuple[int, int | None, int | None]:
        return self._recorded(), self._writer.now(), None

    # ------------------------------------------------------------ time

    def as_of(self, *, recorded: str | None = None, valid: datetime | str | None = None) -> View:
        """Return a read-only view: what was known at a commit, of the world at an instant.

        Args:
            recorded: the anchor of the commit; the last one by default.
            valid: the instant, an aware ``datetime`` or ISO 8601 text with an offset; that of the
                commit by default.

        Returns:
            The view; it answers what a memory answers, and lives as long as the memory is open.

        Raises:
            InvalidAnchor: the text is no anchor.
            NoSuchAnchor: it is ahead of the head, or of another file.
            InvalidWindow: ``valid`` is no instant.
            InvalidArgument: neither is given.

        Cost: an index seek. What is asked of the view costs more the more windows opened or closed
        between the commit and the instant.
        """
        if recorded is None and valid is None:
            raise InvalidArgument(
                "as of when?", hint="Give recorded=anchor, valid=instant, or both."
            )
        moment = None if valid is None else instant(valid)
        with self._connection.snapshot():
            head = self._recorded()
            if recorded is None:
                at = self._beliefs.seen(head)
            else:
                at = history.revision_of(self._beliefs, recorded, head)
            return View(self._connection, at, moment)

    def anchor_at(self, moment: datetime | str) -> Anchor | None:
        """Return the anchor of the last commit at or before an instant; None if there is none.

        An anchor shows the time of its commit in whole milliseconds, rounded down, so the time that
        is printed always includes the commit. Of several commits in one millisecond it is the last.

        Args:
            moment: an aware ``datetime``, or ISO 8601 text with an offset.

        Raises:
            InvalidWindow: it is no instant.
            Forgotten: it is from before the file was pruned.

        Cost: grows with the logarithm of the number of commits.
        """
        given = instant(moment)
        last = given - given % MILLI + MILLI - 1  # to the end of its millisecond
        with self._connection.snapshot():
            beliefs, head = self._beliefs, self._recorded()
            revision = beliefs.seen(beliefs.revision_at(last, head))
            time = beliefs.instant(revision)
            if revision < beliefs.baseline or (time is not None and time > last):
                raise history.forgotten(beliefs, told(given))
            return history.anchor(beliefs, revision)
