"""Instants and windows: where the time comes from, how it is written, and what holds when."""

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from enum import Enum
from typing import Final, NamedTuple

from tms.errors import InvalidArgument, InvalidWindow, quoted

Clock = Callable[[], datetime]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)

FIRST, LAST = -62_135_596_800_000, 253_402_300_799_999
"""The instants that can be written, in milliseconds since 1970: the years 1 to 9999."""

MILLI = 1_000
"""How many microseconds are in a millisecond. Commits are told in these, windows in those."""


def system_clock() -> datetime:
    """Return the machine's time, in UTC."""
    return datetime.now(UTC)


def checked(clock: Clock | None) -> Clock:
    """Return the clock, or the machine's if there is none.

    Raises:
        InvalidArgument: it cannot be called.
    """
    if clock is not None and not callable(clock):
        raise InvalidArgument(
            f"the clock is {quoted(clock)}.", hint="Give a callable that returns an aware datetime."
        )
    return clock or system_clock


class Window(NamedTuple):
    """When something holds in the world: from ``start`` on, and no longer at ``end``.

    Both are microseconds since 1970 in UTC; None is open.
    """

    start: int | None
    end: int | None

    def holds(self, instant: int) -> bool:
        """Return whether an instant, in microseconds, is inside."""
        return (self.start is None or self.start <= instant) and (
            self.end is None or instant < self.end
        )

    @property
    def words(self) -> str:
        """The window in words."""
        start, end = (None if bound is None else moment(bound) for bound in self)
        return period(start, end) or "always"

    @property
    def bounds(self) -> tuple[int, ...]:
        """The bounds that it has."""
        return tuple(bound for bound in self if bound is not None)


ALWAYS = Window(None, None)


def window(valid_from: object, valid_to: object) -> Window:
    """Return the window between two instants.

    Args:
        valid_from: see ``instant``; None is open.
        valid_to: likewise.

    Raises:
        InvalidWindow: one is no instant, or nothing lies between them.
    """
    return _ordered(
        *(None if bound is None else instant(bound) for bound in (valid_from, valid_to))
    )


def _ordered(start: int | None, end: int | None) -> Window:
    if start is not None and end is not None and start >= end:
        raise InvalidWindow(
            f"nothing lies between valid_from {told(start)} and valid_to {told(end)}.",
            hint="valid_from must be before valid_to; leave one out if it is open.",
            ids=(told(start), told(end)),
        )
    return Window(start, end)


class Kept(Enum):
    """Says of an argument that it was left out, where None has a meaning of its own."""

    KEPT = "kept"


KEPT: Final = Kept.KEPT


def revised(valid_from: object, valid_to: object) -> Callable[[Window], Window] | None:
    """Return what makes of a window the one with other bounds; None if no bound is given.

    Args:
        valid_from: see ``window``; ``KEPT`` leaves it as it is.
        valid_to: likewise.

    Raises:
        InvalidWindow: one is no instant. What is returned raises it if nothing lies between.
    """
    if valid_from is KEPT and valid_to is KEPT:
        return None
    given = [
        bound if bound is KEPT or bound is None else instant(bound)
        for bound in (valid_from, valid_to)
    ]

    def change(before: Window) -> Window:
        bounds = (old if new is KEPT else new for old, new in zip(before, given, strict=True))
        return _ordered(*bounds)

    return change


def becoming(window: Window) -> Callable[[Window], Window]:
    """Return what makes of any window this one; see ``revised``."""
    return lambda _: window


def given(valid_from: object, valid_to: object) -> Window | None:
    """Return the window between two instants, None if neither is given; see ``window``."""
    return None if valid_from is None and valid_to is None else window(valid_from, valid_to)


def instant(given: object) -> int:
    """Return an instant in whole microseconds since 1970.

    Args:
        given: an aware ``datetime``, or ISO 8601 text with an offset: ``2026-07-21T12:00:00Z``.

    Raises:
        InvalidWindow: it is neither, has no time zone, is finer than a microsecond, or is outside
            the years 1 to 9999 in UTC.
    """
    if isinstance(given, str):
        given = _parsed(given)
    if not isinstance(given, datetime):
        raise InvalidWindow(f"not an instant: {quoted(given)}.", hint=_AWARE)
    try:
        aware = given.tzinfo is not None and given.utcoffset() is not None
        at = (given - _EPOCH) // _MICROSECOND if aware else 0
    except Exception as error:  # a time zone is code of anybody's
        raise InvalidWindow(f"an instant that cannot be told: {error}.", hint=_AWARE) from error
    if not aware:
        raise InvalidWindow(
            f"instant without a time zone: {given.isoformat()}.",
            hint=_AWARE,
            ids=(given.isoformat(),),
        )
    if not FIRST <= at // MILLI <= LAST:
        raise InvalidWindow(
            f"an instant outside the years 1 to 9999 in UTC: {given.isoformat()}.",
            hint="Check the clock.",
            ids=(given.isoformat(),),
        )
    return at


def _parsed(text: str) -> datetime:
    if not _ISO.fullmatch(text):
        raise InvalidWindow(f"not an instant: {text!r:.80}.", hint=_AWARE, ids=(text,))
    try:
        return datetime.fromisoformat(text)
    except ValueError as error:
        raise InvalidWindow(f"{text} is no instant: {error}.", hint=_AWARE, ids=(text,)) from None


_ISO = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,6}0*)?)?"
    r"(Z|[+-][0-9]{2}:?[0-9]{2})?"
)
_AWARE = (
    "Give an aware datetime, for instance datetime.now(timezone.utc), or text with an offset, "
    "for instance 2026-07-21T12:00:00Z."
)


def moment(at: int) -> datetime:
    """Return microseconds since 1970 as a ``datetime`` in UTC."""
    return _EPOCH + timedelta(microseconds=at)


def iso(at: datetime) -> str:
    """Write an instant as ISO 8601 in UTC, with as many decimals as it needs."""
    return at.astimezone(UTC).replace(tzinfo=None).isoformat() + "Z"


def period(start: datetime | None, end: datetime | None) -> str:
    """Write a window in words; empty if it is open on both sides."""
    bounds = (("from", start), ("until", end))
    return " ".join(f"{word} {iso(bound)}" for word, bound in bounds if bound is not None)


def told(at: int) -> str:
    """Write microseconds since 1970 as ISO 8601 in UTC, with as many decimals as it needs."""
    return iso(moment(at))


def microseconds(given: datetime) -> int:
    """Return what a clock says as whole microseconds since 1970.

    Raises:
        InvalidWindow: it is no aware ``datetime``, or is outside the years 1 to 9999 in UTC.
    """
    if not isinstance(given, datetime):
        raise InvalidWindow(f"not an instant: {quoted(given)}.", hint=_AWARE)
    return instant(given)


def written(at: int) -> str:
    """Write milliseconds since 1970 as ISO 8601 in UTC, always three decimals and a ``Z``."""
    moment = _EPOCH + timedelta(milliseconds=at)
    return moment.replace(tzinfo=None).isoformat(timespec="milliseconds") + "Z"


def read(text: str) -> int | None:
    """Return the milliseconds that ``written`` wrote as ``text``, or None for any other text."""
    try:
        at = microseconds(datetime.strptime(text, "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=UTC))
    except ValueError:
        return None
    return at // MILLI if written(at // MILLI) == text else None
