"""Games as environments: the checks of PettingZoo and Gymnasium themselves, and what is refused."""

import warnings

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from msgspec.structs import replace
from pettingzoo.test import api_test, parallel_api_test, seed_test
from pettingzoo.utils.wrappers import AssertOutOfBoundsWrapper, OrderEnforcingWrapper, TerminateIllegalWrapper

from parlour import Game, Outcome, Refused
from parlour.agents import ActionCodec, aec_env, parallel_env, solo_env
from parlour.games import GAMES
from parlour.games.minesweeper.rules import Open, Restart
from parlour.games.tictactoe import Mark, TicTacToe
from parlour.sim import Table, chance_of, play_on
from tests.samples import SMALL
from tests.sim.test_table import Boiling

OBSERVED = [name for name, game in GAMES.items() if type(game).observe is not Game.observe]
"""The games whose numbers are not inferred, so that nothing warns of that."""


def refused(code, call, *arguments):
    with pytest.raises(Refused) as why:
        call(*arguments)
    assert why.value.code == code
    return why.value.message


def played(env, seed):
    """All that an agent sees of a game of random legal play."""
    env.reset(seed=seed)
    chance, seen = chance_of(seed), []
    for agent in env.agent_iter():
        observation, reward, terminated, truncated, info = env.last()
        seen.append((agent, observation["observation"].tolist(), reward, terminated, truncated))
        over = terminated or truncated
        env.step(None if over else chance.choice(list(np.flatnonzero(observation["action_mask"]))))
    return seen


# The libraries' own checks.


@pytest.mark.parametrize("name", OBSERVED)
def test_pettingzoos_own_checks_pass_without_a_warning_where_masks_are_in_the_info(name):
    config = SMALL.get(name)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        api_test(aec_env(name, config, mask="info"), num_cycles=100)
        seed_test(lambda: aec_env(name, config, mask="info"), num_cycles=50)


@pytest.mark.filterwarnings("ignore::UserWarning")  # api_test knows by name which dicts have a mask
@pytest.mark.parametrize("name", GAMES)
def test_pettingzoos_own_checks_pass_where_masks_are_in_the_observation(name):
    config = SMALL.get(name)
    api_test(aec_env(name, config), num_cycles=100)
    parallel_api_test(parallel_env(name, config), num_cycles=100)


@pytest.mark.filterwarnings("ignore:.*has no observe:UserWarning")
@pytest.mark.parametrize("name", GAMES)
def test_gymnasiums_own_check_passes(name):
    check_env(solo_env(name, SMALL.get(name)), skip_render_check=True)


def test_pettingzoos_own_check_passes_in_its_usual_wrappers():
    raw = aec_env("tictactoe", illegal="lose", mask="info")
    wrapped = OrderEnforcingWrapper(AssertOutOfBoundsWrapper(TerminateIllegalWrapper(raw, -1)))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        api_test(wrapped, num_cycles=100)


# How they behave.


def test_agents_take_turns_and_the_winner_gets_one_and_the_loser_minus_one():
    env = aec_env("tictactoe")
    env.reset(seed=1)
    for cell in (0, 3, 1, 4, 2):
        env.step(cell)
    assert env.rewards == {"player_0": 1.0, "player_1": -1.0}
    assert env.terminations == {"player_0": True, "player_1": True}


def test_points_of_an_outcome_are_the_rewards():
    class Gammon(TicTacToe):
        def outcome(self, state):
            outcome = super().outcome(state)
            points = {"player_0": 2.0, "player_1": -2.0}
            return outcome if outcome is None else replace(outcome, points=points)

    env = aec_env(Gammon())
    env.reset(seed=1)
    for cell in (0, 3, 1, 4, 2):
        env.step(cell)
    assert env.rewards == {"player_0": 2.0, "player_1": -2.0}


def test_the_same_seed_brings_the_same_game_twice_and_no_seed_the_next_one():
    env = aec_env("stratego", SMALL["stratego"])
    first = played(env, 7)
    env.reset()
    after = env.observe("player_0")["observation"].tolist()
    assert played(env, 7) == first
    env.reset()
    assert env.observe("player_0")["observation"].tolist() == after != first[0][1]


@pytest.mark.filterwarnings("ignore:.*has no observe:UserWarning")
@pytest.mark.parametrize("name", GAMES)
def test_a_mask_allows_just_what_is_legal(name):
    env = aec_env(name, SMALL.get(name))
    env.reset(seed=3)
    chance = chance_of(3)
    for _ in range(60):
        observation, _, terminated, truncated, _ = env.last()
        if terminated or truncated:
            break
        allowed = list(np.flatnonzero(observation["action_mask"]))
        legal = [
            event
            for event in env.seats.playing().legal(env.agent_selection)
            if not isinstance(event, Restart)
        ]
        assert {env.codec.event(action) for action in allowed} == set(legal)
        env.step(chance.choice(allowed))


@pytest.mark.parametrize("name", OBSERVED)
def test_an_observation_has_always_as_many_numbers_from_minus_one_to_one(name):
    table = Table(GAMES[name], SMALL.get(name), seed=2)
    sizes = set()
    while table.outcome is None and len(table.steps) < 400 and play_on(table, chance_of(len(table.steps))):
        for viewer in (*table.seats, None):
            seen = table.game.observe(table.state, viewer) or {}
            numbers = [number for part in seen.values() for number in part]
            sizes.add(len(numbers))
            assert all(-1 <= number <= 1 for number in numbers)
    assert len(sizes) == 1


def test_a_game_of_timers_goes_on_by_itself_and_one_in_which_nothing_happens_is_cut_off():
    class Endless(Boiling):
        def outcome(self, state):
            return None

        def handle_event(self, state, sender, event, moment):
            return replace(super().handle_event(state, sender, event, moment), effects=())

    with pytest.warns(UserWarning, match="boiling has no observe"):
        env = solo_env(Boiling())
    env.reset(seed=0)
    assert env.step(0)[1:4] == (1.0, True, False)
    with pytest.warns(UserWarning, match="boiling has no observe"):
        env = solo_env(Endless())
    env.reset(seed=0)
    assert env.step(0)[1:4] == (0.0, False, True)


def test_bots_have_the_other_seats_of_a_solo_environment():
    env = solo_env("tictactoe", bots="perfect", seat=1)
    for seed in range(5):
        _, info = env.reset(seed=seed)
        over, reward = False, 1.0
        while not over:
            action = int(np.flatnonzero(info["action_mask"])[0])
            assert info["action_mask"].tolist() == env.action_masks().tolist()
            _, reward, terminated, truncated, info = env.step(action)
            over = terminated or truncated
        assert reward <= 0, "nobody wins against the perfect bot"


def test_many_environments_step_at_once():
    envs = gymnasium.vector.SyncVectorEnv([lambda: solo_env("tictactoe")] * 3)
    observations, infos = envs.reset(seed=[1, 2, 3])
    assert observations.shape == (3, 27)
    actions = [int(np.flatnonzero(mask)[0]) for mask in infos["action_mask"]]
    observations, rewards, *_ = envs.step(np.array(actions))
    assert rewards.shape == (3,)
    envs.close()


# Actions.


def test_actions_are_numbered_by_the_types_of_events_or_by_the_game():
    assert len(ActionCodec.of(GAMES["tictactoe"])) == 9
    assert len(ActionCodec.of(GAMES["stratego"])) == 1805
    codec = ActionCodec.of(GAMES["minesweeper"])
    assert len(codec) == 3 * 81
    assert codec.event(codec.index(Open(3, 4))) == Open(3, 4)


class Unlisted(type(GAMES["minesweeper"])):  # type: ignore[misc]
    def actions(self, config):
        return None


def test_where_types_have_no_bounds_the_values_are_those_that_were_seen_and_classes_share_them():
    codec = ActionCodec.of(Unlisted(), SMALL["minesweeper"])
    assert len(codec) == 3 * 20 + 1
    assert codec.event(codec.index(Restart())) == Restart()


def test_a_codec_can_be_kept_with_what_was_learnt():
    codec = ActionCodec.of(GAMES["backgammon"])
    assert ActionCodec.from_json(GAMES["backgammon"], codec.to_json()).events == codec.events


def test_a_legal_event_that_has_no_number_is_named():
    codec = ActionCodec(GAMES["tictactoe"], [Mark(0)])
    assert '{"cell":1,"type":"mark"}' in refused("unknown_event", codec.index, Mark(1))


def test_too_many_actions_and_none_at_all_are_refused():
    game = GAMES["tictactoe"]
    assert "at most 50,000 actions, got 50,001" in refused("too_many", ActionCodec, game, [Mark(0)] * 50_001)
    assert "to list something" in refused("game_error", ActionCodec, game, [])


# What is refused.


@pytest.mark.parametrize("action", [9, -1, 2**70, "x", 1.5, None, np.array([1, 2])])
def test_an_action_out_of_range_is_refused(action):
    for env in (aec_env("tictactoe"), solo_env("tictactoe")):
        env.reset(seed=1)
        assert "expected an action from 0 to 8, got" in refused("malformed", env.step, action)


def test_an_illegal_action_is_refused_or_loses():
    env = aec_env("tictactoe")
    env.reset(seed=1)
    env.step(4)
    assert "got 4" in refused("illegal_move", env.step, 4)
    env.step(0)
    assert env.agent_selection == "player_0", "nothing was lost by it"
    env = aec_env("tictactoe", illegal="lose")
    env.reset(seed=1)
    env.step(4)
    env.step(4)
    assert env.rewards == {"player_0": 0.0, "player_1": -1.0}
    solo = solo_env("tictactoe", seat=1, illegal="refuse")
    solo.reset(seed=1)
    taken = int(np.flatnonzero(solo.action_masks() == 0)[0])
    refused("illegal_move", solo.step, taken)
    solo = solo_env("tictactoe", seat=1)
    solo.reset(seed=1)
    assert solo.step(taken)[1:3] == (-1.0, True) if not solo.action_masks()[taken] else True


def test_agents_who_act_at_once_and_illegally_are_refused():
    env = parallel_env("tictactoe")
    env.reset(seed=1)
    refused("illegal_move", env.step, {"player_0": 0, "player_1": 1})
    refused("malformed", env.step, {"player_0": 99, "player_1": env.nothing})
    refused("not_seated", env.step, {"player_7": 0})


def test_a_finished_environment_and_one_that_was_never_reset_cannot_be_stepped():
    env = aec_env("tictactoe")
    refused("game_over", env.step, 0)
    env.reset(seed=1)
    for cell in (0, 3, 1, 4, 2):
        env.step(cell)
    refused("game_over", env.step, 5)
    env.step(None)
    env.step(None)
    refused("game_over", env.step, None)
    refused("game_over", solo_env("tictactoe").step, 0)
    refused("game_over", parallel_env("tictactoe").step, {})


@pytest.mark.parametrize("seed", [-1, "x", 1.5])
def test_a_seed_that_is_none_is_refused(seed):
    env = aec_env("tictactoe")
    assert "expected a seed of 0 or more" in refused("malformed", lambda: env.reset(seed=seed))


def test_a_bot_that_raises_is_named_by_its_seat():
    def raises(view, legal, chance):
        raise ValueError("no idea")

    env = solo_env("tictactoe", bots=raises)
    env.reset(seed=1)
    assert refused("game_error", env.step, 0) == "the bot in seat 1 raised ValueError: no idea"


def test_what_is_no_game_no_bot_or_no_seat_is_refused():
    refused("unknown_game", aec_env, "chess")
    refused("invalid_config", aec_env, "minesweeper", {"width": 0})
    refused("unknown_bot", lambda: solo_env("tictactoe", bots="deep"))
    refused("not_seated", lambda: solo_env("tictactoe", seat=2))


def test_a_draw_is_worth_nothing():
    class Drawn(TicTacToe):
        def outcome(self, state):
            return Outcome(drew=state.players) if state.cells[0] != "." else None

    env = aec_env(Drawn())
    env.reset(seed=1)
    env.step(0)
    assert env.rewards == {"player_0": 0.0, "player_1": 0.0}
