"""The question that a bot has to answer, and an answer to fall back on."""

from inspect import getfile
from typing import Any

import msgspec

from parlour.bots.chance import choose_any
from parlour.game import Chance, Game
from parlour.games import GAMES
from parlour.room import Room, seal
from parlour.server.bots.worker import Question


def question_of(game: Game[Any], room: Room[Any], player: str, bot: str) -> Question | None:
    """The question for a bot, with its view and legal events; None if the game lists no legal event."""
    legal = list(game.legal_events(room.state, player) or ())
    if not legal:
        return None
    own = type(GAMES.get(game.name)) is not type(game)
    file = getfile(type(game)) if own else None
    return Question(game.name, bot, seal(game.view(room.state, player)), seal(legal), file)


def anything(question: Question) -> msgspec.Raw:
    """Any legal event, to fall back on if the bot has no useful answer."""
    seed = bytes(question.view) + bytes(question.legal)
    legal = msgspec.json.decode(question.legal, type=list[msgspec.Raw])
    return msgspec.Raw(choose_any(None, legal, Chance(seed, 0)))
