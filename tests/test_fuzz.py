"""Rubbish is taken or refused with a typed error: no traceback, no hang, nothing half-written.

    HYPOTHESIS_PROFILE=deep pytest tests/test_fuzz.py

``python -m benchmarks.reliability --fuzz 10000`` counts what comes of it.
"""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.reliability.fuzzing import try_command, try_memory
from benchmarks.reliability.inputs import AREAS, arguments, packed


@pytest.mark.parametrize("name", AREAS)
@given(data=st.data())
def test_rubbish_given_to_a_memory_is_taken_or_refused_whole(name: str, data: Any) -> None:
    area = AREAS[name]
    try_memory(area, data.draw(st.tuples(*area.inputs)))


@given(line=arguments(), stdin=packed())
def test_rubbish_at_the_command_line_is_taken_or_refused_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: list[str], stdin: bytes
) -> None:
    monkeypatch.chdir(tmp_path)
    try_command(line, stdin, tmp_path)
