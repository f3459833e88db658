"""What a perspective shows of a room: the view of a viewer or, for a browser, the scene and its patch."""

from functools import cached_property
from typing import Any

import msgspec
from msgspec import Raw

from parlour.game import Game
from parlour.room import Room
from parlour.scene import Scene, difference
from parlour.server.border import Perspective, shows_scene, viewer_of
from parlour.wire import Push, Result

_encode = msgspec.json.Encoder().encode


class SeenScene(msgspec.Struct, frozen=True, eq=False, dict=True):
    """The last scene of a perspective, and the patch that led to it from the one before."""

    scene: Scene
    patch: Raw | None = None

    @cached_property
    def whole(self) -> Raw:
        """The scene, encoded once for all who have none yet."""
        return Raw(_encode(self.scene))


Seen = Raw | SeenScene
"""What a perspective shows, encoded once."""


def see(game: Game[Any], room: Room[Any], perspective: Perspective, before: Seen | None = None) -> Seen:
    """What a perspective shows now; *before* itself if a scene did not change."""
    viewer = viewer_of(perspective)
    if not shows_scene(perspective):
        return Raw(_encode(game.view(room.state, viewer)))
    scene = game.scene(room.state, viewer)
    if not isinstance(scene, Scene):
        raise TypeError(f"expected a Scene from {game.name}.scene, got {type(scene).__name__}")
    if not isinstance(before, SeenScene):
        seen = SeenScene(scene)
        _ = seen.whole  # what cannot be encoded fails here, where it counts as the game's error
        return seen
    patch = difference(before.scene, scene)
    return before if patch is None else SeenScene(scene, Raw(_encode(patch)))


def change_of(seen: Seen) -> Raw | None:
    """What is sent to a perspective that changed: the view, or the patch of the scene."""
    return seen.patch if isinstance(seen, SeenScene) else seen


def sync(
    seq: int,
    seen: Seen,
    result: Result | None = None,
    *,
    now: float | None = None,
    reset: bool = False,
    fault: str | None = None,
) -> Push:
    """The push with the whole view at *seq*; with a scene also the time on the room's clock."""
    payload: dict[str, Any] = {"seq": seq}
    if isinstance(seen, SeenScene):
        payload["scene"] = seen.whole
        if now is not None:
            payload["now"] = now
    else:
        payload["view"] = seen
    if result is not None:
        payload["result"] = result
    if reset:
        payload["reset"] = True
    if fault is not None:
        payload["fault"] = fault
    return Push("sync", payload)
