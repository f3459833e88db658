"""Bots as players: their ids and names, which no person can have."""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any

from parlour.bots import bots_of
from parlour.errors import Code, Refused
from parlour.game import Game
from parlour.journal.base import Player

PREFIX = "bot:"
"""The prefix of bots' ids; no token is ever signed for one."""


def chosen(game: Game[Any], bot: str | None) -> str:
    """The name of a bot of this game; the best one if none is named."""
    bots = bots_of(game)
    if bot is None:
        return list(bots)[-1]
    if bot not in bots:
        expected = " or ".join(bots)
        raise Refused(Code.UNKNOWN_BOT, f"$.bot: expected {expected}, got {bot[:40]!r}", path="$.bot")
    return bot


def newcomer(there: Sequence[str | None], bot: str) -> Player:
    """A bot as a player with an id that nobody in the room has."""
    id, number = f"{PREFIX}{bot}", 1
    while id in there:
        number += 1
        id = f"{PREFIX}{bot}:{number}"
    return Player(id, bot_name(id), bot=True)


def bot_name(id: str) -> str:
    """The display name of a bot.

    >>> bot_name("bot:random"), bot_name("bot:fond_of_rock:2")
    ('Random bot', 'Fond of rock bot 2')
    """
    kind, _, number = id.removeprefix(PREFIX).partition(":")
    return f"{kind.replace('_', ' ').capitalize()} bot {number}".strip()


def is_bot(id: str, games: Iterable[Game[Any]]) -> bool:
    """True if a bot of one of these games can have this id."""
    kind, _, number = id.removeprefix(PREFIX).partition(":")
    is_numbered = number == "" or (number.isdecimal() and str(int(number)) == number and int(number) > 1)
    return f"{PREFIX}{kind}:{number}".rstrip(":") == id and is_numbered and kind in _kinds(games)


def check_no_bot(name: str, games: Iterable[Game[Any]]) -> str:
    """Check that a person's name does not look like a bot's.

    >>> from parlour.games import GAMES
    >>> check_no_bot("Robot", GAMES.values())
    'Robot'
    >>> check_no_bot("random  Bot 2", GAMES.values())
    Traceback (most recent call last):
    ...
    parlour.errors.Refused: ('invalid_name', "expected a person's name, got a bot's: 'random  Bot 2'")
    """
    called = re.sub(r" \d+$", "", _comparable(name))
    if called in {_comparable(bot_name(PREFIX + kind)) for kind in _kinds(games)}:
        why = f"expected a person's name, got a bot's: {name!r}"
        raise Refused(Code.INVALID_NAME, why, path="$.name")
    return name


def _kinds(games: Iterable[Game[Any]]) -> set[str]:
    """The bots of all games here."""
    return {bot for game in games for bot in bots_of(game)}


def _comparable(name: str) -> str:
    """Normalise a name for comparison: letter forms, capitals and spacing are ignored."""
    return " ".join(unicodedata.normalize("NFKC", name).casefold().split())
