"""What rests on something, and what would become of it."""

from typing import NamedTuple

from tms import history
from tms.answers import Impact, Reached
from tms.refs import JUSTIFICATION, Ref
from tms.store import Beliefs, Connection, Named
from tms.supposing import Supposition


class _Way(NamedTuple):
    """How a fact was reached first: over which node (None: at once) and justification."""

    depth: int
    previous: int | None
    through: int | None


def impact(
    connection: Connection, ref: Ref, named: Named, at: int, *, nodes: int, live: bool
) -> Impact:
    """Return what retracting a node or a justification would do; see ``Questions.impact``."""
    supposed = Supposition(connection, at, live=live)
    supposed.draft.turn([ref], on=False)
    supposed.draft.seal("retract", None, None)
    outcome = supposed.outcome()
    ways = _downstream(supposed, named)
    died, survived = set(outcome.died), outcome.lost
    beliefs = Beliefs(connection)
    told: list[Reached] = []
    by_depth: dict[int, list[int]] = {}
    for key, way in ways.items():
        by_depth.setdefault(way.depth, []).append(key)
    for depth, keys in sorted(by_depth.items()):
        room = nodes - len(told)
        if room <= 0:
            break
        names = beliefs.names(keys)
        chosen = sorted(keys, key=names.__getitem__)[:room]
        mentioned = {key for fact in chosen for key in (ways[fact].previous, ways[fact].through)}
        mentioned.update(key for fact in chosen for key in outcome.via.get(fact, ()))
        mentioned.update(key for fact in chosen for key in survived.get(fact, ()))
        names.update(beliefs.names(sorted(key for key in mentioned if key is not None)))
        for fact in chosen:
            _, previous, through = ways[fact]
            fate = "died" if fact in died else "survived" if fact in survived else "untouched"
            told.append(
                Reached.model_validate(
                    {
                        "ref": Ref.kept(*names[fact]),
                        "fate": fate,
                        "depth": depth,
                        "previous": None if previous is None else Ref.kept(*names[previous]),
                        "through": None if through is None else Ref.kept(*names[through]),
                        "via": sorted(names[key][1] for key in outcome.via.get(fact, ())),
                        "lost": sorted(names[key][1] for key in survived.get(fact, ())),
                    }
                )
            )
    believed = beliefs.believed(at)
    return Impact(
        ref=ref,
        at=history.anchor(beliefs, at),
        reached=tuple(told),
        died=len(died),
        survived=len(survived),
        untouched=len(ways) - len(died) - len(survived),
        out_of_reach=believed - len(ways),
        believed=believed,
        truncated=len(told) < len(ways),
    )


def _downstream(supposed: Supposition, named: Named) -> dict[int, _Way]:
    """Return the facts that are IN and reached through what fires, each by a shortest way."""
    graph, key = supposed.graph, named.key
    if named.role == JUSTIFICATION:
        using: dict[int, int | None] = {} if graph.is_off(key) else {key: None}
        reached: dict[int, _Way] = {}
    else:
        reached = {key: _Way(0, None, None)} if graph.labels([key]) else {}
        using = {user: node for node, user, off in graph.uses(list(reached)) if not off}
    met = set(using)
    depth = 0
    while using:
        depth += 1
        silent = {user for user, _, rank in graph.premises(list(using)) if rank is None}
        wave: dict[int, None] = {}
        for user, fact, rank, _, _ in graph.conclusions(
            [user for user in using if user not in silent]
        ):
            if rank is not None and fact not in reached:
                reached[fact] = _Way(depth, using[user], user)
                wave[fact] = None
        using = {}
        for node, user, off in graph.uses(sorted(wave)):
            if not off and user not in met:
                using.setdefault(user, node)
        met.update(using)
    if named.role == "source":
        reached.pop(key, None)
    return reached
