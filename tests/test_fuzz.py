"""Rubbish is taken or refused with a typed error: no traceback, no hang, nothing half-written.

    HYPOTHESIS_PROFILE=deep pytest tests/test_fuzz.py

``python -m benchmarks.reliability --fuzz 10000`` counts what comes of it.
"""

import base64
import hashlib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tms
from benchmarks.reliability.fuzzing import try_command, try_memory
from benchmarks.reliability.inputs import AREAS, arguments, packed

pytestmark = pytest.mark.filterwarnings("ignore:Generating overly large repr")
"""The inputs are huge on purpose."""


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


@pytest.mark.parametrize("body", [b"[" * 100_000, b'{"a":' * 100_000, b"", b"[1e999]", b"\xff"])
def test_a_cursor_under_a_good_seal_that_is_none_is_refused(body: bytes) -> None:
    seal = hashlib.blake2b(body, digest_size=8, person=b"tms page").digest()
    with tms.open(":memory:") as memory:
        memory.source("Feed:1")
        with pytest.raises(tms.InvalidCursor):
            memory.scan(after=base64.urlsafe_b64encode(seal + body).decode())
