"""Noughts and crosses for benchmarks: rooms that never give up waiting."""

from parlour import Timeouts
from parlour.games import tictactoe


class Patient(tictactoe.TicTacToe):
    """The same rules, and no timeouts."""

    name = "patient"
    display_name = "Patient noughts and crosses"
    timeouts = Timeouts(game=None, away=None, nobody=None)
