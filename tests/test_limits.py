"""What is kept has a largest size, and whatever is refused is told in few words."""

import gzip
import inspect
import io
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from making import Clock, fill, refused

import tms
from tms import limits
from tms.cli import main as program
from tms.errors import LONGEST, shortened

BIG = 10**6
TEXT = limits.TEXT


@pytest.fixture
def memory() -> Iterator[tms.Memory]:
    with tms.open(":memory:", clock=Clock()) as memory:
        fill(memory)
        yield memory


# ---------------------------------------------------------------- at the bound, and one above

TEXTS: dict[str, tuple[type[tms.TMSError], Callable[[tms.Memory, str], object]]] = {
    "kind": (tms.InvalidRef, lambda m, text: m.source(f"{text}:1")),
    "id": (tms.InvalidRef, lambda m, text: m.source(f"Feed:{text}")),
    "a conclusion": (tms.InvalidRef, lambda m, text: m.justify(f"Flag:{text}", "Feed:1")),
    "rule": (tms.InvalidJustification, lambda m, text: m.axiom("Flag:9", rule=text)),
    "the id of a justification": (
        tms.InvalidJustification,
        lambda m, text: m.retract(m.axiom("Flag:9", id=text)),
    ),
    "reason": (tms.InvalidContent, lambda m, text: m.retract("Feed:1", reason=text)),
    "by": (tms.InvalidContent, lambda m, text: m.retract("Feed:1", by=text)),
    "the reason of a batch": (
        tms.InvalidContent,
        lambda m, text: m.batch(reason=text).__enter__().__exit__(None, None, None),
    ),
    "the reason of a row": (
        tms.InvalidContent,
        lambda m, text: m.load([{"retract": "Feed:1", "reason": text}]),
    ),
    "the rule of a row": (
        tms.InvalidJustification,
        lambda m, text: m.load([{"axiom": "Flag:9", "rule": text}]),
    ),
    "reasons that are joined": (
        tms.InvalidContent,
        lambda m, text: m.load(
            [
                {"retract": "Feed:1", "reason": text[:BIG]},
                {"retract": "Scan:1", "reason": text[BIG + 2 :]},
            ]
        ),
    ),
    "the name of a subscriber": (
        tms.InvalidArgument,
        lambda m, text: m.subscribe(text).acknowledge(m.head),
    ),
}


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("letter", ["x", "é", "\U0001f719"])
def test_a_text_may_have_so_many_bytes_and_no_more(
    memory: tms.Memory, name: str, letter: str
) -> None:
    kind, work = TEXTS[name]
    text = letter * (TEXT // len(letter.encode()))
    if name == "reasons that are joined":
        text = "x" * (TEXT - 1) + "y"
    refused(memory, kind, "4 MiB", lambda: work(memory, text + "x"))
    work(memory, text)
    assert memory.verify(revisions=None)


def test_a_content_may_have_so_many_bytes_and_no_more(memory: tms.Memory) -> None:
    text = "x" * (limits.CONTENT - len('{"text":""}'))
    too_much = {"text": text + "x"}
    refused(memory, tms.InvalidContent, "64 MiB", lambda: memory.source("Feed:9", content=too_much))
    memory.source("Feed:9", content={"text": text})
    kept = memory.get("Feed:9").content
    assert kept is not None
    assert kept["text"] == text


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("place", [0, 1, 7])
def test_a_line_of_an_import_may_have_so_many_bytes_and_no_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, packed: bool, place: int
) -> None:
    monkeypatch.setattr(limits, "LINE", 1000)
    lines = [json.dumps({"source": f"Feed:{i}"}) for i in range(10)]
    for size, status in ((1000, 0), (1001, 2), (10_000, 2)):
        lines[place] = json.dumps({"source": "Feed:long"}).ljust(size - 1)
        given = "".join(f"{line}\n" for line in lines).encode()
        if packed:
            given = gzip.compress(given)
        path = tmp_path / f"{size}.db"
        done = CliRunner().invoke(program, ["--db", str(path), "import", "-"], input=given)
        assert done.exit_code == status, done.output
        if status:
            assert f"line {place + 1} is longer than 1000 bytes" in done.stderr
        with tms.open(path) as memory:
            assert memory.stats().sources == (0 if status else 10)


def test_the_reading_of_a_line_that_never_ends_ends_at_the_bound(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "LINE", 10_000)
    bomb = tmp_path / "bomb.gz"
    with gzip.open(bomb, "wb") as file:
        for _ in range(200):
            file.write(b" " * 2**20)
    done = CliRunner().invoke(program, ["--db", str(tmp_path / "memory.db"), "import", str(bomb)])
    assert done.exit_code == 2
    assert "line 1 is longer than 10000 bytes" in done.stderr


def test_a_content_on_standard_input_may_have_so_many_bytes_and_no_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "LINE", 1000)
    args = ["--db", str(tmp_path / "memory.db"), "source", "Feed:1", "--content", "-"]
    for size, status in ((1001, 2), (1000, 0)):
        given = io.BytesIO(b'{"a": 1}'.ljust(size))
        assert CliRunner().invoke(program, args, input=given).exit_code == status


# ---------------------------------------------------------------- large, and well


def test_ids_of_a_megabyte_are_ids_like_others(memory: tms.Memory) -> None:
    feed, flag = memory.source("Feed:" + "é" * BIG), "Flag:" + "x\0'" * (BIG // 3)
    memory.justify(flag, feed, rule="r" * BIG, id="j" * BIG)
    report = memory.retract(feed, reason="w" * BIG, by="b" * BIG)
    assert report.died == (flag,)
    assert memory.report(report.after) == report
    assert memory.why_not(flag).retracted == (feed,)
    assert feed in [step.ref for step in memory.as_of(recorded=report.before).why(flag)]
    assert flag in [item.ref for item in memory.scan(kind="Flag").items]
    assert memory.history(flag)[-1].because == (feed,)
    assert memory.unretract(feed).revived == (flag,)
    assert memory.verify(revisions=None)


def test_many_reasons_of_a_load_are_kept_in_order_and_quickly(memory: tms.Memory) -> None:
    rows = [{"retract": "Feed:1", "reason": f"reason {n}"} for n in range(60_000)]
    memory.load(rows)
    (last,) = list(memory.log())[-1:]
    assert last.reason == "; ".join(f"reason {n}" for n in range(60_000))


# ---------------------------------------------------------------- few words


def test_the_middle_of_a_long_message_gives_way() -> None:
    assert shortened("x" * LONGEST) == "x" * LONGEST
    short = shortened("begin" + "x" * BIG + "end")
    assert len(short) == LONGEST
    assert short.startswith("begin")
    assert "…" in short
    assert short.endswith("end")


HUGE: list[Any] = [
    "Huge:" + "x" * BIG,
    "x" * BIG,
    "justification:" + "x" * BIG,
    "Huge:\ud800" + "x" * BIG,
]
HUGE += ["Feed:" + "x" * (TEXT + 1), "r1:0000000000000001:" + "9" * BIG]
HUGE += ["2026-01-01" + "0" * BIG]
HUGE += [10**5_000, [10**5_000], {"a": 10**5_000}]  # repr() refuses to show these
VERBS = sorted(
    name
    for name, found in inspect.getmembers(tms.Memory, inspect.isfunction)
    if not name.startswith("_") and name != "close"
)


def _calls(verb: Any, huge: str) -> Iterator[tuple[list[Any], dict[str, Any]]]:
    """Yield arguments with something huge in each place that takes one, the rest plain."""
    needed = [] if verb is None else list(inspect.signature(verb).parameters.values())
    required = [one for one in needed if one.default is one.empty]
    plain = ["Flag:14" for one in required if one.kind is not one.KEYWORD_ONLY]
    for place in range(len(plain)):
        yield [*plain[:place], huge, *plain[place + 1 :]], {}
    for one in needed:
        if one.kind is one.KEYWORD_ONLY or one.default is not one.empty:
            yield plain, {one.name: huge}


@pytest.mark.parametrize("name", VERBS)
def test_whatever_huge_is_refused_is_told_in_few_words(memory: tms.Memory, name: str) -> None:
    told = []
    for huge in HUGE:
        for on in (memory, memory.as_of(recorded=memory.head)):
            for args, named in _calls(getattr(on, name, None), huge):
                try:
                    done = getattr(on, name)(*args, **named)
                    if inspect.isgenerator(done):
                        list(done)
                except (tms.TMSError, TypeError) as error:  # Python's, where an argument lacks
                    told.append(error)
    for error in told:
        assert len(str(error)) <= 2 * LONGEST + 1
        assert len(repr(error)) <= 10 * LONGEST
    assert memory.verify(revisions=None)


@pytest.mark.parametrize("verb", sorted(program.commands))  # type: ignore[attr-defined]
def test_whatever_huge_is_refused_at_the_command_line_is_told_in_few_words(
    tmp_path: Path, verb: str
) -> None:
    path = tmp_path / "memory.db"
    with tms.open(path, clock=Clock()) as memory:
        fill(memory)
    command = program.commands[verb]  # type: ignore[attr-defined]
    for huge in HUGE[:3]:
        options = [one.opts[0] for one in command.params if one.param_type_name == "option"]
        options.remove("--json")  # there the ids are whole, for programs
        for extra in ([], *([option, huge] for option in options)):
            done = CliRunner().invoke(program, ["--db", str(path), verb, huge, *extra])
            assert done.exit_code in (0, 1, 2, 3, 4), (verb, done.exception)
            assert len(done.stderr) < 2 * LONGEST + 200
