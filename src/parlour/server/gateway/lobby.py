"""The clients at the lobby: they get the list of rooms, and news of their tickets."""

from typing import Any, Protocol

from parlour.errors import Refused
from parlour.server.gateway.connections import Client
from parlour.wire import Enter, Push, Queue, Request, Unqueue

MOST_GAMES = 50
MAX_GAME = 64
"""Names of games that are kept of each client, and characters of the longest."""


class ListedRooms(Protocol):
    """The list of rooms, as the lobby uses it."""

    def welcome(self, *, first: bool) -> Push:
        """The whole list, for a client that joins; *first* if nobody else is there."""
        ...


class Tickets(Protocol):
    """Pairing, as the lobby uses it."""

    def list_tickets(self, player: str) -> list[Any]:
        """A player's tickets, as the player may see them."""
        ...

    def take(self, client: Client, request: Request, wish: Queue | Unqueue) -> None:
        """Queue or unqueue a player; the request is answered when that is done."""
        ...


def games_of(wish: Enter) -> tuple[str, ...] | None:
    """To which games somebody who comes to the lobby can be invited, as far as they are games at all."""
    if wish.plays is None:
        return None
    return tuple(game for game in wish.plays if len(game) <= MAX_GAME)[:MOST_GAMES]


class Lobby:
    """The clients at the lobby."""

    pairing: Tickets

    def __init__(self, rooms: ListedRooms) -> None:
        self._rooms = rooms
        self._clients: set[Client] = set()
        self._players: dict[str, set[Client]] = {}
        """The connections of each player."""

    def receive(self, client: Client, request: Request) -> None:
        """Take a request to the lobby."""
        match request.wish:
            case Enter() as wish:
                try:
                    tickets = self.pairing.list_tickets(client.player)
                except Refused as why:  # it is not known which there are
                    client.refuse(request, why)
                    return
                client.accept(request, {"tickets": tickets} if tickets else {})
                client.plays = games_of(wish)
                self.add(client)
            case Queue() | Unqueue() as wish:
                self.pairing.take(client, request, wish)
            case _:
                self.remove(client)

    def add(self, client: Client) -> None:
        """Tell a client from now on what happens at the lobby."""
        welcome = self._rooms.welcome(first=not self._clients)
        self._clients.add(client)
        self._players.setdefault(client.player, set()).add(client)
        client.push(None, [welcome])

    def remove(self, client: Client) -> None:
        """Remove a client from the lobby."""
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

    def invitable(self, game: str) -> list[str]:
        """The players here who say that they can be invited to a game."""
        found = {
            client.player
            for client in self._clients
            if client.plays is not None and game in (client.plays or (game,))
        }
        return sorted(found)

    def tell(self, player: str, push: Push) -> None:
        """Send a push to every client of this player at the lobby."""
        for client in tuple(self._players.get(player, ())):
            client.push(None, [push])

    def tell_all(self, push: Push) -> None:
        """Send a push to everybody at the lobby."""
        for client in tuple(self._clients):
            client.push(None, [push])

    def clear(self) -> None:
        """Remove all clients."""
        self._clients.clear()
        self._players.clear()
