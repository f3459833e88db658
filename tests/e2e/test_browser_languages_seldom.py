"""Screens that people see seldom, in the language that is longer and runs from right to left."""

import re

import pytest
from playwright.sync_api import expect

from tests.e2e.browser import Visitor
from tests.e2e.test_browser_attention import WATCHED
from tests.e2e.test_browser_invite import TurnedServer, turned
from tests.e2e.test_browser_languages import Walk

pytestmark = pytest.mark.e2e
__all__ = ["turned"]

FOREIGN = "ñó " * 12 + "ñ" * 60
"""What somebody says at a table who has much to say, with a word that no line has room for."""


def set_up(walk: Walk) -> None:
    """Every way to play there is, for a game with cards, one with a form, and one with a clock."""
    ann = walk.ann.go("/")
    for game in ("backgammon", "hearts", "tictactoe"):
        tile = ann.page.locator("article").filter(has=ann.page.locator(f"a[href='/rules/{game}']"))
        tile.locator(":scope > .ways button").last.click()
        for number, way in enumerate(tile.locator("dialog input[name$=way] + span").all()):
            way.click()
            walk.look(f"set up {game}, way {number}")
        tile.locator("dialog summary").click()
        tile.locator("dialog select[id$=gone]").select_option("claim")
        tile.locator("dialog select[id$=watching]").select_option("nobody")
        walk.look(f"set up {game}, who is gone")
        ann.press("Escape")


def doors(walk: Walk, bob: Visitor, cleo: Visitor) -> None:
    """Of a room that is full, with spectators and without, and of one with terms of its own."""
    ann = walk.ann
    for watching in ("anyone", "link", "nobody"):
        room = walk.server.open_room("tictactoe", watching=watching, apart=watching == "link")["id"]
        for who in (ann, bob):
            walk.sit(who, room)
        cleo.go(f"/r/{room}")
        expect(cleo.page.locator("form .main")).to_be_visible()
        walk.look(f"the door of a full room, {watching}", cleo)
        expect(ann.page.locator(".spot.active").first).to_be_attached()
        walk.look(f"a room watched by {watching}", ann, room)
    clock = {"kind": "increment", "seconds": 180, "extra": 2, "away": {"seconds": 300, "at_zero": "claim"}}
    config = {"match": "five_points"}
    room = walk.server.open_room("backgammon", config=config, clock=clock, watching="nobody")["id"]
    cleo.go(f"/r/{room}")
    expect(cleo.page.locator("form .main")).to_be_visible()
    walk.look("a door with terms", cleo)


def mark(who: Visitor, cell: str) -> None:
    who.page.locator(f".spot.active[data-spot={cell}]").click()


def table(walk: Walk, bob: Visitor, cleo: Visitor) -> str:
    """What is said and refused at a table, what waits for a second thought, and how it ends."""
    ann = walk.ann
    room: str = walk.server.open_room("tictactoe")["id"]
    behind: list[str] = []

    def hold_back(line):
        """Ann's page is told everything but updates, once the line is bad."""
        upstream = line.connect_to_server()
        upstream.on_message(lambda told: None if behind and '"update"' in told else line.send(told))

    ann.page.route_web_socket(re.compile("/socket/"), hold_back)
    for who in (ann, bob):
        walk.sit(who, room)
    cleo.name = "Ann"  # as somebody at the table is called
    walk.sit(cleo, room)
    talk(walk, room, ann, bob, cleo)
    mark(ann, "c4")
    mark(bob, "c0")
    expect(ann.page.locator(".spot.active").first).to_be_attached()
    behind.append("from now on")
    mark(ann, "c2")
    expect(bob.page.locator(".spot.active").first).to_be_attached()
    mark(ann, "c5")
    expect(ann.page.locator(".refusal")).to_be_visible()
    walk.look("a move is refused", ann, room)
    behind.clear()
    answer = walk.server.call(
        "PUT",
        "/api/players/me/preferences",
        {"confirm": True},
        headers={"Authorization": f"Bearer {ann.token}"},
    )
    assert answer.status_code < 300, answer.text
    ann.page.reload()
    expect(ann.spots.first).to_be_attached()
    ann.page.evaluate("look(true)")
    mark(bob, "c1")
    expect(ann.page.locator(".spot.active").first).to_be_attached()
    ann.page.evaluate("look(false)")
    tell = ann.page.locator(".act .offer button")
    expect(tell).to_have_count(2)
    walk.look("tell me next time?", ann, room)
    tell.first.click()
    expect(tell).to_have_count(0)
    walk.look("you are told", ann, room)
    mark(ann, "c6")
    expect(ann.page.locator(".confirm")).to_be_visible()
    walk.look("confirm the move", ann, room)
    ann.page.locator(".confirm .main").click()
    expect(bob.page.locator(".ending")).to_be_visible()
    walk.look("lost", bob, room)
    walk.look("watched the end", cleo, room)
    bob.page.locator(".ending .row button").first.click()
    expect(ann.page.locator(".ending > p")).to_be_visible()
    walk.look("would like a rematch", ann, room)
    walk.look("asked for a rematch", bob, room)
    ann.page.locator(".ending summary").click()
    ann.page.locator(".ending details button").click()
    expect(ann.page.get_by_test_id("fair-play")).not_to_be_empty()
    walk.look("fair play", ann, room)
    ann.go(f"/r/{room}/replay#999")
    expect(ann.page.locator(".missing")).to_be_visible()
    walk.look("a step that is missing", ann, room)
    ann.page.locator("aside summary").click()
    ann.page.locator("aside details button").click()
    expect(ann.page.get_by_test_id("fair-play")).not_to_be_empty()
    walk.look("fair play in a replay", ann, room)
    return room


def talk(walk: Walk, room: str, *people: Visitor) -> None:
    """Chat lines of players and of a spectator who is called like one of them."""
    for who in people:
        who.page.locator(".handles button").last.click()
        who.page.locator(".chat input").fill(FOREIGN)
        who.page.locator(".chat form button").click()
        expect(people[0].page.locator(".said strong")).to_have_count(people.index(who) + 1)
    for who in people:
        walk.look(f"chat as {who.name}", who, room)
        who.page.locator(".handles button").last.click()


def players(walk: Walk, other: str) -> None:
    """The pages of another, of a bot, and of nobody."""
    walk.ann.provoked = {404}
    for path in (f"/p/{other}", "/p/bot:casual", "/p/nobody"):
        walk.ann.go(path)
        expect(walk.ann.page.locator("main h1").first).to_be_visible()
        walk.look(path, walk.ann)


def flags(walk: Walk) -> None:
    """A wide field, on which a press sets a flag."""
    room = walk.server.open_room("minesweeper", config={"preset": "advanced"})["id"]
    walk.sit(walk.ann, room)
    walk.ann.page.locator(".mode").click()
    expect(walk.ann.page.locator(".mode[aria-pressed=true]")).to_be_visible()
    walk.ann.page.locator(".zoom").click()
    walk.look("flag mode", walk.ann, room)


def test_no_screen_that_is_seen_seldom_overflows_in_the_long_language(serve, visit):
    walk = Walk(visit, serve())
    walk.ann.context.add_init_script(WATCHED)
    set_up(walk)
    bob, cleo = walk.come("Bob"), walk.come("Cleo")
    doors(walk, bob, cleo)
    room = table(walk, bob, cleo)
    players(walk, walk.server.room(room)["seats"][1]["id"])
    flags(walk)
    expect(walk.ann.page.locator("html")).to_have_attribute("dir", "rtl")
    assert walk.faults == []


def test_no_screen_about_a_room_or_a_line_that_is_gone_overflows_in_the_long_language(
    turned: TurnedServer, visit
):
    walk = Walk(visit, turned)
    ann, bob = walk.ann, walk.come("Bob")
    for who in (bob, ann):
        who.go("/").page.locator("article .now").last.click()
        if who is bob:
            expect(who.page.locator(".bar [role=status]")).to_be_visible()
            who.page.close()  # they have gone, and are paired all the same
    ann.page.wait_for_url(re.compile(r"/r/\w+$"))
    room = ann.page.url.rpartition("/")[2]
    expect(ann.page.locator(".bar").first).to_be_visible()
    walk.look("the other has yet to come", ann, room)
    turned.pass_hours(0.05)
    expect(ann.page.locator(".ending")).to_be_visible()
    walk.look("nobody came, at the table", ann, room)
    ann.page.reload()
    expect(ann.page.locator("main h1")).to_be_visible()
    walk.look("nobody came", ann, room)
    room, cleo = turned.open_room("minesweeper")["id"], walk.come("Cleo")
    for who in (ann, cleo):
        walk.sit(who, room)
    ann.page.locator(".doings > button").last.click()
    ann.page.locator("dialog[open] button.main").click()
    turned.pass_hours(1)
    expect(cleo.page.locator(".ending")).to_be_visible()
    walk.look("closed, at the table", cleo, room)
    ann.go(f"/r/{room}")
    expect(ann.page.locator("main h1")).to_be_visible()
    walk.look("closed", ann, room)
    room = turned.open_room("tictactoe")["id"]
    for who in (ann, cleo):
        walk.sit(who, room)
    ann.go("/").page.locator("article .now:not(:disabled)").last.click()
    expect(ann.page.locator(".bar [role=status]")).to_be_visible()
    turned.kill()
    expect(ann.page.locator(".bar > p")).to_be_visible()
    walk.look("reconnecting while one waits", ann)
    expect(cleo.page.locator(".line button")).to_be_visible()
    walk.look("reconnecting at the table", cleo, room)
    assert walk.faults == []
