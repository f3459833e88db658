"""The settings of a game in words, for people who set one up; the form itself is made from the schema."""

from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from parlour.errors import Code, Refused


class Card(msgspec.Struct, frozen=True, omit_defaults=True):
    """One choice of a setting in words: a title, and a line that says what it is like."""

    title: str
    hint: str = ""


class Label(msgspec.Struct, frozen=True, omit_defaults=True):
    """One setting in words; whatever is left out is made of its name and its description in the schema."""

    title: str = ""
    hint: str | None = None
    """None: the description in the schema."""
    unit: str = ""
    """What a number counts: ``seconds``, ``cells``."""
    empty: str = ""
    """What it means to leave it empty: ``no limit``."""
    group: str = ""
    """The heading under which it stands."""
    choices: dict[str, Card] = {}
    """What the words of a choice are called."""


class Preset(msgspec.Struct, frozen=True, omit_defaults=True):
    """Some settings under one title: whoever chooses it need not know them."""

    title: str
    config: dict[str, Any] = {}
    """The settings that differ from the defaults, of those that the presets of its row are about."""
    hint: str = ""
    row: str = ""
    """Presets of one row are alternatives: ``Match``, ``Time``."""


class SetUp(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a game says about its config to people. A field that is named nowhere stands under "More"."""

    cards: str | None = None
    """The setting whose choices are cards, each with a little board: the variants of the game."""
    presets: tuple[Preset, ...] = ()
    labels: dict[str, Label] = {}
    usual: dict[str, Any] = {}
    """What people play who set nothing, where that is not the defaults: those are for programs."""
    negotiable: tuple[str, ...] = ()
    """Settings for which nobody waits at the lobby: who differs only in these plays by the defaults."""


def check_set_up(set_up: SetUp, config: Any, read: Callable[[Any], Any]) -> None:
    """Refuse settings that the config does not have, and choices and presets that it would refuse."""
    if not isinstance(set_up, SetUp):
        raise Refused(Code.GAME_ERROR, f"set_up: expected a SetUp, got {type(set_up).__name__}")
    known = _properties(config)
    if set_up.cards is not None and not known.get(set_up.cards, {}).get("enum"):
        raise Refused(Code.GAME_ERROR, f"set_up.cards: expected a field of choices, got {set_up.cards!r}")
    for where, name, value in _said(set_up):
        if name not in known:
            raise Refused(Code.GAME_ERROR, f"set_up.{where}: expected a field of the config, got {name!r}")
        if value is not ...:
            try:
                read({name: value})
            except Refused as why:
                raise Refused(Code.GAME_ERROR, f"set_up.{where}: {why.message}") from None


def _said(set_up: SetUp) -> Iterator[tuple[str, str, Any]]:
    """Every field that is spoken of: where, its name, and a value that it must be able to have (or none)."""
    for name, label in set_up.labels.items():
        yield "labels", name, ...
        yield from (("labels", name, choice) for choice in label.choices)
    for preset in set_up.presets:
        yield from (("presets", name, value) for name, value in preset.config.items())
    yield from (("usual", name, value) for name, value in set_up.usual.items())
    yield from (("negotiable", name, ...) for name in set_up.negotiable)


def _properties(config: Any) -> dict[str, Any]:
    """The fields of a config's schema."""
    schema = msgspec.json.schema(config)
    definition = schema.get("$defs", {}).get(schema.get("$ref", "").rpartition("/")[2], schema)
    properties: dict[str, Any] = definition.get("properties", {})
    return properties
