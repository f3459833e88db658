"""What every journal promises of tickets, standings and results."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from msgspec.structs import replace

from parlour.journal.base import Conflict, GameResult, Player, Scored, StepWrites
from parlour.ratings import Rating, Standing
from tests.journal.made import ANN, BOB, STATE, TICKET, append, step, steps, summary

OTHER = replace(TICKET, id="t2", player=BOB.id, name=BOB.name, at="ABCD")


async def opened_again(journal):
    await journal.close()
    await journal.open()


async def kept(journal):
    return sorted(await journal.tickets(), key=lambda ticket: ticket.id)


# Tickets.


async def test_a_ticket_comes_back_as_it_was_until_it_is_dropped(journal):
    for ticket in (TICKET, OTHER):
        await journal.save_ticket(ticket)
    await opened_again(journal)
    assert await kept(journal) == [TICKET, OTHER]
    await journal.drop_tickets([TICKET.id, "unknown"])
    await opened_again(journal)
    assert await kept(journal) == [OTHER]


async def test_of_a_ticket_the_newest_is_kept(journal):
    await journal.save_ticket(TICKET)
    await journal.save_ticket(replace(TICKET, room="ABCD"))
    assert [ticket.room for ticket in await kept(journal)] == ["ABCD"]


async def test_a_new_room_is_kept_with_its_first_steps_and_the_tickets_they_made_good(journal):
    await journal.save_ticket(TICKET)
    made = replace(TICKET, room="ABCD")
    room = await journal.create(summary(), STATE, None, steps(2), [made])
    await opened_again(journal)
    assert [one.seq async for one in journal.replay(room)] == [1, 2]
    assert await kept(journal) == [made]


async def test_a_room_that_is_refused_makes_no_ticket_good(journal):
    await journal.save_ticket(TICKET)
    await journal.create(summary(), STATE, None)
    with pytest.raises(Conflict):
        await journal.create(summary(), STATE, None, steps(1), [replace(TICKET, room="ABCD"), OTHER])
    assert await kept(journal) == [TICKET]


async def test_a_step_is_kept_with_the_tickets_it_made_good_or_not_at_all(journal):
    await journal.save_ticket(TICKET)
    room = await journal.create(summary(), STATE, None)
    made = replace(TICKET, room="ABCD")
    await append(journal, room, step(1), StepWrites(tickets=(made,)))
    assert await kept(journal) == [made]
    with pytest.raises(Conflict):
        await append(journal, room, step(1, player=BOB.id), StepWrites(tickets=(OTHER, TICKET)))
    assert await kept(journal) == [made]


# Results and standings.


def result(seq: int, player: Player = ANN, **changes: Any) -> GameResult:
    against = (BOB if player is ANN else ANN,)
    facts = GameResult(
        player.id, "won", "three in a row", "tictactoe", "tictactoe", against, "ABCD", 1, seq, 2.5
    )
    return replace(facts, **changes)


def fresh(player: Player, ladder: str = "tictactoe") -> Standing:
    return Standing(ladder, player.id, player.name)


def win(standings: Sequence[Standing]) -> tuple[Standing, ...]:
    """The first of them is 10 points better afterwards."""
    first, *rest = standings
    better = replace(first.rating, rating=first.rating.rating + 10)
    return (replace(first, rating=better, won=first.won + 1), *rest)


def won(*standings: Standing) -> StepWrites:
    return StepWrites(scored=Scored((), standings, win))


async def test_results_come_back_newest_first_and_as_many_as_are_asked_for(journal):
    room = await journal.create(summary(), STATE, None)
    made = [result(1), result(2, how="lost", ranked=True), result(3, how="drew")]
    for number, one in enumerate(made, 1):
        theirs = result(one.seq, BOB)
        await append(journal, room, step(number), StepWrites(scored=Scored((one, theirs))))
    await opened_again(journal)
    assert await journal.results_of(ANN.id, 9) == made[::-1]
    assert await journal.results_of(ANN.id, 2) == made[:0:-1]
    assert len(await journal.results_of(BOB.id, 9)) == 3
    assert await journal.results_of("nobody", 9) == []


async def test_a_standing_is_made_of_the_one_that_is_kept_and_begins_as_a_newcomers(journal):
    room = await journal.create(summary(), STATE, None)
    await append(journal, room, step(1), won(fresh(ANN), fresh(BOB)))
    await append(journal, room, step(2), won(fresh(BOB), fresh(ANN)))
    await append(journal, room, step(3), won(fresh(ANN), fresh(BOB)))
    await opened_again(journal)
    there = {one.player: (one.rating.rating, one.won) for one in await journal.standings("tictactoe", 9)}
    assert there == {ANN.id: (1520.0, 2), BOB.id: (1510.0, 1)}


async def test_two_games_of_one_player_that_end_at_once_both_count(journal):
    rooms = [await journal.create(summary(f"R{number}"), STATE, None) for number in range(20)]
    await asyncio.gather(*(append(journal, room, step(1), won(fresh(ANN), fresh(BOB))) for room in rooms))
    assert [one.won for one in await journal.standings_of(ANN.id)] == [20]


async def test_a_ladder_is_listed_by_what_players_are_worth(journal):
    certain = replace(fresh(BOB), rating=Rating(1400.0, 50.0))
    room = await journal.create(summary(), STATE, None)
    await append(journal, room, step(1), StepWrites(scored=Scored((), (fresh(ANN), certain))))
    assert [one.player for one in await journal.standings("tictactoe", 9)] == [BOB.id, ANN.id]
    assert [one.player for one in await journal.standings("tictactoe", 1)] == [BOB.id]


async def test_a_player_has_a_standing_on_each_ladder(journal):
    room = await journal.create(summary(), STATE, None)
    for number, ladder in enumerate(("go", "chess"), 1):
        await append(journal, room, step(number), won(fresh(ANN, ladder), fresh(BOB, ladder)))
    assert [one.ladder for one in await journal.standings_of(ANN.id)] == ["chess", "go"]
    assert await journal.standings("draughts", 9) == []


async def test_results_that_did_not_count_are_forgotten_with_their_room_and_others_stay(journal):
    room = await journal.create(summary(), STATE, None)
    other = await journal.create(summary("OTHER"), STATE, None)
    made = [result(1, number=room), result(2, number=room, ranked=True), result(3, number=other)]
    await append(journal, room, step(1), StepWrites(scored=Scored(tuple(made))))
    await append(journal, room, step(2), StepWrites(summary=summary(ended="game_ended", ended_at=1.0)))
    assert len(await journal.results_of(ANN.id, 9)) == 3
    while await journal.prune(2.0, 5):
        pass
    assert await journal.results_of(ANN.id, 9) == made[:0:-1]


async def test_a_player_with_a_result_or_a_standing_is_not_forgotten(journal):
    room = await journal.create(summary(), STATE, None)
    for player in (ANN, BOB):
        await journal.save_player(player)
    await append(journal, room, step(1), StepWrites(scored=Scored((result(1, number=room),), (fresh(BOB),))))
    await journal.beat(200_000.0)
    while await journal.prune(100_000.0, 5):
        pass
    names = [kept.name for id in (ANN.id, BOB.id) if (kept := await journal.player(id)) is not None]
    assert names == [ANN.name, BOB.name]


async def test_a_step_that_is_refused_scores_nothing(journal):
    room = await journal.create(summary(), STATE, None)
    await append(journal, room, step(1), won(fresh(ANN), fresh(BOB)))
    again = StepWrites(scored=Scored((result(1),), (fresh(ANN), fresh(BOB)), win))
    with pytest.raises(Conflict):
        await append(journal, room, step(1), again)
    assert [one.won for one in await journal.standings_of(ANN.id)] == [1]
    assert await journal.results_of(ANN.id, 9) == []
