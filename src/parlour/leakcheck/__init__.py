"""Leak check: whether a game tells anybody what they may not know. For game authors; pure, no server needed.

The game is played at random. At every step, for every viewer, `resample` gives other worlds that this viewer
must not be able to tell from the real one. Both worlds then get the same commands, and everything that the
viewer receives must be the same, byte for byte, until a step reveals something: the *view* is the only door
for secrets, so a step reveals something just when it makes the two views differ.
"""

from parlour.leakcheck.check import check
from parlour.leakcheck.report import Leak, Report
from parlour.leakcheck.worlds import Judgement, judge

__all__ = ["Judgement", "Leak", "Report", "check", "judge"]
