"""The long torture: `python -m tests.torture` with a command: `kills`, `accounts`, `passkeys`, `webhooks`,
`starts`, `restarts`, `cluster`, `adoptions` or `rolling`."""

import asyncio
import signal
import sys
import tempfile
from collections import Counter
from enum import StrEnum
from pathlib import Path

import typer

from tests.torture import cluster as clusters
from tests.torture import supervised
from tests.torture.flips import flip_and_judge, furnish
from tests.torture.kept import Complaint
from tests.torture.kills import Plan, torture
from tests.torture.members import torture_accounts
from tests.torture.passkeys import torture_passkeys
from tests.torture.restarts import restart
from tests.torture.starts import measure_start
from tests.torture.waits import spread
from tests.torture.webhooks import torture_webhooks

app = typer.Typer(add_completion=False, help="Torture a server; the exit code says whether it kept its word.")


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def tell(complaints: list[Complaint], counts: Counter[str]) -> None:
    """Figures, then what is wrong."""
    say("  " + ", ".join(f"{what} {count}" for what, count in sorted(counts.items())))
    broken = Counter(complaint.kind for complaint in complaints)
    say(f"  promises broken: {dict(broken) if broken else 0}")
    for complaint in complaints[:20]:
        say(f"    {complaint.kind} in {complaint.room}: {complaint.what[:500]}")


class Kind(StrEnum):
    """Which journal the server has."""

    SQLITE = "sqlite"
    POSTGRESQL = "postgresql"


@app.command()
def kills(
    kills: int = 200,
    rooms: int = 200,
    each: int = 4,
    window: float = 1.0,
    seed: int = 1,
    journal: Kind = Kind.SQLITE,
    crashes: int = 0,
) -> None:
    """Kill -9 at random instants while rooms are played, and as often as told the database below."""
    if crashes and journal is Kind.SQLITE:
        raise typer.BadParameter("a file has no server that could crash", param_hint="--crashes")
    say(f"{kills} kills, {crashes} crashes of the database, {rooms} rooms in {journal} (seed {seed})")
    with tempfile.TemporaryDirectory() as folder:
        plan = Plan(
            kills=kills, rooms=rooms, each=each, window=window, seed=seed, journal=journal, crashes=crashes
        )
        complaints, counts = asyncio.run(torture(Path(folder), plan, note))
    tell(complaints, counts)
    conclude(good=not complaints and not counts["alarms"])


@app.command()
def accounts(kills: int = 100, seed: int = 1) -> None:
    """Kill -9 at random instants while people make accounts, sign in and out and leave."""
    with tempfile.TemporaryDirectory() as folder:
        club = asyncio.run(torture_accounts(Path(folder), kills, seed))
    say(f"{kills} kills (seed {seed})")
    tell([Complaint("accounts", "-", what) for what in club.complaints], club.counts)
    conclude(good=not club.complaints and not club.counts["alarms"])


@app.command()
def passkeys(kills: int = 100, seed: int = 1) -> None:
    """Kill -9 at random instants and at writes while people use passkeys."""
    with tempfile.TemporaryDirectory() as folder:
        club = asyncio.run(torture_passkeys(Path(folder), kills, seed))
    say(f"{kills} kills (seed {seed})")
    tell([Complaint("passkeys", "-", what) for what in club.complaints], club.counts)
    conclude(good=not club.complaints and not club.counts["alarms"])


@app.command()
def webhooks(kills: int = 100, pairs: int = 4, seed: int = 1) -> None:
    """Kill -9 at random instants, writes and messages while players are told of their turns."""
    with tempfile.TemporaryDirectory() as folder:
        tellers = asyncio.run(torture_webhooks(Path(folder, "data"), kills, seed, pairs))
    say(f"{kills} kills (seed {seed})")
    tell([Complaint("webhooks", "-", what) for what in tellers.complaints], tellers.counts)
    conclude(good=not tellers.complaints and not tellers.counts["alarms"])


def note(number: int) -> None:
    """A sign of life now and then."""
    if number % 20 == 0:
        say(f"  killed {number} times")


@app.command()
def flips(draws: int = 2000, seed: int = 1) -> None:
    """Flip one byte of what is kept, anywhere, and see that it costs one row."""
    faults = asyncio.run(flip_many(draws, seed))
    for fault in faults[:20]:
        say(f"  {fault}")
    say(f"{draws} flipped bytes (seed {seed}): {len(faults)} faults")
    conclude(good=not faults)


async def flip_many(draws: int, seed: int) -> list[str]:
    """What went wrong with so many bytes."""
    faults: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        furnished, scratch = Path(folder, "furnished"), Path(folder, "flipped")
        expected = await furnish(furnished)
        for draw in range(draws):
            faults += await flip_and_judge(furnished, expected, scratch, f"{seed}.{draw}")
    return faults


@app.command()
def starts(rooms: int = 1000) -> None:
    """Kill -9, and see how soon all rooms can be played again."""
    with tempfile.TemporaryDirectory() as folder:
        story = measure_start(Path(folder), rooms)
    say(f"{rooms} rooms after kill -9: open after {story.open:.2f} s, a move made in each after "
        f"{story.playable:.2f} s; a bare start takes {story.bare:.2f} s")  # fmt: skip
    conclude(good=story.playable < story.bare + 2)


@app.command()
def restarts(clients: int = 1000, seed: int = 1, journal: Kind = Kind.SQLITE) -> None:
    """Stop and kill a server under load, and see how soon everybody is back."""
    good = True
    for how in (signal.SIGTERM, signal.SIGKILL):
        with tempfile.TemporaryDirectory() as folder:
            story = asyncio.run(restart(Path(folder), clients=clients, how=how, seed=seed, journal=journal))
        say(f"{how.name} with {story.counts['clients']} connected clients: gone after {story.down:.2f} s "
            f"(exit code {story.exit_code}), open {story.up:.2f} s after the start, everybody back and "
            f"synced {story.back:.2f} s after it")  # fmt: skip
        tell(story.complaints, story.counts)
        good = good and not story.complaints and story.back < 30 and story.down < 10
    conclude(good=good)


@app.command()
def cluster(
    kills: int = 100, pauses: int = 30, cuts: int = 30, crashes: int = 10, rooms: int = 48, seed: int = 1
) -> None:
    """Kill, freeze and cut off workers that share rooms, and crash their database, while they are played."""
    say(f"{kills} kills, {pauses} pauses, {cuts} cuts of the bus, {crashes} crashes of the database, "
        f"{rooms} rooms (seed {seed})")  # fmt: skip
    plan = clusters.Plan(kills=kills, pauses=pauses, cuts=cuts, crashes=crashes, rooms=rooms, seed=seed)
    with tempfile.TemporaryDirectory() as folder:
        outcome = asyncio.run(clusters.torture(Path(folder), plan, note_harm))
    tell(*outcome.verdict)
    say(f"  {outcome.figures()}")
    for fault in outcome.faults[:20]:
        say(f"    {fault}")
    conclude(good=outcome.good)


@app.command()
def adoptions(kills: int = 100, rooms: int = 24, seed: int = 1) -> None:
    """Kill workers with and without a supervisor who reports it, and see how soon their rooms go on."""
    good = True
    plan = clusters.Plan(
        kills=kills,
        pauses=0,
        cuts=0,
        crashes=0,
        rooms=rooms,
        each=1,
        seed=seed,
        relays=0,
        seekers=0,
        matches=0,
    )
    ways = {
        "nobody reports it": (lambda folder: clusters.torture(folder, plan, note_harm), 2.0),
        "the supervisor reports it": (lambda folder: supervised.kill_some(folder, kills, rooms, seed), 0.5),
    }
    for way, (kill, limit) in ways.items():
        with tempfile.TemporaryDirectory() as folder:
            outcome = asyncio.run(kill(Path(folder)))
        say(f"{kills} kills, {way}; rooms taken over: {spread(outcome.adoptions, limit)}")
        tell(*outcome.verdict)
        for fault in outcome.faults[:20]:
            say(f"    {fault}")
        good = good and outcome.good and max(outcome.adoptions, default=limit) < limit
    conclude(good=good)


@app.command()
def rolling(clients: int = 1000, pace: float = 4.0, seed: int = 1) -> None:
    """Replace three workers one by one under play, and see how long anybody has to wait."""
    with tempfile.TemporaryDirectory() as folder:
        outcome, crowd = asyncio.run(supervised.roll(Path(folder), clients, pace, seed))
    say(f"{clients} clients, three workers replaced one by one")
    say(f"  commands answered: {spread(crowd.waits.answers, 1.0)}")
    say(f"  back after a lost connection: {spread(crowd.waits.absences, 1.0)}")
    tell(*outcome.verdict)
    for fault in outcome.faults[:20]:
        say(f"    {fault}")
    conclude(good=outcome.good and max(crowd.waits.answers + crowd.waits.absences) < 1)


def note_harm(number: int, harm: str) -> None:
    """A sign of life now and then."""
    if number % 10 == 0:
        say(f"  {number} harms done, the last one a {harm}")


def conclude(*, good: bool) -> None:
    """A promise that was broken is a failure."""
    if not good:
        raise typer.Exit(1)


if __name__ == "__main__":
    app()
