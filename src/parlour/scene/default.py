"""The scene of a game that draws none: its view as text, and a control for each thing that can be done."""

from collections.abc import Sequence
from typing import Any

import msgspec

from parlour.scene.values import Control, Scene


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
