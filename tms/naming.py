"""What refs name, for an open commit: on record, or added in it."""

from collections.abc import Iterable, Sequence

from tms.errors import NoSuchJustification, NoSuchNode, ReadOnly
from tms.refs import JUSTIFICATION, Ref
from tms.statement import Statement
from tms.store import SHARED, Named, Record


class Naming:
    """The names that an open commit knows. In a scope its own come before those that are shared.

    Args:
        record: where to look up what is not known yet.
    """

    def __init__(self, record: Record) -> None:
        self._record = record
        self._names: dict[Ref, Named | None] = {}  # None: looked up, and names nothing
        self._same: dict[bytes, Ref | None] = {}

    def foresee(self, refs: Iterable[Ref], statements: Sequence[Statement]) -> None:
        """Look up all at once what is about to be asked for one by one."""
        asked = [ref for ref in dict.fromkeys(refs) if ref not in self._names]
        nodes = {ref: (ref.kind, ref.id) for ref in asked if ref.kind != JUSTIFICATION}
        found = self._record.nodes(list(nodes.values()))
        self._names.update((ref, found.get(pair)) for ref, pair in nodes.items())
        names = [said.name for said in statements if said.name is not None]
        given = self._record.given_names(names)
        for name in names:
            self._names.setdefault(Ref.kept(JUSTIFICATION, name), given.get(name))
        ids = self._record.digests([said.digest for said in statements])
        for said in statements:
            id = ids.get(said.digest)
            known = None if id is None else Ref.kept(JUSTIFICATION, id)
            self._same.setdefault(said.digest, known)

    def find(self, ref: Ref) -> Named | None:
        """Return what a ref names, added here or on record."""
        try:
            return self._names[ref]
        except KeyError:
            pass
        if ref.kind == JUSTIFICATION:
            named = self._record.justification(ref.id)
        else:
            named = self._record.node(ref.kind, ref.id)
        self._names[ref] = named
        return named

    def own(self, ref: Ref) -> Named | None:
        """Return what a ref names in the scope that is written to."""
        found = self.find(ref)
        return found if found is not None and found.scope == self._record.own else None

    def shared(self, ref: Ref) -> Named:
        """Return what a ref names in the shared scope.

        Raises:
            NoSuchNode: nothing.
        """
        found = self.find(ref)
        if found is not None and found.scope != SHARED:
            found = self._record.shared(ref.kind, ref.id)
        if found is None:
            raise _no_such(ref)
        return found

    def to_write(self, ref: Ref) -> Named:
        """Return what a ref names, to change it.

        Raises:
            NoSuchNode, NoSuchJustification: nothing.
            ReadOnly: it is shared, and another scope is written to.
        """
        found = self.named(ref)
        if not self._record.may_write(found):
            raise ReadOnly(
                f"{ref} is shared; a scope changes only its own.",
                hint='To change what is shared, open the file with scope="".',
                ids=(ref,),
            )
        return found

    def named(self, ref: Ref) -> Named:
        """Return what a ref names.

        Raises:
            NoSuchNode, NoSuchJustification: nothing.
        """
        found = self.find(ref)
        if found is not None:
            return found
        raise _no_such(ref)


def _no_such(ref: Ref) -> NoSuchJustification | NoSuchNode:
    if ref.kind == JUSTIFICATION:
        return NoSuchJustification(
            f"no such justification: {ref}.",
            hint="Check the id; memory.justify(...) returns the ref to use.",
            ids=(ref,),
        )
    return NoSuchNode(
        f"no such node: {ref}.",
        hint="Check the spelling, or declare it first: memory.source(...) or memory.fact(...).",
        ids=(ref,),
    )
