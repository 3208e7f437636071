import json
import os
import shutil
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from random import Random

import pytest
from commands import EPOCH, Boom, Command, Maker, perform
from making import NOON, Clock, dump, fill, found, plain, refused, tampered
from player import Engine, Player
from retaining import answers
from seeing import moment

import tms


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memory.db"


def anchors(memory: tms.Memory) -> list[tms.Anchor]:
    return [commit.anchor for commit in memory.log()]


# ---------------------------------------------------------------- pruning keeps every later answer


def same(one: tms.Memory, other: tms.Memory, since: int, instants: list[datetime]) -> None:
    """Compare all that two memories answer about the commits from one on."""
    for mine, yours in zip(
        answers(one, since, instants), answers(other, since, instants), strict=True
    ):
        assert mine == yours


def instants_of(player: Player) -> list[datetime]:
    bounds = sorted(player.world.head.bounds)
    return [moment(bound + step) for bound in bounds for step in (-1, 0)]


def do(memory: tms.Memory, command: Command, names: dict) -> None:
    with suppress(tms.TMSError, Boom):
        perform(Engine(memory, names), command, tms.TMSError, [])


@pytest.mark.parametrize("seed", range(6))
def test_a_pruned_file_answers_all_later_questions_as_the_original(
    tmp_path: Path, seed: int
) -> None:
    random = Random(seed)
    maker = Maker(random.randrange)
    with Player(str(tmp_path / "memory.db")) as player:
        player.play(maker.base())
        for _ in range(12):
            player.play(maker.command(player.world.head))
        original = player.memory
        instants = instants_of(player)
        for anchor in anchors(original)[seed % 2 :: 2]:
            target = tmp_path / f"{anchor.revision}.db"
            original.prune(before=anchor, path=target)
            with tms.open(target, clock=player.clock) as pruned:
                assert not pruned.verify(revisions=None).findings
                same(original, pruned, anchor.revision, instants[anchor.revision % 3 :: 3])
                pruned.rebuild()
                assert pruned.verify()
        assert original.verify(revisions=None)


@pytest.mark.parametrize("seed", range(6))
def test_a_pruned_file_lives_on_as_the_original(tmp_path: Path, seed: int) -> None:
    random = Random(1000 + seed)
    maker = Maker(random.randrange)
    with Player(str(tmp_path / "memory.db")) as player:
        player.play(maker.base())
        forks: list[tuple[int, tms.Memory]] = []
        try:
            for step in range(20):
                if step % 6 == 3:
                    at = random.choice(anchors(player.memory))
                    target = tmp_path / f"{step}.db"
                    source = player.memory
                    if forks and forks[-1][0] <= at.revision:  # of a file that was pruned before
                        source = forks[-1][1]
                    source.prune(before=at, path=target)
                    forks.append((at.revision, tms.open(target, clock=player.clock)))
                names = dict(player.names)
                command = maker.command(player.world.head)
                player.play(command)
                for _, fork in forks:
                    do(fork, command, names)
                    assert fork.head == player.memory.head
            for since, fork in forks:
                assert not fork.verify(revisions=None).findings
                same(player.memory, fork, since, instants_of(player)[::3])
        finally:
            for _, fork in forks:
                fork.close()
