"""A table without a room: the rules alone."""

import msgspec
import pytest
from msgspec.structs import replace

from parlour import GAME, Cancel, Event, Game, Later, Outcome, Refused, State, Update
from parlour.games import GAMES
from parlour.games.tictactoe import Mark, TicTacToe
from parlour.sim import Table, Unfinished, chance_of, play_on, play_to_end
from tests.samples import SMALL


class Egg(State, frozen=True):
    ticks: int = 0
    boiled: bool | None = False


class Wait(Event, frozen=True):
    pass


class Tick(Event, frozen=True):
    pass


class Boiling(Game[Egg]):
    """Nobody can do anything after the first wait: timers do the rest."""

    name = "boiling"
    display_name = "Boiling"
    seats = range(1, 2)
    State = Egg
    Event = Wait
    Timer = Tick

    def init(self, config, moment):
        return Egg()

    def handle_event(self, state, sender, event, moment):
        if sender == GAME:
            ticks = state.ticks + 1
            return Update(
                replace(state, ticks=ticks, boiled=ticks == 3 or None),
                (Cancel("tick"),) if ticks == 3 else (),
            )
        return Update(replace(state, boiled=None), (Later("tick", 60, Tick(), every=30),))

    def legal_events(self, state, player):
        return [Wait()] if state.boiled is False else []

    def outcome(self, state):
        return Outcome(won=tuple(filter(None, state.players)), why="done") if state.boiled else None


def test_everybody_sits_at_a_new_table_and_is_called_by_number():
    table = Table(TicTacToe())
    assert table.seats == ("1", "2")
    assert table.state.players == ("1", "2")
    assert Table(TicTacToe(), players=["ann", "bob"]).active == ["ann", "bob"]


def test_an_event_is_played_as_a_value_or_as_plain_data():
    table = Table(TicTacToe())
    table.act("1", Mark(4))
    table.act("2", {"type": "mark", "cell": 0})
    assert table.state.cells == "O...X...."


@pytest.mark.parametrize(
    ("player", "event", "code"),
    [
        ("2", Mark(0), "not_your_turn"),
        ("1", {"type": "mark", "cell": 9}, "malformed"),
        ("1", {"type": "castle"}, "unknown_event"),
        ("3", Mark(0), "not_seated"),
    ],
)
def test_what_cannot_be_played_is_refused_and_leaves_no_trace(player, event, code):
    table = Table(TicTacToe())
    before = table.state, len(table.steps)
    with pytest.raises(Refused) as why:
        table.act(player, event)
    assert why.value.code == code
    assert (table.state, len(table.steps)) == before


def test_after_the_outcome_nothing_is_played():
    table = Table(TicTacToe())
    outcome = play_to_end(table, chance_of(1))
    assert table.outcome == outcome
    assert table.active == []
    with pytest.raises(Refused) as why:
        table.act("1", Mark(0))
    assert why.value.code == "game_over"


def test_time_stands_still_while_somebody_can_play_and_then_goes_to_the_next_timer():
    table = Table(Boiling())
    play_on(table, chance_of(0))
    assert table.now == 0
    assert not play_on(table, chance_of(0))
    assert [table.ring_timer() and table.now for _ in range(3)] == [60, 90, 120]
    assert table.outcome is not None
    assert not table.ring_timer()


def test_a_game_in_which_nothing_can_happen_is_unfinished():
    class Endless(Boiling):
        def handle_event(self, state, sender, event, moment):
            return Update(replace(state, boiled=None))

    with pytest.raises(Unfinished, match="legal_events lists nothing for anybody"):
        play_to_end(Table(Endless()), chance_of(0))


@pytest.mark.parametrize("name", GAMES)
def test_the_same_seed_makes_the_same_game_and_another_seed_another(name):
    def played(seed):
        table = Table(GAMES[name], SMALL.get(name), seed=seed)
        play_to_end(table, chance_of(7))
        return msgspec.json.encode((table.state, table.steps))

    assert played(3) == played(3)
    if GAMES[name].lucky:
        assert played(3) != played(4)


def test_luck_is_counted_by_draws_so_that_the_same_roll_comes_whatever_was_played_before():
    def rolls(chance):
        table = Table(GAMES["backgammon"], {"variant": "tavla"}, seed=5)
        play_to_end(table, chance)
        return [step.draws for step in table.steps if step.draws]

    one, other = rolls(chance_of(1)), rolls(chance_of(2))
    both = min(len(one), len(other))
    assert both > 20
    assert one[:both] == other[:both]


def test_a_config_that_makes_no_sense_is_refused():
    with pytest.raises(Refused) as why:
        Table(GAMES["minesweeper"], {"mines": 0})
    assert why.value.code == "invalid_config"
