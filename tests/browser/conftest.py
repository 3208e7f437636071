"""A browser without a window, for the pages that ``tms.render.html`` writes."""

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import tms
from tms import render

SWITCHES = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--window-size=1280,800",
)


class Page:
    """A page in the browser, by what a person sees and does there."""

    def __init__(self, driver: Any, data: dict[str, Any]) -> None:
        self.driver = driver
        self.data = data

    def run(self, script: str, *args: object) -> Any:
        return self.driver.execute_script(script, *args)

    def one(self, selector: str) -> Any:
        return self.driver.find_element("css selector", selector)

    def text(self, selector: str) -> str:
        return self.run("return document.querySelector(arguments[0]).textContent", selector)

    def node(self, id: str) -> Any:
        place = [node["id"] for node in self.data["nodes"]].index(id)
        return self.driver.find_elements("css selector", "#nodes .node")[place]

    def opened(self) -> str | None:
        """The ref that the details are of; None if they are closed."""
        return (
            None
            if self.run("return document.getElementById('panel').hidden")
            else self.text("#ref")
        )

    def view(self) -> tuple[float, float, float]:
        """How far the picture is moved, and how much it is enlarged."""
        matrix = "document.getElementById('world').transform.baseVal.consolidate().matrix"
        x, y, scale = self.run(f"const m = {matrix}; return [m.e, m.f, m.a]")
        return x, y, scale

    def focused(self) -> str | None:
        """The id of the node that has the focus."""
        number = self.run("return document.activeElement.dataset.number ?? null")
        return None if number is None else self.data["nodes"][int(number)]["id"]

    def keys(self, *keys: str) -> None:
        from selenium.webdriver import ActionChains

        ActionChains(self.driver).send_keys(*keys).perform()

    def requests(self) -> list[str]:
        """All that was asked for and not stopped, but for data: and the browser's own."""
        entries = [json.loads(entry["message"]) for entry in self.driver.get_log("performance")]
        events = [entry["message"] for entry in entries]
        stopped = {
            event["params"]["requestId"]
            for event in events
            if event["method"] == "Network.loadingFailed"
            and event["params"].get("blockedReason") == "csp"
        }
        sent = [
            event["params"]
            for event in events
            if event["method"] == "Network.requestWillBeSent"
            and event["params"]["requestId"] not in stopped
        ]
        urls = [params["request"]["url"] for params in sent]
        return [url for url in urls if not url.startswith(("data:", "chrome"))]

    def complaints(self) -> list[str]:
        return [entry["message"] for entry in self.driver.get_log("browser")]


@pytest.fixture(scope="session")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or ""
    for switch in SWITCHES:
        options.add_argument(switch)
    options.add_argument(f"--user-data-dir={tmp_path_factory.mktemp('browser')}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
    yield driver
    driver.quit()


@pytest.fixture
def visit(driver: Any, tmp_path: Path) -> Iterator[Callable[..., Page]]:
    """Write the page of an answer and open it; at the end look at what it asked for and said."""
    opened: list[str] = []

    def visit(answer: object, **options: Any) -> Page:
        path = tmp_path / f"page-{len(opened)}.html"
        text = render.html(answer, **options)
        path.write_text(text, encoding="utf-8")
        driver.get(path.as_uri())
        opened.append(path.as_uri())
        data = text.partition('id="data">')[2].partition("</script>")[0]
        return Page(driver, json.loads(data))

    Page(driver, {}).requests(), Page(driver, {}).complaints()  # of earlier tests
    yield visit
    page = Page(driver, {})
    assert page.requests() == opened
    assert page.complaints() == []


@pytest.fixture
def memory() -> Iterator[tms.Memory]:
    """The feed, two services it flags, a scan that flags one of them, a policy, and a ring."""
    with tms.open(":memory:") as memory:
        memory.source("VulnFeed:1", content={"package": "libparse"})
        memory.source("Scan:1")
        memory.axiom("Policy:1", rule="decided by the board")
        with memory.batch(reason="nightly", by="ingest"):
            for number in (14, 22):
                memory.justify(f"Flag:{number}", "VulnFeed:1", rule="match", id=f"feed-{number}")
                memory.justify(
                    f"Block:{number}",
                    [f"Flag:{number}", "Policy:1"],
                    rule="block",
                    id=f"b-{number}",
                )
        memory.justify("Flag:14", "Scan:1", rule="scan", id="scan-14")
        memory.justify("Flag:14", "Block:14", rule="loop", id="loop")
        yield memory
