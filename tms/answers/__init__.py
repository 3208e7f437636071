"""Answers to questions about belief: frozen models like every result."""

from tms.answers.absence import Lack, Waiting, WhyNot
from tms.answers.consequence import Impact, Reached
from tms.answers.derivation import Because, Step, Why
from tms.answers.difference import Diff, Revalidated, Revised
from tms.answers.duration import BelievedDuring, Period, Periods, Span
from tms.answers.extent import Pruned, Stats
from tms.answers.grounding import Bearing, Critical, Cuts, Environments, Origins
from tms.answers.keeping import Backup, Health, Imported
from tms.answers.life import Change, Commit, Event
from tms.answers.vicinity import Link, Near, Neighbourhood

__all__ = [
    "Backup",
    "Bearing",
    "Because",
    "BelievedDuring",
    "Change",
    "Commit",
    "Critical",
    "Cuts",
    "Diff",
    "Environments",
    "Event",
    "Health",
    "Impact",
    "Imported",
    "Lack",
    "Link",
    "Near",
    "Neighbourhood",
    "Origins",
    "Period",
    "Periods",
    "Pruned",
    "Reached",
    "Revalidated",
    "Revised",
    "Span",
    "Stats",
    "Step",
    "Waiting",
    "Why",
    "WhyNot",
]
