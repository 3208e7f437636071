"""How far each reader of the commits has come."""

from tms.store.connection import Connection


class Consumers:
    """The positions. Moving one belongs into a write transaction, and is no commit."""

    def __init__(self, connection: Connection) -> None:
        self._sql = connection.sql

    def position(self, name: str) -> int:
        """Return the last revision that a consumer acknowledged; 0 if there is none. One seek."""
        row = self._sql.execute("SELECT revision FROM consumer WHERE name = ?", (name,)).fetchone()
        return int(row[0]) if row else 0

    def names(self) -> list[str]:
        """Return the names of those that have a position, in the order of their code points."""
        return [row[0] for row in self._sql.execute("SELECT name FROM consumer ORDER BY name")]

    def advance(self, name: str, revision: int) -> int:
        """Move a position forward, never back; return where it is then."""
        self._sql.execute(
            "INSERT INTO consumer (name, revision) VALUES (:name, :revision)"
            " ON CONFLICT (name) DO UPDATE SET revision = excluded.revision"
            " WHERE excluded.revision > revision",
            {"name": name, "revision": revision},
        )
        return self.position(name)

    def forget(self, name: str) -> bool:
        """Remove a position; return whether there was one."""
        return bool(self._sql.execute("DELETE FROM consumer WHERE name = ?", (name,)).rowcount)
