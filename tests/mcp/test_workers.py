"""The tools where many workers share a database: each call may be answered by another one."""

import asyncio

import pytest

from tests.cluster.real import Cluster, until
from tests.mcp.models import play_out, wanderers
from tests.nats import Nats
from tests.postgres import Postgres

pytestmark = pytest.mark.e2e


@pytest.fixture(scope="module")
def services():
    postgres, nats = Postgres(), Nats()
    postgres.start()
    nats.start()
    yield postgres, nats
    nats.stop()
    postgres.stop()


async def test_two_models_are_paired_play_and_agree_wherever_their_calls_are_answered(services, tmp_path):
    cluster = Cluster(tmp_path, *services)
    try:
        workers = await cluster.open(3, "--mcp")
        async with wanderers(workers, "Ann", "Bob") as (ann, bob):
            seats = await asyncio.gather(
                *(one("sit_down", game="tictactoe", ranked=True) for one in (ann, bob))
            )
            room = seats[0]["room"]
            assert {one["seat"] for one in seats} == {0, 1}
            await asyncio.gather(play_out(ann, room), play_out(bob, room))
            ladder = {"game": "tictactoe", "bots": "true"}

            async def are_rated():
                rows = await asyncio.to_thread(workers[1].call, "GET", "/api/leaderboard", params=ladder)
                return {row["name"] for row in rows.json()} == {"Ann", "Bob"}

            await until(are_rated, "both on the ladder of bots")

            room = (await ann("open_room", game="tictactoe"))["room"]
            await bob("sit_down", room=room)
            assert (await ann("act", room=room, event={"type": "mark", "cell": 4}))["your_turn"] is False
            for one in (ann, ann, ann):  # at each worker
                assert (await one("observe", room=room))["your_turn"] is False
            await ann("negotiate", room=room, do="draw")
            assert "both sides agreed" in (await bob("negotiate", room=room, do="accept"))["text"]

            room = (await ann("open_room", game="tictactoe"))["room"]
            assert [(await ann("observe", room=room))["seat"] for _ in range(3)] == [0, 0, 0]
            assert (await ann("leave", room=room))["left"]
            assert [(await ann("observe", room=room))["seat"] for _ in range(3)] == [None] * 3
            assert (await ann("sit_down", room=room))["seat"] == 0
    finally:
        cluster.end()
