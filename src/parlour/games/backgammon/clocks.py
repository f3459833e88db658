"""What time brings: a clock for each turn, and a budget of time to be away."""

from collections.abc import Iterator
from typing import Any

from msgspec.structs import replace

from parlour.game import OUT_OF_TIME, Cancel, Effect, Event, Later, Moment, Send, Update
from parlour.games.backgammon.match import (
    LATE_DECLINES,
    Clock,
    Match,
    decline,
    over,
    resign_game,
    resign_match,
)


class HalfTime(Event, frozen=True):
    """Half of the time for a turn is over."""


class TimeUp(Event, frozen=True):
    """All of it is."""


class AwayTooLong(Event, frozen=True):
    """A player has used up the time to be away."""

    seat: int


def tell(type: str, **said: object) -> Send:
    """Something that everybody hears."""
    return Send("all", {"type": type, **said})


def settled(before: Match, after: Match, told: Send | None, moment: Moment) -> Update[Match]:
    """A change with all that goes with it: news of games that began and ended, and the clocks."""
    if after is before:
        return Update(before)
    effects: list[Effect] = [told] if told else []
    effects += _news(before, after)
    effects += _absences(before, after)
    clock = _turn_clock(before, after, moment)
    if clock != after.clock:
        effects += _alarms(after.settings.turn_seconds or 0, clock, moment)
    return Update(replace(after, clock=clock), tuple(effects))


def _news(before: Match, after: Match) -> Iterator[Send]:
    for game in after.games[len(before.games) :]:
        yield tell("game_ended", winner=game.winner, points=game.points, how=game.how)
    if before.phase == "ready" and after.phase in ("roll", "move"):
        yield tell("game_started", game=len(after.games), variant=after.board.variant, starter=after.turn)
    if after.phase == "over" != before.phase:
        yield tell("match_ended", score=after.score)


# The clock of a turn.


def out_of_time(match: Match, version: int | None) -> Match:
    """Whoever should have moved loses the game, between games the match; if neither is ready, it is over.

    A double that was not answered is declined, by that version of the rules; None: today's.
    """
    late = match.awaited
    if match.phase == "double" and (version is None or version >= LATE_DECLINES):
        return decline(match)
    if match.phase != "ready":
        return resign_game(match, late[0], OUT_OF_TIME)
    if len(late) == 1:
        return resign_match(match, late[0], OUT_OF_TIME)
    return over(match, "neither was ready in time")


def _period(match: Match) -> tuple[object, ...] | None:
    """What the clock runs for; another period, another start."""
    if match.settings.turn_seconds is None or not match.on:
        return None
    kind = match.phase if match.phase in ("ready", "double") else "turn"
    return kind, len(match.games), match.number, match.cube.value


def _turn_clock(before: Match, after: Match, moment: Moment) -> Clock:
    """It starts anew for each turn, and stands still while whoever it counts for may be away."""
    clock, seconds = after.clock, after.settings.turn_seconds
    period = _period(after)
    if period is None or seconds is None:
        return replace(clock, due=None, until=None, rest=None)
    fresh = period != _period(before)
    left = float(seconds) if fresh else clock.left(moment.now)
    if any(clock.away[seat] is not None for seat in after.awaited):
        return replace(clock, due=None, until=None, rest=left)
    if not fresh and clock.due is not None:
        return clock
    return replace(clock, due=moment.now + left, until=moment.date + left, rest=None)


def _alarms(seconds: float, clock: Clock, moment: Moment) -> Iterator[Effect]:
    """The timers that belong to a turn's clock."""
    if clock.due is None:
        yield Cancel("half_time")
        yield Cancel("time_up")
        return
    left = clock.due - moment.now
    yield Later("half_time", left - seconds / 2, HalfTime()) if left > seconds / 2 else Cancel("half_time")
    yield Later("time_up", left, TimeUp())


# Being away.


def _with(pair: tuple[Any, Any], seat: int, value: Any) -> tuple[Any, Any]:
    """The pair with another value for one seat."""
    return (value, pair[1]) if seat == 0 else (pair[0], value)


def gone(match: Match, seat: int | None, moment: Moment) -> Match:
    """A player is away, where that counts."""
    if seat is None or match.settings.absence_seconds is None:
        return match
    return replace(match, clock=replace(match.clock, away=_with(match.clock.away, seat, moment.now)))


def back(match: Match, seat: int | None, moment: Moment) -> Match:
    """A player is here again, with so much less time to be away."""
    clock = match.clock
    if seat is None or (since := clock.away[seat]) is None:
        return match
    left = max(0.0, clock.budget[seat] - (moment.now - since)) if match.on else clock.budget[seat]
    away, budget = _with(clock.away, seat, None), _with(clock.budget, seat, left)
    return replace(match, clock=replace(clock, away=away, budget=budget))


def start_watch(match: Match, moment: Moment) -> Match:
    """The match can begin: from now on it counts who is away."""
    x, o = (None if since is None else moment.now for since in match.clock.away)
    return replace(match, clock=replace(match.clock, away=(x, o)))


def _absences(before: Match, after: Match) -> Iterator[Effect]:
    """The timers of those who are away."""
    for seat in (0, 1):
        was = before.on and before.clock.away[seat] is not None
        now = after.on and after.clock.away[seat] is not None
        if now and not was:
            yield Later(f"away_{seat}", after.clock.budget[seat], AwayTooLong(seat))
        elif was and not now:
            yield Cancel(f"away_{seat}")
