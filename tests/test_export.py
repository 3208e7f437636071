"""A bundle loses nothing: what is imported from it answers and exports as the original."""

import json
from collections.abc import Iterator
from random import Random

import pytest
from commands import Batch, Command, Load, Maker
from histories import histories
from hypothesis import given
from player import Player
from retaining import answers
from seeing import moment

import tms


def copied(memory: tms.Memory) -> tms.Memory:
    """Import what a memory exports into a new one with the same clock."""
    lines = list(memory.export())
    copy = tms.open(":memory:", clock=memory._writer._clock)
    imported = copy.import_(lines)
    assert bool(imported) == bool(memory.head)
    assert (imported.before, imported.after) == (None, memory.head)
    assert (imported.known, imported.retracted) == (0, ())
    assert list(copy.export()) == lines
    assert copy.verify(revisions=None)
    return copy


def nested(command: Command) -> bool:
    """Whether something in a batch is settled by itself, which no record tells."""
    inner = command.commands if isinstance(command, Batch) else ()
    return any(isinstance(part, Batch | Load) for part in inner)


def told(memory: tms.Memory) -> Iterator[str]:
    """Yield all reports and beliefs, but for what facts rest on."""
    for commit in memory.log():
        yield commit.to_json()
        report = json.loads(memory.report(commit.anchor).to_json())
        for survivor in report["survivedVia"]:
            del survivor["support"]
        yield json.dumps(report)
        view = memory.as_of(recorded=commit.anchor)
        for node in view.scan().items:
            yield node.model_copy(update={"support": None}).to_json()


@given(commands=histories(12))
def test_a_copy_by_export_and_import_is_the_original(commands: list[Command]) -> None:
    with Player() as player:
        for command in commands:
            player.play(command)
        with copied(player.memory) as copy:
            assert list(told(copy)) == list(told(player.memory))
            lines = list(player.memory.export())
            for again in (player.memory.import_(lines), copy.import_(iter(lines))):
                assert not again
                assert (again.rows, again.commits, again.retracted) == (again.known, 0, ())


@pytest.mark.parametrize("seed", range(8))
def test_a_copy_answers_all_questions_as_the_original(seed: int) -> None:
    random = Random(seed)
    maker = Maker(random.randrange)
    with Player() as player:
        player.play(maker.base())
        for _ in range(12):
            command = maker.command(player.world.head)
            if not nested(command):
                player.play(command)
        bounds = sorted(player.world.head.bounds)
        instants = [moment(bound + step) for bound in bounds for step in (-1, 0)]
        original = player.memory
        with copied(original) as copy:
            for mine, yours in zip(
                answers(original, 0, instants), answers(copy, 0, instants), strict=True
            ):
                assert mine == yours
            for commit in original.log():
                assert copy.report(commit.anchor) == original.report(commit.anchor)
