"""What happens between a client that asks and a room that has not answered yet."""

import asyncio
from pathlib import Path

import msgspec
import pytest

from parlour.errors import Code, Refused
from parlour.journal.memory import MemoryJournal
from parlour.journal.sqlite import SqliteJournal
from parlour.server.rooms.calls import SeatBot
from parlour.server.rooms.events import BotAsked, RoomEvent
from tests.probe import Probe
from tests.server.world import PLAYABLE, World, seqs


class Gated(MemoryJournal):
    """A journal that lets a new or an ending room wait when told to."""

    gate: asyncio.Future[None] | None = None

    async def create(self, *given, **more):
        if self.gate is not None:
            await self.gate
        return await super().create(*given, **more)

    async def update_room(self, *given, **more):
        if self.gate is not None:
            await self.gate
        return await super().update_room(*given, **more)


def gated() -> Gated:
    return Gated(Path("unused"), "process")


async def test_a_room_that_was_closed_for_its_game_is_not_woken_while_that_is_being_kept():
    journal = gated()
    async with World(PLAYABLE, journal) as world:
        await world.open("probe")
        _, bob = await world.seated("ABCD", "ann", "bob")
        room = world.server.rooms.get("ABCD")
        journal.gate = gate = asyncio.get_running_loop().create_future()
        why = Refused(Code.GAME_OVERRAN, "took too long; the room is closed")
        room.mailbox.put(lambda: room._end_broken(why))
        bob.send_soon('["7","8","game:ABCD","phx_join",{}]')
        await asyncio.sleep(0)
        journal.gate = None
        gate.set_result(None)
        await world.quiet()
        assert world.server.rooms.peek("ABCD") is None
        assert (await world.server.rooms.look("ABCD")).ended == "game_overran"


async def test_whoever_leaves_before_the_join_is_answered_hears_nothing_of_the_room(world):
    await world.open("probe")
    (bob,) = await world.seated("ABCD", "bob")
    ann = await world.person("ann")
    async with world.at_once():
        ann.send_soon('["1","1","game:ABCD","phx_join",{"spectate":true}]')
        ann.send_soon('["1","2","game:ABCD","phx_leave",{}]')
    ann.forget()
    await bob.play("ABCD", {"type": "tell"})
    assert ann.frames == []
    assert not ann.client.rooms
    assert len(world.server.gateway._audiences["ABCD"]) == 1


async def test_who_joins_twice_at_once_is_told_no_step_before_the_second_answer(world):
    await world.open("probe")
    ann = await world.person("ann")
    async with world.at_once():
        ann.send_soon('["1","1","game:ABCD","phx_join",{"spectate":true}]')
        ann.send_soon('["2","2","game:ABCD","phx_join",{}]')
    names = [(frame[0], frame[3]) for frame in ann.frames if frame[3] in ("phx_reply", "sync", "update")]
    assert names[-2:] == [("2", "phx_reply"), ("2", "sync")]
    assert "update" not in [name for _, name in names]


async def test_whoever_is_lost_while_a_door_opens_the_room_has_no_place_in_it():
    journal = gated()
    async with World(PLAYABLE, journal) as world:
        ann = await world.person("ann")
        journal.gate = gate = asyncio.get_running_loop().create_future()
        ann.send_soon(msgspec.json.encode(["1", "1", "games:den", "phx_join", {"user": "Ann"}]).decode())
        await asyncio.sleep(0)
        world.server.gateway.lose(ann.client)
        journal.gate = None
        gate.set_result(None)
        for _ in range(20):  # the room is opened beside its own mailbox
            await asyncio.sleep(0)
            await world.quiet()
        room = world.server.rooms.peek("den")
        assert room is None or (not room._roster.places and not room.here.connected)
        assert not world.server.gateway._pending


class BadTopics(Probe):
    """A game that fails on whoever watches."""

    def join_game(self, state, player, spectate, moment):
        joined = super().join_game(state, player, spectate, moment)
        return msgspec.structs.replace(joined, topics=(5,)) if spectate else joined


@pytest.mark.parametrize("journal", ["memory", "sqlite"])
async def test_a_game_that_fails_on_spectators_does_not_stop_its_room(journal, tmp_path):
    kept = MemoryJournal(tmp_path, "process") if journal == "memory" else SqliteJournal(tmp_path, "process")
    async with World({**PLAYABLE, "probe": BadTopics()}, kept) as world:
        await world.open("probe")
        ann, bob = await world.seated("ABCD", "ann", "bob")
        assert (await ann.push("ABCD", "leave", {}))[0] == "ok"
        assert (await bob.play("ABCD", {"type": "tell"}))[0] == "ok"


async def test_a_part_that_fails_on_an_event_costs_nobody_their_answer(world):
    def fail(event: RoomEvent) -> None:
        raise RuntimeError(f"a bug, on {event}")

    world.server.environment.listeners.insert(0, fail)
    await world.open("probe")
    (ann,) = await world.seated("ABCD", "ann")
    assert (await ann.play("ABCD", {"type": "tell"}))[0] == "ok"
    assert seqs(ann)[-1] == 3


async def test_a_bot_that_answers_a_room_at_rest_does_not_wake_it():
    async with World(bot_pace=30.0, rest_after=5.0) as world:
        asked: list[BotAsked] = []
        world.server.environment.listeners.append(
            lambda event: asked.append(event) if isinstance(event, BotAsked) else None
        )
        await world.open("tictactoe")
        for _ in range(2):
            await world.server.rooms.call("ABCD", SeatBot("random"))
        await world.quiet()
        await world.wait(20)
        assert world.server.rooms.peek("ABCD") is None
        await world.wait(20)
        assert world.server.rooms.peek("ABCD") is None
        assert len(asked) == 1


async def test_a_click_that_came_before_the_connection_was_lost_counts(world):
    ann, bob = [await world.person(name) for name in ("ann", "bob")]
    for person in (ann, bob):
        await person.send(["1", "1", "games:den", "phx_join", {"user": person.player.capitalize()}])
    start, end = next(iter(world.room("den").state.moves(0)))
    await ann.send(["1", "2", "games:den", "click", {"i": start // 10, "j": start % 10}])
    before = world.room("den").seq
    async with world.at_once("den"):
        click = ["1", "3", "games:den", "click", {"i": end // 10, "j": end % 10}]
        ann.send_soon(msgspec.json.encode(click).decode())
        world.server.gateway.lose(ann.client)
    commands = [type(step.command).__name__ async for step in world.journal.replay(1, before)]
    assert commands == ["Act", "Disconnect"]
    assert not world.server.gateway._looks
    assert not world.server.gateway._pending
