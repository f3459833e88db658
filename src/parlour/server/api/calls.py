"""HTTP calls as values: each declares what it takes, returns and refuses, for the check and for the docs."""

import gzip
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import lru_cache
from http import HTTPStatus
from typing import Any

import msgspec
from starlette.requests import ClientDisconnect, HTTPConnection, Request
from starlette.responses import Response
from starlette.routing import Route

from parlour.errors import Code, Refused, parse
from parlour.journal.base import Trouble
from parlour.sanitize import strict
from parlour.server.limits import address_of
from parlour.server.refusals import excuse
from parlour.server.tokens import COOKIE

MAX_BODY = 64 * 1024

STATUS: dict[str, int] = {
    Code.ACCOUNT_NEEDED: 403,
    Code.ALREADY_AN_ACCOUNT: 409,
    Code.ALREADY_QUEUED: 409,
    Code.BAD_CODE: 401,
    Code.BAD_PASSKEY: 401,
    Code.BAD_TOKEN: 401,
    Code.CHALLENGE_EXPIRED: 410,
    Code.GAME_ERROR: 500,
    Code.GAME_OVERRAN: 500,
    Code.LINK_EXPIRED: 410,
    Code.NAME_TAKEN: 409,
    Code.INTERNAL_ERROR: 500,
    Code.NO_PASSKEYS: 403,
    Code.NO_PUSH: 403,
    Code.NO_SPECTATORS: 403,
    Code.NOT_FOUND: 404,
    Code.NOT_SAVED: 503,
    Code.OUTCOME_UNKNOWN: 503,
    Code.ROOM_DAMAGED: 503,
    Code.ROOM_ENDED: 410,
    Code.SEAT_KEPT: 409,
    Code.STALE: 409,
    Code.TOO_FAST: 429,
    Code.TOO_LARGE: 413,
    Code.TOO_MANY: 429,
    Code.UNKNOWN_BOT: 404,
    Code.UNKNOWN_GAME: 404,
    Code.UNKNOWN_ROOM: 404,
    Code.UNKNOWN_TICKET: 404,
    Code.WRONG_GAME: 409,
}
"""The status of each refusal; 400 for all others."""

TOKEN: list[dict[str, list[str]]] = [{"token": []}, {"cookie": []}]


class Problem(msgspec.Struct, frozen=True, omit_defaults=True):
    """The body of every refusal over HTTP."""

    code: str
    message: str
    reason: str
    path: str | None = None
    legal: list[Any] | None = None


class Call(msgspec.Struct, frozen=True):
    """One HTTP call: its address, what it does, and the types of its body and answer."""

    method: str
    path: str
    does: str
    answer: Callable[..., Awaitable[Any]]
    gives: Any
    takes: Any = None
    status: int = 200
    refuses: Sequence[Code] = ()
    personal: bool = False
    """True if the caller needs a token."""
    query: Any = None
    """The type of the query; None: any query is accepted and ignored."""
    is_charged: bool = True
    """True if it counts against the sender's allowance."""
    is_zipped: bool = False
    """True if the answer is long and the same for everybody: it is zipped for whoever takes that."""

    @property
    def needs_body(self) -> bool:
        """True if the body has a field that cannot be left out."""
        try:
            msgspec.json.decode(b"{}", type=self.takes)
        except msgspec.ValidationError:
            return True
        return False

    async def serve(self, request: Request) -> Response:
        """Answer a request, or refuse it with the status that fits."""
        try:
            answer = await self._answer(request)
        except (Refused, Trouble) as error:
            return refusal(excuse(error))
        except ClientDisconnect:
            return Response(status_code=400)  # the client has disconnected
        if isinstance(answer, Response):
            return answer
        told = reply(answer, self.status)
        return zipped(told) if self.is_zipped and takes_zipped(request) else told

    async def _answer(self, request: Request) -> Any:
        taken: list[Any] = []
        if self.query is not None:
            taken.append(parse(self._read_query, dict(request.query_params)))
        if self.takes is not None:
            body = await read_body(request)
            decode = msgspec.json.Decoder(self.takes).decode
            taken.append(parse(decode, strict(body)))
        return await self.answer(request, *taken)

    def _read_query(self, query: dict[str, str]) -> Any:
        return msgspec.convert(query, self.query, strict=False)


def routes_of(calls: Sequence[Call]) -> list[Route]:
    """Starlette routes: one per path, which serves all its methods."""
    by_path: dict[str, dict[str, Call]] = {}
    for call in calls:
        by_path.setdefault(call.path, {})[call.method] = call
    return [Route(path, _serve_by(methods), methods=list(methods)) for path, methods in by_path.items()]


def _serve_by(methods: Mapping[str, Call]) -> Callable[[Request], Awaitable[Response]]:
    async def serve(request: Request) -> Response:
        return await methods["GET" if request.method == "HEAD" else request.method].serve(request)

    return serve


async def read_body(request: Request) -> bytes:
    """Read the body, unless it is too large; a missing one counts as an empty object."""
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > MAX_BODY:
            raise Refused(Code.TOO_LARGE, f"expected a body of at most {MAX_BODY} bytes, got more")
    return body or b"{}"


def peer_of(request: HTTPConnection) -> str | None:
    """The address at the other end of the connection, which may be a proxy's."""
    return None if request.client is None else request.client.host


def caller_of(request: HTTPConnection, proxies: Sequence[str]) -> str:
    """The address of the caller, by which calls are counted."""
    return address_of(peer_of(request), request.headers.getlist("x-forwarded-for"), proxies)


UNKEPT = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}
"""Answers are for their caller and for now: no cache stores them, and no browser takes them for a page."""


def reply(answer: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """An answer of plain data, as JSON."""
    body = msgspec.json.encode(answer)
    return Response(body, status, {**UNKEPT, **(headers or {})}, media_type="application/json")


def takes_zipped(request: HTTPConnection) -> bool:
    """Whether the caller can unpack what is zipped."""
    return "gzip" in request.headers.get("accept-encoding", "")


def zipped(answer: Response) -> Response:
    """The same answer, packed."""
    headers = {**answer.headers, "Content-Encoding": "gzip"}
    del headers["content-length"]
    return Response(_packed(bytes(answer.body)), answer.status_code, headers)


@lru_cache(maxsize=32)
def _packed(body: bytes) -> bytes:
    return gzip.compress(body, mtime=0)


def refusal(why: Refused) -> Response:
    """A refusal, with the status that fits."""
    return reply(why.told(), STATUS.get(why.code, 400))


def openapi(calls: Sequence[Call], version: str) -> dict[str, Any]:
    """The OpenAPI document of these calls."""
    types = [Problem, *(t for call in calls for t in (call.takes, call.gives) if t is not None)]
    schemas, components = msgspec.json.schema_components(types, ref_template="#/components/schemas/{name}")
    schema_of = {id(t): schema for t, schema in zip(types, schemas, strict=True)}
    paths: dict[str, Any] = {}
    for call in calls:
        paths.setdefault(call.path, {})[call.method.lower()] = _operation(call, schema_of)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Parlour", "version": version},
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {
                "token": {"type": "http", "scheme": "bearer"},
                "cookie": {"type": "apiKey", "in": "cookie", "name": COOKIE},
            },
        },
        "security": [{}, *TOKEN],
    }


def _operation(call: Call, schema_of: dict[int, Any]) -> dict[str, Any]:
    operation: dict[str, Any] = {
        "summary": call.does,
        "operationId": call.answer.__name__,
        "responses": {str(call.status): _content("Done", schema_of[id(call.gives)])},
    }
    shape = (Code.MALFORMED, Code.TOO_LARGE) if call.takes else (Code.MALFORMED,) if call.query else ()
    haste = (Code.TOO_FAST,) if call.is_charged else ()
    for code in (*call.refuses, *haste, *shape):
        status = STATUS.get(code, 400)
        operation["responses"][str(status)] = _content(HTTPStatus(status).phrase, schema_of[id(Problem)])
    if call.takes is not None:
        content = _content("", schema_of[id(call.takes)])["content"]
        operation["requestBody"] = {"required": call.needs_body, "content": content}
    if call.personal:
        operation["security"] = TOKEN
    names = [part[1:-1] for part in call.path.split("/") if part.startswith("{")]
    parameters = [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string"}} for name in names
    ]
    if call.query is not None:
        parameters += _parameters(call.query)
    if parameters:
        operation["parameters"] = parameters
    return operation


def _parameters(query: Any) -> list[dict[str, Any]]:
    """The parameters of the query."""
    _, schemas = msgspec.json.schema_components([query])
    fields = schemas[query.__name__]["properties"]
    return [
        {"name": name, "in": "query", "required": False, "schema": schema} for name, schema in fields.items()
    ]


def _content(description: str, schema: Any) -> dict[str, Any]:
    return {"description": description, "content": {"application/json": {"schema": schema}}}
