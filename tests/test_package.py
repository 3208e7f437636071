import ast
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from importlinter.cli import lint_imports
from making import ROOT

import tms

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
MODULES = sorted((ROOT / "tms").rglob("*.py"))


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "build", "--no-isolation", "--wheel", "--outdir", folder, ROOT],
        check=True,
        capture_output=True,
    )
    (built,) = folder.iterdir()
    return built


def test_schema_sql_is_in_the_wheel_byte_for_byte(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        assert archive.read("tms/schema.sql") == (ROOT / "schema.sql").read_bytes()


def test_the_wheel_says_that_it_is_typed(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        assert "tms/py.typed" in archive.namelist()


def test_the_wheel_holds_the_package_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        metadata = archive.read(next(name for name in names if name.endswith("/METADATA"))).decode()
    info = f"sqlite_tms-{PROJECT['project']['version']}.dist-info/"
    package = {name for name in names if name.startswith("tms/")}
    assert all(name.startswith(info) for name in names - package)
    modules = {path.relative_to(ROOT).as_posix() for path in MODULES}
    page = {f"tms/render/{name}" for name in ("page.html", "page.css", "draw.js", "page.js")}
    assert package == modules | page | {"tms/schema.sql", "tms/py.typed"}
    assert f"Name: {PROJECT['project']['name']}\n" in metadata


def test_a_memory_can_be_made_from_the_wheel_alone(wheel: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "installed")
    script = (
        "import sys, tms\n"
        "assert tms.__file__.startswith(sys.argv[1]), tms.__file__\n"
        "with tms.open(sys.argv[2]) as memory:\n"
        "    memory.justify('Flag:1', [memory.source('Feed:1')])\n"
        "    assert memory.verify()\n"
    )
    paths = [str(tmp_path / "installed"), *(path for path in sys.path if "site-packages" in path)]
    subprocess.run(
        [sys.executable, "-c", script, paths[0], tmp_path / "memory.db"],
        check=True,
        cwd=tmp_path,
        env={"PYTHONPATH": ":".join(paths)},
    )


def test_the_version_is_the_one_of_the_project() -> None:
    assert tms.__version__ == PROJECT["project"]["version"]


def test_the_layers_hold(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture) -> None:
    monkeypatch.chdir(ROOT)
    failed = lint_imports(config_filename="pyproject.toml", no_cache=True)
    told = capsys.readouterr().out
    assert not failed, told
    assert "0 broken" in told


def loaded(statement: str) -> set[str]:
    script = f"{statement}\nimport sys\nprint('\\n'.join(sys.modules))"
    run = subprocess.run(
        [sys.executable, "-c", script], check=True, capture_output=True, text=True, cwd=ROOT
    )
    return {name.partition(".")[0] for name in run.stdout.split()}


def test_importing_tms_brings_nothing_for_the_terminal_and_nothing_for_tests() -> None:
    # sqlite-utils imports click by itself; nothing else may.
    brought = loaded("import tms") - loaded("import sqlite_utils")
    assert "tms" in brought
    assert brought.isdisjoint(
        {"click", "rich", "pytest", "_pytest", "hypothesis", "clingo", "build", "sybil", "mypy"}
    )


# ---------------------------------------------------------------- who speaks SQL


def imports(tree: ast.Module) -> Iterator[str]:
    for part in ast.walk(tree):
        if isinstance(part, ast.Import):
            yield from (alias.name for alias in part.names)
        elif isinstance(part, ast.ImportFrom):
            yield part.module or ""


VERBS = (
    "SELECT ",
    "INSERT ",
    "UPDATE ",
    "DELETE ",
    "REPLACE ",
    "CREATE ",
    "DROP ",
    "ALTER ",
    "PRAGMA ",
    "BEGIN",
    "COMMIT",
    "ROLLBACK",
    "SAVEPOINT",
    "WITH RECURSIVE",
)


def statements(tree: ast.Module) -> Iterator[str]:
    """The texts of a module, without its docstrings, that begin as a statement of SQL does."""
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef))
        and isinstance(node.body[0], ast.Expr)
    }
    for part in ast.walk(tree):
        text = part.value if isinstance(part, ast.Constant) else None
        if isinstance(text, str) and id(part) not in docstrings and text.lstrip().startswith(VERBS):
            yield text


STORE = [path for path in MODULES if path.is_relative_to(ROOT / "tms" / "store")]
OTHERS = [path for path in MODULES if path not in STORE]


@pytest.mark.parametrize("path", OTHERS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_only_the_store_speaks_sql(path: Path) -> None:
    tree = ast.parse(path.read_text("utf-8"))
    roots = {name.partition(".")[0] for name in imports(tree)}
    assert roots.isdisjoint({"sqlite3", "pysqlite3", "apsw", "sqlite_utils"})
    assert list(statements(tree)) == []


def test_the_store_does_speak_sql() -> None:
    trees = [ast.parse(path.read_text("utf-8")) for path in STORE]
    assert sum(1 for tree in trees for _ in statements(tree)) > 30
    assert "sqlite_utils" in {name for tree in trees for name in imports(tree)}
