"""The room: one game, its seats and its numbered steps; a value that commands turn into the next.

`values` says what a room is made of, `steps` what each command makes of it.
"""

from parlour.room.steps import (
    Asked,
    apply,
    ask_to_join,
    open_room,
    perform_without_game,
    replay,
    seal,
    topics_of,
)
from parlour.room.values import (
    ALL,
    Alarm,
    Instant,
    Patience,
    Room,
    Seat,
    is_own_topic,
    own_topic,
    topic_name,
)

__all__ = [
    "ALL",
    "Alarm",
    "Asked",
    "Instant",
    "Patience",
    "Room",
    "Seat",
    "apply",
    "ask_to_join",
    "is_own_topic",
    "open_room",
    "own_topic",
    "perform_without_game",
    "replay",
    "seal",
    "topic_name",
    "topics_of",
]
