"""The interface of the server that doors use."""

from typing import Protocol

from parlour.clocks import ClockSettings
from parlour.lobby import Ticket
from parlour.pseudonyms import Pseudonyms
from parlour.server.clock import Clock
from parlour.server.gateway.gateway import Gateway
from parlour.server.sessions import Sessions
from parlour.wire import Queue


class Matchmaking(Protocol):
    """Pairing, as doors use it."""

    async def meet(
        self,
        player: str,
        wanted: Queue,
        room: str,
        clock: ClockSettings | None = None,
        address: str | None = None,
    ) -> Ticket:
        """Take a ticket for a room to go to: one in which somebody waits, or else a new one."""
        ...

    def is_found(self, player: str, room: str) -> bool:
        """True if another player was found for the ticket of this room."""
        ...

    async def unqueue(self, player: str, id: str) -> Ticket:
        """Give a ticket back."""
        ...


class Backing(Protocol):
    """The server, as doors use it."""

    clock: Clock
    gateway: Gateway
    sessions: Sessions
    pseudonyms: Pseudonyms

    @property
    def pairing(self) -> Matchmaking:
        """The pairing of the server."""
        ...
