"""What a browser draws of Stratego: one's own side at the bottom, hidden pieces face down, trays."""

from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from typing import Any

from msgspec.structs import replace

from parlour.games.stratego.board import BLUE, HOMES, LAKES, RANKS, RED, SHOWN, SQUARES, WIDTH, Piece
from parlour.games.stratego.position import WHY, Last, Position, Walk
from parlour.scene import Clock, Scene, Side, Spot
from parlour.scene import Piece as Tile

NAMES = (
    "hidden piece",
    "spy",
    "scout",
    "miner",
    "sergeant",
    "lieutenant",
    "captain",
    "major",
    "colonel",
    "general",
    "marshal",
    "bomb",
    "flag",
)
FACES = tuple("10" if rank == "M" else rank for rank in RANKS)
HINTS = ("", ", has moved", ", a scout by its way", "")
"""What everybody knows of a hidden piece."""

SPOTS = tuple(f"c{square}" for square in range(SQUARES))
"""The ids of the squares' spots."""
TRAY = 1.1
TOP = 1.3
HEIGHT = 12.6


def name_of(square: int) -> str:
    """What people call a square; rows count from red's side.

    >>> name_of(0), name_of(99)
    ('a1', 'j10')
    """
    row, column = divmod(square, WIDTH)
    return f"{'abcdefghij'[column]}{row + 1}"


def draw(state: Position, seat: int | None, drops: Mapping[int, Mapping[str, Any]]) -> Scene:
    """Everything but the controls, with where the pieces on these squares may go; spectators sit with red."""
    return Scene(
        WIDTH,
        HEIGHT,
        spots=_spots(state, seat),
        pieces=(*_standing(state, seat, drops), *_fallen(state)),
        status=_status(state, seat),
        turn=_acting(state),
        sides=tuple(_side(state, side) for side in (RED, BLUE)),
        clocks=_clocks(state),
        log=tuple(_log(state)),
        cue="deal" if state.last is None else "move" if state.last.result is None else "capture",
    )


def draw_part(drawn: str) -> Scene:
    """The part of a board that is drawn, as blue sees it."""
    state = Position.parse(drawn)
    rows = [row.split() for row in drawn.strip().replace("/", "\n").splitlines()]
    width, height = len(rows[0]), len(rows)
    spots = {
        spot.id: replace(spot, y=spot.y - TOP)
        for square, spot in enumerate(_board(BLUE, state.rules.lakes)[:SQUARES])
        if square % WIDTH < width and square < height * WIDTH
    }
    pieces = (piece for piece in _standing(state, BLUE, {}) if piece.spot in spots)
    return Scene(width, height, tuple(spots.values()), tuple(pieces))


# Spots.


@cache
def _board(seat: int, lakes: bool) -> tuple[Spot, ...]:  # noqa: FBT001 - one of two boards
    """The squares, as one side sees them, between the two trays."""
    spots = []
    for square in range(SQUARES):
        row, column = divmod(SQUARES - 1 - square if seat == RED else square, WIDTH)
        lake = lakes and square in LAKES
        name = f"{name_of(square)}, a lake" if lake else name_of(square)
        spot = Spot(SPOTS[square], column, TOP + row, fill="water" if lake else "felt", label=name)
        spots.append(spot)
    trays = (
        Spot(
            f"lost{side}",
            0,
            HEIGHT - TRAY if side == seat else 0,
            WIDTH,
            TRAY,
            shape="tray",
            fill="sunken",
            label=f"fallen pieces of {{{side}}}",
        )
        for side in (RED, BLUE)
    )
    return (*spots, *trays)


def _spots(state: Position, seat: int | None) -> tuple[Spot, ...]:
    """The board with the last move traced."""
    spots = _board(RED if seat is None else seat, state.rules.lakes)
    if state.last is None:
        return spots
    marked = list(spots)
    for square in (state.last.start, state.last.end):
        marked[square] = replace(spots[square], mark="last")
    return tuple(marked)


# Pieces.


@lru_cache(maxsize=4096)
def _tile(id: int, side: int, rank: int, known: int, spot: str, at: int = 0) -> Tile:
    """A piece as it is drawn; with rank 0 it lies face down."""
    name, owner = f"p{id}", f" of {{{side}}}"
    if not rank:
        return Tile(name, "back", spot, at, side, label=NAMES[0] + owner + HINTS[known])
    return Tile(name, "tile", spot, at, side, text=FACES[rank], glyph=NAMES[rank], label=NAMES[rank] + owner)


def _standing(state: Position, seat: int | None, drops: Mapping[int, Mapping[str, Any]]) -> Iterator[Tile]:
    ids, known = state.ids(seat), state.open_to(seat)
    for square, piece in enumerate(state.cells):
        if piece is not None:
            rank = piece.rank if piece.side in known or piece.known == SHOWN else 0
            tile = _tile(ids[square], piece.side, rank, piece.known, SPOTS[square])
            yield replace(tile, drops=drops[square]) if square in drops else tile


def _fallen(state: Position) -> Iterator[Tile]:
    """The trays; whoever fell in the last move is first seen where they fought."""
    for side, pieces in enumerate(state.fallen):
        for at, piece in enumerate(pieces):
            tile = _tile(piece.id, side, piece.rank, SHOWN, f"lost{side}", at)
            last = at == len(pieces) - 1 and _fell(state.last, piece)
            yield replace(tile, via=SPOTS[state.last.end]) if last and state.last else tile


def _fell(last: Last | None, piece: Piece) -> bool:
    """Whether the last move was a fight that this piece's side lost, or both did."""
    if last is None or last.result is None:
        return False
    return last.result == "both fell" or (last.result == "lost") == (last.side == piece.side)


# What is said.


def _acting(state: Position) -> tuple[int, ...]:
    """The seats that are to act."""
    if state.phase == "playing":
        return (state.turn,)
    if state.phase == "arranging":
        return tuple(side for side in (RED, BLUE) if not state.ready[side])
    return ()


def _side(state: Position, side: int) -> Side:
    if state.phase == "waiting":
        return Side("tile")
    if state.phase == "arranging":
        return Side("tile", "ready" if state.ready[side] else "arranging")
    left = len(HOMES[side]) - len(state.fallen[side])
    return Side("tile", "1 piece" if left == 1 else f"{left} pieces")


def _clocks(state: Position) -> tuple[Clock, ...]:
    if state.until is None:
        return ()
    return (Clock(state.rules.arrange_seconds, at=state.since, down=True),)


def _log(state: Position) -> Iterator[str]:
    """Every move in its turn; in games that began before walks were kept, those are missing."""
    at = 0
    for number, fight in enumerate((*state.fights, None)):
        while at < len(state.walks) and state.walks[at].fights <= number:
            yield _walked(state.walks[at])
            at += 1
        if fight is not None:
            yield _said(fight)


@lru_cache(maxsize=1 << 14)
def _walked(walk: Walk) -> str:
    """A move that met nobody as the log tells it."""
    return f"{{{walk.side}}}: {name_of(walk.start)}-{name_of(walk.end)}"


@lru_cache(maxsize=1 << 14)
def _said(fight: Last) -> str:
    """A fight as the log tells it."""
    attacker, defender = NAMES[fight.attacker], NAMES[fight.defender]
    end = {
        "won": f"takes a {defender}",
        "lost": f"falls to a {defender}",
        "both fell": f"and a {defender} both fall",
    }[fight.result or "won"]
    return f"{{{fight.side}}}: {attacker} {name_of(fight.start)}-{name_of(fight.end)} {end}"


def _status(state: Position, seat: int | None) -> str:
    """One sentence to this viewer: what they can do, what they wait for, or how it ended."""
    match state.phase:
        case "waiting":
            return "Waiting for an opponent"
        case "arranging":
            if seat is None:
                return "Both arrange their pieces"
            return (
                f"Waiting for {{{1 - seat}}}" if state.ready[seat] else "Arrange your pieces, then say ready"
            )
        case "playing":
            if seat is not None and state.offer == 1 - seat:
                return f"{{{1 - seat}}} offers a draw"
            return _next(state, seat)
        case "over":
            return _verdict(state, seat)


def _next(state: Position, seat: int | None) -> str:
    """Whose turn it is; whoever offered a draw that was not taken is told so first."""
    if seat is not None and state.declined == seat:
        declines = f"{{{1 - seat}}} does not take the draw"
        return f"{declines}: your turn" if seat == state.turn else declines
    if seat is not None and state.offer == seat:
        return "Your turn: a draw is offered" if seat == state.turn else f"{{{state.turn}}} may take the draw"
    return "Your turn" if seat == state.turn else f"Waiting for {{{state.turn}}}"


def _verdict(state: Position, seat: int | None) -> str:
    assert state.ending is not None  # noqa: S101 - it is over
    winner, reason = state.ending.winner, state.ending.reason
    if winner is None:
        return f"A draw: {WHY[reason]}"
    why = f"{{{1 - winner}}} resigned" if reason == "resigned" else WHY[reason]
    return f"You win: {why}" if seat == winner else f"{{{winner}}} wins: {why}"
