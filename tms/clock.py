"""Instants: where the time comes from, and how it is written."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from tms.errors import InvalidArgument, InvalidWindow

Clock = Callable[[], datetime]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)

FIRST, LAST = -62_135_596_800_000, 253_402_300_799_999
"""The instants that can be written, in milliseconds since 1970: the years 1 to 9999."""


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
            f"the clock is {clock!r}.", hint="Give a callable that returns an aware datetime."
        )
    return clock or system_clock


def milliseconds(instant: datetime) -> int:
    """Return whole milliseconds since 1970, rounded down, so a printed time is never late.

    Raises:
        InvalidWindow: ``instant`` is no ``datetime``, has no time zone, or is outside the years 1
            to 9999 in UTC.
    """
    if not isinstance(instant, datetime):
        raise InvalidWindow(
            f"not an instant: {instant!r}.",
            hint="Give an aware datetime, for instance datetime.now(timezone.utc).",
        )
    if instant.tzinfo is None or instant.utcoffset() is None:
        raise InvalidWindow(
            f"instant without a time zone: {instant.isoformat()}.",
            hint="Give an aware datetime, for instance datetime.now(timezone.utc).",
            ids=(instant.isoformat(),),
        )
    at = (instant - _EPOCH) // _MILLISECOND
    if not FIRST <= at <= LAST:
        raise InvalidWindow(
            f"an instant outside the years 1 to 9999 in UTC: {instant.isoformat()}.",
            hint="Check the clock.",
            ids=(instant.isoformat(),),
        )
    return at


def written(at: int) -> str:
    """Write milliseconds since 1970 as ISO 8601 in UTC, always three decimals and a ``Z``."""
    moment = _EPOCH + timedelta(milliseconds=at)
    return moment.replace(tzinfo=None).isoformat(timespec="milliseconds") + "Z"


def read(text: str) -> int | None:
    """Return the milliseconds that ``written`` wrote as ``text``, or None for any other text."""
    try:
        at = milliseconds(datetime.strptime(text, "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=UTC))
    except ValueError:
        return None
    return at if written(at) == text else None
