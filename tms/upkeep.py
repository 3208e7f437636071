"""What a memory does for its own file: check it, mend it, count what is in it."""

import os
from collections.abc import Callable
from typing import TypeVar

from tms import history, keeping, retention
from tms.answers import Backup, Health, Pruned, Stats
from tms.asking import Questions
from tms.batch import Writer
from tms.clock import MILLI, Clock
from tms.content import check_text
from tms.errors import InvalidArgument, Misuse, quoted
from tms.models import Verification
from tms.refs import Digest
from tms.store import Audit, Chain, Connection, be_strict, unfit, versions
from tms.verification import verify

Done = TypeVar("Done")


class Upkeep(Questions):
    """The part of a memory that looks after the file."""

    def __init__(self, connection: Connection, clock: Clock) -> None:
        super().__init__(connection)
        self._audit = Audit(connection)
        self._writer = Writer(connection, clock)

    def verify(self, *, revisions: int | None = 16, kept: str | None = None) -> Verification:
        """Check that the file keeps its promises.

        Labels and supports are worked out from scratch and compared; the guards, keys, times,
        counts and the cache are checked too. The digest of every commit is worked out from the
        rows, so that any that was changed, removed, added or moved by another hand is found, and
        the first commit that is not to be trusted named. Who also writes all later digests anew
        is found out by a digest that was kept elsewhere.

        Args:
            revisions: at how many revisions, spread over all of them and ending with the head,
                the labels are compared; None for every one.
            kept: what ``digest()`` returned once.

        Returns:
            The verification: truthy when sound, else with findings.

        Raises:
            InvalidArgument: ``revisions`` is not 1 or more.
            InvalidDigest: ``kept`` is no digest.
            Misuse: a batch is open, or this is a scope of the file, not all of it.

        Cost: grows with the file, times the revisions compared.
        """
        counted = isinstance(revisions, int) and not isinstance(revisions, bool)
        if revisions is not None and (not counted or revisions < 1):
            raise InvalidArgument(
                f"revisions is {quoted(revisions)}.", hint="Give 1 or more, or None."
            )
        known = None if kept is None else Digest(kept)
        self._whole("verify")
        with self._connection.snapshot():
            return verify(self._audit, Chain(self._connection), revisions, known)

    def rebuild(self) -> None:
        """Make anew what can be rebuilt from the record: the labels at the head.

        Raises:
            CorruptStore: the record itself does not hold.
            Misuse: a batch is open, or this is a scope of the file, not all of it.

        Cost: grows with the file.
        """
        self._whole("rebuild")
        self._write(self._audit.rebuild)

    def mend(self) -> None:
        """Rebuild the cache if it was dropped or emptied. Two index seeks if it was not."""
        with self._connection.snapshot():
            stands = self._audit.cache_stands()
        if not stands:
            self._write(self._audit.mend)

    def prune(
        self,
        *,
        before: str,
        path: str | os.PathLike[str] | None = None,
        reason: str | None = None,
        by: str | None = None,
    ) -> Pruned:
        """Copy the memory into a new file without what came before a commit.

        The new file begins with that commit. It answers everything about it and all later commits
        as this file does, with the same anchors, but for the report of that commit and for the
        causes of what went OUT up to it, which stand before. Sources, facts and justifications all
        stay, since what is OUT may come back; with them stay the commits that recorded them, as
        ``why`` tells of those. Contents that were redacted stay so. This file is not changed.

        Args:
            before: the anchor of the commit, whichever scope made it.
            path: the new file; None only counts what would be left out. There must be nothing yet.
                It appears under this name when it is complete and on the disk, never half; what was
                killed meanwhile leaves a hidden file beside it that ends in ``.unfinished``, and
                perhaps others with ``-wal``, ``-shm`` or ``-journal`` behind that; remove them.
            reason: why; it is kept in the new file.
            by: by whom; likewise.

        Returns:
            What was, or would be, left out.

        Raises:
            InvalidAnchor, NoSuchAnchor: the anchor is none of this file.
            Forgotten: it is from before the file was pruned already.
            InvalidContent: the reason or the name cannot be kept.
            InvalidArgument: it is no path of a file.
            ContentConflict: there is something at the path.
            NoSuchFile: there is no folder to make the file in.
            StoreFailed: the disk refused.
            Misuse: a batch is open, or this is a scope of the file, not all of it.

        Cost: grows with the file. It is one read: others go on writing.
        """
        check_text("reason", reason)
        check_text("by", by)
        self._whole("prune")
        now = self._writer.now() // MILLI
        target = None if path is None else new_path(path)
        with self._connection.snapshot():
            self._connection.lay(None)
            baseline = history.revision_in_file(self._beliefs, before)
            return retention.prune(self._connection, baseline, target, now, reason, by)

    def _write(self, work: Callable[[], Done]) -> Done:
        """Do what is no commit of the record in a transaction of its own."""
        self._alone()
        self._connection.begin()
        try:
            with self._connection.translated():
                done = work()
            self._connection.commit()
        except BaseException:
            self._connection.rollback()
            raise
        return done

    def _whole(self, operation: str) -> None:
        """Check that what is about the whole file is not asked for as one scope, or in a batch."""
        super()._whole(operation)
        self._alone()

    def _alone(self) -> None:
        self._connection.check_owner()
        self._writer.heal()
        if self._writer.draft is not None:
            raise Misuse("a batch is open.", hint="Do this before or after the batch.")

    def backup(self, path: str | os.PathLike[str]) -> Backup:
        """Copy the whole memory into another file, of the last commit, safe beside writers.

        The copy has its name only when it is complete and on disk; a crash leaves at most hidden
        files that end in ``.unfinished``, or have ``-journal`` behind that. The copy opens like any
        memory, and has the same anchors. Who puts it in the place of a memory, when nobody has that
        open, also removes the ``-wal`` and ``-shm`` file there: SQLite would lay the old log over
        it.

        Args:
            path: where nothing is yet.

        Returns:
            What was copied: its path, its head, its size.

        Raises:
            InvalidArgument: it is no path.
            ContentConflict: something is there.
            NoSuchFile: there is no such folder.
            StoreFailed: the disk refused; nothing was left.
            Misuse: a batch is open, or this is a scope of the file, not all of it.

        Cost: grows with the file. A writer is never held up; a commit made meanwhile by another
        process makes the copy begin anew.
        """
        name = new_path(path)
        self._whole("backup")
        with self._connection.translated():
            return keeping.backup(self._connection, name)

    def require_scope(self, *, required: bool = True) -> None:
        """Mark the file strict: from now on ``tms.open`` refuses it unless it is told a scope.

        It guards against a forgotten scope, with which things would go to all. It is no commit, and
        handles that are open stay open.

        Args:
            required: False takes the mark away.

        Raises:
            InvalidArgument: it is neither True nor False.
            Misuse: a batch is open, or this is a scope of the file, not all of it.
            Busy, ReadOnly: the file cannot be written.

        Cost: one small transaction.
        """
        if not isinstance(required, bool):
            raise InvalidArgument(f"required is {quoted(required)}.", hint="Give True or False.")
        self._whole("require_scope")
        self._write(lambda: be_strict(self._connection, strict=required))

    def doctor(self) -> Health:
        """Say how the file and the SQLite in use fare: damage, settings, log, disk, known bugs.

        It looks at pages, not at beliefs; ``verify`` does that.

        Returns:
            The health: truthy when there is nothing to mend, else with findings.

        Raises:
            Misuse: a batch is open, or this is a scope of the file, not all of it.

        Cost: grows with the file, once.
        """
        self._whole("doctor")
        with self._connection.snapshot():
            return keeping.doctor(self._connection, self._audit.complaints())

    def stats(self) -> Stats:
        """Count what the memory holds. Grows with the file, slowly."""
        with self._connection.snapshot():
            sizes = self._audit.sizes(self._at())
            head, overlay = self._record.head(), self._connection.overlay
            format, sqlite = versions()
            believed = self._beliefs.believed(head.revision)
            if overlay is not None:
                believed += overlay.gained
            return Stats(
                head=history.anchor(self._beliefs, head.revision),
                sources=sizes.sources,
                facts=sizes.facts,
                justifications=sizes.justifications,
                believed=believed,
                retracted=sizes.off,
                consumers=sizes.consumers,
                bytes=None if self.scope else sizes.bytes,
                format=format,
                sqlite=sqlite,
                pruned=() if self.scope else retention.pruned(self._connection),
            )


def new_path(path: object) -> str:
    """Return the name of a file to make.

    Raises:
        InvalidArgument: it can be none.
    """
    name = os.fsdecode(path) if isinstance(path, (str, os.PathLike)) else ""
    reason = unfit(name)
    if reason is not None:
        raise InvalidArgument(f"{quoted(path)} is {reason}.", hint="Give the path of a file.")
    return name
