"""The report in a real browser: headless Chromium opens it from its folder."""

from __future__ import annotations

import os
import queue
import shutil
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import sync_playwright

from pytest_dvwiki.report.site.serving import Server, serve
from pytest_dvwiki.wiki.writing.build import archive

from ..samples import CAUSE, occurrence
from .sites import HOSTILE, OTHER, night, project, report

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = [
    # In the project's CI, the browser must be installed.
    pytest.mark.skipif(CHROMIUM is None and "CI" not in os.environ, reason="needs Chromium"),
    pytest.mark.slow,
]
COMMAND = 'cd "$(git rev-parse --show-toplevel)" && COCOTB_RANDOM_SEED=42 pytest tests/test_fifo.py::test_fifo'


@dataclass
class Tab:
    """A page of the browser that records its errors and requests."""

    page: Any
    site: Path
    told: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.page.on("console", lambda message: self.told.append(message.text))
        self.page.on("pageerror", lambda error: self.told.append(str(error)))
        self.page.on("requestfailed", lambda request: self.told.append(request.url))
        self.page.on("request", lambda request: self.requests.append(request.url))

    def open(self, path: str = "index.html") -> Any:
        """Open a page of the site."""
        self.page.goto((self.site / path).as_uri())
        return self.page

    @property
    def path(self) -> str:
        """Return the path of the open page, without its anchor."""
        return str(self.page.url).removeprefix(f"{self.site.as_uri()}/").partition("#")[0]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return report(tmp_path_factory.mktemp("site"))


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with sync_playwright() as playwright:
        # Chromium has no sandbox for root, as in a container.
        arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=arguments)
        yield started
        started.close()


@pytest.fixture
def tab(browser: Any, site: Path) -> Iterator[Tab]:
    with browser.new_context(viewport={"width": 1280, "height": 900}) as context:
        made = Tab(context.new_page(), site)
        yield made
        assert made.told == []
        assert all(url.startswith(f"{site.as_uri()}/") for url in made.requests)


def test_links_lead_from_page_to_page(tab: Tab) -> None:
    page = tab.open()
    for name in ("Tests", "Causes", "Runs", "Wiki", "Overview"):
        page.get_by_role("link", name=name, exact=True).first.click()
        assert page.locator("nav [aria-current=page]").inner_text() == name
    page.get_by_role("region", name="Table: New").locator("tr", has_text="uvm_error / timeout").locator("a").click()
    assert tab.path == f"causes/{OTHER}.html"
    page.locator("table a").first.click()
    assert tab.path == "runs/2026-11.html"
    assert page.locator("tr:target th").inner_text().startswith("nightly_20261121T020000Z")


def test_search_finds_causes_tests_and_pages(tab: Tab) -> None:
    page = tab.open(f"causes/{CAUSE}.html")
    box = page.get_by_role("searchbox", name="Search")
    box.fill("nothing like it")
    page.get_by_text("0 found").wait_for()
    box.fill("test_axi Timeout")
    page.get_by_text("1 found").wait_for()
    box.press("Enter")
    page.wait_for_url(f"**/causes/{OTHER}.html")
    box.fill("patterns null_handle")
    page.locator("#found a").first.click()
    page.wait_for_url("**/wiki/patterns/null_handle.html")
    box.fill("fifo underflow")
    page.locator("#found").get_by_role("link", name="tests/test_fifo.py::test_fifo::underflow").click()
    assert page.locator("tr:target th").inner_text() == "tests/test_fifo.py::test_fifo::underflow"
    assert page.locator("tr:target a").inner_text() == "uvm_error / null_handle"
    box.fill("x")
    box.press("Escape")
    assert page.locator("#found").is_hidden()


def test_a_table_is_filtered(tab: Tab) -> None:
    page = tab.open("tests.html")
    page.get_by_label("Only tests with").fill("fifo under")
    assert page.locator("#heat tbody tr:visible").count() == 1
    assert page.locator(".filter [role=status]").inner_text() == "1 of 3"


def test_the_command_is_copied(tab: Tab) -> None:
    page = tab.open(f"causes/{CAUSE}.html")
    page.get_by_role("button", name="Copy").click()
    page.locator(".command [role=status]").get_by_text("copied").wait_for()
    box = page.get_by_role("searchbox", name="Search")
    box.focus()
    page.keyboard.press("Control+V")
    assert box.input_value() == COMMAND


def test_nothing_that_a_log_or_page_holds_is_run(tab: Tab) -> None:
    page = tab.open(f"causes/{OTHER}.html")
    assert page.locator("mark").inner_text().endswith(HOSTILE)
    for path in sorted((tab.site / "wiki" / "bugs").glob("[A-Z]*.html")):
        tab.open(path.relative_to(tab.site).as_posix())
        assert page.evaluate("window.hacked") is None
    box = page.get_by_role("searchbox", name="Search")
    box.fill("script")
    page.locator("#found li").first.wait_for()
    assert page.evaluate("window.hacked") is None


def test_the_policy_forbids_scripts_in_the_page_and_requests(tab: Tab) -> None:
    page = tab.open()
    page.evaluate(
        """() => {
            const script = document.createElement("script");
            script.textContent = "window.hacked = 1";
            document.body.append(script);
            const image = document.createElement("img");
            image.src = "https://example.com/x.png";
            document.body.append(image);
        }"""
    )
    assert page.evaluate("window.hacked") is None
    page.wait_for_function("true")
    assert [text for text in tab.told if "Content Security Policy" not in text] == ["https://example.com/x.png"]
    assert len(tab.told) == 3
    tab.told.clear()
    tab.requests.remove("https://example.com/x.png")


def test_the_keyboard_reaches_the_content_first(tab: Tab) -> None:
    page = tab.open()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('main') !== null")


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (360, "dark")])
def test_nobody_is_shut_out(browser: Any, site: Path, width: int, scheme: str) -> None:
    bug = next((site / "wiki" / "bugs").glob("[A-Z]*.html")).relative_to(site).as_posix()
    paths = ["index.html", "tests.html", "causes.html", f"causes/{CAUSE}.html", "runs/2026-11.html", bug]
    with browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme) as context:
        tab = Tab(context.new_page(), site)
        for path in paths:
            page = tab.open(path)
            for each in page.locator("details").all():
                each.evaluate("element => { element.open = true; }")
            found = Axe().run(page)
            assert found.violations_count == 0, f"{path}: {found.generate_report()}"
            room = page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
            assert room, f"{path} is wider than the screen"


def test_a_served_report_follows_the_wiki(browser: Any, tmp_path: Path) -> None:
    place = project(tmp_path / "fifo")
    ready: queue.Queue[Server] = queue.Queue()
    thread = threading.Thread(target=serve, args=(place, tmp_path / "site", 0, ready.put), daemon=True)
    thread.start()
    server = ready.get(timeout=60)
    with browser.new_context() as context:
        page = context.new_page()
        page.goto(f"{server.url}causes/{CAUSE}.html")
        page.get_by_text("Seen in 3 runs").wait_for()
        archive(place, night(20, occurrence()))
        page.get_by_text("Seen in 4 runs").wait_for()
    server.shutdown()
    thread.join(timeout=60)
    assert not thread.is_alive()


def test_print_leaves_out_what_only_a_screen_needs(tab: Tab) -> None:
    page = tab.open(f"causes/{CAUSE}.html")
    page.emulate_media(media="print")
    assert page.locator("nav").first.is_hidden()
    assert page.get_by_role("button", name="Copy").is_hidden()
    assert page.get_by_role("heading", name="Evidence").is_visible()
