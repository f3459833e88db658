"""Boards and moves as these clients count them: everybody plays white, from field 0 to field 23.

White is negative, black positive. White enters from -1 and is borne off to -100; what black does is seen
with the same numbers, where it comes from 24 and goes to 100.
"""

from typing import Any

import msgspec

from parlour.errors import Code, Refused
from parlour.games.backgammon.board import Board
from parlour.games.backgammon.moves import Way, ways
from parlour.games.backgammon.variants import BAR, OFF, VARIANTS, Counts

FIELDS = 24
WHITE_BAR, BLACK_BAR = -1, 24
WHITE_OFF, BLACK_OFF = -100, 100


def field_of(place: int) -> int:
    """Where one of one's own checkers is, by its place in our game.

    >>> field_of(24), field_of(1), field_of(BAR), field_of(OFF)
    (0, 23, -1, -100)
    """
    return WHITE_OFF if place == OFF else FIELDS - place


def their_field(place: int, facing: Counts) -> int:
    """Where one of the other side's checkers is, by its place as that side counts.

    >>> their_field(24, VARIANTS["backgammon"].facing), their_field(24, VARIANTS["fevga"].facing)
    (23, 12)
    """
    return {OFF: BLACK_OFF, BAR: BLACK_BAR}.get(place, FIELDS - facing[place])


def place_of(field: int, what: str) -> int:
    """The place in our game of a field that a client names.

    >>> place_of(-1, "from"), place_of(0, "from"), place_of(-100, "to")
    (25, 24, 0)
    """
    if field == WHITE_OFF:
        return OFF
    if not WHITE_BAR <= field < FIELDS:
        expected = "a field from 0 to 23, -1 (your bar) or -100 (off)"
        raise Refused(Code.MALFORMED, f"{what}: expected {expected}, got {field}", path=what)
    return FIELDS - field


def board_state(view: dict[str, Any], seat: int) -> dict[str, Any]:
    """The board of a view, for the one who sits there."""
    facing, other = VARIANTS[view["variant"]].facing, 1 - seat
    mine, theirs = view["checkers"][seat], view["checkers"][other]
    fields, pinned = [0] * FIELDS, [0] * FIELDS
    for point in range(1, BAR):
        fields[field_of(point)] -= mine[point]
        fields[their_field(point, facing)] += theirs[point]
    for point in view["pinned"][seat]:
        fields[field_of(point)] += 1
        pinned[field_of(point)] = -1
    for point in view["pinned"][other]:
        fields[their_field(point, facing)] -= 1
        pinned[their_field(point, facing)] = 1
    cube = view["cube"]
    return {
        "fields": fields,
        "bearOffCountWhite": mine[OFF],
        "bearOffCountBlack": theirs[OFF],
        "pinnedFields": pinned if view["variant"] == "plakoto" else None,
        "homeBarCountWhite": mine[BAR],
        "homeBarCountBlack": theirs[BAR],
        "doublingCubeValue": 0 if cube is None else cube["value"],
        "doublingCubeOwner": cube is not None and cube["owner"] == seat,
        "pipCountBlack": view["pips"][other],
        "pipCountWhite": view["pips"][seat],
    }


def move_sequences(view: dict[str, Any], seat: int) -> list[dict[str, Any]]:
    """Every way to play what is left of the roll, whoever is to play it."""
    facing, own = VARIANTS[view["variant"]].facing, view["turn"] == seat
    fields = [field_of(place) if own else their_field(place, facing) for place in range(BAR + 1)]
    return [
        {"moves": [{"from": fields[start], "to": fields[end]} for start, end in way]} for way in ways_of(view)
    ]


def can_move(view: dict[str, Any]) -> bool:
    """Whether something is left to play for the one on turn."""
    return bool(ways_of(view))


def ways_of(view: dict[str, Any]) -> tuple[Way, ...]:
    """The view lists them only for the one who may play; these clients show both what is possible."""
    if view["phase"] != "move":
        return ()
    return ways(board_of(view), view["turn"], tuple(view["left"]))


def board_of(view: dict[str, Any]) -> Board:
    """The board of a view, which came as lists."""
    board = {"variant": view["variant"], "counts": view["checkers"], "pinned": view["pinned"]}
    return msgspec.convert(board, Board)
