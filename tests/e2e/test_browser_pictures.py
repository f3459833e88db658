"""A game with pictures of its own, in real browsers: they are drawn, moved by hand and keys, and named."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.e2e

FOX = Path(__file__).parents[2] / "examples" / "fox.py"
DRAWN = """() => Promise.all([...document.querySelectorAll(".piece image")].map(async (image) => {
    const picture = new Image();
    picture.src = image.href.baseVal;
    await picture.decode();
    return picture.naturalWidth > 0;
}))"""


def test_a_game_with_pictures_of_its_own_is_played_by_hand_and_by_keys(serve, visit):
    server = serve(FOX)
    ann, bob = visit(server, "Ann"), visit(server, "Bob")
    bob.come_in(ann.open_room("Fox and hounds"))
    ann.sees("Your turn")
    assert ann.page.evaluate(DRAWN) == [True] * 5
    expect(ann.board.get_by_label(re.compile("^e1.*fox"))).to_be_visible()
    ann.page.locator("[data-piece=a0]").click()
    ann.board.get_by_label(re.compile("^d2")).click()
    bob.sees("Your turn")
    hound = bob.board.get_by_label(re.compile("^b8.*hound"))
    hound.focus()
    bob.page.keyboard.press("Enter")
    bob.board.get_by_label(re.compile("^a7")).focus()
    bob.page.keyboard.press("Enter")
    ann.sees("Your turn")
    expect(ann.board.get_by_label(re.compile("^a7.*hound"))).to_be_visible()
