"""What goes wrong in one schedule: how bad bus and database are all the time, and what happens when."""

from random import Random
from typing import NamedTuple

from parlour.cluster.memory_bus import NO_FAULTS, Faults

STORM = 3.0
"""Seconds of a schedule in which things go wrong."""


class DatabaseFaults(NamedTuple):
    """What happens to statements on their way to the database and back."""

    delay: float = 0.0
    """Seconds that each way takes at most, where it takes any."""
    slow: float = 0.0
    """The share of statements that take time at all."""
    refuse: float = 0.0
    """The share of writes that fail before they happened."""
    lose: float = 0.0
    """The share of writes during which the connection is lost: nobody knows what came of them."""


CALM = DatabaseFaults()


class Mishap(NamedTuple):
    """Something that happens once, and how long it lasts."""

    at: float
    what: str
    seconds: float
    where: int
    """Which worker, counted by those that live then."""


KINDS = (
    "kill", "kill", "kill", "pause", "pause", "pause", "hog", "stop", "cut", "cut", "no_bus", "crash",
    "freeze", "move", "move", "hang_up", "zombie", "zombie",
)  # fmt: skip
"""All mishaps, some more often than others."""
LASTS = {
    "pause": 3.0,
    "hog": 2.2,
    "cut": 2.5,
    "no_bus": 3.6,
    "crash": 2.5,
    "freeze": 2.2,
    "kill": 1.0,
    "stop": 0.6,
}
"""Seconds that each lasts at most."""


class Weather(NamedTuple):
    """All that goes wrong in a schedule, drawn from its seed."""

    bus: Faults
    database: DatabaseFaults
    mishaps: tuple[Mishap, ...]
    rooms: int
    people: int
    commands: int

    @classmethod
    def draw(cls, chance: Random) -> "Weather":
        return cls(
            _draw_bus(chance),
            _draw_database(chance),
            tuple(sorted(_draw_mishap(chance) for _ in range(chance.randint(1, 4)))),
            rooms=chance.choice((1, 1, 2)),
            people=chance.choice((2, 3, 3, 4)),
            commands=chance.randint(8, 18),
        )


def _draw_bus(chance: Random) -> Faults:
    if chance.random() < 0.4:
        return Faults(delay=chance.choice((0.0, 0.002)))
    rare = lambda: chance.choice((0.0, 0.0, 0.02, 0.1))  # noqa: E731
    return Faults(
        drop=chance.choice((0.0, 0.02, 0.1, 0.25)),
        duplicate=rare(),
        garble=rare(),
        delay=chance.choice((0.0, 0.002, 0.05, 0.3)),
        reorder=chance.random() < 0.5,
    )


def _draw_database(chance: Random) -> DatabaseFaults:
    if chance.random() < 0.3:
        return DatabaseFaults(0.002, 0.3)
    rare = lambda: chance.choice((0.0, 0.0, 0.05, 0.15))  # noqa: E731
    return DatabaseFaults(chance.choice((0.002, 0.05, 0.3)), chance.choice((0.1, 0.4)), rare(), rare())


def _draw_mishap(chance: Random) -> Mishap:
    what = chance.choice(KINDS)
    if what == "zombie":  # it must begin early to be over in time
        return Mishap(
            0.1 + 0.4 * chance.random(), what, 2.0 + 0.6 * chance.random(), chance.randrange(1 << 20)
        )
    at = 0.1 + (STORM - 0.3) * chance.random()
    return Mishap(at, what, 0.1 + LASTS.get(what, 0.0) * chance.random(), chance.randrange(1 << 20))


__all__ = ["CALM", "NO_FAULTS", "STORM", "DatabaseFaults", "Mishap", "Weather"]
