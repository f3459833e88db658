"""The Python client against a real server: it plays, and comes back by itself."""

import asyncio
from contextlib import AsyncExitStack

import pytest

from parlour.client import Client
from parlour.errors import Refused
from tests.e2e.servers import Server

pytestmark = pytest.mark.e2e


@pytest.fixture
def server(tmp_path):
    server = Server(tmp_path).start()
    yield server
    if server.running:
        server.kill()


@pytest.fixture
async def sit(server):
    """Gives people who have joined a room."""
    async with AsyncExitStack() as stack:

        async def join(room, *names, **options):
            clients = [
                await stack.enter_async_context(Client(f"http://{server.address}", name=name))
                for name in names
            ]
            return [await client.join(room, **options) for client in clients]

        yield join


def cut(seat):
    """The line breaks without a word."""
    seat._connection.cut()


async def test_two_clients_play_a_game_to_its_end(server, sit):
    ann, bob = await sit(server.open_room()["id"], "Ann", "Bob")
    assert (ann.game, ann.number, bob.number) == ("tictactoe", 0, 1)
    for seat, cell in ((ann, 0), (bob, 3), (ann, 1), (bob, 4), (ann, 2)):
        await seat.act({"type": "mark", "cell": cell})
    await bob.wait(lambda seat: seat.result is not None)
    assert bob.result.outcome.won == (ann.player,)
    assert bob.view["cells"] == "XXXOO...."


async def test_a_refusal_is_raised_with_its_code_and_its_sentence(server, sit):
    ann, bob = await sit(server.open_room()["id"], "Ann", "Bob")
    with pytest.raises(Refused, match="it is X's turn") as refused:
        await bob.act({"type": "mark", "cell": 0})
    assert refused.value.code == "not_your_turn"


async def test_a_client_whose_line_is_cut_comes_back_and_has_missed_nothing(server, sit):
    heard = []
    room = server.open_room()["id"]
    (ann,) = await sit(room, "Ann", hear=lambda name, payload: heard.append((name, payload)))
    (bob,) = await sit(room, "Bob")
    cut(ann)
    for number in range(5):
        await bob.chat(f"line {number}")
    last = await ann.chat("I am back")
    await ann.wait(lambda seat: seat.seq >= last)
    said = [payload["text"] for name, payload in heard if name == "chat"]
    assert said == [*(f"line {number}" for number in range(5)), "I am back"]


async def test_what_was_asked_when_the_line_was_cut_is_done_once(server, sit):
    heard = []
    room = server.open_room()["id"]
    (ann,) = await sit(room, "Ann")
    (bob,) = await sit(room, "Bob", hear=lambda name, payload: heard.append((name, payload)))
    lines = [f"line {number}" for number in range(20)]
    asked = [asyncio.create_task(ann.chat(line)) for line in lines]
    await asyncio.sleep(0)
    cut(ann)
    steps = await asyncio.gather(*asked)
    await bob.wait(lambda seat: seat.seq >= max(steps))
    said = {payload["seq"]: payload["text"] for name, payload in heard if name == "chat"}
    assert said == dict(zip(steps, lines, strict=True))


async def test_a_client_outlasts_a_server_that_is_killed(server, sit):
    ann, bob = await sit(server.open_room()["id"], "Ann", "Bob")
    await ann.act({"type": "mark", "cell": 4})
    await asyncio.to_thread(server.kill)
    move = asyncio.create_task(bob.act({"type": "mark", "cell": 0}))
    await asyncio.to_thread(server.start)
    last = await move
    await ann.wait(lambda seat: seat.seq >= last)
    assert ann.view["cells"] == "O...X...."


async def test_a_client_with_a_token_that_is_not_valid_is_told_so_and_does_not_knock_again(server):
    async with Client(f"http://{server.address}", token="nobody") as client:
        with pytest.raises(Refused) as refused:
            await client.join(server.open_room()["id"])
    assert refused.value.code == "bad_token"
    assert client.connections == 0


async def test_a_room_that_is_not_there_cannot_be_joined(server, sit):
    with pytest.raises(Refused) as refused:
        await sit("NOPE", "Ann")
    assert refused.value.code == "unknown_room"


async def test_people_are_paired_at_the_lobby_and_find_their_seats(server):
    url = f"http://{server.address}"
    async with Client(url, name="Ann") as ann, Client(url, name="Bob") as bob:
        lobbies = [await client.lobby() for client in (ann, bob)]
        first, second = await asyncio.gather(*(lobby.pair("tictactoe") for lobby in lobbies))
        assert first == second
        assert (await ann.join(first)).number is not None


async def test_turns_come_with_what_is_legal_until_the_game_is_over(server, sit):
    ann, bob = await sit(server.open_room()["id"], "Ann", "Bob")

    async def play(seat):
        played = 0
        async for turn in seat.turns():
            await seat.act(turn.chance.choice(turn.legal), seq=turn.seq)
            played += 1
            cut(seat)
        return played

    moves = sum(await asyncio.gather(play(ann), play(bob)))
    assert 5 <= moves == 9 - ann.view["cells"].count(".")
    assert ann.result == bob.result


async def test_who_is_here_is_known(server, sit):
    ann, bob = await sit(server.open_room()["id"], "Ann", "Bob")
    await ann.wait(lambda seat: {ann.player, bob.player} <= seat.here.keys())
    await bob.close()
    await ann.wait(lambda seat: bob.player not in seat.here)
