"""Following the commits: a durable position for each reader, and callbacks in this process."""

from collections.abc import Callable, Iterator

from tms import cursors, history
from tms.content import check_text
from tms.errors import CorruptStore, InvalidArgument, quoted
from tms.exchange import Exchange
from tms.listening import Listener
from tms.models import Report
from tms.refs import Anchor
from tms.store import Consumers


class Feed(Exchange):
    """The part of a memory that others follow."""

    def subscribe(self, name: str) -> "Subscription":
        """Return what follows the commits from where the reader of this name left off.

        The name is all there is to it: the same name goes on from the same position, in whichever
        process and after whichever crash. A new one begins before the first commit; acknowledge
        the head to begin there. Nothing is written until something is acknowledged.

        Args:
            name: of the reader, any text.

        Returns:
            The subscription.

        Raises:
            InvalidArgument: the name is no text, empty, or cannot be kept.

        Cost: none.
        """
        if name is None:
            raise InvalidArgument("name is None, not text.", hint="Give each reader a name.")
        check_text("name", name, InvalidArgument, empty=False)
        return Subscription(self, str.__str__(name))

    def subscriptions(self) -> tuple["Subscription", ...]:
        """Return the subscriptions that have acknowledged something, by name.

        Raises:
            Misuse: the memory is closed.

        Cost: grows with their number.
        """
        with self._connection.snapshot():
            return tuple(Subscription(self, name) for name in Consumers(self._connection).names())

    def on_commit(self, callback: Callable[[Report], object]) -> Listener:
        """Call back after each commit that this memory makes, with the report of it.

        It is called once the commit is in the file, and in the order of commits; never for what
        changed nothing or was rolled back, and once for a batch. Several callbacks are called in
        the order in which they were given. Commits of other handles and processes are not heard of,
        and what a crash leaves untold stays untold; see ``subscribe``.

        A callback may read and may write. What it writes is a commit of its own, of which all hear,
        it too, after they have heard of this one: one that writes every time never comes to an end.

        What a callback raises is logged (``logging.getLogger("tms")``, as an error with its
        traceback) and goes no further: the commit stands, the verb returns, the others are called.

        Args:
            callback: called with a ``Report``; what it returns is ignored.

        Returns:
            The listener; ``stop()`` it, or use it as a context manager.

        Raises:
            InvalidArgument: it cannot be called.

        Cost: none; each commit then costs its report, which grows with what it moved.
        """
        if not callable(callback):
            raise InvalidArgument(f"the callback is {quoted(callback)}.", hint="Give a callable.")
        return self._writer.listeners.add(callback)


class Subscription:
    """A durable position among the commits. Made by ``memory.subscribe``.

    Reports come in the order of commits and at least once: what was taken and not acknowledged is
    given again, after a crash too. Only what is committed is given. Where a power cut takes the
    last commits, as SQLite in WAL mode allows, it takes a position among them back, too.

    Attributes:
        name: of the reader.
    """

    def __init__(self, memory: Feed, name: str) -> None:
        self._memory = memory
        self._consumers = Consumers(memory._connection)
        self.name = name

    def __repr__(self) -> str:
        return f"<tms subscription {self.name!r}>"

    @property
    def position(self) -> Anchor | None:
        """The last commit that was acknowledged; None if there is none. Two index seeks.

        Raises:
            CorruptStore: somebody put it where there is no commit.
        """
        with self._memory._connection.snapshot():
            revision = self._consumers.position(self.name)
            return self._anchor(revision) if revision else None

    def _anchor(self, revision: int) -> Anchor:
        anchor = history.anchor(self._memory._beliefs, revision)
        if anchor is None or anchor.revision != revision:
            raise CorruptStore(
                f"the position of {self.name!r} is revision {revision}, which there is not.",
                hint="Run tms verify; forget() the position to begin again.",
                ids=(self.name,),
            )
        return anchor

    def __iter__(self) -> Iterator[Report]:
        """Yield the reports after the position, up to the head at the moment of the call.

        Cost: grows with what the commits moved, a commit at a time.
        """
        return self._memory.changes(since=self.position)

    def take(self, limit: int = 100) -> tuple[Report, ...]:
        """Return the next reports after the position. It stays where it is.

        Args:
            limit: at most so many, 1 to 1000.

        Returns:
            The reports, oldest first; none if all is acknowledged.

        Raises:
            InvalidArgument: the limit is out of range.

        Cost: grows with what these commits moved.
        """
        cursors.check_limit(limit)
        memory = self._memory
        with memory._connection.snapshot():
            head, after = memory._recorded(), self._consumers.position(self.name)
            rows = memory._beliefs.commits(after, head, limit)
            return tuple(history.report(memory._connection, row.revision) for row in rows)

    def acknowledge(self, anchor: str) -> Anchor:
        """Move the position to a commit, so that reports go on after it. It never moves back.

        Args:
            anchor: the commit, ``report.after`` of the last report that was worked through.

        Returns:
            The position then: a later one if that was acknowledged before.

        Raises:
            InvalidAnchor: the text is no anchor.
            NoSuchAnchor: it is ahead of the head, or of another file.
            Misuse: a batch is open.
            Busy, ReadOnly: the file cannot be written.

        Cost: one small transaction. It is no commit: it has no revision and no report.
        """
        memory = self._memory

        def move() -> Anchor:
            revision = history.revision_of(memory._beliefs, anchor, memory._recorded())
            return self._anchor(self._consumers.advance(self.name, revision))

        return memory._write(move)

    def forget(self) -> bool:
        """Remove the position, as if nothing had ever been acknowledged.

        Returns:
            Whether there was one.

        Raises:
            Misuse: a batch is open.
            Busy, ReadOnly: the file cannot be written.

        Cost: one small transaction.
        """
        return self._memory._write(lambda: self._consumers.forget(self.name))
