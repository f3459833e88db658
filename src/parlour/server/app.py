"""Putting it together: journal, host, sockets and HTTP on one port."""

import gc
import signal
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from types import FrameType
from typing import Any

import structlog
import uvicorn
from starlette.applications import Starlette

from parlour.game import Game
from parlour.journal import JOURNALS
from parlour.server.clock import SystemClock
from parlour.server.config import Settings
from parlour.server.host import Host
from parlour.server.http import Api, web_app
from parlour.server.logs import set_up_logs
from parlour.server.players import Tokens
from parlour.server.sockets import Sockets

log = structlog.get_logger()

STOP_PATIENCE = 8
"""Seconds that open requests have at a stop."""


def run(games: Mapping[str, Game[Any]], settings: Settings, greet: Callable[[int], None]) -> None:
    """Serve until Ctrl-C or SIGTERM."""
    set_up_logs()
    # The journal's thread needs its turn soon, or a busy loop makes every answer wait for it.
    sys.setswitchinterval(5e-5)
    # Rooms are values without cycles: looking for cycles among thousands of them often is wasted time.
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)
    clock = SystemClock()
    journal = JOURNALS[settings.journal](settings.data, settings.durability)
    host = Host(games, journal, clock, settings)
    tokens = Tokens.in_folder(settings.data)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        await host.start()
        yield
        await host.stop()

    class Server(uvicorn.Server):
        async def startup(self, sockets: Any = None) -> None:
            await super().startup(sockets)
            if self.started:
                greet(self.servers[0].sockets[0].getsockname()[1])

        def handle_exit(self, sig: int, frame: FrameType | None) -> None:  # noqa: ARG002
            # As uvicorn's own, which besides raises the signal again at the end: a clean stop is no failure.
            if self.should_exit and sig == signal.SIGINT:
                self.force_exit = True
            self.should_exit = True

    config = uvicorn.Config(
        web_app(Api(host, tokens, settings), lifespan),
        host=settings.host,
        port=settings.port,
        ws=Sockets(host, tokens, clock, settings),  # type: ignore[arg-type]
        lifespan="on",
        log_config=None,
        access_log=False,  # addresses can hold tokens
        server_header=False,
        timeout_graceful_shutdown=STOP_PATIENCE,
        limit_concurrency=None,
    )
    Server(config).run()
