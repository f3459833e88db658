"""Who may take a free seat: one rule, by whichever way somebody comes to it."""

from collections.abc import Awaitable, Callable

import pytest

from parlour.errors import Refused
from parlour.journal.base import NotKept
from parlour.server.standings import leaders
from parlour.wire import Leave, Queue
from tests.doors.hall import Hall, guid
from tests.server.test_pairing import sent, waiting
from tests.server.test_ratings import calls, play

KEPT = "seat_kept"


@pytest.fixture
async def hall():
    async with Hall() as hall:
        yield hall


Way = Callable[[Hall, str, str], Awaitable[str]]
"""How somebody comes to a seat in a room: "seated", "watching", or the code with which they are refused."""


async def by_the_link(hall: Hall, who: str, room: str) -> str:
    status, answer = await (await hall.world.person(who)).join(room)
    return "seated" if status == "ok" else answer["code"]


async def by_ogetarts(hall: Hall, who: str, room: str) -> str:
    person = await hall.world.person(who)
    await person.send(["1", "1", f"games:{room}", "phx_join", {"user": who}])
    reply = next(frame for frame in person.frames if frame[1] == "1")[4]
    if reply["status"] != "ok":
        return str(reply["response"]["reason"])
    return "seated" if hall.world.room(room).seat(who) else "watching"


async def by_the_hub(hall: Hall, who: str, room: str) -> str:
    visitor = await hall.come(who, room)
    await visitor.send(visitor.call("JoinMatch", room, visitor.id))
    if any(record.get("target") == "error" for record in visitor.records):
        error = visitor.last("error")
        assert error["code"] == "LOBBY_ERROR"
        await visitor.drop()
        return KEPT if "kept for" in error["message"] or "paired" in error["message"] else error["message"]
    return "seated" if hall.world.room(room).seat(hall.player(who)) else "nothing"


async def as_a_bot(hall: Hall, who: str, room: str) -> str:
    """Whoever sits there lets a bot sit down."""
    try:
        await hall.world.seat_bot(room, None, "ann")
    except Refused as why:
        return why.code
    return "seated"


STRATEGO, BACKGAMMON, NOUGHTS = Queue("stratego"), Queue("backgammon"), Queue("tictactoe")
WAYS = [
    (by_the_link, NOUGHTS),
    (by_the_link, BACKGAMMON),
    (by_ogetarts, STRATEGO),
    (by_the_hub, BACKGAMMON),
    (as_a_bot, NOUGHTS),
]
MATCH = guid("match")


async def wait_in(hall: Hall, wanted: Queue) -> None:
    """Ann waits in a room to which Bob was sent."""
    pairing = hall.world.server.pairing
    assert (await pairing.meet("ann", wanted, MATCH)).at == MATCH
    await hall.world.seated(MATCH, "ann")
    assert (await pairing.meet("bob", wanted, "another")).room == MATCH


@pytest.mark.parametrize(("way", "game"), WAYS)
async def test_a_promised_seat_is_kept_for_its_player(hall, way, game):
    await wait_in(hall, game)
    assert await way(hall, "eve", MATCH) in (KEPT, "watching")
    assert hall.world.room(MATCH).players == ("ann", None)
    assert await by_the_link(hall, "bob", MATCH) == "seated"


@pytest.mark.parametrize(("way", "game"), WAYS)
async def test_a_promise_lapses_after_thirty_seconds(hall, way, game):
    await wait_in(hall, game)
    await hall.wait(29)
    assert await way(hall, "eve", MATCH) in (KEPT, "watching")
    await hall.wait(2)
    assert await way(hall, "dan", MATCH) == "seated"


@pytest.mark.parametrize("way", [by_the_link, by_the_hub])
async def test_a_promise_is_kept_over_a_restart(hall, way):
    await wait_in(hall, BACKGAMMON)
    await hall.restart()
    assert await way(hall, "eve", MATCH) == KEPT
    await hall.wait(29)
    assert await way(hall, "eve", MATCH) == KEPT
    assert await by_the_link(hall, "bob", MATCH) == "seated"


async def test_whoever_finds_the_seat_kept_may_watch(hall):
    await wait_in(hall, NOUGHTS)
    eve = await hall.world.person("eve")
    assert (await eve.join(MATCH))[1]["code"] == KEPT
    status, answer = await eve.join(MATCH, spectate=True)
    assert (status, answer["seat"]) == ("ok", None)


@pytest.mark.parametrize(("way", "game"), [way for way in WAYS if way[0] is not by_ogetarts])
async def test_the_seats_of_a_ranked_room_are_for_those_whom_the_lobby_sent(hall, way, game):
    await wait_in(hall, Queue(game.game, mode="ranked"))
    await hall.alive(60)
    assert await way(hall, "eve", MATCH) == KEPT, "though nobody has come"
    await hall.restart()
    assert await way(hall, "eve", MATCH) == KEPT
    assert await by_the_link(hall, "bob", MATCH) == "seated", "late, and yet he was paired"


async def test_the_opener_of_a_ranked_match_has_the_first_claim_to_it(hall):
    match = await hall.want("ann", modus=1)
    assert await by_the_hub(hall, "eve", match) == KEPT
    assert await by_the_link(hall, "dan", match) == KEPT
    assert await by_the_hub(hall, "ann", match) == "seated"


async def test_nobody_takes_over_the_seat_that_a_paired_player_left_in_a_ranked_game(hall):
    world = hall.world
    first, _ = await play(world, "ranked")
    (room,) = [ticket.room for ticket in world.server.pairing.tickets(first)]
    await world.ask(room, Leave(first), None)
    assert await by_the_link(hall, "eve", room) == KEPT
    await hall.restart()
    assert await by_the_link(hall, "eve", room) == KEPT
    assert await by_the_link(hall, first, room) == "seated"


async def test_a_ranked_game_counts_only_between_those_who_were_paired(hall):
    match = await hall.want("ann", modus=1)
    assert await hall.want("bob", modus=1) == match
    for who in ("eve", "ann", "eve", "bob"):
        expected = KEPT if who == "eve" else "seated"
        assert await by_the_hub(hall, who, match) == expected
    await hall.people[-1].do("ResignMatch")
    standings = await leaders(hall.world.journal, "backgammon/backgammon", 10)
    assert {one.player for one in standings} == {hall.player("ann"), hall.player("bob")}


async def test_over_http_a_bot_does_not_take_a_promised_seat(hall):
    room = await waiting(hall.world, "ann")
    await hall.world.seated(room, "ann")
    assert await sent(hall.world, "bob") == room
    async with calls(hall.world) as http:
        bearer = {"Authorization": f"Bearer {hall.tokens.issue('ann')}"}
        answer = await http.post(f"/api/rooms/{room}/bots", json={}, headers=bearer)
    assert (answer.status_code, answer.json()["code"]) == (409, KEPT)


# Bots that were asked for.


@pytest.mark.parametrize("digit", "0123456789abcdef")
async def test_whether_a_bot_comes_is_read_from_the_ticket_and_not_from_the_id(hall, digit):
    match = MATCH[:-1] + digit
    await hall.world.open("backgammon", match)
    await hall.world.seated(match, "dan")
    ann = await hall.come("ann", match)
    await ann.do("JoinMatch", ann.id)
    assert hall.world.room(match).players == ("dan", hall.player("ann"))
    await ann.do("MatchState")
    assert ann.last("match-state")["modus"] == 0


async def test_a_bot_sits_only_with_whoever_asked_for_it(hall):
    match = await hall.want("ann", modus=2)
    assert await by_the_hub(hall, "eve", match) == KEPT
    assert await by_the_link(hall, "dan", match) == KEPT
    ann = await hall.come("ann", match)
    await ann.do("JoinMatch", ann.id)
    assert ann.last("match-lobby-found")["player1"] == ann.id
    assert ann.last("match-started")["modus"] == 2
    assert hall.world.room(match).bots == ["bot:hard"]


async def test_a_bot_that_could_not_sit_down_does_so_later(hall, monkeypatch):
    match = await hall.want("ann", modus=2)
    ann = await hall.come("ann", match)
    append = hall.world.journal.append

    def fail_for_bots(number, steps, writes, kept):
        if getattr(steps[0].command, "bot", False):
            kept(NotKept("the disk is full"))
        else:
            append(number, steps, writes, kept)

    with monkeypatch.context() as broken:
        broken.setattr(hall.world.journal, "append", fail_for_bots)
        await ann.do("JoinMatch", ann.id)
        assert hall.world.room(match).players == (hall.player("ann"), None)
    await hall.restart()
    await hall.come("ann", match)
    await hall.wait(2)
    assert hall.world.room(match).players == (hall.player("ann"), "bot:hard")
