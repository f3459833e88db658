"""What is promised of tickets, standings, results and players on every journal."""

import asyncio
from typing import Any

import pytest
from msgspec.structs import replace

from parlour.game import Outcome
from parlour.journal.base import Conflict, Player, Record, RecordQuery, StepWrites
from parlour.ratings import Rating, Standing
from parlour.server.housekeeping import delete_old
from parlour.server.parts.ratings.settling import Ratings
from parlour.server.result_records import GameResult, Unrated, result_record, results_of, unrated_record
from parlour.server.rooms.events import OutcomeReached
from parlour.server.sessions import KeptPlayer, Sessions, player_record
from parlour.server.standings import leaders, standing_record, standings_of
from parlour.server.ticket_records import (
    delete_tickets,
    kept_tickets,
    save_ticket,
    ticket_record,
    ticket_records,
)
from tests.journal.made import ANN, BOB, STATE, TICKET, append, step, steps, summary
from tests.server.world import HandClock

OTHER = replace(TICKET, id="t2", player=BOB.id, name=BOB.name, at="ABCD")


async def opened_again(journal):
    await journal.close()
    await journal.open()


async def kept(journal):
    return sorted(await kept_tickets(journal), key=lambda ticket: ticket.id)


# Tickets.


async def test_a_ticket_comes_back_as_it_was_until_it_is_dropped(journal):
    for ticket in (TICKET, OTHER):
        await save_ticket(journal, ticket)
    await opened_again(journal)
    assert await kept(journal) == [TICKET, OTHER]
    await delete_tickets(journal, [TICKET.id, "unknown"])
    await opened_again(journal)
    assert await kept(journal) == [OTHER]


async def test_tickets_come_back_in_the_order_in_which_they_were_taken(journal):
    for ticket in (
        replace(OTHER, since=9.0),
        replace(TICKET, since=10.0),
        replace(TICKET, id="t3", since=2.0),
    ):
        await save_ticket(journal, ticket)
    assert [ticket.since for ticket in await kept_tickets(journal)] == [2.0, 9.0, 10.0]


async def test_of_a_ticket_the_newest_is_kept(journal):
    await save_ticket(journal, TICKET)
    await save_ticket(journal, replace(TICKET, room="ABCD"))
    assert [ticket.room for ticket in await kept(journal)] == ["ABCD"]


async def test_a_new_room_is_kept_with_its_first_steps_and_the_tickets_they_made_good(journal):
    await save_ticket(journal, TICKET)
    made = replace(TICKET, room="ABCD")
    room = await journal.create(summary(), STATE, None, steps(2), ticket_records([made]))
    await opened_again(journal)
    assert [one.seq async for one in journal.replay(room)] == [1, 2]
    assert await kept(journal) == [made]


async def test_a_room_that_is_refused_makes_no_ticket_good(journal):
    await save_ticket(journal, TICKET)
    await journal.create(summary(), STATE, None)
    made = ticket_records([replace(TICKET, room="ABCD"), OTHER])
    with pytest.raises(Conflict):
        await journal.create(summary(), STATE, None, steps(1), made)
    assert await kept(journal) == [TICKET]


async def test_a_step_is_kept_with_the_tickets_it_made_good_or_not_at_all(journal):
    await save_ticket(journal, TICKET)
    room = await journal.create(summary(), STATE, None)
    made = replace(TICKET, room="ABCD")
    await append(journal, room, step(1), StepWrites(records=(ticket_record(made),)))
    assert await kept(journal) == [made]
    records = ticket_records([OTHER, TICKET])
    with pytest.raises(Conflict):
        await append(journal, room, step(1, player=BOB.id), StepWrites(records=records))
    assert await kept(journal) == [made]


async def test_a_ticket_that_cannot_be_read_is_left_out(journal):
    await save_ticket(journal, TICKET)
    await journal.keep(Record("ticket", "t9", b'{"id":'))
    assert await kept(journal) == [TICKET]


# Results.


def result(seq: int, player: Player = ANN, **changes: Any) -> GameResult:
    against = (BOB if player is ANN else ANN,)
    facts = GameResult(
        player.id, "won", "three in a row", "tictactoe", "tictactoe", against, "ABCD", 1, seq, 2.5
    )
    return replace(facts, **changes)


async def test_results_come_back_newest_first_and_as_many_as_are_asked_for(journal):
    room = await journal.create(summary(), STATE, None)
    made = [result(9), result(10, how="lost", ranked=True), result(11, how="drew")]
    for number, one in enumerate(made, 1):
        theirs = result(one.seq, BOB)
        records = (result_record(one, number * 5.0), result_record(theirs, number * 5.0))
        await append(journal, room, step(number), StepWrites(records=records))
    await opened_again(journal)
    assert await results_of(journal, ANN.id, 9) == made[::-1]
    assert await results_of(journal, ANN.id, 2) == made[:0:-1]
    assert len(await results_of(journal, BOB.id, 9)) == 3
    assert await results_of(journal, "nobody", 9) == []


async def test_of_results_of_one_moment_that_of_the_later_room_or_step_is_the_newer(journal):
    made = [result(9), result(10), result(4, number=2)]
    await journal.keep(*(result_record(one, 5.0) for one in made))
    assert await results_of(journal, ANN.id, 9) == made[::-1]


async def test_results_that_did_not_count_are_forgotten_with_their_room_and_others_stay(journal):
    room = await journal.create(summary(), STATE, None)
    other = await journal.create(summary("OTHER"), STATE, None)
    made = [result(1, number=room), result(2, number=room, ranked=True), result(3, number=other)]
    records = tuple(result_record(one, float(one.seq)) for one in made)
    await append(journal, room, step(1), StepWrites(records=records))
    await append(journal, room, step(2), StepWrites(summary=summary(ended="game_ended", ended_at=1.0)))
    assert len(await results_of(journal, ANN.id, 9)) == 3
    while await journal.prune(2.0, 5):
        pass
    assert await results_of(journal, ANN.id, 9) == made[:0:-1]


async def test_a_step_that_is_refused_scores_nothing(journal):
    room = await journal.create(summary(), STATE, None)
    await append(journal, room, step(1), StepWrites(records=(ended(1),)))
    again = (result_record(result(1), 1.0), ended(2))
    with pytest.raises(Conflict):
        await append(journal, room, step(1), StepWrites(records=again))
    await settled(journal)
    assert [one.won for one in await standings_of(journal, ANN.id)] == [1]
    assert await results_of(journal, ANN.id, 9) == []


# Standings.


def fresh(player: Player, ladder: str = "tictactoe") -> Standing:
    return Standing(ladder, player.id, player.name)


def ended(number: int, winner: Player = ANN, loser: Player = BOB, ladder: str = "tictactoe") -> Record:
    """A ranked game that has ended, in a room of that number."""
    outcome = Outcome(won=(winner.id,), lost=(loser.id,), why="a row")
    return unrated_record(Unrated(ladder, (winner, loser), outcome, 2.5), number, 5, float(number))


async def settled(journal) -> Ratings:
    """A server starts on this journal, and settles what was left."""
    ratings = Ratings(journal, HandClock())
    await ratings.start()
    assert await journal.records(RecordQuery("unrated")) == []
    return ratings


async def test_a_standing_is_made_of_the_one_that_is_kept_and_begins_as_a_newcomers(journal):
    await journal.keep(ended(1), ended(2, BOB, ANN), ended(3))
    await settled(journal)
    await opened_again(journal)
    there = {one.player: (one.won, one.lost, one.streak) for one in await leaders(journal, "tictactoe", 9)}
    assert there == {ANN.id: (2, 1, 1), BOB.id: (1, 2, -1)}


async def test_two_games_of_one_player_that_end_at_once_both_count(journal):
    ratings = await settled(journal)
    rooms = [await journal.create(summary(f"R{number}"), STATE, None) for number in range(20)]

    async def end(room: int) -> None:
        writes = StepWrites(records=(ended(room),))
        await append(journal, room, step(1), writes)
        ratings.hear(OutcomeReached("ABCD"))

    await asyncio.gather(*map(end, rooms))
    await ratings.settled()
    assert [one.won for one in await standings_of(journal, ANN.id)] == [20]


async def test_of_two_servers_on_one_journal_each_game_counts_once(journal):
    await journal.keep(*(ended(number) for number in range(10)))
    await asyncio.gather(*(Ratings(journal, HandClock()).start() for _ in range(3)))
    await settled(journal)
    assert [one.won for one in await standings_of(journal, ANN.id)] == [10]


async def test_a_game_that_cannot_be_read_keeps_no_other_from_counting(journal):
    await journal.keep(Record("unrated", "0/1", b"{"), ended(1))
    await Ratings(journal, HandClock()).start()
    assert [one.won for one in await standings_of(journal, ANN.id)] == [1]


async def test_a_ladder_is_listed_by_what_players_are_worth_and_equals_by_their_ids(journal):
    certain = replace(fresh(BOB), rating=Rating(1400.0, 50.0))
    cid, dan = fresh(Player("p_cid", "Cid")), fresh(Player("p_dan", "Dan"))
    await journal.keep(*map(standing_record, (dan, fresh(ANN), cid, certain)))
    listed = [one.player for one in await leaders(journal, "tictactoe", 9)]
    assert listed == [BOB.id, ANN.id, "p_cid", "p_dan"]
    assert [one.player for one in await leaders(journal, "tictactoe", 1)] == [BOB.id]


async def test_a_player_has_a_standing_on_each_ladder(journal):
    await journal.keep(ended(1, ladder="go"), ended(2, ladder="chess"))
    await settled(journal)
    assert [one.ladder for one in await standings_of(journal, ANN.id)] == ["chess", "go"]
    assert await leaders(journal, "draughts", 9) == []


# Players.


async def forgotten(journal, before: float) -> None:
    """All that is older is forgotten."""
    while await delete_old(journal, before, 200_000.0, 2):
        pass


async def test_players_without_games_are_forgotten_when_they_were_not_asked_for(journal):
    seated, asked, gone = (KeptPlayer(f"p_{name}", name) for name in ("Seated", "Asked", "Gone"))
    wary = KeptPlayer("p_wary", "Wary", session=1)  # whose old tokens must not become valid again
    await journal.keep(*(player_record(player, 0.0) for player in (seated, asked, gone, wary)))
    await journal.create(summary(seats=(seated, None)), STATE, None)
    clock = HandClock()
    clock.time = 200_000.0
    sessions = Sessions(journal, clock)
    assert await sessions.known(asked.id) == asked
    await forgotten(journal, 100_000.0)
    assert await sessions.known(gone.id) is None
    for player in (asked, seated, wary):
        assert await sessions.known(player.id) == player


async def test_a_player_with_a_result_or_a_standing_is_not_forgotten(journal):
    cid = Player("p_cid", "Cid")
    await journal.keep(*(player_record(player, 0.0) for player in (ANN, BOB, cid)))
    await journal.keep(result_record(result(1), 1.0), standing_record(fresh(BOB)))
    await forgotten(journal, 100_000.0)
    there = [record.key for record in await journal.records(RecordQuery("player"))]
    assert there == [ANN.id, BOB.id]


async def test_a_player_who_stays_is_looked_at_again_much_later(journal):
    await journal.keep(player_record(KeptPlayer(ANN.id, ANN.name, session=1), 0.0))
    await forgotten(journal, 100_000.0)
    assert await journal.records(RecordQuery("player", due_by=199_999.0)) == []
    assert len(await journal.records(RecordQuery("player", due_by=200_000.0))) == 1


async def test_a_player_who_cannot_be_read_is_not_forgotten(journal):
    await journal.keep(Record("player", ANN.id, b"{", due=0.0))
    await forgotten(journal, 100_000.0)
    assert await journal.record("player", ANN.id) is not None
