"""Pictures of those who wait, play bots and climb ladders; `tests.e2e.screenshots` takes them."""

import re
from contextlib import closing

from playwright.sync_api import expect

from tests.e2e.backgammon import Fast
from tests.e2e.browser import lose_the_server
from tests.e2e.pictures_backgammon import Camera
from tests.e2e.servers import Guest, Server

PEOPLE = ("Ann", "Bob", "Cy", "Dora the Explorer of Seven Seas")
LOSSES = (
    (1, 0, "ranked"),
    (2, 3, "ranked"),
    (3, 0, "ranked"),
    (1, 2, "ranked"),
    (0, 1, "normal"),
    (3, 0, "normal"),
)
"""Who loses to whom, game by game; ranked games are for those who stand close enough to be paired at once."""


def take_lobby(camera: Camera) -> None:
    ann = camera.visitor("Ann").go("/")
    ann.page.get_by_label("Your name").fill("Ann")
    ann.page.get_by_role("button", name="Play now: Noughts and crosses").click()
    expect(ann.page.get_by_text("Looking for somebody")).to_be_visible()
    camera.take(ann, "waiting")
    ann.open_room()
    ann.page.get_by_role("button", name="Add a bot").click()
    ann.page.get_by_role("button", name="Perfect").click()
    ann.sees("Your turn")
    ann.mark("centre")
    expect(ann.board.locator("[data-piece]")).to_have_count(2)
    ann.page.get_by_role("button", name="Hint").click()
    expect(ann.board.locator(".hint")).to_be_visible()
    camera.take(ann, "room-with-bot")
    ann.click("Offers and resigning")
    camera.take(ann, "offers")
    ann.click("Offers and resigning")
    ann.click("Leave")
    camera.take(ann, "leave")
    ann.press("Escape")
    handle = ann.page.locator(".handles").get_by_role("button", name="Moves")
    if handle.is_visible():
        handle.click()
        camera.take(ann, "moves")
    people = [camera.server.guest(name) for name in PEOPLE[1:]]
    cookie = ann.token
    people.insert(0, Guest(cookie.partition(".")[0], "Ann", cookie))
    for loser, winner, mode in LOSSES:
        lose(camera.server, people[loser], people[winner], mode)
    ann.go("/leaderboard/tictactoe")
    expect(ann.page.get_by_role("row").filter(has_text="you")).to_be_visible()
    camera.take(ann, "leaderboard")
    ann.page.get_by_role("link", name="Ann", exact=True).click()
    expect(ann.page.get_by_role("link", name="Replay").first).to_be_visible()
    camera.take(ann, "player")


def take_pages(camera: Camera) -> None:
    """What one comes to from the header and from the settings."""
    ann = camera.visitor("Ann").go("/watch")
    expect(ann.page.get_by_role("button", name=re.compile("^Watch|^Sit down")).first).to_be_visible()
    camera.take(ann, "watch")
    ann.click("Settings")
    camera.take(ann, "settings")
    ann.press("Escape")
    ann.go("/account").page.get_by_label("Your name").fill("Ann of the Pictures")
    camera.take(ann, "account", whole=True)
    ann.click("Make an account")
    expect(ann.page.get_by_role("heading", name="Devices", exact=True)).to_be_visible()
    camera.take(ann, "devices", whole=True)


def take_tables(camera: Camera) -> None:
    """Hex, Hearts and Goofspiel; rules in German; and the page that is there when the server is not."""
    hex_room = camera.server.open_room("hex", config={"size": 7})["id"]
    ann, bob = (camera.visitor(name).come_in(hex_room) for name in ("Ann", "Bob"))
    for who, cell in ((ann, "d4"), (bob, "c3"), (ann, "e2"), (bob, "e5")):
        expect(who.status).to_have_text(re.compile("^Your turn"))
        who.spot(cell).click()
    ann.sees("Your turn")
    camera.take(ann, "hex")
    for game, config, bot in (("hearts", {}, "Sensible"), ("goofspiel", {"players": 4}, "Fair")):
        table = camera.visitor("Ann").come_in(camera.server.open_room(game, config=config)["id"])
        camera.take(table, f"{game}-waiting")
        for seats in (2, 3, 4):
            table.page.get_by_role("button", name="Add a bot").first.click()
            table.page.get_by_role("group", name="Which bot?").get_by_role("button", name=bot).click()
            expect(table.page.locator(".bar .who strong")).to_have_count(seats)
        expect(table.status).to_have_text(re.compile("^Your turn"))
        camera.take(table, game)
    reader = camera.visitor("Ann").go("/rules/stratego?lang=de")
    expect(reader.page.get_by_role("heading", name="Wie es endet")).to_be_visible()
    camera.take(reader, "rules", whole=True)
    lose_the_server(reader)
    expect(reader.page.get_by_role("link", name="Jetzt noch einmal versuchen")).to_be_visible()
    camera.take(reader, "offline")
    camera.server.start()


def lose(server: Server, loser: Guest, winner: Guest, mode: str) -> None:
    """A game of noughts and crosses, whoever of them begins."""
    room = ""
    for guest in (loser, winner):
        wish = {"game": "tictactoe", "mode": mode}
        headers = {"Authorization": f"Bearer {guest.token}"}
        room = server.call("POST", "/api/tickets", wish, headers=headers).json()["room"]
    with closing(Fast(server, loser.token, room)) as one, closing(Fast(server, winner.token, room)) as other:
        one.catch_up(other.seq)
        pair = (one, other) if one.view["you"] == "X" else (other, one)
        cells = (0, 3, 1, 4, 8, 5) if pair[1] is other else (3, 0, 4, 1, 5)
        for number, cell in enumerate(cells):
            seq = pair[number % 2].do({"type": "mark", "cell": cell})
            for player in pair:
                player.catch_up(seq)
