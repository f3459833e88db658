"""Metrics for operators; none names a player, a room or a secret."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import accumulate

from prometheus_client import REGISTRY, Counter, Gauge, generate_latest
from prometheus_client.core import CounterMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

refusals = Counter("parlour_refusals", "Commands refused", ["game", "code"])
game_errors = Counter("parlour_game_errors", "Callbacks of games that raised", ["game"])
rooms_live = Gauge("parlour_rooms_live", "Rooms in memory")
rooms_opened = Counter("parlour_rooms_opened", "Rooms created", ["game"])
connections = Gauge("parlour_connections", "Open sockets", ["protocol"])
lines_cut = Counter("parlour_lines_cut", "Connections cut, by why: too_fast, too_large, unread, ...", ["why"])
relays_live = Gauge("parlour_relays_live", "Relays in memory")
relay_refusals = Counter("parlour_relay_refusals", "Clients of relays turned or sent away", ["code"])
damaged_rows = Counter("parlour_damaged_rows", "Kept rows found to be damaged", ["table"])
seq_jumps = Counter("parlour_xsos_seq_jumps", "XsOs messages whose seq did not follow the one before")

# Counts of every message avoid the library's locks, which take longer than the counting.


class Steps(Collector):
    """Counts kept steps, by game and command."""

    def __init__(self) -> None:
        self.kept: dict[tuple[str, type], int] = defaultdict(int)

    def collect(self) -> Iterator[Metric]:
        """Answer a scrape by Prometheus."""
        family = CounterMetricFamily("parlour_steps", "Steps kept", labels=["game", "command"])
        for (game, command), count in self.kept.items():
            family.add_metric([game, command.__name__.lower()], count)
        yield family


class Envelopes(Collector):
    """Counts envelopes sent on in relays."""

    sent = 0

    def collect(self) -> Iterator[Metric]:
        """Answer a scrape by Prometheus."""
        yield CounterMetricFamily("parlour_relay_envelopes", "Envelopes sent on in relays", self.sent)


class Frames(Collector):
    """Counts accepted WebSocket frames, of all kinds and at every door."""

    taken = 0

    def collect(self) -> Iterator[Metric]:
        """Answer a scrape by Prometheus."""
        yield CounterMetricFamily("parlour_frames", "WebSocket frames taken from clients", self.taken)


class WriteTime(Collector):
    """Measures how long writes take, in buckets."""

    BOUNDS = (0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.05, 0.25, 1.0)

    def __init__(self) -> None:
        self._counts = [0] * (len(self.BOUNDS) + 1)
        self._sum = 0.0

    def observe(self, seconds: float) -> None:
        """Count one write of that duration."""
        self._counts[bisect_left(self.BOUNDS, seconds)] += 1
        self._sum += seconds

    def collect(self) -> Iterator[Metric]:
        """Answer a scrape by Prometheus: each bucket includes the smaller ones."""
        names = (*map(str, self.BOUNDS), "+Inf")
        buckets = list(zip(names, accumulate(self._counts), strict=True))
        yield HistogramMetricFamily(
            "parlour_write_seconds", "From asking the journal to having it kept", buckets, self._sum
        )


steps, envelopes, frames, write_time = Steps(), Envelopes(), Frames(), WriteTime()
for counted in (steps, envelopes, frames, write_time):
    REGISTRY.register(counted)


def text() -> bytes:
    """All metrics in the format of Prometheus."""
    return generate_latest(REGISTRY)


async def own_text() -> bytes:
    """The same, for whoever could have to wait for other workers."""
    return text()


SILENT = """# HELP parlour_workers_silent Workers of this machine that are missing here
# TYPE parlour_workers_silent gauge
parlour_workers_silent {}
"""


def merged(texts: Mapping[int, str], silent: int) -> bytes:
    """One text of the texts of several workers, each with the label `worker`; so many more did not answer.

    By the lines as they are: to parse them would hold up the loop for longer than a move may take.
    """
    families: dict[str, list[str]] = {}
    for worker, text in texts.items():
        for family in text.split("# HELP ")[1:]:
            about, kind, *samples = family.rstrip("\n").split("\n")
            lines = families.setdefault(about.partition(" ")[0], [f"# HELP {about}", kind])
            lines += [labelled(sample, worker) for sample in samples]
    lines = [line for family in families.values() for line in family]
    return ("\n".join(lines) + "\n" + SILENT.format(silent)).encode()


def labelled(sample: str, worker: int) -> str:
    """A line of the text with one more label.

    >>> labelled('moves_total{game="go"} 7.0', 3), labelled("rooms 2.0", 3)
    ('moves_total{worker="3",game="go"} 7.0', 'rooms{worker="3"} 2.0')
    """
    name, brace, rest = sample.partition("{")
    if brace:
        return f'{name}{{worker="{worker}",{rest}'
    name, _, value = sample.partition(" ")
    return f'{name}{{worker="{worker}"}} {value}'
