"""The scene of a game that draws none: its view as text, and a control for each thing that can be done."""

import re
from collections.abc import Sequence
from typing import Any

import msgspec

from parlour.scene.values import Control, Scene


def turn_in(view: Any, players: Sequence[str | None]) -> tuple[int, ...]:
    """Whose turn it is, by the field ``turn`` of a view: a seat or a player; nobody where it does not say.

    >>> turn_in({"turn": "bob"}, ("ann", "bob"))
    (1,)
    """
    turn = view.get("turn") if isinstance(view, dict) else None
    if isinstance(turn, str) and turn in players:
        return (players.index(turn),)
    return (turn,) if type(turn) is int and 0 <= turn < len(players) else ()


def turn_status(turn: Sequence[int], mine: int | None, *, can_act: bool | None) -> str:
    """The sentence to whoever has seat *mine*; *can_act* is None where the game does not say that."""
    if can_act or (can_act is None and mine in turn):
        return "Your turn"
    others = [f"{{{seat}}}" for seat in turn if seat != mine]
    if not others:
        return "" if can_act is None else "Waiting for the others"
    return f"Waiting for {' and '.join(filter(None, (', '.join(others[:-1]), others[-1])))}"


def plain(
    view: Any,
    kinds: Sequence[type],
    legal: Sequence[Any] | None,
    status: str,
    players: Sequence[str | None] = (),
    turn: tuple[int, ...] = (),
) -> Scene:
    """A scene for a game that draws none: its view as text, and a control for each thing that can be done.

    There is a button for each legal event; a form for each kind where those are not known, or many. Players
    are called by their names, which the browser knows by their seats.
    """
    if legal is None:
        controls = [_form(kind) for kind in kinds]
    elif len(legal) <= MAX_BUTTONS:
        controls = list({control.id: control for control in map(_button, legal)}.values())
    else:
        controls = [
            _form(kind) for kind in dict.fromkeys(map(type, legal)) if hasattr(kind, "__struct_fields__")
        ]
    text = _with_names(_drawn(msgspec.to_builtins(view)), players)
    return Scene(text=text, controls=tuple(controls), status=status, turn=turn)


def _with_names(text: str, players: Sequence[str | None]) -> str:
    """*text* with ``{0}`` in place of the id of whoever has seat 0."""
    seats = {player: f"{{{seat}}}" for seat, player in enumerate(players) if player}
    if not seats:
        return text
    ids = "|".join(map(re.escape, sorted(seats, key=len, reverse=True)))
    return re.sub(rf"(?<![\w-])(?:{ids})(?![\w-])", lambda found: seats[found[0]], text)


MAX_BUTTONS = 40
"""So many can still be looked through; for more there are forms."""


def _drawn(view: Any) -> str:
    """Plain data as lines: a name and what it is; lists of texts are drawn below each other."""
    if not isinstance(view, dict):
        return view if isinstance(view, str) else msgspec.json.encode(view).decode()
    lines = []
    for name, value in view.items():
        if isinstance(value, str) and "\n" in value:
            value = value.strip("\n").split("\n")  # noqa: PLW2901 - the same, as rows
        if isinstance(value, list | tuple) and value and all(isinstance(row, str) for row in value):
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
