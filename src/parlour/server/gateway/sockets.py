"""All WebSockets of the server: made for every upgrade, pinged when silent, closed when the server stops."""

import asyncio
from collections.abc import Callable, Coroutine, Iterable
from math import ceil
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from websockets.frames import CloseCode
from websockets.http11 import Request as UpgradeRequest

from parlour.errors import Code, Refused
from parlour.server.clock import Clock, Rounds
from parlour.server.gateway.outboxes import WriteScheduler
from parlour.server.gateway.upgrade import Door
from parlour.server.gateway.websocket import Socket
from parlour.server.limits import Limits
from parlour.server.settings import Settings
from parlour.server.tasks import Tasks
from parlour.server.tokens import Bearer

if TYPE_CHECKING:
    from uvicorn.server import ServerState

PART_AT_ONCE = 200
PASS_AT_ONCE = 10
PART_EVERY = 0.05
"""How many are closed together at a stop, and how many seconds before the next; fewer if others go on
serving, so that they can take clients over without a pause for those whom they have."""
PASS_SHARE = 0.3
"""The part of the stop timeout in which all are closed."""


def by_path(doors: Iterable[Door]) -> dict[str, Door]:
    """The doors by their paths. No two have the same, so their order decides nothing."""
    found: dict[str, Door] = {}
    for door in doors:
        for path in door.paths:
            if found.setdefault(path, door) is not door:
                raise TypeError(f"two doors have the path {path}")
    return found


class Sockets(WriteScheduler):
    """Makes a `Socket` for every upgrade, and closes those whose clients are gone."""

    def __init__(self, doors: Iterable[Door], clock: Clock, limits: Limits, settings: Settings) -> None:
        super().__init__(clock)
        self.limits = limits
        self.settings = settings
        self._doors = by_path(doors)
        self.forward: Callable[[Socket, str, UpgradeRequest], bool] = lambda _socket, _key, _request: False
        """Passes a connection on to the worker that owns a key; False if that is this one."""
        self.open: dict[Socket, None] = {}
        """All that are open, in the order in which they came."""
        self._rounds: Rounds | None = None
        self._parting: list[Socket] = []
        self._part_size = 0
        self.in_hurry = False
        """This server has to stop at once: nobody is sent away slowly."""
        self._tasks = Tasks()

    def __call__(self, *, server_state: "ServerState", **_: Any) -> Socket:
        """Make a socket; uvicorn calls this as its `ws=`."""
        if self._rounds is None:
            self.loop = asyncio.get_running_loop()
            self._rounds = Rounds(self.clock, self.settings.ping_every / 4, self._sweep)
            self._rounds.start()
        return Socket(self, server_state)

    def new_socket(self) -> Socket:
        """A socket for a connection that did not come by uvicorn."""
        return self(server_state=SimpleNamespace(connections=set()))  # type: ignore[arg-type]

    def begin(self, job: Coroutine[Any, Any, None]) -> None:
        """Start a task."""
        self._tasks.start(job)

    def bearers(self) -> set[Bearer]:
        """The tokens' contents by which people are connected, at whichever door."""
        return {socket.bearer for socket in self.open if socket.bearer is not None}

    def hang_up(self, is_ended: Callable[[Bearer], bool]) -> None:
        """Close every connection whose session is ended."""
        for socket in tuple(self.open):
            if socket.bearer is not None and is_ended(socket.bearer):
                socket.close(CloseCode.POLICY_VIOLATION, "this session was ended")

    def close_moved(self, moves: Callable[[str], bool]) -> None:
        """Close the connections to what another worker is to own: their clients come again."""
        for socket in tuple(self.open):
            if socket.key is not None and moves(socket.key):
                socket.close(CloseCode.SERVICE_RESTART, "come again")

    def _sweep(self) -> None:
        """Ping silent connections, and close those that do not answer."""
        now = self.clock.now()
        for socket in tuple(self.open):
            socket.check(now, self.settings.ping_every)
            if socket.measures:
                socket.measure_lag()

    def part(self, socket: Socket) -> None:
        """Close a socket because the server stops: a few at a time, so that not all come back at once."""
        self._parting.append(socket)
        if len(self._parting) == 1:
            asyncio.get_running_loop().call_soon(self._part_some)

    def _part_some(self) -> None:
        if not self._part_size:
            turns = PASS_SHARE * self.settings.stop_timeout / PART_EVERY
            most = max(PASS_AT_ONCE, ceil(len(self._parting) / turns))
            self._part_size = most if self.settings.bus and not self.in_hurry else PART_AT_ONCE
        some, self._parting = self._parting[: self._part_size], self._parting[self._part_size :]
        for socket in some:
            socket.part()
        if self._parting:
            asyncio.get_running_loop().call_later(PART_EVERY, self._part_some)

    def door(self, path: str) -> Door:
        """The door of this path: the one with exactly this path, or one that takes all with its prefix."""
        door = self._doors.get(path) or self._doors.get(path[: path.find("/", 1) + 1])
        if door is None:
            raise Refused(Code.NOT_FOUND, "there is no socket at this address")
        return door
