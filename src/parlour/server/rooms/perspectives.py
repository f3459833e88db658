"""What a perspective shows of a room: the view of a viewer, a text of it or, for a browser, the scene."""

import inspect
from collections.abc import Iterable, Mapping
from functools import cached_property
from itertools import islice
from pathlib import Path
from traceback import extract_tb
from typing import Any

import msgspec
import structlog
from msgspec import Raw
from msgspec.structs import replace

from parlour.clocks import Clocks
from parlour.errors import Refused
from parlour.game import Game
from parlour.offers import Offers
from parlour.pictures import scene_of
from parlour.room import Room, seal
from parlour.scene import OwnPage, Scene, difference, scene_faults, text_of
from parlour.server.border import Perspective, viewer_of
from parlour.wire import Push, Result

log = structlog.get_logger()

_encode = msgspec.json.Encoder().encode


MAX_LEGAL = 100
"""A refusal lists what would be legal, unless that is a book of its own."""
MOST_LEGAL = 10_000
"""Whoever asked for it at the join is told all that is legal, up to so many events."""


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


class SceneFailed(Exception):
    """A game could not draw its scene, or drew one that no browser can show."""


def see(
    game: Game[Any],
    room: Room[Any],
    perspective: Perspective,
    before: Seen | None = None,
    *,
    page: str | None = None,
    check: bool = False,
) -> Seen:
    """What a perspective shows now; *before* itself if a scene did not change.

    *page* is the version of the game's own board page, if it has one. *check* looks for faults.
    """
    format, _, viewer = perspective.partition(":")
    if format == "legal":
        return _list_all_legal(game, room, viewer)
    if format == "view":
        return Raw(_encode(game.view(room.state, viewer or None)))
    if format == "text":
        drawn = _draw(game, room, viewer or None, check=check)
        return Raw(_encode(text_of(drawn, game.view(room.state, viewer or None))))
    scene = on_page(game, room.state, viewer or None, _draw(game, room, viewer or None, check=check), page)
    if not isinstance(before, SeenScene):
        seen = SeenScene(scene)
        _ = seen.whole  # what cannot be encoded fails here, where it counts as the game's error
        return seen
    patch = difference(before.scene, scene)
    return before if patch is None else SeenScene(scene, Raw(_encode(patch)))


def _list_all_legal(game: Game[Any], room: Room[Any], player: str) -> Raw:
    """All that a player could do; nothing where the game does not say, fails on it, or would never end."""
    try:
        legal = game.legal_events(room.state, player)
        some = None if legal is None else list(islice(legal, MOST_LEGAL + 1))
        return Raw(_encode(None if some is None or len(some) > MOST_LEGAL else some))
    except Exception:  # nobody else's command must fail because this client wants to know it
        log.exception("legal_events_failed", room=room.id, game=game.name)
        return Raw(b"null")


def _draw(game: Game[Any], room: Room[Any], viewer: str | None, *, check: bool) -> Scene:
    try:
        scene = scene_of(game, room.state, viewer)
    except Refused:
        raise
    except Exception as error:
        raise SceneFailed(f"{_place_in(game, error)}{type(error).__name__}: {error}") from error
    if not isinstance(scene, Scene):
        raise SceneFailed(f"expected a Scene from {game.name}.scene, got {type(scene).__name__}")
    if check and (fault := next(scene_faults(scene), None)) is not None:
        raise SceneFailed(fault)
    return scene


def on_page(game: Game[Any], state: Any, viewer: str | None, scene: Scene, version: str | None) -> Scene:
    """The scene of a game that has a board page: what it says beside the board, and what the page is told."""
    if version is None:
        return scene
    legal = () if viewer is None else game.legal_events(state, viewer)
    some = None if legal is None else tuple(islice(legal, MOST_LEGAL + 1))
    told = None if some is None or len(some) > MOST_LEGAL else some
    draws_none = type(game).scene is Game.scene  # then there is a control for each legal event
    return replace(
        scene,
        spots=(),
        pieces=(),
        lines=(),
        controls=() if draws_none else scene.controls,
        text="",
        narrow=None,
        page=OwnPage(version, game.view(state, viewer), told),
    )


def _place_in(game: Game[Any], error: Exception) -> str:
    """The last line of the game's own file on the way to an error."""
    file = inspect.getfile(type(game))
    lines = [frame.lineno for frame in extract_tb(error.__traceback__) if frame.filename == file]
    return f"{Path(file).name}, line {lines[-1]}: " if lines else ""


def see_after(  # noqa: PLR0913 - each is one thing that is looked at or by
    game: Game[Any],
    before: Room[Any],
    room: Room[Any],
    perspectives: Iterable[Perspective],
    seen: Mapping[Perspective, Seen],
    *,
    page: str | None = None,
    check: bool = False,
) -> dict[Perspective, Seen]:
    """What is seen of *room* from each perspective, where its state is not as *before*."""
    if room.state is before.state:
        return {}
    if room.seats != before.seats:
        perspectives = [one for one in perspectives if _still_sits(room, viewer_of(one))]
    return {one: see(game, room, one, seen.get(one), page=page, check=check) for one in perspectives}


def _still_sits(room: Room[Any], viewer: str | None) -> bool:
    return viewer is None or room.seat(viewer) is not None


def change_of(seen: Seen) -> Raw | None:
    """What is sent to a perspective that changed: the view, or the patch of the scene."""
    return seen.patch if isinstance(seen, SeenScene) else seen


def sync(  # noqa: PLR0913 - each is one thing that is told
    seq: int,
    seen: Seen,
    result: Result | None = None,
    offers: Offers | None = None,
    clocks: Clocks | None = None,
    *,
    now: float | None = None,
    legal: Seen | None = None,
    reset: bool = False,
    fault: str | None = None,
) -> Push:
    """The push with the whole view at *seq*; with a scene also the time on the room's clock."""
    payload: dict[str, Any] = {"seq": seq} if legal is None else {"seq": seq, "legal": legal}
    if isinstance(seen, SeenScene):
        payload["scene"] = seen.whole
    else:
        payload["view"] = seen
    if result is not None:
        payload["result"] = result
    if now is not None and ("scene" in payload or clocks is not None):
        payload["now"] = now
    if offers:
        payload["offers"] = offers
    if clocks is not None:
        payload["clocks"] = clocks
    if reset:
        payload["reset"] = True
    if fault is not None:
        payload["fault"] = fault
    return Push("sync", payload)


def list_legal(game: Game[Any], room: Room[Any], player: str) -> Raw | None:
    """What this player could do now, unless the game does not say or that is too much to list."""
    legal = game.legal_events(room.state, player)
    some = None if legal is None else list(islice(legal, MAX_LEGAL + 1))
    return None if some is None or len(some) > MAX_LEGAL else seal(some)
