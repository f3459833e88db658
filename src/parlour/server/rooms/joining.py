"""Who is in a room: coming in, taking a seat or watching, going, and coming back. Runs in the room's lane."""

from collections.abc import Sequence

from parlour.errors import Code, Refused
from parlour.game import Joined, Send
from parlour.journal.base import Trouble
from parlour.room import ask_to_join, topics_of
from parlour.server.bots.seats import check_no_bot
from parlour.server.gateway.connections import Client, Place, heard, sync
from parlour.server.rooms.perspectives import Shown, see
from parlour.server.rooms.registry import RoomRegistry
from parlour.server.rooms.summary import Live, Owner, excuse, result_of
from parlour.server.settings import Settings
from parlour.server.tokens import guest_name
from parlour.wire import Connect, Disconnect, Enter, EnterAsGuest, Join, Leave, Push, Rematch, Request, Step

MAX_MISSED = 100
"""More steps than this are not told one by one to somebody who comes back."""


class Attendance:
    """Gives clients their places in rooms and takes them away again."""

    def __init__(self, owner: Owner, registry: RoomRegistry, settings: Settings) -> None:
        self._owner = owner
        self._settings = settings
        self._registry = registry

    # Coming in.

    async def enter(self, live: Live, client: Client, request: Request, enter: Enter) -> None:
        """Answer, tell what was missed, then everything as it is now; or say why not."""
        live.audience.remove(client)  # a join begins anew: nothing is told before its answer
        if client.is_gone():
            return
        try:
            place, welcome = await self._take_place(live, client, request, enter)
            missed = await self._missed(live, place, enter.since)
        except (Refused, Trouble) as error:
            why = excuse(error)
            if why.code == Code.UNKNOWN_ROOM:
                why = self._owner.guesses.missed(live.id, client.line.address)
            client.refuse(request, why)
            if why.code == Code.GAME_OVERRAN:
                await self._owner.condemn(live, why)
            await self.exit(live, client)
            return
        if client.is_gone():
            await self.settle(live)
            return
        live.audience.add(place)
        client.accept(request, self._answer(live, client, place))
        self.note_presence(live, but=client, seats=place.viewer is not None)
        whole = self._whole(live, place, reset=missed is None)
        if missed:
            welcome = ()  # it is among what was missed
        place.push(live.id, *(missed or ()), whole, *welcome, live.presence.state())

    def _answer(self, live: Live, client: Client, place: Place) -> dict[str, object]:
        room = live.here
        answer: dict[str, object] = {
            "player": client.player,
            "game": room.game,
            "seq": room.seq,
            "seat": room.seat_number(client.player),
        }
        if client.token is not None:
            answer["token"] = client.token
            client.token = None
        return answer | seen_by_guest(live, place)

    async def _take_place(
        self, live: Live, client: Client, request: Request, enter: Enter
    ) -> tuple[Place, Sequence[Push]]:
        """A seat where there is one for this player, else a place to watch from; and the game's welcome."""
        topics: tuple[str, ...] = ()
        self._check_guesses(live, client)
        if isinstance(enter, EnterAsGuest):
            self._let_in(live, client, enter)
        name = await self._name_of(client)
        if live.here.seat(client.player) is None:
            watches = isinstance(enter, EnterAsGuest) and self._would_watch(live, client, enter)
            joined = self._ask_to_join(live, client.player, spectate=enter.spectate or watches)
            if joined.seat is None:
                self._check_spectators(live, client.player)
                topics = topics_of(client.player, joined)
            else:
                await self._owner.step(live, Join(client.player, name))
        seat, connected = live.here.seat(client.player), None
        if seat is not None and not seat.connected:
            connected = await self._owner.step(live, Connect(client.player))
        place = Place(client, enter, request.ref)
        self._open_eyes(live, place, topics)
        return place, () if connected is None else tuple(heard(connected.step, place))

    def _check_guesses(self, live: Live, client: Client) -> None:
        """Refuse a room to whoever may have guessed its id."""
        if live.room is not None and live.summary is not None:
            self._owner.guesses.check(live.summary, client.player, client.line.address)

    def _let_in(self, live: Live, client: Client, guest: EnterAsGuest) -> None:
        """The door leads to one game, and nobody comes in under the name of another who plays."""
        if live.here.game != guest.game:
            raise Refused(Code.WRONG_GAME, f"expected a room of {guest.game}, got one of {live.here.game}")
        if guest.name is None:
            return
        check_no_bot(guest.name, self._owner.games.values())
        others = [seat for seat in live.here.seats if seat is not None and seat.player != client.player]
        for seat in others:
            if seat.name.casefold() == guest.name.casefold():
                why = (
                    f"a player in room {live.id} is called {seat.name}; if that is you, "
                    "connect with the token that came in the answer to your first join"
                )
                raise Refused(Code.NAME_TAKEN, why, path="$.user")
        client.name = guest.name

    def _would_watch(self, live: Live, client: Client, guest: EnterAsGuest) -> bool:
        """True if no seat is free for this guest, who may watch."""
        if guest.seat == "own":
            raise Refused(Code.NOT_SEATED, f"you have no seat in room {live.id}")
        if guest.seat == "needed":
            return False
        try:
            self._owner.check_seat(live, client.player)
        except Refused:
            return True
        return None not in live.here.seats

    async def _name_of(self, client: Client) -> str:
        if client.name is None:
            player = await self._owner.sessions.known(client.player)
            client.name = player.name if player is not None else guest_name(client.player)
        return client.name

    def _ask_to_join(self, live: Live, player: str, *, spectate: bool) -> Joined[object]:
        at = self._owner.instant()
        return self._owner.ask_game(
            live.game, live.id, lambda: ask_to_join(live.game, live.here, player, at, spectate=spectate)
        )

    def _check_spectators(self, live: Live, player: str) -> None:
        most = self._settings.room_members
        if most and len(live.audience) >= most:
            raise Refused(Code.GAME_FULL, f"at most {most} connections can be in one room")
        limit = live.game.spectators
        if limit is None or len(live.audience) < limit:
            return
        watching = live.audience.spectators
        if player not in watching and len(watching) >= limit:
            raise Refused(Code.GAME_FULL, f"at most {limit} people can watch, and {len(watching)} do")

    def _open_eyes(self, live: Live, place: Place, watching: tuple[str, ...]) -> None:
        """See as the seat sees, or as everybody without one."""
        seat = live.here.seat(place.client.player)
        viewer = None if seat is None else seat.player
        place.open_ears(viewer, watching if seat is None else seat.topics)
        if place.eyes not in live.views:
            live.views[place.eyes] = self._owner.ask_game(
                live.game, live.id, lambda: see(live.game, live.here, place.eyes)
            )
            live.moved[place.eyes] = live.here.seq

    async def _missed(self, live: Live, place: Place, since: int | None) -> list[Push] | None:
        """What was told after *since*; None where only a whole view can help."""
        room = live.here
        if since is None:
            return []
        if since < 0 or not room.seq - MAX_MISSED <= since <= room.seq:
            return None
        missed: list[Push] = []
        if since < room.seq:
            async for step in self._owner.journal.replay(live.number, after=since):
                if _seats_anew(step, place.client.player):
                    return None  # they had other eyes and ears then
                missed.extend(heard(step, place))
        return missed

    def _whole(self, live: Live, place: Place, *, reset: bool) -> Push:
        room, now = live.here, self._owner.clock.now() - live.here.behind
        fault = self._owner.faults.get(room.game)
        return sync(room.seq, live.views[place.eyes], result_of(room), now=now, reset=reset, fault=fault)

    # Going.

    async def exit(self, live: Live, client: Client) -> None:
        """A client does not hear this room any more."""
        place = live.audience.remove(client)
        if live.room is None:
            return
        watched = place is not None and place.viewer is None
        self.note_presence(live, seats=not watched)
        if not len(live.audience):
            self._registry.plan_rest(live)
        if not watched:
            await self.settle(live)

    async def settle(self, live: Live) -> None:
        """Disconnect the seated players who are not here any more."""
        try:
            for player in [] if live.room is None else live.room.connected:
                if not live.audience.has(player) and player not in live.here.bots:
                    await self._owner.step(live, Disconnect(player))
        except Refused as why:
            self._registry.try_again(live, why, lambda: self.settle(live))

    def dismiss(self, live: Live, place: Place) -> None:
        """The room is closed to this client."""
        live.audience.remove(place.client)
        place.client.dismiss(live.id)

    # While being there.

    async def resync(self, live: Live, client: Client) -> None:
        """A spectator who skipped steps reads again: they get the newest."""
        place = live.audience.place(client)
        if live.room is not None and place is not None and place.stale:
            place.stale = False
            live.audience.gather_anew()
            place.push(live.id, self._whole(live, place, reset=True))

    def reseat(self, live: Live) -> list[Place]:
        """Seats changed: whoever is concerned sees and hears differently from now on; their places."""
        concerned = [place for place in live.audience if self._is_seated_anew(live, place)]
        return [place for place in concerned if self._change_eyes(live, place)]

    def _is_seated_anew(self, live: Live, place: Place) -> bool:
        seat = live.here.seat(place.client.player)
        if seat is None:
            return place.viewer is not None
        return not place.is_like(seat.player, seat.topics)

    def _change_eyes(self, live: Live, place: Place) -> bool:
        player = place.client.player
        topics: tuple[str, ...] = ()
        try:
            if live.here.seat(player) is None:
                topics = topics_of(player, self._ask_to_join(live, player, spectate=True))
            self._open_eyes(live, place, topics)
        except Refused:  # this game is not for watching
            self.dismiss(live, place)
            return False
        place.blink()
        return True

    def show(self, live: Live, place: Place) -> None:
        """Everything as it is now, once more, for somebody who may have been mistaken."""
        place.push(live.id, self._whole(live, place, reset=False))

    def show_all(self, live: Live, places: list[Place]) -> None:
        """Everything as it is now, for those who see with other eyes."""
        for place in places:
            place.open_eyes()
            place.push(live.id, self._whole(live, place, reset=True))

    def note_presence(self, live: Live, *, but: Client | None = None, seats: bool = True) -> None:
        """Tell who is here where that changed; the number of spectators at most once a second."""
        diff = live.presence.seats_changed(live.here, live.audience) if seats else None
        if diff is not None:
            live.audience.tell(diff, but=but)
        if live.recount is None:
            self._recount(live, but=but)

    def _recount(self, live: Live, *, but: Client | None = None) -> None:
        live.recount = None
        if (diff := live.presence.count_changed(live.audience)) is not None:
            live.audience.tell(diff, but=but)
            clock = self._owner.clock
            live.recount = clock.call_at(clock.now() + 1.0, lambda: self._recount(live))


def seen_by_guest(live: Live, place: Place) -> dict[str, object]:
    """What a door may show with its answers; the others' clients are told by pushes alone."""
    seen = live.views.get(place.eyes)
    return {"seen": seen} if isinstance(seen, Shown) else {}


def _seats_anew(step: Step, player: str) -> bool:
    """This step gave the player a seat or took it away, or a rematch seated everybody again."""
    match step.command:
        case Join() | Leave():
            return step.command.player == player
        case Rematch():
            return any(isinstance(effect, Send) and effect.kind == "sync" for effect in step.effects)
        case _:
            return False
