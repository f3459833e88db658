"""What an operator may want to plot; never a player, a room or a secret."""

from collections import defaultdict
from collections.abc import Iterator

from prometheus_client import REGISTRY, Counter, Gauge, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily, Metric
from prometheus_client.registry import Collector

refusals = Counter("parlour_refusals", "Commands refused", ["game", "code"])
game_errors = Counter("parlour_game_errors", "Callbacks of games that raised", ["game"])
rooms_live = Gauge("parlour_rooms_live", "Rooms in memory")
rooms_opened = Counter("parlour_rooms_opened", "Rooms created", ["game"])
connections = Gauge("parlour_connections", "Open sockets", ["protocol"])
relays_live = Gauge("parlour_relays_live", "Relays in memory")
relay_envelopes = Counter("parlour_relay_envelopes", "Envelopes sent on in relays")
relay_refusals = Counter("parlour_relay_refusals", "Clients of relays turned or sent away", ["code"])
write_time = Histogram(
    "parlour_write_seconds",
    "From asking the journal to having it kept",
    buckets=(0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.05, 0.25, 1.0),
)


class Steps(Collector):
    """Steps kept, by game and command: counted in a dictionary, because there are so many."""

    def __init__(self) -> None:
        self.kept: dict[tuple[str, type], int] = defaultdict(int)

    def collect(self) -> Iterator[Metric]:
        """What Prometheus is told when it asks."""
        family = CounterMetricFamily("parlour_steps", "Steps kept", labels=["game", "command"])
        for (game, command), count in self.kept.items():
            family.add_metric([game, command.__name__.lower()], count)
        yield family


steps = Steps()
REGISTRY.register(steps)


def text() -> bytes:
    """Everything, as Prometheus reads it."""
    return generate_latest(REGISTRY)
