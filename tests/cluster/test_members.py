"""Shards and their owners, without a database."""

from zlib import crc32

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parlour.cluster.dealing import Crew, Row, deal
from parlour.cluster.members import NOBODY, Alone, LivingWorker
from parlour.journal.shards import SHARDS, shard_of

workers = st.sets(st.integers(1, 9))
rows = st.lists(st.builds(Row, st.integers(0, 9), st.integers(0, 9)), max_size=40)


@st.composite
def crews(draw):
    living = draw(workers)
    takers = draw(st.sets(st.sampled_from(sorted(living)))) if living else set()
    return Crew(living, takers)


def dealt(before, crew):
    after = list(before)
    for change in deal(before, crew):
        assert change.before == before[change.shard]
        after[change.shard] = change.after
    return after


def given_up(table):
    """The table after all owners have given up what others are to have."""
    return [Row(row.heir) for row in table]


@pytest.mark.parametrize("key", ["room:ABCD", "relay:x", "lobby", "room:é"])
def test_the_shard_of_a_key_is_its_crc32(key):
    assert shard_of(key) == crc32(key.encode()) % 256


async def test_one_process_owns_everything_at_all_times():
    alone, taken = Alone("here"), []
    alone.taken = lambda shards, seconds: taken.append((shards, seconds))
    await alone.start()
    assert taken == [(set(range(SHARDS)), 0.0)]
    assert alone.owner_of("room:ABCD") == alone.owner_of("lobby") == alone.me
    assert alone.is_fresh()
    assert alone.workers() == [LivingWorker(alone.me, "here", 0.0, SHARDS)]
    alone.look_now()
    await alone.stop()
    assert alone.is_fresh()


@given(rows, crews())
def test_what_a_living_worker_owns_is_never_taken_from_it(table, crew):
    for before, after in zip(table, dealt(table, crew), strict=True):
        assert before.owner not in crew.living or after.owner == before.owner


@given(rows, crews())
def test_nothing_is_given_to_whoever_cannot_take_it(table, crew):
    for before, after in zip(table, dealt(table, crew), strict=True):
        assert after.owner in (before.owner, *crew.takers)
        assert after.wanted in (before.wanted, NOBODY, *crew.takers)


@given(rows, crews())
def test_every_shard_gets_a_living_owner_if_there_is_anybody_to_take_it(table, crew):
    if crew.takers:
        assert {row.owner for row in dealt(table, crew)} <= crew.living


@given(st.lists(st.integers(0, 9), max_size=40), workers.filter(bool))
def test_shares_are_equal_give_or_take_one_when_all_is_given_up(owners, living):
    table = given_up(dealt([Row(owner) for owner in owners], Crew(living, living)))
    shares = [sum(row.owner == worker for row in table) for worker in living]
    assert sum(shares) == len(owners)
    assert max(shares) - min(shares) <= 1


@given(rows, crews())
def test_who_has_been_dealt_to_is_left_in_peace(table, crew):
    once = dealt(table, crew)
    assert deal(once, crew) == []


def test_a_worker_more_costs_its_own_share_of_moves_and_a_worker_less_costs_none():
    two = dealt([Row(NOBODY)] * SHARDS, Crew({1, 2}, {1, 2}))
    three = deal(two, Crew({1, 2, 3}, {1, 2, 3}))
    assert len(three) == SHARDS // 3
    assert {change.after.wanted for change in three} == {3}
    left = deal(two, Crew({1}, {1}))
    assert {(change.before, change.after) for change in left} == {(Row(2), Row(1))}


def test_shares_are_not_evened_out_while_somebody_is_late():
    table = [Row(1)] * 6 + [Row(7)] * 2
    assert [change.after for change in deal(table, Crew({1, 2}, {1, 2}, even=False))] == [Row(2)] * 2


def test_whoever_leaves_is_asked_for_all_that_it_has_and_was_to_have():
    table = [Row(1), Row(1, 2), Row(2, 1), Row(3, 1), Row(3)]
    after = dealt(table, Crew({1, 2, 3}, {2, 3}, leaving=1, even=False))
    assert after == [Row(1, 2), Row(1, 2), Row(2), Row(3), Row(3)]


def test_a_worker_that_is_gone_is_not_wanted_any_more():
    assert dealt([Row(1, 9), Row(1, 1)], Crew({1}, {1})) == [Row(1), Row(1)]
