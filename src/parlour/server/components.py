"""The server without its network: rooms, gateway, lobby, pairing and bots, joined together."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, NamedTuple

from parlour.game import Game
from parlour.journal.base import Journal, Trouble
from parlour.pseudonyms import Pseudonyms
from parlour.server.border import Ask, Told
from parlour.server.bots.pool import BotPool
from parlour.server.bots.thinking import Bots, Thinker
from parlour.server.clock import Clock
from parlour.server.gateway.gateway import Gateway
from parlour.server.gateway.lobby import Lobby
from parlour.server.limits import Limits
from parlour.server.metrics import own_text
from parlour.server.outgoing import Outgoing
from parlour.server.parts.accounts.accounts import Accounts
from parlour.server.parts.accounts.name_changes import NameChanges
from parlour.server.parts.accounts.name_records import renew_keys
from parlour.server.parts.notifications.notifications import Notifications
from parlour.server.parts.pairing.pairing import Pairing
from parlour.server.parts.ratings.settling import Ratings
from parlour.server.parts.room_list import RoomList
from parlour.server.rooms.calls import RoomCall
from parlour.server.rooms.environment import Environment
from parlour.server.rooms.history import History
from parlour.server.rooms.registry import RoomRegistry
from parlour.server.secret import secret_of
from parlour.server.settings import Settings


class LocalBorder:
    """The border within one process: it passes each message on as it is."""

    def ask(self, take: Callable[[Ask], None], ask: Ask) -> None:
        """Pass a gateway's request to the rooms."""
        take(ask)

    def tell(self, hear: Callable[[Told], None], told: Told) -> None:
        """Pass a room's message to the gateway."""
        hear(told)


class Replaceable(NamedTuple):
    """What tests can replace: seeds, the bots' processes, messages within the server, requests to others."""

    draw_seed: Callable[[], bytes] | None = None
    thinker: Thinker | None = None
    bus: LocalBorder = LocalBorder()
    outgoing: Outgoing | None = None


CallRooms = Callable[[str, RoomCall], Awaitable[Any]]

AS_USUAL = Replaceable()


async def _nothing() -> None:
    """There is nobody to hand anything to."""


class Components:
    """All parts of a server, and the order in which they start and stop."""

    def __init__(
        self,
        games: Mapping[str, Game[Any]],
        journal: Journal,
        clock: Clock,
        settings: Settings,
        replaced: Replaceable = AS_USUAL,
    ) -> None:
        self.games, self.journal, self.clock, self.settings = games, journal, clock, settings
        self.environment = Environment(games, journal, clock, settings, replaced.draw_seed)
        self.limits = Limits(settings, clock)
        self.sessions = self.environment.sessions
        self.name_changes = NameChanges(
            journal, clock, self.sessions, self._call, lambda: self.environment.ownership.is_shared
        )
        self.accounts = Accounts(
            journal,
            clock,
            self.sessions,
            self.environment.guesses.by_address,
            self.name_changes.look_soon,
            self.limits.count_account,
        )
        self.ratings = Ratings(journal, clock)
        self.notifications = Notifications(
            journal,
            clock,
            self.sessions,
            games,
            replaced.outgoing or Outgoing(local=settings.local_webhooks),
            site=settings.public_url,
            is_shared=lambda: self.environment.ownership.is_shared,
        )
        self.rooms = RoomRegistry(self.environment)
        self.history = History(self.environment)
        self.room_list = RoomList(clock, self.rooms.overview, self.rooms.describe)
        self.lobby = self.room_list.lobby = Lobby(self.room_list)
        self.pairing = Pairing(self.environment, self.rooms, self.lobby, self.ratings)
        self.lobby.pairing = self.pairing
        self.bots = Bots(
            self.rooms,
            clock,
            replaced.thinker or BotPool(settings.bot_workers, settings.bot_timeout),
            settings.bot_pace,
        )
        bus = replaced.bus
        ask = self.rooms.ask if type(bus) is LocalBorder else lambda ask: bus.ask(self.rooms.ask, ask)
        self.gateway = Gateway(ask, self.lobby)
        hear = self.gateway.hear
        self.environment.tell = tell = hear if type(bus) is LocalBorder else lambda told: bus.tell(hear, told)
        self.environment.tell_all = lambda told, _: tell(told)
        self.leave: Callable[[], Awaitable[None]] = _nothing
        """Hands all rooms over to other workers, if there are any."""
        self.call: CallRooms = self.rooms.call
        """Has a room carry out a call, wherever the room is."""
        self.metrics: Callable[[], Awaitable[bytes]] = own_text
        """What an operator may want to plot, of all workers of this machine."""
        self.environment.listeners += [
            self.room_list.hear, self.pairing.hear, self.ratings.hear, self.bots.hear,
            self.notifications.hear,
        ]  # fmt: skip
        self.pseudonyms: Pseudonyms
        """Makes public names for players whose own ids are secrets; set once the journal is open."""

    async def _call(self, room: str, call: RoomCall) -> Any:
        return await self.call(room, call)

    def note_trouble(self, trouble: Trouble) -> None:
        """Report that the journal failed."""
        self.environment.note_trouble(trouble)

    def is_owner_for_sure(self) -> bool:
        """False if another worker may own by now what this one owned."""
        return self.environment.ownership.is_fresh()

    async def start(self) -> None:
        """Open the journal and start all parts."""
        await self.rooms.start()
        self.pseudonyms = Pseudonyms(await secret_of(self.journal))
        await renew_keys(self.journal)
        await self.ratings.start()
        await self.notifications.start()
        self.name_changes.start()
        if not self.environment.ownership.is_shared:  # else whoever owns the lobby does that
            await self.pairing.start()

    async def stop(self) -> None:
        """Finish open work and store the rooms in memory; no room ends by this."""
        await self.pairing.stop()
        await self.bots.stop()
        await self.notifications.stop()
        await self.name_changes.stop()
        self.room_list.stop()
        await self.ratings.stop()
        await self.leave()
        await self.rooms.stop()
