"""What a memory gives to others and takes from them: bundles, which lose nothing."""

from collections.abc import Iterable, Iterator
from contextlib import nullcontext

from tms import exporting, history
from tms.answers import Imported
from tms.bundle import Bundle
from tms.importing import take_in
from tms.store import Owned, overwriting, scrub
from tms.upkeep import Upkeep


class Exchange(Upkeep):
    """The part of a memory that is carried to other files and back."""

    def export(self) -> Iterator[str]:
        """Return the lines of a bundle: all of the record, as JSON Lines that lose nothing.

        All commits are in it, with their times, reasons and names: sources, facts,
        justifications, contents, windows, switches and redactions, but for contents that were
        redacted. Positions of subscriptions are not, nor what other scopes own: of a scope it is
        what it wrote itself, and shared things that this rests on are only named. The same record
        is always the same text. It is the record at this call: commits made while it is read are
        left out, by whomever.

        Returns:
            The lines, each with its end, to be written to a file, or given to ``import_``.

        Raises:
            Forgotten: the file was pruned, and cannot tell all of it.
            Misuse: a batch is open.
            Busy: while reading on; a content was redacted meanwhile, and the bundle stays cut off.

        Cost: grows with the file; memory does not.
        """
        self._alone()
        with self._connection.snapshot():
            head = self._recorded()
            if self._beliefs.baseline:
                raise history.forgotten(
                    self._beliefs, "its first commits", " memory.backup(...) copies it as it is."
                )
        return Owned(self._connection, exporting.bundle(self._connection, head))

    def import_(self, lines: Iterable[str | bytes]) -> Imported:
        """Take in a bundle that ``export`` gave, all of it or nothing.

        A file whose commits are the first ones of the bundle, an empty one among them, gets the
        others as they were made, with their own times. If the bundle has nothing but the first
        commits of the file, nothing changes. Otherwise the two have different histories, and what
        is new is added in one commit. That never switches on what is off here, and switches off
        what the bundle has as off if that is new here, or was turned later there. It
        takes a later content or window where the bundle also knows the one that stands here, and
        removes none.

        Args:
            lines: an open file, or any other lines of text.

        Returns:
            What came of it. ``retracted`` names what the bundle has as on and is off here.

        Raises:
            InvalidArgument: these are no lines.
            InvalidContent: it is no bundle, was cut off or changed, or is of a later form.
            ContentConflict: it says something else of what is on record.
            TMSError: whatever else adding a row raises; the message tells which line.
            Misuse: a batch is open.
            Busy: others held the file for longer than the wait. If contents were redacted by then,
                the message says so.

        Cost: grows with the bundle, and with as much of the file as is the same. Memory grows with
        the refs of a bundle of another history, and else not, but for labels of what was there.
        """
        self._alone()
        with Bundle(lines) as bundle:
            self._alone()  # whoever gave the lines may have begun a batch
            with overwriting(self._connection) if bundle.redacts else nullcontext():
                imported, redacted = take_in(self._writer, bundle)
        if redacted:
            scrub(self._connection)
        return imported
