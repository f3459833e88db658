"""The XsOs door on the network: Socket.IO connections in front of `doors/xsos.py`."""

import asyncio
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qs

import msgspec
import structlog
from engineio import packet as engine_packet
from socketio.packet import EVENT
from starlette.requests import HTTPConnection
from starlette.routing import Route
from starlette.types import Message, Receive, Scope, Send
from websockets.frames import CloseCode

from parlour.doors.xsos import Told, Xsos, XsosAnswer
from parlour.errors import Code, Refused
from parlour.server import metrics
from parlour.server.api.calls import caller_of, refusal
from parlour.server.clock import Clock, Rounds
from parlour.server.gateway.doors import engine_io_3
from parlour.server.gateway.doors.socket_io import (
    MAX_UNSENT,
    Json,
    Packet,
    SocketIoServer,
    count_events,
    quiet,
    readable_post,
)
from parlour.server.gateway.doors.xsos_sessions import Session, SessionSocket
from parlour.server.gateway.outboxes import Peer
from parlour.server.gateway.upgrade import Door, Upgrade, UpgradeRefused
from parlour.server.gateway.websocket import Socket
from parlour.server.limits import CREATE_COST, FRAME_COST, STRIKES, Limits, Quota, too_fast
from parlour.server.settings import Settings
from parlour.server.tasks import Tasks

log = structlog.get_logger()

XSOS_PATH = "/socket.io/"
EXPIRE_EVERY = 5.0
"""Seconds between two looks for players who are away for too long."""
SPOKEN = ("3", "4")
"""Versions of Engine.IO: Socket.IO 2 speaks the first, 3 and 4 the second."""
HELD = 64 * 1024 * 1024
HELD_FOR_ADDRESS = 8 * 1024 * 1024
"""Bytes in seats, in queues and in requests at most: in total, and for one address."""
LITTLE = 4096
"""Bytes that may wait for any client, even if too much waits for its address."""
_SESSION = "parlour.session"


def _over() -> Refused:
    return Refused(Code.NOT_FOUND, "there is no such session any more; connect again")


class XsosDoor(Door):
    """Passes Socket.IO messages to the door, and the door's messages to the clients."""

    def __init__(self, limits: Limits, clock: Clock, settings: Settings) -> None:
        self._limits = limits
        self._clock = clock
        self._settings = settings
        self._held = Quota("bytes at the XsOs door", HELD, address=HELD_FOR_ADDRESS)
        self._door = Xsos(self._arrived, self._whose, self._held, referee=settings.xsos_referee)
        self._sessions: dict[str, Session] = {}
        self._by_sid: dict[str, Session] = {}
        self._rounds = Rounds(clock, EXPIRE_EVERY, self._expire)
        self._speaking = Tasks()
        self._sio = SocketIoServer(
            async_mode="asgi",
            async_handlers=False,  # in the order of arrival
            serializer=Packet,
            json=Json,
            logger=quiet,
            engineio_logger=quiet,
            cors_allowed_origins="*",  # there is no cookie here that another site's page could misuse
            http_compression=False,
            max_http_buffer_size=settings.max_frame,
        )
        self._engine = self._sio.eio
        self._pass_through = dict(self._engine.handlers)
        for event, listen in (("connect", self._open), ("message", self._take), ("disconnect", self._close)):
            self._engine.on(event, listen)
        for event, answer in (("connect", self._enter), ("disconnect", self._exit)):
            self._sio.on(event, answer)
        for event in ("client_msg", "unknown", "unreadable"):
            self._sio.on(event, self._answering(event))
        self.routes = [Route(XSOS_PATH, self)]

    paths = (XSOS_PATH,)

    def key_of(self, path: str) -> str:  # noqa: ARG002
        return "xsos"

    def start(self) -> None:
        """Look now and then for players who are away for too long."""
        self._rounds.start()

    async def stop(self) -> None:
        """Close all sessions, so that clients come back to the next server."""
        self._rounds.stop()
        for engine in list(self._engine.sockets.values()):
            await engine.close(wait=False)
        await self._sio.shutdown()

    # Requests.

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request to this path."""
        session: Session | None = None
        begun = False

        async def beginning(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            session = self._admit(scope)
            await self._serve(session, scope, receive, beginning)
        except Refused as why:
            metrics.refusals.labels("xsos", why.code).inc()
            await self._turn_away(why, scope, receive, send)
        except Exception as error:  # noqa: BLE001 - the library's own, of sessions that end at a bad moment
            log.warning("socket_io_failed", error=repr(error)[:200])
            if not begun:
                await self._turn_away(_over(), scope, receive, send)
        finally:
            if session is not None and session.id is None:
                self.forget_place(session)

    def enter(self, socket: Socket, upgrade: Upgrade) -> tuple[Peer, Mapping[str, str]]:
        """Accept a WebSocket to this path."""
        if upgrade.path != XSOS_PATH:
            raise Refused(Code.NOT_FOUND, "there is no socket at this address")
        scope = _scope_of(socket, upgrade)
        try:
            session = self._admit(scope)
        except Refused as why:
            metrics.refusals.labels("xsos", why.code).inc()
            answer = refusal(why)
            headers = {"Access-Control-Allow-Origin": "*"}
            raise UpgradeRefused(answer.status_code, bytes(answer.body).decode(), **headers) from None
        return SessionSocket(self, session, scope, socket), {}

    async def serve_websocket(self, websocket: SessionSocket, session: Session, scope: Scope) -> None:
        """Serve a WebSocket until it closes; its session ends with it."""
        session.websocket = websocket
        self.forget_place(session)  # the socket has one of its own
        try:
            await self._sio.handle_request(scope, websocket.hear, websocket.say)
        except Exception as error:  # noqa: BLE001 - as above
            log.warning("socket_io_failed", error=repr(error)[:200])
        finally:
            await self._end(session)
            websocket.socket.close(CloseCode.NORMAL_CLOSURE, "")

    async def _serve(self, session: Session, scope: Scope, receive: Receive, send: Send) -> None:
        method = scope["method"]
        if method in session.requests:
            await self._end(session)  # as in Engine.IO: a client that does so is broken
            raise Refused(Code.MALFORMED, f"expected one {method} of a session at a time, got another")
        session.requests.add(method)
        self.count(session)
        try:
            if method == "POST":
                scope, receive = await self._read_post(session, scope, receive)
            elif method == "GET":
                send = self._watch_poll(session, _written_anew(send) if session.speaks_old else send)
            await self._sio.handle_request(scope, receive, send)
        finally:
            session.requests.discard(method)
            if method == "POST":
                self._held.give_back(session.reading, address=session.address)
                session.reading = 0
            self.count(session)

    def _admit(self, scope: Scope) -> Session:
        """The session of a request; a request without one begins one."""
        request = HTTPConnection(scope)
        query = parse_qs(scope["query_string"].decode("latin-1"))
        spoken = query.get("EIO", ["none"])[0][:20]
        if spoken not in SPOKEN or "j" in query:
            got = "j, which is JSONP" if spoken in SPOKEN else f"EIO={spoken}"
            raise Refused(Code.MALFORMED, f"expected EIO=3 or EIO=4 (Socket.IO 2, 3 and 4), got {got}")
        address = caller_of(request, self._settings.proxies)
        if "sid" in query:
            self._limits.check_call(address, 1.0)
            session = self._sessions.get(query["sid"][0])
            if session is None:
                raise _over()
            if session.spoken != spoken:
                raise Refused(Code.MALFORMED, f"expected EIO={session.spoken} as before, got EIO={spoken}")
            return session
        self._limits.check_call(address, CREATE_COST)
        session = scope[_SESSION] = Session(address, self._limits, spoken)
        if scope["type"] == "http":
            self._limits.admit(address)
            session.has_place = True
            metrics.connections.labels("xsos").inc()
        if session.speaks_old:  # the library must not see it
            scope["query_string"] = scope["query_string"].replace(b"EIO=3", b"EIO=4")
        return session

    async def _turn_away(self, why: Refused, scope: Scope, receive: Receive, send: Send) -> None:
        response = refusal(why)
        response.headers["access-control-allow-origin"] = "*"
        await response(scope, receive, send)

    def _watch_poll(self, session: Session, send: Send) -> Send:
        session.ask_more()

        async def sending(message: Message) -> None:
            session.answer_poll(count_events(message.get("body", b"")))
            await send(message)

        return sending

    async def _read_post(self, session: Session, scope: Scope, receive: Receive) -> tuple[Scope, Receive]:
        """The request with its body read, if that is packets; anything else ends the session."""
        limit = self._settings.max_frame
        body, more = b"", True
        while more and len(body) <= limit:
            event = await receive()
            part = event.get("body", b"")
            self._held.take(len(part), address=session.address)
            session.reading += len(part)
            body += part
            more = event.get("more_body", False)
        if len(body) > limit:
            await self._end(session)
            raise Refused(Code.TOO_LARGE, f"expected at most {limit} bytes, got more")
        try:
            if session.speaks_old:
                body = self._read_old(session, body)
            if not readable_post(body):
                why = "expected Engine.IO packets without binary parts, got something else"
                raise Refused(Code.MALFORMED, why)
            self._charge_post(session, body)
        except Refused:
            await self._end(session)
            raise

        async def received() -> Message:
            return {"type": "http.request", "body": body, "more_body": False}

        # A chunked body has no length, and the library relies on that alone.
        headers = [(name, value) for name, value in scope["headers"] if name != b"content-length"]
        return {**scope, "headers": [*headers, (b"content-length", str(len(body)).encode())]}, received

    def _charge_post(self, session: Session, body: bytes) -> None:
        """Charge every packet, as every frame of a WebSocket is; a client that never waits is refused."""
        for _ in body.split(b"\x1e"):
            self.may_ask(session, FRAME_COST)
        if session.strikes > STRIKES:
            metrics.lines_cut.labels("too_fast").inc()
            raise too_fast()

    def _read_old(self, session: Session, body: bytes) -> bytes:
        """Translate a body of Engine.IO 3 into 4; a ping in it is answered at the next poll."""
        packets = engine_io_3.read_body(body)
        if engine_io_3.PONG.encode() in packets.split(b"\x1e"):
            self.answer_ping(session)
        return packets

    # Engine.IO.

    def answer_ping(self, session: Session) -> None:
        """Answer the ping of an Engine.IO 3 client, which the library does not expect."""
        engine = self._engine.sockets.get(session.id)
        if engine is not None:
            engine.queue.put_nowait(engine_packet.Packet(engine_packet.PONG))

    async def _open(self, id: str, environ: dict[str, Any]) -> Any:
        session: Session = environ["asgi.scope"][_SESSION]
        session.id = id
        self._sessions[id] = session
        refused = await self._pass_through["connect"](id, environ)
        if session.speaks_old and refused is None:
            await self._pass_through["message"](id, engine_io_3.CONNECT)
        return refused

    async def _take(self, id: str, packet: Any) -> None:
        if (session := self._sessions.get(id)) is None or await self._cut_clogged(session):
            return
        await self._pass_through["message"](id, packet)
        self.count(session)  # acknowledgements count, too

    async def _close(self, id: str, reason: str) -> None:
        await self._pass_through["disconnect"](id, reason)
        if (engine := self._engine.sockets.get(id)) is not None:
            # A poll would go on waiting. At the next turn: the library may have a last packet to send.
            asyncio.get_running_loop().call_soon(engine.queue.put_nowait, None)
        session = self._sessions.pop(id, None)
        if session is not None:
            self.forget_place(session)
            self._count(session, 0)

    def forget_place(self, session: Session) -> None:
        """Stop counting a session."""
        if session.has_place:
            session.has_place = False
            metrics.connections.labels("xsos").dec()
            self._limits.release(session.address)

    async def _end(self, session: Session) -> None:
        """Close what is still open of a session."""
        engine = self._engine.sockets.get(session.id)
        if engine is not None:
            await engine.close(wait=False, abort=True)

    # Socket.IO.

    async def _enter(self, sid: str, environ: dict[str, Any], auth: Any) -> None:  # noqa: ARG002
        session: Session = environ["asgi.scope"][_SESSION]
        session.connect()
        self._by_sid[sid] = session

    async def _exit(self, sid: str, reason: str) -> None:  # noqa: ARG002
        try:
            told = self._door.gone(sid, self._clock.now())  # the session is still asked what has arrived
            self._by_sid.pop(sid, None)
            await self._tell(told)
        except Exception:
            log.exception("door_failed", door="xsos")

    def _answering(self, event: str) -> Any:
        """The library's handler of an event; it logs bugs, which the library would swallow."""

        async def answer(sid: str, body: msgspec.Raw | None, asked: bool) -> dict[str, Any]:  # noqa: FBT001
            try:
                return await self._hear(event, sid, body, asked=asked)
            except Exception:
                log.exception("door_failed", door="xsos")
                return {"code": Code.INTERNAL_ERROR, "message": "this went wrong on our side"}

        return answer

    async def _hear(self, event: str, sid: str, body: msgspec.Raw | None, *, asked: bool) -> dict[str, Any]:
        session = self._by_sid[sid]
        jumps = self._door.jumps
        answer = self._ask(session, event, sid, body, asked=asked)
        metrics.seq_jumps.inc(self._door.jumps - jumps)
        if answer.code is not None:
            metrics.refusals.labels("xsos", answer.code).inc()
        await self._tell(answer.told)
        return answer.ack

    def _ask(
        self, session: Session, event: str, sid: str, body: msgspec.Raw | None, *, asked: bool
    ) -> XsosAnswer:
        if not self.may_ask(session, 1.0 - FRAME_COST):  # the rest was charged for its packet
            why = too_fast()
        elif event == "unknown":
            why = Refused(Code.UNKNOWN_EVENT, "expected the event client_msg, got another")
        elif event == "unreadable":
            why = Refused(Code.MALFORMED, "expected an event with strict JSON, got something else")
        elif body is None:
            why = Refused(Code.MALFORMED, "expected a message in client_msg, got none")
        else:
            return self._door.receive(sid, bytes(body), self._clock.now(), asked=asked)
        return self._door.refuse(sid, why, asked=asked)

    def may_ask(self, session: Session, cost: float) -> bool:
        """True if all allowances suffice; a client that never waits is disconnected in the end."""
        who = f"xsos:{session.id}"
        if session.websocket is not None:
            return session.websocket.socket.may_ask(who, cost)
        if self._limits.may_ask(session.bucket, who, session.address, cost):
            session.strikes = max(0, session.strikes - 1)
            return True
        session.strikes += 1
        return False

    # Sending.

    async def _tell(self, told: list[Told]) -> None:
        """Send messages to clients; nothing here waits, so that they go out in order."""
        for sid in {sid for sid, _ in told}:
            if (session := self._by_sid.get(sid)) is not None:
                await self._cut_clogged(session)
        for sid, body in told:
            session = self._by_sid.get(sid)
            if session is not None:
                session.tell()
                packet = Packet(EVENT, data=["server_msg", msgspec.Raw(body)])
                await self._engine.send(session.id, packet.encode())
                self.count(session)

    async def _cut_clogged(self, session: Session) -> bool:
        """Disconnect a client that does not read, and return True; it gets what it missed when it comes back.

        That may be a lot at once, so this is checked before more is sent, and not after.
        """
        if not self._is_clogged(session):
            return False
        log.warning("line_cut", door="xsos")
        metrics.lines_cut.labels("unread").inc()
        await self._end(session)
        if session.websocket is not None:
            session.websocket.socket.cut()
        return True

    def _is_clogged(self, session: Session) -> bool:
        engine = self._engine.sockets.get(session.id)
        waiting = 0 if engine is None else engine.queue.unsent
        if waiting + (session.websocket.wire.unsent if session.websocket else 0) > MAX_UNSENT:
            return True
        try:
            self._held.check(0, address=session.address)
        except Refused:
            return waiting > LITTLE
        return False

    def count(self, session: Session) -> None:
        """Count what waits for a session, which may have received some of it."""
        engine = self._engine.sockets.get(session.id) if session.id in self._sessions else None
        self._count(session, 0 if engine is None else engine.queue.unsent)

    def _count(self, session: Session, waiting: int) -> None:
        if waiting != session.counted:
            self._held.change(session.counted, waiting, address=session.address)
            session.counted = waiting

    def _whose(self, sid: str) -> str:
        session = self._by_sid.get(sid)
        return session.address if session else ""

    def _arrived(self, sid: str) -> int:
        session = self._by_sid.get(sid)
        return session.arrived if session else 0

    def _expire(self) -> None:
        told = self._door.expire(self._clock.now())
        self._speaking.start(self._tell(told))


def _scope_of(socket: Socket, upgrade: Upgrade) -> Scope:
    """A WebSocket as an ASGI scope."""
    raw = upgrade.request.headers.raw_items()
    return {
        "type": "websocket",
        "path": XSOS_PATH,
        "query_string": upgrade.query.encode(),
        "headers": [(name.lower().encode(), value.encode("latin-1", "replace")) for name, value in raw],
        "client": (socket.peer or "", 0),
    }


def _written_anew(send: Send) -> Send:
    """Translate the answer to a poll for a client of Engine.IO 3; a refusal stays as it is."""
    start: Message = {}

    async def sending(message: Message) -> None:
        nonlocal start
        if message["type"] == "http.response.start":
            start = message
            return
        body = message.get("body", b"")
        if start["status"] == 200:
            body = engine_io_3.write_body(body)
        headers = [(name, value) for name, value in start["headers"] if name.lower() != b"content-length"]
        await send({**start, "headers": [*headers, (b"content-length", str(len(body)).encode())]})
        await send({**message, "body": body})

    return sending
