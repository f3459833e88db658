"""Evenings with Stratego at real browsers: draw up in secret, fight in the open, and once more."""

import asyncio
import json
import re
from collections import deque
from datetime import UTC, datetime, timedelta

import pytest
from playwright.sync_api import expect

from parlour.games.stratego.picture import NAMES, name_of
from tests.e2e.armies import SQUARES, STAND_STILL, draw_up, move, press_button, square, stands
from tests.e2e.test_ogetarts import click, come_in

pytestmark = pytest.mark.e2e

RANKS = {name: rank for rank, name in enumerate(NAMES)}
MINER, MARSHAL, BOMB, FLAG = (RANKS[name] for name in ("miner", "marshal", "bomb", "flag"))

WATCH_FIGHTS = """
    window.shown = [];
    const animate = Element.prototype.animate;
    Element.prototype.animate = function (frames, options) {
        if (this.dataset.piece && options.duration > 1000) window.shown.push(this.textContent.trim());
        return animate.call(this, frames, options);
    };
"""
"""Notes the rank of every piece that is shown for a second where it fought."""


def faces(frames):
    """The ids of all pieces that were ever told with a rank, and which."""
    found = set()
    for _, _, _, event, payload in frames:
        if event in ("sync", "update"):
            drawn = payload.get("scene") or payload.get("patch") or {}
            found |= {
                (piece["id"], piece["glyph"]) for piece in drawn.get("pieces", ()) if piece.get("glyph")
            }
    return found


def ranks_spoken_of(frames):
    """The names of ranks anywhere in what came."""
    return set(re.findall("|".join(NAMES[1:]), json.dumps(frames)))


class Cut:
    """The network of one visitor, which can be gone for a while."""

    def __init__(self, visitor):
        self.gone = False
        self.lines = []
        visitor.page.route_web_socket(re.compile("/socket/"), self.connect)

    def connect(self, line):
        if self.gone:  # within a handler its own `close` would wait for itself
            self.closing = asyncio.get_running_loop().create_task(line._impl_obj.close(code=1012))
            return
        self.lines += [line, line.connect_to_server()]

    def cut(self):
        self.gone = True
        for line in self.lines:
            line.close(code=1012)
        self.lines.clear()


@pytest.fixture
def drawn_up(server, visit):
    """Pieces as Ann and Bob want them: her scouts at a4 and b4, his flag at b7. Eve watches."""
    ann, bob, eve = (visit(server, name) for name in ("Ann", "Bob", "Eve"))
    for visitor in (ann, bob, eve):
        visitor.page.add_init_script(WATCH_FIGHTS)
    wire = Cut(ann)
    room = ann.open_room("Stratego")
    ann.sees("Waiting for an opponent")
    bob.come_in(room)
    eve.come_in(room, "Watch")
    eve.sees("Both arrange their pieces")

    # Ann does it by the keyboard: the first of her squares is the corner at her right hand.
    ann.tab_to("Formation")
    ann.press("Enter", "Tab", "Enter")
    stands(ann, "a4", "general of Ann")
    ann.tab_to("svg.board")
    ann.press("ArrowUp", "ArrowUp", "ArrowUp", "Enter", "ArrowLeft", "ArrowLeft", "ArrowLeft")
    expect(square(ann, "d4")).to_have_attribute("aria-label", "d4, scout of Ann, can go here")
    ann.press("Enter")
    stands(ann, "a4", "scout of Ann")
    stands(ann, "d4", "general of Ann")

    # Bob drags his flag to the front.
    draw_up(bob, "Corner")
    stands(bob, "a10", "flag of Bob")
    square(bob, "a10").drag_to(square(bob, "b7"), force=True)
    stands(bob, "b7", "flag of Bob")
    stands(bob, "a10", "scout of Bob")
    return room, ann, bob, eve, wire


def test_a_piece_that_is_shown_in_a_fight_is_in_nobodys_way_however_soon_the_next_moves_come(drawn_up):
    _, ann, bob, _, _ = drawn_up
    for visitor in (ann, bob):
        press_button(visitor, "Ready")
    ann.sees("Your turn")
    move(ann, "a4", "a7")
    ann.page.wait_for_function(STAND_STILL)  # her scout stands beside the captain, over the flag
    move(bob, "a7", "a6")
    stands(ann, "a6", "captain of Bob")
    move(ann, "b4", "b7")
    ann.sees("You win: the flag is captured")


def test_two_arrange_fight_are_cut_off_win_and_play_again_while_a_third_watches(drawn_up):
    _, ann, bob, eve, wire = drawn_up
    press_button(bob, "Ready")
    bob.sees("Waiting for Ann")
    assert ranks_spoken_of(eve.frames) == set()
    press_button(ann, "Ready")
    eve.sees("Waiting for Ann")

    # A fight is shown to everybody.
    ann.sees("Your turn")
    move(ann, "a4", "a7")
    for visitor in (ann, bob, eve):
        expect(visitor.board.locator("[data-piece=p61]")).to_have_text("6")
        visitor.page.wait_for_function("() => window.shown.length")
        assert visitor.page.evaluate("window.shown") == ["2"]
    assert faces(eve.frames) == {("p31", "scout"), ("p61", "captain")}
    expect(eve.page.get_by_role("region", name="Moves")).to_contain_text(
        "Ann: scout a4-a7 falls to a captain"
    )

    # Ann is cut off, Bob moves meanwhile, she comes back and Bob loads his page anew.
    ann.context.clock.install()
    wire.cut()
    expect(ann.page.get_by_text(re.compile("Reconnecting.*: your game is safe"))).to_be_visible()
    expect(bob.page.locator("[data-seat='0']")).to_contain_text("away")
    move(bob, "a7", "a6")
    stands(bob, "a6", "captain of Bob")
    ann.context.clock.pause_at(datetime.now(UTC) + timedelta(minutes=1))  # she does not come back by herself
    try_now = ann.page.get_by_role("button", name="Try now")
    expect(try_now).to_be_visible()
    wire.gone = False
    try_now.click()
    ann.context.clock.resume()
    ann.sees("Your turn")
    stands(ann, "a6", "captain of Bob")
    bob.page.reload()
    bob.sees("Waiting for Ann")
    stands(bob, "b7", "flag of Bob")
    eve.page.reload()
    eve.sees("Waiting for Ann")

    # The end: until then only those who fought are known, after it everybody is.
    assert faces(eve.frames) == {("p31", "scout"), ("p61", "captain")}
    assert ranks_spoken_of(eve.frames) == {"scout", "captain"}
    assert {id for id, _ in faces(bob.frames) if int(id[1:]) <= 40} == {"p31"}
    move(ann, "b4", "b7")
    ann.sees("You win: the flag is captured")
    bob.sees("Ann wins: the flag is captured")
    eve.sees("Ann wins: the flag is captured")
    assert len(faces(eve.frames)) == 80

    # Once more, and now Bob is red.
    press_button(ann, "Rematch")
    press_button(bob, "Rematch")
    for visitor in (ann, bob):
        visitor.sees("Arrange your pieces, then say ready")
        press_button(visitor, "Ready")
    bob.sees("Your turn")
    expect(bob.page.locator("[data-seat='0']")).to_contain_text("Bob")
    stands(bob, "a1", ".* of Bob")
    stands(ann, "a10", ".* of Ann")


# A client of Ogetarts against a browser.


def board_of(visitor):
    """All that a player at a browser sees of their own pieces: the rank by the square."""
    labels = visitor.spots.evaluate_all("spots => spots.map(spot => spot.getAttribute('aria-label'))")
    told = (re.match(rf"(\w+), ({'|'.join(NAMES[1:])}) of {visitor.name}", label) for label in labels)
    return {SQUARES[match[1]]: RANKS[match[2]] for match in told if match}


def neighbours(place):
    row, column = divmod(place, 10)
    steps = ((row + 1, column), (row - 1, column), (row, column + 1), (row, column - 1))
    return [10 * y + x for y, x in steps if 0 <= y < 10 and 0 <= x < 10]


def beats(attacker, defender):
    if defender == BOMB:
        return attacker == MINER
    return defender == FLAG or attacker > defender


def way_to_the_flag(mine, theirs):
    """The shortest way on which one of my pieces takes the flag, whoever stands on it, if there is one."""
    ways = deque([place] for place, rank in mine.items() if rank <= MARSHAL)
    seen = {(way[0], way[0]) for way in ways}
    while ways:
        way = ways.popleft()
        for place in neighbours(way[-1]):
            rank = mine[way[0]]
            if (
                place in mine
                or (way[0], place) in seen
                or (place in theirs and not beats(rank, theirs[place]))
            ):
                continue
            if theirs.get(place) == FLAG:
                return [*way, place]
            seen.add((way[0], place))
            ways.append([*way, place])
    return None


def table_with_a_way(server, enter, visit):
    """A room where chance leaves Ann a way to Bob's flag: Ann, Bob, the room, and both sides' pieces."""
    for room in (f"cabin-{number}" for number in range(10)):
        server.open_room("stratego", id=room, config={"preset": "ogetarts", "restart_after": 600})
        ann, bob = enter(server, "Ann"), visit(server, "Bob")
        assert come_in(ann, room, "Ann").status == "ok"
        bob.come_in(room)
        bob.sees("Waiting for Ann")
        game, theirs = ann.wait_for("update", count=2)["game"], board_of(bob)
        if way_to_the_flag(own(game, 1), theirs):
            return ann, bob, room, game, theirs
    raise AssertionError("expected a way to the flag in one of ten rooms, there is none")


def quiet_move(mine, theirs, avoid):
    """A step that is in nobody's way."""
    taken = {*mine, *theirs, *avoid}
    found = (
        (place, step)
        for place, rank in mine.items()
        if rank <= MARSHAL and place not in avoid
        for step in neighbours(place)
        if step not in taken
    )
    return next(found)


def own(game, player):
    """A client's own pieces: the rank by the square."""
    return {10 * p[3] + p[4]: p[1] for row in game["board"] for p in row if p and p[2] == player}


def test_a_phoenix_client_takes_the_flag_of_a_browser_and_nobody_takes_a_name(server, enter, visit):
    ann, bob, room, game, theirs = table_with_a_way(server, enter, visit)
    thief = enter(server, "Thief")

    assert come_in(thief, room, "Bob").code == "name_taken"
    assert come_in(thief, room, "Mallory").response["game"]["players"] == ["Ann", "Bob"]
    assert click(thief, (3, 0)).status == "error"

    while True:
        way = way_to_the_flag(own(game, 1), theirs)
        assert way, "Bob does not close it"
        assert click(ann, divmod(way[0], 10)).status == "ok"
        moved = click(ann, divmod(way[1], 10))
        assert moved.status == "ok", moved
        game = moved.response["game"]
        if game["reason"] is not None:
            break
        bob.sees("Your turn")
        theirs = board_of(bob)
        start, end = quiet_move(theirs, own(game, 1), way)
        heard = len(ann.heard("update"))
        move(bob, name_of(start), name_of(end))
        game = ann.wait_for("update", count=heard + 1)["game"]
        bob.sees("Waiting for Ann")  # or the turn before would be taken for the next one
        theirs[end] = theirs.pop(start)
    assert (game["winner"], game["reason"], game["flag_found"]) == ("Ann", "flag", True)
    bob.sees("Ann wins: the flag is captured")

    # Who watched under another name has seen the ranks of those who fought, as everybody has, until the end.
    games = [told["game"] for _, told in thief.heard("update") if told["game"]["winner"] is None]
    hidden = [piece for game in games for row in game["board"] for piece in row if piece and not piece[5]]
    assert hidden
    assert {piece[1] for piece in hidden} == {0}
    assert ann.push("reset", {}).status == "ok"
    bob.sees("Waiting for Ann")
