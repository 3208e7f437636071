"""Judging every question that can be asked of a memory as it was, or is, at some instant."""

from collections import Counter
from collections.abc import Mapping, Sequence

from explaining import check_why
from grounding import check_grounds
from lacking import check_absences
from lasting import check_periods, check_spans
from neighbouring import check_neighbourhood
from oracle import Said, Snapshot
from supposing import check_previews

import tms


def check_questions(
    view: tms.View,
    snapshot: Snapshot,
    revisions: Sequence[Snapshot],
    names: Mapping[Said, tms.Ref],
    tally: Counter[str],
) -> None:
    """Ask about some of what is on record, other things at each revision."""
    place, nodes = snapshot.revision, list(snapshot.nodes)
    for ref in nodes[place % 3 :: 3]:
        check_why(view, snapshot, ref, names)
    check_previews(view, snapshot, names)
    for found in check_absences(view, revisions, snapshot, names):
        tally["absent"] += bool(found)
        tally["ungrounded circles"] += len(found.circles)
    for ref in nodes[place % 7 :: 7]:
        check_neighbourhood(view, snapshot, ref, names, place % 4)
    for said in list(snapshot.justifications)[place % 7 :: 7]:
        check_neighbourhood(view, snapshot, said, names, place % 3)
    if place % 4 == 0:
        check_periods(view, snapshot, names, tally)
    if place % 4 == 1:
        check_spans(view, snapshot, revisions, names)
    if place % 5 == 0:
        check_grounds(view, snapshot, names, members=7, every=3)
