from collections import Counter
from collections.abc import Callable
from functools import cache
from random import Random
from typing import Any

from commands import Command, Maker
from harness import SPOILING, Harness, drive
from hypothesis import event, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule
from oracle import Snapshot

ints = cache(lambda most: st.integers(0, most))
SEEDS = st.one_of(st.just(0), st.integers(1, 2**32), st.integers(1, 2**32))

STEPS = 40

REACHED = {
    "commits": 500,
    "no commit": 200,
    "died": 200,
    "revived": 150,
    "survived": 200,
    "moved to other support": 100,
    "lost and derived again": 50,
    "previewed": 200,
    "ring died": 20,
    "ring kept by a second ground": 50,
    "absent": 1000,
    "ungrounded circles": 100,
    "moved off what stood again": 5,
    "in several periods": 3,
    "in no period": 500,
}
"""The states that a machine has to reach to prove anything, and how often at least."""


@st.composite
def made(draw: st.DrawFn, make: Callable[[Maker, Snapshot], Command]) -> Command:
    """Make a command for the world as it stands: by choices that shrink well, or by a seed.

    A seed gives even choices, which reach more, and costs one draw.
    """
    harness = getattr(draw(st.runner()), "harness", None)
    head = harness.world.head if harness is not None else Snapshot()
    seed = draw(SEEDS)
    choose = Random(seed).randrange if seed else lambda n: draw(ints(n - 1))
    return make(Maker(choose), head)


class Machine(RuleBasedStateMachine):
    harness: Harness
    sound = True

    def step(self, action: Callable[..., None], *arguments: Any, **named: Any) -> None:
        self.sound = False
        action(*arguments, **named)
        self.sound = True

    @initialize(
        on_disk=st.booleans(),
        wide=st.sampled_from([1, 2, 12, 1000]),
        ahead=st.sampled_from([1, 2, 8, 256]),
        flush=st.sampled_from([1, 2, 7, 20_000]),
        command=made(lambda maker, _: maker.base()),
    )
    def open(self, on_disk: bool, wide: int, ahead: int, flush: int, command: Command) -> None:
        self.harness = Harness(on_disk=on_disk, wide=wide, ahead=ahead, flush=flush)
        self.step(self.harness.do, command)

    @rule(command=made(lambda maker, _: maker.declare()))
    def declare(self, command: Command) -> None:
        self.step(self.harness.do, command)

    @rule(command=made(lambda maker, head: maker.justify(head)))
    def justify(self, command: Command) -> None:
        self.step(self.harness.do, command)

    @rule(command=made(lambda maker, _: maker.axiom()))
    def axiom(self, command: Command) -> None:
        self.step(self.harness.do, command)

    @rule(command=made(lambda maker, head: maker.supposable(head)))
    def suppose(self, command: Command) -> None:
        self.step(self.harness.do, command)

    @rule(command=made(lambda maker, head: maker.revise(head)))
    def revise(self, command: Command) -> None:
        self.step(self.harness.do, command)

    @rule(command=made(lambda maker, head: maker.turn(head)))
    def turn(self, command: Command) -> None:
        self.step(self.harness.do, command)

    @rule(command=made(lambda maker, head: maker.turn(head)))
    def turn_another(self, command: Command) -> None:
        self.step(self.harness.do, command)

    @rule(command=made(lambda maker, head: maker.turn(head, 4)))
    def turn_many(self, command: Command) -> None:
        self.step(self.harness.do, command)

    @rule(command=made(lambda maker, head: maker.load(head)))
    def load(self, command: Command) -> None:
        self.step(self.harness.do, command)

    @rule(command=made(lambda maker, head: maker.batch(head)))
    def batch(self, command: Command) -> None:
        self.step(self.harness.do, command)

    @precondition(lambda self: self.harness.on_disk)
    @rule()
    def reopen(self) -> None:
        self.step(self.harness.reopen)

    @precondition(lambda self: self.harness.on_disk)
    @rule()
    def go_through_another_door(self) -> None:
        self.step(self.harness.change_doors)

    @rule(spoiling=st.sampled_from(SPOILING), closed=st.booleans())
    def spoil_the_cache(self, spoiling: tuple[str, ...], closed: bool) -> None:
        self.step(self.harness.spoil_cache, spoiling, closed=closed)

    def teardown(self) -> None:
        if not hasattr(self, "harness"):
            return
        if not self.sound:
            self.harness.abandon()
            return
        for state, count in self.harness.tally.items():
            if count:
                event(state)
        self.harness.finish()


Machine.TestCase.settings = settings(stateful_step_count=STEPS)
test_the_engine_agrees_with_the_judge_after_every_step = Machine.TestCase


def test_seeded_worlds_agree_with_the_judge_and_reach_every_interesting_state() -> None:
    tally: Counter[str] = Counter()
    for seed in range(40):
        tally += drive(seed, STEPS)
    assert tally["steps"] >= 40 * STEPS
    for state, least in REACHED.items():
        assert tally[state] >= least, (state, tally)
