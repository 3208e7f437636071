import re
from pathlib import Path

import pytest
from making import Clock, fill, found, tampered

import tms


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("verify") / "memory.db"
    with tms.open(path, clock=Clock()) as memory:
        fill(memory)
        memory.fact("Flag:30", content={"alone": True})
    return path


@pytest.fixture(scope="module")
def pruned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file that begins with revision 17, of whose commits before that three are gone."""
    path = tmp_path_factory.mktemp("pruned") / "memory.db"
    with tms.open(":memory:", clock=Clock()) as memory:
        fill(memory)
        for _ in range(2):
            memory.retract("Scan:1")
            head = memory.unretract("Scan:1").after
        memory.redact("Feed:1")
        memory.retract("Feed:1")
        memory.prune(before=head, path=path)
    return path


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
    "a reason is another": (
        ("UPDATE commits SET reason = 'good mapping' WHERE revision = 10",),
        "chain",
        "r1:0000000000000010:2026",
    ),
    "a digest is another": (
        ("UPDATE commits SET digest = zeroblob(32) WHERE revision = 10",),
        "chain",
        "r1:0000000000000011:2026",
    ),
    "a content is another": (
        ("UPDATE content SET content = '{}' WHERE version = 1",),
        "chain",
        "r1:0000000000000001:2026",
    ),
    "a mark is another": (
        ("UPDATE content SET mark = zeroblob(16) WHERE version = 2",),
        "chain",
        "r1:0000000000000009:2026",
    ),
    "a mark is too long for any hash": (
        (
            "PRAGMA ignore_check_constraints = ON",
            "UPDATE content SET mark = zeroblob(99) WHERE version = 2",
        ),
        "chain",
        "r1:0000000000000009:2026",
    ),
    "a premise is gone, told of its commit": (
        (f"DELETE FROM premise WHERE justification = {ONLY_FEED}",),
        "chain",
        "r1:0000000000000006:2026",
    ),
    "a content is gone, told of its commit": (
        (
            "PRAGMA ignore_check_constraints = ON",
            "UPDATE content SET content = NULL WHERE version = 2",
        ),
        "chain",
        "r1:0000000000000009:2026",
    ),
    "a commit is gone, told where": (
        ("DELETE FROM commits WHERE revision = 5",),
        "chain",
        "revision 5 is not there",
    ),
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
    "a commit is told to nobody": (
        ("DELETE FROM concern WHERE revision = 5",),
        "scope",
        "revision 5",
    ),
    "a commit is told to another scope": (
        (
            "INSERT INTO scope VALUES (7, 'eve', 1)",
            "UPDATE concern SET scope = 7 WHERE revision = 9",
        ),
        "scope",
        "revision 9",
    ),
    "the count of a scope is off": (
        ("UPDATE concern SET believed = believed + 1 WHERE revision = 12",),
        "scope",
        "revision 12",
    ),
    "a commit is of another scope": (
        (
            "INSERT INTO scope VALUES (7, 'eve', 1)",
            "UPDATE commits SET scope = 7 WHERE revision = 8",
        ),
        "scope",
        "revision 8",
    ),
    "a premise is of another scope": (
        (
            "INSERT INTO scope VALUES (7, 'eve', 1)",
            f"UPDATE node SET scope = 7 WHERE node = {FEED}",
        ),
        "scope",
        "justification",
    ),
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
    "a content is gone that was not redacted": (
        ("UPDATE content SET content = NULL, mark = zeroblob(32) WHERE version = 2",),
        "redaction",
        "Feed:1 version 2",
    ),
    "a content is there that was redacted": (
        (f"INSERT INTO redaction SELECT {FEED}, 12",),
        "redaction",
        "Feed:1 version 1",
    ),
    "a redaction is of no revision": (
        (f"INSERT INTO redaction SELECT {FEED}, 99",),
        "orphan",
        "redaction row of revision 99",
    ),
    "a pruning is made up": (
        ("INSERT INTO pruned VALUES (1, 12, 0, NULL, NULL, 0, 0, 0, 0, 0, zeroblob(32))",),
        "pruned",
        "transitions left in",
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
    "a window is given to nobody": (
        ("INSERT INTO validity VALUES (999, 3, 1, NULL)",),
        "window",
        "key 999 at revision 3",
    ),
    "a window is given before there was one": (
        (f"INSERT INTO validity SELECT {BLOCK14}, 1, 1, NULL",),
        "window",
        "at revision 1",
    ),
    "a window is given twice": (
        (f"INSERT INTO validity SELECT {SCAN}, 3, valid_from, NULL FROM validity",),
        "window",
        "Scan:1 at revision 3",
    ),
    "a window is given in no revision": (
        (f"INSERT INTO validity SELECT {SCAN}, 99, 5, NULL",),
        "orphan",
        "validity row of revision 99",
    ),
    "a window was another": (
        ("UPDATE validity SET valid_from = 253402300799999999",),
        "label",
        "Scan:1 at revision 2",
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
    "a position is ahead of the head": (
        (f"INSERT INTO consumer SELECT '', 'mail', {LAST} + 1",),
        "consumer",
        "mail",
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


@pytest.mark.parametrize(
    ("statement", "rule", "example"),
    [
        ("DELETE FROM commits WHERE revision = 17", "pruned", "no baseline 17"),
        ("DELETE FROM commits WHERE revision = 18", "revisions", "revision 19"),
        ("DELETE FROM commits WHERE revision = 3", "pruned", "commits before revision 17"),
        ("UPDATE pruned SET commits = commits + 1", "pruned", "commits before revision 17"),
        ("UPDATE pruned SET baseline = 19", "pruned", "transitions left in"),
        ("UPDATE pruned SET pruning = 2", "pruned", "pruning 2"),
        ("DELETE FROM pruned", "revisions", "revision 17"),
        ("DELETE FROM redaction", "redaction", "Feed:1 version 2"),
        ("UPDATE content SET version = 3", "pruned", "2 content versions before others"),
        (
            f"INSERT INTO content SELECT {FEED}, 1, 1, NULL, zeroblob(32)",
            "pruned",
            "1 contents left in",
        ),
        (
            f"INSERT INTO transition SELECT 1, {FLAG22}, 1, {ONLY_FEED}",
            "pruned",
            "1 transitions left in",
        ),
        (f"DELETE FROM transition WHERE node = {FLAG14}", "label", "Flag:14 at revision 17"),
        ("UPDATE commits SET believed = 0 WHERE revision = 17", "believed", "revision 17"),
    ],
)
def test_tampering_with_a_pruned_file_is_found(
    pruned: Path, tmp_path: Path, statement: str, rule: str, example: str
) -> None:
    assert found(pruned, revisions=None) == {}
    findings = found(tampered(pruned, tmp_path, statement), revisions=None)
    assert rule in findings, findings
    assert any(example in text for text in findings[rule].examples), findings[rule]


def test_every_rule_is_provoked_here() -> None:
    rooms = [Path(room.__file__) for room in (tms.verification, tms.labelled, tms.chaining)]
    source = "".join(room.read_text("utf-8") for room in rooms)
    rules = set(re.findall(r"""add\(\s*"([a-z-]+)\"""", source))
    elsewhere = {"schema", "integrity", "kept"}
    assert rules == {rule for _, rule, _ in TAMPERING.values()} | elsewhere


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


@pytest.mark.parametrize("what", [name for name in TAMPERING if TAMPERING[name][1] == "cache"])
def test_a_rebuild_mends_what_is_wrong_with_the_cache(
    good: Path, tmp_path: Path, what: str
) -> None:
    path = tampered(good, tmp_path, *TAMPERING[what][0])
    with tms.open(path) as memory:
        memory.rebuild()
        assert memory.verify(revisions=None)
