"""The history of a room, step by step, as one viewer may see it now and could see it then."""

import asyncio
from functools import partial
from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from parlour.errors import Code, Refused
from parlour.game import Game
from parlour.journal.base import Found, Player
from parlour.pictures import scene_of
from parlour.room import ALL, Room, ask_to_join, draw_sizes, own_topic, replay, topics_of
from parlour.scene import Patch, Scene, difference
from parlour.server.result_records import results_of
from parlour.server.rooms.environment import Environment
from parlour.server.rooms.perspectives import on_page
from parlour.server.rooms.stored_room import thaw
from parlour.server.rooms.summary import result_of, seated
from parlour.server.step_messages import heard
from parlour.wire import Result, Step

Draws = tuple[tuple[int, int], ...]

MAX_STEPS = 200
"""Steps that one call returns at most."""
BREATH = 10
"""Steps after which other work gets its turn."""
RESULTS_SEARCHED = 50
"""A player's last games among which a room is looked for that they have left."""


class HistoryWanted(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename={"first": "from"}):
    """Which part of a history is wanted, and in which format."""

    first: Annotated[int, Meta(ge=0, le=2**53, description="the first step; 0 is the room as it opened")] = 0
    limit: Annotated[int, Meta(ge=1, le=MAX_STEPS)] = MAX_STEPS
    format: Literal["view", "scene"] = "view"
    room: (
        Annotated[int, Meta(ge=1, le=2**53, description="which of several rooms that had this id")] | None
    ) = None


class Said(msgspec.Struct, frozen=True):
    """A push of the native socket: its name and payload."""

    name: str
    payload: Any


class HistoryStep(msgspec.Struct, frozen=True, omit_defaults=True):
    """One step: what was said, and what there was to see after it."""

    seq: int
    at: float
    """Wall time."""
    seats: tuple[Player | None, ...] | UnsetType = UNSET
    """Who sat where, if that changed."""
    pushes: tuple[Said, ...] = ()
    view: Any = UNSET
    scene: Scene | UnsetType = UNSET
    patch: Patch | UnsetType = UNSET
    """What changed in the scene of the step before."""
    result: Result | UnsetType | None = UNSET
    """Where that changed."""
    draws: tuple[tuple[int, int], ...] = ()
    """What it drew, once the seed is public: of how many possibilities, and which, counted from 0."""


class HistoryPage(msgspec.Struct, frozen=True):
    """A part of a room's history."""

    id: str
    room: int
    """The journal's own number of the room: the id may be given to another one, this is not."""
    game: str
    seq: int
    """The last step that there is."""
    steps: tuple[HistoryStep, ...]


class HistoryReader:
    """Collects the steps of a room from one viewer's perspective."""

    def __init__(
        self, environment: Environment, game: Game[Any], player: str | None, wanted: HistoryWanted
    ) -> None:
        self._env = environment
        self._game = game
        self._player = player
        self._wanted = wanted
        self._before: Room[Any] | None = None
        self._scene: tuple[str | None, Scene] | None = None
        """The last scene of this history, and its viewer."""
        self._watching: tuple[str, ...] | None = None
        self.steps: list[HistoryStep] = []

    def see(self, room: Room[Any] | None, step: Step | None, seq: int, at: float, draws: Draws = ()) -> None:
        """Add a step. *room* is the room after it; None if today's rules cannot replay it."""
        seen: dict[str, Any] = {}
        if room is not None:
            viewer = None if room.seat(self._player) is None else self._player
            seen = self._env.ask_game(self._game, room.id, partial(self._look, room, viewer))
            seen |= self._changes(room)
        pushes = () if step is None else tuple(self._pushes(room, step))
        self.steps.append(HistoryStep(seq, at, pushes=pushes, draws=draws, **seen))
        self._before = room

    def _look(self, room: Room[Any], viewer: str | None) -> dict[str, Any]:
        if self._wanted.format == "view":
            return {"view": self._game.view(room.state, viewer)}
        scene, page = scene_of(self._game, room.state, viewer), self._env.boards.version(self._game)
        scene = on_page(self._game, room.state, viewer, scene, page)
        before, self._scene = self._scene, (viewer, scene)
        if before is None or before[0] != viewer:
            return {"scene": scene}
        patch = difference(before[1], scene)
        return {} if patch is None else {"patch": patch}

    def _changes(self, room: Room[Any]) -> dict[str, Any]:
        before, seats = self._before, seated(room)
        told: dict[str, Any] = {}
        if before is None or seated(before) != seats:
            told["seats"] = seats
        if (room.outcome is not None) if before is None else before.outcome != room.outcome:
            told["result"] = result_of(room)
        return told

    def _pushes(self, room: Room[Any] | None, step: Step) -> list[Said]:
        return [Said(push.name, push.payload) for push in heard(step, self._topics(room))]

    def _topics(self, room: Room[Any] | None) -> tuple[str, ...]:
        if room is None:  # it is unknown who sat where; these topics are theirs in any case
            return (ALL,) if self._player is None else (ALL, own_topic(self._player))
        seat = room.seat(self._player)
        return self._watch(room) if seat is None else seat.topics

    def _watch(self, room: Room[Any]) -> tuple[str, ...]:
        """The topics that the game gives to spectators; it may refuse them."""
        if self._watching is None:
            player = self._player or ":nobody"
            ask = partial(ask_to_join, self._game, room, player, self._env.instant(), spectate=True)
            joined = self._env.ask_game(self._game, room.id, ask).joined
            self._watching = topics_of(player, joined, apart=room.apart)
        return self._watching


class History:
    """Reads histories from the journal."""

    def __init__(self, environment: Environment) -> None:
        self._env = environment
        self._journal = environment.journal

    async def read(self, id: str, player: str | None, wanted: HistoryWanted) -> HistoryPage:
        """The wanted part of a room's history, from this player's perspective or a spectator's."""
        found = await self._find(id, wanted.room)
        if found.summary.watching == "nobody" and not await self._has_played(found, player):
            raise Refused(
                Code.NO_SPECTATORS, f"only those who played in room {id} may see what happened there"
            )
        game = self._env.kept_game(found.summary.game)
        reader = HistoryReader(self._env, game, player, wanted)
        if wanted.first <= found.seq:
            await self._read(reader, game, found, wanted)
        return HistoryPage(id, found.number, game.name, found.seq, tuple(reader.steps))

    async def room_at(self, found: Found, seq: int) -> Room[Any] | None:
        """The room after this step; None if today's rules cannot replay it."""
        game = self._env.kept_game(found.summary.game)
        stored = await self._journal.stored(found.number, at=seq)
        room = self._thaw(game, found, stored.state)
        if stored.seq == seq:
            return room
        async for step in self._journal.replay(found.number, after=stored.seq):
            room = await self._follow(game, found, room, step)
            if step.seq == seq:
                break
            if step.seq % BREATH == 0:
                await asyncio.sleep(0)
        return room

    async def _has_played(self, found: Found, player: str | None) -> bool:
        """True if this player has a seat in the room, or a result from there."""
        if player is None or any(seat is not None and seat.id == player for seat in found.summary.seats):
            return player is not None
        results = await results_of(self._journal, player, RESULTS_SEARCHED)
        return any(result.number == found.number for result in results)

    async def _find(self, id: str, number: int | None) -> Found:
        found = await self._journal.find(id if number is None else number)
        if found is None or found.summary.id != id:  # a number alone opens nobody's private room
            raise Refused(Code.UNKNOWN_ROOM, f"there is no room {id[:64]}")
        return found

    async def _read(
        self, reader: HistoryReader, game: Game[Any], found: Found, wanted: HistoryWanted
    ) -> None:
        last = min(wanted.first + wanted.limit - 1, found.seq)
        stored = await self._journal.stored(found.number, at=max(wanted.first - 1, 0))
        room = self._thaw(game, found, stored.state)
        if wanted.first == 0:
            reader.see(room, None, 0, found.summary.created)
        if stored.seq >= last:
            return
        async for step in self._journal.replay(found.number, after=stored.seq):
            before, room = room, await self._follow(game, found, room, step)
            if step.seq >= wanted.first:
                draws = self._draws(game, found, before, step)
                reader.see(room, step, step.seq, step.date, draws)
            if step.seq >= last:
                return
            if step.seq % BREATH == 0:
                await asyncio.sleep(0)

    async def _follow(
        self, game: Game[Any], found: Found, room: Room[Any] | None, step: Step
    ) -> Room[Any] | None:
        """The room after this step; the state stored then, if today's rules lead to another one."""
        if room is not None:
            try:
                return self._env.ask_game(game, room.id, partial(replay, game, room, step))
            except Refused as why:
                if why.code == Code.GAME_OVERRAN:
                    raise
        stored = await self._journal.stored(found.number, at=step.seq)
        return self._thaw(game, found, stored.state) if stored.seq == step.seq else None

    def _draws(self, game: Game[Any], found: Found, before: Room[Any] | None, step: Step) -> Draws:
        """What a step drew, if its seed is public."""
        public = bool(found.summary.shown) and step.seq <= found.summary.shown[-1].last
        if before is None or not step.draws or not public:
            return ()
        try:
            sizes = self._env.ask_game(game, before.id, partial(draw_sizes, game, before, step))
        except Refused:
            return ()
        return tuple(zip(sizes, step.draws, strict=False))

    def _thaw(self, game: Game[Any], found: Found, state: bytes) -> Room[Any] | None:
        try:
            return self._env.ask_game(game, found.summary.id, partial(thaw, game, state))
        except Refused:
            return None
