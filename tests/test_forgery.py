"""One edit by another hand, anywhere in the record, the guards put back: it is found and placed."""

import re
import shutil
import sqlite3
from pathlib import Path
from random import Random

import pytest
from making import SCHEMA, Clock, days, fill, plain, tables, unguarded, wander

import tms

EDGES = ("premise", "derive")
KEYED = {"node": "node", "justification": "justification"}
Row = dict[str, object]


def world(path: Path, random: Random) -> None:
    """Record something of every kind, in a random order of small commits and one larger."""
    with tms.open(path, clock=Clock()) as memory:
        fill(memory)
        wander(memory, random, 20)
        with memory.batch(reason="many"):
            for number in range(5):
                memory.source(f"T:{number}", {"n": number}, valid_to=days(number))
                memory.justify(f"G:{number}", [f"T:{number}", "Scan:1"], valid_from=days(-number))
        memory.retract("T:0")
        for ref in ("T:1", "Feed:1"):
            memory.redact(ref, reason="asked for")
        memory.settle()
    for scope in ("alice", "bob"):
        with tms.open(path, scope=scope, clock=Clock(days(30))) as memory:
            memory.justify("H:1", [memory.source("U:1"), "Scan:1"], id="mine")
            memory.retract("U:1")


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Three files as they were recorded, and one each pruned from them at some commit."""
    paths = []
    for seed in range(3):
        folder = tmp_path_factory.mktemp("world")
        world(folder / "memory.db", Random(seed))
        with tms.open(folder / "memory.db", read_only=True) as memory:
            anchor = list(memory.log())[12 + 5 * seed].anchor
            memory.prune(before=anchor, path=folder / "pruned.db", reason="old", by="keeper")
        paths += [folder / "memory.db", folder / "pruned.db"]
    return paths


class Forger:
    """Makes one random edit of the record, and knows the commits whose rows it touched."""

    def __init__(self, sql: sqlite3.Connection, random: Random) -> None:
        self._sql = sql
        self._random = random
        self._ranges = []
        last = 0
        for revision, key in sql.execute("SELECT revision, last_key FROM commits ORDER BY 1"):
            self._ranges.append((revision, last, key))
            last = key

    def read(self, table: str) -> list[Row]:
        cursor = self._sql.execute(f"SELECT * FROM {table}")
        names = [column[0] for column in cursor.description]
        return [dict(zip(names, row, strict=True)) for row in cursor]

    def commit_of(self, table: str, row: Row) -> int | None:
        """The revision of the commit that a row belongs to; None: to none."""
        if table == "scope" and not row["revision"]:
            return 1
        if table == "pruned":
            return row["baseline"]
        if table in KEYED or table in EDGES:
            key = row[KEYED.get(table, "justification")]
            if (
                table in EDGES
                and not self._sql.execute(
                    "SELECT 1 FROM justification WHERE justification = ?", (key,)
                ).fetchone()
            ):
                return None
            found = [at for at, low, high in self._ranges if low < key <= high]
            return found[0] if found else None
        known = table == "commits" or row["revision"] in [at for at, *_ in self._ranges]
        return row["revision"] if known else None

    def _remove(self, table: str, row: Row) -> None:
        where = " AND ".join(f'"{name}" IS ?' for name in row)
        self._sql.execute(f"DELETE FROM {table} WHERE {where}", list(row.values()))

    def _add(self, table: str, row: Row) -> None:
        places = ", ".join("?" * len(row))
        self._sql.execute(f"INSERT INTO {table} VALUES ({places})", list(row.values()))

    def _other(self, rows: list[Row], column: str, value: object) -> object:
        """Another value for a column, as another row has it or near this one."""
        random = self._random
        near = {
            int: lambda: value + random.choice([-1, 1, 1000]),
            str: lambda: random.choice([value + " ", value + "\0", value[:-1], value.upper()]),
            bytes: lambda: value[:-1] + bytes([value[-1] ^ 1]),
        }.get(type(value), lambda: random.choice([0, 1, "x", None]))
        return random.choice([near(), near(), random.choice(rows)[column]])

    def forge(self, act: str, table: str) -> tuple[str, set[int | None]] | None:
        """Make an edit; return what it was and the commits it touched, or None if it was none."""
        random = self._random
        rows = self.read(table)
        row, other = random.choice(rows), random.choice(rows)
        columns = random.sample(list(row), random.randint(1, min(3, len(row))))
        new = row | {name: self._other(rows, name, row[name]) for name in columns}
        if act == "swap":
            columns = random.choice([columns[:1], list(row)[1:], list(row)[2:]])
            new = row | {name: other[name] for name in columns}
        swapped = other | {name: row[name] for name in columns}
        gone = {"change": [row], "remove": [row], "insert": [], "swap": [row, other]}[act]
        come = {"change": [new], "remove": [], "insert": [new], "swap": [new, swapped]}[act]
        if all(one in gone for one in come) and act != "remove":
            return None
        placed = {self.commit_of(table, one) for one in gone + come}
        for one in gone:
            self._remove(table, one)
        for one in come:
            self._add(table, one)
        return f"{act} in {table}: {gone} {come}", placed


def forged(good: Path, path: Path, random: Random, act: str, table: str) -> tuple[str, set[int]]:
    """Make a copy with one edit, the guards as before; tell what it was and where."""
    shutil.copy(good, path)
    with plain(path) as sql:
        sql.execute("PRAGMA synchronous = OFF")
        sql.execute("BEGIN")
        guards = sql.execute("SELECT sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
        unguarded(sql)
        told = None
        for _ in range(5_000):
            sql.execute("SAVEPOINT edit")
            try:
                if told := Forger(sql, random).forge(act, table):
                    break
            except (sqlite3.IntegrityError, OverflowError):
                sql.execute("ROLLBACK TO edit")
        for (guard,) in guards:
            sql.execute(guard)
    assert told is not None
    what, placed = told
    return what, {revision for revision in placed if revision is not None}


def named(finding: tms.Finding) -> int:
    """The revision of the first commit that a finding names."""
    return int(re.search(r"r1:(\d{16}):|revision (-?\d+)", finding.examples[0]).expand(r"\1\2"))


with plain(":memory:") as empty:
    empty.executescript(SCHEMA)
    EDITS = [
        (act, table)
        for table in tables(empty)
        for act in ("change", "remove", "insert", "swap")
        if act != "swap" or table != "pruned"  # of which a file has one row
    ]


@pytest.mark.parametrize(("act", "table"), EDITS)
def test_any_edit_of_the_record_is_found_at_its_commit_or_before(
    files: list[Path], tmp_path: Path, act: str, table: str
) -> None:
    random = Random(f"{act} {table}")
    for _ in range(6):
        good = random.choice([path for path in files if table != "pruned" or path.stem == table])
        with tms.open(good, read_only=True) as memory:
            kept = memory.digest()
        what, touched = forged(good, tmp_path / "forged.db", random, act, table)
        with tms.open(tmp_path / "forged.db", read_only=True) as memory:
            verification = memory.verify(revisions=1, kept=kept)
        assert not verification, what
        findings = {one.rule: one for one in verification.findings}
        assert "schema" not in findings
        if touched:  # else they are rows of no commit
            first = [named(findings[rule]) for rule in ("chain", "kept") if rule in findings]
            assert first, (what, findings)
            kept_up_to = "chain" in findings and "kept up to" in findings["chain"].examples[0]
            assert kept_up_to or min(first) <= min(touched), (what, touched, findings)


def test_a_last_commit_taken_away_whole_is_found_by_a_kept_digest(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with tms.open(path, clock=Clock()) as memory:
        memory.source("Feed:1")
        before = memory.digest()
        memory.source("Feed:2")
        kept = memory.digest()
    with plain(path) as sql:
        guards = sql.execute("SELECT sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
        unguarded(sql)
        for table in ("transition", "node", "concern", "commits"):
            sql.execute(f"DELETE FROM {table} WHERE revision = 2")
        sql.execute("DELETE FROM cache_label WHERE node = 2")
        for (guard,) in guards:
            sql.execute(guard)
    with tms.open(path, read_only=True) as memory:
        assert memory.verify()
        assert memory.verify(kept=before)
        (finding,) = memory.verify(kept=kept).findings
    assert (finding.rule, finding.examples) == ("kept", (f"{kept.anchor} is not there",))


def test_two_commits_that_changed_places_are_found(tmp_path: Path) -> None:
    """Whole: each of the two rows in commits, and all else that carries their revisions."""
    path = tmp_path / "memory.db"
    with tms.open(path, clock=Clock()) as memory:
        feeds = [memory.source(f"Feed:{number}") for number in range(2)]
        memory.retract(feeds[0])
        memory.retract(feeds[1])
        memory.source("Feed:9")
    with plain(path) as sql:
        guards = sql.execute("SELECT sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
        unguarded(sql)
        for table in ("transition", "switch", "concern", "commits"):
            for old, new in ((3, 99), (4, 3), (99, 4)):
                sql.execute(f"UPDATE {table} SET revision = {new} WHERE revision = {old}")
        times = [at for (at,) in sql.execute("SELECT at FROM commits ORDER BY revision")]
        sql.execute("UPDATE commits SET at = ? WHERE revision = 3", (times[3],))
        sql.execute("UPDATE commits SET at = ? WHERE revision = 4", (times[2],))
        for (guard,) in guards:
            sql.execute(guard)
    with tms.open(path, read_only=True) as memory:
        findings = {one.rule: one for one in memory.verify().findings}
    assert named(findings["chain"]) == 3
    assert findings.keys() == {"chain"}
