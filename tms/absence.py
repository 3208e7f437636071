"""Why something is not believed: what it waits for, down to what was switched off.

The walk goes from what is OUT to the premises that its justifications miss, and on; each node
stands in it once, however many paths lead there. It ends at sources, at facts that nothing
derives, and at facts that would be IN if they were not switched off themselves. Facts that only
wait for one another are strongly connected through what they miss (Tarjan 1972).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from tms import grounding, history
from tms.answers import Lack, Waiting, WhyNot
from tms.content import kept
from tms.losses import Losses
from tms.models import Status
from tms.refs import JUSTIFICATION, Anchor, Ref
from tms.store import Absent, Awaited, Beliefs, Connection, Grounds, Lacks, Named, Recorded

OTHERS = 20
"""How many justifications of one fact are named at most."""

_LOOKED_AT = 1000
"""How many justifications of a fact that is switched off are tried, to find one that fires."""

_EFFORT = 20
"""How many justifications may be looked at for what took nodes OUT, for each node asked for."""


def why_not(
    connection: Connection,
    ref: Ref,
    named: Named,
    at: int,
    *,
    depth: int | None,
    nodes: int,
    repairs: int,
) -> WhyNot:
    """Return what a node or a justification waits for at a revision; see ``Questions.why_not``.

    Args:
        connection: to the file.
        ref: what is asked about.
        named: the same, as it is on record.
        at: the revision.
        depth: how many missing premises down at most; None for all.
        nodes: how many nodes at most.
        repairs: how many sets of sources to bring back at most.
    """
    beliefs = Beliefs(connection)
    absence = _Absence(connection, at, nodes)
    truncated = False
    if named.role == JUSTIFICATION:
        believed = beliefs.fires(named.key, at)
        if not believed:
            truncated = absence.follow(absence.missed(named.key), depth)
    else:
        believed = beliefs.is_in(named.key, at)
        if not believed:
            truncated = absence.follow([named.key], depth)
    lacks = absence.lacks()
    found, more = ((), False) if believed else grounding.repairs(connection, named, at, repairs)
    return WhyNot(
        ref=ref,
        status=Status.IN if believed else Status.OUT,
        at=history.anchor(beliefs, at),
        lacks=lacks,
        retracted=absence.retracted(),
        outside=absence.outside(),
        circles=absence.circles(),
        repairs=found,
        truncated=truncated or absence.cut or more,
    )


class _Absence:
    """The lacks being put together.

    Attributes:
        cut: whether justifications or causes were left out.
    """

    def __init__(self, connection: Connection, at: int, most: int) -> None:
        beliefs = Beliefs(connection)
        self.cut = False
        self._beliefs = beliefs
        self._grounds = Grounds(connection, at)
        self._store = Lacks(connection, at, beliefs.last_key(at))
        self._losses = Losses(connection, _EFFORT * most)
        self._most = most
        self._absent: dict[int, Absent] = {}
        self._depths: dict[int, int] = {}
        self._waiting: dict[int, list[Awaited]] = {}
        self._ends: set[int] = set()
        self._missing: dict[int, list[int]] = {}
        self._holding: dict[int, list[int]] = {}
        self._off: dict[int, int] = {}  # what is switched off, with its depth
        self._outside: dict[int, int] = {}  # what is outside its window, likewise
        self._names: dict[int, Ref] = {}

    def missed(self, justification: int) -> list[int]:
        """Return what a justification misses, from where to follow on."""
        self._read([justification])
        self._note(justification, self._store.justification(justification), 0)
        return self._missing[justification]

    def _note(self, key: int, row: Absent | Awaited, level: int) -> None:
        if row.off:
            self._off.setdefault(key, level)
        if row.outside:
            self._outside.setdefault(key, level)

    # ------------------------------------------------------------ the walk

    def follow(self, start: Iterable[int], depth: int | None) -> bool:
        """Follow what is missing from some nodes; return whether a limit ended it."""
        wave, level = list(dict.fromkeys(start)), 0
        while wave:
            room = self._most - len(self._absent)
            if room <= 0 or (depth is not None and level > depth):
                return True
            reached = wave[:room]
            rows = self._store.absent(reached)
            for key in reached:
                self._absent[key] = rows[key]
                self._depths[key] = level
                self._note(key, rows[key], level)
            self._look([rows[key] for key in reached if rows[key].role == "fact"], level)
            following = [key for key in self._following(reached) if key not in self._absent]
            wave, level = [*wave[room:], *following], level + 1
        return False

    def _look(self, facts: Sequence[Absent], level: int) -> None:
        """Read what would derive some facts, and what of that is missing."""
        keys = [fact.node for fact in facts]
        off = [fact.node for fact in facts if fact.off or fact.outside]
        found: dict[int, list[Awaited]] = {key: [] for key in keys}
        for row in self._store.ready(off, _LOOKED_AT) if off else ():
            found[row.fact].append(row)
            self._ends.add(row.fact)
        for row in self._store.waiting(keys, OTHERS + 1) if keys else ():
            if row not in found[row.fact][:1]:
                found[row.fact].append(row)
        for key, rows in found.items():
            self.cut |= len(rows) > OTHERS
            self._waiting[key] = rows[:OTHERS]
            for row in rows[:OTHERS]:
                self._note(row.justification, row, level)
        self._read([row.justification for key in keys for row in self._waiting[key]])

    def _read(self, justifications: Iterable[int]) -> None:
        fresh = [key for key in dict.fromkeys(justifications) if key not in self._missing]
        for key in fresh:
            self._missing[key], self._holding[key] = [], []
        if fresh:
            for key, node, is_in in self._store.premises(fresh):
                (self._holding if is_in else self._missing)[key].append(node)

    def _following(self, reached: Iterable[int]) -> Iterator[int]:
        """Yield what some nodes miss, each once; what only its own switch keeps OUT misses none."""
        justifications = dict.fromkeys(
            row.justification
            for key in reached
            if key not in self._ends
            for row in self._waiting.get(key, ())
        )
        yield from dict.fromkeys(node for key in justifications for node in self._missing[key])

    # ------------------------------------------------------------ what is told

    def lacks(self) -> tuple[Lack, ...]:
        """Return the nodes reached, in the order in which they were reached."""
        causes = self._causes()
        beyond = (
            {node for many in causes.values() for node in many}
            | self._off.keys()
            | self._outside.keys()
        )
        for ends in (self._missing, self._holding):
            beyond.update(node for nodes in ends.values() for node in nodes)
        self._names = {key: Ref.kept(row.kind, row.id) for key, row in self._absent.items()}
        for key, name in self._beliefs.names(sorted(beyond - self._names.keys())).items():
            self._names[key] = Ref.kept(*name)
        rows = [row for many in self._waiting.values() for row in many]
        revisions = [row.revision for row in rows]
        revisions += [row.fell or row.revision for row in self._absent.values()]
        commits = self._grounds.commits(revisions)
        waiting: dict[int, Waiting] = {}
        for row in rows:
            if row.justification not in waiting:
                waiting[row.justification] = self._told(row, commits[row.revision])
        return tuple(
            Lack(
                ref=self._names[key],
                role="source" if row.role == "source" else "fact",
                depth=self._depths[key],
                content=kept(row.content, self._names[key]),
                retracted=bool(row.off),
                outside=bool(row.outside),
                since=None if commit is None else Anchor.kept(commit.revision, commit.at),
                was_in=row.fell is not None,
                op=None if commit is None else commit.op,
                by=None if commit is None else commit.by,
                reason=None if commit is None else commit.reason,
                because=self._refs(causes.get(key, ())),
                waiting=tuple(waiting[item.justification] for item in self._waiting.get(key, ())),
            )
            for key, row in self._absent.items()
            for commit in (None if row.fell == 0 else commits[row.fell or row.revision],)
        )

    def _causes(self) -> dict[int, Sequence[int]]:
        fell: dict[int, list[int]] = {}
        for key, row in self._absent.items():
            if row.fell and row.fell <= self._beliefs.baseline:
                self.cut = True
            elif row.fell:
                fell.setdefault(row.fell, []).append(key)
        causes: dict[int, Sequence[int]] = {}
        for revision, nodes in fell.items():
            causes.update(self._losses.of(nodes, revision))
        self.cut |= self._losses.cut
        return causes

    def _told(self, row: Awaited, commit: Recorded) -> Waiting:
        return Waiting(
            ref=Ref.kept(JUSTIFICATION, row.id),
            rule=row.rule,
            retracted=bool(row.off),
            outside=bool(row.outside),
            missing=self._refs(self._missing[row.justification]),
            holding=self._refs(self._holding[row.justification]),
            recorded=Anchor.kept(commit.revision, commit.at),
            by=commit.by,
            reason=commit.reason,
        )

    def _refs(self, keys: Iterable[int]) -> tuple[Ref, ...]:
        return tuple(sorted(self._names[key] for key in keys))

    def retracted(self) -> tuple[Ref, ...]:
        """Return what is switched off among what was reached, the nearest first."""
        return self._nearest(self._off)

    def outside(self) -> tuple[Ref, ...]:
        """Return what is outside its window among what was reached, the nearest first."""
        return self._nearest(self._outside)

    def _nearest(self, depths: Mapping[int, int]) -> tuple[Ref, ...]:
        near = sorted((depth, self._names[key]) for key, depth in depths.items())
        return tuple(ref for _, ref in near)

    def circles(self) -> tuple[tuple[Ref, ...], ...]:
        """Return the ungrounded circles among what was reached."""
        uses = {
            key: [row.justification for row in rows if not (row.off or row.outside)]
            for key, rows in self._waiting.items()
            if key not in self._ends
        }
        needs = {key: self._missing[key] for keys in uses.values() for key in keys}
        circles = []
        for component in _components({**uses, **needs}):
            facts = {key for key in component if key in uses}
            if len(facts) > 1 and any(
                len(needs[justification]) <= len(facts) and facts.issuperset(needs[justification])
                for fact in facts
                for justification in uses[fact]
            ):
                circles.append(self._refs(facts))
        return tuple(sorted(circles))


def _components(edges: Mapping[int, Sequence[int]]) -> Iterator[list[int]]:
    """Yield the strongly connected components of a graph, without recursion (Tarjan 1972).

    Ends of edges that are no nodes of the graph are passed over.
    """
    order: dict[int, int] = {}
    low: dict[int, int] = {}
    stack: list[int] = []
    stacked: set[int] = set()
    for start in edges:
        path = [] if start in order else [(start, iter(edges[start]))]
        while path:
            node, rest = path[-1]
            if node not in order:
                order[node] = low[node] = len(order)
                stack.append(node)
                stacked.add(node)
            for end in rest:
                if end not in edges:
                    continue
                if end not in order:
                    path.append((end, iter(edges[end])))
                    break
                if end in stacked:
                    low[node] = min(low[node], order[end])
            else:
                path.pop()
                if path:
                    above = path[-1][0]
                    low[above] = min(low[above], low[node])
                if low[node] == order[node]:
                    component: list[int] = []
                    while node not in component[-1:]:
                        component.append(stack.pop())
                    stacked.difference_update(component)
                    yield component
