"""A second judge that shares nothing with the first: an answer set solver.

What a memory has on record is a definite logic program, which has one stable model: what holds.
"""

from collections.abc import Iterable
from datetime import datetime
from random import Random

import clingo
import pytest
from commands import Maker
from making import NOON, Hand, days
from oracle import by_ref
from player import Player

import tms

WORLDS = 240


def program(memory: tms.Memory, justifications: Iterable[tms.Ref], now: datetime) -> str:
    """Write a memory as rules over quoted refs; what is off or not valid are facts of it."""
    rules = ["believed(N) :- source(N), not off(N)."]
    off = ["nothing"]
    for node in memory.scan().items:
        rules.append(f"{node.role}({quoted(node.ref)}).")
        if idle(node, now):
            off.append(quoted(node.ref))
    for ref in justifications:
        said = memory.get(ref)
        if idle(said, now):
            off.append(quoted(ref))
        needs = [f"believed({quoted(premise)})" for premise in said.premises]
        for fact in said.derives:
            body = [*needs, f"not off({quoted(ref)})", f"not off({quoted(fact)})"]
            rules.append(f"believed({quoted(fact)}) :- {', '.join(body)}.")
    rules += [f"off({target})." for target in off]
    rules += ["fact(nothing).", "holding(N) :- believed(N), fact(N).", "#show holding/1."]
    return "\n".join(rules)


def idle(said: tms.Node | tms.Justification, now: datetime) -> bool:
    start, end = said.valid_from or now, said.valid_to
    return said.retracted or now < start or (end is not None and end <= now)


def quoted(ref: str) -> str:
    return f'"{ref.encode().hex()}"'


def models(text: str) -> list[list[str]]:
    """Return what holds in each stable model, by (kind, id)."""
    control = clingo.Control(["--models=0", "--warn=none"])
    control.add("base", [], text)
    control.ground([("base", [])])
    found = []
    with control.solve(yield_=True) as solving:
        for model in solving:
            texts = [symbol.arguments[0].string for symbol in model.symbols(shown=True)]
            found.append(sorted((bytes.fromhex(text).decode() for text in texts), key=by_ref))
    return found


@pytest.mark.parametrize("start", range(0, WORLDS, 40))
def test_what_holds_is_the_one_stable_model_of_the_record(start: int) -> None:
    for seed in range(start, start + 40):
        maker = Maker(Random(seed).randrange)
        with Player() as player:
            player.play(maker.base())
            for _ in range(4):
                head = player.world.head
                player.play(maker.pick((maker.turn(head, 3), maker.command(head))))
                found = models(program(player.memory, player.names.values(), player.clock()))
                assert found == [list(player.memory.holding())]


def test_the_solver_holds_no_ring_up_and_minds_every_kind_of_switch() -> None:
    with tms.open(":memory:", clock=Hand()) as memory:
        memory.source("S:1", valid_from=days(-1), valid_to=days(1))
        refs = [
            memory.justify("F:1", "S:1"),
            memory.justify("F:2", "F:1"),
            memory.justify("F:1", "F:2"),
            memory.justify("F:3", ["F:1", "F:2"]),
            memory.axiom("F:4"),
        ]
        everything = ["F:1", "F:2", "F:3", "F:4"]
        for target, rest in (
            ("S:1", ["F:4"]),
            ("F:1", ["F:4"]),
            ("F:3", ["F:1", "F:2", "F:4"]),
            (refs[0], ["F:4"]),
            (refs[4], ["F:1", "F:2", "F:3"]),
        ):
            memory.retract(target)
            assert models(program(memory, refs, NOON)) == [rest] == [list(memory.holding())]
            memory.unretract(target)
            assert models(program(memory, refs, NOON)) == [everything] == [list(memory.holding())]
        for at in (days(-2), days(-1), days(1)):
            holding = list(memory.as_of(valid=at).holding())
            assert models(program(memory, refs, at)) == [holding]
            assert holding == (everything if at == days(-1) else ["F:4"])
