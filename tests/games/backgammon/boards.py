"""What the tests of the family share: boards to draw, turns to play."""

from textwrap import dedent

from hypothesis import strategies as st

from parlour.games.backgammon.board import Board, Step
from parlour.games.backgammon.moves import Way, rolled, routes, ways
from parlour.games.backgammon.notation import listed, written
from parlour.games.backgammon.variants import VARIANTS

X, O = 0, 1  # noqa: E741 - as they are drawn


def draw(rows: str) -> str:
    return dedent(rows).strip()


def plays(variant: str, drawn: str, dice: tuple[int, int], side: int = X) -> list[str]:
    """Every way to play a roll, step by step."""
    return sorted(listed(way) for way in ways(Board.parse(variant, drawn), side, rolled(*dice)))


def moves(variant: str, drawn: str, dice: tuple[int, int], side: int = X) -> list[str]:
    """Every way to play a roll, in the usual notation."""
    board = Board.parse(variant, drawn)
    return sorted({written(board, side, way) for way in ways(board, side, rolled(*dice))})


def after(variant: str, drawn: str, steps: str, side: int = X) -> str:
    """The board after these steps."""
    return str(play(Board.parse(variant, drawn), side, read(steps)))


def play(board: Board, side: int, way: Way) -> Board:
    for step in way:
        board = board.play(side, step)
    return board


def read(steps: str) -> Way:
    """Steps as views list them."""
    names = {"bar": 25, "off": 0}
    pairs = [step.split("/") for step in steps.split()]
    return tuple(Step(*(names[name] if name in names else int(name) for name in pair)) for pair in pairs)


def route(variant: str, drawn: str, dice: tuple[int, int], move: str, side: int = X) -> str | None:
    """What a move stands for, if it is one."""
    found = routes(Board.parse(variant, drawn), side, rolled(*dice)).get(read(move)[0])
    return None if found is None else listed(found)


DICE = st.tuples(st.integers(1, 6), st.integers(1, 6))


Case = tuple[Board, int, tuple[int, int]]
"""A position, whose turn it is, and a roll."""


@st.composite
def endings(draw_: st.DrawFn) -> Case:
    """A few checkers near home, and a few of the other side about."""
    rules = VARIANTS[draw_(st.sampled_from(list(VARIANTS)))]
    mine = draw_(st.lists(st.sampled_from([1, 2, 3, 4, 5, 5, 6, 6, 7, 8, 12]), min_size=1, max_size=6))
    others = draw_(st.lists(st.integers(1, 24), max_size=5))
    theirs = [point for point in others if rules.facing[point] not in mine]
    x, o = ([15 - len(points), *map(points.count, range(1, 26))] for points in (mine, theirs))
    return Board(rules.name, (tuple(x), tuple(o))), X, draw_(DICE)


def positions() -> st.SearchStrategy[Case]:
    """Positions of any variant, from its first roll to its last."""
    return st.one_of(played(), played(), endings())


@st.composite
def played(draw_: st.DrawFn) -> Case:
    """A position of random play."""
    board = Board.start(draw_(st.sampled_from(list(VARIANTS))))
    rng, side = draw_(st.randoms(use_true_random=False)), 0
    for _ in range(draw_(st.integers(0, 90))):
        found = ways(board, side, rolled(rng.randint(1, 6), rng.randint(1, 6)))
        ahead = play(board, side, rng.choice(found)) if found else board
        if ahead.winner() is not None or ahead.drawn:
            break
        board, side = ahead, 1 - side
    return board, side, draw_(DICE)
