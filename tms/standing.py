"""What holds something up: asked of a memory and of a view of its past alike."""

from tms import grounding
from tms.answers import Critical, Cuts, Environments, Origins
from tms.lasting import Lasting
from tms.reading import check_kind, check_limit
from tms.refs import ref_of


class Standing(Lasting):
    """The questions about the sources behind something."""

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
        check_limit("limit", limit, 1)
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
        check_limit("limit", limit, 1)
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
        check_limit("limit", limit, 1)
        with self._connection.snapshot():
            return grounding.critical(self._connection, kind, self._at(), limit)
