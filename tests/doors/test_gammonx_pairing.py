"""A match of the GammonX door that waits is a ticket at the lobby: whoever wants the same is seated in it."""

from typing import Any

import pytest

from parlour.server.standings import leaders
from parlour.server.ticket_records import kept_tickets
from tests.doors.hall import Hall, guid
from tests.server.test_pairing import ask, at_lobby
from tests.server.test_ratings import calls
from tests.server.world import Person


@pytest.fixture
async def hall():
    async with Hall() as hall:
        yield hall


async def play_now(hall: Hall, player: str, mode: str = "normal", **config: str) -> Person:
    """Somebody at the native lobby who wants a match of backgammon."""
    (person,) = await at_lobby(hall.world, player)
    wish = {"game": "backgammon", "config": config, "mode": mode}
    assert (await ask(person, "queue", wish))[0] == "ok"
    await hall.quiet()
    return person


def room_of(person: Person) -> Any:
    """The room that somebody was told of at the lobby."""
    return [told["room"] for _, told in person.heard("matched")]


async def test_play_now_of_the_same_kind_takes_the_seat_in_a_match_that_waits(hall):
    match = await hall.want("ann")
    ann = await hall.come("ann", match)
    await ann.do("JoinMatch", ann.id)
    assert room_of(await play_now(hall, "dan", variant="tavla")) == []
    assert room_of(await play_now(hall, "eve", match="five_points")) == []
    cid = await play_now(hall, "cid")
    assert room_of(cid) == [match]
    assert ann.events() == ["match-lobby-waiting", "match-lobby-found", "match-started"]
    assert (await cid.join(match))[1]["seat"] == 1
    await ann.do("StartGame")
    await cid.play(match, {"type": "ready"})
    await hall.quiet()
    assert ann.events() == ["game-waiting", "game-started"]
    assert (await cid.play(match, {"type": "resign_game", "grade": "single"}))[0] == "ok"
    await hall.quiet()
    assert ann.events() == [], "an offer that these clients have no word for keeps nobody waiting"
    await ann.do("ResignGame")
    assert hall.world.room(match).state.games[-1].points == 3


async def test_whoever_waits_at_the_lobby_sits_in_the_match_of_who_comes_by_this_door(hall):
    cid = await play_now(hall, "cid", variant="tavli", match="seven_points")
    match = await hall.want("ann", 2, 0, 1)
    assert room_of(cid) == [match]
    me = {"playerId": guid("ann"), "matchModus": 0}
    assert (await hall.call(f"/api/matches/queues/{match}", me)).json()["payload"]["status"] == 1
    assert await hall.want("bob", 2, 0, 1) != match, "the other seat is Ann's"
    ann = await hall.come("ann", match)
    await ann.do("JoinMatch", ann.id)
    assert ann.events() == ["match-lobby-found", "match-started"]


async def test_a_match_waits_on_under_its_id_after_a_restart(hall):
    match = await hall.want("ann")
    await hall.restart()
    me = {"playerId": guid("ann"), "matchModus": 0}
    answer = await hall.call(f"/api/matches/queues/{match}", me)
    assert answer.json()["payload"] == {"queueId": match, "status": 0, "matchId": None}
    assert await hall.want("ann") == match
    assert await hall.want("bob") == match
    ann, bob = await hall.come("ann", match), await hall.come("bob", match)
    for who in (ann, bob):
        await who.do("JoinMatch", who.id)
    assert ann.events() == ["match-lobby-waiting", "match-lobby-found", "match-started"]
    assert [ticket.room for ticket in await kept_tickets(hall.world.journal)] == [match, match]


async def test_whoever_sat_in_a_waiting_match_has_a_while_to_come_back_after_a_restart(hall):
    match = await hall.want("ann")
    ann = await hall.come("ann", match)
    await ann.do("JoinMatch", ann.id)
    await hall.restart()
    ann = await hall.come("ann", match)
    assert ann.last("match-state")["player2"] is None
    assert ann.events() == ["player-connected", "match-state"]
    await hall.alive(40, ann)
    cid = await play_now(hall, "cid")
    assert room_of(cid) == [match]
    assert "match-lobby-found" in ann.events()


async def test_ranked_matches_are_joined_within_tolerance_or_opened(hall):
    winner, loser = await a_ranked_match(hall)
    match = await hall.want(winner, 0, 1)
    assert await hall.want(loser, 0, 1) != match, "they are far apart by now"
    ann = await hall.come(winner, match)
    await ann.do("JoinMatch", ann.id)
    await hall.alive(60, ann)
    assert await hall.want("cid", 0, 1) == match, "who has waited for a minute takes what there is"
    assert await hall.want("dan", 0, 0) != match, "normal is another queue"


async def test_a_ranked_match_counts_for_both_and_a_normal_one_for_nobody(hall):
    winner, loser = await a_ranked_match(hall)
    standings = await leaders(hall.world.journal, "backgammon/backgammon", 10)
    assert [one.player for one in standings] == [hall.player(winner), hall.player(loser)]
    async with calls(hall.world) as http:
        page = (await http.get(f"/api/players/{hall.player(winner)}")).json()
        assert [(result["how"], result["ranked"]) for result in page["results"]] == [("won", True)]
        assert (await http.get(f"/api/players/{hall.player('eve')}")).status_code == 404
    one, _ = await hall.playing()
    await one.do("ResignMatch")
    assert await leaders(hall.world.journal, "backgammon/backgammon", 10) == standings


async def a_ranked_match(hall: Hall) -> tuple[str, str]:
    """Two newcomers play one match for their ratings; who won it and who lost it."""
    match = await hall.want("ann", 0, 1)
    assert await hall.want("bob", 0, 1) == match
    ann, bob = await hall.come("ann", match), await hall.come("bob", match)
    for who in (ann, bob):
        await who.do("JoinMatch", who.id)
    assert ann.last("match-started")["modus"] == 1
    await bob.do("ResignMatch")
    assert ann.last("match-ended")["winner"] == ann.id
    return "ann", "bob"


async def test_a_match_against_a_bot_waits_for_nobody_else(hall):
    match = await hall.want("ann", modus=2)
    me = {"playerId": guid("ann"), "matchModus": 2}
    found = {"queueId": None, "status": 1, "matchId": match}
    assert (await hall.call(f"/api/matches/queues/{match}", me)).json()["payload"] == found
    assert room_of(await play_now(hall, "cid", mode="bot")) != [match]
    ann = await hall.come("ann", match)
    await ann.do("JoinMatch", ann.id)
    assert ann.events() == ["match-lobby-waiting", "match-lobby-found", "match-started"]
    assert [ticket.room for ticket in hall.world.server.pairing.tickets(hall.player("ann"))] == [match]


async def test_a_match_that_is_cancelled_or_forgotten_is_closed(hall):
    match = await hall.want("ann")
    ann = await hall.come("ann", match)
    await ann.do("JoinMatch", ann.id)
    me = {"playerId": guid("ann"), "matchModus": 0}
    assert (await hall.call(f"/api/matches/queues/{match}/cancel", me)).status_code == 200
    assert ann.events()[-1] == "force-disconnect"
    assert room_of(await play_now(hall, "cid")) == []
    forgotten = await hall.want("bob", 1)
    await hall.wait(32)
    assert room_of(await play_now(hall, "dan", variant="tavla")) == []
    assert (await hall.world.server.rooms.look(forgotten)).ended == "nobody_came"


async def test_who_was_sent_to_a_match_and_polls_is_still_on_the_way(hall):
    match = await hall.want("ann")
    assert await hall.want("bob") == match
    for _ in range(3):
        await hall.wait(20)
        for who in ("ann", "bob"):
            me = {"playerId": guid(who), "matchModus": 0}
            found = {"queueId": None, "status": 1, "matchId": match}
            assert (await hall.call(f"/api/matches/queues/{match}", me)).json()["payload"] == found
    assert await hall.want("cid") != match
    me = {"playerId": guid("cid"), "matchModus": 0}
    answer = await hall.call(f"/api/matches/queues/{match}", me)
    assert (answer.status_code, answer.json()["payload"]["code"]) == (400, "QUEUE_ERROR")


@pytest.mark.parametrize("first", ["ann", "cid"])
async def test_a_match_to_which_the_other_does_not_come_is_closed_and_nobody_has_lost(hall, first):
    cid = await play_now(hall, "cid", mode="ranked") if first == "cid" else None
    match = await hall.want("ann", 0, 1)
    ann = await hall.come("ann", match)
    await ann.do("JoinMatch", ann.id)
    cid = cid or await play_now(hall, "cid", mode="ranked")
    assert room_of(cid) == [match]
    await hall.alive(29, ann)
    assert ann.events()[-2:] == ["match-lobby-found", "match-started"]
    await hall.wait(3)
    assert ann.records[-2:] == [{"type": 7}, "closed 1000"]
    assert ann.events() == ["force-disconnect"], "her time has not run, and there is no match-ended"
    sheet = await hall.world.server.rooms.look(match)
    assert (sheet.ended, sheet.outcome) == ("nobody_came", None)
    me = {"playerId": guid("ann"), "matchModus": 1}
    assert (await hall.call(f"/api/matches/queues/{match}", me)).status_code == 400
    assert await hall.want("ann", 0, 1) != match, "and she can ask again at once"


async def test_a_match_to_which_both_came_by_different_doors_goes_on(hall):
    match = await hall.want("ann")
    ann = await hall.come("ann", match)
    await ann.do("JoinMatch", ann.id)
    cid = await play_now(hall, "cid")
    await cid.join(match)
    await hall.alive(60, ann)
    assert (await hall.world.server.rooms.look(match)).ended is None


async def test_with_a_token_of_ours_the_ticket_is_that_players(hall):
    wish = {"PlayerId": guid("ann"), "MatchType": 2}
    bearer = {"Authorization": f"Bearer {hall.tokens.issue('dan')}"}
    answer = await hall.call("/api/matches/join", wish, headers=bearer)
    (ticket,) = hall.world.server.pairing.tickets("dan")
    assert (ticket.id, ticket.at) == (answer.json()["payload"]["matchId"],) * 2
    (dan,) = await at_lobby(hall.world, "dan")
    status, response = await ask(dan, "queue", {"game": "backgammon"})
    assert (status, response["code"]) == ("error", "already_queued")
    assert (await ask(dan, "unqueue", {"ticket": ticket.id}))[0] == "ok"
    await hall.quiet()
    assert (await hall.world.server.rooms.look(ticket.id)).ended == "cancelled"
