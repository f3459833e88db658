"""One attack on one server: people play in quiet, then during the attack, then during the same once more."""

import asyncio
import json
import os
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import msgspec

from tests.attack.bystanders import Bystanders, Weight, limited_server, percentile
from tests.attack.faults import FAULTS, GAME, false_clock
from tests.attack.hostile import ATTACKS, Tally
from tests.attack.identities import TRUSTED, USER_HEADER
from tests.e2e.conftest import ALARMS
from tests.e2e.servers import Server

MB = 1_000_000
LATER = 0.050
"""Seconds by which the 99th percentile of a bystander's waits may grow."""
MORE = 10 * MB
"""Bytes that a second identical attack may add, in memory and on disk."""
CALLS = 20_000
"""Calls or connections of an attack that is not counted in bytes."""
NOT_TIMED = ("paused process", "bad callbacks", "damaged rows")
"""Attacks that stop the process or its loop by themselves: only what is kept is judged."""
WAITED = "bystanders waited"
BROKEN = ("strangers", "forgotten", "untold", "reached", "server_errors", "lost_lines", "unanswered")
"""What must not be counted even once."""
LINE = 400
"""Characters of a line of the log that are shown: the end, where an exception says what it is."""
OPTIONS: dict[str, tuple[str, ...]] = {
    "bad callbacks": (str(GAME), "--callback-timeout", "0.2"),
    "paused process": ("--ping-every", "2"),
    "long ids at relays": ("--relay-history",),
    "webhooks without end": ("--local-webhooks",),
    "users by forged headers": ("--proxies", TRUSTED, "--user-header", USER_HEADER),
}
"""What an attack needs of the server."""
EXPECTED = {"bad callbacks": ("game_failed", "Traceback"), "damaged rows": ("room_damaged", "damaged")}
"""Alarms in the log that belong to an attack."""


class Row(msgspec.Struct, frozen=True):
    """What one attack did."""

    name: str
    tally: Tally
    quiet: float
    """99th percentile of a bystander's waits without the attack, in seconds."""
    attacked: float
    answers: int
    """How many answers bystanders had while they were attacked."""
    memory: int
    """Bytes that the second attack added."""
    disk: int
    complaints: tuple[str, ...]

    @property
    def faults(self) -> list[str]:
        """What is against the promise."""
        found = [*self.complaints]
        if self.name not in NOT_TIMED and self.attacked > self.quiet + LATER:
            found.append(WAITED)
        if self.memory > MORE:
            found.append("memory grows")
        if self.disk > MORE:
            found.append("disk grows")
        found += [what for what in BROKEN if self.tally[what]]
        if not self.answers:
            found.append("no bystander was answered")
        return found


async def attack(name: str, folder: Path, amount: int, quiet: float = 3.0) -> Row:
    """Do this to a new server, twice."""
    server = new_server(name, folder)
    await asyncio.to_thread(server.start)
    try:
        return await _attack(name, server, amount, quiet)
    finally:
        if server.running:
            server.kill()


def new_server(name: str, folder: Path) -> Server:
    """A server with the limits that everybody has, prepared for what comes."""
    folder.mkdir(parents=True, exist_ok=True)
    environment: dict[str, str] = {}
    if name == "wall clock set forward and back":
        environment = false_clock(folder)
    return limited_server(folder / "data", *OPTIONS.get(name, ()), environment=environment)


async def _attack(name: str, server: Server, amount: int, quiet: float) -> Row:
    bystanders = Bystanders(server)
    async with bystanders.playing():
        began = time.monotonic()
        await asyncio.sleep(quiet)
        first = time.monotonic()
        tally = await _strike(name, server, bystanders, amount)
        before = await _weigh(server)
        tally += await _strike(name, server, bystanders, amount)
        ended = time.monotonic()
        after = await _weigh(server)
    await asyncio.to_thread(server.stop)
    verdict = bystanders.verdict()
    complaints = [f"{complaint.kind} in {complaint.room}" for complaint in verdict.complaints]
    complaints += _alarms(name, server.log)
    calm, busy = bystanders.waits(began, first), bystanders.waits(first, ended)
    return Row(
        name,
        tally,
        percentile(calm, 0.99) if calm else 0.0,
        percentile(busy, 0.99) if busy else float("inf"),
        len(busy),
        after.memory - before.memory,
        after.disk - before.disk,
        tuple(complaints[:5]),
    )


def _alarms(name: str, log: str) -> list[str]:
    """The lines of the log that no attack should cause, as far as they help to find the fault."""
    words = [word for word in ALARMS if word not in EXPECTED.get(name, ())]
    return [line[-LINE:] for line in log.splitlines() if any(word in line for word in words)]


async def _strike(name: str, server: Server, bystanders: Bystanders, amount: int) -> Tally:
    if name in FAULTS:
        return await FAULTS[name](server, bystanders)
    in_bytes = " at " in name and name != "tickets at gammonx"
    return await hostile(name, server, amount if in_bytes else min(amount, CALLS))


async def hostile(name: str, server: Server, amount: int) -> Tally:
    """A hostile client in a process of its own, which leaves the other processor to those who play."""
    assert name in ATTACKS
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.attack.hostile", name, str(server.port), str(amount),
        stdout=asyncio.subprocess.PIPE, preexec_fn=lambda: os.nice(10),
    )  # fmt: skip
    said, _ = await process.communicate()
    assert process.returncode == 0, f"the hostile client itself failed: {name}"
    return Tally(json.loads(said))


async def _weigh(server: Server) -> Weight:
    """What it holds a moment later, when what was cut is gone."""
    await asyncio.sleep(1.0)
    return await asyncio.to_thread(Weight.of, server)


Tell = Callable[[Row], Awaitable[None] | None]


def told(row: Row) -> str:
    """A line of the table."""
    deeds = ", ".join(f"{what} {count:,}" for what, count in sorted(row.tally.items()) if count)
    waits = f"{1000 * row.quiet:7.1f} {1000 * row.attacked:7.1f}"
    weight = f"{row.memory / MB:6.1f} {row.disk / MB:6.1f}"
    verdict = "; ".join(row.faults) or "held"
    return f"{row.name:34} {waits} {row.answers:7} {weight}  {verdict:24} {deeds}"


HEADING = f"{'attack':34} {'quiet':>7} {'attack':>7} {'answers':>7} {'+MB':>6} {'+disk':>6}  verdict"
"""Milliseconds are 99th percentiles of bystanders' waits; megabytes are what a second attack adds."""
