"""The lobby of many workers: one of them owns all tickets, and the clients of all are there.

What a client asks at the lobby goes to the owner, and what is told there comes back. The owner hears of seats
and ends of rooms, wherever they are, and tells everybody for whom seats are kept.
"""

from collections.abc import Callable
from itertools import count
from typing import Any

import msgspec
import structlog
from msgspec import Raw

from parlour.errors import Code, Refused
from parlour.journal.base import Trouble
from parlour.server.components import Components
from parlour.server.gateway.connections import Client
from parlour.server.gateway.lobby import games_of
from parlour.server.mail import (
    AskLobby,
    LobbyAnswered,
    LobbyMail,
    LobbyPushed,
    LobbyRefused,
    Reserved,
    ReservedNothing,
    RoomListed,
    RoomNews,
)
from parlour.server.refusals import OUTCOME_NOT_KNOWN
from parlour.server.rooms.events import RoomEnded, RoomEvent, RoomOpened, SeatsChanged, SummaryChanged
from parlour.server.tasks import Tasks
from parlour.wire import Enter, Exit, Push, Queue, Request, Unqueue

log = structlog.get_logger()

_encode = msgspec.json.Encoder().encode

Send = Callable[[int, LobbyMail], None]
"""Sends a message to a worker."""


class RemoteOutbox:
    """What the lobby must know of the connection of another worker's client."""

    def __init__(self, address: str | None) -> None:
        self.address = address


class RemoteClient:
    """A client of another worker, as the owner of the lobby sees it."""

    def __init__(self, gateway: int, asked: AskLobby, send: Send) -> None:
        self.gateway = gateway
        self.number = asked.client
        self.player = asked.player
        self.plays = asked.plays
        self.outbox = RemoteOutbox(asked.address)
        self._send = send

    def accept(self, request: Request, payload: Any) -> None:
        """Accept a request."""
        if request.ref:
            self._send(self.gateway, LobbyAnswered(request.ref, Raw(_encode(payload))))

    def refuse(self, request: Request, why: Refused) -> None:
        """Refuse a request."""
        if request.ref:
            self._send(self.gateway, LobbyRefused(request.ref, why.code, why.message, why.path))

    def push(self, room: None, pushes: list[Push], ref: Any = None) -> None:  # noqa: ARG002
        """Send pushes to this client."""
        for push in pushes:
            self._send(self.gateway, LobbyPushed(self.number, push.name, Raw(_encode(push.payload))))


class SharedLobby:
    """Passes what clients ask at the lobby to its owner, and is the owner's end of it, too."""

    def __init__(self, parlour: Components, me: int, owner: Callable[[], int], send: Send) -> None:
        self._parlour = parlour
        self._me = me
        self._owner = owner
        self._send = send
        self._numbers = count(1)
        self._at: dict[int, Client] = {}
        """Our own clients at the lobby."""
        self._pending: dict[int, tuple[Client, Request]] = {}
        self._remote: dict[int, RemoteClient] = {}
        """Clients of other workers, while we own the lobby."""
        self._early: dict[int, tuple[int, AskLobby]] = {}
        """Clients of other workers that are at the lobby, while it is not open yet, and their workers."""
        self._asked: int | None = None
        """The worker that was the owner when we last looked."""
        self._others: set[int] = set()
        self._tasks = Tasks()
        self._is_open = False
        """The tickets are ours, and read."""

    @property
    def is_ours(self) -> bool:
        """True if this worker owns the lobby."""
        return self._owner() == self._me

    # What our clients ask.

    def receive(self, client: Client, request: Request) -> None:
        """Take a request of a client at the lobby."""
        wish = request.wish
        if isinstance(wish, Enter):
            self._at[client.number] = client
            client.plays = games_of(wish)
        elif not isinstance(wish, Queue | Unqueue):
            self._at.pop(client.number, None)
        if self.is_ours and self._is_open:
            self._parlour.lobby.receive(client, request)
        elif self.is_ours or not self._owner():
            client.refuse(request, Refused(Code.NOT_SAVED, "the lobby is just being opened; try again"))
        else:
            self._pending[number := next(self._numbers)] = (client, request)
            self._send(self._owner(), _asked(number, client, wish))

    def remove(self, client: Client) -> None:
        """A client is not at the lobby any more."""
        if self._at.pop(client.number, None) is not None and not self.is_ours and self._owner():
            self._send(self._owner(), AskLobby(0, client.number, client.player, wish="leave"))
        self._parlour.lobby.remove(client)

    # Who owns it.

    def look(self, others: set[int]) -> None:
        """See who owns the lobby now, and which other workers there are."""
        for gone in self._others - others:
            self.lose(gone)
        new, self._others = others - self._others, others
        if self._is_open:
            for worker in new:
                self._tell_reserved(worker)
        if self._owner() != self._asked:
            self._change_owner()

    def _change_owner(self) -> None:
        before, self._asked = self._asked, self._owner()
        self._fail_pending()
        if before == self._me and self._asked != self._me:
            self._parlour.lobby.clear()
            self._remote.clear()
            self._let_go()  # if nobody has asked for it, we are taken for dead
            self._parlour.pairing.abandon()
        if self._asked == self._me:
            self._tasks.start(self._open())
        else:
            self._early.clear()
            for client in tuple(self._at.values()):
                self._send_again(client)

    def _send_again(self, client: Client) -> None:
        """Tell the owner of the lobby that a client is there."""
        if self._owner():
            self._send(self._owner(), _asked(0, client, Enter()))

    async def _open(self) -> None:
        """The tickets are ours: read them, and let everybody in."""
        for worker in self._others:
            self._send(worker, ReservedNothing())
        self._parlour.environment.reservations.changed = self._reserve
        try:
            await self._parlour.pairing.start()
        except Trouble as error:
            log.error("lobby_not_opened", error=str(error))
            self._asked = None  # the next look tries again
            return
        if not self._parlour.pairing.is_open:  # it was given away meanwhile
            return
        self._is_open = True
        for client in tuple(self._at.values()):
            self._parlour.lobby.add(client)
        early, self._early = self._early, {}
        for sender, asked in early.values():
            self._take_ask(sender, asked)

    async def hand_over(self) -> None:
        """Another worker is to own the lobby: finish what is being done."""
        self._let_go()
        await self._parlour.pairing.stop()

    def keep(self) -> None:
        """It was to be handed over, and stays ours: open it again."""
        self._asked = None
        self._change_owner()

    def _let_go(self) -> None:
        self._is_open = False
        self._parlour.environment.reservations.changed = lambda _: None

    def lose(self, worker: int) -> None:
        """A worker is gone, or messages were lost: its clients come again, and ours if it is the owner."""
        self._early = {number: one for number, one in self._early.items() if one[0] != worker}
        for number in [one.number for one in self._remote.values() if one.gateway == worker]:
            self._parlour.lobby.remove(self._remote.pop(number))  # type: ignore[arg-type]
        if self._owner() == worker:
            self._fail_pending()
            for client in tuple(self._at.values()):
                self._send_again(client)
        elif self._is_open:
            self._tell_reserved(worker)

    def _fail_pending(self) -> None:
        """Nobody knows what came of what was asked: these clients come again and see."""
        pending, self._pending = self._pending, {}
        for client, request in pending.values():
            client.refuse(request, Refused(Code.OUTCOME_UNKNOWN, OUTCOME_NOT_KNOWN))

    # What rooms tell the lobby, and the lobby rooms.

    def hear(self, event: RoomEvent) -> None:
        """Pass events of our rooms to the owner of the lobby."""
        if self.is_ours or not self._owner():
            return
        if isinstance(event, SeatsChanged):
            self._send(self._owner(), RoomNews(event.room, tuple(event.sitting), event.matched))
        elif isinstance(event, RoomEnded):
            self._send(self._owner(), RoomNews(event.room, None))
        elif isinstance(event, RoomOpened):
            self._send(self._owner(), RoomListed(event.found.summary, event.found))
        elif isinstance(event, SummaryChanged):
            self._send(self._owner(), RoomListed(event.summary))

    def _reserve(self, room: str) -> None:
        for worker in self._others:
            self._send(worker, self._reserved(room))

    def _reserved(self, room: str) -> Reserved:
        kept = self._parlour.environment.reservations
        return Reserved(room, kept.vacancies.get(room), kept.sent(room))

    def _tell_reserved(self, worker: int) -> None:
        """Tell a worker all that is reserved."""
        self._send(worker, ReservedNothing())
        for room in self._parlour.environment.reservations.rooms():
            self._send(worker, self._reserved(room))

    # What comes over the bus.

    def take(self, sender: int, mail: LobbyMail) -> None:  # noqa: C901 - a table of all messages
        """Take a message of another worker."""
        match mail:
            case AskLobby():
                self._take_ask(sender, mail)
            case LobbyAnswered() | LobbyRefused():
                self._take_answer(mail)
            case LobbyPushed():
                if (client := self._at.get(mail.client)) is not None:
                    client.push(None, [Push(mail.name, mail.payload)])
            case RoomNews():
                self._take_news(mail)
            case RoomListed():
                listed = None if mail.opened is None else RoomOpened(mail.opened)
                self._parlour.room_list.hear(listed or SummaryChanged(mail.summary))
            case Reserved() if not self.is_ours:
                self._parlour.environment.reservations.copy(mail.room, mail.vacancy, mail.sent)
            case ReservedNothing() if not self.is_ours:
                self._parlour.environment.reservations.clear()
            case _:
                pass

    def _take_ask(self, sender: int, asked: AskLobby) -> None:
        client = self._remote.get(asked.client) or RemoteClient(sender, asked, self._send)
        request = Request(None, _wish(asked), ref=asked.number)
        if not self._is_open:
            if asked.wish == "leave":
                self._early.pop(asked.client, None)
            elif asked.wish == "enter" and not asked.number:  # nobody would tell it to try again
                self._early[asked.client] = sender, asked
            client.refuse(request, Refused(Code.NOT_SAVED, "the lobby is just being opened; try again"))
            return
        self._remote[client.number] = client
        client.plays = asked.plays if asked.wish == "enter" else client.plays
        if asked.wish == "enter" and not asked.number:  # it was at the lobby before
            self._parlour.lobby.add(client)  # type: ignore[arg-type]
        else:
            self._parlour.lobby.receive(client, request)  # type: ignore[arg-type]
        if asked.wish == "leave":
            self._remote.pop(client.number, None)

    def _take_answer(self, mail: LobbyAnswered | LobbyRefused) -> None:
        client, request = self._pending.pop(mail.number, (None, None))
        if client is None or request is None:
            return
        if isinstance(mail, LobbyAnswered):
            client.accept(request, mail.payload)
        else:
            client.refuse(request, Refused(mail.code, mail.message, path=mail.path))

    def _take_news(self, news: RoomNews) -> None:
        event: RoomEvent = RoomEnded(news.room)
        if news.sitting is not None:
            event = SeatsChanged(news.room, frozenset(news.sitting), news.matched)
        self._parlour.pairing.hear(event)


def _asked(number: int, client: Client, wish: Any) -> AskLobby:
    """What a client asks, as it is sent."""
    asked = AskLobby(number, client.number, client.player, client.outbox.address)
    match wish:
        case Queue():
            return msgspec.structs.replace(asked, wish="queue", queue=wish)
        case Unqueue():
            return msgspec.structs.replace(asked, wish="unqueue", ticket=wish.ticket)
        case Enter():
            return msgspec.structs.replace(asked, plays=client.plays)
        case _:
            return msgspec.structs.replace(asked, wish="leave")


def _wish(asked: AskLobby) -> Enter | Exit | Queue | Unqueue:
    """What a client asks, as the lobby takes it."""
    match asked.wish:
        case "queue":
            return asked.queue or Queue("")
        case "unqueue":
            return Unqueue(asked.ticket)
        case "enter":
            return Enter(plays=asked.plays)
        case _:
            return Exit()
