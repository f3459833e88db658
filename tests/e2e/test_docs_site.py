"""The documentation as a site: built without a warning, without a dead link, without another host."""

import re
import subprocess
from collections.abc import Iterator
from functools import partial
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from urllib.parse import unquote, urlsplit

import pytest
from playwright.sync_api import Browser, expect

pytestmark = pytest.mark.e2e

ROOT = Path(__file__).parents[2]


class Page(HTMLParser):
    """What a built page has: its anchors, where it links to, and what it loads."""

    def __init__(self, file: Path) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.feed(file.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name == "id":
                self.anchors.add(value or "")
            elif tag == "a" and name == "href":
                self.links.append(value or "")
            elif name in ("src", "href"):
                self.loads.append(value or "")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the built site."""
    folder = tmp_path_factory.mktemp("docs") / "site"
    built = subprocess.run([ROOT / "scripts" / "docs", folder], capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stdout + built.stderr
    assert "warning" not in (built.stdout + built.stderr).lower()
    return folder


@pytest.fixture
def address(site: Path) -> Iterator[str]:
    """Where the site is served."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(site))) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def test_no_link_of_the_site_is_dead_and_no_page_loads_from_another_host(site):
    pages = {file: Page(file) for file in site.rglob("*.html")}
    assert len(pages) > 30
    for file, page in pages.items():
        assert not [load for load in page.loads if urlsplit(load).netloc], file
        for link in page.links:
            url = urlsplit(link)
            if url.scheme:
                continue
            folder = site if url.path.startswith("/") else file.parent
            target = (folder / unquote(url.path).lstrip("/")).resolve() if url.path else file
            assert target.exists(), (file, link)
            assert not url.fragment or unquote(url.fragment) in pages[target].anchors, (file, link)


FOUND = {
    "reverse proxy": "how-to/host-a-server",
    "timer": "recipes.html.*#timers",
    "hidden information": "tutorial.html.*#4-hidden-information",
    "reconnect": "how-to/write-a-client",
    "turn order": "recipes.html.*#turn-order",
    "unit test": "how-to/test-your-game",
    "debug": "how-to/use-the-panel",
    "plugin": "how-to/publish-a-game",
    "reinforcement learning": "how-to/train-an-agent",
}
"""What people type, and the page that should come first."""


def test_a_newcomer_finds_pages_by_search_and_the_browser_asks_no_other_host(browser: Browser, address: str):
    page = browser.new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(address)
    page.get_by_role("link", name="Documentation", exact=True).first.click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Documentation")
    page.keyboard.press("/")
    field = page.get_by_role("combobox", name="Search")
    expect(field).to_be_focused()
    first = page.locator("a[href*='?h=']").first
    for words, wanted in FOUND.items():
        field.fill(words)
        expect(first).to_have_attribute("href", re.compile(f"{wanted}.*"))
    field.fill("host a server")
    expect(first).to_have_attribute("href", re.compile("host-a-server.*"))
    expect(page.get_by_text(re.compile(r"^\d+ results$"))).to_be_visible()
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("host-a-server"))
    page.close()
    assert not [url for url in asked if not url.startswith((address, "data:", "blob:"))]
