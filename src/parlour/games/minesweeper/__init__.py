"""Minesweeper: one player against a field whose mines nobody knows."""

from parlour.games.minesweeper.field import Field
from parlour.games.minesweeper.rules import Chord, Flag, Minesweeper, Open, Restart

__all__ = ["Chord", "Field", "Flag", "Minesweeper", "Open", "Restart"]
