"""Connections: a client with its adapter, and the requests that its messages make."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Protocol

from websockets.frames import CloseCode

from parlour.errors import Code, Refused
from parlour.server.gateway.outboxes import Outbox, framed, pushed
from parlour.server.limits import FRAME_COST, MOVE_COST, cost_of, too_fast
from parlour.wire import Adapter, Enter, Exit, Push, Request, SendEvent

if TYPE_CHECKING:
    from parlour.server.gateway.websocket import Socket


class Client:
    """One connection: its adapter, who it is, and the rooms in which it has a place."""

    __slots__ = (
        "adapter", "entering", "guests", "is_lost", "number", "outbox", "player", "plays", "rooms", "token",
    )  # fmt: skip

    def __init__(
        self, adapter: Adapter, outbox: Outbox, player: str, *, number: int, token: str | None = None
    ) -> None:
        self.adapter = adapter
        self.outbox = outbox
        self.player = player
        self.number = number
        """The number by which rooms know it."""
        self.token = token
        """A new token, which is sent to this client when it joins."""
        self.plays: tuple[str, ...] | None = None
        """To which games it can be invited at the lobby; empty: to all, None: to none."""
        self.rooms: set[str] = set()
        """Where it has a place."""
        self.entering: dict[int, str] | None = None
        """The rooms that it asked to enter and that have not answered yet, by the number of the ask."""
        self.guests: dict[Adapter, Client] | None = None
        """The same connection, as the doors within its protocol see it."""
        self.is_lost = False

    def accept(self, request: Request, payload: Any) -> None:
        """Accept a request."""
        self.adapter.accept(request, payload)
        self.flush()

    def refuse(self, request: Request, why: Refused) -> None:
        """Refuse a request; if the outcome is unknown, close so that the client comes back and looks."""
        if why.code == Code.OUTCOME_UNKNOWN:
            self.outbox.close(CloseCode.SERVICE_RESTART, "come again")
            return
        self.adapter.refuse(request, why)
        self.flush()

    def push(self, room: str | None, pushes: Iterable[Push], ref: Any = None) -> None:
        """Send pushes to this client alone; *ref* is that of the request by which it entered."""
        self.outbox.write(b"".join([pushed(self.adapter.encode_own(room, push, ref)) for push in pushes]))

    def dismiss(self, room: str | None) -> None:
        """Notify the client that the room is closed."""
        self.adapter.dismiss(room)
        self.flush()

    def flush(self) -> None:
        """Send what the adapter has encoded."""
        if frames := self.adapter.frames():
            self.outbox.write(framed(frames[0]) if len(frames) == 1 else b"".join(map(framed, frames)))


class Requests(Protocol):
    """Takes the requests of clients."""

    def receive(self, client: Client, request: Request) -> None:
        """Take a request; it is answered later."""
        ...

    def guest(self, client: Client, adapter: Adapter) -> Client:
        """The same connection as a client of a door within its protocol."""
        ...

    def catch_up(self, client: Client) -> None:
        """Bring a client up to date that reads again after it was too slow."""
        ...

    def lose(self, client: Client) -> None:
        """Remove a client whose connection is closed."""
        ...


class RoomConnection:
    """A connection of a protocol whose clients play in rooms: makes requests of its messages."""

    __slots__ = ("_client", "_requests", "_socket")

    def __init__(self, requests: Requests, socket: "Socket", client: Client) -> None:
        self._requests = requests
        self._socket = socket
        self._client = client

    @property
    def name(self) -> str:
        return self._client.adapter.name

    @property
    def player(self) -> str:
        return self._client.player

    def begin(self) -> None:
        """Nothing: clients send first."""

    def receive(self, message: Any, *, text: bool) -> None:
        client = self._client
        try:
            requests = client.adapter.receive(str(message, "utf-8") if text else bytes(message))
        except UnicodeDecodeError:
            self._socket.close(CloseCode.INVALID_DATA, "text must be UTF-8")
            return
        except Refused as why:
            self._socket.close(CloseCode.UNSUPPORTED_DATA, why.message)
            return
        client.flush()
        if not requests:
            self._socket.may_ask(client.player, FRAME_COST)  # heartbeats and noise count, too
        for request in requests:
            asker = client if request.via is None else self._requests.guest(client, request.via)
            # To leave costs something, too, but is never refused.
            cost = MOVE_COST if type(request.wish) is SendEvent else cost_of(request.wish)
            if self._socket.may_ask(client.player, cost) or isinstance(request.wish, Exit):
                self._requests.receive(asker, request)
            else:
                self._refuse(asker, request)

    def _refuse(self, client: Client, request: Request) -> None:
        """Refuse a request that came too fast; for the client, a join has replaced its channel already."""
        client.refuse(request, too_fast())
        if isinstance(request.wish, Enter) and request.room in client.rooms:
            self._requests.receive(client, Request(request.room, Exit()))

    def catch_up(self) -> None:
        self._requests.catch_up(self._client)

    def part(self) -> None:
        """Send no last message when the server stops: the close code is enough."""

    def end(self) -> None:
        self._requests.lose(self._client)
