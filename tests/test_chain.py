"""The chain of digests, recomputed by other means."""

import hashlib
import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
from making import Clock, fill, found, no_guards, plain, wander

import tms

NASTY = "".join(map(chr, range(0x21))) + "\"'\\/\x7f\x80\u2028\u2029é\ufeff\U0001f719"

SPANS = {
    "scope": (
        "scope, name, revision",
        "revision BETWEEN CASE :low WHEN 0 THEN 0 ELSE :low + 1 END AND :high",
        "revision, scope",
    ),
    "node": ("node, scope, kind, id, role, revision", ":below < node AND node <= :key", "node"),
    "content": (
        "node, version, revision, CAST(content AS BLOB), mark",
        ":low < revision AND revision <= :high",
        "node, version",
    ),
    "justification": (
        "justification, scope, name, digest, rule, revision",
        ":below < justification AND justification <= :key",
        "justification",
    ),
    "switch": (
        "target, revision, state",
        ":low < revision AND revision <= :high",
        "revision, target",
    ),
    "validity": (
        "target, revision, valid_from, valid_to",
        ":low < revision AND revision <= :high",
        "revision, target",
    ),
    "transition": (
        "revision, node, change, support",
        ":low < revision AND revision <= :high",
        "revision, node",
    ),
    "redaction": ("node, revision", ":low < revision AND revision <= :high", "revision, node"),
    "concern": (
        "scope, revision, believed",
        ":low < revision AND revision <= :high",
        "revision, scope",
    ),
}
COMMIT = 'revision, at, micro, op, reason, "by", last_key, believed, scope'
PRUNED = (
    'pruning, baseline, at, reason, "by", commits, contents, switches, windows, transitions, digest'
)


def rows(sql: sqlite3.Connection, low: int, high: int) -> Iterator[list[object]]:
    """The rows of the commits after one up to another, in canonical order."""
    keys = dict(sql.execute("SELECT revision, last_key FROM commits"))
    span = {"low": low, "high": high, "below": keys.get(low, 0), "key": keys[high]}
    for table, (columns, where, order) in SPANS.items():
        for row in sql.execute(
            f"SELECT {columns} FROM {table} WHERE {where} ORDER BY {order}", span
        ):
            if table == "content":
                *names, content, mark = row
                if content is not None:
                    mark = hashlib.blake2b(content, key=mark, digest_size=32).digest()
                row = (*names, mark)
            yield [table, *row]


def hashed(lines: list[list[object]]) -> bytes:
    hash = hashlib.blake2b(digest_size=32)
    for line in lines:
        plain = [value.hex() if isinstance(value, bytes) else value for value in line]
        text = json.dumps(plain, ensure_ascii=False, separators=(",", ":"))
        hash.update(text.encode() + b"\n")
    return hash.digest()


def check(path: Path) -> int:
    """Work out all digests of a file in plain Python; return how many."""
    with plain(path) as sql:
        (baseline,) = sql.execute("SELECT ifnull(max(baseline), 0) FROM pruned").fetchone()
        commits = sql.execute(f"SELECT digest, {COMMIT} FROM commits ORDER BY revision").fetchall()
        before = None
        for digest, *row in commits:
            if row[0] > baseline:
                lines = [["before", before], *rows(sql, row[0] - 1, row[0]), ["commits", *row]]
                assert hashed(lines) == digest, row
            before = digest
        if baseline:
            kept = list(rows(sql, 0, baseline))
            kept += [["commits", *row, digest] for digest, *row in commits if row[0] <= baseline]
            pruned = sql.execute(f"SELECT {PRUNED} FROM pruned ORDER BY pruning").fetchall()
            kept += [["pruned", *row] for row in pruned]
            digest = kept[-1].pop()
            assert hashed(kept) == digest
        return len(commits)


@pytest.mark.parametrize("seed", range(4))
def test_every_digest_is_what_the_documents_say(tmp_path: Path, seed: int) -> None:
    path = tmp_path / "memory.db"
    with tms.open(path, clock=Clock()) as memory:
        fill(memory)
        wander(memory, Random(seed), 30)
        memory.redact("Feed:1")
    assert check(path) > 30


def test_names_and_contents_of_any_text_are_hashed_whole(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with tms.open(path, clock=Clock()) as memory:
        memory.source(f"{NASTY.replace(':', '')}:{NASTY}", content={NASTY: NASTY})
        memory.justify(f"F:{NASTY}", [f"{NASTY.replace(':', '')}:{NASTY}"], rule=NASTY, id=NASTY)
        memory.retract(f"justification:{NASTY}", reason=NASTY, by=NASTY)
    assert check(path) == 3
    assert found(path, revisions=None) == {}


def test_all_text_reads_in_sqlite_as_json_dumps_writes_it() -> None:
    text = "".join(chr(code) for code in range(0x11000) if not 0xD800 <= code < 0xE000)
    values = [text, None, 0, -(2**63), 2**63 - 1, ""]
    with plain(":memory:") as sql:
        (line,) = sql.execute("SELECT json_array(?, ?, ?, ?, ?, ?)", values).fetchone()
    assert line == json.dumps(values, ensure_ascii=False, separators=(",", ":"))


def test_a_commit_of_many_rows_is_hashed_whole(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with tms.open(path, clock=Clock()) as memory:
        with memory.batch():
            memory.source("S:1")
            for number in range(3_000):
                memory.source(f"T:{number}", {"n": number})
                memory.justify(f"F:{number}", "S:1")
        memory.retract("S:1")
    assert check(path) == 2


def test_the_digests_of_a_pruned_file_go_on_from_its_baseline(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with tms.open(path, clock=Clock()) as memory:
        fill(memory)
        anchors = [commit.anchor for commit in memory.log()]
        memory.redact("Feed:1")
        last = memory.digest()
        memory.prune(before=anchors[8], path=tmp_path / "once.db", reason="old", by="keeper")
    with tms.open(tmp_path / "once.db", clock=Clock()) as once:
        second = once.digest()
        assert second.anchor == last.anchor
        assert once.verify(kept=second)
        once.prune(before=anchors[11], path=tmp_path / "twice.db")
    with tms.open(tmp_path / "twice.db", clock=Clock()) as twice:
        third = twice.digest()
        twice.retract("Scan:1")
        assert twice.verify(kept=third, revisions=None)
    for name, earlier in (("once", [last]), ("twice", [last, second])):
        for kept in earlier:
            (example,) = found(tmp_path / f"{name}.db", kept=kept)["kept"].examples
            assert "pruned since" in example
    assert all(check(tmp_path / f"{name}.db") for name in ("memory", "once", "twice"))


def test_what_is_forged_by_way_of_pruning_is_found_by_a_digest_from_before(tmp_path: Path) -> None:
    """Of the rows that a pruning keeps, no digest of a commit can be worked out any more."""
    path, forged = tmp_path / "memory.db", tmp_path / "forged.db"
    with tms.open(path, clock=Clock()) as memory:
        memory.source("Scan:1", content={"svc-14": "vulnerable"})
        memory.source("Scan:2")
        kept = memory.digest()
        memory.prune(before=memory.head, path=forged)
    with tms.open(forged) as pruned:
        after = pruned.digest()
    with no_guards(forged) as sql:
        sql.execute("""UPDATE content SET content = '{"svc-14":"fine"}'""")
        sql.create_function(
            "seal", 2, lambda c, m: hashlib.blake2b(c, key=m, digest_size=32).digest()
        )
        lines = [*rows(sql, 0, 2)]
        lines += [
            ["commits", *row, digest]
            for *row, digest in sql.execute(f"SELECT {COMMIT}, digest FROM commits")
        ]
        *row, _ = sql.execute(f"SELECT {PRUNED} FROM pruned").fetchone()
        sql.execute("UPDATE pruned SET digest = ?", (hashed([*lines, ["pruned", *row]]),))
    assert found(forged) == {}
    for digest in (kept, after):
        assert found(forged, kept=digest).keys() == {"kept"}


# ---------------------------------------------------------------- what is kept elsewhere


def test_a_digest_is_told_of_the_head_and_of_a_past_commit(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with tms.open(path, clock=Clock()) as memory:
        assert memory.digest() is None
        memory.source("Feed:1")
        first = memory.digest()
        memory.source("Feed:2")
        assert memory.digest() != first
        assert memory.as_of(recorded=first.anchor).digest() == first
        assert memory.digest().anchor == memory.head
        assert first == f"{first.anchor} {first.hex}"
        assert repr(first) == f"Digest('{first}')"
        assert tms.Digest(str(first)) == first
        assert memory.verify(kept=first)
        assert memory.verify(kept=str(first))
    with plain(path) as sql:
        assert sql.execute("SELECT digest FROM commits").fetchone() == (bytes.fromhex(first.hex),)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x",
        1,
        b"x",
        "r1:0000000000000001:2026-07-21T12:00:00.000Z",
        "r1:0000000000000001:2026-07-21T12:00:00.000Z " + "0" * 63,
        "r1:0000000000000001:2026-07-21T12:00:00.000Z " + "0" * 65,
        "r1:0000000000000001:2026-07-21T12:00:00.000Z " + "A" * 64,
        "r1:0000000000000001:2026-07-21T12:00:00.000Z  " + "0" * 64,
        "r1:0000000000000000:2026-07-21T12:00:00.000Z " + "0" * 64,
        "2026-07-21T12:00:00Z " + "0" * 64,
        "0" * 64,
    ],
)
def test_what_is_no_digest_is_refused(text: object) -> None:
    with pytest.raises(tms.InvalidDigest, match="not a digest"):
        tms.Digest(text)
    with tms.open(":memory:") as memory, pytest.raises(tms.InvalidDigest, match="not a digest"):
        memory.verify(kept=text)


def test_a_kept_digest_finds_what_the_file_alone_cannot_tell(tmp_path: Path) -> None:
    """Two files with the same commits, sound each; and one that lacks the last commit."""
    kept = []
    for name in ("one", "other"):
        with tms.open(tmp_path / f"{name}.db", clock=Clock()) as memory:
            memory.source("Feed:1", {"said": name})
            before = memory.digest()
            memory.source("Feed:2")
            kept += [before, memory.digest()]
            assert memory.verify()
    assert len(set(kept)) == 4
    for path, theirs in (("one", kept[2:]), ("other", kept[:2])):
        for digest in theirs:
            finding = found(tmp_path / f"{path}.db", kept=digest)["kept"]
            assert finding.examples[0].endswith("is there instead")
    ahead = tms.Digest(f"r1:0000000000000003:2026-07-21T12:00:02.000Z {'0' * 64}")
    assert found(tmp_path / "one.db", kept=ahead)["kept"].examples == (
        f"{ahead.anchor} is not there",
    )
    assert found(tmp_path / "one.db", kept=kept[0].replace("12:00:00", "12:00:01")).keys() == {
        "kept"
    }
