"""The page in WebKit, the engine of Safari: `make test-engines`."""

import shutil

import pytest

from tests.e2e.webkit import launch_webkit

pytestmark = [pytest.mark.e2e, pytest.mark.long, pytest.mark.timeout(180)]


@pytest.fixture
def window():
    if not shutil.which("WebKitWebDriver") or not shutil.which("Xvfb"):
        pytest.fail("expected WebKitWebDriver and Xvfb: run scripts/setup-webkit")
    with launch_webkit(1280, 800) as window:
        yield window


DIALOG = """(() => {
    const dialog = document.querySelector("dialog[open]");
    return dialog?.querySelector(".qr") && [dialog.offsetHeight, dialog.firstElementChild.offsetHeight];
})()"""


def test_two_play_and_the_invitation_is_no_higher_than_what_stands_in_it(server, window):
    room = server.open_room()["id"]
    window.go(f"http://{server.address}/r/{room}")
    window.press("Sit down")
    window.press("Invite")
    dialog, inside = window.wait_for(DIALOG)
    assert dialog - inside < 60
    window.press("Done")
    window.press("Add a bot")
    window.press("Random")
    window.wait_for("document.querySelector('[data-testid=status]').textContent === 'Your turn'")
    window.wait_for(
        """(() => {
            const centre = document.querySelector("svg.board [aria-label=centre]");
            centre?.dispatchEvent(new MouseEvent("click", { bubbles: true }));
            return Boolean(centre);
        })()"""
    )
    window.wait_for("document.querySelectorAll('svg.board [data-piece]').length >= 2")
