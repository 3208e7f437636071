"""The Debian example on a small cut of its data: 1,400 packages, 8,849 justifications.

The expected counts were worked out from the cut by a separate script, not by tms.
"""

import importlib.util
import sys
from pathlib import Path

import pytest

import tms

ROOT = Path(__file__).parents[1]
CUT = Path(__file__).with_name("data") / "debian-cut.jsonl.gz"
BREAKS = {"libc6": 1309, "libzmq5": 958, "python3": 582, "libssl3": 268, "curl": 166, "lua5.3": 6}


def example():
    spec = importlib.util.spec_from_file_location("debian", ROOT / "examples" / "debian.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def packages(tmp_path_factory):
    with tms.open(tmp_path_factory.mktemp("debian") / "memory.db") as memory:
        first, second = example().take_in(memory, CUT)
        assert (first.sources, first.facts, first.justifications) == (1400, 1400, 8849)
        assert first.believed_after == 1400
        assert (second.switched, second.believed_after) == (1400, 0)
        yield memory


@pytest.mark.parametrize(("package", "breaks"), BREAKS.items())
def test_pulling_a_package_breaks_what_needs_it_and_putting_it_back_mends_all(
    packages, package, breaks
):
    report = example().pull(packages, package)
    assert len(report.revived) == breaks
    assert f"Broken:{package}" in report.revived
    assert list(packages.holding()) == []
    assert packages.as_of(recorded=report.after).believes(f"Broken:{package}")


def test_a_package_pulled_alone_is_critical_for_all_that_it_breaks(packages):
    report = example().pull(packages, "libssl3")
    view = packages.as_of(recorded=report.after)
    assert [(item.ref, item.facts) for item in view.critical()] == [
        ("Pulled:libssl3", BREAKS["libssl3"])
    ]
    for fact in report.revived[::20]:
        assert list(view.environments(fact)) == list(view.cuts(fact)) == [("Pulled:libssl3",)]


def test_the_packages_verify_sound_at_every_revision(packages):
    assert packages.verify(revisions=None)


def test_the_example_runs_as_a_program_on_a_path(capsys, monkeypatch, tmp_path):
    debian = example()
    monkeypatch.setattr(debian, "PULLED", ("curl", "lua5.3"))
    debian.main(str(CUT), str(tmp_path / "memory.db"))
    told = capsys.readouterr().out
    assert "pull curl       breaks    166 packages" in told
    assert "0 packages are broken" in told
    assert "verify: sound" in told
    assert sys.modules.get("debian") is None
