"""Judging neighbourhoods: two searches through a snapshot that know nothing of the file."""

from collections.abc import Mapping

from oracle import Said, Snapshot, by_ref

import tms


def check_neighbourhood(
    reader: tms.Memory | tms.View,
    snapshot: Snapshot,
    target: str | Said,
    names: Mapping[Said, tms.Ref],
    depth: int,
) -> tms.Neighbourhood:
    """Judge the whole neighbourhood of a node or a justification at a snapshot."""
    ref = names.get(target, target)
    near = reader.neighbourhood(ref, depth=depth, nodes=100_000)
    assert (near.ref, near.at, near.depth) == (ref, snapshot.anchor, depth)
    believed = snapshot.fires(target) if isinstance(target, Said) else target in snapshot.held
    assert (near.status == "IN") == believed
    assert not near.truncated
    down, below = _search(snapshot, target, depth, back=True)
    up, above = _search(snapshot, target, depth, back=False)
    assert {node.ref: node.down for node in near if node.down is not None} == down
    assert {node.ref: node.up for node in near if node.up is not None} == up
    assert len(near.nodes) == len(down.keys() | up.keys())
    for item in near:
        node = snapshot.nodes[item.ref]
        assert (item.role, item.status == "IN", item.retracted, item.outside) == (
            node.role,
            item.ref in snapshot.held,
            item.ref in snapshot.off,
            item.ref in snapshot.outside,
        )
        assert (item.support is None) == (item.status == "OUT" or item.role == "source")
        got = reader.get(item.ref)
        assert (item.support, item.content, item.recorded) == (
            got.support,
            got.content,
            got.declared,
        )
    passed = below | above | ({target} if isinstance(target, Said) else set())
    assert {link.ref for link in near.justifications} == {names[said] for said in passed}
    assert len(near.justifications) == len(passed)
    meant = {names[said]: said for said in passed}
    for link in near.justifications:
        said = meant[link.ref]
        assert link.premises == tuple(sorted(said.premises, key=by_ref))
        assert link.derives == tuple(sorted(said.conclusions, key=by_ref))
        assert (link.rule, link.status == "IN", link.retracted, link.outside) == (
            said.rule,
            snapshot.fires(said),
            said in snapshot.off,
            said in snapshot.outside,
        )
    return near


def _search(
    snapshot: Snapshot, target: str | Said, depth: int, *, back: bool
) -> tuple[dict[str, int], set[Said]]:
    levels: dict[str, int] = {} if isinstance(target, Said) else {target: 0}
    passed: set[Said] = set()
    for level in range(1, depth + 1):
        for said in list(snapshot.justifications):
            starts, ends = said.conclusions, said.premises
            if not back:
                starts, ends = ends, starts
            if (level == 1 and said == target) or any(
                levels.get(ref) == level - 1 for ref in starts
            ):
                passed.add(said)
                for ref in ends:
                    levels.setdefault(ref, level)
    return levels, passed
