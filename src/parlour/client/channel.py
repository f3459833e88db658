"""A topic that a client has joined: it is joined again after every cut, and what waits is asked again."""

import asyncio
from contextlib import suppress
from secrets import SystemRandom
from typing import Any, Protocol

from parlour.client.connection import Connection, Frame, Lost
from parlour.errors import Code, Refused

AGAIN = (Code.NOT_SAVED, Code.OUTCOME_UNKNOWN, Code.TOO_FAST)
"""Refusals after which the same may be asked once more, a little later."""
MOST_TRIES = 8
FIRST_PAUSE = 0.1
LONGEST_PAUSE = 10.0


def pause_after(failures: int) -> float:
    """Seconds to wait after so many failures in a row: twice as long each time, and not all at once."""
    longest: float = min(LONGEST_PAUSE, FIRST_PAUSE * 2.0**failures)
    return SystemRandom().uniform(longest / 2, longest)


class Host(Protocol):
    """The client that a channel belongs to."""

    def forget(self, channel: "Channel") -> None:
        """The channel is closed."""
        ...


class Channel:
    """One topic on whichever connection there is."""

    def __init__(self, host: Host, topic: str) -> None:
        self.topic = topic
        self.closed: Refused | None = None
        """Why nothing comes from here any more; None while it is open."""
        self._host = host
        self._connection: Connection | None = None
        """The connection on which it is joined."""
        self._join_ref: str | None = None
        self._joining: asyncio.Task[None] | None = None
        self._news = asyncio.Event()

    # What differs from topic to topic.

    def _payload(self) -> dict[str, Any]:
        """What a join says."""
        return {}

    def _joined(self, answer: Any) -> None:
        """A join was answered."""

    def _take(self, name: str, payload: Any) -> None:
        """Something was told."""

    # Joining, and hearing.

    def begin(self, connection: Connection) -> None:
        """There is a connection: join by it."""
        self._connection = None
        if self._joining is not None:
            self._joining.cancel()
        self._join_ref = connection.new_ref()
        self._joining = asyncio.create_task(self._join(connection, self._join_ref))

    async def _join(self, connection: Connection, join_ref: str) -> None:
        failures = 0
        while True:
            try:
                reply = await connection.ask(self.topic, "phx_join", self._payload(), join_ref)
            except Lost:
                return  # the client begins again
            why = reply.refusal
            if why is None:
                self._connection = connection
                self._joined(reply.response)
                self._notify()
                return
            if why.code not in AGAIN:
                self.end(why)
                return
            await asyncio.sleep(pause_after(failures))
            failures += 1
            join_ref = self._join_ref = connection.new_ref()

    def hear(self, frame: Frame) -> None:
        """Take what was told, unless it belongs to an earlier join."""
        if frame.join_ref not in (None, self._join_ref):
            return
        if frame.event == "phx_close":
            self.end(Refused(Code.ROOM_ENDED, f"{self.topic} was closed"))
            return
        self._take(frame.event, frame.payload)
        self._notify()

    def end(self, why: Refused) -> None:
        """Nothing comes from here any more."""
        if self.closed is None:
            self.closed = why
            self._connection = None
            self._host.forget(self)
            self._notify()

    async def close(self) -> None:
        """Stop hearing this topic; a seat is kept."""
        connection, self._connection = self._connection, None
        if self.closed is None and connection is not None:
            with suppress(Lost):  # which is the same to a server
                await connection.ask(self.topic, "phx_leave", {}, self._join_ref)
        self.end(Refused(Code.NOT_JOINED, f"{self.topic} was left"))

    # Waiting.

    def _notify(self) -> None:
        news, self._news = self._news, asyncio.Event()
        news.set()

    async def wait_joined(self) -> Connection:
        """The connection on which this is joined, as soon as there is one; `Refused` once it is closed."""
        while self._connection is None or self._connection.closed is not None:
            if self.closed is not None:
                raise self.closed
            await self._news.wait()
        return self._connection

    # Asking.

    async def ask(self, event: str, payload: dict[str, Any]) -> Any:
        """Ask until there is an answer: the payload carries an id, so that twice is as good as once."""
        failures = 0
        while True:
            connection = await self.wait_joined()
            try:
                reply = await connection.ask(self.topic, event, payload, self._join_ref)
            except Lost:
                self._connection = None
                continue
            why = reply.refusal
            if why is None:
                return reply.response
            if why.code not in AGAIN or failures >= MOST_TRIES:
                raise why
            await asyncio.sleep(pause_after(failures))
            failures += 1
