import os
import sqlite3
import sys

from hypothesis import HealthCheck, settings

_COMMON = {"deadline": None, "suppress_health_check": list(HealthCheck)}
settings.register_profile("quick", max_examples=60, **_COMMON)
settings.register_profile("deep", max_examples=2500, **_COMMON)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))


def pytest_report_header() -> str:
    return f"Python {sys.version.split()[0]}, SQLite {sqlite3.sqlite_version}"


def pytest_terminal_summary(terminalreporter) -> None:
    harness = sys.modules.get("harness")
    if harness is not None and harness.TALLY:
        counts = ", ".join(f"{state} {count:,}" for state, count in harness.TALLY.items())
        terminalreporter.write_line(f"machine: {counts}")
