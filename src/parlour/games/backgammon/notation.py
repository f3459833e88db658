"""How a game is written down: moves in the usual notation, matches as other programs read them."""

from collections.abc import Iterable, Iterator
from itertools import groupby, zip_longest

from parlour.games.backgammon.board import Board
from parlour.games.backgammon.moves import Way
from parlour.games.backgammon.variants import BAR, OFF

Entry = tuple[int, str]
"""Whose it was, and what was done."""

_WIDTH = 36


def point_name(place: int) -> str:
    """What a place is called.

    >>> point_name(25), point_name(13), point_name(0)
    ('bar', '13', 'off')
    """
    return {BAR: "bar", OFF: "off"}.get(place, str(place))


def listed(way: Way) -> str:
    """Each step of a way, as views list them.

    >>> from parlour.games.backgammon.board import Step
    >>> listed((Step(25, 21), Step(21, 18)))
    'bar/21 21/18'
    """
    return " ".join(f"{point_name(start)}/{point_name(end)}" for start, end in way)


def written(board: Board, side: int, way: Way) -> str:
    """A turn in the usual notation: one checker's steps in one, a star for a hit, equal moves counted.

    >>> from parlour.games.backgammon.board import Step
    >>> start = Board.start("backgammon")
    >>> written(start, 0, (Step(8, 5), Step(6, 5)))
    '8/5 6/5'
    >>> written(start, 0, (Step(24, 22), Step(22, 20), Step(13, 11), Step(13, 11)))
    '24/20 13/11(2)'
    """
    paths: list[list[str]] = []
    ends: list[int] = []
    for before, step in zip((None, *way), way, strict=False):
        board = board if before is None else board.play(side, before)
        star = "*" if board.meets(side, step.end) else ""
        if step.start not in ends:
            paths.append([point_name(step.start)])
            ends.append(step.start)
        path = ends.index(step.start)
        paths[path].append(point_name(step.end) + star)
        ends[path] = step.end
    moves = ["/".join(_shortened(path)) for path in paths]
    return " ".join(_counted(sorted(moves, key=_place, reverse=True)))


def _shortened(path: list[str]) -> Iterator[str]:
    """The points of a path that tell something: where it begins, where it hits, where it ends."""
    yield path[0]
    yield from (point for point in path[1:-1] if point.endswith("*"))
    yield path[-1]


def _place(move: str) -> tuple[int, str]:
    start = move.partition("/")[0]
    return (BAR if start == "bar" else int(start)), move


def _counted(moves: list[str]) -> Iterator[str]:
    for move, same in groupby(moves):
        count = len(list(same))
        yield move if count == 1 else f"{move}({count})"


def exported_game(
    number: int, variant: str, names: Iterable[str], score: Iterable[int], log: Iterable[Entry]
) -> str:
    """One game of a match, the two sides in columns of their own."""
    heads = [f"{name} : {points}" for name, points in zip(names, score, strict=True)]
    lines = [
        f' Game {number} ; [Variant "{variant.capitalize()}"]',
        " " + heads[0].ljust(_WIDTH + 4) + heads[1],
    ]
    return "\n".join((*lines, *_columns(log)))


def _columns(log: Iterable[Entry]) -> Iterator[str]:
    """Numbered lines; a line is full when both have had their say."""
    left: list[str] = []
    right: list[str] = []
    for side, text in log:
        if side == 0:
            right.extend([""] * (len(left) - len(right)))
            left.append(text)
        else:
            left.extend([""] * (len(right) + 1 - len(left)))
            right.append(text)
    for number, (ours, theirs) in enumerate(zip_longest(left, right, fillvalue=""), 1):
        yield f"{number:3}) {ours:<{_WIDTH}}{theirs}".rstrip()
