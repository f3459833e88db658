"""A bot at a real server: it answers offers, and whatever is wrong with it stops nobody else."""

import asyncio
from contextlib import asynccontextmanager

import pytest

from parlour.client import Client, Lost
from parlour.client.connection import Connection
from parlour.client.run import BotRunner
from parlour.errors import Refused
from parlour.game import BotWithAnswers
from tests.cluster.real import until
from tests.e2e.servers import Server

pytestmark = pytest.mark.e2e


def first(view, legal, chance):
    return legal[0]


agreeable = BotWithAnswers(first, lambda view, offer: True)


def broken_as_x(view, legal, chance):
    if view["you"] == "X":
        raise ZeroDivisionError("nobody divides by zero")
    return legal[0]


def hangs_as_x(view, legal, chance):
    while view["you"] == "X":
        pass
    return legal[0]


def illegal_as_x(view, legal, chance):
    return {"type": "mark", "cell": 4 if view["you"] == "X" and view["cells"] != "." * 9 else 0}


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    server = Server(tmp_path_factory.mktemp("bots"), "--rate", "50").start()
    yield server
    server.kill()


class RunningBot:
    """A bot at the server, and what it says."""

    def __init__(self, client, function, timeout):
        self.client = client
        self.said = []
        self._news = asyncio.Event()
        self.runner = BotRunner(
            client, f"{__name__}:{function}", games=frozenset(), rooms=4, timeout=timeout, say=self._say
        )

    def _say(self, sentence):
        self.said.append(sentence)
        self._news.set()

    async def says(self, words):
        """Wait until it says something with these words."""
        while not any(words in one for one in self.said):
            self._news.clear()
            await self._news.wait()
        return next(one for one in self.said if words in one)


def new_bot(server, name="Bot"):
    return server.call("POST", "/api/players", {"bot": True, "name": name}).json()


@asynccontextmanager
async def running(server, function, *rooms, patience=60.0):
    async with Client(f"http://{server.address}", new_bot(server)["token"]) as client:
        bot = RunningBot(client, function, patience)
        task = asyncio.create_task(bot.runner.run(*rooms))
        try:
            yield bot
        finally:
            task.cancel()
            await asyncio.wait([task])
            await bot.runner.stop()


@asynccontextmanager
async def person(server, room, name="Ann"):
    async with Client(f"http://{server.address}", name=name) as client:
        yield await client.join(room)


async def gone(seat):
    """Wait until nobody else is here."""
    await seat.wait(lambda seat: set(seat.here) - {"spectators"} == {seat.player})


async def moves_of_other(seat, mark):
    """Wait until the other side has moved."""
    await seat.wait(lambda seat: mark in seat.view["cells"])


async def test_a_bot_without_answers_declines_what_is_offered_and_the_game_goes_on(server):
    room = server.open_room()["id"]
    async with person(server, room) as ann, running(server, "first", room):
        await ann.wait(lambda seat: seat.legal)
        await ann.offer("draw")
        await ann.wait(lambda seat: seat.offers.open is None)
        assert [one.what for one in ann.offers.declined] == ["draw"]
        await ann.act({"type": "mark", "cell": 4})
        await moves_of_other(ann, "O")
        await ann.offer("takeback")
        await ann.wait(lambda seat: seat.offers.open is None)
        assert "X" in ann.view["cells"]


async def test_a_bot_with_answers_is_asked_also_while_it_is_not_its_turn(server):
    room = server.open_room()["id"]
    async with person(server, room) as ann, running(server, "agreeable", room):
        await ann.wait(lambda seat: seat.legal)
        await ann.act({"type": "mark", "cell": 4})
        await moves_of_other(ann, "O")
        await ann.offer("takeback")
        await ann.wait(lambda seat: seat.view["cells"] == "." * 9)
        await ann.offer("draw")
        await ann.wait(lambda seat: seat.result is not None)
        assert ann.result.outcome.why == "both sides agreed"


async def test_a_bot_agrees_to_go_on_after_a_pause(server):
    room = server.open_room("stratego", config={"setup": "random"})["id"]
    async with person(server, room) as ann, running(server, "agreeable", room):
        await ann.wait(lambda seat: seat.legal)
        await ann.offer("pause")
        await ann.wait(lambda seat: seat.offers.paused is not None)
        await ann.offer("resume")
        await ann.wait(lambda seat: seat.offers.paused is None)


async def test_a_bot_can_be_invited_while_it_could_play_in_one_more_room(server, monkeypatch):
    monkeypatch.setattr("parlour.client.run.REMATCH_PATIENCE", 0.0)

    def names():
        return {one["name"] for one in server.call("GET", "/api/invitations?game=tictactoe").json()}

    token = new_bot(server, "Busy")["token"]
    async with Client(f"http://{server.address}", token) as client:
        bot = BotRunner(
            client, f"{__name__}:first", games=frozenset({"tictactoe"}), rooms=1, timeout=60.0, say=print
        )
        task = asyncio.create_task(bot.run())
        await until(lambda: "Busy" in names(), "the bot in the list")
        async with Client(f"http://{server.address}", name="Ann") as ann:
            room = await ann.open_room("tictactoe")
            seat = await ann.join(room)
            await ann.call(
                "POST",
                "/api/invitations",
                {"room": room, "bot": (await client.call("POST", "/api/players", {}))["id"]},
            )
            await until(lambda: "Busy" not in names(), "a list without the bot")
            await seat.wait(lambda seat: bool(seat.legal))
            await seat.resign()
            await seat.leave()
        await until(lambda: "Busy" in names(), "the bot in the list again")
        task.cancel()
        await asyncio.wait([task])
        await bot.stop()


@pytest.mark.parametrize(
    ("function", "words"),
    [
        ("broken_as_x", "nobody divides by zero"),
        ("hangs_as_x", "it thought for longer than 4 s"),
        ("illegal_as_x", "illegal_move: "),
    ],
)
async def test_a_bot_that_fails_says_why_and_is_absent_there_and_plays_on_elsewhere(server, function, words):
    failing, other = server.open_room()["id"], server.open_room()["id"]
    async with (
        person(server, other) as bob,
        running(server, function, failing, other, patience=4.0 if "hangs" in function else 60.0) as bot,
    ):
        await until(lambda: server.room(failing)["seats"][0], "the bot at its seat")
        async with person(server, failing) as ann:
            if function == "illegal_as_x":
                await ann.wait(lambda seat: seat.legal)
                await ann.act({"type": "mark", "cell": 4})
            assert f"room {failing}: " in await bot.says(words)
            await gone(ann)
            assert await ann.chat("still here")
        await bob.wait(lambda seat: seat.legal)
        await bob.act({"type": "mark", "cell": 8})
        await moves_of_other(bob, "O")


async def test_a_bot_that_floods_is_told_so_and_cut_and_the_others_play_on(server):
    room, other = server.open_room()["id"], server.open_room()["id"]
    async with (
        person(server, room) as ann,
        person(server, other) as bob,
        person(server, other, "Cleo") as cleo,
    ):
        line = await Connection.open(f"http://{server.address}", new_bot(server)["token"], lambda _: None)
        await line.ask(f"game:{room}", "phx_join", {}, "1")
        nonsense = {"event": {"type": "mark", "cell": 0}}
        asked = [
            asyncio.create_task(line.ask(f"game:{room}", "game_event", nonsense, "1")) for _ in range(1_500)
        ]
        answers = await asyncio.gather(*asked, return_exceptions=True)
        codes = {one.response["code"] for one in answers if not isinstance(one, BaseException)}
        assert codes == {"not_your_turn", "too_fast"}
        assert {one.code for one in answers if isinstance(one, Lost)} == {1008}
        await gone(ann)
        await bob.act({"type": "mark", "cell": 0})
        await moves_of_other(cleo, "X")
        assert await ann.chat("still here")


async def test_a_bot_whose_tokens_are_taken_back_in_the_middle_is_told_so_and_is_absent(server):
    room = server.open_room()["id"]
    async with person(server, room) as ann:
        async with Client(f"http://{server.address}", new_bot(server)["token"]) as client:
            bot = RunningBot(client, "first", 60.0)
            task = asyncio.create_task(bot.runner.run(room))
            await ann.wait(lambda seat: seat.legal)
            await ann.act({"type": "mark", "cell": 4})
            await moves_of_other(ann, "O")
            headers = {"Authorization": f"Bearer {client.token}"}
            await asyncio.to_thread(server.call, "DELETE", "/api/players/me/sessions", headers=headers)
            with pytest.raises(ExceptionGroup) as refused:
                await task
            (why,) = refused.value.exceptions
            assert isinstance(why, Refused)
            assert (why.code, why.message) == (
                "bad_token",
                "the token is not valid here (any more); ask for a new one",
            )
            assert f"room {room}: bad_token: " in await bot.says("bad_token")
            await bot.runner.stop()
        await gone(ann)
        assert await ann.chat("still here")
