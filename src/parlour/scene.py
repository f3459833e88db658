"""What a browser can draw: the scene of one viewer as plain data, and the difference of two scenes.

Lengths are in units: a square of a board is 1 x 1, x grows to the right, y down, from the upper left corner.
In every text for people ``{0}`` stands for the name of whoever has seat 0, and so on.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeVar

import msgspec

Shape = Literal["square", "round", "up", "down", "tray"]
"""``up`` and ``down`` are the long points of a backgammon board, by where their tip is."""
Fill = Literal["none", "paper", "raised", "sunken", "felt", "wood", "light", "dark", "water", "red"]
Look = Literal["x", "o", "disc", "tile", "back", "die", "cube", "flag", "mine"]
Mark = Literal["last", "win", "wrong"]
Cue = Literal["", "move", "capture", "deal", "check", "win"]
"""What a step sounds like; ``check`` is for whatever wants an answer, and an empty one is silent."""


INFINITY = float("inf")


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

    def __post_init__(self) -> None:
        is_somewhere = -INFINITY < self.x < INFINITY and -INFINITY < self.y < INFINITY
        if not (is_somewhere and 0 <= self.w < INFINITY and 0 <= self.h < INFINITY):
            _check_sizes(f"spot {self.id!r}", x=self.x, y=self.y, w=self.w, h=self.h)


class Piece(msgspec.Struct, frozen=True, omit_defaults=True):
    """Something that stands on a spot and may move to another. The order of pieces means nothing."""

    id: str
    look: Look
    spot: str
    at: int = 0
    """Its place among the pieces of that spot: 0 lies lowest, or comes first in a tray."""
    owner: int | None = None
    """The seat it belongs to, which gives it its colour."""
    text: str = ""
    glyph: str = ""
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

    look: Look | None = None
    text: str = ""
    score: str = ""
    unless: str = ""
    """The choice that hides the text."""


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

    def __post_init__(self) -> None:
        _check_sizes("the scene", width=self.width, height=self.height)


class Patch(msgspec.Struct, frozen=True, omit_defaults=True):
    """What turns one scene into the next: first *gone*, then the rest.

    A thing that was there is given by its id and the fields that changed, a new one whole; it comes last.
    """

    gone: tuple[str, ...] = ()
    spots: tuple[dict[str, Any], ...] = ()
    pieces: tuple[dict[str, Any], ...] = ()
    controls: tuple[dict[str, Any], ...] = ()
    log: tuple[str, ...] = ()
    """Lines to add."""
    set: dict[str, Any] = {}
    """Other fields of the scene, by their names."""


Thing = TypeVar("Thing", Spot, Piece, Control)

_THINGS = {"spots": Spot, "pieces": Piece, "controls": Control}
_OTHERS = tuple(name for name in Scene.__struct_fields__ if name not in {*_THINGS, "log"})


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


def plain(view: Any, kinds: Sequence[type], legal: Sequence[Any] | None, status: str) -> Scene:
    """A scene for a game that draws none: its view as text, and a control for each thing that can be done.

    There is a button for each legal event; a form for each kind where those are not known, or many.
    """
    if legal is None:
        controls = [_form(kind) for kind in kinds]
    elif len(legal) <= MAX_BUTTONS:
        controls = list({control.id: control for control in map(_button, legal)}.values())
    else:
        controls = [
            _form(kind) for kind in dict.fromkeys(map(type, legal)) if hasattr(kind, "__struct_fields__")
        ]
    return Scene(text=_drawn(msgspec.to_builtins(view)), controls=tuple(controls), status=status)


MAX_BUTTONS = 40
"""So many can still be looked through; for more there are forms."""


def _drawn(view: Any) -> str:
    """Plain data as lines: a name and what it is; lists of texts are drawn below each other."""
    if not isinstance(view, dict):
        return view if isinstance(view, str) else msgspec.json.encode(view).decode()
    lines = []
    for name, value in view.items():
        if isinstance(value, list) and value and all(isinstance(row, str) for row in value):
            lines += [f"{name}:", *(f"  {row}" for row in value)]
        else:
            lines.append(
                f"{name}: {value if isinstance(value, str) else msgspec.json.encode(value).decode()}"
            )
    return "\n".join(lines)


def _button(event: Any) -> Control:
    """``Take(count=3)`` as a button *Take 3*."""
    fields = msgspec.to_builtins(event)
    if not isinstance(fields, dict) or "type" not in fields:
        fields = {"type": msgspec.json.encode(fields).decode()}
    name, *values = [
        value if isinstance(value, str) else msgspec.json.encode(value).decode() for value in fields.values()
    ]
    names = list(fields)[1:]
    said = (
        values if len(values) == 1 else [f"{name} {value}" for name, value in zip(names, values, strict=True)]
    )
    return Control("-".join((name, *values)), f"{_title(name)} {', '.join(said)}".rstrip(), event)


def _form(kind: type) -> Control:
    """A form for the fields of a kind of event; a button where it has none."""
    (reference,), schemas = msgspec.json.schema_components([kind], ref_template="#/$defs/{name}")
    form = schemas.pop(reference["$ref"].rpartition("/")[2])
    name = form["properties"].pop("type")["enum"][0]
    fields = {
        "type": "object",
        "properties": form["properties"],
        "required": [field for field in form["required"] if field != "type"],
        **({"$defs": schemas} if schemas else {}),
    }
    return Control(name, _title(name), {"type": name}, fields=fields if form["properties"] else None)


def _title(name: str) -> str:
    return name.replace("_", " ").capitalize()


def difference(before: Scene, after: Scene) -> Patch | None:
    """What turns *before* into *after*; None where they are the same."""
    gone: list[str] = []
    spots = _changes(before.spots, after.spots, gone)
    pieces = _changes(before.pieces, after.pieces, gone, ordered=False)
    controls = _changes(before.controls, after.controls, gone)
    others = {name: getattr(after, name) for name in _OTHERS if getattr(after, name) != getattr(before, name)}
    said, log = len(before.log), after.log
    if log[:said] == before.log:
        log = log[said:]
    else:  # another game began
        others["log"] = ()
    patch = Patch(tuple(gone), spots, pieces, controls, log, others)
    return None if patch == _NOTHING else patch


_NOTHING = Patch()


def apply(patch: Patch, before: Scene) -> Scene:
    """*before* with what the patch says done to it.

    >>> one, two = Scene(status="Your turn"), Scene(1, 1, grid(1, 1))
    >>> apply(difference(one, two), one) == two
    True
    """
    things = {name: _applied(getattr(before, name), getattr(patch, name), patch.gone) for name in _THINGS}
    others = {**msgspec.to_builtins(before), **msgspec.to_builtins(patch.set)}
    log = (*others.get("log", ()), *patch.log)
    return msgspec.convert({**others, **things, "log": log}, Scene)


def _changes(
    before: Sequence[Thing], after: Sequence[Thing], gone: list[str], *, ordered: bool = True
) -> tuple[dict[str, Any], ...]:
    """What is new or different; what is not there any more is added to *gone*."""
    if len(before) == len(after) and all(a is b or a.id == b.id for a, b in zip(before, after, strict=True)):
        return tuple(_changed(a, b) for a, b in zip(before, after, strict=True) if not (a is b or a == b))
    old = {thing.id: thing for thing in before}
    kept = old.keys() & {thing.id for thing in after}
    if ordered:
        kept = _in_place(before, after, kept)
    gone.extend(id for id in old if id not in kept)
    return tuple(
        _changed(old[thing.id], thing) if thing.id in kept else _whole(thing)
        for thing in after
        if thing.id not in kept or not (old[thing.id] is thing or old[thing.id] == thing)
    )


def _in_place(before: Sequence[Thing], after: Sequence[Thing], common: set[str]) -> set[str]:
    """Those of the common things that need not be put anew to come in the right order."""
    kept = set()
    for old, new in zip((thing.id for thing in before if thing.id in common), after, strict=False):
        if old != new.id:
            break
        kept.add(old)
    return kept


def _changed(old: Thing, new: Thing) -> dict[str, Any]:
    changed = {
        name: value for name in new.__struct_fields__ if (value := getattr(new, name)) != getattr(old, name)
    }
    return {"id": new.id, **changed}


def _whole(thing: Thing) -> dict[str, Any]:
    """A thing as it is on the wire, its fields without what they are by default."""
    plain: dict[str, Any] = msgspec.to_builtins(thing)
    return plain


def _applied(before: Sequence[Thing], changes: Sequence[dict[str, Any]], gone: Sequence[str]) -> list[Any]:
    things = {thing.id: msgspec.to_builtins(thing) for thing in before if thing.id not in set(gone)}
    for change in changes:
        things[change["id"]] = {**things.get(change["id"], {}), **msgspec.to_builtins(change)}
    return list(things.values())
