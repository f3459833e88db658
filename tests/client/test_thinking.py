"""A bot's function in a process of its own: what it answers, and what becomes of one that fails."""

import pytest

from parlour.client.seat import Turn
from parlour.client.thinking import BotFailed, Thinker
from parlour.game import Chance

TURN = Turn({"cells": "."}, [{"cell": 1}, {"cell": 2}], 7, Chance(b"", 0))
TIMEOUT = 60.0


def last(view, legal, chance):
    return legal[-1]


def nothing(view, legal, chance):
    return None


def broken(view, legal, chance):
    raise ZeroDivisionError("nobody divides by zero")


def endless(view, legal, chance):
    while True:
        pass


def no_json(view, legal, chance):
    return object()


@pytest.fixture
def ask():
    """Asks one of the bots above once."""
    thinkers = []

    async def answer(name, patience=TIMEOUT):
        thinkers.append(Thinker(f"{__name__}:{name}", patience))
        return await thinkers[-1].ask(TURN)

    yield answer
    for thinker in thinkers:
        thinker.stop()


async def test_a_bot_answers_with_an_event_or_with_nothing(ask):
    assert await ask("last") == {"cell": 2}
    assert await ask("nothing") is None


async def test_a_bot_that_raises_leaves_its_traceback(ask):
    with pytest.raises(BotFailed, match=r"in broken(.|\n)*nobody divides by zero"):
        await ask("broken")


async def test_a_bot_that_hangs_is_ended(ask):
    with pytest.raises(BotFailed, match=r"longer than 0\.1 s"):
        await ask("endless", 0.1)


async def test_an_answer_that_is_no_json_is_a_failure(ask):
    with pytest.raises(BotFailed, match="object"):
        await ask("no_json")
