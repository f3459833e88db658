"""Every variant of every game is played to its end by pressing alone, on every kind of screen."""

import re
from typing import Any

import msgspec
import pytest
from playwright.sync_api import expect

from parlour.game import Game
from parlour.games import GAMES
from tests.e2e.clicker import play_to_the_end, watch_answers
from tests.e2e.test_browser_moves import SCREENS

pytestmark = pytest.mark.e2e

LONGER = {"5 points", "7 points", "To 50", "To 100"}
"""Presets by which more of the same is played."""
SHORT = {"Hearts": "One deal"}
"""The preset by which a game is over soon, whatever else is chosen."""


def offered(game: Game[Any]) -> list[str]:
    """What one can choose in a game's form: its cards and its presets, by their titles."""
    words = game.set_up
    schema = msgspec.json.schema_components((game.Config,))[1][game.Config.__name__]
    choices = schema["properties"][words.cards]["enum"] if words.cards else ()
    cards = [words.labels[words.cards or ""].choices[choice].title for choice in choices]
    return [*cards, *(preset.title for preset in words.presets)]


VARIANTS = {
    game.display_name: [one for one in offered(game) if one not in LONGER] or [""] for game in GAMES.values()
}
"""What is played of each game, so that a new card or preset is played, too."""
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


def test_whatever_can_be_chosen_is_played_or_longer_of_what_is_played():
    everything = {(game.display_name, one) for game in GAMES.values() for one in offered(game) or [""]}
    left_out = {one for one in everything if one[1] in LONGER}
    assert {(game, one) for game, one, _ in ALL} == everything - left_out
    assert {one for _, one in left_out} == LONGER
    assert set(SAMPLE) <= set(ALL)


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
        if game in SHORT:
            choices.get_by_text(SHORT[game], exact=True).click()
        ann.click("Open the room")
    else:
        ann.click(f"A friend to play {game} with")
    ann.page.wait_for_url(re.compile(r"/r/\w+$"))
    for number in range(quick.room(ann.page.url.rpartition("/")[2])["least"] - 1):
        ann.page.get_by_role("button", name="Add a bot", exact=True).first.click()
        bots = ann.page.get_by_role("group", name="Which bot?").get_by_role("button")
        bots.filter(has_text=re.compile("Easy|Sensible|Casual|Fair")).first.click()
        expect(ann.page.locator(".bar .who strong")).to_have_count(2 + number)
    play_to_the_end(ann, seed=7)
    expect(ann.status).to_have_text(re.compile("win|lose|draw"))
    ann.click("Replay")
    expect(ann.page.get_by_role("slider", name="Moment")).to_be_visible()
