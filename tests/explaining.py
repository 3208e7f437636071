"""Judging derivations: a proof checker, and circles by taking the fact out of the world."""

from collections.abc import Mapping

from oracle import Said, Snapshot, by_ref, least_fixpoint

import tms


def check_why(
    reader: tms.Memory | tms.View, snapshot: Snapshot, ref: str, names: Mapping[Said, tms.Ref]
) -> tms.Why:
    """Judge the whole derivation of a node at a snapshot."""
    why = reader.why(ref, nodes=100_000)
    assert (why.ref, why.at) == (ref, snapshot.anchor)
    assert bool(why) == (ref in snapshot.held)
    assert not why.truncated
    steps = {step.ref: step for step in why}
    assert len(steps) == len(why.steps)
    assert list(steps)[:1] == [ref][: bool(why)]
    meant = {name: said for said, name in names.items()}
    needed, proven = {ref}, set()
    for step in why:
        node = snapshot.nodes[step.ref]
        assert (step.role, step.ref in snapshot.held) == (node.role, True)
        assert step.ref in needed  # after something that needs it
        firing = snapshot.firing(step.ref) if node.role == "fact" else set()
        assert {meant[because.ref] for because in step.because} == firing
        assert [because.supports for because in step.because] == [True, *[False] * len(firing)][
            : len(firing)
        ]
        for because in step.because:
            said = meant[because.ref]
            assert because.premises == tuple(sorted(said.premises, key=by_ref))
            assert because.rule == said.rule
            assert because.circular is _circular(snapshot, step.ref, said)
        needed.update(step.because[0].premises if step.because else ())
    assert needed == {ref, *steps}
    while grown := {
        step.ref
        for step in why
        if step.ref not in proven
        and (step.role == "source" or proven.issuperset(step.because[0].premises))
    }:
        proven |= grown
    assert proven == steps.keys(), "a derivation that does not end in sources and axioms"
    return why


def _circular(snapshot: Snapshot, fact: str, said: Said) -> bool:
    held = least_fixpoint(
        [ref for ref, node in snapshot.nodes.items() if node.role == "source"],
        {key: (key.premises, key.conclusions) for key in snapshot.justifications},
        {*snapshot.idle, fact},
    )
    return not said.premises <= held
