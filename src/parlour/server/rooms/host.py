"""The owner of all rooms: thinks with the game, writes to the journal, then speaks to the clients."""

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Iterator, Mapping
from functools import partial
from itertools import islice
from typing import Any, TypeVar

import msgspec
import structlog
from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from parlour.errors import Code, Refused
from parlour.game import Game
from parlour.journal.base import Found, Journal, RoomQuery, RoomSummary, Trouble
from parlour.lobby import Mode, Ticket
from parlour.pseudonyms import Pseudonyms
from parlour.room import Instant, Room, apply, seal
from parlour.server import metrics
from parlour.server.bots.pool import BotPool
from parlour.server.bots.seats import Bots, Thinker
from parlour.server.clock import Clock
from parlour.server.gateway.connections import Client, Place
from parlour.server.parts.pairing.pairing import Pairing
from parlour.server.parts.ratings.settling import Ratings
from parlour.server.parts.room_list import Listing
from parlour.server.rooms.creation import RoomCreation
from parlour.server.rooms.guess_limit import Guesses
from parlour.server.rooms.history import History
from parlour.server.rooms.joining import Attendance, seen_by_guest
from parlour.server.rooms.perspectives import Eyes, Shown, Sight, see, viewer_of
from parlour.server.rooms.registry import RoomRegistry
from parlour.server.rooms.step_writes import beside
from parlour.server.rooms.summary import (
    OUTCOME_NOT_KNOWN,
    Live,
    PublicRoom,
    excuse,
    freeze,
    patience_of,
    public_room,
    result_of,
)
from parlour.server.secret import secret_of
from parlour.server.sessions import Sessions
from parlour.server.settings import Settings
from parlour.server.watchdog import Overrun, Watchdog
from parlour.wire import (
    Act,
    Chat,
    Command,
    Consider,
    Enter,
    EnterAsGuest,
    Exit,
    GiveUpSeat,
    Join,
    Leave,
    PlayAgain,
    Push,
    Queue,
    Rematch,
    Request,
    SendChat,
    SendEvent,
    Shutdown,
    Step,
    Unqueue,
    Wish,
    asker,
    check_id,
    clean_text,
)

T = TypeVar("T")
log = structlog.get_logger()

NO_ROOM = (Code.UNKNOWN_ROOM, Code.ROOM_ENDED)
LAG = 0.1
"""Seconds that the loop may be blocked before its stack is logged."""
SEED_BYTES = 32
"""Bytes of a seed."""

MAX_LEGAL = 100
"""A refusal lists what would be legal, unless that is a book of its own."""

NOTED = (Join, Leave, Shutdown)
"""What stands in the log; the rest is only counted."""


def fresh_seeds() -> Iterator[bytes]:
    """Seeds from the operating system, which is asked for many at a time."""
    while True:
        pool = secrets.token_bytes(100 * SEED_BYTES)
        yield from (pool[at : at + SEED_BYTES] for at in range(0, len(pool), SEED_BYTES))


class Thought(msgspec.Struct, frozen=True):
    """A step that was thought through and neither kept nor told yet."""

    room: Room[Any]
    step: Step
    views: dict[Eyes, Sight]
    frozen: bytes | None = None
    """The room to store beside the step, where that is due."""
    failure: Refused | None = None
    """Why the game's part was left out."""


class Host:
    """Everything that clients ask ends up here, and each room's commands run one after the other."""

    def __init__(
        self,
        games: Mapping[str, Game[Any]],
        journal: Journal,
        clock: Clock,
        settings: Settings,
        draw_seed: Callable[[], bytes] | None = None,
        thinker: Thinker | None = None,
    ) -> None:
        self.watchdog = Watchdog(settings.callback_timeout, LAG)
        self.give_up: Callable[[Trouble], None] = lambda _: None
        """What to do when the disk has failed."""
        self.games = games
        self.faults: dict[str, str] = {}
        self.journal = journal
        self.clock = clock
        self.settings = settings
        self.pseudonyms: Pseudonyms
        """What players are called whose own ids are secrets; there once the journal is open."""
        self._patience = patience_of(settings)
        self._draw_seed = draw_seed or partial(next, fresh_seeds())
        self.sessions = Sessions(journal, clock)
        self.ratings = Ratings(journal, clock)
        self.guesses = Guesses(clock, settings.address_guesses)
        self.registry = RoomRegistry(games, settings, self)
        self.listing = Listing(clock, self.registry.in_memory, self.sheet)
        self.attendance = Attendance(self, self.registry, settings)
        self.history = History(self, games)
        self.creation = RoomCreation(self, self.registry, self.listing, settings)
        self.pairing = Pairing(self, self.creation, self.listing, settings)
        self.bots = Bots(self, self.registry, thinker or BotPool(settings.bot_workers), settings.bot_pace)

    async def start(self) -> None:
        """Go on where the journal stopped."""
        await self.registry.start()
        await self.creation.start()
        self.pseudonyms = Pseudonyms(await secret_of(self.journal))
        await self.ratings.start()
        await self.pairing.start()

    async def stop(self) -> None:
        """Finish what was begun, store what is in memory; no room ends by this."""
        await self.pairing.stop()
        await self.bots.stop()
        self.listing.stop()
        await self.ratings.stop()
        await self.registry.stop()

    async def look(self, id: str) -> PublicRoom:
        """A room as anybody may see it from outside, without waking it."""
        return self.sheet(await self.find(id))

    async def find(
        self, id: str, player: str | None = None, address: str | None = None, *, any_case: bool = False
    ) -> Found:
        """The room of this id before all others, for somebody who has not guessed too often."""
        found = await self.journal.find(id)
        alike = RoomQuery(id_in_any_case=id, limit=2)
        if found is None and any_case and len(ids := await self.journal.room_ids(alike)) == 1:
            found = await self.journal.find(ids[0])
        if found is None:
            raise self.guesses.missed(id, address)
        self.guesses.check(found.summary, player, address)
        return found

    def sheet(self, found: Found) -> PublicRoom:
        """What is told of a room that the journal found."""
        live = self.registry.peek(found.summary.id)
        watching = 0 if live is None or live.number != found.number else len(live.audience.spectators)
        missing = found.summary.ended is None and found.summary.game not in self.games
        summary = replace(found.summary, status="game_missing") if missing else found.summary
        return public_room(summary, seq=found.seq, spectators=watching)

    def mode_of(self, room: str) -> Mode:
        """How the players of a room in memory were found."""
        live = self.registry.peek(room)
        return "normal" if live is None else self.pairing.mode_of(live)

    # What clients ask.

    def receive(self, client: Client, request: Request) -> None:
        """Take a request; the answer comes when the room gets to it."""
        client = client.asking(request)
        if request.room is None:
            self._at_the_lobby(client, request)
            return
        live = self.registry.live(request.room)
        match request.wish:
            case EnterAsGuest(opens=True) as guest:
                live.audience.mute(client)
                live.mailbox.put(lambda: self._open_and_enter(live, client, request, guest))
            case Enter() as enter:
                live.audience.mute(client)
                live.mailbox.put(lambda: self.attendance.enter(live, client, request, enter))
            case Exit():
                live.audience.mute(client)
                live.mailbox.put(lambda: self.attendance.exit(live, client))
            case Queue() | Unqueue():
                client.refuse(request, Refused(Code.UNKNOWN_EVENT, "tickets are taken at the lobby"))
            case wish:
                live.mailbox.put(lambda: self._grant(live, client, request, wish))

    def gone(self, client: Client) -> None:
        """A connection is lost: everywhere it was, it is no longer."""
        for guest in client.guests.values():
            self.gone(guest)
        client.lose()
        self.listing.remove(client)
        for room in tuple(client.rooms):
            live = self.registry.live(room)
            live.mailbox.put(partial(self.attendance.exit, live, client))

    def catch_up(self, client: Client) -> None:
        """A clogged line flows again: spectators who skipped get the newest view."""
        for guest in client.guests.values():
            self.catch_up(guest)
        for room in tuple(client.rooms):
            live = self.registry.live(room)
            live.mailbox.put(partial(self.attendance.resync, live, client))

    def _at_the_lobby(self, client: Client, request: Request) -> None:
        match request.wish:
            case Enter():
                tickets = [self.pairing.sheet(ticket) for ticket in self.pairing.tickets(client.player)]
                client.accept(request, {"tickets": tickets} if tickets else {})
                self.listing.add(client)
            case Queue() | Unqueue() as wish:
                self.pairing.take(client, request, wish)
            case _:
                self.listing.remove(client)

    async def settle(self, live: Live) -> None:
        """Disconnect the seated players who are not here any more."""
        await self.attendance.settle(live)

    def changed(self, summary: RoomSummary) -> None:
        """A room has a new card: the lobby may hear of it, and it may no longer count."""
        self.creation.note(summary)
        self.listing.changed(summary)

    def notice(self, live: Live) -> None:
        """Bots who can do something now begin to think."""
        self.bots.notice(live)

    # Commands. These run in the room's lane.

    async def _open_and_enter(
        self, live: Live, client: Client, request: Request, guest: EnterAsGuest
    ) -> None:
        """Come in by a door; where there is no room, or only one that has ended, it is opened first."""
        if live.room is None and live.refusal is not None and live.refusal.code in NO_ROOM:
            try:
                await self.creation.create(
                    guest.game, guest.config, live.id, creator=client.player, address=client.line.address
                )
            except Refused as why:
                if why.code != Code.NAME_TAKEN:  # else somebody was faster, and it is there all the same
                    client.refuse(request, why)
                    return
            self.receive(client, replace(request, wish=replace(guest, opens=False), via=None))
        else:
            await self.attendance.enter(live, client, request, guest)

    async def _grant(self, live: Live, client: Client, request: Request, wish: Wish) -> None:
        try:
            place = live.audience.place(client)
            if place is None:
                raise Refused(Code.NOT_JOINED, f"join room {live.id} first")
            if isinstance(wish, Consider):
                considered = self._consider(live, place, wish)
                if considered is None:
                    client.accept(request, {"seq": live.here.seq} | seen_by_guest(live, place))
                    return
                wish = considered
            command = self._command(client, wish)
            id = check_id(wish.id)
            if isinstance(wish, SendEvent) and self._kept(live, command, id) is None:
                self._check_fresh(live, place, wish.seq)
            answer = await self._answer(live, command, id)
        except (Refused, Trouble) as error:
            why = excuse(error)
            client.refuse(request, why)
            if why.code == Code.GAME_OVERRAN:
                await self.condemn(live, why)
        else:
            client.accept(request, answer | seen_by_guest(live, place))

    def _check_fresh(self, live: Live, place: Place, seq: int | None) -> None:
        """Refuse an event for a position that is not there any more, and show the one that is."""
        if seq is None or live.moved.get(place.eyes, 0) <= seq <= live.here.seq:
            return
        self.attendance.show(live, place)
        metrics.refusals.labels(live.game.name, Code.STALE).inc()
        why = f"what you saw at step {seq} has changed; this is step {live.here.seq}"
        raise Refused(Code.STALE, why, path="$.seq")

    def _consider(self, live: Live, place: Place, wish: Consider) -> SendEvent | None:
        """What a door makes of a wish when it sees how things are."""
        seen = live.views.get(place.eyes)
        if not isinstance(seen, Shown):
            raise Refused(Code.UNKNOWN_EVENT, "this is understood only where a door shows what there is")
        return wish.think(seen.view)

    def _command(self, client: Client, wish: SendEvent | SendChat | GiveUpSeat | PlayAgain) -> Command:
        match wish:
            case SendEvent():
                return Act(client.player, wish.event)
            case SendChat():
                return Chat(client.player, client.name or "", clean_text(wish.text))
            case GiveUpSeat():
                return Leave(client.player)
            case PlayAgain():
                return Rematch(client.player)

    async def _answer(self, live: Live, command: Command, id: str | None) -> dict[str, Any]:
        """The seq of the step that did it, now or when the same command came before."""
        if (before := self._kept(live, command, id)) is not None:
            return {"seq": await self._same_answer(live, command, before)}
        thought = await self.step(live, command, id)
        answer: dict[str, Any] = {"seq": thought.step.seq}
        if thought.failure is not None:  # what was asked was done all the same, so this is no refusal
            answer["warning"] = thought.failure.told()
        return answer

    def _kept(self, live: Live, command: Command, id: str | None) -> int | None:
        """The seq of the step that did what came under this id before."""
        return None if id is None else live.answers.get((asker(command) or "", id))

    async def _same_answer(self, live: Live, command: Command, seq: int) -> int:
        async for step in self.journal.replay(live.number, after=seq - 1):
            if not _is_same(step.command, command):
                raise Refused(Code.ID_REUSED, f"another command was accepted under this id as step {seq}")
            break
        return seq

    async def ask(self, room: str, command: Command, id: str | None) -> int:
        """Do what somebody asks who has no connection to be answered on; the seq of the step."""
        answer = await self.in_mailbox(room, lambda live: self._answer(live, command, check_id(id)))
        seq: int = answer["seq"]
        return seq

    async def in_mailbox(self, room: str, job: Callable[[Live], Awaitable[T]]) -> T:
        """Do something in a room's turn, and wait for what comes of it."""
        live = self.registry.live(room)
        answer: asyncio.Future[T] = asyncio.get_running_loop().create_future()

        async def do() -> None:
            try:
                _ = live.here  # or a refusal: there is no such room
                result = await job(live)
            except (Refused, Trouble) as error:
                why = excuse(error)
                if not answer.done():  # the asker may have gone
                    answer.set_exception(why)
                if why.code == Code.GAME_OVERRAN:
                    await self.condemn(live, why)
            else:
                if not answer.done():
                    answer.set_result(result)
            finally:
                answer.cancel()

        live.mailbox.put(do)
        return await answer

    # Think, write, speak.

    async def step(
        self, live: Live, command: Command, id: str | None = None, *, tickets: tuple[Ticket, ...] = ()
    ) -> Thought:
        """One command of a room from end to end; must run in its lane."""
        thought = self._think(live, command, id, tickets)
        await self._write(live, thought, tickets)
        self._speak(live, thought)
        self._note(live, command)
        return thought

    def _note(self, live: Live, command: Command) -> None:
        """For whoever runs the server."""
        metrics.steps.kept[live.game.name, type(command)] += 1
        if isinstance(command, NOTED):
            what = type(command).__name__.lower()
            log.info(what, room=live.id, game=live.game.name, player=asker(command))

    def check_seat(self, live: Live, player: str, *, bot: bool = False) -> None:
        """Refuse a seat that is kept for others."""
        self.pairing.check_seat(live, player, bot=bot)

    def _think(
        self, live: Live, command: Command, id: str | None, tickets: tuple[Ticket, ...] = ()
    ) -> Thought:
        at = self.instant()
        try:
            if isinstance(command, Join) and not tickets:  # with a ticket somebody comes from the lobby
                self.check_seat(live, command.player, bot=command.bot)
            return self._ask(live, lambda: self._thought(live, command, at, id))
        except Refused as why:
            if live.here.must(command) and why.code != Code.GAME_OVERRAN:
                return self._without_game(live, command, at, id, why)
            metrics.refusals.labels(live.game.name, why.code).inc()
            if isinstance(command, Act) and why.code not in (Code.GAME_ERROR, Code.GAME_OVERRAN):
                raise self._with_legal(live, command.player, why) from None
            raise

    def _without_game(
        self, live: Live, command: Command, at: Instant, id: str | None, why: Refused
    ) -> Thought:
        """What must happen although the game refused it or failed on it."""
        log.warning("done_without_the_game", room=live.id, do=type(command).__name__, why=why.message)
        if why.code == Code.GAME_ERROR:
            why = Refused(why.code, f"{live.game.display_name} failed on this; it was done without the game")
        room, step = apply(live.game, live.here, command, at, id=id, spared=True)
        return Thought(room, step, {}, failure=why)

    def _thought(self, live: Live, command: Command, at: Instant, id: str | None) -> Thought:
        before = live.here
        room, step = apply(live.game, before, command, at, id=id)
        views = {}
        if room.state is not before.state:
            eyes = live.audience.eyes
            if room.seats != before.seats:
                eyes = {
                    one for one in eyes if room.seat(viewer_of(one)) is not None or viewer_of(one) is None
                }
            views = {one: see(live.game, room, one, live.views.get(one)) for one in eyes}
        store = room.ended is not None or room.seq - live.stored >= self.settings.store_every
        return Thought(room, step, views, freeze(room) if store else None)

    def ask_game(self, game: Game[Any], room: str, think: Callable[[], T]) -> T:
        """The one place where a game's code runs: a bug in it costs one command, never the room.

        What it raises to end a program ends none: signals do that, and are heard by the server itself.
        """
        try:
            return self.watchdog.run(think)
        except Refused:
            raise
        except Overrun as error:
            self.watchdog.rest()
            log.exception("game_overran", room=room, game=game.name, could_not_be_interrupted=error.late)
            raise Refused(
                Code.GAME_OVERRAN, f"{game.display_name} took {error}; the room is closed"
            ) from None
        except BaseException:
            log.exception("game_failed", room=room, game=game.name)
            metrics.game_errors.labels(game.name).inc()
            raise Refused(Code.GAME_ERROR, f"{game.display_name} failed on this; nothing changed") from None

    def _ask(self, live: Live, think: Callable[[], T]) -> T:
        return self.ask_game(live.game, live.id, think)

    def _with_legal(self, live: Live, player: str, why: Refused) -> Refused:
        """A refusal that helps: what this player could do instead."""

        def list_some() -> msgspec.Raw | None:
            legal = live.game.legal_events(live.here.state, player)
            some = None if legal is None else list(islice(legal, MAX_LEGAL + 1))
            return None if some is None or len(some) > MAX_LEGAL else seal(some)

        if live.here.seat(player) is None:
            return why
        try:
            legal = self._ask(live, list_some)
        except Refused:
            return why
        return Refused(why.code, why.message, path=why.path, legal=legal)

    async def _write(self, live: Live, thought: Thought, tickets: tuple[Ticket, ...]) -> None:
        reseated = thought.room.seats != live.here.seats
        if reseated:
            tickets += self.pairing.fills(thought.room)
        aside = beside(live, thought.step, thought.room, thought.frozen, tickets)
        try:
            asked = self.clock.now()
            await self.journal.append(live.number, thought.step, aside)
            metrics.write_time.observe(self.clock.now() - asked)
        except Trouble as error:
            log.error("step_lost", room=live.id, seq=thought.step.seq, exc_info=error.__cause__)
            self.registry.note_trouble(error)
            if await self.registry.reload(live):
                raise excuse(error) from None
            raise Refused(Code.OUTCOME_UNKNOWN, OUTCOME_NOT_KNOWN) from None
        finally:
            self.ratings.note(aside.records)
        if aside.summary is not None:
            live.summary = aside.summary
            self.changed(live.summary)
        if reseated:
            self.pairing.seated(thought.room, tickets)
        if aside.state is not None:
            live.stored = thought.step.seq
        if not isinstance(aside.due, UnsetType):
            live.due = aside.due

    def _speak(self, live: Live, thought: Thought) -> None:
        before, room, step = live.here, thought.room, thought.step
        live.room = room
        if step.id is not None and (player := asker(step.command)) is not None:
            live.answers[player, step.id] = step.seq
        changed = {v: view for v, view in thought.views.items() if view != live.views.get(v)}
        live.moved.update(dict.fromkeys(changed, step.seq))
        if room.state is not before.state:
            live.views = thought.views
        reseated = before.seats != room.seats
        moved = self.attendance.reseat(live) if reseated else []
        result = UNSET if before.outcome == room.outcome else result_of(room)
        live.audience.speak(step, live.views, changed, result, more=live.mailbox.waiting)
        if reseated:
            self.attendance.show_all(live, moved)
            self.attendance.note_presence(live)
        if room.ended is not None:
            self._close(live)
        else:
            self.registry.set_alarm(live)
            if room.bots:
                self.notice(live)

    async def condemn(self, live: Live, why: Refused) -> None:
        """Close a room whose game cannot be trusted to go on; its history is kept for inspection."""
        if live.room is None or live.summary is None:
            return
        live.audience.tell(Push("shutdown", {"reason": why.code}))
        for place in live.audience:
            self.attendance.dismiss(live, place)
        live.shut(why)
        try:
            await self.registry.retire(live.number, live.summary, why.code)
        except Trouble as error:
            self.registry.note_trouble(error)
        self._forget(live)

    def _close(self, live: Live) -> None:
        """The room has ended: everybody was told, nobody comes back."""
        for place in live.audience:
            self.attendance.dismiss(live, place)
        live.shut(Refused(Code.ROOM_ENDED, f"room {live.id} is over ({live.here.ended})"))
        self._forget(live)

    def _forget(self, live: Live) -> None:
        self.registry.forget(live)
        self.pairing.closed(live.id)

    def instant(self) -> Instant:
        """The present, with a fresh seed in case one is needed."""
        return Instant(self.clock.now(), self.clock.date(), self._draw_seed(), patience=self._patience)


def _is_same(kept: Command, command: Command) -> bool:
    """The same command sent again; a chat may come under a new name."""
    if isinstance(kept, Chat) and isinstance(command, Chat):
        return (kept.player, kept.text) == (command.player, command.text)
    return kept == command
