"""The rows of the tables, and what an aim is."""

from typing import NamedTuple

from benchmarks.timing import Pair


class Row(NamedTuple):
    """One line of a table.

    Attributes:
        what: was measured.
        ours: how much it took, in ``unit``.
        unit: of ``ours`` and of ``floor``.
        floor: what the least work, or what else ours is compared with, took in the same run.
        ratio: of ours to the floor, where that is what counts.
        aim: what is to be reached; empty if nothing is promised.
        reached: whether it was; None without an aim.
        note: what else was seen.
    """

    what: str
    ours: float
    unit: str
    floor: float | None = None
    ratio: float | None = None
    aim: str = ""
    reached: bool | None = None
    note: str = ""

    @property
    def line(self) -> str:
        """The row in Markdown."""
        floor = "" if self.floor is None else f"{number(self.floor)} {self.unit}"
        ratio = "" if self.ratio is None else f"{self.ratio:.2f}"
        mark = {True: "reached", False: "**missed**", None: ""}[self.reached]
        ours = f"{number(self.ours)} {self.unit}"
        return f"| {self.what} | {ours} | {floor} | {ratio} | {self.aim} | {mark} | {self.note} |"


HEAD = "| what | ours | floor | ratio | aim | | |\n|---|---:|---:|---:|---|---|---|"
"""The head of a table of rows."""


def number(value: float) -> str:
    """Write a number with as many digits as matter."""
    return f"{value:,.0f}" if value >= 1000 else f"{value:,.2f}"


def against(
    what: str, pair: Pair, aim: float | None = None, *, other: str = "floor", note: str = ""
) -> Row:
    """Return the row of a time that is to be at most some multiple of another."""
    row = Row(what, pair.ours * 1e3, "ms", pair.floor * 1e3, pair.ratio, note=note)
    if aim is None:
        return row
    return row._replace(aim=f"≤ {aim:g} × {other}", reached=pair.ratio <= aim)


def at_most(
    what: str, ours: float, unit: str, aim: float, *, floor: float | None = None, note: str = ""
) -> Row:
    """Return the row of a figure that is not to exceed some other."""
    return Row(what, ours, unit, floor, None, f"≤ {aim:,g} {unit}", ours <= aim, note)


def at_least(
    what: str, ours: float, unit: str, aim: float, *, floor: float | None = None, note: str = ""
) -> Row:
    """Return the row of a figure that is not to stay below some other."""
    return Row(what, ours, unit, floor, None, f"≥ {aim:,} {unit}", ours >= aim, note)
