"""The verbs that write: one verb, one transaction, one commit, one report."""

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Any

from tms import history
from tms.batch import Batch
from tms.clock import KEPT, Kept, Window, given, revised, window
from tms.content import canonical
from tms.errors import InvalidArgument, InvalidContent, quoted
from tms.feed import Feed
from tms.interchange import PROGRESS, blocks
from tms.models import Loaded, Node, Report
from tms.refs import JUSTIFICATION, Ref, ref_of, refs_of
from tms.statement import check_premises, statement
from tms.store import overwriting, scrub


class Verbs(Feed):
    """What can be told to a memory."""

    def source(
        self,
        ref: object,
        content: Mapping[str, Any] | None = None,
        *,
        valid_from: datetime | str | None = None,
        valid_to: datetime | str | None = None,
    ) -> Ref:
        """Declare a source: a node that supports by itself while it is on and valid.

        Args:
            ref: its name, ``"kind:id"``.
            content: what it says, as a JSON object. A source that was declared without content
                takes it; None leaves it as it is.
            valid_from: from when on it holds in the world, an aware ``datetime`` or ISO 8601 text
                with an offset; None is open.
            valid_to: when it no longer holds; likewise. If neither is given, a source that is on
                record keeps its window.

        Returns:
            Its ref. Declaring the same again changes nothing.

        Raises:
            ContentConflict: the ref names a fact, or a source with other content, redacted content
                or another window (see ``revise``).
            InvalidRef: it is no ref, or its kind is reserved.
            InvalidContent: the content cannot be kept as JSON.
            InvalidWindow: a bound is no instant, or nothing lies between them.

        Cost: a few index seeks and rows.
        """
        return self._declare("source", ref, content, given(valid_from, valid_to))

    def fact(
        self,
        ref: object,
        content: Mapping[str, Any] | None = None,
        *,
        valid_from: datetime | str | None = None,
        valid_to: datetime | str | None = None,
    ) -> Ref:
        """Declare a fact: a node that is believed only through justifications, so OUT at first.

        Outside its window it is OUT whatever supports it. Args, returns, raises and costs as
        ``source``.
        """
        return self._declare("fact", ref, content, given(valid_from, valid_to))

    def _declare(
        self, role: str, ref: object, content: Mapping[str, Any] | None, window: Window | None
    ) -> Ref:
        named, text = ref_of(ref), canonical(content)
        with self._writer, self._writer.batch(role) as verb:
            verb.draft.declare(named, role, text, window)
        return named

    def justify(
        self,
        conclusions: object,
        premises: object,
        *,
        rule: str | None = None,
        id: str | None = None,
        valid_from: datetime | str | None = None,
        valid_to: datetime | str | None = None,
    ) -> Ref:
        """Record that the premises together derive the conclusions.

        Args:
            conclusions: one fact or several; a new one is declared.
            premises: one source or fact or several, all on record; order and repeats do not
                count.
            rule: what it was drawn by (Doyle's informant).
            id: its id; a hash of premises, conclusions, rule and window by default.
            valid_from: from when on it holds in the world, as for ``source``.
            valid_to: when it no longer holds.

        Returns:
            Its ref, ``justification:<id>``. The same premises, conclusions, rule and window are the
            same justification: recorded again they change nothing and return the ref they have.

        Raises:
            NoSuchNode: a premise names nothing.
            InvalidJustification: no premises (see ``axiom``), a conclusion among the premises, a
                source as a conclusion, or a justification in either place.
            ContentConflict: the id is taken by a justification that says something else.

        Cost: grows with its premises and conclusions, and with what it brings IN.
        """
        derived, needed = refs_of(conclusions), refs_of(premises)
        check_premises(needed, derived)
        said = statement(derived, needed, rule, id, window(valid_from, valid_to))
        with self._writer, self._writer.batch("justify") as verb:
            return verb.draft.justify(said)

    def axiom(
        self,
        conclusions: object,
        *,
        rule: str | None = None,
        id: str | None = None,
        valid_from: datetime | str | None = None,
        valid_to: datetime | str | None = None,
    ) -> Ref:
        """Record that the conclusions hold without premises, on purpose.

        Args, returns, raises and costs as ``justify``. Retract the returned ref to withdraw it.
        """
        said = statement(refs_of(conclusions), [], rule, id, window(valid_from, valid_to))
        with self._writer, self._writer.batch("axiom") as verb:
            return verb.draft.justify(said)

    def revise(
        self,
        ref: object,
        content: Mapping[str, Any] | None = None,
        *,
        valid_from: datetime | str | Kept | None = KEPT,
        valid_to: datetime | str | Kept | None = KEPT,
        reason: str | None = None,
        by: str | None = None,
    ) -> Report:
        """Give a source or a fact new content or another window. What was before stays on record.

        Args:
            ref: which.
            content: all of the new content, as a JSON object; None leaves it as it is.
            valid_from: from when on it holds, None for open; left out, it stays as it is.
            valid_to: when it no longer holds; likewise.
            reason: why.
            by: by whom.

        Returns:
            The report, falsy if all is the same as before. New content changes no belief.

        Raises:
            NoSuchNode: the ref names nothing.
            InvalidContent: the content cannot be kept as JSON, or there is nothing to revise.
            InvalidWindow: a bound is no instant, or nothing lies between them.

        Cost: a few index seeks and rows, and what another window changes.
        """
        named, text, change = ref_of(ref), canonical(content), revised(valid_from, valid_to)
        if text is None and change is None:
            raise InvalidContent(
                f"nothing to revise {named} to.", hint="Give content={...}, valid_from or valid_to."
            )
        with self._writer, self._writer.batch("revise", reason, by) as verb:
            verb.draft.revise(named, text, change)
        return verb.told()

    def retract(self, refs: object, *, reason: str | None = None, by: str | None = None) -> Report:
        """Switch sources, facts or justifications off, and say what dies and what survives.

        A source that is off supports nothing; a justification that is off does not fire; a fact
        that is off is OUT whatever supports it. Nothing is deleted: ``unretract`` is the inverse.

        Args:
            refs: one or several; those that are off already are left as they are.
            reason: why.
            by: by whom.

        Returns:
            The report, falsy if nothing was switched. Inside a batch it can be read only as
            ``batch.report`` after the batch.

        Raises:
            NoSuchNode, NoSuchJustification: a ref names nothing; then nothing is switched.

        Cost: grows with what changes and its direct neighbourhood, not with the file.
        """
        return self._turn("retract", refs, reason, by)

    def unretract(
        self, refs: object, *, reason: str | None = None, by: str | None = None
    ) -> Report:
        """Switch on again what was retracted: the exact inverse of ``retract``.

        Args, returns, raises and costs as ``retract``.
        """
        return self._turn("unretract", refs, reason, by)

    def _turn(self, op: str, refs: object, reason: str | None, by: str | None) -> Report:
        named = refs_of(refs)
        with self._writer, self._writer.batch(op, reason, by) as verb:
            verb.draft.turn(named, on=op == "unretract")
        return verb.told()

    def settle(self, *, reason: str | None = None, by: str | None = None) -> Report:
        """Commit what began or expired since the last commit, so that a report tells of it.

        Nothing needs it: every commit settles this first, and reading sees it at once.

        Args:
            reason: why.
            by: by whom.

        Returns:
            The report, falsy if no window opened or closed.

        Raises:
            InvalidContent: the reason or the name cannot be kept.

        Cost: grows with what opened or closed, and what that changes.
        """
        with self._writer, self._writer.batch("settle", reason, by) as verb:
            verb.draft.settling = True
        return verb.told()

    def redact(self, ref: object, *, reason: str | None = None, by: str | None = None) -> Report:
        """Remove the content of a source or a fact for good, in all its versions.

        Refs, belief, windows and reports stay as they were and can be replayed; what is told of
        any commit differs in this content alone, which is None. The bytes leave the file, its log
        and its free pages. They stay where this file cannot reach: in backups, copies, exports and
        files that it was pruned from or into, and in what the disk keeps of freed blocks. Its ref,
        and the reasons and rules of commits and justifications, are not touched, whatever they say.

        Args:
            ref: which; it can be given new content by ``revise``, not by declaring it again.
            reason: why.
            by: by whom.

        Returns:
            The report, falsy if there was no content, or none since it was redacted before.

        Raises:
            NoSuchNode: the ref names nothing.
            InvalidRef: it names a justification.
            Misuse: a batch is open; this is a commit of its own.
            Busy, StoreFailed: others held the file for longer than the wait, or the disk refused.
                If it was redacted by then, the hint says so, and to redact again removes what is
                left of the bytes.

        Cost: grows with the file, which is written anew.
        """
        named = ref_of(ref)
        self._alone()
        with overwriting(self._connection):
            with self._writer, self._writer.batch("redact", reason, by) as verb:
                verb.draft.redact(named)
            report = verb.told()
        found = self.get(named)
        if isinstance(found, Node) and found.redacted:
            scrub(self._connection)
        return report

    def batch(self, *, reason: str | None = None, by: str | None = None) -> Batch:
        """Return a context in which all verbs are one commit, settled once at its end.

        Reading inside it shows the last commit. A batch inside a batch joins it. An exception
        leaves nothing of the batch it passes through.

        Args:
            reason: why; if it is not given, the reasons of the verbs inside are kept.
            by: by whom; likewise.

        Returns:
            The batch; ``batch.report`` is the report, after its end.

        Raises:
            InvalidContent: the reason or the name cannot be kept.

        Cost: what its verbs cost, and one settlement for all of them.
        """
        return self._writer.batch("batch", reason, by)

    def load(
        self,
        rows: Iterable[Mapping[str, Any]],
        *,
        reason: str | None = None,
        by: str | None = None,
        progress: Callable[[int], None] | None = None,
    ) -> Loaded:
        """Take in interchange objects, streaming, as one commit.

        Args:
            rows: objects such as ``{"source": "Feed:1", "content": {...}}``; see ``tms import``.
            reason: why.
            by: by whom.
            progress: called now and then with the number of rows read so far.

        Returns:
            What was taken in.

        Raises:
            InvalidArgument: ``rows`` is no iterable, or ``progress`` cannot be called.
            InvalidContent: a row is no interchange object.
            TMSError: whatever the verb of a row raises. A note on each tells which row.

        Cost: grows with the rows; memory does not, except for labels of what was there before.
        """
        if isinstance(rows, (str, bytes, Mapping)) or not isinstance(rows, Iterable):
            raise InvalidArgument(
                f"rows are {quoted(rows)}.", hint="Give an iterable of interchange objects."
            )
        if progress is not None and not callable(progress):
            raise InvalidArgument(f"progress is {quoted(progress)}.", hint="Give a callable.")
        batch = self._writer.batch("load", reason, by)
        with batch:
            draft = batch.draft
            with self._connection.translated():
                before = history.anchor(self._beliefs, draft.base.revision)
                believed = self._beliefs.believed(draft.base.revision)
            start, turned = draft.counts, draft.turned
            read = 0
            for block in blocks(rows):
                with self._connection.translated():
                    read = block.add_to(draft)
                if progress is not None and read % PROGRESS == 0:
                    progress(read)
            if progress is not None:
                progress(read)
            new = {role: count - start[role] for role, count in draft.counts.items()}
            turned = draft.turned - turned
        return Loaded(
            changed=batch.changed,
            before=before,
            after=history.anchor_of(draft.head) if batch.changed else before,
            rows=read,
            sources=new["source"],
            facts=new["fact"],
            justifications=new[JUSTIFICATION],
            switched=turned,
            believed_before=believed,
            believed_after=draft.believed if batch.changed else believed,
        )
