"""How much the random tests do. The profiles of Hypothesis set it:

    pytest                                                       quick, the default
    HYPOTHESIS_PROFILE=deep pytest tests/test_machine.py tests/test_settle.py
                                                                 more than 100,000 judged steps of
                                                                 the machine and 900,000 of the
                                                                 labelling alone: half an hour

``--hypothesis-profile=deep`` does the same. The line that begins with "judged:" at the end of a
run tells how many steps there were and which states they reached.
"""

import os
import sqlite3
import sys
from typing import Any

from hypothesis import HealthCheck, settings

COMMON: dict[str, Any] = {"deadline": None, "suppress_health_check": list(HealthCheck)}
settings.register_profile("quick", max_examples=60, **COMMON)
settings.register_profile("deep", max_examples=3200, **COMMON)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))


def pytest_report_header() -> str:
    return f"Python {sys.version.split()[0]}, SQLite {sqlite3.sqlite_version}"


def pytest_terminal_summary(terminalreporter: Any) -> None:
    harness = sys.modules.get("harness")
    if harness is not None and harness.TALLY:
        counts = (f"{state} {count:,}" for state, count in sorted(harness.TALLY.items()))
        terminalreporter.write_line(f"judged: {', '.join(counts)}")
