"""What a game's clients need to know of it: the JSON schemas of its config, its events and its views."""

from typing import Any, get_type_hints

import msgspec

from parlour.game import Game


class GameSchemas(msgspec.Struct, frozen=True):
    """JSON schemas of what a client sends to a game and gets from it; an empty one takes anything."""

    config: dict[str, Any]
    event: dict[str, Any]
    """What players may send."""
    view: dict[str, Any]
    """What each viewer gets, as far as the types of the game's code say it."""


def schemas_of(game: Game[Any]) -> GameSchemas:
    """The schemas of a game, from the types that it declares."""
    return GameSchemas(_schema(game.Config), _schema(game.Event), _schema(view_type(game)))


def view_type(game: Game[Any]) -> Any:
    """What its view says to return; the state, if it has no view of its own."""
    view = type(game).view
    if view is Game.view:
        return game.State
    try:
        return get_type_hints(view).get("return", Any)
    except (NameError, TypeError):  # a name that is only there for type checkers
        return Any


def _schema(kind: Any) -> dict[str, Any]:
    try:
        return msgspec.json.schema(kind)
    except TypeError:  # a type that has no schema, such as object
        return {}
