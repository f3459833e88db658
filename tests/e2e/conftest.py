"""Servers and players for stories with real processes; whatever a test starts is ended after it."""

import asyncio
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, sync_playwright

from parlour.cluster.lease_table import list_workers
from tests.e2e.browser import Profiles, Visitor, launch
from tests.e2e.clients import Player, Raw
from tests.e2e.gammonx import HubPlayer
from tests.e2e.lines import PATIENCE
from tests.e2e.servers import UNLIMITED, Guest, Server
from tests.nats import Nats
from tests.postgres import Postgres

ALARMS = ("Traceback", "job_failed", "call_failed", "game_failed", "room_damaged", "not_kept")
"""Words that a healthy server's log never has."""
SEVERAL = int(os.environ.get("PARLOUR_TEST_WORKERS", "0"))
"""How many workers the shared server has; 0: it is one process with a file."""


def end(server: Server, *, healthy: bool = True) -> None:
    """Stop a server if it still runs; a healthy one has had nothing to complain of."""
    if server.running:
        server.stop()
    assert not healthy or not [word for word in ALARMS if word in server.log], server.log


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server for all who do not stop it; everybody has rooms of their own there."""
    with several_workers() as options:
        shared = Server(tmp_path_factory.mktemp("shared"), *options).start()
        if options:
            wait_for_shares(options[1], SEVERAL)
        yield shared
        end(shared)


@contextmanager
def several_workers() -> Iterator[tuple[str, ...]]:
    """The options of a server of several workers, if tests are to run against one; else none."""
    if not SEVERAL:
        yield ()
        return
    database, bus = Postgres(), Nats()
    database.start()
    bus.start()
    try:
        yield ("--journal", database.new_url(), "--bus", bus.url, "--workers", str(SEVERAL))
    finally:
        bus.stop()
        database.stop()


def wait_for_shares(url: str, count: int) -> None:
    """Wait until so many workers have their shares: what changes its owner sends its clients away once."""

    async def wait() -> None:
        async with asyncio.timeout(PATIENCE):
            while True:
                shares = sorted(worker.shards for worker in await list_workers(url))
                if len(shares) == count and shares[-1] - shares[0] < 2:
                    return
                await asyncio.sleep(0.1)

    with ThreadPoolExecutor(1) as thread:  # somebody else's loop may run in this one
        thread.submit(lambda: asyncio.run(wait())).result()


@pytest.fixture(scope="session")
def patient(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server that limits nobody, for those who send too much on purpose."""
    shared = Server(tmp_path_factory.mktemp("patient"), environment=UNLIMITED).start()
    yield shared
    end(shared)


Serve = Callable[..., Server]


@contextmanager
def starting(data: Path) -> Iterator[Serve]:
    """Starts servers, with options; in the end all are stopped."""
    with ExitStack() as stack:

        def start(*options: Any, healthy: bool = True, terminal: bool = False) -> Server:
            own = Server(data, *map(str, options), terminal=terminal).start()
            stack.callback(end, own, healthy=healthy)
            return own

        yield start


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Serve]:
    """Starts a server of this test's own, with options."""
    with starting(tmp_path / "data") as start:
        yield start


@pytest.fixture(scope="module")
def serve_all(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serve]:
    """Starts a server for all tests of a file, with options."""
    with starting(tmp_path_factory.mktemp("data")) as start:
        yield start


Enter = Callable[..., Player]


@pytest.fixture
def enter() -> Iterator[Enter]:
    """Brings somebody to a server, by name or as a guest who is known there, at a client of their own."""
    with ExitStack() as stack:

        def connect(server: Server, who: str | Guest, **options: Any) -> Player:
            guest = server.guest(who) if isinstance(who, str) else who
            return stack.enter_context(closing(Player(server, guest, **options)))

        yield connect


Come = Callable[..., HubPlayer]


@pytest.fixture
def come(server: Server) -> Iterator[Come]:
    """Brings somebody with a SignalR client of their own."""
    with ExitStack() as stack:

        def one(at: Server | None = None, id: str | None = None) -> HubPlayer:
            return stack.enter_context(closing(HubPlayer(at or server, id)))

        yield one


@pytest.fixture
def knock() -> Iterator[Callable[..., Raw]]:
    """Opens bare WebSockets."""
    with ExitStack() as stack:

        def connect(server: Server, token: str | None = None, **more: Any) -> Raw:
            return stack.enter_context(closing(Raw(server, token, **more)))

        yield connect


Seat = Callable[..., list[Player]]


@pytest.fixture
def seat(enter: Enter) -> Seat:
    """Brings people to a server and to the seats of a room, in this order."""

    def sit(server: Server, room: str, *names: str) -> list[Player]:
        players = [enter(server, name) for name in names]
        for player in players:
            answer = player.join(room)
            assert answer.status == "ok", answer
        return players

    return sit


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A real Chromium; not for longer than a file, since nobody else can run a loop while it is driven."""
    with sync_playwright() as playwright:
        chromium = launch(playwright)
        yield chromium
        chromium.close()


Visit = Callable[..., Visitor]


@pytest.fixture(scope="module")
def profiles(browser: Browser) -> Profiles:
    """The profiles of a browser, for all tests of a file."""
    return Profiles(browser)


@pytest.fixture
def visit(profiles: Profiles) -> Iterator[Visit]:
    """Brings somebody to a server by a browser; nothing may go wrong in it unnoticed."""
    visitors: list[Visitor] = []

    def start(server: Server, name: str, **options: Any) -> Visitor:
        visitors.append(Visitor(profiles, server, name, **options))
        return visitors[-1]

    yield start
    complaints = [line for visitor in visitors for line in visitor.complaints]
    for visitor in visitors:
        visitor.close()
    assert not complaints
