"""The XsOs door on the network: Socket.IO lines in front of `doors/xsos.py`."""

import asyncio
from typing import Any
from urllib.parse import parse_qs

import msgspec
import structlog
from socketio.packet import EVENT
from starlette.requests import HTTPConnection
from starlette.routing import BaseRoute, Route, WebSocketRoute
from starlette.types import Message, Receive, Scope, Send

from parlour.doors.xsos import Answer, Told, Xsos
from parlour.errors import Code, Refused
from parlour.server import metrics
from parlour.server.calls import caller_of, refusal
from parlour.server.clock import Clock, Handle
from parlour.server.config import Settings
from parlour.server.limits import CREATE_COST, STRIKES, Limits, too_fast
from parlour.server.socket_io import (
    MAX_UNSENT,
    Json,
    Packet,
    Server,
    Wire,
    count_events,
    quiet,
    readable_frame,
    readable_post,
)

log = structlog.get_logger()

PATH = "/socket.io/"
SWEEP_EVERY = 5.0
"""Seconds between looks for those who are away for too long."""
_SESSION = "parlour.session"


def _over() -> Refused:
    return Refused(Code.NOT_FOUND, "there is no such session any more; connect again")


class Session:
    """One Engine.IO connection: polling, a WebSocket, or first the one and then the other."""

    def __init__(self, address: str, limits: Limits) -> None:
        self.address = address
        self.bucket = limits.new_bucket()
        self.strikes = 0
        self.id: str | None = None
        """Engine.IO's; none before it is let in."""
        self.wire: Wire | None = None
        self._told = 0
        self._before = 0
        self._arrived = 0
        self._polled = 0

    def connect(self) -> None:
        """From here on, what is told is told to a new line."""
        self._before = self._told

    def tell(self) -> None:
        """A message is on its way."""
        self._told += 1

    def answer_poll(self, messages: int) -> None:
        """So many messages went out in the answer to a poll; whether they arrive is not known yet."""
        self._polled += messages

    def ask_more(self) -> None:
        """Whoever polls again, or moves on to a WebSocket, has what came before."""
        self._arrived += self._polled
        self._polled = 0

    @property
    def arrived(self) -> int:
        """How many messages to the line have arrived for certain."""
        return self._arrived + (self.wire.settle() if self.wire else 0) - self._before


class Frames:
    """The frames of one WebSocket, looked at on their way in and counted on their way out."""

    def __init__(self, session: Session, wire: Wire, door: "XsosDoor", receive: Receive, send: Send) -> None:
        session.wire = self._wire = wire
        self._session = session
        self._door = door
        self._receive = receive
        self._send = send

    async def hear(self) -> Message:
        """The next frame; what the library could not read ends the line instead."""
        event = await self._receive()
        if event["type"] != "websocket.receive":
            return event
        frame = event.get("text")
        if frame is None or not readable_frame(frame):
            return await self._hang_up(1003, "expected a Socket.IO packet without binary parts")
        if frame == "5":
            self._session.ask_more()
        if not frame.startswith("42"):
            self._door.may_ask(self._session, 0.5)  # pongs and noise count, too
        if self._session.strikes > STRIKES:
            return await self._hang_up(1008, "too fast")
        return event

    async def _hang_up(self, code: int, reason: str) -> Message:
        await self._send({"type": "websocket.close", "code": code, "reason": reason})
        return {"type": "websocket.disconnect", "code": code}

    async def say(self, message: Message) -> None:
        """Pass a frame on."""
        if message["type"] == "websocket.send" and message["text"] is not None:
            self._wire.write(message["text"])
        await self._send(message)


class XsosDoor:
    """Brings what Socket.IO clients say to the door, and what the door says to them."""

    def __init__(self, limits: Limits, clock: Clock, settings: Settings) -> None:
        self._limits = limits
        self._clock = clock
        self._settings = settings
        self._door = Xsos(self._arrived, referee=settings.xsos_referee)
        self._sessions: dict[str, Session] = {}
        self._lines: dict[str, Session] = {}
        self._sweep: Handle | None = None
        self._speaking: set[asyncio.Task[None]] = set()
        self._sio = Server(
            async_mode="asgi",
            async_handlers=False,  # in the order of arrival
            serializer=Packet,
            json=Json,
            logger=quiet,
            engineio_logger=quiet,
            cors_allowed_origins="*",  # there is no cookie here that a foreign page could misuse
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
        self.routes: list[BaseRoute] = [Route(PATH, self), WebSocketRoute(PATH, self)]

    def start(self) -> None:
        """Look now and then for those who are away for too long."""
        self._sweep = self._clock.call_at(self._clock.now() + SWEEP_EVERY, self._expire)

    async def stop(self) -> None:
        """Let everybody go, so that they come back to the next server."""
        if self._sweep is not None:
            self._sweep.cancel()
        for engine in list(self._engine.sockets.values()):
            await engine.close(wait=False)
        await self._sio.shutdown()

    # Requests.

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Every request and every WebSocket to this path."""
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
                self._limits.release(session.address)

    async def _serve(self, session: Session, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            frames = Frames(session, scope["extensions"]["parlour.wire"]["wire"], self, receive, send)
            try:
                await self._sio.handle_request(scope, frames.hear, frames.say)
            finally:
                await self._end(session)
            return
        if scope["method"] == "POST":
            scope, receive = await self._read_post(session, scope, receive)
        elif scope["method"] == "GET":
            send = self._watch_poll(session, send)
        await self._sio.handle_request(scope, receive, send)

    def _admit(self, scope: Scope) -> Session:
        """The session of a request; whoever brings none begins one."""
        request = HTTPConnection(scope)
        query = parse_qs(scope["query_string"].decode("latin-1"))
        spoken = query.get("EIO", ["none"])[0][:20]
        if spoken != "4" or "j" in query:
            raise Refused(
                Code.MALFORMED,
                f"expected EIO=4, which Socket.IO 3 and 4 speak, got EIO={spoken}; Socket.IO 2 is not spoken",
            )
        address = caller_of(request, self._settings.proxies)
        if "sid" in query:
            self._limits.check_call(address, 1.0)
            session = self._sessions.get(query["sid"][0])
            if session is None:
                raise _over()
            return session
        self._limits.check_call(address, CREATE_COST)
        self._limits.admit(address)
        session = scope[_SESSION] = Session(address, self._limits)
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
        """The request with its body in one piece, when that is packets; what is not ends the session."""
        limit = self._settings.max_frame
        body, more = b"", True
        while more and len(body) <= limit:
            event = await receive()
            body += event.get("body", b"")
            more = event.get("more_body", False)
        if len(body) > limit:
            await self._end(session)
            raise Refused(Code.TOO_LARGE, f"expected at most {limit} bytes, got more")
        if not readable_post(body):
            await self._end(session)
            raise Refused(
                Code.MALFORMED, "expected Engine.IO packets without binary parts, got something else"
            )

        async def received() -> Message:
            return {"type": "http.request", "body": body, "more_body": False}

        # A body in chunks has no length, and the library believes nothing else.
        headers = [(name, value) for name, value in scope["headers"] if name != b"content-length"]
        return {**scope, "headers": [*headers, (b"content-length", str(len(body)).encode())]}, received

    # Engine.IO.

    async def _open(self, id: str, environ: dict[str, Any]) -> Any:
        session: Session = environ["asgi.scope"][_SESSION]
        session.id = id
        self._sessions[id] = session
        metrics.connections.labels("xsos").inc()
        return await self._pass_through["connect"](id, environ)

    async def _take(self, id: str, packet: Any) -> None:
        await self._pass_through["message"](id, packet)
        await self._check_outbox(self._sessions.get(id))  # acknowledgements count, too

    async def _close(self, id: str, reason: str) -> None:
        await self._pass_through["disconnect"](id, reason)
        if (engine := self._engine.sockets.get(id)) is not None:
            # A poll would go on waiting. At the next turn: the library may have a last word to say first.
            asyncio.get_running_loop().call_soon(engine.queue.put_nowait, None)
        session = self._sessions.pop(id, None)
        if session is not None:
            metrics.connections.labels("xsos").dec()
            self._limits.release(session.address)

    async def _end(self, session: Session) -> None:
        """Close what is still open of a session."""
        engine = self._engine.sockets.get(session.id)
        if engine is not None:
            await engine.close(wait=False, abort=True)

    # Socket.IO.

    async def _enter(self, line: str, environ: dict[str, Any], auth: Any) -> None:  # noqa: ARG002
        session: Session = environ["asgi.scope"][_SESSION]
        session.connect()
        self._lines[line] = session

    async def _exit(self, line: str, reason: str) -> None:  # noqa: ARG002
        try:
            told = self._door.gone(line, self._clock.now())  # which still asks what has arrived
            self._lines.pop(line, None)
            await self._tell(told)
        except Exception:
            log.exception("door_failed", door="xsos")

    def _answering(self, event: str) -> Any:
        """What the library calls for an event; it would swallow a bug, so that is logged here."""

        async def answer(line: str, body: msgspec.Raw | None, asked: bool) -> dict[str, Any]:  # noqa: FBT001
            try:
                return await self._hear(event, line, body, asked=asked)
            except Exception:
                log.exception("door_failed", door="xsos")
                return {"code": Code.INTERNAL_ERROR, "message": "this went wrong on our side"}

        return answer

    async def _hear(self, event: str, line: str, body: msgspec.Raw | None, *, asked: bool) -> dict[str, Any]:
        session = self._lines[line]
        jumps = self._door.jumps
        answer = self._ask(session, event, line, body, asked=asked)
        metrics.seq_jumps.inc(self._door.jumps - jumps)
        if answer.code is not None:
            metrics.refusals.labels("xsos", answer.code).inc()
        await self._tell(answer.told)
        return answer.ack

    def _ask(
        self, session: Session, event: str, line: str, body: msgspec.Raw | None, *, asked: bool
    ) -> Answer:
        if not self.may_ask(session, 1.0):
            why = too_fast()
        elif event == "unknown":
            why = Refused(Code.UNKNOWN_EVENT, "expected the event client_msg, got another")
        elif event == "unreadable":
            why = Refused(Code.MALFORMED, "expected an event with strict JSON, got something else")
        elif body is None:
            why = Refused(Code.MALFORMED, "expected a message in client_msg, got none")
        else:
            return self._door.receive(line, bytes(body), self._clock.now(), asked=asked)
        return self._door.refuse(line, why, asked=asked)

    def may_ask(self, session: Session, cost: float) -> bool:
        """Whether there is enough left of everybody's allowance; whoever never waits is cut in the end."""
        if self._limits.may_ask(session.bucket, f"xsos:{session.id}", session.address, cost):
            session.strikes = max(0, session.strikes - 1)
            return True
        session.strikes += 1
        return False

    # Speaking.

    async def _tell(self, told: list[Told]) -> None:
        """Nothing here waits for anybody, so that what is told in order goes out in order."""
        for line, body in told:
            session = self._lines.get(line)
            if session is not None:
                session.tell()
                packet = Packet(EVENT, data=["server_msg", msgspec.Raw(body)])
                await self._engine.send(session.id, packet.encode())
                await self._check_outbox(session)

    async def _check_outbox(self, session: Session | None) -> None:
        """Whoever does not read is cut; they hear what they missed when they come back."""
        engine = self._engine.sockets.get(session.id) if session else None
        if session is None or engine is None:
            return
        if engine.queue.unsent + (session.wire.unsent if session.wire else 0) > MAX_UNSENT:
            log.warning("line_cut", door="xsos")
            await self._end(session)
            if session.wire is not None:
                session.wire.transport.abort()

    def _arrived(self, line: str) -> int:
        session = self._lines.get(line)
        return session.arrived if session else 0

    def _expire(self) -> None:
        self._limits.sweep()
        told = self._door.expire(self._clock.now())
        task = asyncio.get_running_loop().create_task(self._tell(told))
        self._speaking.add(task)
        task.add_done_callback(self._speaking.discard)
        self.start()
