"""Strangers who are paired add random bytes, too: they sit down when they come, and then a game deals."""

import pytest

from parlour.luck import AddedLuck
from parlour.server.ticket_records import kept_tickets
from tests.server.test_pairing import ask, at_lobby
from tests.server.world import Person, World

ONES, TWOS = "01" * 16, "02" * 16
BRINGING = {"game": "goofspiel", "brings_luck": True}


async def paired(world: World, **wish: object) -> tuple[Person, Person, str]:
    """Ann and Bob at the lobby, who both bring random bytes, and the room that was found for them."""
    ann, bob = await at_lobby(world, "ann", "bob")
    for person in (ann, bob):
        assert (await ask(person, "queue", {**BRINGING, **wish}))[0] == "ok"
    return ann, bob, ann.heard("matched")[0][1]["room"]


async def drawn(world: World, room: str) -> list[int]:
    """How much each kept step of a room has drawn."""
    found = await world.journal.find(room)
    assert found is not None
    return [len(step.draws) async for step in world.journal.replay(found.number)]


@pytest.mark.parametrize("mode", ["normal", "ranked"])
async def test_the_hash_of_the_seed_is_public_before_anybody_adds_and_nothing_is_drawn_before_all_did(mode):
    async with World() as world:
        ann, bob, room = await paired(world, mode=mode)
        told = await world.server.rooms.look(room)
        assert (told.status, told.seats) == ("waiting", (None, None))
        assert {one.name for one in told.coming} == {"Ann", "Bob"}
        _, joined = await bob.join(room, luck=TWOS)
        assert joined["seat"] == 0
        assert await drawn(world, room) == [0, 0]
        await ann.join(room, luck=ONES)
        now = await world.server.rooms.look(room)
        assert (now.status, now.coming, now.seed_hash) == ("playing", (), told.seed_hash)
        assert sum(await drawn(world, room)) > 0
        actor = world.server.rooms.peek(room)
        assert actor is not None
        assert actor.here.added == (AddedLuck("bob", TWOS), AddedLuck("ann", ONES))


async def test_whoever_brings_nothing_is_seated_at_once_and_plays_with_one_who_does():
    async with World() as world:
        ann, bob = await at_lobby(world, "ann", "bob")
        await ask(ann, "queue", {"game": "goofspiel"})
        await ask(bob, "queue", BRINGING)
        room = ann.heard("matched")[0][1]["room"]
        assert [seat and seat.name for seat in (await world.server.rooms.look(room)).seats] == ["Ann", None]
        await ann.join(room)
        await bob.join(room, luck=TWOS)
        actor = world.server.rooms.peek(room)
        assert actor is not None
        assert (actor.here.status, actor.here.added) == ("playing", (AddedLuck("bob", TWOS),))


async def test_whoever_said_to_bring_bytes_and_then_brings_none_plays_all_the_same():
    async with World() as world:
        ann, bob, room = await paired(world)
        await ann.join(room)
        await bob.join(room)
        assert (await world.server.rooms.look(room)).status == "playing"


async def test_a_seat_that_is_kept_is_taken_by_nobody_else_and_the_room_is_in_no_list_meanwhile():
    async with World() as world:
        ann, bob, room = await paired(world)
        eve = await world.person("eve")
        status, why = await eve.join(room)
        assert (status, why["code"]) == ("error", "seat_kept")
        await ann.join(room, luck=ONES)
        assert (await eve.join(room))[1]["code"] == "seat_kept"
        assert (await eve.join(room, spectate=True))[0] == "ok"
        assert world.server.room_list.listed() == []
        await bob.join(room, luck=TWOS)
        assert [one.id for one in world.server.room_list.listed()] == [room]


async def test_bots_sit_down_with_the_player_who_asked_for_them():
    async with World() as world:
        (ann,) = await at_lobby(world, "ann")
        await ask(ann, "queue", {"game": "hearts", "mode": "bot", "brings_luck": True})
        room = ann.heard("matched")[0][1]["room"]
        await world.wait(100)
        assert (await world.server.rooms.look(room)).seats == (None,) * 4
        _, joined = await ann.join(room, luck=ONES)
        assert joined["seat"] == 0
        now = await world.server.rooms.look(room)
        assert [seat and seat.bot for seat in now.seats] == [False, True, True, True]
        actor = world.server.rooms.peek(room)
        assert actor is not None
        assert actor.here.added == (AddedLuck("ann", ONES),)


async def test_where_one_does_not_come_the_other_is_told_and_both_can_ask_again():
    async with World() as world:
        ann, bob, room = await paired(world)
        await ann.join(room, luck=ONES)
        await world.wait(32)
        assert ann.heard("shutdown") == [("shutdown", {"reason": "nobody_came"})]
        assert [told["reason"] for _, told in bob.heard("unqueued")] == ["nobody_came"]
        assert await kept_tickets(world.journal) == []
        for person in (ann, bob):
            assert (await ask(person, "queue", BRINGING))[0] == "ok"


async def test_seats_are_kept_over_a_restart():
    async with World() as world:
        ann, bob, room = await paired(world)
        await ann.join(room, luck=ONES)
        again = await world.restart()
        eve, bob = await again.person("eve"), await again.person("bob")
        assert (await eve.join(room))[1]["code"] == "seat_kept"
        await bob.join(room, luck=TWOS)
        actor = again.server.rooms.peek(room)
        assert actor is not None
        assert [one.player for one in actor.here.added] == ["ann", "bob"]
        await again.server.stop()
