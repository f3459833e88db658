"""TypeScript from the types of Python, by way of their JSON schemas: for clients, and for our own page."""

from collections.abc import Mapping
from typing import Any

import msgspec

from parlour.game import Game
from parlour.server.api.schemas import view_type

PLAIN = {"integer": "number", "number": "number", "string": "string", "boolean": "boolean", "null": "null"}


def game_types(game: Game[Any]) -> str:
    """What a client of a game needs: its config, its events and its view, as a TypeScript module."""
    kinds = {"Config": game.Config, "Event": game.Event, "View": view_type(game)}
    wanted, schemas = [], dict[str, Any]()
    for kind in kinds.values():
        try:
            (schema,), found = msgspec.json.schema_components([kind], ref_template="{name}")
        except TypeError:  # a type that has no schema, such as object
            schema, found = {}, {}
        wanted.append(schema)
        schemas |= found
    parts = [f"// {game.display_name}, made by parlour types {game.name}. Do not edit: run it again.\n"]
    parts += [declaration(name, schemas[name]) for name in sorted(schemas)]
    for name, schema in zip(kinds, wanted, strict=True):
        if (type := typescript_type(schema)) != name:
            parts.append(f"export type {name} = {type};\n")
    return "\n".join(parts)


def declaration(
    name: str,
    schema: dict[str, Any],
    names: Mapping[str, str] = {},
    sharper: Mapping[tuple[str, str], str] = {},
) -> str:
    """An interface for a schema of an object, or a type for any other.

    *names* are other names of types, *sharper* what TypeScript can say of a field and a schema cannot.
    """
    lines = [f"/** {schema['description'].splitlines()[0]} */"] if "description" in schema else []
    called = names.get(name, name)
    if "properties" not in schema:
        return "\n".join([*lines, f"export type {called} = {typescript_type(schema, names)};", ""])
    required = set(schema.get("required", ()))
    lines.append(f"export interface {called} {{")
    for field, inner in schema["properties"].items():
        kind = sharper.get((name, field)) or typescript_type(inner, names)
        lines.append(f"  {field}{'' if field in required else '?'}: {kind};")
    return "\n".join([*lines, "}", ""])


def typescript_type(schema: dict[str, Any], names: Mapping[str, str] = {}) -> str:  # noqa: C901 - a table
    """What TypeScript calls a schema.

    >>> typescript_type({"type": "array", "items": {"anyOf": [{"type": "integer"}, {"type": "null"}]}})
    '(number | null)[]'
    """

    def inner(schema: dict[str, Any]) -> str:
        return typescript_type(schema, names)

    match schema:
        case {"$ref": str(name)}:
            return names.get(name, name)
        case {"enum": values}:
            return " | ".join(msgspec.json.encode(value).decode() for value in values)
        case {"anyOf": kinds}:
            return " | ".join(dict.fromkeys(map(inner, kinds)))
        case {"type": "array", "prefixItems": items}:
            return f"[{', '.join(map(inner, items))}]"
        case {"type": "array"}:
            item = inner(schema.get("items") or {})
            return f"({item})[]" if " | " in item else f"{item}[]"
        case {"type": "object"}:
            return f"Record<string, {inner(schema.get('additionalProperties') or {})}>"
        case {"type": str(plain)}:
            return PLAIN[plain]
        case _:
            return "unknown"
