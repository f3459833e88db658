"""The games in examples/, which the page for users of boardgame.io explains."""

import pytest

from examples.draw_and_play import Cards, Draw, DrawAndPlay, Play
from examples.liars_dice import Bid, Cups, Doubt, LiarsDice
from examples.raid import Camp, Discard, Raid, RaidGame
from examples.raid import Draw as DrawCard
from parlour.server.game_loader import load_games
from parlour.testing import GameContract, Table
from tests.test_docs import ROOT, blocks


class TestLiarsDiceIsAGame(GameContract):
    game = LiarsDice()
    config = {"players": 2, "dice": 2}  # noqa: RUF012 (the contract declares it)


class TestDrawAndPlayIsAGame(GameContract):
    game = DrawAndPlay()


class TestRaidIsAGame(GameContract):
    game = RaidGame()


(STICKS,) = load_games(ROOT / "examples/sticks.py")


class TestSticksIsAGame(GameContract):
    game = STICKS


@pytest.mark.parametrize("name", ["draw_and_play", "liars_dice", "raid"])
def test_what_the_page_shows_of_a_game_is_in_its_file(name):
    file = f"examples/{name}.py"
    shown = blocks("docs/from-boardgame-io.md", f"python {file}")
    assert len(shown) >= 2
    written = (ROOT / file).read_text()
    assert [block.line for block in shown if block.text not in written] == []


def test_the_page_about_boards_shows_the_script_of_the_example():
    (shown,) = blocks("docs/how-to/bring-your-own-board.md", "js")
    assert shown.text == (ROOT / "examples/sticks-board/board.js").read_text()


def test_whoever_takes_the_last_stick_loses():
    table = Table(STICKS).sit("ann", "bob")
    table.lay_out(STICKS.State(left=2, players=("ann", "bob")))
    assert table.refusal("ann", STICKS.Event(3)).code == "illegal_move"
    table.act("ann", STICKS.Event(2))
    assert table.outcome is not None
    assert table.outcome.won == ("bob",)


PLAYERS = ("ann", "bob", "cat")


def cups(*dice: tuple[int, ...], turn: int = 0) -> Table:
    table = Table(LiarsDice()).sit(*PLAYERS)
    table.lay_out(Cups(dice, turn=turn, players=PLAYERS))
    return table


def test_a_bid_must_be_higher_than_the_last_one():
    table = cups((1, 2), (3, 4), (5, 6))
    table.act("ann", Bid(2, 4))
    assert table.refusal("bob", Bid(2, 4)).code == "illegal_move"
    assert table.refusal("bob", Bid(1, 6)).code == "illegal_move"
    table.act("bob", Bid(2, 5))
    table.act("cat", Bid(3, 1))


def test_whoever_doubts_a_true_bid_loses_a_die_and_begins_the_next_round():
    table = cups((4, 4), (4, 1), (5, 6))
    table.act("ann", Bid(3, 4))
    table.act("bob", Doubt())
    assert [len(dice) for dice in table.state.dice] == [2, 1, 2]
    assert (table.state.turn, table.state.bid) == (1, None)


def test_whoever_bid_too_much_loses_a_die():
    table = cups((4, 4), (2, 1), (5, 6))
    table.act("ann", Bid(3, 4))
    table.act("bob", Doubt())
    assert [len(dice) for dice in table.state.dice] == [1, 2, 2]


def test_whoever_has_no_dice_is_passed_over_and_the_last_one_with_dice_wins():
    table = cups((1,), (2,), (3,))
    table.act("ann", Bid(2, 1))
    table.act("bob", Doubt())
    assert table.state.turn == 1
    table.lay_out(Cups(((), (2,), (3,)), turn=1, players=PLAYERS))
    table.act("bob", Bid(2, 2))
    table.act("cat", Doubt())
    assert table.outcome is not None
    assert (table.outcome.won, table.outcome.lost) == (("cat",), ("ann", "bob"))


def test_nobody_sees_the_dice_of_others():
    table = cups((1, 1), (2, 2), (3, 3))
    assert table.sees("bob")["dice"] == [2, [2, 2], 2]
    assert table.sees(None)["dice"] == [2, 2, 2]


def test_cards_are_drawn_until_the_deck_is_empty_and_played_only_then():
    table = Table(DrawAndPlay()).sit("ann", "bob")
    assert table.refusal("ann", Play(1)).message == "not in the draw phase, or not in your hand"
    for turn in range(12):
        table.act(("ann", "bob")[turn % 2], Draw())
    assert (table.state.phase, [len(hand) for hand in table.state.hands]) == ("play", [6, 6])
    assert table.refusal("ann", Draw()).message == "not in the play phase, or not in your hand"


def test_the_higher_card_takes_the_pair_and_leads_the_next():
    table = Table(DrawAndPlay()).sit("ann", "bob")
    table.lay_out(Cards((), ((1, 9), (5, 7)), players=("ann", "bob")))
    table.act("ann", Play(1))
    table.act("bob", Play(5))
    assert (table.state.pairs, table.state.turn) == ((0, 1), 1)
    table.act("bob", Play(7))
    table.act("ann", Play(9))
    assert table.outcome is not None
    assert table.outcome.drew == ("ann", "bob")


def test_after_a_raid_all_others_discard_in_any_order_and_then_the_turn_passes():
    table = Table(RaidGame()).sit(*PLAYERS)
    table.lay_out(Camp((9,), ((1, 2), (3, 4), (5, 6)), (2, 2, 2), players=PLAYERS))
    table.act("ann", Raid())
    assert table.refusal("ann", Discard(1)).code == "not_your_turn"
    assert table.refusal("bob", DrawCard()).code == "illegal_move"
    table.act("cat", Discard(6))
    assert table.refusal("cat", Discard(5)).code == "not_your_turn"
    table.act("bob", Discard(3))
    assert (table.state.hands, table.state.turn) == (((1, 2), (4,), (5,)), 1)
    table.act("bob", DrawCard())
    assert table.outcome is not None
    assert table.outcome.won == ("bob",)


def test_nobody_raids_a_third_time():
    table = Table(RaidGame()).sit(*PLAYERS)
    table.lay_out(Camp((9,), ((1, 2), (3, 4), (5, 6)), (0, 2, 2), players=PLAYERS))
    assert table.refusal("ann", Raid()).code == "illegal_move"
