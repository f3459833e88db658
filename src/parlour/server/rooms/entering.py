"""Entering and leaving a room: seats and spectators, missed steps, and players who are gone."""

from abc import abstractmethod
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

from parlour.errors import Code, Refused
from parlour.game import Send
from parlour.journal.base import Trouble
from parlour.room import Asked, ask_to_join, topics_of
from parlour.server.border import (
    NOTHING,
    AskRoom,
    DoorEntry,
    Entered,
    EnterRoom,
    LeaveRoom,
    Pushed,
    Rejected,
    Resync,
    Viewpoint,
)
from parlour.server.bots.players import check_no_bot
from parlour.server.refusals import excuse
from parlour.server.rooms.perspectives import change_of
from parlour.server.rooms.roster import Place
from parlour.server.rooms.step_writes import Thought
from parlour.server.rooms.stepping import SteppingRoom
from parlour.server.rooms.summary import company_of
from parlour.server.sessions import Introduced
from parlour.server.step_messages import heard
from parlour.wire import Chat, Connect, Disconnect, Join, Leave, Push, Rematch, Step

MAX_MISSED = 100
"""A client that missed more steps than this gets only the whole view."""
NO_ROOM = (Code.UNKNOWN_ROOM, Code.ROOM_ENDED)


class EnterableRoom(SteppingRoom):
    """The part of a room that gives clients their places and takes them away."""

    __slots__ = ("_lost",)

    _lost: frozenset[int]
    """Clients whose connection is closed while requests of theirs still wait in the mailbox."""

    @abstractmethod
    async def _open_first(self, ask: EnterRoom) -> None:
        """Open the room for a door, if there is none; then the request comes again."""

    @abstractmethod
    async def _fail(self, why: Refused) -> None:
        """End the room if its game cannot be trusted to go on."""

    @abstractmethod
    def _retry(self, why: Refused, job: Callable[[], Awaitable[None]]) -> None:
        """Try a job again that must happen and could not be kept."""

    @abstractmethod
    def _rest_later(self) -> None:
        """Leave memory after a while without any client."""

    @abstractmethod
    def _has_moved(self, number: int) -> bool:
        """True if another worker owns the room, which the asker is told."""

    # Entering.

    async def _enter(self, ask: EnterRoom) -> None:
        """Answer, send what was missed, then the whole view; or refuse."""
        if self._has_moved(ask.number):
            return
        self._roster.remove(ask.client)  # a join starts anew: nothing is sent before its answer
        if ask.client in self._lost:
            self._env.tell(Rejected.by(ask.number, _gone()))
            return
        missing = self._room is None and self._refusal is not None and self._refusal.code in NO_ROOM
        if missing and ask.door is not None and ask.door.opens:
            await self._open_first(ask)
            return
        try:
            place, welcome = await self._take_place(ask)
            missed = await self._missed(place, ask.since)
            self._check_lease()
        except (Refused, Trouble) as error:
            why = excuse(error)
            if why.code == Code.UNKNOWN_ROOM:
                why = self._env.guesses.missed(self.id, ask.address)
            self._env.tell(Rejected.by(ask.number, why))
            await self._fail(why)
            await self._leave(LeaveRoom(self.id, ask.client))
            return
        if ask.client in self._lost:
            self._env.tell(Rejected.by(ask.number, _gone()))
            await self._settle()
            return
        self._admit(ask, place, welcome, missed)

    def _admit(
        self, ask: EnterRoom, place: Place, welcome: tuple[Push, ...], missed: list[Push] | None
    ) -> None:
        room = self.here
        self._roster.add(place)
        self._env.tell(
            Entered(
                self.id, ask.client, ask.number, ask.player, room.game, room.seq,
                room.seat_number(ask.player), place.viewpoint, company_of(room, self._opening),
                NOTHING if ask.door is None else change_of(self._seen[place.perspective]) or NOTHING,
                room.clocks is not None and place.viewer is not None,
            )
        )  # fmt: skip
        self._note_presence(but=ask.client, seats=place.viewer is not None)
        if ask.again and ask.since == room.seq:
            return  # they have missed nothing, and notice nothing
        whole = self._whole(place, reset=missed is None)
        if missed:
            welcome = ()  # it is among the missed steps
        pushes = (*(missed or ()), whole, *welcome, self._presence.state())
        self._env.tell(Pushed(self.id, ask.client, pushes, ask.number))

    async def _take_place(self, ask: EnterRoom) -> tuple[Place, tuple[Push, ...]]:
        """Give a player a seat if there is one for them, else a spectator's place; and the game's welcome."""
        if self._room is not None and self._summary is not None:
            self._env.guesses.check(self._summary, ask.player, ask.address)
        if ask.door is not None:
            self._check_door(ask.player, ask.door)
        name, remote, account = await self._introduced(ask)
        topics: tuple[str, ...] = ()
        sat: Thought | None = None
        if self.here.seat(ask.player) is None:
            watches = ask.door is not None and self._would_watch(ask.player, ask.door)
            spectate = ask.spectate or watches or ask.again
            asked = self._ask_to_join(ask.player, ask.luck, spectate=spectate)
            if asked.joined.seat is None:
                self._check_may_watch()
                self._check_watching(ask.player)
                topics = self._ask_game(lambda: topics_of(ask.player, asked.joined, apart=self.here.apart))
            else:
                luck = ask.luck if self.here.fresh else None
                sat = self._think(
                    Join(ask.player, name, remote=remote, luck=luck, account=account),
                    asked=None if spectate else asked,
                )
        seat, connected = (self.here if sat is None else sat.room).seat(ask.player), None
        if seat is not None and not seat.connected:
            connected = self._think(Connect(ask.player), after=sat)
            await self._keep((connected,) if sat is None else (sat, connected))
        seat = self.here.seat(ask.player)
        place = Place(ask.client, ask.player, name, ask.format, legal=ask.legal, account=account)
        self._move(place, Viewpoint(None, topics) if seat is None else Viewpoint(seat.player, seat.topics))
        return place, () if connected is None else tuple(heard(connected.step, place.topics))

    def _check_door(self, player: str, door: DoorEntry) -> None:
        """Check that the door leads to this game, and that nobody takes the name of another player."""
        if self.here.game != door.game:
            raise Refused(Code.WRONG_GAME, f"expected a room of {door.game}, got one of {self.here.game}")
        if door.name is None:
            return
        check_no_bot(door.name, self._env.games.values())
        for seat in self.here.seats:
            if seat is None or seat.player == player or seat.name.casefold() != door.name.casefold():
                continue
            why = (
                f"a player in room {self.id} is called {seat.name}; if that is you, "
                "connect with the token that came in the answer to your first join"
            )
            raise Refused(Code.NAME_TAKEN, why, path="$.user")

    def _would_watch(self, player: str, door: DoorEntry) -> bool:
        """True if no seat is free and this guest may watch."""
        if door.seat == "own":
            raise Refused(Code.NOT_SEATED, f"you have no seat in room {self.id}")
        if door.seat == "needed":
            return False
        try:
            self._check_seat(player)
        except Refused:
            return True
        return None not in self.here.seats

    async def _introduced(self, ask: EnterRoom) -> Introduced:
        """What others are told of whoever enters; who brings a name of their own is a guest."""
        if ask.door is not None and ask.door.name is not None:
            return Introduced(ask.door.name)
        return await self._env.sessions.introduce(ask.player)

    def _introduce_again(self, ask: AskRoom) -> None:
        """Before somebody with an account talks, read their name again: they may have another one by now."""

        async def introduce() -> None:
            place = self._roster.places.get(ask.client)
            if place is not None and place.account:
                with suppress(Trouble):  # the line itself will not be kept either
                    place.name, _, place.account = await self._env.sessions.introduce(place.player)

        if type(ask.command) is Chat:
            self.mailbox.put(introduce)

    def _ask_to_join(self, player: str, luck: str | None = None, *, spectate: bool) -> Asked[Any]:
        at = self._env.instant()
        try:
            return self._ask_game(
                lambda: ask_to_join(self._game, self.here, player, at, spectate=spectate, luck=luck)
            )
        except Refused as why:
            if why.code == Code.GAME_FULL and self._opening.watching == "nobody":
                told = "every seat is taken, and only those who play here may see the room"
                raise Refused(why.code, told) from None  # the game's own words send them to watch
            raise

    def _check_lease(self) -> None:
        """Refuse to show the room from memory if it may have another owner by now."""
        if not self._env.ownership.is_fresh():
            raise Refused(Code.NOT_SAVED, "this worker is cut off from the database; try again")

    def _check_watching(self, player: str) -> None:
        """Refuse one spectator too many."""
        most = self._env.settings.room_members
        if most and len(self._roster) >= most:
            raise Refused(Code.GAME_FULL, f"at most {most} connections can be in one room")
        limit = self._game.spectators
        if limit is None or len(self._roster) < limit:
            return
        watching = self._roster.spectators
        if player not in watching and len(watching) >= limit:
            raise Refused(Code.GAME_FULL, f"at most {limit} people can watch, and {len(watching)} do")

    async def _missed(self, place: Place, since: int | None) -> list[Push] | None:
        """The pushes after step *since*; None if only a whole view can help."""
        room = self.here
        if since is None:
            return []
        if since < 0 or not room.seq - MAX_MISSED <= since <= room.seq:
            return None
        missed: list[Push] = []
        if since < room.seq:
            async for step in self._env.journal.replay(self._number, after=since):
                if step.seq > room.seq:
                    break  # of a write whose outcome is not known yet, or of another owner
                if _seats_anew(step, place.player):
                    return None  # they had another viewpoint then
                missed.extend(heard(step, place.topics))
        return missed

    # Leaving, and catching up.

    async def _leave(self, ask: LeaveRoom) -> None:
        """Remove a client from this room."""
        if ask.lost:
            self._lost -= {ask.client}
        place = self._roster.remove(ask.client)
        if self._room is None:
            return
        watched = place is not None and place.viewer is None
        self._note_presence(seats=not watched)
        if not self._roster.places:
            self._rest_later()
        if not watched:
            await self._settle()

    async def _settle(self) -> None:
        """Disconnect the seated players who have no client here any more."""
        try:
            for player in [] if self._room is None else self._room.connected:
                if not self._roster.has(player) and player not in self.here.bots:
                    await self.step(Disconnect(player))
        except Refused as why:
            self._retry(why, self._settle)

    def _resync(self, ask: Resync) -> None:
        """Send the whole view to a spectator who skipped steps and reads again."""
        place = self._roster.places.get(ask.client)
        if self._room is not None and place is not None:
            self._show(place, reset=True)

    def _show(self, place: Place, *, reset: bool = False) -> None:
        """Send a client the whole view."""
        self._env.tell(Pushed(self.id, place.client, (self._whole(place, reset=reset),)))


def _gone() -> Refused:
    """The refusal that nobody reads, because the connection is closed."""
    return Refused(Code.NOT_JOINED, "the connection is gone")


def _seats_anew(step: Step, player: str) -> bool:
    """True if this step gave or took the player's seat, or if a rematch seated everybody again."""
    match step.command:
        case Join() | Leave():
            return step.command.player == player
        case Rematch():
            return any(isinstance(effect, Send) and effect.kind == "sync" for effect in step.effects)
        case _:
            return False
