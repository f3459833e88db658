"""The lobby: where the open rooms are listed, and a client is paired with somebody."""

from collections import deque
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

from parlour.client.channel import Channel, Host
from parlour.errors import Code, Refused

Mode = Literal["normal", "ranked", "bot"]


class Invitation(NamedTuple):
    """A room in which somebody wants this player."""

    room: str
    game: str


class Lobby(Channel):
    """What one client knows of the lobby, and what it asks there."""

    def __init__(self, host: Host, plays: Sequence[str] | None = None) -> None:
        super().__init__(host, "lobby")
        self._plays = plays
        self.rooms: dict[str, Any] = {}
        """The rooms that are listed, by id."""
        self.tickets: dict[str, Any] = {}
        """My tickets, as they were when they were taken or the lobby was last joined."""
        self._matched: dict[str, str] = {}
        """The rooms of tickets that are matched."""
        self._invited: deque[Invitation] = deque()
        self._void: dict[str, str] = {}
        """Why tickets are not valid any more."""

    def _payload(self) -> dict[str, Any]:
        return {} if self._plays is None else {"plays": self._plays}

    def take_invitations(self, plays: Sequence[str] | None) -> None:
        """Say to which games this bot can be invited from now on; to all if empty, to none if None."""
        if plays != self._plays:
            self._plays = plays
            if self._connection is not None:
                self.begin(self._connection)

    def _joined(self, answer: Any) -> None:
        self.tickets = {ticket["id"]: ticket for ticket in answer.get("tickets", ())}
        rooms = {id: ticket.get("room") for id, ticket in self.tickets.items()}
        self._matched |= {id: room for id, room in rooms.items() if room is not None}

    def _take(self, name: str, payload: Any) -> None:
        match name:
            case "matched":
                self._matched[payload["ticket"]] = payload["room"]
            case "invited":
                self._invited.append(Invitation(payload["room"], payload["game"]))
            case "unqueued":
                self._void[payload["ticket"]] = payload["reason"]
            case "rooms":
                self.rooms = {room["id"]: room for room in payload["rooms"]}
            case "rooms_changed":
                self.rooms |= {room["id"]: room for room in payload["rooms"]}
                for id in payload["gone"]:
                    self.rooms.pop(id, None)
            case _:
                pass

    async def invitation(self) -> Invitation:
        """The next room to which this player is invited."""
        while not self._invited:
            if self.closed is not None:
                raise self.closed
            await self._news.wait()
        return self._invited.popleft()

    async def pair(self, game: str, config: dict[str, Any] | None = None, mode: Mode = "normal") -> str:
        """Take a ticket and wait for somebody; gives the room in which there is a seat then."""
        wanted = {"game": game, "config": config or {}, "mode": mode}
        try:
            ticket: str = (await self.ask("queue", wanted))["ticket"]
            self.tickets[ticket] = {"id": ticket, **wanted}
        except Refused as why:  # the answer may have been lost, but not the ticket
            if why.code != Code.ALREADY_QUEUED or (kept := self._kept(game, mode)) is None:
                raise
            ticket = kept
        while ticket not in self._matched:
            if ticket in self._void:
                self.tickets.pop(ticket, None)
                raise Refused(
                    Code.UNKNOWN_TICKET, f"the ticket is not valid any more: {self._void.pop(ticket)}"
                )
            if self.closed is not None:
                raise self.closed
            await self._news.wait()
        self.tickets.pop(ticket, None)
        return self._matched.pop(ticket)

    def _kept(self, game: str, mode: Mode) -> str | None:
        """My ticket for this, if I have one."""
        for id, ticket in self.tickets.items():
            if (ticket["game"], ticket["mode"]) == (game, mode):
                return id
        return None
