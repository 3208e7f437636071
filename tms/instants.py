"""What holds at another instant than that of a commit: worked out without a write.

Not valid at an instant is as good as switched off, so the labelling that settles switches settles
windows too. What then differs from the labels of the commit is laid over all that is read.
"""

from tms.labelling import Turned, settle
from tms.refs import JUSTIFICATION
from tms.store import Connection, Imagined, Overlay, Windows


def stands(windows: Windows, found: Overlay | None, revision: int, instant: int) -> bool:
    """Return whether an overlay that was worked out before still is that of an instant."""
    return (
        found is not None
        and found.revision == revision
        and found.bound == windows.bounds(instant, revision)[0]
    )


def overlay(connection: Connection, revision: int, instant: int, *, live: bool) -> Overlay | None:
    """Return what differs at an instant, as known at a revision; None if nothing can.

    Args:
        connection: the file, in a snapshot, with nothing laid over it.
        revision: which commit is read.
        instant: when, in microseconds.
        live: the commit is the last, and its cached labels may be used.

    Cost: some seeks; grows with what opened or closed between the commit and the instant, and
    what that changes.
    """
    if not revision:
        return None
    bound, labelled = Windows(connection).bounds(instant, revision)
    if bound == labelled:
        return None
    imagined = Imagined(connection, revision, live=live)
    then = imagined.head().instant
    low, high = sorted((then, instant))
    turned: dict[tuple[str, bool], list[int]] = {}
    for target, role, window, on in imagined.passed(low, high, revision):
        works = on and window.holds(instant)
        if works != (on and window.holds(then)):
            turned.setdefault((role, works), []).append(target)

    def those(role: str, *, work: bool) -> list[int]:
        return turned.get((role, work), [])

    idle = [key for (_, work), keys in turned.items() for key in keys if not work]
    working = [key for (_, work), keys in turned.items() for key in keys if work]
    imagined.idle(idle, working)
    changes = settle(
        imagined,
        Turned(
            nodes_off=those("source", work=False) + those("fact", work=False),
            justifications_off=those(JUSTIFICATION, work=False),
            sources_on=those("source", work=True),
            facts_on=those("fact", work=True),
            justifications_on=those(JUSTIFICATION, work=True),
        ),
    )
    rows = []
    gained = 0
    for node, (before, after) in changes.items():
        rows.append((node, int(after is not None), None if after is None else after[1]))
        gained += (after is not None and after[1] is not None) - (
            before is not None and before[1] is not None
        )
    return Overlay(revision, bound, instant, tuple(rows), gained)
