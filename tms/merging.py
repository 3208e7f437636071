"""Merging a bundle of another history: what is new is added, what was decided here stays."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from tms.bundle import Bundle
from tms.clock import ALWAYS, Window, becoming
from tms.draft import Draft
from tms.errors import ContentConflict
from tms.interchange import BLOCK
from tms.refs import Ref
from tms.rows import Commit, Declared, Justified, Redacted, Revised, Row, Turned, foresee, located
from tms.statement import identified
from tms.store import Beliefs, Chronicle, Connection, Named, Record, Windows

Value = TypeVar("Value")


@dataclass
class Tally:
    """What came of an import.

    Attributes:
        known: how many rows told nothing new.
        sources, facts, justifications: how many were added.
        switched: how many switches were turned.
        retracted: what the bundle has as on and is retracted here.
        redacted: whether a content that the file had before was removed.
    """

    known: int = 0
    sources: int = 0
    facts: int = 0
    justifications: int = 0
    switched: int = 0
    retracted: list[Ref] = field(default_factory=list)
    redacted: bool = False

    def add(self, draft: Draft) -> None:
        """Count what a commit will have done."""
        counts = draft.counts
        self.sources += counts["source"]
        self.facts += counts["fact"]
        self.justifications += counts["justification"]
        self.switched += draft.turned


@dataclass
class _Heard(Generic[Value]):
    """What a bundle says of a content or a window that was on record before.

    Attributes:
        ref: whose.
        named: what that is here.
        number: the line that said it last.
        here: what is on record.
        among: whether the bundle said that, too.
        last: what it said last; None for a content that was redacted.
    """

    ref: Ref
    named: Named
    number: int
    here: Value | None
    among: bool
    last: Value | None

    def hear(self, number: int, value: Value | None) -> None:
        """Note what it says next."""
        self.number, self.last = number, value
        self.among = self.among or value is None or value == self.here

    def check(self, what: str) -> None:
        """Refuse to replace what is on record with what did not follow it.

        Raises:
            ContentConflict: the bundle never said the same.
        """
        if not self.among:
            with located(self.number):
                raise ContentConflict(
                    f"{self.ref} has {what} here, which the bundle does not know.",
                    hint=f"Decide which is right: memory.revise({str(self.ref)!r}, ...).",
                    ids=(self.ref,),
                )


@dataclass
class _Turn:
    """The last turn of a switch in a bundle."""

    row: Turned
    commit: Commit


class Merge:
    """A bundle on its way into an open commit.

    Args:
        connection: the file.
        record: its record.
        draft: the commit.
    """

    def __init__(self, connection: Connection, record: Record, draft: Draft) -> None:
        self._beliefs = Beliefs(connection)
        self._windows_here = Windows(connection)
        self._record = record
        self._draft = draft
        self._chronicle = Chronicle(connection, 0, draft.base.revision)
        self._off = set(self._chronicle.retracted_since(0).values())
        self._retracted: set[Ref] = set()
        self._contents: dict[int, _Heard[str]] = {}
        self._windows: dict[int, _Heard[Window]] = {}
        self._gone: dict[Ref, None] = {}
        self._met: dict[Ref, Ref] = {}
        self._turns: dict[Ref, _Turn] = {}
        self._renamed: dict[Ref, Ref] = {}
        self._news = 0
        self._applied: set[int] = set()

    def take(self, bundle: Bundle) -> Tally:
        """Add what a bundle has that is not on record.

        Raises:
            ContentConflict: it says something else of what is on record.
            InvalidContent: a line is none of a bundle.
        """
        for part in bundle.blocks(bundle.start):
            if isinstance(part, Commit):
                commit = part
            else:
                self._add(part, commit)
        self._decide()
        self._switch()
        news = self._news + len(self._applied)
        tally = Tally(known=bundle.rows - news, retracted=sorted(self._retracted))
        tally.add(self._draft)
        return tally

    def _add(self, rows: list[Row], commit: Commit) -> None:
        foresee(self._draft, rows)
        for row in rows:
            with located(row.number):
                match row:
                    case Declared():
                        self._declare(row)
                    case Justified():
                        self._justify(row)
                    case Revised():
                        self._revise(row, self._draft.to_write(row.ref))
                    case Turned():
                        self._turn(row, commit)
                    case Redacted():
                        pass  # removes nothing here: that could not be undone

    def _is_known(self, named: Named) -> bool:
        return named.revision < self._draft.revision

    def _see(self, refs: Iterable[Ref]) -> None:
        """Note what the bundle has and is retracted here; whether it has it as on, comes out."""
        if self._off:
            self._retracted.update(self._off.intersection(refs))

    # ------------------------------------------------------------ what has a key

    def _declare(self, row: Declared) -> None:
        draft, named = self._draft, self._draft.own(row.ref)
        if named is None or not self._is_known(named):
            self._news += 1
            draft.declare(row.ref, row.role, row.content, row.window)
            self._note_gone(row)
            return
        draft.declare(row.ref, row.role, None)  # refused if it is of the other role
        self._see([row.ref])
        self._hear_content(row, named, first=True)
        if row.window is not None:
            self._hear_window(row, named, row.window, first=True)

    def _justify(self, row: Justified) -> None:
        counts = self._draft.counts
        ref = self._draft.justify(row.said, row.shared)
        self._see([ref, *row.said.conclusions])
        theirs = identified(row.said, row.shared).ref
        if self._met.setdefault(ref, theirs) != theirs:
            raise ContentConflict(
                f"{theirs} and another of the bundle are the same here,"
                " as both rest on what is shared.",
                hint="Take it in as a scope, which tells the two apart.",
                ids=(theirs,),
            )
        if ref != theirs:
            self._renamed[theirs] = ref
        self._news += self._draft.counts != counts

    # ------------------------------------------------------------ contents and windows

    def _revise(self, row: Revised, named: Named) -> None:
        if not self._is_known(named):
            self._news += 1
            self._draft.revise(row.ref, row.content, row.window and becoming(row.window))
            self._note_gone(row)
            return
        self._hear_content(row, named, first=row.version == 1)
        if row.window is not None:
            self._hear_window(row, named, row.window, first=False)

    def _note_gone(self, row: Declared | Revised) -> None:
        """Note whether the last content of something new is one that was redacted."""
        if row.redacted:
            self._gone[row.ref] = None
        elif row.content is not None:
            self._gone.pop(row.ref, None)

    def _hear_content(self, row: Declared | Revised, named: Named, *, first: bool) -> None:
        if row.content is None and not row.redacted:
            return
        heard = self._contents.get(named.key)
        if heard is None:
            version, here = self._record.content(named.key)
            if (here == row.content and not row.redacted) or (version and here is None):
                return  # the same so far, or redacted here, which no bundle undoes
            # without a note, the versions before were the same as here
            heard = _Heard(row.ref, named, row.number, here, among=not first, last=None)
            self._contents[named.key] = heard
        heard.hear(row.number, row.content)

    def _hear_window(
        self, row: Declared | Revised, named: Named, window: Window, *, first: bool
    ) -> None:
        heard = self._windows.get(named.key)
        if heard is None:
            here = self._record.window(named.key)
            among = not first and here == ALWAYS  # as it was if the bundle said nothing before
            heard = self._windows[named.key] = _Heard(row.ref, named, row.number, here, among, None)
        heard.hear(row.number, window)

    def _decide(self) -> None:
        absent = [heard for heard in self._contents.values() if heard.here is heard.last is None]
        self._news += len(absent)
        for ref in (*self._gone, *(heard.ref for heard in absent)):
            self._draft.revise(ref, "{}", None)
            self._draft.redact(ref)  # so that no other bundle brings it in
        upto = self._draft.base.revision
        for key, heard in self._contents.items():
            said = heard.last
            if said is None or said == heard.here:
                continue
            if heard.here is not None:
                versions = self._beliefs.versions(key, upto)
                if said in [text for _, _, text in versions]:
                    continue
                heard.check("other content")
            self._news += 1
            self._draft.revise(heard.ref, said, None)
        for key, held in self._windows.items():
            window = held.last
            if window is None or window == held.here:
                continue
            life = dict(self._windows_here.life(key, upto))
            if window in life.values() or (window == ALWAYS and held.named.revision not in life):
                continue
            held.check("another window")
            self._news += 1
            self._draft.revise(held.ref, None, becoming(window))

    # ------------------------------------------------------------ switches

    def _turn(self, row: Turned, commit: Commit) -> None:
        for ref in row.refs:
            self._turns[self._renamed.get(ref, ref)] = _Turn(row, commit)

    def _switch(self) -> None:
        off = [ref for ref, turn in self._turns.items() if not turn.row.on]
        self._retracted.difference_update(off)
        off = [ref for ref in off if ref not in self._off]
        for start in range(0, len(off), BLOCK):
            self._switch_off(off[start : start + BLOCK])

    def _switch_off(self, refs: list[Ref]) -> None:
        draft = self._draft
        draft.foresee(refs, ())
        here = self._chronicle.last_turns([draft.to_write(ref).key for ref in refs])
        for ref in refs:
            turn, turned = self._turns[ref], here.get(draft.to_write(ref).key)
            if turned is None or turned < turn.commit.at:
                draft.turn([ref], on=False)
                draft.say(turn.commit.reason, turn.commit.by)
                self._applied.add(turn.row.number)
