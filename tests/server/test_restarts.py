"""What a restart, a rest or other rules do to a room: nothing that its players would notice."""

from parlour.game import State
from parlour.games import GAMES
from tests.probe import Probe
from tests.server.world import PLAYABLE, seqs

# Restarts and rests.


async def test_after_a_restart_the_game_goes_on_and_nobody_was_thrown_out_by_it(world):
    await world.open("tictactoe")
    ann, bob = await world.seated("ABCD", "ann", "bob")
    await ann.play("ABCD", {"type": "mark", "cell": 4}, id="m1")
    since = seqs(bob)[-1]
    async with await world.restart() as again:
        assert again.room().connected == []
        ann, bob = await again.person("ann"), await again.person("bob")
        await bob.join("ABCD", since=since)
        assert bob.heard("sync")[0][1]["view"]["cells"] == "....X...."
        await ann.join("ABCD")
        assert (await ann.play("ABCD", {"type": "mark", "cell": 4}, id="m1"))[1] == {"seq": 5}
        assert (await bob.play("ABCD", {"type": "mark", "cell": 0}))[0] == "ok"


async def test_the_rooms_clock_stands_still_while_the_server_is_down(world):
    await world.open("probe")
    (ann,) = await world.seated("ABCD", "ann")
    await ann.play("ABCD", {"type": "plan", "key": "bell", "seconds": 50})
    await world.wait(20)
    async with await world.restart() as again:
        assert again.clock.now() == world.clock.now()
        await again.wait(29)
        assert "later:bell" in again.room().alarms
        await again.wait(1)
        assert "rang bell" in again.room().state.calls


async def test_a_room_without_clients_leaves_memory_and_comes_back_when_somebody_joins(world):
    await world.open("tictactoe")
    zoe = await world.person("zoe")
    await zoe.join("ABCD", spectate=True)
    await zoe.drop()
    await world.wait(60)
    assert world.server.rooms.peek("ABCD") is None
    await world.seated("ABCD", "ann")
    assert world.room().seq == 2


async def test_a_resting_room_is_woken_when_its_timer_is_due(world):
    await world.open("probe")
    await world.wait(0)
    zoe = await world.person("zoe")
    await zoe.join("ABCD", spectate=True)
    await zoe.drop()
    await world.wait(100)
    assert world.server.rooms.peek("ABCD") is None
    await world.wait(199)
    await world.wait(2)
    found = await world.journal.find("ABCD")
    assert found.summary.ended == "game_timeout"


async def test_a_room_whose_game_is_gone_refuses_but_stays(world):
    await world.open("probe")
    await world.seated("ABCD", "ann")
    async with await world.restart(GAMES) as again:
        ann = await again.person("ann")
        assert (await ann.join("ABCD"))[1]["code"] == "unknown_game"
        async with await again.restart(PLAYABLE) as back:
            ann = await back.person("ann")
            assert (await ann.join("ABCD"))[0] == "ok"


async def test_a_room_that_new_rules_would_play_differently_is_closed_and_stays_readable(world):
    class Louder(Probe):
        version = 2

        def leave_game(self, state, player, why, moment):
            return super().player_disconnected(state, player, moment)

    await world.open("probe")
    ann, bob = await world.seated("ABCD", "ann", "bob")
    await bob.push("ABCD", "leave", {})
    async with await world.restart({"probe": Louder()}) as again:
        ann = await again.person("ann")
        assert (await ann.join("ABCD"))[1]["code"] in {"rules_changed", "room_ended"}
        found = await again.journal.find("ABCD")
        assert found.summary.ended == "rules_changed"
        assert len([step async for step in again.journal.replay(found.number)]) == 5


async def test_a_game_with_a_bug_closes_no_room_for_good(world):
    class Buggy(Probe):
        def player_connected(self, state, player, moment):
            raise RuntimeError("a typo")

    await world.open("probe")
    await world.seated("ABCD", "ann")
    async with await world.restart({"probe": Buggy()}) as buggy:
        ann = await buggy.person("ann")
        assert (await ann.join("ABCD"))[1]["code"] == "game_error"
        async with await buggy.restart(PLAYABLE) as mended:
            await mended.seated("ABCD", "ann")


async def test_new_rules_that_play_the_same_go_on(world):
    class Newer(Probe):
        version = 2

    await world.open("probe")
    await world.seated("ABCD", "ann", "bob")
    async with await world.restart({"probe": Newer()}) as again:
        await again.seated("ABCD", "ann")


async def test_asking_for_a_room_that_is_not_there_yet_does_not_stop_its_timers_later(world):
    ann = await world.person("ann")
    await ann.join("LATE")
    await world.open("probe", "LATE")
    await world.wait(300)
    assert (await world.journal.find("LATE")).summary.ended == "game_timeout"


async def test_a_stored_state_that_the_game_cannot_read_closes_the_room(world):
    class Other(State, frozen=True):
        colour: str

    class Painted(Probe):
        State = Other  # type: ignore[assignment]

    await world.open("probe")
    async with await world.restart({"probe": Painted()}) as again:
        ann = await again.person("ann")
        assert (await ann.join("ABCD"))[1]["code"] == "rules_changed"


async def test_whoever_waits_comes_before_the_next_tick(world):
    await world.open("probe")
    (ann,) = await world.seated("ABCD", "ann")
    for n in range(5):
        await ann.play("ABCD", {"type": "plan", "key": f"bell {n}", "seconds": 1})
    ann.forget()
    world.clock.time += 10  # all five are late
    async with world.at_once():
        while world.clock.turn_to_next(world.clock.time):
            pass
        ann.send_soon('["1","99","game:ABCD","chat",{"text":"hello"}]')
    assert [name for name, _ in ann.heard("game_event", "chat")] == ["game_event", "chat"]
    await world.wait(0)
    assert [name for name, _ in ann.heard("game_event")] == ["game_event"] * 5


async def test_what_is_here_after_a_restart_is_told_under_new_refs(world):
    await world.open("probe")
    (ann,) = await world.seated("ABCD", "ann")
    await world.wait(1)
    async with await world.restart() as again:
        (back,) = await again.seated("ABCD", "ann")

        def refs(person):
            state = person.heard("presence_state")[0][1]
            return {meta["phx_ref"] for entry in state.values() for meta in entry["metas"]}

        assert not refs(ann) & refs(back)
