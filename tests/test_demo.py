import ast
import inspect
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import tms
from tms import demo

GOLDEN = Path(__file__).with_name("golden") / "demo.txt"


class Ticking:
    def __init__(self):
        self.now = datetime(2026, 7, 21, 10, 0, tzinfo=UTC)

    def __call__(self):
        self.now += timedelta(seconds=1)
        return self.now


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tmp_path_factory.mktemp("demo") / "memory.db"


@pytest.fixture(scope="module")
def said():
    return []


@pytest.fixture(scope="module")
def told(path, said):
    with tms.open(path, clock=Ticking()) as memory:
        yield memory, demo.story(memory, said.append)


def refs(kind, services):
    return [f"{kind}:{service}" for service in services]


LOST = sorted(set(demo.SERVICES) - set(demo.SCANNED) - set(demo.LISTED))


def test_the_feed_alone_behind_a_flag_takes_the_flag_its_block_and_its_page_with_it(told):
    _, story = told
    report = story.retraction
    assert len(LOST) == 56
    assert "svc-22" in LOST
    assert list(report.died) == sorted(
        [ref for kind in ("BlockDeploy", "Page", "Vulnerable") for ref in refs(kind, LOST)]
    )
    assert (report.believed_before, report.believed_after) == (181, 13)
    assert report.targets == (demo.FEED,)
    assert (report.reason, report.by) == ("bad package mapping", "oncall")


def test_a_flag_that_the_scan_supports_too_survives_through_it_with_its_block_and_page(told):
    memory, story = told
    survivors = {survivor.fact: survivor for survivor in story.retraction.survived_via}
    assert list(survivors) == refs("Vulnerable", ["svc-08", "svc-14", "svc-31", "svc-47"])
    survivor = survivors["Vulnerable:svc-14"]
    assert survivor.via == ("svc-14-by-sast",)
    assert survivor.lost == ("svc-14-by-feed",)
    assert survivor.support == "svc-14-by-sast"
    assert memory.get("justification:svc-14-by-sast").premises == (demo.SAST,)
    assert survivors["Vulnerable:svc-31"].via == ("svc-31-by-sast", "svc-31-by-sbom")
    after = memory.as_of(recorded=story.after)
    for kind in ("Vulnerable", "BlockDeploy", "Page"):
        assert after.believes(f"{kind}:svc-14")
        assert not after.believes(f"{kind}:svc-22")


def test_the_anchors_before_and_after_replay_what_was_believed_then(told):
    memory, story = told
    before, after = (memory.as_of(recorded=anchor) for anchor in (story.before, story.after))
    assert (story.retraction.before, story.retraction.after) == (story.before, story.after)
    assert before.status("BlockDeploy:svc-22") == "IN"
    assert after.status("BlockDeploy:svc-22") == "OUT"
    assert list(before.holding("BlockDeploy")) == refs("BlockDeploy", demo.SERVICES)
    kept = ["svc-08", "svc-14", "svc-31", "svc-47"]
    assert list(after.holding("BlockDeploy")) == refs("BlockDeploy", kept)
    assert memory.report(story.after) == story.retraction
    assert memory.report(story.restoration.after) == story.restoration


def test_unretracting_the_feed_brings_everything_back(told):
    memory, story = told
    assert story.restoration.revived == story.retraction.died
    assert not story.restoration.died
    before = memory.as_of(recorded=story.before)
    restored = memory.as_of(recorded=story.restoration.after)
    assert list(restored.holding()) == list(before.holding())


def test_retracting_one_agent_run_of_three_takes_only_its_own_conclusions(told):
    memory, story = told
    assert list(story.run_retraction.died) == refs("Reachable", demo.RUNS[demo.WRONG_RUN])
    assert story.run_retraction.survived_via == ()
    others = [
        *demo.RUNS["AgentRun:triage-1"],
        *demo.RUNS["AgentRun:triage-3"],
    ]
    assert list(memory.holding("Reachable")) == refs("Reachable", sorted(others))
    assert list(memory.holding("Vulnerable")) == refs("Vulnerable", demo.SERVICES)


def test_the_story_ends_verified_and_all_that_it_claims_holds(told):
    _, story = told
    assert story
    assert story.verification
    assert story.verification.revisions == tuple(range(1, 12))
    assert len(story.checks) == 10
    assert all(check.holds for check in story.checks)


def test_the_narration_is_always_the_same_and_ends_with_the_verification(told, said):
    text = "".join(f"{line}\n" for line in said)
    if "TMS_WRITE_GOLDEN" in os.environ:
        GOLDEN.write_text(text, encoding="utf-8")
    assert text == GOLDEN.read_text(encoding="utf-8")
    assert text.splitlines()[-1] == "Verified: sound; labels compared at 11 revisions."


def test_the_file_of_the_story_can_be_read_afterwards(told, path):
    _, story = told
    with tms.open(path, create=False) as memory:
        assert memory.report(story.after).to_json() == story.retraction.to_json()
        assert memory.verify(revisions=None)


def test_the_story_is_not_told_over_what_is_there():
    with tms.open(":memory:") as memory:
        memory.source("Mine:1")
        head = memory.head
        with pytest.raises(tms.ContentConflict, match="there are commits"):
            demo.story(memory, print)
        assert memory.head == head


class Forgetful:
    """A memory in which unretract does nothing."""

    def __init__(self, memory):
        self._memory = memory

    def __getattr__(self, name):
        return getattr(self._memory, name)

    def unretract(self, refs, **_said):
        return self._memory.unretract([])


def test_a_story_that_does_not_come_out_as_told_says_so_and_is_falsy():
    said = []
    with tms.open(":memory:", clock=Ticking()) as memory:
        story = demo.story(Forgetful(memory), said.append)
    assert not story
    assert [check.what for check in story.checks if not check.holds] == [
        "all is believed exactly as before the retraction",
        "only the conclusions of that run went",
        "those of the other two runs stay",
    ]
    assert "WRONG: all is believed exactly as before the retraction" in said


def test_the_story_needs_nothing_but_what_tms_makes_public():
    tree = ast.parse(inspect.getsource(demo))
    imported = {
        alias.name if isinstance(node, ast.Import) else node.module
        for node in ast.walk(tree)
        if isinstance(node, (ast.Import, ast.ImportFrom))
        for alias in node.names
    }
    assert imported == {"collections.abc", "tms", "tms.models"}
    used = {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "tms"
    }
    assert used <= set(tms.__all__)
