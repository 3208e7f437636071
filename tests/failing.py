"""A fixture that lets all connections fail at a write of one's choice."""

import sqlite3

import pytest

from benchmarks.reliability.failing import Failing, arm, connect, die, refuse

__all__ = ["Failing", "arm", "connect", "die", "failing", "refuse"]


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make every connection that tms opens a failing one."""
    monkeypatch.setattr(sqlite3, "connect", connect)
    arm(None)
