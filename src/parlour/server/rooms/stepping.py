"""How a command becomes a step: think with the game, write to the journal, then speak to everybody.

This is the lower half of a room in memory; the upper half, `actor`, says what comes through its mailbox.
"""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeVar

import structlog
from msgspec import UNSET, Raw, UnsetType
from msgspec.structs import replace

from parlour.errors import Code, Refused
from parlour.game import Game, Send
from parlour.journal.base import Kept, Record, RoomSummary, StepWrites, Trouble
from parlour.lobby import Ticket
from parlour.room import Asked, Instant, Room, apply, ask_to_join, perform_without_game, topics_of
from parlour.server import metrics
from parlour.server.border import Announced, Perspective, Reseated, StepTold, Viewpoint, legal_of
from parlour.server.clock import Handle
from parlour.server.mailbox import Mailbox
from parlour.server.result_records import UNRATED
from parlour.server.rooms.environment import Environment
from parlour.server.rooms.events import (
    OutcomeReached,
    PlayersCalled,
    SeatsChanged,
    SpectatorsChanged,
    SummaryChanged,
)
from parlour.server.rooms.perspectives import Seen, SeenScene, list_legal, see, see_after, sync
from parlour.server.rooms.roster import Place, Presence, Roster
from parlour.server.rooms.step_writes import Thought, writes_beside
from parlour.server.rooms.stored_room import freeze
from parlour.server.rooms.summary import Opening, company_of, result_of, sitting_in
from parlour.server.turn_records import TURN
from parlour.wire import Act, Chat, Command, Company, Join, Leave, Push, Shutdown, Step, asker

T = TypeVar("T")
log = structlog.get_logger()

LOGGED = (Join, Leave, Shutdown)
"""The commands that stand in the log; the rest is only counted."""
COUNT_EVERY = 1.0
"""Seconds between two messages about the number of spectators."""
CUT_OFF_TOGETHER = 5.0
"""Seconds within which players who lose their connections have lost them by the same cut."""


class SteppingRoom(ABC):
    """A room's state in memory, and the way of one command through it."""

    __slots__ = (
        "_answers", "_changed_at", "_due", "_env", "_game", "_number", "_opening", "_presence", "_recount",
        "_refusal", "_room", "_roster", "_seen", "_settling", "_stored", "_summary", "id", "mailbox",
    )  # fmt: skip

    def __init__(self, id: str, load: str, environment: Environment) -> None:
        self.id = id
        self.mailbox = Mailbox()
        self._env = environment
        self._room: Room[Any] | None = None
        self._refusal: Refused | None = None
        """Why nobody can come in, when the room could not be loaded or is gone."""
        self._number = 0
        """The journal's own number of the room."""
        self._game: Game[Any]
        self._opening: Opening
        """Who opened the room and how: the part of the summary that is not in the room's state."""
        self._summary: RoomSummary | None = None
        self._roster = Roster("" if environment.ownership.is_shared else load)
        self._presence = Presence(load)
        self._seen: dict[Perspective, Seen] = {}
        """What was last told of each perspective, to tell only what changed."""
        self._changed_at: dict[Perspective, int] = {}
        """The seq of the step that last changed what is seen."""
        self._answers: dict[tuple[str, str], int] = {}
        """The seq that each (player, command id) was answered with."""
        self._stored = 0
        """The seq of the last stored state."""
        self._due: float | None = None
        """The wake-up time stored in the journal: that of the room's next timer, or earlier."""
        self._recount: Handle | None = None
        self._settling = False
        """The room was just taken over from another worker, and clients are coming back."""

    @property
    def here(self) -> Room[Any]:
        """The room as it was last kept; refused where it could not be loaded or is gone."""
        if self._room is None:
            raise self._refusal or AssertionError(f"room {self.id} was not loaded")
        return self._room

    async def step(
        self, command: Command, *, id: str | None = None, tickets: tuple[Ticket, ...] = ()
    ) -> Thought:
        """Apply a command, write the step and the tickets that it matches, and send it to the clients."""
        thought = self._think(command, id, sent=bool(tickets))
        await self._keep((thought,), tickets)
        return thought

    async def _keep(self, thoughts: tuple[Thought, ...], tickets: tuple[Ticket, ...] = ()) -> None:
        """Write thoughts that follow each other, and speak of them; refused if that could not be written."""
        kept: asyncio.Future[Trouble | None] = asyncio.get_running_loop().create_future()
        self._write(thoughts, tickets, kept.set_result)
        trouble = await kept
        if trouble is not None:
            raise await self._recover(thoughts[-1], trouble)

    @abstractmethod
    async def _recover(self, thought: Thought, trouble: Trouble) -> Refused:
        """After a failed write, reload the room from the journal; returns the refusal for whoever asked."""

    @abstractmethod
    def _stepped(self, room: Room[Any]) -> None:
        """A step was told: what comes next."""

    # Think.

    def _think(
        self,
        command: Command,
        id: str | None = None,
        *,
        sent: bool = False,
        asked: Asked[Any] | None = None,
        after: Thought | None = None,
    ) -> Thought:
        """What a command leads to, now or *after* a thought that is to be kept with it.

        *sent* says that the lobby has seen to the seat, *asked* what the game has already answered.
        """
        before = self._room if after is None else after.room
        at = self._env.instant() if asked is None else asked.at
        if before is None:
            raise self._refusal or AssertionError(f"room {self.id} was not loaded")
        if type(command) is Leave and _loses(before, command, ranked=self._opening.ranked):
            command = replace(command, loses=True)
        try:
            if isinstance(command, Join) and not sent:
                self._check_seat(command.player, bot=command.bot)
            think = partial(self._think_with_game, before, command, at, id, asked, after)
            return self._env.ask_game(self._game, self.id, think)
        except Refused as why:
            if before.must(command) and why.code != Code.GAME_OVERRAN:
                return self._think_alone(before, command, at, id, why)
            metrics.refusals.labels(self._game.name, why.code).inc()
            if isinstance(command, Act) and why.code not in (Code.GAME_ERROR, Code.GAME_OVERRAN):
                raise self._with_legal(command.player, why) from None
            raise

    def _think_with_game(
        self,
        before: Room[Any],
        command: Command,
        at: Instant,
        id: str | None,
        asked: Asked[Any] | None,
        after: Thought | None,
    ) -> Thought:
        game = self._game
        room, step = apply(game, before, command, at, id=id, asked=asked)
        perspectives, seen = self._roster.perspectives, self._seen
        if after is not None:  # nobody was told of that yet
            perspectives, seen = self._roster.perspectives_in(before), after.seen or seen
        page, check = self._env.boards.version(game), self._env.settings.reload
        seen = see_after(game, before, room, perspectives, seen, page=page, check=check)
        store = room.ended is not None or room.seq - self._stored >= self._env.settings.store_every
        score = None if after is None else after.score
        if room.state is not before.state:
            score = tuple(map(int, game.match_score(room.state)))
        return Thought(room, step, seen, freeze(room) if store else None, score=score)

    def _think_alone(
        self,
        before: Room[Any],
        command: Command,
        at: Instant,
        id: str | None,
        why: Refused,
    ) -> Thought:
        """What must happen although the game refused it or failed on it."""
        log.warning("done_without_the_game", room=self.id, do=type(command).__name__, why=why.message)
        room, step = perform_without_game(self._game, before, command, at, why, id)
        if why.code == Code.GAME_ERROR:
            why = Refused(why.code, f"{self._game.display_name} failed on this; it was done without the game")
        return Thought(room, step, {}, failure=why)

    def _ask_game(self, think: Callable[[], T]) -> T:
        """Run the game's code; whatever it raises comes out as a refusal."""
        return self._env.ask_game(self._game, self.id, think)

    def _check_seat(self, player: str, *, bot: bool = False) -> None:
        """Refuse a seat that the lobby keeps for others."""
        if self.here.awaits(player):
            return
        self.here.check_kept(player)
        now, ranked = self._env.clock.now(), self._opening.ranked
        self._env.reservations.check(self.id, player, now, ranked=ranked, bot=bot)

    def _with_legal(self, player: str, why: Refused) -> Refused:
        """A refusal that helps: with what this player could do instead."""
        if self.here.seat(player) is None:
            return why
        try:
            legal = self._ask_game(lambda: list_legal(self._game, self.here, player))
        except Refused:
            return why
        return Refused(why.code, why.message, path=why.path, legal=legal)

    # Write.

    def _write(self, thoughts: tuple[Thought, ...], tickets: tuple[Ticket, ...], kept: Kept) -> None:
        """Have thoughts kept that follow each other; then they are told, and *kept* hears of it."""
        before, thought = self._room, thoughts[-1]
        assert before is not None  # noqa: S101 - it was thought about
        if thought.room.seats is not before.seats and thought.room.seats != before.seats:
            tickets += self._env.reservations.filled(self.id, sitting_in(thought.room))
        known = (before, self._number, self._opening, self._summary, self._due)
        writes = writes_beside(known, thought, tickets)
        asked = thought.step.now

        def done(trouble: Trouble | None) -> None:
            if trouble is None:
                metrics.write_time.observe(self._env.clock.now() - asked)
                try:
                    self._note(thought, writes, tickets)
                    for one in thoughts:
                        self._count(one.step)
                        self._speak(one, more=one is not thought)
                except Exception:  # a bug of ours: the step is kept, and the room must go on
                    self._room = thought.room
                    log.exception("step_not_told", room=self.id, seq=thought.step.seq)
            if writes.records:
                self._publish_records(writes)
            kept(trouble)

        self._env.journal.append(self._number, [one.step for one in thoughts], writes, done)

    def _publish_records(self, writes: StepWrites) -> None:
        """Let the parts know of the records that are theirs."""
        kinds = {change.kind for change in writes.records if isinstance(change, Record)}
        if UNRATED in kinds:
            self._env.publish(OutcomeReached(self.id))
        if TURN in kinds:
            self._env.publish(PlayersCalled(self.id))

    def _note(self, thought: Thought, writes: StepWrites, tickets: tuple[Ticket, ...]) -> None:
        """A step is kept: remember what was kept beside it, and let the parts know."""
        if writes.summary is not None:
            self._summary = writes.summary
            self._env.publish(SummaryChanged(writes.summary))
            if thought.room.seats != self.here.seats:
                self._env.publish(SeatsChanged(self.id, sitting_in(thought.room), tickets))
        if writes.state is not None:
            self._stored = thought.step.seq
        if not isinstance(writes.due, UnsetType):
            self._due = writes.due

    def _count(self, step: Step) -> None:
        """A step is kept: remember the answer to its command id, and count it."""
        command = step.command
        if step.id is not None and (player := getattr(command, "player", None)) is not None:
            self._answers[player, step.id] = step.seq
        metrics.steps.kept[self._game.name, type(command)] += 1
        if isinstance(command, LOGGED):
            what = type(command).__name__.lower()
            log.info(what, room=self.id, game=self._game.name, player=asker(command))

    # Speak.

    def _speak(self, thought: Thought, *, more: bool = False) -> None:
        """The new room takes the place of the old one, and everybody hears of it; *more* is to follow."""
        before, room, step = self._room, thought.room, thought.step
        assert before is not None  # noqa: S101 - a step leads from a room to the next
        self._room = room
        changed = self._take_seen(thought) if room.state is not before.state else {}
        reseated = before.seats is not room.seats and before.seats != room.seats
        if self._roster.places:
            others, closed = self._reseat() if reseated else ((), ())
            sends = tuple([effect for effect in step.effects if type(effect) is Send])
            self._env.tell_all(
                StepTold(
                    self.id,
                    step.seq,
                    sends,
                    changed,
                    self._syncs(sends) if sends else {},
                    UNSET if before.outcome == room.outcome else result_of(room),
                    UNSET if before.offers == room.offers else room.offers,
                    UNSET if room.clocks is None or before.clocks == room.clocks else room.clocks,
                    UNSET if _same_time(before, room) else room.clock(step.now),
                    more or bool(self.mailbox.waiting),
                    others,
                    closed,
                    self._new_company(before) if reseated else None,
                ),
                self._roster,
            )
        if reseated:
            self._note_presence()
        self._stepped(room)

    def _take_seen(self, thought: Thought) -> dict[Perspective, Raw]:
        """Remember what is seen now; gives what of it changed."""
        before, changed = self._seen, {}
        for perspective, seen in thought.seen.items():
            if seen != before.get(perspective):
                change = seen.patch if isinstance(seen, SeenScene) else seen
                if change is not None:
                    changed[perspective] = change
                self._changed_at[perspective] = thought.step.seq
        self._seen = thought.seen
        return changed

    def _syncs(self, sends: Sequence[Send]) -> dict[Perspective, Push]:
        """The full view of each perspective, if the step asks for a `sync`; empty otherwise."""
        if "sync" not in [send.kind for send in sends]:
            return {}
        return {perspective: sync(self.here.seq, seen) for perspective, seen in self._seen.items()}

    def _new_company(self, before: Room[Any]) -> Company | None:
        company = company_of(self.here, self._opening)
        return None if company == company_of(before, self._opening) else company

    def _reseat(self) -> tuple[tuple[Reseated, ...], tuple[int, ...]]:
        """Give everybody the viewpoint of their seat; returns whose changed, and who may not watch."""
        others: list[Reseated] = []
        closed: list[int] = []
        for place in self._roster:
            seat = self.here.seat(place.player)
            if seat is None and place.viewer is None:
                continue
            if seat is not None and place.viewer == seat.player and {*place.topics} == {*seat.topics}:
                continue
            try:
                topics = self._watching_topics(place.player) if seat is None else seat.topics
                self._move(place, Viewpoint(None if seat is None else seat.player, topics))
                self._roster.note_perspectives()
            except Refused:  # this game is not for watching
                self._roster.remove(place.client)
                closed.append(place.client)
            else:
                others.append(Reseated(place.client, place.viewpoint, self._whole(place, reset=True)))
        return tuple(others), tuple(closed)

    def _watching_topics(self, player: str) -> tuple[str, ...]:
        """The topics that the game lets somebody hear who watches."""
        self._check_may_watch()
        room, at = self.here, self._env.instant()
        return self._ask_game(
            lambda: topics_of(
                player, ask_to_join(self._game, room, player, at, spectate=True).joined, apart=room.apart
            )
        )

    def _check_may_watch(self) -> None:
        """Refuse spectators where the room is for its players alone."""
        if self._opening.watching == "nobody":
            raise Refused(Code.NO_SPECTATORS, f"only those who play in room {self.id} may see it")

    def _move(self, place: Place, viewpoint: Viewpoint) -> None:
        """Let a place see and hear from a viewpoint."""
        place.move(viewpoint)
        check = self._env.settings.reload
        for one in place.perspectives(place.viewer):
            if one not in self._seen:
                self._seen[one] = self._see(one, check=check)
                self._changed_at[one] = self.here.seq

    def _see(self, perspective: Perspective, *, check: bool = False) -> Seen:
        """What a perspective shows now."""
        page = self._env.boards.version(self._game)
        return self._ask_game(partial(see, self._game, self.here, perspective, page=page, check=check))

    def _whole(self, place: Place, *, reset: bool = False) -> Push:
        """Everything that a place may know, as it is now."""
        room = self.here
        now, fault = room.clock(self._env.clock.now()), self._env.faults.get(room.game)
        return sync(
            room.seq,
            self._seen[place.perspective],
            result_of(room),
            room.offers,
            room.clocks,
            now=now,
            legal=self._seen[legal_of(place.viewer)] if place.legal and place.viewer is not None else None,
            reset=reset,
            fault=fault,
        )

    def _note_presence(self, *, but: int | None = None, seats: bool = True) -> None:
        """Tell who is here where that changed; the number of spectators at most once a second."""
        if self._settling:
            return
        diff = self._presence.seats_changed(self.here, self._roster) if seats else None
        if diff is not None and self._roster.places:
            self._env.tell_all(Announced(self.id, diff, but), self._roster)
        if self._recount is None:
            self._count_spectators(but=but)

    def _count_spectators(self, *, but: int | None = None) -> None:
        self._recount = None
        if (diff := self._presence.count_changed(self._roster)) is not None:
            self._env.publish(SpectatorsChanged(self.id, len(self._roster.spectators)))
            if self._roster.places:
                self._env.tell_all(Announced(self.id, diff, but), self._roster)
            clock = self._env.clock
            self._recount = clock.call_at(clock.now() + COUNT_EVERY, self._count_spectators)


def _loses(room: Room[Any], command: Leave, *, ranked: bool) -> bool:
    """True if whoever leaves has lost: the game is ranked, or for two by the clock (nobody stops theirs)."""
    by_clock = room.clocks is not None and len(room.seats) == 2 and command.why == "manual"
    loses = room.begun and room.status == "playing" and (ranked or by_clock)
    return loses and not _was_cut_off_with_others(room, command)


def _was_cut_off_with_others(room: Room[Any], command: Leave) -> bool:
    """True if whoever is away for too long went with another who is not back: no one of them has left."""
    if command.why != "away_too_long" or (mine := room.away_until(command.player)) is None:
        return False
    others = [seat.player for seat in room.seats if seat is not None and seat.player != command.player]
    theirs = [due for player in others if (due := room.away_until(player)) is not None]
    return any(abs(due - mine) <= CUT_OFF_TOGETHER for due in theirs)


def is_same(kept: Command, command: Command) -> bool:
    """The same command sent again; a chat may come under a new name, and what leaving means is not asked."""
    match kept, command:
        case Chat(), Chat():
            return (kept.player, kept.text) == (command.player, command.text)
        case Leave(), Leave():
            return (kept.player, kept.why) == (command.player, command.why)
        case _:
            return kept == command


def _same_time(before: Room[Any], room: Room[Any]) -> bool:
    """Whether clients that counted on with the time of the room before are right."""
    return before.offers.paused == room.offers.paused and before.clocks == room.clocks
