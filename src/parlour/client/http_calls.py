"""HTTP calls of a client, in a thread: there are few, and the standard library has all they need."""

import asyncio
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import msgspec

from parlour.client.connection import refusal_of
from parlour.errors import Code, Refused

TIMEOUT = 20.0


async def call(server: str, method: str, path: str, body: Any = None, token: str | None = None) -> Any:
    """One call; gives what was answered, or raises what was refused."""
    return await asyncio.to_thread(call_now, server, method, path, body, token)


def call_now(server: str, method: str, path: str, body: Any = None, token: str | None = None) -> Any:
    """The same for whoever can wait for it."""
    if not server.startswith(("http://", "https://")):
        raise Refused(
            Code.MALFORMED, f"expected an address that begins with http:// or https://, got {server!r}"
        )
    headers = {"Content-Type": "application/json"}
    if token is not None:
        headers["Authorization"] = f"Bearer {token}"
    content = None if body is None else msgspec.json.encode(body)
    request = Request(server.rstrip("/") + path, content, headers, method=method)  # noqa: S310 - checked above
    try:
        with urlopen(request, timeout=TIMEOUT) as answer:  # noqa: S310 - checked above
            return msgspec.json.decode(answer.read())
    except HTTPError as error:
        with error:
            told = error.read()
        try:
            raise refusal_of(msgspec.json.decode(told)) from None
        except msgspec.DecodeError:
            raise OSError(f"{method} {path} was answered with status {error.code}") from None
