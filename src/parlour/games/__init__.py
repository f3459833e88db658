"""The games that come with Parlour: one line each."""

from typing import Any

from parlour.game import Game
from parlour.games.backgammon import Backgammon
from parlour.games.minesweeper import Minesweeper
from parlour.games.stratego import Stratego
from parlour.games.tictactoe import TicTacToe

GAMES: dict[str, Game[Any]] = {
    game.name: game
    for game in (
        TicTacToe(),
        Minesweeper(),
        Stratego(),
        Backgammon(),
    )
}
