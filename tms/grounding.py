"""Which sources hold something up: alone, together, against loss, and whose return would.

What stands behind a node is read once, as keys; the sets are worked out on that by
``assumptions``, ``disjoint`` and ``dominance``, and named at the end.
"""

from collections.abc import Iterable, Sequence
from heapq import nsmallest
from typing import NamedTuple

from tms import assumptions, disjoint, history
from tms.answers import Bearing, Critical, Cuts, Environments, Origins
from tms.circuit import Circuit
from tms.dominance import bearing, ones
from tms.models import Status
from tms.refs import JUSTIFICATION, Anchor, Ref
from tms.store import Beliefs, Cone, Connection, Named


class _Ground(NamedTuple):
    """What stands behind something that is IN.

    Attributes:
        circuit: all that fires there.
        goal: the place in it of what was asked about.
        members: the leaves of sources and axioms, by their refs.
        names: their refs.
        axioms: those that are axioms.
    """

    circuit: Circuit
    goal: int
    members: list[int]
    names: list[Ref]
    axioms: set[int]

    def named(self, masks: Iterable[int]) -> tuple[tuple[Ref, ...], ...]:
        """Return the refs of sets of members."""
        return _named(masks, self.names)


def environments(
    connection: Connection, ref: Ref, named: Named, at: int, limit: int
) -> Environments:
    """Return the minimal sets of sources and axioms that support; see ``Questions``."""
    ground = _ground(connection, named, at)
    found = assumptions.Family([], whole=True)
    if ground is not None:
        found = assumptions.environments(ground.circuit, ground.goal, ground.members, limit=limit)
    return Environments(
        ref=ref,
        status=_status(ground),
        at=_anchor(connection, at),
        sets=ground.named(found.sets) if ground else (),
        truncated=not found.whole,
    )


def origins(connection: Connection, ref: Ref, named: Named, at: int) -> Origins:
    """Return as many environments as there are that share no source; see ``Questions``."""
    ground = _ground(connection, named, at)
    found = disjoint.Packing([], most=True)
    if ground is not None:
        found = disjoint.origins(ground.circuit, ground.goal, ground.members, ground.axioms)
    sets = ground.named(found.sets) if ground else ()
    return Origins(
        ref=ref,
        status=_status(ground),
        at=_anchor(connection, at),
        sets=tuple(sorted(sets, key=_by_size)),
        count=len(sets),
        truncated=not found.most,
    )


def cuts(connection: Connection, ref: Ref, named: Named, at: int, limit: int) -> Cuts:
    """Return the minimal sets of sources without which it is OUT; see ``Questions``."""
    ground = _ground(connection, named, at)
    found = assumptions.Family([], whole=True)
    names: list[Ref] = []
    if ground is not None:
        pairs = zip(ground.members, ground.names, strict=True)
        sources = {leaf: name for leaf, name in pairs if leaf not in ground.axioms}
        names = list(sources.values())
        found = assumptions.cuts(ground.circuit, ground.goal, list(sources), limit=limit)
    return Cuts(
        ref=ref,
        status=_status(ground),
        at=_anchor(connection, at),
        sets=_named(found.sets, names),
        truncated=not found.whole,
    )


def repairs(
    connection: Connection, named: Named, at: int, limit: int
) -> tuple[tuple[tuple[Ref, ...], ...], bool]:
    """Return the minimal sets of retracted sources whose return alone would bring something IN.

    What is switched off besides, facts and justifications, stays off.

    Args:
        connection: the file.
        named: a source, a fact or a justification that is OUT.
        at: the revision.
        limit: at most so many sets.

    Returns:
        The sets, the smallest first, equal ones by their refs; those of a size are all there
        before the next size begins, but one is given in any case if there is one. Then whether
        some were left out.

    Cost: grows with all that stands behind it and is OUT, and with what that rests on; the effort
    to find the sets is bounded.

    Source: de Kleer 1986.
    """
    beliefs = Beliefs(connection)
    if not beliefs.is_inside(named.key, at):
        return (), False
    if named.role == "source":
        return ((_ref_of(connection, named, at),),), False
    if not beliefs.is_on(named.key, at):
        return (), False
    cone = Cone(connection, at, beliefs.last_key(at))
    states, support = cone.waiting(named.key)
    free = [key for key, state in states.items() if state == 2]
    sources = cone.sources(key for key, state in states.items() if state == 0)
    names = sorted((Ref.kept(*pair), key) for key, pair in sources.items())
    leaves = [*(key for _, key in names), *free]
    circuit = Circuit(leaves, support.needs, support.derives)
    goal = circuit.place.get(named.key)
    if goal is None:
        return (), False
    found = assumptions.environments(circuit, goal, range(len(names)), limit=limit)
    return _named(found.sets, [name for name, _ in names]), not found.whole


def critical(connection: Connection, kind: str | None, at: int, limit: int) -> Critical:
    """Return the sources by how many facts fall without each alone; see ``Questions``."""
    cone = Cone(connection, at, Beliefs(connection).last_key(at))
    believed = cone.all_believed()
    support = cone.all_firing(believed)
    sources = [key for key in cone.all_sources() if key in believed]
    axioms = support.derives.keys() - support.needs.keys()
    circuit = Circuit([*sources, *axioms], support.needs, support.derives)
    place = circuit.place
    weights: dict[int, int] = {}
    for fact in believed.difference(sources):
        weights[place[fact]] = weights.get(place[fact], 0) + 1
    asked = sources if kind is None else [key for key in cone.all_sources(kind) if key in believed]
    counts = bearing(circuit, [place[key] for key in asked], weights)
    falls = {key: count for key, count in zip(asked, counts, strict=True) if count}
    ranks = sorted(set(falls.values()), reverse=True)
    least, more = 0, 0
    tally: dict[int, int] = {}
    for count in falls.values():
        tally[count] = tally.get(count, 0) + 1
    for least in ranks:
        more += tally[least]
        if more >= limit:
            break
    kept = cone.sources(key for key, count in falls.items() if count >= least)
    found = nsmallest(limit, ((-falls[key], Ref.kept(*pair)) for key, pair in kept.items()))
    return Critical(
        at=_anchor(connection, at),
        sources=tuple(Bearing(ref=ref, facts=-count) for count, ref in found),
        truncated=len(falls) > len(found),
    )


def _ground(connection: Connection, named: Named, at: int) -> _Ground | None:
    """Read what stands behind something; None if it is OUT."""
    beliefs = Beliefs(connection)
    stands = beliefs.fires if named.role == JUSTIFICATION else beliefs.is_in
    if not stands(named.key, at):
        return None
    cone = Cone(connection, at, beliefs.last_key(at))
    keys, support = cone.firing(named.key)
    if named.role == JUSTIFICATION and named.key not in support.needs:
        support.derives.setdefault(named.key, [])  # an axiom, of which no conclusion was reached
    axioms = support.derives.keys() - support.needs.keys()
    inner = {fact for facts in support.derives.values() for fact in facts}
    sources = cone.sources(keys - support.needs.keys() - axioms - inner)
    names = {key: Ref.kept(*pair) for key, pair in sources.items()}
    names |= {key: Ref.kept(JUSTIFICATION, id) for key, id in cone.ids(axioms).items()}
    leaves = sorted(names, key=lambda key: names[key])
    circuit = Circuit(leaves, support.needs, support.derives)
    return _Ground(
        circuit=circuit,
        goal=circuit.place[named.key],
        members=list(range(len(leaves))),
        names=[names[key] for key in leaves],
        axioms={circuit.place[key] for key in axioms},
    )


def _named(masks: Iterable[int], names: Sequence[Ref]) -> tuple[tuple[Ref, ...], ...]:
    return tuple(tuple(names[place] for place in ones(mask)) for mask in masks)


def _by_size(refs: tuple[Ref, ...]) -> tuple[int, tuple[Ref, ...]]:
    return len(refs), refs


def _status(ground: _Ground | None) -> Status:
    return Status.OUT if ground is None else Status.IN


def _anchor(connection: Connection, at: int) -> Anchor | None:
    return history.anchor(Beliefs(connection), at)


def _ref_of(connection: Connection, named: Named, at: int) -> Ref:
    node = Beliefs(connection).node(named.key, at)
    return Ref.kept(node.kind, node.id)
