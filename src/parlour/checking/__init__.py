"""Check a game as its author would want to be told: what is wrong, in one sentence, with file and line."""

from parlour.checking.check import Checked, check_file, check_game
from parlour.checking.findings import Finding

__all__ = ["Checked", "Finding", "check_file", "check_game"]
