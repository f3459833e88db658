"""Puts the server together: journal, components, sockets and HTTP on one port."""

import asyncio
import gc
import math
import os
import signal
import socket
import sys
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, MutableMapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, nullcontext, suppress
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import structlog
import uvicorn
from msgspec.structs import replace
from starlette.applications import Starlette
from starlette.types import ASGIApp

from parlour.game import Game
from parlour.journal import is_database, make_journal
from parlour.journal.base import Trouble
from parlour.journal.shards import LOBBY
from parlour.server.addresses import Reach, find_reach, listening_host
from parlour.server.api.endpoints import Api, web_app
from parlour.server.api.forwarding import Forwarding, Keys
from parlour.server.api.panel import Panel
from parlour.server.api.web_pages import read_pages
from parlour.server.clock import Clock, Rounds, SystemClock
from parlour.server.components import Components
from parlour.server.gateway.doors.registry import DoorNeeds, open_doors
from parlour.server.gateway.http_listener import PatientHttp, listen, only_server_of
from parlour.server.gateway.sockets import Sockets
from parlour.server.gateway.upgrade import Door
from parlour.server.hot_reload import Reloader
from parlour.server.logs import foreign, set_up_logs
from parlour.server.network import Network
from parlour.server.rooms.ownership import OwnsNothing
from parlour.server.secret import signing_keys
from parlour.server.settings import Settings
from parlour.server.supervisor import has_siblings, tell_ready
from parlour.server.tasks import Tasks
from parlour.server.tokens import SigningKeys, Tokens

if TYPE_CHECKING:
    from parlour.server.mcp import LanguageModels

log = structlog.get_logger()

SWEEP_EVERY = 5.0
"""Seconds between two looks for allowances that are full again and need no entry in memory."""
REQUESTS_SHARE = 0.5
"""The part of the stop timeout that open requests get; the rest is for storing rooms."""
LOAD_KEYS_EVERY = 1.0
"""Seconds between two looks for keys that were made while this worker runs."""
MOST_NAMED = 20
"""Rooms that one log entry names at most."""

Greet = Callable[[Reach, str | None], None]
"""Called with the server's addresses, and the key of its panel, once it accepts connections."""


class Watched(NamedTuple):
    """Game files to reload when they are saved, and where to report it."""

    files: Sequence[Path]
    say: Callable[[str], None]


def run(
    games: MutableMapping[str, Game[Any]], settings: Settings, greet: Greet, watched: Watched | None = None
) -> None:
    """Serve until Ctrl-C or SIGTERM."""
    set_up_logs()
    # The journal's thread needs its turn soon, or a busy loop makes every answer wait for it.
    sys.setswitchinterval(5e-5)
    # Rooms are values without cycles: frequent searches for cycles among thousands of them are wasted time.
    # Young objects are searched sooner: the cycles of a few thousand connections are megabytes.
    gc.freeze()
    gc.set_threshold(4_000, 20, 50)
    find_reach(settings, settings.port)  # a wrong address is reported before anything else is done
    host = listening_host(settings)
    own_folder = nullcontext() if is_database(settings.journal) else only_server_of(settings.data)
    with own_folder, listen(host, settings.port, settings.write_timeout, shared=has_siblings()) as port:
        reach = find_reach(settings, port.getsockname()[1])
        server = make_server(games, _reached_at(reach, settings), watched)
        server.greet = tell_ready if has_siblings() else lambda: greet(reach, server.panel_key)
        server.run(sockets=[port])
    if server.failure is not None:
        raise server.failure


def _reached_at(reach: Reach, settings: Settings) -> Settings:
    """The settings with the server's real address, whose pages count as our own whatever a proxy says."""
    if not reach.is_known:
        return settings
    return replace(settings, public_url=reach.url, origins=[*settings.origins, reach.url])


@asynccontextmanager
async def watching(
    parlour: Components, games: MutableMapping[str, Game[Any]], watched: Watched | None
) -> AsyncIterator[None]:
    """Watch the game files, if there are any to watch, while this context lasts."""
    if watched is None:
        yield
        return
    task = asyncio.get_running_loop().create_task(Reloader(parlour, games, *watched).watch())
    yield
    task.cancel()
    await asyncio.wait([task])


@asynccontextmanager
async def running(
    parlour: Components, doors: Sequence[Door], models: "LanguageModels | None"
) -> AsyncIterator[None]:
    """Run the components and the doors; at the end, finish what was asked before the journal closes."""
    parlour.environment.watchdog.start()
    async with nullcontext() if models is None else models.running():
        yield
    for door in doors:
        await door.finish()
    await parlour.stop()
    parlour.environment.watchdog.stop()


def among_others(
    parlour: Components, network: Network, settings: Settings, give_up: Callable[[Trouble], None]
) -> AbstractAsyncContextManager[None]:
    """Be one of many workers, if there is a bus to the others."""
    if not settings.bus:
        return nullcontext()
    from parlour.server.joining import among_workers  # noqa: PLC0415 - an extra

    return among_workers(parlour, network, settings, give_up)


def parlour_of(games: Mapping[str, Game[Any]], settings: Settings) -> Components:
    """The components, with their journal; prepared to share it, if there is a bus to other workers."""
    journal = make_journal(
        settings.journal, settings.data, settings.durability, accept_loss=settings.accept_loss
    )
    parlour = Components(games, journal, SystemClock(), settings)
    if not settings.bus:
        return parlour
    if not is_database(settings.journal):
        raise Trouble("--bus: workers share a database; expected --journal postgresql://...")
    from parlour.server import joining  # noqa: PLC0415, F401 - an extra, and slow to import

    cast("Any", journal).share()
    parlour.environment.ownership = OwnsNothing()
    return parlour


def stop_when_unkept(parlour: Components, settings: Settings, give_up: Callable[[Trouble], None]) -> None:
    """Stop once nothing is kept any more: the disk failed, or another server has taken over the database."""
    parlour.environment.give_up = give_up
    if is_database(settings.journal):
        cast("Any", parlour.journal).fenced = lambda: give_up(
            Trouble("another server has taken over the database")
        )


@asynccontextmanager
async def every(clock: Clock, seconds: float, do: Callable[[], None]) -> AsyncIterator[None]:
    """Call *do* every so many seconds, and once more at the end."""
    rounds = Rounds(clock, seconds, do)
    rounds.start()
    yield
    rounds.stop()
    do()


@asynccontextmanager
async def loading_keys(
    load: Callable[[], Awaitable[None]], clock: Clock, settings: Settings
) -> AsyncIterator[None]:
    """Load the keys of tokens now; with other workers again and again, because one may have a new key."""
    await load()
    if not settings.bus:
        yield
        return

    async def load_again() -> None:
        with suppress(Trouble):
            await load()

    tasks = Tasks()
    rounds = Rounds(clock, LOAD_KEYS_EVERY, lambda: tasks.start(load_again()))
    rounds.start()
    yield
    rounds.stop()


class Server(uvicorn.Server):
    """uvicorn that reports when it is ready and does not take a clean stop for a failure."""

    greet: Callable[[], None]
    panel_key: str | None = None
    """What opens the panel for authors, if there is one."""
    failure: Trouble | None = None
    """Why it had to stop, or could not start."""

    def __init__(
        self,
        config: uvicorn.Config,
        doors: Sequence[Door],
        sockets: Sockets,
        stop_timeout: float,
        unstored: Callable[[], list[str]],
        models: "LanguageModels | None" = None,
    ) -> None:
        super().__init__(config)
        self._doors = doors
        self._sockets = sockets
        self._stop_timeout = stop_timeout
        self._unstored = unstored
        """The rooms whose state has changed since it was stored."""
        self._models = models
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
            for door in self._doors:
                door.start()
            self.greet()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._sockets.in_hurry = self.failure is not None
        for door in self._doors:
            await door.stop()  # some clients wait in open requests, and uvicorn would wait for those
        if self._models is not None:
            await self._models.stop()
        await super().shutdown(sockets)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:  # noqa: ARG002
        # Like uvicorn's own handler, which also raises the signal again at the end.
        if self.should_exit and sig == signal.SIGINT:
            self.force_exit = True
        self._stop()

    def give_up(self, failure: Trouble) -> None:
        """Stop because the journal cannot write any more."""
        self.failure = failure
        self._stop()

    def _stop(self) -> None:
        """Stop soon, at the latest when the stop timeout is over."""
        self.should_exit = True
        if self._limit is None:
            self._limit = threading.Timer(self._stop_timeout, self._end_anyway)
            self._limit.daemon = True
            self._limit.start()

    def _end_anyway(self) -> None:
        """End the process: the stop takes too long. Acknowledged steps are kept; a restart replays them."""
        rooms = self._unstored()
        log.error(
            "stop_took_too_long", seconds=self._stop_timeout, not_stored=len(rooms), rooms=rooms[:MOST_NAMED]
        )
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(1)


def tokens_of(parlour: Components, settings: Settings) -> tuple[Tokens, Callable[[], Awaitable[None]]]:
    """The tokens, and how to load their keys once the journal is open: those of a database are kept in it.

    Loaded again, keys that were made meanwhile count here, too: another worker may have begun with them. The
    one that signs stays the same until the next start.
    """
    date, keys = parlour.clock.date, SigningKeys()

    async def load() -> None:
        if is_database(settings.journal):
            keys.update(await signing_keys(parlour.journal))
            keys.signing = keys.signing or max(keys)

    if is_database(settings.journal):
        return Tokens(keys, date=date), load
    return Tokens.in_folder(settings.data, date=date), load


def language_models_of(
    parlour: Components, tokens: Tokens, sockets: Sockets, app: ASGIApp
) -> "LanguageModels | None":
    """The tools at /mcp, if the settings offer them."""
    if not parlour.settings.mcp:
        return None
    try:
        from parlour.server.mcp import LanguageModels  # noqa: PLC0415 - an extra
    except ImportError:
        raise Trouble("--mcp needs one more package: pip install 'parlour[mcp]'") from None
    return LanguageModels(parlour, tokens, sockets, app)


def config_of(app: ASGIApp, sockets: Sockets, settings: Settings) -> uvicorn.Config:
    """How uvicorn serves this app and these sockets."""
    return uvicorn.Config(
        app,
        http=PatientHttp.within(settings, sockets.limits),
        ws=sockets,  # type: ignore[arg-type]
        lifespan="on",
        log_config=None,
        access_log=False,  # addresses can hold tokens
        server_header=False,
        proxy_headers=False,  # we read these headers ourselves, from known proxies only
        timeout_graceful_shutdown=math.ceil(settings.stop_timeout * REQUESTS_SHARE),
    )


def make_server(
    games: MutableMapping[str, Game[Any]], settings: Settings, watched: Watched | None = None
) -> Server:
    """Make a server with all its parts."""
    parlour = parlour_of(games, settings)
    tokens, load_keys = tokens_of(parlour, settings)
    api = Api(parlour, tokens, parlour.limits, settings)
    doors = open_doors(DoorNeeds(parlour, tokens, parlour.limits, settings))

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        async with AsyncExitStack() as open_parts:
            try:
                await parlour.start()
                await open_parts.enter_async_context(loading_keys(load_keys, parlour.clock, settings))
                await open_parts.enter_async_context(running(parlour, doors, models))
                await open_parts.enter_async_context(among_others(parlour, network, settings, server.give_up))
            except Trouble as error:
                server.give_up(error)
                yield
                return
            api.draw_previews()
            async with (
                watching(parlour, games, watched),
                every(parlour.clock, 1.0, foreign.flush_repeated),
                every(parlour.clock, SWEEP_EVERY, parlour.limits.sweep),
            ):
                yield

    panel = None if watched is None or settings.bus else Panel(parlour, tokens)
    app = web_app(api, lifespan, read_pages(), panel)
    forwarding = Forwarding(app, Keys(doors, {"/api/tickets": LOBBY, "/api/invitations": LOBBY}))
    sockets = Sockets(doors, parlour.clock, parlour.limits, settings)
    network = Network(sockets, forwarding, doors)
    parlour.sessions.connected, parlour.sessions.hang_up = sockets.bearers, sockets.hang_up
    models = language_models_of(parlour, tokens, sockets, forwarding)
    app.router.routes += [
        *(route for door in doors for route in door.routes),
        *([] if models is None else api.charge([models.route])),
    ]
    config = config_of(forwarding if settings.bus else app, sockets, settings)
    server = Server(config, doors, sockets, settings.stop_timeout, parlour.rooms.unstored, models)
    server.panel_key = None if panel is None else panel.key
    stop_when_unkept(parlour, settings, server.give_up)
    return server
