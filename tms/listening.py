"""Callbacks that hear of commits, in this process, once these are durable."""

from collections import deque
from collections.abc import Callable
from types import TracebackType
from typing import Self

from tms import history
from tms.models import Report
from tms.store import Connection

Callback = Callable[[Report], object]


class Listener:
    """A callback that hears of commits until it is stopped; a context manager."""

    def __init__(self, callback: Callback) -> None:
        self.callback = callback
        self.stopped = False

    def stop(self) -> None:
        """Never call it again, not even for what was committed before."""
        self.stopped = True

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()


class Listeners:
    """All of them, and what they have yet to hear.

    A callback may write. That commit waits in the queue until all have heard of the one before, so
    the calls never nest and each listener hears of the commits in order.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._all: list[Listener] = []
        self._queue: deque[tuple[Listener, int]] = deque()
        self._last: tuple[int, Report] | None = None
        self._calling = False

    def add(self, callback: Callback) -> Listener:
        """Call it after each commit from now on."""
        listener = Listener(callback)
        self._all.append(listener)
        return listener

    def clear(self) -> None:
        """Stop all of them."""
        for listener in self._all:
            listener.stop()
        self._all.clear()
        self._queue.clear()

    def note(self, revision: int, report: Report | None) -> None:
        """Take note of a commit, with its report where that was made."""
        self._all = [listener for listener in self._all if not listener.stopped]
        self._queue.extend((listener, revision) for listener in self._all)
        if self._all and report is not None and not self._calling:
            self._last = revision, report

    def call(self) -> None:
        """Tell everybody what they have yet to hear, unless that is going on already.

        The commit stands whatever a callback raises; what it raises goes to the log.
        """
        if self._calling or not self._queue:
            return
        self._calling = True
        try:
            while self._queue:
                listener, revision = self._queue.popleft()
                if not listener.stopped:
                    try:
                        listener.callback(self._report(revision))
                    except Exception as error:
                        _complain(listener.callback, revision, error)
        finally:
            self._calling, self._last = False, None

    def _report(self, revision: int) -> Report:
        if self._last is None or self._last[0] != revision:
            with self._connection.snapshot():
                self._connection.lay(None)
                self._last = revision, history.report(self._connection, revision)
        return self._last[1]


def _complain(callback: Callback, revision: int, error: Exception) -> None:
    import logging  # seldom needed

    name = getattr(callback, "__qualname__", None) or repr(callback)
    logging.getLogger("tms").error(
        "%s, called by on_commit after revision %d, failed; the commit stands.",
        name,
        revision,
        exc_info=error,
    )
