"""The boards of tests/boards as people meet them: by clicks, by keys alone, by a finger."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.e2e.browser import PHONE

pytestmark = pytest.mark.e2e

BOARDS = Path(__file__).parents[1] / "boards"
NAMES = ("Ann", "Bob", "Cat", "Dan", "Eve")


def sit(serve, visit, board, title, count, **options):
    """So many people at one table."""
    server = serve(BOARDS / f"{board}.py")
    first, *others = [visit(server, name, **options) for name in NAMES[:count]]
    room = first.open_room(title)
    for other in others:
        other.come_in(room)
    return [first, *others]


def cards(player):
    """The cards in a player's hand that can be played."""
    return player.board.locator("[data-piece^=k][role=button]")


def test_a_trick_is_played_by_keys_alone_card_by_card(serve, visit):
    table = sit(serve, visit, "tricks", "Tricks", 4)
    table[0].sees("Your turn")
    table[0].tab_to("svg.board")
    first = table[0].page.evaluate("document.activeElement.getAttribute('aria-label')")
    table[0].press("ArrowRight")
    second = table[0].page.evaluate("document.activeElement.getAttribute('aria-label')")
    assert re.fullmatch(r"\w+ of (clubs|diamonds|hearts|spades)", second)
    assert first != second
    table[0].press("Enter")
    for player in table[1:]:
        expect(player.board.get_by_label(f"played by Ann, {second}", exact=True)).to_be_attached()
    for player in table[1:]:
        player.sees("Your turn")
        cards(player).first.focus()
        player.press("Enter")
    expect(table[0].board.locator("[data-spot^=w][aria-label*=trick]")).to_have_count(1)


def test_a_finger_draws_a_narrow_card_out_and_plays_it_by_the_second_tap(serve, visit):
    table = sit(serve, visit, "tricks", "Tricks", 4, viewport=PHONE, has_touch=True, is_mobile=True)
    table[0].sees("Your turn")
    card = cards(table[0]).nth(5)
    name = card.get_attribute("data-piece")
    hand = table[0].board.locator(f"[data-piece={name}]")
    box = card.bounding_box()
    at = (box["x"] + 8, box["y"] + box["height"] / 2)
    table[0].page.touchscreen.tap(*at)
    expect(hand).to_have_class(re.compile("lifted"))
    table[0].sees("Your turn")
    table[0].page.touchscreen.tap(*at)
    table[0].sees("Waiting for Bob")


def test_hexagons_roads_and_points_are_pressed_where_they_are_seen(serve, visit):
    ann, bob = sit(serve, visit, "hexes", "Hexes", 2)
    ann.sees("Your turn")
    ann.spot("f6").click()
    bob.sees("Your turn")
    bob.spot("f7").focus()
    bob.press("ArrowRight", "Enter")
    expect(ann.spot("g7, blue")).to_be_attached()
    ann.sees("Your turn")
    expect(bob.board.locator(".spot.active")).to_have_count(0)


def test_a_road_is_built_and_belongs_to_who_built_it(serve, visit):
    table = sit(serve, visit, "routes", "Routes", 5)
    table[0].sees("Your turn: build a road")
    road = table[0].spot("road from Arden to Brill")
    road.focus()
    table[0].press("Enter")
    for player in table:
        expect(player.spot("road from Arden to Brill, built by Ann")).to_be_attached()
    table[1].sees("Your turn: build a road")


def test_men_are_placed_and_dice_are_kept_by_keys(serve, visit):
    ann, bob = sit(serve, visit, "dice", "Dice race", 2)
    ann.sees("Your turn")
    ann.page.get_by_role("button", name="Roll").click()
    die = ann.board.locator("[data-spot=d2]")
    die.focus()
    ann.press("Enter")
    expect(die).to_have_attribute("aria-label", re.compile(r"^die 3, \d, kept$"))
    ann.page.get_by_role("button", name="Roll again").click()
    bob.sees("Your turn")
