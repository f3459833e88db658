"""What a browser can draw: the scene of one viewer as plain data.

Lengths are in units: a square of a board is 1 x 1, x grows to the right, y down, from the upper left corner.
In every text for people ``{0}`` stands for the name of whoever has seat 0, and so on.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any, Literal, get_args

import msgspec

Shape = Literal["square", "round", "up", "down", "tray", "hex", "polygon", "path", "node", "hand", "pile"]
"""``up`` and ``down`` are the long points of a backgammon board, by where their tip is."""
Fill = Literal["none", "paper", "raised", "sunken", "felt", "wood", "light", "dark", "water", "red"]
Look = Literal[
    "x", "o", "disc", "tile", "back", "die", "cube", "flag", "mine", "card", "card_back", "counter"
]
Suit = Literal["clubs", "diamonds", "hearts", "spades"]
Mark = Literal["last", "win", "wrong"]
Cue = Literal["", "move", "capture", "deal", "check", "win"]
"""What a step sounds like; ``check`` is for whatever wants an answer, and an empty one is silent."""


INFINITY = float("inf")
OWNERS = 8
"""So many owners have a colour and a mark of their own; the ninth looks like the first."""
TONES = 8
MAX_THINGS = 10_000
"""More than this no browser draws in time."""

PICTURE = r"[a-z0-9][a-z0-9_-]{0,39}\.(svg|png)"
"""How the file of a picture of the game's own is called; its name is a look."""

_SHAPES = frozenset(get_args(Shape))
_FILLS = frozenset(get_args(Fill))
_LOOKS = frozenset(get_args(Look))
_MARKS = frozenset({None, *get_args(Mark)})


def _check_word(what: str, name: str, word: object, known: Iterable[object]) -> None:
    """Say which words there are instead of one that no browser knows."""
    if word not in known:
        words = ", ".join(sorted(str(one) for one in known if one is not None))
        raise ValueError(f"{what}: expected a {name} of {words}; got {word!r}")


def _check_look(what: str, look: str | None) -> None:
    """A look is a word of ours or the file of a picture, which is there or not: see `scene_faults`."""
    if look not in _LOOKS and look is not None and not re.fullmatch(PICTURE, look):
        words = ", ".join(sorted(_LOOKS))
        own = "a file of the game's own pictures, such as king.svg"
        raise ValueError(f"{what}: expected a look of {words}, or {own}; got {look!r}")


def _check_sizes(what: str, **sizes: float) -> None:
    """Say what is wrong with a length or a time that no browser can draw."""
    for name, size in sizes.items():
        least = -INFINITY if name in ("x", "y", "to_x", "to_y", "seconds", "at") else 0.0
        if not least <= size < INFINITY or size == -INFINITY:
            expected = "a number" if least else "a number that is not negative"
            raise ValueError(f"{what}: expected {name} to be {expected}, got {size}")


class Spot(msgspec.Struct, frozen=True, omit_defaults=True):
    """A place on the board: a square, a point, a tray, or only a surface under others."""

    id: str
    x: float
    y: float
    w: float = 1
    h: float = 1
    shape: Shape = "square"
    fill: Fill = "paper"
    text: str = ""
    tone: int = 0
    """0 is plain ink; 1 to 8 tell figures apart."""
    label: str = ""
    """What a screen reader says; a spot without a label is only a surface."""
    mark: Mark | None = None
    click: Any = None
    """The event that a click sends."""
    second: Any = None
    """The event that a right click or a long press sends."""
    owner: int | None = None
    """The seat it belongs to: it is filled with that seat's colour and pattern."""
    points: tuple[tuple[float, float], ...] = ()
    """The corners of a polygon, or where a path leads, in units of the board: see `polygon` and `path`."""

    def __post_init__(self) -> None:
        is_somewhere = -INFINITY < self.x < INFINITY and -INFINITY < self.y < INFINITY
        if not (is_somewhere and 0 <= self.w < INFINITY and 0 <= self.h < INFINITY):
            _check_sizes(f"spot {self.id!r}", x=self.x, y=self.y, w=self.w, h=self.h)
        is_known = self.shape in _SHAPES and self.fill in _FILLS and self.mark in _MARKS
        if not (is_known and 0 <= self.tone <= TONES and (self.owner is None or self.owner >= 0)):
            self._complain()
        if self.points or self.shape in ("polygon", "path"):
            _check_points(self)

    def _complain(self) -> None:
        what = f"spot {self.id!r}"
        _check_word(what, "shape", self.shape, _SHAPES)
        _check_word(what, "fill", self.fill, _FILLS)
        _check_word(what, "mark", self.mark, _MARKS)
        _check_numbers(what, self.tone, self.owner)


def _check_numbers(what: str, tone: int, owner: int | None) -> None:
    if not 0 <= tone <= TONES:
        raise ValueError(f"{what}: expected a tone from 0 to {TONES}, got {tone}")
    if owner is not None and owner < 0:
        raise ValueError(f"{what}: expected an owner that is a seat, 0 or more, got {owner}")


def _check_points(spot: Spot) -> None:
    """A polygon has three corners or more, a path two places; nothing else has any."""
    what, least = f"spot {spot.id!r}", {"polygon": 3, "path": 2}.get(spot.shape)
    if least is None:
        raise ValueError(f"{what}: expected points for a polygon or a path only, got shape {spot.shape!r}")
    if len(spot.points) < least:
        raise ValueError(
            f"{what}: expected {least} points or more for a {spot.shape}, got {len(spot.points)}"
        )
    for x, y in spot.points:
        _check_sizes(what, x=x, y=y)


class Piece(msgspec.Struct, frozen=True, omit_defaults=True):
    """Something that stands on a spot and may move to another. The order of pieces means nothing."""

    id: str
    look: str
    """A `Look`, or the file of a picture of the game's own: ``king.svg``."""
    spot: str
    at: int = 0
    """Its place among the pieces of that spot: 0 lies lowest, or comes first in a tray or a hand."""
    owner: int | None = None
    """The seat it belongs to, which gives it its colour and its mark; None: it is nobody's."""
    text: str = ""
    glyph: str = ""
    """A small emblem; on a card its suit."""
    label: str = ""
    mark: Mark | None = None
    dim: bool = False
    """Used up: a die that was played."""
    via: str | None = None
    """On its way to its spot it shows itself here first, beside whoever stands here."""
    click: Any = None
    unless: str = ""
    """The choice by which a click does not send its event: it picks the piece up instead."""
    drops: Mapping[str, Any] = {}
    """Where it may go: the spot, and the event that putting it there sends."""
    tone: int = 0
    """The colour of a card's text: 0 is that of its suit, or ink; 1 to 8 tell cards apart."""
    count: int = 0
    """How many it stands for, shown on it: cards of a pile, coins of a heap."""

    def __post_init__(self) -> None:
        is_known = self.look in _LOOKS and self.mark in _MARKS
        if not (is_known and 0 <= self.tone <= TONES and (self.owner is None or self.owner >= 0)):
            what = f"piece {self.id!r}"
            _check_look(what, self.look)
            _check_word(what, "mark", self.mark, _MARKS)
            _check_numbers(what, self.tone, self.owner)


class Line(msgspec.Struct, frozen=True, omit_defaults=True):
    """A stroke across the board, drawn as by hand: of a grid, or through what won."""

    x: float
    y: float
    to_x: float
    to_y: float
    owner: int | None = None
    """The seat that it belongs to, which gives it its colour; None: it is part of the board, under pieces."""

    def __post_init__(self) -> None:
        _check_sizes("a line", x=self.x, y=self.y, to_x=self.to_x, to_y=self.to_y)


class Option(msgspec.Struct, frozen=True, omit_defaults=True):
    """One of several ways to choose."""

    text: str
    event: Any


class Control(msgspec.Struct, frozen=True, omit_defaults=True):
    """Something to press beside the board: a button, a choice of several, or a small form."""

    id: str
    text: str
    event: Any = None
    """What it sends; a form adds its fields to it."""
    options: tuple[Option, ...] = ()
    """With these it is a choice."""
    fields: Mapping[str, Any] | None = None
    """With these it is a form: a JSON schema of an object, its ``$defs`` beside its properties."""
    main: bool = False
    """The one thing to do now."""
    key: str = ""
    """A key of the keyboard that presses it, by its name in browsers: ``" "`` is the space bar."""
    confirm: str = ""
    """The question to answer with yes first."""
    auto: str = ""
    """The choice by which the browser presses it by itself."""
    aside: bool = False
    """It stands in the menu of offers, so that nobody presses it by mistake."""


class Side(msgspec.Struct, frozen=True, omit_defaults=True):
    """What stands beside a player's name; the first is that of seat 0."""

    look: str | None = None
    """A `Look`, or the file of a picture of the game's own."""
    text: str = ""
    score: str = ""
    unless: str = ""
    """The choice that hides the text."""

    def __post_init__(self) -> None:
        _check_look("a side", self.look)


class Choice(msgspec.Struct, frozen=True):
    """Something that viewers choose for themselves: their browser keeps it, the game never hears of it."""

    id: str
    text: str


class Clock(msgspec.Struct, frozen=True, omit_defaults=True):
    """A clock that stands at *seconds*, or runs from there since *at* on the room's clock."""

    seconds: float
    at: float | None = None
    down: bool = False
    seat: int | None = None
    """Whose it is; None: everybody's."""

    def __post_init__(self) -> None:
        _check_sizes("a clock", seconds=self.seconds, at=self.at or 0.0)


Box = tuple[float, float, float, float]
"""Where something is and how large: x, y, w, h."""


class Narrow(msgspec.Struct, frozen=True, omit_defaults=True):
    """The same board on a screen that is higher than wide: its size, and where spots are then."""

    width: float
    height: float
    places: Mapping[str, Box] = {}
    """By the ids of spots; what is not named stays where it is."""

    def __post_init__(self) -> None:
        _check_sizes("narrow", width=self.width, height=self.height)


class OwnPage(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a game's own board page is told; the server adds it where a game has such a page."""

    version: str
    view: Any = None
    legal: tuple[Any, ...] | None = ()
    """What the viewer can do now; None: the game does not say, or it is too much to list."""


class Scene(msgspec.Struct, frozen=True, omit_defaults=True):
    """All that one viewer's browser draws of a game. Ids are unique in it and tell no secret."""

    width: float = 0
    height: float = 0
    spots: tuple[Spot, ...] = ()
    """Later ones lie on earlier ones."""
    pieces: tuple[Piece, ...] = ()
    controls: tuple[Control, ...] = ()
    lines: tuple[Line, ...] = ()
    status: str = ""
    """One sentence, to this viewer: what they can do now, or how it ended."""
    turn: tuple[int, ...] = ()
    """The seats that are to act."""
    sides: tuple[Side, ...] = ()
    second: str = ""
    """What browsers call the mode in which a plain press does what a second press does."""
    choices: tuple[Choice, ...] = ()
    """What controls and sides speak of; the same all game long."""
    clocks: tuple[Clock, ...] = ()
    log: tuple[str, ...] = ()
    """What happened, the latest last."""
    cue: Cue = "move"
    """What the step that led here sounds like, wherever it changed something that is seen."""
    text: str = ""
    """A board of letters, for games that draw no other."""
    waiting: bool = False
    """The viewer can do nothing on the board now; spots and pieces may keep their events meanwhile."""
    narrow: Narrow | None = None
    """How the board is laid out on a phone that is held upright; None: as everywhere."""
    pictures: Mapping[str, str] = {}
    """Where the game's own pictures are, by the names of their files; Parlour fills it in."""
    page: OwnPage | None = None
    """Set by the server: the game's own board page is shown instead of spots, pieces and text."""

    def __post_init__(self) -> None:
        _check_sizes("the scene", width=self.width, height=self.height)
        count = len(self.spots) + len(self.pieces) + len(self.controls) + len(self.lines)
        if count > MAX_THINGS:
            raise ValueError(
                f"the scene: expected at most {MAX_THINGS} spots, pieces, controls and lines, got {count}"
            )
