"""A room changes its owner, or its owner cannot be heard: nobody misses a step or hears one twice."""

import asyncio
from contextlib import contextmanager
from functools import partial

import pytest
from structlog.testing import capture_logs

from parlour.clocks import MAX_LAG, ClockSettings
from parlour.errors import Code, Refused
from parlour.journal.base import NotKept
from parlour.journal.shards import room_key, shard_of
from parlour.server.border import (
    Ask,
    AskRoom,
    ComeAgain,
    Entered,
    EnterRoom,
    LeaveRoom,
    Moved,
    Pushed,
    Rejected,
    StepTold,
    Viewpoint,
)
from parlour.wire import Company, Push
from tests.cluster.workers import moves, play, table_of
from tests.server.world import seqs


async def test_whoever_was_there_is_shown_what_happened_without_a_word_while_a_room_changed_hands(workers):
    """The pause of a dead owner is a step of which no message is sent."""
    ann, bob = await table_of(workers, 3, 1, 2)
    await play(ann, 0)
    workers.kill(3, gap=1.5)
    await workers.wait(0.5)
    room = workers.worlds[workers.owner("ABCD")].room()
    assert seqs(ann)[-1] == seqs(bob)[-1] == room.seq


@pytest.mark.parametrize("idle", [10, 300], ids=["in memory", "at rest"])
async def test_while_nobody_owns_a_room_the_time_of_who_is_away_stands_still(workers, idle):
    people = await table_of(workers, 3, 1, 2, clock=ClockSettings("increment", 600))
    for person in people:
        await person.drop()
    await workers.wait(idle)
    assert (workers.worlds[3].server.rooms.peek("ABCD") is not None) == (idle == 10)
    workers.die(3)
    await workers.wait(1.5)
    workers.table.bury(3, 1.5)
    await workers.wait(20)
    ann = await workers.person("ann", 1)
    await ann.join("ABCD")
    told = ann.heard("sync")[0][1]
    (running,) = [seat for seat in told["clocks"]["seats"] if "since" in seat]
    assert running["left"] - (told["now"] - running["since"]) == pytest.approx(600 - idle - 20)


@pytest.mark.parametrize("silent", [1.5, 2.5])
async def test_whose_owner_dies_with_three_seconds_left_is_flagged_after_three_more_and_not_before(
    workers, silent
):
    await table_of(workers, 3, 1, 2, clock=ClockSettings("turn", 10))
    await workers.wait(7)
    workers.die(3)
    await workers.wait(silent)
    workers.table.bury(3, silent)
    await workers.wait(3)
    room = workers.worlds[workers.owner("ABCD")].room
    assert room().outcome is None
    await workers.wait(MAX_LAG)
    assert (room().verdict.how, room().outcome.lost) == ("flagged", ("ann",))


async def test_a_place_that_is_asked_for_twice_hears_what_it_missed_since_the_first_time(workers):
    ann, bob = await table_of(workers, 1, 1, 2)
    zoe = await workers.person("zoe", 2)
    await zoe.join("ABCD", spectate=True)
    gateway = workers.worlds[2].server.gateway
    asked, gateway.ask = gateway.ask, lambda ask: asked(ask) if ask.player == "zoe" else None
    gateway.come_back("ABCD")  # bob's request gets lost
    await workers.quiet()
    await play(ann, 0)
    assert [cell for _, cell in moves(zoe)] == [0]
    gateway.ask = asked
    gateway.come_back("ABCD")
    await workers.quiet()
    assert moves(bob) == moves(zoe) == moves(ann)


async def test_a_new_owner_is_asked_for_nothing_before_the_old_one_has_said_all_it_had_to_say(workers):
    """The table says who owns a room sooner than a slow bus brings the last steps of the old owner."""
    ann, bob = await table_of(workers, 1, 1, 2)
    workers.hub.separate(1, 2)
    await play(ann, 0)
    await workers.hand_over("ABCD", 2)
    zoe = await workers.person("zoe", 2)
    zoe.send_soon('["1","1","game:ABCD","phx_join",{"spectate":true}]')
    await workers.quiet()
    workers.hub.reunite(1, 2)
    await workers.wait(8)
    assert (await play(bob, 3))[0] == "ok"
    assert (await play(ann, 1))[0] == "ok"
    assert [cell for _, cell in moves(bob)] == [cell for _, cell in moves(ann)] == [0, 3, 1]
    assert seqs(zoe) == sorted(set(seqs(zoe)))
    assert workers.worlds[2].room().connected == ["ann", "bob"]


async def test_a_worker_that_has_just_joined_is_answered_before_it_is_seen_in_the_table(workers):
    ann, bob = await table_of(workers, 1, 1, 2)
    members = workers.table.members[1]
    seen = members.workers()
    members.workers = lambda: seen
    await workers.start(4)
    zoe = await workers.person("zoe", 4)
    assert (await zoe.join("ABCD", spectate=True))[0] == "ok"


async def test_an_answer_to_what_was_asked_again_since_is_left_alone(workers):
    """An owner may answer over a new link what it heard over the old one."""
    ann, bob = await table_of(workers, 1, 1, 2)
    gateway = workers.worlds[2].server.gateway
    bob.send_soon('["1","9","game:ABCD","chat",{"text":"hello","id":"c1"}]')
    ((old, _),) = gateway._pending.items()
    gateway.come_back("ABCD")
    gateway.repeat(old, lost=True)
    await workers.quiet()
    assert [frame[4]["status"] for frame in bob.frames if frame[1] == "9"] == ["ok"]
    assert [payload["text"] for _, payload in bob.heard("chat")] == ["hello"]


async def test_a_command_waits_until_the_new_owner_has_the_place_of_its_client(workers):
    """The old owner has said that the room moved, and the table shows the new one a moment later."""
    ann, bob = await table_of(workers, 1, 1, 2)
    shard = shard_of(room_key("ABCD"))
    moving = asyncio.ensure_future(workers.table.members[1].asked(shard))
    await workers.quiet()
    await moving
    workers.table.owners[shard] = 3
    workers.table.members[3].taken({shard}, 0.0)
    bob.forget()
    bob.send_soon('["1","9","game:ABCD","chat",{"text":"hello"}]')
    await workers.wait(0.5)
    assert [frame[4]["status"] for frame in bob.frames if frame[1] == "9"] == ["ok"]
    assert [payload["text"] for _, payload in bob.heard("chat")] == ["hello"]


async def test_a_worker_that_is_asked_for_a_room_or_told_of_a_death_looks_at_the_table_at_once(workers):
    ann, bob = await table_of(workers, 1, 1, 2)
    looks: list[int] = []
    for me, member in workers.table.members.items():
        member.look_now = partial(looks.append, me)
    shard = shard_of(room_key("ABCD"))
    moving = asyncio.ensure_future(workers.table.members[1].asked(shard))
    await workers.quiet()
    await moving
    workers.table.owners[shard] = 3
    workers.workers[3]._giving.add(shard)  # it has not seen yet that it is the owner
    await workers.wait(0.3)
    assert 3 in looks
    looks.clear()
    workers.table.members[2].changed = lambda: None  # it has not looked yet
    workers.kill(3)
    await workers.quiet()
    assert 2 in looks


# Rules that the simulation found broken.


class Asked(list[Ask]):
    """What a gateway asks, which nobody answers."""

    @property
    def enters(self):
        return [ask for ask in self if isinstance(ask, EnterRoom)]


@contextmanager
def unanswered(gateway):
    asked, before = Asked(), gateway.ask
    gateway.ask = asked.append
    yield asked
    gateway.ask = before


def entered(ask, seq):
    """The answer to somebody who asked to enter."""
    viewpoint = Viewpoint(ask.player, ("all",))
    return Entered("ABCD", ask.client, ask.number, ask.player, "tictactoe", seq, 0, viewpoint, Company(()))


async def test_whoever_comes_back_hears_of_every_step_also_of_those_that_tell_nothing(workers):
    ann, bob = await table_of(workers, 3, 1, 2)
    await play(ann, 0)
    workers.kill(3, gap=1.5)  # so that its clock is held, by a step
    await workers.wait(0.5)
    await play(bob, 3)
    for person in (ann, bob):
        told = seqs(person)
        assert told == list(range(told[0], told[-1] + 1))


async def test_steps_that_are_told_while_a_place_is_asked_for_do_not_count_as_heard_there(workers):
    ann, bob = await table_of(workers, 1, 1, 2)
    gateway = workers.worlds[2].server.gateway
    with unanswered(gateway) as asked:
        gateway.come_back("ABCD")
        gateway.hear(StepTold("ABCD", 5))
        gateway.come_back("ABCD")
    assert [ask.since for ask in asked.enters] == [4, 4]


async def test_the_first_place_that_is_there_again_does_not_hide_what_the_others_missed(workers):
    ann, bob = await table_of(workers, 1, 2, 2)
    gateway = workers.worlds[2].server.gateway
    since = []

    def answer_at_once(ask):
        if isinstance(ask, EnterRoom):
            since.append(ask.since)
            gateway.hear(entered(ask, seq=9))

    gateway.ask = answer_at_once
    gateway.come_back("ABCD")
    assert since == [4, 4]


async def test_what_a_place_missed_is_asked_for_again_if_it_gets_lost_on_the_way(workers):
    ann, bob = await table_of(workers, 1, 1, 2)
    gateway = workers.worlds[2].server.gateway
    with unanswered(gateway) as asked:
        gateway.come_back("ABCD")
        gateway.hear(entered(asked.enters[0], seq=6))
        gateway.come_back("ABCD")
    assert [ask.since for ask in asked.enters] == [4, 4]


async def test_a_step_that_a_former_owner_tells_late_is_not_heard_twice(workers):
    ann, bob = await table_of(workers, 1, 1, 2)
    bob.forget()
    workers.worlds[2].server.gateway.hear(StepTold("ABCD", 4))
    assert not bob.frames


async def test_what_an_earlier_request_to_enter_brings_is_not_told_to_a_later_place(workers):
    ann, bob = await table_of(workers, 1, 1, 2)
    gateway = workers.worlds[2].server.gateway
    with unanswered(gateway) as asked:
        gateway.come_back("ABCD")
        gateway.come_back("ABCD")
    first, second = asked.enters
    gateway.hear(entered(second, seq=4))
    bob.forget()
    gateway.hear(Pushed("ABCD", bob.client.number, (Push("chat", {"seq": 3}),), first.number))
    assert not bob.frames


async def test_a_command_that_reaches_a_new_owner_before_its_player_does_is_asked_again(workers):
    ann, bob = await table_of(workers, 1, 1, 2)
    gateway = workers.worlds[2].server.gateway
    bob.forget()
    with unanswered(gateway) as asked:
        bob.send_soon('["1","9","game:ABCD","game_event",{"event":{"type":"mark","cell":0}}]')
        gateway.hear(Rejected.by(asked[0].number, Refused(Code.NOT_JOINED, "join first")))
    assert [type(ask) for ask in asked] == [AskRoom, EnterRoom, AskRoom]
    assert not bob.frames


async def test_an_answer_to_what_was_asked_again_since_is_no_error(workers):
    ann, bob = await table_of(workers, 1, 2, 3)
    with capture_logs() as logs:
        async with workers.worlds[1].at_once():
            ann.send_soon('["1","9","game:ABCD","game_event",{"event":{"type":"mark","cell":0},"id":"c9"}]')
            await workers.let_pass(0.1)
            workers.hub.fail()
            workers.hub.recover()
            await workers.let_pass(1)
        await workers.wait(1)
    assert [one["event"] for one in logs if one["log_level"] == "error"] == []
    assert [frame[4]["status"] for frame in ann.frames if frame[1] == "9"] == ["ok"]
    assert [cell for _, cell in moves(bob)] == [0]


async def test_whoever_joins_anew_is_not_removed_by_the_answer_to_an_earlier_request(workers):
    ann, bob = await table_of(workers, 1, 1, 2)
    gateway = workers.worlds[2].server.gateway
    with unanswered(gateway) as asked:
        gateway.come_back("ABCD")
        bob.send_soon('["7","7","game:ABCD","phx_join",{}]')
        gateway.hear(entered(asked.enters[0], seq=4))
    assert not [ask for ask in asked if isinstance(ask, LeaveRoom)]


async def test_whoever_joined_anew_keeps_the_place_when_an_earlier_request_is_refused_late(workers):
    ann, bob = await table_of(workers, 1, 1, 2)
    gateway = workers.worlds[2].server.gateway
    with unanswered(gateway) as asked:
        bob.send_soon('["7","7","game:ABCD","phx_join",{}]')
        bob.send_soon('["8","8","game:ABCD","phx_join",{}]')
        first, second = asked.enters
        gateway.hear(entered(second, seq=4))
        gateway.hear(Rejected.by(first.number, Refused(Code.NOT_SAVED, "try again")))
    bob.forget()
    await ann.send('["1","9","game:ABCD","chat",{"text":"hello"}]')
    await workers.quiet()
    assert "chat" in [frame[3] for frame in bob.frames]


async def test_a_place_that_is_given_to_somebody_who_is_gone_is_given_back(workers):
    ann, bob = await table_of(workers, 1, 1, 2)
    gateway = workers.worlds[2].server.gateway
    with unanswered(gateway) as asked:
        gateway.come_back("ABCD")
        gateway.come_back("ABCD")
        first = asked.enters[0]
        gateway.lose(bob.client)
        asked.clear()
        gateway.hear(entered(first, seq=4))
    assert [type(ask) for ask in asked] == [LeaveRoom]


async def test_a_room_that_is_handed_over_while_its_owner_cannot_be_heard_goes_on(workers):
    ann, bob = await table_of(workers, 3, 1, 2)
    workers.hub.separate(2, 3)
    await workers.hand_over("ABCD", 1)
    await workers.wait(0.2)
    assert (await play(ann, 0))[0] == "ok"
    assert (await play(bob, 3))[0] == "ok"
    assert moves(ann) == moves(bob)


async def test_a_command_without_id_is_not_repeated_when_the_owner_that_did_it_cannot_be_heard(workers):
    ann, bob = await table_of(workers, 3, 2, 1)
    async with workers.worlds[3].at_once():
        ann.send_soon('["1","9","game:ABCD","game_event",{"event":{"type":"mark","cell":0}}]')
        await workers.let_pass(0.1)
        workers.hub.separate(2, 3)
    await workers.hand_over("ABCD", 1)
    await workers.wait(8)
    assert [frame for frame in ann.frames if frame[1] == "9"] == []
    assert ann.closed is not None
    assert ann.closed[0] == 1012


async def test_a_command_that_may_have_been_done_is_not_refused_for_want_of_an_owner(workers):
    ann, bob = await table_of(workers, 3, 1, 2)
    ann.send_soon('["1","9","game:ABCD","game_event",{"event":{"type":"mark","cell":0},"id":"c9"}]')
    workers.table.bury = lambda me, _gap: workers.table.members.pop(me)
    workers.kill(3)
    workers.table.owners = [0] * 256
    workers.table.change()
    await workers.wait(5)
    assert [frame for frame in ann.frames if frame[1] == "9"] == []
    assert ann.closed is not None
    assert ann.closed[0] == 1012


async def test_a_worker_that_is_not_in_the_table_yet_is_answered(workers):
    ann, bob = await table_of(workers, 1, 1, 1)
    workers.workers[1]._alive.discard(3)
    zoe = await workers.person("zoe", 3)
    assert (await zoe.join("ABCD", spectate=True))[0] == "ok"


async def test_a_room_that_is_handed_over_before_it_is_woken_is_not_woken(workers):
    ann, bob = await table_of(workers, 3, 1, 2)
    table, shard = workers.table, shard_of(room_key("ABCD"))
    await table.members[3].asked(shard)
    table.owners[shard] = 1
    table.members[1].taken({shard}, 0.0)
    await table.members[1].asked(shard)
    table.owners[shard] = 2
    table.members[2].taken({shard}, 0.0)
    table.change()
    await workers.quiet()
    assert workers.worlds[1].server.rooms.peek("ABCD") is None
    assert (await play(ann, 0))[0] == "ok"


async def test_whoever_asked_for_a_place_again_is_not_removed_while_that_waits(workers):
    ann, bob = await table_of(workers, 1, 1, 2)
    rooms = workers.worlds[1].server.rooms
    async with workers.worlds[1].at_once():
        workers.worlds[2].server.gateway.come_back("ABCD")
        await workers.let_pass(0.1)
        rooms.expect_again(2, 0.1)
        await workers.let_pass(0.2)
    assert workers.worlds[1].room().connected == ["ann", "bob"]
    assert (await play(ann, 0))[0] == "ok"
    assert (await play(bob, 3))[0] == "ok"


async def test_whoever_asked_for_a_place_at_a_gateway_that_is_gone_by_then_is_not_here(workers):
    ann, bob = await table_of(workers, 1, 1, 2)
    async with workers.worlds[1].at_once():
        workers.worlds[2].server.gateway.come_back("ABCD")
        await workers.let_pass(0.1)
        workers.kill(2)
    await workers.wait(0.1)
    assert workers.worlds[1].room().connected == ["ann"]


async def test_an_owner_that_says_the_room_is_not_its_own_is_not_asked_again_at_once(workers):
    ann, bob = await table_of(workers, 1, 1, 2)
    gateway, worker = workers.worlds[2].server.gateway, workers.workers[2]
    bob.send_soon('["1","9","game:ABCD","game_event",{"event":{"type":"mark","cell":0}}]')
    (number,) = gateway._pending
    worker._hear(Moved("ABCD", number), 1)
    worker._see_members()
    assert list(gateway._pending) == [number]
    await workers.wait(0.2)
    assert number not in gateway._pending


async def test_a_command_that_is_known_to_be_kept_is_not_refused_because_it_cannot_be_read(
    workers, monkeypatch
):
    ann, bob = await table_of(workers, 1, 1, 2)
    assert (await play(ann, 0, "c1"))[0] == "ok"

    def replay(*_, **__):
        raise NotKept("the database is down")

    monkeypatch.setattr(workers.journal, "replay", replay)
    ann.send_soon('["1","9","game:ABCD","game_event",{"event":{"type":"mark","cell":0},"id":"c1"}]')
    await workers.quiet()
    assert [frame for frame in ann.frames if frame[1] == "9"] == []
    assert ann.closed is not None


async def test_a_late_farewell_does_not_repeat_what_its_sender_was_asked_since(workers):
    ann, bob = await table_of(workers, 1, 1, 2)
    gateway, worker = workers.worlds[2].server.gateway, workers.workers[2]
    bob.send_soon('["1","9","game:ABCD","game_event",{"event":{"type":"mark","cell":0}}]')
    (number,) = gateway._pending
    worker._hear(Moved("ABCD"), 1)
    assert list(gateway._pending) == [number]


async def test_a_former_owner_that_lost_the_room_does_not_send_the_clients_of_its_successor_away(workers):
    ann, bob = await table_of(workers, 1, 1, 2)
    workers.workers[2]._hear(ComeAgain("ABCD"), 3)
    assert bob.closed is None
    workers.workers[2]._hear(ComeAgain("ABCD"), 1)
    assert bob.closed is not None


async def test_whoever_is_behind_hears_no_step_that_the_room_itself_does_not_know(workers):
    ann, bob = await table_of(workers, 1, 1, 2)
    await play(ann, 0)
    room = workers.worlds[1].server.rooms.get("ABCD")
    before = room.here
    await play(bob, 3)  # as if another owner had kept this step
    room._room = before
    bob.forget()
    await bob.join("ABCD", since=4)
    assert moves(bob) == [(5, 0)]


async def test_nobody_is_shown_a_room_from_memory_that_may_have_another_owner(workers):
    ann, bob = await table_of(workers, 1, 1, 2)
    workers.table.members[1].fresh = False
    for person in (bob, await workers.person("zoe", 2)):
        status, why = await person.join("ABCD", spectate=True)
        assert (status, why["code"]) == ("error", "not_saved")
    workers.table.members[1].fresh = True
    assert (await bob.join("ABCD"))[0] == "ok"


async def test_the_clock_of_a_room_does_not_go_back_when_its_next_owner_is_behind(workers):
    ann, bob = await table_of(workers, 1, 1, 2)
    await workers.wait(1)
    await play(ann, 0)
    workers.clock.start(workers.clock.now() - 0.5)
    await workers.hand_over("ABCD", 3)
    await play(bob, 3)
    number = workers.worlds[3].server.rooms.get("ABCD").number
    times = [step.now async for step in workers.journal.replay(number)]
    assert times == sorted(times)


async def test_an_earlier_join_that_has_to_wait_does_not_replace_a_later_one(workers):
    ann, bob = await table_of(workers, 1, 1, 2)
    gateway = workers.worlds[2].server.gateway
    with unanswered(gateway) as asked:
        bob.send_soon('["7","7","game:ABCD","phx_join",{}]')
        bob.send_soon('["8","8","game:ABCD","phx_join",{}]')
        first, second = asked.enters
        gateway.hear(entered(second, seq=4))
        gateway.repeat(first.number)
    assert len(asked.enters) == 2
    bob.forget()
    gateway.hear(StepTold("ABCD", 5))
    assert seqs(bob) == [5]


async def test_what_may_have_been_done_remains_so_when_the_next_owner_does_not_know_the_place_yet(workers):
    ann, bob = await table_of(workers, 1, 1, 2)
    gateway, worker = workers.worlds[2].server.gateway, workers.workers[2]
    bob.send_soon('["1","9","game:ABCD","game_event",{"event":{"type":"mark","cell":0},"id":"c9"}]')
    (number,) = gateway._pending
    worker._asked[number] = worker._asked[number]._replace(in_doubt=True)
    worker._hear(Rejected.by(number, Refused(Code.NOT_JOINED, "join first")), 1)
    (again,) = gateway._pending
    assert again != number
    assert worker._asked[again].in_doubt


async def test_nobody_is_answered_before_the_step_is_told_that_comes_with_what_was_missed(workers):
    ann, bob = await table_of(workers, 1, 2, 3)
    gateway = workers.worlds[2].server.gateway
    with unanswered(gateway) as asked:
        gateway.come_back("ABCD")
    ann.forget()
    ann.send_soon('["1","9","game:ABCD","game_event",{"event":{"type":"mark","cell":0},"id":"c9"}]')
    await workers.quiet()
    assert not ann.frames
    gateway.ask(asked.enters[0])
    await workers.quiet()
    told = [(name, ref) for _, ref, _, name, _ in ann.frames if name in ("game_event", "phx_reply")]
    assert told == [("game_event", None), ("phx_reply", "9")]


async def test_whoever_leaves_before_a_place_is_there_again_is_answered_what_was_done(workers):
    ann, bob = await table_of(workers, 1, 2, 3)
    gateway = workers.worlds[2].server.gateway
    with unanswered(gateway):
        gateway.come_back("ABCD")
    ann.forget()
    ann.send_soon('["1","9","game:ABCD","game_event",{"event":{"type":"mark","cell":0},"id":"c9"}]')
    await workers.quiet()
    ann.send_soon('["1","10","game:ABCD","phx_leave",{}]')
    await workers.quiet()
    assert [frame[4]["status"] for frame in ann.frames if frame[1] == "9"] == ["ok"]
