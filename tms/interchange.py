"""Interchange: a memory as JSON Lines, one object a line.

::

    {"commit": {"reason": "…", "by": "…"}}          begins a commit (tms import only)
    {"source": "VulnFeed:1", "content": {…}}
    {"fact": "Flag:svc-14", "content": {…}}
    {"justification": "j1", "premises": ["VulnFeed:1"], "derives": ["Flag:svc-14"], "rule": "…"}
    {"axiom": "Policy:1", "rule": "…", "id": "…"}
    {"retract": ["VulnFeed:1"], "reason": "…", "by": "…"}
    {"unretract": ["VulnFeed:1"], "reason": "…", "by": "…"}

The first four also take ``"valid_from"`` and ``"valid_to"``: ISO 8601 with an offset.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from itertools import chain, islice
from typing import Any, NamedTuple

from pydantic import BaseModel, ConfigDict, ValidationError

from tms.clock import Window, given, window
from tms.collecting import uncollected
from tms.content import canonical, check_text, parsed
from tms.draft import Draft
from tms.errors import InvalidContent, TMSError, quoted
from tms.refs import Ref, refs_of
from tms.statement import Statement, check_premises, statement

PROGRESS = 5_000
"""How many rows lie between two calls of a progress callback."""


BLOCK = 200
"""How many rows are looked up together."""


class Step(NamedTuple):
    """A row that was read and waits to be added."""

    mentions: list[Ref]
    said: Statement | None
    add: Callable[[Draft], object]


class _Row(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, defer_build=True)


class _Valid(_Row):
    valid_from: str | datetime | None = None
    valid_to: str | datetime | None = None


class _Source(_Valid):
    source: str
    content: dict[str, Any] | None = None

    def step(self) -> Step:
        window = given(self.valid_from, self.valid_to)
        return _declaration(self.source, "source", self.content, window)


class _Fact(_Valid):
    fact: str
    content: dict[str, Any] | None = None

    def step(self) -> Step:
        window = given(self.valid_from, self.valid_to)
        return _declaration(self.fact, "fact", self.content, window)


class _Justification(_Valid):
    justification: str | None
    premises: str | list[str]
    derives: str | list[str]
    rule: str | None = None

    def step(self) -> Step:
        premises, conclusions = refs_of(self.premises), refs_of(self.derives)
        check_premises(premises, conclusions)
        held = window(self.valid_from, self.valid_to)
        return _justification(statement(conclusions, premises, self.rule, self.justification, held))


class _Axiom(_Valid):
    axiom: str | list[str]
    rule: str | None = None
    id: str | None = None

    def step(self) -> Step:
        held = window(self.valid_from, self.valid_to)
        return _justification(statement(refs_of(self.axiom), [], self.rule, self.id, held))


class _Retract(_Row):
    retract: str | list[str]
    reason: str | None = None
    by: str | None = None

    def step(self) -> Step:
        return _turning(self.retract, self.reason, self.by, on=False)


class _Unretract(_Row):
    unretract: str | list[str]
    reason: str | None = None
    by: str | None = None

    def step(self) -> Step:
        return _turning(self.unretract, self.reason, self.by, on=True)


class _Commit(_Row):
    reason: str | None = None
    by: str | None = None


_Addition = _Source | _Fact | _Justification | _Axiom | _Retract | _Unretract

_ROWS: dict[str, type[_Addition]] = {
    "source": _Source,
    "fact": _Fact,
    "justification": _Justification,
    "axiom": _Axiom,
    "retract": _Retract,
    "unretract": _Unretract,
}


def _declaration(
    text: str, role: str, content: dict[str, Any] | None, window: Window | None
) -> Step:
    ref, kept = Ref(text), canonical(content)
    return Step([ref], None, lambda draft: draft.declare(ref, role, kept, window))


def _justification(said: Statement) -> Step:
    return Step([*said.conclusions, *said.premises], said, lambda draft: draft.justify(said))


def _turning(text: str | list[str], reason: str | None, by: str | None, *, on: bool) -> Step:
    check_text("reason", reason)
    check_text("by", by)
    refs = refs_of(text)

    def turn(draft: Draft) -> None:
        draft.turn(refs, on=on)
        draft.say(reason, by)

    return Step(refs, None, turn)


class Block(NamedTuple):
    """Rows that were read together, up to the first that could not be."""

    steps: list[Step]
    start: int
    failure: Exception | None

    def add_to(self, draft: Draft) -> int:
        """Add the rows to an open commit; return how many were added up to here.

        Raises:
            InvalidContent: a row is no interchange object.
            TMSError: what the verb of a row raises; a note on it tells which row.
        """
        draft.foresee(
            chain.from_iterable(step.mentions for step in self.steps),
            [step.said for step in self.steps if step.said is not None],
        )
        count = self.start
        try:
            with uncollected():
                for step in self.steps:
                    count += 1
                    step.add(draft)
            if self.failure is not None:
                count += 1
                raise self.failure
        except TMSError as error:
            error.row = count
            error.add_note(f"in row {count} of the load")
            raise
        return count


def blocks(rows: Iterable[Mapping[str, Any]]) -> Iterator[Block]:
    """Read rows in blocks, so that what they mention can be looked up together."""
    rest = iter(rows)
    start = 0
    while True:
        steps: list[Step] = []
        failure: Exception | None = None
        try:
            with uncollected():
                for row in islice(rest, BLOCK):
                    steps.append(step(row))
        except Exception as error:  # it stands after the rows before it, which may be wrong too
            failure = error
        if steps or failure is not None:
            yield Block(steps, start, failure)
        if failure is not None or len(steps) < BLOCK:
            return
        start += BLOCK


def additions(rows: Iterable[Any]) -> Iterator[Callable[[Draft], object]]:
    """Return what adds each of some rows to an open commit, read one by one.

    Args:
        rows: interchange objects, or pairs (conclusions, premises).

    Raises:
        InvalidContent: a row is neither, or turns a switch.
    """
    if isinstance(rows, (str, bytes, Mapping)) or not isinstance(rows, Iterable):
        raise InvalidContent(f"not a list of interchange objects: {quoted(rows)}.", hint=_FORMS)
    return map(_addition, rows)


def _addition(row: Any) -> Callable[[Draft], object]:
    if isinstance(row, tuple) and len(row) == 2:
        derives, premises = (list(map(str, refs_of(part))) for part in row)
        row = {"justification": None, "derives": derives, "premises": premises}
    parsed = _parsed(row)
    if isinstance(parsed, _Retract | _Unretract):
        raise InvalidContent(
            f"this adds nothing: {quoted(row)}.", hint="Give it as retract= or unretract=."
        )
    return parsed.step().add


def step(row: Mapping[str, Any]) -> Step:
    """Read one interchange object.

    Raises:
        InvalidContent: it is none.
    """
    return _parsed(row).step()


def _parsed(row: Mapping[str, Any]) -> _Addition:
    if not isinstance(row, Mapping):
        raise InvalidContent(f"not an interchange object: {quoted(row)}.", hint=_FORMS)
    for key, form in _ROWS.items():
        if key in row:
            try:
                return form.model_validate(row)
            except ValidationError as error:
                problem = error.errors(include_url=False)[0]
                where = ".".join(str(part) for part in problem["loc"])
                raise InvalidContent(
                    f"a {key} row that does not fit: {where}: {problem['msg']}.", hint=_FORMS
                ) from None
    if "commit" in row:
        raise InvalidContent(
            "a commit row inside one commit.",
            hint="A load is one commit; tms import takes files of several.",
        )
    raise InvalidContent(f"not an interchange object: {quoted(row)}.", hint=_FORMS)


class Group(NamedTuple):
    """The rows of one commit of a file."""

    reason: str | None
    by: str | None
    rows: Iterator[Mapping[str, Any]]


def commits(rows: Iterable[Mapping[str, Any]]) -> Iterator[Group]:
    """Split rows at their commit rows, streaming: use up a group before asking for the next.

    Raises:
        InvalidContent: a commit row that does not fit.
    """
    rest = iter(rows)
    following: list[_Commit] = [_Commit()]

    def group() -> Iterator[Mapping[str, Any]]:
        for row in rest:
            if isinstance(row, Mapping) and "commit" in row:
                following.append(_commit(row))
                return
            yield row

    while following:
        said = following.pop()
        yield Group(said.reason, said.by, group())


def _commit(row: Mapping[str, Any]) -> _Commit:
    if set(row) != {"commit"} or not isinstance(row["commit"], Mapping):
        raise InvalidContent(
            f"a commit row has one key and an object in it: {quoted(row)}.",
            hint='For instance {"commit": {"reason": "nightly feed"}}.',
        )
    try:
        return _Commit.model_validate(row["commit"])
    except ValidationError as error:
        problem = error.errors(include_url=False)[0]
        raise InvalidContent(
            f"a commit row that does not fit: {problem['msg']}.", hint=_FORMS
        ) from None


def objects(lines: Iterable[str | bytes]) -> Iterator[Mapping[str, Any]]:
    """Read JSON Lines; blank lines do not count.

    Raises:
        InvalidContent: a line that is no JSON object, with its number.
    """
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            row = parsed(line.decode("utf-8-sig") if isinstance(line, bytes) else line)
        except json.JSONDecodeError as error:
            raise InvalidContent(
                f"line {number} is no JSON: {error.msg} at character {error.pos + 1}.", hint=_FORMS
            ) from None
        except ValueError as error:
            raise InvalidContent(f"line {number} cannot be read: {error}.", hint=_FORMS) from None
        if not isinstance(row, dict):
            raise InvalidContent(f"line {number} is no JSON object: {quoted(row)}.", hint=_FORMS)
        yield row


_FORMS = (
    "Rows begin with source, fact, justification, axiom, retract, unretract or commit, "
    'for instance {"source": "Feed:1"}.'
)
