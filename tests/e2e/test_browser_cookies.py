"""A browser that keeps no cookie: every way to a table says so, with a name or without."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Route, expect

from tests.e2e.browser import Visitor
from tests.e2e.conftest import Visit
from tests.e2e.servers import Server

pytestmark = pytest.mark.e2e

TOLD = "keeps no cookie for this page"

PLAY_NOW = "Play now: Noughts and crosses"


def keeps_no_cookie(visitor: Visitor) -> Visitor:
    """The visitor, with a browser that keeps nothing of what the server answers."""

    def forget(route: Route) -> None:
        answer = route.fetch()
        visitor.context.clear_cookies()
        headers = {name: value for name, value in answer.headers.items() if name.lower() != "set-cookie"}
        route.fulfill(response=answer, headers=headers)

    visitor.provoked = {401}
    visitor.context.route("**/api/players", forget)
    return visitor


@pytest.fixture
def ann(server: Server, visit: Visit) -> Visitor:
    return keeps_no_cookie(visit(server, "Ann"))


def play_now(ann: Visitor) -> None:
    ann.go("/").click(PLAY_NOW)


def play_a_bot(ann: Visitor) -> None:
    ann.go("/").click("A bot to play Noughts and crosses with")
    ann.page.get_by_role("dialog").get_by_role("button", name="Play the bot").click()


def set_up(ann: Visitor) -> None:
    ann.go("/").set_up("Noughts and crosses").get_by_role("button", name="Open the room").click()


def invite(ann: Visitor) -> None:
    ann.go("/").click("A friend to play Noughts and crosses with")


def come_to_a_friend(ann: Visitor) -> None:
    ann.go(f"/r/{ann.server.open_room()['id']}").click("Sit down")


def come_to_watch(ann: Visitor) -> None:
    ann.go(f"/r/{ann.server.open_room()['id']}").click("Only watch")


def play_ranked(ann: Visitor) -> None:
    ann.go("/leaderboard/tictactoe").click("Play ranked: Noughts and crosses")


def look_for_something_to_watch(ann: Visitor) -> None:
    ann.go("/watch")


WAYS = [
    play_now,
    play_a_bot,
    set_up,
    invite,
    come_to_a_friend,
    come_to_watch,
    look_for_something_to_watch,
    play_ranked,
]


@pytest.mark.parametrize("way", WAYS)
def test_a_browser_that_keeps_no_cookie_says_so_on_every_way_to_a_table(
    ann: Visitor, way: Callable[[Visitor], None]
) -> None:
    way(ann)
    expect(ann.page.get_by_role("alert").filter(has_text=TOLD)).to_be_in_viewport()
    way(ann)  # and once more
    expect(ann.page.get_by_role("alert").filter(has_text=TOLD)).to_be_in_viewport()


def test_who_has_a_name_is_told_of_cookies_at_the_door_too(ann: Visitor) -> None:
    ann.go(f"/r/{ann.server.open_room()['id']}")
    ann.page.get_by_label("Your name").fill("Ann")
    ann.click("Sit down")
    expect(ann.page.get_by_role("alert")).to_contain_text(TOLD)


def test_who_was_named_before_is_told_of_cookies_when_pressing_twice(ann: Visitor) -> None:
    with ann.page.expect_response("**/api/players") as answer:
        ann.go("/")
    ann.page.evaluate("id => { localStorage.named = id }", answer.value.json()["id"])
    ann.page.get_by_label("Your name").fill("Ann")
    for _ in range(2):
        ann.click(PLAY_NOW)
        expect(ann.page.get_by_role("alert").filter(has_text=TOLD)).to_be_in_viewport()
    expect(ann.page.get_by_role("button", name=PLAY_NOW)).to_be_enabled()
