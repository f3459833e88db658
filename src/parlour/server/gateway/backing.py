"""What doors need of the server behind them."""

from typing import Any, Protocol

from parlour.lobby import Ticket
from parlour.pseudonyms import Pseudonyms
from parlour.server.clock import Clock
from parlour.server.gateway.gateway import Gateway
from parlour.server.sessions import Sessions
from parlour.wire import Queue


class Matchmaking(Protocol):
    """How the clients of a door find each other."""

    async def meet(
        self, player: str, wanted: Queue, room: str, config: Any, address: str | None = None
    ) -> Ticket:
        """Take a ticket for a room to come to: one that waits, or else a new one."""
        ...

    def is_found(self, player: str, room: str) -> bool:
        """True if there is company for somebody who took a ticket for this room."""
        ...

    async def unqueue(self, player: str, id: str) -> Ticket:
        """Give a ticket back."""
        ...


class Backing(Protocol):
    """The server behind a door."""

    clock: Clock
    gateway: Gateway
    sessions: Sessions
    pseudonyms: Pseudonyms

    @property
    def pairing(self) -> Matchmaking:
        """How clients find each other."""
        ...
