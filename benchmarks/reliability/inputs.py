"""Rubbish of every kind, as strategies of Hypothesis, and what it is given to."""

import base64
import gzip
import hashlib
import json
from collections.abc import Callable
from datetime import UTC, timedelta, timezone
from functools import cache
from typing import Any, NamedTuple

import click
from hypothesis import strategies as st

import tms
from tms.cli import main as program
from tms.interchange import commits, objects

ANCHOR = "r1:{:016}:2026-07-21T12:00:00.000Z"
NAMES = ("Feed:1", "Scan:1", "Flag:1", "Flag:2", "justification:by-feed", "New:1", "Policy:1")

# ---------------------------------------------------------------- values

# fmt: off
_SHARP = (
    "", " ", ":", "::", "a:", ":a", "Feed:", "justification:", "justification:x", "%", "_", "'",
    '"', "';--", "'); DROP TABLE node;--", "\0", "Feed:\0", "\ud800", "Feed:\udfff", "\ufeff",
    "\r\n", "\u2028", "\x1b[31m", "\u202e", "é", "e\u0301", "\U0001f719", "-", "--", "-1", "0",
    "9" * 5_000, "x" * 10_000, "NaN", "null", "1e999", "None", "{}", "[]", "{", "\\", "a\\u0000",
)
_NUMBERS = (
    0, -1, 1, 2**31, 2**53, 2**63 - 1, 2**63, -(2**63) - 1, 10**400, 1.5, 1e308, -0.0,
    float("nan"), float("inf"), float("-inf"), True, False,
)
_INSTANTS = (
    "2026-07-21T12:00:00Z", "2026-07-21", "2026-07-21T24:00:00Z", "0001-01-01T00:00:00+14:00",
    "9999-12-31T23:59:59.999999-14:00", "2026-13-01T00:00:00Z", "20260721T120000Z", "now",
)
_PARTS = (
    b"NaN", b"Infinity", b"-Infinity", b"1e999", b"9" * 5_000, b"-0", b"\xff", b"\xc3\x28", b"\0",
    b"\\ud800", b"\\u0000", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\r", b"\n", b"\r\n", b"'", b"/*",
    b'"source": "Feed:1", ', b'"content": {"a": 1, "a": 2}, ', b"[" * 5_000, b'{"a":' * 300, b"}",
    b"{", b'"', b"\\", b",", b":", b"null", b"\x1f\x8b", b" " * 2_000, b"\xe2\x80\xa8",
)
# fmt: on
TEXT = st.sampled_from(_SHARP) | st.text(max_size=12) | st.sampled_from(NAMES)
REF = st.sampled_from(NAMES) | TEXT | st.builds("{}:{}".format, TEXT, TEXT)
HUGE = st.just(10).map(lambda ten: ten**5_000)
"""Of so many digits that Python does not show it."""

NUMBER = st.sampled_from(_NUMBERS) | HUGE
SCALAR = st.none() | NUMBER | TEXT | TEXT | st.binary(max_size=4)
JSON = st.recursive(
    SCALAR,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=10,
)


ANY = JSON | st.dictionaries(SCALAR, JSON, max_size=3)


@st.composite
def deep(draw: st.DrawFn) -> Any:
    """Return something nested so deep that recursion would show."""
    value = draw(SCALAR)
    wrap = draw(st.sampled_from((lambda v: [v], lambda v: {"a": v})))
    for _ in range(draw(st.sampled_from((2, 98, 99, 100, 101, 500, 5_000)))):
        value = wrap(value)
    return value


CONTENT = st.dictionaries(TEXT, JSON | deep(), max_size=3) | ANY | deep()
INSTANT = st.one_of(
    st.none(),
    TEXT,
    NUMBER,
    st.datetimes(),
    st.datetimes(timezones=st.sampled_from([UTC, timezone(timedelta(hours=-14))])),
    st.sampled_from(_INSTANTS),
)
GOOD = st.sampled_from(NAMES)
OBJECT = st.one_of(
    GOOD, GOOD, GOOD, GOOD, REF, ANY, st.lists(REF | SCALAR, max_size=3), st.sets(REF, max_size=3)
)
WHOLE = st.integers(-2, 12)
ANCHORS = st.one_of(
    st.builds(ANCHOR.format, st.integers(1, 3)),
    st.builds(ANCHOR.format, st.integers(1, 3)),
    st.builds(ANCHOR.format, WHOLE),
    st.builds(lambda text, place, more: text[:place] + more + text[place:],
              st.builds(ANCHOR.format, WHOLE), st.integers(0, 40), TEXT),
    st.builds(ANCHOR.replace, st.sampled_from(("{:016}", "Z", "r1", "000")), TEXT),
    TEXT,
    ANY,
)  # fmt: skip


# ---------------------------------------------------------------- what is given to what

Given = tuple[Any, ...]


class Area(NamedTuple):
    """What is fuzzed.

    Attributes:
        inputs: strategies for what is given, in order.
        give: gives it to a memory.
    """

    inputs: tuple[st.SearchStrategy[Any], ...]
    give: Callable[..., object]


def _walked(found: object) -> object:
    return list(found) if hasattr(found, "__next__") else str(found)


def _ask(memory: tms.Memory, verb: str, ref: Any) -> object:
    return _walked(getattr(memory, verb)(ref))


def _at(memory: tms.Memory, what: int, anchor: Any, other: Any) -> object:
    asked: list[Callable[[], object]] = [
        lambda: memory.report(anchor),
        lambda: list(memory.as_of(recorded=anchor).holding()),
        lambda: memory.diff(anchor, other),
        lambda: list(memory.log(after=anchor)),
        lambda: list(memory.changes(since=anchor)),
        lambda: memory.report_page(anchor),
        lambda: memory.log_page(since=anchor),
        lambda: memory.prune(before=anchor),
        lambda: memory.subscribe("mail").acknowledge(anchor),
    ]
    return _walked(asked[what]())


def _page(memory: tms.Memory, what: int, change: Callable[[str], Any], limit: Any) -> object:
    asks: list[Callable[..., Any]] = [
        memory.scan,
        lambda **more: memory.scan("Flag", **more),
        memory.log_page,
        lambda **more: memory.history_page("Feed:1", **more),
        lambda **more: memory.report_page(ANCHOR.format(1), **more),
    ]
    first = asks[(what * 7) % len(asks)](limit=1)
    return _walked(asks[what](after=change(first.next_cursor or ""), limit=limit))


def _edited(place: int, text: str, cut: int) -> Callable[[str], str]:
    return lambda cursor: cursor[:place] + text + cursor[place + cut :]


def _sealed(said: Any, nested: int) -> Callable[[str], str]:
    """Make up a cursor under a good seal: that is no secret."""
    body = b"[" * nested + json.dumps(said).encode()
    seal = hashlib.blake2b(body, digest_size=8, person=b"tms page").digest()
    forged = base64.urlsafe_b64encode(seal + body).decode()
    return lambda _: forged


def _revised(memory: tms.Memory, ref: Any, start: Any, end: Any) -> object:
    return memory.revise(ref, valid_from=start, valid_to=end)


def _bundle(memory: tms.Memory, place: int, put: bytes, cut: int, how: int) -> object:
    """Give it a bundle of its own, or of another memory, with an edit, under a good sum or not."""
    with tms.open(":memory:") as other:
        other.source("Feed:1", content={"a": [1, None]})
        other.justify(["Flag:1", "Flag:9"], ["Feed:1"], rule="map")
        other.revise("Feed:1", content={"b": "x"}, valid_to="2030-01-01T00:00:00Z")
        other.retract("Feed:1", reason="w", by="b")
        text = "".join((memory if how & 1 else other).export()).encode()
    body, _, end = text[:-1].rpartition(b"\n")
    place %= len(body)
    body = body[:place] + put + body[place + cut :] + b"\n"
    if how & 2:
        said = {"commits": body.count(b'\n{"commit"'), "sha256": hashlib.sha256(body).hexdigest()}
        end = json.dumps(said, sort_keys=True, separators=(",", ":")).encode()
    return memory.import_((body + end + b"\n").splitlines(keepends=True))


def _lines(memory: tms.Memory, given: bytes) -> object:
    for group in commits(objects(given.split(b"\n"))):
        memory.load(group.rows, reason=group.reason, by=group.by)
    return None


ROW = st.one_of(
    st.fixed_dictionaries({"source": OBJECT}, optional={"content": CONTENT, "valid_to": INSTANT}),
    st.fixed_dictionaries({"fact": OBJECT}, optional={"content": CONTENT, "extra": ANY}),
    st.fixed_dictionaries(
        {"justification": OBJECT, "premises": OBJECT, "derives": OBJECT},
        optional={"rule": SCALAR, "valid_from": INSTANT},
    ),
    st.fixed_dictionaries({"axiom": OBJECT}, optional={"id": SCALAR, "rule": SCALAR}),
    st.fixed_dictionaries({"retract": OBJECT}, optional={"reason": SCALAR, "by": SCALAR}),
    st.fixed_dictionaries({"unretract": OBJECT}, optional={"reason": SCALAR}),
    st.fixed_dictionaries({"commit": ANY | st.fixed_dictionaries({}, optional={"by": SCALAR})}),
    st.dictionaries(TEXT, ANY, max_size=3),
    ANY,
)

_LINES = (
    b'{"source": "Feed:2", "content": {"a": 1, "b": [true, null, "x"]}}',
    b'{"fact": "Flag:3"}',
    b'{"justification": "j3", "premises": ["Feed:1"], "derives": ["Flag:3"], "rule": "r"}',
    b'{"axiom": "Policy:2", "valid_from": "2026-01-01T00:00:00Z"}',
    b'{"retract": ["Feed:1"], "reason": "w", "by": "b"}',
    b'{"unretract": ["Feed:1"]}',
    b'{"commit": {"reason": "next", "by": "b"}}',
)


@st.composite
def mutated(draw: st.DrawFn) -> bytes:
    """Return lines of an import, some of them damaged."""
    lines = []
    for line in draw(st.lists(st.sampled_from(_LINES) | st.binary(max_size=20), max_size=6)):
        for _ in range(draw(st.sampled_from((0, 0, 0, 0, 1, 2)))):
            place, cut = draw(st.integers(0, len(line))), draw(st.sampled_from((0, 0, 1, 5, 30)))
            line = line[:place] + draw(st.sampled_from(_PARTS)) + line[place + cut :]
        lines.append(line)
    return b"\n".join(lines)


@st.composite
def packed(draw: st.DrawFn) -> bytes:
    """Return what an import can be given: lines, plain or gzip, whole or cut."""
    given = draw(mutated())
    how = draw(st.integers(0, 5))
    if how < 3:
        return given
    given = gzip.compress(given)
    return (
        given
        if how < 5
        else given[: draw(st.integers(0, len(given)))] + draw(st.binary(max_size=3))
    )


_PLAIN_JSON = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9)
_PLACES = st.lists(st.integers(-2, 5) | _PLAIN_JSON, max_size=6)
_SAID = st.one_of(
    st.lists(_PLAIN_JSON | _PLACES, max_size=8),
    st.tuples(
        st.sampled_from(("scan", "log", "history", "report")),
        st.sampled_from((None, "Flag", "Feed:1", ANCHOR.format(1))),
        st.booleans(),
        st.sampled_from(("", "", "alice")),
        st.builds(ANCHOR.format, st.integers(1, 4)) | _PLAIN_JSON,
        st.none() | st.integers() | _PLAIN_JSON,
        _PLACES,
    ),
)
"""What a cursor says, or could."""

_VERBS = ["believes", "status", "get", "why", "why_not", "impact", "history", "periods", "origins"]
_VERBS += ["environments", "cuts", "neighbourhood", "believed_during", "holding"]

AREAS: dict[str, Area] = {
    "refs": Area((st.sampled_from([*_VERBS, "source", "fact", "axiom", "retract"]), OBJECT), _ask),
    "justifications": Area(
        (OBJECT, OBJECT, SCALAR, SCALAR),
        lambda memory, a, b, rule, id: memory.justify(a, b, rule=rule, id=id),
    ),
    "anchors": Area((st.integers(0, 8), ANCHORS, ANCHORS), _at),
    "cursors": Area(
        (
            st.integers(0, 4),
            st.builds(_edited, st.integers(0, 90), TEXT, st.integers(0, 3))
            | st.builds(lambda value: lambda _: value, ANY)
            | st.builds(_sealed, _SAID, st.sampled_from((0, 0, 0, 0, 1, 100_000))),
            st.just(2) | NUMBER | WHOLE,
        ),
        _page,
    ),
    "contents": Area(
        (st.booleans(), CONTENT),
        lambda memory, new, content: (
            memory.source("New:1", content) if new else memory.revise("Feed:1", content)
        ),
    ),
    "reasons": Area(
        (SCALAR, SCALAR),
        lambda memory, reason, by: memory.retract("Feed:1", reason=reason, by=by),
    ),
    "windows": Area((st.sampled_from(NAMES), INSTANT, INSTANT), _revised),
    "instants": Area(
        (INSTANT, INSTANT),
        lambda memory, a, b: (list(memory.as_of(valid=a).holding()), memory.anchor_at(b)),
    ),
    "suppositions": Area(
        (OBJECT, OBJECT, st.lists(ROW, max_size=2) | ANY),
        lambda memory, off, on, rows: memory.what_if(retract=off, unretract=on, justify=rows),
    ),
    "rows": Area((st.lists(ROW, max_size=4) | ANY,), lambda memory, rows: memory.load(rows)),
    "lines": Area((mutated(),), _lines),
    "bundles": Area(
        (
            st.integers(0, 3_000),
            st.just(b"") | st.sampled_from(_PARTS) | st.binary(max_size=3),
            st.sampled_from((0, 0, 0, 1, 5, 30, 200)),
            st.integers(0, 3),
        ),
        _bundle,
    ),
}
"""What is given to a memory in this process."""


# ---------------------------------------------------------------- the command line

_PLAIN = TEXT.map(lambda text: text.replace("/", "|"))
"""Nothing that could be a path to somewhere else."""

_WORD = st.one_of(
    _PLAIN,
    st.sampled_from(NAMES),
    st.builds(ANCHOR.format, WHOLE),
    st.sampled_from(
        ("2026-07-21T12:00:00Z", "open", '{"a": 1}', '{"a": NaN}', "text", "html", "5")
    ),
    st.sampled_from(("rows.jsonl", "memory.db", "new.db", "-", "--", "--json", "-h")),
)


@cache
def _command(name: str) -> click.Command:
    return program.commands[name]  # type: ignore[attr-defined, no-any-return]


@st.composite
def arguments(draw: st.DrawFn) -> list[str]:
    """Return a command line: a verb as it is known to click, with what fits its places or not."""
    name = draw(st.sampled_from(sorted(program.commands)))  # type: ignore[attr-defined]
    line = [name]
    for param in _command(name).params:
        if isinstance(param, click.Argument):
            fits = draw(st.integers(0, 9)) > 0
            line += [draw(_WORD)] if fits else draw(st.lists(_WORD, max_size=3))
        elif draw(st.integers(0, 3)) == 0:
            line.append(draw(st.sampled_from(param.opts)))
            if not getattr(param, "is_flag", False):
                choices = getattr(param.type, "choices", None)
                line.append(draw(st.sampled_from(list(choices)) if choices else _WORD))
    if draw(st.integers(0, 19)) == 0:
        line.insert(draw(st.integers(0, len(line))), draw(_WORD))
    return line
