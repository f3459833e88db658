"""A player at a server: one connection at a time, made anew when it is cut, and the rooms that are joined."""

import asyncio
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any, Self

from parlour.client.channel import Channel, pause_after
from parlour.client.connection import Connection, Frame
from parlour.client.lobby import Lobby
from parlour.client.seat import Seat
from parlour.client.transport import Network, Transport
from parlour.errors import Code, Refused

MENDED_BY_NOBODY = {
    1003: "a frame was not a frame",
    1007: "text was not UTF-8",
    1009: "a frame was too large",
}
"""The codes with which a server closes a connection for what this client sent: it would send it again."""


class Client:
    """Somebody who plays by program.

    It is to be used by ``async with``. Without a token it becomes a guest, whose token is then in `token`.
    """

    def __init__(
        self,
        server: str,
        token: str | None = None,
        *,
        name: str | None = None,
        transport: Transport | None = None,
    ) -> None:
        self.server = server.rstrip("/")
        self.token = token
        self.connections = 0
        """How often it has connected."""
        self._name = name
        self._transport = transport or Network(self.server)
        self._channels: dict[str, Channel] = {}
        self._connection: Connection | None = None
        self._running: asyncio.Task[None] | None = None
        self._refusal: Refused | None = None
        """Why it will not connect again."""

    async def __aenter__(self) -> Self:
        if self.token is None:
            known = await self.call(
                "POST", "/api/players", {} if self._name is None else {"name": self._name}
            )
            self.token = known["token"]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    @property
    def has_given_up(self) -> bool:
        """True if it does not connect again: it was closed, or the server turned it away."""
        return self._refusal is not None

    async def close(self, why: Refused | None = None) -> None:
        """Hang up; seats are kept. Whoever still waits for something is told why."""
        self._give_up(why or Refused(Code.NOT_JOINED, "this client was closed"))
        if self._running is not None:
            self._running.cancel()
            await asyncio.wait([self._running])
        if self._connection is not None:
            await self._connection.close()

    async def call(self, method: str, path: str, body: Any = None) -> Any:
        """An HTTP call as this player."""
        return await self._transport.call(method, path, body, self.token)

    async def open_room(self, game: str, config: dict[str, Any] | None = None, **how: Any) -> str:
        """Open a room; gives its id."""
        room = await self.call("POST", "/api/rooms", {"game": game, "config": config or {}, **how})
        id: str = room["id"]
        return id

    # Rooms, and the lobby.

    async def join(
        self,
        room: str,
        *,
        spectate: bool = False,
        legal: bool = True,
        text: bool = False,
        luck: str | None = None,
        hear: Callable[[str, Any], None] | None = None,
    ) -> Seat:
        """Come into a room, and wait for what there is to see.

        *legal* asks to be told what is legal, too; with *text* the view is a text to read; *hear* gets every
        push by its name.
        """
        options: dict[str, Any] = {
            name: True for name, wanted in (("spectate", spectate), ("legal", legal)) if wanted
        }
        if text:
            options["format"] = "text"
        if luck is not None:
            options["luck"] = luck
        seat = Seat(self, room, options, hear)
        await self._begin(seat)
        await seat.wait(lambda seat: seat.is_synced)
        return seat

    async def lobby(self, plays: Sequence[str] | None = None) -> Lobby:
        """Come to the lobby; a bot may say to which games it can be invited (empty: to all)."""
        lobby = Lobby(self, plays)
        await self._begin(lobby)
        return lobby

    async def _begin(self, channel: Channel) -> None:
        if self._refusal is not None:
            raise self._refusal
        if channel.topic in self._channels:
            raise Refused(Code.TOO_MANY, f"{channel.topic} is joined already")
        self._channels[channel.topic] = channel
        if self._connection is not None and self._connection.closed is None:
            channel.begin(self._connection)
        elif self._running is None:
            self._running = asyncio.create_task(self._run())
        try:
            await channel.wait_joined()
        except BaseException:
            self._channels.pop(channel.topic, None)
            raise

    def forget(self, channel: Channel) -> None:
        """A channel is closed: nothing is heard for it any more."""
        self._channels.pop(channel.topic, None)

    # The connection.

    async def _run(self) -> None:
        """Connect, join everything, and do it again whenever the line was cut."""
        failures = 0
        while self._refusal is None:
            before = asyncio.get_running_loop().time()
            code = await self._connect()
            if asyncio.get_running_loop().time() - before > pause_after(failures):
                failures = 0
            if code in MENDED_BY_NOBODY:
                why = f"the server closed the connection with {code}: {MENDED_BY_NOBODY[code]}"
                self._give_up(Refused(Code.MALFORMED, why))
                return
            await asyncio.sleep(pause_after(failures))
            failures += 1

    async def _connect(self) -> int:
        """Be connected as long as that lasts; gives the code that ended it."""
        assert self.token is not None  # noqa: S101 - `__aenter__` saw to it
        try:
            connection = await self._transport.open(self.token, self._hear)
        except Refused as why:
            self._give_up(why)
            return 1008
        except (OSError, TimeoutError, EOFError):
            return 1006
        self._connection = connection
        self.connections += 1
        for channel in tuple(self._channels.values()):
            channel.begin(connection)
        return await connection.wait_closed()

    def _hear(self, frame: Frame) -> None:
        channel = self._channels.get(frame.topic)
        if channel is not None:
            channel.hear(frame)

    def _give_up(self, why: Refused) -> None:
        self._refusal = self._refusal or why
        for channel in tuple(self._channels.values()):
            channel.end(why)
