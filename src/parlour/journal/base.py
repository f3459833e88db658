"""The contract of a journal: where steps are kept, and what is kept beside them."""

from collections.abc import AsyncIterator, Callable, Collection, Sequence
from pathlib import Path
from typing import Literal, NamedTuple, Protocol

import msgspec
from msgspec import UNSET, UnsetType

from parlour.game import Outcome
from parlour.lobby import Mode, Ticket
from parlour.ratings import Standing
from parlour.wire import RevealedSeed, Step, read_step

Durability = Literal["disk", "process"]
"""What an acknowledged step survives: the loss of power, or the death of the process."""

UNREADABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""What reading a kept step raises when it is none."""


class Trouble(Exception):
    """Something that the journal could not do."""


class Conflict(Trouble):
    """Somebody else has that number (of a step) or that id (of an open room): the writer is not the owner."""


class NotKept(Trouble):
    """The write surely did not happen, or the file could not be read."""


class DiskFailed(Trouble):
    """The disk failed: whether the write is there is known only once the file is opened again."""


class Damaged(Trouble):
    """What was read is not what was written."""


class Lost(Trouble):
    """Something that was kept is not there any more."""


class TooNew(Trouble):
    """The journal was written by a newer Parlour."""


class Foreign(Trouble):
    """What lies where the journal should be is not Parlour's."""


class Player(msgspec.Struct, frozen=True, omit_defaults=True):
    """A person or a bot with an id that lasts."""

    id: str
    name: str
    bot: bool = False


class KeptPlayer(Player, frozen=True, omit_defaults=True):
    """A player as the journal keeps them: with what is nobody else's business."""

    session: int = 0
    """How often they ended all their sessions; tokens from before are not valid any more."""


class RoomSummary(msgspec.Struct, frozen=True, omit_defaults=True):
    """The plate at a room's door: all that a list of rooms shows."""

    id: str
    game: str
    created: float
    seats: tuple[Player | None, ...]
    status: str
    seed_hash: str
    private: bool = False
    outcome: Outcome | None = None
    shown: tuple[RevealedSeed, ...] = ()
    ended: str | None = None
    ended_at: float | None = None
    """When it ended, on the rooms' clock, by which old rooms are forgotten. (Rooms that ended under a journal
    of format 3 have wall time here, and are forgotten by what was noted when it was brought up to date.)"""
    creator: str | None = None
    """Whose room this is, by player or address: nobody can open too many."""
    held: float | None = None
    """Since when its clock stands still because its game is not on this server."""
    connected: int = 0
    """How many seated players are here."""
    ranked: bool = False
    """What is played here counts on its ladder."""
    listed: bool = True
    """May be in the list of open rooms, unless it is private."""
    address: str | None = None
    """Where it was opened from: no address can open too many."""
    mode: Mode = "normal"
    """How its players were to be found, where the lobby opened it."""


class Found(msgspec.Struct, frozen=True):
    """A room as the journal knows it: its own number, its last step's, and its card."""

    number: int
    seq: int
    summary: RoomSummary


class Stored(msgspec.Struct, frozen=True):
    """A room's state as it was after step *seq*, encoded."""

    seq: int
    state: bytes


class Recalled(msgspec.Struct, frozen=True):
    """All that loading a room needs."""

    found: Found
    stored: Stored
    steps: list[Step]
    """What was kept after that state."""
    answers: dict[tuple[str, str], int]


class GameResult(msgspec.Struct, frozen=True, omit_defaults=True):
    """How a game ended for one of its players, and where it can be played again."""

    player: str
    how: Literal["won", "lost", "drew"]
    why: str
    game: str
    ladder: str
    against: tuple[Player, ...]
    room: str
    number: int
    """The journal's own, which outlasts the room's id."""
    seq: int
    date: float
    ranked: bool = False
    listed: bool = True
    """False: played in an unlisted room, whose id is for those who played there."""


class Scored(msgspec.Struct, frozen=True):
    """What a game that ended means for those who played it."""

    results: tuple[GameResult, ...]
    standings: tuple[Standing, ...] = ()
    """Whose standing changes, as a newcomer's would be; none where it does not count."""
    settle: Callable[[Sequence[Standing]], tuple[Standing, ...]] = tuple
    """Makes the new standings of the kept ones, in the same order."""


class StepWrites(msgspec.Struct, frozen=True):
    """What is kept beside a step, as far as the step changed it."""

    summary: RoomSummary | None = None
    state: bytes | None = None
    due: float | UnsetType | None = UNSET
    """When the room wants to be woken; unset: as before."""
    tickets: tuple[Ticket, ...] = ()
    """Tickets that this step made good."""
    scored: Scored | None = None


class KeptEnvelope(msgspec.Struct, frozen=True):
    """Something numbered that passed through a relay, encoded."""

    num: int
    at: float
    """On the rooms' clock, by which quiet relays are forgotten."""
    body: bytes
    first: int = 0
    """The oldest number that is still worth keeping."""
    holder: str = ""
    """For whom the relay is counted."""
    bytes: int = 0
    """What is kept of the relay, with this."""


class Held(NamedTuple):
    """What is kept of a relay, and for whom it is counted."""

    holder: str
    bytes: int


class Damage(msgspec.Struct, frozen=True):
    """Something kept that is not as it was written."""

    table: str
    row: str
    """What names it."""


Kept = Callable[[Trouble | None], None]
"""Told that a step is kept, or why it is not."""


class Chain:
    """Reads a room's kept steps in their order, and believes none that is not as it was written."""

    def __init__(self, room: int, after: int) -> None:
        self.room = room
        self.seq = after
        self._head: bytes | None = None

    def read(self, seq: int, body: bytes, hash: bytes) -> Step:
        """The next step, by its body and that body's digest; `Damaged` if it does not follow the last one."""
        if seq != self.seq + 1:
            raise Damaged(f"room {self.room}: step {self.seq + 1} is missing, step {seq} comes next")
        try:
            step = read_step(body)
        except UNREADABLE as error:
            raise Damaged(f"room {self.room}: step {seq} cannot be read: {error}") from error
        if step.seq != seq or self._head not in (None, step.before):
            raise Damaged(f"room {self.room}: step {seq} does not follow the step before it")
        # What was written, not what encoding it again would give.
        step.__dict__.update(body=body, digest=hash)
        self.seq, self._head = seq, hash
        return step


class Journal(Protocol):
    """One file (or the like) with rooms, their steps and deadlines, players and the clock.

    Rooms are keyed by a number of the journal's own, because an ended room frees its id.
    Every write is durable when it returns, and everything read after it includes it.
    """

    def __init__(self, folder: Path, durability: Durability, *, accept_loss: bool = False) -> None: ...

    async def open(self) -> float:
        """Make ready; the clock of the rooms, where it last stopped.

        `Lost` if it is known to have been further, unless that is to be accepted.
        """
        ...

    async def close(self) -> None:
        """Finish what was begun, then let go."""
        ...

    async def create(
        self,
        summary: RoomSummary,
        state: bytes,
        due: float | None,
        steps: Sequence[Step] = (),
        tickets: Sequence[Ticket] = (),
    ) -> int:
        """Keep a new room with its state before the first step; `Conflict` if an open room has its id.

        With its first steps, and with the tickets that they made good: all or nothing.
        """
        ...

    def append(self, room: int, step: Step, aside: StepWrites, kept: Kept) -> None:
        """Keep a step and what belongs beside it, all or nothing; `Conflict` if that seq is taken.

        *kept* is called when that is done, in the order asked; once for each, in one turn for a whole batch.
        """
        ...

    async def mark(self, room: int, summary: RoomSummary, due: float | None) -> None:
        """Hang a new card at a room's door without a step: it is held, or cannot go on."""
        ...

    async def prune(self, before: float, limit: int) -> bool:
        """Forget what is older than that time of the rooms' clock, a part of it; True where more may be left.

        Rooms that ended, with the results of their games that did not count; relays through which nothing has
        passed; players who were not asked for, have no seat, result or standing, and never ended their
        sessions. *limit* is how many steps, letters, rooms, relays and players a call may forget.
        """
        ...

    def damages(self) -> Sequence[Damage]:
        """What was found to be damaged since it was opened, in the order of finding, each once."""
        ...

    async def inspect(self, limit: int) -> bool:
        """Check so many more of all kept rows, from where the last call stopped; False at the end."""
        ...

    async def rest(self, room: int, stored: Stored, due: float | None) -> None:
        """Keep the state of a room that leaves memory; `Conflict` if it has gone on since that seq."""
        ...

    def replay(self, room: int, after: int = 0) -> AsyncIterator[Step]:
        """The steps after that seq in order; `Damaged` where a step is not as it was written."""
        ...

    async def stored(self, room: int, at: int | None = None) -> Stored:
        """The newest state that was kept, or the newest up to step *at*."""
        ...

    async def answers(self, room: int) -> dict[tuple[str, str], int]:
        """The seq that each (player, command id) was answered with."""
        ...

    async def recall(self, id: str) -> Recalled | None:
        """The room as `find` finds it, its newest state, the steps after it and its answers, in one look."""
        ...

    async def find(self, id: str) -> Found | None:
        """The open room with that id, or the one that ended last."""
        ...

    async def ids_like(self, id: str) -> list[str]:
        """Ids of open rooms that differ from this one at most in capitals, not more than two."""
        ...

    async def room(self, number: int) -> Found | None:
        """The room with the journal's own number, whether its id has been given again or not."""
        ...

    async def rooms_of(self, player: str) -> list[Found]:
        """Rooms that have not ended in which this player has a seat, newest first."""
        ...

    async def due(self, now: float) -> list[str]:
        """The ids of open rooms that want to be woken by then."""
        ...

    async def left_connected(self) -> list[str]:
        """The ids of open rooms whose last step left a seated player connected."""
        ...

    async def missing(self, games: Collection[str]) -> list[Found]:
        """The open rooms of other games than these."""
        ...

    async def held(self) -> list[str]:
        """The ids of open rooms whose clock stands still."""
        ...

    async def beat(self, now: float) -> None:
        """Note how far the rooms' clock is."""
        ...

    async def post(self, relay: str, letter: KeptEnvelope) -> None:
        """Keep what passed through a relay, and let go of what came before its `first`; `Conflict` if that
        number is taken."""
        ...

    async def posted(self, relay: str, most: int | None = None) -> list[bytes]:
        """What passed through a relay and is kept, in order; `Damaged` where it is not as it was written.

        Where that is more than *most* bytes, only the newest of it.
        """
        ...

    async def relay_held(self, relay: str) -> Held | None:
        """What the newest letter of a relay said about all of them; None where there is none."""
        ...

    async def relays_held(self) -> dict[str, int]:
        """The bytes that are kept of relays, by holder."""
        ...

    async def save_ticket(self, ticket: Ticket) -> None:
        """Keep a ticket, or what became of it."""
        ...

    async def drop_tickets(self, ids: Collection[str]) -> None:
        """Forget these tickets."""
        ...

    async def tickets(self) -> list[Ticket]:
        """All tickets that are kept."""
        ...

    async def standings(self, ladder: str, limit: int) -> list[Standing]:
        """The first of a ladder, by what they are worth."""
        ...

    async def standings_of(self, player: str) -> list[Standing]:
        """A player's standings on all ladders."""
        ...

    async def results_of(self, player: str, limit: int) -> list[GameResult]:
        """A player's last games, the newest first."""
        ...

    async def key(self) -> bytes:
        """32 secret bytes, made with this journal and never changed: what is derived from them lasts."""
        ...

    async def save_player(self, player: Player) -> None:
        """Keep a player, or their new name."""
        ...

    async def player(self, id: str) -> KeptPlayer | None:
        """A player by id."""
        ...
