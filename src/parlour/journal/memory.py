"""A journal that lasts as long as its process: for tests, and for evenings that leave no trace."""

import secrets
from collections import Counter
from collections.abc import AsyncIterator, Collection, Sequence
from pathlib import Path

import msgspec
from msgspec import UnsetType

from parlour.journal.base import (
    Chain,
    Conflict,
    Damage,
    Damaged,
    Durability,
    Found,
    GameResult,
    Held,
    Kept,
    KeptEnvelope,
    KeptPlayer,
    NotKept,
    Player,
    Recalled,
    RoomSummary,
    Scored,
    StepWrites,
    Stored,
    Trouble,
)
from parlour.lobby import Ticket
from parlour.ratings import Standing
from parlour.wire import Step, asker

_encode = msgspec.json.Encoder().encode
_read_summary = msgspec.json.Decoder(RoomSummary).decode
_read_player = msgspec.json.Decoder(KeptPlayer).decode
_read_ticket = msgspec.json.Decoder(Ticket).decode
_read_standing = msgspec.json.Decoder(Standing).decode
_read_result = msgspec.json.Decoder(GameResult).decode


class _Kept(msgspec.Struct):
    """One room, encoded as it would be in a file, so that what is read back was really decoded."""

    summary: bytes
    states: dict[int, bytes]
    due: float | None
    steps: dict[int, tuple[bytes, bytes]] = {}
    answers: dict[tuple[str | None, str], int] = {}


class MemoryJournal:
    """Keeps everything in dictionaries: what was kept outlives closing, but not the object."""

    def __init__(
        self,
        folder: Path,  # noqa: ARG002 - it needs none of these
        durability: Durability,  # noqa: ARG002
        *,
        accept_loss: bool = False,  # noqa: ARG002
    ) -> None:
        self._rooms: dict[int, _Kept] = {}
        self._numbers = 0
        self._by_id: dict[str, int] = {}
        """The newest room of each id: an id is given again only once its room has ended."""
        self._key = secrets.token_bytes(32)
        self._players: dict[str, tuple[bytes, float]] = {}
        """With when each was last asked for."""
        self._relays: dict[str, dict[int, KeptEnvelope]] = {}
        self._tickets: dict[str, bytes] = {}
        self._standings: dict[tuple[str, str], bytes] = {}
        self._results: list[GameResult] = []
        self._clock = 0.0
        self._open = False

    async def open(self) -> float:
        self._open = True
        return self._clock

    async def close(self) -> None:
        self._open = False

    # Writing.

    async def create(
        self,
        summary: RoomSummary,
        state: bytes,
        due: float | None,
        steps: Sequence[Step] = (),
        tickets: Sequence[Ticket] = (),
    ) -> int:
        same = await self.find(summary.id)
        if same is not None and same.summary.ended is None:
            raise Conflict(f"there is an open room {summary.id} already")
        self._numbers += 1
        self._rooms[self._numbers] = _Kept(_encode(summary), {0: state}, due)
        self._by_id[summary.id] = self._numbers
        for step in steps:
            self._append(self._numbers, step, StepWrites())
        self._keep_tickets(tickets)
        return self._numbers

    def append(self, room: int, step: Step, aside: StepWrites, kept: Kept) -> None:
        try:
            self._append(room, step, aside)
        except Trouble as trouble:
            kept(trouble)
        else:
            kept(None)

    def _append(self, room: int, step: Step, aside: StepWrites) -> None:
        kept = self._owned(room)
        summary = kept.summary if aside.summary is None else _encode(aside.summary)
        asked = None if step.id is None else (asker(step.command), step.id)
        if step.seq in kept.steps:
            raise Conflict(f"room {room} has a step {step.seq} already")
        if asked in kept.answers:
            raise Conflict(f"room {room} has answered that command already")
        kept.steps[step.seq] = (step.body, step.digest)
        kept.summary = summary
        if asked is not None:
            kept.answers[asked] = step.seq
        if aside.state is not None:
            kept.states[step.seq] = aside.state
        if not isinstance(aside.due, UnsetType):
            kept.due = aside.due
        self._keep_tickets(aside.tickets)
        if aside.scored is not None:
            self._score(aside.scored)
        self._clock = max(self._clock, step.now)

    async def mark(self, room: int, summary: RoomSummary, due: float | None) -> None:
        kept = self._owned(room)
        kept.summary = _encode(summary)
        kept.due = due

    async def prune(self, before: float, limit: int) -> bool:
        self._check_open()
        ended = [(number, self._found(number).summary.ended_at) for number in self._rooms]
        old = [number for number, at in ended if at is not None and at < before][:limit]
        for number in old:
            del self._rooms[number]
        self._results = [result for result in self._results if result.ranked or result.number not in old]
        quiet = [name for name, kept in self._relays.items() if kept[max(kept)].at < before][:limit]
        for name in quiet:
            del self._relays[name]
        gone = [id for id, (_, seen) in self._players.items() if seen < before and not self._plays(id)][
            :limit
        ]
        for id in gone:
            del self._players[id]
        return limit in (len(old), len(quiet), len(gone))

    def _plays(self, player: str) -> bool:
        """Whether somebody has a seat, a standing, a result, or tokens that are not valid any more."""
        seats = (seat for found in self._open_rooms() for seat in found.summary.seats)
        return (
            any(seat is not None and seat.id == player for seat in seats)
            or any(player == whose for _, whose in self._standings)
            or any(player == result.player for result in self._results)
            or _read_player(self._players[player][0]).session > 0
        )

    def damages(self) -> Sequence[Damage]:
        return ()

    async def inspect(self, limit: int) -> bool:  # noqa: ARG002 - nothing rots here
        return False

    async def rest(self, room: int, stored: Stored, due: float | None) -> None:
        kept = self._owned(room)
        if max(kept.steps, default=0) != stored.seq:
            raise Conflict(f"room {room} is no longer at step {stored.seq}")
        kept.states[stored.seq] = stored.state
        kept.due = due

    async def beat(self, now: float) -> None:
        self._check_open()
        self._clock = max(self._clock, now)

    async def post(self, relay: str, letter: KeptEnvelope) -> None:
        self._check_open()
        kept = self._relays.setdefault(relay, {})
        if letter.num in kept:
            raise Conflict(f"relay {relay} has a number {letter.num} already")
        kept[letter.num] = letter
        for num in [num for num in kept if num < letter.first]:
            del kept[num]

    async def save_ticket(self, ticket: Ticket) -> None:
        self._check_open()
        self._keep_tickets([ticket])

    async def drop_tickets(self, ids: Collection[str]) -> None:
        self._check_open()
        for id in ids:
            self._tickets.pop(id, None)

    def _keep_tickets(self, tickets: Sequence[Ticket]) -> None:
        self._tickets.update((ticket.id, _encode(ticket)) for ticket in tickets)

    def _score(self, scored: Scored) -> None:
        self._results += [_read_result(_encode(result)) for result in scored.results]
        keys = [(standing.ladder, standing.player) for standing in scored.standings]
        kept = [
            _read_standing(self._standings[key]) if key in self._standings else fresh
            for key, fresh in zip(keys, scored.standings, strict=True)
        ]
        for key, standing in zip(keys, scored.settle(kept), strict=True):
            self._standings[key] = _encode(standing)

    async def save_player(self, player: Player) -> None:
        self._check_open()
        self._players[player.id] = (_encode(player), self._clock)

    # Reading.

    async def replay(self, room: int, after: int = 0) -> AsyncIterator[Step]:
        kept = self._find(room)
        steps = kept.steps if kept else {}
        chain = Chain(room, after)
        for seq in sorted(seq for seq in steps if seq > after):
            yield chain.read(seq, *steps[seq])

    async def stored(self, room: int, at: int | None = None) -> Stored:
        kept = self._find(room)
        if kept is None:
            raise Damaged(f"room {room} has no state")
        seq = max(seq for seq in kept.states if at is None or seq <= at)
        return Stored(seq, kept.states[seq])

    async def answers(self, room: int) -> dict[tuple[str, str], int]:
        kept = self._find(room)
        answers = kept.answers if kept else {}
        return {(player, id): seq for (player, id), seq in answers.items() if player is not None}

    async def recall(self, id: str) -> Recalled | None:
        found = await self.find(id)
        if found is None:
            return None
        number, stored = found.number, await self.stored(found.number)
        steps = [step async for step in self.replay(number, after=stored.seq)]
        return Recalled(found, stored, steps, await self.answers(number))

    async def find(self, id: str) -> Found | None:
        self._check_open()
        number = self._by_id.get(id)
        return None if number not in self._rooms else self._found(number)

    async def ids_like(self, id: str) -> list[str]:
        wanted = id.lower()
        ids = (found.summary.id for found in self._open_rooms())
        return [one for one in ids if one.lower() == wanted][:2]

    async def room(self, number: int) -> Found | None:
        self._check_open()
        return None if number not in self._rooms else self._found(number)

    async def rooms_of(self, player: str) -> list[Found]:
        return [
            found for found in self._open_rooms() if any(s and s.id == player for s in found.summary.seats)
        ]

    async def due(self, now: float) -> list[str]:
        wakes = [(self._rooms[found.number].due, found.summary.id) for found in self._open_rooms()]
        return [id for due, id in sorted((due, id) for due, id in wakes if due is not None) if due <= now]

    async def left_connected(self) -> list[str]:
        return [found.summary.id for found in self._open_rooms() if found.summary.connected]

    async def missing(self, games: Collection[str]) -> list[Found]:
        return [found for found in self._open_rooms() if found.summary.game not in games]

    async def held(self) -> list[str]:
        return [found.summary.id for found in self._open_rooms() if found.summary.held is not None]

    async def relay_held(self, relay: str) -> Held | None:
        self._check_open()
        kept = self._relays.get(relay)
        return Held(kept[max(kept)].holder, kept[max(kept)].bytes) if kept else None

    async def relays_held(self) -> dict[str, int]:
        self._check_open()
        held: Counter[str] = Counter()
        for kept in self._relays.values():
            held[kept[max(kept)].holder] += kept[max(kept)].bytes
        return held

    async def posted(self, relay: str, most: int | None = None) -> list[bytes]:
        self._check_open()
        bodies = [letter.body for _, letter in sorted(self._relays.get(relay, {}).items())]
        while most is not None and sum(map(len, bodies)) > most:
            del bodies[0]
        return bodies

    async def key(self) -> bytes:
        self._check_open()
        return self._key

    async def player(self, id: str) -> KeptPlayer | None:
        self._check_open()
        if id not in self._players:
            return None
        body, _ = self._players[id]
        self._players[id] = (body, self._clock)
        return _read_player(body)

    async def tickets(self) -> list[Ticket]:
        self._check_open()
        return [_read_ticket(body) for body in self._tickets.values()]

    async def standings(self, ladder: str, limit: int) -> list[Standing]:
        self._check_open()
        there = [_read_standing(body) for key, body in self._standings.items() if key[0] == ladder]
        return sorted(there, key=lambda standing: (-standing.rating.worth, standing.player))[:limit]

    async def standings_of(self, player: str) -> list[Standing]:
        self._check_open()
        keys = sorted(key for key in self._standings if key[1] == player)
        return [_read_standing(self._standings[key]) for key in keys]

    async def results_of(self, player: str, limit: int) -> list[GameResult]:
        self._check_open()
        return [result for result in reversed(self._results) if result.player == player][:limit]

    # What these are made of.

    def _check_open(self) -> None:
        if not self._open:
            raise NotKept("the journal is not open")

    def _find(self, room: int) -> _Kept | None:
        self._check_open()
        return self._rooms.get(room)

    def _owned(self, room: int) -> _Kept:
        kept = self._find(room)
        if kept is None:
            raise Conflict(f"there is no room {room}")
        return kept

    def _found(self, number: int) -> Found:
        kept = self._rooms[number]
        return Found(number, max(kept.steps, default=0), _read_summary(kept.summary))

    def _open_rooms(self) -> list[Found]:
        """Rooms that have not ended, newest first."""
        self._check_open()
        rooms = (self._found(number) for number in reversed(self._rooms))
        return [found for found in rooms if found.summary.ended is None]
