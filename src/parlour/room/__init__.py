"""The room: one game, its seats and its numbered steps; a value that commands turn into the next.

`values` says what a room is made of, `steps` what each command makes of it, `topics` who hears what;
`turn`, `offering` and `timing` are how a command goes through a room.
"""

from parlour.room.steps import (
    apply,
    ask_to_join,
    draw_sizes,
    open_room,
    perform_without_game,
    places_of,
    read_terms,
    replay,
)
from parlour.room.timing import has_turns, seats_to_move
from parlour.room.topics import ALL, is_own_topic, own_topic, topic_name, topics_of
from parlour.room.turn import seal
from parlour.room.values import Alarm, Asked, Instant, Patience, Room, Seat, is_timer

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
    "draw_sizes",
    "has_turns",
    "is_own_topic",
    "is_timer",
    "open_room",
    "own_topic",
    "perform_without_game",
    "places_of",
    "read_terms",
    "replay",
    "seal",
    "seats_to_move",
    "topic_name",
    "topics_of",
]
