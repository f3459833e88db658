"""What the bots that come with Parlour are good for."""

import pytest

from parlour.bots import BOTS, bots_of
from parlour.bots.minesweeper import deduce
from parlour.bots.tictactoe import play_casually, play_perfectly
from parlour.game import Chance
from parlour.games import GAMES
from parlour.games.tictactoe import line_of
from tests.bots.arena import Meeting, contest, family
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
    won = [contest("minesweeper", ("solver",), luck, {}).outcome.won for luck in range(20)]
    assert sum(map(bool, won)) >= 13


def test_the_sensible_bot_beats_one_that_does_anything_unless_that_stumbles_upon_the_flag():
    meeting = Meeting("stratego", {"preset": "ogetarts"}, "sensible", "random")
    assert sum(meeting.play(luck)[0] for luck in range(6)) >= 5


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
def test_hard_wins_more_than_half_of_its_games_against_medium():
    meeting = family("backgammon", "hard", "medium")  # and the others by `make bots`
    assert sum(meeting.play(luck)[0] for luck in range(GAMES_EACH)) >= 0.55 * GAMES_EACH


@pytest.mark.parametrize(
    ("game", "better", "worse", "config", "least"),
    [
        ("hex", "casual", "random", {}, 0.9),
        ("hex", "thoughtful", "casual", {"size": 7}, 0.8),
        ("goofspiel", "fair", "random", {}, 0.8),
        ("goofspiel", "shrewd", "fair", {"players": 3}, 0.55),
        ("hearts", "casual", "random", {"points": 30}, 0.5),
        ("hearts", "sensible", "random", {"points": 30}, 0.7),
        ("hearts", "sensible", "casual", {"points": 30}, 0.4),
    ],
)
def test_the_bots_of_hex_hearts_and_goofspiel_clearly_beat_those_below(game, better, worse, config, least):
    """By luck alone it would be one of two, of three at Goofspiel, of four at Hearts."""
    meeting = Meeting(game, config, better, worse)
    assert sum(meeting.play(luck)[0] for luck in range(12)) >= 12 * least


def test_the_hex_bot_takes_a_good_first_stone_over_and_opens_with_none():
    view = {"size": 5, "swap": True, "can_swap": True, "you": "blue"}
    legal: list[dict[str, object]] = [
        *({"type": "put", "cell": cell} for cell in range(25) if cell != 12),
        {"type": "swap"},
    ]
    for play in BOTS["hex"].values():
        middle = {**view, "cells": "." * 12 + "R" + "." * 12}
        assert play(middle, legal, Chance(bytes(32), 0)) == {"type": "swap"}
        edge = {**view, "cells": "R" + "." * 24}
        others = [event for event in legal if event.get("cell") != 0] + [{"type": "put", "cell": 12}]
        assert play(edge, others, Chance(bytes(32), 0))["type"] == "put"
        first = play(
            {**view, "can_swap": False, "you": "red", "cells": "." * 25},
            [{"type": "put", "cell": cell} for cell in range(25)],
            Chance(bytes(32), 0),
        )
        assert first["cell"] != 12


def test_the_sensible_hearts_bot_ducks_gives_the_queen_away_and_passes_what_is_dangerous():
    def played(hand: str, trick: str, legal: str) -> str:
        view = {
            "players": 4,
            "hand": hand.split(),
            "tricks": [
                {"leader": 1, "cards": ["2C", "3C", "4C", "5C"]},
                {"leader": 2, "cards": trick.split()},
            ],
        }
        events = [{"type": "play", "card": card} for card in legal.split()]
        return str(BOTS["hearts"]["sensible"](view, events, Chance(bytes(32), 0))["card"])

    assert played("3D 9D KD", "TD", "3D 9D KD") == "9D", "the highest below"
    assert played("QS 2H AC", "TD 4D", "QS 2H AC") == "QS"
    assert played("QS 5S", "KS", "QS 5S") == "QS"

    hand = ["2C", "3D", "4D", "9H", "TH", "QS", "KS", "AS"]
    view = {"hand": hand}
    first = BOTS["hearts"]["sensible"](
        view, [{"type": "choose", "card": c} for c in hand], Chance(bytes(32), 0)
    )
    assert first["card"] == "QS"
