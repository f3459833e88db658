"""One connection to a server: what is asked and answered, and what is told; it ends when the line does."""

import asyncio
import itertools
import socket
from collections.abc import Callable
from typing import Any, NamedTuple

import msgspec
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidStatus

from parlour.errors import Code, Refused

MAX_FRAME = 1 << 24
"""Bytes of the largest frame that is read: a view with all that is legal may be long."""
OPEN_TIMEOUT = 20.0
TURNED_AWAY = (400, 401, 403, 404)
"""The statuses with which a server says that trying again is in vain."""


class Lost(Exception):
    """The connection is closed, with this code; 1006 where nobody said goodbye."""

    def __init__(self, code: int) -> None:
        super().__init__(f"the connection was closed with {code}")
        self.code = code


class Reply(NamedTuple):
    """The answer to something that was asked."""

    status: str
    response: Any

    @property
    def refusal(self) -> Refused | None:
        """Why it was refused; None if it was not."""
        return None if self.status == "ok" else refusal_of(self.response)


class Frame(NamedTuple):
    """What a server sends."""

    join_ref: str | None
    ref: str | None
    topic: str
    event: str
    payload: Any


Hear = Callable[[Frame], None]
"""Takes what is told without being asked."""

_read_frame = msgspec.json.Decoder(Frame).decode
_encode = msgspec.json.Encoder().encode


def refusal_of(told: Any) -> Refused:
    """The refusal that a server told.

    >>> refusal_of({"code": "not_your_turn", "message": "it is X's turn"})
    Refused('not_your_turn', "it is X's turn")
    """
    if not isinstance(told, dict) or not isinstance(told.get("code"), str):
        return Refused(Code.INTERNAL_ERROR, f"expected a refusal with a code, got {str(told)[:200]!r}")
    return Refused(told["code"], str(told.get("message")), path=told.get("path"), legal=told.get("legal"))


class Connection:
    """One open WebSocket; it is read from the moment when it is open."""

    def __init__(self, line: ClientConnection, hear: Hear) -> None:
        self.closed: int | None = None
        """The code with which it was closed."""
        self._line = line
        self._hear = hear
        self._refs = itertools.count(1)
        self._answers: dict[str, asyncio.Future[Reply]] = {}
        self._reading = asyncio.create_task(self._read())

    @classmethod
    async def open(
        cls, server: str, token: str, hear: Hear, sock: socket.socket | None = None
    ) -> "Connection":
        """Open one; `Refused` if the server turns this client away for good, `OSError` if it is not there.

        With *sock* the server is already at the other end of it.
        """
        address = "ws" + server.removeprefix("http").rstrip("/")
        try:
            line = await connect(
                f"{address}/socket/websocket?vsn=2.0.0&token={token}",
                compression=None,
                max_queue=None,
                max_size=MAX_FRAME,
                open_timeout=OPEN_TIMEOUT,
                sock=sock,
            )
        except InvalidStatus as error:
            status, body = error.response.status_code, error.response.body
            if status in TURNED_AWAY:
                raise _turned_away(status, body) from None
            raise OSError(f"the server answered with status {status}") from error
        except InvalidHandshake as error:
            raise OSError(str(error)) from error
        return cls(line, hear)

    async def close(self) -> None:
        """Say goodbye and end."""
        await self._line.close()
        await self.wait_closed()

    def cut(self) -> None:
        """End without a word."""
        self._line.transport.abort()

    async def wait_closed(self) -> int:
        """The code with which it was closed, as soon as it is."""
        await asyncio.wait([self._reading])
        return self.closed or 1006

    def new_ref(self) -> str:
        """A ref that was not used before."""
        return str(next(self._refs))

    async def ask(self, topic: str, event: str, payload: Any, join_ref: str | None = None) -> Reply:
        """Ask for something, and wait for the answer; or `Lost`, and then nobody knows what became of it.

        The ref of a join is its own *join_ref*.
        """
        if self.closed is not None:
            raise Lost(self.closed)
        ref = join_ref if event == "phx_join" and join_ref is not None else self.new_ref()
        answer: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
        self._answers[ref] = answer
        try:
            await self._send(_encode((join_ref, ref, topic, event, payload)).decode())
            return await answer
        finally:
            self._answers.pop(ref, None)
            answer.cancel()

    def _take(self, message: str | bytes) -> None:
        """A frame has come: an answer, or something that is told."""
        frame = _read_frame(message)
        answer = None if frame.ref is None else self._answers.get(frame.ref)
        if frame.event != "phx_reply":
            self._hear(frame)
        elif answer is not None and not answer.done():
            answer.set_result(Reply(frame.payload["status"], frame.payload["response"]))

    def _end(self, code: int) -> None:
        """The line is cut: nobody will be answered any more."""
        self.closed = code
        for answer in self._answers.values():
            if not answer.done():
                answer.set_exception(Lost(code))

    async def _send(self, text: str) -> None:
        try:
            await self._line.send(text)
        except ConnectionClosed:
            raise Lost(await self.wait_closed()) from None

    async def _read(self) -> None:
        try:
            async for message in self._line:
                self._take(message)
        except ConnectionClosed:
            pass  # how is seen below
        finally:
            self._line.transport.abort()
            self._end(1006 if self._line.close_code is None else self._line.close_code)


def _turned_away(status: int, body: bytes | bytearray | None) -> Refused:
    try:
        told = msgspec.json.decode(body or b"")
    except msgspec.DecodeError:
        told = None
    if isinstance(told, dict) and "code" in told:
        return refusal_of(told)
    return Refused(Code.BAD_TOKEN, f"the server turned the connection away with status {status}")
