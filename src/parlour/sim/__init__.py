"""Many games without a server: a table of rules alone, play by bots or chance, an arena with ratings."""

from parlour.sim.arena import Pair, Pairing, Played, Rated, Score, pairings, play_game, play_pair, rate
from parlour.sim.play import Playable, Unfinished, chance_of, play_bots, play_on, play_to_end
from parlour.sim.table import Step, Table

__all__ = [
    "Pair",
    "Pairing",
    "Playable",
    "Played",
    "Rated",
    "Score",
    "Step",
    "Table",
    "Unfinished",
    "chance_of",
    "pairings",
    "play_bots",
    "play_game",
    "play_on",
    "play_pair",
    "play_to_end",
    "rate",
]
