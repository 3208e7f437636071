"""A memory under judgement: every command is done on it and on the judge, and all is compared."""

import json
import shutil
import sqlite3
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import ExitStack, closing, suppress
from functools import partial
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import patch

import pytest
from commands import Command, Maker, Turn
from differing import check_diffs
from following import Follower
from lacking import check_because
from lasting import check_spans
from oracle import Said, Snapshot, Target, Told, by_ref, told
from paging import check_history, check_report, items
from player import Player
from questioning import check_questions
from rings import founded, on_rings
from seeing import expected as expected_nodes
from seeing import moment, scan, seen, written
from supposing import asked, compare, preview

import tms
from tms.draft import Draft
from tms.labelling import Changes, Network, Turned, settle
from tms.store import SqlNetwork

TALLY: Counter[str] = Counter()
"""How often each state was reached, over all harnesses of this run."""


SPOILING = (
    ("DROP TABLE cache_label",),
    ("DROP TABLE cache_off",),
    ("DROP TABLE cache_label", "DROP TABLE cache_off"),
    ("DELETE FROM cache_label",),
    ("DELETE FROM cache_off", "DROP TABLE cache_label"),
)


class Harness(Player):
    """A memory under judgement.

    Args:
        on_disk: in a file, which can be reopened, or in memory.
        wide: from how many keys on the engine reads by one statement.
        ahead: how many keys it reads ahead where small waves follow one another.
        flush: how many added rows it keeps in memory.
    """

    def __init__(self, *, on_disk: bool, wide: int, ahead: int, flush: int) -> None:
        self.tally: Counter[str] = Counter(worlds=1)
        self._reports: list[tuple[tms.Anchor, str]] = []
        self._follower = Follower(self._reports)
        self._supports: dict[str, str] = {}
        self._at_once = flush > 1000
        self._after = ExitStack()
        for name, instead in (
            ("tms.batch.SqlNetwork", partial(SqlNetwork, wide=wide, ahead=ahead)),
            ("tms.batch.Draft", partial(Draft, most=flush)),
            ("tms.pending.settle", self._settle),
        ):
            self._after.enter_context(patch(name, instead))
        path = ":memory:"
        if on_disk:
            folder = tempfile.mkdtemp(prefix="tms-")
            self._after.callback(shutil.rmtree, folder)
            path = str(Path(folder, "memory.db"))
        self.on_disk = on_disk
        super().__init__(path)
        self._other: tms.Memory | None = None

    def open(self) -> tms.Memory:
        return self._follower.listen(super().open())

    def _settle(self, network: Network, turned: Turned) -> Changes:
        """Settle, and count what phase 2 brought back: phase 1 never makes a rank higher."""
        changes = settle(network, turned)
        for before, after in changes.values():
            if before and after and after[0] > before[0]:
                self.tally["lost and derived again"] += 1
        return changes

    # ------------------------------------------------------------ steps

    def do(self, command: Command) -> None:
        """Do a command on both, and compare all that can be seen of it."""
        self.tick()
        before = self.world.head
        what = asked(command, self.names)
        previewed = None if what is None else preview(self.memory, what)
        answer = self.both(command)
        if self.world.head is before:
            self._nothing(answer)
            if isinstance(previewed, tms.Report):
                assert not previewed
        else:
            self._committed(before, answer)
            if previewed is not None:
                compare(
                    command,
                    previewed,
                    self.memory.report(self.memory.head),
                    at_once=self._at_once or isinstance(command, Turn),
                )
                self.tally["previewed"] += 1

    def _nothing(self, answer: Any) -> None:
        self.tally["no commit"] += 1
        self.judge()
        if isinstance(answer, (tms.Report, tms.models.Loaded)):
            assert not answer
            assert answer.before == answer.after == self.world.head.anchor
            assert answer.believed_before == answer.believed_after == len(self.world.head.facts)

    def _committed(self, before: Snapshot, answer: Any) -> None:
        head = self.world.head
        report = self.memory.report(self.memory.head)
        self._reports.append((report.after, report.to_json()))
        now = self.judge()
        if isinstance(answer, tms.Report):
            assert answer.to_json() == report.to_json()
        if isinstance(answer, tms.models.Loaded):
            assert answer
            assert (answer.before, answer.after) == (before.anchor, head.anchor)
            assert answer.believed_after == len(head.facts)
        expected = told(before, head)
        self._check_report(expected, report, now)
        self._count(before, head, expected, now)
        self._supports = now
        self.tally["commits"] += 1
        self._follower.step(self.memory, self.tally["commits"])

    def _check_report(self, expected: Told, report: tms.Report, now: Mapping[str, str]) -> None:
        def ids(many: Iterable[Said]) -> list[str]:
            return sorted(self.names[said].id for said in many)

        targets = [self.names.get(target, target) for target in expected.targets]
        got = json.loads(report.to_json())
        supports = [survivor.pop("support") for survivor in got["survivedVia"]]
        assert got == {
            "op": expected.op,
            "changed": True,
            "before": expected.before,
            "after": expected.after,
            "targets": sorted(targets, key=by_ref),
            "died": expected.died,
            "revived": expected.revived,
            "survivedVia": [
                {"fact": fact, "via": ids(via), "lost": ids(lost)}
                for fact, via, lost in expected.survived
            ],
            "settled": [
                {"ref": ref, "cause": "began" if began else "expired", "at": at}
                for at, ref, began in sorted(
                    (at, by_ref(self.names.get(target, target)), began)
                    for at, target, began in expected.settled
                )
                for at, ref in [(written(at), ":".join(ref))]
            ],
            "reason": expected.reason,
            "by": expected.by,
            "believedBefore": expected.believed_before,
            "believedAfter": expected.believed_after,
        }
        for survivor, support in zip(report.survived_via, supports, strict=True):
            assert support in survivor.via
            assert support == now[survivor.fact]

    def _count(self, before: Snapshot, after: Snapshot, what: Told, now: Mapping[str, str]) -> None:
        tally = self.tally
        tally["died"] += len(what.died)
        tally["revived"] += len([ref for ref in what.revived if ref in before.nodes])
        tally["survived"] += len(what.survived)
        tally["moved to other support"] += sum(
            now[fact] != self._supports[fact] for fact in now.keys() & self._supports.keys()
        )
        if len(what.died) > 1:
            fired = [said for said in before.justifications if before.fires(said)]
            tally["ring died"] += bool(on_rings(what.died, fired))
        if what.survived:
            fires = [said for said in after.justifications if after.fires(said)]
            rings = on_rings(after.facts, fires)
            tally["ring kept by a second ground"] += any(
                survivor.fact in rings and any(not said.premises & rings for said in survivor.lost)
                for survivor in what.survived
            )

    # ------------------------------------------------------------ doors

    def reopen(self) -> None:
        self.memory.close()
        self.memory = self.open()
        self.judge()

    def change_doors(self) -> None:
        """Go on through another connection to the same file; the first stays open."""
        other = self._other or self.open()
        self._other, self.memory = self.memory, other
        self.judge()

    def spoil_cache(self, spoiling: Iterable[str], *, closed: bool) -> None:
        """Drop or empty cache tables behind the engine, which makes them anew to write again."""
        if self.on_disk:
            if closed:
                self._close()
            with closing(sqlite3.connect(self.path, isolation_level=None)) as shell:
                for statement in spoiling:
                    with suppress(sqlite3.OperationalError):  # spoiled before, and not mended yet
                        shell.execute(statement)
            if closed:
                self.memory = self.open()
        else:
            self.memory.rebuild()
        self.judge()

    def _close(self) -> None:
        self.memory.close()
        if self._other is not None:
            self._other.close()
            self._other = None

    # ------------------------------------------------------------ judgement

    def judge(self) -> dict[str, str]:
        """Compare the head, all reports so far, and one earlier revision with the judge.

        Returns what each IN fact rests on at the head.
        """
        head, memory = self.world.head, self.memory
        self.tally["steps"] += 1
        assert memory.head == head.anchor
        assert len(self._reports) == head.revision
        for anchor, text in self._reports:
            assert memory.report(anchor).to_json() == text
        if head.revision:
            past = self.world.revisions[1 + self.tally["steps"] * 7 % head.revision]
            self._check_labels(memory.as_of(recorded=past.anchor), past, every=4)
            self._travel(past)
        live = head.seen_at(1000 * self.world.now)
        supports = self._check_labels(memory, live)
        if live.held == head.held and live.idle == head.idle:
            return supports
        self.tally["live is not the head"] += 1
        return self._check_labels(memory.as_of(recorded=head.anchor), head)

    def _instant(self, snapshot: Snapshot) -> int:
        """Choose a bound of a window, or the microsecond before or after it."""
        bounds, steps = sorted(snapshot.bounds), self.tally["steps"] + snapshot.revision
        return bounds[steps % len(bounds)] + steps // 2 % 3 - 1

    def _travel(self, snapshot: Snapshot) -> None:
        """Look at a revision from some instant: a bound of a window, or just beside it."""
        if not snapshot.bounds:
            return
        instant = self._instant(snapshot)
        view = self.memory.as_of(recorded=snapshot.anchor, valid=moment(instant))
        self._check_labels(view, snapshot.seen_at(instant), every=2)
        self.tally["seen at another instant"] += 1

    def _check_labels(
        self, reader: Any, snapshot: Snapshot, *, limit: int = 1000, every: int = 1
    ) -> dict[str, str]:
        """Compare what is believed at a revision; return what each IN fact rests on.

        Asks for every justification or, to be quick, for one in some, others each time.
        """
        nodes = list(scan(reader, limit))
        assert [seen(node) for node in nodes] == expected_nodes(snapshot)
        assert list(reader.holding()) == snapshot.facts
        firing = {}
        for place, said in enumerate(snapshot.justifications, self.tally["steps"]):
            ref, fires = self.names[said], snapshot.fires(said)
            if place % every == 0:
                assert reader.believes(ref) == fires
            if fires:
                firing[ref.id] = said
        supports = {node.ref: node.support for node in nodes if node.support is not None}
        assert supports.keys() == set(snapshot.facts)
        assert founded({fact: firing[support] for fact, support in supports.items()})
        return supports

    def finish(self) -> None:
        """Judge everything once more, at every revision, and close."""
        try:
            self._check_all()
            self.spoil_cache(SPOILING[2], closed=True)
            assert self.memory.verify(revisions=1)
        finally:
            self.abandon()

    def _check_all(self) -> None:
        memory, revisions = self.memory, self.world.revisions
        memory.mend()
        verification = memory.verify(revisions=None)
        assert verification, verification
        log = [
            (commit.anchor, commit.died, commit.revived, commit.believed) for commit in memory.log()
        ]
        assert log == [_logged(told(*two)) for two in pairwise(revisions)]
        assert items(memory.log_page, 7) == list(memory.log())
        for place, (anchor, _) in enumerate(self._reports, 1):
            check_report(memory, memory.report(anchor), 1 + place % 5)
        self._follower.finish(memory)
        for snapshot in revisions[1:]:
            view = memory.as_of(recorded=snapshot.anchor)
            self._check_labels(view, snapshot, limit=1000 if snapshot.revision % 8 else 7)
            check_questions(view, snapshot, revisions, self.names, self.tally)
            if snapshot.bounds and snapshot.revision % 2:
                instant = self._instant(snapshot)
                view = memory.as_of(recorded=snapshot.anchor, valid=moment(instant))
                then = snapshot.seen_at(instant)
                check_questions(view, then, revisions, self.names, self.tally)
            for said in self.world.head.justifications.keys() - snapshot.justifications.keys():
                with pytest.raises(tms.NoSuchJustification):
                    view.believes(self.names[said])
        check_diffs(memory, revisions, self.names)
        check_spans(memory, revisions[-1], revisions, self.names)
        for ref in self.world.head.nodes:
            self._check_life(ref, ref)
        for said, ref in self.names.items():
            self._check_life(said, ref)
            got = memory.get(ref)
            assert got.premises == tuple(sorted(said.premises, key=by_ref))
            assert got.derives == tuple(sorted(said.conclusions, key=by_ref))
            assert (got.rule, got.retracted) == (said.rule, said in self.world.head.off)

    def _check_life(self, target: Target, ref: str) -> None:
        """Compare what is on record of one node or justification with the snapshots."""
        life: list[tuple[str | None, str]] = []
        version, was_in, was_off, valid = 0, False, False, None
        for snapshot in self.world.revisions[1:]:
            if target not in (snapshot.nodes if target == ref else snapshot.justifications):
                continue
            what = [] if life else ["declared"]
            if target == ref:
                new, valid_now = snapshot.nodes[ref].version, snapshot.nodes[ref].valid
                what += ["revised"] * (new - max(version, int(not life)))
                what += ["valid"] * (bool(life) and valid_now != valid)
                version, valid = new, valid_now
            what += ["redacted"] * (target == snapshot.redacted)
            if (target in snapshot.off) != was_off:
                was_off = not was_off
                what.append("retracted" if was_off else "unretracted")
            if (target in snapshot.held) != was_in:
                was_in = not was_in
                what.append("in" if was_in else "out")
            life += [(snapshot.anchor, event) for event in what]
        events = self.memory.history(ref)
        assert [(event.anchor, event.what) for event in events if event.what != "moved"] == life
        check_history(self.memory, ref, 1 + len(events) % 4)
        assert self.memory.get(ref).declared == events[0].anchor
        again = check_because(ref, events, self.world.revisions, self.names)
        self.tally["moved off what stood again"] += again

    def abandon(self) -> None:
        """Close without judging."""
        TALLY.update(self.tally)
        try:
            self._close()
        finally:
            self._after.close()


def _logged(what: Told) -> tuple[str | None, int, int, int]:
    return what.after, len(what.died), len(what.revived), what.believed_after


def drive(seed: int, steps: int) -> Counter[str]:
    """Take a harness through random steps; the same seed takes the same ones."""
    random = Random(seed)
    maker = Maker(random.randrange)
    harness = Harness(
        on_disk=seed % 2 == 0,
        wide=random.choice([1, 2, 12, 1000]),
        ahead=random.choice([1, 2, 8, 256]),
        flush=random.choice([1, 2, 7, 20_000]),
    )
    try:
        harness.do(maker.base())
        for _ in range(steps):
            doors = random.randrange(24)
            if harness.on_disk and doors == 0:
                harness.reopen()
            elif harness.on_disk and doors == 1:
                harness.change_doors()
            elif doors == 2:
                harness.spoil_cache(random.choice(SPOILING), closed=random.random() < 0.5)
            else:
                harness.do(maker.command(harness.world.head))
    except BaseException:
        harness.abandon()
        raise
    harness.finish()
    return harness.tally
