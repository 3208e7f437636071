"""What is on record and what is believed, read alike by a memory and a view of its past."""

from collections.abc import Iterator

from tms import content, cursors, history, instants
from tms.answers import Commit
from tms.cursors import LARGEST_PAGE, Question, Walk
from tms.errors import (
    InvalidArgument,
    InvalidCursor,
    InvalidRef,
    Misuse,
    NoSuchJustification,
    NoSuchNode,
    quoted,
)
from tms.models import Justification, Node, Page, Status
from tms.refs import JUSTIFICATION, Anchor, Digest, Ref, ref_of
from tms.store import Beliefs, Chain, Connection, Named, NodeRow, Overlay, Owned, Record, Windows


class Reader:
    """What reads a file at some revision. ``Memory`` reads at the head, ``View`` at an anchor."""

    _viewed = False

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._record = Record(connection)
        self._beliefs = Beliefs(connection)
        self._windows = Windows(connection)
        self._overlay: Overlay | None = None

    def _revision(self) -> int:
        """Return the revision to answer from: what is on record."""
        raise NotImplementedError

    def _instant(self) -> int | None:
        """Return the instant to answer for, in microseconds; None for that of the commit.

        Asked only of files that have windows.
        """
        raise NotImplementedError

    def _at(self) -> int:
        """Return the revision to answer from, with what differs at the instant laid over it.

        All that is read until the end of the snapshot is of that instant.
        """
        return self._look()[0]

    def _look(self, pinned: tuple[int, int | None] | None = None) -> tuple[int, int | None]:
        """Return the revision and the instant to answer from, or look at given ones again."""
        found = None
        if pinned is None:
            revision = self._revision()
            instant = self._instant() if self._windows.any() else None
        else:
            revision, instant = pinned
        live = pinned is None and not self._viewed
        if instant is not None:
            found = self._overlay
            if not instants.stands(self._windows, found, revision, instant):
                self._connection.lay(None)
                found = instants.overlay(self._connection, revision, instant, live=live)
        self._connection.lay(found)
        self._overlay = found or self._overlay
        return revision, instant

    def _recorded(self) -> int:
        """Return the last revision to be seen, 0 if there is none, with nothing laid over it."""
        self._connection.lay(None)
        return self._revision()

    @property
    def scope(self) -> str:
        """The scope as which this reads and writes; empty for the shared one. It costs nothing."""
        return self._connection.scope

    def _whole(self, operation: str) -> None:
        """Check that what is about the whole file is not asked for as one scope."""
        if self.scope:
            raise Misuse(
                f"{operation} is about the whole file, with what all scopes wrote.",
                hint='Open the file with scope="" for it.',
            )

    def _unknown(self) -> str:
        return "Check the spelling, or declare it first: memory.source(...) or memory.fact(...)."

    def _named(self, ref: Ref, at: int) -> Named:
        if ref.kind == JUSTIFICATION:
            found = self._record.justification(ref.id, at)
        else:
            found = self._record.node(ref.kind, ref.id, at)
        if found is not None:
            return found
        if ref.kind == JUSTIFICATION:
            raise NoSuchJustification(
                f"no such justification: {ref}.",
                hint="Check the id; memory.justify(...) returns the ref to use.",
                ids=(ref,),
            )
        raise NoSuchNode(f"no such node: {ref}.", hint=self._unknown(), ids=(ref,))

    def believes(self, ref: object) -> bool:
        """Return whether a source or a fact is IN, or whether a justification fires.

        Args:
            ref: a Ref, a model that has one, or ``"kind:id"``.

        Raises:
            NoSuchNode, NoSuchJustification: it names nothing here.
            InvalidRef: it is no ref.

        Cost: a few index seeks; for a justification also one for each premise. Where windows opened
        or closed since the commit, also what that changes.
        """
        with self._connection.snapshot():
            at = self._at()
            named = self._named(ref_of(ref), at)
            if named.role == JUSTIFICATION:
                return self._beliefs.fires(named.key, at)
            return self._beliefs.is_in(named.key, at)

    def status(self, ref: object) -> Status:
        """Return IN or OUT; see ``believes``, which raises the same and costs the same."""
        return Status.IN if self.believes(ref) else Status.OUT

    def get(self, ref: object) -> Node | Justification:
        """Return all that is known of one source, fact or justification.

        Args:
            ref: a Ref, a model that has one, or ``"kind:id"``.

        Raises:
            NoSuchNode, NoSuchJustification: it names nothing here.
            InvalidRef: it is no ref.

        Cost: a few index seeks; for a justification also one for each premise and conclusion.
        """
        with self._connection.snapshot():
            at = self._at()
            named = self._named(ref_of(ref), at)
            if named.role != JUSTIFICATION:
                return self._node(self._beliefs.node(named.key, at))
            key, beliefs = named.key, self._beliefs
            window = self._windows.of(key, at)
            declared = history.anchor(beliefs, named.revision)
            assert declared is not None
            return Justification(
                ref=Ref.kept(JUSTIFICATION, self._record.identity(key)[1]),
                status=Status.IN if beliefs.fires(key, at) else Status.OUT,
                retracted=not beliefs.is_on(key, at),
                premises=tuple(Ref.kept(*pair) for pair in beliefs.premises(key)),
                derives=tuple(Ref.kept(*pair) for pair in beliefs.conclusions(key)),
                valid_from=history.opened(window.start),
                valid_to=history.opened(window.end),
                rule=beliefs.rule(key),
                scope=self.scope if named.scope else "",
                declared=declared,
            )

    @staticmethod
    def _node(row: NodeRow) -> Node:
        ref = Ref.kept(row.kind, row.id)
        return Node.model_validate(
            {
                "ref": ref,
                "role": row.role,
                "status": Status.IN if row.is_in else Status.OUT,
                "retracted": bool(row.off),
                "content": content.kept(row.content, ref),
                "version": row.version or 0,
                "redacted": row.version is not None and row.content is None,
                "support": row.support,
                "valid_from": history.opened(row.valid_from),
                "valid_to": history.opened(row.valid_to),
                "declared": Anchor.kept(row.revision, row.at),
                "scope": row.scope,
            }
        )

    def holding(self, kind: str | None = None) -> Iterator[Ref]:
        """Yield the facts that are IN, by (kind, id), as of the moment of the call.

        The walk is pinned to the commit and the instant at which it began: what is written, begins
        or expires meanwhile is not in it.

        Args:
            kind: only facts of this kind.

        Raises:
            InvalidRef: there can be no such kind.

        Cost: an index seek for each node on record (of that kind), a page at a time.
        """
        check_kind(kind)
        with self._connection.snapshot():
            pinned = self._look()
        return Owned(self._connection, self._walk(pinned, kind))

    def _walk(self, pinned: tuple[int, int | None], kind: str | None) -> Iterator[Ref]:
        after: tuple[str, str, int] | None = None
        kept = Ref.kept
        while True:
            with self._connection.snapshot():
                revision, _ = self._look(pinned)
                rows = self._beliefs.holding(revision, kind, after, LARGEST_PAGE)
            for of_kind, id, _ in rows:
                yield kept(of_kind, id)
            if len(rows) < LARGEST_PAGE:
                return
            after = rows[-1]

    def scan(
        self, kind: str | None = None, limit: int = LARGEST_PAGE, *, after: str | None = None
    ) -> "Page[Node]":
        """Return a page of all sources and facts on record, IN or OUT, by (kind, id).

        Where the own scope and the shared one have a node of the same ref, both are in it, the
        shared one first.

        The pages of one scan all show the commit and the instant at which it began, whatever is
        written, begins or expires meanwhile.

        Args:
            kind: only nodes of this kind.
            limit: at most this many, 1 to 1000.
            after: the ``next_cursor`` of the page before.

        Raises:
            InvalidRef: there can be no such kind.
            InvalidCursor: the cursor is damaged, of another kind, view or file.
            InvalidArgument: the limit is out of range.

        Cost: grows with the page, not with the file.
        """
        check_kind(kind)
        cursors.check_limit(limit)
        with self._connection.snapshot():
            question = Question("scan", kind, self._viewed, self.scope, (str, str, int))
            walk = self._go_on(question, after, valid=True)
            rows = self._beliefs.nodes(walk.revision, kind, walk.last, limit + 1)
            items = tuple(self._node(row) for row in rows[:limit])
            cursor = None
            if len(rows) > limit:
                last = rows[limit - 1]
                cursor = self._cursor(question, walk, (last.kind, last.id, last.own))
        return Page[Node](items=items, next_cursor=cursor)

    def _go_on(self, question: Question, after: str | None, *, valid: bool = False) -> Walk:
        """Return where the pages of an answer go on, or begin; what they show can be read then.

        Args:
            question: what is asked.
            after: the cursor, if there is one.
            valid: the answer depends on the instant, not on the record alone.
        """
        if after is None:
            revision, instant = self._look() if valid else (self._recorded(), None)
            revision = self._beliefs.seen(revision)
            return Walk(revision, self._instant() if self._viewed else instant, None)
        anchor, instant, hidden = cursors.read(after, question)
        head, revision = self._recorded(), anchor.revision
        if history.anchor(self._beliefs, revision) != anchor:
            raise InvalidCursor(f"the cursor is of another file: {anchor}.", hint=cursors.AGAIN)
        if revision < self._beliefs.baseline:
            raise InvalidCursor(
                f"the cursor is of {anchor}, from before the file was pruned.", hint=cursors.AGAIN
            )
        seen = (head, self._instant()) if self._viewed else (min(revision, head), instant)
        if seen != (revision, instant):
            raise InvalidCursor(f"the cursor is of {question} of another view.", hint=cursors.AGAIN)
        last = cursors.place(hidden, question, self._secret(revision))
        if valid:
            self._look((revision, instant))
        return Walk(revision, instant, last)

    def _cursor(self, question: Question, walk: Walk, last: cursors.Place) -> str:
        anchor = history.anchor(self._beliefs, walk.revision)
        return cursors.write(question, anchor, walk.instant, last, self._secret(walk.revision))

    def _secret(self, revision: int) -> bytes:
        """Return what nobody knows who is told of a commit as a scope: its digest."""
        recorded = Chain(self._connection).recorded(revision)
        return b"" if recorded is None else recorded[1]

    @property
    def head(self) -> Anchor | None:
        """The last commit to be seen; None if there is none yet. One index seek."""
        with self._connection.snapshot():
            return history.anchor(self._beliefs, self._recorded())

    def digest(self) -> Digest | None:
        """Return the last commit of the file, whoever made it, with a digest to be kept elsewhere.

        The digest is over that of the commit before, and over the commit: over all that was
        recorded up to it. Who keeps it can tell later, by ``verify(kept=digest)``, whether anybody
        changed any of that. It vouches for this file; of one that is pruned from it, keep another.

        Returns:
            Its anchor with its digest; None if there is no commit yet.

        Raises:
            Misuse: the memory belongs to another thread or process, or is a scope of the file.

        Cost: two index seeks.
        """
        self._whole("digest")
        with self._connection.snapshot():
            revision = self._recorded()
            here = Chain(self._connection).vouching(revision)
            return Digest.kept(revision, *here[0]) if here else None

    def log(self, *, after: str | None = None) -> Iterator[Commit]:
        """Yield the commits, oldest first, up to the head at the moment of the call.

        Of a pruned file the first is its baseline.

        Args:
            after: only those after this anchor.

        Raises:
            InvalidAnchor, NoSuchAnchor: ``after`` is none of this file.

        Cost: grows with what the commits moved, a page at a time.
        """
        with self._connection.snapshot():
            head = self._recorded()
            start = 0 if after is None else history.revision_of(self._beliefs, after, head)
        return Owned(self._connection, self._translated_log(start, head))

    def _translated_log(self, start: int, head: int) -> Iterator[Commit]:
        with self._connection.translated():
            yield from history.log(self._beliefs, start, head)


def check_kind(kind: str | None) -> None:
    """Refuse what can be no kind.

    Raises:
        InvalidRef: there can be no such kind.
    """
    if kind is None:
        return
    if not isinstance(kind, str) or not kind or ":" in kind:
        raise InvalidRef(f"not a kind: {quoted(kind)}.", hint="A kind is text without a colon.")
    Ref.of(kind, "-")


def check_limit(name: str, limit: object, least: int) -> None:
    """Refuse what is no limit, or out of range.

    Raises:
        InvalidArgument: it is not from ``least`` to a billion.
    """
    if isinstance(limit, bool) or not isinstance(limit, int) or not least <= limit <= _MOST:
        raise InvalidArgument(f"{name} is {quoted(limit)}.", hint=f"Give {least} to {_MOST:,}.")


_MOST = 1_000_000_000
