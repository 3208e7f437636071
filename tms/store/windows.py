"""When things hold in the world, as known at a revision."""

from collections.abc import Iterable
from typing import NamedTuple

from tms.clock import ALWAYS, Window
from tms.store.connection import Connection

_SEEN = """
v.revision = (
    SELECT max(revision) FROM validity AS u WHERE u.target = v.target AND u.revision < :at
)
AND ifnull(
    (SELECT scope FROM node WHERE node = v.target),
    (SELECT scope FROM justification WHERE justification = v.target)
) IN temp.mine
"""

_SETTLED = f"""
SELECT v.target, 1, v.valid_from FROM validity AS v INDEXED BY validity_by_start
WHERE v.valid_from > :low AND v.valid_from <= :high AND {_SEEN}
UNION ALL
SELECT v.target, 0, v.valid_to FROM validity AS v INDEXED BY validity_by_end
WHERE v.valid_to > :low AND v.valid_to <= :high AND {_SEEN}
"""

_LAST_BOUND = """
max(
    ifnull((SELECT max(valid_from) FROM validity WHERE valid_from <= {0}), -9223372036854775808),
    ifnull((SELECT max(valid_to) FROM validity WHERE valid_to <= {0}), -9223372036854775808)
)
"""
_BOUNDS = "SELECT {}, {}".format(
    _LAST_BOUND.format(":instant"),
    _LAST_BOUND.format("(SELECT 1000 * at + micro FROM commits WHERE revision = :at)"),
)

_NEWEST = """
SELECT v.target, v.valid_from, v.valid_to
FROM json_each(:keys) AS e CROSS JOIN validity AS v ON v.target = e.value
WHERE v.revision = (
    SELECT max(revision) FROM validity AS u WHERE u.target = e.value AND u.revision <= :at
)
"""

_LIFE = """
SELECT revision, valid_from, valid_to FROM validity
WHERE target = ? AND revision <= ? AND revision >= ? ORDER BY revision LIMIT ?
"""


_NEXT = f"""
SELECT * FROM (
    SELECT v.target, 1, v.valid_from FROM validity AS v INDEXED BY validity_by_start
    WHERE (v.valid_from, v.target) > (:low, :target) AND v.valid_from <= :high AND {_SEEN}
    ORDER BY v.valid_from, v.target LIMIT :limit
)
UNION ALL
SELECT * FROM (
    SELECT v.target, 0, v.valid_to FROM validity AS v INDEXED BY validity_by_end
    WHERE (v.valid_to, v.target) > (:low, :target) AND v.valid_to <= :high AND {_SEEN}
    ORDER BY v.valid_to, v.target LIMIT :limit
)
"""


class Bound(NamedTuple):
    """A bound of a window: when the target began to be valid, or expired."""

    target: int
    began: bool
    at: int


class Windows:
    """The windows on record."""

    def __init__(self, connection: Connection) -> None:
        self._sql = connection.sql

    def any(self) -> bool:
        """Return whether anything on record ever had a window. One seek."""
        (has,) = self._sql.execute(
            "SELECT EXISTS (SELECT 1 FROM validity WHERE target > 0)"
        ).fetchone()
        return bool(has)

    def of(self, target: int, at: int) -> Window:
        """Return when a target holds, as known at a revision. One seek."""
        row = self._sql.execute(
            "SELECT valid_from, valid_to FROM validity WHERE target = ? AND revision <= ?"
            " ORDER BY revision DESC LIMIT 1",
            (target, at),
        ).fetchone()
        return ALWAYS if row is None else Window(*row)

    def of_all(self, targets: Iterable[int], at: int) -> dict[int, Window]:
        """Return when targets hold, as known at a revision; those without a window are left out.

        One statement, a seek for each target.
        """
        values = {"keys": str(sorted(targets)), "at": at}
        rows = self._sql.execute(_NEWEST, values)
        return {target: Window(start, end) for target, start, end in rows}

    def bounds(self, instant: int, at: int) -> tuple[int, int]:
        """Return the last bound of any window up to an instant, and up to the time of a commit.

        If they are the same, nothing opened or closed between. A few seeks.
        """
        row: tuple[int, int] = self._sql.execute(_BOUNDS, {"instant": instant, "at": at}).fetchone()
        return row

    def settled(self, since: int | None, upto: int, revision: int) -> list[Bound]:
        """Return each bound passed between two commits, as known at the first.

        Args:
            since: the time of the first, in microseconds; None if there is none.
            upto: the time of the second.
            revision: the second.

        Cost: two seeks, and what was passed.
        """
        if since is None or since == upto:
            return []
        values = {"low": since, "high": upto, "at": revision}
        rows = self._sql.execute(_SETTLED, values).fetchall()
        return [Bound(target, bool(began), at) for target, began, at in rows]

    def settled_after(self, last: tuple[int, int], upto: int, at: int, limit: int) -> list[Bound]:
        """Return a page of what was passed, in the order of time and then of keys.

        Args:
            last: the bound after which, in microseconds, and its target.
            upto: the time of the commit that settled them, in microseconds.
            at: that commit.
            limit: at most so many.

        Cost: two seeks, and the page.
        """
        low, target = last
        values = {"low": low, "target": target, "high": upto, "at": at, "limit": limit}
        rows = self._sql.execute(_NEXT, values).fetchall()
        found = [Bound(target, bool(began), bound) for target, began, bound in rows]
        return sorted(found, key=lambda bound: (bound.at, bound.target))[:limit]

    def life(
        self, target: int, at: int, since: int = 0, limit: int = -1
    ) -> list[tuple[int, Window]]:
        """Return (revision, window) for each window that a target was given, oldest first."""
        rows = self._sql.execute(_LIFE, (target, at, since, limit)).fetchall()
        return [(revision, Window(start, end)) for revision, start, end in rows]
