"""The backgammon family: backgammon, tavla, portes, plakoto and fevga, played for a score.

The rules are in `variants` (what differs), `board` (where the checkers are) and `moves` (what a roll allows);
`match` is several games for a score, `notation` how it is written down, `play` the game that a room runs.
"""

from parlour.games.backgammon.play import Backgammon

__all__ = ["Backgammon"]
