"""What the rows of a bundle say. See docs/bundle.md."""

from itertools import chain
from types import TracebackType
from typing import Any, NamedTuple

from pydantic import BaseModel, ConfigDict, ValidationError

from tms import interchange
from tms.clock import Window, given, instant, window
from tms.content import canonical, check_text, parsed
from tms.draft import Draft
from tms.errors import InvalidContent, TMSError
from tms.refs import Ref, refs_of
from tms.statement import Statement

AGAIN = "Export it again, and copy all of it."


class Commit(NamedTuple):
    """That a commit begins: its time in microseconds, and what was said of it."""

    number: int
    at: int
    op: str
    reason: str | None
    by: str | None


class Declared(NamedTuple):
    """A node, with what it was declared with."""

    number: int
    ref: Ref
    role: str
    content: str | None
    redacted: bool
    window: Window | None


class Justified(NamedTuple):
    """A justification, and which of its premises are shared, whatever its own scope has."""

    number: int
    said: Statement
    shared: frozenset[Ref]


class Revised(NamedTuple):
    """A later content version, another window, or both."""

    number: int
    ref: Ref
    version: int | None
    content: str | None
    redacted: bool
    window: Window | None


class Redacted(NamedTuple):
    """That all contents so far were removed."""

    number: int
    ref: Ref


class Turned(NamedTuple):
    """Switches that were turned."""

    number: int
    refs: list[Ref]
    on: bool


Row = Declared | Justified | Revised | Redacted | Turned


def foresee(draft: Draft, rows: list[Row]) -> None:
    """Look up all at once what adding some rows will ask for one by one."""
    justified = [row.said for row in rows if isinstance(row, Justified)]
    mentioned = [
        [*row.said.conclusions, *row.said.premises]
        if isinstance(row, Justified)
        else row.refs
        if isinstance(row, Turned)
        else [row.ref]
        for row in rows
    ]
    draft.foresee(chain.from_iterable(mentioned), justified)


class located:
    """A context that says in an error which line of the bundle it is about."""

    __slots__ = ("_number",)

    def __init__(self, number: int) -> None:
        self._number = number

    def __enter__(self) -> None:
        return None

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        if isinstance(error, TMSError):
            error.message = f"line {self._number} of the bundle: {error.message}"


class _Form(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, defer_build=True)


class _Commit(_Form):
    at: str
    op: str
    reason: str | None = None
    by: str | None = None


class _Node(_Form):
    ref: str
    content: dict[str, Any] | None = None
    redacted: bool = False
    version: int | None = None
    valid_from: str | None = None
    valid_to: str | None = None


class _Turned(_Form):
    refs: list[str]


class _Shared(_Turned):
    """The premises of a justification that are shared."""


def read(number: int, text: str) -> Commit | Row:
    """Read a line of a bundle between its first and its last.

    Raises:
        InvalidContent: it is none.
        TMSError: a part of it cannot be what it should be.
    """
    try:
        row = parsed(text)
        (name,) = _NAMES & row.keys()
        return _row(number, name, row)
    except ValidationError as error:
        problem = error.errors(include_url=False)[0]
        raise InvalidContent(f"it does not fit: {problem['msg']}.", hint=AGAIN) from None
    except TMSError:
        raise
    except (ValueError, AttributeError, TypeError):
        raise InvalidContent(f"it is no row of a bundle: {text:.80}.", hint=AGAIN) from None


def _row(number: int, name: str, row: dict[str, Any]) -> Commit | Row:
    match name:
        case "justification" | "axiom":
            shared = _Shared.model_validate({"refs": row.pop("shared", [])})
            said = interchange.step(row).said
            assert said is not None  # both of them say something
            named = frozenset(refs_of(shared.refs))
            if not named.issubset(said.premises):
                raise ValueError("shared")
            return Justified(number, said, named)
        case "commit":
            commit = _Commit.model_validate(row.pop(name))
            _Form.model_validate(row)
            for text in (commit.op, commit.reason, commit.by):
                check_text("what is said of a commit", text)
            return Commit(number, instant(commit.at), commit.op, commit.reason, commit.by)
        case "retract" | "unretract":
            turned = _Turned.model_validate(_renamed(row, name, "refs"))
            return Turned(number, refs_of(turned.refs), name == "unretract")
    node = _Node.model_validate(_renamed(row, name, "ref"))
    ref, content = Ref(node.ref), canonical(node.content)
    if name == "redact":
        return Redacted(number, ref)
    if name == "revise":
        windowed = not {"valid_from", "valid_to"}.isdisjoint(row)
        held = window(node.valid_from, node.valid_to) if windowed else None
        return Revised(number, ref, node.version, content, node.redacted, held)
    held = given(node.valid_from, node.valid_to)
    return Declared(number, ref, name, content, node.redacted, held)


def _renamed(row: dict[str, Any], name: str, field: str) -> dict[str, Any]:
    if field in row:
        raise ValueError(field)  # no key of a row
    return {field if key == name else key: value for key, value in row.items()}


_NAMES = {
    *("commit", "source", "fact", "justification", "axiom"),
    *("revise", "redact", "retract", "unretract"),
}
