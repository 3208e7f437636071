"""Instants: where the time comes from, and how it is written."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from tms.errors import InvalidWindow

Clock = Callable[[], datetime]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)


def system_clock() -> datetime:
    """Return the machine's time, in UTC."""
    return datetime.now(UTC)


def milliseconds(instant: datetime) -> int:
    """Return whole milliseconds since 1970, rounded down, so a printed time is never late.

    Raises:
        InvalidWindow: ``instant`` has no time zone.
    """
    if instant.tzinfo is None or instant.utcoffset() is None:
        raise InvalidWindow(
            f"instant without a time zone: {instant.isoformat()}.",
            hint="Give an aware datetime, for instance datetime.now(timezone.utc).",
            ids=(instant.isoformat(),),
        )
    return (instant - _EPOCH) // _MILLISECOND


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
