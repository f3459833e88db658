"""How the players of a load behave: how often they act, and what they do at noughts and crosses."""

from random import Random
from typing import Any

import msgspec

Wish = tuple[str, dict[str, Any]]
"""The event and the payload of a command."""


class Habits(msgspec.Struct, frozen=True, kw_only=True):
    """The shares are of all that a player does, or of all that the word says."""

    pace: float = 0.03
    """Seconds between two deeds, on average."""
    cuts: float = 0.004
    """The player's line breaks without a word."""
    repeats: float = 0.05
    """A command is sent twice at once, or long after it was accepted."""
    forgets: float = 0.05
    """Of what was not answered before the line broke: never asked again."""
    blunders: float = 0.05
    """A move that is probably against the rules."""
    chats: float = 0.2
    most: int = 3
    """Commands that wait for an answer in one room."""

    def choose(self, view: dict[str, Any], chance: Random, *, idle: bool) -> Wish | None:
        """What to do about this board; only idle players move, or they would move twice."""
        if chance.random() < self.chats:
            return "chat", {"text": f"let me think {chance.randrange(10**6)}"}
        if chance.random() < self.blunders:
            return _mark(chance.randrange(9))
        if not idle:
            return None
        if view.get("over"):
            return "rematch", {}
        free = [cell for cell, mark in enumerate(view.get("cells", "")) if mark == "."]
        if view.get("turn") == view.get("you") and free:
            return _mark(chance.choice(free))
        return None


def _mark(cell: int) -> Wish:
    return "game_event", {"event": {"type": "mark", "cell": cell}}
