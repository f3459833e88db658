"""What is seen of a room: the view of a viewer or, for a browser, the scene and how it changed."""

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import msgspec

from parlour.game import Game
from parlour.room import Room
from parlour.scene import Scene, difference
from parlour.wire import Enter, EnterAsGuest, Sitter

_encode = msgspec.json.Encoder().encode


class Browser(NamedTuple):
    """The eyes of a viewer who wants scenes."""

    viewer: str | None


class Guest(NamedTuple):
    """The eyes of a viewer who came by a door, which shows a view in its own way."""

    viewer: str | None
    show: Callable[[Any, Sequence[Sitter | None]], Any]


Eyes = str | None | Browser | Guest
"""Through which a room is seen: those of a viewer, who wants views, of a viewer's browser, or of a guest."""


class Drawn(msgspec.Struct, frozen=True, eq=False, dict=True):
    """A scene as it was last told, and the patch that led to it from the one before."""

    scene: Scene
    patch: msgspec.Raw | None = None

    @cached_property
    def whole(self) -> msgspec.Raw:
        """The scene, encoded once for all who have none yet."""
        return msgspec.Raw(_encode(self.scene))


class Shown(msgspec.Struct, frozen=True):
    """A view, and what a door makes of it."""

    view: Any
    shown: Any
    raw: msgspec.Raw


Sight = msgspec.Raw | Drawn | Shown
"""What is seen, encoded once."""


def eyes_of(viewer: str | None, enter: Enter) -> Eyes:
    """The eyes of somebody who came in like this."""
    if isinstance(enter, EnterAsGuest):
        return Guest(viewer, enter.show)
    return Browser(viewer) if enter.format == "scene" else viewer


def viewer_of(eyes: Eyes) -> str | None:
    """Whose eyes they are."""
    return eyes.viewer if isinstance(eyes, Browser | Guest) else eyes


def see(game: Game[Any], room: Room[Any], eyes: Eyes, before: Sight | None = None) -> Sight:
    """What these eyes see now; the same as *before* where a scene did not change."""
    if isinstance(eyes, Guest):
        view = game.view(room.state, eyes.viewer)
        shown = eyes.show(view, [Sitter(seat.player, seat.name) if seat else None for seat in room.seats])
        return Shown(view, shown, msgspec.Raw(_encode(shown)))
    if not isinstance(eyes, Browser):
        return msgspec.Raw(_encode(game.view(room.state, eyes)))
    scene = game.scene(room.state, eyes.viewer)
    if not isinstance(scene, Scene):
        raise TypeError(f"expected a Scene from {game.name}.scene, got {type(scene).__name__}")
    if not isinstance(before, Drawn):
        drawn = Drawn(scene)
        _ = drawn.whole  # what cannot be encoded fails here, where the game is to blame
        return drawn
    patch = difference(before.scene, scene)
    return before if patch is None else Drawn(scene, msgspec.Raw(_encode(patch)))
