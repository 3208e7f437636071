"""Judging previews: by doing the same on a naive snapshot, and by really doing it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from random import Random
from typing import Any

from commands import Axiom, Batch, Command, Declare, Justify, Load, Turn, row
from oracle import Node, Said, Snapshot, Target, by_ref, told

import tms

Names = Mapping[Said, tms.Ref]


def asked(command: Command, names: Names) -> dict[str, Any] | None:
    """Return how to ask what a command would do; None if that cannot be asked."""
    inner: Sequence[Command] = (command,)
    if isinstance(command, Batch | Load):
        inner = command.commands if isinstance(command, Batch) else command.rows
        if isinstance(command, Batch) and (command.passes_over or command.fails):
            return None
    what: dict[str, Any] = {"retract": [], "unretract": [], "justify": []}
    stage = 0
    for one in inner:
        match one:
            case Turn(on, refs):
                now, key = int(on), "unretract" if on else "retract"
                what[key] += [names.get(ref, ref) for ref in refs]
            case Declare() | Justify() | Axiom():
                now = 2
                what["justify"].append(row(one))
            case _:
                return None
        if now < stage:
            return None
        stage = now
    return what


def preview(reader: tms.Memory | tms.View, what: Mapping[str, Any]) -> Any:
    """Return the preview, or the code of the refusal."""
    before = reader.head
    try:
        return reader.what_if(**what)
    except tms.TMSError as error:
        return error.code
    finally:
        assert reader.head == before


def compare(
    command: Command, previewed: tms.Report, done: tms.Report, *, at_once: bool = True
) -> None:
    """Compare a preview with the report of having done it.

    A commit of so many rows that they are not labelled at once may choose other supports.
    """
    if not at_once:
        same = [
            one.model_copy(update={"support": other.support})
            for one, other in zip(previewed.survived_via, done.survived_via, strict=True)
        ]
        previewed = previewed.model_copy(update={"survived_via": tuple(same)})
    if previewed or done:
        assert done.changed
        assert previewed.changed
        assert previewed.after is None
    blank: dict[str, Any] = {"after": None, "reason": None, "by": None}
    if not isinstance(command, Turn | Batch):  # of a single addition another verb is told
        blank |= {"op": "", "targets": ()}
    elif isinstance(command, Batch):
        blank |= {"op": ""}  # a batch of one kind of verb
    assert previewed.model_copy(update=blank).to_json() == done.model_copy(update=blank).to_json()


def check_impact(
    reader: tms.Memory | tms.View, snapshot: Snapshot, target: str | Said, names: Names
) -> None:
    """Judge what would become of all that rests on something."""
    ref = names.get(target, target) if isinstance(target, Said) else target
    impact = reader.impact(ref, nodes=100_000)
    report = reader.what_if(retract=ref)
    assert not impact.truncated
    assert (impact.at, impact.believed) == (snapshot.anchor, len(snapshot.facts))
    fates = {step.ref: step.fate for step in impact}
    assert len(fates) == len(impact.reached)
    assert tuple(sorted(r for r in fates if fates[r] == "died")) == report.died
    survivors = [(s.fact, s.via, s.lost) for s in report.survived_via]
    assert survivors == sorted((s.ref, s.via, s.lost) for s in impact if s.fate == "survived")
    depths = _depths(snapshot, target)
    assert {step.ref: step.depth for step in impact} == depths
    assert (impact.died, impact.survived) == (len(report.died), len(survivors))
    assert impact.died + impact.survived + impact.untouched == len(depths)
    assert impact.out_of_reach == len(snapshot.facts) - len(depths)
    assert [(s.depth, s.ref) for s in impact] == sorted((s.depth, s.ref) for s in impact)
    for step in impact:
        _check_path(snapshot, impact.path(step.ref), ref, step, names)


def _depths(snapshot: Snapshot, target: str | Said) -> dict[str, int]:
    """Return the facts that are IN by how many firing justifications lead there."""
    firing = [said for said in snapshot.justifications if snapshot.fires(said)]
    if isinstance(target, Said):
        depths = dict.fromkeys(target.conclusions & snapshot.held, 1) if target in firing else {}
    else:
        depths = {target: 0} if target in snapshot.held else {}
    wave, depth = set(depths), max(depths.values(), default=0)
    while wave:
        depth += 1
        wave = {
            fact
            for said in firing
            if said.premises & wave
            for fact in said.conclusions & snapshot.held
            if fact not in depths
        }
        depths.update(dict.fromkeys(wave, depth))
    return {ref: depth for ref, depth in depths.items() if snapshot.nodes[ref].role == "fact"}


def _check_path(
    snapshot: Snapshot, path: tuple[tms.Ref, ...], start: str, step: tms.Reached, names: Names
) -> None:
    meant = {name: said for said, name in names.items()}
    assert (path[0], path[-1]) == (start, step.ref)
    justifications = [ref for ref in path if ref in meant]
    assert len(justifications) == step.depth
    for place, ref in enumerate(path):
        if ref in meant:
            said = meant[ref]
            assert snapshot.fires(said)
            assert place == 0 or path[place - 1] in said.premises
            assert path[place + 1] in said.conclusions


def check_what_if(
    reader: tms.Memory | tms.View, snapshot: Snapshot, what: Mapping[str, Any], names: Names
) -> None:
    """Judge a preview by turning and adding the same in a copy of the snapshot."""
    report = preview(reader, what)
    meant = {name: said for said, name in names.items()}
    after = replace(
        snapshot,
        revision=snapshot.revision + 1,
        op="batch",
        redacted=None,
        nodes=dict(snapshot.nodes),
        justifications=dict(snapshot.justifications),
        off=set(snapshot.off),
    )
    for ref in what["retract"]:
        after.off.add(meant.get(ref, ref))
    for ref in what["unretract"]:
        after.off.discard(meant.get(ref, ref))
    for added in what["justify"]:
        said = Said(frozenset(added["premises"]), frozenset(added["derives"]), None)
        after.justifications.setdefault(said, None)
        for ref in said.conclusions:
            after.nodes.setdefault(ref, Node("fact", 0, None, (0, None)))
    after.relabel()
    expected = told(snapshot, after)
    assert isinstance(report, tms.Report), report
    assert report.before == snapshot.anchor
    assert list(report.died) == expected.died
    assert list(report.revived) == expected.revived
    assert (report.believed_before, report.believed_after) == (
        expected.believed_before,
        expected.believed_after,
    )
    turned = {names[target] if isinstance(target, Said) else target for target in expected.targets}
    assert list(report.targets) == sorted(turned, key=by_ref)
    ids = {said: ref.id for said, ref in names.items()}
    assert [survivor.fact for survivor in report.survived_via] == [
        s.fact for s in expected.survived
    ]
    for got, wanted in zip(report.survived_via, expected.survived, strict=True):
        assert got.lost == tuple(sorted(ids[said] for said in wanted.lost))
        known = {ids[said] for said in wanted.via if said in ids}
        assert known <= set(got.via)
        assert len(got.via) == len(wanted.via)
        assert got.support in got.via


def check_previews(view: tms.View, snapshot: Snapshot, names: Names) -> None:
    """Ask at an earlier commit what some changes would do, and what rests on some things."""
    random = Random(snapshot.revision)
    targets: list[Target] = [*snapshot.nodes, *snapshot.justifications]
    if not targets:
        return
    for _ in range(2):
        some = [names.get(one, one) for one in random.sample(targets, min(3, len(targets)))]
        cut = random.randrange(len(some) + 1)
        known = list(snapshot.nodes)
        said = {"justification": None, "premises": random.choices(known, k=2)}
        added = [{**said, "derives": ["F:new"]}] if random.random() < 0.5 else []
        what = {"retract": some[:cut], "unretract": some[cut:], "justify": added}
        check_what_if(view, snapshot, what, names)
    check_impact(view, snapshot, random.choice(targets), names)
