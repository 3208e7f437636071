"""What leaves a memory: what stands before a baseline, in the new file that it is pruned into."""

from tms.answers import Pruned
from tms.clock import MILLI, moment
from tms.refs import Anchor
from tms.store import Beliefs, Connection, Pruner, Pruning, left_out, prunings


def prune(
    connection: Connection,
    baseline: int,
    path: str | None,
    now: int,
    reason: str | None,
    by: str | None,
) -> Pruned:
    """Write a pruned copy, or only count what it would leave out; see ``Memory.prune``.

    Args:
        connection: the file, in a snapshot.
        baseline: the revision that the copy begins with.
        path: the new file; None for none.
        now: when, in milliseconds; not before that commit.
        reason: why.
        by: by whom.
    """
    committed = Beliefs(connection).commit(baseline).at
    at = max(now, committed)
    pruning = Pruning(baseline, committed, at, reason, by, left_out(connection, baseline))
    if path is not None:
        Pruner(connection, baseline).write(path, pruning)
    return _told(pruning, path)


def pruned(connection: Connection) -> tuple[Pruned, ...]:
    """Return each time that the file was pruned, oldest first."""
    return tuple(_told(pruning, None) for pruning in prunings(connection))


def _told(pruning: Pruning, path: str | None) -> Pruned:
    return Pruned(
        before=Anchor.kept(pruning.baseline, pruning.committed),
        path=path,
        at=moment(pruning.at * MILLI),
        reason=pruning.reason,
        by=pruning.by,
        **pruning.left_out._asdict(),
    )
