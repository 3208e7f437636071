"""One transaction, one commit: opened by the outermost verb or batch, joined by those inside."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Self, cast

from tms import history
from tms.clock import Clock, microseconds
from tms.collecting import uncollected
from tms.content import check_text
from tms.draft import Draft, DraftMark
from tms.errors import Misuse, TMSError
from tms.listening import Listeners
from tms.models import Report
from tms.store import Audit, Beliefs, Connection, Record, SqlNetwork

_REPORTED = ("retract", "unretract", "revise", "settle", "redact", "batch")


class Writer:
    """The write side of a memory: at most one open commit."""

    def __init__(self, connection: Connection, clock: Clock) -> None:
        self.connection = connection
        self.listeners = Listeners(connection)
        self._draft: Draft | None = None
        self._clock = clock
        self._telling = False
        self._audit = Audit(connection)
        self._record = Record(connection)
        self._beliefs = Beliefs(connection)
        self._open: list[Batch] = []
        self._broken = False

    def _network(self) -> SqlNetwork:
        return SqlNetwork(self.connection)

    def batch(self, op: str, reason: str | None = None, by: str | None = None) -> "Batch":
        """Return a commit to be made.

        Raises:
            InvalidContent: the reason or the name cannot be kept.
        """
        check_text("reason", reason)
        check_text("by", by)
        return Batch(self, op, reason, by)

    @property
    def draft(self) -> Draft | None:
        """The open commit, or None."""
        return self._draft if self._open else None

    def drop(self) -> None:
        """Forget the open commit; the transaction ends with its connection."""
        self._draft, self._open, self._telling = None, [], False

    def begin(self, batch: "Batch") -> tuple[Draft, "Batch"]:
        """Open a commit, or join the open one; return it and the batch that opened it."""
        self.heal()
        draft = self.draft
        if draft is None:
            draft = self._begin()
        elif self._broken or not self.connection.in_transaction:
            raise Misuse(
                "this batch failed before; nothing of it will be kept.",
                hint="Leave it, and begin another.",
            )
        self._open.append(batch)
        return draft, self._open[0]

    def _begin(self) -> Draft:
        if self._telling:
            self.now()
        try:
            self.connection.begin()
            with self.connection.translated():
                self._audit.mend()
                self._draft = draft = Draft(self._record, self._network, self.now())
                self._record.check_end(draft.base)
                self._record.claim_scope(draft.revision)
            self._broken = False
        except BaseException:
            self.undo()
            raise
        return draft

    def now(self) -> int:
        """Return what the clock says, in microseconds.

        Raises:
            Misuse: the clock asks the memory.
        """
        if self._telling:
            raise Misuse(
                "the clock of this memory used the memory.",
                hint="Give a clock that only tells the time.",
            )
        self._telling = True
        try:
            return microseconds(self._clock())
        finally:
            self._telling = False

    def __enter__(self) -> Self:
        self.connection.check_owner()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.heal()

    def heal(self) -> None:
        """Undo a verb that an interrupt cut off where it could not undo itself.

        Nothing runs inside a single verb, so one that is still open when something else runs is
        of that kind.
        """
        if self._open and not self._open[-1].composite:
            self.undo()

    def abandon(self, batch: "Batch") -> None:
        """Make good for a batch that could not be begun."""
        if not self._open or self._open[0] is batch:
            self.undo()
        elif batch in self._open:
            self._open.remove(batch)
            self.fail()

    def leave(self, batch: "Batch") -> bool:
        """Return whether a batch may end now; out of turn, nothing of the commit is kept."""
        if batch not in self._open:
            return False
        if self._open.pop() is not batch:
            self.undo()
            return False
        return True

    def fail(self) -> None:
        """Note that a verb stopped half-way, so that nothing of the open commit can be kept."""
        self._broken = True

    def undo(self) -> None:
        """Close the open commit and keep nothing of it."""
        try:
            self.connection.rollback()
        finally:
            self.drop()

    def keep(self, batch: "Batch") -> None:
        """Settle, close and keep the open commit, all or nothing; make the report and tell it."""
        draft = self._draft
        try:
            if draft is None or self._broken or not self.connection.in_transaction:
                raise Misuse(
                    "something in this batch failed and was passed over; nothing of it was kept.",
                    hint="Let the error of a verb leave the batch.",
                )
            with self.connection.translated(), uncollected():
                batch.changed = draft.seal(batch.op, batch.reason, batch.by)
                if batch.op in _REPORTED:
                    batch.kept = self._report(batch, draft)
            if batch.changed:
                self.connection.commit()
                self.listeners.note(draft.revision, batch.kept)
        finally:
            self.undo()
        self.listeners.call()

    @contextmanager
    def series(self) -> Iterator["Series"]:
        """Open a transaction for commits made one after another, all of them kept or none.

        No verb may run inside, and no batch may be open.
        """
        try:
            now = self.now()
            self.connection.begin()
            with self.connection.translated():
                self._audit.mend()
                series = Series(self._record, self._network, now)
                self._record.check_end(series.base)
                self._record.claim_scope(series.base.revision + 1)
                yield series
            if series.made:
                self.connection.commit()
                for revision in series.made:
                    self.listeners.note(revision, None)
        finally:
            self.undo()
        self.listeners.call()

    def _report(self, batch: "Batch", draft: Draft) -> Report:
        if batch.changed:
            return history.report(self.connection, draft.revision)
        base = draft.base._replace(believed=self._beliefs.believed(draft.base.revision))
        return history.nothing(self._beliefs, base, batch.op, batch.reason, batch.by)


class Series:
    """Commits that are made one after another in one transaction.

    Attributes:
        base: the head on which they stand.
        head: the last of them so far.
        record: where they go.
        now: what the clock said, in microseconds.
    """

    def __init__(self, record: Record, network: Callable[[], SqlNetwork], now: int) -> None:
        self.record = record
        self.now = now
        self.base = self.head = record.head()
        self._network = network

    @property
    def made(self) -> range:
        """The revisions of those made so far."""
        return range(self.base.revision + 1, self.head.revision + 1)

    def draft(self, now: int) -> Draft:
        """Open the next commit, at an instant in microseconds."""
        return Draft(self.record, self._network, now)

    def seal(self, draft: Draft, op: str, reason: str | None, by: str | None) -> bool:
        """Settle and close it; return False, with nothing written, if it is empty."""
        with uncollected():
            sealed = draft.seal(op, reason, by)
        if sealed:
            self.head = draft.head
        return sealed


class Batch:
    """One commit being made: a context manager, joined by the verbs and batches inside it.

    Attributes:
        draft: the open commit.
        changed: whether there was anything to commit.
    """

    draft: Draft
    _outermost: "Batch"

    def __init__(self, writer: Writer, op: str, reason: str | None, by: str | None) -> None:
        self._writer = writer
        self._mark: DraftMark | None = None
        self._entered = False
        self.op = op
        self.reason = reason
        self.by = by
        self.changed = False
        self.kept: Report | None = None

    @property
    def report(self) -> Report:
        """The report of the commit, once it is made.

        Raises:
            Misuse: the batch is still open, or it failed.
        """
        kept = self._outermost.kept if hasattr(self, "_outermost") else None
        if kept is None:
            raise Misuse(
                "there is no report of this batch.",
                hint="Ask for it after the outermost batch has ended without an error.",
            )
        return kept

    def told(self) -> Report:
        """Return the report, or inside a batch what becomes it after the end of that."""
        if self._outermost is self:
            return self.report
        return cast(Report, _Later(self))

    def __enter__(self) -> Self:
        if self._entered:
            raise Misuse("this batch was used before.", hint="Begin another: memory.batch().")
        self._writer.connection.check_owner()
        self._entered = True
        try:
            self.draft, self._outermost = self._writer.begin(self)
            if self._outermost is not self and self.composite:
                with self._writer.connection.translated():
                    self._mark = self.draft.mark()
                self._writer.connection.savepoint(self._name)
                self.draft.say(self.reason, self.by)
            return self
        except BaseException:
            self._writer.abandon(self)
            self._entered = False
            raise

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._writer.connection.check_owner()
        try:
            self._close(error)
        except BaseException:
            if getattr(self, "_outermost", None) is self:
                self._writer.undo()
            raise
        if not self.composite:  # what the body of a batch raises is not ours to translate
            self._writer.connection.translated().__exit__(kind, error, trace)

    def _close(self, error: BaseException | None) -> None:
        if not self._writer.leave(self):
            if error is None:
                raise Misuse(
                    "this batch was not begun, ended before, or ends out of turn; "
                    "what of it was not kept before is not kept.",
                    hint="Use with memory.batch(): ...",
                )
        elif self._outermost is not self:
            self._leave(error)
        elif error is None:
            self._writer.keep(self)
        else:
            self._writer.undo()

    @property
    def composite(self) -> bool:
        """Whether other verbs and batches may run inside."""
        return self.op in ("batch", "load")

    @property
    def _name(self) -> str:
        return f"tms{id(self)}"

    def _leave(self, error: BaseException | None) -> None:
        if self._mark is not None:
            try:
                self._writer.connection.release(self._name, undo=error is not None)
            except BaseException:
                self._writer.fail()
                raise
            if error is not None:
                self.draft.restore(self._mark)
        elif error is None:
            self.draft.say(self.reason, self.by)
        elif not isinstance(error, TMSError):
            self._writer.fail()


class _Later:
    """What a verb inside a batch returns: the report of the batch, once there is one."""

    def __init__(self, batch: Batch) -> None:
        self._batch = batch

    def __getattr__(self, name: str) -> Any:
        return getattr(self._batch.report, name)

    def __bool__(self) -> bool:
        return bool(self._batch.report)

    def __str__(self) -> str:
        return str(self._batch.report)

    def __repr__(self) -> str:
        return "<a report that can be read after the batch>"
