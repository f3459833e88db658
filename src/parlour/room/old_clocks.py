"""Clocks of rooms that were opened before turns were paid for only when they end: they run as they did then.

There, whoever gave up the seat and sat down again was paid for the turn, and a takeback took nothing back.
"""

from collections.abc import Collection

from msgspec.structs import replace

from parlour.clocks import Clocks, SeatClock


def run_as_then(
    clocks: Clocks, to_move: Collection[int], gone: Collection[int], now: float, *, every: bool
) -> Clocks:
    """Let the time of those run who are to move, and of those who are gone; the others' turns are over.

    *every* turn is over, also of whoever is to move again, where the game says so.
    """
    if every:
        clocks = replace(clocks, seats=tuple([_pay(clocks, one, now) for one in clocks.seats]))
    away = tuple([_leave(clocks, one, now, gone=seat in gone) for seat, one in enumerate(clocks.away)])
    stands = {seat for seat, one in enumerate(away) if one.since is not None}
    seats = clocks.seats
    if clocks.settings.kind != "none":
        seats = tuple(
            [
                _think(one, now, stands=seat in stands) if seat in to_move else _pay(clocks, one, now)
                for seat, one in enumerate(seats)
            ]
        )
    return clocks if (seats, away) == (clocks.seats, clocks.away) else replace(clocks, seats=seats, away=away)


def _think(one: SeatClock, now: float, *, stands: bool) -> SeatClock:
    if one.out or stands == (one.since is None):
        return one
    return SeatClock(one.left, spent=_passed(one, now)) if stands else SeatClock(one.left, now - one.spent)


def _pay(clocks: Clocks, one: SeatClock, now: float) -> SeatClock:
    if one.out:
        return SeatClock(_left(clocks, 0.0, 0.0))
    if one.since is None and not one.spent:
        return one
    return SeatClock(_left(clocks, one.left, _passed(one, now)))


def _left(clocks: Clocks, left: float, turn: float) -> float:
    match clocks.settings.kind:
        case "turn" | "none":
            return clocks.settings.seconds
        case "increment":
            return left - turn + clocks.settings.extra
        case "delay":
            return left - max(0.0, turn - clocks.settings.extra)


def _leave(clocks: Clocks, one: SeatClock, now: float, *, gone: bool) -> SeatClock:
    if one.out:
        allowed = 0.0 if clocks.settings.away is None else clocks.settings.away.seconds
        return one if gone else SeatClock(allowed)
    if gone == (one.since is not None):
        return one
    return SeatClock(one.left, now) if gone else SeatClock(max(0.0, one.left - _passed(one, now)))


def _passed(one: SeatClock, now: float) -> float:
    return one.spent if one.since is None else max(0.0, now - one.since)
