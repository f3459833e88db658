"""Who may watch a room, and who hears whom there: one rule, by whichever way somebody comes to it."""

import msgspec
import pytest

from parlour.errors import Refused
from parlour.room import Room
from parlour.server.result_records import results_of
from parlour.server.rooms.history import HistoryWanted
from parlour.server.rooms.stored_room import freeze
from parlour.wire import Leave
from tests.doors.hall import Hall, guid
from tests.doors.test_seats import by_ogetarts, by_the_hub, by_the_link
from tests.server.test_ratings import play_out

ROOM = guid("match")
NOBODY = "no_spectators"


@pytest.fixture
async def hall():
    async with Hall() as hall:
        yield hall


async def as_a_spectator(hall: Hall, who: str, room: str) -> str:
    status, answer = await (await hall.world.person(who)).join(room, spectate=True)
    return "watching" if status == "ok" else answer["code"]


async def full(hall: Hall, game: str, **how: object) -> None:
    """A room with Ann and Bob at its seats."""
    await hall.world.open(game, ROOM, **how)
    await hall.world.seated(ROOM, "ann", "bob")


# Who may watch.


@pytest.mark.parametrize(
    ("way", "game", "told"),
    [
        (as_a_spectator, "tictactoe", NOBODY),
        (as_a_spectator, "backgammon", NOBODY),
        (by_ogetarts, "stratego", NOBODY),
        (by_the_link, "tictactoe", "game_full"),
    ],
)
async def test_nobody_watches_a_room_that_is_for_its_players_alone(hall, way, game, told):
    await full(hall, game, watching="nobody")
    assert await way(hall, "eve", ROOM) == told
    assert hall.world.server.rooms.peek(ROOM).spectators == 0


async def test_a_client_of_another_server_is_told_that_both_seats_are_taken(hall):
    await full(hall, "backgammon", watching="nobody")
    assert "both seats" in await by_the_hub(hall, "eve", ROOM)


@pytest.mark.parametrize("watching", ["anyone", "link"])
@pytest.mark.parametrize(
    ("way", "game"),
    [(as_a_spectator, "tictactoe"), (as_a_spectator, "backgammon"), (by_ogetarts, "stratego")],
)
async def test_whoever_has_the_link_watches_any_other_room(hall, way, game, watching):
    await full(hall, game, watching=watching)
    assert await way(hall, "eve", ROOM) == "watching"


async def test_a_full_room_for_its_players_alone_sends_nobody_to_watch(hall):
    await full(hall, "tictactoe", watching="nobody")
    _, told = await (await hall.world.person("eve")).join(ROOM)
    assert told["message"] == "every seat is taken, and only those who play here may see the room"


async def test_players_come_back_to_a_room_for_its_players_alone(hall):
    await full(hall, "tictactoe", watching="nobody")
    await hall.restart()
    assert await by_the_link(hall, "ann", ROOM) == "seated"
    assert await as_a_spectator(hall, "eve", ROOM) == NOBODY, "after a restart as before"


async def test_whoever_gets_up_in_a_room_for_its_players_alone_sees_no_more_of_it(hall):
    await hall.world.open("tictactoe", ROOM, watching="nobody")
    ann, bob = await hall.world.seated(ROOM, "ann", "bob")
    await bob.push(ROOM, "leave", {})
    bob.forget()
    await ann.push(ROOM, "chat", {"text": "he is gone"})
    assert [frame[3] for frame in bob.frames] == []


async def test_a_room_that_is_opened_again_is_watched_by_whom_it_was_before(hall):
    await hall.world.open("tictactoe", ROOM, watching="nobody", apart=True)
    await hall.world.wait(4000)  # nobody came, so it has ended
    found = await hall.world.server.rooms.creation.again(ROOM, "ann", "203.0.113.1")
    assert (found.summary.ended, found.summary.watching, found.summary.apart) == (None, "nobody", True)


# Lists and replays.


@pytest.mark.parametrize(
    ("watching", "waiting", "playing"),
    [("anyone", True, True), ("link", True, False), ("nobody", True, False)],
)
async def test_a_room_that_not_anyone_may_watch_is_listed_only_while_it_waits_for_players(
    hall, watching, waiting, playing
):
    listed = hall.world.server.room_list.listed
    await hall.world.open("tictactoe", ROOM, watching=watching)
    assert [room.id for room in listed()] == ([ROOM] if waiting else [])
    await hall.world.seated(ROOM, "ann", "bob")
    assert [room.id for room in listed()] == ([ROOM] if playing else [])


async def test_the_lobby_hears_that_a_room_is_not_for_it_any_more(hall):
    eve = await hall.world.person("eve")
    await hall.world.open("tictactoe", ROOM, watching="link")
    await eve.send(["1", "1", "lobby", "phx_join", {}])
    await hall.world.seated(ROOM, "ann", "bob")
    await hall.world.wait(2)
    assert eve.heard("rooms_changed")[-1] == ("rooms_changed", {"rooms": [], "gone": [ROOM]})


async def history(hall: Hall, player: str | None) -> object:
    try:
        return (await hall.world.server.history.read(ROOM, player, HistoryWanted())).seq
    except Refused as why:
        return why.code


async def test_the_replay_of_a_room_for_its_players_alone_is_theirs_even_if_they_have_left_since(hall):
    await hall.world.open("tictactoe", ROOM, watching="nobody")
    ann, bob = await hall.world.seated(ROOM, "ann", "bob")
    assert (await history(hall, "eve"), await history(hall, None)) == (NOBODY, NOBODY)
    await play_out(hall.world, ROOM, {"ann": ann, "bob": bob})
    await hall.world.ask(ROOM, Leave("bob"))
    seq = hall.world.room(ROOM).seq
    assert [await history(hall, who) for who in ("ann", "bob", "eve", None)] == [seq, seq, NOBODY, NOBODY]


@pytest.mark.parametrize(("watching", "listed"), [("anyone", True), ("link", False), ("nobody", False)])
async def test_a_result_leads_strangers_only_to_a_replay_that_anyone_may_watch(hall, watching, listed):
    await hall.world.open("tictactoe", ROOM, watching=watching)
    ann, bob = await hall.world.seated(ROOM, "ann", "bob")
    await play_out(hall.world, ROOM, {"ann": ann, "bob": bob})
    (result,) = await results_of(hall.world.journal, "ann", 10)
    assert result.listed is listed


# Who hears whom.


async def talking(hall: Hall, *, apart: bool) -> dict[str, list[str]]:
    """Everybody says one thing; what each has heard."""
    await hall.world.open("tictactoe", ROOM, apart=apart)
    people = await hall.world.seated(ROOM, "ann", "bob")
    for name in ("eve", "fay"):
        people.append(await hall.world.person(name))
        await people[-1].join(ROOM, spectate=True)
    for person in people:
        assert (await person.push(ROOM, "chat", {"text": person.player}))[0] == "ok"
    return {person.player: [told["text"] for _, told in person.heard("chat")] for person in people}


async def test_everybody_hears_everybody_as_a_rule(hall):
    heard = await talking(hall, apart=False)
    assert list(heard.values()) == [["ann", "bob", "eve", "fay"]] * 4


async def test_where_they_talk_apart_neither_players_nor_spectators_hear_the_others(hall):
    heard = await talking(hall, apart=True)
    players, spectators = ["ann", "bob"], ["eve", "fay"]
    assert heard == {"ann": players, "bob": players, "eve": spectators, "fay": spectators}


@pytest.mark.parametrize(("who", "said"), [("ann", ["ann", "bob"]), ("eve", ["eve", "fay"])])
async def test_talk_that_was_apart_is_apart_for_those_who_come_back_and_in_replays(hall, who, said):
    await talking(hall, apart=True)
    back = await hall.world.person(who)
    await back.join(ROOM, since=4, spectate=who == "eve")
    assert [told["text"] for _, told in back.heard("chat")] == said
    page = await hall.world.server.history.read(ROOM, who, HistoryWanted())
    chat = [push.payload["text"] for step in page.steps for push in step.pushes if push.name == "chat"]
    assert chat == said


async def test_whoever_sits_down_talks_with_the_players_from_then_on(hall):
    await hall.world.open("tictactoe", ROOM, apart=True)
    (ann,) = await hall.world.seated(ROOM, "ann")
    eve = await hall.world.person("eve")
    await eve.join(ROOM, spectate=True)
    await eve.push(ROOM, "chat", {"text": "from the side"})
    await eve.join(ROOM)
    await eve.push(ROOM, "chat", {"text": "at the table"})
    assert [told["text"] for _, told in ann.heard("chat")] == ["at the table"]


# What was kept before there was such a rule.


def test_a_room_that_was_kept_before_is_watched_by_anyone_who_talk_together():
    room: Room[None] = Room("ABCD", "probe", {}, None, (None,), 1, b"")
    kept = msgspec.json.decode(freeze(room))
    assert "apart" not in kept
    assert msgspec.json.decode(msgspec.json.encode(kept), type=Room[None]).apart is False
