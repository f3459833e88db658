"""Debian's Firefox, driven by Playwright over WebDriver BiDi."""

import re
import shutil

from playwright.sync_api import Browser, Playwright

from tests.e2e.browser import Visitor

FIREFOX = shutil.which("firefox-esr")

WHILE_AWAY = re.compile("establish a connection|connection to .* was interrupted|NetworkError|NS_ERROR")
"""What Firefox says of a server that is down; Playwright hands it on as an error of the page."""


def launch_firefox(playwright: Playwright) -> Browser:
    """Its settings stand for the options of a context, which it does not know."""
    settings: dict[str, str | float | bool] = {"ui.prefersReducedMotion": 1}
    return playwright.firefox.launch(
        channel="moz-firefox", executable_path=FIREFOX, firefox_user_prefs=settings
    )


def faults(visitor: Visitor) -> list[str]:
    """What went wrong in the page, besides that its server was killed."""
    return [line for line in visitor.complaints if not (visitor.server.past and WHILE_AWAY.search(line))]
