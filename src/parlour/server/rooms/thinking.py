"""Thinking: what a command leads to, and what every perspective shows of it. Nothing is kept or sent here."""

from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any

import msgspec

from parlour.errors import Refused
from parlour.game import Game
from parlour.room import Room, seal
from parlour.server.border import Perspective, viewer_of
from parlour.server.rooms.perspectives import Seen, see
from parlour.wire import Step

MAX_LEGAL = 100
"""A refusal lists the legal events, unless there are more than this."""


class Thought(msgspec.Struct, frozen=True):
    """A step that was thought through and is neither kept nor sent yet."""

    room: Room[Any]
    step: Step
    seen: dict[Perspective, Seen]
    """What each perspective shows after it, if the state changed."""
    frozen: bytes | None = None
    """The room to store beside the step, if that is due."""
    failure: Refused | None = None
    """Why the game's part was left out."""


def see_after(
    game: Game[Any],
    before: Room[Any],
    room: Room[Any],
    perspectives: Iterable[Perspective],
    seen: Mapping[Perspective, Seen],
) -> dict[Perspective, Seen]:
    """What each perspective shows of *room*, if its state is not the same as *before*."""
    if room.state is before.state:
        return {}
    if room.seats != before.seats:
        perspectives = [one for one in perspectives if _still_sits(room, viewer_of(one))]
    return {one: see(game, room, one, seen.get(one)) for one in perspectives}


def _still_sits(room: Room[Any], viewer: str | None) -> bool:
    return viewer is None or room.seat(viewer) is not None


def list_legal(game: Game[Any], room: Room[Any], player: str) -> msgspec.Raw | None:
    """The legal events of this player, unless the game does not list them or they are too many."""
    legal = game.legal_events(room.state, player)
    some = None if legal is None else list(islice(legal, MAX_LEGAL + 1))
    return None if some is None or len(some) > MAX_LEGAL else seal(some)
