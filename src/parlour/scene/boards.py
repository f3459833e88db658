"""Boards, cards and lines in one call each."""

from collections.abc import Mapping, Sequence
from typing import Any

from parlour.scene.values import Piece, Spot, Suit


def grid(
    columns: int,
    rows: int,
    *,
    click: Mapping[int, Any] | None = None,
    labels: Sequence[str] = (),
    **alike: Any,
) -> tuple[Spot, ...]:
    """The squares of a board, row by row: ``c0``, ``c1``... *click* has the events of those that send one.

    >>> [(spot.id, spot.label) for spot in grid(2, 1)]
    [('c0', 'column 1, row 1'), ('c1', 'column 2, row 1')]
    >>> grid(7, 6, shape="round", click={9: {"type": "drop", "column": 2}})[9].click
    {'type': 'drop', 'column': 2}
    """
    events = click or {}
    names = labels or [
        f"column {1 + cell % columns}, row {1 + cell // columns}" for cell in range(columns * rows)
    ]
    return tuple(
        Spot(f"c{cell}", cell % columns, cell // columns, label=names[cell], click=events.get(cell), **alike)
        for cell in range(columns * rows)
    )


HEX_HEIGHT = 2 / 3**0.5
"""How high a hexagon is that stands on a corner and is 1 unit wide."""


def hex_grid(  # noqa: PLR0913 - a board in one call
    columns: int,
    rows: int,
    *,
    slanted: bool = True,
    click: Mapping[int, Any] | None = None,
    labels: Sequence[str] = (),
    x: float = 0,
    y: float = 0,
    **alike: Any,
) -> tuple[Spot, ...]:
    """Hexagons that are 1 unit wide, row by row: ``c0``, ``c1``... Each row begins half a unit further right.

    So it is a rhombus; not *slanted*, only every second row does, and it is nearly a rectangle. *x* and *y*
    say where its upper left corner is. The board needs a width of ``columns + (rows - 1) / 2`` and a height
    of ``0.866 * rows + 0.289``.

    >>> [(spot.id, spot.x, round(spot.y, 2), spot.label) for spot in hex_grid(2, 2)][2:]
    [('c2', 0.5, 0.87, 'a2'), ('c3', 1.5, 0.87, 'b2')]
    """
    events = click or {}
    names = labels or [f"{_letters(cell % columns)}{1 + cell // columns}" for cell in range(columns * rows)]
    return tuple(
        Spot(
            f"c{cell}",
            x + cell % columns + (cell // columns if slanted else cell // columns % 2) / 2,
            y + cell // columns * HEX_HEIGHT * 0.75,
            1,
            HEX_HEIGHT,
            shape="hex",
            label=names[cell],
            click=events.get(cell),
            **alike,
        )
        for cell in range(columns * rows)
    )


def _letters(number: int) -> str:
    """``a`` to ``z``, then ``aa``."""
    more, last = divmod(number, 26)
    return (_letters(more - 1) if more else "") + chr(ord("a") + last)


def polygon(id: str, points: Sequence[tuple[float, float]], **more: Any) -> Spot:
    """A spot of any shape, by its corners: a country, a room of a house.

    >>> spot = polygon("wales", ((1, 1), (3, 1), (2, 4)), label="Wales")
    >>> (spot.x, spot.y, spot.w, spot.h)
    (1, 1, 2, 3)
    """
    return _outlined(id, "polygon", points, more)


def path(id: str, points: Sequence[tuple[float, float]], **more: Any) -> Spot:
    """A spot along a line: a river, a road that can be built, the lines of a board.

    >>> path("road", ((0, 0), (3, 0)), owner=2).shape
    'path'
    """
    return _outlined(id, "path", points, more)


def _outlined(id: str, shape: Any, points: Sequence[tuple[float, float]], more: dict[str, Any]) -> Spot:
    xs, ys = [x for x, _ in points] or [0], [y for _, y in points] or [0]
    left, top = min(xs), min(ys)
    return Spot(id, left, top, max(xs) - left, max(ys) - top, shape=shape, points=tuple(points), **more)


def graph(  # noqa: PLR0913 - a board in one call
    points: Mapping[str, tuple[float, float]],
    links: Sequence[tuple[str, str]] = (),
    *,
    size: float = 0.6,
    click: Mapping[str, Any] | None = None,
    labels: Mapping[str, str] | None = None,
    owners: Mapping[str, int] | None = None,
    fill: Any = "wood",
) -> tuple[Spot, ...]:
    """Points and the lines between them: paths first, then nodes around *points*, *size* wide.

    A link of ``a`` and ``b`` has the id ``a-b``. *click*, *labels* and *owners* are by the ids of points and
    links; a point without a label is called by its id, a link without one is only drawn.

    >>> [spot.id for spot in graph({"york": (1, 1), "bath": (3, 1)}, [("york", "bath")])]
    ['york-bath', 'york', 'bath']
    """
    events, names, held = click or {}, labels or {}, owners or {}
    paths = [
        path(
            id,
            (points[a], points[b]),
            fill=fill,
            label=names.get(id, ""),
            click=events.get(id),
            owner=held.get(id),
        )
        for a, b in links
        for id in (f"{a}-{b}",)
    ]
    nodes = [
        Spot(
            id,
            x - size / 2,
            y - size / 2,
            size,
            size,
            shape="node",
            fill=fill,
            label=names.get(id, id),
            click=events.get(id),
            owner=held.get(id),
        )
        for id, (x, y) in points.items()
    ]
    return (*paths, *nodes)


_RANKS = {"A": "ace", "K": "king", "Q": "queen", "J": "jack"}


def card(id: str, spot: str, rank: str, suit: Suit, **more: Any) -> Piece:
    """A playing card that lies face up, with a label for screen readers. Face down its look is ``card_back``.

    >>> card("k7", "hand", "Q", "hearts", at=3).label
    'queen of hearts'
    """
    label = f"{_RANKS.get(rank, rank)} of {suit}"
    return Piece(id, "card", spot, text=rank, glyph=suit, **{"label": label, **more})
