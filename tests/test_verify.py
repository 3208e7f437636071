import re
import shutil
import sqlite3
from datetime import timedelta
from pathlib import Path
from random import Random

import pytest
from making import Clock, fill, plain, tables, unguarded, wander

import tms


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("verify") / "memory.db"
    with tms.open(path, clock=Clock()) as memory:
        fill(memory)
        memory.fact("Flag:30", content={"alone": True})
    return path


def found(path: Path, **options: object) -> dict[str, tms.Finding]:
    """What is found in a file that is only read, by rule; a rule that is found twice is joined."""
    with tms.open(path, read_only=True) as memory:
        verification = memory.verify(**options)
    assert bool(verification) == (not verification.findings)
    for finding in verification.findings:
        assert 1 <= len(finding.examples) <= 5
        assert finding.count >= len(finding.examples)
        assert finding.rule in str(verification)
        assert finding.examples[0] in str(verification)
    joined: dict[str, tms.Finding] = {}
    for finding in verification.findings:
        before = joined.get(finding.rule, finding)
        examples = tuple(dict.fromkeys((*before.examples, *finding.examples)))
        joined[finding.rule] = finding.model_copy(update={"examples": examples})
    return joined


def tampered(good: Path, tmp_path: Path, *statements: str) -> Path:
    """A copy of the file in which somebody dropped the guards, wrote, and set them up again."""
    path = tmp_path / "tampered.db"
    shutil.copy(good, path)
    with plain(path) as connection:
        guards = connection.execute(
            "SELECT sql FROM sqlite_master WHERE type = 'trigger'"
        ).fetchall()
        unguarded(connection)
        for statement in statements:
            assert connection.execute(statement).rowcount != 0, statement
        for (guard,) in guards:
            connection.execute(guard)
    return path


# ---------------------------------------------------------------- sound files


@pytest.mark.parametrize("seed", range(6))
def test_a_file_that_only_tms_wrote_is_sound(tmp_path: Path, seed: int) -> None:
    path = tmp_path / "memory.db"
    with tms.open(path, clock=Clock(step=timedelta(microseconds=300))) as memory:
        wander(memory, Random(seed), 60)
        verification = memory.verify(revisions=None)
        assert verification
        assert verification.findings == ()
        assert verification.revisions == tuple(range(1, memory.head.revision + 1))
    assert found(path, revisions=None) == {}


@pytest.mark.parametrize(
    ("asked", "compared"),
    [(1, (14,)), (2, (7, 14)), (3, (5, 10, 14)), (13, None), (14, None), (99, None), (None, None)],
)
def test_the_labels_are_compared_at_as_many_revisions_as_was_asked(
    good: Path, asked: int | None, compared: tuple[int, ...] | None
) -> None:
    with tms.open(good, read_only=True) as memory:
        revisions = memory.verify(revisions=asked).revisions
    assert revisions[-1] == 14
    assert len(revisions) == min(asked or 14, 14)
    assert list(revisions) == sorted(set(revisions))
    if compared:
        assert revisions == compared


@pytest.mark.parametrize("revisions", [0, -1, True, False, "all", 1.5])
def test_a_number_of_revisions_that_is_none_is_refused(good: Path, revisions: object) -> None:
    with tms.open(good, read_only=True) as memory, pytest.raises(tms.InvalidArgument):
        memory.verify(revisions=revisions)


# ---------------------------------------------------------------- one rule after another

LAST = "(SELECT max(revision) FROM commits)"
NODE = "(SELECT node FROM node WHERE kind || ':' || id = '{}')"
NAMED = "(SELECT justification FROM justification WHERE name = '{}')"


def node(ref: str) -> str:
    return NODE.format(ref)


def named(id: str) -> str:
    return NAMED.format(id)


FEED, SCAN, POLICY = node("Feed:1"), node("Scan:1"), node("Policy:1")
FLAG14, FLAG22, BLOCK14 = node("Flag:14"), node("Flag:22"), node("Block:14")
BY_FEED, ONLY_FEED, BLOCK_22 = named("by-feed"), named("only-feed"), named("block-22")
FLAG30 = node("Flag:30")
CURRENT = f"(SELECT support FROM transition WHERE node = {FLAG14} ORDER BY revision DESC LIMIT 1)"
TWIN = "SELECT justification, 0, 'X', '1', 'fact', revision FROM justification"
DEEP = "'{\"a\":' || replace(hex(zeroblob(50000)), '00', '[')"

TAMPERING: dict[str, tuple[tuple[str, ...], str, str]] = {
    "a commit is gone": (("DELETE FROM commits WHERE revision = 5",), "revisions", "revision 6"),
    "the last commit is gone": (
        (f"DELETE FROM commits WHERE revision = {LAST}",),
        "orphan",
        "revision 14",
    ),
    "revisions are shifted": (
        ("UPDATE commits SET revision = revision + 1 WHERE revision = 14",),
        "revisions",
        "revision 15",
    ),
    "the head is far ahead": (
        ("UPDATE commits SET revision = 1 << 62 WHERE revision = 14",),
        "revisions",
        "revision 4611686018427387904",
    ),
    "time goes back": (
        ("UPDATE commits SET at = at - 5000 WHERE revision = 9",),
        "time",
        "revision 9 at 2026",
    ),
    "time is beyond all calendars": (
        (
            "PRAGMA ignore_check_constraints = ON",
            "UPDATE commits SET at = at + 9000000000000000 WHERE revision = 14",
        ),
        "time",
        "revision 14 at 9001784635213000",
    ),
    "a count of beliefs is off": (
        ("UPDATE commits SET believed = believed + 1 WHERE revision = 10",),
        "believed",
        "revision 10",
    ),
    "the last count of beliefs is off": (
        (f"UPDATE commits SET believed = 0 WHERE revision = {LAST}",),
        "believed",
        "revision 14",
    ),
    "a key range is off": (
        ("UPDATE commits SET last_key = last_key - 1 WHERE revision = 7",),
        "keys",
        "Page:14",
    ),
    "a largest key is off": (
        ("UPDATE commits SET last_key = 99 WHERE revision = 11",),
        "keys",
        "revision 11",
    ),
    "a node has another revision": (
        (f"UPDATE node SET revision = 3 WHERE node = {FLAG14}",),
        "keys",
        "Flag:14",
    ),
    "a node is of no revision": (
        (f"UPDATE node SET revision = 99 WHERE node = {FLAG14}",),
        "orphan",
        "node row of revision 99",
    ),
    "a node and a justification share a key": (
        (f"INSERT INTO node {TWIN} WHERE name = 'by-feed'",),
        "keys",
        "X:1",
    ),
    "a node is gone": (
        (f"DELETE FROM node WHERE node = {FLAG22}",),
        "foreign-key",
        "refers to no node",
    ),
    "a node is renamed": (
        (f"UPDATE node SET id = '15' WHERE node = {FLAG14}",),
        "digest",
        "justification",
    ),
    "a node has another kind": (
        (f"UPDATE node SET kind = 'Flog' WHERE node = {FLAG14}",),
        "digest",
        "justification",
    ),
    "a node has the reserved kind": (
        ("UPDATE node SET kind = 'justification' WHERE id = '30'",),
        "node",
        "justification:30",
    ),
    "a node has a kind that cannot be read back": (
        ("UPDATE node SET kind = 'a:b' WHERE id = '30'",),
        "node",
        "a:b:30",
    ),
    "a node has no id": (("UPDATE node SET id = '' WHERE id = '30'",), "node", "Flag:"),
    "a node has text that is none": (
        ("UPDATE node SET id = CAST(x'ff80' AS TEXT) WHERE id = '30'",),
        "text",
        "\\xff\\x80",
    ),
    "a source became a fact": (
        (f"UPDATE node SET role = 'fact' WHERE node = {FEED}",),
        "label",
        "Feed:1 at revision",
    ),
    "a fact became a source": (
        (f"UPDATE node SET role = 'source' WHERE node = {FLAG14}",),
        "derives",
        "justification",
    ),
    "a scope is gone": (("DELETE FROM scope",), "foreign-key", "refers to no scope"),
    "a content version is gone": (
        (f"DELETE FROM content WHERE node = {FEED} AND version = 1",),
        "content",
        "Feed:1 version 2",
    ),
    "a content is no object": (
        ("UPDATE content SET content = '[1]' WHERE version = 1",),
        "content",
        "no JSON object",
    ),
    "a content is no JSON": (
        ("UPDATE content SET content = '{' WHERE version = 1",),
        "content",
        "no JSON object",
    ),
    "a content is too deep to read": (
        (f"UPDATE content SET content = {DEEP} WHERE version = 1",),
        "content",
        "no JSON object",
    ),
    "a content is text that is none": (
        ("UPDATE content SET content = CAST(x'7b22ff227d' AS TEXT) WHERE version = 1",),
        "text",
        '{"\\xff"}',
    ),
    "a content is of no revision": (
        ("UPDATE content SET revision = 99 WHERE version = 1",),
        "orphan",
        "content row of revision 99",
    ),
    "a content version runs ahead of its node": (
        ("UPDATE content SET revision = 1 WHERE content LIKE '%alone%'",),
        "content",
        "Flag:30",
    ),
    "a justification is gone": (
        (f"DELETE FROM justification WHERE justification = {BY_FEED}",),
        "foreign-key",
        "refers to no justification",
    ),
    "a justification has another rule": (
        ("UPDATE justification SET rule = 'other' WHERE name = 'by-feed'",),
        "digest",
        "justification",
    ),
    "a justification has another digest": (
        ("UPDATE justification SET digest = x'00' WHERE name = 'by-feed'",),
        "digest",
        "justification",
    ),
    "a justification has another revision": (
        ("UPDATE justification SET revision = 9 WHERE name = 'by-feed'",),
        "keys",
        "justification",
    ),
    "a justification concludes nothing": (
        (f"DELETE FROM derive WHERE justification = {BLOCK_22}",),
        "derives",
        "justification",
    ),
    "a conclusion is a source": (
        (f"INSERT INTO derive SELECT {BY_FEED}, {SCAN}",),
        "derives",
        "justification",
    ),
    "a conclusion is its own premise": (
        (f"INSERT INTO derive SELECT {BLOCK_22}, {FLAG22}",),
        "derives",
        "justification",
    ),
    "a premise is gone": (
        (f"DELETE FROM premise WHERE justification = {ONLY_FEED}",),
        "digest",
        "justification",
    ),
    "a premise is added": (
        (f"INSERT INTO premise SELECT {BY_FEED}, {SCAN}",),
        "digest",
        "justification",
    ),
    "a premise is nobody": (
        (f"INSERT INTO premise SELECT {BY_FEED}, 999",),
        "foreign-key",
        "premise refers to no node",
    ),
    "a switch was never turned": (
        ("DELETE FROM switch WHERE revision = 10",),
        "switch",
        "Feed:1 at revision 11",
    ),
    "a switch is turned twice": (
        (f"INSERT INTO switch SELECT {SCAN}, 3, 1",),
        "switch",
        "Scan:1 at revision 3",
    ),
    "a switch of nobody is turned": (
        ("INSERT INTO switch VALUES (999, 3, 0)",),
        "switch",
        "key 999",
    ),
    "a switch is turned in no revision": (
        (f"INSERT INTO switch SELECT {SCAN}, 99, 0",),
        "orphan",
        "switch row of revision 99",
    ),
    "a switch is turned the other way": (
        (f"INSERT INTO switch SELECT {SCAN}, 14, 0",),
        "label",
        "Scan:1 at revision 14",
    ),
    "a switch is turned before there was one": (
        (
            f"INSERT INTO switch SELECT {BLOCK14}, 1, 0",
            f"INSERT INTO switch SELECT {BLOCK14}, 2, 1",
        ),
        "switch",
        "Block:14 at revision 1",
    ),
    "a belief never changed": (
        (f"DELETE FROM transition WHERE revision = 10 AND node = {FLAG22}",),
        "alternation",
        "Flag:22 at revision 11",
    ),
    "a belief changes to what it was": (
        (f"INSERT INTO transition SELECT 13, {FLAG22}, 0, NULL",),
        "alternation",
        "Flag:22 at revision 13",
    ),
    "a belief moves to where it is": (
        (f"INSERT INTO transition SELECT 14, {FLAG14}, 2, {CURRENT}",),
        "alternation",
        "Flag:14 at revision 14",
    ),
    "a belief is of no revision": (
        (f"INSERT INTO transition SELECT 99, {FLAG22}, 1, {ONLY_FEED}",),
        "orphan",
        "transition row of revision 99",
    ),
    "a belief of nobody": (
        ("INSERT INTO transition VALUES (14, 999, 1, NULL)",),
        "foreign-key",
        "transition refers to no node",
    ),
    "a fact is in that nothing supports": (
        (f"INSERT INTO transition SELECT 14, {FLAG30}, 1, {ONLY_FEED}",),
        "label",
        "Flag:30 at revision 14",
    ),
    "a fact is out that is supported": (
        (f"INSERT INTO transition SELECT 14, {FLAG14}, 0, NULL",),
        "label",
        "Flag:14 at revision 14",
    ),
    "a fact rests on another's justification": (
        (f"UPDATE transition SET support = {ONLY_FEED} WHERE node = {FLAG14}",),
        "support",
        "Flag:14 at revision",
    ),
    "a fact rests on nothing": (
        (f"UPDATE transition SET support = NULL WHERE node = {FLAG14}",),
        "support",
        "Flag:14 at revision",
    ),
    "a source rests on a justification": (
        (f"UPDATE transition SET support = {BY_FEED} WHERE node = {SCAN}",),
        "support",
        "Scan:1 at revision",
    ),
    "a label is missing from the cache": (
        (f"DELETE FROM cache_label WHERE node = {FLAG14}",),
        "cache",
        "Flag:14",
    ),
    "a label too many is in the cache": (
        (f"INSERT INTO cache_label SELECT {FLAG22}, 1, {ONLY_FEED}",),
        "cache",
        "Flag:22",
    ),
    "a label has another support": (
        (f"UPDATE cache_label SET support = NULL WHERE node = {FLAG14}",),
        "cache",
        "Flag:14",
    ),
    "a rank is too low": (
        (f"UPDATE cache_label SET rank = 0 WHERE node = {BLOCK14}",),
        "cache",
        "rank of Block:14",
    ),
    "a source has a rank": (
        (f"UPDATE cache_label SET rank = -3 WHERE node = {SCAN}",),
        "cache",
        "rank of Scan:1",
    ),
    "a switch is missing from the cache": (
        (f"DELETE FROM cache_off WHERE target = {FLAG22}",),
        "cache",
        "switch of Flag:22",
    ),
    "a switch too many is in the cache": (
        (f"INSERT INTO cache_off SELECT {FLAG14}",),
        "cache",
        "switch of Flag:14",
    ),
    "the cache is empty": (
        ("DELETE FROM cache_label", "DELETE FROM cache_off"),
        "cache",
        "Flag:14",
    ),
}


@pytest.mark.parametrize("what", TAMPERING)
def test_tampering_is_found_by_its_rule_and_with_an_example(
    good: Path, tmp_path: Path, what: str
) -> None:
    statements, rule, example = TAMPERING[what]
    findings = found(tampered(good, tmp_path, *statements), revisions=None)
    assert rule in findings, sorted(findings)
    assert any(example in text for text in findings[rule].examples), findings[rule]


def test_every_rule_is_provoked_here() -> None:
    source = Path(tms.verification.__file__).read_text("utf-8")
    rules = set(re.findall(r"""add\(\s*"([a-z-]+)\"""", source))
    assert rules == {rule for _, rule, _ in TAMPERING.values()} | {"schema", "integrity"}


def test_a_ring_that_holds_itself_up_is_found(good: Path, tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with tms.open(path, clock=Clock()) as memory:
        memory.justify("Flag:1", [memory.source("Feed:1")], id="ground")
        memory.justify("Flag:2", ["Flag:1"], id="up")
        memory.justify("Flag:1", ["Flag:2"], id="down")
    circle = tampered(
        path,
        tmp_path,
        f"UPDATE transition SET support = {named('down')} WHERE node = {node('Flag:1')}",
    )
    findings = found(circle, revisions=None)
    assert "label" not in findings
    assert set(findings["support"].examples) >= {"Flag:1 at revision 4", "Flag:2 at revision 4"}
    assert found(path) == {}


# ---------------------------------------------------------------- the schema


@pytest.mark.parametrize(
    ("statement", "example"),
    [
        ("DROP TRIGGER node_update", "trigger node_update"),
        ("DROP TRIGGER transition_insert", "trigger transition_insert"),
        ("DROP VIEW why", "view why"),
        ("DROP INDEX switch_by_revision", "index switch_by_revision"),
        ("DROP TABLE switch", "table switch"),
        ("CREATE TABLE another (a)", "table another"),
        ("CREATE INDEX another ON node (role)", "index another"),
        ("CREATE TRIGGER another AFTER INSERT ON node BEGIN SELECT 1; END", "trigger another"),
        ("ALTER TABLE node ADD COLUMN another TEXT", "table node"),
        ("ALTER TABLE commits RENAME TO commitments", "table commitments"),
    ],
)
def test_what_is_not_as_schema_sql_has_it_is_named(
    good: Path, tmp_path: Path, statement: str, example: str
) -> None:
    path = tmp_path / "tampered.db"
    shutil.copy(good, path)
    with plain(path) as connection:
        connection.execute(statement)
    findings = found(path)
    assert example in findings["schema"].examples
    with tms.open(path, read_only=True) as memory:
        assert memory.verify().revisions == () or not example.startswith("table")


def test_a_guard_that_was_weakened_is_named(good: Path, tmp_path: Path) -> None:
    path = tmp_path / "tampered.db"
    shutil.copy(good, path)
    with plain(path) as connection:
        connection.execute("DROP TRIGGER node_update")
        connection.execute(
            "CREATE TRIGGER node_update BEFORE UPDATE ON node WHEN 0"
            " BEGIN SELECT RAISE (ABORT, 'tms: the record is append-only'); END"
        )
    assert found(path)["schema"].examples == ("trigger node_update",)


@pytest.mark.parametrize("lost", ["cache_label", "cache_off"])
def test_a_lost_cache_is_found_and_the_rest_is_checked_still(
    good: Path, tmp_path: Path, lost: str
) -> None:
    statements = (f"DROP TABLE {lost}", "UPDATE commits SET believed = 0 WHERE revision = 14")
    findings = found(tampered(good, tmp_path, *statements))
    assert findings.keys() == {"cache", "believed"}
    assert findings["cache"].examples == (f"table {lost}",)


def test_damaged_pages_are_found_wherever_the_file_can_still_be_opened(
    good: Path, tmp_path: Path
) -> None:
    path = tmp_path / "damaged.db"
    whole = good.read_bytes()
    opened = refused = 0
    for start in range(4096, len(whole), 4096):
        path.write_bytes(whole[:start] + Random(start).randbytes(4096) + whole[start + 4096 :])
        try:
            findings = found(path)
        except tms.CorruptStore:
            refused += 1
        else:
            assert list(findings) == ["integrity"]
            opened += 1
    assert opened > refused > 0


# ---------------------------------------------------------------- whatever is written


def _scramble(connection: sqlite3.Connection, random: Random) -> None:
    """Change something somewhere: a value, a row, or what a row refers to."""
    table = random.choice([*tables(connection), "cache_label", "cache_off"])
    columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
    column = random.choice(columns)
    values = [0, 1, -1, 2, 99, 2**62, -(2**62), None, "", "x", "justification", "{", b"\xff", 0.5]
    rows = connection.execute(f"SELECT * FROM {table}").fetchall()
    row = list(random.choice(rows)) if rows else [random.choice(values) for _ in columns]
    act = random.choice(["UPDATE", "DELETE", "INSERT", "INSERT"])
    where = " AND ".join(f'"{name}" IS ?' for name in columns)
    if act == "UPDATE":
        value = random.choice([*values, *row])
        connection.execute(
            f'UPDATE OR REPLACE {table} SET "{column}" = ? WHERE {where}', [value, *row]
        )
    elif act == "DELETE":
        connection.execute(f"DELETE FROM {table} WHERE {where}", row)
    else:
        row[columns.index(column)] = random.choice(values)
        connection.execute(
            f"INSERT OR REPLACE INTO {table} VALUES ({', '.join('?' * len(row))})", row
        )


@pytest.mark.parametrize("seed", range(60))
def test_whatever_is_tampered_with_verification_answers_and_never_raises(
    good: Path, tmp_path: Path, seed: int
) -> None:
    path = tmp_path / "tampered.db"
    shutil.copy(good, path)
    random = Random(seed)
    with plain(path) as connection:
        unguarded(connection)
        for _ in range(random.randint(1, 6)):
            try:
                _scramble(connection, random)
            except (sqlite3.IntegrityError, OverflowError):
                continue
    assert "schema" in found(path, revisions=None)


# ---------------------------------------------------------------- mending


@pytest.mark.parametrize("what", [name for name in TAMPERING if TAMPERING[name][1] == "cache"])
def test_a_rebuild_mends_what_is_wrong_with_the_cache(
    good: Path, tmp_path: Path, what: str
) -> None:
    path = tampered(good, tmp_path, *TAMPERING[what][0])
    with tms.open(path) as memory:
        memory.rebuild()
        assert memory.verify(revisions=None)


def test_verification_changes_nothing(good: Path, tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    shutil.copy(good, path)
    before = path.read_bytes()
    with tms.open(path) as memory:
        memory.verify(revisions=None)
    assert path.read_bytes() == before
    assert found(path) == {}
