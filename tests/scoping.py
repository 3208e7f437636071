"""A file of several scopes beside one plain file for each: what that scope sees, and nothing else.

A scope must see exactly what it would see were all others never there. So each command is done on
the file as its owner, and on the plain files of those who see it; in the plain files of the others
only the time passes, as far as something is settled by it. Then every question is asked on both.
"""

import json
import re
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

from making import NOON, Hand

import tms

ANCHOR = re.compile(r"r1:[0-9]{16}:[0-9TZ:.-]{24}")
OWNERS = ("", "alice", "bob")
LETTERS = {"": "s", "alice": "a", "bob": "b"}


def asked(reader: Any, refs: list[str], anchors: list[str]) -> Iterator[tuple[str, Any]]:
    """Yield the name of each question and the answer as JSON."""
    yield "head", reader.head
    yield "log", [told(commit) for commit in reader.log()]
    yield "log_page", pages(reader.log_page)
    yield "changes", [told(report) for report in reader.changes()]
    yield "holding", list(reader.holding())
    yield "scan", pages(reader.scan)
    yield "critical", told(reader.critical(limit=1000))
    for anchor in anchors:
        yield "report", told(reader.report(anchor))
        yield "report_page", pages(partial(reader.report_page, anchor))
        yield "diff", told(reader.diff(anchors[0], anchor))
    for ref in refs:
        for name in ("believes", "status", "get", "why", "why_not", "impact", "environments",
                     "origins", "cuts", "periods", "believed_during"):  # fmt: skip
            yield f"{name} {ref}", told(attempt(getattr(reader, name), ref))
        yield f"neighbourhood {ref}", told(attempt(reader.neighbourhood, ref, depth=3))
        yield f"history {ref}", told(attempt(reader.history, ref))
        yield (
            f"history_page {ref}",
            attempt(pages, partial(reader.history_page, ref)),
        )
        yield f"what_if {ref}", told(attempt(reader.what_if, retract=[ref]))
        yield f"what_if on {ref}", told(attempt(reader.what_if, unretract=[ref]))


ASKED = {
    "head", "log", "log_page", "changes", "holding", "scan", "critical", "report", "report_page",
    "diff", "believes", "status", "get", "why", "why_not", "impact", "environments", "origins",
    "cuts", "periods", "believed_during", "neighbourhood", "history", "history_page", "what_if",
}  # fmt: skip
"""The names of the questions that ``asked`` asks."""


def pages(ask: Callable[..., Any]) -> list[Any]:
    page = ask(limit=2)
    found = [told(item) for item in page.items]
    while page.next_cursor is not None:
        page = ask(limit=2, after=page.next_cursor)
        found += [told(item) for item in page.items]
    return found


def attempt(ask: Callable[..., Any], *given: Any, **more: Any) -> Any:
    try:
        return ask(*given, **more)
    except tms.TMSError as error:
        return [error.code, error.message, error.hint, list(error.ids)]


def told(answer: Any) -> Any:
    if isinstance(answer, (list, tuple)):
        return [told(item) for item in answer]
    return json.loads(answer.to_json()) if hasattr(answer, "to_json") else answer


class Neighbours:
    """A file of several scopes, and the plain files beside it."""

    def __init__(self, folder: Path, random: Random) -> None:
        self.clock = Hand()
        self._random = random
        self.memories = {
            owner: tms.open(folder / "all.db", scope=owner, clock=self.clock) for owner in OWNERS
        }
        self.plain = {
            owner: tms.open(folder / f"{owner}.plain.db", clock=self.clock) for owner in OWNERS
        }
        self.refs: dict[str, list[str]] = {owner: [] for owner in OWNERS}
        self._facts: dict[str, list[str]] = {owner: [] for owner in OWNERS}
        self._number = 0

    def close(self) -> None:
        for memory in (*self.memories.values(), *self.plain.values()):
            memory.close()

    def step(self) -> None:
        """Do something as somebody."""
        random = self._random
        self.clock.now += timedelta(hours=random.choice([0, 1, 5, 30]))
        owner = random.choice(OWNERS)
        done = self._command(owner)
        before = self.memories[owner].head
        answer = told(attempt(done, self.memories[owner]))
        committed = self.memories[owner].head != before
        for other, plain in self.plain.items():
            if other == owner:
                assert self._same(owner, answer, told(attempt(done, plain)))
            elif committed:  # of what another scope does, only the time that passes is seen
                attempt(done, plain) if owner == "" else plain.settle()

    def _command(self, owner: str) -> Callable[[tms.Memory], Any]:
        random, own, letter = self._random, self.refs[owner], LETTERS[owner]
        seen = [*self.refs[""], *own] if owner else own
        nodes = [ref for ref in seen if not ref.startswith("justification:")]
        self._number += 1
        act = random.choice(
            ["source", "justify", "justify", "axiom", "turn", "turn", "revise", "batch", "settle"]
        )
        window = self._window()
        if act == "settle":
            return lambda memory: memory.settle()
        if act in ("source", "revise") and own and random.random() < 0.5:
            ref = random.choice(own)
            return lambda memory: memory.revise(ref, content={"n": self._number}, **window)
        if act in ("justify", "axiom") and (nodes or act == "axiom"):
            fact = self._fact(owner)
            id = f"{letter}{self._number}"
            needed = random.sample(nodes, min(len(nodes), random.randint(1, 2))) if nodes else []
            needed = [ref for ref in needed if ref != fact]
            own.append(f"justification:{id}")
            if needed and act == "justify":
                return lambda memory: memory.justify(fact, needed, id=id, **window)
            return lambda memory: memory.axiom(fact, id=id, rule=letter, **window)
        if act == "turn" and own:
            refs = random.sample(own, min(len(own), random.randint(1, 2)))
            verb = random.choice(["retract", "retract", "unretract"])
            return lambda memory: getattr(memory, verb)(
                refs, reason=f"secret of {letter}", by=letter
            )
        if act == "batch":
            source, fact = self._source(owner), self._fact(owner)
            id = f"{letter}{self._number}"
            own.append(f"justification:{id}")

            def both(memory: tms.Memory) -> Any:
                with memory.batch(reason=f"batch of {letter}") as batch:
                    memory.source(source)
                    memory.justify(fact, [source], id=id)
                return batch.report

            return both
        source = self._source(owner)
        return lambda memory: memory.source(source, content={"of": letter}, **window)

    def _source(self, owner: str) -> str:
        ref = f"S:{LETTERS[owner]}{self._random.randrange(4)}"
        if ref not in self.refs[owner]:
            self.refs[owner].append(ref)
        return ref

    def _fact(self, owner: str) -> str:
        ref = f"F:{LETTERS[owner]}{self._random.randrange(5)}"
        if ref not in self.refs[owner]:
            self.refs[owner].append(ref)
        return ref

    def _window(self) -> dict[str, datetime]:
        if self._random.random() < 0.7:
            return {}
        start = self.clock.now + timedelta(hours=self._random.choice([-9, 0, 6]))
        return {
            "valid_from": start,
            "valid_to": start + timedelta(hours=self._random.choice([3, 40])),
        }

    # ------------------------------------------------------------ judgement

    def judge(self, owner: str, *, past: int) -> int:
        """Ask all of a scope and of its plain file; return how many answers were the same."""
        memory, plain = self.memories[owner], self.plain[owner]
        refs = sorted({ref for many in self.refs.values() for ref in many} | {"S:nobody"})
        here = [commit.anchor for commit in memory.log()]
        there = [commit.anchor for commit in plain.log()]
        count = self._compare(owner, memory, plain, refs, (here, there))
        if here:
            at = past % len(here)
            moment = NOON + timedelta(hours=past % 200)
            for valid in (None, moment):
                views = [
                    one.as_of(recorded=anchors[at], valid=valid)
                    for one, anchors in ((memory, here), (plain, there))
                ]
                count += self._compare(owner, *views, refs, (here[: at + 1], there[: at + 1]))
        stats, alone = told(memory.stats()), told(plain.stats())
        for name in ("bytes", "pruned"):
            stats.pop(name), alone.pop(name)
        assert self._same(owner, stats, alone)
        return count

    def _compare(self, owner: str, reader: Any, other: Any, refs: list[str], anchors: Any) -> int:
        count = 0
        ask = zip(asked(reader, refs, anchors[0]), asked(other, refs, anchors[1]), strict=True)
        for (name, answer), (_, expected) in ask:
            assert self._same(owner, answer, expected), (owner, name, answer, expected)
            count += 1
        return count

    def _same(self, owner: str, answer: Any, expected: Any) -> bool:
        """Whether two answers are the same but for anchors and owners; nobody else is in them."""
        text = json.dumps(answer)
        for other in OWNERS:
            if other not in ("", owner):
                assert f"secret of {LETTERS[other]}" not in text, text
        here = [commit.anchor for commit in self.memories[owner].log()]
        there = [commit.anchor for commit in self.plain[owner].log()]
        assert len(here) == len(there)
        names = dict(zip(there, here, strict=True))
        return _plain(answer) == _renamed(expected, names)


def _renamed(answer: Any, names: dict[str, str]) -> Any:
    if isinstance(answer, dict):
        return {key: _renamed(value, names) for key, value in answer.items() if key != "scope"}
    if isinstance(answer, list):
        return [_renamed(item, names) for item in answer]
    if isinstance(answer, str):
        return ANCHOR.sub(lambda found: names.get(found[0], found[0]), answer)
    return answer


def _plain(answer: Any) -> Any:
    return _renamed(answer, {})
