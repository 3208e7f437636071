import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random

import pytest
from making import SCHEMA, Clock, fill, plain, tables, wander

import tms


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memory.db"


# ---------------------------------------------------------------- schema.sql and the file


def _by_python(path: Path) -> None:
    with plain(path) as connection:
        connection.executescript(SCHEMA)


def _by_another_process(path: Path) -> None:
    script = "import sqlite3, sys; sqlite3.connect(sys.argv[1]).executescript(sys.stdin.read())"
    run = [sys.executable, "-X", "utf8", "-c", script, path]
    subprocess.run(run, input=SCHEMA.encode(), check=True)


def _by_the_shell(path: Path) -> None:
    subprocess.run([SHELL, "-bail", path], input=SCHEMA.encode(), check=True)


MAKERS = {"python": _by_python, "python -c": _by_another_process}
if SHELL := shutil.which("sqlite3"):
    MAKERS["sqlite3"] = _by_the_shell

each_maker = pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS.keys())


def shape(path: Path) -> set[tuple[str, ...]]:
    with plain(path) as connection:
        rows = set(connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_master"))
        return {row for row in rows if row[2] != "_sqlite_migrations"}


@each_maker
def test_schema_sql_alone_makes_a_file_that_tms_opens(
    path: Path, make: Callable[[Path], None]
) -> None:
    make(path)
    made = shape(path)
    with tms.open(path, create=False, read_only=True) as memory:
        assert memory.head is None
        assert memory.verify()
    with tms.open(path, create=False, clock=Clock()) as memory:
        fill(memory)
        assert memory.verify(revisions=None)
    assert shape(path) == made


@each_maker
def test_a_file_made_by_tms_is_what_schema_sql_says(
    path: Path, make: Callable[[Path], None]
) -> None:
    written = path.with_name("written.db")
    make(written)
    with tms.open(path):
        pass
    assert shape(path) == shape(written)
    for pragma in ("application_id", "user_version"):
        with plain(path) as one, plain(written) as two:
            assert one.execute(f"PRAGMA {pragma}").fetchone() == (
                two.execute(f"PRAGMA {pragma}").fetchone()
            )
    with plain(path) as one, plain(written) as two:
        for table in (*tables(one), "consumer", "setting", "cache_label", "cache_off"):
            rows = f"SELECT * FROM {table}"
            assert one.execute(rows).fetchall() == two.execute(rows).fetchall()


def test_a_file_that_was_used_and_rebuilt_is_still_what_schema_sql_says(path: Path) -> None:
    with tms.open(path, clock=Clock()) as memory:
        fresh = shape(path)
        fill(memory)
        memory.rebuild()
    assert shape(path) == fresh


def test_every_table_is_strict() -> None:
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(SCHEMA)
        listed = {
            row[1]: row for row in connection.execute("PRAGMA table_list") if row[2] == "table"
        }
        loose = [name for name, row in listed.items() if not row[5] and name[:7] != "sqlite_"]
    assert len(listed) > 10
    assert loose == []


def test_every_record_table_has_its_three_guards() -> None:
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(SCHEMA)
        guards = connection.execute(
            "SELECT tbl_name, name FROM sqlite_master"
            " WHERE type = 'trigger' AND tbl_name <> 'consumer'"
        ).fetchall()
        names = tables(connection)
    wanted = [(name, f"{name}_{verb}") for name in names for verb in ("insert", "update", "delete")]
    assert sorted(guards) == sorted(wanted)


@pytest.mark.parametrize(
    "row",
    [
        "node (node, scope, kind, id, role, revision) VALUES (1, 0, 'F', '1', 'rumour', 1)",
        "switch (target, revision, state) VALUES (1, 1, 2)",
        "transition (revision, node, change) VALUES (1, 1, 3)",
        "node (node, scope, kind, id, role, revision) VALUES ('one', 0, 'F', '1', 'fact', 1)",
        "content (node, version, revision, content) VALUES (1, 1, 1, x'7b7d')",
        "justification (justification, scope, digest, revision) VALUES (1, 0, 'text', 1)",
        "commits (revision, at, op, last_key, believed) VALUES (1, NULL, 'source', 0, 0)",
        "commits (revision, at, op, last_key, believed) VALUES (1, 1 << 62, 'source', 0, 0)",
    ],
)
def test_a_row_of_the_wrong_kind_is_refused_by_the_file(row: str) -> None:
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(SCHEMA)
        with pytest.raises(sqlite3.IntegrityError):
            connection.execute(f"INSERT INTO {row}")


# ---------------------------------------------------------------- the views and the library

each_world = pytest.mark.parametrize("seed", range(12))


def view(path: Path, name: str, columns: str = "*") -> list[tuple[object, ...]]:
    with plain(path) as connection:
        return connection.execute(f"SELECT {columns} FROM {name}").fetchall()


def plainly(row: tuple[object, ...]) -> tuple[object, ...]:
    """A row with text and numbers as SQLite has them."""
    return tuple(
        str(value) if isinstance(value, str) else int(value) if value is not None else None
        for value in row
    )


@each_world
def test_the_view_of_what_is_believed_says_what_the_library_says(path: Path, seed: int) -> None:
    with tms.open(path, clock=Clock()) as memory:
        wander(memory, Random(seed), 40)
        expected = []
        for fact in memory.holding():
            moves = [event for event in memory.history(fact) if event.what in ("in", "moved")]
            support = f"justification:{memory.get(fact).support}"
            assert moves[-1].support == memory.get(fact).support
            expected.append((fact, fact.kind, fact.id, moves[-1].anchor.revision, support, ""))
    assert sorted(view(path, "believed")) == sorted(expected)


@each_world
def test_the_view_of_why_says_what_the_library_says(path: Path, seed: int) -> None:
    with tms.open(path, clock=Clock()) as memory:
        expected = []
        for ref in wander(memory, Random(seed), 40):
            found = memory.get(ref)
            for fact in found.derives:
                rests = memory.get(fact).support == ref.id
                expected += [
                    (fact, ref, found.rule, premise, memory.believes(premise), rests)
                    for premise in found.premises
                ] or [(fact, ref, found.rule, None, 0, rests)]
        switched_on = {(ref, not memory.get(ref).retracted) for _, ref, *_ in expected}
    columns = "fact, justification, rule, premise, premise_in, through"
    assert sorted(view(path, "why", columns), key=repr) == sorted(map(plainly, expected), key=repr)
    assert set(view(path, "why", "justification, switched_on")) == switched_on


@each_world
def test_the_view_of_justifications_says_what_the_library_says(path: Path, seed: int) -> None:
    with tms.open(path, clock=Clock()) as memory:
        found = [memory.get(ref) for ref in wander(memory, Random(seed), 40)]
        expected = [(item.ref, item.rule, item.declared.revision) for item in found]
    assert sorted(view(path, "justifications", "ref, rule, revision")) == sorted(expected)


@each_world
def test_the_view_of_the_log_says_what_the_library_says(path: Path, seed: int) -> None:
    with tms.open(path, clock=Clock()) as memory:
        wander(memory, Random(seed), 40)
        expected = [
            (
                *(c.anchor.revision, c.anchor, c.op, c.reason, c.by),
                *(c.died, c.revived, c.believed, ""),
            )
            for c in memory.log()
        ]
        for commit in memory.log():
            report = memory.report(commit.anchor)
            assert (commit.died, commit.revived) == (len(report.died), len(report.revived))
    assert view(path, "log") == expected


INSTANTS = [
    datetime(1, 1, 1, tzinfo=UTC),
    datetime(1, 1, 1, 0, 0, 0, 1000, tzinfo=UTC),
    datetime(999, 12, 31, 23, 59, 59, 999000, tzinfo=UTC),
    datetime(1815, 12, 10, 1, 2, 3, 7000, tzinfo=UTC),
    datetime(1969, 12, 31, 23, 59, 58, 999999, tzinfo=UTC),
    datetime(1969, 12, 31, 23, 59, 59, 1, tzinfo=UTC),
    datetime(1970, 1, 1, tzinfo=UTC),
    datetime(1970, 1, 1, 0, 0, 0, 1000, tzinfo=UTC),
    datetime(2000, 2, 29, 12, 0, 0, 10000, tzinfo=UTC),
    datetime(2026, 7, 21, 10, 0, 0, 100000, tzinfo=UTC),
    datetime(2038, 1, 19, 3, 14, 8, tzinfo=UTC),
    datetime(9999, 12, 31, 23, 59, 59, 999999, tzinfo=UTC),
]


def test_anchors_in_the_view_of_the_log_are_the_anchors_at_any_time(path: Path) -> None:
    with tms.open(path, clock=Clock(*INSTANTS, step=timedelta(0))) as memory:
        for number in range(len(INSTANTS)):
            memory.source(f"Feed:{number}")
        anchors = [commit.anchor for commit in memory.log()]
    assert [anchor for (anchor,) in view(path, "log", "anchor")] == anchors
    assert [anchor.at for anchor in anchors] == [
        instant.replace(microsecond=instant.microsecond // 1000 * 1000) for instant in INSTANTS
    ]


def test_the_views_show_odd_names_as_they_are(path: Path) -> None:
    names = [
        "Flag:a:b",
        "Flag:naïve",
        "Flag:🧠",
        "Flag:nul\0nul",
        "Flag:two\nlines",
        "Flag:'quoted'",
        "Fl ag: ",
    ]
    with tms.open(path) as memory:
        for name in names:
            memory.justify(name, [memory.source("Feed:'1'")], id="by 'feed' " + name)
    assert sorted(view(path, "believed", "fact")) == sorted((name,) for name in names)
    assert sorted(view(path, "why", "fact, premise")) == sorted(
        (name, "Feed:'1'") for name in names
    )
    assert ("justification:by 'feed' Flag:🧠",) in view(path, "believed", "through")
