"""A memory as it was, or as it is at some instant."""

from tms.asking import Questions
from tms.clock import told
from tms.store import Connection


class View(Questions):
    """A memory as it was at a recorded commit, as it is at an instant, or both. It only reads."""

    _viewed = True

    def __init__(self, connection: Connection, revision: int, instant: int | None) -> None:
        super().__init__(connection)
        self._seen = revision, instant

    def _revision(self) -> int:
        return self._seen[0]

    def _instant(self) -> int | None:
        return self._seen[1]

    def _unknown(self) -> str:
        return "Check the spelling; it may have been declared after this anchor."

    def __repr__(self) -> str:
        revision, instant = self._seen
        valid = "" if instant is None else f", valid {told(instant)}"
        return f"<tms view of {self._connection.path} at revision {revision}{valid}>"
