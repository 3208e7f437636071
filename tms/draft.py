"""An open commit: what its verbs add, checked before it is kept, and settled once at the end."""

import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from copy import copy
from typing import Any

from tms.errors import (
    ContentConflict,
    InvalidJustification,
    InvalidRef,
    NoSuchJustification,
    NoSuchNode,
)
from tms.labelling import Changes, Network, Turned, settle
from tms.refs import JUSTIFICATION, Ref
from tms.store import Head, Named, Record, is_digest

FLUSH = 20_000
"""How many added rows are kept in memory before they are written and labelled."""

_NAMES = 200_000


class Draft:
    """The additions of one commit.

    Every verb checks all it was given before it adds anything, so a refused verb adds nothing.

    Args:
        record: where to add.
        network: makes a view of the graph for one settlement.
        at: the time of the commit, in milliseconds.
        flush: how many added rows are kept in memory.
    """

    def __init__(
        self, record: Record, network: Callable[[], Network], at: int, *, flush: int = FLUSH
    ) -> None:
        self._record = record
        self._network = network
        self.base = record.head()
        self.revision = self.base.revision + 1
        self._at = max(at, self.base.at) if self.base.revision else at
        self._flush_at = flush
        self._next_key = self.base.last_key + 1
        self._names: dict[Ref, Named] = {}
        self._nodes: list[tuple[int, str, str, str, int]] = []
        self._justifications: list[tuple[int, str | None, bytes, str | None, int]] = []
        self._digests: dict[bytes, Ref] = {}
        self._premises: list[tuple[int, int]] = []
        self._conclusions: list[tuple[int, int]] = []
        self._first: dict[int, str] = {}  # what new nodes were declared with
        self._contents: dict[int, tuple[int, str]] = {}  # kept back, so that each has one version
        self._switches: dict[int, tuple[bool, str]] = {}
        self._new_sources: list[int] = []
        self._new_justifications: list[int] = []
        self._moves: Changes = {}
        self._gained = 0
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
                self._first[key] = content
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
        self._nodes.append((key, kind, ref.id, role, self.revision))
        self._counts[role] += 1
        if role == "source":
            self._new_sources.append(key)
        return named

    def _content(self, key: int) -> tuple[int, str | None]:
        return self._contents.get(key) or self._content_before(key)

    def _content_before(self, key: int) -> tuple[int, str | None]:
        return (1, self._first[key]) if key in self._first else self._record.content(key)

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
        self._justifications.append((key, name, digest, rule, self.revision))
        self._digests[digest] = ref
        self._names[ref] = Named(key, JUSTIFICATION, self.revision)
        self._names[Ref.of(JUSTIFICATION, digest.hex())] = self._names[ref]
        self._counts[JUSTIFICATION] += 1
        self._new_justifications.append(key)
        self._premises += [(key, node) for node in sorted(needs)]
        for conclusion, fact in zip(conclusions, facts, strict=True):
            named = fact or self._add_node(conclusion, "fact")
            self._conclusions.append((key, named.key))
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
        believed = self.base.believed + self._gained
        return Head(self.revision, self._at, self._next_key - 1, believed)

    def _relieve(self) -> None:
        if len(self._premises) + len(self._conclusions) + len(self._nodes) >= self._flush_at:
            self._take_in()

    def _take_in(self) -> None:
        """Write and label what was added so far, so that memory does not grow with it."""
        self._flush()
        self._settle(
            Turned(sources_on=self._new_sources, justifications_on=self._new_justifications)
        )
        self._new_sources, self._new_justifications = [], []

    def _flush(self) -> None:
        """Write the added rows. They are not labelled yet, and nothing is closed."""
        record, revision = self._record, self.revision
        if self._nodes:
            record.add_nodes(self._nodes)
        if self._first:
            record.add_contents([(node, 1, revision, text) for node, text in self._first.items()])
        if self._justifications:
            record.add_justifications(self._justifications)
            record.add_premises(self._premises)
            record.add_conclusions(self._conclusions)
        self._nodes, self._justifications, self._premises, self._conclusions = [], [], [], []
        self._first, self._digests = {}, {}
        if len(self._names) > _NAMES:
            self._names = {}

    def _settle(self, turned: Turned) -> None:
        changes = settle(self._network(), turned)
        self._record.label(changes)
        for node, (before, after) in changes.items():
            self._gained += (after is not None and after[1] is not None) - (
                before is not None and before[1] is not None
            )
            if node <= self.base.last_key:
                first = self._moves.pop(node, (before,))[0]
                if first != after:  # otherwise it came and went within the commit
                    self._moves[node] = (first, after)

    def seal(self, op: str, reason: str | None, by: str | None) -> bool:
        """Settle and close the commit; return False, with nothing written, if it is empty."""
        if not (self._contents or self._switches or self._next_key > self.base.last_key + 1):
            return False
        self._flush()
        record = self._record
        record.add_contents(
            [(key, version, self.revision, text) for key, (version, text) in self._contents.items()]
        )
        off: list[tuple[int, str]] = []
        on: list[tuple[int, str]] = []
        for key, (state, role) in self._switches.items():
            (on if state else off).append((key, role))
        record.turn(self.revision, ((key, state) for key, (state, _) in self._switches.items()))
        gone = {key for key, _ in off}
        self._settle(
            Turned(
                nodes_off=[key for key, role in off if role != JUSTIFICATION],
                justifications_off=[key for key, role in off if role == JUSTIFICATION],
                sources_on=[key for key in self._new_sources if key not in gone]
                + [key for key, role in on if role == "source"],
                facts_on=[key for key, role in on if role == "fact"],
                justifications_on=[key for key in self._new_justifications if key not in gone]
                + [key for key, role in on if role == JUSTIFICATION],
            )
        )
        record.add_transitions(self.revision, self._moves)
        if self._next_key > self.base.last_key + 1:
            record.add_new_transitions(self.revision, self.base.last_key)
        record.add_commit(
            self.head,
            op,
            reason if reason is not None or not self._reasons else "; ".join(self._reasons),
            by if by is not None or not self._by else ", ".join(self._by),
        )
        return True

    # ------------------------------------------------------------ savepoints

    def mark(self) -> dict[str, Any]:
        """Take in what was added so far and return what ``restore`` needs."""
        self._take_in()
        self._names = {}
        return {name: copy(value) for name, value in self.__dict__.items() if name[1:] in _MARKED}

    def restore(self, mark: dict[str, Any]) -> None:
        """Go back to a mark, once the file has gone back to its savepoint."""
        self.__dict__.update(mark)


_MARKED = {
    "next_key",
    "names",
    "nodes",
    "justifications",
    "digests",
    "premises",
    "conclusions",
    "first",
    "contents",
    "switches",
    "new_sources",
    "new_justifications",
    "moves",
    "gained",
    "counts",
    "reasons",
    "by",
}


def _digest(premises: Sequence[Ref], conclusions: Sequence[Ref], rule: str | None) -> bytes:
    """Hash what a justification says: the same in any order of its premises and conclusions."""
    said = [sorted(premises, key=str), sorted(conclusions, key=str), rule]
    return hashlib.blake2b(json.dumps(said, ensure_ascii=False).encode(), digest_size=16).digest()


def _short(text: str) -> str:
    return text if len(text) <= _SHORT else text[:_SHORT] + "…"


_SHORT = 80
