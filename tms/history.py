"""What happened: the report of a commit, the log, and the life of one node."""

from collections.abc import Iterator
from datetime import datetime
from typing import NamedTuple

from tms.answers import Commit, Event
from tms.clock import MILLI, moment
from tms.content import kept
from tms.errors import CorruptStore, Forgotten, NoSuchAnchor
from tms.models import Report, Settled, Survivor
from tms.refs import JUSTIFICATION, Anchor, Ref
from tms.store import (
    Beliefs,
    Bound,
    Causes,
    Change,
    CommitRow,
    Connection,
    Head,
    Named,
    Windows,
)

_LOG_PAGE = 500


def anchor(beliefs: Beliefs, revision: int) -> Anchor | None:
    """Return the anchor of the last commit that is seen up to a revision; None if there is none."""
    seen = beliefs.seen(revision)
    instant = beliefs.instant(seen)
    return None if instant is None else Anchor.kept(seen, instant // MILLI)


def anchor_of(head: Head) -> Anchor | None:
    """Return the anchor of a head; None if there is no commit yet."""
    return Anchor.kept(head.revision, head.at) if head.revision else None


def revision_of(beliefs: Beliefs, text: str, head: int) -> int:
    """Return the revision that an anchor names in this file.

    Raises:
        InvalidAnchor: it is no anchor.
        NoSuchAnchor: it is ahead of the head, or was given out by another file.
        Forgotten: it is from before the file was pruned.
    """
    given = Anchor(text)
    if given.revision < beliefs.baseline:
        raise forgotten(beliefs, str(given))
    found = anchor(beliefs, given.revision) if given.revision <= head else None
    if found == given:
        return given.revision
    where = "Take anchors from head, log() or a report of this same file."
    last = anchor(beliefs, head)
    if last is None or given.revision > last.revision:
        raise NoSuchAnchor(
            f"{given} is ahead of the head ({last or 'no commit yet'}).", hint=where, ids=(given,)
        )
    if found is None or found.revision != given.revision:
        raise NoSuchAnchor(f"{given} is no commit of this memory.", hint=where, ids=(given,))
    raise NoSuchAnchor(
        f"{given} is of another history: here revision {given.revision} is {found}.",
        hint=where,
        ids=(given,),
    )


def revision_in_file(beliefs: Beliefs, text: str) -> int:
    """Return the revision that an anchor names in this file, whichever scope made it.

    Raises:
        InvalidAnchor: it is no anchor.
        NoSuchAnchor: it is of no commit in this file.
        Forgotten: it is from before the file was pruned.
    """
    given = Anchor(text)
    if given.revision < beliefs.begins:
        raise forgotten(beliefs, str(given))
    instant = beliefs.instant(given.revision)
    if instant is None or Anchor.kept(given.revision, instant // MILLI) != given:
        raise NoSuchAnchor(
            f"{given} is no commit of this file.",
            hint="Take anchors from head, log(), digest() or a report of this same file.",
            ids=(given,),
        )
    return given.revision


def forgotten(beliefs: Beliefs, what: str, then: str = "") -> Forgotten:
    """Return the error that says that something was pruned, and what else to do about it."""
    first = str(anchor(beliefs, beliefs.baseline))
    return Forgotten(
        f"the file was pruned, and no longer tells of {what}.",
        hint=f"It can be asked from {first} on; the file it is from has what was before.{then}",
        ids=(first,),
    )


def check_told(beliefs: Beliefs, revision: int) -> None:
    """Refuse what a commit changed, where that is not on record any more.

    Raises:
        Forgotten: it is the baseline of a pruned file.
    """
    if beliefs.baseline and revision <= beliefs.baseline:
        told = f"what {anchor(beliefs, revision)} changed"
        raise forgotten(beliefs, told, " Whoever follows it acknowledges that commit and goes on.")


def report(connection: Connection, revision: int) -> Report:
    """Work out the report of a commit from the record.

    Raises:
        Forgotten: the file begins with this commit, as it was pruned.

    Cost: grows with what the commit moved and the uses of what went OUT, not with the file.
    """
    beliefs = Beliefs(connection)
    commit = beliefs.commit(revision)
    check_told(beliefs, revision)
    passed = Windows(connection).settled(
        beliefs.instant(revision - 1), commit.at * MILLI + commit.micro, revision
    )
    return Report(
        op=commit.op,
        changed=True,
        before=anchor(beliefs, revision - 1),
        after=Anchor.kept(revision, commit.at),
        targets=_targets(beliefs, revision, commit.op),
        died=refs(beliefs.moved(revision, 0)),
        revived=refs(beliefs.moved(revision, 1)),
        survived_via=tuple(survivors(beliefs, revision, beliefs.survived(revision)).values()),
        settled=settled(beliefs, passed),
        reason=commit.reason,
        by=commit.by,
        believed_before=beliefs.believed(revision - 1),
        believed_after=commit.believed,
    )


def nothing(beliefs: Beliefs, head: Head, op: str, reason: str | None, by: str | None) -> Report:
    """Return the report of a verb that changed nothing."""
    here = anchor(beliefs, head.revision)
    return Report(
        op=op,
        changed=False,
        before=here,
        after=here,
        targets=(),
        died=(),
        revived=(),
        survived_via=(),
        reason=reason,
        by=by,
        believed_before=head.believed,
        believed_after=head.believed,
    )


def settled(beliefs: Beliefs, passed: list[Bound]) -> tuple[Settled, ...]:
    """Return what began or expired when bounds were passed, in the order of time."""
    if not passed:
        return ()
    named = beliefs.names([bound.target for bound in passed])
    events = sorted((at, named[target], began) for target, began, at in passed)
    return tuple(
        Settled(ref=Ref.kept(*name), cause="began" if began else "expired", at=moment(at))
        for at, name, began in events
    )


def opened(bound: int | None) -> datetime | None:
    """Return the bound of a window as a moment; None is open."""
    return None if bound is None else moment(bound)


def refs(pairs: list[tuple[str, str]]) -> tuple[Ref, ...]:
    """Return the refs of (kind, id) pairs from the file."""
    kept = Ref.kept
    return tuple([kept(kind, id) for kind, id in pairs])


def _targets(beliefs: Beliefs, revision: int, op: str) -> tuple[Ref, ...]:
    keys = beliefs.turned(revision)
    if op in ("source", "fact"):
        keys = [*beliefs.declared(revision), *beliefs.revised(revision)]
    elif op == "revise":
        keys = beliefs.revised(revision)
    elif op == "redact":
        keys = beliefs.redacted(revision)
    elif op in ("justify", "axiom"):
        keys = list(beliefs.declared(revision))
    names = list(beliefs.names(keys).values())
    if op in ("justify", "axiom"):
        names = [(kind, id) for kind, id in names if kind == JUSTIFICATION]
    return refs(sorted(names))


def survivors(beliefs: Beliefs, revision: int, rows: list[tuple[int, str]]) -> dict[int, Survivor]:
    """Return what survived a commit, by key, in the order of (kind, id).

    Args:
        beliefs: the file.
        revision: the commit.
        rows: (fact, id of a justification) for each fact and what it lost.
    """
    lost: dict[int, list[str]] = {}
    for fact, id in rows:
        lost.setdefault(fact, []).append(id)
    if not lost:
        return {}
    facts = list(lost)
    via: dict[int, list[str]] = {fact: [] for fact in facts}
    supports: dict[int, str] = {}
    for fact, id, rests in beliefs.firing(facts, revision):
        via[fact].append(id)
        if rests:
            supports[fact] = id
    names = beliefs.names(facts)
    for fact in facts:
        if fact not in supports:
            raise CorruptStore(
                f"{Ref.kept(*names[fact])} rests on nothing that fires.",
                hint="Run tms verify; if only the cache is damaged, tms rebuild.",
                ids=(Ref.kept(*names[fact]),),
            )
    return {
        fact: Survivor(
            fact=Ref.kept(*names[fact]),
            via=tuple(sorted(via[fact])),
            lost=tuple(sorted(lost[fact])),
            support=supports[fact],
        )
        for fact in sorted(facts, key=names.__getitem__)
    }


def log(beliefs: Beliefs, after: int, upto: int) -> Iterator[Commit]:
    """Yield the commits after a revision up to another, oldest first, a page at a time."""
    after = max(after, beliefs.baseline - 1)
    while rows := beliefs.commits(after, upto, _LOG_PAGE):
        for row in rows:
            yield entry(beliefs, row)
        after = rows[-1].revision


def entry(beliefs: Beliefs, row: CommitRow) -> Commit:
    """Return the entry of the log for a commit. Cost: grows with what it moved."""
    return Commit(
        anchor=Anchor.kept(row.revision, row.at),
        op=row.op,
        reason=row.reason,
        by=row.by,
        died=beliefs.count_moved(row.revision, 0),
        revived=beliefs.count_moved(row.revision, 1),
        believed=row.believed,
    )


_TURNED = ("retracted", "unretracted")
_MOVED = ("out", "in", "moved")
_STANDING = ("content", "valid_from", "valid_to", "support")


class Moment(NamedTuple):
    """A place in a life: the commit, which of what may happen in one, and the content by then."""

    revision: int
    rank: int
    version: int


_DECLARED, _REVISED, _REDACTED, _VALID, _SWITCHED, _BELIEF = range(6)
BIRTH = Moment(0, -1, 0)
"""Before all that happens."""


def events(
    connection: Connection, named: Named, at: int, after: Moment = BIRTH, limit: int = -1
) -> list[tuple[Moment, Event]]:
    """Return what happened to a node or a justification up to a revision, in order.

    In a pruned file it begins with how that stood at the baseline.

    Args:
        connection: the file.
        named: the node or the justification.
        at: the revision.
        after: only what happened after this.
        limit: at most so much; -1 for all.

    Cost: grows with what is returned, and the causes of it.
    """
    beliefs, key = Beliefs(connection), named.key
    # what was given with the declaration is no event; of a pruned file, one of each kind stays
    most = limit if limit < 0 else limit + 2

    def since(rank: int) -> int:
        return after.revision + (rank <= after.rank)

    happened: list[tuple[int, int, dict[str, object]]] = []
    birth: dict[str, object] = {"what": "declared"}
    if after == BIRTH:
        happened.append((named.revision, _DECLARED, birth))
    versions: dict[int, int] = {}
    contents = beliefs.versions(key, at, after.version, most)
    name = Ref.kept(*beliefs.names([key])[key]) if contents else ""
    for revision, number, text in contents:
        content = kept(text, name)
        versions[revision] = number
        if number == 1 and revision == named.revision:
            birth["content"] = content
        else:
            happened.append((revision, _REVISED, {"what": "revised", "content": content}))
    happened += [
        (revision, _REDACTED, {"what": "redacted"})
        for (revision,) in beliefs.redactions(key, at, since(_REDACTED), most)
    ]
    for revision, window in Windows(connection).life(key, at, since(_VALID), most):
        bounds = {"valid_from": opened(window.start), "valid_to": opened(window.end)}
        if revision == named.revision:
            birth.update(bounds)
        else:
            happened.append((revision, _VALID, {"what": "valid", **bounds}))
    happened += [
        (revision, _SWITCHED, {"what": _TURNED[state]})
        for revision, state in beliefs.switches(key, at, since(_SWITCHED), most)
    ]
    moves = beliefs.transitions(key, at, since(_BELIEF), most)
    happened += [
        (revision, _BELIEF, {"what": _MOVED[change], "support": support})
        for revision, change, support, _ in moves
    ]
    happened.sort(key=lambda event: event[:2])
    baseline = beliefs.baseline
    happened = _remembered(happened, baseline)
    happened = happened if limit < 0 else happened[:limit]
    moved = [event for _, rank, event in happened if rank == _BELIEF and event["what"] != "pruned"]
    later = [(move[0], move[1], move[3]) for move in moves if move[0] > baseline]
    for event, why in zip(moved, _because(connection, named, later[: len(moved)]), strict=True):
        event["because"] = why
    commits = {revision: beliefs.commit(revision) for revision, _, _ in happened}
    lived, version = [], after.version
    for revision, rank, event in happened:
        version = max((v for r, v in versions.items() if r <= revision), default=version)
        commit = commits[revision]
        told: dict[str, object] = {
            "anchor": Anchor.kept(revision, commit.at),
            "op": commit.op,
            "reason": commit.reason,
            "by": commit.by,
            **event,
        }
        lived.append((Moment(revision, rank, version), Event.model_validate(told)))
    return lived


def _remembered(
    happened: list[tuple[int, int, dict[str, object]]], baseline: int
) -> list[tuple[int, int, dict[str, object]]]:
    """Join what happened up to the baseline of a pruned file into one event."""
    later = [event for event in happened if event[0] > baseline]
    stood: dict[str, object] = {"what": "pruned"}
    for _, _, event in happened[: len(happened) - len(later)]:
        stood |= {name: event[name] for name in _STANDING if name in event}
    return later if len(later) == len(happened) else [(baseline, _BELIEF, stood), *later]


def _because(
    connection: Connection, named: Named, moves: list[tuple[int, int, int | None]]
) -> list[tuple[Ref, ...]]:
    """Return for each change of belief what moved with it."""
    if not moves:
        return []
    causes = Causes(connection)
    changes, rested = [], Beliefs(connection).rested(named.key, moves[0][0])
    for revision, change, support in moves:
        came = change == _MOVED.index("in")
        changes.append(Change(revision, int(came), named.key, support if came else rested))
        rested = support
    found = causes.direct(changes)
    for moved, keys in zip(changes, found, strict=True):
        if named.role == "source":
            keys[:] = [named.key]
        elif not keys and moved.support is not None:
            only = causes.only(moved.revision)
            keys += causes.below(moved.support, moved.revision) if only is None else [only]
    names = Beliefs(connection).names(sorted({key for keys in found for key in keys}))
    return [refs(sorted(names[key] for key in keys)) for keys in found]
