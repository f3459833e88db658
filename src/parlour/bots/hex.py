"""Hex by counting how many stones each side still needs; the better one looks two stones ahead."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from parlour.game import Bot, Chance
from parlour.games.hex import COLOURS, STONES, edges, neighbours

FAR = 10_000
CANDIDATES = 10
REPLIES = 6
"""So many stones are looked at, and so many answers to each: the search takes as long on every board."""
OPEN_EDGE = 1
"""A first stone so far from the edge or nearer is not worth taking over."""


def play_casually(view: Any, legal: Sequence[Any], chance: Chance) -> Any:
    """A stone where both sides need it most."""
    if first := _opening(view, legal, chance):
        return first
    needs = _needs(view["cells"], view["size"])
    best = min(needs.values())
    return _put(legal, chance.choice([cell for cell, need in needs.items() if need <= best + 1]))


def play_ahead(view: Any, legal: Sequence[Any], chance: Chance) -> Any:
    """The stone after which the best answer leaves most."""
    if first := _opening(view, legal, chance):
        return first
    cells, size, me = view["cells"], view["size"], COLOURS.index(view["you"])
    worths = {
        cell: _after_reply(_with(cells, cell, me), size, me) for cell in _candidates(cells, size, CANDIDATES)
    }
    best = max(worths.values())
    return _put(legal, chance.choice([cell for cell, worth in worths.items() if worth == best]))


def _opening(view: Any, legal: Sequence[Any], chance: Chance) -> Any:
    """What is played before there are two stones: with the swap rule nothing that is worth taking over."""
    cells, size = view["cells"], view["size"]
    stones = [cell for cell, stone in enumerate(cells) if stone != "."]
    if not stones:
        wanted = [cell for cell in range(size**2) if _depth(cell, size) == OPEN_EDGE] if view["swap"] else []
        middle = size**2 // 2
        return _put(legal, chance.choice(wanted) if wanted else middle)
    if view["can_swap"] and _depth(stones[0], size) > OPEN_EDGE:
        return next(event for event in legal if event["type"] == "swap")
    return None


def _depth(cell: int, size: int) -> int:
    """How far a cell is from the nearest edge."""
    x, y = cell % size, cell // size
    return min(x, y, size - 1 - x, size - 1 - y)


def _put(legal: Sequence[Any], cell: int) -> Any:
    return next(event for event in legal if event.get("cell") == cell)


def _with(cells: str, cell: int, seat: int) -> str:
    return cells[:cell] + STONES[seat] + cells[cell + 1 :]


# How many stones are needed.


@cache
def bridges(size: int) -> tuple[tuple[tuple[int, int, int], ...], ...]:
    """For each cell where bridges lead, and the two cells between: if one is taken, the other holds."""
    around = neighbours(size)
    return tuple(
        tuple(
            (far, between[0], between[1])
            for far in {far for near in around[cell] for far in around[near]} - {cell, *around[cell]}
            if len(between := [near for near in around[cell] if near in around[far]]) == 2
        )
        for cell in range(size**2)
    )


def distances(cells: str, size: int, seat: int, side: int) -> list[int]:
    """For each cell how many stones of *seat* lead to it from a side, itself counted; bridges hold."""
    mine, theirs = STONES[seat], STONES[1 - seat]
    far = [FAR] * len(cells)
    rings: list[list[int]] = [[] for _ in range(len(cells) + 1)]
    """The cells that need so many stones."""

    def reach(cell: int, need: int) -> None:
        cost = need + (cells[cell] != mine)
        if cells[cell] != theirs and cost < far[cell]:
            far[cell] = cost
            rings[cost].append(cell)

    for cell in (*edges(size, seat)[side], *_held_rows(cells, size, seat, side)):
        reach(cell, 0)
    for need, ring in enumerate(rings):
        for cell in ring:
            if far[cell] == need:
                for near in _joined(cells, size, cell):
                    reach(near, need)
    return far


def _joined(cells: str, size: int, cell: int) -> list[int]:
    """The cells beside this one, and those that a bridge leads to."""
    held = [end for end, one, other in bridges(size)[cell] if cells[one] == "." and cells[other] == "."]
    return [*neighbours(size)[cell], *held]


def _held_rows(cells: str, size: int, seat: int, side: int) -> list[int]:
    """Cells of the second row that have two free cells beside them at the edge."""
    edge = set(edges(size, seat)[side])
    theirs = STONES[1 - seat]
    return [
        cell
        for cell in _second_row(size, seat, side)
        if cells[cell] != theirs
        and sum(cells[near] == "." for near in neighbours(size)[cell] if near in edge) == 2
    ]


@cache
def _second_row(size: int, seat: int, side: int) -> tuple[int, ...]:
    step = (size if seat == 0 else 1) * (1 if side == 0 else -1)
    return tuple(cell + step for cell in edges(size, seat)[side])


def _sums(cells: str, size: int, seat: int) -> list[int]:
    """For each cell how many stones a chain through it needs."""
    one, other = (distances(cells, size, seat, side) for side in (0, 1))
    return [a + b - (cell == ".") for a, b, cell in zip(one, other, cells, strict=True)]


def _needs(cells: str, size: int) -> dict[int, int]:
    """For each free cell how many stones both sides need through it: the least is where the fight is."""
    red, blue = (_sums(cells, size, seat) for seat in (0, 1))
    return {cell: red[cell] + blue[cell] for cell, stone in enumerate(cells) if stone == "."}


def _candidates(cells: str, size: int, count: int) -> list[int]:
    needs = _needs(cells, size)
    return sorted(needs, key=lambda cell: (needs[cell], -_depth(cell, size)))[:count]


def _worth(cells: str, size: int, seat: int) -> float:
    """How many stones more the other side needs; ways that are as short count a little."""
    mine, theirs = (_shortest(cells, size, one) for one in (seat, 1 - seat))
    return theirs - mine


def _shortest(cells: str, size: int, seat: int) -> float:
    sums = _sums(cells, size, seat)
    least = min(sums)
    ways = sum(1 for need, cell in zip(sums, cells, strict=True) if need == least and cell == ".")
    return min(least, FAR) - min(ways, 40) / 100


def _after_reply(cells: str, size: int, me: int) -> float:
    """What is left when the other side has answered as well as it can."""
    if _shortest_is_done(cells, size, me):
        return FAR
    replies = _candidates(cells, size, REPLIES)
    return min((_worth(_with(cells, reply, 1 - me), size, me) for reply in replies), default=FAR)


def _shortest_is_done(cells: str, size: int, seat: int) -> bool:
    far = distances(cells, size, seat, 0)
    return any(far[cell] == 0 and cells[cell] == STONES[seat] for cell in edges(size, seat)[1])


BOTS: Mapping[str, Bot] = {"casual": play_casually, "thoughtful": play_ahead}
