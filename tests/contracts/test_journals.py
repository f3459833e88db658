"""What every journal promises: a journal is tested by being registered."""

import asyncio

import pytest
from msgspec import UNSET

from parlour.game import Outcome
from parlour.journal.base import (
    Conflict,
    Damaged,
    Drop,
    Found,
    NotKept,
    Record,
    RecordQuery,
    RoomQuery,
    StepWrites,
    Stored,
)
from parlour.server.secret import secret_of
from parlour.server.sessions import KeptPlayer, player_record, read_player
from tests.journal.made import ANN, BOB, STATE, append, listed, step, steps, summary

NOTHING = StepWrites()


async def filled(journal, id="ABCD", count=3, **changes):
    """A room with some steps."""
    room = await journal.create(summary(id, **changes), STATE, None)
    for made in steps(count):
        await append(journal, room, made, NOTHING)
    return room


async def ids(journal, **wanted):
    """The rooms that a query finds, which both ways of asking agree on."""
    found = [room.summary.id for room in await journal.rooms(RoomQuery(**wanted))]
    assert await journal.room_ids(RoomQuery(**wanted)) == found
    return found


async def answers(journal, id="ABCD"):
    return (await journal.recall(id)).answers


# Steps.


async def test_steps_come_back_in_order(journal):
    room = await filled(journal, count=3)
    assert await listed(journal.replay(room)) == steps(3)


async def test_a_long_history_comes_back_whole(journal):
    room = await journal.create(summary(), STATE, None)
    made = steps(450)
    for one in made:
        await append(journal, room, one, NOTHING)
    kept = await listed(journal.replay(room))
    assert [one.body for one in kept] == [one.body for one in made]


async def test_a_replay_begins_after_the_step_it_is_told(journal):
    room = await filled(journal, count=5)
    assert [kept.seq async for kept in journal.replay(room, after=3)] == [4, 5]
    assert await listed(journal.replay(room, after=5)) == []


async def test_a_room_without_steps_has_an_empty_history(journal):
    room = await filled(journal, count=0)
    assert await listed(journal.replay(room)) == []


async def test_a_step_number_is_given_once(journal):
    room = await filled(journal, count=2)
    with pytest.raises(Conflict):
        await append(journal, room, step(2, player=BOB.id), NOTHING)
    assert await listed(journal.replay(room)) == steps(2)


async def test_a_room_goes_on_after_a_refused_step(journal):
    room = await filled(journal, count=2)
    with pytest.raises(Conflict):
        await append(journal, room, step(1), NOTHING)
    await append(journal, room, steps(3)[2], NOTHING)
    assert await listed(journal.replay(room)) == steps(3)


async def test_steps_of_one_write_are_kept_together_or_not_at_all(journal):
    room = await filled(journal, count=1)
    one, two, three = steps(4)[1:]
    await append(journal, room, [one, two], StepWrites(state=b"after both"))
    assert (await journal.stored(room)).seq == two.seq
    with pytest.raises(Conflict):
        await append(journal, room, [three, two], StepWrites(state=b"never", summary=summary(game="never")))
    assert await listed(journal.replay(room)) == steps(3)
    assert (await journal.stored(room)).state == b"after both"
    assert (await journal.find(room)).summary == summary()


async def test_a_step_of_a_room_that_is_not_there_is_refused(journal):
    with pytest.raises(Conflict):
        await append(journal, 7, step(1), NOTHING)


async def test_rooms_do_not_mix(journal):
    one, two = await filled(journal, "ONE", 2), await filled(journal, "TWO", 0)
    await append(journal, two, step(1, player=BOB.id, id="c1"), StepWrites(state=b"two"))
    assert await listed(journal.replay(one)) == steps(2)
    assert [kept.command.player async for kept in journal.replay(two)] == [BOB.id]
    assert (await journal.stored(one)).state == STATE
    assert await answers(journal, "ONE") == {}


async def test_a_missing_step_is_noticed(journal):
    room = await filled(journal, count=1)
    await append(journal, room, step(3), NOTHING)
    with pytest.raises(Damaged, match="step 2 is missing"):
        await listed(journal.replay(room))


async def test_a_step_that_does_not_follow_the_one_before_is_noticed(journal):
    room = await filled(journal, count=1)
    await append(journal, room, step(2, before=b"of another room"), NOTHING)
    with pytest.raises(Damaged, match=f"room {room}: step 2"):
        await listed(journal.replay(room))


async def test_hundreds_of_steps_at_once_all_land_in_order(journal):
    rooms = [await filled(journal, f"R{n}", 0) for n in range(30)]

    async def play(room):
        for made in steps(20):
            await append(journal, room, made, StepWrites(due=float(made.seq)))

    await asyncio.gather(*map(play, rooms))
    for room in rooms:
        assert await listed(journal.replay(room)) == steps(20)


async def test_of_many_who_want_the_same_step_one_gets_it(journal):
    room = await filled(journal, count=0)
    wishes = [append(journal, room, step(1, player=f"p{n}"), NOTHING) for n in range(20)]
    outcomes = await asyncio.gather(*wishes, return_exceptions=True)
    assert outcomes.count(None) == 1
    assert sum(isinstance(outcome, Conflict) for outcome in outcomes) == 19
    assert len(await listed(journal.replay(room))) == 1


# What is kept beside a step.


async def test_what_belongs_beside_a_step_is_kept_with_it(journal):
    room = await filled(journal, count=0)
    seated = summary(seats=(ANN, BOB), status="playing", connected=2)
    await append(journal, room, step(1), StepWrites(seated, b"after", 5.0))
    assert await journal.find("ABCD") == Found(room, 1, seated)
    assert await journal.stored(room) == Stored(1, b"after")
    assert await ids(journal, due_by=5.0) == ["ABCD"]


async def test_what_a_step_did_not_change_stays(journal):
    room = await journal.create(summary(seats=(ANN, None), connected=1), STATE, 5.0)
    await append(journal, room, step(1), NOTHING)
    assert await journal.find("ABCD") == Found(room, 1, summary(seats=(ANN, None), connected=1))
    assert await journal.stored(room) == Stored(0, STATE)
    assert await ids(journal, due_by=5.0) == ["ABCD"]


async def test_a_refused_step_leaves_nothing_beside_it(journal):
    room = await journal.create(summary(), STATE, 5.0)
    await append(journal, room, step(1, now=1.0), NOTHING)
    with pytest.raises(Conflict):
        await append(
            journal, room, step(1, now=2.0, id="c1"), StepWrites(summary(seats=(BOB, None)), b"wrong", None)
        )
    assert await journal.find("ABCD") == Found(room, 1, summary())
    assert await journal.stored(room) == Stored(0, STATE)
    assert await ids(journal, due_by=5.0) == ["ABCD"]
    assert await ids(journal, player=BOB.id) == []
    assert await answers(journal) == {}


async def test_a_summary_comes_back_as_it_was(journal):
    full = summary(seats=(ANN, BOB), status="over", private=True, outcome=Outcome(won=(ANN.id,), why="a row"))
    room = await journal.create(full, STATE, None)
    assert await journal.find("ABCD") == Found(room, 0, full)


async def test_the_newest_state_counts(journal):
    room = await filled(journal, count=0)
    await append(journal, room, step(1), StepWrites(state=b"one"))
    await append(journal, room, step(2), StepWrites(state=b"two"))
    await append(journal, room, step(3), NOTHING)
    assert await journal.stored(room) == Stored(2, b"two")


async def test_a_room_that_is_not_there_has_no_state(journal):
    with pytest.raises(Damaged):
        await journal.stored(7)


# Rooms that rest.


async def test_a_resting_room_keeps_its_state_and_its_deadline(journal):
    room = await filled(journal, count=2)
    await journal.update_room(room, stored=Stored(2, b"resting"), due=9.0)
    await journal.update_room(room, stored=Stored(2, b"still resting"), due=8.0)
    assert await journal.stored(room) == Stored(2, b"still resting")
    assert await ids(journal, due_by=8.0) == ["ABCD"]


async def test_a_room_that_has_gone_on_is_not_laid_to_rest(journal):
    room = await filled(journal, count=2)
    with pytest.raises(Conflict):
        await journal.update_room(room, stored=Stored(1, b"of an old owner"), due=9.0)
    assert await journal.stored(room) == Stored(0, STATE)
    assert await ids(journal, due_by=9.0) == []


async def test_a_room_is_due_from_its_deadline_on(journal):
    await journal.create(summary("LATE"), STATE, 20.0)
    await journal.create(summary("SOON"), STATE, 10.0)
    await journal.create(summary("NEVER"), STATE, None)
    assert await ids(journal, due_by=9.9) == []
    assert await ids(journal, due_by=10.0) == ["SOON"]
    assert await ids(journal, due_by=30.0) == ["SOON", "LATE"]


async def test_what_is_asked_of_rooms_is_all_true_of_those_that_are_found(journal):
    await journal.create(summary("ONE", seats=(ANN, None), connected=1), STATE, 5.0)
    await journal.create(summary("TWO", seats=(ANN, None)), STATE, 4.0)
    await journal.create(summary("THREE", seats=(BOB, None), connected=1), STATE, 3.0)
    assert await ids(journal, player=ANN.id, due_by=9.0) == ["TWO", "ONE"]
    assert await ids(journal, player=ANN.id, due_by=9.0, connected=True) == ["ONE"]
    assert await ids(journal, due_by=9.0, limit=2) == ["THREE", "TWO"]
    assert await ids(journal, player=BOB.id, held=True) == []


async def test_what_is_not_given_of_a_room_stays(journal):
    room = await journal.create(summary(connected=1), STATE, 5.0)
    await journal.update_room(room, summary=summary(held=3.0))
    assert await ids(journal, due_by=5.0) == ["ABCD"]
    await journal.update_room(room, stored=Stored(0, b"later"))
    assert await journal.find("ABCD") == Found(room, 0, summary(held=3.0))
    await journal.update_room(room, due=7.0)
    assert (await journal.stored(room), await ids(journal, due_by=6.0)) == (Stored(0, b"later"), [])


async def test_a_state_that_is_refused_leaves_the_summary_and_the_deadline(journal):
    room = await journal.create(summary(), STATE, 5.0)
    with pytest.raises(Conflict):
        await journal.update_room(room, summary=summary(held=3.0), stored=Stored(1, b"wrong"), due=None)
    assert await journal.find("ABCD") == Found(room, 0, summary())
    assert await ids(journal, due_by=5.0) == ["ABCD"]


async def test_a_deadline_can_be_moved_and_taken_away(journal):
    room = await journal.create(summary(), STATE, 10.0)
    await append(journal, room, step(1), StepWrites(due=20.0))
    assert await ids(journal, due_by=10.0) == []
    await append(journal, room, step(2), StepWrites(due=None))
    assert await ids(journal, due_by=99.0) == []


async def test_rooms_whose_players_were_here_are_known(journal):
    await journal.create(summary("EMPTY", seats=(ANN, None)), STATE, None)
    room = await journal.create(summary("HERE", seats=(ANN, None), connected=1), STATE, None)
    assert await ids(journal, connected=True) == ["HERE"]
    await append(journal, room, step(1), StepWrites(summary("HERE", seats=(ANN, None))))
    assert await ids(journal, connected=True) == []


# Rooms by id, and those that have ended.


async def test_an_unknown_room_is_not_found(journal):
    assert await journal.find("NONE") is None


async def test_open_rooms_are_found_by_ids_that_differ_in_capitals_and_no_more_than_asked_for(journal):
    for id in ("Lair42", "LAIR42", "lair42", "lair43"):
        await filled(journal, id, count=0)
    assert await ids(journal, id_in_any_case="lAiR42") == ["lair42", "LAIR42", "Lair42"]
    assert len(await ids(journal, id_in_any_case="lAiR42", limit=2)) == 2
    assert await ids(journal, id_in_any_case="LAIR43") == ["lair43"]
    assert await ids(journal, id_in_any_case="lair4%") == []


async def test_an_open_room_has_its_id_for_itself(journal):
    room = await filled(journal, count=1)
    with pytest.raises(Conflict):
        await journal.create(summary(), STATE, None)
    assert await journal.find("ABCD") == Found(room, 1, summary())


async def test_an_ended_room_frees_its_id_and_keeps_its_history(journal):
    old = await filled(journal, count=2)
    await append(journal, old, steps(3)[2], StepWrites(summary(status="ended", ended="game_ended")))
    new = await journal.create(summary(), STATE, None)
    assert new != old
    assert await journal.find("ABCD") == Found(new, 0, summary())
    assert await listed(journal.replay(old)) == steps(3)


async def test_of_ended_rooms_the_last_is_found(journal):
    over = summary(status="ended", ended="game_ended")
    for _ in range(3):
        room = await filled(journal, count=0)
        await append(journal, room, step(1), StepWrites(over))
        assert await journal.find("ABCD") == Found(room, 1, over)


async def test_a_retired_room_is_over_without_another_step(journal):
    room = await journal.create(summary(seats=(ANN, None), connected=1), STATE, 5.0)
    await append(journal, room, step(1), NOTHING)
    over = summary(status="ended", ended="rules_changed", connected=1)
    await journal.update_room(room, summary=over, due=None)
    assert await journal.find("ABCD") == Found(room, 1, over)
    assert (await ids(journal, due_by=9.0), await ids(journal, connected=True), await ids(journal)) == (
        [],
        [],
        [],
    )
    await journal.create(summary(), STATE, None)


async def test_a_room_that_is_not_there_is_neither_retired_nor_laid_to_rest(journal):
    with pytest.raises(Conflict):
        await journal.update_room(7, summary=summary(ended="rules_changed"), due=None)
    for stored, due in ((Stored(0, STATE), None), (Stored(0, STATE), UNSET), (None, 5.0), (None, UNSET)):
        with pytest.raises(Conflict):
            await journal.update_room(7, stored=stored, due=due)


async def test_an_ended_room_wants_nothing_any_more(journal):
    room = await journal.create(summary(seats=(ANN, None), connected=1), STATE, 5.0)
    over = summary(seats=(ANN, None), connected=1, status="ended", ended="game_ended")
    await append(journal, room, step(1), StepWrites(over))
    assert await ids(journal, due_by=99.0) == []
    assert await ids(journal, connected=True) == []
    assert await ids(journal, player=ANN.id) == []


async def test_the_rooms_of_a_player_are_those_with_a_seat_of_theirs(journal):
    await filled(journal, "BOBS", 0, seats=(BOB, None))
    await filled(journal, "ANNS", 0, seats=(ANN, None), private=True)
    both = await filled(journal, "BOTH", 0)
    await append(journal, both, step(1), StepWrites(summary("BOTH", seats=(ANN, BOB))))
    assert await ids(journal, player=ANN.id) == ["BOTH", "ANNS"]
    assert await ids(journal, player=BOB.id) == ["BOTH", "BOBS"]


async def test_a_seat_given_up_is_no_longer_among_a_players_rooms(journal):
    room = await filled(journal, count=0, seats=(ANN, BOB))
    await append(journal, room, step(1), StepWrites(summary(seats=(None, BOB))))
    assert await ids(journal, player=ANN.id) == []
    assert await ids(journal, player=BOB.id) == ["ABCD"]


# Answers, players, the clock.


async def test_command_ids_are_remembered_as_answers(journal):
    room = await filled(journal, count=0)
    first = step(1, player=ANN.id, id="c1")
    second = step(2, first.digest, player=BOB.id)
    for made in (first, second, step(3, second.digest, player=BOB.id, id="c1")):
        await append(journal, room, made, NOTHING)
    assert await answers(journal) == {(ANN.id, "c1"): 1, (BOB.id, "c1"): 3}


async def test_a_command_is_answered_by_one_step_only(journal):
    room = await filled(journal, count=0)
    await append(journal, room, step(1, id="c1"), NOTHING)
    with pytest.raises(Conflict):
        await append(journal, room, step(2, id="c1"), NOTHING)
    assert await answers(journal) == {(ANN.id, "c1"): 1}


async def test_a_player_is_known_by_the_newest_name(journal):
    for known in (
        KeptPlayer(ANN.id, ANN.name),
        KeptPlayer(ANN.id, "Annie"),
        KeptPlayer(ANN.id, "A", session=3),
    ):
        await journal.keep(player_record(known, 1.0))
        assert read_player(await journal.record("player", ANN.id)) == known
    assert await journal.record("player", BOB.id) is None


async def test_a_player_without_more_is_read_as_one_who_never_ended_a_session(journal):
    await journal.keep(player_record(ANN, 1.0))
    assert read_player(await journal.record("player", ANN.id)) == KeptPlayer(ANN.id, ANN.name, session=0)


async def test_the_secret_of_a_journal_never_changes(journal):
    secret = await secret_of(journal)
    assert len(secret) == 32
    await opened_again(journal)
    assert await secret_of(journal) == secret


async def test_a_copy_of_the_secret_that_is_lost_is_made_again(journal):
    secret = await secret_of(journal)
    await journal.keep(Drop("secret", key="1"))
    assert await secret_of(journal) == secret
    assert [copy.body for copy in await journal.records(RecordQuery("secret"))] == [secret, secret]


async def test_the_clock_never_goes_back(journal):
    await journal.beat(5.0)
    await journal.beat(3.0)
    assert await opened_again(journal) == 5.0


async def test_the_clock_is_never_before_a_kept_step(journal):
    room = await filled(journal, count=0)
    await append(journal, room, step(1, now=7.5), NOTHING)
    await journal.beat(6.0)
    assert await opened_again(journal) == 7.5


# Closing and opening.


async def opened_again(journal):
    await journal.close()
    return await journal.open()


async def test_everything_survives_closing_and_opening_again(journal):
    room = await journal.create(summary(), STATE, None)
    seated = summary(seats=(ANN, BOB), connected=1)
    await append(journal, room, step(1, id="c1"), StepWrites(seated, b"after", 5.0))
    await journal.keep(Record("note", "n", b"body"))
    await opened_again(journal)
    assert await listed(journal.replay(room)) == [step(1, id="c1")]
    assert await journal.find("ABCD") == Found(room, 1, seated)
    assert await journal.stored(room) == Stored(1, b"after")
    assert await answers(journal) == {(ANN.id, "c1"): 1}
    assert await ids(journal, due_by=5.0) == await ids(journal, connected=True) == ["ABCD"]
    assert await ids(journal, player=BOB.id) == await ids(journal) == ["ABCD"]
    assert await journal.record("note", "n") == Record("note", "n", b"body")


async def test_numbers_go_on_after_opening_again(journal):
    first = await filled(journal, "ONE", 0)
    await opened_again(journal)
    assert await filled(journal, "TWO", 0) > first


async def test_closing_finishes_what_was_begun(journal):
    room = await filled(journal, count=0)
    begun = [asyncio.ensure_future(append(journal, room, made, NOTHING)) for made in steps(50)]
    await asyncio.sleep(0)  # lets each of them begin
    await journal.close()
    await asyncio.gather(*begun)
    await journal.open()
    assert await listed(journal.replay(room)) == steps(50)


async def test_who_gives_up_waiting_harms_nobody(journal):
    room, other = await filled(journal, "ONE", 0), await filled(journal, "TWO", 0)
    impatient = asyncio.ensure_future(append(journal, room, step(1), NOTHING))
    patient = asyncio.ensure_future(append(journal, other, step(1), NOTHING))
    await asyncio.sleep(0)
    impatient.cancel()
    await patient
    assert await listed(journal.replay(other)) == [step(1)]


async def test_a_closed_journal_keeps_nothing_and_says_so(journal):
    room = await filled(journal)
    await journal.close()
    await journal.close()
    calls = [
        journal.create(summary("NEW"), STATE, None),
        append(journal, room, step(4), NOTHING),
        journal.update_room(room, summary=summary(ended="rules_changed"), due=None),
        journal.update_room(room, stored=Stored(3, STATE), due=None),
        journal.beat(1.0),
        journal.prune(1.0, 9),
        journal.keep(Record("note", "n", b"")),
        listed(journal.replay(room)),
        journal.stored(room),
        journal.recall("ABCD"),
        journal.find("ABCD"),
        journal.find(room),
        journal.rooms(RoomQuery(player=ANN.id)),
        journal.room_ids(RoomQuery(due_by=1.0)),
        journal.record("note", "n"),
        journal.records(RecordQuery("note")),
    ]
    for call in calls:
        with pytest.raises(NotKept, match="not open"):
            await call


# Rooms that are held, counted, forgotten.


async def test_rooms_of_games_that_are_not_there_are_found(journal):
    await journal.create(summary("HERE", game="tictactoe"), STATE, None)
    await journal.create(summary("GONE", game="chess"), STATE, None)
    await journal.create(summary("OVER", game="chess", ended="game_ended"), STATE, None)
    assert await ids(journal, other_games=("tictactoe", "go")) == ["GONE"]
    assert await ids(journal) == ["GONE", "HERE"]


async def test_a_held_room_is_known_until_it_goes_on(journal):
    room = await journal.create(summary(), STATE, 5.0)
    await journal.update_room(room, summary=summary(held=3.0), due=None)
    assert await ids(journal, held=True) == ["ABCD"]
    assert await ids(journal, due_by=100.0) == []
    await append(journal, room, step(1), StepWrites(summary=summary(), due=7.0))
    assert await ids(journal, held=True) == []
    assert await ids(journal, due_by=7.0) == ["ABCD"]


async def test_rooms_that_ended_long_ago_are_forgotten_a_few_at_a_time(journal):
    room = 0
    for n in range(5):
        room = await journal.create(summary(f"R{n}"), STATE, None)
        await append(
            journal,
            room,
            step(1),
            StepWrites(summary=summary(f"R{n}", ended="game_ended", ended_at=float(n))),
        )
    await journal.create(summary("OPEN"), STATE, None)
    assert await journal.prune(3.0, 2)
    assert sum([await journal.find(f"R{n}") is not None for n in range(5)]) >= 3
    while await journal.prune(3.0, 2):
        pass
    assert [await journal.find(f"R{n}") is not None for n in range(5)] == [False, False, False, True, True]
    assert await journal.find("OPEN") is not None
    assert await listed(journal.replay(room)) == [step(1)]


async def test_a_room_with_a_long_history_is_forgotten_whole(journal):
    room = await filled(journal, count=20)
    await append(journal, room, step(21), StepWrites(summary=summary(ended="game_ended", ended_at=1.0)))
    while await journal.prune(2.0, 3):
        pass
    assert await journal.find("ABCD") is None
    assert await listed(journal.replay(room)) == []


async def test_nothing_is_damaged_in_a_journal_that_was_left_alone(journal):
    await filled(journal, seats=(ANN, BOB), creator=ANN.id)
    await journal.keep(Record("note", "n", b"body", "group", ANN.id, 1.5, 2.5, 1), Record("note", "m", b""))
    await journal.beat(5.0)
    while await journal.inspect(2):
        pass
    assert list(journal.damages()) == []


async def test_the_number_of_a_forgotten_room_is_not_given_again(journal):
    first = await journal.create(summary("OLD", ended="x", ended_at=1.0), STATE, None)
    await journal.prune(2.0, 10)
    assert await journal.create(summary("NEW"), STATE, None) > first


async def test_all_that_loading_needs_is_recalled_in_one_look(journal):
    room = await journal.create(summary(), STATE, None)
    first = step(1, id="a")
    second = step(2, first.digest)
    await append(journal, room, first, StepWrites(state=b'{"later":1}'))
    await append(journal, room, second, StepWrites())
    recalled = await journal.recall("ABCD")
    assert recalled.found == await journal.find("ABCD")
    assert recalled.stored == await journal.stored(room)
    assert recalled.steps == [second]
    assert recalled.answers == {(ANN.id, "a"): 1}
    assert await journal.recall("NONE") is None


# Histories.


async def test_of_the_stored_states_the_newest_up_to_a_step_can_be_asked_for(journal):
    room = await journal.create(summary(), STATE, None)
    for made in steps(4):
        await append(
            journal, room, made, StepWrites(state=b'{"at":%d}' % made.seq) if made.seq % 2 == 0 else NOTHING
        )
    assert [(await journal.stored(room, at=seq)).seq for seq in range(5)] == [0, 0, 2, 2, 4]
    assert await journal.stored(room) == await journal.stored(room, at=99) == Stored(4, b'{"at":4}')


async def test_a_room_can_be_found_by_its_number_after_its_id_was_given_again(journal):
    old = await journal.create(summary("ABCD", ended="game_ended", ended_at=1.0), STATE, None)
    new = await journal.create(summary("ABCD"), STATE, None)
    assert (await journal.find(old)).summary.ended == "game_ended"
    assert (await journal.find(new)).summary.ended is None
    assert await journal.find(99) is None
