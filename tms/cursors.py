"""Cursors: where an answer that comes in pages goes on, bound to what was asked and of whom.

A cursor is text that says so itself, under a seal: no page is kept anywhere, and one that was cut,
edited or made up is refused. The seal guards against mishaps; it is no secret. Where the page ended
is hidden by the digest of the commit, which is.
"""

import base64
import hashlib
import json
from typing import Any, NamedTuple

from tms.content import parsed
from tms.errors import InvalidArgument, InvalidCursor, quoted
from tms.refs import Anchor

LARGEST_PAGE = 1000
AGAIN = "Start again without a cursor."

Place = tuple[Any, ...]
"""Where a page ended, in the order of its question: numbers and texts."""

_LARGEST = 2**63


class Question(NamedTuple):
    """What is answered in pages.

    Attributes:
        what: ``scan``, ``log``, ``history`` or ``report``.
        of: the kind, ref or anchor that it was asked with, if any.
        viewed: whether a view was asked.
        scope: as which scope.
        shape: of which types a place in its answer is.
    """

    what: str
    of: str | None
    viewed: bool
    scope: str
    shape: tuple[type, ...]

    def __str__(self) -> str:
        if self.of is None:
            return f"a {self.what} of all"
        return f"a {self.what} of {'kind ' * (self.what == 'scan')}{str(self.of)!r}"


class Walk(NamedTuple):
    """How far the pages of an answer have come.

    Attributes:
        revision: the commit at which they began; all of them show it.
        instant: the instant that they show, in microseconds; None for that of the commit.
        last: where the page before ended; None on the first.
    """

    revision: int
    instant: int | None
    last: Place | None


def check_limit(limit: object) -> None:
    """Check how many items a page may have.

    Raises:
        InvalidArgument: the limit is out of range.
    """
    whole = isinstance(limit, int) and not isinstance(limit, bool)
    if not whole or not 1 <= limit <= LARGEST_PAGE:  # type: ignore[operator] # it is an int
        raise InvalidArgument(f"limit is {quoted(limit)}.", hint=f"Give 1 to {LARGEST_PAGE}.")


def write(
    question: Question, anchor: Anchor | None, instant: int | None, last: Place, secret: bytes
) -> str:
    """Return the cursor that goes on after a place.

    The place is hidden, as the keys in it count what others wrote, too.

    Args:
        question: what is answered.
        anchor: the commit that the pages show.
        instant: the instant that they show.
        last: the place.
        secret: what hides it.
    """
    hidden = _hidden(json.dumps(last, ensure_ascii=False).encode(), secret).hex()
    said = [*question[:4], anchor, instant, hidden]
    body = json.dumps(said, ensure_ascii=False).encode()
    return base64.urlsafe_b64encode(_seal(body) + body).decode()


def read(cursor: object, question: Question) -> tuple[Anchor, int | None, str]:
    """Return the commit, the instant and the hidden place that a cursor names.

    Raises:
        InvalidCursor: it is none, or of another question.
    """
    try:
        raw = base64.b64decode(cursor.encode("ascii"), altchars=b"-_", validate=True)  # type: ignore[attr-defined]
        if raw[:8] != _seal(raw[8:]):
            raise ValueError
        what, of, viewed, scope, anchor, instant, hidden = parsed(raw[8:].decode())
        asked = Question(what, of, viewed, scope, question.shape)
        whole = instant is None or _fits(instant, int)
        if asked.what == question.what and not (whole and _fits(hidden, str)):
            raise ValueError
        anchor = Anchor(anchor)
    except (ValueError, TypeError, AttributeError):
        raise _none(cursor) from None
    if asked.scope != question.scope:
        raise InvalidCursor("the cursor is of another scope.", hint=AGAIN)
    if asked[:2] != question[:2]:
        raise InvalidCursor(f"the cursor is of {asked}, not of {question}.", hint=AGAIN)
    if asked.viewed != question.viewed:
        raise InvalidCursor(
            f"the cursor is of {asked} of {'a view' if asked.viewed else 'the memory'}.", hint=AGAIN
        )
    return anchor, instant, hidden


def place(hidden: str, question: Question, secret: bytes) -> Place:
    """Return a place that was hidden.

    Raises:
        InvalidCursor: it was not, or not with this secret.
    """
    try:
        raw = bytes.fromhex(hidden)
        text = _mixed(raw[:_MARK], raw[_MARK:], secret)
        if _hidden(text, secret) != raw:
            raise ValueError
        last = parsed(text.decode())
        if len(last) != len(question.shape) or not all(map(_fits, last, question.shape)):
            raise ValueError
    except (ValueError, TypeError):
        raise _none(hidden) from None
    return tuple(last)


def _none(cursor: object) -> InvalidCursor:
    return InvalidCursor(f"not a cursor: {quoted(cursor)}.", hint=AGAIN)


def _hidden(text: bytes, secret: bytes) -> bytes:
    """Hide a text: its mark, and then the text mixed with what follows from mark and secret."""
    mark = hashlib.blake2b(text, key=secret, digest_size=_MARK).digest()
    return mark + _mixed(mark, text, secret)


def _mixed(mark: bytes, text: bytes, secret: bytes) -> bytes:
    stream = hashlib.shake_256(secret + mark).digest(len(text))
    mixed = int.from_bytes(text) ^ int.from_bytes(stream)
    return mixed.to_bytes(len(text))


_MARK = 8


def _fits(value: object, kind: type) -> bool:
    return type(value) is kind and (kind is str or -_LARGEST <= value < _LARGEST)  # type: ignore[operator]


def _seal(body: bytes) -> bytes:
    return hashlib.blake2b(body, digest_size=8, person=b"tms page").digest()
