"""All the stories, by the names of their files."""

from collections.abc import Callable

from tests.scenes import Moments
from tests.scenes.backgammon import backgammon
from tests.scenes.boards import (
    auction_story,
    dice_story,
    fox_story,
    hexes_story,
    morris_story,
    routes_story,
    tricks_story,
)
from tests.scenes.played import connect_four, minesweeper, noughts_and_crosses, plain
from tests.scenes.stratego import stratego

STORIES: dict[str, Callable[[], Moments]] = {
    "tictactoe": noughts_and_crosses,
    "minesweeper": minesweeper,
    "stratego": stratego,
    "backgammon": backgammon,
    "connect_four": connect_four,
    "plain": plain,
    "tricks": tricks_story,
    "hexes": hexes_story,
    "morris": morris_story,
    "auction": auction_story,
    "routes": routes_story,
    "dice": dice_story,
    "fox": fox_story,
}
