"""How far each reader of the commits has come."""

from tms.store.connection import Connection


class Consumers:
    """The positions. Moving one belongs into a write transaction, and is no commit."""

    def __init__(self, connection: Connection) -> None:
        self._sql = connection.sql
        self._scope = connection.scope

    def position(self, name: str) -> int:
        """Return the last revision that a consumer acknowledged; 0 if there is none. One seek."""
        row = self._sql.execute(
            "SELECT revision FROM consumer WHERE scope = ? AND name = ?", (self._scope, name)
        ).fetchone()
        return int(row[0]) if row else 0

    def names(self) -> list[str]:
        """Return the names of those that have a position, in the order of their code points."""
        rows = self._sql.execute(
            "SELECT name FROM consumer WHERE scope = ? ORDER BY name", (self._scope,)
        )
        return [row[0] for row in rows]

    def advance(self, name: str, revision: int) -> int:
        """Move a position forward, never back; return where it is then."""
        self._sql.execute(
            "INSERT INTO consumer (scope, name, revision) VALUES (:scope, :name, :revision)"
            " ON CONFLICT (scope, name) DO UPDATE SET revision = excluded.revision"
            " WHERE excluded.revision > revision",
            {"name": name, "revision": revision, "scope": self._scope},
        )
        return self.position(name)

    def forget(self, name: str) -> bool:
        """Remove a position; return whether there was one."""
        gone = self._sql.execute(
            "DELETE FROM consumer WHERE scope = ? AND name = ?", (self._scope, name)
        )
        return bool(gone.rowcount)
