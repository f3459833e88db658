"""Pairing: nobody twice, nobody with themselves, nobody outside the rules, nobody for ever."""

import random
from collections.abc import Callable, Iterable

import msgspec
import pytest
from msgspec.structs import replace

from parlour.lobby import Mode, Party, Ticket, TicketQueues, agreed_config, fit
from tests.effort import counted


def ticket(player: str, since: float = 0.0, **more) -> Ticket:
    return Ticket(f"{player}-{since}", player, player.capitalize(), "go", {}, since, **more)


def come(queues: TicketQueues, new: Ticket, now: float) -> Party | None:
    """Somebody comes, and plays at once or waits."""
    party = queues.party(new, now)
    if party is None:
        queues.add(new)
    for member in party or ():
        queues.remove(member)
    return party


def pair(tickets: Iterable[Ticket], now: float) -> list[Party]:
    """All who can play when these have come one after the other."""
    queues = TicketQueues()
    return [party for one in tickets if (party := come(queues, one, now)) is not None]


def players(parties: Iterable[Party]) -> list[tuple[str, ...]]:
    return [tuple(member.player for member in party) for party in parties]


def test_who_comes_first_plays_first():
    queues = TicketQueues()
    for one in (ticket("cat", 2), ticket("ann", 0), ticket("dan", 3), ticket("bob", 1), ticket("eve", 4)):
        queues.add(one)
    assert players(queues.parties(5.0)) == [("ann", "bob"), ("cat", "dan")]


def test_nobody_plays_with_themselves():
    assert pair([ticket("ann", 0), ticket("ann", 1)], 5.0) == []


def test_nobody_plays_in_two_places():
    queues = TicketQueues()
    for one in (ticket("ann"), ticket("bob", 1)):
        queues.add(one)
    for one in (ticket("ann", 3, mode="ranked"), ticket("cat", 2, mode="ranked")):
        queues.add(one)
    assert len(queues.parties(5.0)) == 1


def test_settings_for_which_nobody_waits_keep_nobody_apart_and_all_others_do():
    plain = ticket("ann", 0, negotiable=("komi",))
    mine, other = (replace(plain, config={"size": size, "komi": True}) for size in (9, 13))
    theirs = replace(plain, id="bob", player="bob", config={"size": 9, "komi": False})
    assert players(pair([other, theirs], 5.0)) == []
    assert players(pair([mine, theirs], 5.0)) == [("ann", "bob")]


def test_what_a_party_wants_differently_is_left_to_the_defaults_and_what_it_wants_alike_it_gets():
    plain = ticket("ann", 0, negotiable=("komi", "loud"))
    mine = replace(plain, config={"size": 9, "komi": True, "loud": True})
    theirs = replace(plain, config={"size": 9, "komi": False, "loud": True})
    assert agreed_config((mine, theirs)) == {"size": 9, "loud": True}
    assert agreed_config((mine, mine)) == mine.config


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


def test_of_equals_the_oldest_is_taken():
    rooms = [ticket(f"p{n}", float(n), mode="ranked", at=f"R{n}") for n in (3, 1, 2)]
    queues = TicketQueues()
    for room in rooms:
        queues.add(room)
    assert players([queues.party(ticket("ann", 9, mode="ranked"), 9.0) or ()]) == [("p1", "ann")]


def test_two_who_each_have_a_room_stay_in_them():
    assert pair([ticket("ann", at="ABCD"), ticket("bob", at="EFGH")], 5.0) == []
    queues = TicketQueues()
    for one in (ticket("ann", at="ABCD"), ticket("bob", at="EFGH")):
        queues.add(one)
    assert queues.parties(1000.0) == []


# What it costs.


def work(do: Callable[[], object]) -> int:
    with counted("lobby.py") as count:
        do()
    return count[0]


def crowd(size: int, **more) -> TicketQueues:
    """So many who wait in rooms of their own, and do not fit a newcomer."""
    queues = TicketQueues()
    for number in range(size):
        rating = 2500.0 + number
        queues.add(ticket(f"p{number}", float(number), mode="ranked", rating=rating, at=f"R{number}", **more))
    return queues


def new(queues: TicketQueues, **more) -> Callable[[], object]:
    return lambda: come(queues, ticket("ann", mode="ranked", **more), 0.0)


def test_a_new_ticket_costs_the_same_however_many_wait_for_something_else():
    few, many = crowd(10, bot="x"), crowd(10_000, bot="x")
    assert work(new(few)) == work(new(many)) < 1000


def test_a_new_ticket_looks_at_a_few_of_its_own_line_however_long_that_is():
    some, many = crowd(200), crowd(10_000)
    assert work(new(some)) == work(new(many)) < 20_000


def test_a_new_ticket_is_paired_at_the_same_cost_however_long_its_line_is():
    some, many = crowd(200), crowd(10_000)
    assert work(new(some, rating=2600.0)) == work(new(many, rating=2600.0)) < 2000
    assert come(many, ticket("bob", mode="ranked", rating=9000.0), 0.0) is not None


# At random.

MODES: tuple[Mode, ...] = ("normal", "ranked", "bot")


def test_of_ten_thousand_tickets_with_cancels_and_restarts_everybody_is_paired_by_the_rules():
    chance = random.Random(8)
    waiting: dict[str, Ticket] = {}
    queues = TicketQueues()
    paired: set[str] = set()

    def leave(gone: Iterable[Ticket]) -> None:
        for one in gone:
            queues.remove(waiting.pop(one.id))

    def play(party: Party, now: float) -> None:
        who = [member.player for member in party]
        assert len(set(who)) == len(who) == (1 if party[0].mode == "bot" else 2)
        assert all(fit(one, other, now) for one in party for other in party if one is not other)
        assert not paired & {member.id for member in party}, "twice"
        paired.update(member.id for member in party)
        leave([one for one in waiting.values() if one.player in who])

    for number in range(10_000):
        now = number * 0.05
        new = Ticket(
            f"t{number}", f"p{chance.randrange(300)}", "", "go", {"size": chance.choice((9, 19))}, now,
            chance.choice(MODES), rating=chance.gauss(1500, 300),
        )  # fmt: skip
        if any((one.player, one.queue) == (new.player, new.queue) for one in waiting.values()):
            continue
        waiting[new.id] = new
        queues.add(new)
        if chance.random() < 0.05:
            leave([chance.choice(list(waiting.values()))])
        if chance.random() < 0.01:  # what a restart finds is what was kept
            kept = [msgspec.json.encode(one) for one in waiting.values()]
            waiting = {one.id: one for one in map(msgspec.json.Decoder(Ticket).decode, kept)}
            queues = TicketQueues()
            for one in waiting.values():
                queues.add(one)
        if new.id in waiting and (party := queues.party(new, now)) is not None:
            play(party, now)
        if number % 20 == 0:
            while parties := queues.parties(now):
                busy: set[str] = set()
                for party in parties:
                    who = {member.player for member in party}
                    assert not busy & who, "in two places"
                    busy |= who
                    play(party, now)
            free = list(waiting.values())[:20]
            assert not any(fit(one, other, now) for one in free for other in free if one is not other)
    assert len(paired) > 5000
    end = 600.0
    while parties := queues.parties(end):
        for party in parties:
            play(party, end)
    left = list(waiting.values())
    assert not any(fit(one, other, end) for one in left for other in left if one is not other)


@pytest.mark.parametrize("seed", range(5))
def test_whoever_is_nearest_is_found_among_those_who_wait(seed):
    chance = random.Random(seed)
    queues, known = TicketQueues(), []
    for number in range(40):
        one = ticket(f"p{number}", float(number), mode="ranked", rating=chance.gauss(1500, 400), at="R")
        known.append(one)
        queues.add(one)
    for gone in chance.sample(known, 10):
        queues.remove(gone)
        known.remove(gone)
    for _ in range(50):
        new = ticket("ann", 50.0, mode="ranked", rating=chance.gauss(1500, 400))
        fits = [one for one in known if fit(one, new, 50.0)]
        nearest = min(fits, key=lambda one: abs(one.rating - new.rating), default=None)
        party = queues.party(new, 50.0)
        assert party == (None if nearest is None else (nearest, new))
