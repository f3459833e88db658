"""The gateway: asks rooms for its clients, and brings them what rooms answer and tell."""

from collections.abc import Callable, Mapping
from itertools import count
from typing import Any, Protocol

import structlog
from websockets.frames import CloseCode

from parlour.errors import Code, Refused
from parlour.server.border import (
    Accepted,
    Announced,
    AskRoom,
    AskRooms,
    ComeAgain,
    DoorEntry,
    Entered,
    EnterRoom,
    LeaveRoom,
    LookRoom,
    Pushed,
    Rejected,
    Resync,
    RoomClosed,
    StepTold,
    Told,
)
from parlour.server.gateway.audience import Audience, Place
from parlour.server.gateway.connections import Client
from parlour.server.gateway.outboxes import Outbox
from parlour.wire import (
    Act,
    Adapter,
    Command,
    Enter,
    EnterByDoor,
    Exit,
    LookFirst,
    Queue,
    Request,
    SendEvent,
    Unqueue,
    Wish,
    command_of,
)

log = structlog.get_logger()


Pending = tuple[Client, Request, bool]
"""An ask that was not answered yet: whose, what, and whether a door asked by what it saw and looks again if
that has changed."""


NEVER = -1
"""Since when a client has missed everything."""


def _is_repeatable(request: Request) -> bool:
    """True if a request can be sent again although it may have been carried out."""
    return isinstance(request.wish, Enter | LookFirst) or getattr(request.wish, "id", None) is not None


class LobbyRequests(Protocol):
    """Where the requests of clients at the lobby go."""

    def receive(self, client: Client, request: Request) -> None:
        """Take a request."""
        ...

    def remove(self, client: Client) -> None:
        """The client is not at the lobby any more."""
        ...


class Gateway:
    """All clients of this process, and the audiences of the rooms they are in."""

    def __init__(self, ask: AskRooms, lobby: LobbyRequests) -> None:
        self.ask = ask
        self.lobby = lobby
        self._audiences: dict[str, Audience] = {}
        self._pending: dict[int, Pending] = {}
        self._left: set[int] = set()
        """The asks to enter of clients who have left again before the answer."""
        self._looks: dict[int, int] = {}
        """How many wishes of each client its door has yet to decide or to hear of."""
        self._leaving: dict[int, dict[str, bool]] = {}
        """The rooms that clients leave once their door's wishes are answered, and whether they are lost."""
        self._clients = count(1)
        self._asks = count(1)
        self._returning: dict[int, tuple[Place, str]] = {}
        """The places that are asked for again, because the room has another owner, by the ask."""
        self._held: dict[Place, list[Accepted]] = {}
        """Answers about steps that their clients have yet to be told, once their places are there again."""
        self._hear: Mapping[type, Callable[[Any], None]] = {
            StepTold: self._tell_step,
            Accepted: self._accept,
            Rejected: self._reject,
            Entered: self._enter,
            Pushed: self._push,
            Announced: self._announce,
            RoomClosed: self._close,
            ComeAgain: self._send_away,
        }

    def number_from(self, first: int) -> None:
        """Number clients and requests from *first* + 1 on: each gateway has a range of its own."""
        self._clients, self._asks = count(first + 1), count(first + 1)

    def connect(self, adapter: Adapter, outbox: Outbox, player: str, token: str | None = None) -> Client:
        """A new client."""
        return Client(adapter, outbox, player, number=next(self._clients), token=token)

    def guest(self, client: Client, adapter: Adapter) -> Client:
        """The same connection, as it came by a door within its protocol."""
        if client.guests is None:
            client.guests = {}
        if adapter not in client.guests:
            client.guests[adapter] = self.connect(adapter, client.outbox, client.player, client.token)
        return client.guests[adapter]

    # What clients ask.

    def receive(self, client: Client, request: Request) -> None:
        """Take a request; the answer comes when the room gets to it."""
        room, wish = request.room, request.wish
        if room is None:
            self.lobby.receive(client, request)
            return
        match wish:
            case SendEvent():
                self._command(client, request, room, wish)
            case Enter():
                self._mute(client, room)
                self.ask(self._entry(client, request, room, wish))
            case Exit():
                self._mute(client, room)
                self._leave(client, room)
            case LookFirst():
                self._looks[client.number] = self._looks.get(client.number, 0) + 1
                self._look(client, request, room)
            case Queue() | Unqueue():
                client.refuse(request, Refused(Code.UNKNOWN_EVENT, "tickets are taken at the lobby"))
            case _:
                self._command(client, request, room, wish)

    def _entry(self, client: Client, request: Request, room: str, wish: Enter) -> EnterRoom:
        door = None
        if isinstance(wish, EnterByDoor):
            door = DoorEntry(wish.game, wish.config, wish.name, wish.opens, wish.seat)
        number = self._expect((client, request, False))
        client.entering = {**(client.entering or {}), number: room}
        return EnterRoom(
            room,
            client.number,
            number,
            client.player,
            client.outbox.address,
            wish.since,
            wish.format,
            wish.spectate,
            door,
            luck=wish.luck,
            legal=wish.legal,
        )

    def _command(self, client: Client, request: Request, room: str, wish: Wish) -> None:
        self._pending[number := next(self._asks)] = (client, request, False)
        if type(wish) is SendEvent:
            command: Command = Act(client.player, wish.event, client.outbox.lag)
            self.ask(AskRoom(room, client.number, number, command, wish.id, wish.seq))
        else:
            self.ask(AskRoom(room, client.number, number, command_of(client.player, wish), wish.id))

    def _look(self, client: Client, request: Request, room: str) -> None:
        """Ask which step has been told to a client, before its door decides."""
        self.ask(LookRoom(room, client.number, self._expect((client, request, False))))

    def _end_look(self, client: Client) -> None:
        """A door's wish is answered; whoever wanted to leave meanwhile leaves now."""
        self._looks[client.number] -= 1
        if not self._looks[client.number]:
            del self._looks[client.number]
            for room, lost in self._leaving.pop(client.number, {}).items():
                self._leave(client, room, lost=lost)

    def _decide(self, client: Client, request: Request, seq: int) -> None:
        """Let a door look at what its client sees, and do what it makes of that."""
        room = request.room or ""
        place = self._place(client, room)
        seen = None if place is None else self._audiences[room].look(place)
        try:
            if place is None or seen is None or place.door is None:
                raise Refused(Code.NOT_JOINED, f"join room {room} first")
            wish = place.door.decide(request, seen.view)
        except Refused as why:
            client.refuse(request, why)
            self._end_look(client)
            return
        if wish is None:
            client.accept(request, {"seq": seq, "seen": seen})
            self._end_look(client)
            return
        number = self._expect((client, request, True))
        self.ask(AskRoom(room, client.number, number, command_of(client.player, wish), wish.id, None, seq))

    def _expect(self, pending: Pending) -> int:
        number = next(self._asks)
        self._pending[number] = pending
        return number

    def lose(self, client: Client) -> None:
        """A connection is lost: everywhere it was, it is no longer."""
        for guest in (client.guests or {}).values():
            self.lose(guest)
        client.is_lost = True
        self.lobby.remove(client)
        for room in {*client.rooms, *(client.entering or {}).values()}:
            self._leave(client, room, lost=True)

    def catch_up(self, client: Client) -> None:
        """An outbox has room again: spectators who skipped get the newest view."""
        for guest in (client.guests or {}).values():
            self.catch_up(guest)
        for room in client.rooms:
            place = self._place(client, room)
            if place is not None and place.stale:
                self.ask(Resync(room, client.number))

    def _mute(self, client: Client, room: str) -> None:
        if (audience := self._audiences.get(room)) is not None:
            audience.mute(client)

    def _leave(self, client: Client, room: str, *, lost: bool = False) -> None:
        """Give up a client's place, or the one that it has asked for; after what its door has yet to ask."""
        if client.number in self._looks:
            self._leaving.setdefault(client.number, {})[room] = lost
            return
        if client.entering is not None and not lost:
            left = {number for number, there in client.entering.items() if there == room}
            self._left |= left
        self._remove(client, room)
        self.ask(LeaveRoom(room, client.number, lost))

    def _place(self, client: Client, room: str) -> Place | None:
        audience = self._audiences.get(room)
        return None if audience is None else audience.place(client.number)

    def _remove(self, client: Client, room: str) -> None:
        if (audience := self._audiences.get(room)) is not None:
            place = audience.place(client.number)
            audience.remove(client)
            if not len(audience):
                del self._audiences[room]
            if place in self._held:
                self._release(place)

    # What rooms answer and tell.

    def hear(self, told: Told) -> None:
        """Bring what a room says to the clients that it is for."""
        try:
            self._hear[type(told)](told)
        except Exception:  # a bug here must not reach the room, which has kept the step
            log.exception("not_told", what=type(told).__name__)

    def _accept(self, told: Accepted) -> None:
        if told.number not in self._pending:
            return  # it was asked again since, under another number
        if self._returning and self._hold(told):
            return
        client, request, looked = self._pending.pop(told.number)
        if type(request.wish) is LookFirst and not looked:
            self._decide(client, request, told.seq)
            return
        payload: dict[str, Any] = {"seq": told.seq}
        if told.warning is not None:
            payload["warning"] = told.warning
        if client.adapter.shows:
            self._add_seen(client, request.room or "", payload)
        client.accept(request, payload)
        if looked:
            self._end_look(client)

    def _hold(self, told: Accepted) -> bool:
        """Keep an answer back if its client is told the step only with all that it missed."""
        client, request, _ = self._pending[told.number]
        place = self._place(client, request.room or "")
        if place is None or not place.returning or told.seq <= place.since:
            return False
        self._held.setdefault(place, []).append(told)
        return True

    def _release(self, place: Place) -> None:
        """Give the answers that were kept back."""
        for told in self._held.pop(place, ()):
            self._accept(told)

    def _add_seen(self, client: Client, room: str, payload: dict[str, Any]) -> None:
        """Doors may show with their answers what there is."""
        place = self._place(client, room)
        if place is not None and (seen := self._audiences[room].look(place)) is not None:
            payload["seen"] = seen

    def _reject(self, told: Rejected) -> None:
        if (returning := self._returning.pop(told.number, None)) is not None:
            self._send_back(*returning, told)
            return
        if told.number not in self._pending or self._regained(told):
            return
        client, request, looked = self._pending.pop(told.number)
        if looked and told.code == Code.STALE:  # the room has moved on since: the door looks again
            self._look(client, request, request.room or "")
            return
        if isinstance(request.wish, Enter) and request.room is not None:
            self._entered(client, told.number)
            is_later = self._has_entered_since(client, request.room, told.number)
            if not is_later and not self._enters(client, request.room):
                self._remove(client, request.room)
        if not client.is_lost:
            client.refuse(request, told.refusal)
        if type(request.wish) is LookFirst:
            self._end_look(client)

    def _entered(self, client: Client, number: int) -> bool:
        """A room has answered somebody who asked to enter; True if they have not left since."""
        rest = {one: room for one, room in (client.entering or {}).items() if one != number}
        client.entering = rest or None
        left = number in self._left
        self._left.discard(number)
        return not left

    def _enters(self, client: Client, room: str) -> bool:
        """True if the client has asked to enter this room, and waits for the answer."""
        return client.entering is not None and room in client.entering.values()

    def _enter(self, told: Entered) -> None:
        if told.number in self._pending:
            self._admit(told)
        elif (returning := self._returning.pop(told.number, None)) is not None:
            self._return(returning[0], told)
        elif not self._wants_place(told.room, told.client):
            self.ask(LeaveRoom(told.room, told.client, lost=True))

    def _admit(self, told: Entered) -> None:
        """Give a client the place that it asked for."""
        client, request, _ = self._pending.pop(told.number)
        stays = self._entered(client, told.number)
        if told.timed:
            client.outbox.measure_lag()
        if client.is_lost:
            self.ask(LeaveRoom(told.room, client.number))
            return
        audience = self._audiences.get(told.room)
        if audience is None:
            audience = self._audiences[told.room] = Audience(told.room, told.company, self._close_to)
        wish = request.wish
        assert isinstance(wish, Enter)  # noqa: S101 - the answer to one
        audience.company, audience.seq = told.company, told.seq
        place = Place(client, wish.format, told.viewpoint, request.ref, legal=wish.legal)
        place.entry = told.number
        # Who has joined anew hears nothing before the answer to that.
        place.muted = self._has_entered_since(client, told.room, told.number)
        audience.add(place)
        payload: dict[str, Any] = {
            "player": told.player, "game": told.game, "seq": told.seq, "seat": told.seat
        }  # fmt: skip
        if client.adapter.shows:
            try:
                payload["seen"] = audience.see(place, told.view)
            except Refused as why:
                client.refuse(request, why)
                self._leave(client, told.room)
                return
        if client.token is not None:
            payload["token"], client.token = client.token, None
        client.accept(request, payload)
        if not stays:
            self._remove(client, told.room)

    # A room that has another owner.

    def waits_for(self, number: int) -> bool:
        """True if this request was not answered yet."""
        return number in self._pending or number in self._returning

    def is_returning(self, number: int) -> bool:
        """True if this asks for the place that a client had; the client itself waits for no answer to it."""
        return number in self._returning

    def refuse(self, number: int, why: Refused) -> None:
        """Answer a request in the place of a room that cannot be reached."""
        self.hear(Rejected.by(number, why))

    def rooms(self) -> set[str]:
        """The rooms in which clients have places, or from which they wait for an answer."""
        asked = {request.room for _, request, _ in self._pending.values() if request.room is not None}
        return asked | self._audiences.keys()

    def come_back(self, room: str) -> None:
        """A room has another owner, or messages of it were lost: ask for the places of all clients again."""
        audience = self._audiences.get(room)
        places = [] if audience is None else audience.places()
        for place in places:  # all of them, before the first answer
            self._await_return(place, room)
        for place in places:
            self._come_back(place, room)

    def is_repeatable(self, number: int) -> bool:
        """True if a request can be sent again although it may have been carried out."""
        _, request, looked = self._pending.get(number, (None, None, False))
        return not looked and (request is None or _is_repeatable(request))

    def repeat(self, number: int, *, lost: bool = False) -> None:
        """Ask anew; but if the answer is *lost* and asking twice could do it twice, send the client away."""
        if (returning := self._returning.pop(number, None)) is not None:
            self._come_back(*returning)
            return
        if number not in self._pending:
            return
        sent_away = lost and not self.is_repeatable(number)
        client, request, _ = self._pending.pop(number)
        if isinstance(request.wish, Enter):
            self._entered(client, number)
        if client.is_lost:
            return
        if isinstance(request.wish, Enter) and self._has_entered_since(client, request.room or "", number):
            client.refuse(request, Refused(Code.NOT_JOINED, "you have joined this room anew since"))
        elif sent_away:
            client.outbox.close(CloseCode.SERVICE_RESTART, "come again")
        elif type(request.wish) is LookFirst:
            self._look(client, request, request.room or "")
        else:
            self.receive(client, request)

    def _has_entered_since(self, client: Client, room: str, number: int) -> bool:
        """True if a client has asked to enter this room again after this request to enter it."""
        place = self._place(client, room)
        later = [one for one, there in (client.entering or {}).items() if there == room and one > number]
        return bool(later) or (place is not None and place.entry > number)

    def _come_back(self, place: Place, room: str) -> None:
        """Ask for a place again; until then its client hears nothing, and then what it missed."""
        for number in [one for one, (other, _) in self._returning.items() if other is place]:
            del self._returning[number]
        if self._place(place.client, room) is place and (not place.muted or place.returning):
            self._await_return(place, room)
            number, client = next(self._asks), place.client
            self._returning[number] = (place, room)
            self.ask(
                EnterRoom(
                    room, client.number, number, client.player, client.outbox.address, place.since,
                    place.format, again=True, legal=place.legal,
                )
            )  # fmt: skip

    def _await_return(self, place: Place, room: str) -> None:
        """Tell a place nothing until it is there again; from where it heard everything, it is told then."""
        if not place.muted and not place.returning:
            place.since = NEVER if place.stale else self._audiences[room].seq
        if not place.muted:
            place.muted, place.returning = True, True
            place.leave_group()

    def _wants_place(self, room: str, client: int) -> bool:
        """True if a client has a place, or has asked for one."""
        audience = self._audiences.get(room)
        if audience is not None and audience.place(client) is not None:
            return True
        asked = ((one, request) for one, request, _ in self._pending.values() if one.number == client)
        return any(isinstance(request.wish, Enter) and request.room == room for _, request in asked)

    def _return(self, place: Place, told: Entered) -> None:
        """A place is there again; if it has missed something, that follows."""
        audience, client = self._audiences.get(told.room), place.client
        if audience is None or audience.place(client.number) is not place or not place.returning:
            if not self._wants_place(told.room, client.number):
                self.ask(LeaveRoom(told.room, client.number, client.is_lost))
            return  # else the client has joined anew
        audience.company, audience.seq = told.company, told.seq
        place.muted, place.returning, place.entry = False, told.seq != place.since, told.number
        if (place.viewer, {*told.viewpoint.topics} - {place.own}) != (told.viewpoint.viewer, {*place.topics}):
            place.move(told.viewpoint)
        audience.regroup()
        if not place.returning:
            self._release(place)

    def _send_back(self, place: Place, room: str, told: Rejected) -> None:
        """A place is not to be had again."""
        if self._place(place.client, room) is not place:
            return
        if told.code in (Code.ROOM_ENDED, Code.UNKNOWN_ROOM):
            self._dismiss(place, room)
        else:
            self._held.pop(place, None)
            self._remove(place.client, room)
            place.outbox.close(CloseCode.SERVICE_RESTART, "come again")

    def _regained(self, told: Rejected) -> bool:
        """A new owner may not know of a place yet that it is asked for: then it is asked for both again."""
        client, request, _ = self._pending[told.number]
        place = self._place(client, request.room or "")
        if told.code != Code.NOT_JOINED or place is None or (place.muted and not place.returning):
            return False
        self._come_back(place, request.room or "")
        self.repeat(told.number)
        return True

    def _push(self, told: Pushed) -> None:
        audience = self._audiences.get(told.room)
        place = None if audience is None else audience.place(told.client)
        if audience is None or place is None or place.muted or told.number not in (None, place.entry):
            return
        place.returning = False
        try:
            audience.push(place, told.pushes)
        except Refused:  # the door is only for those with a seat
            self._close_to(place)
        if place in self._held:
            self._release(place)

    def _announce(self, told: Announced) -> None:
        if (audience := self._audiences.get(told.room)) is not None:
            audience.announce(told.push, told.but)

    def _tell_step(self, told: StepTold) -> None:
        audience = self._audiences.get(told.room)
        if audience is None or told.seq <= audience.seq:  # a former owner says what a later one has told
            return
        for number in told.closed:
            if (place := audience.place(number)) is not None:
                self._dismiss(place, told.room)
        audience.tell(told)

    def _close_to(self, place: Place) -> None:
        """Close a room to one of its clients, who may not see it any more."""
        for room in tuple(place.client.rooms):
            if self._place(place.client, room) is place:
                self._dismiss(place, room)
                self.ask(LeaveRoom(room, place.client.number))

    def _dismiss(self, place: Place, room: str) -> None:
        self._remove(place.client, room)
        place.client.dismiss(room)

    def _close(self, told: RoomClosed) -> None:
        audience = self._audiences.get(told.room)
        for place in [] if audience is None else audience.places():
            self._dismiss(place, told.room)

    def _send_away(self, told: ComeAgain) -> None:
        audience = self._audiences.get(told.room)
        for place in [] if audience is None else audience.places():
            self._remove(place.client, told.room)
            place.outbox.close(CloseCode.SERVICE_RESTART, "come again")
