"""Stratego as it will be drawn: arranging in secret, moves, a fight, trays."""

from msgspec.structs import replace

from parlour.scene import Clock, Control, Option, Piece, Scene, Side, Spot
from tests.scenes import Moments

LAKES = {"c5", "d5", "c6", "d6", "g5", "h5", "g6", "h6"}
RANKS = {
    "10": "marshal",
    "9": "general",
    "8": "colonel",
    "7": "major",
    "6": "captain",
    "5": "lieutenant",
    "4": "sergeant",
    "3": "miner",
    "2": "scout",
    "S": "spy",
    "B": "bomb",
    "F": "flag",
}
ROWS = """
    2 9 2 6 2 10 6 2 8 2
    5 4 7 S 6 3  4 7 6 2
    2 5 3 B 8 B  7 5 4 2
    3 B 3 5 B F  B 3 B 4
"""
FORMATION = ROWS.split()
"""The uppermost row is nearest to the enemy."""


def square(column: int, row: int) -> str:
    """The name of a square; rows count from red's side."""
    return f"{'abcdefghij'[column]}{row}"


HOME = tuple(square(column, row) for row in (4, 3, 2, 1) for column in range(10))
AWAY = tuple(square(column, row) for row in (7, 8, 9, 10) for column in range(10))


def spots() -> tuple[Spot, ...]:
    """Red's side at the bottom, between the two trays."""
    board = tuple(
        Spot(
            name := square(column, row),
            column,
            11.3 - row,
            fill="water" if name in LAKES else "felt",
            label=f"{name}, a lake" if name in LAKES else name,
        )
        for row in range(10, 0, -1)
        for column in range(10)
    )
    above = Spot("lost1", 0, 0, 10, 1.1, shape="tray", fill="sunken", label="fallen pieces of {1}")
    below = Spot("lost0", 0, 11.5, 10, 1.1, shape="tray", fill="sunken", label="fallen pieces of {0}")
    return (above, *board, below)


def red(number: int, on: str, *, arranging: bool = False) -> Piece:
    rank = FORMATION[number]
    id = f"red-{number}"
    drops = (
        {there: {"type": "place", "piece": id, "on": there} for there in HOME if there != on}
        if arranging
        else {}
    )
    return Piece(id, "tile", on, owner=0, text=rank, glyph=RANKS[rank], label=RANKS[rank], drops=drops)


def blue(number: int, on: str) -> Piece:
    return Piece(f"blue-{number}", "back", on, owner=1, label="hidden piece")


def arranging(swap: tuple[int, int] | None = None) -> Scene:
    places = list(HOME)
    if swap:
        one, two = swap
        places[one], places[two] = places[two], places[one]
    mine = tuple(red(number, on, arranging=True) for number, on in enumerate(places))
    return Scene(
        10,
        12.6,
        spots=spots(),
        pieces=mine + tuple(blue(number, on) for number, on in enumerate(AWAY)),
        controls=(
            Control("ready", "Ready", {"type": "ready"}, main=True),
            Control(
                "formation",
                "Formation",
                options=tuple(
                    Option(name.capitalize(), {"type": "formation", "name": name})
                    for name in ("fortress", "storm", "random")
                ),
            ),
        ),
        status="Arrange your pieces, then say ready",
        turn=(0, 1),
        sides=(Side("tile", "arranging"), Side("tile", "arranging")),
        clocks=(Clock(180, at=12, down=True),),
    )


def playing() -> Scene:
    moves = {
        0: ("a5", "a6", "a7"),  # a scout slides, and may attack at the end
        1: ("b5",),
        4: ("e5", "e6", "e7"),
        5: ("f5",),
        8: ("i5",),
        9: ("j5", "j6", "j7"),
    }
    mine = tuple(
        replace(
            red(number, on),
            drops={to: {"type": "move", "from": on, "to": to} for to in moves.get(number, ())},
        )
        for number, on in enumerate(HOME)
    )
    return Scene(
        10,
        12.6,
        spots=spots(),
        pieces=mine + tuple(blue(number, on) for number, on in enumerate(AWAY)),
        controls=(
            Control("draw", "Offer a draw", {"type": "offer_draw"}),
            Control("resign", "Resign", {"type": "resign"}, confirm="Give this game up?"),
        ),
        status="Your turn",
        turn=(0,),
        sides=(Side("tile", "40 pieces"), Side("tile", "40 pieces")),
        clocks=(Clock(30, at=80, down=True, seat=0), Clock(30, down=True, seat=1)),
    )


def fight(before: Scene) -> Scene:
    """Red's scout slides from a4 to a7 and meets a captain: both are seen, the scout falls."""
    changed = {
        "red-0": {"spot": "lost0", "via": "a7"},
        "blue-0": {"look": "tile", "text": "6", "glyph": "captain", "label": "captain", "mark": "last"},
    }
    return replace(
        before,
        spots=tuple(replace(spot, mark="last") if spot.id == "a4" else spot for spot in before.spots),
        pieces=tuple(replace(piece, drops={}, **changed.get(piece.id, {})) for piece in before.pieces),
        status="Your scout fell to a captain. Waiting for {1}",
        turn=(1,),
        sides=(Side("tile", "39 pieces"), Side("tile", "40 pieces")),
        clocks=(Clock(26.5, down=True, seat=0), Clock(30, at=83.5, down=True, seat=1)),
        log=("{0}: scout a4-a7, falls to a captain",),
    )


def won(before: Scene) -> Scene:
    """The flag has fallen; the board lies open."""
    shown = tuple(
        replace(
            piece,
            look="tile",
            text=(rank := FORMATION[int(piece.id.removeprefix("blue-"))]),
            glyph=RANKS[rank],
            label=RANKS[rank],
        )
        if piece.look == "back"
        else replace(piece, via=None, mark=None)
        for piece in before.pieces
    )
    return replace(
        before,
        spots=spots(),
        pieces=shown,
        controls=(),
        status="You win: the flag of {1} has fallen",
        turn=(),
        clocks=(Clock(26.5, down=True, seat=0), Clock(21, down=True, seat=1)),
        log=(*before.log, "{1}: e7-e6", "{0}: captain takes the flag"),
    )


def stratego() -> Moments:
    """What Ann, who is red, sees."""
    start = playing()
    fought = fight(start)
    return [
        ("Both arrange", arranging()),
        ("Two pieces changed places", arranging((0, 5))),
        ("The game begins", start),
        ("A scout attacks and falls", fought),
        ("The flag falls", won(fought)),
    ]
