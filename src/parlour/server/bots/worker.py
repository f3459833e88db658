"""A process in which bots think: it reads one question a line, and writes one answer a line.

It ends when its input ends, even while a bot thinks, and so never outlives its server.
"""

import os
import sys
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from time import perf_counter
from traceback import format_exception
from typing import Any

import msgspec

from parlour.bots import bots_of
from parlour.game import Bot, BotWithAnswers, Chance, Game
from parlour.games import GAMES
from parlour.position import BotWithWorlds
from parlour.server.game_loader import load_games

NICE = 5
"""The niceness of the process: people's moves come first."""


class Truth(msgspec.Struct, frozen=True):
    """All there is to know of a game: who asks for a bot's move hands it to the process, never to the bot."""

    state: msgspec.Raw
    player: str
    seats: tuple[str | None, ...]


class Question(msgspec.Struct, frozen=True):
    """A question to a bot: what it sees, and what it may do."""

    game: str
    bot: str
    view: msgspec.Raw
    legal: msgspec.Raw
    file: str | None = None
    """The file of the game, if it did not come with Parlour."""
    offer: str | None = None
    """What the bot is offered: it says whether it agrees, and makes no move."""
    truth: "Truth | None" = None
    """For a bot that looks ahead; another world is drawn of it before the bot is asked."""


class Asked(msgspec.Struct, frozen=True):
    """A question, and the seed to answer it with."""

    question: Question
    seed: bytes


class BotAnswer(msgspec.Struct, frozen=True, omit_defaults=True):
    """A bot's answer: its event, None if it makes no move, or the error."""

    event: Any = None
    error: str | None = None
    trace: str = ""


_read = msgspec.json.Decoder(Asked).decode
_encode = msgspec.json.Encoder().encode


def think(asked: Asked) -> Any:
    """Ask the bot and return its event."""
    question = asked.question
    game = GAMES[question.game] if question.file is None else _own_game(question, _saved(question.file))
    bots = bots_of(game)
    bot = bots.get(question.bot) or next(iter(bots.values()))  # it may be gone since it sat down
    view, legal = msgspec.json.decode(question.view), msgspec.json.decode(question.legal)
    chance, truth = Chance(asked.seed, 0), question.truth
    if truth is not None and question.offer is None and isinstance(bot, BotWithWorlds):
        state = msgspec.json.decode(truth.state, type=game.State)
        return bot.ask(game, state, truth.player, truth.seats, chance, perf_counter)
    return bot(view, legal, chance) if question.offer is None else _agrees(bot, view, question.offer)


def _agrees(bot: Bot, view: Any, offer: str) -> bool:
    """What a bot answers to an offer; one that has no answers of its own agrees to all but a draw."""
    return bool(bot.answer(view, offer)) if isinstance(bot, BotWithAnswers) else offer != "draw"


def _saved(file: str) -> int:
    return Path(file).stat().st_mtime_ns


def _own_game(question: Question, saved: int) -> Game[Any]:
    assert question.file is not None  # noqa: S101 - the caller looked
    return _games_in(question.file, saved)[question.game]


@lru_cache(maxsize=16)
def _games_in(file: str, _saved: int) -> dict[str, Game[Any]]:
    return {game.name: game for game in load_games(Path(file))}


def answer(line: bytes) -> bytes:
    """The answer to a question, both encoded; if the bot raises, the answer says so."""
    try:
        return _encode(BotAnswer(think(_read(line)))) + b"\n"
    except Exception as error:  # noqa: BLE001 - bots are the games' code: an error costs one answer
        why = f"{type(error).__name__}: {error}"
        return _encode(BotAnswer(error=why, trace="".join(format_exception(error)))) + b"\n"


def main() -> None:
    """Answer questions until the input ends."""
    with suppress(OSError):
        os.nice(NICE)
    out = os.fdopen(os.dup(1), "wb")
    sys.stdout = sys.stderr  # what a bot prints must not be taken for an answer
    lines: SimpleQueue[bytes] = SimpleQueue()

    def listen() -> None:
        for line in sys.stdin.buffer:
            lines.put(line)
        os._exit(0)

    Thread(target=listen, daemon=True).start()
    told = b"\n"  # ready
    while True:
        try:
            out.write(told)
            out.flush()
            told = answer(lines.get())
        except BrokenPipeError:
            os._exit(0)


if __name__ == "__main__":
    main()
