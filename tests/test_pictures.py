"""Answers as text, diagrams and pages. The page in a browser: tests/browser."""

import html
import os
import re
import time
from datetime import timedelta
from pathlib import Path

import pytest
from making import NOON, Clock, fill
from picturing import (
    AT,
    HOSTILE,
    absent,
    hostile,
    impact,
    nothing_absent,
    nothing_reached,
    reached,
    read_dot,
    read_html,
    read_mermaid,
)

import tms
from benchmarks.families import FAMILIES
from tms import render
from tms.render.layout import laid_out

GOLDEN = Path(__file__).with_name("golden") / "pictures"
FORMS = {
    "text": render.text,
    "mermaid": render.mermaid,
    "dot": render.dot,
    "html": render.html,
}


def _answers():
    with tms.open(":memory:", clock=Clock()) as memory:
        fill(memory)
        anchors = [commit.anchor for commit in memory.log()]
        return {
            "why": memory.why("Block:14"),
            "why-of-a-justification": memory.why("justification:block-14"),
            "why-cut": memory.why("Block:14", nodes=2),
            "why-of-what-is-out": memory.why("Block:22"),
            "why-not": absent(),
            "why-not-cut": absent(truncated=True),
            "why-not-of-what-is-in": nothing_absent(),
            "impact": impact(),
            "impact-cut": impact(truncated=True),
            "impact-of-nothing": nothing_reached(),
            "report": memory.report(anchors[9]),
            "report-of-revival": memory.report(anchors[10]),
            "report-of-nothing": memory.retract("Flag:22", reason="again"),
            "diff": memory.diff(anchors[3], anchors[-1]),
            "diff-of-nothing": memory.diff(anchors[0], anchors[0]),
            "environments": memory.environments("Block:14"),
            "environments-cut": memory.environments("Block:14", limit=1),
            "environments-of-what-is-out": memory.environments("Block:22"),
            "origins": memory.origins("Block:14"),
            "cuts": memory.cuts("Block:14"),
            "critical": memory.as_of(recorded=anchors[7]).critical(),
            "neighbourhood": memory.neighbourhood("Flag:14", depth=2),
            "neighbourhood-cut": memory.neighbourhood("Flag:14", depth=2, nodes=2),
            "neighbourhood-of-a-justification": memory.neighbourhood("justification:block-22"),
            "neighbourhood-of-nothing": memory.neighbourhood("Flag:14", depth=0),
        }


def _timed():
    """Return what is told of a feed that has expired, a rule that will hold, and a trial period."""
    with tms.open(":memory:", clock=Clock(step=timedelta(hours=1))) as memory:
        with memory.batch():
            memory.source("Feed:1", valid_to=NOON + timedelta(minutes=90))
            memory.source("Scan:1", valid_from=NOON + timedelta(minutes=30))
            memory.justify("Flag:14", ["Feed:1", "Scan:1"], id="both")
            memory.fact("Block:14", valid_from=NOON)
            memory.justify("Block:14", "Flag:14", id="rule", valid_from="2026-08-01T00:00:00Z")
        with memory.batch(reason="a trial"):
            memory.revise("Block:14", valid_from=None, valid_to=NOON + timedelta(days=1))
        settled = memory.settle(reason="nightly")
        assert [item.cause for item in settled.settled] == ["expired"]
        first = next(memory.log()).anchor
        return {
            "why-not-of-what-is-not-valid": memory.why_not("Block:14"),
            "neighbourhood-of-what-is-not-valid": memory.neighbourhood("Flag:14"),
            "report-of-what-expired": settled,
            "diff-of-windows": memory.diff(first, settled.after),
        }


ANSWERS = {**_answers(), **_timed()}


@pytest.fixture(scope="module")
def evil():
    with tms.open(":memory:") as memory:
        goal = hostile(memory)
        answers = [memory.why(goal), memory.neighbourhood(goal, depth=3)]
        answers.append(memory.retract([f"S:{text}" for text in HOSTILE], reason=HOSTILE[0]))
        answers.append(memory.diff(answers[-1].before, answers[-1].after))
        steps = [reached(f"F:{text}", "died", 1, "VulnFeed:1", text) for text in HOSTILE]
        return [*answers, impact(*steps)]


@pytest.mark.parametrize("name", ANSWERS)
def test_every_answer_is_told_in_every_form_and_all_agree(name):
    answer = ANSWERS[name]
    shown = render.picture(answer)
    labels, links = read_mermaid(render.mermaid(answer))
    names, edges = read_dot(render.dot(answer))
    data = read_html(render.html(answer))
    assert len(labels) == len(names) == len(data["nodes"]) == len(shown.spots)
    assert len(links) == len(edges) == len(data["edges"]) == len(shown.edges)
    assert [(start, end) for start, _, end in links] == edges
    assert [node["id"] for node in data["nodes"]] == [spot.id for spot in shown.spots]
    lines = render.text(answer).splitlines()
    assert lines[0] == data["title"] == shown.title
    for spot, label in zip(shown.spots, labels.values(), strict=True):
        assert label == f"{spot.label}<br/>{', '.join(spot.words)}"
        (line,) = [line for line in lines if re.search(rf"(^|[─·] ){re.escape(spot.id)}  \w", line)]
        assert ", ".join(spot.words) in line
    for note in shown.notes:
        assert f"  {note}" in lines


@pytest.mark.parametrize("name", ANSWERS)
def test_what_was_cut_says_so_in_every_form(name):
    for form, write in FORMS.items():
        told = write(ANSWERS[name])
        assert ("there is more" in told) == name.endswith("-cut"), form


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", ANSWERS)
def test_the_same_answer_is_the_same_bytes(name, form):
    answer = ANSWERS[name]
    twin = type(answer).model_validate_json(answer.to_json())
    assert FORMS[form](twin) == FORMS[form](answer)


STORIES = ["why", "why-not", "impact", "report", "diff", "neighbourhood", *_timed()]


@pytest.mark.parametrize("form", ["text", "mermaid", "dot"])
@pytest.mark.parametrize("name", STORIES)
def test_a_picture_is_as_the_golden_file_has_it(name, form):
    told = FORMS[form](ANSWERS[name]) + "\n"
    golden = GOLDEN / f"{name}.{ {'text': 'txt', 'mermaid': 'mmd', 'dot': 'dot'}[form] }"
    if "TMS_WRITE_GOLDEN" in os.environ:
        golden.write_text(told, encoding="utf-8")
    assert told == golden.read_text(encoding="utf-8")


def test_marks_and_kinds_of_edges_say_what_the_answer_says():
    why = render.picture(ANSWERS["why"])
    words = {spot.id: spot.words for spot in why.spots}
    assert words["Block:14"] == ("fact", "IN", "asked")
    kinds = {(edge.start, edge.end): edge.kind for edge in why.edges}
    assert kinds["justification:block-14", "Block:14"] == "supports"
    assert kinds["justification:by-feed", "Flag:14"] == "derives"
    words = {spot.id: spot.words for spot in render.picture(absent()).spots}
    assert words["VulnFeed:1"] == ("source", "OUT", "retracted", "would help")
    assert words["Policy:1"] == ("node", "IN")
    assert words["justification:ring"] == ("justification", "does not fire")
    shown = render.picture(impact())
    words = {spot.id: spot.words for spot in shown.spots}
    assert words["VulnFeed:1"] == ("source", "OUT", "asked", "retracted")
    assert words["Flag:14"] == ("fact", "IN", "survived")
    assert words["Flag:22"] == ("fact", "OUT", "died")
    assert words["Block:14"] == ("fact", "IN", "untouched")
    kinds = {(edge.start, edge.end): edge.kind for edge in shown.edges}
    assert kinds["justification:feed-14", "Flag:14"] == "lost"
    assert kinds["justification:scan", "Flag:14"] == "derives"
    assert kinds["justification:block-14", "Block:14"] == "derives"


def test_a_circle_is_marked_and_told_once():
    with tms.open(":memory:") as memory:
        memory.justify("F:1", memory.source("S:1"), id="ground")
        memory.justify("F:2", "F:1", id="on")
        memory.justify("F:1", "F:2", id="back")
        why = memory.why("F:1")
        assert "justification:back  justification, fires, circular" in render.text(why)
        assert "circular" in render.mermaid(why)
        text = render.text(memory.neighbourhood("F:1", depth=9))
    assert len([line for line in text.splitlines() if "F:2  fact" in line]) == 1
    assert "F:2  ↑ above" in text


def test_details_hold_who_and_when_and_the_content():
    data = read_html(render.html(ANSWERS["neighbourhood"]))
    feed = next(node for node in data["nodes"] if node["id"] == "Feed:1")
    details = dict(feed["details"])
    assert details["recorded"].startswith("r1:0000000000000001:")
    assert '"rows": 2' in details["content"]
    (rule,) = [
        dict(node["details"]).get("rule")
        for node in data["nodes"]
        if node["id"].endswith("block-14")
    ]
    assert rule == "block"


# ---------------------------------------------------------------- what comes from outside


CONTROLS = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\u202e]")


def test_hostile_ids_are_text_in_every_form(evil):
    for answer in evil:
        shown = render.picture(answer)
        labels, _ = read_mermaid(render.mermaid(answer))
        names, _ = read_dot(render.dot(answer))
        data = read_html(render.html(answer))
        assert len(labels) == len(names) == len(data["nodes"]) == len(shown.spots)
        assert [node["id"] for node in data["nodes"]] == [spot.id for spot in shown.spots]
        for spot, label, name in zip(shown.spots, labels.values(), names.values(), strict=True):
            whole = f"{spot.label}<br/>{', '.join(spot.words)}"
            if len(spot.label) <= 60:
                assert label == whole
                assert name == whole.replace("<br/>", "\n")
            else:
                assert label.partition("…")[0] in whole
                assert len(label) < 120
        for form in ("text", "mermaid", "dot"):
            assert not CONTROLS.search(FORMS[form](answer))


def test_every_line_of_a_text_with_hostile_ids_is_a_line_of_its_own(evil):
    why = evil[0]
    lines = render.text(why).splitlines()
    shown = render.picture(why)
    above = sum("↑ above" in line for line in lines)
    assert len(lines) == 1 + len(shown.notes) + 1 + len(shown.spots) + above


def test_the_title_of_a_page_is_text_and_templates_in_it_are_not_filled():
    with tms.open(":memory:") as memory:
        for text in HOSTILE:
            page = render.html(memory.neighbourhood(memory.source(f"S:{text}")))
            data = read_html(page)
            title = page.partition("<title>")[2].partition("</title>")[0]
            assert html.unescape(title) == data["title"]
            assert "<" not in title


def test_the_policy_of_the_page_allows_its_own_script_and_nothing_else():
    page = render.html(ANSWERS["why"])
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)[1]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "http" not in policy
    assert len(re.findall(r"'sha256-[A-Za-z0-9+/=]{44}'", policy)) == 3
    assert not re.search(r"innerHTML|outerHTML|insertAdjacent|document\.write|eval\(|fetch\(", page)
    assert not re.search(r"\son\w+=|\sstyle=|@import|url\(", page)


# ---------------------------------------------------------------- limits


def test_nodes_beyond_the_limit_are_counted_in_every_form():
    answer = ANSWERS["neighbourhood"]
    total = len(render.picture(answer).spots)
    for most in (1, 3, total - 1):
        shown = render.picture(answer, most=most)
        assert (len(shown.spots), shown.left_out) == (most, total - most)
        assert shown.spots[0].id == "Flag:14"
        for form, write in FORMS.items():
            assert "left out" in write(answer, most=most).replace("#32;", " "), form
        read_mermaid(render.mermaid(answer, most=most))
        read_dot(render.dot(answer, most=most))
        assert (
            read_html(render.html(answer, most=most))["more"] == f"… {total - most} more left out"
        )
    for write in FORMS.values():
        assert "left out" not in write(answer, most=total)


def test_a_large_part_does_not_crowd_out_a_small_one():
    with tms.open(":memory:") as memory:
        memory.load(FAMILIES["security"].rows(3_000))
        report = memory.retract("Feed:bad")
    shown = render.picture(report, most=200)
    groups = [spot.group for spot in shown.spots]
    assert groups.count(0) == 1
    assert groups.count(1) == 99
    assert groups.count(3) == 100
    survivors = {spot.id for spot in shown.spots if "survived" in spot.marks}
    assert len(survivors - {edge.end for edge in shown.edges}) <= 1  # the others keep something
    assert "died 3,000" in shown.groups


@pytest.mark.parametrize("name", ["why", "why-not", "impact", "neighbourhood"])
def test_what_is_kept_of_a_graph_hangs_together(name):
    for most in range(1, len(render.picture(ANSWERS[name]).spots)):
        shown = render.picture(ANSWERS[name], most=most)
        joined, waiting = set(), [spot.id for spot in shown.spots if "asked" in spot.marks]
        assert waiting
        while waiting:
            id = waiting.pop()
            joined.add(id)
            ends = {
                end
                for edge in shown.edges
                for end in (edge.start, edge.end)
                if id in (edge.start, edge.end)
            }
            waiting += ends - joined
        assert joined == {spot.id for spot in shown.spots}


@pytest.mark.parametrize("most", [0, -1, None, True, 1.5])
def test_a_limit_out_of_range_is_refused(most):
    for write in FORMS.values():
        with pytest.raises(tms.InvalidArgument):
            write(ANSWERS["why"], most=most)


@pytest.mark.parametrize("thing", [None, "text", 7, tms.Ref("F:1")])
def test_there_is_no_picture_of_what_is_no_answer(thing):
    for write in FORMS.values():
        with pytest.raises(tms.InvalidArgument, match="no picture"):
            write(thing)


def test_a_deep_chain_is_told_in_lines_that_stay_short():
    with tms.open(":memory:") as memory:
        memory.load(FAMILIES["chain"].rows(5_000))
        why = memory.why(list(memory.holding())[-1], nodes=10_000)
    text = render.text(why, most=100_000)
    lines = text.splitlines()
    assert len(lines) >= 10_000
    assert max(map(len, lines)) < 250
    assert "(9999) " in text
    assert "(10000) " in text
    read_mermaid(render.mermaid(why, most=100_000))
    read_dot(render.dot(why, most=100_000))


def test_a_long_chain_is_told_without_recursion():
    steps = [
        reached(f"F:{n}", "died", n, f"F:{n - 1}" if n > 1 else "VulnFeed:1", f"j{n}")
        for n in range(1, 30_001)
    ]
    text = render.text(impact(*steps), most=1_000_000)
    assert text.count("\n") >= 60_000
    assert len(text) < 60_000 * 120


def _seconds(shown: render.Picture) -> float:
    start = time.process_time()
    laid_out(shown)
    return time.process_time() - start


@pytest.mark.parametrize("family", ["layers", "fan", "chain"])
def test_the_layout_takes_time_that_grows_with_the_picture(family):
    seconds = []
    for n in (1_000, 4_000):
        with tms.open(":memory:") as memory:
            memory.load(FAMILIES[family].rows(n))
            near = memory.neighbourhood(FAMILIES[family].withdrawn, depth=n, nodes=n)
        shown = render.picture(near, most=2 * n)
        seconds.append(min(_seconds(shown) for _ in range(2)))
    assert seconds[1] < 12 * seconds[0] + 0.2


@pytest.mark.parametrize("name", ANSWERS)
def test_no_node_lies_on_another_and_all_lie_inside(name):
    data = read_html(render.html(ANSWERS[name]))
    boxes = [node["box"] for node in data["nodes"]]
    for number, (x, y, w, h) in enumerate(boxes):
        assert x >= 0
        assert y >= 0
        assert x + w <= data["width"] + 0.2
        assert y + h <= data["height"] + 0.2
        for u, v, s, t in boxes[:number]:
            assert x >= u + s or u >= x + w or y >= v + t or v >= y + h


@pytest.mark.parametrize("name", ["why", "impact", "report", "neighbourhood"])
def test_what_has_no_circle_goes_from_left_to_right(name):
    data = read_html(render.html(ANSWERS[name]))
    for edge in data["edges"]:
        start, end = (data["nodes"][edge[side]]["box"] for side in ("from", "to"))
        assert start[0] + start[2] < end[0]


def test_an_anchor_is_named_where_the_answer_has_one():
    assert f"as of {AT}" in render.text(absent())
