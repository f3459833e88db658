"""Language models over HTTP: the tools at /mcp, where each bot has a client within this process."""

import asyncio
import logging
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

import msgspec
from mcp.server.context import ServerRequestContext
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.requests import Request
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from parlour.client import Client, Connection
from parlour.client.connection import Hear, refusal_of
from parlour.errors import Code, Refused
from parlour.journal.base import Trouble
from parlour.mcp.protocol import make_server
from parlour.mcp.tools import ToolPlayer
from parlour.server.api.callers import no_token
from parlour.server.api.calls import caller_of, peer_of, refusal
from parlour.server.api.forwarding import HeaderList, HttpCall, answer_by, read_whole, replayed
from parlour.server.clock import Rounds
from parlour.server.components import Components
from parlour.server.gateway.sockets import Sockets
from parlour.server.limits import Quota
from parlour.server.refusals import excuse
from parlour.server.sessions import Identities
from parlour.server.settings import Settings
from parlour.server.tasks import Tasks
from parlour.server.tokens import Bearer, Tokens, bearer_token

PATH = "/mcp"
IDLE = 300.0
"""Seconds after its last call for which a bot is still here; then its absence begins."""
LOOK_EVERY = 15.0
MOST_CALLS = 20
"""Calls of one bot that may wait for their answers at once."""
PLAYER = "parlour.player"
"""Where a request's scope has its player."""
STOPPING = "the server restarts: it is not known whether this happened; observe the room in a moment"


class CallSource(NamedTuple):
    """Where a call came from, as the limits want to know it."""

    peer: str | None
    forwarded: HeaderList
    """What proxies say of it."""
    address: str

    @classmethod
    def of(cls, request: Request, settings: Settings) -> "CallSource":
        forwarded = [one for one in request.headers.raw if one[0] == b"x-forwarded-for"]
        return cls(peer_of(request), forwarded, caller_of(request, settings.proxies))


class WithinServer:
    """How a client reaches the server whose process it is in: by a pair of sockets, and by its app."""

    def __init__(self, sockets: Sockets, app: ASGIApp, source: CallSource) -> None:
        self._sockets = sockets
        self._app = app
        self.source = source
        """Where the last call came from: what it leads to counts for that address."""

    async def open(self, token: str, hear: Hear) -> Connection:
        ours, theirs = socket.socketpair()
        address = self.source.address
        try:
            self._sockets.limits.admit(address)
        except Refused:
            ours.close()
            theirs.close()
            raise
        server_side = self._sockets.new_socket()
        server_side.address = address  # which it gives back when it closes
        await asyncio.get_running_loop().connect_accepted_socket(lambda: server_side, ours)
        return await Connection.open("http://localhost", token, hear, theirs)

    async def call(self, method: str, path: str, body: Any, token: str | None) -> Any:
        headers = [(b"content-type", b"application/json"), *self.source.forwarded]
        if token is not None:
            headers.append((b"authorization", f"Bearer {token}".encode()))
        content = b"" if body is None else msgspec.json.encode(body)
        call = HttpCall(0, method, path, b"", headers, content, self.source.peer or "", 0)
        answer = await answer_by(self._app, call)
        told = msgspec.json.decode(answer.body)
        if answer.status >= 400:
            raise refusal_of(told)
        return told


class _Player(NamedTuple):
    """A bot that plays by the tools here."""

    tools: ToolPlayer
    transport: WithinServer


class LanguageModels:
    """The tools at /mcp: who calls is known by the token of a bot, and plays by a client of its own.

    Nothing is remembered from call to call but the clients, so any worker can answer; each has its own.
    """

    def __init__(self, parlour: Components, tokens: Tokens, sockets: Sockets, app: ASGIApp) -> None:
        self._sessions = parlour.sessions
        self._identities = Identities(tokens, parlour.sessions)
        self._clock = parlour.clock
        self._settings = parlour.settings
        self._sockets = sockets
        self._app = app
        self._players: dict[Bearer, _Player] = {}
        self._used: dict[Bearer, float] = {}
        """When each was last called, for those whom nobody calls now."""
        self._calls = Quota("calls", 0, player=MOST_CALLS)
        self._is_stopping = False
        self._tasks = Tasks()
        logging.getLogger("mcp").setLevel(logging.WARNING)
        self._manager = StreamableHTTPSessionManager(
            make_server(_player_of), json_response=True, stateless=True
        )
        self.route = Route(PATH, self, methods=["POST"])

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Answer calls while this lasts."""
        rounds = Rounds(self._clock, LOOK_EVERY, self._close_idle)
        rounds.start()
        try:
            async with self._manager.run():
                yield
        finally:
            rounds.stop()

    async def stop(self) -> None:
        """Answer all calls that wait: the server is about to stop."""
        self._is_stopping = True
        for player in tuple(self._players.values()):
            await player.tools.client.close(Refused(Code.OUTCOME_UNKNOWN, STOPPING))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        request = Request(scope)
        try:
            who = await self._identify(request)
            body = await read_whole(receive)
            if self._is_stopping:
                raise Refused(Code.NOT_SAVED, "the server is about to stop; try again in a moment")
            self._calls.take(player=who.player)
        except (Refused, Trouble) as error:
            await refusal(excuse(error))(scope, receive, send)
            return
        try:
            scope[PLAYER] = self._player(who, request).tools
            await self._manager.handle_request(scope, replayed(body, receive), send)
        finally:
            self._calls.give_back(player=who.player)
            self._used[who] = self._clock.now()

    async def _identify(self, request: Request) -> Bearer:
        """Who calls; only bots may. Host and origin do not matter: no page of another site has the token."""
        who = await self._identities.find(bearer_token(request.headers.get("authorization")), None)
        if who is None:
            raise no_token()
        player = await self._sessions.known(who.player)
        if player is None or not player.bot:
            raise Refused(Code.BAD_TOKEN, "expected the token of a bot, got that of a person")
        return who

    def _player(self, who: Bearer, request: Request) -> _Player:
        source = CallSource.of(request, self._settings)
        player = self._players.get(who)
        if player is None or player.tools.client.has_given_up:
            transport = WithinServer(self._sockets, self._app, source)
            token = bearer_token(request.headers.get("authorization"))
            player = _Player(ToolPlayer(Client("", token, transport=transport)), transport)
            self._players[who] = player
        self._used.pop(who, None)
        player.transport.source = source
        return player

    def _close_idle(self) -> None:
        """Hang up for those who have not called for long."""
        before = self._clock.now() - IDLE
        for who in [who for who, used in self._used.items() if used < before]:
            del self._used[who]
            self._tasks.start(self._players.pop(who).tools.client.close())


def _player_of(context: ServerRequestContext[Any, Request]) -> ToolPlayer:
    assert context.request is not None  # noqa: S101 - every call came by one
    player: ToolPlayer = context.request.scope[PLAYER]
    return player
