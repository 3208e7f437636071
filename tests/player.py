"""A memory and the judge side by side: every command is done on both, and refused by both."""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from types import TracebackType
from typing import Any, Self

from commands import EPOCH, Batch, Boom, Command, bounds, perform
from oracle import Refused, Said, World

import tms

CLOCK = (0, 1, 1000, -900)
"""By how much the clock moves from one step to the next."""


class Engine:
    """A memory that takes what is said in place of the ref of a justification."""

    def __init__(self, memory: tms.Memory, names: Mapping[Said, tms.Ref]) -> None:
        self._memory = memory
        self._names = names

    def __getattr__(self, name: str) -> Any:
        return getattr(self._memory, name)

    def retract(self, refs: Iterable[Any], **said: Any) -> Any:
        return self._memory.retract([self._names.get(ref, ref) for ref in refs], **said)

    def unretract(self, refs: Iterable[Any], **said: Any) -> Any:
        return self._memory.unretract([self._names.get(ref, ref) for ref in refs], **said)


class Player:
    """A memory with a world beside it.

    Attributes:
        world: the judge.
        memory: what is judged.
        names: the refs that the memory gave to the justifications of the head.
    """

    def __init__(self, path: str = ":memory:") -> None:
        self.world = World()
        self.names: dict[Said, tms.Ref] = {}
        self.path = path
        self._steps = 0
        self.memory = self.open()

    def open(self) -> tms.Memory:
        return tms.open(self.path, clock=self.clock)

    def clock(self) -> datetime:
        return EPOCH + timedelta(milliseconds=self.world.now)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.memory.close()

    def tick(self) -> None:
        """Move the clock."""
        self.world.now += CLOCK[self._steps % len(CLOCK)]
        self._steps += 1

    def play(self, command: Command) -> Any:
        """Move the clock, and do a command on both; see ``both``."""
        self.tick()
        return self.both(command)

    def both(self, command: Command) -> Any:
        """Do a command on both; return the answer of the memory, None if it was refused."""
        met: list[Exception] = []
        engine_met: list[Exception] = []
        expected: Exception | None = None
        caught: Exception | None = None
        answer = None
        try:
            perform(self.world, command, Refused, met)
        except (Refused, Boom) as error:
            expected = error
        try:
            answer = perform(Engine(self.memory, self.names), command, tms.TMSError, engine_met)
        except (tms.TMSError, Boom) as error:
            caught = error
        _same_refusal(expected, caught)
        assert len(met) == len(engine_met), (met, engine_met)
        for one, other in zip(met, engine_met, strict=True):
            _same_refusal(one, other)
        self._learn()
        return answer.report if isinstance(command, Batch) and caught is None else answer

    def _learn(self) -> None:
        """Ask for the refs of new justifications by saying them again, which changes nothing."""
        known = self.world.head.justifications
        self.names = {said: ref for said, ref in self.names.items() if said in known}
        for said in known.keys() - self.names.keys():
            premises, conclusions = sorted(said.premises), sorted(said.conclusions)
            valid = bounds(tuple(zip(("valid_from", "valid_to"), said.valid, strict=True)))
            if premises:
                self.names[said] = self.memory.justify(
                    conclusions, premises, rule=said.rule, **valid
                )
            else:
                self.names[said] = self.memory.axiom(conclusions, rule=said.rule, **valid)
            if (id := known[said]) is not None:
                assert self.names[said] == f"justification:{id}"


def _same_refusal(expected: Exception | None, caught: Exception | None) -> None:
    if isinstance(expected, Refused):
        assert isinstance(caught, tms.TMSError), (expected, caught)
        assert caught.code in expected.codes, (expected, caught)
    elif type(expected) is not type(caught):
        raise AssertionError(f"expected {expected!r}") from caught
