"""What if: the report that a commit would have, worked out without making it.

The very code that makes a commit runs on a record that keeps all additions in memory: a draft
checks them, the labelling settles them, and the report is read off what moved.
"""

from collections.abc import Iterable
from typing import NamedTuple

from tms import history
from tms.draft import Draft
from tms.errors import CorruptStore
from tms.models import Report, Survivor
from tms.refs import JUSTIFICATION, Ref
from tms.store import Beliefs, Connection, Imagined

_UNLIMITED = 1 << 62


class Outcome(NamedTuple):
    """What a commit would do, by keys.

    Attributes:
        died, revived: facts that would go OUT, come IN.
        lost: of each survivor, the justifications that would stop firing.
        via: of each survivor, those that would fire.
        support: of each survivor, the one that it would rest on.
    """

    died: list[int]
    revived: list[int]
    lost: dict[int, list[int]]
    via: dict[int, list[int]]
    support: dict[int, int]


class Supposition:
    """A commit on a revision that is not made.

    Args:
        connection: the file, in a snapshot.
        at: the revision.
        live: it is what a commit made now would stand on, so the cached labels are what that would
            find. Of a view the record alone is asked, so no later commit changes the answer.
        now: the time of the commit, in microseconds; that of the revision by default.
        standing: the instant, in microseconds, at which all stands: no time passes to the commit.
    """

    def __init__(
        self,
        connection: Connection,
        at: int,
        *,
        live: bool,
        now: int | None = None,
        standing: int | None = None,
    ) -> None:
        self._beliefs = Beliefs(connection)
        self._imagined = imagined = Imagined(connection, at, live=live)
        self._base = base = imagined.head()
        self.graph = imagined.graph
        self.draft = Draft(
            imagined,
            lambda: imagined,
            base.instant if now is None else now,
            most=_UNLIMITED,
            standing=standing,
        )

    def report(self, op: str) -> Report:
        """Settle, and return the report of it; its ``after`` is None, for there is no commit."""
        if not self.draft.seal(op, None, None):
            return history.nothing(self._beliefs, self._base, op, None, None)
        imagined = self._imagined
        assert imagined.closed is not None
        outcome = self.outcome()
        keys = {*outcome.died, *outcome.revived, *outcome.lost, *imagined.switched}
        for justifications in (*outcome.lost.values(), *outcome.via.values()):
            keys.update(justifications)
        names = self._names(keys)

        def named(keys: Iterable[int]) -> tuple[Ref, ...]:
            return history.refs(sorted([names[key] for key in keys]))

        def ids(keys: Iterable[int]) -> tuple[str, ...]:
            return tuple(sorted([names[key][1] for key in keys]))

        return Report(
            op=op,
            changed=True,
            before=history.anchor(self._beliefs, self._base.revision),
            after=None,
            targets=named(imagined.switched),
            died=named(outcome.died),
            revived=named(outcome.revived),
            settled=history.settled(self._beliefs, self.draft.passed),
            survived_via=tuple(
                Survivor(
                    fact=Ref.kept(*names[fact]),
                    via=ids(outcome.via[fact]),
                    lost=ids(outcome.lost[fact]),
                    support=names[outcome.support[fact]][1],
                )
                for fact in sorted(outcome.lost, key=names.__getitem__)
            ),
            reason=None,
            by=None,
            believed_before=self._base.believed,
            believed_after=imagined.closed.believed,
        )

    def outcome(self) -> Outcome:
        """Return what a settled commit would do."""
        imagined = self._imagined
        out = [node for node, (_, after) in imagined.moves.items() if after is None]
        came = [node for node, (before, _) in imagined.moves.items() if before is None]
        died = [node for node in out if _supported(imagined.moves[node][0])]
        revived = [node for node in came if _supported(imagined.moves[node][1])]
        revived += [node for node, label in imagined.labels_of_new.items() if _supported(label)]
        lost, supports = self._lost(out)
        derivations: dict[int, list[int]] = {fact: [] for fact in lost}
        for fact, justification in imagined.derivations(list(lost)):
            derivations[fact].append(justification)
        fires = self._fires({key for keys in derivations.values() for key in keys})
        via = {fact: [key for key in keys if key in fires] for fact, keys in derivations.items()}
        for fact in lost:
            moved = imagined.moves.get(fact)
            if moved is not None and moved[1] is not None and moved[1][1] is not None:
                supports[fact] = moved[1][1]
            if supports[fact] not in via[fact]:
                raise CorruptStore(
                    f"{Ref.kept(*self._names([fact])[fact])} rests on nothing that fires.",
                    hint="Run tms verify; if only the cache is damaged, tms rebuild.",
                )
        return Outcome(died, revived, lost, via, supports)

    def _lost(self, out: list[int]) -> tuple[dict[int, list[int]], dict[int, int]]:
        """Return what stops firing for facts that stay IN, and what they rested on before."""
        graph, imagined = self.graph, self._imagined
        stopped = [key for _, key, off in graph.uses(out) if not off]
        stopped += sorted(imagined.off)
        stopped = list(dict.fromkeys(stopped))
        lost: dict[int, list[int]] = {}
        supports: dict[int, int] = {}
        gone = set(out)
        stayed = [
            (key, fact, support)
            for key, fact, rank, support, _ in graph.conclusions(stopped)
            if rank is not None and fact not in gone and support is not None
        ]
        needed = list(dict.fromkeys(key for key, _, _ in stayed))
        silent = {key for key, _, rank in graph.premises(needed) if rank is None}
        for key, fact, support in stayed:
            if key not in silent:
                lost.setdefault(fact, []).append(key)
                supports[fact] = support
        return lost, supports

    def _fires(self, justifications: set[int]) -> set[int]:
        """Return those of some switched-on justifications whose premises would all be IN."""
        imagined = self._imagined
        fires = set(justifications)
        for key, node, rank in imagined.premises(sorted(justifications)):
            moved = imagined.moves.get(node)
            is_in = rank is not None if moved is None else moved[1] is not None
            if not is_in and node not in imagined.labels_of_new:
                fires.discard(key)
        return fires

    def _names(self, keys: Iterable[int]) -> dict[int, tuple[str, str]]:
        """Return (kind, id) of nodes and justifications, also of new ones."""
        imagined = self._imagined
        names = self._beliefs.names(sorted(keys))
        names.update((key, node[:2]) for key, node in imagined.new.items())
        names.update((key, (JUSTIFICATION, id)) for key, id in imagined.justified.items())
        return names


def _supported(label: tuple[int, int | None] | None) -> bool:
    return label is not None and label[1] is not None
