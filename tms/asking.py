"""The questions that a memory and a view of its past answer alike."""

from collections.abc import Iterable, Mapping
from typing import Any

from tms import absence, comparison, consequences, explain, vicinity
from tms.answers import (
    Diff,
    Impact,
    Neighbourhood,
    Why,
    WhyNot,
)
from tms.collecting import uncollected
from tms.interchange import additions
from tms.models import Report
from tms.reading import check_limit
from tms.refs import ref_of, refs_of
from tms.standing import Standing
from tms.supposing import Supposition


class Questions(Standing):
    """What can be asked of a memory or a view beyond what is on record."""

    def why(self, ref: object, *, depth: int | None = None, nodes: int = 1000) -> Why:
        """Return a well-founded derivation of what is IN, down to sources and axioms.

        Each node stands in it once, with the justification it rests on first, then what else fires
        for it (up to 20), marked where it is circular. Of a justification it is the derivation of
        its premises.

        Args:
            ref: a Ref, a model that has one, or ``"kind:id"``.
            depth: follow at most so many supports down; None for all.
            nodes: at most so many nodes.

        Returns:
            The derivation; falsy and without steps if it is OUT, ``truncated`` if a limit was met.

        Raises:
            NoSuchNode, NoSuchJustification: it names nothing here.
            InvalidRef: it is no ref.
            InvalidArgument: a limit is out of range.

        Cost: grows with the answer; where another justification fires, also with all that stands
        behind that, up to 20 nodes for each of ``nodes``.

        Source: Doyle 1979, on well-founded support.
        """
        if depth is not None:
            check_limit("depth", depth, 0)
        check_limit("nodes", nodes, 1)
        with self._connection.snapshot():
            at, asked = self._at(), ref_of(ref)
            named = self._named(asked, at)
            return explain.why(self._connection, asked, named, at, depth=depth, nodes=nodes)

    def what_if(
        self,
        *,
        retract: object = (),
        unretract: object = (),
        justify: Iterable[Mapping[str, Any] | tuple[object, object]] = (),
    ) -> Report:
        """Return the report that a commit would have, without making it.

        It is what ``memory.retract``, or ``memory.unretract``, or all three in one batch in this
        order would report here, id for id, but for ``after``, which is None. Nothing is written
        and no writer is held up.

        Args:
            retract: one ref or several to switch off.
            unretract: one or several to switch on again.
            justify: what to add: pairs (conclusions, premises), or interchange objects as for
                ``load``: justifications and axioms, sources and facts.

        Returns:
            The report; falsy if it would change nothing.

        Raises:
            NoSuchNode, NoSuchJustification: a ref names nothing here.
            InvalidRef: one is no ref.
            InvalidContent: an object of ``justify`` does not fit.
            TMSError: whatever adding an object of ``justify`` would raise.

        A survivor may have several supports to rest on. A live memory names the one that the commit
        would choose, unless that adds more than 20,000 rows, which are settled before the rest; a
        view, and a memory in an open batch, name one that follows from the record alone.

        Cost: that of the commit; before the head, also of all that rests on what is turned off.
        """
        off, on, rows = refs_of(retract), refs_of(unretract), additions(justify)
        with self._connection.snapshot(), uncollected():
            at, now, standing = self._supposed()
            for ref in (*off, *on):
                self._named(ref, at)
            live = not self._viewed
            supposed = Supposition(self._connection, at, live=live, now=now, standing=standing)
            supposed.draft.turn(off, on=False)
            supposed.draft.turn(on, on=True)
            added = 0
            for add in rows:
                add(supposed.draft)
                added += 1
            alone = {bool(off): "retract", bool(on): "unretract"}.get(True, "batch")
            return supposed.report("batch" if added or (off and on) else alone)

    def impact(self, ref: object, *, nodes: int = 1000) -> Impact:
        """Return what retracting one thing would do to all that rests on it.

        Args:
            ref: a Ref, a model that has one, or ``"kind:id"``.
            nodes: name at most so many of the facts reached, the nearest first. All are counted.

        Returns:
            The facts downstream, each with its fate, its depth and one shortest path; falsy if
            it reaches none.

        Raises:
            NoSuchNode, NoSuchJustification: it names nothing here.
            InvalidRef: it is no ref.
            InvalidArgument: a limit is out of range.

        Cost: grows with all that is downstream, not with the file.
        """
        check_limit("nodes", nodes, 0)
        with self._connection.snapshot(), uncollected():
            at, asked = self._at(), ref_of(ref)
            named = self._named(asked, at)
            return consequences.impact(
                self._connection, asked, named, at, nodes=nodes, live=not self._viewed
            )

    def _supposed(self) -> tuple[int, int | None, int | None]:
        """Return on what a commit is supposed: the revision, its time, and the instant it keeps.

        On a live memory time passes up to the commit; on a view it stands still.
        """
        return self._at(), None, self._instant()

    def why_not(
        self, ref: object, *, depth: int | None = None, nodes: int = 1000, repairs: int = 10
    ) -> WhyNot:
        """Return what something that is OUT waits for, down to what was switched off.

        Each node that is OUT stands in it once, with its justifications (up to 20) and which of
        their premises are missing; the missing premises follow, breadth first. It ends at sources,
        at facts that nothing derives, and at facts that are OUT by their own switch alone. Each
        says since when it is OUT, and because of what. Of a justification it is what it misses.

        Args:
            ref: a Ref, a model that has one, or ``"kind:id"``.
            depth: follow at most so many missing premises down; None for all.
            nodes: at most so many nodes.
            repairs: at most so many sets of sources to bring back.

        Returns:
            What it waits for; falsy and without lacks if it is IN, ``truncated`` if a limit was
            met.

        Raises:
            NoSuchNode, NoSuchJustification: it names nothing here.
            InvalidRef: it is no ref.
            InvalidArgument: a limit is out of range.

        Cost: grows with the answer and its premises; for repairs, with all behind it that is OUT;
        where a commit switched off several things, also with what stood on them, up to 20 a node.

        Source: Doyle 1979, on what an OUT node waits for; Tarjan 1972, on the circles.
        """
        if depth is not None:
            check_limit("depth", depth, 0)
        check_limit("nodes", nodes, 1)
        check_limit("repairs", repairs, 1)
        with self._connection.snapshot():
            at, asked = self._at(), ref_of(ref)
            named = self._named(asked, at)
            return absence.why_not(
                self._connection, asked, named, at, depth=depth, nodes=nodes, repairs=repairs
            )

    def neighbourhood(self, ref: object, *, depth: int = 1, nodes: int = 100) -> Neighbourhood:
        """Return what stands around something, whether it fires or not.

        That is what it rests on or could rest on, and what rests or could rest on it, with all
        justifications on record that lead there.

        Args:
            ref: a Ref, a model that has one, or ``"kind:id"``.
            depth: at most so many justifications away, both ways.
            nodes: at most so many nodes, as many justifications, and so many ends of each.

        Returns:
            The nodes and the justifications; ``truncated`` if one of the last limits was met.

        Raises:
            NoSuchNode, NoSuchJustification: it names nothing here.
            InvalidRef: it is no ref.
            InvalidArgument: a limit is out of range.

        Cost: grows with the answer, and with the premises of the justifications in it.
        """
        check_limit("depth", depth, 0)
        check_limit("nodes", nodes, 1)
        with self._connection.snapshot():
            at, asked = self._at(), ref_of(ref)
            named = self._named(asked, at)
            return vicinity.neighbourhood(
                self._connection, asked, named, at, depth=depth, nodes=nodes
            )

    def diff(self, a: str, b: str) -> Diff:
        """Return how the commit ``b`` differs from the commit ``a``, in either direction.

        Args:
            a: an anchor.
            b: another; ``diff(b, a)`` is the mirror image of ``diff(a, b)``.

        Raises:
            InvalidAnchor, NoSuchAnchor: one of them is none of this file.

        Cost: grows with what was written between the two, not with the file.
        """
        with self._connection.snapshot():
            return comparison.diff(self._connection, a, b, self._recorded())
