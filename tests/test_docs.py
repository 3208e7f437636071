"""Every Python block of the documents runs, and what they say of commands is true."""

import re
from pathlib import Path

import pytest
from sybil import Sybil
from sybil.parsers.markdown import PythonCodeBlockParser

ROOT = Path(__file__).parents[1]
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def blocks(path):
    sybil = Sybil(parsers=[PythonCodeBlockParser()], path=str(ROOT))
    return list(sybil.parse(path).examples())


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_every_python_block_of_a_document_runs(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for example in blocks(path):
        example.evaluate()


def test_the_readme_has_the_blocks_that_it_promises():
    assert len(blocks(ROOT / "README.md")) >= 5


def test_the_first_block_of_the_readme_prints_the_report(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    blocks(ROOT / "README.md")[0].evaluate()
    told = capsys.readouterr().out
    assert "retract VulnFeed:2026-07-21" in told
    assert "Vulnerable:svc-14  via" in told


def test_the_lines_of_a_bundle_are_those_that_are_shown(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = ROOT / "docs" / "bundle.md"
    blocks(path)[0].evaluate()
    (shown,) = re.findall(r"```json\n(.*?)\n```", path.read_text("utf-8"), re.DOTALL)
    made = (tmp_path / "bundle.jsonl").read_text("utf-8")
    assert re.sub(r'"sha256":"[0-9a-f]{64}"', '"sha256":"…"', made) == f"{shown}\n"


def test_the_checks_run_the_two_commands_of_the_readme():
    readme = (ROOT / "README.md").read_text()
    script = (ROOT / ".ci" / "run").read_text()
    for pattern in re.findall(r"grep -m 1 -E '([^']+)' README.md", script):
        assert re.search(pattern, readme, re.MULTILINE), pattern
    assert script.count("grep -m 1 -E") == 2


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_every_link_to_a_file_leads_somewhere(path):
    for target in re.findall(r"\]\(([^)#:]+)\)", path.read_text()):
        assert (path.parent / target).exists(), target
