"""Putting it together: journal, host, sockets and HTTP on one port."""

import asyncio
import gc
import signal
import socket
import sys
from collections.abc import AsyncIterator, Callable, MutableMapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

import uvicorn
from starlette.applications import Starlette

from parlour.doors.relay import PATH as RELAY_PATH
from parlour.game import Game
from parlour.journal import JOURNALS
from parlour.journal.base import Trouble
from parlour.server.clock import SystemClock
from parlour.server.config import Settings
from parlour.server.game_files import Reloader
from parlour.server.gammonx import PATH as GAMMONX_PATH
from parlour.server.gammonx import PREFIXES as GAMMONX_PREFIXES
from parlour.server.gammonx import GammonxDoor
from parlour.server.host import Host
from parlour.server.http import Api, web_app
from parlour.server.kept_relays import KeptRelays
from parlour.server.limits import Limits
from parlour.server.listener import PatientHttp, listen, only_server_of
from parlour.server.logs import set_up_logs
from parlour.server.pages import read_pages
from parlour.server.players import Tokens
from parlour.server.protocol_doors import native_doors
from parlour.server.relays import Relays
from parlour.server.socket_io import Line
from parlour.server.sockets import Door, Sockets
from parlour.server.xsos import PATH as XSOS_PATH
from parlour.server.xsos import XsosDoor

STOP_PATIENCE = 8
"""Seconds that open requests have at a stop."""

Greet = Callable[[int], None]
"""Told the port once the server can be reached."""


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
    with only_server_of(settings.data), listen(settings.host, settings.port, settings.write_timeout) as port:
        server = make_server(games, settings, watched)
        server.greet = greet
        server.run(sockets=[port])
    if server.failure is not None:
        raise server.failure


@asynccontextmanager
async def watching(
    host: Host, games: MutableMapping[str, Game[Any]], watched: Watched | None
) -> AsyncIterator[None]:
    """While game files are watched, if they are."""
    if watched is None:
        yield
        return
    task = asyncio.get_running_loop().create_task(Reloader(host, games, *watched).watch())
    yield
    task.cancel()
    await asyncio.wait([task])


class Server(uvicorn.Server):
    """uvicorn, which says when it is ready and does not take a clean stop for a failure."""

    greet: Greet
    xsos: XsosDoor
    failure: Trouble | None = None
    """Why it had to stop, or could not begin."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started and sockets and self.failure is None:
            self.greet(sockets[0].getsockname()[1])

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        await self.xsos.stop()  # whose clients wait in requests, which uvicorn would wait for
        await super().shutdown(sockets)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:  # noqa: ARG002
        # As uvicorn's own, which besides raises the signal again at the end.
        if self.should_exit and sig == signal.SIGINT:
            self.force_exit = True
        self.should_exit = True

    def give_up(self, failure: Trouble) -> None:
        """Stop, because nothing can be kept."""
        self.failure = failure
        self.should_exit = True


def relays_of(host: Host, ids: Tokens, settings: Settings) -> Relays:
    """Relays that remember, or do not."""
    if settings.relay_history:
        return KeptRelays(host.clock, ids, settings, host.journal, host.keeper.note_trouble)
    return Relays(host.clock, ids, settings)


def make_server(
    games: MutableMapping[str, Game[Any]], settings: Settings, watched: Watched | None = None
) -> Server:
    """All parts, joined."""
    journal = JOURNALS[settings.journal](settings.data, settings.durability)
    host = Host(games, journal, SystemClock(), settings)
    tokens = Tokens.in_folder(settings.data)
    limits = Limits(settings, host.clock)
    gammonx = GammonxDoor(host, tokens, limits, settings)
    doors: dict[str, Door] = {
        **native_doors(host, tokens, settings),
        RELAY_PATH: relays_of(host, tokens.of_kind("relay"), settings),
        **{prefix + GAMMONX_PATH: gammonx for prefix in GAMMONX_PREFIXES},
    }
    api = Api(host, tokens, limits, settings)
    xsos = XsosDoor(limits, host.clock, settings)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        try:
            await host.start()
        except Trouble as error:
            server.give_up(error)
            yield
            return
        host.watchdog.start()
        api.draw_previews()
        xsos.start()
        gammonx.start()
        async with watching(host, games, watched):
            yield
        gammonx.stop()
        await host.stop()
        host.watchdog.stop()

    app = web_app(api, lifespan, read_pages())
    app.router.routes.extend((*xsos.routes, *gammonx.routes))
    config = uvicorn.Config(
        app,
        http=PatientHttp.within(settings.header_timeout, {XSOS_PATH.encode(): Line}),
        ws=Sockets(doors, host.clock, limits, settings),  # type: ignore[arg-type]
        ws_max_size=settings.max_frame,  # this and the next two are for the Socket.IO lines
        ws_per_message_deflate=False,
        ws_ping_interval=None,
        lifespan="on",
        log_config=None,
        access_log=False,  # addresses can hold tokens
        server_header=False,
        proxy_headers=False,  # we read them ourselves, from known proxies only
        timeout_graceful_shutdown=STOP_PATIENCE,
    )
    server = Server(config)
    server.xsos = xsos
    host.give_up = server.give_up
    return server
