"""The arena: pairs on the same luck with the seats swapped, ratings with intervals, and bots that fail."""

import pytest
from typer.testing import CliRunner

from parlour import Refused, simulating
from parlour.bots import bots_of
from parlour.cli import app
from parlour.games import GAMES
from parlour.games.tictactoe import TicTacToe
from parlour.sim import Pairing, Score, pairings, play_pair, rate
from parlour.simulating import Arena, simulate
from tests.sim.test_table import Boiling
from tests.test_cli import GAME, write

TICTACTOE = TicTacToe()
BOTS = bots_of(TICTACTOE)


def quiet(seen, total):
    pass


def raises(view, legal, chance):
    raise ValueError("no idea")


def cheats(view, legal, chance):
    return {"type": "mark", "cell": 9}


def waits(view, legal, chance):
    return None


def test_everybody_meets_everybody_equally_often_each_time_on_luck_of_its_own():
    made = pairings(["a", "b", "c"], games=10)
    assert len(made) == 6
    assert {pairing.luck for pairing in made} == {0, 1}
    assert {(pairing.one, pairing.other) for pairing in made} == {("a", "b"), ("a", "c"), ("b", "c")}


def test_a_pair_is_played_twice_on_the_same_luck_with_the_seats_swapped():
    pair = play_pair(
        GAMES["backgammon"],
        {"variant": "tavla"},
        {"a": BOTS["random"], "b": BOTS["random"]},
        Pairing("a", "b", 3),
    )
    assert [game.bots for game in pair.games] == [("a", "b"), ("b", "a")]
    first, second = ([step.draws for step in game.table.steps if step.draws] for game in pair.games)
    assert first[:5] == second[:5]
    assert pair.score.points == 1  # the same bot against itself on the same luck


def test_where_there_is_one_seat_each_plays_alone_and_the_better_result_counts():
    game = GAMES["minesweeper"]
    config = {"preset": "custom", "width": 5, "height": 4, "mines": 3}
    scores = [
        play_pair(game, config, bots_of(game), pairing).score
        for pairing in pairings(["random", "solver"], 20)
    ]
    assert {score.out_of for score in scores} == {1}
    assert sum(score.points for score in scores) < 3


def test_a_perfect_bot_is_rated_above_one_that_does_anything_and_the_intervals_lie_apart():
    scores = [
        play_pair(TICTACTOE, None, BOTS, pairing).score for pairing in pairings(["random", "perfect"], 60)
    ]
    best, worst = rate(scores)
    assert (best.bot, worst.bot) == ("perfect", "random")
    assert best.low > worst.high
    assert best.elo == pytest.approx(-worst.elo)
    assert best.share + worst.share == pytest.approx(1)


def test_ratings_are_those_of_bradley_and_terry():
    # Three of four points are 191 Elo between two; the draw that is added hardly matters among so many.
    scores = [Score(Pairing("a", "b", luck), points, 2) for luck in range(2000) for points in (1.0, 2.0)]
    strong, weak = rate(scores)
    assert strong.elo - weak.elo == pytest.approx(191, abs=1)
    assert strong.low < strong.elo < strong.high


@pytest.mark.parametrize(
    ("bot", "sentence"),
    [
        (raises, "bad, luck 0, step 4: it raised ValueError: no idea"),
        (cheats, "bad, luck 0, step 4: it answered what is refused: $.cell: expected int <= 8, got 9"),
    ],
)
def test_a_bot_that_raises_or_cheats_loses_that_game_with_a_sentence_and_nothing_else_stops(bot, sentence):
    pair = play_pair(TICTACTOE, None, {"bad": bot, "good": BOTS["random"]}, Pairing("bad", "good", 0))
    assert pair.score.points == 0
    assert pair.games[0].fault == sentence
    assert pair.games[1].fault


def test_a_game_in_which_nobody_does_anything_is_drawn():
    pair = play_pair(TICTACTOE, None, {"a": waits, "b": waits}, Pairing("a", "b", 0))
    assert [game.unfinished for game in pair.games] == [True, True]
    assert pair.score.points == 1


def test_a_game_of_timers_is_played_to_its_end():
    pair = play_pair(Boiling(), None, {"a": BOTS["random"], "b": BOTS["random"]}, Pairing("a", "b", 0))
    assert [game.table.now for game in pair.games] == [120, 120]


# On all cores.


def test_two_processes_find_what_one_does():
    arena = Arena("tictactoe", None, ("random", "casual", "perfect"))
    assert simulate(arena, 24, 5, 1, quiet) == simulate(arena, 24, 5, 2, quiet)


def test_a_function_of_a_module_can_play():
    result = simulate(Arena("tictactoe", None, ("random", "tests.sim.test_arena:cheats")), 2, 0, 1, quiet)
    assert len(result.faults) == 2


@pytest.mark.parametrize(
    ("arena", "code", "sentence"),
    [
        (Arena("chess", None, ("a", "b")), "unknown_game", "expected a Python file or one of tictactoe"),
        (
            Arena("tictactoe", None, ("random", "deep")),
            "unknown_bot",
            "expected module:function or one of random, cas",
        ),
        (Arena("tictactoe", None, ("random", "no.such:bot")), "unknown_bot", "No module named 'no'"),
        (
            Arena("tictactoe", None, ("random",)),
            "unknown_bot",
            "expected two bots or more, each once, got random",
        ),
        (Arena("tictactoe", None, ("random", "random")), "unknown_bot", "each once, got random, random"),
        (Arena("minesweeper", {"width": 0}, ("random", "solver")), "invalid_config", "expected int >= 1"),
    ],
)
def test_an_arena_that_makes_no_sense_is_refused_with_a_code_and_a_sentence(arena, code, sentence):
    with pytest.raises(Refused) as why:
        simulate(arena, 2, 0, 1, quiet)
    assert why.value.code == code
    assert sentence in why.value.message


def test_a_file_with_one_game_can_be_simulated_and_one_with_two_says_so(tmp_path):
    assert simulating.find_game(str(write(tmp_path, GAME))).name == "nothing"
    two = write(tmp_path, GAME + GAME.replace("class Nothing", "class More").replace('"nothing"', '"more"'))
    with pytest.raises(Refused, match="expected a file with one game, got nothing, more"):
        simulating.find_game(str(two))


def test_the_command_prints_a_table_with_a_plot_the_best_first():
    said = CliRunner().invoke(app, ["simulate", "tictactoe", "--games", "24", "--jobs", "1"])
    assert said.exit_code == 0
    lines = said.stdout.splitlines()
    assert lines[0].split() == ["Bot", "Elo", "95", "%", "Score", "Games"]
    assert [line.split()[0] for line in lines[1:]] == ["perfect", "casual", "random"]
    assert all("●" in line for line in lines[1:])


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--bots", "deep,random"], "expected module:function or one of"),
        (["--config", "{"], "--config: expected JSON"),
    ],
)
def test_the_command_says_what_is_wrong_in_a_sentence(options, sentence):
    said = CliRunner().invoke(app, ["simulate", "tictactoe", "--jobs", "1", *options])
    assert said.exit_code == 1
    assert sentence in said.stderr


def test_the_command_names_the_faults_of_bots_and_exits_with_one():
    bots = "random,tests.sim.test_arena:raises"
    said = CliRunner().invoke(app, ["simulate", "tictactoe", "--games", "2", "--jobs", "1", "--bots", bots])
    assert said.exit_code == 1
    assert "lost by a fault: tests.sim.test_arena:raises, luck 0, step" in said.stderr
