"""The example that learns backgammon and its relatives by playing itself."""

import subprocess
import sys

import numpy as np
import pytest

from examples import td_backgammon as td
from parlour.bots import BOTS
from parlour.game import Chance
from parlour.games import GAMES
from parlour.games.backgammon.board import Board
from parlour.games.backgammon.variants import VARIANTS
from parlour.sim.arena import pairings, play_pair
from tests.test_docs import ROOT


def share(network: td.Network, variant: str, against: str, games: int) -> float:
    """What the network wins of so many games; whoever fails, or comes to no end, proves nothing."""
    bots = {"td": td.bot(network), against: BOTS["backgammon"][against]}
    pairs = [
        play_pair(GAMES["backgammon"], {"variant": variant}, bots, pairing)
        for pairing in pairings(("td", against), games, seed=1000)
    ]
    assert [game.fault for pair in pairs for game in pair.games if game.fault or game.unfinished] == []
    return sum(pair.score.points for pair in pairs) / sum(pair.score.out_of for pair in pairs)


@pytest.mark.play
def test_after_1200_games_against_itself_it_wins_four_of_five_against_easy():
    assert share(td.Network.new("tavla", seed=0), "tavla", "easy", 10) < 0.5
    assert share(td.train("tavla", 1200), "tavla", "easy", 60) >= 0.8


@pytest.mark.long
@pytest.mark.parametrize("variant", ["tavla", "plakoto", "fevga"])
def test_after_3000_games_it_does_so_in_every_kind(variant):
    assert share(td.train(variant, 3000), variant, "easy", 200) >= 0.8


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_same_seed_makes_the_same_network_and_another_seed_another(variant):
    one, again, other = (td.train(variant, 3, seed) for seed in (7, 7, 8))
    assert np.array_equal(one.first.weights, again.first.weights)
    assert not np.array_equal(one.first.weights, other.first.weights)


@pytest.mark.parametrize("variant", VARIANTS)
def test_both_sides_see_a_board_in_the_same_way(variant):
    x, o = Board.start(variant).counts
    board = Board(variant, ((*x[:6], x[6] - 1, *x[7:]) if x[6] else x, o))
    mirrored = Board(variant, board.counts[::-1])
    assert np.array_equal(td.features([board], 0), td.features([mirrored], 1))


def test_a_pin_is_seen_and_by_whose_it_is():
    free, held = Board("plakoto", Board.start("plakoto").counts), Board.start("plakoto")
    held = Board("plakoto", held.counts, ((24,), ()))
    mine, theirs = td.features([held], 0), td.features([held], 1)
    assert (mine != td.features([free], 0)).sum() == 1
    assert (mine != theirs).sum() == 2


def test_what_was_thought_later_is_what_should_have_been_thought():
    wins = np.array([0.5, 0.4, 0.9], dtype=np.float32)
    last_but_one = 1 - (td.LAMBDA * 1.0 + (1 - td.LAMBDA) * 0.9)
    first = 1 - (td.LAMBDA * last_but_one + (1 - td.LAMBDA) * 0.4)
    assert td._targets(wins, 1.0) == pytest.approx([first, last_but_one, 1.0])


def test_to_learn_is_to_think_more_of_what_was_won():
    network = td.Network.new("tavla", seed=0)
    rows = td.features([Board.start("tavla")], 0)
    before = network.judge(rows)[0]
    network.learn(rows, np.array([1.0]), 0.01)
    assert network.judge(rows)[0] > before


def test_the_command_keeps_a_network_that_plays(tmp_path, monkeypatch):
    made = command(tmp_path, "--variant", "portes", "--games", "2")
    assert made.returncode == 0
    assert "2 of 2 games; kept in td_backgammon" in made.stderr
    monkeypatch.chdir(tmp_path)
    td._kept.cache_clear()
    bots = {"td": td.play, "easy": BOTS["backgammon"]["easy"]}
    (pairing,) = pairings(("td", "easy"), 2)
    played = play_pair(GAMES["backgammon"], {"variant": "backgammon"}, bots, pairing)
    assert [game.fault for game in played.games] == ["", ""]
    td._kept.cache_clear()


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (("--games", "0"), "expected at least one game"),
        (("--seed", "-1"), "a seed that is not negative"),
        (("--games", "many"), "invalid int value: 'many'"),
        (("--variant", "chess"), "invalid choice: 'chess'"),
    ],
)
def test_the_command_refuses_nonsense_by_a_sentence(tmp_path, given, told):
    refused = command(tmp_path, *given)
    assert refused.returncode == 2
    assert told in refused.stderr
    assert "Traceback" not in refused.stderr
    assert not (tmp_path / "td_backgammon").exists()


def test_who_plays_before_there_is_a_network_is_told_to_train_one(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    td._kept.cache_clear()
    with pytest.raises(FileNotFoundError, match=r"td_backgammon/tavla.npz: train it first"):
        td.play({"variant": "portes"}, [], Chance(bytes(32), 0))


def command(folder, *given: str):
    file = ROOT / "examples" / "td_backgammon.py"
    return subprocess.run(
        [sys.executable, file, *given], check=False, cwd=folder, capture_output=True, text=True, timeout=60
    )
