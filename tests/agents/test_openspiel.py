"""Games for OpenSpiel: its own checks, its algorithms on our rules, its games on our tables."""

import pickle
from pathlib import Path

import pyspiel
import pytest
from open_spiel.python.algorithms import (
    cfr,
    expected_game_score,
    exploitability,
    get_all_states,
    mcts,
)

from examples.openspiel_games import ConnectFour, Do, LeducPoker
from parlour import Refused
from parlour.agents.openspiel import OpenChance, Undrawn, as_spiel
from parlour.bots.chance import choose_any
from parlour.bots.search import search
from parlour.game import Bot
from parlour.games import GAMES
from parlour.games.tictactoe import TicTacToe
from parlour.leakcheck import check
from parlour.server.game_loader import load_games
from parlour.sim import Table, chance_of, pairings, play_pair, play_to_end
from tests.agents.kuhn import Kuhn
from tests.samples import SMALL


def refused(code, call, *arguments):
    with pytest.raises(Refused) as why:
        call(*arguments)
    assert why.value.code == code
    return why.value.message


def solved(game, rounds=50):
    """What counterfactual regret minimisation makes of a game: its value, and how far from perfect it is."""
    solver = cfr.CFRSolver(game)
    for _ in range(rounds):
        solver.evaluate_and_update_policy()
    policy = solver.average_policy()
    value = expected_game_score.policy_value(game.new_initial_state(), [policy] * 2)
    return [*value, exploitability.exploitability(game, policy)]


@pytest.mark.parametrize("name", GAMES)
def test_openspiels_own_check_passes(name, capfd):
    drawn_up = {"setup": "random", "quiet_limit": 10}  # it compares the names of all legal actions in pairs
    game = as_spiel(name, drawn_up if name == "stratego" else SMALL.get(name))
    pyspiel.random_sim_test(game, num_sims=1, serialize=name != "stratego", verbose=False)
    capfd.readouterr()  # it prints


def test_noughts_and_crosses_has_as_many_states_as_in_openspiel():
    states = get_all_states.get_all_states(
        as_spiel("tictactoe"),
        depth_limit=-1,
        include_terminals=True,
        include_chance_states=False,
        to_string=lambda state: state.observation_string(0),
    )
    assert len(states) == 5478


def test_kuhn_poker_is_solved_as_openspiels_own():
    assert solved(as_spiel(Kuhn())) == pytest.approx(solved(pyspiel.load_game("kuhn_poker")), abs=1e-9)


def test_every_draw_is_a_chance_node_with_its_exact_outcomes():
    state = as_spiel(Kuhn()).new_initial_state()
    assert state.is_chance_node()
    assert state.chance_outcomes() == [(0, 1 / 3), (1, 1 / 3), (2, 1 / 3)]
    state.apply_action(2)
    assert state.chance_outcomes() == [(0, 1 / 2), (1, 1 / 2)]
    state.apply_action(0)
    assert state.current_player() == 0
    assert [state.action_to_string(action) for action in state.legal_actions()] == [
        '{"type":"pass"}',
        '{"type":"bet"}',
    ]


def test_a_draw_of_one_possibility_is_no_chance_node():
    chance = OpenChance(())
    assert chance.below(1) == 0
    assert chance.shuffle([7]) == [7]
    with pytest.raises(Undrawn) as node:
        chance.die()
    assert node.value.count == 6


def test_who_cannot_tell_two_histories_apart_gets_the_same_information_state():
    def told(player, *actions):
        state = as_spiel(Kuhn()).new_initial_state()
        for action in actions:
            state.apply_action(action)
        return state.information_state_string(player)

    assert told(0, 2, 0) == told(0, 2, 1), "the other's card is hidden"
    assert told(1, 2, 0) != told(1, 2, 1)
    assert told(0, 2, 0, 0) != told(0, 2, 0, 1), "what was done is remembered"


def test_a_search_of_openspiels_own_takes_a_win():
    game = as_spiel("tictactoe")
    state = game.new_initial_state()
    for cell in (0, 3, 1, 4):
        state.apply_action(cell)
    bot = mcts.MCTSBot(
        game, uct_c=2, max_simulations=100, evaluator=mcts.RandomRolloutEvaluator(n_rollouts=1)
    )
    assert bot.step(state) == 2


def test_a_pickled_state_goes_on_where_it_was():
    game = as_spiel("backgammon", SMALL["backgammon"])
    state = game.new_initial_state()
    for _ in range(12):
        state.apply_action(state.legal_actions()[0])
    again = pickle.loads(pickle.dumps(state))
    assert again.history() == state.history()
    assert str(again) == str(state)


def test_what_cannot_be_done_is_refused():
    game = as_spiel(Kuhn())
    node = game.first
    assert "from 0 to 2, got 3" in refused("malformed", node.drawn, 3)
    assert "over" in refused("game_over", node.played, 0)
    node = node.drawn(2).drawn(0)
    refused("malformed", node.played, 7)
    end = node.played(0).played(0)
    refused("game_over", end.played, 0)
    refused("unknown_game", as_spiel, "chess")
    refused("invalid_config", as_spiel, "minesweeper", {"width": 0})
    node = as_spiel("tictactoe").first.played(4)
    assert '{"cell":4,"type":"mark"}' in refused("illegal_move", node.played, 4)


def test_a_draw_from_too_many_and_points_beyond_what_was_said_are_refused():
    class Fine(TicTacToe):
        def init(self, config, moment):
            moment.chance.below(1 << 40)
            return super().init(config, moment)

    assert "at most 10,000 possibilities" in refused("too_many", as_spiel, Fine())
    state = as_spiel(Kuhn(), most_points=0.5).new_initial_state()
    for action in (2, 0, 0, 0):
        state.apply_action(action)
    assert "give as_spiel most_points" in refused("game_error", state.returns)


@pytest.mark.parametrize("game", [ConnectFour(), LeducPoker()], ids=lambda game: game.name)
def test_games_of_openspiel_are_played_at_our_tables_and_tell_no_secret(game):
    for seed in range(3):
        table = Table(game, seed=seed)
        outcome = play_to_end(table, chance_of(seed))
        assert sum(outcome.points.values()) == 0
    report = check(game, games=2)
    assert report.leak is None, str(report)


def test_the_example_can_be_served():
    games = load_games(Path("examples/openspiel_games.py"))
    assert [game.name for game in games] == ["connect_four", "leduc_poker"]


def test_the_bot_that_comes_with_connect_four_is_above_random_play():
    game, pairing = ConnectFour(), pairings(["search", "random"], 2)[0]
    bots: dict[str, Bot] = {"search": search(60, secrets=False), "random": choose_any}
    assert set(game.bots) == {"search"}
    assert play_pair(game, None, bots, pairing).score.points == 2


def test_an_action_that_a_game_of_openspiel_does_not_know_is_refused():
    table = Table(ConnectFour())
    assert "expected a legal action, got up" in refused("illegal_move", table.act, "1", Do("up"))
    refused("not_your_turn", table.act, "2", Do("o0"))
