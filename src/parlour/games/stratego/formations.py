"""Armies and how they are drawn up: forty ranks, as their own side sees them, the front row first."""

from collections import Counter

from parlour.errors import Code, Refused
from parlour.game import Chance
from parlour.games.stratego.board import HOMES, RANKS, RED, WIDTH, Cells, Piece

ARMY = "F" + 6 * "B" + "M" + "9" + 2 * "8" + 3 * "7" + 4 * "6" + 4 * "5" + 4 * "4" + 5 * "3" + 8 * "2" + "S"

FORMATIONS = {
    "corner": """
        6 2 8 2 5 7 2 6 2 9
        2 M 4 7 S 5 2 8 6 4
        B 5 3 7 3 B 4 3 2 B
        F B 3 2 5 B 6 3 4 B
    """,
    "centre": """
        2 6 2 9 7 2 8 5 6 2
        8 5 M 2 4 6 2 7 S 4
        3 4 B 5 B 3 7 3 2 B
        2 3 6 B F B 5 3 4 B
    """,
    "storm": """
        7 6 8 M 5 6 9 7 8 7
        2 S 4 5 2 6 3 2 5 4
        2 B 3 2 4 B 3 6 2 B
        B 3 5 2 B 3 4 2 B F
    """,
    "wall": """
        2 B 5 2 9 B 2 7 6 2
        6 8 M 4 S 7 8 5 2 6
        3 4 2 7 3 B 5 4 3 2
        5 3 4 2 B F B 3 6 B
    """,
}


def random_army(chance: Chance, *, hides_flag: bool) -> str:
    """An army at random; with *hides_flag* the flag is behind the front row, which scouts reach at once."""
    ranks = chance.shuffle(ARMY)
    front = ranks.index("F")
    if hides_flag and front < WIDTH:
        behind = WIDTH + chance.below(len(ranks) - WIDTH)
        ranks[front], ranks[behind] = ranks[behind], ranks[front]
    return "".join(ranks)


def read_formation(drawn: str) -> str:
    """Forty ranks as they are drawn, or a refusal that says which are too many or too few.

    >>> read_formation(FORMATIONS["corner"])[-10:]
    'FB325B634B'
    """
    ranks = "".join(drawn.replace("/", " ").split())
    counts, wanted = Counter(ranks), Counter(ARMY)
    for rank in (*ARMY, *ranks):
        if counts[rank] != wanted[rank]:
            why = f"expected {wanted[rank]} of {rank} among the 40 pieces, got {counts[rank]}"
            raise Refused(Code.ILLEGAL_MOVE, why, path="$.pieces")
    return ranks


def draw_up(cells: Cells, side: int, ranks: str) -> Cells:
    """The board with this formation in a side's own rows."""
    home, drawn = HOMES[side], list(cells)
    squares = reversed(home) if side == RED else home  # red looks down the board: left is right
    for square, rank in zip(squares, ranks, strict=True):
        drawn[square] = Piece(square + 1, side, RANKS.index(rank))
    return tuple(drawn)
