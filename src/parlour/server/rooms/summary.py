"""Rooms in memory: what their owner knows of each besides the room itself."""

from collections.abc import Callable, Mapping
from typing import Any, Protocol, TypeVar

import msgspec

from parlour.errors import Code, Refused, parse
from parlour.game import Game, Outcome
from parlour.journal.base import Damaged, DiskFailed, Journal, Player, RoomSummary, Trouble
from parlour.room import Instant, Patience, Room
from parlour.server.clock import Clock, Handle
from parlour.server.gateway.connections import Audience
from parlour.server.mailbox import Mailbox
from parlour.server.rooms.guess_limit import Guesses
from parlour.server.rooms.perspectives import Eyes, Sight
from parlour.server.rooms.presence import Presence
from parlour.server.sessions import Sessions
from parlour.server.settings import Settings
from parlour.wire import Command, Result

T = TypeVar("T")
NOT_WRITTEN = (Code.NOT_SAVED, Code.OUTCOME_UNKNOWN)
"""The journal is to blame, and not what was asked for."""
_encode = msgspec.json.Encoder().encode


class Live:
    """A room in memory: the value as it was last kept, who hears it, and the lane of its one owner."""

    def __init__(self, id: str, load: str) -> None:
        self.id = id
        self.mailbox = Mailbox()
        self.audience = Audience(id, load)
        self.presence = Presence(load)
        self.refusal: Refused | None = None
        """Why nobody can come in, when the room could not be loaded."""
        self.number = 0
        self.opening: Opening
        """What its card says that the room itself does not know."""
        self.game: Game[Any]
        self.room: Room[Any] | None = None
        self.views: dict[Eyes, Sight] = {}
        """What all eyes were last told, to tell only what changed."""
        self.moved: dict[Eyes, int] = {}
        """The seq of the step that last changed what these eyes see."""
        self.answers: dict[tuple[str, str], int] = {}
        self.summary: RoomSummary | None = None
        self.stored = 0
        """The seq of the last stored state."""
        self.due: float | None = None
        """When the journal believes that this room wants to be woken: never later than it does."""
        self.alarm: Handle | None = None
        self.alarm_at = 0.0
        """When the alarm rings."""
        self.rest: Handle | None = None
        self.recount: Handle | None = None

    @property
    def here(self) -> Room[Any]:
        """The room, for whoever runs in its lane; refused where it could not be loaded or is gone."""
        if self.room is None:
            raise self.refusal or AssertionError(f"room {self.id} was not loaded")
        return self.room

    def shut(self, why: Refused) -> None:
        """Whoever still waits in the lane is refused."""
        self.room = None
        self.refusal = why

    def stop_timers(self) -> None:
        """Nothing rings any more."""
        for handle in (self.alarm, self.rest, self.recount):
            if handle is not None:
                handle.cancel()
        self.alarm = self.rest = self.recount = None


class Opening(msgspec.Struct, frozen=True):
    """How and by whom a room was opened."""

    created: float
    private: bool = False
    creator: str | None = None
    ranked: bool = False
    listed: bool = True
    address: str | None = None

    @classmethod
    def of(cls, summary: RoomSummary) -> "Opening":
        """What a card says of it."""
        return cls(
            summary.created, summary.private, summary.creator, summary.ranked, summary.listed, summary.address
        )


class Owner(Protocol):
    """Whoever the rooms belong to: the only one who changes them."""

    games: Mapping[str, Game[Any]]
    journal: Journal
    sessions: Sessions
    clock: Clock
    guesses: Guesses
    faults: dict[str, str]
    """By the name of a game whose saved file does not load: why."""

    async def step(self, live: Live, command: Command, id: str | None = None) -> Any:
        """Think a command through, write it, speak of it."""
        ...

    def check_seat(self, live: Live, player: str, *, bot: bool = False) -> None:
        """Refuse a seat that is kept for others."""
        ...

    async def settle(self, live: Live) -> None:
        """Disconnect the seated players who are not here any more."""
        ...

    def changed(self, summary: RoomSummary) -> None:
        """A room has a new card."""
        ...

    def notice(self, live: Live) -> None:
        """A room is there, or has changed: its bots may have something to do."""
        ...

    async def condemn(self, live: Live, why: Refused) -> None:
        """Close a room whose game cannot be trusted to go on."""
        ...

    def ask_game(self, game: Game[Any], room: str, think: Callable[[], T]) -> T:
        """Run a game's code; whatever it raises comes out as a refusal."""
        ...

    @property
    def give_up(self) -> Callable[[Trouble], None]:
        """The disk failed: stop serving."""
        ...

    def instant(self) -> Instant:
        """The present, with a fresh seed in case one is needed."""
        ...


def patience_of(settings: Settings) -> Patience:
    """How long rooms last here."""
    days, minutes = settings.room_days, settings.empty_room_minutes
    return Patience(days * 86400 or None, minutes * 60 or None)


OUTCOME_NOT_KNOWN = "it is not known whether this happened; come back in a moment and see"


def excuse(error: Refused | Trouble) -> Refused:
    """What a client is told when the journal could not do its part."""
    match error:
        case Refused():
            return error
        case Damaged():
            return Refused(Code.ROOM_DAMAGED, "what is kept of this is damaged; an operator must look at it")
        case DiskFailed():
            return Refused(Code.OUTCOME_UNKNOWN, OUTCOME_NOT_KNOWN)
        case _:
            return Refused(Code.NOT_SAVED, "the journal could not do this, so it did not happen; try again")


def seated(room: Room[Any]) -> tuple[Player | None, ...]:
    """Who sits where."""
    return tuple(Player(seat.player, seat.name, seat.bot) if seat else None for seat in room.seats)


def summary_of(room: Room[Any], opening: Opening, now: float) -> RoomSummary:
    """The plate at this room's door."""
    return RoomSummary(
        id=room.id,
        game=room.game,
        created=opening.created,
        seats=seated(room),
        status=room.status,
        seed_hash=room.seed_hash,
        private=opening.private,
        creator=opening.creator,
        outcome=room.outcome,
        shown=room.shown,
        ended=room.ended,
        ended_at=None if room.ended is None else now,
        connected=len(room.connected),
        ranked=opening.ranked,
        listed=opening.listed,
        address=opening.address,
    )


class ShownSeed(msgspec.Struct, frozen=True):
    """A seed that an outcome made public: it drew for these steps."""

    first: int
    last: int
    seed: str


class PublicRoom(msgspec.Struct, frozen=True):
    """A room as anybody may see it."""

    id: str
    game: str
    status: str
    seats: tuple[Player | None, ...]
    spectators: int
    seq: int
    outcome: Outcome | None
    ended: str | None
    private: bool
    listed: bool
    ranked: bool
    created: float
    seed_hash: str
    seeds: tuple[ShownSeed, ...]


def public_room(summary: RoomSummary, *, seq: int, spectators: int = 0) -> PublicRoom:
    """A room's card and what changes too often to stand on it."""
    return PublicRoom(
        id=summary.id,
        game=summary.game,
        status=summary.status,
        seats=summary.seats,
        spectators=spectators,
        seq=seq,
        outcome=summary.outcome,
        ended=summary.ended,
        private=summary.private,
        listed=summary.listed and not summary.private,
        ranked=summary.ranked,
        created=summary.created,
        seed_hash=summary.seed_hash,
        seeds=tuple(ShownSeed(shown.first, shown.last, shown.seed.hex()) for shown in summary.shown),
    )


class Waits(msgspec.Struct, frozen=True):
    """How many seconds a room of a game waits; null: for ever."""

    game: float | None
    """After the last thing that a player did. Where the game leaves it to the server: after the last step."""
    away: float | None
    """For a player who is away, who then has left."""
    nobody: float | None
    """For any player to come back, once none is connected."""
    empty: float | None
    """For the first player."""
    ends_under_players: bool
    """Whether it may end while a player is connected."""


def waits_of(game: Game[Any], patience: Patience) -> Waits:
    """How long rooms of this game wait here."""
    times = game.timeouts
    lasts = times.game == "server"
    empty = min(
        (wait for wait in (times.game, patience.empty) if isinstance(wait, float | int)), default=None
    )
    wait = patience.playing if times.game == "server" else times.game
    return Waits(wait, times.away, times.nobody, empty, ends_under_players=not lasts)


def result_of(room: Room[Any]) -> Result | None:
    """How the game ended and the seed that proves its luck, once there is an outcome."""
    if room.outcome is None:
        return None
    return Result(room.outcome, room.shown[-1].seed.hex(), room.seed_hash)


def freeze(room: Room[Any]) -> bytes:
    """The room as it is stored."""
    return _encode(room)


class _Configured(msgspec.Struct, frozen=True):
    """What is read of a stored room to open another like it."""

    config: Any


def config_of(state: bytes) -> Any:
    """The config of the room that was stored."""
    return msgspec.json.decode(state, type=_Configured).config


def thaw(game: Game[Any], state: bytes) -> Room[Any]:
    """The room that was stored, its state read by the game's own types."""
    kind: Any = Room
    decode: Callable[[bytes], Room[Any]] = msgspec.json.Decoder(kind[game.State]).decode
    return parse(decode, state, code=Code.RULES_CHANGED)
