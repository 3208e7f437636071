"""What is done to a memory, as data: so that the engine and the judge are given the very same.

``Maker`` makes commands that fit a world, from a source of small choices: Hypothesis, which can
shrink them, or a seeded random generator, which is quicker.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from oracle import Node, Snapshot, Target

SOURCES = ("S:0", "S:1", "S:2", "S:3", "S!:\0", "Ŝ:é")
FACTS = ("F:0", "F:1", "F:2", "F:3", "F:4", "F:5", "F!:a:b", "F!:1", "f:\U0001f719", "f:x y")
UNKNOWN = "F:unknown"
RESERVED = "justification:j0"
IDS = (None, None, None, "j0", "j1", "j2", "j3", "F:0")
REASONS = (None, None, "bad mapping", "repaired")


EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
BOUNDS = (
    None,
    None,
    0,
    1_000,
    99_001,
    101_000,
    500_000,
    1_000_000,
    1_000_001,
    1_101_000,
    2_002_000,
)
"""Of windows, in microseconds; the clock of a player goes there and back."""

Valid = tuple[tuple[str, int | None], ...]
"""The bounds that a command gives, by name."""


def bounds(valid: Valid) -> dict[str, datetime | None]:
    """Return the bounds of a window as arguments."""
    return {name: None if at is None else EPOCH + timedelta(microseconds=at) for name, at in valid}


class Boom(Exception):
    """What the body of a failing batch raises."""


@dataclass(frozen=True)
class Declare:
    role: str
    ref: str
    content: dict[str, Any] | None = None
    valid: Valid = ()


@dataclass(frozen=True)
class Justify:
    conclusions: tuple[str, ...]
    premises: tuple[str, ...]
    rule: str | None = None
    id: str | None = None
    valid: Valid = ()


@dataclass(frozen=True)
class Axiom:
    conclusions: tuple[str, ...]
    rule: str | None = None
    id: str | None = None
    valid: Valid = ()


@dataclass(frozen=True)
class Revise:
    ref: str
    content: dict[str, Any] | None
    reason: str | None = None
    by: str | None = None
    valid: Valid = ()


@dataclass(frozen=True)
class Settle:
    reason: str | None = None
    by: str | None = None


@dataclass(frozen=True)
class Redact:
    ref: str
    reason: str | None = None
    by: str | None = None


@dataclass(frozen=True)
class Turn:
    on: bool
    refs: tuple[Target, ...]
    reason: str | None = None
    by: str | None = None


@dataclass(frozen=True)
class Load:
    rows: tuple["Command", ...]
    reason: str | None = None
    by: str | None = None


@dataclass(frozen=True)
class Batch:
    """A batch.

    Attributes:
        passes_over: a refused verb and a failing batch inside are caught in its body.
        fails: its body raises at the end.
    """

    commands: tuple["Command", ...]
    passes_over: bool = False
    fails: bool = False
    reason: str | None = None
    by: str | None = None


Command = Declare | Justify | Axiom | Revise | Settle | Redact | Turn | Load | Batch


def row(command: Command) -> dict[str, Any]:
    """Write a command as an interchange object."""
    match command:
        case Declare(role, ref, content, valid):
            said = {role: ref} if content is None else {role: ref, "content": content}
            return {**said, **bounds(valid)}
        case Justify(conclusions, premises, rule, id, valid):
            said = {"justification": id, "premises": list(premises), "derives": list(conclusions)}
            return (
                {**said, **bounds(valid)}
                if rule is None
                else {**said, "rule": rule, **bounds(valid)}
            )
        case Axiom(conclusions, rule, id, valid):
            return {"axiom": list(conclusions), "rule": rule, "id": id, **bounds(valid)}
        case Turn(on, refs, reason, by):
            return {"unretract" if on else "retract": list(refs), "reason": reason, "by": by}
    raise TypeError(command)


def perform(memory: Any, command: Command, refusal: type[Exception], met: list[Any]) -> Any:
    """Do a command on a memory or on a world; note what was refused and passed over in ``met``."""
    match command:
        case Declare(role, ref, content, valid):
            return getattr(memory, role)(ref, content=content, **bounds(valid))
        case Justify(conclusions, premises, rule, id, valid):
            return memory.justify(conclusions, premises, rule=rule, id=id, **bounds(valid))
        case Axiom(conclusions, rule, id, valid):
            return memory.axiom(conclusions, rule=rule, id=id, **bounds(valid))
        case Revise(ref, content, reason, by, valid):
            return memory.revise(ref, content=content, reason=reason, by=by, **bounds(valid))
        case Settle(reason, by):
            return memory.settle(reason=reason, by=by)
        case Redact(ref, reason, by):
            return memory.redact(ref, reason=reason, by=by)
        case Turn(on, refs, reason, by):
            return (memory.unretract if on else memory.retract)(refs, reason=reason, by=by)
        case Load(rows, reason, by):
            return memory.load([row(command) for command in rows], reason=reason, by=by)
        case Batch(commands, passes_over, fails, reason, by):
            with memory.batch(reason=reason, by=by) as batch:
                for inner in commands:
                    try:
                        perform(memory, inner, refusal, met)
                    except (refusal, Boom) as error:
                        if not passes_over:
                            raise
                        met.append(error)
                if fails:
                    raise Boom
            return batch
    raise TypeError(command)


class Maker:
    """Makes commands.

    Args:
        choose: given n, returns a number from 0 up to n.
    """

    def __init__(self, choose: Callable[[int], int]) -> None:
        self._choose = choose

    def pick(self, items: Sequence[Any]) -> Any:
        return items[self._choose(len(items))]

    def some(self, items: Sequence[Any], most: int) -> tuple[Any, ...]:
        """Return one or more, perhaps the same again."""
        return tuple(self.pick(items) for _ in range(1 + self._choose(most)))

    def rarely(self) -> bool:
        return self._choose(16) == 15

    def content(self) -> dict[str, Any] | None:
        return self.pick((None, None, {"v": 1}, {"v": True, "w": [1, "é"]}))

    def valid(self, *, proper: bool = False) -> Valid:
        """Return mostly no window, sometimes one, and rarely one that nothing lies in."""
        if self._choose(3) < 2:
            return ()
        start, end = self.pick(BOUNDS), self.pick(BOUNDS)
        inverted = start is not None and end is not None and start >= end
        if inverted and (proper or not self.rarely()):
            start, end = end, start + (start == end)
        return (("valid_from", start), ("valid_to", end))

    # ------------------------------------------------------------ commands

    def declare(self) -> Declare:
        role = self.pick(("source", "source", "fact"))
        mixed = self.rarely()
        names = SOURCES if (role == "source") != mixed else FACTS
        ref = RESERVED if self.rarely() else self.pick(names)
        return Declare(role, ref, self.content(), self.valid())

    def justify(self, seen: Snapshot) -> Justify:
        if seen.justifications and self._choose(8) == 7:
            return self._again(seen)
        conclusions = self.some(FACTS, self.pick((1, 1, 1, 3)))
        known = [ref for ref in seen.nodes if ref not in conclusions]
        if not known or self.rarely():
            known = [*conclusions, UNKNOWN, RESERVED, *SOURCES]
        if self.rarely():
            conclusions += (self.pick((RESERVED, SOURCES[0])),)
        premises = self.some(known, self.pick((1, 2, 2, 4)))
        rule, id = self.pick((None, None, "r")), self.pick(IDS)
        return Justify(conclusions, premises, rule, id, self.valid())

    def _again(self, seen: Snapshot) -> Justify:
        said = self.pick(list(seen.justifications))
        premises, conclusions = sorted(said.premises), sorted(said.conclusions)
        turned = self._choose(len(premises) + 1)
        premises = premises[turned:] + premises[:turned] + premises[:1]
        valid = tuple(zip(("valid_from", "valid_to"), said.valid, strict=True))
        return Justify(
            tuple(reversed(conclusions)), tuple(premises), said.rule, self.pick(IDS), valid
        )

    def axiom(self) -> Axiom:
        return Axiom(self.some(FACTS, 2), self.pick((None, "r")), self.pick(IDS), self.valid())

    def revise(self, seen: Snapshot) -> Revise:
        content = self.pick(({"v": 1}, {"v": 2}, {"v": True, "w": [1, "é"]}, {}))
        known = self.pick(list(seen.nodes) or [UNKNOWN])
        ref = self.pick((UNKNOWN, RESERVED)) if self.rarely() else known
        valid = self.valid()[: 1 + self._choose(2)]
        if valid and self._choose(2):
            content = None
        return Revise(ref, content, self.pick(REASONS), self.pick((None, "oncall")), valid)

    def turn(self, seen: Snapshot, most: int = 1, *, as_rows: bool = False) -> Turn:
        """Turn switches, mostly such that are not in that state yet."""
        sources = [ref for ref, node in seen.nodes.items() if node.role == "source"]
        facts = [ref for ref, node in seen.nodes.items() if node.role == "fact"]
        said: list[Target] = [*seen.justifications]
        if as_rows:
            said = [f"justification:{id}" for id in seen.justifications.values() if id is not None]
        every = [*sources, *facts, *said]
        off = [target for target in every if target in seen.off]
        on = bool(off) and self._choose(2) == 1
        if on and not self.rarely():
            among: list[Target] = off
        else:
            among = self.pick([group for group in (sources, sources, facts, said) if group] or [[]])
        if not among or self.rarely():
            among = [*every, UNKNOWN, *(f"justification:{id}" for id in IDS if id)]
        return Turn(on, self.some(among, most), self.pick(REASONS), self.pick((None, "oncall")))

    def load(self, seen: Snapshot, most: int = 5) -> Load:
        rows = self._several(seen, 1 + self._choose(most), depth=0, as_rows=True)
        return Load(rows, self.pick(REASONS), self.pick((None, "oncall")))

    def batch(self, seen: Snapshot, depth: int = 2) -> Batch:
        return Batch(
            self._several(seen, self._choose(7), depth=depth - 1),
            passes_over=self._choose(3) > 0,
            fails=self._choose(5) == 4,
            reason=self.pick(REASONS),
            by=self.pick((None, "oncall")),
        )

    def supposable(self, seen: Snapshot) -> Batch:
        """Return a batch of what can be asked as a preview, in the order of its parts."""
        turns = [self.turn(seen, 2) for _ in range(self._choose(4))]
        turns.sort(key=lambda turn: turn.on)
        added = tuple(self.justify(seen) for _ in range(self._choose(3)))
        return Batch((*turns, *added))

    def _several(
        self, seen: Snapshot, count: int, *, depth: int, as_rows: bool = False
    ) -> tuple[Command, ...]:
        """Return commands of which the later ones know the nodes of the earlier ones."""
        seen = replace(seen, nodes=dict(seen.nodes))
        commands = []
        for _ in range(count):
            command = self._inner(seen, depth, as_rows)
            commands.append(command)
            match command:
                case Declare(role, ref):
                    seen.nodes.setdefault(ref, Node(role, 0, None, (0, None)))
                case Justify(conclusions) | Axiom(conclusions):
                    for ref in conclusions:
                        seen.nodes.setdefault(ref, Node("fact", 0, None, (0, None)))
        return tuple(commands)

    def _inner(self, seen: Snapshot, depth: int, as_rows: bool) -> Command:
        which = self._choose(10 if as_rows else 12 if depth == 0 else 16)
        if which < 2:
            return self.declare()
        if which < 6:
            return self.justify(seen)
        if which == 6:
            return self.axiom()
        if which < 10:
            return self.turn(seen, 2, as_rows=as_rows)
        if which < 12:
            return self.revise(seen)
        if which == 12:
            return self.load(seen, 3)
        return self.batch(seen, depth)

    def command(self, head: Snapshot) -> Command:
        """Return any command, turns of switches the most often."""
        which = self._choose(12)
        if which < 4:
            return self.turn(head, 1 if which else 4)
        if which == 11:
            return self.supposable(head)
        if which < 6:
            return self.justify(head)
        if which < 8:
            return self.batch(head)
        rest = (
            self.declare,
            self.axiom,
            lambda: self.revise(head),
            lambda: self.load(head),
            lambda: Settle(self.pick(REASONS)),
            lambda: Redact(UNKNOWN if self.rarely() else self.pick((*SOURCES, *FACTS))),
        )
        return self.pick(rest)()

    def base(self) -> Load:
        """Return the rows of a first world: sources, and facts that rest on them in some ways."""
        sources = SOURCES[: 2 + self._choose(len(SOURCES) - 1)]
        facts = FACTS[: 3 + self._choose(len(FACTS) - 2)]
        rows: list[Command] = [
            Declare("source", ref, self.content(), self.valid(proper=True)) for ref in sources
        ]
        rows += [Declare("fact", ref) for ref in facts]
        for fact in facts:
            for _ in range(1 + self._choose(2)):
                among = [ref for ref in facts if ref != fact]
                pool = self.pick((sources, sources, among, among, [*sources, *among]))
                rows.append(Justify((fact,), self.some(pool, self.pick((1, 1, 2)))))
        for _ in range(self._choose(4)):
            one, two = self.pick(facts), self.pick(facts)
            if one != two:
                rows += [Justify((one,), (two,)), Justify((two,), (one,))]
        return Load(tuple(rows))
