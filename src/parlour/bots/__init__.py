"""The bots that come with Parlour, weaker ones first: a line for each game, a file for each kind.

A bot is one function: from what a player sees and could do, both as plain data, and from chance, to one of
the events. None means that it does nothing now.
"""

from collections.abc import Mapping
from typing import Any

from parlour.bots.backgammon.levels import play_ahead, play_easily, play_well
from parlour.bots.chance import choose_any
from parlour.bots.minesweeper import solve
from parlour.bots.stratego import play_sensibly
from parlour.bots.tictactoe import play_perfectly
from parlour.game import Bot, Game
from parlour.games import GAMES

BOTS: dict[str, dict[str, Bot]] = {
    "tictactoe": {"perfect": play_perfectly},
    "minesweeper": {"solver": solve},
    "stratego": {"sensible": play_sensibly},
    "backgammon": {"easy": play_easily, "medium": play_well, "hard": play_ahead},
}
"""By game, the weakest first."""

RANDOM = "random"
"""The bot that every game has."""


def bots_of(game: Game[Any]) -> Mapping[str, Bot]:
    """Who can play this game, by name; the last is the best."""
    ours = BOTS.get(game.name, {}) if type(GAMES.get(game.name)) is type(game) else {}
    return {RANDOM: choose_any, **ours, **game.bots}
