"""Putting it together: journal, host, sockets and HTTP on one port."""

import asyncio
import gc
import math
import os
import signal
import socket
import sys
import threading
from collections.abc import AsyncIterator, Callable, MutableMapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, NamedTuple

import structlog
import uvicorn
from msgspec.structs import replace
from starlette.applications import Starlette

from parlour.doors.relay import RELAY_PATH
from parlour.game import Game
from parlour.journal import JOURNALS
from parlour.journal.base import Trouble
from parlour.server.addresses import Reach, find_reach, listening_host
from parlour.server.api.endpoints import Api, web_app
from parlour.server.api.pages import read_pages
from parlour.server.clock import Clock, Rounds, SystemClock
from parlour.server.components import Components
from parlour.server.gateway.doors.gammonx import HUB_PATH, GammonxDoor
from parlour.server.gateway.doors.gammonx import PREFIXES as GAMMONX_PREFIXES
from parlour.server.gateway.doors.relay import Relays
from parlour.server.gateway.doors.relay_history import KeptRelays
from parlour.server.gateway.http_listener import PatientHttp, listen, only_server_of
from parlour.server.gateway.native import native_doors
from parlour.server.gateway.sockets import Sockets
from parlour.server.gateway.upgrade import Door
from parlour.server.hot_reload import Reloader
from parlour.server.limits import Limits
from parlour.server.logs import foreign, set_up_logs
from parlour.server.settings import Settings
from parlour.server.tokens import Tokens

if TYPE_CHECKING:
    from parlour.server.gateway.doors.xsos import XsosDoor

log = structlog.get_logger()

SWEEP_EVERY = 5.0
"""Seconds after which it is looked which allowances are full again and need not be remembered."""
REQUESTS_SHARE = 0.5
"""The part of the time for a stop that open requests have; the rest is for storing."""
MOST_NAMED = 20
"""Rooms that a line in the log names."""

Greet = Callable[[Reach], None]
"""Told how people get to the server once it can be reached."""


class Watched(NamedTuple):
    """Game files to load again when they are saved, and where to say so."""

    files: Sequence[Path]
    say: Callable[[str], None]


def run(
    games: MutableMapping[str, Game[Any]], settings: Settings, greet: Greet, watched: Watched | None = None
) -> None:
    """Serve until Ctrl-C or SIGTERM."""
    set_up_logs()
    # The journal's thread needs its turn soon, or a busy loop makes every answer wait for it.
    sys.setswitchinterval(5e-5)
    # Rooms are values without cycles: looking for cycles among thousands of them often is wasted time.
    # What is new is looked at sooner: a few thousand connections' worth of cycles is megabytes.
    gc.freeze()
    gc.set_threshold(4_000, 20, 50)
    find_reach(settings, settings.port)  # what is no address is said before anything else is done
    host = listening_host(settings)
    with only_server_of(settings.data), listen(host, settings.port, settings.write_timeout) as port:
        reach = find_reach(settings, port.getsockname()[1])
        server = make_server(games, _reached_at(reach, settings), watched)
        server.greet = lambda: greet(reach)
        server.run(sockets=[port])
    if server.failure is not None:
        raise server.failure


def _reached_at(reach: Reach, settings: Settings) -> Settings:
    """The settings with the address that people really use, whose pages are our own whatever a proxy says."""
    if not reach.is_known:
        return settings
    return replace(settings, public_url=reach.url, origins=[*settings.origins, reach.url])


@asynccontextmanager
async def watching(
    parlour: Components, games: MutableMapping[str, Game[Any]], watched: Watched | None
) -> AsyncIterator[None]:
    """While game files are watched, if they are."""
    if watched is None:
        yield
        return
    task = asyncio.get_running_loop().create_task(Reloader(parlour, games, *watched).watch())
    yield
    task.cancel()
    await asyncio.wait([task])


@asynccontextmanager
async def running(parlour: Components, gammonx: GammonxDoor, relays: Relays) -> AsyncIterator[None]:
    """While the host and its doors work; in the end what was asked is done before the journal closes."""
    parlour.environment.watchdog.start()
    gammonx.start()
    yield
    gammonx.stop()
    await relays.stop()
    await parlour.stop()
    parlour.environment.watchdog.stop()


@asynccontextmanager
async def every(clock: Clock, seconds: float, do: Callable[[], None]) -> AsyncIterator[None]:
    """Do something every so often, and once more at the end."""
    rounds = Rounds(clock, seconds, do)
    rounds.start()
    yield
    rounds.stop()
    do()


class Server(uvicorn.Server):
    """uvicorn, which says when it is ready and does not take a clean stop for a failure."""

    greet: Callable[[], None]
    failure: Trouble | None = None
    """Why it had to stop, or could not begin."""

    def __init__(
        self,
        config: uvicorn.Config,
        xsos: "XsosDoor | None",
        stop_timeout: float,
        unstored: Callable[[], list[str]],
    ) -> None:
        super().__init__(config)
        self.xsos = xsos
        self._stop_timeout = stop_timeout
        self._unstored = unstored
        """The rooms whose state has changed since it was stored."""
        self._limit: threading.Timer | None = None

    async def serve(self, sockets: list[socket.socket] | None = None) -> None:
        try:
            await super().serve(sockets)
        finally:
            if self._limit is not None:
                self._limit.cancel()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started and sockets and self.failure is None:
            if self.xsos is not None:
                self.xsos.start()
            self.greet()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        if self.xsos is not None:
            await self.xsos.stop()  # whose clients wait in requests, which uvicorn would wait for
        await super().shutdown(sockets)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:  # noqa: ARG002
        # As uvicorn's own, which besides raises the signal again at the end.
        if self.should_exit and sig == signal.SIGINT:
            self.force_exit = True
        self._stop()

    def give_up(self, failure: Trouble) -> None:
        """Stop, because nothing can be kept."""
        self.failure = failure
        self._stop()

    def _stop(self) -> None:
        """End soon, and in any case when the time for it is over."""
        self.should_exit = True
        if self._limit is None:
            self._limit = threading.Timer(self._stop_timeout, self._end_anyway)
            self._limit.daemon = True
            self._limit.start()

    def _end_anyway(self) -> None:
        """The stop takes too long. What was answered is kept; the rest can be played again from that."""
        rooms = self._unstored()
        log.error(
            "stop_took_too_long", seconds=self._stop_timeout, not_stored=len(rooms), rooms=rooms[:MOST_NAMED]
        )
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(1)


def relays_of(parlour: Components, ids: Tokens, settings: Settings) -> Relays:
    """Relays that remember, or do not."""
    if settings.relay_history:
        return KeptRelays(parlour.clock, ids, settings, parlour.journal, parlour.environment.note_trouble)
    return Relays(parlour.clock, ids, settings)


def open_xsos(parlour: Components, limits: Limits, settings: Settings) -> "XsosDoor | None":
    """The XsOs door, with the Socket.IO library, which nothing else needs; None where it is closed."""
    if not settings.xsos:
        return None
    from parlour.server.gateway.doors.xsos import XsosDoor  # noqa: PLC0415 - loaded where the door is open, and nowhere else

    return XsosDoor(limits, parlour.clock, settings)


def make_server(
    games: MutableMapping[str, Game[Any]], settings: Settings, watched: Watched | None = None
) -> Server:
    """All parts, joined."""
    journal = JOURNALS[settings.journal](settings.data, settings.durability, accept_loss=settings.accept_loss)
    parlour = Components(games, journal, SystemClock(), settings)
    tokens = Tokens.in_folder(settings.data, date=parlour.clock.date)
    limits = Limits(settings, parlour.clock)
    gammonx = GammonxDoor(parlour, tokens, limits, settings)
    api = Api(parlour, tokens, limits, settings)
    xsos = open_xsos(parlour, limits, settings)
    relays = relays_of(parlour, tokens.of_kind("relay"), settings)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        try:
            await parlour.start()
        except Trouble as error:
            server.give_up(error)
            yield
            return
        api.draw_previews()
        async with (
            running(parlour, gammonx, relays),
            watching(parlour, games, watched),
            every(parlour.clock, 1.0, foreign.flush_repeated),
            every(parlour.clock, SWEEP_EVERY, limits.sweep),
        ):
            yield

    app = web_app(api, lifespan, read_pages())
    app.router.routes.extend((*(xsos.routes if xsos else ()), *gammonx.routes))
    doors: dict[str, Door] = {  # by path; one that ends with a slash takes all below its first part
        **native_doors(parlour, tokens, settings),
        RELAY_PATH: relays,
        **{prefix + HUB_PATH: gammonx for prefix in GAMMONX_PREFIXES},
        **(xsos.doors if xsos else {}),
    }
    sockets = Sockets(doors, parlour.clock, limits, settings)
    parlour.sessions.hang_up = sockets.hang_up
    config = uvicorn.Config(
        app,
        http=PatientHttp.within(settings, limits),
        ws=sockets,  # type: ignore[arg-type]
        lifespan="on",
        log_config=None,
        access_log=False,  # addresses can hold tokens
        server_header=False,
        proxy_headers=False,  # we read them ourselves, from known proxies only
        timeout_graceful_shutdown=math.ceil(settings.stop_timeout * REQUESTS_SHARE),
    )
    server = Server(config, xsos, settings.stop_timeout, parlour.rooms.unstored)
    parlour.environment.give_up = server.give_up
    return server
