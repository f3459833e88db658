"""The GammonX door in trouble: breaks, slow players, doubles, and clients that ask for what cannot be."""

from functools import partial
from typing import Any

import pytest

from parlour.offers import Answer, Offer
from parlour.server.rooms.calls import Perform
from parlour.server.ticket_records import kept_tickets
from tests.doors.hall import Hall, Visitor, guid

OTHER = "281ccec7-ea50-4ab1-be58-32669e11ee14"


@pytest.fixture
async def hall():
    async with Hall() as hall:
        yield hall


# Coming back.


async def test_a_player_who_returns_has_the_seat_without_a_call(hall):
    one, other = await hall.playing()
    await one.drop()
    gone = other.last("player-disconnected")
    assert (gone["playerId"], gone["gracePeriod"]) == (one.seen, "00:00:30")
    again = await hall.come(one.who, one.match)
    assert again.last("player-connected")["allowedCommands"][0] == "Roll"
    assert other.events() == ["player-disconnected", "player-connected"]
    assert again.last("game-state")["activeTurn"] == one.id, "told at once"
    assert again.events() == ["player-connected", "game-state"]
    await again.do("Roll")
    assert len(again.last("game-state")["diceRolls"]) == 2


async def test_join_match_of_somebody_who_sits_shows_how_things_are(hall):
    one, _ = await hall.playing()
    await one.do("JoinMatch", one.id)
    assert one.events() == ["match-lobby-found", "game-state"]


async def test_while_a_connection_answers_no_other_takes_its_place(hall):
    one, other = await hall.playing()
    thief = await hall.come(one.who, one.match)
    await hall.wait(0.2)
    assert thief.last("error")["message"] == "this player is connected already"
    assert await thief.refused("Roll") == ("ROLL_ERROR", f"expected JoinMatch of match {one.match} first")
    assert other.events() == []


async def test_a_connection_that_is_silent_for_two_seconds_loses_its_place(hall):
    one, _ = await hall.playing()
    one.wire.reads = False
    again = await hall.come(one.who, one.match)
    await again.send(again.call("JoinMatch", one.match, one.id))
    await hall.wait(1.9)
    assert again.events() == []
    await hall.wait(0.3)
    assert again.events() == ["player-connected", "game-state", "match-lobby-found", "game-state"]
    await again.do("Roll")
    assert again.events() == ["game-state"]


async def test_whoever_is_away_for_too_long_loses_the_match(hall):
    one, other = await hall.playing()
    await one.drop()
    await hall.wait(31)
    assert other.events() == ["player-disconnected", "match-ended", "force-disconnect"]


async def test_who_comes_back_after_the_end_is_told_how_it_ended(hall):
    one, other = await hall.playing()
    await one.drop()
    await hall.wait(31)
    again = await hall.come(one.who, one.match)
    assert again.last("match-ended")["winner"] == other.seen
    assert again.events() == ["player-connected", "match-ended", "force-disconnect"]


async def test_a_match_goes_on_after_a_restart(hall):
    one, _ = await hall.playing()
    await one.do("Roll")
    before = one.last("game-state")
    await hall.restart()
    back = await hall.come(one.who, one.match)
    await back.do("GameState")
    assert back.last("game-state") == before


# Time.


async def test_half_of_the_time_is_told_to_whoever_is_on_turn(hall):
    one, other = await hall.playing()
    await hall.alive(29.5, one, other)
    assert (one.events(), other.events()) == ([], [])
    await hall.alive(1, one, other)
    told = one.last("turn-timer")
    assert told["activePlayer"] == one.id
    assert told["turnExpiration"] == "2025-01-01T00:01:00.000000Z"
    assert (one.events(), other.events()) == (["turn-timer"], [])


async def test_half_of_the_time_is_told_once_although_somebody_goes_and_comes(hall):
    one, other = await hall.playing()
    await hall.alive(31, one, other)
    assert one.events() == ["turn-timer"]
    await one.drop()
    await hall.alive(5, other)
    one = await hall.come(one.who, one.match)
    await hall.alive(20, one, other)
    assert one.events() == ["player-connected", "game-state"]


async def test_in_a_pause_nobody_is_told_that_half_of_the_time_is_over(hall):
    one, other = await hall.playing()
    room = hall.world.room(one.match)
    for seat, answer in ((0, Offer), (1, partial(Answer, accept=True))):
        await hall.world.server.rooms.call(one.match, Perform(answer(room.seats[seat].player, "pause")))
    await hall.alive(100, one, other)
    assert (one.events(), other.events()) == ([], [])


async def test_the_way_of_a_move_is_measured_at_this_door_too(hall):
    await hall.playing()
    assert [socket.measures for socket in hall.sockets.open] == [True, True]


async def test_who_does_not_play_in_a_minute_loses_the_game(hall):
    one, other = await hall.playing(type=1)
    await hall.alive(61, one, other)
    for who in (one, other):
        ended = who.last("game-ended")
        assert ended["gameRounds"][0]["winner"] == (other.id if who is other else other.seen)
        assert "StartGame" in ended["allowedCommands"]


async def test_a_client_is_pinged_and_one_that_says_nothing_is_sent_away(hall):
    match = await hall.want("ann")
    ann = await hall.come("ann", match)
    await hall.wait(16)
    assert {"type": 6} in ann.records
    await hall.wait(20)
    assert any(record.get("type") == 7 for record in ann.records if isinstance(record, dict))


# Doubles.


async def test_an_accepted_double_is_the_accepters_cube(hall):
    one, other = await hall.playing()
    await one.do("OfferDouble")
    offered = other.last("double-offered")
    assert offered["allowedCommands"] == ["AcceptDouble", "DeclineDouble", "ResignGame", "ResignMatch"]
    assert one.last("double-offered")["allowedCommands"] == ["ResignGame", "ResignMatch"]
    assert offered["activeTurn"] == other.id
    await other.do("AcceptDouble")
    boards = [who.last("double-accepted")["boardState"] for who in (one, other)]
    assert [board["doublingCubeValue"] for board in boards] == [2, 2]
    assert [board["doublingCubeOwner"] for board in boards] == [False, True]
    assert "OfferDouble" not in one.last("double-accepted")["allowedCommands"]


async def test_a_declined_double_is_told_before_the_game_ends(hall):
    one, other = await hall.playing(type=0)
    await one.do("OfferDouble")
    await other.do("DeclineDouble")
    assert one.last("game-ended")["gameRounds"][0]["score"] == 1
    for who in (one, other):
        assert who.events() == ["double-offered", "double-declined", "game-ended"]


# What is refused, and changes nothing.


async def test_what_is_not_allowed_is_an_error_to_the_caller_alone(hall):
    one, other = await hall.playing()
    assert await one.refused("Move", 0, 1) == (
        "MOVE_ERROR",
        "call Roll first",
    )
    assert (await one.refused("EndTurn"))[0] == "END_TURN_ERROR"
    assert (await one.refused("StartGame"))[0] == "START_GAME_ERROR"
    assert (await one.refused("AcceptDouble"))[0] == "ACCEPT_DOUBLE_ERROR"
    assert (await other.refused("Roll"))[0] == "ROLL_ERROR"
    assert (await other.refused("UndoMove"))[0] == "UNDO_MOVE_ERROR"
    await one.do("Roll")
    assert (await one.refused("Move", 0, 23))[0] == "MOVE_ERROR"
    assert (await one.refused("Move", 24, 0)) == (
        "MOVE_ERROR",
        "from: expected a field from 0 to 23, -1 (your bar) or -100 (off), got 24",
    )
    assert other.events() == ["error", "game-state"]


async def test_after_force_disconnect_the_socket_is_closed(hall):
    one, other = await hall.playing()
    completion = await one.do("ResignMatch")
    assert completion == {"type": 3, "invocationId": completion["invocationId"]}, "the last call is answered"
    assert other.last("match-ended")["winner"] == other.id
    for who in (one, other):
        closed = who.records[-2:]
        assert closed == [{"type": 7}, "closed 1000"], "and the client is not asked to come back"
    assert one.events()[-2:] == other.events()[-2:] == ["match-ended", "force-disconnect"]


async def test_who_comes_back_after_the_end_is_told_once_and_sent_away(hall):
    one, _ = await hall.playing()
    await one.do("ResignMatch")
    again = await hall.come(one.who, one.match, shake=False)
    await again.send(
        {"protocol": "json", "version": 1},
        again.call("Roll", one.match),
        again.call("MatchState", one.match),
    )
    assert again.records[-1] == "closed 1000"
    assert again.events() == ["player-connected", "match-ended", "force-disconnect"]


async def test_a_lapsed_match_answers_once(hall):
    match = await hall.want("ann")
    await hall.wait(32)
    assert (await hall.world.server.rooms.look(match)).ended == "nobody_came"
    ann = await hall.come("ann", match, shake=False)
    await ann.send({"protocol": "json", "version": 1}, ann.call("JoinMatch", match, ann.id))
    assert ann.records[-1] == "closed 1000"
    assert ann.events() == ["force-disconnect"]
    eve = await hall.come("eve")
    eve.match = match
    assert await eve.refused("JoinMatch", eve.id) == ("LOBBY_ERROR", f"match {match} is over")


async def test_a_match_that_is_closed_sends_away_whoever_waits_in_it_once(hall):
    match = await hall.want("ann")
    ann = await hall.come("ann", match)
    await ann.do("JoinMatch", ann.id)
    await hall.call(f"/api/matches/queues/{match}/cancel", {"playerId": ann.id, "matchModus": 0})
    assert ann.records[-1] == "closed 1000"
    assert ann.events() == ["match-lobby-waiting", "force-disconnect"]


async def test_a_double_that_is_not_answered_in_time_is_declined(hall):
    one, other = await hall.playing(type=0)
    await one.do("OfferDouble")
    await hall.alive(61, one, other)
    for who in (one, other):
        assert who.last("game-ended")["gameRounds"][0]["points"] == 1
        assert who.events()[-2:] == ["double-declined", "game-ended"]


async def test_nobody_joins_an_unknown_match_or_under_a_malformed_id(hall):
    eve = await hall.come("eve", OTHER)
    assert await eve.refused("JoinMatch", eve.id) == ("LOBBY_ERROR", f"there is no match {OTHER}")
    eve.match = "room 5"
    assert await eve.refused("JoinMatch", eve.id) == ("LOBBY_ERROR", "matchId: expected a GUID, got 'room 5'")
    assert await eve.refused("Roll") == ("ROLL_ERROR", "matchId: expected a GUID, got 'room 5'")


async def test_nobody_joins_under_a_malformed_player_id_whether_called_or_in_the_address(hall):
    match = await hall.want("ann")
    for id in ("ann", "", "00000000-0000-0000-0000-000000000000", "281ccec7ea504ab1be5832669e11ee14"):
        eve = await hall.come("eve", query=f"matchId={match}&playerId={id}")
        assert eve.events() == [], "nothing is asked yet"
        eve.match = match
        code, message = await eve.refused("JoinMatch", id)
        assert (code, message[:25]) == ("LOBBY_ERROR", "playerId: expected a GUID")
    ann = await hall.come("ann", match)
    await ann.do("JoinMatch", ann.id)
    assert ann.last("match-lobby-waiting")["player1"] == ann.id, "both seats were free"


async def test_an_error_says_that_one_has_to_join_and_then_what_one_may_do(hall):
    match = await hall.want("ann")
    ann = await hall.come("ann", match)
    await ann.refused("GameState")
    assert ann.last("error")["allowedCommands"] == ["JoinMatch"]
    await ann.do("JoinMatch", ann.id)
    await ann.refused("Roll")
    assert ann.last("error")["allowedCommands"] == [], "nobody else is there"
    one, _ = await hall.playing(1)
    await one.refused("EndTurn")
    assert one.last("error")["allowedCommands"] == ["Roll", "ResignGame", "ResignMatch"]


async def test_a_third_player_finds_no_seat(hall):
    one, other = await hall.playing()
    eve = await hall.come("eve", one.match)
    code, _ = await eve.refused("JoinMatch", eve.id)
    assert code == "LOBBY_ERROR"
    assert (one.events(), other.events()) == ([], [])


async def test_a_connection_plays_one_match_as_one_player(hall):
    one, _ = await hall.playing()
    assert (await one.refused("JoinMatch", guid("eve")))[0] == "LOBBY_ERROR"
    one.match = await hall.want("eve")
    assert (await one.refused("JoinMatch", one.id))[0] == "LOBBY_ERROR"


@pytest.mark.parametrize(
    ("target", "arguments"),
    [
        ("Dance", ()),
        ("Roll", ("one", "two")),
        ("Roll", (1,)),
        ("Move", (OTHER, "0", "2")),
        ("Move", (OTHER, 0)),
        ("Move", (OTHER, True, 2)),
        ("Move", (OTHER, 0.5, 2)),
        ("Move", (OTHER, 0, 2**53 + 1)),
        ("Move", (OTHER, 0, 10**20)),
        ("JoinMatch", (OTHER,)),
        ("JoinMatch", ()),
        ("GameState", ({},)),
    ],
)
async def test_a_call_that_does_not_fit_fails_and_the_connection_stays(hall, target, arguments):
    one, _ = await hall.playing()
    call = one.call(target, *arguments)
    await one.send(call)
    assert "error" in next(r for r in one.records if r.get("invocationId") == call["invocationId"])
    del call["invocationId"]
    await one.send(call)
    assert one.last("error")["code"]
    await one.do("Roll")
    assert one.last("game-state")["phase"] in (1, 5)


async def test_methods_are_known_in_any_case_and_calls_are_done_in_order(hall):
    match = await hall.want("ann")
    await hall.want("bob")
    ann, bob = await hall.come("ann", match), await hall.come("bob", match)
    await ann.send(ann.call("joinmatch", match, ann.id), ann.call("STARTGAME", match))
    assert ann.events() == ["match-lobby-waiting", "error"], "nobody starts alone"
    await bob.send(bob.call("JoinMatch", match, bob.id), bob.call("StartGame", match))
    assert bob.events() == ["match-lobby-found", "match-started", "game-waiting"]


# What is asked over HTTP.


@pytest.mark.parametrize(
    "wish",
    [
        {},
        {"PlayerId": "ann"},
        {"PlayerId": "00000000-0000-0000-0000-000000000000"},
        {"PlayerId": 7},
        {"PlayerId": OTHER, "MatchVariant": 3},
        {"PlayerId": OTHER, "MatchModus": 99},
        {"PlayerId": OTHER, "MatchType": -1},
        {"PlayerId": OTHER, "MatchType": "2"},
        {"PlayerId": OTHER, "MatchVariant": True},
        [],
        "ann",
    ],
)
async def test_a_wish_that_makes_no_sense_is_refused_with_a_code_and_a_sentence(hall, wish):
    answer = await hall.call("/api/matches/join", wish)
    assert (answer.status_code, answer.json()["type"]) == (400, "ERROR")
    assert set(answer.json()["payload"]) == {"code", "message"}
    assert answer.json()["payload"]["code"] == "JOIN_ERROR"


async def test_names_of_a_wish_may_be_in_any_case_and_the_prefix_is_optional(hall):
    wish = {"playerid": OTHER.upper(), "MATCHVARIANT": 1, "matchModus": 0, "matchtype": 2, "botLevel": 1}
    answer = await hall.call("/game/api/matches/join", wish)
    assert (answer.json()["type"], set(answer.json()["payload"])) == ("OK", {"matchId", "queueId", "status"})


async def test_whoever_asks_again_is_given_the_same_match(hall):
    match = await hall.want("ann")
    assert await hall.want("ann") == match
    assert await hall.want("bob") == match
    assert [await hall.want(who) for who in ("ann", "bob")] == [match, match], "before they have come"
    assert len(await kept_tickets(hall.world.journal)) == 2
    assert await hall.want("ann", 1) != match, "another kind of match"
    await hall.wait(40)
    assert await hall.want("ann") != match, "nobody waited there any more"


async def test_whoever_asks_again_still_waits(hall):
    match = await hall.want("ann")
    await hall.wait(25)
    assert await hall.want("ann") == match
    await hall.wait(25)
    assert await hall.want("bob") == match


async def test_bots_of_another_level_are_another_match(hall):
    easy = await hall.want("ann", modus=2, BotLevel=0)
    assert await hall.want("ann", modus=2, BotLevel=2) != easy
    assert await hall.want("ann", modus=2, BotLevel=0) == easy


async def test_whoever_plays_already_may_want_another_match(hall):
    one, _ = await hall.playing()
    assert await hall.want("ann") != one.match


async def test_a_queue_is_polled_until_somebody_is_found(hall):
    match, me = await hall.want("ann"), {"playerId": guid("ann"), "matchModus": 0}
    waits = {"queueId": match, "status": 0, "matchId": None}
    assert (await hall.call(f"/api/matches/queues/{match}", me)).json()["payload"] == waits
    for _ in range(5):
        await hall.wait(20)
        assert (await hall.call(f"/api/matches/queues/{match}", me)).json()["payload"] == waits
    assert await hall.want("bob") == match
    found = {"queueId": None, "status": 1, "matchId": match}
    assert (await hall.call(f"/api/matches/queues/{match}", me)).json()["payload"] == found
    answer = await hall.call(f"/api/matches/queues/{match}/cancel", me)
    assert (answer.status_code, answer.json()["payload"]["code"]) == (400, "QUEUE_ERROR")


async def test_who_waits_no_longer_is_not_found(hall):
    match, me = await hall.want("ann"), {"playerId": guid("ann"), "matchModus": 0}
    answer = await hall.call(f"/api/matches/queues/{match}/cancel", me)
    assert answer.json()["payload"] == {"queueId": match, "status": 2, "matchId": None}
    assert await hall.want("bob") != match
    for queue in (match, OTHER, "nonsense"):
        answer = await hall.call(f"/api/matches/queues/{queue}", me)
        assert (answer.status_code, answer.json()["payload"]["code"]) == (400, "QUEUE_ERROR")


async def test_nobody_polls_or_cancels_what_another_waits_for(hall):
    match, eve = await hall.want("ann"), {"playerId": guid("eve"), "matchModus": 0}
    for path in (match, f"{match}/cancel"):
        answer = await hall.call(f"/api/matches/queues/{path}", eve)
        assert (answer.status_code, answer.json()["payload"]["code"]) == (400, "QUEUE_ERROR")
    assert await hall.want("bob") == match


async def test_a_negotiated_connection_is_opened_once_and_soon(hall):
    async def negotiate() -> Any:
        return (await hall.call("/matchhub/negotiate?negotiateVersion=1")).json()

    offer = await negotiate()
    assert [transport["transport"] for transport in offer["availableTransports"]] == ["WebSockets"]
    public = await hall.come("ann", shake=False, query=f"id={offer['connectionId']}")
    assert public.records[0].startswith("refused 404")
    await hall.come("ann", query=f"id={offer['connectionToken']}")
    twice = await hall.come("ann", shake=False, query=f"id={offer['connectionToken']}")
    assert twice.records[0].startswith("refused 409")
    late = await negotiate()
    await hall.wait(16)
    visitor = await hall.come("ann", shake=False, query=f"id={late['connectionToken']}")
    assert visitor.records[0].startswith("refused 404")


async def test_one_address_is_promised_so_many_connections_and_takes_none_from_others(hall):
    async def negotiate() -> Any:
        return await hall.call("/matchhub/negotiate?negotiateVersion=1")

    first = (await negotiate()).json()
    for _ in range(499):
        assert (await negotiate()).status_code == 200
    refused = await negotiate()
    assert (refused.status_code, refused.json()["payload"]["message"]) == (
        429,
        "at most 500 negotiated connections for one address at a time",
    )
    await hall.come("ann", query=f"id={first['connectionToken']}")
    assert (await negotiate()).status_code == 200
    await hall.wait(25)
    assert hall.door._promised._held == 0


async def test_pages_of_other_sites_may_call(hall):
    answer = await hall.http.options("/matchhub/negotiate", headers={"Origin": "https://play.example"})
    assert answer.headers["access-control-allow-origin"] == "https://play.example"


# One match, several protocols.


async def test_a_browser_player_sits_in_the_same_match(hall):
    match = await hall.want("ann")
    ann = await hall.come("ann", match)
    await ann.do("JoinMatch", ann.id)
    cid = await hall.world.person("cid")
    assert (await cid.join(match))[0] == "ok"
    await hall.quiet()
    assert ann.events() == ["match-lobby-waiting", "match-lobby-found", "match-started"]
    await ann.do("StartGame")
    await cid.play(match, {"type": "ready"})
    await hall.quiet()
    state = ann.last("game-started")
    if state["activeTurn"] == ann.id:
        await ann.do("Roll")
    else:
        await cid.play(match, {"type": "roll"})
    await hall.quiet()
    view = cid.heard("update")[-1][1]["view"]
    assert [die["roll"] for die in ann.last("game-state")["diceRolls"]] == list(view["dice"])


async def test_with_a_token_of_ours_one_is_that_player(hall):
    match = await hall.want("ann")
    token = hall.tokens.issue("dan")
    visitor = await hall.come("ann", match, query=f"&access_token={token}")
    await visitor.do("JoinMatch", visitor.id)
    assert [seat and seat.player for seat in hall.world.room(match).seats] == ["dan", None]
    assert visitor.last("match-lobby-waiting")["player1"] == visitor.id


async def test_an_id_opens_no_seat_that_a_token_holds(hall):
    match = await hall.want("ann")
    holder = await hall.come("ann", match, query=f"&access_token={hall.tokens.issue('dan')}")
    await holder.do("JoinMatch", holder.id)
    thief: Visitor = await hall.come("ann", match)
    assert thief.events() == []
    await thief.do("JoinMatch", thief.id)
    seats = [seat.player for seat in hall.world.room(match).seats]
    assert seats == ["dan", hall.world.server.pseudonyms.player(thief.id)], (
        "another player, who happens to use the same id"
    )


async def test_the_time_to_be_away_is_for_the_whole_match(hall):
    one, other = await hall.playing()
    for left in ("00:00:30", "00:00:20"):
        await other.drop()
        assert one.last("player-disconnected")["gracePeriod"] == left
        await hall.alive(10, one)
        other = await hall.come(other.who, one.match)
    await other.drop()
    await hall.alive(9, one)
    assert "match-ended" not in one.events()
    await hall.alive(2, one)
    assert one.last("match-ended")["winner"] == one.id
