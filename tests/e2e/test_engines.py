"""The main journey in the engines of other browsers, Firefox and WebKit (Safari's): `make test-engines`."""

from contextlib import ExitStack, contextmanager

import pytest
from playwright.sync_api import sync_playwright

from tests.e2e.browser import Profiles, Visitor
from tests.e2e.firefox import FIREFOX, faults, launch_firefox
from tests.e2e.webkit import DRIVER, SCREEN_SERVER, launch_webkit

pytestmark = [pytest.mark.e2e, pytest.mark.long]


@contextmanager
def at_firefox(server, *names):
    assert FIREFOX, "expected firefox-esr: run scripts/setup-engines"
    with sync_playwright() as playwright:
        browser = launch_firefox(playwright)
        visitors = [Visitor(Profiles(browser), server, name) for name in names]
        yield visitors
        found = [line for visitor in visitors for line in faults(visitor)]
        browser.close()
    assert not found


@contextmanager
def at_webkit(server, *names):
    assert None not in (DRIVER, SCREEN_SERVER), "expected WebKitWebDriver and Xvfb: run scripts/setup-engines"
    with ExitStack() as stack:
        yield [stack.enter_context(launch_webkit(server, name)) for name in names]


ENGINES = {"Firefox": at_firefox, "WebKit": at_webkit}


@pytest.mark.parametrize("engine", ENGINES)
def test_host_and_friend_play_ask_for_a_rematch_and_look_again_and_a_killed_server_costs_them_nothing(
    serve, engine
):
    server = serve()
    with ENGINES[engine](server, "Ann", "Bob") as (ann, bob):
        room = ann.open_room()
        ann.sees("Waiting for another player")
        bob.come_in(room)
        take_turns(ann, bob, "centre", "top left", "top right", "right")
        ann.sees("Your turn")
        server.kill()
        for person in (ann, bob):
            person.reads("Reconnecting")
        server.start()
        for person in (ann, bob):
            person.reads_no_more("Reconnecting")
        ann.mark("bottom left")
        ann.sees("You win: three in a row")
        bob.sees("Ann wins: three in a row")
        ann.click("Rematch")
        bob.reads("Ann would like a rematch")
        bob.click("Rematch")
        take_turns(bob, ann, "centre", "top", "left", "bottom", "right")
        bob.sees("You win: three in a row")
        for person in (ann, bob):
            person.click("Replay")
            person.has("input[type=range]", 1)
        ann.has("svg.board [data-piece]", 0)
        ann.click("A move on")
        ann.has("svg.board [data-piece]", 1)


def take_turns(one, other, *cells):
    for number, cell in enumerate(cells):
        mover = (one, other)[number % 2]
        mover.sees("Your turn")
        mover.mark(cell)


DIALOG = """(() => {
    const dialog = document.querySelector("dialog[open]");
    return dialog?.querySelector(".qr") && [dialog.offsetHeight, dialog.firstElementChild.offsetHeight];
})()"""


def test_the_invitation_is_no_higher_in_webkit_than_what_stands_in_it(server):
    with at_webkit(server, "Ann") as (ann,):
        ann.open_room()
        ann.click("Invite")
        dialog, inside = ann.wait_for(DIALOG)
        assert dialog - inside < 60
