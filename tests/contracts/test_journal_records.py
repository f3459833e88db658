"""What every journal promises of records: one rule, one sentence."""

import asyncio
from math import inf

import pytest
from msgspec import UNSET
from msgspec.structs import replace

from parlour.journal.base import (
    Conflict,
    Drop,
    NewRecord,
    Record,
    RecordQuery,
    RoomQuery,
    StepWrites,
    Stored,
    Unchanged,
)
from tests.journal.made import ANN, BOB, STATE, append, listed, step, steps, summary

NOTE = Record("note", "n1", b"hello", "wall", ANN.id, 2.0, 5.0, 7)
OTHER = Record("note", "n2", b"there", "wall", BOB.id, 1.0)


def notes(*sorts, group="wall", **more):
    return [Record("note", f"n{sort}", b"body %d" % sort, group, sort=float(sort), **more) for sort in sorts]


async def keys(journal, **query):
    return [record.key for record in await journal.records(RecordQuery("note", **query))]


async def opened_again(journal):
    await journal.close()
    await journal.open()


# One record.


async def test_a_record_comes_back_as_it_was_also_after_closing(journal):
    bare = Record("note", "n1", b"")
    await journal.keep(NOTE, bare)
    await opened_again(journal)
    assert await journal.record("note", "n1", "wall") == NOTE
    assert await journal.record("note", "n1") == bare


async def test_a_record_that_is_not_there_is_none(journal):
    await journal.keep(NOTE)
    assert await journal.record("note", "n2", "wall") is None
    assert await journal.record("note", "n1", "door") is None
    assert await journal.record("letter", "n1", "wall") is None


async def test_of_a_record_the_newest_is_kept(journal):
    await journal.keep(NOTE)
    newer = Record("note", "n1", b"bye", "wall", BOB.id, 3.0)
    await journal.keep(newer)
    assert await journal.records(RecordQuery("note")) == [newer]


async def test_any_bytes_can_be_kept(journal):
    for body in (b"", bytes(range(256)), b"x" * 200_000):
        await journal.keep(replace(NOTE, body=body))
        assert (await journal.record("note", "n1", "wall")).body == body


async def test_kinds_and_groups_and_rooms_of_one_name_do_not_mix(journal):
    room = await journal.create(summary("n1"), STATE, None)
    for made in steps(2):
        await append(journal, room, made, StepWrites())
    names = [(kind, group) for kind in ("note", "letter") for group in ("", "wall", "door")]
    await journal.keep(*(Record(kind, "n1", f"{kind} {group}".encode(), group) for kind, group in names))
    for kind, group in names:
        assert (await journal.record(kind, "n1", group)).body == f"{kind} {group}".encode()
    assert await listed(journal.replay(room)) == steps(2)


# New ones, and those that must not have changed.


async def test_a_new_record_is_kept_like_any_other(journal):
    await journal.keep(NewRecord("note", "n1", b"hello"))
    assert await journal.record("note", "n1") == Record("note", "n1", b"hello")


async def test_a_new_record_whose_key_is_taken_is_refused(journal):
    await journal.keep(NOTE)
    with pytest.raises(Conflict):
        await journal.keep(NewRecord("note", "n1", b"another", "wall"))
    assert await journal.records(RecordQuery("note")) == [NOTE]


async def test_the_key_of_a_dropped_record_is_free(journal):
    await journal.keep(NOTE)
    await journal.keep(Drop("note", "wall", "n1"))
    await journal.keep(NewRecord("note", "n1", b"another", "wall"))
    assert (await journal.record("note", "n1", "wall")).body == b"another"


async def test_of_many_who_want_the_same_new_record_one_gets_it(journal):
    wishes = [journal.keep(NewRecord("note", "n1", b"%d" % number)) for number in range(20)]
    outcomes = await asyncio.gather(*wishes, return_exceptions=True)
    assert outcomes.count(None) == 1
    assert sum(isinstance(outcome, Conflict) for outcome in outcomes) == 19


async def test_what_depends_on_a_record_is_written_only_while_that_is_as_it_was_read(journal):
    await journal.keep(NOTE)
    await journal.keep(Unchanged(NOTE), replace(NOTE, body=b"first"))
    with pytest.raises(Conflict):
        await journal.keep(Unchanged(NOTE), replace(NOTE, body=b"second"))
    assert (await journal.record("note", "n1", "wall")).body == b"first"


@pytest.mark.parametrize(
    "changes", [{"body": b"x"}, {"owner": "x"}, {"sort": 9.0}, {"due": 9.0}, {"due": None}, {"room": None}]
)
async def test_a_record_has_changed_if_anything_of_it_has(journal, changes):
    await journal.keep(replace(NOTE, **changes))
    with pytest.raises(Conflict):
        await journal.keep(Unchanged(NOTE), OTHER)
    assert await journal.record("note", "n2", "wall") is None


async def test_a_record_that_is_gone_has_changed(journal):
    with pytest.raises(Conflict):
        await journal.keep(Unchanged(NOTE), OTHER)
    assert await journal.records(RecordQuery("note")) == []


async def test_of_many_who_change_what_they_have_read_none_undoes_another(journal):
    await journal.keep(Record("note", "count", b"0"))

    async def count():
        while True:
            was = await journal.record("note", "count")
            try:
                await journal.keep(Unchanged(was), replace(was, body=b"%d" % (int(was.body) + 1)))
            except Conflict:
                continue
            return

    await asyncio.gather(*(count() for _ in range(20)))
    assert (await journal.record("note", "count")).body == b"20"


# All or nothing.


@pytest.mark.parametrize("obstacle", [NewRecord("note", "n1", b"", "wall"), Unchanged(OTHER)])
async def test_of_changes_that_meet_an_obstacle_none_is_made(journal, obstacle):
    await journal.keep(NOTE)
    before = (replace(NOTE, body=b"wrong"), Drop("note", "wall"), Record("letter", "l", b""))
    with pytest.raises(Conflict):
        await journal.keep(*before, obstacle)
    with pytest.raises(Conflict):
        await journal.keep(obstacle, *before)
    assert await journal.records(RecordQuery("note")) == [NOTE]
    assert await journal.records(RecordQuery("letter")) == []


async def test_changes_are_made_in_their_order(journal):
    await journal.keep(NOTE, Drop("note", "wall"), OTHER)
    assert await journal.records(RecordQuery("note")) == [OTHER]


async def test_to_change_nothing_is_no_fault(journal):
    await journal.keep()
    await journal.keep(Drop("note", key="unknown"), Drop("letter"))
    assert await journal.records(RecordQuery("note")) == []


async def test_who_meets_an_obstacle_harms_no_neighbour(journal):
    await journal.keep(NOTE)
    new = [NewRecord("note", key, b"", "wall") for key in ("a", "n1", "b")]
    outcomes = await asyncio.gather(*map(journal.keep, new), return_exceptions=True)
    assert [type(outcome) for outcome in outcomes] == [type(None), Conflict, type(None)]
    assert await keys(journal) == ["a", "b", "n1"]


# With a step, and with a room.


async def test_a_step_is_kept_with_its_records_or_not_at_all(journal):
    room = await journal.create(summary(), STATE, None)
    await append(journal, room, step(1), StepWrites(records=(NOTE,)))
    with pytest.raises(Conflict):
        await append(journal, room, step(1, player=BOB.id), StepWrites(records=(OTHER, Drop("note", "wall"))))
    assert await journal.records(RecordQuery("note")) == [NOTE]


async def test_a_step_whose_records_meet_an_obstacle_is_not_kept(journal):
    room = await journal.create(summary(), STATE, 5.0)
    await journal.keep(NOTE)
    taken = NewRecord("note", "n1", b"another", "wall")
    with pytest.raises(Conflict):
        await append(
            journal, room, step(1, id="c1"), StepWrites(summary(connected=1), b"wrong", None, (OTHER, taken))
        )
    recalled = await journal.recall("ABCD")
    assert (recalled.found.summary, recalled.stored.state) == (summary(), STATE)
    assert (recalled.steps, recalled.answers) == ([], {})
    assert await journal.records(RecordQuery("note")) == [NOTE]


async def test_steps_of_many_rooms_at_once_are_each_kept_with_what_is_beside_them(journal):
    rooms = [await journal.create(summary(f"R{n}"), STATE, 5.0) for n in range(6)]

    def beside(number):
        ended = summary(f"R{number}", connected=number, seats=(ANN, BOB) if number % 2 else (None, None))
        due = (None, 7.0, UNSET)[number % 3]
        return StepWrites(ended, b"state %d" % number, due, tuple(notes(number, number + 10)))

    await asyncio.gather(*(append(journal, room, step(1), beside(n)) for n, room in enumerate(rooms)))
    for number in range(6):
        recalled = await journal.recall(f"R{number}")
        assert recalled.found.summary == beside(number).summary
        assert recalled.stored == Stored(1, b"state %d" % number)
    due = await journal.rooms(RoomQuery(due_by=9.0))
    assert sorted(found.summary.id for found in due) == ["R1", "R2", "R4", "R5"]
    of_ann = await journal.rooms(RoomQuery(player=ANN.id))
    assert sorted(found.summary.id for found in of_ann) == ["R1", "R3", "R5"]
    assert sorted(await keys(journal)) == sorted(note.key for n in range(6) for note in notes(n, n + 10))


async def test_of_steps_at_once_that_depend_on_the_same_record_one_is_kept(journal):
    rooms = [await journal.create(summary(f"R{n}"), STATE, None) for n in range(3)]
    await journal.keep(NOTE)

    def change(number):
        return StepWrites(records=(Unchanged(NOTE), replace(NOTE, body=b"%d" % number), *notes(20 + number)))

    wishes = (append(journal, room, step(1), change(n)) for n, room in enumerate(rooms))
    outcomes = await asyncio.gather(*wishes, return_exceptions=True)
    assert [type(outcome) for outcome in outcomes].count(Conflict) == 2
    winner = outcomes.index(None)
    assert (await journal.record("note", "n1", "wall")).body == b"%d" % winner
    assert [len(await listed(journal.replay(room))) for room in rooms] == [n == winner for n in range(3)]


async def test_a_new_room_is_kept_with_its_first_steps_and_their_records(journal):
    room = await journal.create(summary(), STATE, None, steps(2), [NOTE])
    await opened_again(journal)
    assert await listed(journal.replay(room)) == steps(2)
    assert await journal.records(RecordQuery("note")) == [NOTE]


async def test_a_room_that_is_refused_changes_no_record(journal):
    await journal.create(summary(), STATE, None)
    await journal.keep(NOTE)
    with pytest.raises(Conflict):
        await journal.create(summary(), STATE, None, steps(1), [OTHER, Drop("note", "wall")])
    assert await journal.records(RecordQuery("note")) == [NOTE]


async def test_a_room_whose_records_meet_an_obstacle_is_not_opened(journal):
    await journal.keep(NOTE)
    with pytest.raises(Conflict):
        await journal.create(summary(), STATE, None, steps(1), [NewRecord("note", "n1", b"", "wall")])
    assert await journal.find("ABCD") is None


# Many.


async def test_records_come_in_their_order_and_those_of_the_same_order_by_their_keys(journal):
    await journal.keep(
        *notes(10, 9, -1), Record("note", "z", b"", sort=9.0), Record("note", "a", b"", sort=9.0)
    )
    assert await keys(journal) == ["n-1", "a", "n9", "z", "n10"]
    assert await keys(journal, largest_first=True) == ["n10", "a", "n9", "z", "n-1"]


async def test_of_records_as_many_are_read_as_are_asked_for(journal):
    await journal.keep(*notes(1, 2, 3))
    assert await keys(journal, limit=2) == ["n1", "n2"]
    assert await keys(journal, limit=2, largest_first=True) == ["n3", "n2"]
    assert await keys(journal, limit=9) == ["n1", "n2", "n3"]


async def test_of_records_no_more_bytes_are_read_than_are_asked_for(journal):
    await journal.keep(*notes(1, 2, 3))
    assert await keys(journal, most_bytes=18) == ["n1", "n2", "n3"]
    assert await keys(journal, most_bytes=17) == ["n1", "n2"]
    assert await keys(journal, most_bytes=17, largest_first=True) == ["n3", "n2"]
    assert await keys(journal, most_bytes=5) == []


async def test_records_are_found_by_their_group(journal):
    await journal.keep(*notes(1, 2), *notes(3, group="door"), *notes(4, group=""))
    assert await keys(journal, group="wall") == ["n1", "n2"]
    assert await keys(journal, group="") == ["n4"]
    assert await keys(journal, group="roof") == []
    assert await keys(journal) == ["n1", "n2", "n3", "n4"]


async def test_records_are_found_by_their_owner_in_all_groups(journal):
    await journal.keep(
        *notes(1, owner=ANN.id), *notes(3, group="door", owner=ANN.id), *notes(2, owner=BOB.id)
    )
    assert await keys(journal, owner=ANN.id) == ["n1", "n3"]
    assert await keys(journal, owner=ANN.id, largest_first=True, limit=1) == ["n3"]
    assert await keys(journal, owner=ANN.id, group="door") == ["n3"]
    assert await keys(journal, owner="nobody") == []


async def test_records_are_found_when_they_are_due_the_earliest_first(journal):
    await journal.keep(*notes(1, due=30.0), *notes(2, due=10.0), *notes(3, due=20.0), *notes(4))
    assert await keys(journal, due_by=9.9) == []
    assert await keys(journal, due_by=20.0) == ["n2", "n3"]
    assert await keys(journal, due_by=inf) == ["n2", "n3", "n1"]
    assert await keys(journal, due_by=inf, limit=1) == ["n2"]


async def test_what_is_read_strictly_is_the_same_where_nothing_is_damaged(journal):
    await journal.keep(*notes(1, 2))
    assert await keys(journal, strict=True) == ["n1", "n2"]


# Forgetting.


async def test_one_record_can_be_dropped(journal):
    await journal.keep(*notes(1, 2), *notes(1, group="door"))
    await journal.keep(Drop("note", "wall", "n1"))
    await opened_again(journal)
    assert [(one.group, one.key) for one in await journal.records(RecordQuery("note"))] == [
        ("door", "n1"),
        ("wall", "n2"),
    ]


async def test_all_records_below_a_place_in_the_order_can_be_dropped(journal):
    await journal.keep(*notes(8, 9, 10, 11), *notes(1, group="door"))
    await journal.keep(Drop("note", "wall", below=10.0))
    assert await keys(journal) == ["n1", "n10", "n11"]


async def test_a_whole_group_can_be_dropped(journal):
    await journal.keep(*notes(1, 2), *notes(3, group="door"), Record("letter", "l", b"", "wall"))
    await journal.keep(Drop("note", "wall"))
    assert await keys(journal) == ["n3"]
    assert len(await journal.records(RecordQuery("letter"))) == 1


async def test_records_of_a_room_are_forgotten_with_it_and_others_stay(journal):
    old = await journal.create(summary(), STATE, None)
    other = await journal.create(summary("OTHER"), STATE, None)
    await journal.keep(*notes(1, room=old), *notes(2, room=other), *notes(3))
    await append(journal, old, step(1), StepWrites(summary(ended="game_ended", ended_at=1.0)))
    assert await keys(journal) == ["n1", "n2", "n3"]
    while await journal.prune(2.0, 5):
        pass
    assert await keys(journal) == ["n2", "n3"]
