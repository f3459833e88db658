"""The rules of Goofspiel, one sentence each."""

import pytest
from msgspec.structs import replace

from parlour.errors import Code
from parlour.games.goofspiel import Auction, Bid, Goofspiel
from parlour.leakcheck import check
from parlour.testing import Table, legal, refused, told

PLAYERS = ("ann", "bob", "cat", "dan", "eve")


def seated(players: int = 2, **config) -> Table:
    return Table(Goofspiel(), {"players": players, **config}).sit(*PLAYERS[:players])


def with_prizes(table: Table, *prizes: int) -> Table:
    """The prizes come in this order."""
    return table.lay_out(replace(table.state, prizes=prizes[:1], deck=prizes[1:]))


def bid(table: Table, *cards: int) -> Table:
    for player, card in zip(PLAYERS, cards, strict=False):
        table.act(player, Bid(card))
    return table


# The cards.


def test_everybody_has_the_same_thirteen_cards_and_one_prize_lies_open():
    state = seated(3).state
    assert state.hands == (tuple(range(1, 14)),) * 3
    assert len(state.prizes) == 1
    assert sorted((*state.prizes, *state.deck)) == list(range(1, 14))


def test_nothing_is_turned_up_before_every_seat_is_taken():
    table = Table(Goofspiel(), {"players": 3}).sit("ann", "bob")
    assert table.state.prizes == ()
    assert not legal(table.game, table.state, "ann")
    table.sit("cat")
    assert table.state.prizes


@pytest.mark.parametrize("players", [1, 6])
def test_two_to_five_can_play(players):
    refused("invalid_config", lambda: Table(Goofspiel(), {"players": players}))


# Bidding.


def test_the_highest_bid_takes_the_prize():
    table = bid(with_prizes(seated(3, cards=3), 2, 1, 3), 1, 3, 2)
    assert table.state.taken(1) == (2,)
    assert table.state.scores == (0, 2, 0)


def test_every_bid_is_gone_whoever_won():
    table = bid(seated(2, cards=4), 1, 4)
    assert table.state.hands == ((2, 3, 4), (1, 2, 3))


def test_a_card_that_is_gone_cannot_be_bid_again():
    table = bid(seated(2, cards=4), 1, 4)
    assert refused(Code.ILLEGAL_MOVE, lambda: table.act("ann", Bid(1))).message == "you have no 1 any more"


def test_until_everybody_has_bid_one_may_take_another_card():
    table = seated(2, cards=4)
    first = table.act("ann", Bid(1))
    second = table.act("ann", Bid(3))
    assert told(first) == [{"type": "sealed", "seat": 0}]
    assert told(second) == []
    bid_after = table.act("bob", Bid(2))
    assert {"type": "revealed", "bids": [3, 2], "winner": 0} in told(bid_after)


def test_the_next_prize_is_turned_up_when_all_bids_are_known():
    table = bid(with_prizes(seated(2, cards=3), 2, 1, 3), 1, 3)
    assert table.state.prizes == (1,)


# Equal bids.


def test_where_the_prize_stays_the_next_one_is_added_to_it():
    table = bid(with_prizes(seated(2, cards=3), 2, 1, 3), 2, 2)
    assert table.state.prizes == (2, 1)
    bid(table, 1, 3)
    assert table.state.taken(1) == (2, 1)


def test_where_equal_bids_cancel_the_highest_that_is_alone_wins():
    table = bid(with_prizes(seated(3, cards=3, ties="cancel"), 2, 1, 3), 3, 3, 1)
    assert table.state.taken(2) == (2,)


def test_where_all_bids_cancel_the_prize_stays():
    table = bid(with_prizes(seated(2, cards=3, ties="cancel"), 2, 1, 3), 3, 3)
    assert table.state.prizes == (2, 1)


def test_where_nobody_gets_it_the_prize_is_out_of_the_game():
    table = bid(with_prizes(seated(2, cards=3, ties="discard"), 2, 1, 3), 3, 3)
    assert table.state.prizes == (1,)
    assert table.state.scores == (0, 0)


# The end.


def test_the_most_points_win():
    table = with_prizes(seated(2, cards=3), 3, 2, 1)
    bid(bid(bid(table, 3, 2), 1, 3), 2, 1)
    outcome = table.room.outcome
    assert outcome is not None
    assert (outcome.won, outcome.lost, outcome.why) == (("ann",), ("bob",), "the most points: 4")


def test_those_who_share_the_most_points_have_drawn_and_the_others_have_lost():
    table = with_prizes(seated(3, cards=3), 1, 2, 3)
    bid(bid(bid(table, 2, 2, 1), 3, 1, 2), 1, 3, 3)
    outcome = table.room.outcome
    assert outcome is not None
    assert (outcome.won, outcome.lost, outcome.why) == (("ann",), ("bob", "cat"), "the most points: 3")
    tied = with_prizes(seated(3, cards=3, ties="discard"), 1, 2, 3)
    bid(bid(bid(tied, 1, 1, 1), 2, 2, 2), 3, 3, 3)
    assert tied.room.outcome is not None
    assert tied.room.outcome.drew == ("ann", "bob", "cat")


def test_when_the_game_is_over_nobody_bids():
    table = bid(bid(bid(seated(2, cards=3), 1, 1), 2, 2), 3, 3)
    assert refused(Code.ILLEGAL_MOVE, lambda: table.act("ann", Bid(1))).message == "the game is over"


# Coming and going.


def test_who_leaves_is_waited_for_and_who_comes_takes_the_hand_over():
    table = bid(seated(2, cards=4), 1, 4)
    table.leave("bob")
    assert refused(Code.NOT_YOUR_TURN, lambda: table.act("ann", Bid(2))).message == (
        "the game goes on when every seat is taken"
    )
    table.sit("dan")
    assert [event.card for event in legal(table.game, table.state, "dan")] == [1, 2, 3]


# What is seen.


def test_a_bid_is_seen_by_nobody_else_before_all_have_bid():
    table = seated(3)
    before = table.state
    for card in (4, 9):
        table.lay_out(before)
        table.act("ann", Bid(card))
        views = [table.game.view(table.state, viewer) for viewer in ("bob", "cat", None)]
        assert all(view["bid"] is None and view["sealed"] == (True, False, False) for view in views)
    assert table.game.view(table.state, "ann")["bid"] == 9


def test_the_log_has_a_line_for_each_round():
    table = bid(bid(with_prizes(seated(2, cards=3), 2, 1, 3), 2, 2), 1, 3)
    assert table.game.scene(table.state, None).log == (
        "Nobody takes 2: {0} 2, {1} 2",
        "{1} takes 2 + 1: {0} 1, {1} 3",
    )


class TellsTheBid(Goofspiel):
    """A game with a leak: what was sealed is told to all."""

    def view(self, state: Auction, viewer):
        view = super().view(state, viewer)
        return {**view, "sealed": state.bids}


class DealsFromTheView(Goofspiel):
    """A game with a leak: the scene is drawn with the next prize under the deck's label."""

    def scene(self, state, viewer):
        scene = super().scene(state, viewer)
        return replace(scene, status=f"{scene.status} {state.deck[:1]}")


@pytest.mark.parametrize("leaky", [TellsTheBid, DealsFromTheView])
def test_the_leak_check_finds_a_bid_or_a_prize_that_is_told_too_early(leaky):
    assert not check(leaky(), {"players": 3, "cards": 4}, games=1, steps=20).ok
