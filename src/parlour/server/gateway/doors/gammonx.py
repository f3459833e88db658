"""The GammonX door: negotiations and calls over HTTP, and the connections to the hub."""

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Mapping
from typing import Any
from urllib.parse import parse_qsl

import structlog
from msgspec.structs import replace
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route
from websockets.frames import CloseCode

from parlour.doors.gammonx.hub import GammonX
from parlour.doors.gammonx.joining import (
    CANCELLED,
    FOUND,
    JOIN_ERROR,
    QUEUE_ERROR,
    WAITING,
    failed,
    ok,
    read_wish,
)
from parlour.doors.gammonx.terms import CLOCK, new_match_id, read_guid
from parlour.errors import Code, Refused
from parlour.journal.base import Trouble
from parlour.journal.shards import LOBBY
from parlour.protocols.signalr import HANDSHAKE_TIMEOUT, PING_AFTER, PINGED, SILENCE, farewell, negotiated
from parlour.server.api.calls import caller_of, read_body, reply
from parlour.server.clock import Clock, Handle, Rounds
from parlour.server.gateway.backing import Backing
from parlour.server.gateway.connections import Client
from parlour.server.gateway.outboxes import Peer, framed
from parlour.server.gateway.upgrade import Door, Upgrade, UpgradeRefused
from parlour.server.gateway.websocket import Socket
from parlour.server.limits import CREATE_COST, FRAME_COST, Limits, Quota, cost_of, too_fast
from parlour.server.refusals import excuse
from parlour.server.sessions import Identities
from parlour.server.settings import Settings
from parlour.server.tokens import Tokens, bearer_token, brought
from parlour.wire import EnterByDoor
from parlour.wire import Request as Asked

log = structlog.get_logger()

HUB_PATH = GammonX.path
PREFIXES = ("", "/game")
"""The paths of this door; the original's clients use either."""
CHECK_EVERY = 5.0
TAKE_OVER = 2.0
"""Seconds in which a connection must answer a ping before another one with its player's id replaces it."""
TAKE_OVER_LOOK_EVERY = 0.1
MAX_HELD = 100
"""Calls that may wait until it is known whether the player may join."""
MAX_NEGOTIATED = 10_000
NEGOTIATED_BY_ADDRESS = 500
"""Negotiated connections that are not open: in total the oldest lapse; of one address more are refused."""

Answer = Callable[[Request], Awaitable[dict[str, Any]]]


class HubConnection:
    """One connection to the hub."""

    def __init__(
        self, door: "GammonxDoor", socket: Socket, known: str | None, query: Mapping[str, str]
    ) -> None:
        self.socket = socket
        clock = door.clock
        self.hub = GammonX(clock.date, door.parlour.pseudonyms.in_match, self._part_soon, self._plan_warning)
        self._warning: Handle | None = None
        """The call that tells the player that half of the time for the turn is over."""
        self.over = False
        self.token: str | None = None
        """The connection token, if it was negotiated."""
        self.places: set[tuple[str, str]] = set()
        """The matches and players that it represents."""
        self._door = door
        self._known = known
        """The player of our own token, if the client sent one."""
        self._query = query
        self._client: Client | None = None
        self._held: list[Asked] | None = None
        """Calls that wait while another connection may still have this player's place."""
        self._heard = self._pinged = door.clock.now()

    name = GammonX.name

    @property
    def player(self) -> str:
        return self._known or ("gammonx:?" if self._client is None else self._client.player)

    # Called by the socket.

    def begin(self) -> None:
        """Nothing: clients send first."""

    def receive(self, message: Any, *, text: bool) -> None:
        self._heard = self._door.clock.now()
        try:
            records = self.hub.records(str(message, "utf-8") if text else bytes(message))
            if not records:
                self.socket.may_ask(None, FRAME_COST)  # a part of a record, or nothing
            for record in records:
                self._hear(record)
                if self.hub.left or not self.socket.is_open:
                    break
        except UnicodeDecodeError:
            self._hang_up("expected text in UTF-8, got other bytes")
        except Refused as why:
            self._hang_up(why.message)
        else:
            if self.hub.left:
                self.socket.close(CloseCode.NORMAL_CLOSURE, "")

    def _hear(self, record: bytes) -> None:
        """Take a record, and charge it: by what it asks, or for finding out that it asks nothing."""
        opened = self.hub.is_open
        asked = self.hub.understand(record)
        self._flush()
        if self.hub.is_open and not opened:
            self._come_back()
        if asked is not None:
            self._take(asked)
        else:
            self.socket.may_ask(None, FRAME_COST)

    def catch_up(self) -> None:
        """Close the connection of a client that does not read: players cannot skip steps."""

    def end(self) -> None:
        self.over = True
        self._plan_warning(None)
        self._door.lose(self)
        if self._client is not None:
            self._door.parlour.gateway.lose(self._client)

    # Called by the door.

    def check(self, now: float) -> None:
        """Ping the client; close the connection if the client has been silent for too long."""
        if now - self._heard > (SILENCE if self.hub.is_open else HANDSHAKE_TIMEOUT):
            self._hang_up("nothing was heard of this client for too long")
        elif self.hub.is_open and now - self._pinged >= PING_AFTER:
            self._pinged = now
            self.socket.write(framed(PINGED))

    def part(self) -> None:
        """Send that the server stops and comes back."""
        if self.hub.is_open:
            self.socket.write(framed(farewell(again=True)))

    def go_on(self, asked: Asked) -> None:
        """Go on with a call: this connection has the player's place now."""
        held, self._held = self._held or [], None
        self._pass_on(asked)
        for one in held:
            self._do(one)

    def stay_out(self, asked: Asked) -> None:
        """Refuse a call: another connection has the player's place, and answers."""
        if not self.over:
            held, self._held = self._held or [], None
            self.hub.refuse(asked, Refused(Code.NAME_TAKEN, "this player is connected already"))
            self._flush()
            for one in held:
                self._do(one)

    def _plan_warning(self, seconds: float | None) -> None:
        if self._warning is not None:
            self._warning.cancel()
        clock = self._door.clock
        self._warning = None if seconds is None else clock.call_at(clock.now() + seconds, self._warn)

    def _warn(self) -> None:
        self.hub.warn()
        self._flush()

    def _part_soon(self) -> None:
        """Close the connection at the end of this turn, after everything else is sent."""
        asyncio.get_running_loop().call_soon(self._hang_up)

    # How calls are carried out.

    def _come_back(self) -> None:
        """Give a player their seat back in the match that the address names, without a call."""
        try:
            match = read_guid(self._query.get("matchid"), "matchId")
            player = read_guid(self._query.get("playerid"), "playerId")
        except Refused:
            return  # the address names no match; the client will ask for one
        self._take(self.hub.back(match, player))

    def _take(self, asked: Asked) -> None:
        if self.socket.may_ask(None, cost_of(asked.wish)):
            self._do(asked)
        else:
            self._refuse(asked, too_fast())

    def _do(self, asked: Asked) -> None:
        if self._held is not None:
            if len(self._held) < MAX_HELD:
                self._held.append(asked)
            else:
                self._refuse(asked, too_fast())
        elif isinstance(asked.wish, EnterByDoor):
            self._enter(asked)
        else:
            self._pass_on(asked)

    def _enter(self, asked: Asked) -> None:
        """Enter a match; a client with our own token is the player that it names."""
        player = self._known or self._door.parlour.pseudonyms.player(asked.ref.player)
        if self._client is None or self._client.player != player:
            self._client = self._door.parlour.gateway.connect(self.hub, self.socket, player)
        if self._known is not None:
            self._pass_on(asked)
            return
        self._held = []
        self._door.place(self, asked)

    def _pass_on(self, asked: Asked) -> None:
        if self._client is None:
            self._refuse(asked, Refused(Code.NOT_JOINED, "expected JoinMatch first"))
        else:
            self._door.parlour.gateway.receive(self._client, asked)

    def _refuse(self, asked: Asked, why: Refused) -> None:
        self.hub.refuse(asked, why)
        self._flush()

    def _hang_up(self, why: str | None = None) -> None:
        self._flush()
        if self.hub.is_open:
            self.socket.write(framed(farewell(why)))
        self.socket.close(CloseCode.NORMAL_CLOSURE, "")

    def _flush(self) -> None:
        for frame in self.hub.frames():
            self.socket.write(framed(frame))


HTTP_STATUS: dict[str, int] = {
    Code.TOO_FAST: 429, Code.TOO_MANY: 429, Code.NOT_SAVED: 503, Code.OUTCOME_UNKNOWN: 503
}  # fmt: skip
"""The status of a refused call; 400 for all others."""


class GammonxDoor(Door):
    """All connections to the hub, and the HTTP calls before them."""

    def __init__(self, parlour: Backing, tokens: Tokens, limits: Limits, settings: Settings) -> None:
        self.parlour = parlour
        self.clock: Clock = parlour.clock
        self._identities = Identities(tokens, parlour.sessions)
        self._limits = limits
        self._settings = settings
        self._negotiated: dict[str, tuple[float, str]] = {}
        """Unused connection tokens, with the time and the address of their negotiation."""
        self._promised = Quota("negotiated connections", 0, address=NEGOTIATED_BY_ADDRESS)
        self._used: set[str] = set()
        self._connections: set[HubConnection] = set()
        self._places: dict[tuple[str, str], HubConnection] = {}
        """Which connection represents which player in which match."""
        self._rounds = Rounds(self.clock, CHECK_EVERY, self._sweep)

    # Called by sockets.

    paths = tuple(prefix + HUB_PATH for prefix in PREFIXES)

    def key_of(self, path: str) -> str:  # noqa: ARG002
        return LOBBY  # where its matches are made

    def enter(self, socket: Socket, upgrade: Upgrade) -> tuple[Peer, Mapping[str, str]]:
        query = {name.lower(): value for name, value in parse_qsl(upgrade.query)}
        given = bearer_token(upgrade.request.headers.get("Authorization"))
        if given is None:
            given = query.get("access_token") or query.get("token")
        bearer = self._identities.bearer(brought(given))  # cookies do not count, so that any page may connect
        socket.bearer = bearer
        connection = HubConnection(self, socket, bearer and bearer.player, query)
        if "id" in query:
            self._redeem(query["id"], connection)
        self._connections.add(connection)
        return connection, {}

    async def _caller(self, request: Request, id: str) -> str:
        """The player who calls: the one of our own token, else the one with this id."""
        bearer = await self._identities.find(brought(bearer_token(request.headers.get("authorization"))))
        return self.parlour.pseudonyms.player(id) if bearer is None else bearer.player

    def _redeem(self, token: str, connection: HubConnection) -> None:
        if token in self._used:
            raise UpgradeRefused(409, "this connection is open already\n")
        made = self._forget_negotiated(token)
        if made is None or self.clock.now() - made > HANDSHAKE_TIMEOUT:
            raise UpgradeRefused(404, "there is no such connection; negotiate first\n")
        connection.token = token
        self._used.add(token)

    def _forget_negotiated(self, token: str) -> float | None:
        """Remove a connection token; returns when it was made, if it was there."""
        made, address = self._negotiated.pop(token, (None, ""))
        if made is not None:
            self._promised.give_back(address=address)
        return made

    def lose(self, connection: HubConnection) -> None:
        """Remove a closed connection."""
        self._connections.discard(connection)
        self._used.discard(connection.token or "")
        for place in connection.places:
            if self._places.get(place) is connection:
                del self._places[place]

    def place(self, connection: HubConnection, asked: Asked) -> None:
        """Let a connection represent a player, unless another one does and answers pings."""
        other = self._places.get((asked.room or "", asked.ref.player))
        if other is None or other is connection:
            self._give_place(connection, asked)
        else:
            other.socket.ping()
            self._look(other, connection, asked, self.clock.now() + TAKE_OVER)

    def _look(self, other: HubConnection, connection: HubConnection, asked: Asked, until: float) -> None:
        now = self.clock.now()
        if other.over or (not other.socket.lives and now >= until):
            other.socket.cut()
            self._give_place(connection, asked)
        elif other.socket.lives:
            connection.stay_out(asked)
        else:
            self.clock.call_at(
                now + TAKE_OVER_LOOK_EVERY, lambda: self._look(other, connection, asked, until)
            )

    def _give_place(self, connection: HubConnection, asked: Asked) -> None:
        if not connection.over:
            place = (asked.room or "", asked.ref.player)
            self._places[place] = connection
            connection.places.add(place)
            connection.go_on(asked)

    # Time.

    def start(self) -> None:
        """Start the pings."""
        self._rounds.start()

    async def stop(self) -> None:
        """Stop the pings."""
        self._rounds.stop()

    def _sweep(self) -> None:
        now = self.clock.now()
        for connection in tuple(self._connections):
            connection.check(now)
        for token in [
            token for token, (made, _) in self._negotiated.items() if now - made > HANDSHAKE_TIMEOUT
        ]:
            self._forget_negotiated(token)

    # HTTP.

    @property
    def routes(self) -> list[BaseRoute]:  # type: ignore[override]
        """Its HTTP calls."""
        calls: dict[str, tuple[str, Answer]] = {
            "/api/matches/join": (JOIN_ERROR, self._join),
            "/api/matches/queues/{queue}": (QUEUE_ERROR, self._poll),
            "/api/matches/queues/{queue}/cancel": (QUEUE_ERROR, self._cancel),
            f"{HUB_PATH}/negotiate": ("NEGOTIATE_ERROR", self._negotiate),
        }
        return [
            Route(prefix + path, self._serve(*call), methods=["POST", "OPTIONS"])
            for path, call in calls.items()
            for prefix in PREFIXES
        ]

    def _serve(self, code: str, answer: Answer) -> Callable[[Request], Awaitable[Response]]:
        async def serve(request: Request) -> Response:
            headers = allowing(request)
            try:
                self._limits.check_call(caller_of(request, self._settings.proxies), 1.0)
                if request.method == "OPTIONS":
                    return Response(status_code=204, headers=headers)
                return reply(await answer(request), 200, headers)
            except (Refused, Trouble) as error:
                why = excuse(error)
                return reply(failed(code, why), HTTP_STATUS.get(why.code, 400), headers)
            except ClientDisconnect:
                return Response(status_code=400)  # the client has disconnected

        return serve

    async def _join(self, request: Request) -> dict[str, Any]:
        address = caller_of(request, self._settings.proxies)
        self._limits.check_call(address, CREATE_COST)
        wanted = read_wish(await read_body(request))
        player = await self._caller(request, wanted.player)
        kind, id = wanted.kind, new_match_id(secrets.token_bytes(16))
        wish = replace(kind.wish, bot=wanted.level)
        ticket = await self.parlour.pairing.meet(player, wish, id, CLOCK, address)
        match = ticket.room or ticket.at
        return ok(matchId=match, queueId=match, status=WAITING)

    async def _poll(self, request: Request) -> dict[str, Any]:
        queue, player = await self._asker(request)
        if self.parlour.pairing.is_found(player, queue):
            return ok(queueId=None, status=FOUND, matchId=queue)
        return ok(queueId=queue, status=WAITING, matchId=None)

    async def _cancel(self, request: Request) -> dict[str, Any]:
        queue, player = await self._asker(request)
        await self.parlour.pairing.unqueue(player, queue)
        return ok(queueId=queue, status=CANCELLED, matchId=None)

    async def _asker(self, request: Request) -> tuple[str, str]:
        queue = read_guid(request.path_params["queue"], "queueId")
        wanted = read_wish(await read_body(request))
        return queue, await self._caller(request, wanted.player)

    async def _negotiate(self, request: Request) -> dict[str, Any]:
        version = 1 if request.query_params.get("negotiateVersion", "0") not in ("0", "") else 0
        public, token = secrets.token_urlsafe(16), secrets.token_urlsafe(16)
        address = caller_of(request, self._settings.proxies)
        self._promised.take(address=address)
        if len(self._negotiated) >= MAX_NEGOTIATED:
            self._forget_negotiated(next(iter(self._negotiated)))
        self._negotiated[token if version else public] = self.clock.now(), address
        return negotiated(version, public, token)


def allowing(request: Request) -> dict[str, str]:
    """CORS headers: pages of any site may call, since nothing here depends on a cookie."""
    origin = request.headers.get("origin")
    if origin is None:
        return {}
    return {
        "Access-Control-Allow-Origin": origin,
        "Access-Control-Allow-Credentials": "true",
        "Access-Control-Allow-Methods": "POST",
        "Access-Control-Allow-Headers": request.headers.get("access-control-request-headers", "content-type"),
        "Vary": "Origin",
    }
