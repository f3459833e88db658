"""The board of Stratego: its pieces, how they are drawn, where they may go, and how they fight.

A board is drawn with one word a square, in tests, in playthroughs and on the wire. Red stands at the top:

    ``.``    nothing                    ``~``    a lake
    ``r9``   red's 9, a secret          ``b9``   blue's
    ``r9'``  the same, after it moved: everybody knows that it is no bomb and no flag
    ``r2^``  the same, after it slid over several squares: everybody knows that it is a scout
    ``R9``   red's 9, known to everybody since it survived a fight
    ``r?``   in a view: red's, but this viewer does not know what

The ranks are ``S`` for the spy, ``2`` to ``9``, ``M`` for the marshal, ``B`` for a bomb, ``F`` for the flag.
"""

from collections.abc import Container, Iterator, Sequence
from functools import cache
from itertools import pairwise
from typing import Literal

import msgspec
from msgspec.structs import replace

from parlour.game import Chance

WIDTH = 10
SQUARES = WIDTH * WIDTH
LAKES = frozenset((42, 43, 46, 47, 52, 53, 56, 57))

RED, BLUE = 0, 1
SIDES = ("red", "blue")
HOMES = (range(40), range(60, 100))
"""The squares of each side's own four rows."""

SPY, SCOUT, MINER, MARSHAL, BOMB, FLAG = 1, 2, 3, 10, 11, 12
RANKS = "?S23456789MBF"
"""How each rank is drawn; 0 is one that the viewer does not know."""

SECRET, MOVED, SLID, SHOWN = range(4)
"""What everybody knows of a piece besides where it stands."""
MARKS = ("", "'", "^", "")

GIANT_KILLERS = {(SPY, MARSHAL), (MINER, BOMB)}

Result = Literal["won", "lost", "both fell"]


class Piece(msgspec.Struct, frozen=True, array_like=True):
    """One of eighty."""

    id: int
    """1 + the square on which it stood when play began: it tells no rank."""
    side: int
    rank: int
    known: int = SECRET


Cells = tuple[Piece | None, ...]
"""What stands on each square, row by row."""

NOTHING: Cells = (None,) * SQUARES


def fight(attacker: int, defender: int) -> Result:
    """How it ends for the attacker: the higher rank stands, with two exceptions and the flag.

    >>> fight(9, BOMB), fight(MINER, BOMB), fight(SPY, MARSHAL), fight(MARSHAL, SPY), fight(5, 5)
    ('lost', 'won', 'won', 'won', 'both fell')
    """
    if defender == FLAG or (attacker, defender) in GIANT_KILLERS:
        return "won"
    if attacker == defender:
        return "both fell"
    return "won" if attacker > defender else "lost"


# Drawing.


def _word(side: int, rank: int, known: int) -> str:
    letter = SIDES[side][0]
    return (letter.upper() if known == SHOWN else letter) + RANKS[rank] + MARKS[known]


WORDS = tuple(
    tuple(tuple(_word(side, rank, known) for known in range(4)) for rank in range(len(RANKS)))
    for side in (RED, BLUE)
)
MEANINGS = {
    word: (side, rank, known)
    for side, ranks in enumerate(WORDS)
    for rank, words in enumerate(ranks)
    for known, word in enumerate(words)
    if rank and (known in (SECRET, SHOWN) or rank <= MARSHAL) and (known != SLID or rank == SCOUT)
}
"""The words for what can be: bombs and flags do not move, and only scouts slide."""


def draw(cells: Cells, *, lakes: bool, knows: Container[int | None] = (RED, BLUE)) -> list[list[str]]:
    """The words of each row, for somebody who knows the ranks of these sides."""
    blank = _blank(lakes)
    words = [
        empty
        if piece is None
        else WORDS[piece.side][piece.rank if piece.known == SHOWN or piece.side in knows else 0][piece.known]
        for piece, empty in zip(cells, blank, strict=True)
    ]
    return [words[row : row + WIDTH] for row in range(0, SQUARES, WIDTH)]


def seen_ranks(cells: Cells, knows: Container[int | None]) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """The ranks of each side, square by square from 0 to 1; -1 where one knows only these sides."""
    planes = ([0.0] * SQUARES, [0.0] * SQUARES)
    highest = len(RANKS) - 1
    for square, piece in enumerate(cells):
        if piece is not None:
            known = piece.known == SHOWN or piece.side in knows
            planes[piece.side][square] = piece.rank / highest if known else -1.0
    return tuple(planes[RED]), tuple(planes[BLUE])


@cache
def _blank(lakes: bool) -> tuple[str, ...]:  # noqa: FBT001 - one of two boards
    """The board without pieces."""
    return tuple("~" if lakes and square in LAKES else "." for square in range(SQUARES))


def parse(drawn: str) -> tuple[Cells, bool]:
    """A board as it is drawn, and whether it has lakes; fewer rows or columns are its upper left corner."""
    rows = [row.split() for row in drawn.strip().replace("/", "\n").splitlines()]
    if len({len(row) for row in rows}) != 1 or len(rows) > WIDTH or not 0 < len(rows[0]) <= WIDTH:
        raise ValueError(
            f"expected up to {WIDTH} rows of up to {WIDTH} squares, all of one length, got {rows}"
        )
    lakes = any("~" in row for row in rows)
    blank, cells = _blank(lakes), list(NOTHING)
    for y, row in enumerate(rows):
        for x, word in enumerate(row):
            square = y * WIDTH + x
            if word in MEANINGS and blank[square] == ".":
                cells[square] = Piece(square + 1, *MEANINGS[word])
            elif word != blank[square]:
                raise ValueError(f"square {square}: expected {blank[square]!r} or a piece, got {word!r}")
    return tuple(cells), lakes


# Moving.


@cache
def _rays(lakes: bool) -> tuple[tuple[tuple[int, ...], ...], ...]:  # noqa: FBT001 - one of two boards
    """For each square the squares that lie in the four directions, as far as the edge or a lake."""

    def ray(square: int, step: int) -> Iterator[int]:
        row = square // WIDTH
        for there in range(square + step, SQUARES if step > 0 else -1, step):
            if (abs(step) == 1 and there // WIDTH != row) or (lakes and there in LAKES):
                return
            yield there

    return tuple(
        tuple(tuple(ray(square, step)) for step in (-WIDTH, -1, 1, WIDTH)) for square in range(SQUARES)
    )


@cache
def _steps(lakes: bool) -> tuple[tuple[tuple[int, ...], ...], ...]:  # noqa: FBT001 - one of two boards
    """For each square the first of each of these directions."""
    return tuple(tuple(ray[:1] for ray in rays) for rays in _rays(lakes))


def moves(cells: Cells, side: int, *, lakes: bool) -> Iterator[tuple[int, int]]:
    """From where to where the pieces of a side can go: one step, scouts as far as nothing is in the way."""
    slides, steps = _rays(lakes), _steps(lakes)
    for square, piece in enumerate(cells):
        if piece is not None and piece.side == side and piece.rank <= MARSHAL:
            for way in (slides if piece.rank == SCOUT else steps)[square]:
                for there in way:
                    met = cells[there]
                    if met is None or met.side != side:
                        yield square, there
                    if met is not None:
                        break


def why_not(cells: Cells, side: int, start: int, end: int, *, lakes: bool) -> str | None:
    """Why this side cannot move so; None when it can. It tells nothing that this side does not see."""
    piece = cells[start]
    if piece is None:
        return f"there is no piece on square {start}"
    if piece.side != side:
        return f"the piece on square {start} is not yours"
    if piece.rank > MARSHAL:
        return "bombs and flags stay where they are"
    ray = next((ray for ray in _rays(lakes=False)[start] if end in ray), None)
    if ray is None:
        return "pieces move to another square in a straight line, not diagonally"
    way = ray[: ray.index(end) + 1]
    if len(way) > 1 and piece.rank != SCOUT:
        return "only scouts move more than one square"
    return _blocked(cells, side, way, lakes=lakes)


def _blocked(cells: Cells, side: int, way: Sequence[int], *, lakes: bool) -> str | None:
    """Why this side cannot go to the end of this way."""
    met = cells[way[-1]]
    if lakes and not LAKES.isdisjoint(way):
        return "nobody crosses a lake"
    if any(cells[square] is not None for square in way[:-1]):
        return "nobody jumps over a piece"
    if met is not None and met.side == side:
        return "your own piece stands there"
    return None


def is_slide(start: int, end: int) -> bool:
    """Whether this move, which is straight, goes over more than one square."""
    return abs(end - start) not in (1, WIDTH)


def shuttles(squares: Sequence[int]) -> bool:
    """Whether every leg of this way crosses the same border between two squares.

    >>> shuttles([40, 41, 40, 41]), shuttles([40, 43, 41, 42]), shuttles([40, 41, 42, 41])
    (True, True, False)
    """
    return bool(frozenset.intersection(*(_borders(start, end) for start, end in pairwise(squares))))


def _borders(start: int, end: int) -> frozenset[tuple[int, int]]:
    step = 1 if abs(end - start) < WIDTH else WIDTH
    return frozenset(pairwise(range(min(start, end), max(start, end) + 1, step)))


# What a viewer does not know.


def redeal(cells: Cells, side: int, chance: Chance) -> Cells:
    """Other ranks for those pieces of a side whose rank is a secret, as they could be for all one knows."""
    hidden = [
        (square, piece)
        for square, piece in enumerate(cells)
        if piece is not None and piece.side == side and piece.known in (SECRET, MOVED)
    ]
    # First those that have moved are given ranks, for they are no bombs; all others may be anything.
    ranks = sorted(piece.rank for _, piece in hidden)
    movable = sum(rank <= MARSHAL for rank in ranks)
    agile = chance.sample(range(movable), sum(piece.known == MOVED for _, piece in hidden))
    others = chance.shuffle([number for number in range(len(ranks)) if number not in agile])
    redealt = list(cells)
    for square, piece in hidden:
        number = agile.pop() if piece.known == MOVED else others.pop()
        redealt[square] = replace(piece, rank=ranks[number])
    return tuple(redealt)


def renumber(cells: Cells, side: int, chance: Chance) -> Cells:
    """The same pieces of a side under each other's ids."""
    ids = chance.shuffle([piece.id for piece in cells if piece is not None and piece.side == side])
    return tuple(piece and (replace(piece, id=ids.pop()) if piece.side == side else piece) for piece in cells)
