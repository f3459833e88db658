"""For the tests of a game: a table to play at without a server, and a suite that every game keeps to."""

from parlour.scene import scene_faults
from parlour.sim.play import chance_of, plain, play_bots, play_on, play_to_end
from parlour.sim.table import NEW_YEAR
from parlour.testing.contract import GameContract, check_patch, check_scenes, check_state
from parlour.testing.play import Wanderer, check_replay, full_table, viewers
from parlour.testing.scenes import clicks, offered
from parlour.testing.table import Table, effects, legal, refused, told

__all__ = [
    "NEW_YEAR",
    "GameContract",
    "Table",
    "Wanderer",
    "chance_of",
    "check_patch",
    "check_replay",
    "check_scenes",
    "check_state",
    "clicks",
    "effects",
    "full_table",
    "legal",
    "offered",
    "plain",
    "play_bots",
    "play_on",
    "play_to_end",
    "refused",
    "scene_faults",
    "told",
    "viewers",
]
