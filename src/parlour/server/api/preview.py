"""A small board to look at before a game is opened: the scene after a few random moves."""

from itertools import count
from typing import Any

import msgspec

from parlour.game import Chance, Game
from parlour.room import Instant, Room, apply, open_room
from parlour.scene import Scene
from parlour.wire import Act, Command, Connect, Join

MOVES = 5
SEED = bytes(32)


MAX_PREVIEW = 64 * 1024
"""Bytes of the largest preview that is sent: a home page shows many of them."""


def preview(game: Game[Any]) -> Scene | None:
    """What a spectator sees after some legal moves, always the same ones; None if it is too large."""
    scene = _played(game)
    return scene if len(msgspec.json.encode(scene)) <= MAX_PREVIEW else None


def _played(game: Game[Any]) -> Scene:
    chance = Chance(SEED, 0)
    instants = (Instant(float(n), float(n), SEED) for n in count())
    room = open_room(game, "preview", None, next(instants))
    for number in range(game.seats.start):
        for command in (Join(f"{number}", f"{number}"), Connect(f"{number}")):
            room, _ = apply(game, room, command, next(instants))
    for _ in range(MOVES):
        move = _move(game, room, chance)
        after = None if move is None else apply(game, room, move, next(instants))[0]
        if after is None or after.outcome is not None or after.ended is not None:
            break
        room = after
    return game.scene(room.state, None)


def _move(game: Game[Any], room: Room[Any], chance: Chance) -> Command | None:
    """A move that some player can make."""
    for player in room.connected:
        if legal := list(game.legal_events(room.state, player) or ()):
            return Act(player, msgspec.Raw(msgspec.json.encode(chance.choice(legal))))
    return None
