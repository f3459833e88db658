"""How a room is stored, and read back with the game's own types."""

from collections.abc import Callable
from typing import Any

import msgspec

from parlour.errors import Code, parse
from parlour.game import Game
from parlour.room import Room

_encode = msgspec.json.Encoder().encode


def freeze(room: Room[Any]) -> bytes:
    """Encode a room for the journal."""
    return _encode(room)


def thaw(game: Game[Any], state: bytes) -> Room[Any]:
    """Decode a stored room, its state with the game's own types."""
    kind: Any = Room
    decode: Callable[[bytes], Room[Any]] = msgspec.json.Decoder(kind[game.State]).decode
    return parse(decode, state, code=Code.RULES_CHANGED)


class _Configured(msgspec.Struct, frozen=True):
    """The part of a stored room that opening another like it needs."""

    config: Any


def config_of(state: bytes) -> Any:
    """The config of a stored room."""
    return msgspec.json.decode(state, type=_Configured).config
