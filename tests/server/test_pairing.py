"""At the lobby: tickets are taken, kept and given back; whoever is matched has a seat before being told."""

import pytest
from msgspec.structs import replace

from parlour.errors import Refused
from parlour.journal.base import NotKept
from parlour.lobby import Ticket
from parlour.server.ticket_records import TICKET, kept_tickets, save_ticket
from parlour.wire import Queue, Shutdown
from tests.effort import counted
from tests.server.test_ratings import play
from tests.server.world import Person, World


async def at_lobby(world: World, *players: str) -> list[Person]:
    people = [await world.person(player) for player in players]
    for number, person in enumerate(people):
        await person.send(["L", f"l{number}", "lobby", "phx_join", {}])
    return people


async def ask(person: Person, event: str, payload: object) -> tuple[str, dict[str, str]]:
    await person.send(["L", "q", "lobby", event, payload])
    reply = next(f for f in reversed(person.frames) if f[1] == "q")
    return reply[4]["status"], reply[4]["response"]


async def test_two_who_want_the_same_are_seated_before_they_are_told():
    async with World() as world:
        ann, bob = await at_lobby(world, "ann", "bob")
        assert (await ask(ann, "queue", {"game": "tictactoe"}))[0] == "ok"
        assert ann.heard("matched") == []
        await ask(bob, "queue", {"game": "tictactoe"})
        ((_, told),) = ann.heard("matched")
        ((_, too),) = bob.heard("matched")
        assert told["room"] == too["room"]
        room = await world.server.rooms.look(told["room"])
        assert {seat.name for seat in room.seats if seat} == {"Ann", "Bob"}
        assert (room.status, room.seq) == ("playing", 2)
        status, joined = await ann.join(told["room"])
        assert status == "ok"
        assert joined["seat"] in (0, 1)


async def test_another_config_is_another_queue_but_a_default_that_is_said_is_not():
    async with World() as world:
        ann, bob, cat = await at_lobby(world, "ann", "bob", "cat")
        await ask(ann, "queue", {"game": "backgammon"})
        await ask(bob, "queue", {"game": "backgammon", "config": {"variant": "fevga"}})
        assert ann.heard("matched") == bob.heard("matched") == []
        await ask(cat, "queue", {"game": "backgammon", "config": {"variant": "backgammon"}})
        assert len(ann.heard("matched")) == len(cat.heard("matched")) == 1


SERIOUS = {"crawford": True, "opening_dice": True}
PAGE = {"game": "backgammon", "config": SERIOUS}
"""What the page asks for when somebody sets nothing; a program says nothing of these two."""


async def config_of_the_room(world: World, person: Person) -> dict[str, object]:
    """What is played where somebody was matched."""
    ((_, told),) = person.heard("matched")
    config: dict[str, object] = (await world.server.rooms.look(told["room"])).config
    return config


@pytest.mark.parametrize("mode", ["normal", "ranked"])
@pytest.mark.parametrize(("other", "opening"), [(PAGE, True), ({"game": "backgammon"}, False)])
async def test_a_page_and_a_program_meet_each_other_and_what_only_one_of_them_asks_for_is_as_ever(
    mode, other, opening
):
    async with World() as world:
        ann, bob = await at_lobby(world, "ann", "bob")
        await ask(ann, "queue", {**PAGE, "mode": mode})
        await ask(bob, "queue", {**other, "mode": mode})
        config = await config_of_the_room(world, ann)
        assert (config["crawford"], config["opening_dice"]) == (opening, opening)


async def test_a_ticket_that_an_older_server_kept_is_matched_with_those_who_differ_in_what_nobody_waits_for():
    async with World() as world:
        (ann,) = await at_lobby(world, "ann")
        await ask(ann, "queue", {"game": "backgammon"})
        (ticket,) = await kept_tickets(world.server.journal)
        await save_ticket(world.server.journal, replace(ticket, negotiable=()))
        again = await world.restart()
        ann, bob = await at_lobby(again, "ann", "bob")
        await ask(bob, "queue", PAGE)
        assert (await config_of_the_room(again, ann))["opening_dice"] is False


async def test_who_waits_in_a_room_plays_there_what_it_was_opened_for():
    async with World() as world:
        room = await waiting(world, "ann", Queue("backgammon"))
        (bob,) = await at_lobby(world, "bob")
        await ask(bob, "queue", PAGE)
        assert bob.heard("matched")[0][1]["room"] == room
        assert (await config_of_the_room(world, bob))["opening_dice"] is False


@pytest.mark.parametrize(("other", "opening"), [(PAGE, True), ({"game": "backgammon"}, False)])
async def test_a_room_that_is_opened_for_whoever_brings_it_is_for_what_its_guest_wants_too(other, opening):
    async with World() as world:
        (ann,) = await at_lobby(world, "ann")
        await ask(ann, "queue", other)
        await waiting(world, "bob", Queue("backgammon", SERIOUS))
        assert (await config_of_the_room(world, ann))["opening_dice"] is opening


async def test_a_ticket_can_be_given_back():
    async with World() as world:
        ann, bob = await at_lobby(world, "ann", "bob")
        _, taken = await ask(ann, "queue", {"game": "tictactoe"})
        assert await ask(ann, "unqueue", taken) == ("ok", taken)
        await ask(bob, "queue", {"game": "tictactoe"})
        assert bob.heard("matched") == []
        assert await kept_tickets(world.journal) == world.server.pairing.tickets("bob")


async def test_against_a_bot_one_plays_at_once():
    async with World() as world:
        (ann,) = await at_lobby(world, "ann")
        await ask(ann, "queue", {"game": "tictactoe", "mode": "bot", "bot": "random"})
        ((_, told),) = ann.heard("matched")
        room = await world.server.rooms.look(told["room"])
        assert {seat.bot for seat in room.seats if seat} == {True, False}


BAD = [
    ({"game": "chess"}, "unknown_game"),
    ({"game": "tictactoe", "mode": "blitz"}, "malformed"),
    ({"game": "tictactoe", "surprise": 1}, "malformed"),
    ({"game": "minesweeper", "config": {"mines": 10000}}, "invalid_config"),
    ({"game": "minesweeper", "mode": "ranked"}, "malformed"),
    ({"game": "tictactoe", "mode": "bot", "bot": "clever"}, "unknown_bot"),
    ({}, "malformed"),
]


@pytest.mark.parametrize(("payload", "code"), BAD)
async def test_a_ticket_that_makes_no_sense_is_refused_and_nothing_is_kept(payload, code):
    async with World() as world:
        (ann,) = await at_lobby(world, "ann")
        status, response = await ask(ann, "queue", payload)
        assert (status, response["code"]) == ("error", code)
        assert await kept_tickets(world.journal) == []


async def test_a_second_ticket_for_the_same_queue_is_refused_and_the_first_stays():
    async with World() as world:
        (ann,) = await at_lobby(world, "ann")
        await ask(ann, "queue", {"game": "tictactoe"})
        status, response = await ask(ann, "queue", {"game": "tictactoe"})
        assert (status, response["code"]) == ("error", "already_queued")
        assert len(await kept_tickets(world.journal)) == 1


async def test_nobody_gives_back_the_ticket_of_another():
    async with World() as world:
        ann, eve = await at_lobby(world, "ann", "eve")
        _, taken = await ask(ann, "queue", {"game": "tictactoe"})
        assert (await ask(eve, "unqueue", taken))[1]["code"] == "unknown_ticket"
        assert (await ask(ann, "unqueue", {"ticket": "nothing"}))[1]["code"] == "unknown_ticket"
        assert len(await kept_tickets(world.journal)) == 1


async def test_whoever_comes_back_to_the_lobby_is_told_for_how_long_they_have_waited():
    async with World() as world:
        (ann,) = await at_lobby(world, "ann")
        await ask(ann, "queue", {"game": "tictactoe"})
        await world.wait(12)
        (again,) = await at_lobby(await world.restart(), "ann")
        (ticket,) = next(frame for frame in again.frames if frame[1] == "l0")[4]["response"]["tickets"]
        assert (ticket["status"], ticket["room"], round(ticket["waited"])) == ("waiting", None, 12)


async def test_whoever_waits_is_still_waiting_after_a_restart():
    async with World() as world:
        (ann,) = await at_lobby(world, "ann")
        _, taken = await ask(ann, "queue", {"game": "tictactoe"})
        again = await world.restart()
        (ann, bob) = await at_lobby(again, "ann", "bob")
        joined = next(f for f in ann.frames if f[3] == "phx_reply")
        assert joined[4]["response"]["tickets"][0]["id"] == taken["ticket"]
        await ask(bob, "queue", {"game": "tictactoe"})
        assert len(ann.heard("matched")) == 1
        last = await again.restart()
        assert [ticket.room for ticket in last.server.pairing.tickets("ann")] == [
            ann.heard("matched")[0][1]["room"]
        ]
        await last.server.stop()


async def test_a_ticket_after_which_its_player_took_another_for_the_same_does_not_survive_a_restart():
    """A write of which nobody knew whether it was kept is asked for again, and then both are there."""
    async with World() as world:
        (ann,) = await at_lobby(world, "ann")
        _, taken = await ask(ann, "queue", {"game": "tictactoe"})
        (ticket,) = await kept_tickets(world.server.journal)
        await save_ticket(world.server.journal, replace(ticket, id="older", since=ticket.since - 1))
        again = await world.restart()
        assert [one.id for one in again.server.pairing.tickets("ann")] == [taken["ticket"]]
        assert [one.id for one in await kept_tickets(again.server.journal)] == [taken["ticket"]]


async def test_who_gives_no_sign_of_life_waits_no_longer():
    async with World() as world:
        (ann,) = await at_lobby(world, "ann")
        await ask(ann, "queue", {"game": "tictactoe"})
        await world.wait(200)
        assert len(await kept_tickets(world.journal)) == 1, "she is at the lobby"
        await ann.drop()
        await world.wait(59)
        assert len(await kept_tickets(world.journal)) == 1
        await world.wait(3)
        assert await kept_tickets(world.journal) == []


async def test_who_is_matched_waits_nowhere_else():
    async with World() as world:
        ann, bob = await at_lobby(world, "ann", "bob")
        await ask(ann, "queue", {"game": "tictactoe"})
        await ask(ann, "queue", {"game": "stratego"})
        await ask(bob, "queue", {"game": "stratego"})
        assert len(ann.heard("matched")) == 1
        assert [payload["reason"] for _, payload in ann.heard("unqueued")] == ["matched"]


async def test_ranked_players_far_apart_are_paired_when_they_have_waited_long_enough():
    async with World() as world:
        ann, bob = await at_lobby(world, "ann", "bob")
        await ask(ann, "queue", {"game": "tictactoe", "mode": "ranked"})
        (ticket,) = world.server.pairing.index.open.values()
        world.server.pairing.index.add(replace(ticket, rating=1700.0), world.clock.now())
        await ask(bob, "queue", {"game": "tictactoe", "mode": "ranked"})
        await world.wait(18)
        assert ann.heard("matched") == []
        await world.wait(4)
        ((_, told),) = ann.heard("matched")
        assert (await world.server.rooms.look(told["room"])).ranked


# Rooms that wait for company.

NOUGHTS = Queue("tictactoe")


async def waiting(world: World, player: str, wanted: Queue = NOUGHTS) -> str:
    """Somebody wants a room to come to, and none waits: this one does, then."""
    ticket = await world.server.pairing.meet(player, wanted, f"{player}s-room")
    assert (ticket.at, ticket.room) == (f"{player}s-room", None)
    return f"{player}s-room"


async def sent(world: World, player: str, wanted: Queue = NOUGHTS) -> str | None:
    """Somebody wants a room to come to; the one to which they are sent."""
    return (await world.server.pairing.meet(player, wanted, f"{player}s-room")).room


async def test_who_waits_in_a_room_gets_company_there():
    async with World() as world:
        room = await waiting(world, "ann")
        await world.seated(room, "ann")
        (bob,) = await at_lobby(world, "bob")
        await ask(bob, "queue", {"game": "tictactoe"})
        assert bob.heard("matched")[0][1]["room"] == room
        assert world.room(room).players == ("ann", "bob")
        assert [ticket.room for ticket in await kept_tickets(world.journal)] == [room, room]


async def test_who_waits_at_the_lobby_is_seated_in_the_room_of_whoever_wants_one():
    async with World() as world:
        (bob,) = await at_lobby(world, "bob")
        await ask(bob, "queue", {"game": "tictactoe"})
        room = await waiting(world, "ann")
        assert bob.heard("matched")[0][1]["room"] == room
        assert await sent(world, "cat") is None, "that seat is for Ann, who opened the room"
        await world.seated(room, "ann")
        assert world.room(room).players == ("bob", "ann")


async def test_whoever_is_sent_to_a_room_has_a_seat_kept_for_a_while():
    async with World() as world:
        room = await waiting(world, "ann")
        await world.seated(room, "ann")
        assert await sent(world, "bob") == room
        assert await sent(world, "bob") == room, "and is sent there again"
        assert len(await kept_tickets(world.journal)) == 2
        assert await sent(world, "cat") is None
        await world.wait(31)
        assert await sent(world, "dan") == room, "Bob did not come"


async def test_who_comes_by_the_link_of_a_room_takes_the_seat_and_nobody_is_sent_there():
    async with World() as world:
        room = await waiting(world, "ann")
        await world.seated(room, "ann", "cat")
        assert [ticket.room for ticket in await kept_tickets(world.journal)] == [room]
        (bob,) = await at_lobby(world, "bob")
        await ask(bob, "queue", {"game": "tictactoe"})
        assert bob.heard("matched") == []


async def test_a_room_to_which_nobody_comes_is_closed_with_its_ticket():
    async with World() as world:
        room = await waiting(world, "ann")
        await world.wait(29)
        assert (await world.server.rooms.look(room)).ended is None
        await world.wait(3)
        assert (await world.server.rooms.look(room)).ended == "nobody_came"
        assert await kept_tickets(world.journal) == []


async def test_whoever_sits_in_a_room_waits_on_when_its_opener_does_not_come():
    async with World() as world:
        (bob,) = await at_lobby(world, "bob")
        await ask(bob, "queue", {"game": "tictactoe"})
        room = await waiting(world, "ann")
        await bob.join(room)
        await world.wait(32)
        assert await sent(world, "cat") == room
        await world.seated(room, "cat")
        assert world.room(room).players == ("bob", "cat")


async def test_a_room_that_ends_takes_its_ticket_with_it():
    async with World() as world:
        room = await waiting(world, "ann")
        await world.ask(room, Shutdown("closed"), None)
        await world.quiet()
        assert await kept_tickets(world.journal) == []
        assert await sent(world, "bob") is None


async def test_a_room_waits_on_after_a_restart_and_keeps_the_seat_of_who_was_sent_there():
    async with World() as world:
        room = await waiting(world, "ann")
        assert await sent(world, "bob") == room
        again = await world.restart()
        assert await sent(again, "cat") is None
        assert again.server.pairing.is_found("ann", room)
        await again.seated(room, "ann", "bob")
        last = await again.restart()
        assert {ticket.room for ticket in last.server.pairing.tickets("ann")} == {room}
        await last.server.stop()


async def test_a_ticket_whose_room_is_gone_does_not_survive_a_restart():
    async with World() as world:
        room = await waiting(world, "ann")
        (ticket,) = await kept_tickets(world.journal)
        await world.ask(room, Shutdown("closed"), None)
        await world.quiet()
        await save_ticket(world.journal, ticket)
        again = await world.restart()
        assert await kept_tickets(again.journal) == []
        await again.server.stop()


async def test_whoever_waits_in_a_room_gives_the_ticket_back_until_somebody_was_found():
    async with World() as world:
        room = await waiting(world, "ann")
        await sent(world, "bob")
        with pytest.raises(Refused, match="somebody was found"):
            await world.server.pairing.unqueue("ann", room)
        await world.wait(28)
        world.server.pairing.is_found("ann", room)  # a sign of life
        await world.wait(3)
        await world.server.pairing.unqueue("ann", room)
        assert (await world.server.rooms.look(room)).ended == "cancelled"


async def test_a_room_waits_for_ranked_players_within_tolerance_as_it_is_then():
    ranked = Queue("tictactoe", mode="ranked")
    async with World() as world:
        best, _ = await play(world, "ranked")
        room = await waiting(world, best, ranked)
        await world.seated(room, best)
        assert await sent(world, "cat", ranked) is None, "who has never played is 160 points below"
        await world.server.pairing.unqueue("cat", "cats-room")
        await world.wait(15)
        assert await sent(world, "dan", ranked) == room, "by now that is near enough"
        assert (await world.server.rooms.look(room)).ranked


@pytest.mark.parametrize("fails_at", ["create", "record"])
async def test_who_has_a_ticket_is_told_so_and_goes_on_waiting_if_no_room_can_be_kept(monkeypatch, fails_at):
    async with World() as world:
        ann, bob = await at_lobby(world, "ann", "bob")
        await ask(ann, "queue", {"game": "tictactoe"})

        does = getattr(world.journal, fails_at)

        async def fail(*what: object) -> object:
            if fails_at == "create" or what[0] == TICKET:
                raise NotKept("the disk is full")
            return await does(*what)

        with monkeypatch.context() as broken:
            broken.setattr(world.journal, fails_at, fail)
            status, taken = await ask(bob, "queue", {"game": "tictactoe"})
        assert (status, [one.id for one in world.server.pairing.tickets("bob")]) == ("ok", [taken["ticket"]])
        assert ann.heard("matched") == []
        await world.wait(2)
        assert len(ann.heard("matched")) == len(bob.heard("matched")) == 1


# How many may wait.


@pytest.mark.parametrize(
    ("settings", "whose"),
    [
        ({"player_tickets": 2}, "player"),
        ({"address_tickets": 2}, "address"),
        ({"tickets": 2}, "server"),
    ],
)
async def test_no_more_tickets_wait_than_a_player_an_address_and_the_server_may_have(settings, whose):
    async with World(**settings) as world:
        pairing = world.server.pairing
        others = {"player": "ann", "address": "bob", "server": "bob"}[whose]
        address = "203.0.113.9" if whose == "address" else None
        await pairing.queue("ann", Queue("tictactoe"), address)
        first = await pairing.queue("ann", Queue("stratego"), address)
        with pytest.raises(Refused, match=f"too_many.*at most 2 open tickets .*{whose}"):
            await pairing.queue(others, Queue("backgammon"), address)
        with pytest.raises(Refused, match="too_many"):
            await pairing.meet(others, Queue("backgammon"), "room", address=address)
        assert len(await kept_tickets(world.journal)) == 2
        await pairing.unqueue("ann", first.id)
        await pairing.queue(others, Queue("backgammon"), address)


async def test_who_is_sent_to_somebody_needs_no_ticket_more_than_there_may_be():
    async with World(tickets=1) as world:
        room = await waiting(world, "ann")
        assert await sent(world, "bob") == room


async def test_tickets_of_before_a_restart_count():
    async with World(player_tickets=1) as world:
        await world.server.pairing.queue("ann", Queue("tictactoe"))
        again = await world.restart()
        with pytest.raises(Refused, match="too_many"):
            await again.server.pairing.queue("ann", Queue("stratego"))
        await again.server.stop()


async def test_a_new_ticket_costs_the_lobby_the_same_however_many_wait():
    """What is counted is what the lobby's own files execute; a journal may have more to do."""

    async def cost(crowd: int) -> int:
        async with World(player_tickets=0, tickets=0) as world:
            index = world.server.pairing.index
            for number in range(crowd):
                who, size = f"p{number}", {"size": number % 7}
                index.add(Ticket(who, who, "", "go", size, 0.0, "ranked", rating=number), 0.0)
            with counted("lobby.py", "ticket_index.py", "pairing.py") as count:
                await world.server.pairing.queue("ann", NOUGHTS)
                await world.server.pairing.queue("bob", NOUGHTS)
            assert [ticket.room is not None for ticket in world.server.pairing.tickets("ann")] == [True]
            return count[0]

    assert await cost(5_000) < 1.2 * await cost(10)
