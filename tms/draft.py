"""An open commit: what its verbs add, checked before it is kept, and settled once at the end."""

from collections.abc import Callable, Iterable, Set
from typing import NamedTuple

from tms.clock import ALWAYS, MILLI, Window
from tms.content import together
from tms.errors import (
    ContentConflict,
    InvalidJustification,
    InvalidRef,
)
from tms.labelling import Network
from tms.naming import Naming
from tms.pending import ROWS, Mark, Pending
from tms.refs import JUSTIFICATION, Ref
from tms.statement import Statement, identified
from tms.store import Bound, Head, Named, Record
from tms.turning import Turning, TurningMark

_NAMES = 200_000
_SHORT = 80


class DraftMark(NamedTuple):
    """What a draft must remember to go back to a savepoint."""

    rows: Mark
    next_key: int
    contents: dict[int, tuple[int, str]]
    turning: TurningMark
    counts: dict[str, int]
    reasons: dict[str, None]
    by: dict[str, None]


class Draft(Naming):
    """The additions of one commit.

    Every verb checks all it was given before it adds anything, so a refused verb adds nothing.

    Attributes:
        settling: what began or expired is worth a commit by itself.
        believed: how many facts are IN after it, of what is seen, once it is sealed.

    Args:
        record: where to add.
        network: makes a view of the graph for one settlement.
        now: the time of the commit, in microseconds; that of the last commit if it is before that.
        most: how many added rows are kept in memory before they are written and labelled.
        standing: the instant, in microseconds, at which all stands; by default time passes from
            the last commit to ``now``.
    """

    def __init__(
        self,
        record: Record,
        network: Callable[[], Network],
        now: int,
        *,
        most: int = ROWS,
        standing: int | None = None,
    ) -> None:
        super().__init__(record)
        self.base = record.head()
        self.revision = self.base.revision + 1
        self._now = max(now, self.base.instant) if self.base.revision else now
        self._rows = Pending(record, network, self.base, most=most)
        self._next_key = self.base.last_key + 1
        self._contents: dict[int, tuple[int, str]] = {}  # kept back, so that each has one version
        self._redacted: set[int] = set()
        self._turning = Turning(record, self.base, self._now, standing)
        self._counts = {"source": 0, "fact": 0, JUSTIFICATION: 0}
        self.settling = False
        self.believed = 0
        self._reasons: dict[str, None] = {}
        self._by: dict[str, None] = {}

    def _key(self) -> int:
        key = self._next_key
        self._next_key += 1
        return key

    # ------------------------------------------------------------ adding

    def declare(
        self, ref: Ref, role: str, content: str | None, window: Window | None = None
    ) -> None:
        """Add a node, or its first content, or nothing if all that is on record already.

        Raises:
            InvalidRef: its kind is reserved.
            ContentConflict: it is of the other role, or has other content or another window.
        """
        found = self.own(ref)
        if found is None:
            key = self._add_node(ref, role, window or ALWAYS).key
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
        if window is not None and window != (held := self._turning.window(found.key)):
            raise ContentConflict(
                f"{ref} is valid {held.words}, not {window.words}.",
                hint=f"To change that, memory.revise({str(ref)!r}, valid_from=..., valid_to=...).",
                ids=(ref,),
            )
        if content is None:
            return
        version, current = self._content(found.key)
        if current is None and version:
            raise ContentConflict(
                f"the content of {ref} was redacted.",
                hint=f"If it is to have another, memory.revise({str(ref)!r}, content=...).",
                ids=(ref,),
            )
        if current is None:
            self._contents[found.key] = (version + 1, content)
        elif current != content:
            raise ContentConflict(
                f"{ref} has other content: {_short(current)}, not {_short(content)}.",
                hint=f"To change it, memory.revise({str(ref)!r}, content=..., reason=...).",
                ids=(ref,),
            )

    def _add_node(self, ref: Ref, role: str, window: Window = ALWAYS) -> Named:
        kind = ref.kind
        if kind == JUSTIFICATION:
            raise InvalidRef(
                f"the kind of {ref} is reserved for justifications.",
                hint="Give the node another kind.",
                ids=(ref,),
            )
        key = self._key()
        named = self._names[ref] = Named(key, role, self.revision, self._record.own)
        self._rows.add_node(key, kind, ref.id, role, idle=self._turning.outside(key, role, window))
        self._counts[role] += 1
        return named

    def _content(self, key: int) -> tuple[int, str | None]:
        return self._contents.get(key) or self._content_before(key)

    def _content_before(self, key: int) -> tuple[int, str | None]:
        first = self._rows.content(key)
        return self._record.content(key) if first is None else (1, first)

    def revise(
        self, ref: Ref, content: str | None, change: Callable[[Window], Window] | None
    ) -> None:
        """Add a content version, or another window, unless they say the same as the newest.

        Raises:
            NoSuchNode: the ref names nothing.
            InvalidRef: it names a justification.
            InvalidWindow: nothing lies between the bounds.
            ReadOnly: it is shared, and another scope is written to.
        """
        found = self.to_write(ref)
        if found.role == JUSTIFICATION:
            raise InvalidRef(
                f"{ref} has nothing to revise.",
                hint="Retract it and justify anew.",
                ids=(ref,),
            )
        window = None if change is None else change(self._turning.window(found.key))
        if content is not None:
            version, kept = self._content_before(found.key)
            if content == kept:
                self._contents.pop(found.key, None)
            else:
                self._contents[found.key] = (version + 1, content)
        if window is not None:
            self._turning.revise(found, window)

    def redact(self, ref: Ref) -> None:
        """Remove all contents of a node, unless it has none.

        Raises:
            NoSuchNode: the ref names nothing.
            InvalidRef: it names a justification.
            ReadOnly: it is shared, and another scope is written to.
        """
        found = self.to_write(ref)
        if found.role == JUSTIFICATION:
            raise InvalidRef(
                f"{ref} has no content.", hint="Redact the sources and facts it is of.", ids=(ref,)
            )
        if self._record.has_content(found.key) or self._content(found.key)[1] is not None:
            self._redacted.add(found.key)

    def justify(self, said: Statement, among_shared: Set[Ref] = frozenset()) -> Ref:
        """Add a justification, and those of its conclusions that are new; return its ref.

        Args:
            said: the justification.
            among_shared: those of its premises that are shared, also where the own scope has one of
                that name.

        Raises:
            InvalidJustification: a conclusion is a source.
            NoSuchNode: a premise names nothing.
            ContentConflict: the id is taken by another justification.
        """
        facts = [self._conclusion(ref) for ref in said.conclusions]
        needs = []
        shared = set()
        for ref in said.premises:
            premise = self.shared(ref) if ref in among_shared else self.named(ref)
            needs.append(premise.key)
            if premise.scope != self._record.own:
                shared.add(ref)
        said = identified(said, shared)
        known = self._known(said)
        if known is not None:
            return known
        key = self._key()
        ref = self._same[said.digest] = said.ref
        own = self._record.own
        named = self._names[ref] = Named(key, JUSTIFICATION, self.revision, own)
        if said.name is not None:
            self._names[Ref.kept(JUSTIFICATION, said.digest.hex())] = named
        self._counts[JUSTIFICATION] += 1
        derived = [
            (fact or self._add_node(conclusion, "fact")).key
            for conclusion, fact in zip(said.conclusions, facts, strict=True)
        ]
        idle = self._turning.outside(key, JUSTIFICATION, said.window)
        self._rows.add_justification(
            key, said.name, said.digest, said.rule, needs, derived, idle=idle
        )
        self._relieve()
        return ref

    def _conclusion(self, ref: Ref) -> Named | None:
        found = self.own(ref)
        if found is not None and found.role != "fact":
            raise InvalidJustification(
                f"{ref} is a source and supports by itself.",
                hint="Only facts are derived; retract and unretract turn a source.",
                ids=(ref,),
            )
        return found

    def _known(self, said: Statement) -> Ref | None:
        """Return the ref of this very justification if it is known; check that its id is free."""
        if said.digest in self._same:
            known = self._same[said.digest]
        else:
            found = self._record.same_justification(said.digest)
            known = found and Ref.kept(JUSTIFICATION, self._record.identity(found.key)[1])
            self._same[said.digest] = known
        if said.name is not None and said.ref != known and self.own(said.ref) is not None:
            raise ContentConflict(
                f"{said.ref} says something else already.",
                hint="The same id is the same premises, conclusions, rule, window; give another.",
                ids=(said.ref,),
            )
        return known

    def turn(self, refs: Iterable[Ref], *, on: bool) -> None:
        """Turn the switches that are not in that state yet.

        Raises:
            NoSuchNode, NoSuchJustification: one of the refs names nothing.
            ReadOnly: one is shared, and another scope is written to.
        """
        for named in [self.to_write(ref) for ref in refs]:
            self._turning.turn(named, on=on)

    def say(self, reason: str | None, by: str | None) -> None:
        """Note why a part of the commit was made, and by whom."""
        if reason is not None:
            self._reasons.setdefault(reason)
        if by is not None:
            self._by.setdefault(by)

    # ------------------------------------------------------------ keeping

    @property
    def counts(self) -> dict[str, int]:
        """How many sources, facts and justifications are new."""
        return dict(self._counts)

    @property
    def turned(self) -> int:
        """How many switches will have been turned."""
        return self._turning.count

    @property
    def passed(self) -> list[Bound]:
        """What began or expired since the last commit."""
        return self._turning.events()

    @property
    def head(self) -> Head:
        """What the head becomes when this is kept."""
        believed = self.base.believed + self._rows.gained
        at, micro = divmod(self._now, MILLI)
        return Head(self.revision, at, self._next_key - 1, believed, micro)

    def _relieve(self) -> None:
        if self._rows.many:
            self._rows.take_in()
            if len(self._names) > _NAMES:
                self._names, self._same = {}, {}

    def seal(self, op: str, reason: str | None, by: str | None) -> bool:
        """Settle and close the commit; return False, with nothing written, if it is empty.

        Raises:
            InvalidContent: what its parts gave as reasons, or names, is too long together.
        """
        passed = self._turning.passed()
        added = self._contents or self._next_key > self.base.last_key + 1
        if not (added or self._redacted or self._turning) and not (
            self.settling and self._record.sees(one.target for one in passed)
        ):
            return False
        reason = together("reason", reason, self._reasons, "; ")
        by = together("by", by, self._by, ", ")
        self._rows.write()
        record = self._record
        record.add_contents(
            [(key, version, self.revision, text) for key, (version, text) in self._contents.items()]
        )
        record.redact(self.revision, self._redacted)
        self._rows.settle(self._turning.write(self.revision, passed))
        self.believed = record.add_concerns(self.head, [one.target for one in passed])
        record.add_commit(self.head, op, reason, by)
        return True

    # ------------------------------------------------------------ savepoints

    def mark(self) -> DraftMark:
        """Take in what was added so far and return what ``restore`` needs."""
        rows = self._rows.mark()
        return DraftMark(
            rows,
            self._next_key,
            dict(self._contents),
            self._turning.mark(),
            dict(self._counts),
            dict(self._reasons),
            dict(self._by),
        )

    def restore(self, mark: DraftMark) -> None:
        """Go back to a mark, once the file has gone back to its savepoint."""
        self._rows.restore(mark.rows)
        self._names, self._same = {}, {}
        self._next_key = mark.next_key
        self._contents = dict(mark.contents)
        self._turning.restore(mark.turning)
        self._counts = dict(mark.counts)
        self._reasons, self._by = dict(mark.reasons), dict(mark.by)


def _short(text: str) -> str:
    return text if len(text) <= _SHORT else text[:_SHORT] + "…"
