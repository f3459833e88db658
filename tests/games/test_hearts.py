"""The rules of Hearts, one sentence each; hands and tricks are written as players would."""

import pytest
from msgspec.structs import replace

from parlour.errors import Code
from parlour.game import Send
from parlour.games.hearts import Hearts
from parlour.games.hearts.cards import Trick, pack, points_of
from parlour.games.hearts.deal import Position, Rules
from parlour.games.hearts.rules import Choose, Pass, Play
from parlour.leakcheck import check
from parlour.testing import Table, chance_of, full_table, legal, play_on, refused, told

PLAYERS = ("ann", "bob", "cat", "dan", "eve")


def seated(players: int = 4, **config) -> Table:
    return Table(Hearts(), {"players": players, **config}).sit(*PLAYERS[:players])


def holding(*hands: str, tricks: str = "", leader: int = 0, **more) -> Table:
    """A deal that is being played: the hands, by seat, and full tricks before, each taken by seat 0."""
    played = tuple(Trick(leader, tuple(trick.split())) for trick in tricks.split("/") if trick)
    table = seated(len(hands), passing=False)
    state = replace(
        table.state,
        hands=tuple(tuple(hand.split()) for hand in hands),
        tricks=played,
        **more,
    )
    return table.lay_out(state)


def play(table: Table, *cards: str) -> Table:
    for card in cards:
        table.act(PLAYERS[table.state.turn], Play(card))
    return table


def why_not(table: Table, card: str) -> str:
    return refused(Code.ILLEGAL_MOVE, lambda: play(table, card)).message


# The cards.


@pytest.mark.parametrize(("players", "each"), [(3, 17), (4, 13), (5, 10)])
def test_all_cards_are_dealt_and_everybody_has_as_many(players, each):
    hands = seated(players).state.hands
    assert [len(hand) for hand in hands] == [each] * players
    assert sorted(card for hand in hands for card in hand) == sorted(pack(players))


def test_with_three_the_two_of_diamonds_is_left_out_with_five_the_two_of_clubs_too():
    full = set(pack(4))
    assert full - set(pack(3)) == {"2D"}
    assert full - set(pack(5)) == {"2D", "2C"}


def test_nothing_is_dealt_before_every_seat_is_taken():
    table = Table(Hearts()).sit("ann", "bob", "cat")
    assert table.state.phase == "waiting"
    table.sit("dan")
    assert table.state.phase == "passing"


def test_a_heart_counts_one_and_the_queen_of_spades_thirteen():
    assert points_of(("2H", "AH", "QS", "KS")) == 15
    assert points_of(pack(4)) == 26


# Passing.


def passed(table: Table) -> Table:
    """Everybody passes on their three lowest cards."""
    for player in PLAYERS[: table.state.rules.players]:
        for card in table.state.hands[table.state.seat(player)][:3]:
            table.act(player, Choose(card))
        table.act(player, Pass())
    return table


def test_three_cards_are_passed_to_the_left_in_the_first_deal():
    table = seated()
    before = table.state.hands
    passed(table)
    for seat in range(4):
        assert set(before[seat][:3]) <= set(table.state.hands[(seat + 1) % 4])
        assert len(table.state.hands[seat]) == 13


@pytest.mark.parametrize(
    ("players", "ways"),
    [
        (3, ["to the left", "to the right", "", "to the left"]),
        (4, ["to the left", "to the right", "across", "", "to the left"]),
        (5, ["to the left", "to the right", "two to the left", "two to the right", "", "to the left"]),
    ],
)
def test_from_deal_to_deal_cards_go_another_way_and_then_nowhere(players, ways):
    deals = [Position(rules=Rules(players), number=number) for number in range(1, len(ways) + 1)]
    assert [deal.pass_way for deal in deals] == ways


def test_in_a_deal_without_passing_whoever_has_the_lowest_club_leads_at_once():
    table = seated(passing=False)
    assert table.state.phase == "playing"
    assert "2C" in table.state.hands[table.state.turn]


def test_a_card_that_was_chosen_can_be_put_back():
    table = seated()
    card = table.state.hands[0][0]
    table.act("ann", Choose(card))
    assert table.state.chosen[0] == (card,)
    table.act("ann", Choose(card))
    assert table.state.chosen[0] == ()


def test_three_cards_are_passed_on_no_more_and_no_fewer():
    table = seated()
    hand = table.state.hands[0]
    for card in hand[:2]:
        table.act("ann", Choose(card))
    why = refused(Code.ILLEGAL_MOVE, lambda: table.act("ann", Pass()))
    assert why.message == "choose three cards first, you have 2"
    table.act("ann", Choose(hand[2]))
    why = refused(Code.ILLEGAL_MOVE, lambda: table.act("ann", Choose(hand[3])))
    assert why.message == "three are chosen: put one of them back first"


def test_nobody_chooses_the_card_of_somebody_else():
    table = seated()
    theirs = table.state.hands[1][0]
    refused(Code.ILLEGAL_MOVE, lambda: table.act("ann", Choose(theirs)))


def test_what_was_passed_on_is_not_taken_back():
    table = seated()
    for card in table.state.hands[0][:3]:
        table.act("ann", Choose(card))
    table.act("ann", Pass())
    why = refused(Code.ILLEGAL_MOVE, lambda: table.act("ann", Choose(table.state.hands[0][0])))
    assert why.message == "there is nothing to pass on now"


# The tricks.


def test_the_lowest_club_leads_to_the_first_trick():
    table = holding("2C 5D", "9C 3D", "KC 4D")
    assert why_not(table, "5D") == "the 2 of clubs leads to the first trick"
    play(table, "2C")


def test_who_can_must_follow_suit():
    table = play(holding("2C 5D", "9C 3D", "KC 4D"), "2C")
    assert why_not(table, "3D") == "you have clubs, and must play one"
    play(table, "9C")


def test_who_cannot_follow_plays_any_card():
    table = play(holding("2D 5D", "9C 3H", "KC 4D", tricks="4C 3C 2C"), "2D", "3H")
    assert table.state.trick.cards == ("2D", "3H")


def test_the_highest_card_of_the_suit_that_was_led_takes_the_trick_and_leads_to_the_next():
    table = play(holding("7D 5C", "KD 3H", "AC 4D", tricks="4C 3C 2C"), "7D", "KD", "4D")
    assert table.state.turn == 1


def test_the_first_trick_is_free_of_points():
    table = play(holding("2C 5D", "QS 3D", "KC 4D"), "2C")
    assert why_not(table, "QS") == "the first trick is free of points: play another card"
    play(table, "3D")


def test_who_has_nothing_but_points_may_play_them_to_the_first_trick():
    table = play(holding("2C 5D", "QS 3H", "KC 4D"), "2C", "QS")
    assert table.state.trick.cards == ("2C", "QS")


def test_hearts_cannot_be_led_before_somebody_has_played_one():
    table = holding("2H 5D", "9H 3D", "KH 4D", tricks="4C 3C 2C")
    assert why_not(table, "2H") == "hearts cannot be led before somebody has played one"
    broken = holding("2H 5D", "9H 3D", "KH 4D", tricks="4C 3C 2C/AC KC AH")
    play(broken, "2H")


def test_who_has_nothing_but_hearts_may_lead_one():
    play(holding("2H 5H", "9H 3D", "KH 4D", tricks="4C 3C 2C"), "2H")


def test_the_queen_of_spades_may_be_led_at_any_time():
    play(holding("QS 5H", "9H 3D", "KH 4D", tricks="4C 3C 2C"), "QS")


def test_nobody_plays_out_of_turn_nor_what_they_do_not_have():
    table = holding("2C 5D", "9C 3D", "KC 4D")
    refused(Code.NOT_YOUR_TURN, lambda: table.act("bob", Play("9C")))
    assert why_not(table, "AH") == "you do not have the ace of hearts"


# The score.


def last_trick(points: int = 0, totals=(0, 0, 0)) -> Table:
    """One card each; ann takes the hearts of the others."""
    table = holding("AH", "KH", "QH", tricks="AC 2C 3H", deals=(totals,))
    return table.lay_out(replace(table.state, rules=Rules(3, points, passing=False)))


def test_who_takes_a_trick_counts_its_hearts_and_the_queen():
    table = play(last_trick(), "AH", "KH", "QH")
    assert table.state.deals[-1] == (4, 0, 0)


def test_who_takes_all_points_counts_nothing_and_everybody_else_26():
    hearts = "AC 2C QS/AH 2H 3H/KH 4H 5H/QH 6H 7H/JH 8H 9H"
    table = holding("TH", "4D", "5D", tricks=hearts)
    table.lay_out(replace(table.state, rules=Rules(3, 0, passing=False)))
    play(table, "TH", "4D", "5D")
    assert table.state.deals == ((0, 26, 26),)
    assert "{0} shoots the moon" in table.state.log


def test_the_game_ends_with_the_deal_in_which_somebody_comes_to_the_limit():
    table = play(last_trick(50, (45, 10, 20)), "AH", "KH", "QH")
    assert table.room.outcome is None
    table = play(last_trick(50, (46, 10, 20)), "AH", "KH", "QH")
    outcome = table.room.outcome
    assert outcome is not None
    assert (outcome.won, outcome.lost) == (("bob",), ("ann", "cat"))
    assert outcome.why == "the fewest points: 10"


def test_those_who_share_the_fewest_points_have_drawn():
    table = play(last_trick(50, (46, 20, 20)), "AH", "KH", "QH")
    outcome = table.room.outcome
    assert outcome is not None
    assert (outcome.won, outcome.drew, outcome.lost) == ((), ("bob", "cat"), ("ann",))


def test_the_next_deal_follows_by_itself():
    step = last_trick(50)
    play(step, "AH", "KH")
    said = told(step.act("cat", Play("QH")))
    assert [one["type"] for one in said] == ["played", "trick", "counted", "dealt"]
    assert [len(hand) for hand in step.state.hands] == [17, 17, 17]


def test_the_log_has_a_line_for_each_trick_in_the_order_of_play():
    table = play(last_trick(), "AH", "KH", "QH")
    assert table.state.log == ("{0}: ♥A ♥K ♥Q (3 points)", "After deal 1: {0} 4, {1} 0, {2} 0")


# Coming and going.


def test_who_leaves_is_waited_for_and_who_comes_takes_the_hand_over():
    table = seated()
    hand = table.state.hands[1]
    table.leave("bob")
    refused(Code.NOT_YOUR_TURN, lambda: table.act("ann", Choose(table.state.hands[0][0])))
    table.sit("eve")
    assert table.game.view(table.state, "eve")["hand"] == hand


# What is seen.


def test_a_hand_is_seen_by_nobody_else():
    table = seated()
    for viewer in ("bob", None):
        drawn = table.game.scene(table.state, viewer)
        faces = {piece.id[1:] for piece in drawn.pieces if piece.look == "card"}
        assert not faces & set(table.state.hands[0])
        assert sum(piece.spot == "h0" for piece in drawn.pieces) == 13


def test_what_somebody_chooses_to_pass_is_told_to_nobody():
    table = seated()
    before = [table.game.view(table.state, viewer) for viewer in ("bob", "cat", None)]
    table.act("ann", Choose(table.state.hands[0][0]))
    assert [table.game.view(table.state, viewer) for viewer in ("bob", "cat", None)] == before


def test_the_last_trick_lies_there_until_somebody_leads_to_the_next():
    table = play(holding("7D 5C", "KD 3H", "AC 4D", tricks="4C 3C 2C"), "7D", "KD", "4D")
    lying = {p.spot: p for p in table.game.scene(table.state, "ann").pieces if p.spot in ("t0", "t1", "t2")}
    assert {spot: piece.id for spot, piece in lying.items()} == {"t0": "k7D", "t1": "kKD", "t2": "k4D"}
    assert lying["t1"].mark == "win"
    play(table, "3H")
    spots = {piece.id: piece.spot for piece in table.game.scene(table.state, "ann").pieces}
    assert spots["k3H"] == "t1"
    assert "k7D" not in spots


def test_cards_to_be_passed_on_lie_apart_and_what_came_is_marked():
    table = seated()
    card = table.state.hands[0][0]
    table.act("ann", Choose(card))
    pieces = {piece.id: piece for piece in table.game.scene(table.state, "ann").pieces}
    assert pieces[f"k{card}"].spot == "tray"
    table.act("ann", Choose(card))
    passed(table)
    came = table.state.gave[3]
    marked = {p.id[1:] for p in table.game.scene(table.state, "ann").pieces if p.mark == "last"}
    assert marked == set(came)


@pytest.mark.parametrize("players", [3, 4, 5])
def test_a_game_for_three_four_or_five_is_played_to_its_end(players):
    table, chance = full_table(Hearts(), {"players": players, "points": 0}, luck=players), chance_of(7)
    while table.room.outcome is None:
        play_on(table, chance)
    assert sum(table.state.totals) in (26, 26 * (players - 1))


class ShowsTheQueen(Hearts):
    """A game with a leak: who holds the queen of spades is told to all."""

    def view(self, state, viewer):
        holders = [seat for seat, hand in enumerate(state.hands) if "QS" in hand]
        return {**super().view(state, viewer), "queen": holders}


class SaysWhatIsPassed(Hearts):
    """A game with a leak: a message tells more than the view."""

    def handle_event(self, state, sender, event, moment):
        update = super().handle_event(state, sender, event, moment)
        if not isinstance(event, Pass):
            return update
        first, *rest = update.effects
        assert isinstance(first, Send)
        payload = {**first.payload, "cards": state.chosen[moment.seats.index(sender)]}
        return replace(update, effects=(replace(first, payload=payload), *rest))


@pytest.mark.parametrize("leaky", [ShowsTheQueen, SaysWhatIsPassed])
def test_the_leak_check_finds_a_card_that_is_told(leaky):
    assert not check(leaky(), {"players": 3}, games=1, steps=40).ok


def test_legal_events_are_the_cards_that_may_be_played():
    table = play(holding("2C 5D", "9C 3D", "KC 4D"), "2C")
    assert legal(table.game, table.state, "bob") == [Play("9C")]
