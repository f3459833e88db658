"""Several workers share rooms: whoever comes to any of them plays as with one."""

import asyncio

import pytest
from msgspec.structs import replace
from structlog.testing import capture_logs

from parlour.cluster.members import NOBODY
from parlour.errors import Refused
from parlour.journal.base import Fenced, NewRecord, NotKept, RecordQuery
from parlour.journal.shards import shard_of
from parlour.lobby import Ticket
from parlour.server.parts.accounts.name_records import ACCOUNT_NAME
from parlour.server.poller import LOOK_EVERY
from parlour.server.rooms.calls import AsksPlayer
from parlour.server.sessions import LookUpFirst
from parlour.server.tokens import Bearer
from parlour.wire import Queue
from tests.cluster.workers import moves, play, table_of
from tests.server.world import seqs


@pytest.mark.parametrize(("ann", "bob"), [(1, 1), (1, 2), (2, 3)])
async def test_players_at_different_workers_play_one_game(workers, ann, bob):
    ann, bob = await table_of(workers, 1, ann, bob)
    for person, cell in ((ann, 0), (bob, 3), (ann, 1), (bob, 4), (ann, 2)):
        status, answer = await play(person, cell)
        assert status == "ok", answer
    assert moves(ann) == moves(bob) == [(5, 0), (6, 3), (7, 1), (8, 4), (9, 2)]
    assert ann.heard("update")[-1][1]["result"]["outcome"]["won"] == ["ann"]


async def test_a_refusal_comes_with_its_reason_from_another_worker(workers):
    ann, bob = await table_of(workers, 1, 2, 3)
    status, why = await play(bob, 0)
    assert (status, why["code"]) == ("error", "not_your_turn")
    assert (await play(ann, 0))[0] == "ok"


async def test_a_spectator_at_another_worker_is_sent_only_what_spectators_see(workers):
    ann, bob = await table_of(workers, 1, 1, 1)
    zoe = await workers.person("zoe", 3)
    await zoe.join("ABCD", spectate=True)
    await play(ann, 4)
    assert [payload["view"]["you"] for _, payload in zoe.heard("update")] == [None]


@pytest.mark.parametrize("id", ["c1", None])
async def test_a_room_that_is_handed_over_goes_on_and_nobody_hears_of_it(workers, id):
    ann, bob = await table_of(workers, 1, 1, 2)
    await play(ann, 0, id)
    for person in (ann, bob):
        person.forget()
    await workers.hand_over("ABCD", 3)
    assert workers.owner("ABCD") == 3
    assert not ann.frames
    assert not bob.frames
    assert (await play(bob, 3, id))[0] == "ok"
    assert (await play(ann, 1))[0] == "ok"
    assert moves(ann) == moves(bob) == [(6, 3), (7, 1)]
    assert workers.worlds[3].room().connected == ["ann", "bob"]


async def test_a_room_whose_owner_dies_goes_on_at_another_and_its_players_lose_no_time(workers):
    ann, bob = await table_of(workers, 3, 1, 2)
    await play(ann, 0)
    workers.kill(3, gap=1.5)
    await workers.wait(0.5)
    assert workers.owner("ABCD") in (1, 2)
    assert (await play(bob, 3))[0] == "ok"
    assert (await play(ann, 1))[0] == "ok"
    assert [cell for _, cell in moves(ann)] == [cell for _, cell in moves(bob)] == [0, 3, 1]
    assert seqs(ann) == sorted(set(seqs(ann)))
    room = workers.worlds[workers.owner("ABCD")].room()
    assert room.behind == pytest.approx(1.5)
    await workers.wait(5)
    assert room.connected == ["ann", "bob"]
    assert ann.closed is bob.closed is None


async def test_players_of_a_gateway_that_dies_are_away_and_can_come_back_by_another(workers):
    ann, bob = await table_of(workers, 1, 1, 3)
    await play(ann, 0)
    workers.kill(3)
    await workers.wait(0.1)
    assert workers.worlds[1].room().connected == ["ann"]
    bob = await workers.person("bob", 2)
    assert (await bob.join("ABCD", since=5))[0] == "ok"
    assert (await play(bob, 3))[0] == "ok"


async def test_a_command_in_flight_when_its_owner_dies_is_done_once_if_it_has_an_id(workers):
    ann, bob = await table_of(workers, 3, 1, 2)
    ann.send_soon('["1","9","game:ABCD","game_event",{"event":{"type":"mark","cell":0},"id":"c9"}]')
    workers.kill(3)
    await workers.wait(0.5)
    assert moves(ann) == moves(bob)
    assert [cell for _, cell in moves(ann)] == [0]
    assert ann.closed is None


async def test_somebody_whose_command_without_an_id_was_in_flight_is_sent_away_to_see(workers):
    ann, bob = await table_of(workers, 3, 1, 2)
    ann.send_soon('["1","9","game:ABCD","game_event",{"event":{"type":"mark","cell":0}}]')
    workers.kill(3)
    await workers.wait(0.5)
    assert ann.closed is not None
    assert ann.closed[0] == 1012
    assert bob.closed is None


async def test_a_lost_link_between_two_living_workers_costs_nobody_a_step(workers):
    ann, bob = await table_of(workers, 1, 1, 2)
    workers.hub.separate(1, 2)
    assert (await play(ann, 0))[0] == "ok"
    await workers.wait(1)
    workers.hub.reunite(1, 2)
    await workers.wait(8)
    assert [cell for _, cell in moves(bob)] == [0]
    assert (await play(bob, 3))[0] == "ok"
    assert moves(ann) == moves(bob)
    assert workers.worlds[1].room().connected == ["ann", "bob"]


async def test_a_room_without_an_owner_is_refused_after_a_while_and_not_forgotten(workers):
    await workers.worlds[3].open("tictactoe")
    owners, workers.table.owners = workers.table.owners, [0] * 256
    zoe = await workers.person("zoe", 1)
    zoe.send_soon('["1","9","game:ABCD","phx_join",{}]')
    await workers.wait(2)
    assert not zoe.frames
    await workers.wait(3)
    assert zoe.frames[-1][4]["response"]["code"] == "not_saved"
    workers.table.owners = owners
    assert (await zoe.join("ABCD"))[0] == "ok"


# The lobby, which one worker owns.


async def at_lobby(workers, player, at):
    person = await workers.person(player, at)
    await person.send(["0", "0", "lobby", "phx_join", {}])
    return person


async def queue(person, **wanted):
    await person.send(["0", "7", "lobby", "queue", {"game": "tictactoe", **wanted}])
    return next(f[4] for f in reversed(person.frames) if f[1] == "7")


def lobby_of(workers):
    return workers.table.owners[shard_of("lobby")]


@pytest.mark.parametrize("mode", ["normal", "ranked"])
async def test_people_at_different_workers_are_paired_and_play(workers, mode):
    ann, bob = await at_lobby(workers, "ann", 2), await at_lobby(workers, "bob", 3)
    assert (await queue(ann, mode=mode))["status"] == "ok"
    assert (await queue(bob, mode=mode))["status"] == "ok"
    await workers.wait(2)
    (matched,) = {payload["room"] for person in (ann, bob) for _, payload in person.heard("matched")}
    for person in (ann, bob):
        assert (await person.join(matched))[0] == "ok"
    first = ann if (await ann.play(matched, {"type": "mark", "cell": 4}))[0] == "ok" else bob
    other = bob if first is ann else ann
    if first is bob:
        assert (await bob.play(matched, {"type": "mark", "cell": 4}))[0] == "ok"
    assert (await other.play(matched, {"type": "mark", "cell": 0}))[0] == "ok"


async def test_a_bot_at_any_worker_is_among_those_who_can_be_invited_also_when_the_lobby_moves(workers):
    owner = lobby_of(workers)
    ann = await workers.person("ann", 2 if owner != 2 else 3)
    await ann.send(["0", "0", "lobby", "phx_join", {"plays": ["tictactoe"]}])
    assert workers.worlds[owner].server.lobby.invitable("tictactoe") == ["ann"]
    workers.kill(owner)
    await workers.wait(2)
    assert workers.worlds[lobby_of(workers)].server.lobby.invitable("tictactoe") == ["ann"]


async def test_a_refusal_of_the_lobby_comes_with_its_reason_from_another_worker(workers):
    ann = await at_lobby(workers, "ann", 2 if lobby_of(workers) != 2 else 3)
    answer = await queue(ann, game="chess")
    assert (answer["status"], answer["response"]["code"]) == ("error", "unknown_game")
    await queue(ann)
    assert (await queue(ann))["response"]["code"] == "already_queued"


async def test_tickets_are_open_after_the_owner_of_the_lobby_died(workers):
    owner = lobby_of(workers)
    here, there = [me for me in (1, 2, 3) if me != owner]
    ann = await at_lobby(workers, "ann", here)
    await queue(ann)
    workers.kill(owner)
    await workers.wait(1)
    bob = await at_lobby(workers, "bob", there)
    await queue(bob)
    await workers.wait(2)
    assert ann.heard("matched")
    assert bob.heard("matched")


async def test_tickets_are_open_after_the_lobby_was_handed_over(workers):
    ann = await at_lobby(workers, "ann", 2)
    await queue(ann)
    for to in (3, 1):
        await workers.hand_over_shard(shard_of("lobby"), to)
    assert lobby_of(workers) == 1
    bob = await at_lobby(workers, "bob", 3)
    await queue(bob)
    await workers.wait(2)
    assert ann.heard("matched")
    assert bob.heard("matched")


async def test_a_worker_whose_lobby_was_taken_pairs_nobody_any_more(workers):
    """It was frozen and taken for dead, and lives on for a moment."""
    owner = lobby_of(workers)
    heir = next(me for me in (1, 2, 3) if me != owner)
    server, now = workers.worlds[owner].server, workers.clock.now()
    ann = Ticket("t1", "p_ann", "Ann", "tictactoe", {}, now, at="ROOM")
    server.pairing.index.add(ann, now, frozenset({ann.player}))
    server.pairing.index.send(replace(ann, id="t2", player="p_bob", at=None, room="ROOM"), now)
    await queue(await at_lobby(workers, "cid", owner))
    with capture_logs() as logs:
        workers.table.take(shard_of("lobby"), heir)
        await workers.wait(3)
    assert not [line for line in logs if line["log_level"] == "error"]
    assert not server.pairing.index.open
    assert [ticket.name for ticket in workers.worlds[heir].server.pairing.index.open.values()] == ["Cid"]


async def test_a_worker_that_loses_the_lobby_while_it_opens_it_does_not_open_it(workers):
    owner = lobby_of(workers)
    heir, last = [me for me in (1, 2, 3) if me != owner]
    may_read, records = asyncio.Event(), workers.journal.records

    async def read_later(query):
        await may_read.wait()
        return await records(query)

    workers.journal.records = read_later
    await workers.hand_over_shard(shard_of("lobby"), heir)
    workers.table.take(shard_of("lobby"), last)
    may_read.set()
    await workers.quiet()
    assert [workers.worlds[me].server.pairing.is_open for me in (heir, last)] == [False, True]


async def test_a_lobby_that_could_not_be_handed_over_is_opened_again(workers):
    owner = lobby_of(workers)
    world = workers.worlds[owner]

    async def fail(_):
        raise NotKept("the database is away")

    world.server.rooms.hand_over = fail
    with pytest.raises(NotKept):
        await workers.table.members[owner].asked(shard_of("lobby"))
    await workers.wait(2)
    ann = await at_lobby(workers, "ann", owner)
    assert (await queue(ann))["status"] == "ok"


async def test_nobody_is_given_a_ticket_before_all_kept_tickets_are_read(workers):
    """Else two people who look for each other would wait in two rooms."""
    owner = lobby_of(workers)
    heir, other = [me for me in (1, 2, 3) if me != owner]
    ann = await at_lobby(workers, "ann", other)
    await queue(ann)
    may_read, records = asyncio.Event(), workers.journal.records

    async def read_later(query):
        await may_read.wait()
        return await records(query)

    workers.journal.records = read_later
    await workers.hand_over_shard(shard_of("lobby"), heir)
    pairing = workers.worlds[heir].server.pairing
    with pytest.raises(Refused, match="try again"):
        await pairing.queue("bob", Queue("tictactoe"))
    with pytest.raises(Refused, match="try again"):
        pairing.tickets("ann")  # that there are none is not known
    may_read.set()
    await workers.quiet()
    bob = await at_lobby(workers, "bob", heir)
    await queue(bob)
    await workers.wait(2)
    assert ann.heard("matched")
    assert bob.heard("matched")


async def test_a_seat_is_kept_for_who_was_sent_there_whoever_owns_the_room(workers):
    ann, bob = await at_lobby(workers, "ann", 2), await at_lobby(workers, "bob", 3)
    await queue(ann, mode="ranked")
    await queue(bob, mode="ranked")
    await workers.wait(2)
    room = ann.heard("matched")[0][1]["room"]
    other = next(me for me in (1, 2, 3) if me != workers.owner(room))
    await workers.hand_over(room, other)
    zoe = await workers.person("zoe", 1)
    assert (await zoe.join(room))[1]["code"] in ("seat_kept", "game_full")
    assert (await ann.join(room))[0] == "ok"


async def test_everybody_at_the_lobby_hears_of_rooms_at_other_workers(workers):
    zoe = await at_lobby(workers, "zoe", next(me for me in (1, 2, 3) if me != lobby_of(workers)))
    ann, bob = await table_of(workers, 1, 1, 2)
    await workers.wait(12)
    listed = [room["id"] for _, payload in zoe.heard("rooms", "rooms_changed") for room in payload["rooms"]]
    assert "ABCD" in listed


async def test_the_list_of_rooms_says_how_many_watch_at_another_worker(workers):
    await table_of(workers, 1, 1, 2)
    zoe = await workers.person("zoe", 3)
    await zoe.join("ABCD", spectate=True)
    await workers.wait(2)
    counts = [
        {room.id: room.spectators for room in workers.worlds[me].server.room_list.listed()}
        for me in (1, 2, 3)
    ]
    assert counts == [{"ABCD": 1}] * 3


async def test_a_room_says_at_any_worker_whether_it_waits_for_somebody(workers):
    await table_of(workers, 1, 1, 2)
    call = workers.worlds[3].server.call
    asked = asyncio.gather(*(call("ABCD", AsksPlayer(player)) for player in ("ann", "bob")))
    await workers.wait(1)
    assert await asked == [True, False]


# Sessions.


async def test_a_session_that_was_ended_at_one_worker_is_ended_at_all(workers):
    here, there = workers.worlds[1].server.sessions, workers.worlds[2].server.sessions
    hung_up: list[Bearer] = []
    old, new = Bearer("ann", 0), Bearer("ann", 1)
    there.hang_up = lambda is_ended: hung_up.extend(filter(is_ended, (old, new, Bearer("bob", 0))))
    await here.save("ann", "Ann")
    await there.look_up("ann")
    assert there.player(old) == "ann"
    await workers.worlds[1].server.accounts.end_all("ann", "")
    await workers.quiet()
    assert hung_up == [old]
    with pytest.raises(Refused, match="token"):
        there.player(old)


async def test_who_owned_the_tickets_until_lately_does_not_say_which_there_are(workers):
    """Somebody else may have given others since."""
    owner = lobby_of(workers)
    workers.table.members[owner].fresh = False
    with pytest.raises(Refused, match="try again"):
        workers.worlds[owner].server.pairing.tickets("ann")


async def test_a_worker_that_hands_a_key_over_serves_it_no_longer(workers):
    owner = workers.workers[lobby_of(workers)]
    assert owner.owner_of("lobby") == owner.me
    held = asyncio.ensure_future(workers.table.members[owner.me].asked(shard_of("lobby")))
    await workers.quiet()
    await held
    assert owner.owner_of("lobby") == NOBODY


async def test_a_worker_that_is_gone_opens_no_room_and_does_not_try_for_ever(workers):
    """Another id would not help it."""

    async def refuse(*_):
        raise Fenced("this worker was declared gone")

    workers.journal.create = refuse
    with pytest.raises(Refused, match="did not happen"):
        await workers.worlds[1].server.rooms.creation.create("tictactoe", None, None)


# Accounts.


async def test_of_two_who_want_the_same_name_at_two_workers_one_gets_it(workers):
    one, two = (workers.worlds[n].server.accounts for n in (1, 2))
    answers = await asyncio.gather(
        one.open("ann", "Ann", ""), two.open("bob", "ANN", ""), return_exceptions=True
    )
    assert [isinstance(answer, Refused) and answer.code for answer in answers].count("name_taken") == 1


async def test_a_device_that_was_signed_in_at_one_worker_is_known_at_all(workers):
    here, there = (workers.worlds[n].server for n in (1, 2))
    (ann, first), code = await here.accounts.open("ann", "Ann", "")
    await there.sessions.look_up("ann")
    second = await here.accounts.sign_in_by_code(code, "", "203.0.113.9")
    bearers = [Bearer("ann", ann.session, device) for device in (first, second.device, 0)]
    found = [await find(there.sessions, bearer) for bearer in bearers]
    assert found == [True, True, False]


async def test_a_device_that_is_signed_out_at_one_worker_is_hung_up_at_all(workers):
    here, there = (workers.worlds[n].server for n in (1, 2))
    hung_up: list[Bearer] = []
    (ann, first), code = await here.accounts.open("ann", "Ann", "")
    second = await here.accounts.sign_in_by_code(code, "", "203.0.113.9")
    await workers.quiet()
    devices = [Bearer("ann", ann.session, device) for device in (first, second.device)]
    assert [await find(there.sessions, bearer) for bearer in devices] == [True, True]
    there.sessions.hang_up = lambda is_ended: hung_up.extend(filter(is_ended, devices))
    await here.accounts.sign_out("ann", second.device)
    await workers.quiet()
    assert hung_up == devices[1:]
    assert [await find(there.sessions, bearer) for bearer in devices] == [True, False]


async def test_the_connection_of_an_ended_session_is_closed_also_if_the_news_of_it_was_lost(workers):
    here, there = workers.worlds[1].server.sessions, workers.worlds[2].server.sessions
    ann, bob = Bearer("ann", 0), Bearer("bob", 0)
    connected = {ann, bob}
    there.connected = connected.copy
    there.hang_up = lambda is_ended: connected.difference_update(filter(is_ended, tuple(connected)))
    for id in ("ann", "bob"):
        await here.save(id, id.title())
        await there.look_up(id)
    workers.hub.separate(1, 2)
    await workers.worlds[1].server.accounts.end_all("ann", "")
    await workers.wait(1)
    assert connected == {ann, bob}
    workers.hub.reunite(1, 2)
    await workers.wait(8)
    assert connected == {bob}
    assert [await find(there, one) for one in (ann, bob)] == [False, True]


async def find(sessions, bearer):
    """Whether a worker takes a token for valid."""
    try:
        sessions.player(bearer)
    except LookUpFirst as first:
        await first.look_up()
    except Refused:
        return False
    try:
        return bool(sessions.player(bearer))
    except Refused:
        return False


async def test_a_name_that_an_older_worker_has_given_meanwhile_is_compared_by_the_rules_of_now(workers):
    world = workers.worlds[1]
    world.server.name_changes.look_soon()
    await world.journal.keep(NewRecord(ACCOUNT_NAME, "bi||", b"Bi||", owner="bill"))
    await workers.wait(LOOK_EVERY)
    (record,) = await world.journal.records(RecordQuery(ACCOUNT_NAME))
    assert (record.key, record.owner) == ("blll", "bill")
