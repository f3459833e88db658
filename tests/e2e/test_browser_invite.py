"""Inviting a friend in real browsers: by a link or a code on the screen, over hours, and without https."""

import os
import re
import signal
import socket
from collections.abc import Iterator
from pathlib import Path
from time import monotonic

import pytest
from playwright.sync_api import Browser, expect, sync_playwright

from tests.e2e.browser import PHONE, launch
from tests.e2e.conftest import end
from tests.e2e.lines import PATIENCE
from tests.e2e.qr import read_qr
from tests.e2e.servers import Server

pytestmark = pytest.mark.e2e

NAME = "parlour.test"
"""A name on the network that only this browser knows; over plain http not everything is allowed there."""
ON_A_PHONE = {"viewport": PHONE, "has_touch": True, "is_mobile": True}


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        chromium = launch(playwright, f"--host-resolver-rules=MAP {NAME} 127.0.0.1")
        yield chromium
        chromium.close()


@pytest.fixture
def named(tmp_path):
    """A server that knows by which name others reach it."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    server = Server(tmp_path / "data", "--public-url", f"http://{NAME}:{port}")
    server.port = port
    yield server.start()
    end(server)


def invite(visitor):
    visitor.page.get_by_role("button", name="Invite", exact=True).click()
    return visitor.page.get_by_role("dialog")


def leave(visitor):
    visitor.page.get_by_role("button", name="Leave").click()
    visitor.page.get_by_role("dialog").get_by_role("button", name="Leave").click()
    visitor.page.wait_for_url(re.compile("/$"))


def test_a_phone_joins_by_the_code_on_the_hosts_screen_over_a_plain_http_name(named, visit):
    ann = visit(named, "Ann", permissions=["clipboard-read", "clipboard-write"])
    bob = visit(named, "Bob", **ON_A_PHONE)
    room = ann.open_room()
    shown = invite(ann)
    address = read_qr(shown.get_by_role("img", name="The link as a QR code"))
    assert address == f"http://{NAME}:{named.port}/r/{room}"
    shown.get_by_role("button", name="Copy").click()
    expect(shown.get_by_role("button", name="Copied")).to_be_visible()
    assert ann.page.evaluate("navigator.clipboard.readText()") == address
    shown.get_by_role("button", name="Done").click()
    bob.page.goto(address)
    bob.page.get_by_label("Your name").fill("Bob")
    bob.page.get_by_role("button", name="Sit down").click()
    assert not bob.page.evaluate("isSecureContext")
    ann.sees("Your turn")
    ann.mark("centre")
    bob.sees("Your turn")
    bob.mark("top left")
    ann.sees("Your turn")


def test_what_only_https_allows_is_not_offered_elsewhere_and_the_reason_is_told(named, visit):
    bob = visit(named, "Bob", **ON_A_PHONE)
    room = named.open_room()["id"]
    bob.page.goto(f"http://{NAME}:{named.port}/r/{room}")
    bob.page.get_by_role("button", name="Sit down").click()
    bob.sees("Waiting for another player")
    shown = invite(bob)
    expect(shown.get_by_text("only over https, and this page came over http")).to_be_visible()
    assert shown.get_by_role("button").all_inner_texts() == ["Done"]
    link = shown.get_by_test_id("link")
    link.click()
    assert bob.page.evaluate("getSelection().toString()") == f"http://{NAME}:{named.port}/r/{room}"
    bob.press("Escape")
    bob.page.get_by_role("button", name="Add a bot").click()
    bob.page.get_by_role("button", name="Random").click()
    bob.sees("Your turn")
    bob.mark("centre")  # with an id, though no secure way to make one is there
    expect(bob.board.locator("[data-piece]")).to_have_count(2)


def test_a_link_that_works_on_this_computer_alone_says_so(server, visit):
    ann = visit(server, "Ann")
    ann.open_room()
    shown = invite(ann)
    expect(shown.get_by_text("This link works on this computer alone.")).to_be_visible()


def test_the_invitation_is_no_higher_than_what_stands_in_it(server, visit):
    ann = visit(server, "Ann")
    ann.open_room()
    shown = invite(ann)
    expect(shown.get_by_role("img")).to_be_visible()
    assert shown.evaluate("one => one.offsetHeight - one.firstElementChild.offsetHeight") < 60


# A room lives as long as it is promised.


class TurnedServer(Server):
    """A server on which hours pass when the test says so."""

    def pass_hours(self, count: float) -> None:
        file = Path(self.module[1])
        file.write_text(str(count * 3600))
        os.kill(self.pid, signal.SIGUSR1)
        self.wait_for_log("The clock was turned")


@pytest.fixture
def turned(tmp_path):
    server = TurnedServer(tmp_path / "data", module=("tests.e2e.turned_clock", str(tmp_path / "seconds")))
    yield server.start()
    end(server)


def close_tab(visitor, room):
    """Returns when the server has noticed: that is a step of the room."""
    before, until = visitor.server.room(room)["seq"], monotonic() + PATIENCE
    visitor.page.close()
    while visitor.server.room(room)["seq"] == before:
        assert monotonic() < until, f"the server did not notice that {visitor.name} has gone"


def wait_for_end(server, room):
    """Returns when the room has ended."""
    until = monotonic() + PATIENCE
    while server.room(room)["ended"] is None:
        assert monotonic() < until, f"room {room} does not end"


def test_an_invitation_is_good_ten_hours_after_its_sender_closed_the_tab(turned, visit):
    ann, bob = visit(turned, "Ann"), visit(turned, "Bob")
    room = ann.open_room()
    expect(
        ann.page.get_by_text("You can close this page: the room waits 14 days for you both.")
    ).to_be_visible()
    close_tab(ann, room)
    turned.pass_hours(10)
    bob.come_in(room)
    bob.sees("Waiting for Ann")
    ann.page = ann.context.new_page()
    ann.go(f"/r/{room}")
    ann.sees("Your turn")
    ann.mark("centre")
    bob.sees("Your turn")


def test_a_game_that_was_left_by_closing_the_tab_is_there_ten_hours_later(turned, visit):
    ann = visit(turned, "Ann")
    room = ann.open_room("Minesweeper")
    ann.spot("column 5, row 5: closed").click()
    expect(ann.spot("column 5, row 5: closed")).to_have_count(0)
    ann.page.get_by_role("button", name="Leave").click()
    expect(ann.page.get_by_role("dialog")).to_contain_text(
        "To come back later, just close this page. The room waits 14 days"
    )
    close_tab(ann, room)
    turned.pass_hours(10)
    ann.page = ann.context.new_page()
    ann.go(f"/r/{room}")
    ann.sees("Open what is safe, flag what is not")
    expect(ann.spot("column 5, row 5: closed")).to_have_count(0)


def test_a_room_that_has_closed_is_opened_again_by_one_click_and_links_to_it_work(turned, visit):
    ann, bob = visit(turned, "Ann"), visit(turned, "Bob")
    room = ann.open_room()
    close_tab(ann, room)
    turned.pass_hours(15 * 24)
    wait_for_end(turned, room)
    bob.go(f"/r/{room}")
    expect(bob.page.get_by_role("heading", name="This room has closed: nothing happened")).to_be_visible()
    bob.page.get_by_role("button", name="Open it again").click()
    bob.sees("Waiting for another player")
    ann.page = ann.context.new_page()
    ann.come_in(room)
    bob.sees("Your turn")


def test_a_room_that_closes_before_ones_eyes_is_opened_again_from_there(server, visit):
    ann, eve = visit(server, "Ann"), visit(server, "Eve")
    room = ann.open_room("Minesweeper")
    eve.come_in(room, "Watch")
    leave(ann)
    eve.sees("This room has closed.")
    eve.page.get_by_role("button", name="Open it again").click()
    eve.sees("Open any cell: the first is safe")
    assert server.room(room)["seats"][0]["name"].startswith("Eve")


# By the code alone.


def test_the_join_field_shows_an_id_as_it_is_and_takes_it_in_whatever_capitals(server, visit):
    ann, bob, cy = (visit(server, name) for name in ("Ann", "Bob", "Cy"))
    for id, who in (("lair42", ann), ("Den42", bob)):
        who.go("/").set_up("Noughts")
        who.page.get_by_role("textbox", name="A name for the room").fill(id)
        who.page.get_by_role("button", name="Open the room").click()
        who.page.wait_for_url(re.compile(f"/r/{id}$"))
        who.sees("Waiting for another player")
    field = cy.go("/").page.get_by_label("Join a friend")
    field.fill("lair42")
    assert field.evaluate("one => getComputedStyle(one).textTransform") == "none"
    cy.press("Enter")
    cy.page.wait_for_url(re.compile("/r/lair42$"))
    ann.sees("Your turn")
    cy.go("/r/DEN42")
    cy.page.wait_for_url(re.compile("/r/Den42$"))
    cy.page.get_by_role("button", name="Sit down").click()
    bob.sees("Your turn")
