"""Giving one game up: for all that it could cost, or for less if the other side agrees."""

from typing import NamedTuple

from msgspec.structs import replace

from parlour.errors import Code, Refused
from parlour.games.backgammon.board import Board
from parlour.games.backgammon.match import GRADES, Grade, Match, Resignation, finish
from parlour.games.backgammon.variants import BAR, HOME, OFF


class Price(NamedTuple):
    """What it costs to lose a game so."""

    grade: Grade
    points: int


def prices(match: Match, seat: int) -> tuple[Price, ...]:
    """What this side may give the game up for, the least first; the last needs nobody's consent.

    There is no more than the position can still cost, and nothing beyond what ends the match.
    """
    found: list[Price] = []
    wins = match.board.rules.wins
    for grade, points in zip(GRADES[: worst(match.board, seat) + 1], wins, strict=False):
        found.append(Price(grade, points * match.cube.value))
        if match.target is not None and match.score[1 - seat] + found[-1].points >= match.target:
            break
    return tuple(found)


def worst(board: Board, loser: int) -> int:
    """The worst grade that a side can still lose by.

    >>> worst(Board.start("backgammon"), 0), worst(Board.start("portes"), 0)
    (2, 1)
    """
    if board.counts[loser][OFF]:
        return 0
    highest = len(board.rules.wins) - 1
    back, other = _rear(board, loser), _rear(board, 1 - loser)
    safe = back < BAR - HOME and back + other <= BAR  # out of the other's home, and past whoever could hit
    return min(highest, 1) if safe else highest


def _rear(board: Board, side: int) -> int:
    """Where the last checker of a side is."""
    return max(place for place in range(BAR + 1) if board.counts[side][place])


def resign_for(match: Match, seat: int, grade: Grade) -> Match:
    """Give the game up for that: at once if it is all that the game could cost, else if the other agrees."""
    known = prices(match, seat)
    price = next((price for price in known if price.grade == grade), None)
    if price is None:
        can = " or ".join(price.grade for price in known)
        raise Refused(Code.ILLEGAL_MOVE, f"expected to resign a {can} as things stand, got a {grade}")
    if price == known[-1]:
        return finish(match, 1 - seat, price.points, "resigned")
    if match.resigning == Resignation(seat, *price, refused=True):
        raise Refused(Code.OFFER_DECLINED, f"to resign a {grade} was refused; offer it again after a move")
    return replace(match, resigning=Resignation(seat, *price))


def accept_resignation(match: Match) -> Match:
    """Win the game for what was offered."""
    assert match.resigning is not None  # noqa: S101 - who answers was asked
    return finish(match, 1 - match.resigning.seat, match.resigning.points, "resigned")


def refuse_resignation(match: Match) -> Match:
    """Play on."""
    assert match.resigning is not None  # noqa: S101 - who answers was asked
    return replace(match, resigning=replace(match.resigning, refused=True))
