"""What a node says: a JSON object in one canonical form; and the short texts around it."""

import json
from collections.abc import Collection, Mapping
from typing import Any

from tms import limits
from tms.errors import CorruptStore, InvalidContent, TMSError, clause, quoted

DEEPEST = 100
"""How many levels of objects and lists content may have. JSON readers, the one behind the models
among them, stop at some depth of their own; what is kept must stay readable."""


def canonical(content: Mapping[str, Any] | None) -> str | None:
    """Write content as JSON in the one form that is kept and compared: sorted keys, no spaces.

    Raises:
        InvalidContent: it is no JSON object: another type, a key that is no text, a value that
            JSON does not have (NaN, infinity, bytes, a date), a lone surrogate, a ring, more than
            ``DEEPEST`` levels, or more than ``limits.CONTENT`` bytes.
    """
    if content is None:
        return None
    if not isinstance(content, Mapping):
        raise InvalidContent(
            f"content is a {type(content).__name__}, not a JSON object.",
            hint='Wrap it, for instance {"text": ...}.',
        )
    try:
        text = json.dumps(
            dict(content),
            ensure_ascii=False,
            allow_nan=False,
            sort_keys=True,
            separators=(",", ":"),
        )
        size = len(text.encode())
        _check_within(content)
    except RecursionError:
        raise _too_deep() from None
    except (TypeError, ValueError) as error:
        raise InvalidContent(
            f"content that JSON cannot keep: {clause(error)}.",
            hint="Use text keys and text, numbers, true, false, null, lists and objects.",
        ) from None
    if size > limits.CONTENT:
        raise InvalidContent(
            f"content of {size:,} bytes; it may have {limits.said(limits.CONTENT)}.",
            hint="Keep large things in files, and their paths and hashes as content.",
        )
    return text


def _check_within(content: Mapping[str, Any]) -> None:
    inside: list[tuple[int, Any]] = [(1, content)]
    while inside:
        depth, value = inside.pop()
        if not isinstance(value, (Mapping, list, tuple)):
            continue
        if depth > DEEPEST:
            raise _too_deep()
        if isinstance(value, Mapping):
            for key in value:
                if not isinstance(key, str):
                    raise TypeError(f"the key {quoted(key)} is no text")
            value = value.values()
        inside.extend((depth + 1, part) for part in value)


def _too_deep() -> InvalidContent:
    return InvalidContent(
        f"content nested deeper than {DEEPEST} levels.",
        hint="Flatten it, or keep it as one text inside an object.",
    )


def kept(text: str | None, ref: str) -> dict[str, Any] | None:
    """Read the content of a node from the file.

    Args:
        text: what the file has; None if there is nothing.
        ref: of which node it is.

    Raises:
        CorruptStore: another hand wrote there what ``canonical`` never gives.

    Cost: grows with the text, which is read once.
    """
    if text is None:
        return None
    content = readable(text)
    if content is None:
        raise CorruptStore(
            f"the content of {ref} is damaged: it is no JSON that could have been kept.",
            hint="Run tms verify.",
            ids=(ref,),
        )
    return content


def readable(text: str) -> dict[str, Any] | None:
    """Return the object that a text of the file is; None if ``canonical`` never gives such text."""
    try:
        content = _DECODER.decode(text)
        sound = isinstance(content, dict) and (not _odd(text) or canonical(content) == text)
    except (ValueError, RecursionError):
        return None
    return content if sound else None


def _odd(text: str) -> bool:
    """Tell whether JSON may be nested too deeply, or spell out what is no text."""
    return text.count("[") + text.count("{") > DEEPEST or "\\ud" in text or "\\uD" in text


def _no_number(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


_DECODER = json.JSONDecoder(parse_constant=_no_number)


def parsed(text: str) -> Any:
    """Read JSON; no object in it may give a key twice, since one of the values would be lost.

    Raises:
        ValueError: it is no JSON, nested too deeply, or gives a key twice.
    """
    try:
        return json.loads(text, object_pairs_hook=_each_once)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    read = dict(pairs)
    if len(read) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"the key {twice!r} is given twice")
    return read


_CONTROLS = (*range(0x20), *range(0x7F, 0xA0))
_SEPARATORS = (0x2028, 0x2029)
_DIRECTIONS = (0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
_ESCAPES = {code: ascii(chr(code))[1:-1] for code in (*_CONTROLS, *_SEPARATORS, *_DIRECTIONS)}


def line(value: object) -> str:
    """Return one line of text, with control characters shown as escapes.

    Names and texts come from outside: an id can neither move the cursor nor pass for another line.
    """
    return str(value).translate(_ESCAPES)


def check_text(
    name: str, text: object, error: type[TMSError] = InvalidContent, *, empty: bool = True
) -> None:
    """Check that an optional text can be kept.

    Raises:
        ``error``: it is neither None nor text, holds a lone surrogate, is longer than
            ``limits.TEXT`` bytes, or is empty and may not be.
    """
    if text is None:
        return
    if not isinstance(text, str):
        raise error(
            f"{name} is {quoted(text)}, not text.", hint=f"Give {name} as text or not at all."
        )
    if not (text or empty):
        raise error(f"{name} is empty.", hint=f"Give {name} some text.")
    try:
        size = len(text.encode())
    except UnicodeEncodeError as surrogate:
        raise error(
            f"a lone surrogate at position {surrogate.start} of {name} {text!r}.",
            hint="It is no Unicode text; decode the bytes it came from with their own encoding.",
        ) from None
    if size > limits.TEXT:
        raise error(
            f"{name} has {size:,} bytes; it may have {limits.said(limits.TEXT)}.",
            hint=f"Give {name} a shorter text, and keep the rest as content.",
        )


def together(name: str, given: str | None, parts: Collection[str], between: str) -> str | None:
    """Return the text of a whole: the one it was given, or else those of its parts.

    Raises:
        InvalidContent: those are too long together.
    """
    if given is not None or not parts:
        return given
    joined = between.join(parts)
    check_text(name, joined)
    return joined
