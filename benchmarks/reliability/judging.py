"""A judge of files that shares no code with tms: plain SQL, and labels worked out from scratch."""

import hashlib
import re
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Iterable
from contextlib import closing
from itertools import pairwise
from pathlib import Path

TABLES = (
    "commits concern node content justification premise derive switch validity transition redaction"
)
"""The tables of the record that commits add to."""

_PROMISED = re.compile(r"\+(\d+)$")
_TOGETHER = re.compile(r"^(.*) of (\d+)\+\d+$")


class Wrong(AssertionError):
    """A file that breaks a promise."""


def demand(holds: object, *what: object) -> None:
    """Check that something holds.

    Raises:
        Wrong: it does not.
    """
    if not holds:
        raise Wrong(*what)


def fingerprint(path: Path) -> str:
    """Return a hash of all that the record in a file says."""
    said = hashlib.blake2b()
    with closing(sqlite3.connect(path)) as sql:
        for table in TABLES.split():
            for row in sql.execute(f"SELECT * FROM {table} ORDER BY 1, 2"):
                said.update(repr(row).encode())
    return said.hexdigest()


def judge(path: Path, *, last: int | None = None) -> int:
    """Judge a file; return its last revision.

    Its pages are whole, its revisions are 1, 2, 3 … (from the baseline on, if it was pruned), no
    row belongs to no commit, a commit whose ``by`` ends in ``+N`` added N nodes, of those whose
    ``by`` is ``NAME of M+N`` there are M or none, and what is believed is the least fixpoint.

    Args:
        path: the file, in which no window is limited.
        last: at how many of the last revisions belief is worked out; None for all.

    Raises:
        Wrong: it is not so.
    """
    with closing(sqlite3.connect(path)) as sql:
        sql.execute("BEGIN")
        demand(sql.execute("PRAGMA integrity_check").fetchall() == [("ok",)], "pages", path)
        (baseline,) = sql.execute("SELECT ifnull(max(baseline), 0) FROM pruned").fetchone()
        commits = sql.execute(
            'SELECT revision, "by", believed, last_key FROM commits ORDER BY revision'
        ).fetchall()
        asked = [row for row in commits if row[0] >= baseline]
        head = asked[-1][0]
        revisions = [row[0] for row in asked]
        demand(revisions == list(range(max(1, baseline), head + 1)), "revisions", revisions)
        _judge_rows(sql, head, commits[-1][3])
        if not baseline:
            _judge_whole(sql, commits)
        _Replay(sql).run({row[0]: row[2] for row in asked[-(last or len(asked)) :]})
    return int(head)


def _judge_rows(sql: sqlite3.Connection, head: int, last_key: int) -> None:
    for table in TABLES.split():
        columns = {row[1] for row in sql.execute(f"PRAGMA table_info({table})")}
        column, most = ("revision", head) if "revision" in columns else ("justification", last_key)
        (largest,) = sql.execute(f"SELECT ifnull(max({column}), 0) FROM {table}").fetchone()
        demand(largest <= most, "rows of no commit", table, largest, most)


def _judge_whole(
    sql: sqlite3.Connection, commits: Iterable[tuple[int, str | None, int, int]]
) -> None:
    added = dict(sql.execute("SELECT revision, count(*) FROM node GROUP BY revision").fetchall())
    for revision, by, _, _ in commits:
        promised = _PROMISED.search(by or "")
        if promised:
            found = added.get(revision, 0)
            demand(found == int(promised[1]), "half a commit", revision, by, found)
    series = Counter(
        found.groups() for _, by, *_ in commits if (found := _TOGETHER.search(by or ""))
    )
    for (name, many), there in series.items():
        demand(there == int(many), "half an import", name, there, many)


class _Replay:
    """Belief at one revision after another, as recorded and as it follows from the rest."""

    def __init__(self, sql: sqlite3.Connection) -> None:
        self._sources: dict[int, int] = {}  # with the revision that recorded each
        self._said: dict[int, tuple[int, list[int], list[int]]] = {}
        for node, role, revision in sql.execute("SELECT node, role, revision FROM node"):
            if role == "source":
                self._sources[node] = revision
        edges = {}
        for table in ("premise", "derive"):
            edges[table] = defaultdict(list)
            for justification, node in sql.execute(f"SELECT justification, node FROM {table}"):
                edges[table][justification].append(node)
        for key, revision in sql.execute("SELECT justification, revision FROM justification"):
            self._said[key] = (revision, edges["premise"][key], edges["derive"][key])
        self._turns = self._by_revision(sql, "SELECT revision, target, state FROM switch")
        self._moves = self._by_revision(sql, "SELECT revision, node, change FROM transition")
        self._facts = {key for (key,) in sql.execute("SELECT node FROM node WHERE role = 'fact'")}

    @staticmethod
    def _by_revision(sql: sqlite3.Connection, query: str) -> dict[int, list[tuple[int, int]]]:
        rows: dict[int, list[tuple[int, int]]] = defaultdict(list)
        for revision, key, value in sql.execute(query):
            rows[revision].append((key, value))
        return rows

    def run(self, believed: dict[int, int]) -> None:
        """Compare at some revisions, given how many facts each commit says are believed."""
        off: set[int] = set()
        held: set[int] = set()
        moments = sorted({*self._turns, *self._moves, *believed})
        for place in moments:
            for target, state in self._turns.get(place, ()):
                (off.discard if state else off.add)(target)
            for node, change in self._moves.get(place, ()):
                (held.add if change else held.discard)(node)
            if place in believed:
                follows = self._follows(off, place)
                demand(follows == held, "labels", place, sorted(follows ^ held)[:5])
                demand(len(follows & self._facts) == believed[place], "believed", place)

    def _follows(self, off: set[int], revision: int) -> set[int]:
        waiting: dict[int, int] = {}
        uses: dict[int, list[int]] = defaultdict(list)
        ready = [
            key for key, since in self._sources.items() if since <= revision and key not in off
        ]
        for key, (since, premises, derived) in self._said.items():
            if since <= revision and key not in off:
                waiting[key] = len(premises)
                for node in premises:
                    uses[node].append(key)
                if not premises:
                    ready += [node for node in derived if node not in off]
        held: set[int] = set()
        while ready:
            node = ready.pop()
            if node in held:
                continue
            held.add(node)
            for key in uses[node]:
                waiting[key] -= 1
                if not waiting[key]:
                    ready += [fact for fact in self._said[key][2] if fact not in off]
        return held


def anchors_of(path: Path) -> set[str]:
    """Return the anchors of all commits in a file, whoever made them."""
    with closing(sqlite3.connect(path)) as sql:
        return {anchor for (anchor,) in sql.execute("SELECT anchor FROM log")}


def in_order(anchors: list[str]) -> bool:
    """Return whether anchors are told in the order of commits, each once."""
    return all(before < after for before, after in pairwise(anchors))
