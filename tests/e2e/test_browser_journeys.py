"""An evening on every kind of screen, by pressing alone: host, friend, spectator, invitation to replay."""

import re

import pytest
from playwright.sync_api import expect

from tests.e2e.test_browser_attention import WATCHED
from tests.e2e.test_browser_moves import MOST_SCREENS, SCREENS

pytestmark = pytest.mark.e2e


class Evening:
    """Three people at screens of one kind, who press with a finger where the screen feels one."""

    def __init__(self, server, visit, screen):
        self.ann, self.bob, self.eve = (visit(server, name, **screen) for name in ("Ann", "Bob", "Eve"))
        self.server = server
        self._press = "tap" if "has_touch" in screen else "click"

    def press(self, who, name, role="button"):
        getattr(who.page.get_by_role(role, name=name, exact=True).first, self._press)()

    def press_in_menu(self, who, name):
        self.press(who, "Offers and resigning")
        getattr(who.page.locator(".menu").get_by_role("button", name=name, exact=True), self._press)()

    def mark(self, who, *cells):
        """Cells of noughts and crosses, by this one and the other in turn."""
        movers = (who, self.bob if who is self.ann else self.ann)
        for number, cell in enumerate(cells):
            mover = movers[number % 2]
            mover.sees("Your turn")
            getattr(mover.spot(cell), self._press)()


@pytest.fixture(params=list(SCREENS))
def evening(request, server, visit):
    return Evening(server, visit, SCREENS[request.param])


def test_host_friend_and_spectator_from_the_invitation_to_the_link_of_a_replay(evening):
    ann, bob, eve = evening.ann, evening.bob, evening.eve
    ann.go("/").page.get_by_label("Your name").fill("Ann")
    evening.press(ann, "A friend to play Noughts and crosses with")
    ann.page.wait_for_url(re.compile(r"/r/\w+$"))
    invitation = ann.page.get_by_role("region", name="Waiting for your friend").get_by_role("textbox")
    link = invitation.input_value().removeprefix(f"http://{evening.server.address}")
    for guest, way in ((bob, "Sit down"), (eve, "Watch")):
        guest.go(link).page.get_by_label("Your name").fill(guest.name)
        evening.press(guest, way)
        expect(guest.board).to_be_visible()
    evening.mark(ann, "centre", "top left")
    look_up_the_rules(evening, eve)
    evening.press_in_menu(ann, "Offer a draw")
    expect(eve.page.get_by_test_id("offer")).to_have_text("Ann offers a draw.")
    evening.press(bob, "Decline")
    evening.mark(ann, "top right", "right", "bottom left")
    ann.sees("You win: three in a row")
    eve.sees("Ann wins: three in a row")
    for player in (ann, bob):
        evening.press(player, "Rematch")
    evening.mark(bob, "centre", "top", "left")
    evening.press_in_menu(ann, "Resign")
    evening.press(ann, "Yes")
    bob.sees("You win: the other side resigned")
    evening.press(bob, "Replay", "link")
    evening.press(bob, "A move on")
    expect(bob.board.locator("[data-piece]")).to_have_count(1)
    bob.context.grant_permissions(["clipboard-read", "clipboard-write"])
    evening.press(bob, "Link to this moment")
    expect(bob.page.get_by_text("Copied")).to_be_visible()
    link = bob.page.evaluate("navigator.clipboard.readText()")
    eve.go(link.removeprefix(f"http://{evening.server.address}"))
    expect(eve.board.locator("[data-piece]")).to_have_count(1)


def look_up_the_rules(evening, who):
    evening.press(who, "How to play")
    rules = who.page.get_by_role("dialog", name="How to play")
    expect(rules.get_by_role("heading", name="Noughts and crosses")).to_be_visible()
    rules.get_by_role("button").first.click()
    expect(rules).to_be_hidden()


@pytest.mark.parametrize("evening", MOST_SCREENS, indirect=True)
def test_a_turn_is_noticed_while_the_tab_is_hidden_on_every_screen(evening):
    ann, bob = evening.ann, evening.bob
    ann.context.add_init_script(WATCHED)
    room = evening.server.open_room()["id"]
    for player in (ann, bob):
        player.come_in(room)
    for mine, yours in (("centre", "left"), ("top", "right")):
        evening.mark(ann, mine)
        bob.sees("Your turn")
        ann.page.evaluate("look(true)")
        evening.mark(bob, yours)
        expect(ann.page).to_have_title("● Your turn · Noughts and crosses · Parlour")
        ann.page.evaluate("look(false)")
        if mine == "centre":
            evening.press(ann, "Tell me next time")
    assert ann.page.evaluate("notes") == ["Noughts and crosses: Your turn"]
    assert set(ann.page.evaluate("pulses")) == ({40} if ann.has_touch else set()), "only a phone is shaken"
