"""What is counted, as lines of a table."""

from typing import NamedTuple


class Count(NamedTuple):
    """A line of the table.

    Attributes:
        what: what was done.
        times: how often, with the unit.
        commits: how many commits were acknowledged; of rubbish, how much was taken.
        lost: how many of them, or of what was promised, were not there afterwards.
    """

    what: str
    times: str
    commits: int
    lost: int

    @property
    def line(self) -> str:
        """The line as Markdown."""
        return f"| {self.what} | {self.times} | {self.commits:,} | {self.lost:,} |"


HEAD = "| what | times | acknowledged, or taken | lost |\n|---|---:|---:|---:|"
