"""How two recorded commits differ."""

from tms import history
from tms.answers import Diff, Revalidated, Revised
from tms.refs import Anchor, Ref
from tms.store import Beliefs, Between, Connection


def diff(connection: Connection, a: str, b: str, head: int) -> Diff:
    """Return the net difference of the commit ``b`` from the commit ``a``.

    Raises:
        InvalidAnchor, NoSuchAnchor: one of them is none of this file, or is after the head.

    Cost: grows with what was written between the two, not with the file.
    """
    beliefs = Beliefs(connection)
    start = history.revision_of(beliefs, a, head)
    end = history.revision_of(beliefs, b, head)
    low, high = sorted((start, end))
    between = Between(connection, low, high)
    keys = beliefs.last_key(low), beliefs.last_key(high)
    died, revived = between.belief()
    off, on = between.switches()
    none: list[tuple[str, str]] = []
    nodes = between.added("node", *keys), none
    justifications = between.added("justification", *keys), none
    versions = between.contents()
    windows = between.windows()
    if start > end:
        died, revived = revived, died
        off, on = on, off
        nodes, justifications = nodes[::-1], justifications[::-1]
        windows = [(kind, id, after, before) for kind, id, before, after in windows]
        versions = [(kind, id, after, before) for kind, id, before, after in versions]
    return Diff(
        before=Anchor(a),
        after=Anchor(b),
        died=history.refs(died),
        revived=history.refs(revived),
        added=history.refs(nodes[0]),
        missing=history.refs(nodes[1]),
        new_justifications=history.refs(justifications[0]),
        missing_justifications=history.refs(justifications[1]),
        retracted=history.refs(off),
        unretracted=history.refs(on),
        revised=tuple(
            Revised(ref=Ref.kept(kind, id), before=before, after=after)
            for kind, id, before, after in versions
        ),
        revalidated=tuple(
            Revalidated(
                ref=Ref.kept(kind, id),
                from_before=history.opened(before.start),
                to_before=history.opened(before.end),
                from_after=history.opened(after.start),
                to_after=history.opened(after.end),
            )
            for kind, id, before, after in windows
        ),
    )
