"""The questions that a memory and a view of its past answer alike."""

from tms import comparison, explain, history, vicinity
from tms.answers import Diff, Neighbourhood, Why
from tms.errors import InvalidArgument
from tms.models import Event, Report
from tms.reading import Reader
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
            if limit is None and name == "depth":
                continue
            if isinstance(limit, bool) or not isinstance(limit, int) or limit < least:
                raise InvalidArgument(f"{name} is {limit!r}.", hint=f"Give {least} or more.")
        with self._connection.snapshot():
            at, asked = self._at(), ref_of(ref)
            named = self._named(asked, at)
            return explain.why(self._connection, asked, named, at, depth=depth, nodes=nodes)

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
        for name, limit, least in (("depth", depth, 0), ("nodes", nodes, 1)):
            if isinstance(limit, bool) or not isinstance(limit, int) or limit < least:
                raise InvalidArgument(f"{name} is {limit!r}.", hint=f"Give {least} or more.")
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
            return comparison.diff(self._connection, a, b, self._head())


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
