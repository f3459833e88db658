"""What the bots that come with Parlour are good for."""

import pytest

from parlour.bots import BOTS, bots_of
from parlour.bots.minesweeper import deduce
from parlour.bots.tictactoe import play_casually, play_perfectly
from parlour.game import Chance
from parlour.games import GAMES
from parlour.games.tictactoe import line_of
from tests.bots.arena import contest, family
from tests.samples import first_of


class Options(Chance):
    """Chance that remembers what it could have chosen from."""

    def __init__(self):
        super().__init__(bytes(32), 0)
        self.options = []

    def choice(self, things):
        self.options = list(things)
        return things[0]


@pytest.mark.parametrize("mine", "XO")
def test_the_perfect_bot_loses_none_of_all_games(mine):
    seen, ends = set(), {"won": 0, "drawn": 0}

    def explore(cells: str, mark: str) -> None:
        if (cells, mark) in seen:
            return
        seen.add((cells, mark))
        line, free = line_of(cells), [cell for cell in range(9) if cells[cell] == "."]
        if line or not free:
            assert not line or cells[line[0]] == mine, f"lost: {cells}"
            ends["won" if line else "drawn"] += 1
            return
        if mark == mine:
            chance = Options()
            play_perfectly({"cells": cells, "you": mine}, [{"cell": cell} for cell in free], chance)
            free = [event["cell"] for event in chance.options]
        for cell in free:
            explore(cells[:cell] + mark + cells[cell + 1 :], "O" if mark == "X" else "X")

    explore("." * 9, "X")
    assert ends["won"] > 0
    assert ends["drawn"] > 0


def test_the_casual_bot_takes_a_win_and_stops_one_and_falls_for_a_trap():
    def played(cells: str) -> set[int]:
        legal = [{"cell": cell} for cell in range(9) if cells[cell] == "."]
        chance = Options()
        play_casually({"cells": cells, "you": "O"}, legal, chance)
        return {event["cell"] for event in chance.options}

    assert played("OO.XX.X..") == {2}
    assert played("XX.O.....") == {2}
    assert 2 in played("X...O...X"), "a corner, where the other then threatens two lines at once"


def test_the_perfect_bot_takes_a_win():
    view = {"cells": "XX.OO....", "you": "X"}
    legal = [{"cell": cell} for cell in (2, 5, 6, 7, 8)]
    assert play_perfectly(view, legal, Chance(bytes(32), 0)) == {"cell": 2}


def test_numbers_say_what_is_mined_and_what_is_safe():
    safe, mined, _ = deduce("###" + "121" + "...", 3)
    assert (safe, mined) == ({1}, {0, 2})


def test_flags_are_not_believed():
    safe, mined, _ = deduce("#F#" + "121" + "...", 3)
    assert (safe, mined) == ({1}, {0, 2})


def test_the_solver_clears_most_fields_of_beginners():
    assert sum(contest("minesweeper", ("solver", "solver"), luck, {}).won != () for luck in range(20)) >= 13


def test_the_sensible_bot_beats_one_that_does_anything_unless_that_stumbles_upon_the_flag():
    won = 0
    for luck in range(6):
        names = ("sensible", "random") if luck % 2 == 0 else ("random", "sensible")
        won += contest("stratego", names, luck, {"preset": "ogetarts"}).won == (("one", "two")[luck % 2],)
    assert won >= 5


def test_the_bots_of_a_game_are_those_of_its_own_rules():
    class Another(type(GAMES["tictactoe"])):  # type: ignore[misc]
        """A game of the same name that somebody brought."""

    assert list(bots_of(Another())) == ["random"]
    assert set(BOTS) <= set(GAMES)


GAMES_EACH = 30
VARIANTS = ("backgammon", "plakoto", "fevga")


@pytest.mark.play
@pytest.mark.parametrize("variant", first_of(VARIANTS))
def test_medium_wins_six_of_ten_games_against_easy(variant):
    meeting = family(variant, "medium", "easy")
    assert sum(meeting.play(luck)[0] for luck in range(GAMES_EACH)) >= 0.60 * GAMES_EACH


@pytest.mark.play
@pytest.mark.long
@pytest.mark.timeout(600)
def test_hard_wins_more_than_half_of_its_games_against_medium():
    meeting = family("backgammon", "hard", "medium")  # and the others by `make bots`
    assert sum(meeting.play(luck)[0] for luck in range(GAMES_EACH)) >= 0.55 * GAMES_EACH
