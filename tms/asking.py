"""The questions that a memory and a view of its past answer alike."""

from collections.abc import Iterable, Mapping
from typing import Any

from tms import absence, comparison, consequences, explain, grounding, vicinity
from tms.answers import (
    Critical,
    Cuts,
    Diff,
    Environments,
    Impact,
    Neighbourhood,
    Origins,
    Why,
    WhyNot,
)
from tms.clock import told
from tms.errors import InvalidArgument
from tms.interchange import additions
from tms.models import Report
from tms.paging import Paged
from tms.reading import check_kind
from tms.refs import ref_of, refs_of
from tms.store import Connection
from tms.supposing import Supposition


class Questions(Paged):
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
            _check_limit("depth", depth, 0)
        _check_limit("nodes", nodes, 1)
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

        Cost: that of the commit. At another revision than the head it grows with all that rests on
        what is switched off.
        """
        off, on, rows = refs_of(retract), refs_of(unretract), additions(justify)
        with self._connection.snapshot():
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
        _check_limit("nodes", nodes, 0)
        with self._connection.snapshot():
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

        Cost: grows with the answer and the premises named in it; for the repairs, with all behind
        it that is OUT, whatever the limits; where a commit switched off several things, also with
        what stood on them, up to 20 justifications for each of ``nodes``.

        Source: Doyle 1979, on what an OUT node waits for; Tarjan 1972, on the circles.
        """
        if depth is not None:
            _check_limit("depth", depth, 0)
        _check_limit("nodes", nodes, 1)
        _check_limit("repairs", repairs, 1)
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
        _check_limit("depth", depth, 0)
        _check_limit("nodes", nodes, 1)
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

    def environments(self, ref: object, *, limit: int = 100) -> Environments:
        """Return the minimal sets of sources and axioms each of which supports it on its own.

        The smallest come first, equal ones by their refs. An axiom stands in them as its
        justification. A source that is IN has one environment, itself; the environments of a
        justification are those of its premises together. What is OUT has none.

        Args:
            ref: a Ref, a model that has one, or ``"kind:id"``.
            limit: at most so many sets.

        Returns:
            The sets, all of a size before the next size begins. ``truncated`` if there may be
            more: because of the limit, or because the effort is bounded, as there can be
            exponentially many. What is IN has at least one of them in any case.

        Raises:
            NoSuchNode, NoSuchJustification: it names nothing here.
            InvalidRef: it is no ref.
            InvalidArgument: the limit is out of range.

        Cost: grows with all that stands behind it; the effort to find the sets is bounded.

        Source: the labels of de Kleer 1986.
        """
        _check_limit("limit", limit, 1)
        with self._connection.snapshot():
            at, asked = self._at(), ref_of(ref)
            named = self._named(asked, at)
            return grounding.environments(self._connection, asked, named, at, limit)

    def origins(self, ref: object) -> Origins:
        """Return how many independent origins it has: environments of which no two share a source.

        Axioms may be shared.

        Args:
            ref: a Ref, a model that has one, or ``"kind:id"``.

        Returns:
            A largest family of such environments, and how many they are. ``truncated`` if there
            may be a larger one: the environments are looked at up to 1000, and the search among
            them is bounded.

        Raises:
            NoSuchNode, NoSuchJustification: it names nothing here.
            InvalidRef: it is no ref.

        Cost: grows with all that stands behind it; the effort to find the family is bounded.

        Source: set packing, Karp 1972; environments, de Kleer 1986.
        """
        with self._connection.snapshot():
            at, asked = self._at(), ref_of(ref)
            return grounding.origins(self._connection, asked, self._named(asked, at), at)

    def cuts(self, ref: object, *, limit: int = 100) -> Cuts:
        """Return the minimal sets of sources whose loss would take it OUT, all else as it is.

        The smallest come first, equal ones by their refs. A source that is IN has one cut, itself;
        a justification stops to fire with the cuts of its premises. What stands on axioms alone
        has none, and what is OUT has none.

        Args:
            ref: a Ref, a model that has one, or ``"kind:id"``.
            limit: at most so many sets.

        Returns:
            The sets, all of a size before the next size begins. ``truncated`` if there may be
            more: because of the limit, or because the effort is bounded. One is given in any case,
            if there is one.

        Raises:
            NoSuchNode, NoSuchJustification: it names nothing here.
            InvalidRef: it is no ref.
            InvalidArgument: the limit is out of range.

        Cost: grows with all that stands behind it; the effort to find the sets is bounded.

        Source: minimal cut sets of fault trees; the mirror image of the labels of de Kleer 1986.
        """
        _check_limit("limit", limit, 1)
        with self._connection.snapshot():
            at, asked = self._at(), ref_of(ref)
            named = self._named(asked, at)
            return grounding.cuts(self._connection, asked, named, at, limit)

    def critical(self, kind: str | None = None, *, limit: int = 20) -> Critical:
        """Return the sources by how many facts would go OUT if each alone were retracted.

        Those with the most come first, equal ones by (kind, id); those without which no fact would
        go OUT are left out.

        Args:
            kind: only sources of this kind.
            limit: at most so many.

        Returns:
            The sources, ``truncated`` if the limit left some out.

        Raises:
            InvalidRef: there can be no such kind.
            InvalidArgument: the limit is out of range.

        Cost: reads the whole memory once; then grows with all that is IN, once for each block of
        sources that fits into 100 MB.
        """
        check_kind(kind)
        _check_limit("limit", limit, 1)
        with self._connection.snapshot():
            return grounding.critical(self._connection, kind, self._at(), limit)


class View(Questions):
    """A memory as it was at a recorded commit, as it is at an instant, or both. It only reads."""

    _viewed = True

    def __init__(self, connection: Connection, revision: int, instant: int | None) -> None:
        super().__init__(connection)
        self._seen = revision, instant

    def _revision(self) -> int:
        return self._seen[0]

    def _instant(self) -> int | None:
        return self._seen[1]

    def _unknown(self) -> str:
        return "Check the spelling; it may have been declared after this anchor."

    def __repr__(self) -> str:
        revision, instant = self._seen
        valid = "" if instant is None else f", valid {told(instant)}"
        return f"<tms view of {self._connection.path} at revision {revision}{valid}>"


def _check_limit(name: str, limit: object, least: int) -> None:
    if isinstance(limit, bool) or not isinstance(limit, int) or not least <= limit <= _MOST:
        raise InvalidArgument(f"{name} is {limit!r:.80}.", hint=f"Give {least} to {_MOST:,}.")


_MOST = 1_000_000_000
