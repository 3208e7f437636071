"""What stands around something: followed along all justifications on record, both ways.

Going down leads from a fact through what derives it to the premises; going up from a node through
what needs it to the conclusions. The two never mix, so what merely shares a premise is not near.
"""

from collections.abc import Callable, Sequence

from tms import history
from tms.answers import Link, Near, Neighbourhood
from tms.content import kept
from tms.models import Status
from tms.refs import JUSTIFICATION, Anchor, Ref
from tms.store import Around, Beliefs, Connection, Grounds, Named, Passed, Recorded, Standing

_Rows = Callable[[Sequence[int]], list[tuple[int, int]]]
_Ends = dict[int, dict[int, None]]
"""The ends of justifications on one side, each once."""


def neighbourhood(
    connection: Connection, ref: Ref, named: Named, at: int, *, depth: int, nodes: int
) -> Neighbourhood:
    """Return what stands around a node or a justification; see ``Questions.neighbourhood``."""
    beliefs = Beliefs(connection)
    walk = _Walk(connection, at, nodes)
    if named.role == JUSTIFICATION:
        believed = beliefs.fires(named.key, at)
        walk.follow([], depth, through=named.key)
    else:
        believed = beliefs.is_in(named.key, at)
        walk.follow([named.key], depth)
    near, links = walk.found()
    return Neighbourhood(
        ref=ref,
        status=Status.IN if believed else Status.OUT,
        at=history.anchor(beliefs, at),
        depth=depth,
        nodes=near,
        justifications=links,
        truncated=walk.cut,
    )


class _Way:
    """One way along the graph.

    Attributes:
        levels: how many justifications away each node is.
        wave: the nodes that were reached last.
    """

    def __init__(self, out: _Rows, into: _Rows, near: _Ends, far: _Ends) -> None:
        self.out, self.into, self.near, self.far = out, into, near, far
        self.levels: dict[int, int] = {}
        self.wave: list[int] = []


class _Walk:
    """A search from one place, both ways.

    Attributes:
        cut: whether a limit left something out.
    """

    def __init__(self, connection: Connection, at: int, most: int) -> None:
        last = Beliefs(connection).last_key(at)
        self.cut = False
        self._most = most
        self._grounds = Grounds(connection, at)
        self._around = around = Around(connection, at, last=last, most=most)
        self._nodes: dict[int, None] = {}
        self._links: dict[int, None] = {}
        self._premises: _Ends = {}
        self._conclusions: _Ends = {}
        self._down = _Way(around.deriving, around.needs, self._conclusions, self._premises)
        self._up = _Way(around.using, around.concludes, self._premises, self._conclusions)

    def follow(self, start: list[int], depth: int, *, through: int | None = None) -> None:
        """Go so many justifications away from some nodes, or from a justification."""
        ways = self._down, self._up
        for way in ways:
            way.wave = start
            way.levels = dict.fromkeys(start, 0)
        self._nodes = dict.fromkeys(start)
        if through is not None:
            self._links[through] = None
        for level in range(1, depth + 1):
            for way in ways:
                if through is not None and level == 1:
                    passed = [through]
                else:
                    passed = self._pass(way)
                self._reach(way, passed, level)
            if not any(way.wave for way in ways):
                break

    def _pass(self, way: _Way) -> list[int]:
        """Return the justifications that lead out of a wave, as many as there is room for."""
        passed: dict[int, None] = {}
        for node, key in way.out(way.wave):
            if key not in self._links:
                if len(self._links) >= self._most:
                    self.cut = True
                    continue
                self._links[key] = None
            passed[key] = None
            way.near.setdefault(key, {})[node] = None
        return list(passed)

    def _reach(self, way: _Way, passed: list[int], level: int) -> None:
        wave = []
        for key, node in way.into(passed):
            if node not in self._nodes:
                if len(self._nodes) >= self._most:
                    self.cut = True
                    continue
                self._nodes[node] = None
            way.far.setdefault(key, {})[node] = None
            if node not in way.levels:
                way.levels[node] = level
                wave.append(node)
        way.wave = wave

    def found(self) -> tuple[tuple[Near, ...], tuple[Link, ...]]:
        """Return the nodes and the justifications, in the order in which they were reached."""
        passed = self._around.passed(list(self._links))
        self._fill(self._premises, self._around.needs)
        self._fill(self._conclusions, self._around.concludes)
        ends = {
            node: None
            for sides in (self._premises, self._conclusions)
            for many in sides.values()
            for node in many
        }
        standings = self._grounds.standings(list({**self._nodes, **ends}))
        names = {key: Ref.kept(standing.kind, standing.id) for key, standing in standings.items()}
        supports = [standings[key].support for key in self._nodes]
        ids = self._around.passed([key for key in supports if key is not None])
        commits = self._grounds.commits(
            [item.revision for item in passed.values()]
            + [standings[key].revision for key in self._nodes]
        )
        idle = self._around.idle(self._nodes)
        near = tuple(
            self._near(standings[key], names[key], ids, commits, idle.get(key, (False, False)))
            for key in self._nodes
        )
        return near, tuple(self._link(passed[key], names, commits) for key in self._links)

    def _fill(self, ends: _Ends, rows: _Rows) -> None:
        for key, node in rows(list(self._links)):
            known = ends.setdefault(key, {})
            if node not in known and len(known) >= self._most:
                self.cut = True
            else:
                known[node] = None

    def _near(
        self,
        standing: Standing,
        ref: Ref,
        ids: dict[int, Passed],
        commits: dict[int, Recorded],
        idle: tuple[bool, bool],
    ) -> Near:
        commit = commits[standing.revision]
        return Near(
            ref=ref,
            role="source" if standing.role == "source" else "fact",
            status=Status.IN if standing.is_in else Status.OUT,
            retracted=idle[0],
            outside=idle[1],
            down=self._down.levels.get(standing.node),
            up=self._up.levels.get(standing.node),
            support=None if standing.support is None else ids[standing.support].id,
            content=kept(standing.content, ref),
            recorded=Anchor.kept(commit.revision, commit.at),
            by=commit.by,
            reason=commit.reason,
        )

    def _link(self, item: Passed, names: dict[int, Ref], commits: dict[int, Recorded]) -> Link:
        commit = commits[item.revision]
        key = item.justification
        return Link(
            ref=Ref.kept(JUSTIFICATION, item.id),
            rule=item.rule,
            status=Status.IN if item.fires else Status.OUT,
            retracted=bool(item.off),
            outside=bool(item.outside),
            premises=tuple(sorted(names[node] for node in self._premises.get(key, ()))),
            derives=tuple(sorted(names[node] for node in self._conclusions.get(key, ()))),
            recorded=Anchor.kept(commit.revision, commit.at),
            by=commit.by,
            reason=commit.reason,
        )
