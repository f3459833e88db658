"""A small board to look at before a game is opened: the scene after a few random moves."""

from collections.abc import Callable
from itertools import count
from typing import Any
from weakref import WeakKeyDictionary

import msgspec

from parlour.errors import Code, Refused
from parlour.game import Chance, Game
from parlour.pictures import scene_of
from parlour.room import Instant, Room, apply, open_room
from parlour.scene import Scene
from parlour.server.rooms.environment import Environment
from parlour.wire import Act, Command, Connect, Join

SEED = bytes(32)


MAX_PREVIEW = 64 * 1024
"""Bytes of the largest preview that is sent: a home page shows many of them."""


def preview(game: Game[Any], config: Any = None) -> Scene | None:
    """What a spectator sees after some legal moves, always the same ones; None if it is too large."""
    scene = _played(game, config)
    return scene if len(msgspec.json.encode(scene)) <= MAX_PREVIEW else None


def _played(game: Game[Any], config: Any) -> Scene:
    chance = Chance(SEED, 0)
    instants = (Instant(float(n), float(n), SEED) for n in count())
    room = open_room(game, "preview", config, next(instants))
    for number in range(room.least):
        for command in (Join(f"{number}", f"{number}"), Connect(f"{number}")):
            room, _ = apply(game, room, command, next(instants))
    for _ in range(game.preview_moves):
        move = _move(game, room, chance)
        after = None if move is None else apply(game, room, move, next(instants))[0]
        if after is None or after.outcome is not None or after.ended is not None:
            break
        room = after
    return scene_of(game, room.state, None)


def _move(game: Game[Any], room: Room[Any], chance: Chance) -> Command | None:
    """A move that some player can make."""
    for player in room.connected:
        if legal := list(game.legal_events(room.state, player) or ()):
            return Act(player, msgspec.Raw(msgspec.json.encode(chance.choice(legal))))
    return None


class Previews:
    """The little boards of the games, each made once."""

    def __init__(self, environment: Environment) -> None:
        self._env = environment
        self._made: WeakKeyDictionary[Game[Any], dict[str | None, Scene | None]] = WeakKeyDictionary()

    def show(self, game: Game[Any], choice: str | None = None) -> Scene | None:
        """The board of a game, or of one of its cards; None if the game fails on it."""
        made = self._made.setdefault(game, {})
        if choice not in made:
            config = None if choice is None else _config_of(game, choice)
            made[choice] = self._draw(game, lambda: preview(game, config))
        return made[choice]

    def _draw(self, game: Game[Any], draw: Callable[[], Scene | None]) -> Scene | None:
        try:
            return self._env.ask_game(game, "preview", draw)
        except Refused:
            return None


def _config_of(game: Game[Any], choice: str) -> dict[str, str]:
    """The config of a card; refused if the game has no such card."""
    if game.set_up.cards is None:
        what = f"$.choice: expected nothing for {game.name}, got {choice[:64]!r}"
        raise Refused(Code.INVALID_CONFIG, what, path="$.choice")
    config = {game.set_up.cards: choice}
    game.read_config(config)
    return config
