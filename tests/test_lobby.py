"""Pairing: nobody twice, nobody with themselves, nobody outside the rules, nobody for ever."""

import random
from collections.abc import Iterable

import msgspec
import pytest

from parlour.errors import Refused
from parlour.lobby import Mode, Party, Ticket, check_new, fit, pair


def ticket(player: str, since: float = 0.0, **more) -> Ticket:
    return Ticket(f"{player}-{since}", player, player.capitalize(), "go", {}, since, **more)


def players(parties: Iterable[Party]) -> list[tuple[str, ...]]:
    return [tuple(member.player for member in party) for party in parties]


def test_who_comes_first_plays_first():
    waiting = [ticket("cat", 2), ticket("ann", 0), ticket("dan", 3), ticket("bob", 1), ticket("eve", 4)]
    assert players(pair(waiting, 5.0)) == [("ann", "bob"), ("cat", "dan")]


def test_nobody_plays_with_themselves():
    assert pair([ticket("ann", 0), ticket("ann", 1)], 5.0) == []


def test_nobody_plays_in_two_places():
    here = [ticket("ann"), ticket("bob", 1)]
    there = [ticket("ann", mode="ranked"), ticket("cat", 2, mode="ranked")]
    assert len(pair([*here, *there], 5.0)) == 1


def test_a_game_for_three_waits_for_three():
    two = [ticket("ann", 0, seats=3), ticket("bob", 1, seats=3)]
    assert pair(two, 5.0) == []
    assert players(pair([*two, ticket("cat", 2, seats=3)], 5.0)) == [("ann", "bob", "cat")]


def test_against_a_bot_nobody_waits():
    assert players(pair([ticket("ann", mode="bot", bot="random")], 0.0)) == [("ann",)]


def test_in_ranked_games_the_nearest_is_taken():
    far = ticket("far", 0, mode="ranked", rating=1590.0)
    near = ticket("near", 1, mode="ranked", rating=1510.0)
    assert players(pair([far, near, ticket("ann", 2, mode="ranked")], 2.0))[0] == ("far", "near")
    apart = ticket("far", 0, mode="ranked", rating=1620.0), ticket("near", 0, mode="ranked", rating=1440.0)
    assert players(pair([*apart, ticket("ann", 2, mode="ranked")], 2.0)) == [("near", "ann")]


def test_two_who_each_have_a_room_stay_in_them():
    assert pair([ticket("ann", at="ABCD"), ticket("bob", at="EFGH")], 5.0) == []


def test_a_player_has_one_ticket_for_a_queue():
    with pytest.raises(Refused, match="already_queued"):
        check_new(ticket("ann", 1), [ticket("ann")])
    check_new(ticket("ann", 1, mode="ranked"), [ticket("ann")])


MODES: tuple[Mode, ...] = ("normal", "ranked", "bot")


def test_of_ten_thousand_tickets_with_cancels_and_restarts_everybody_is_paired_by_the_rules():
    chance = random.Random(8)
    waiting: dict[str, Ticket] = {}
    paired: set[str] = set()
    for number in range(10_000):
        now = number * 0.05
        new = Ticket(
            f"t{number}", f"p{chance.randrange(300)}", "", "go", {"size": chance.choice((9, 19))}, now,
            chance.choice(MODES), rating=chance.gauss(1500, 300),
        )  # fmt: skip
        try:
            check_new(new, waiting.values())
        except Refused:
            continue
        waiting[new.id] = new
        if chance.random() < 0.05:
            del waiting[chance.choice(list(waiting))]
        if chance.random() < 0.01:  # what a restart finds is what was kept
            kept = [msgspec.json.encode(one) for one in waiting.values()]
            waiting = {one.id: one for one in map(msgspec.json.Decoder(Ticket).decode, kept)}
        busy: set[str] = set()
        for party in pair(waiting.values(), now):
            who = [member.player for member in party]
            assert len(set(who)) == len(who) == (1 if party[0].mode == "bot" else 2)
            assert all(fit(one, other, now) for one in party for other in party if one is not other)
            assert not busy & set(who), "in two places"
            busy.update(who)
            for member in party:
                assert member.id not in paired, "twice"
                paired.add(member.id)
                del waiting[member.id]
        waiting = {id: one for id, one in waiting.items() if one.player not in busy}
        free = list(waiting.values())[:20]
        assert not any(fit(one, other, now) for one in free for other in free if one is not other)
    assert len(paired) > 5000
    end = 600.0
    while parties := pair(waiting.values(), end):
        gone = {member.player for party in parties for member in party}
        waiting = {id: one for id, one in waiting.items() if one.player not in gone}
    left = list(waiting.values())
    assert not any(fit(one, other, end) for one in left for other in left if one is not other)
