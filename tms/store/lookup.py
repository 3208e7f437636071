"""Looking up what the next addition to the record needs to know."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from operator import itemgetter
from typing import Any, NamedTuple

from tms.clock import ALWAYS, MILLI, Window
from tms.errors import CorruptStore
from tms.refs import is_digest
from tms.store.connection import SHARED, Connection

_LAST = 2**63 - 1

_BEYOND = """
SELECT ifnull((SELECT max(node) FROM node), 0) > :last_key
    OR ifnull((SELECT max(justification) FROM justification), 0) > :last_key
    OR ifnull((SELECT max(justification) FROM premise), 0) > :last_key
    OR ifnull((SELECT max(justification) FROM derive), 0) > :last_key
    OR EXISTS (SELECT 1 FROM content WHERE revision > :revision)
    OR EXISTS (SELECT 1 FROM switch INDEXED BY switch_by_revision WHERE revision > :revision)
    OR EXISTS (SELECT 1 FROM validity INDEXED BY validity_by_revision WHERE revision > :revision)
    OR EXISTS (SELECT 1 FROM transition WHERE revision > :revision)
    OR EXISTS (SELECT 1 FROM concern INDEXED BY concern_by_revision WHERE revision > :revision)
    OR EXISTS (SELECT 1 FROM scope INDEXED BY scope_by_revision WHERE revision > :revision)
    OR EXISTS (SELECT 1 FROM redaction INDEXED BY redaction_by_revision
        WHERE revision > :revision)
"""

_PASSED = """
WITH bound (target) AS (
    SELECT target FROM validity INDEXED BY validity_by_start
    WHERE valid_from > :low AND valid_from <= :high
    UNION
    SELECT target FROM validity INDEXED BY validity_by_end
    WHERE valid_to > :low AND valid_to <= :high
)
SELECT b.target, ifnull(n.role, 'justification'), v.valid_from, v.valid_to,
    ifnull((SELECT state FROM switch AS w WHERE w.target = b.target AND w.revision <= :at
        ORDER BY w.revision DESC LIMIT 1), 1)
FROM bound AS b
CROSS JOIN validity AS v ON v.target = b.target AND v.revision = (
    SELECT u.revision FROM validity AS u WHERE u.target = b.target AND u.revision <= :at
    ORDER BY u.revision DESC LIMIT 1
)
LEFT JOIN node AS n ON n.node = b.target
WHERE (v.valid_from > :low AND v.valid_from <= :high)
    OR (v.valid_to > :low AND v.valid_to <= :high)
ORDER BY b.target
"""

_SEES = """
SELECT EXISTS (
    SELECT 1 FROM json_each(?) AS e WHERE ifnull(
        (SELECT scope FROM node WHERE node = e.value),
        (SELECT scope FROM justification WHERE justification = e.value)
    ) IN temp.mine
)
"""

_ANY_PASSED = """
SELECT EXISTS (SELECT 1 FROM validity INDEXED BY validity_by_start
        WHERE valid_from > :low AND valid_from <= :high)
    OR EXISTS (SELECT 1 FROM validity INDEXED BY validity_by_end
        WHERE valid_to > :low AND valid_to <= :high)
"""

_NODE = """
SELECT node, role, revision, scope FROM node
WHERE scope IN temp.mine AND kind = ? AND id = ? AND revision <= ? ORDER BY scope DESC LIMIT 1
"""

_JUSTIFICATION = """
SELECT justification, 'justification', revision, scope FROM justification
WHERE scope IN temp.mine AND {} = ? AND revision <= ? ORDER BY scope DESC LIMIT 1
"""

TOGETHER = 128
"""How many rows one statement looks up or adds."""


class Head(NamedTuple):
    """The last commit; revision 0 is a file without any."""

    revision: int
    at: int
    last_key: int
    believed: int
    micro: int = 0

    @property
    def instant(self) -> int:
        """When it was made, in microseconds."""
        return self.at * MILLI + self.micro


class Named(NamedTuple):
    """What a ref names: a key, the role of its node, the revision that declared it, its scope."""

    key: int
    role: str
    revision: int
    scope: int


class Crossed(NamedTuple):
    """A window of which a bound was passed, and the switch of its target."""

    target: int
    role: str
    window: Window
    on: bool


class Lookup:
    """What is on record, by its names and keys, as the next addition finds it.

    Args:
        connection: the file.
        upto: the last revision of which names are looked up; by default the last there is.
    """

    def __init__(self, connection: Connection, upto: int | None = None) -> None:
        self._connection = connection
        self._sql = connection.sql
        self._upto = _LAST if upto is None else upto

    def head(self) -> Head:
        """Return the last commit. One seek."""
        row = self._sql.execute(
            "SELECT revision, at, last_key, believed, micro"
            " FROM commits ORDER BY revision DESC LIMIT 1"
        ).fetchone()
        return Head(*row) if row else Head(0, 0, 0, 0)

    def check_end(self, head: Head) -> None:
        """Check that nothing stands after the last commit. A seek for each table.

        Raises:
            CorruptStore: something does, so another program wrote to the record.
        """
        (beyond,) = self._sql.execute(_BEYOND, head._asdict()).fetchone()
        if beyond:
            raise CorruptStore(
                "rows of no commit stand at the end of the record.",
                hint="Another program wrote them. Run tms verify, and go back to a copy.",
            )

    def node(self, kind: str, id: str, at: int | None = None) -> Named | None:
        """Return the node of that ref, on record at a revision: the own one before the shared one.

        A seek for each of the two scopes.
        """
        upto = self._upto if at is None else at
        row = self._sql.execute(_NODE, (kind, id, upto)).fetchone()
        return Named(*row) if row else None

    def shared(self, kind: str, id: str) -> Named | None:
        """Return the shared node of that ref. One seek."""
        row = self._sql.execute(
            "SELECT node, role, revision, scope FROM node WHERE scope = ? AND kind = ? AND id = ?",
            (SHARED, kind, id),
        ).fetchone()
        return Named(*row) if row else None

    def justification(self, id: str, at: int | None = None) -> Named | None:
        """Return the justification of that id: a given name, or a digest in hex. As ``node``."""
        digest = is_digest(id)
        statement = _JUSTIFICATION.format("digest" if digest else "name")
        upto = self._upto if at is None else at
        row = self._sql.execute(statement, (bytes.fromhex(id) if digest else id, upto)).fetchone()
        return Named(*row) if row else None

    def same_justification(self, digest: bytes) -> Named | None:
        """Return the own justification with these premises, conclusions and rule. One seek."""
        found = self.justification(digest.hex())
        return found if found is not None and found.scope == self.own else None

    @property
    def own(self) -> int:
        """The key of the scope that is written to."""
        return self._connection.own

    def may_write(self, named: Named) -> bool:
        """Return whether something that is seen may be changed."""
        return named.scope == self.own

    def identity(self, justification: int) -> tuple[bytes, str]:
        """Return the digest of a justification and the id it is known by. One seek."""
        digest, name = self._sql.execute(
            "SELECT digest, name FROM justification WHERE justification = ?", (justification,)
        ).fetchone()
        return digest, name if name is not None else digest.hex()

    def nodes(self, refs: Sequence[tuple[str, str]]) -> dict[tuple[str, str], Named]:
        """Return those of many (kind, id) that name nodes. One seek each."""
        rows = self._many(
            "SELECT n.kind, n.id, n.node, n.role, n.revision, n.scope FROM (VALUES {places}) AS v"
            " CROSS JOIN node AS n ON n.scope IN temp.mine"
            " AND n.kind = v.column1 AND n.id = v.column2"
            f" WHERE n.revision <= {self._upto}",
            "(?, ?)",
            refs,
        )
        return {(kind, id): Named(*rest) for kind, id, *rest in self._own_last(rows)}

    def digests(self, digests: Sequence[bytes]) -> dict[bytes, str]:
        """Return the ids of those of many digests that are on record. One seek each."""
        rows = self._many(
            "SELECT digest, name FROM justification"
            f" WHERE scope = {self.own} AND digest IN ({{places}}) AND revision <= {self._upto}",
            "?",
            [(digest,) for digest in digests],
        )
        return {digest: digest.hex() if name is None else name for digest, name in rows}

    def given_names(self, names: Sequence[str]) -> dict[str, Named]:
        """Return those of many given names that name justifications. One seek each."""
        rows = self._many(
            "SELECT name, justification, 'justification', revision, scope FROM justification"
            f" WHERE scope IN temp.mine AND name IN ({{places}}) AND revision <= {self._upto}",
            "?",
            [(name,) for name in names],
        )
        return {name: Named(*rest) for name, *rest in self._own_last(rows)}

    def _own_last(self, rows: Iterable[tuple[Any, ...]]) -> Iterable[tuple[Any, ...]]:
        """Return rows that end with a scope so that what is own comes after what is shared."""
        return sorted(rows, key=itemgetter(-1)) if self.own else rows

    def _many(
        self, statement: str, place: str, values: Sequence[tuple[object, ...]]
    ) -> Iterator[tuple[Any, ...]]:
        for start in range(0, len(values), TOGETHER):
            some = values[start : start + TOGETHER]
            places = ", ".join([place] * len(some))
            yield from self._sql.execute(
                statement.format(places=places), list(chain.from_iterable(some))
            ).fetchall()

    def sees(self, targets: Iterable[int]) -> bool:
        """Return whether one of some nodes and justifications is seen. A seek for each."""
        (seen,) = self._sql.execute(_SEES, (str(list(targets)),)).fetchone()
        return bool(seen)

    def content(self, node: int) -> tuple[int, str | None]:
        """Return the newest content of a node and its version; (0, None) if it has none."""
        row = self._sql.execute(
            "SELECT version, content FROM content WHERE node = ? ORDER BY version DESC LIMIT 1",
            (node,),
        ).fetchone()
        return (row[0], row[1]) if row else (0, None)

    def has_content(self, node: int) -> bool:
        """Return whether a content version of a node was not redacted. Grows with its versions."""
        (has,) = self._sql.execute(
            "SELECT EXISTS (SELECT 1 FROM content WHERE node = ? AND content IS NOT NULL)", (node,)
        ).fetchone()
        return bool(has)

    def is_off(self, target: int) -> bool:
        """Return whether the switch of the target is off. One seek."""
        row = self._sql.execute(
            "SELECT state FROM switch WHERE target = ? ORDER BY revision DESC LIMIT 1", (target,)
        ).fetchone()
        return row is not None and not row[0]

    def is_idle(self, target: int) -> bool:
        """Return whether the target supports nothing: it is off, or outside its window."""
        row = self._sql.execute("SELECT 1 FROM cache_off WHERE target = ?", (target,)).fetchone()
        return row is not None

    def window(self, target: int) -> Window:
        """Return when the target holds. One seek."""
        row = self._sql.execute(
            "SELECT valid_from, valid_to FROM validity WHERE target = ?"
            " ORDER BY revision DESC LIMIT 1",
            (target,),
        ).fetchone()
        return ALWAYS if row is None else Window(*row)

    def passed(self, low: int, high: int, at: int) -> list[Crossed]:
        """Return the windows, as of a revision, with a bound after an instant up to another.

        Args:
            low: the instant after which, in microseconds.
            high: the instant up to which.
            at: the revision.

        Cost: two seeks, and what was passed.
        """
        values = {"low": low, "high": high, "at": at}
        (any_,) = self._sql.execute(_ANY_PASSED, values).fetchone()  # mostly none is
        rows = self._sql.execute(_PASSED, values).fetchall() if any_ else []
        return [
            Crossed(target, role, Window(start, end), bool(on))
            for target, role, start, end, on in rows
        ]
