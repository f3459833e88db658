"""HTTP calls that another worker answers, because it owns what they are about: tickets, say."""

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterable

import msgspec
from starlette.routing import Match
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from parlour.errors import Code, Refused
from parlour.journal.base import Trouble
from parlour.journal.shards import room_key
from parlour.server.api.calls import MAX_BODY, refusal
from parlour.server.gateway.upgrade import Door
from parlour.server.refusals import excuse

ONE_ROOM = re.compile("/api/rooms/([^/]+)")
"""The path of a call about one room."""

HeaderList = list[tuple[bytes, bytes]]


class HttpCall(msgspec.Struct, frozen=True, tag=True):
    """A whole HTTP call, with the address that it came from."""

    number: int
    method: str
    path: str
    query: bytes
    headers: HeaderList
    body: bytes
    host: str
    port: int
    scheme: str = "http"


class HttpAnswer(msgspec.Struct, frozen=True, tag=True):
    """The whole answer to an HTTP call."""

    number: int
    status: int
    headers: HeaderList
    body: bytes


Answered = Callable[[str, HttpCall], Awaitable[HttpAnswer | None]]
"""Has the owner of a key answer a call; None if that is this worker."""


class Forwarding:
    """An app that passes calls on to the workers that own what they are about."""

    def __init__(self, app: ASGIApp, keys: "Keys") -> None:
        self._app = app
        self._keys = keys
        self.answer: Answered | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        key = None if self.answer is None or scope["type"] != "http" else self._keys.of(scope["path"])
        if key is None or self.answer is None:
            await self._app(scope, receive, send)
            return
        try:
            body = await read_whole(receive)
            answer = await self.answer(key, call_of(scope, body))
        except (Refused, Trouble) as error:
            await refusal(excuse(error))(scope, receive, send)
            return
        if answer is None:
            await self._app(scope, replayed(body, receive), send)
        else:
            start = {"type": "http.response.start", "status": answer.status, "headers": answer.headers}
            await send(start)
            await send({"type": "http.response.body", "body": answer.body})

    async def run(self, call: HttpCall) -> HttpAnswer:
        """Answer a call that another worker passed on."""
        return await answer_by(self._app, call)


class Keys:
    """Knows the key of an HTTP path, if only the owner of one can answer there."""

    def __init__(self, doors: Iterable[Door], prefixes: dict[str, str]) -> None:
        self._doors = tuple(doors)
        self._prefixes = prefixes

    def of(self, path: str) -> str | None:
        """The key of a path; None: every worker can answer."""
        for prefix, key in self._prefixes.items():
            if path.startswith(prefix):
                return key
        if (room := ONE_ROOM.match(path)) is not None:
            return room_key(room[1])
        asked = {"type": "http", "path": path, "method": "GET", "root_path": ""}
        for door in self._doors:
            if any(route.matches(asked)[0] is not Match.NONE for route in door.routes):
                return door.key_of(path)
        return None


async def answer_by(app: ASGIApp, call: HttpCall) -> HttpAnswer:
    """The whole answer that an app gives to a call."""
    headers: HeaderList = []
    body: list[bytes] = []
    status = 500

    async def send(message: Message) -> None:
        nonlocal status
        if message["type"] == "http.response.start":
            status = message["status"]
            headers.extend(message.get("headers", ()))
        else:
            body.append(message.get("body", b""))

    await app(scope_of(call), replayed(call.body, _never), send)
    return HttpAnswer(call.number, status, headers, b"".join(body))


def call_of(scope: Scope, body: bytes) -> HttpCall:
    """A request as it is passed on; it gets its number when it is sent."""
    host, port = scope.get("client") or ("", 0)
    headers = [(bytes(name), bytes(value)) for name, value in scope["headers"]]
    query = scope.get("query_string", b"")
    return HttpCall(0, scope["method"], scope["path"], query, headers, body, host, port, scope["scheme"])


def scope_of(call: HttpCall) -> Scope:
    """The request of a call, for an app."""
    return {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "method": call.method,
        "scheme": call.scheme,
        "path": call.path,
        "raw_path": call.path.encode(),
        "root_path": "",
        "query_string": call.query,
        "headers": call.headers,
        "client": (call.host, call.port),
        "server": None,
        "state": {},
    }


async def read_whole(receive: Receive) -> bytes:
    """The body of a request; refused if it is too long."""
    parts: list[bytes] = []
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return b"".join(parts)
        parts.append(message.get("body", b""))
        if sum(map(len, parts)) > MAX_BODY:
            raise Refused(Code.TOO_LARGE, f"expected at most {MAX_BODY} bytes, got more")
        if not message.get("more_body"):
            return b"".join(parts)


def replayed(body: bytes, rest: Receive) -> Receive:
    """A request's body once more, then what else comes."""
    messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive() -> Message:
        return messages.pop() if messages else await rest()

    return receive


async def _never() -> Message:
    """Nothing more comes: nobody knows here whether the client is still there."""
    return await asyncio.get_running_loop().create_future()  # type: ignore[no-any-return]
