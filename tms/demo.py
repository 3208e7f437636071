"""The vulnerability-feed story: a source turns out to be wrong, and what that changes.

``tms demo`` tells it on a fresh file. ``story(memory, print)`` tells it through the library on any
empty memory; it uses nothing but the public API.
"""

from collections.abc import Callable

import tms
from tms.models import Model

SERVICES = tuple(f"svc-{number:02}" for number in range(1, 61))
"""All are flagged by the feed."""

SCANNED = ("svc-14", "svc-31", "svc-47")
"""Those that the SAST run flags too."""

LISTED = ("svc-08", "svc-31")
"""Those whose bill of materials holds the vulnerable package."""

RUNS = {
    "AgentRun:triage-1": ("svc-08", "svc-14"),
    "AgentRun:triage-2": ("svc-22", "svc-31"),
    "AgentRun:triage-3": ("svc-47", "svc-55"),
}
"""Which services each agent run finds to be reachable from outside."""

FEED = "VulnFeed:2026-07-21"
SAST = "SastRun:1187"
SBOM = "SbomCheck:2026-07-20"
POLICY = "Policy:block-vulnerable"
WRONG_RUN = "AgentRun:triage-2"

Say = Callable[[object], object]
"""Takes what ``print`` takes, one at a time: a line of text or a report."""


class Check(Model):
    """Something that the story says and looks up.

    Attributes:
        what: the claim.
        holds: whether it is so.
    """

    what: str
    holds: bool


class Story(Model):
    """What came of the story. Truthy when all that it claims holds.

    Attributes:
        before, after: the anchors around the retraction of the feed.
        retraction: the report of that retraction.
        restoration: the report of its inverse.
        run_retraction: the report of the retraction of one agent run.
        checks: what was claimed on the way.
        verification: of the whole file, at every revision.
    """

    before: tms.Anchor
    after: tms.Anchor
    retraction: tms.Report
    restoration: tms.Report
    run_retraction: tms.Report
    checks: tuple[Check, ...]
    verification: tms.Verification

    def __bool__(self) -> bool:
        return bool(self.verification) and all(check.holds for check in self.checks)


def story(memory: tms.Memory, say: Say) -> Story:
    """Tell the story on an empty memory.

    Args:
        memory: where it happens.
        say: called with each line of the narration and each report, for instance ``print``.

    Returns:
        What came of it.

    Raises:
        ContentConflict: the memory is not empty.
    """
    if memory.head is not None:
        raise tms.ContentConflict(
            f"there are commits in this memory already, up to {memory.head}.",
            hint="The story is told on an empty one.",
            ids=(memory.head,),
        )
    checks = _Checks(say)
    _flags(memory, say)
    before = _decisions(memory, say)
    retraction = _retract_feed(memory, say, checks)
    assert retraction.after is not None
    _replay(memory, say, checks, before, retraction.after)
    restoration = _restore_feed(memory, say, checks, before)
    run_retraction = _agent_runs(memory, say, checks)
    _heading(say, "8. Does the file keep its promises?")
    verification = memory.verify(revisions=None)
    told = Story(
        before=before,
        after=retraction.after,
        retraction=retraction,
        restoration=restoration,
        run_retraction=run_retraction,
        checks=tuple(checks.made),
        verification=verification,
    )
    say(f"Verified: {verification}.")
    return told


class _Checks:
    """What the story claims, said together with whether it is so."""

    def __init__(self, say: Say) -> None:
        self._say = say
        self.made: list[Check] = []

    def claim(self, what: str, *, holds: bool) -> None:
        self.made.append(Check(what=what, holds=holds))
        self._say(f"{'checked' if holds else 'WRONG'}: {what}")


def _heading(say: Say, text: str) -> None:
    say("")
    say(text)


def _flags(memory: tms.Memory, say: Say) -> None:
    say("A memory that knows why it believes each thing, on one SQLite file.")
    _heading(say, "1. A feed flags sixty services as vulnerable")
    with memory.batch(reason="nightly feed", by="ingest"):
        memory.source(FEED, content={"package": "libparse", "entries": len(SERVICES)})
        for service in SERVICES:
            memory.justify(
                f"Vulnerable:{service}", FEED, rule="feed-match", id=f"{service}-by-feed"
            )
    say(f"{FEED} supports {len(SERVICES)} facts, Vulnerable:svc-01 to Vulnerable:svc-60.")

    _heading(say, "2. Two other sources support some of the same flags")
    for source, rule, word, services in (
        (SAST, "code-scan", "sast", SCANNED),
        (SBOM, "bill-of-materials", "sbom", LISTED),
    ):
        with memory.batch(reason=rule, by="ingest"):
            memory.source(source)
            for service in services:
                memory.justify(
                    f"Vulnerable:{service}", source, rule=rule, id=f"{service}-by-{word}"
                )
        say(f"{source} supports those of {', '.join(services)}.")


def _decisions(memory: tms.Memory, say: Say) -> tms.Anchor:
    _heading(say, "3. A policy and the flags lead to decisions")
    memory.axiom(POLICY, rule="decided by the security board")
    say(f"{POLICY} holds by itself: an axiom.")
    with memory.batch(reason="gate run", by="deploy-gate"):
        for service in SERVICES:
            memory.justify(
                f"BlockDeploy:{service}",
                [f"Vulnerable:{service}", POLICY],
                rule="block-vulnerable",
                id=f"block-{service}",
            )
            memory.justify(
                f"Page:{service}",
                f"BlockDeploy:{service}",
                rule="notify-on-call",
                id=f"page-{service}",
            )
    say("Each BlockDeploy rests on a flag and the policy, each Page on a block.")
    held = len(list(memory.holding()))
    before = memory.head
    assert before is not None
    say(f"{held} facts are believed at {before}.")
    return before


def _retract_feed(memory: tms.Memory, say: Say, checks: _Checks) -> tms.Report:
    _heading(say, f"4. The package mapping of {FEED} was wrong: retract it")
    report = memory.retract(FEED, reason="bad package mapping", by="oncall")
    say(str(report))  # the first twenty of each will do
    for kind in ("Vulnerable", "BlockDeploy", "Page"):
        checks.claim(
            f"{kind}:svc-22 died: only the feed stood behind it",
            holds=f"{kind}:svc-22" in report.died,
        )
    for kind in ("Vulnerable", "BlockDeploy", "Page"):
        checks.claim(
            f"{kind}:svc-14 is still believed: {SAST} supports the flag",
            holds=memory.believes(f"{kind}:svc-14"),
        )
    return report


def _replay(
    memory: tms.Memory, say: Say, checks: _Checks, before: tms.Anchor, after: tms.Anchor
) -> None:
    _heading(say, "5. What did we believe, before and after?")
    then, since = memory.as_of(recorded=before), memory.as_of(recorded=after)
    say(f"before is {before}")
    say(f"after is  {after}")
    say(f"{'':<20} before  after")
    for ref in ("BlockDeploy:svc-22", "BlockDeploy:svc-14"):
        say(f"{ref:<20} {then.status(ref):<7} {since.status(ref)}")
    checks.claim(
        "the block of svc-22 is believed at the anchor before and not at the one after",
        holds=then.believes("BlockDeploy:svc-22") and not since.believes("BlockDeploy:svc-22"),
    )


def _restore_feed(memory: tms.Memory, say: Say, checks: _Checks, before: tms.Anchor) -> tms.Report:
    _heading(say, "6. The mapping is repaired: unretract, the exact inverse")
    report = memory.unretract(FEED, reason="mapping repaired", by="oncall")
    say(str(report))
    checks.claim(
        "all is believed exactly as before the retraction",
        holds=_beliefs(memory) == _beliefs(memory.as_of(recorded=before)),
    )
    return report


def _beliefs(reader: tms.Memory | tms.View) -> list[tuple[tms.Ref, tms.Status]]:
    return [(node.ref, node.status) for node in reader.scan().items]


def _agent_runs(memory: tms.Memory, say: Say, checks: _Checks) -> tms.Report:
    _heading(say, "7. An agent's run is a source like any other")
    for run, services in RUNS.items():
        with memory.batch(by=run):
            memory.source(run)
            for service in services:
                memory.justify(
                    f"Reachable:{service}",
                    [run, f"Vulnerable:{service}"],
                    rule="agent-triage",
                    id=f"{service}-by-{run.partition(':')[2]}",
                )
        say(f"{run} concludes Reachable:{' and Reachable:'.join(services)}.")
    report = memory.retract(WRONG_RUN, reason="read the wrong cluster", by="oncall")
    say(report)
    own = [tms.Ref.of("Reachable", service) for service in RUNS[WRONG_RUN]]
    checks.claim("only the conclusions of that run went", holds=list(report.died) == own)
    kept = [
        f"Reachable:{service}"
        for run, services in RUNS.items()
        if run != WRONG_RUN
        for service in services
    ]
    checks.claim("those of the other two runs stay", holds=all(map(memory.believes, kept)))
    return report
