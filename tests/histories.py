"""Histories as data, which Hypothesis can make and shrink."""

from functools import cache
from random import Random

from commands import Boom, Command, Maker, perform
from hypothesis import strategies as st
from oracle import Refused, World

ints = cache(lambda most: st.integers(0, most))


@st.composite
def histories(draw: st.DrawFn, most: int = 8) -> list[Command]:
    """Make the commands of a history, each of which knows the world that those before it left."""
    world = World()
    commands: list[Command] = []
    for place in range(1 + draw(ints(most))):
        seed = draw(st.one_of(st.just(0), st.integers(1, 2**32), st.integers(1, 2**32)))
        maker = Maker(Random(seed).randrange if seed else lambda n: draw(ints(n - 1)))
        command = maker.command(world.head) if place else maker.base()
        commands.append(command)
        try:
            perform(world, command, Refused, [])
        except (Refused, Boom):
            continue
    return commands
