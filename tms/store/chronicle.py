"""The record in the order in which it came: what each commit said, a page at a time."""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from tms.clock import Window
from tms.refs import Ref
from tms.store.connection import Connection
from tms.store.fragments import IDENTITY, is_on

PAGE = 1000
"""How many rows, or keys, are read together."""

# A justification declares those of its conclusions that are new, and they have the next keys; so
# what is concluded by an older key was declared by that, and needs no row of its own.
_IMPLIED = "EXISTS (SELECT 1 FROM derive AS d WHERE d.node = n.node AND d.justification < n.node)"

_OWNER = (
    "ifnull((SELECT scope FROM node WHERE node = {0}),"
    " (SELECT scope FROM justification WHERE justification = {0}))"
)

_PASSED = f"""
EXISTS (
    SELECT 1 FROM validity AS v INDEXED BY validity_by_{{index}}
    WHERE v.{{bound}} > (SELECT 1000 * at + micro FROM commits WHERE revision = c.revision - 1)
        AND v.{{bound}} <= 1000 * c.at + c.micro
        AND v.revision = (
            SELECT max(revision) FROM validity AS u
            WHERE u.target = v.target AND u.revision < c.revision
        )
        AND {_OWNER.format("v.target")} = :own
)
"""

# What only settled what others own says nothing of the own scope.
_OWN = f"""
c.scope = :own AND (
    (SELECT max(scope) = 0 FROM scope)
    OR c.last_key > ifnull((SELECT last_key FROM commits WHERE revision = c.revision - 1), 0)
    OR EXISTS (SELECT 1 FROM content INDEXED BY content_by_revision WHERE revision = c.revision)
    OR EXISTS (SELECT 1 FROM switch INDEXED BY switch_by_revision WHERE revision = c.revision)
    OR EXISTS (SELECT 1 FROM validity INDEXED BY validity_by_revision WHERE revision = c.revision)
    OR EXISTS (SELECT 1 FROM redaction INDEXED BY redaction_by_revision WHERE revision = c.revision)
    OR {_PASSED.format(index="start", bound="valid_from")}
    OR {_PASSED.format(index="end", bound="valid_to")}
)
"""

_COMMITS = f"""
SELECT c.revision, 1000 * c.at + c.micro, c.op, c.reason, c."by", c.last_key FROM commits AS c
WHERE c.revision > :after AND c.revision <= :upto AND {_OWN} ORDER BY c.revision LIMIT :limit
"""

_NTH = f"""
SELECT c.revision FROM commits AS c WHERE c.revision <= :upto AND {_OWN}
ORDER BY c.revision LIMIT 1 OFFSET :before
"""

_NODES = f"""
SELECT n.node, n.kind || ':' || n.id, n.role, c.version IS NOT NULL, c.content,
    v.valid_from, v.valid_to
FROM node AS n
LEFT JOIN content AS c ON c.node = n.node AND c.version = 1 AND c.revision = n.revision
LEFT JOIN validity AS v ON v.target = n.node AND v.revision = n.revision
WHERE n.node > :low AND n.node <= :high AND +n.scope = :own AND NOT {_IMPLIED}
ORDER BY n.node
"""

_JUSTIFICATIONS = """
SELECT j.justification, j.name, j.rule, v.valid_from, v.valid_to
FROM justification AS j
LEFT JOIN validity AS v ON v.target = j.justification AND v.revision = j.revision
WHERE j.justification > :low AND j.justification <= :high AND +j.scope = :own
ORDER BY j.justification
"""

_ENDS = """
SELECT e.justification, n.kind || ':' || n.id, n.scope <> :own
FROM {} AS e CROSS JOIN node AS n ON n.node = e.node
WHERE e.justification > :low AND e.justification <= :high
    AND (SELECT scope FROM justification AS j WHERE j.justification = e.justification) = :own
ORDER BY e.justification, e.node
"""

_CONTENTS = f"""
SELECT c.revision, c.node, n.kind || ':' || n.id, c.version, c.content
FROM content AS c INDEXED BY content_by_revision CROSS JOIN node AS n ON n.node = c.node
WHERE (c.revision, c.node) > (:revision, :key) AND c.revision <= :upto AND +n.scope = :own
    AND (n.revision < c.revision OR c.version > 1 OR {_IMPLIED})
ORDER BY c.revision, c.node LIMIT :limit
"""

_WINDOWS = f"""
SELECT v.revision, v.target, n.kind || ':' || n.id, v.valid_from, v.valid_to
FROM validity AS v INDEXED BY validity_by_revision CROSS JOIN node AS n ON n.node = v.target
WHERE (v.revision, v.target) > (:revision, :key) AND v.revision <= :upto AND +n.scope = :own
    AND (n.revision < v.revision
        OR (coalesce(v.valid_from, v.valid_to) IS NOT NULL AND {_IMPLIED}))
ORDER BY v.revision, v.target LIMIT :limit
"""

_REDACTIONS = """
SELECT r.revision, r.node, n.kind || ':' || n.id
FROM redaction AS r INDEXED BY redaction_by_revision CROSS JOIN node AS n ON n.node = r.node
WHERE (r.revision, r.node) > (:revision, :key) AND r.revision <= :upto AND +n.scope = :own
ORDER BY r.revision, r.node LIMIT :limit
"""

_TURNS = f"""
SELECT s.revision, s.target, ifnull(n.kind || ':' || n.id, 'justification:' || {IDENTITY}), s.state
FROM switch AS s INDEXED BY switch_by_revision
LEFT JOIN node AS n ON n.node = s.target
LEFT JOIN justification AS j ON j.justification = s.target
WHERE (s.revision, s.target) > (:revision, :key) AND s.revision <= :upto
    AND ifnull(n.scope, j.scope) = :own
ORDER BY s.revision, s.target LIMIT :limit
"""

_RETRACTED = f"""
SELECT DISTINCT s.target, ifnull(n.kind || ':' || n.id, 'justification:' || {IDENTITY})
FROM switch AS s INDEXED BY switch_by_revision
LEFT JOIN node AS n ON n.node = s.target
LEFT JOIN justification AS j ON j.justification = s.target
WHERE s.revision > :at AND s.revision <= :upto AND ifnull(n.scope, j.scope) = :own
    AND {is_on("s.target", ":at")} = 1 AND {is_on("s.target", ":upto")} = 0
"""

_LAST_TURNS = """
SELECT e.value, 1000 * c.at + c.micro
FROM json_each(:keys) AS e JOIN commits AS c
    ON c.revision = (SELECT max(revision) FROM switch AS s WHERE s.target = e.value)
"""


class Made(NamedTuple):
    """A commit: its time in microseconds, and the last key given out by then."""

    revision: int
    instant: int
    op: str
    reason: str | None
    by: str | None
    last_key: int


class Declared(NamedTuple):
    """A node, with the content and the window that it was declared with.

    If it has content, that is None where it was redacted.
    """

    key: int
    ref: str
    role: str
    has_content: bool
    content: str | None
    window: Window


class Justified(NamedTuple):
    """A justification, what it needs and concludes in the order of their keys.

    What it needs that is shared, and not of its own scope, is named once more.
    """

    key: int
    name: str | None
    rule: str | None
    window: Window
    premises: list[str]
    conclusions: list[str]
    shared: list[str]


class Versioned(NamedTuple):
    """A content version given later, None where it was redacted."""

    revision: int
    key: int
    ref: str
    version: int
    content: str | None


class Rewindowed(NamedTuple):
    """A window given later."""

    revision: int
    key: int
    ref: str
    window: Window


class Removed(NamedTuple):
    """That a node was redacted."""

    revision: int
    key: int
    ref: str


class Switched(NamedTuple):
    """A turn of a switch."""

    revision: int
    key: int
    ref: str
    on: bool


Addition = Declared | Justified
Later = Versioned | Rewindowed


class Chronicle:
    """What the commits of the own scope said after a revision up to another, in that order.

    No statement and no transaction stays open between two pages. What is read was committed and
    stays as it is, but for contents: those may be redacted meanwhile.

    Args:
        connection: the file.
        after: the revision after which.
        upto: the revision up to which.
    """

    def __init__(self, connection: Connection, after: int, upto: int) -> None:
        self._connection = connection
        self._after = after
        self._upto = upto

    def commits(self) -> Iterator[Made]:
        """Yield the commits."""
        after = self._after
        while rows := self._read(_COMMITS, after=after, upto=self._upto, limit=PAGE):
            for row in rows:
                yield Made(*row)
            after = rows[-1][0]

    def nth(self, place: int) -> int:
        """Return the revision of the first, second, … commit; 0 before the first. Grows with it."""
        rows = self._read(_NTH, upto=self._upto, before=place - 1) if place else []
        return int(rows[0][0]) if rows else 0

    def additions(self) -> Iterator[Addition]:
        """Yield what has a key, but for the facts that a justification declared itself."""
        low, last = self.last_key(self._after), self.last_key(self._upto)
        while low < last:
            high = min(low + PAGE, last)
            with self._connection.snapshot():
                found: list[Addition] = [*self._nodes(low, high), *self._justifications(low, high)]
            yield from sorted(found, key=_key)
            low = high

    def last_key(self, revision: int) -> int:
        """Return the last key given out by a revision; 0 before the first."""
        rows = self._read(
            "SELECT last_key FROM commits WHERE revision = :revision", revision=revision
        )
        return int(rows[0][0]) if rows else 0

    def _nodes(self, low: int, high: int) -> list[Declared]:
        rows = self._read(_NODES, low=low, high=high)
        return [
            Declared(key, ref, role, bool(has), content, Window(start, end))
            for key, ref, role, has, content, start, end in rows
        ]

    def _justifications(self, low: int, high: int) -> list[Justified]:
        found = {
            key: Justified(key, name, rule, Window(start, end), [], [], [])
            for key, name, rule, start, end in self._read(_JUSTIFICATIONS, low=low, high=high)
        }
        for key, ref, shared in self._read(_ENDS.format("premise"), low=low, high=high):
            found[key].premises.append(ref)
            if shared:
                found[key].shared.append(ref)
        for key, ref, _ in self._read(_ENDS.format("derive"), low=low, high=high):
            found[key].conclusions.append(ref)
        return list(found.values())

    def contents(self) -> Iterator[Versioned]:
        """Yield the content versions that no declaration gave."""
        for row in self._pages(_CONTENTS):
            yield Versioned(*row)

    def windows(self) -> Iterator[Rewindowed]:
        """Yield the windows of nodes that no declaration gave."""
        for revision, key, ref, start, end in self._pages(_WINDOWS):
            yield Rewindowed(revision, key, ref, Window(start, end))

    def redactions(self) -> Iterator[Removed]:
        """Yield what was redacted."""
        for row in self._pages(_REDACTIONS):
            yield Removed(*row)

    def turns(self) -> Iterator[Switched]:
        """Yield the turns of switches."""
        for revision, key, ref, state in self._pages(_TURNS):
            yield Switched(revision, key, ref, bool(state))

    def redacted_since(self) -> bool:
        """Return whether a content was redacted after the last of these commits."""
        statement = (
            "SELECT 1 FROM redaction AS r INDEXED BY redaction_by_revision"
            " CROSS JOIN node AS n ON n.node = r.node"
            " WHERE r.revision > :upto AND n.scope = :own LIMIT 1"
        )
        return bool(self._read(statement, upto=self._upto))

    def retracted_since(self, revision: int) -> dict[int, Ref]:
        """Return what was on at a revision, or unknown, and is off at the last of these commits.

        Grows with the turns between.
        """
        rows = self._read(_RETRACTED, at=revision, upto=self._upto)
        return {key: Ref(ref) for key, ref in rows}

    def last_turns(self, targets: Iterable[int]) -> dict[int, int]:
        """Return when switches were last turned, in microseconds; others are left out."""
        rows = self._read(_LAST_TURNS, keys=str(list(targets)))
        return dict(rows)

    def _pages(self, statement: str) -> Iterator[Any]:
        revision, key = self._after, _PAST
        while rows := self._read(
            statement, revision=revision, key=key, upto=self._upto, limit=PAGE
        ):
            yield from rows
            revision, key = rows[-1][:2]

    def _read(self, statement: str, **values: int | str) -> list[Any]:
        with self._connection.snapshot():
            own = {"own": self._connection.own}
            return list(self._connection.sql.execute(statement, own | values).fetchall())


_PAST = (1 << 63) - 1


def _key(row: Addition) -> int:
    return row.key
