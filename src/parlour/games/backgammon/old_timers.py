"""Timers that this game had before rooms had clocks: what was played with them is played again as it was."""

from collections.abc import Iterator

import msgspec
from msgspec.structs import replace

from parlour.game import Cancel, Event, Later, Moment
from parlour.games.backgammon.match import ROOM_CLOCKS


class HalfTime(Event, frozen=True):
    """Half of the time for a turn is over."""


class TimeUp(Event, frozen=True):
    """All of it is."""


class AwayTooLong(Event, frozen=True):
    """A player has used up the time to be away."""

    seat: int


OldTimer = HalfTime | TimeUp | AwayTooLong


def is_of_then(moment: Moment) -> bool:
    """True while a step is played again that was made before rooms had clocks."""
    return moment.rules is not None and moment.rules < ROOM_CLOCKS


def timers_of_then(moment: Moment) -> Iterator[Later | Cancel]:
    """The timers that a step set and took back then."""
    for effect in moment.kept if is_of_then(moment) else ():
        if isinstance(effect, Later):
            yield replace(effect, event=msgspec.convert(effect.event, OldTimer))
        elif isinstance(effect, Cancel):
            yield effect
