"""A room as it is stored, and read back by the game's own types."""

from collections.abc import Callable
from typing import Any

import msgspec

from parlour.errors import Code, parse
from parlour.game import Game
from parlour.room import Room

_encode = msgspec.json.Encoder().encode


def freeze(room: Room[Any]) -> bytes:
    """The room as it is stored."""
    return _encode(room)


def thaw(game: Game[Any], state: bytes) -> Room[Any]:
    """The room that was stored, its state read by the game's own types."""
    kind: Any = Room
    decode: Callable[[bytes], Room[Any]] = msgspec.json.Decoder(kind[game.State]).decode
    return parse(decode, state, code=Code.RULES_CHANGED)


class _Configured(msgspec.Struct, frozen=True):
    """What is read of a stored room to open another like it."""

    config: Any


def config_of(state: bytes) -> Any:
    """The config of the room that was stored."""
    return msgspec.json.decode(state, type=_Configured).config
