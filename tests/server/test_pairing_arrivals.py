"""Whoever the lobby has paired comes to the room within 30 seconds, or there is no game."""

from typing import Any

import pytest

from parlour.errors import Refused
from parlour.journal.base import NotKept
from parlour.server.standings import leaders
from parlour.server.ticket_records import kept_tickets
from parlour.wire import Queue
from tests.server.test_pairing import ask, at_lobby
from tests.server.world import Person, World

ONE_GAME = {"game": "tictactoe"}


async def paired(world: World, **wish: str) -> tuple[Person, Person, str]:
    """Ann and Bob at the lobby, and the room that was found for them."""
    ann, bob = await at_lobby(world, "ann", "bob")
    for person in (ann, bob):
        await ask(person, "queue", {**ONE_GAME, **wish})
    return ann, bob, ann.heard("matched")[0][1]["room"]


async def ended(world: World, room: str) -> str | None:
    return (await world.server.rooms.look(room)).ended


@pytest.mark.parametrize("mode", ["normal", "ranked"])
async def test_who_came_is_told_when_the_other_did_not_and_nothing_is_rated(mode):
    async with World() as world:
        ann, bob, room = await paired(world, mode=mode)
        await ann.join(room)
        await world.wait(29)
        assert (await ended(world, room), ann.heard("shutdown")) == (None, [])
        await world.wait(3)
        assert ann.heard("shutdown") == [("shutdown", {"reason": "nobody_came"})]
        room_now = await world.server.rooms.look(room)
        assert (room_now.ended, room_now.outcome) == ("nobody_came", None)
        assert await leaders(world.journal, "tictactoe", 10) == []
        assert [told["reason"] for _, told in bob.heard("unqueued")] == ["nobody_came"]


async def test_both_can_ask_for_the_same_again_when_a_game_was_called_off():
    async with World() as world:
        ann, bob, room = await paired(world)
        await ann.join(room)
        await world.wait(32)
        assert await kept_tickets(world.journal) == [] == world.server.pairing.tickets("ann")
        for person in (ann, bob):
            assert (await ask(person, "queue", ONE_GAME))[0] == "ok"
        assert ann.heard("matched")[-1][1]["room"] == bob.heard("matched")[-1][1]["room"] != room


async def test_a_room_to_which_both_came_stays_also_when_one_of_them_went_again():
    async with World() as world:
        ann, bob, room = await paired(world)
        await ann.join(room)
        await bob.join(room)
        await bob.drop()
        await world.wait(100)
        assert await ended(world, room) is None
        assert ann.heard("shutdown") == []


async def test_a_room_in_which_somebody_has_played_stays():
    async with World() as world:
        ann, bob, room = await paired(world)
        first = (await world.server.rooms.look(room)).seats[0]
        mover = ann if first is not None and first.id == ann.player else bob
        await mover.join(room)
        assert (await mover.play(room, {"type": "mark", "cell": 4}))[0] == "ok"
        await world.wait(100)
        assert await ended(world, room) is None


async def test_a_bot_has_always_come_and_waits_for_its_player():
    async with World() as world:
        (ann,) = await at_lobby(world, "ann")
        for _ in range(4):
            await ask(ann, "queue", {**ONE_GAME, "mode": "bot"})
            world.server.environment.instant()  # draws a seed, so that not always the same one begins
        rooms = [told["room"] for _, told in ann.heard("matched")]
        rooms_now = [await world.server.rooms.look(room) for room in rooms]
        assert any(room_now.seq == 2 for room_now in rooms_now), "where it is her turn nobody has played"
        await world.wait(100)
        assert [await ended(world, room) for room in rooms] == [None] * 4


async def test_a_room_that_nobody_came_to_at_all_is_closed():
    async with World() as world:
        _, _, room = await paired(world)
        await world.wait(32)
        assert await ended(world, room) == "nobody_came"


async def test_who_was_seated_where_another_waits_has_as_long_to_come():
    async with World() as world:
        await world.server.pairing.meet("ann", Queue("tictactoe"), "anns-room")
        (ann,) = await world.seated("anns-room", "ann")
        (bob,) = await at_lobby(world, "bob")
        await world.wait(50)
        await ask(bob, "queue", ONE_GAME)
        await world.wait(29)
        assert await ended(world, "anns-room") is None
        await world.wait(3)
        assert ann.heard("shutdown") == [("shutdown", {"reason": "nobody_came"})]


async def test_the_time_to_come_begins_anew_after_a_restart_and_who_came_before_has_come():
    async with World() as world:
        ann, bob, room = await paired(world)
        await ann.join(room)
        await world.wait(20)
        again = await world.restart()
        await again.wait(29)
        assert await ended(again, room) is None
        bob = await again.person("bob")
        await bob.join(room)
        last = await again.restart()
        await last.wait(100)
        assert await ended(last, room) is None, "Ann was there before the restarts, and Bob between them"
        await last.server.stop()


async def test_a_room_to_which_nobody_came_before_a_restart_is_closed_after_it():
    async with World() as world:
        ann, _, room = await paired(world)
        await ann.join(room)
        again = await world.restart()
        await again.wait(32)
        assert await ended(again, room) == "nobody_came"
        assert await kept_tickets(again.journal) == []
        await again.server.stop()


async def test_a_room_whose_end_cannot_be_kept_is_closed_as_soon_as_it_can(monkeypatch):
    async with World() as world:
        ann, _, room = await paired(world)
        await ann.join(room)

        def fail(*_: object) -> None:
            kept: Any = _[-1]
            kept(NotKept("the disk is full"))

        with monkeypatch.context() as broken:
            broken.setattr(world.journal, "append", fail)
            await world.wait(35)
            assert ann.heard("shutdown") == []
        await world.wait(2)
        assert ann.heard("shutdown") == [("shutdown", {"reason": "nobody_came"})]


async def test_who_comes_too_late_is_told_that_the_room_is_over():
    async with World() as world:
        _, bob, room = await paired(world)
        await world.wait(32)
        status, why = await bob.join(room)
        assert (status, why["code"]) == ("error", "room_ended")
        with pytest.raises(Refused, match="unknown_ticket"):
            world.server.pairing.ticket("bob", bob.heard("matched")[0][1]["ticket"])
