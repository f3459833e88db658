"""Pictures of the panel for authors: a sealed bid that one seat sees and the others do not."""

import tempfile
from contextlib import closing
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, expect

from tests.e2e.browser import DESKTOP, Profiles, Visitor
from tests.e2e.servers import Server
from tests.e2e.test_panel import FIRST, SECOND, board, open_goofspiel, sees


def take_panel(browser: Browser, album: Any) -> None:
    """On a desktop, in light and dark; it is a server with --reload."""
    with tempfile.TemporaryDirectory() as data:
        server = Server(Path(data), "--reload").start()
        try:
            for scheme in ("light", "dark"):
                with closing(
                    Visitor(Profiles(browser), server, "Author", color_scheme=scheme, viewport=DESKTOP)
                ) as author:
                    page = open_goofspiel(author)
                    board(page, FIRST).locator("[data-piece='k0-5']").click()
                    sees(page, FIRST, "bid: 5")
                    expect(board(page, SECOND).locator("[data-piece='bid0']")).to_be_attached()
                    album.keep(f"panel-desktop-{scheme}", page.screenshot())
        finally:
            server.stop()
