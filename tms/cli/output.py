"""How results are told: as JSON, drawn on a terminal, or as plain text."""

import errno
import io
import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Any, TypeVar

from rich.console import Console, RenderableType

from tms import render
from tms.models import Model

Item = TypeVar("Item")

FORMS: dict[str, Callable[[object], str]] = {
    "text": render.text,
    "mermaid": render.mermaid,
    "dot": render.dot,
    "html": render.html,
}
"""How a picture of an answer is written."""

_CHUNK = 1000


def tell(result: object, *, as_json: bool) -> None:
    """Tell one result: one JSON document, or its drawing, or its text."""
    if as_json:
        _write([_json(result)], encoding="utf-8")
    elif _on_terminal():
        _draw(render.drawn(result))
    else:
        _write([render.plain(result)])


def tell_as(answer: object, form: str | None) -> None:
    """Tell one answer in a form that was asked for; without one as ``tell`` does."""
    if form is None or form == "json":
        tell(answer, as_json=form == "json")
    else:
        _write([FORMS[form](answer)], encoding=None if form == "text" else "utf-8")


def tell_each(
    results: Iterable[Item],
    drawn: Callable[[Sequence[Item]], RenderableType],
    *,
    as_json: bool,
) -> None:
    """Tell a stream: a JSON document a line, or a text for each, or drawn a part at a time."""
    if as_json:
        for part in _parts(results):
            _write(map(_json, part), encoding="utf-8")
    elif _on_terminal():
        parts = _parts(results)
        for part in chain([next(parts, [])], parts):
            _draw(drawn(part))
    else:
        for part in _parts(results):
            _write(map(render.plain, part))


def tell_lines(lines: Iterable[str]) -> None:
    """Tell lines of JSON as they are, each with its end."""
    for part in _parts(lines):
        _write((line.removesuffix("\n") for line in part), encoding="utf-8")


def _parts(results: Iterable[Item]) -> Iterator[list[Item]]:
    rest = iter(results)
    while part := list(islice(rest, _CHUNK)):
        yield part


def _on_terminal() -> bool:
    return sys.stdout is not None and sys.stdout.isatty()


def _json(result: Any) -> str:
    return result.to_json() if isinstance(result, Model) else json.dumps(result, ensure_ascii=False)


def _write(lines: Iterable[str], *, encoding: str | None = None) -> None:
    """Write lines; what the encoding of stdout lacks is written as an escape.

    JSON is always UTF-8: an escape of ours would be an error in it.
    """
    if sys.stdout is None:
        raise OSError(errno.EBADF, os.strerror(errno.EBADF))
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding=encoding, errors="backslashreplace")
    sys.stdout.write("".join(f"{line}\n" for line in lines))
    sys.stdout.flush()


def _draw(drawing: RenderableType) -> None:
    Console(markup=False, highlight=False, emoji=False).print(drawing, crop=False)
