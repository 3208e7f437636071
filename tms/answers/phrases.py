"""Phrases that several answers share."""

from tms.refs import Anchor


def recorded(anchor: Anchor, by: str | None, reason: str | None) -> str:
    """Return by which commit something was recorded, in brackets."""
    said = "".join([f", by {by}" if by else "", f": {reason}" if reason else ""])
    return f"(revision {anchor.revision}, {anchor.at:%Y-%m-%d %H:%M}{said})"
