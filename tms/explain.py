"""Why something is believed: a well-founded derivation, down to sources and axioms.

The derivation follows supports (Doyle 1979), which end in sources and axioms, so it has no cycle;
each node stands in it once, however many paths lead there. What else fires for a fact is named
beside its support. It is circular if it fires only because the fact itself is IN: with the fact
taken OUT, its premises would not all be in the least fixpoint.
"""

from collections.abc import Iterable

from tms import history
from tms.answers import Because, Step, Why
from tms.content import kept
from tms.models import Status
from tms.refs import JUSTIFICATION, Anchor, Ref
from tms.store import Beliefs, Connection, Firing, Grounds, Named, Recorded, Standing

OTHERS = 20
"""How many other justifications of one fact are named at most."""

_EFFORT = 20
"""How many nodes may be looked at to tell one circular justification, for each node asked for."""


def why(
    connection: Connection, ref: Ref, named: Named, at: int, *, depth: int | None, nodes: int
) -> Why:
    """Return the derivation of a node or a justification at a revision; see ``Reader.why``."""
    explanation = _Explanation(connection, at, nodes)
    if named.role == JUSTIFICATION:
        believed = Beliefs(connection).fires(named.key, at)
        start = explanation.grounds.premises([named.key])[named.key] if believed else []
    else:
        believed = explanation.grounds.standings([named.key])[named.key].is_in > 0
        start = [named.key] if believed else []
    truncated = explanation.follow(start, depth)
    return Why(
        ref=ref,
        status=Status.IN if believed else Status.OUT,
        at=history.anchor(Beliefs(connection), at),
        steps=explanation.steps(),
        truncated=truncated or explanation.cut,
    )


class _Explanation:
    """A derivation being put together.

    Attributes:
        cut: whether other justifications were left out.
    """

    def __init__(self, connection: Connection, at: int, most: int) -> None:
        self.grounds = Grounds(connection, at)
        self.cut = False
        self._most = most
        self._standings: dict[int, Standing] = {}
        self._depths: dict[int, int] = {}
        self._firing: dict[int, list[Firing]] = {}
        self._premises: dict[int, list[int]] = {}
        self._circular = _Circular(self.grounds, _EFFORT * most)

    def follow(self, start: Iterable[int], depth: int | None) -> bool:
        """Follow supports from some nodes; return whether a limit ended it before their ends."""
        wave, level = list(dict.fromkeys(start)), 0
        while wave:
            room = self._most - len(self._standings)
            if room <= 0 or (depth is not None and level > depth):
                return True
            reached = wave[:room]
            standings = self.grounds.standings(reached)
            for key in reached:
                self._standings[key] = standings[key]
                self._depths[key] = level
                self._look(standings[key])
            supports = [standings[key].support for key in reached]
            found = [premise for s in supports if s for premise in self._premises[s]]
            following = [key for key in dict.fromkeys(found) if key not in self._standings]
            wave, level = [*wave[room:], *following], level + 1
        return False

    def _look(self, standing: Standing) -> None:
        if standing.support is None:
            return
        firing = self.grounds.firing(standing.node, standing.support, OTHERS + 1)
        if len(firing) > OTHERS + 1:
            self.cut = True
            firing = firing[: OTHERS + 1]
        self._firing[standing.node] = firing
        self._premises.update(self.grounds.premises([item.justification for item in firing]))

    def steps(self) -> tuple[Step, ...]:
        """Return the nodes of the derivation, in the order in which they were reached."""
        beyond = {key for needs in self._premises.values() for key in needs}
        names = {
            key: Ref.kept(standing.kind, standing.id)
            for key, standing in {
                **self.grounds.standings(sorted(beyond - self._standings.keys())),
                **self._standings,
            }.items()
        }
        revisions = [item.revision for many in self._firing.values() for item in many]
        revisions += [standing.revision for standing in self._standings.values()]
        commits = self.grounds.commits(revisions)
        return tuple(self._step(standing, names, commits) for standing in self._standings.values())

    def _step(
        self, standing: Standing, names: dict[int, Ref], commits: dict[int, Recorded]
    ) -> Step:
        commit = commits[standing.revision]
        return Step(
            ref=names[standing.node],
            role="source" if standing.role == "source" else "fact",
            depth=self._depths[standing.node],
            content=kept(standing.content, names[standing.node]),
            recorded=Anchor.kept(commit.revision, commit.at),
            by=commit.by,
            reason=commit.reason,
            because=tuple(
                self._because(item, standing.support, names, commits)
                for item in self._firing.get(standing.node, ())
            ),
        )

    def _because(
        self,
        item: Firing,
        support: int | None,
        names: dict[int, Ref],
        commits: dict[int, Recorded],
    ) -> Because:
        commit = commits[item.revision]
        premises = self._premises[item.justification]
        supports = item.justification == support
        return Because(
            ref=Ref.kept(JUSTIFICATION, item.id),
            rule=item.rule,
            premises=tuple(sorted(names[key] for key in premises)),
            supports=supports,
            circular=False if supports else self._circular.needs(premises, item.fact),
            recorded=Anchor.kept(commit.revision, commit.at),
            by=commit.by,
            reason=commit.reason,
        )


class _Circular:
    """Whether nodes are IN only because some fact is, found out within a bound.

    Args:
        grounds: where to look.
        most: how many nodes may be looked at for one answer.
    """

    def __init__(self, grounds: Grounds, most: int) -> None:
        self._grounds = grounds
        self._most = most

    def needs(self, premises: list[int], fact: int) -> bool | None:
        """Return whether the premises would not all be IN without the fact; None: not found out.

        All ways in which they stand are followed back, but not through the fact; then what can be
        derived there is added up from its ends (Dowling & Gallier 1984).
        """
        waiting: dict[int, int] = {}
        uses: dict[int, list[tuple[int, int]]] = {}
        arrived: list[int] = []
        seen = set(premises)
        wave = [key for key in premises if key != fact]
        while wave:
            standings = self._grounds.standings(wave)
            facts = [key for key in wave if standings[key].role == "fact"]
            arrived += [key for key in wave if standings[key].role == "source"]
            firing = self._grounds.all_firing(facts)
            needs = self._grounds.premises([item.justification for item in firing])
            following: dict[int, None] = {}
            for item in firing:
                ends = needs[item.justification]
                if not ends:
                    arrived.append(item.fact)
                if fact in ends:
                    continue
                waiting[item.justification] = len(ends)
                for key in ends:
                    uses.setdefault(key, []).append((item.justification, item.fact))
                    following[key] = None
            wave = [key for key in following if key not in seen]
            seen.update(wave)
            if len(seen) > self._most:
                return None
        return not self._derived(arrived, waiting, uses).issuperset(premises)

    @staticmethod
    def _derived(
        arrived: list[int], waiting: dict[int, int], uses: dict[int, list[tuple[int, int]]]
    ) -> set[int]:
        held = set(arrived)
        queue = list(held)
        while queue:
            met: set[int] = set()
            for justification, fact in uses.pop(queue.pop(), ()):
                if justification not in met:
                    met.add(justification)
                    waiting[justification] -= 1
                if not waiting[justification] and fact not in held:
                    held.add(fact)
                    queue.append(fact)
        return held
