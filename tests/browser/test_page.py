"""The page in a browser. Each test also sees that it asks for nothing and complains of nothing."""

import pytest
from picturing import HOSTILE, absent, hostile, impact, reached

import tms
from benchmarks.families import FAMILIES
from tms.content import line

pytestmark = pytest.mark.browser


def test_a_why_is_drawn_with_all_its_nodes_and_edges(visit, memory):
    page = visit(memory.why("Block:14"))
    assert page.driver.title == page.text("#title") == "Why Block:14 is IN"
    drawn = page.driver.find_elements("css selector", "#nodes .node")
    assert len(drawn) == len(page.data["nodes"])
    assert len(page.driver.find_elements("css selector", "path.edge")) >= len(page.data["edges"])
    assert page.node("Block:14").get_attribute("aria-label") == "Block:14: fact, IN, asked"
    assert "↺ circular" in page.text("#said")
    assert "circular" in page.text("#signs")
    for node in drawn:
        assert node.is_displayed()
        assert node.get_attribute("role") == "button"


@pytest.mark.parametrize("name", ["why_not", "impact", "report", "diff", "neighbourhood"])
def test_every_kind_of_answer_is_drawn(visit, memory, name):
    before = memory.head
    report = memory.retract("VulnFeed:1", reason="bad mapping", by="oncall")
    answer = {
        "why_not": absent,
        "impact": impact,
        "report": lambda: report,
        "diff": lambda: memory.diff(before, memory.head),
        "neighbourhood": lambda: memory.neighbourhood("Flag:14", depth=2),
    }[name]()
    page = visit(answer)
    assert (
        len(page.driver.find_elements("css selector", "#nodes .node"))
        == len(page.data["nodes"])
        > 2
    )


def test_an_answer_that_holds_nothing_is_a_page_that_says_so(visit, memory):
    page = visit(memory.retract([]))
    assert "nothing changed" in page.text("#title")
    page.keys("+", "0", "/", "a", "\ue007", "\ue00c")
    for id in ("closer", "further", "fit", "back"):
        page.one(f"#{id}").click()
    assert page.opened() is None
    page = visit(memory.why("Block:14", nodes=1))
    assert "there is more" in page.text("#notes")


def test_labels_stay_within_their_nodes(visit, memory):
    for answer in (memory.why("Block:14"), absent(), impact(), memory.retract("VulnFeed:1")):
        page = visit(answer)
        wide = page.run(
            "return [...document.querySelectorAll('#nodes .node')].flatMap(node => {"
            " const shape = node.querySelector('.shape').getBoundingClientRect();"
            " return [...node.querySelectorAll('text')].filter(text => {"
            "  const box = text.getBoundingClientRect();"
            "  return box.left < shape.left || box.right > shape.right; })"
            "  .map(text => text.textContent); })"
        )
        assert wide == []


def test_a_click_opens_the_details_and_escape_closes_them(visit, memory):
    page = visit(memory.why("Block:14"))
    assert page.opened() is None
    page.node("VulnFeed:1").click()
    assert page.opened() == "VulnFeed:1"
    assert page.text("#words") == "source, IN"
    assert '"package": "libparse"' in page.text("#details")
    page.node("justification:feed-14").click()
    assert page.opened() == "justification:feed-14"
    told = page.text("#details")
    assert "rulematch" in told
    assert "byingest" in told
    assert "reasonnightly" in told
    page.one("#near button").click()
    assert page.opened() == page.focused() == "VulnFeed:1"
    page.keys("\ue00c")
    assert page.opened() is None
    page.node("Flag:14").click()
    page.one("#close").click()
    assert page.opened() is None
    assert page.focused() == "Flag:14"


def test_finding_marks_what_is_found_and_goes_there(visit, memory):
    page = visit(memory.why("Block:14"))
    page.keys("/")
    page.keys("POLICY")
    hits = page.driver.find_elements("css selector", ".node.hit")
    assert [hit.get_attribute("aria-label") for hit in hits] == ["Policy:1: fact, IN"]
    assert page.text("#found") == "1 of 1"
    before = page.view()
    page.keys("\ue007")
    assert page.opened() == "Policy:1"
    find = page.one("#find")
    find.clear()
    find.send_keys("justification")
    total = len(page.driver.find_elements("css selector", ".node.hit"))
    assert page.text("#found") == f"1 of {total}"
    find.send_keys("\ue007\ue007")
    assert page.text("#found") == f"2 of {total}"
    assert page.view() != before
    find.clear()
    find.send_keys("no such thing")
    assert page.text("#found") == "none"
    find.send_keys("\ue00c")
    assert page.driver.find_elements("css selector", ".node.hit") == []


def test_the_picture_is_moved_and_enlarged_by_mouse(visit, memory):
    from selenium.webdriver import ActionChains
    from selenium.webdriver.common.actions.wheel_input import ScrollOrigin

    page = visit(memory.why("Block:14"))
    x, y, scale = page.view()
    picture = page.one("#picture")
    ActionChains(page.driver).move_to_element_with_offset(
        picture, 0, -picture.size["height"] // 2 + 20
    ).click_and_hold().move_by_offset(70, 40).release().perform()
    assert page.view() == pytest.approx((x + 70, y + 40, scale), abs=1)
    origin = ScrollOrigin.from_element(picture)
    ActionChains(page.driver).scroll_from_origin(origin, 0, -200).perform()
    assert page.view()[2] > scale * 1.2
    ActionChains(page.driver).scroll_from_origin(origin, 0, 400).perform()
    assert page.view()[2] < scale
    page.one("#fit").click()
    assert page.view() == pytest.approx((x, y, scale))
    for button, more in (("#closer", True), ("#further", False)):
        before = page.view()[2]
        page.one(button).click()
        assert (page.view()[2] > before) == more


def test_a_drag_that_begins_on_a_node_moves_and_opens_nothing(visit, memory):
    from selenium.webdriver import ActionChains

    page = visit(memory.why("Block:14"))
    before = page.view()
    ActionChains(page.driver).drag_and_drop_by_offset(page.node("Flag:14"), 60, 30).perform()
    assert page.view() != before
    assert page.opened() is None


def test_everything_is_done_by_keyboard_too(visit, memory):
    from selenium.webdriver import ActionChains

    page = visit(memory.why("Block:14"))
    page.run("document.getElementById('picture').focus()")
    page.keys("\ue007")
    assert page.focused() == "Block:14"
    page.keys("\ue012")
    assert page.focused() == "justification:b-14"
    page.keys("\ue012")
    assert page.focused() in ("Flag:14", "Policy:1")
    first = page.focused()
    page.keys("\ue015")
    page.keys("\ue013") if page.focused() != first else None
    page.keys("\ue014")
    assert page.focused() == "justification:b-14"
    page.keys("\ue007")
    assert page.opened() == "justification:b-14"
    assert page.run("return document.activeElement.id") == "ref"
    page.keys("\ue00c")
    assert page.focused() == "justification:b-14"
    x, _, scale = page.view()
    page.keys("+")
    assert page.view()[2] > scale
    page.keys("-")
    assert page.view()[2] == pytest.approx(scale)
    ActionChains(page.driver).key_down("\ue008").send_keys("\ue014").key_up("\ue008").perform()
    assert page.view()[0] == pytest.approx(x - 80, abs=1)
    page.keys("0")
    page.keys("\ue011")
    assert page.focused() == "Block:14"
    only = page.run("return [...document.querySelectorAll('#nodes .node[tabindex=\"0\"]')].length")
    assert only == 1  # one stop for the tab key


def test_light_and_dark_differ_and_both_can_be_read(visit, memory):
    memory.retract("VulnFeed:1")
    page = visit(memory.neighbourhood("Flag:14", depth=2))
    seen = []
    for _ in range(2):
        ratios = page.run(CONTRAST)
        assert min(ratios) >= 4.5, ratios
        seen.append(page.run("return getComputedStyle(document.body).backgroundColor"))
        page.one("#theme").click()
    assert seen[0] != seen[1]


CONTRAST = """
const parts = (colour) => colour.match(/[0-9.]+/g).slice(0, 3).map(Number);
const light = (colour) => {
  const [r, g, b] = parts(colour).map((v) => v / 255)
    .map((v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const ratio = (one, two) => {
  const [a, b] = [light(one), light(two)].sort((x, y) => y - x);
  return (a + 0.05) / (b + 0.05);
};
const style = (element) => getComputedStyle(element);
const ratios = [];
for (const node of document.querySelectorAll("#nodes .node")) {
  const fill = style(node.querySelector(".shape")).fill;
  for (const text of node.querySelectorAll("text, tspan")) {
    ratios.push(ratio(style(text).fill, fill));
  }
}
const sheet = style(document.querySelector("header")).backgroundColor;
for (const id of ["title", "notes", "signs"]) {
  ratios.push(ratio(style(document.getElementById(id)).color, sheet));
}
return ratios;
"""


def test_hostile_ids_are_shown_as_text_and_do_nothing(visit):
    from selenium.common.exceptions import NoAlertPresentException

    with tms.open(":memory:") as memory:
        goal = hostile(memory)
        answers = [memory.why(goal), memory.neighbourhood(goal, depth=3)]
        answers += [memory.why(f"F:{text}") for text in HOSTILE[:3]]
        answers.append(impact(*(reached(f"F:{t}", "died", 1, "VulnFeed:1", t) for t in HOSTILE)))
        answers.append(memory.retract([f"S:{text}" for text in HOSTILE], reason=HOSTILE[1]))
    for answer in answers:
        page = visit(answer)
        elements = page.run("return document.querySelectorAll('img, iframe, a').length")
        assert elements == 0
        assert page.run("return document.scripts.length") == 3
        for node in page.data["nodes"]:
            page.run(
                "arguments[0].dispatchEvent(new MouseEvent('click', {bubbles: true}))",
                page.node(node["id"]),
            )
            assert page.opened() == line(node["id"])
        assert page.run("return document.querySelectorAll('img, iframe, a').length") == 0
        page.one("#find").send_keys(HOSTILE[0])
        assert page.driver.find_elements("css selector", ".node.hit") or HOSTILE[0] not in str(
            page.data
        )
        with pytest.raises(NoAlertPresentException):
            _ = page.driver.switch_to.alert.text


def test_two_thousand_nodes_stay_usable(visit):
    with tms.open(":memory:") as memory:
        memory.load(FAMILIES["security"].rows(1_000))
        near = memory.neighbourhood("Feed:bad", depth=2, nodes=4_000)
    page = visit(near)
    assert len(page.data["nodes"]) == 2_000
    assert "left out" in page.text("#notes")
    took = page.run(
        "let least = Infinity;"
        "for (let i = 0; i < 20; i += 1) {"
        " const start = performance.now();"
        " document.getElementById(i % 2 ? 'closer' : 'further').click();"
        " document.getElementById('world').getBoundingClientRect();"
        " least = Math.min(least, performance.now() - start); }"
        "return least"
    )
    assert took < 250  # milliseconds for one step
    page.one("#find").send_keys("Flag:0000123\ue007")
    assert page.opened() == "Flag:0000123"


def test_in_a_small_window_nothing_is_out_of_reach(visit, memory):
    driver = visit(memory.why("Block:14")).driver
    old = driver.get_window_size()
    driver.set_window_size(420, 800)
    try:
        page = visit(memory.why("Block:14"))
        wide = page.run("return innerWidth")
        assert page.run("return document.documentElement.scrollWidth") <= wide
        for id in ("find", "closer", "further", "fit", "back", "theme", "picture"):
            box = page.one(f"#{id}").rect
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= wide
        page.one("#back").click()
        page.node("Block:14").click()
        assert page.one("#panel").is_displayed()
        assert page.one("#panel").rect["width"] <= wide
    finally:
        driver.set_window_size(old["width"], old["height"])


def test_the_policy_stops_what_a_script_in_an_id_would_do(visit, memory):
    page = visit(memory.why("Block:14"))
    stopped = page.driver.execute_async_script(
        "const done = arguments[arguments.length - 1], stopped = new Set();"
        "addEventListener('securitypolicyviolation', (e) => stopped.add(e.effectiveDirective));"
        "window.ran = false;"
        "const put = (name, set) => {"
        "  const made = document.createElement(name); set(made); document.body.append(made); };"
        "put('img', (e) => { e.src = 'https://example.invalid/x.png'; });"
        "put('script', (e) => { e.textContent = 'window.ran = true'; });"
        "put('style', (e) => { e.textContent = '* { color: red }'; });"
        "put('p', (e) => { e.setAttribute('onclick', 'window.ran = true'); e.click(); });"
        "fetch('https://example.invalid/').catch(() => {});"
        "setTimeout(() => done([[...stopped].sort(), window.ran]), 300);"
    )
    assert stopped == [
        ["connect-src", "img-src", "script-src-attr", "script-src-elem", "style-src-elem"],
        False,
    ]
    said = page.complaints()  # of what was just tried; the page itself has nothing to complain of
    assert said
    assert all("Content Security Policy" in text for text in said)
