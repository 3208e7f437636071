"""What is told of commits, and what they moved: of those that concern the scopes that are seen.

Revisions run through all commits of the file. What a commit did is told only as far as it is seen:
of one that another scope made, which passed a bound of a window that is seen, only that.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from tms.store.connection import Connection
from tms.store.fragments import IDENTITY, told
from tms.store.lookup import Head

_OF_SCOPE = (
    "SELECT x.{0} FROM concern AS x WHERE x.scope = m.scope AND x.revision <= {1}"
    " ORDER BY x.revision DESC LIMIT 1"
)

_BELIEVED = f"(SELECT ifnull(sum(({_OF_SCOPE.format('believed', '{0}')})), 0) FROM temp.mine AS m)"

_SEEN = f"SELECT ifnull(max(({_OF_SCOPE.format('revision', '?')})), 0) FROM temp.mine AS m"

_COMMIT = f"""
SELECT c.revision, c.at, {told("c")}, {_BELIEVED.format("c.revision")}, c.micro FROM commits AS c
"""

_PAGE = f"""
WITH page (revision) AS MATERIALIZED (
    SELECT x.revision FROM concern AS x WHERE x.scope = 0
        AND x.revision > :after AND x.revision <= :upto
    UNION
    SELECT x.revision FROM concern AS x WHERE x.scope = :own
        AND x.revision > :after AND x.revision <= :upto
    ORDER BY 1 LIMIT :limit
)
{_COMMIT.replace("FROM commits AS c", "FROM page AS p CROSS JOIN commits AS c")}
ON c.revision = p.revision ORDER BY c.revision
"""

_MOVED = """
SELECT count(*) FROM transition AS t CROSS JOIN node AS n ON n.node = t.node
WHERE t.revision = ? AND t.change = ? AND n.role = 'fact' AND +n.scope IN temp.mine
"""


class CommitRow(NamedTuple):
    """A commit as it was made."""

    revision: int
    at: int
    op: str
    reason: str | None
    by: str | None
    believed: int
    micro: int


class Commits:
    """The commits, and what is named by what they wrote."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._sql = connection.sql

    @property
    def baseline(self) -> int:
        """The revision from which on can be asked; 0 if the file was never pruned."""
        pruned = self._connection.baseline
        return self.seen(pruned) if pruned else 0

    @property
    def begins(self) -> int:
        """The revision with which a pruned file begins, seen or not; 0 if it was never pruned."""
        return self._connection.baseline

    def seen(self, revision: int) -> int:
        """Return the last revision that is seen up to another; 0 if none is. A seek or two."""
        return int(self._sql.execute(_SEEN, (revision,)).fetchone()[0])

    def commit(self, revision: int) -> CommitRow:
        """Return a commit that there is. One seek."""
        statement = f"{_COMMIT} WHERE c.revision = ?"
        return CommitRow(*self._sql.execute(statement, (revision,)).fetchone())

    def head(self, revision: int, gained: int) -> Head:
        """Return a revision as a head, with so many more facts believed."""
        if not revision:
            return Head(0, 0, 0, 0)
        row = self.commit(revision)
        return Head(revision, row.at, self.last_key(revision), row.believed + gained, row.micro)

    def commits(self, after: int, upto: int, limit: int) -> list[CommitRow]:
        """Return a page of the commits that are seen after a revision, oldest first."""
        values = {"after": after, "upto": upto, "limit": limit, "own": self._connection.own}
        return [CommitRow(*row) for row in self._sql.execute(_PAGE, values).fetchall()]

    def count_moved(self, revision: int, change: int) -> int:
        """Count the facts that went OUT (0) or came IN (1) in a commit. Grows with them."""
        (count,) = self._sql.execute(_MOVED, (revision, change)).fetchone()
        return int(count)

    def last_revision(self) -> int:
        """Return the number of the last commit; 0 if there is none. One seek."""
        (last,) = self._sql.execute("SELECT ifnull(max(revision), 0) FROM commits").fetchone()
        return int(last)

    def instant(self, revision: int) -> int | None:
        """Return when a revision was committed, in microseconds. One seek."""
        row = self._sql.execute(
            "SELECT 1000 * at + micro FROM commits WHERE revision = ?", (revision,)
        ).fetchone()
        return row[0] if row else None

    def last_key(self, revision: int) -> int:
        """Return the largest key given out up to a revision."""
        row = self._sql.execute(
            "SELECT last_key FROM commits WHERE revision = ?", (revision,)
        ).fetchone()
        return row[0] if row else 0

    def believed(self, revision: int) -> int:
        """Return how many facts were IN at a revision. A seek or two."""
        (count,) = self._sql.execute(f"SELECT {_BELIEVED.format('?')}", (revision,)).fetchone()
        return int(count)

    def moved(self, revision: int, change: int) -> list[tuple[str, str]]:
        """Return (kind, id) of the facts that went OUT (0) or came IN (1) in a commit."""
        rows: list[tuple[str, str]] = self._sql.execute(
            "SELECT n.kind, n.id FROM transition AS t CROSS JOIN node AS n ON n.node = t.node"
            " WHERE t.revision = ? AND t.change = ? AND n.role = 'fact' AND +n.scope IN temp.mine"
            " ORDER BY n.kind, n.id",
            (revision, change),
        ).fetchall()
        return rows

    def turned(self, revision: int) -> list[int]:
        """Return the targets of the switches turned in a commit."""
        rows = self._sql.execute(
            "SELECT target FROM switch WHERE revision = ?", (revision,)
        ).fetchall()
        return [row[0] for row in rows]

    def declared(self, revision: int) -> Iterable[int]:
        """Return the keys that a commit gave out."""
        return range(self.last_key(revision - 1) + 1, self.last_key(revision) + 1)

    def revised(self, revision: int) -> list[int]:
        """Return the older nodes to which a commit gave a content version or a window."""
        rows = self._sql.execute(
            "SELECT node FROM content WHERE revision = :revision AND node <= :last"
            " UNION SELECT target FROM validity INDEXED BY validity_by_revision"
            " WHERE revision = :revision AND target <= :last",
            {"revision": revision, "last": self.last_key(revision - 1)},
        ).fetchall()
        return [row[0] for row in rows]

    def revision_at(self, instant: int, head: int) -> int:
        """Return the last revision at or before an instant, in microseconds.

        The one before the first, if there is none.
        """
        low, high = max(self._connection.baseline - 1, 0), head
        while low < high:  # the times never go back
            middle = (low + high + 1) // 2
            time = self.instant(middle)
            low, high = (
                (middle, high) if time is not None and time <= instant else (low, middle - 1)
            )
        return low

    def redacted(self, revision: int) -> list[int]:
        """Return the nodes that a commit redacted."""
        rows = self._sql.execute(
            "SELECT node FROM redaction INDEXED BY redaction_by_revision WHERE revision = ?",
            (revision,),
        ).fetchall()
        return [row[0] for row in rows]

    def names(self, keys: Sequence[int]) -> dict[int, tuple[str, str]]:
        """Return (kind, id) of nodes and justifications by their keys; of those that are seen."""
        rows = self._sql.execute(
            "SELECT n.node, n.kind, n.id FROM json_each(:keys) AS e"
            " CROSS JOIN node AS n ON n.node = e.value WHERE +n.scope IN temp.mine"
            f" UNION ALL SELECT j.justification, 'justification', {IDENTITY}"
            " FROM json_each(:keys) AS e CROSS JOIN justification AS j"
            " ON j.justification = e.value WHERE +j.scope IN temp.mine",
            {"keys": str(list(keys))},
        ).fetchall()
        return {key: (kind, id) for key, kind, id in rows}
