"""The summary of a room, as the journal keeps it and as anybody may see it."""

from typing import Any, NamedTuple

import msgspec

from parlour.clocks import ClockSettings
from parlour.game import Game, Outcome
from parlour.journal.base import Found, Player, RoomSummary
from parlour.lobby import Mode
from parlour.luck import AddedLuck
from parlour.room import Patience, Room
from parlour.wire import Company, Result, Sitter, Watching

MAX_SHOWN = 64
"""Characters of a setting that is still short."""


class RoomInMemory(NamedTuple):
    """A room in memory, as the list of rooms uses it."""

    found: Found
    is_attended: bool
    """A seated player, or whoever opened it, is connected."""


class Opening(msgspec.Struct, frozen=True):
    """How and by whom a room was opened."""

    created: float
    private: bool = False
    creator: str | None = None
    ranked: bool = False
    listed: bool = True
    address: str | None = None
    mode: Mode = "normal"
    """How its players were to be found, if pairing opened it."""
    watching: Watching = "anyone"
    apart: bool = False
    clock: ClockSettings | None = None

    @classmethod
    def of(cls, summary: RoomSummary) -> "Opening":
        """The opening that a summary describes."""
        return cls(
            summary.created, summary.private, summary.creator, summary.ranked, summary.listed,
            summary.address, summary.mode, summary.watching, summary.apart, summary.clock,
        )  # fmt: skip


def seated(room: Room[Any]) -> tuple[Player | None, ...]:
    """Who sits where."""
    return tuple(
        Player(seat.player, seat.name, seat.bot or seat.remote, seat.account) if seat else None
        for seat in room.seats
    )


def summary_of(room: Room[Any], opening: Opening, now: float, score: tuple[int, ...] = ()) -> RoomSummary:
    """The summary of a room at this time."""
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
        mode=opening.mode,
        config=shown_config(room.config),
        score=score,
        watching=opening.watching,
        apart=room.apart,
        least=room.least,
        clock=None if room.clocks is None else room.clocks.settings,
        coming=tuple(
            [Player(one.player, one.name, one.bot or one.remote, one.account) for one in room.awaited]
        ),
    )


def shown_config(config: Any) -> dict[str, Any]:
    """The settings of a config that a list of rooms can show: flags, numbers and short words.

    >>> shown_config({"variant": "tavli", "turn_seconds": None, "map": "#" * 1000, "teams": [1, 2]})
    {'variant': 'tavli', 'turn_seconds': None}
    """
    settings = config.items() if isinstance(config, dict) else ()
    return {name: value for name, value in settings if _is_short(value)}


def _is_short(value: Any) -> bool:
    return (
        len(value) <= MAX_SHOWN
        if isinstance(value, str)
        else value is None or isinstance(value, bool | int | float)
    )


def sitting_in(room: Room[Any]) -> frozenset[str]:
    """Who has a seat in a room."""
    return frozenset(player for player in room.players if player is not None)


def company_of(room: Room[Any], opening: Opening) -> Company:
    """Who plays in a room, and how they were found."""
    seats = tuple([Sitter(seat.player, seat.name) if seat else None for seat in room.seats])
    mode: Mode = "ranked" if opening.ranked else "bot" if room.bots else opening.mode
    return Company(seats, mode)


class ShownSeed(msgspec.Struct, frozen=True, omit_defaults=True):
    """A seed that an outcome made public: it drew for these steps."""

    first: int
    last: int
    seed: str
    added: tuple[AddedLuck, ...] = ()
    """The random bytes that players added to it, in order."""


class PublicRoom(msgspec.Struct, frozen=True):
    """A room as anybody may see it."""

    id: str
    game: str
    config: dict[str, Any]
    """Its settings, those that are flags, numbers or short words; empty for rooms of an older version."""
    status: str
    seats: tuple[Player | None, ...]
    least: int
    """How many must sit for the game to be played; 0 for rooms of an older version."""
    score: tuple[int, ...]
    """The points of each seat, where the game counts some."""
    spectators: int
    seq: int
    outcome: Outcome | None
    ended: str | None
    private: bool
    listed: bool
    watching: Watching
    apart: bool
    """Players and spectators talk apart."""
    clock: ClockSettings | None
    """How much time its players have, where they have clocks."""
    coming: tuple[Player, ...]
    """Those who were paired for it and have not sat down yet: free seats are kept for them."""
    ranked: bool
    created: float
    seed_hash: str
    seeds: tuple[ShownSeed, ...]


class MyRoom(PublicRoom, frozen=True):
    """A room in which I have a seat."""

    waits_for_you: bool | None = None
    """Whether its game waits for me to do something; None: that is not known."""


def public_room(summary: RoomSummary, *, seq: int, spectators: int = 0) -> PublicRoom:
    """A room's summary, together with what changes too often to be in it."""
    return PublicRoom(
        id=summary.id,
        game=summary.game,
        config=summary.config,
        status=summary.status,
        seats=summary.seats,
        least=summary.least,
        score=summary.score,
        spectators=spectators,
        seq=seq,
        outcome=summary.outcome,
        ended=summary.ended,
        private=summary.private,
        listed=summary.listed and not summary.private,
        watching=summary.watching,
        apart=summary.apart,
        clock=summary.clock,
        coming=summary.coming,
        ranked=summary.ranked,
        created=summary.created,
        seed_hash=summary.seed_hash,
        seeds=tuple(
            ShownSeed(shown.first, shown.last, shown.seed.hex(), shown.added) for shown in summary.shown
        ),
    )


class Waits(msgspec.Struct, frozen=True):
    """How many seconds a room of a game waits; null: for ever."""

    game: float | None
    """After the last thing that a player did. Where the game leaves it to the server: after the last step."""
    away: float | None
    """Before a player who is disconnected counts as having left."""
    nobody: float | None
    """For any player to come back, once none is connected."""
    empty: float | None
    """For the first player."""
    ends_under_players: bool
    """Whether it may end while a player is connected."""


def waits_of(game: Game[Any], patience: Patience) -> Waits:
    """How long rooms of this game wait on this server."""
    times = game.timeouts
    lasts = times.game == "server"
    empty = min(
        (wait for wait in (times.game, patience.empty) if isinstance(wait, float | int)), default=None
    )
    wait = patience.playing if times.game == "server" else times.game
    return Waits(wait, times.away, times.nobody, empty, ends_under_players=not lasts)


def result_of(room: Room[Any]) -> Result | None:
    """The result of the game and the seed that proves its luck, once there is an outcome."""
    if room.outcome is None:
        return None
    how = None if room.verdict is None else room.verdict.how
    return Result(room.outcome, room.shown[-1].seed.hex(), room.seed_hash, how, room.shown[-1].added)
