"""How a client reaches a server: by the network, or within the process of the server itself."""

from typing import Any, Protocol

from parlour.client.connection import Connection, Hear
from parlour.client.http_calls import call


class Transport(Protocol):
    """Opens connections and makes HTTP calls."""

    async def open(self, token: str, hear: Hear) -> Connection:
        """Open a connection; `Refused` if the server turns this client away, `OSError` if it is not there."""
        ...

    async def call(self, method: str, path: str, body: Any, token: str | None) -> Any:
        """Make one call; gives what was answered, or raises what was refused."""
        ...


class Network:
    """A server at an address."""

    def __init__(self, server: str) -> None:
        self._server = server

    async def open(self, token: str, hear: Hear) -> Connection:
        return await Connection.open(self._server, token, hear)

    async def call(self, method: str, path: str, body: Any, token: str | None) -> Any:
        return await call(self._server, method, path, body, token)
