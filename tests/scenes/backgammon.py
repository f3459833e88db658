"""Backgammon as it will be drawn: points, checkers, dice, cube, bar, trays, pins."""

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from parlour.scene import Clock, Control, Piece, Scene, Side, Spot
from tests.scenes import Moments

Layout = Mapping[str, tuple[str, ...]]
"""Which checkers lie on which spot, the lowest first."""

START: Layout = {
    "p24": ("w1", "w2"),
    "p13": ("w3", "w4", "w5", "w6", "w7"),
    "p8": ("w8", "w9", "w10"),
    "p6": ("w11", "w12", "w13", "w14", "w15"),
    "p1": ("b1", "b2"),
    "p12": ("b3", "b4", "b5", "b6", "b7"),
    "p17": ("b8", "b9", "b10"),
    "p19": ("b11", "b12", "b13", "b14", "b15"),
}


def place(point: int) -> tuple[float, float, str]:
    """Where a point is for the player of seat 0, whose home is at the lower right, and where its tip is."""
    column = 12 - point if point <= 12 else point - 13
    x = 0.3 + column + (1 if column >= 6 else 0)
    return (x, 6.5, "up") if point <= 12 else (x, 0.3, "down")


def spots() -> tuple[Spot, ...]:
    def point(number: int) -> Spot:
        x, y, shape = place(number)
        tone: Any = "dark" if number % 2 else "light"
        return Spot(f"p{number}", x, y, 1, 5, shape, tone, text=str(number), label=f"point {number}")  # type: ignore[arg-type]

    return (
        Spot("frame", 0, 0, 15.1, 11.8, fill="wood"),
        Spot("left", 0.3, 0.3, 6, 11.2, fill="felt"),
        Spot("right", 7.3, 0.3, 6, 11.2, fill="felt"),
        *(point(number) for number in range(1, 25)),
        Spot("bar1", 6.3, 0.3, 1, 4, "tray", "none", label="bar of {1}"),
        Spot("cube", 6.3, 5.4, 1, 1, "tray", "none", label="cube in the middle"),
        Spot("bar0", 6.3, 7.5, 1, 4, "tray", "none", label="bar of {0}"),
        Spot("off1", 13.6, 0.3, 1.2, 4, "tray", "sunken", label="borne off by {1}"),
        Spot("cube1", 13.7, 4.5, 1, 1, "tray", "none", label="cube of {1}"),
        Spot("cube0", 13.7, 6.3, 1, 1, "tray", "none", label="cube of {0}"),
        Spot("off0", 13.6, 7.5, 1.2, 4, "tray", "sunken", label="borne off by {0}"),
        Spot("dice1", 1.8, 5.4, 3, 1, "tray", "none", label="dice of {1}"),
        Spot("dice0", 8.8, 5.4, 3, 1, "tray", "none", label="dice of {0}"),
    )


def checkers(
    layout: Layout, drops: Mapping[str, tuple[str, ...]], last: tuple[str, ...] = ()
) -> tuple[Piece, ...]:
    """The checkers; the uppermost of a point can be moved to where *drops* says."""
    return tuple(
        Piece(
            id,
            "disc",
            spot,
            at=at,
            owner=0 if id.startswith("w") else 1,
            label="white" if id.startswith("w") else "black",
            mark="last" if id in last else None,
            drops={to: {"type": "move", "from": spot, "to": to} for to in drops.get(spot, ())}
            if at == len(pile) - 1
            else {},
        )
        for spot, pile in layout.items()
        for at, id in enumerate(pile)
    )


def dice(*figures: int, seat: int = 0, used: int = 0, click: Any = None) -> tuple[Piece, ...]:
    return tuple(
        Piece(
            f"die{n}",
            "die",
            f"dice{seat}",
            n,
            seat,
            str(figure),
            label=f"a {figure}",
            dim=n < used,
            click=click,
        )
        for n, figure in enumerate(figures)
    )


def cube(value: int, spot: str, click: Any = None) -> Piece:
    return Piece("cube-piece", "cube", spot, text=str(value), label=f"cube at {value}", click=click)


RESIGN = Control("resign", "Resign", {"type": "resign"}, confirm="Give this game up?")
ROLL = Control("roll", "Roll", {"type": "roll"}, main=True, key=" ")
UNDO = Control("undo", "Undo", {"type": "undo"}, key="u")
DONE = Control("done", "End the turn", {"type": "done"}, main=True, key=" ")


def to_roll() -> Scene:
    offer = {"type": "offer_double"}
    return Scene(
        15.1,
        11.8,
        spots=spots(),
        pieces=(*checkers(START, {}), cube(1, "cube", offer)),
        controls=(ROLL, Control("double", "Double", offer, key="d"), RESIGN),
        status="Your turn: roll, or double",
        turn=(0,),
        sides=(Side("disc", "167 pips", "2"), Side("disc", "167 pips", "0")),
        clocks=(Clock(60, at=100, down=True, seat=0), Clock(60, down=True, seat=1)),
    )


def rolled(before: Scene) -> Scene:
    moves = {"p24": ("p18", "p23", "p17"), "p13": ("p7",), "p8": ("p2", "p7", "p1"), "p6": ("p5",)}
    return replace(
        before,
        pieces=(*checkers(START, moves), *dice(6, 1), cube(1, "cube")),
        controls=(RESIGN,),
        status="Your turn: 6 and 1",
    )


def moved(before: Scene) -> Scene:
    """13/7 with the 6."""
    layout = {**START, "p13": START["p13"][:-1], "p7": ("w7",)}
    moves = {"p24": ("p23",), "p8": ("p7",), "p6": ("p5",), "p7": ("p6",)}
    return replace(
        before,
        pieces=(*checkers(layout, moves, ("w7",)), *dice(6, 1, used=1), cube(1, "cube")),
        controls=(UNDO, RESIGN),
        sides=(Side("disc", "161 pips", "2"), Side("disc", "167 pips", "0")),
    )


def made_a_point(before: Scene) -> Scene:
    """8/7 with the 1: the turn can be ended by a click on the dice, too."""
    layout = {**START, "p13": START["p13"][:-1], "p8": START["p8"][:-1], "p7": ("w7", "w10")}
    return replace(
        before,
        pieces=(
            *checkers(layout, {}, ("w7", "w10")),
            *dice(6, 1, used=2, click={"type": "done"}),
            cube(1, "cube"),
        ),
        controls=(DONE, UNDO, RESIGN),
        status="End your turn, or take it back",
        sides=(Side("disc", "160 pips", "2"), Side("disc", "167 pips", "0")),
    )


LATER: Layout = {
    "p7": ("w1", "w2"),
    "p6": ("w3", "w4", "w5", "w6", "w7", "w8", "w9"),
    "bar0": ("w10", "w11"),
    "off0": ("w12", "w13", "w14", "w15"),
    "p23": ("b1", "b2", "b3"),
    "p20": ("b4", "b5", "b6", "b7", "b8", "b9"),
    "off1": ("b10", "b11", "b12", "b13", "b14", "b15"),
}


def hit(before: Scene) -> Scene:
    """Much later: two checkers on the bar must enter first."""
    return replace(
        before,
        pieces=(
            *checkers(LATER, {"bar0": ("p22", "p21")}),
            *dice(3, 4, seat=0),
            cube(2, "cube1"),
        ),
        controls=(RESIGN,),
        status="Your turn: enter from the bar",
        sides=(Side("disc", "106 pips", "2"), Side("disc", "21 pips", "0")),
        log=("{0} 61: 13/7 8/7", "{1} 53: 12/17 8/11", "{1} doubles to 2", "{0} takes"),
    )


def doubled(before: Scene) -> Scene:
    """The other side offers to double again."""
    return replace(
        before,
        pieces=(*checkers(LATER, {}), cube(4, "cube")),
        controls=(
            Control("take", "Take at 4", {"type": "accept_double"}, main=True),
            Control("drop", "Drop", {"type": "decline_double"}, confirm="Lose this game at 2?"),
        ),
        status="{1} doubles to 4",
        log=(*before.log, "{1} doubles to 4"),
    )


def pinned() -> Scene:
    """Plakoto, seen by somebody who watches: a lone checker is held under two others."""
    layout: Layout = {
        "p24": tuple(f"w{n}" for n in range(1, 14)),
        "p5": ("b15", "w14", "w15"),
        "p1": tuple(f"b{n}" for n in range(1, 15)),
    }
    return Scene(
        15.1,
        11.8,
        spots=spots(),
        pieces=(*checkers(layout, {}, ("w15",)), *dice(2, 2, 2, 2, seat=1)),
        status="{1} is to move",
        turn=(1,),
        sides=(Side("disc", "322 pips", "0"), Side("disc", "341 pips", "1")),
    )


def backgammon() -> Moments:
    """What Ann, who is white, sees; at the end a board of plakoto."""
    first = to_roll()
    second = rolled(first)
    third = moved(second)
    fourth = made_a_point(third)
    fifth = hit(fourth)
    return [
        ("To roll, or to double", first),
        ("A roll", second),
        ("13/7", third),
        ("8/7", fourth),
        ("On the bar, many borne off", fifth),
        ("A double is offered", doubled(fifth)),
        ("Plakoto: a pin", pinned()),
    ]
