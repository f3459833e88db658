"""The bots that can play: for each game some of Parlour's or of other packages, weaker ones first.

A bot is one function: from what a player sees and could do, both as plain data, and from chance, to one of
the events. None means that it does nothing now.
"""

from collections.abc import Iterable, Mapping
from importlib.metadata import EntryPoint
from typing import Any

from parlour.bots.chance import choose_any
from parlour.errors import Code, Refused
from parlour.game import Bot, Game
from parlour.games import GAMES
from parlour.plugins import load_each, registered

GROUP = "parlour.bots"
"""The group of entry points; each is the name of a game, and a mapping with its bots by name."""
RANDOM = "random"
"""The bot that every game has."""


def collect(entries: Iterable[EntryPoint]) -> tuple[dict[str, dict[str, Bot]], list[str]]:
    """The bots by game and name, and a sentence for each entry that cannot be used."""
    bots: dict[str, dict[str, Bot]] = {}

    def take(game: str, brought: Any) -> None:
        if not isinstance(brought, Mapping) or not all(map(callable, brought.values())):
            raise Refused(Code.GAME_ERROR, f"expected a mapping of names to functions, got {brought!r}")
        there = {RANDOM, *bots.get(game, ()), *(GAMES[game].bots if game in GAMES else ())}
        if taken := sorted(there & set(brought)):
            raise Refused(Code.NAME_TAKEN, f"{game} has a bot {taken[0]} already")
        bots[game] = {**brought, **bots.get(game, {})}

    return bots, load_each(entries, take)


BOTS, TROUBLES = collect(registered(GROUP))
"""By game, the weakest first."""


def bots_of(game: Game[Any]) -> Mapping[str, Bot]:
    """Who can play this game, by name; the last is the best."""
    ours = BOTS.get(game.name, {}) if type(GAMES.get(game.name)) is type(game) else {}
    return {RANDOM: choose_any, **ours, **game.bots}
