"""Which rooms are listed, and what the lobby is told of them."""

import pytest

from parlour.server.parts.room_list import LONGEST_PAUSE, MAX_LISTED, MOST_OF_AN_ADDRESS, NEW_FOR
from parlour.server.rooms.waking import end_room
from tests.server.world import PLAYABLE, World


@pytest.fixture
async def world():
    async with World(PLAYABLE, empty_room_minutes=0) as world:
        yield world


async def at_the_lobby(world, player="ann"):
    person = await world.person(player)
    await person.send(["1", "1", "lobby", "phx_join", {}])
    return person


def listed(world):
    return [room.id for room in world.server.room_list.listed()]


def changes(person):
    """What somebody was told after the join: (ids of rooms, ids that are gone)."""
    told = [payload for _, payload in person.heard("rooms_changed")]
    return [([room["id"] for room in one["rooms"]], one["gone"]) for one in told]


# Which.


async def test_a_new_room_is_listed_for_a_minute_even_if_nobody_comes(world):
    await world.open("probe", "ONE")
    await world.open("probe", "TWO")
    assert listed(world) == ["TWO", "ONE"]
    await world.wait(NEW_FOR)
    assert listed(world) == []
    assert (await world.server.rooms.look("ONE")).ended is None


async def test_a_room_is_listed_while_somebody_with_a_seat_is_connected(world):
    await world.open("tictactoe")
    (ann,) = await world.seated("ABCD", "ann")
    await world.wait(NEW_FOR + 1)
    assert listed(world) == ["ABCD"]
    await ann.drop()
    await world.wait(1)
    assert listed(world) == []
    await world.seated("ABCD", "ann")
    assert listed(world) == ["ABCD"]


async def test_a_room_is_listed_while_whoever_opened_it_watches_and_not_while_others_do(world):
    await world.open("tictactoe", creator="zoe")
    zoe, yan = await world.person("zoe"), await world.person("yan")
    for person in (zoe, yan):
        await person.join("ABCD", spectate=True)
    await world.wait(NEW_FOR + 1)
    assert listed(world) == ["ABCD"]
    await zoe.drop()
    await world.wait(1)
    assert listed(world) == []


async def test_bots_alone_list_no_room(world):
    await world.open("tictactoe", creator="ann")
    await world.seat_bot("ABCD", "random", "ann")
    await world.wait(NEW_FOR + 1)
    assert listed(world) == []


async def test_the_lobby_hears_in_a_while_how_many_watch(world):
    await world.open("tictactoe")
    await world.seated("ABCD", "ann")
    zoe = await at_the_lobby(world, "zoe")
    await (await world.person("yan")).join("ABCD", spectate=True)
    await world.wait(LONGEST_PAUSE + 1)
    (told,) = [payload["rooms"] for _, payload in zoe.heard("rooms_changed")]
    assert [(room["id"], room["spectators"]) for room in told] == [("ABCD", 1)]


async def test_the_list_says_which_variant_is_played_and_how_a_match_stands(world):
    await world.open("backgammon", config={"variant": "portes", "match": "five_points"})
    await world.seated("ABCD", "ann", "bob")
    (room,) = world.server.room_list.listed()
    assert (room.config["variant"], room.score) == ("portes", (0, 0))


async def test_private_and_unlisted_rooms_are_never_listed(world):
    await world.open("tictactoe", "SECRET", private=True)
    await world.open("tictactoe", "FRIENDS", listed=False)
    for room, player in (("SECRET", "ann"), ("FRIENDS", "bob")):
        await world.seated(room, player)
    assert listed(world) == []
    assert not (await world.server.rooms.look("FRIENDS")).listed
    assert not (await world.server.rooms.look("FRIENDS")).private


async def test_one_address_cannot_fill_the_list(world):
    await world.open("probe", "OTHER", address="203.0.113.2")
    for number in range(MOST_OF_AN_ADDRESS + 20):
        await world.open("probe", f"R{number}", creator=f"p{number}", address="203.0.113.1")
    assert len(listed(world)) == MOST_OF_AN_ADDRESS + 1
    assert listed(world)[-1] == "OTHER"


async def test_at_most_so_many_rooms_are_listed_the_newest_first(world):
    for number in range(MAX_LISTED + 5):
        await world.open("probe", f"R{number}")
    assert listed(world) == [f"R{number}" for number in range(MAX_LISTED + 4, 4, -1)]


# Telling.


async def test_the_lobby_is_told_all_rooms_at_the_join_and_then_changes_only(world):
    await world.open("probe", "OLD")
    ann = await at_the_lobby(world)
    assert [room["id"] for room in ann.heard("rooms")[0][1]["rooms"]] == ["OLD"]
    await world.open("probe", "SECR", private=True)
    await world.wait(1)
    assert changes(ann) == []
    await world.open("probe", "OPEN")
    await world.open("probe", "SOME")
    await world.wait(1)
    assert changes(ann) == [(["SOME", "OPEN"], [])]
    await world.seated("OLD", "bob")
    await world.wait(1)
    assert changes(ann)[1:] == [(["OLD"], [])]
    await world.wait(NEW_FOR + LONGEST_PAUSE)
    assert sorted(changes(ann)[-1][1]) == ["OPEN", "SOME"]
    assert len(ann.heard("rooms")) == 1


async def test_moves_are_no_news_at_the_lobby(world):
    await world.open("tictactoe")
    players = await world.seated("ABCD", "ann", "bob")
    zoe = await at_the_lobby(world, "zoe")
    for person, cell in zip(players, (0, 4), strict=True):
        assert (await person.play("ABCD", {"type": "mark", "cell": cell}))[0] == "ok"
    await world.wait(2 * LONGEST_PAUSE)
    assert changes(zoe) == []


async def test_whoever_comes_between_two_changes_misses_none_and_keeps_no_room_that_is_gone(world):
    ann = await at_the_lobby(world)
    await world.open("probe", "NEW", creator="bob")
    bob = await at_the_lobby(world, "bob")
    assert [room["id"] for room in bob.heard("rooms")[0][1]["rooms"]] == ["NEW"]
    await world.wait(1)
    assert changes(ann) == [(["NEW"], [])]
    await world.wait(NEW_FOR + LONGEST_PAUSE)
    assert changes(ann)[-1] == changes(bob)[-1] == ([], ["NEW"])


async def test_a_room_that_was_told_and_went_before_the_others_heard_of_it_is_gone_for_all(world):
    await at_the_lobby(world)
    await world.open("tictactoe", creator="bob")
    bob = await at_the_lobby(world, "bob")
    room = world.server.rooms.get("ABCD")
    await world.quiet()
    await end_room(world.server.environment, room.number, room.found.summary, "game_ended")
    room._room = None
    await world.wait(1)
    assert changes(bob) == [([], ["ABCD"])]


async def test_more_listeners_are_told_less_often(world):
    for number in range(1000):
        await at_the_lobby(world, f"p{number}")
    ann = await at_the_lobby(world)
    await world.open("probe", "NEW")
    await world.wait(4)
    assert changes(ann) == []
    await world.wait(2)
    assert changes(ann) == [(["NEW"], [])]


async def test_a_change_costs_each_listener_the_size_of_a_room_and_not_of_the_list(world):
    for number in range(100):
        await world.open("probe", f"R{number}")
    people = [await at_the_lobby(world, f"p{number}") for number in range(20)]
    whole = sum(len(text) for _, way, text in world.log if way == "<")
    world.log.clear()
    await world.seated("R7", "bob")
    lobby = [text for who, way, text in world.log if way == "<" and who != "bob"]
    assert not lobby
    await world.wait(1)
    told = sum(len(text) for who, way, text in world.log if way == "<" and who != "bob")
    assert all(changes(person) == [(["R7"], [])] for person in people)
    assert told < 20 * 700
    assert told < whole / 50


async def test_who_left_the_lobby_hears_no_more(world):
    ann = await at_the_lobby(world)
    await ann.send(["1", "2", "lobby", "phx_leave", {}])
    await world.open("probe", "NEW")
    await world.wait(2 * LONGEST_PAUSE)
    assert changes(ann) == []
    again = await at_the_lobby(world, "bob")
    assert [room["id"] for room in again.heard("rooms")[0][1]["rooms"]] == ["NEW"]


async def test_a_server_that_stops_tells_nobody_of_its_rooms(world):
    ann = await at_the_lobby(world)
    await world.open("probe", "NEW")
    world.server.room_list.stop()
    await world.wait(2 * LONGEST_PAUSE)
    assert changes(ann) == []
