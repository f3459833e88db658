"""Every variant of every game is played to its end by pressing alone, on every kind of screen."""

import re

import pytest
from playwright.sync_api import expect

from tests.e2e.clicker import play_to_the_end, watch_answers
from tests.e2e.test_browser_moves import SCREENS

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(600)]

VARIANTS = {
    "Noughts and crosses": [""],
    "Minesweeper": ["Beginner", "Intermediate", "Expert", "Your own"],
    "Backgammon": ["Backgammon", "Tavla", "Tavli", "Portes", "Plakoto", "Fevga"],
    "Stratego": ["Classic", "Quick start"],
    "Hex": ["7 x 7", "11 x 11"],
    "Hearts": ["Three", "Four", "Five"],
    "Goofspiel": ["The prize stays", "Equal bids cancel", "Nobody gets it"],
}
"""The cards of each game, or its presets."""
TABLES = {"Three": 3, "Four": 4, "Five": 5}
"""How many sit, where that is not two."""
SAMPLE = [
    ("Noughts and crosses", "", "on its side"),
    ("Minesweeper", "Expert", "phone"),
    ("Backgammon", "Tavla", "phone"),
]
"""What is played every time; `make test-long` plays the others."""
ALL = [(game, one, screen) for game, cards in VARIANTS.items() for one in cards for screen in SCREENS]


@pytest.fixture(scope="module")
def quick(serve_all):
    """A server whose bots take no time for show."""
    return serve_all("--bot-pace", 0)


@pytest.mark.parametrize(
    ("game", "variant", "screen"),
    [pytest.param(*one, marks=[] if one in SAMPLE else pytest.mark.long) for one in ALL],
)
def test_a_variant_is_played_to_its_end_by_pressing_what_the_page_offers(quick, visit, game, variant, screen):
    ann = visit(quick, "Ann", picks_up=False, **SCREENS[screen])
    watch_answers(ann)
    ann.go("/").page.get_by_label("Your name").fill("Ann")
    if variant:
        ann.click(f"Set up {game}")
        choices = ann.page.get_by_role("dialog").locator(".cards, .choices")
        choices.get_by_text(variant, exact=True).click()
        if game == "Hearts":
            choices.get_by_text("One deal", exact=True).click()
        ann.click("Open the room")
    else:
        ann.click(f"A friend to play {game} with")
    ann.page.wait_for_url(re.compile(r"/r/\w+$"))
    for number in range(0 if game == "Minesweeper" else TABLES.get(variant, 2) - 1):
        ann.page.get_by_role("button", name="Add a bot", exact=True).first.click()
        bots = ann.page.get_by_role("group", name="Which bot?").get_by_role("button")
        bots.filter(has_text=re.compile("Easy|Sensible|Casual|Fair")).first.click()
        expect(ann.page.locator(".bar .who strong")).to_have_count(2 + number)
    play_to_the_end(ann, seed=7)
    expect(ann.status).to_have_text(re.compile("win|lose|draw"))
    ann.click("Replay")
    expect(ann.page.get_by_role("slider", name="Moment")).to_be_visible()
