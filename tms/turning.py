"""What supports and what does not: the switches and the windows of an open commit."""

from collections.abc import Iterable
from typing import NamedTuple

from tms.clock import ALWAYS, Window
from tms.store import Bound, Crossed, Head, Named, Record


class TurningMark(NamedTuple):
    """What must be remembered to go back to a savepoint."""

    switches: dict[int, tuple[bool, str]]
    windows: dict[int, tuple[Window, str]]


class Turning:
    """The switches turned and the windows given in a commit, and the bounds that time passed.

    Args:
        record: where to look up what they were.
        base: the head on which the commit stands.
        now: the time of the commit, in microseconds.
        standing: the instant, in microseconds, at which all stands, if no time passes.
    """

    def __init__(self, record: Record, base: Head, now: int, standing: int | None) -> None:
        self._record = record
        self._base = base
        self._now = now if standing is None else standing
        self._since = base.instant if standing is None else standing
        self._switches: dict[int, tuple[bool, str]] = {}
        self._windows: dict[int, tuple[Window, str]] = {}

    def __bool__(self) -> bool:
        return bool(self._switches or self._windows)

    @property
    def count(self) -> int:
        """How many switches will have been turned."""
        return len(self._switches)

    def turn(self, named: Named, *, on: bool) -> None:
        """Turn a switch, if it is not in that state yet."""
        key = named.key
        if key in self._switches:
            if self._switches[key][0] != on:
                del self._switches[key]
        elif self._record.is_off(key) == on:
            self._switches[key] = (on, named.role)

    def outside(self, key: int, role: str, window: Window) -> bool:
        """Note the window of something new; return whether it does not hold now."""
        if window == ALWAYS:
            return False
        self._windows[key] = (window, role)
        return not window.holds(self._now)

    def window(self, key: int) -> Window:
        """Return the window that something has by now."""
        changed = self._windows.get(key)
        return self._record.window(key) if changed is None else changed[0]

    def revise(self, named: Named, window: Window) -> None:
        """Give a node another window."""
        key = named.key
        if key <= self._base.last_key and window == self._record.window(key):
            self._windows.pop(key, None)
        elif window != self.window(key):
            self._windows[key] = (window, named.role)

    def passed(self) -> list[Crossed]:
        """Return the windows of which a bound was passed since the last commit."""
        if self._since == self._now:
            return []
        return self._record.passed(self._since, self._now, self._base.revision)

    def events(self) -> list[Bound]:
        """Return each bound passed since the last commit."""
        return [
            Bound(one.target, began, bound)
            for one in self.passed()
            for began, bound in ((True, one.window.start), (False, one.window.end))
            if bound is not None and self._since < bound <= self._now
        ]

    def write(self, revision: int, passed: Iterable[Crossed]) -> dict[int, tuple[bool, str]]:
        """Write the switches and windows.

        Returns:
            What supports no longer, or again: whether it does now, and its role.
        """
        record = self._record
        record.turn(revision, ((key, on) for key, (on, _) in self._switches.items()))
        record.add_windows(revision, ((key, window) for key, (window, _) in self._windows.items()))
        turned = self._turned(passed)
        record.idle(
            [key for key, (works, _) in turned.items() if not works],
            [key for key, (works, _) in turned.items() if works],
        )
        return turned

    def _turned(self, passed: Iterable[Crossed]) -> dict[int, tuple[bool, str]]:
        state = {one.target: (one.role, one.on, one.window) for one in passed}
        for key, (window, role) in self._windows.items():
            on = state[key][1] if key in state else not self._record.is_off(key)
            state[key] = (role, on, window)
        for key, (on, role) in self._switches.items():
            state[key] = (role, on, state[key][2] if key in state else self._record.window(key))
        turned = {}
        for key, (role, on, window) in state.items():
            works = on and window.holds(self._now)
            if works == self._record.is_idle(key):
                turned[key] = (works, role)
        return turned

    def mark(self) -> TurningMark:
        """Return what ``restore`` needs."""
        return TurningMark(dict(self._switches), dict(self._windows))

    def restore(self, mark: TurningMark) -> None:
        """Go back to a mark."""
        self._switches, self._windows = dict(mark.switches), dict(mark.windows)
