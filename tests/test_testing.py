"""What `parlour.testing` promises to authors."""

import pytest
from msgspec.structs import replace

from parlour import GAME, Event, Game, Joined, Later, Outcome, Refused, Send, State, Timeouts, Update
from parlour.games.tictactoe import Mark, TicTacToe
from parlour.offers import Answer, Offer
from parlour.scene import Control, Line, Piece, Scene, Spot
from parlour.testing import (
    GameContract,
    Table,
    Wanderer,
    chance_of,
    full_table,
    legal,
    play_bots,
    play_to_end,
    refused,
    scene_faults,
)
from parlour.turns import next_seat, win_by_score


class Dice(State, frozen=True):
    rolled: tuple[int, ...] = ()
    rung: int = 0


class Roll(Event, frozen=True):
    pass


class Bell(Event, frozen=True):
    pass


class DiceGame(Game[Dice]):
    name = "dice"
    display_name = "Dice"
    seats = range(1, 3)
    State = Dice
    Event = Roll
    Timer = Bell

    def init(self, config, moment):
        return Dice()

    def join_game(self, state, player, spectate, moment):
        joined = super().join_game(state, player, spectate, moment)
        return Joined(("audience",) if spectate else (), joined.seat, joined.update)

    def handle_event(self, state, sender, event, moment):
        if sender == GAME:
            return Update(replace(state, rung=state.rung + 1))
        rolled = (moment.chance.die(), moment.chance.die())
        told = Send("all", {"rolled": True}), Send(f"player:{sender}", {"eyes": list(rolled)})
        return Update(
            replace(state, rolled=rolled), (*told, Send("audience", "oh"), Later("bell", 30, Bell()))
        )


def test_each_hears_what_is_for_them():
    table = Table(DiceGame()).sit("ann", "bob")
    table.act("ann", Roll())
    eyes = {"eyes": list(table.state.rolled)}
    assert table.heard("ann") == [{"rolled": True}, eyes]
    assert table.heard("bob") == [{"rolled": True}]
    assert table.heard(None) == [{"rolled": True}, "oh"]
    table.act("bob", Roll())
    assert table.heard("ann", steps=2) == [{"rolled": True}, eyes, {"rolled": True}]


def test_the_same_luck_rolls_the_same():
    rolls = {Table(DiceGame(), luck=luck).sit("ann").act("ann", Roll()).draws for luck in (1, 1, 2)}
    assert len(rolls) == 2


def test_a_test_can_say_what_is_rolled():
    table = Table(DiceGame()).sit("ann").draw_next(5, 0)
    table.act("ann", Roll())
    assert table.state.rolled == (6, 1)


def test_what_can_never_be_drawn_is_told():
    table = Table(DiceGame()).sit("ann").draw_next(6)
    with pytest.raises(AssertionError, match=r"expected a step that draws \(6,\)"):
        table.act("ann", Roll())


def test_a_timer_rings_when_its_time_has_come_and_no_sooner():
    table = Table(DiceGame()).sit("ann")
    table.act("ann", Roll())
    assert table.wait(29.5) == []
    assert len(table.wait(1)) == 1
    assert (table.state.rung, table.now) == (1, 30.5)


def test_ring_lets_the_clock_go_to_the_next_timer():
    table = Table(DiceGame()).sit("ann")
    table.act("ann", Roll())
    table.ring()
    assert (table.state.rung, table.now) == (1, 30)


class DiceWithPauses(DiceGame):
    offers = ("pause",)
    timeouts = Timeouts(game=None)


def test_play_by_chance_does_not_wait_for_a_timer_that_stands_still_in_a_pause():
    for seed in range(20):
        table = Table(DiceWithPauses()).sit("ann", "bob")
        table.act("ann", Roll())
        table.do(Offer("ann", "pause"))
        table.do(Answer("bob", "pause", accept=True))
        assert table.room.alarms
        assert table.room.next_due is None
        Wanderer(table, chance_of(seed)).go(20)


def test_an_event_that_should_be_refused_and_is_played_fails_the_test():
    with pytest.raises(AssertionError, match=r"expected Mark\(cell=4\) to be refused, but it was played"):
        Table(TicTacToe()).sit("ann", "bob").refusal("ann", Mark(4))


def test_a_refusal_of_another_code_fails_the_test():
    table = Table(TicTacToe()).sit("ann")
    assert refused("not_your_turn", table.act, "ann", Mark(4)).code == "not_your_turn"
    with pytest.raises(AssertionError, match="expected a refusal with the code illegal_move"):
        refused("illegal_move", table.act, "ann", Mark(4))
    with pytest.raises(AssertionError, match="but there was none"):
        refused("illegal_move", lambda: None)


def test_random_play_goes_on_until_there_is_an_outcome():
    table = full_table(TicTacToe())
    outcome = play_to_end(table, chance_of(1))
    assert outcome == table.outcome
    assert not any(legal(table.game, table.state, player) for player in ("ann", "bob"))


def test_a_game_in_which_nobody_can_do_anything_does_not_come_to_an_end():
    with pytest.raises(AssertionError, match="legal_events lists nothing for anybody"):
        play_to_end(full_table(DiceGame()), chance_of(1))


def test_a_bot_that_breaks_the_rules_is_found():
    def cheat(view, legal, chance):
        return {"type": "mark", "cell": 0}

    with pytest.raises(Refused, match="cell 0 is taken"):
        list(play_bots(full_table(TicTacToe()), [cheat, cheat]))


class Broken(TicTacToe):
    """Two of its promises are not kept."""

    def legal_events(self, state, player):
        return [Mark(0)] if player == state.player(0) else []

    def outcome(self, state):
        return Outcome(won=(state.player(0) or "",), why="first") if state.cells[0] == "X" else None


def test_the_contract_finds_what_is_listed_as_legal_and_refused():
    suite = GameContract()
    suite.game = Broken()
    with pytest.raises(AssertionError, match="because legal_events lists it"):
        suite.test_random_play_goes_well_can_be_replayed_and_shows_no_secrets()


def test_the_contract_finds_an_outcome_that_forgets_somebody():
    suite = GameContract()
    suite.game = Broken()
    with pytest.raises(AssertionError):
        suite.test_an_outcome_speaks_of_those_who_played_and_stays_when_they_leave()


A, B = Spot("a", 0, 0, label="here"), Spot("b", 1, 0, label="there")


@pytest.mark.parametrize(
    ("scene", "fault"),
    [
        (Scene(1, 1, (A, A)), "the id 'a' is there 2 times"),
        (Scene(1, 1, (A, B)), "spot 'b' leaves the board of 1 x 1"),
        (Scene(1, 1, (Spot("c", 0, 0, second=1),)), "spot 'c' can be clicked and has no label"),
        (Scene(1, 1, (A,), (Piece("p", "disc", "q"),)), "piece 'p' stands on spot 'q', which is not there"),
        (Scene(1, 1, (A,), (Piece("p", "disc", "a", via="q"),)), "piece 'p' goes by way of spot 'q'"),
        (Scene(1, 1, (A,), (Piece("p", "o", "a", label="p", drops={"q": 1}),)), "piece 'p' drops on"),
        (Scene(1, 1, (A,), (Piece("p", "disc", "a", click=1),)), "piece 'p' can be moved and has no label"),
        (Scene(1, 1, (A,), (Piece("p", "o", "a"), Piece("q", "o", "a"))), "2 pieces have the place at=0"),
        (Scene(1, 1, (A,), controls=(Control("k", ""),)), "control 'k' has no text"),
        (Scene(1, 1, (A,), lines=(Line(0, 0, 2, 0),)), "a line leaves the board of 1 x 1"),
    ],
)  # fmt: skip
def test_what_cannot_be_drawn_is_told(scene, fault):
    (told,) = scene_faults(scene)
    assert told.startswith(fault)


def test_the_next_seat_is_the_same_where_there_is_no_other():
    assert next_seat(("ann", None, None), 0) == 0
    assert next_seat(("ann", "bob"), 0, out={1}) == 0


def test_an_empty_seat_neither_wins_nor_loses_by_its_score():
    assert win_by_score((None, "bob"), (9, 1)) == Outcome(won=("bob",))
