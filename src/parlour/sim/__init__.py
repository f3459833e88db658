"""Many games without a server: a table of rules alone, play by bots or chance, ratings, games as data."""

from parlour.sim.arena import Pair, Pairing, Played, Rated, Score, pairings, play_game, play_pair, rate
from parlour.sim.play import Playable, Unfinished, chance_of, play_bots, play_on, play_to_end
from parlour.sim.records import GameRecord, Replayed, line_of, read, record_of, replay
from parlour.sim.table import Step, Table

__all__ = [
    "GameRecord",
    "Pair",
    "Pairing",
    "Playable",
    "Played",
    "Rated",
    "Replayed",
    "Score",
    "Step",
    "Table",
    "Unfinished",
    "chance_of",
    "line_of",
    "pairings",
    "play_bots",
    "play_game",
    "play_on",
    "play_pair",
    "play_to_end",
    "rate",
    "read",
    "record_of",
    "replay",
]
