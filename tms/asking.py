"""The questions that a memory and a view of its past answer alike."""

from tms import comparison, explain, grounding, history
from tms.answers import Critical, Cuts, Diff, Environments, Origins, Why
from tms.errors import InvalidArgument
from tms.models import Event, Report
from tms.reading import Reader, check_kind
from tms.refs import ref_of
from tms.store import Connection


class Questions(Reader):
    """What can be asked of a memory or a view beyond what is on record."""

    def report(self, anchor: str) -> Report:
        """Return the report of a commit, the same at any later time.

        Args:
            anchor: which commit.

        Raises:
            InvalidAnchor, NoSuchAnchor: it is none of this file.

        Cost: grows with what the commit moved.
        """
        with self._connection.snapshot():
            revision = history.revision_of(self._beliefs, anchor, self._head())
            return history.report(self._beliefs, revision)

    def history(self, ref: object) -> tuple[Event, ...]:
        """Return the life of one source, fact or justification, oldest first.

        Args:
            ref: a Ref, a model that has one, or ``"kind:id"``.

        Raises:
            NoSuchNode, NoSuchJustification: it names nothing here.

        Cost: grows with what happened to it.
        """
        with self._connection.snapshot():
            at = self._at()
            return history.events(self._beliefs, self._named(ref_of(ref), at), at)

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
        for name, limit, least in (("depth", depth, 0), ("nodes", nodes, 1)):
            if limit is not None or name != "depth":
                _check_limit(name, limit, least)
        with self._connection.snapshot():
            at, asked = self._at(), ref_of(ref)
            named = self._named(asked, at)
            return explain.why(self._connection, asked, named, at, depth=depth, nodes=nodes)

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
            return comparison.diff(self._connection, a, b, self._head())

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


def _check_limit(name: str, limit: object, least: int) -> None:
    if isinstance(limit, bool) or not isinstance(limit, int) or limit < least:
        raise InvalidArgument(f"{name} is {limit!r}.", hint=f"Give {least} or more.")


class View(Questions):
    """A memory as it was at a recorded commit. It only reads."""

    _viewed = True

    def __init__(self, connection: Connection, revision: int) -> None:
        super().__init__(connection)
        self._revision = revision

    def _at(self) -> int:
        return self._revision

    def _head(self) -> int:
        return self._revision

    def _unknown(self) -> str:
        return "Check the spelling; it may have been declared after this anchor."

    def __repr__(self) -> str:
        return f"<tms view of {self._connection.path} at revision {self._revision}>"
