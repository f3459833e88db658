"""The clients at the lobby: they hear the list of rooms, and what becomes of their tickets."""

from typing import Any, Protocol

from parlour.server.gateway.connections import Client
from parlour.wire import Enter, Push, Queue, Request, Unqueue


class ListedRooms(Protocol):
    """What the lobby knows of the list of rooms."""

    def welcome(self, *, first: bool) -> Push:
        """The whole list, for somebody who came; *first* if nobody else is there."""
        ...


class Tickets(Protocol):
    """What the lobby knows of pairing."""

    def list_tickets(self, player: str) -> list[Any]:
        """A player's tickets, as they are told."""
        ...

    def take(self, client: Client, request: Request, wish: Queue | Unqueue) -> None:
        """Queue or unqueue somebody; the answer comes when it is done."""
        ...


class Lobby:
    """Who is at the lobby."""

    pairing: Tickets

    def __init__(self, rooms: ListedRooms) -> None:
        self._rooms = rooms
        self._clients: set[Client] = set()
        self._players: dict[str, set[Client]] = {}
        """Whose connections they are."""

    def receive(self, client: Client, request: Request) -> None:
        """Take what somebody asks at the lobby."""
        match request.wish:
            case Enter():
                tickets = self.pairing.list_tickets(client.player)
                client.accept(request, {"tickets": tickets} if tickets else {})
                self._add(client)
            case Queue() | Unqueue() as wish:
                self.pairing.take(client, request, wish)
            case _:
                self.remove(client)

    def _add(self, client: Client) -> None:
        welcome = self._rooms.welcome(first=not self._clients)
        self._clients.add(client)
        self._players.setdefault(client.player, set()).add(client)
        client.push(None, [welcome])

    def remove(self, client: Client) -> None:
        """The client is not at the lobby any more."""
        self._clients.discard(client)
        there = self._players.get(client.player, set())
        there.discard(client)
        if not there:
            self._players.pop(client.player, None)

    def __len__(self) -> int:
        return len(self._clients)

    def has(self, player: str) -> bool:
        """True if one of this player's clients is at the lobby."""
        return player in self._players

    def tell(self, player: str, push: Push) -> None:
        """Tell every client of this player that is at the lobby."""
        for client in tuple(self._players.get(player, ())):
            client.push(None, [push])

    def tell_all(self, push: Push) -> None:
        """Tell everybody at the lobby."""
        for client in tuple(self._clients):
            client.push(None, [push])

    def clear(self) -> None:
        """Tell nobody any more."""
        self._clients.clear()
