"""The chain of digests: that of a commit is over the one before it and over its own rows.

The canonical form is text, one line a row: a JSON array of the name of its table and of columns, as
``json.dumps(row, ensure_ascii=False, separators=(",", ":"))`` writes it, blobs in hexadecimal. The
rows are read from the file, by the writer before it closes a commit and by ``verify`` alike.
"""

import hashlib
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any, NamedTuple

from tms.store.connection import Connection


class Part(NamedTuple):
    """The rows that a table gives to a commit, or to all commits up to one.

    Attributes:
        table: its name.
        columns: what of a row is on its line, as SQL.
        rows: which rows, as SQL: what came after ``:before`` and up to ``:revision``.
        order: by which key they follow one another.
    """

    table: str
    columns: str
    rows: str
    order: str


_LATER = "revision > :before AND revision <= :revision"
_FIRST = "revision > CASE :before WHEN 0 THEN -1 ELSE :before END AND revision <= :revision"
"""The shared scope has revision 0, and is in the first commit."""

_FIRST_KEY = "ifnull((SELECT last_key FROM commits WHERE revision = :before), 0)"

_BEFORE_CONTENTS = (
    Part("scope", "scope, name, revision", _FIRST, "revision, scope"),
    Part(
        "node",
        "node, scope, kind, id, role, revision",
        f"node > {_FIRST_KEY} AND node <= :last_key",
        "node",
    ),
)
_AFTER_CONTENTS = (
    Part(
        "justification",
        "justification, scope, name, lower(hex(digest)), rule, revision",
        f"justification > {_FIRST_KEY} AND justification <= :last_key",
        "justification",
    ),
    Part("switch", "target, revision, state", _LATER, "revision, target"),
    Part("validity", "target, revision, valid_from, valid_to", _LATER, "revision, target"),
    Part("transition", "revision, node, change, support", _LATER, "revision, node"),
    Part("redaction", "node, revision", _LATER, "revision, node"),
    Part("concern", "scope, revision, believed", _LATER, "revision, scope"),
)
"""Hashed in this order, contents between the two. The digest of a justification is over its
premises and conclusions."""

# Of the nodes that are new in a commit they lie side by side; of older ones an index finds them.
_OF_OLDER = f"{_LATER} AND +node <= {_FIRST_KEY}"
_OF_NEW = (
    f"node > {_FIRST_KEY} AND node <= :last_key AND +revision > :before AND +revision <= :revision"
)

_COMMIT = ("revision", "at", "micro", "op", "reason", "by", "last_key", "believed", "scope")
_PRUNED = (
    "pruning",
    "baseline",
    "at",
    "reason",
    "by",
    "commits",
    "contents",
    "switches",
    "windows",
    "transitions",
)


def _listed(names: tuple[str, ...]) -> str:
    return ", ".join(f'"{name}"' for name in names)


def _own(table: str, names: tuple[str, ...]) -> str:
    """Return SQL for the line of a row that is not in the file yet, but given."""
    return f"SELECT json_array('{table}', {', '.join(f':{name}' for name in names)})"


def _lines(parts: tuple[Part, ...]) -> list[str]:
    """Return SQL for the lines of some parts. LIMIT -1 is none, and keeps the order inside."""
    return [
        f"SELECT line FROM (SELECT json_array('{part.table}', {part.columns}) AS line"
        f" FROM {part.table} WHERE {part.rows} ORDER BY {part.order} LIMIT -1)"
        for part in parts
    ]


_BEFORE = (
    "SELECT json_array('before', (SELECT lower(hex(digest)) FROM commits WHERE revision = :before))"
)
# The seal of a content is worked out outside of SQLite, not by a function in a statement: an
# interrupt that lands in one comes out as an error of SQLite.
_CONTENTS = " UNION ALL ".join(
    "SELECT * FROM (SELECT json_array('content', node, version, revision),"
    f" CAST(content AS BLOB), mark FROM content WHERE {rows} ORDER BY node, version LIMIT -1)"
    for rows in (_OF_OLDER, _OF_NEW)
)
_HERE = (
    f"SELECT NULL WHERE EXISTS (SELECT 1 FROM content WHERE {_OF_NEW})"
    f" OR EXISTS (SELECT 1 FROM content WHERE {_OF_OLDER})"
)
"""Stands in the place of contents, where there are any."""

_OF_ROWS = (*_lines(_BEFORE_CONTENTS), _HERE, *_lines(_AFTER_CONTENTS))
_OF_COMMIT = " UNION ALL ".join([_BEFORE, *_OF_ROWS, _own("commits", _COMMIT)])

_AND_DIGEST = "{}, lower(hex(digest))"
_OF_KEPT = " UNION ALL ".join(
    [
        *_OF_ROWS,
        *_lines(
            (
                Part("commits", _AND_DIGEST.format(_listed(_COMMIT)), _LATER, "revision"),
                Part(
                    "pruned", _AND_DIGEST.format(_listed(_PRUNED)), "pruning < :pruning", "pruning"
                ),
            )
        ),
        _own("pruned", _PRUNED),
    ]
)

_TOGETHER = 1024
_NEWLINE = "\n"
_LONGEST_KEY = 64


def seal(content: bytes, mark: bytes) -> bytes:
    """Return what of a content is hashed: a digest that only who has its mark can work out."""
    if len(mark) > _LONGEST_KEY:  # somebody wrote it there: it is the mark of no content
        return b""
    return hashlib.blake2b(content, key=mark, digest_size=32).digest()


class Chain:
    """The digests of a file: worked out from its rows, and as they are on record."""

    def __init__(self, connection: Connection) -> None:
        self._sql = connection.sql

    def next(self, said: Mapping[str, Any]) -> bytes:
        """Return the digest of a commit: of all its rows in the file, and of its own that is given.

        Args:
            said: the columns of its own row by their names.

        Cost: one statement, another if there are contents, and the rows.
        """
        return self._hashed(_OF_COMMIT, {**said, "before": said["revision"] - 1})

    def kept(self, said: Mapping[str, Any]) -> bytes:
        """Return the digest of what a pruned record has kept up to its baseline.

        Args:
            said: the columns of the row in ``pruned`` by their names.

        Cost: one statement, another if there are contents, and the rows.
        """
        (last_key,) = self._sql.execute(
            "SELECT ifnull(max(last_key), 0) FROM commits WHERE revision = ?", (said["baseline"],)
        ).fetchone()
        span = {"before": 0, "revision": said["baseline"], "last_key": last_key}
        return self._hashed(_OF_KEPT, {**said, **span})

    def _hashed(self, statement: str, values: Mapping[str, Any]) -> bytes:
        hash = hashlib.blake2b(digest_size=32)
        rows = self._sql.execute(statement, values)
        while some := rows.fetchmany(_TOGETHER):
            lines = list(chain.from_iterable(some))
            if None in lines:
                here = lines.index(None)
                hash.update("".join(f"{line}\n" for line in lines[:here]).encode())
                for line in self._contents(values):
                    hash.update(line)
                del lines[: here + 1]
            if lines:
                hash.update(f"{_NEWLINE.join(lines)}\n".encode())
        return hash.digest()

    def _contents(self, values: Mapping[str, Any]) -> Iterator[bytes]:
        for line, content, mark in self._sql.execute(_CONTENTS, values):
            sealed = mark if content is None else seal(content, mark)
            yield f'{line[:-1]},"{sealed.hex()}"]\n'.encode()

    # ------------------------------------------------------------ on record

    def links(self, baseline: int) -> Iterator[tuple[int, bool]]:
        """Yield each commit after a baseline, and whether its digest is that of its rows.

        Cost: reads the record once.
        """
        rows = self._sql.execute(
            f"SELECT digest, {_listed(_COMMIT)} FROM commits WHERE revision > ? ORDER BY revision",
            (baseline,),
        ).fetchall()
        for digest, *row in rows:
            yield row[0], self.next(dict(zip(_COMMIT, row, strict=True))) == digest

    def kept_stands(self) -> bool:
        """Return whether what the last pruning kept is still so. True if there was none.

        Cost: grows with what it kept.
        """
        row = self._sql.execute(
            f"SELECT digest, {_listed(_PRUNED)} FROM pruned ORDER BY pruning DESC LIMIT 1"
        ).fetchone()
        return row is None or self.kept(dict(zip(_PRUNED, row[1:], strict=True))) == row[0]

    def recorded(self, revision: int) -> tuple[int, bytes] | None:
        """Return the time and the digest of a commit that is on record. One seek."""
        row: tuple[int, bytes] | None = self._sql.execute(
            "SELECT at, digest FROM commits WHERE revision = ?", (revision,)
        ).fetchone()
        return row

    def vouching(self, revision: int) -> list[tuple[int, bytes]]:
        """Return the time of a commit, and a digest over all of the file up to it.

        That of a commit in a file that was pruned is not over the rows that were kept, so the
        digest of these is joined to it. After the one that is true now come those that were before
        the last pruning, and before the one before; none if there is no such commit.
        """
        recorded = self.recorded(revision)
        if recorded is None:
            return []
        at, digest = recorded
        kept = self._sql.execute("SELECT digest FROM pruned ORDER BY pruning DESC").fetchall()
        joined = [hashlib.blake2b(digest + own, digest_size=32).digest() for (own,) in kept]
        return [(at, one) for one in (*joined, digest)]
