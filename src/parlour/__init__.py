"""Parlour: a multiplayer game server. These are the names that a game author imports."""

from parlour.errors import Refused
from parlour.game import (
    GAME,
    BotWithAnswers,
    Cancel,
    Chance,
    Config,
    End,
    Event,
    Game,
    Joined,
    Later,
    Moment,
    Outcome,
    Send,
    State,
    Timeouts,
    Update,
)

__version__ = "0.2.0"

__all__ = [
    "GAME",
    "BotWithAnswers",
    "Cancel",
    "Chance",
    "Config",
    "End",
    "Event",
    "Game",
    "Joined",
    "Later",
    "Moment",
    "Outcome",
    "Refused",
    "Send",
    "State",
    "Timeouts",
    "Update",
]
