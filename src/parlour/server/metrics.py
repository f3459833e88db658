"""What an operator may want to plot; never a player, a room or a secret."""

from functools import cache

from prometheus_client import REGISTRY, Counter, Gauge, Histogram, generate_latest

steps = Counter("parlour_steps", "Steps kept", ["game", "command"])
refusals = Counter("parlour_refusals", "Commands refused", ["game", "code"])
game_errors = Counter("parlour_game_errors", "Callbacks of games that raised", ["game"])
rooms_live = Gauge("parlour_rooms_live", "Rooms in memory")
rooms_opened = Counter("parlour_rooms_opened", "Rooms created", ["game"])
connections = Gauge("parlour_connections", "Open sockets", ["protocol"])
seq_jumps = Counter("parlour_xsos_seq_jumps", "XsOs messages whose seq did not follow the one before")
write_time = Histogram(
    "parlour_write_seconds",
    "From asking the journal to having it kept",
    buckets=(0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.05, 0.25, 1.0),
)


@cache
def steps_of(game: str, command: str) -> Counter:
    """The counter of one kind of step, looked up once."""
    return steps.labels(game, command)


def text() -> bytes:
    """Everything, as Prometheus reads it."""
    return generate_latest(REGISTRY)
