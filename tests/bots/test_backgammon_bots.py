"""How the bots of the backgammon family judge, and that what they look at is bounded."""

import pytest

from parlour.bots import BOTS
from parlour.bots.backgammon import levels
from parlour.bots.backgammon.dice import freedom, shots
from parlour.bots.backgammon.worth import chance_to_win, worth
from parlour.game import Chance
from parlour.games.backgammon.board import Board
from parlour.games.backgammon.moves import rolled, routes

LEVELS = BOTS["backgammon"]
RACE = """
    .   .   .   .   .   .   |  .   .   .   .   3o  3o
    .   .   .   .   .   .   |  5x  5x  5x  .   .   .
    off 9o
"""


def ask(level: str, board: Board, dice: tuple[int, ...]):
    moves = [{"type": "move", "from": start, "to": end} for start, end in routes(board, 0, dice)]
    return LEVELS[level](seen(board, left=dice), moves, Chance(bytes(32), 0))


def seen(board: Board, left: tuple[int, ...] = ()):
    return {
        "variant": board.variant,
        "you": 0,
        "left": list(left),
        "checkers": list(map(list, board.counts)),
        "pinned": list(map(list, board.pinned)),
    }


def answer_to_double(level: str, board: Board) -> str:
    legal = [{"type": "accept"}, {"type": "decline"}]
    return str(LEVELS[level](seen(board), legal, Chance(bytes(32), 0))["type"])


@pytest.mark.parametrize("level", LEVELS)
def test_a_double_in_an_even_game_is_taken(level):
    assert answer_to_double(level, Board.start("backgammon")) == "accept"


def test_a_double_in_a_lost_race_is_declined_by_all_who_know_better():
    lost = Board.parse("backgammon", RACE)
    assert [answer_to_double(level, lost) for level in LEVELS] == ["accept", "decline", "decline"]


def answer_to_resignation(level: str, board: Board, points: int, cube: int = 1) -> str:
    legal = [{"type": "accept_resignation"}, {"type": "refuse_resignation"}, {"type": "roll"}]
    offer = {"seat": 1, "grade": "single", "points": points, "refused": False}
    view = seen(board) | {"turn": 0, "resigning": offer, "cube": {"value": cube, "owner": None}}
    return str(LEVELS[level](view, legal, Chance(bytes(32), 0))["type"]).removesuffix("_resignation")


WON_BY_A_GAMMON = Board.parse(
    "backgammon",
    """
    8o  .   .   .   .   .   |  .   .   .   .   .   .
    7o  .   .   .   .   .   |  .   .   .   .   2x  2x
    off 11x
    """,
)
WON_BY_NO_GAMMON = Board.parse(
    "backgammon",
    """
    .   .   .   .   .   2o  |  5o  5o  3o  .   .   .
    .   .   .   .   .   .   |  2x  2x  2x  2x  .   .
    off 7x
    """,
)


@pytest.mark.parametrize("level", LEVELS)
def test_a_resignation_is_accepted_by_what_playing_on_would_bring(level):
    assert answer_to_resignation(level, Board.start("backgammon"), 1) == "accept"
    assert answer_to_resignation(level, WON_BY_NO_GAMMON, 1) == "accept"
    assert answer_to_resignation(level, WON_BY_A_GAMMON, 1) == "refuse"
    assert answer_to_resignation(level, WON_BY_A_GAMMON, 2) == "accept"


@pytest.mark.parametrize("level", LEVELS)
def test_what_a_resignation_is_worth_goes_by_the_cube(level):
    assert answer_to_resignation(level, WON_BY_A_GAMMON, 4, cube=4) == "refuse"
    assert answer_to_resignation(level, WON_BY_A_GAMMON, 8, cube=4) == "accept"


@pytest.mark.parametrize("level", LEVELS)
def test_nobody_doubles_in_an_even_game(level):
    legal = [{"type": "roll"}, {"type": "double"}]
    assert LEVELS[level](seen(Board.start("backgammon")), legal, Chance(bytes(32), 0))["type"] == "roll"


def test_whoever_has_borne_all_off_has_won():
    won = Board.parse("backgammon", ". . . . . . | . . . . . 2o / . . . . . . | . . . . . .")
    assert chance_to_win(won, 0) > 0.999


@pytest.mark.parametrize("variant", ["backgammon", "plakoto", "fevga"])
def test_both_sides_judge_the_same_board_alike(variant):
    start = Board.start(variant)
    assert worth(start, 0) == worth(start, 1)


def test_a_wall_of_six_points_lets_nobody_by():
    assert freedom(0b111111) == 0
    assert freedom(0b111110) > 0


def test_a_shot_is_blocked_by_held_points_on_both_ways():
    eight_away, four_away = 1 << 7, 1 << 3
    assert shots(eight_away, 0) == 6  # 6-2, 5-3 twice each, 4-4, 2-2
    assert shots(eight_away, four_away) == 4
    assert shots(four_away, 0) == 15  # eleven with a 4, 3-1 twice, 2-2, 1-1


def test_the_roll_that_makes_the_five_point_makes_it():
    assert ask("hard", Board.start("backgammon"), rolled(3, 1)) in (
        {"type": "move", "from": 8, "to": 5},
        {"type": "move", "from": 6, "to": 5},
    )


def test_the_same_question_has_the_same_answer_whatever_was_kept(monkeypatch):
    board, dice = Board.start("plakoto"), rolled(6, 5)
    first = ask("hard", board, dice)
    levels._after_reply.cache_clear()
    assert ask("hard", board, dice) == first


def test_hard_looks_at_a_few_ways_and_every_roll_however_many_ways_there_are(monkeypatch):
    replies = []
    best_reply = levels._best_reply

    def counted(*question):
        replies.append(question)
        return best_reply(*question)

    monkeypatch.setattr(levels, "_best_reply", counted)
    levels._after_reply.cache_clear()
    ask("hard", Board.start("backgammon"), rolled(2, 1))
    assert 0 < len(replies) <= levels.CANDIDATES * len(levels.REPLIES)
