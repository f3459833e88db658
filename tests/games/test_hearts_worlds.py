"""Which hands a player could take for the true ones, and that each is as likely as the others."""

from collections import Counter
from itertools import permutations

import pytest
from msgspec.structs import replace

from parlour.game import Chance
from parlour.games.hearts import Hearts
from parlour.games.hearts.cards import Trick, pack
from parlour.games.hearts.deal import Position, Rules
from parlour.games.hearts.worlds import barred_cards, deal_out, reimagined
from parlour.testing import chance_of, full_table, play_on


def drawn(holders, rooms, times=3000):
    """How often each way to deal comes up."""
    seen: Counter[tuple[frozenset[str], ...]] = Counter()
    for number in range(times):
        hands = deal_out(holders, rooms, Chance(bytes(32), number))
        seen[tuple(frozenset(hand) for hand in hands)] += 1
    return seen


def possible(holders, rooms):
    """Every way to deal, found by trying all orders."""
    found = set()
    for order in permutations(holders):
        at, hands = 0, []
        for room in rooms:
            hands.append(frozenset(order[at : at + room]))
            at += room
        if all(seat in holders[card] for seat, hand in enumerate(hands) for card in hand):
            found.add(tuple(hands))
    return found


@pytest.mark.parametrize(
    "barred",
    [{}, {"2C": {0}, "3C": {0}}, {"2C": {0}, "3C": {0}, "4D": {1}, "5D": {1, 2}}],
)
def test_every_deal_that_fits_comes_as_often_as_the_others(barred):
    cards, rooms = ("2C", "3C", "4D", "5D", "6S"), (2, 2, 1)
    holders = {card: frozenset({0, 1, 2} - barred.get(card, set())) for card in cards}
    seen, all_ways = drawn(holders, rooms), possible(holders, rooms)
    assert set(seen) == all_ways
    fair = 3000 / len(all_ways)
    assert all(abs(count - fair) < 6 * fair**0.5 for count in seen.values())


def test_hands_that_nothing_fits_are_refused():
    with pytest.raises(ValueError, match="expected hands that fit what was played"):
        deal_out({"2C": frozenset({0})}, (0, 1), Chance(bytes(32), 0))


def test_who_did_not_follow_suit_has_none_of_it():
    barred = barred_cards((Trick(0, ("4C", "3D", "2C")),), 3)
    assert {"5C", "AC"} <= barred[1]
    assert not barred[2]


def test_who_played_points_to_the_first_trick_has_nothing_else():
    barred = barred_cards((Trick(0, ("2C", "QS", "3C")),), 3)
    assert barred[1] == {card for card in pack(3) if card[1] != "H" and card != "QS"}


def test_who_led_the_first_heart_has_nothing_but_hearts():
    barred = barred_cards((Trick(0, ("4C", "3C", "2C")), Trick(0, ("5H", "6H", "7H"))), 3)
    assert barred[0] == {card for card in pack(3) if card[1] != "H"}


def test_what_one_has_passed_on_is_where_it_went_until_it_is_played():
    table, chance = full_table(Hearts(), {"points": 0}, luck=4), chance_of(4)
    while table.state.phase != "playing":
        play_on(table, chance)
    gave = table.state.gave[0]
    for number in range(30):
        other = reimagined(table.state, 0, Chance(bytes(32), number))
        assert set(gave) <= set(other.hands[1])
        assert other.gave[0] == gave
        assert other.gave[3] == table.state.gave[3]


def test_whoever_is_to_lead_has_the_lowest_club_in_every_world():
    table = full_table(Hearts(), {"passing": False}, luck=2)
    leader = table.state.turn
    for number in range(30):
        assert "2C" in reimagined(table.state, None, Chance(bytes(32), number)).hands[leader]


def test_nothing_is_imagined_before_the_cards_are_dealt():
    state = Position(rules=Rules())
    assert reimagined(state, None, Chance(bytes(32), 0)) == state


def test_every_hand_but_ones_own_is_another_one_sooner_or_later():
    table = full_table(Hearts(), {"players": 5}, luck=2)
    worlds = [reimagined(table.state, 2, Chance(bytes(32), number)) for number in range(20)]
    for seat in range(5):
        hands = {world.hands[seat] for world in worlds}
        assert len(hands) == 1 if seat == 2 else len(hands) > 10
    assert {replace(world, hands=(), chosen=()) for world in worlds} == {
        replace(table.state, hands=(), chosen=())
    }
