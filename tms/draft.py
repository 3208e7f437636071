"""An open commit: what its verbs add, checked before it is kept, and settled once at the end."""

import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from tms.errors import (
    ContentConflict,
    InvalidJustification,
    InvalidRef,
    NoSuchJustification,
    NoSuchNode,
)
from tms.labelling import Network
from tms.pending import Mark, Pending
from tms.refs import JUSTIFICATION, Ref
from tms.store import Head, Named, Record, is_digest

_NAMES = 200_000
_SHORT = 80


class DraftMark(NamedTuple):
    """What a draft must remember to go back to a savepoint."""

    rows: Mark
    next_key: int
    contents: dict[int, tuple[int, str]]
    switches: dict[int, tuple[bool, str]]
    counts: dict[str, int]
    reasons: list[str]
    by: list[str]


class Draft:
    """The additions of one commit.

    Every verb checks all it was given before it adds anything, so a refused verb adds nothing.

    Args:
        record: where to add.
        network: makes a view of the graph for one settlement.
        at: the time of the commit, in milliseconds.
    """

    def __init__(self, record: Record, network: Callable[[], Network], at: int) -> None:
        self._record = record
        self.base = record.head()
        self.revision = self.base.revision + 1
        self._at = max(at, self.base.at) if self.base.revision else at
        self._rows = Pending(record, network, self.base)
        self._next_key = self.base.last_key + 1
        self._names: dict[Ref, Named] = {}
        self._digests: dict[bytes, Ref] = {}
        self._contents: dict[int, tuple[int, str]] = {}  # kept back, so that each has one version
        self._switches: dict[int, tuple[bool, str]] = {}
        self._counts = {"source": 0, "fact": 0, JUSTIFICATION: 0}
        self._reasons: list[str] = []
        self._by: list[str] = []

    # ------------------------------------------------------------ names

    def find(self, ref: Ref) -> Named | None:
        """Return what a ref names, added here or on record."""
        named = self._names.get(ref)
        if named is None:
            if ref.kind == JUSTIFICATION:
                named = self._record.justification(ref.id)
            else:
                named = self._record.node(ref.kind, ref.id)
            if named is not None:
                self._names[ref] = named
        return named

    def named(self, ref: Ref) -> Named:
        """Return what a ref names.

        Raises:
            NoSuchNode, NoSuchJustification: nothing.
        """
        found = self.find(ref)
        if found is not None:
            return found
        if ref.kind == JUSTIFICATION:
            raise NoSuchJustification(
                f"no such justification: {ref}.",
                hint="Check the id; memory.justify(...) returns the ref to use.",
                ids=(ref,),
            )
        raise NoSuchNode(
            f"no such node: {ref}.",
            hint="Check the spelling, or declare it first: memory.source(...) or memory.fact(...).",
            ids=(ref,),
        )

    def _key(self) -> int:
        key = self._next_key
        self._next_key += 1
        return key

    # ------------------------------------------------------------ adding

    def declare(self, ref: Ref, role: str, content: str | None) -> None:
        """Add a node, or its first content, or nothing if all that is on record already.

        Raises:
            InvalidRef: its kind is reserved.
            ContentConflict: it is of the other role, or has other content.
        """
        found = self.find(ref)
        if found is None:
            key = self._add_node(ref, role).key
            if content is not None:
                self._rows.add_content(key, content)
            self._relieve()
            return
        if found.role != role:
            raise ContentConflict(
                f"{ref} is a {found.role} already, not a {role}.",
                hint="One ref names one thing; give the other another id.",
                ids=(ref,),
            )
        if content is None:
            return
        version, current = self._content(found.key)
        if current is None:
            self._contents[found.key] = (version + 1, content)
        elif current != content:
            raise ContentConflict(
                f"{ref} has other content: {_short(current)}, not {_short(content)}.",
                hint=f"To change it, memory.revise({str(ref)!r}, content=..., reason=...).",
                ids=(ref,),
            )

    def _add_node(self, ref: Ref, role: str) -> Named:
        kind = ref.kind
        if kind == JUSTIFICATION:
            raise InvalidRef(
                f"the kind of {ref} is reserved for justifications.",
                hint="Give the node another kind.",
                ids=(ref,),
            )
        key = self._key()
        named = self._names[ref] = Named(key, role, self.revision)
        self._rows.add_node(key, kind, ref.id, role)
        self._counts[role] += 1
        return named

    def _content(self, key: int) -> tuple[int, str | None]:
        return self._contents.get(key) or self._content_before(key)

    def _content_before(self, key: int) -> tuple[int, str | None]:
        first = self._rows.content(key)
        return self._record.content(key) if first is None else (1, first)

    def revise(self, ref: Ref, content: str) -> None:
        """Add a content version, unless it says the same as the newest.

        Raises:
            NoSuchNode: the ref names nothing.
            InvalidRef: it names a justification.
        """
        found = self.named(ref)
        if found.role == JUSTIFICATION:
            raise InvalidRef(
                f"{ref} has no content to revise.",
                hint="Retract it and justify anew.",
                ids=(ref,),
            )
        version, kept = self._content_before(found.key)
        if content == kept:
            self._contents.pop(found.key, None)
        else:
            self._contents[found.key] = (version + 1, content)

    def justify(
        self,
        conclusions: Sequence[Ref],
        premises: Sequence[Ref],
        rule: str | None,
        id: str | None,
    ) -> Ref:
        """Add a justification, and those of its conclusions that are new; return its ref.

        Raises:
            InvalidJustification: no conclusions, a conclusion that is a source or is among the
                premises, a premise that is a justification, or an id that lies about its hash.
            NoSuchNode: a premise names nothing.
            ContentConflict: the id is taken by another justification.
        """
        needed = frozenset(premises)
        facts = [self._conclusion(ref, needed) for ref in conclusions]
        if not facts:
            raise InvalidJustification("no conclusion.", hint="Name at least one fact.")
        needs = [self._premise(ref) for ref in premises]
        digest = _digest(premises, conclusions, rule)
        known = self._same(digest, id)
        if known is not None:
            return known
        key = self._key()
        name = None if id is None or id == digest.hex() else id
        ref = Ref.of(JUSTIFICATION, digest.hex() if name is None else name)
        self._digests[digest] = ref
        self._names[ref] = Named(key, JUSTIFICATION, self.revision)
        self._names[Ref.of(JUSTIFICATION, digest.hex())] = self._names[ref]
        self._counts[JUSTIFICATION] += 1
        derived = [
            (fact or self._add_node(conclusion, "fact")).key
            for conclusion, fact in zip(conclusions, facts, strict=True)
        ]
        self._rows.add_justification(key, name, digest, rule, needs, derived)
        self._relieve()
        return ref

    def _conclusion(self, ref: Ref, premises: frozenset[Ref]) -> Named | None:
        if ref in premises:
            raise InvalidJustification(
                f"{ref} is among its own premises.",
                hint="Nothing can support itself; leave it out of the premises.",
                ids=(ref,),
            )
        if ref.kind == JUSTIFICATION:
            raise InvalidJustification(
                f"{ref} cannot be a conclusion.", hint="Only facts are derived.", ids=(ref,)
            )
        found = self.find(ref)
        if found is not None and found.role != "fact":
            raise InvalidJustification(
                f"{ref} is a source and supports by itself.",
                hint="Only facts are derived; retract and unretract turn a source.",
                ids=(ref,),
            )
        return found

    def _premise(self, ref: Ref) -> int:
        if ref.kind == JUSTIFICATION:
            raise InvalidJustification(
                f"{ref} cannot be a premise.", hint="Only sources and facts are.", ids=(ref,)
            )
        return self.named(ref).key

    def _same(self, digest: bytes, id: str | None) -> Ref | None:
        """Return the ref of this very justification if it is known; check that the id is free."""
        hexed = digest.hex()
        if id is not None and is_digest(id) and id != hexed:
            raise InvalidJustification(
                f"the id {id} looks like a content hash, but this justification's is {hexed}.",
                hint="Give no id, or one that is not 32 hex digits.",
                ids=(id,),
            )
        known = self._digests.get(digest)
        if known is None and (found := self._record.same_justification(digest)):
            known = Ref.kept(JUSTIFICATION, self._record.identity(found.key)[1])
        if id is not None and id != hexed:
            given = Ref.of(JUSTIFICATION, id)
            if given != known and self.find(given) is not None:
                raise ContentConflict(
                    f"{given} says something else already.",
                    hint="The same id is the same premises, conclusions and rule; give another.",
                    ids=(given,),
                )
        return known

    def turn(self, refs: Iterable[Ref], *, on: bool) -> None:
        """Turn the switches that are not in that state yet.

        Raises:
            NoSuchNode, NoSuchJustification: one of the refs names nothing.
        """
        for named in [self.named(ref) for ref in refs]:
            key = named.key
            if key in self._switches:
                if self._switches[key][0] != on:
                    del self._switches[key]
            elif self._record.is_off(key) == on:
                self._switches[key] = (on, named.role)

    def say(self, reason: str | None, by: str | None) -> None:
        """Note why a part of the commit was made, and by whom."""
        if reason is not None and reason not in self._reasons:
            self._reasons.append(reason)
        if by is not None and by not in self._by:
            self._by.append(by)

    # ------------------------------------------------------------ keeping

    @property
    def counts(self) -> dict[str, int]:
        """How many sources, facts and justifications are new."""
        return dict(self._counts)

    @property
    def turned(self) -> int:
        """How many switches will have been turned."""
        return len(self._switches)

    @property
    def head(self) -> Head:
        """What the head becomes when this is kept."""
        believed = self.base.believed + self._rows.gained
        return Head(self.revision, self._at, self._next_key - 1, believed)

    def _relieve(self) -> None:
        if self._rows.many:
            self._rows.take_in()
            self._digests = {}
            if len(self._names) > _NAMES:
                self._names = {}

    def seal(self, op: str, reason: str | None, by: str | None) -> bool:
        """Settle and close the commit; return False, with nothing written, if it is empty."""
        if not (self._contents or self._switches or self._next_key > self.base.last_key + 1):
            return False
        self._rows.write()
        record = self._record
        record.add_contents(
            [(key, version, self.revision, text) for key, (version, text) in self._contents.items()]
        )
        record.turn(self.revision, ((key, state) for key, (state, _) in self._switches.items()))
        self._rows.settle(self._switches)
        record.add_commit(
            self.head,
            op,
            reason if reason is not None or not self._reasons else "; ".join(self._reasons),
            by if by is not None or not self._by else ", ".join(self._by),
        )
        return True

    # ------------------------------------------------------------ savepoints

    def mark(self) -> DraftMark:
        """Take in what was added so far and return what ``restore`` needs."""
        rows = self._rows.mark()
        return DraftMark(
            rows,
            self._next_key,
            dict(self._contents),
            dict(self._switches),
            dict(self._counts),
            list(self._reasons),
            list(self._by),
        )

    def restore(self, mark: DraftMark) -> None:
        """Go back to a mark, once the file has gone back to its savepoint."""
        self._rows.restore(mark.rows)
        self._names, self._digests = {}, {}
        self._next_key = mark.next_key
        self._contents, self._switches = dict(mark.contents), dict(mark.switches)
        self._counts = dict(mark.counts)
        self._reasons, self._by = list(mark.reasons), list(mark.by)


def _digest(premises: Sequence[Ref], conclusions: Sequence[Ref], rule: str | None) -> bytes:
    """Hash what a justification says: the same in any order of its premises and conclusions."""
    said = [sorted(premises, key=str), sorted(conclusions, key=str), rule]
    return hashlib.blake2b(json.dumps(said, ensure_ascii=False).encode(), digest_size=16).digest()


def _short(text: str) -> str:
    return text if len(text) <= _SHORT else text[:_SHORT] + "…"
