"""What a memory does for its own file: check it, mend it, count what is in it."""

from collections.abc import Callable
from typing import TypeVar

from tms import history
from tms.asking import Questions
from tms.batch import Writer
from tms.clock import Clock
from tms.errors import InvalidArgument, Misuse
from tms.models import Stats, Verification
from tms.store import Audit, Connection, versions
from tms.verification import verify

Done = TypeVar("Done")


class Upkeep(Questions):
    """The part of a memory that looks after the file."""

    def __init__(self, connection: Connection, clock: Clock) -> None:
        super().__init__(connection)
        self._audit = Audit(connection)
        self._writer = Writer(connection, clock)

    def verify(self, *, revisions: int | None = 16) -> Verification:
        """Check that the file keeps its promises.

        Labels and supports are worked out from scratch and compared; the guards, keys, times,
        digests, counts and the cache are checked too.

        Args:
            revisions: at how many revisions, spread over all of them and ending with the head,
                the labels are compared; None for every one.

        Returns:
            The verification: truthy when sound, else with findings.

        Raises:
            InvalidArgument: ``revisions`` is not 1 or more.
            Misuse: a batch is open.

        Cost: grows with the file, times the revisions compared.
        """
        counted = isinstance(revisions, int) and not isinstance(revisions, bool)
        if revisions is not None and (not counted or revisions < 1):
            raise InvalidArgument(f"revisions is {revisions!r}.", hint="Give 1 or more, or None.")
        self._alone()
        with self._connection.snapshot():
            return verify(self._audit, revisions)

    def rebuild(self) -> None:
        """Make anew what can be rebuilt from the record: the labels at the head.

        Raises:
            CorruptStore: the record itself does not hold.
            Misuse: a batch is open.

        Cost: grows with the file.
        """
        self._write(self._audit.rebuild)

    def mend(self) -> None:
        """Rebuild the cache if it was dropped or emptied. Two index seeks if it was not."""
        with self._connection.snapshot():
            stands = self._audit.cache_stands()
        if not stands:
            self._write(self._audit.mend)

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

    def _alone(self) -> None:
        self._writer.heal()
        if self._writer.draft is not None:
            raise Misuse("a batch is open.", hint="Do this before or after the batch.")

    def stats(self) -> Stats:
        """Count what the memory holds. Grows with the file, slowly."""
        with self._connection.snapshot():
            sizes = self._audit.sizes(self._at())
            head, overlay = self._record.head(), self._connection.overlay
            format, sqlite = versions()
            return Stats(
                head=history.anchor(self._beliefs, head.revision),
                sources=sizes.sources,
                facts=sizes.facts,
                justifications=sizes.justifications,
                believed=head.believed + (0 if overlay is None else overlay.gained),
                retracted=sizes.off,
                consumers=sizes.consumers,
                bytes=sizes.bytes,
                format=format,
                sqlite=sqlite,
            )
