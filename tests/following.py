"""Following the commits of a memory, in each way there is, beside what is known of them."""

from collections.abc import Sequence

import tms

Told = tuple[tms.Anchor | None, str]


def told(report: tms.Report) -> Told:
    return report.after, report.to_json()


class Follower:
    """A listener on every handle and one subscription, against the reports in their order."""

    def __init__(self, reports: Sequence[Told]) -> None:
        self._reports = reports
        self._heard: list[Told] = []
        self._delivered: list[Told] = []

    def listen(self, memory: tms.Memory) -> tms.Memory:
        """Hear of the commits of a handle, which is returned."""
        memory.on_commit(lambda report: self._heard.append(told(report)))
        return memory

    def step(self, memory: tms.Memory, turn: int) -> None:
        """Take some reports, and acknowledge some of them or none."""
        taken, kept = 1 + turn * 5 % 4, turn * 7 % 5
        mail = memory.subscribe("mail")
        given = [told(report) for report in mail.take(taken)]
        done = len(self._delivered)
        assert given == self._reports[done : done + taken]
        if given[:kept]:
            self._delivered += given[:kept]
            last = self._delivered[-1][0]
            assert last is not None
            assert mail.acknowledge(last) == last
        assert mail.position == (self._delivered[-1][0] if self._delivered else None)

    def finish(self, memory: tms.Memory) -> None:
        """Take what is left, and compare all that was told with the reports."""
        while self._delivered != self._reports:
            self.step(memory, 2)
        assert memory.subscribe("mail").take() == ()
        assert self._heard == self._reports
        middle = len(self._reports) // 2
        since = self._reports[middle - 1][0] if middle else None
        assert [told(report) for report in memory.changes(since=since)] == self._reports[middle:]
