"""What each tool takes: its arguments are a struct, which checks them and makes their JSON schema."""

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from parlour.offers import What

MOST_SECONDS = 25.0
"""The longest that a tool waits: many hosts give up after 30 s."""

Room = Annotated[str, Meta(description="the room's id", max_length=64)]


class ToolCall(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="tool"):
    """A call of a tool."""


class ListGames(ToolCall, frozen=True, tag="list_games"):
    """List the games of this server; with the name of one, its rules and what its settings and events are."""

    game: Annotated[str, Meta(description="one of them, in detail")] | None = None


class ListRooms(ToolCall, frozen=True, tag="list_rooms"):
    """List the rooms in which you have a seat, and the open rooms that anybody may join."""


class OpenRoom(ToolCall, frozen=True, tag="open_room"):
    """Open a room and take a seat in it; with a bot of the server at another seat, if you name one."""

    game: Annotated[str, Meta(description="as list_games names it")]
    config: Annotated[dict[str, Any], Meta(description="settings, by the game's config_schema")] = {}
    bot: Annotated[str, Meta(description="who is to play with you, as list_games names it")] | None = None
    private: Annotated[bool, Meta(description="in no list, and with an id that nobody guesses")] = False


class SitDown(ToolCall, frozen=True, tag="sit_down"):
    """Take a seat: in a room, by its id, or in any room of a game with somebody who looks for one, too.

    In a room whose game is over it asks for another game. While nobody has come yet, call it again.
    """

    room: Room | None = None
    game: (
        Annotated[str, Meta(description="to be paired with another bot that looks for this game")] | None
    ) = None
    ranked: Annotated[bool, Meta(description="with game: a ranked one")] = False


class Observe(ToolCall, frozen=True, tag="observe"):
    """See what you may see of a room, and what you can do there; without a seat you watch."""

    room: Room


class Act(ToolCall, frozen=True, tag="act"):
    """Do something in your seat: one of the legal events that observe lists. Gives what you see after it."""

    room: Room
    event: Annotated[dict[str, Any], Meta(description='the event, such as {"type": "mark", "cell": 4}')]
    seq: (
        Annotated[int, Meta(description="of what you saw: it is refused if that has changed since")] | None
    ) = None


class WaitForTurn(ToolCall, frozen=True, tag="wait_for_turn"):
    """Wait until you can do something or the game is over, and see it; call it again if neither came."""

    room: Room
    seconds: Annotated[float, Meta(ge=0, le=MOST_SECONDS, description="how long at most")] = MOST_SECONDS


class Negotiate(ToolCall, frozen=True, tag="negotiate"):
    """Offer the others a draw, a move back or a pause, answer what they offer you, or resign."""

    room: Room
    do: Annotated[
        What | Literal["accept", "decline", "resign"],
        Meta(description="resume: offer to go on after a pause; accept, decline: answer the open offer"),
    ]


class Leave(ToolCall, frozen=True, tag="leave"):
    """Leave a room for good: you give up your seat, and with it a game that goes on."""

    room: Room


AnyCall = ListGames | ListRooms | OpenRoom | SitDown | Observe | Act | WaitForTurn | Negotiate | Leave

CALLS: dict[str, type[ToolCall]] = {
    str(kind.__struct_config__.tag): kind
    for kind in (ListGames, ListRooms, OpenRoom, SitDown, Observe, Act, WaitForTurn, Negotiate, Leave)
}
"""The tools by name."""

read_call = msgspec.json.Decoder(AnyCall).decode


def schema_of(kind: type[ToolCall]) -> dict[str, Any]:
    """The JSON schema of a tool's arguments.

    >>> schema_of(Leave)["required"]
    ['room']
    """
    _, (schema, *_) = _components(kind)
    properties = {name: value for name, value in schema["properties"].items() if name != "tool"}
    required = [name for name in schema["required"] if name != "tool"]
    return {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }


def _components(kind: type[ToolCall]) -> tuple[Any, list[dict[str, Any]]]:
    references, schemas = msgspec.json.schema_components([kind])
    return references, list(schemas.values())
