import io
import os
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from rich.console import Console

import tms
from tms import demo, render

GOLDEN = Path(__file__).with_name("golden")


class Ticking:
    def __init__(self):
        self.now = datetime(2026, 7, 21, 10, 0, tzinfo=UTC)

    def __call__(self):
        self.now += timedelta(seconds=1)
        return self.now


@pytest.fixture(scope="module")
def told():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "urandom", bytes)  # the marks of contents, on which cursors depend
        with tms.open(":memory:", clock=Ticking()) as memory:
            yield memory, demo.story(memory, lambda said: None)


def printed(drawing, *, colours=None, width=80):
    file = io.StringIO()
    console = Console(
        file=file, width=width, force_terminal=True, color_system=colours, _environ={}
    )
    console.print(drawing, crop=False)
    return "".join(line.rstrip() + "\n" for line in file.getvalue().splitlines())


def drawings(memory, story):
    service = "Vulnerable:svc-14"
    return {
        "report": render.drawn(story.retraction),
        "report-of-revival": render.drawn(story.restoration),
        "report-of-nothing": render.drawn(memory.unretract(demo.FEED)),
        "log": render.log(list(memory.log())),
        "holding": render.facts(list(memory.holding())),
        "scan": render.drawn(memory.scan(kind="AgentRun")),
        "scan-page": render.drawn(memory.scan(kind="Vulnerable", limit=3)),
        "show-source": render.drawn(memory.get(demo.FEED)),
        "show-fact": render.drawn(memory.get(service)),
        "show-justification": render.drawn(memory.get("justification:block-svc-14")),
        "show-axiom": render.drawn(memory.get(f"justification:{axiom_of(memory)}")),
        "history": render.events(memory.history(demo.FEED)),
        "history-of-fact": render.events(memory.history(service)),
        "verify": render.drawn(story.verification),
        **timed(),
    }


def axiom_of(memory):
    return memory.get(demo.POLICY).support


def timed():
    """Return drawings of what has a window."""
    noon = datetime(2026, 7, 21, 12, tzinfo=UTC)
    clock = Ticking()
    with tms.open(":memory:", clock=clock) as memory:
        memory.source("Feed:1", valid_from=noon - timedelta(days=1), valid_to=noon)
        memory.source("Scan:1", valid_from=noon - timedelta(microseconds=1))
        memory.justify("Flag:1", "Feed:1", id="j1", valid_to="2027-01-01T00:00:00Z")
        memory.justify("Late:1", "Scan:1", id="j2")
        memory.revise("Scan:1", valid_from=None, valid_to=noon + timedelta(days=1))
        memory.revise("Scan:1", valid_from=noon, valid_to=None, reason="it is permanent")
        memory.revise("Feed:1", valid_from=None)
        clock.now = noon
        settled = memory.settle(reason="nightly", by="cron")
        return {
            "report-of-what-expired": render.drawn(settled),
            "show-source-with-window": render.drawn(memory.get("Feed:1")),
            "show-justification-with-window": render.drawn(memory.get("justification:j1")),
            "history-of-windows": render.events(memory.history("Scan:1")),
        }


NAMES = sorted(
    [
        *("report", "report-of-revival", "report-of-nothing", "log", "holding", "scan"),
        *("scan-page", "show-source", "show-fact", "show-justification", "show-axiom"),
        *("history", "history-of-fact", "verify"),
        *("report-of-what-expired", "show-source-with-window", "show-justification-with-window"),
        "history-of-windows",
    ]
)


def test_every_drawing_has_a_golden_file(told):
    assert sorted(drawings(*told)) == NAMES
    assert sorted(path.stem for path in GOLDEN.glob("*.txt") if path.stem != "demo") == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_result_is_drawn_at_width_80_as_the_golden_file_has_it(told, name):
    drawing = printed(drawings(*told)[name])
    golden = GOLDEN / f"{name}.txt"
    if "TMS_WRITE_GOLDEN" in os.environ:
        golden.write_text(drawing, encoding="utf-8")
    assert drawing == golden.read_text(encoding="utf-8")
    if name != "scan-page":  # a cursor is never broken
        assert max(map(len, drawing.splitlines())) <= 80


@pytest.mark.parametrize("name", NAMES)
def test_colours_add_nothing_to_the_words(told, name):
    drawing = drawings(*told)[name]
    coloured = printed(drawing, colours="truecolor")
    bare = re.sub(r"\x1b\[[0-9;]*m", "", coloured)
    assert [line.rstrip() for line in bare.splitlines()] == printed(drawing).splitlines()


def test_in_and_out_differ_in_colour_too(told):
    memory, _ = told
    alive = printed(render.drawn(memory.get("Vulnerable:svc-14")), colours="truecolor")
    gone = printed(render.drawn(memory.get("Reachable:svc-22")), colours="truecolor")
    assert "\x1b[32mIN" in alive
    assert "\x1b[31mOUT" in gone


def test_no_color_takes_the_colours_away(told):
    _, story = told
    file = io.StringIO()
    console = Console(
        file=file,
        width=80,
        force_terminal=True,
        color_system="truecolor",
        _environ={"NO_COLOR": "1"},
    )
    console.print(render.drawn(story.retraction))
    assert not re.search(r"\x1b\[[0-9;]*3[0-9]", file.getvalue())


def test_a_terminal_cuts_long_lists_of_ids_and_says_how_many_it_left_out(told):
    _, story = told
    drawing = printed(render.drawn(story.retraction))
    assert drawing.count("and 36 more") == 3


def test_plain_text_names_everything_and_is_the_text_of_the_model_otherwise(told):
    memory, story = told
    text = render.plain(story.retraction)
    assert "more" not in text
    lines = text.splitlines()
    assert [line.strip() for line in lines if line.strip() in story.retraction.died] == [
        *story.retraction.died
    ]
    assert text == story.retraction.text()
    for result in (memory.get(demo.FEED), memory.stats(), memory.scan(), story.verification):
        assert render.plain(result) == str(result)


def test_every_line_of_a_short_report_is_in_its_str():
    with tms.open(":memory:") as memory:
        memory.source("Feed:1")
        memory.justify([f"Flag:{number:02}" for number in range(20)], "Feed:1")
        report = memory.retract("Feed:1")
        assert str(report) == report.text()
        memory.justify("Flag:20", "Feed:1")
        memory.unretract("Feed:1")
        report = memory.retract("Feed:1")
    assert "… 1 more" in str(report)
    assert len(report.text().splitlines()) == len(str(report).splitlines())
    assert "    Flag:20" in report.text().splitlines()


NASTY = "Feed:\x1b[2J\x07\r\x00\x85\u202e\u2028[bold]x[/bold]"


def test_control_characters_reach_neither_a_terminal_nor_a_pipe():
    with tms.open(":memory:") as memory:
        feed = memory.source(NASTY, content={"k": "\x9b"})
        memory.justify(f"Flag:{NASTY}", feed, rule="\x1b]0;title\x07", id="\x1bid")
        memory.justify(f"Flag:{NASTY}", feed, rule="two")
        report = memory.retract("justification:\x1bid", reason="\x1b[31mred", by="\u2066by")
        results = [report, memory.get(feed), memory.get("justification:\x1bid"), memory.scan()]
        results += [memory.log_page(), memory.history_page(feed), memory.report_page(report.after)]
        shown = [printed(render.drawn(result)) for result in results]
        shown += [render.plain(result) for result in results]
        shown += [
            printed(render.log(list(memory.log()))),
            printed(render.facts(list(memory.holding()))),
            printed(render.events(memory.history(feed))),
            printed(render.events(memory.history("justification:\x1bid"))),
            printed(render.reports(list(memory.changes()))),
            *map(render.line, memory.log()),
        ]
    for text in shown:
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u202e\u2066]", text)
    assert "\\x1b[2J\\x07\\r\\x00\\x85\\u202e\\u2028[bold]x[/bold]" in render.plain(feed)


def test_a_line_break_in_an_id_makes_no_line_of_its_own():
    with tms.open(":memory:") as memory:
        feed = memory.source("Feed:1\nFeed:2")
        memory.justify("Flag:1\nFlag:2", feed)
        drawing = printed(render.facts(list(memory.holding())))
        assert "1\\nFlag:2" in drawing
        assert render.line(feed) == "Feed:1\\nFeed:2"
        report = memory.retract(feed)
    assert "1\\nFlag:2" in printed(render.drawn(report))


def test_what_is_wider_than_the_terminal_is_folded_and_not_lost():
    with tms.open(":memory:") as memory:
        ids = ["x" * 200, "語" * 100]
        for id in ids:
            memory.source(f"Feed:{id}", content={"text": id})
            memory.justify(f"Flag:{id}", f"Feed:{id}", rule=id, id=id)
        report = memory.retract([f"Feed:{id}" for id in ids], reason=ids[0], by=ids[1])
        memory.unretract([f"Feed:{id}" for id in ids])
        shown = [
            render.drawn(report),
            render.drawn(memory.scan()),
            render.facts(list(memory.holding())),
            render.log(list(memory.log())),
            render.events(memory.history(f"Feed:{ids[0]}")),
        ]
        shown += [render.drawn(memory.get(f"justification:{id}")) for id in ids]
    for drawing in shown:
        text = printed(drawing)
        assert text.count("x") + text.count("語") >= 100
        assert all(len(line) + line.count("語") <= 80 for line in text.splitlines())


def test_a_page_is_drawn_as_what_is_on_it(told):
    memory, story = told
    anchor = story.retraction.after
    changes = printed(render.drawn(memory.report_page(anchor, 1000)))
    assert all(re.search(f"died +{ref} *$", changes, re.M) for ref in story.retraction.died)
    for survivor in story.retraction.survived_via:
        assert re.search(f"survived +{survivor.fact} +via {survivor.via[0]}", changes)
    log = printed(render.drawn(memory.log_page(1000)))
    assert log == printed(render.log(list(memory.log())))
    life = printed(render.drawn(memory.history_page(demo.FEED, 1000)))
    assert life == printed(render.events(memory.history(demo.FEED)))
    assert "more with --cursor " in printed(render.drawn(memory.log_page(1)))


def test_nothing_to_draw_is_said():
    assert "no more commits" in printed(render.reports([]))
    assert "no commit yet" in printed(render.log([]))
    assert "no fact is believed" in printed(render.facts([]))
    with tms.open(":memory:") as memory:
        assert "nothing on record" in printed(render.drawn(memory.scan()))
