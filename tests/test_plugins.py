"""Games and bots of other packages: what is brought by entry points, and what is left out with a sentence."""

from importlib.metadata import EntryPoint

import pytest

from parlour import bots, games
from parlour.bots import BOTS
from parlour.errors import Refused
from parlour.games import GAMES
from parlour.games.tictactoe import TicTacToe
from parlour.plugins import OURS, find_function, package_of, registered

HERE = "tests.test_plugins"


class Nameless(TicTacToe):
    name = "No Name"


class Plus(TicTacToe):
    name = "plus"
    display_name = "Plus"


def wait(view, legal, chance):
    return None


WAITING = {"waiting": wait}
PERFECT = {"perfect": wait}
RANDOM = {"random": wait}


def __getattr__(name):
    """What fails in a module when these are loaded."""
    failures = {"Chess": ValueError, "Quit": SystemExit}
    raise failures.get(name, AttributeError)("the board is broken")


def game(name, value):
    return EntryPoint(name, value, games.GROUP)


def bot(name, value):
    return EntryPoint(name, value, bots.GROUP)


TICTACTOE = game("tictactoe", "parlour.games.tictactoe:TicTacToe")


def test_the_bundled_games_and_bots_are_registered_like_those_of_any_package():
    for group, there in ((games.GROUP, GAMES), (bots.GROUP, BOTS)):
        ours = {entry.name for entry in registered(group) if package_of(entry) == OURS}
        assert ours <= set(there)
        assert ours == {"tictactoe", "minesweeper", "stratego", "backgammon", "hex", "hearts", "goofspiel"}
    assert games.TROUBLES == bots.TROUBLES == []


def test_a_game_of_another_package_is_listed_after_our_own():
    found, troubles = games.collect([game("plus", f"{HERE}:Plus"), TICTACTOE])
    assert (list(found), troubles) == (["tictactoe", "plus"], [])


@pytest.mark.parametrize(
    ("entry", "why"),
    [
        (game("chess", "no_such_package:Chess"), "ModuleNotFoundError: No module named 'no_such_package'"),
        (game("chess", f"{HERE}:Chess"), "ValueError: the board is broken"),
        (game("chess", f"{HERE}:Quit"), "SystemExit: the board is broken"),
        (game("chess", f"{HERE}:WAITING"), "expected a class that derives from parlour.Game, got {'waiting'"),
        (game("nameless", f"{HERE}:Nameless"), "expected a name of a-z, 0-9 and _, got 'No Name'"),
        (game("minus", f"{HERE}:Plus"), "expected a game of the name minus, got plus"),
        (TICTACTOE, "there is a game tictactoe already"),
    ],
)
def test_a_game_that_cannot_be_used_is_left_out_with_a_sentence_and_the_rest_goes_on(entry, why):
    found, (trouble,) = games.collect([TICTACTOE, entry, game("plus", f"{HERE}:Plus")])
    assert list(found) == ["tictactoe", "plus"]
    assert type(found["tictactoe"]) is TicTacToe
    assert trouble.startswith(f"{entry.name} ({entry.value}, of the package ?) is left out: {why}")


def test_a_bot_of_another_package_is_there_and_our_best_stays_the_best():
    ours = bot("tictactoe", "parlour.bots.tictactoe:BOTS")
    found, troubles = bots.collect([ours, bot("tictactoe", f"{HERE}:WAITING")])
    assert (list(found["tictactoe"]), troubles) == (["waiting", "casual", "perfect"], [])


@pytest.mark.parametrize(
    ("entry", "why"),
    [
        (bot("tictactoe", "no_such_package:BOTS"), "ModuleNotFoundError: No module named 'no_such_package'"),
        (bot("tictactoe", f"{HERE}:wait"), "expected a mapping of names to functions, got <function wait"),
        (bot("tictactoe", f"{HERE}:PERFECT"), "tictactoe has a bot perfect already"),
        (bot("tictactoe", f"{HERE}:RANDOM"), "tictactoe has a bot random already"),
    ],
)
def test_bots_that_cannot_be_used_are_left_out_with_a_sentence_and_the_rest_goes_on(entry, why):
    ours = bot("tictactoe", "parlour.bots.tictactoe:BOTS")
    found, (trouble,) = bots.collect([ours, entry, bot("plus", f"{HERE}:WAITING")])
    assert {name: list(there) for name, there in found.items()} == {
        "tictactoe": ["casual", "perfect"],
        "plus": ["waiting"],
    }
    assert trouble.startswith(f"{entry.name} ({entry.value}, of the package ?) is left out: {why}")


@pytest.mark.parametrize("name", ["nowhere:bot", "parlour:nothing", "parlour", "parlour:__version__", ":"])
def test_a_function_that_is_not_there_is_refused_with_a_sentence(name):
    with pytest.raises(Refused) as refused:
        find_function(name)
    assert refused.value.code == "unknown_bot"
    assert refused.value.message.startswith(f"{name}: expected")
