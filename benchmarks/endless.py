"""Noughts and crosses for benchmarks: a game that never ends, so that a load can last."""

from msgspec.structs import replace

from parlour import Moment, Timeouts
from parlour.game import Update
from parlour.games import tictactoe

LAST = 8
"""So many marks, and the board is wiped: an even number, so that players keep taking turns."""


class Endless(tictactoe.TicTacToe):
    """The same rules, until one cell is left; then all are free again."""

    name = "endless"
    display_name = "Endless noughts and crosses"
    timeouts = Timeouts(game=None, away=None, nobody=None)

    def handle_event(
        self, state: tictactoe.Board, sender: str, event: tictactoe.Mark, moment: Moment
    ) -> Update[tictactoe.Board]:
        update = super().handle_event(state, sender, event, moment)
        board = update.state
        if len(board.played) == LAST:
            board = replace(board, cells=tictactoe.Board().cells, played=())
        return Update(board, update.effects)
