"""Which events a step is to these clients: made of what the game told, and the match before and after."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from parlour.doors.gammonx.payloads import MatchTime, Seen, disconnected, lobby

Event = tuple[str, Any]
"""A name and a payload."""

TOLD = {
    "game_ended": "game-ended",
    "game_started": "game-started",
    "ready": "game-waiting",
    "double_offered": "double-offered",
    "double_accepted": "double-accepted",
    "rolled": "game-state",
    "moved": "game-state",
    "undone": "game-state",
    "dice_swapped": "game-state",
    "turn_ended": "game-state",
}
"""What our game tells, and what it is here; of several things in one step the first of these counts."""
OF_MATCH = ("game-ended", "game-waiting")
"""These show the match, the others the game."""
FORCED: Event = ("force-disconnect", {"allowedCommands": []})


def arrived(seen: Seen) -> Iterator[Event]:
    """Somebody has joined and is shown how things are."""
    if not seen.seated:
        yield "match-lobby-waiting", _lobby(seen)
        return
    yield "match-lobby-found", _lobby(seen)
    if seen.begun:
        yield "game-state", seen.game
    elif seen.phase == "over":
        yield from _ended(seen)
    else:
        yield "match-started", seen.match


def _lobby(seen: Seen) -> dict[str, Any]:
    """Who has come."""
    return lobby(seen.match_id, seen.players, seen.allowed)


def returned(seen: Seen) -> Iterator[Event]:
    """Somebody has come back to their seat, and sees how things are."""
    yield "player-connected", _lobby(seen)
    if seen.phase == "over":
        yield from _ended(seen)
    elif seen.begun:
        yield "game-state", seen.game
    else:
        yield "match-state", seen.match


def _ended(seen: Seen) -> Iterator[Event]:
    yield "match-ended", seen.match
    yield FORCED


class Shown(NamedTuple):
    """A match at one moment."""

    seen: Seen
    time: MatchTime


def happened(before: Shown, after: Shown, told: Sequence[dict[str, Any]]) -> Iterator[Event]:
    """A step was made."""
    if after.seen.seated != before.seen.seated:
        yield from arrived(after.seen)
    yield from _presence(before.time, after)
    yield from _play(after.seen, {one["type"]: one for one in told})


def _presence(before: MatchTime, after: Shown) -> Iterator[Event]:
    """The other went away, or is back; after the end nobody cares."""
    seen, time = after
    other = 1 - seen.you
    if seen.phase != "over" and time.is_away(other) != before.is_away(other):
        if time.is_away(other):
            yield "player-disconnected", disconnected(seen, other, time)
        else:
            yield "player-connected", _lobby(seen)


def _play(seen: Seen, told: dict[str, dict[str, Any]]) -> Iterator[Event]:
    """What was done to the game."""
    if told.get("game_ended", {}).get("how") == "declined":  # in time or not
        yield "double-declined", seen.game
    if "match_ended" in told:
        yield from _ended(seen)
        return
    what = next((name for name in TOLD if name in told), None)
    if what is not None and (what != "ready" or told[what]["seat"] == seen.you):
        event = TOLD[what]
        yield event, seen.match if event in OF_MATCH else seen.game
