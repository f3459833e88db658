"""Pictures of those who wait, play bots and climb ladders; `tests.e2e.screenshots` takes them."""

from contextlib import closing

from playwright.sync_api import expect

from tests.e2e.backgammon import Fast
from tests.e2e.pictures_backgammon import Camera
from tests.e2e.servers import Guest

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
    people = [camera.server.guest(name) for name in PEOPLE[1:]]
    cookie = next(one for one in ann.context.cookies() if one["name"] == "parlour_token")["value"]
    people.insert(0, Guest(cookie.partition(".")[0], "Ann", cookie))
    for loser, winner, mode in LOSSES:
        lose(camera, people[loser], people[winner], mode)
    ann.go("/leaderboard/tictactoe")
    expect(ann.page.get_by_role("row").filter(has_text="you")).to_be_visible()
    camera.take(ann, "leaderboard")
    ann.page.get_by_role("link", name="Ann", exact=True).click()
    expect(ann.page.get_by_role("link", name="Replay").first).to_be_visible()
    camera.take(ann, "player")


def lose(camera: Camera, loser: Guest, winner: Guest, mode: str) -> None:
    """A game of noughts and crosses, whoever of them begins."""
    server, room = camera.server, ""
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
