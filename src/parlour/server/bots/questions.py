"""The question that a bot has to answer, and an answer to fall back on."""

from inspect import getfile
from typing import Any

import msgspec

from parlour.bots import bots_of
from parlour.bots.chance import choose_any
from parlour.game import Chance, Game
from parlour.games import GAMES
from parlour.position import BotWithWorlds
from parlour.room import Room, seal
from parlour.server.bots.worker import Question, Truth


def question_of(
    game: Game[Any], room: Room[Any], player: str, bot: str, *, answers: bool = True
) -> Question | None:
    """The question for a bot, with its view and legal events; None if there is nothing for it to do.

    Unless it *answers* offers, it is asked for moves alone.
    """
    offer = room.offers.open if answers else None
    asked = None if offer is None or player in (offer.by, *offer.agreed) else offer.what
    paused = room.offers.paused is not None
    legal = [] if paused else list(game.legal_events(room.state, player) or ())
    if not legal and asked is None:
        return None
    own = type(GAMES.get(game.name)) is not type(game)
    file = getfile(type(game)) if own else None
    truth = None
    if isinstance(bots_of(game).get(bot), BotWithWorlds):
        truth = Truth(seal(room.state), player, tuple(room.players))
    return Question(game.name, bot, seal(game.view(room.state, player)), seal(legal), file, asked, truth)


def anything(question: Question) -> msgspec.Raw:
    """Any legal event, or no to an offer, to fall back on if the bot has no useful answer."""
    if question.offer is not None:
        return msgspec.Raw(b"false")
    seed = bytes(question.view) + bytes(question.legal)
    legal = msgspec.json.decode(question.legal, type=list[msgspec.Raw])
    return msgspec.Raw(choose_any(None, legal, Chance(seed, 0)))
