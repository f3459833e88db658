"""The boards of tests/boards as people meet them: by clicks, by keys alone, by a finger."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.e2e.browser import PHONE

pytestmark = pytest.mark.e2e

BOARDS = Path(__file__).parents[1] / "boards"
NAMES = ("Ann", "Bob", "Cat", "Dan", "Eve")


@pytest.fixture(scope="module")
def boards(serve_all):
    """A server with all of these games."""
    return serve_all(*(file for file in sorted(BOARDS.glob("*.py")) if file.stem != "__init__"))


def sit(server, visit, title, count, **options):
    """So many people at one table."""
    first, *others = [visit(server, name, **options) for name in NAMES[:count]]
    room = first.open_room(title)
    for other in others:
        other.come_in(room)
    return [first, *others]


def cards(player):
    """The cards in a player's hand that can be played."""
    return player.board.locator("[data-piece^=k][role=button]")


def test_a_trick_is_played_by_keys_alone_card_by_card(boards, visit):
    table = sit(boards, visit, "Tricks", 4)
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


def test_a_finger_draws_a_narrow_card_out_and_plays_it_by_the_second_tap(boards, visit):
    table = sit(boards, visit, "Tricks", 4, viewport=PHONE, has_touch=True, is_mobile=True)
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


def test_hexagons_roads_and_points_are_pressed_where_they_are_seen(boards, visit):
    ann, bob = sit(boards, visit, "Hexes", 2)
    ann.sees("Your turn")
    ann.spot("f6").click()
    bob.sees("Your turn")
    bob.spot("f7").focus()
    bob.press("ArrowRight", "Enter")
    expect(ann.spot("g7, blue")).to_be_attached()
    ann.sees("Your turn")
    expect(bob.board.locator(".spot.active")).to_have_count(0)


def test_a_road_is_built_and_belongs_to_who_built_it(boards, visit):
    table = sit(boards, visit, "Routes", 5)
    table[0].sees("Your turn: build a road")
    road = table[0].spot("road from Arden to Brill")
    road.focus()
    table[0].press("Enter")
    for player in table:
        expect(player.spot("road from Arden to Brill, built by Ann")).to_be_attached()
    table[1].sees("Your turn: build a road")


def test_men_are_placed_and_dice_are_kept_by_keys(boards, visit):
    ann, bob = sit(boards, visit, "Dice race", 2)
    ann.sees("Your turn")
    ann.page.get_by_role("button", name="Roll").click()
    die = ann.board.locator("[data-spot=d2]")
    expect(die).to_have_attribute("aria-label", re.compile(r"^die 3, \d$"))
    die.focus()
    ann.press("Enter")
    expect(die).to_have_attribute("aria-label", re.compile(r"^die 3, \d, kept$"))
    ann.page.get_by_role("button", name="Roll again").click()
    bob.sees("Your turn")


def place(player, point):
    """Put a man on a point by a click."""
    player.sees("Your turn")
    player.spot(point).click()


def test_a_mill_is_closed_by_clicks(boards, visit):
    ann, bob = sit(boards, visit, "Nine men's morris", 2)
    for turn, point in enumerate(("a1", "b1", "a2", "b2", "a3")):
        place((ann, bob)[turn % 2], point)
    ann.sees("You win: a mill")
    bob.sees("Ann wins: a mill")


def test_men_are_placed_and_moved_along_the_lines_by_keys_alone(boards, visit):
    ann, bob = sit(boards, visit, "Nine men's morris", 2)
    men = (
        ("a1", "a3", "a5", "a7", "b2", "b4", "b6", "b8", "c1"),
        ("a2", "a4", "a6", "a8", "b1", "b3", "b5", "b7", "c3"),
    )
    ann.tab_to("svg.board")
    for white, black in zip(*men, strict=True):
        for player, point in ((ann, white), (bob, black)):
            player.sees("Your turn")
            player.spot(point).focus()
            player.press("Enter")
    ann.sees("Your turn")
    ann.spot("c1, white man").focus()
    ann.press("Enter", "ArrowRight", "Enter")
    bob.sees("Your turn")
    expect(bob.spot("c2, white man")).to_be_attached()


def bid(player, coins, *, by_keys):
    """Write a bid down, by clicks or by keys alone."""
    player.sees("Write your bid")
    if by_keys:
        player.tab_to("Bid")
        player.press("Enter", "Tab", *str(coins), "Enter")
        return
    player.click("Bid")
    player.page.get_by_label("Coins", exact=True).fill(str(coins))
    player.page.locator("form").get_by_role("button", name="Bid", exact=True).click()


@pytest.mark.parametrize("by_keys", [False, True])
def test_lots_are_sold_to_the_highest_of_five_sealed_bids(boards, visit, by_keys):
    table = sit(boards, visit, "Auction", 5)
    for name in NAMES:  # the scene says {0}, {1}...
        expect(table[0].board.get_by_text(name, exact=True)).to_be_visible()
    lots = ("Vase",) if by_keys else ("Vase", "Clock", "Globe", "Lamp", "Harp", "Map")
    for number, lot in enumerate(lots):
        for seat, player in enumerate(table):
            bid(player, 3 if seat == number % 2 else 1, by_keys=by_keys)
        buyer = NAMES[number % 2]
        for player in table if number < 5 else ():  # when it is over, the board is one picture
            bought = player.board.locator(f"[data-spot=s{number % 2}]")
            expect(bought).to_have_attribute("aria-label", re.compile(rf"^bought by {buyer}\b.*{lot}"))
    if not by_keys:
        expect(table[0].status).to_have_text(re.compile("win"))
        expect(table[2].status).to_have_text(re.compile("Ann.*Bob.*win"))
