"""On a phone: the bar with chat and moves has room of its own, and lies over nothing that is to be read."""

import pytest
from playwright.sync_api import ViewportSize, expect

from tests.e2e.armies import draw_up, press_button
from tests.e2e.browser import DRAWN, PHONE
from tests.e2e.hands import choose

pytestmark = pytest.mark.e2e

SMALL: ViewportSize = {"width": 360, "height": 640}


def play_tictactoe(ann, bob):
    for mine, yours in (("centre", "top left"), ("top right", "right")):
        ann.mark(mine)
        bob.sees("Your turn")
        bob.mark(yours)
        ann.sees("Your turn")
    ann.mark("bottom left")


def play_stratego(ann, bob):
    for visitor in (ann, bob):
        draw_up(visitor, "Corner")
        press_button(visitor, "Ready")
    give_up(bob, "Resign")


def play_backgammon(ann, bob):
    give_up(bob, "Resign match")


def give_up(visitor, name):
    choose(visitor, name)
    visitor.page.get_by_role("dialog").get_by_role("button", name="Yes").click()


ENDINGS = [
    ("tictactoe", {}, play_tictactoe),
    ("stratego", {"arrange_seconds": 0}, play_stratego),
    ("backgammon", {"match": "five_points"}, play_backgammon),
]


@pytest.mark.parametrize(("game", "config", "play"), ENDINGS, ids=[game for game, _, _ in ENDINGS])
def test_nothing_of_an_ended_room_lies_under_the_bar_at_the_end_of_the_page(
    server, visit, game, config, play
):
    room = server.open_room(game, config=config)["id"]
    phone = {"viewport": PHONE, "has_touch": True, "is_mobile": True}
    ann, bob = (visit(server, name, **phone).come_in(room) for name in ("Ann", "Bob"))
    play(ann, bob)
    for visitor in (ann, bob):
        expect(visitor.page.get_by_role("link", name="Replay")).to_be_attached()
        for size in (PHONE, SMALL):
            visitor.page.set_viewport_size(size)
            visitor.page.evaluate(DRAWN)
            assert visitor.page.evaluate(UNCOVERED_EDGE) == 0
            assert visitor.page.evaluate(COVERED) == []


UNCOVERED_EDGE = """() => {
    const bar = document.querySelector(".talking").getBoundingClientRect();
    return Math.round(bar.left + (innerWidth - bar.right) + (innerHeight - bar.bottom));
}"""
"""While the page scrolls behind it, nothing peeps out beside the bar or below it."""

COVERED = """() => {
    for (const folded of document.querySelectorAll("details")) folded.open = true;
    scrollTo(0, document.documentElement.scrollHeight);
    const bar = document.querySelector(".talking");
    const top = bar.getBoundingClientRect().top;
    return [...document.querySelectorAll(".table *")]
        .filter((one) => !bar.contains(one) && !one.contains(bar) && one.checkVisibility())
        .filter((one) => one.getBoundingClientRect().bottom > top + 0.5)
        .map((one) => `${one.tagName} ${one.getAttribute("class")} ${one.textContent}`.slice(0, 80));
}"""
"""What reaches under the bar when all is unfolded and the page is scrolled to its end."""


def test_the_last_moves_stand_where_the_game_leaves_room(server, visit):
    room = server.open_room("tictactoe")["id"]
    phone = {"viewport": PHONE, "has_touch": True, "is_mobile": True}
    ann, bob = (visit(server, name, **phone).come_in(room) for name in ("Ann", "Bob"))
    moves, handle = ann.page.get_by_role("region", name="Moves"), ann.page.get_by_role("button", name="Moves")
    for visitor, cell in ((ann, "centre"), (bob, "top left"), (ann, "top right"), (bob, "right")):
        visitor.sees("Your turn")
        visitor.mark(cell)
    expect(moves.get_by_text("right", exact=True)).to_be_in_viewport(ratio=1)
    assert ann.page.evaluate(IN_THE_WAY) == []
    handle.click()
    expect(moves.get_by_text("centre", exact=True)).to_be_in_viewport(ratio=1)
    handle.click()
    expect(moves.get_by_text("right", exact=True)).to_be_in_viewport(ratio=1)
    ann.page.set_viewport_size(SMALL)
    expect(moves).to_be_hidden()
    ann.page.set_viewport_size(PHONE)
    expect(moves.get_by_text("right", exact=True)).to_be_in_viewport(ratio=1)


def test_the_chat_of_a_phone_opens_at_the_last_of_what_was_said(server, visit, seat):
    room = server.open_room("tictactoe")["id"]
    phone = {"viewport": PHONE, "has_touch": True, "is_mobile": True}
    ann = visit(server, "Ann", **phone).come_in(room)
    (bob,) = seat(server, room, "Bob")
    for number in range(30):
        bob.chat(f"line {number}")
    handle = ann.page.get_by_role("button", name="Chat")
    expect(handle).to_contain_text("30")
    handle.click()
    expect(ann.page.get_by_text("line 29", exact=True)).to_be_in_viewport(ratio=1)


IN_THE_WAY = """() => {
    const moves = document.querySelector(".lines").getBoundingClientRect();
    return [...document.querySelectorAll(".act > *, .handles")].filter((one) => {
        const { top, bottom } = one.getBoundingClientRect();
        return top < moves.bottom && bottom > moves.top;
    }).map((one) => one.className);
}"""
"""What lies over the moves, or under them."""
