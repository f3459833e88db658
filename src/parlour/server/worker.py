"""This worker among others: requests go to the owner of a room, answers to the gateway that asked.

A room that changes its owner costs its players a pause and nothing else: this gateway asks the new owner for
what was not answered, and for the places of its clients, who then hear what they missed.
"""

import asyncio
from collections.abc import Callable, Coroutine, Sequence, Set
from itertools import count
from typing import Any, NamedTuple

import msgspec
import structlog
from msgspec import Raw
from msgspec.structs import replace

from parlour.cluster.bus import Bus
from parlour.cluster.members import NOBODY, Members
from parlour.errors import Code, Refused
from parlour.journal.base import Trouble
from parlour.journal.shards import LOBBY, room_key, shard_of
from parlour.server.border import (
    Ask,
    AskRoom,
    ComeAgain,
    EnterRoom,
    LeaveRoom,
    LookRoom,
    Moved,
    Pushed,
    Rejected,
    Resync,
    StepTold,
    Told,
    ToldToAll,
    ToldToOne,
    first_number,
    gateway_of,
)
from parlour.server.clock import Rounds
from parlour.server.components import Components
from parlour.server.gateway.pipes import DATA
from parlour.server.greetings import Greetings
from parlour.server.mail import (
    RESULTS,
    AskMetrics,
    CallDone,
    CallMoved,
    CallRefused,
    CallRoom,
    Greeting,
    LobbyMail,
    LookNow,
    Mail,
    MetricsTold,
    NetworkMail,
    Notice,
    SessionEnded,
    SpentElsewhere,
    Watched,
    decode_mail,
    encode_mail,
)
from parlour.server.network import Network
from parlour.server.refusals import OUTCOME_NOT_KNOWN, excuse
from parlour.server.rooms.calls import ListPeople, RoomCall, SeatedPerson
from parlour.server.rooms.ownership import OwnsNothing
from parlour.server.rooms.roster import Listeners, Roster
from parlour.server.shared_limits import SharedLimits
from parlour.server.shared_lobby import SharedLobby
from parlour.server.shared_metrics import SharedMetrics
from parlour.server.shared_room_list import SharedRoomList
from parlour.server.tasks import Tasks

log = structlog.get_logger()

SETTLE_AFTER = 2.0
"""Seconds that gateways have to ask for their clients' places again, before these count as away."""
LOOK_EVERY = 0.1
"""Seconds between two looks at what could not be sent to an owner."""
PATIENCE = 2.8
"""Seconds after which a request that found no owner is refused: with the next look, within three."""

FORGET_AFTER = 1.0
"""Seconds after which a room whose owner was found again counts as found."""


class Ownerless(NamedTuple):
    """Since when a room has no owner that can be found, and when that was last seen."""

    since: float
    last: float


class Asked(NamedTuple):
    """A request: its room, the worker that was asked last, and whether an earlier one may have done it."""

    room: str
    worker: int
    in_doubt: bool
    since: float
    """When it was asked first."""


class KnownOwners(dict[str, int]):
    """The worker at which our clients in each room have their places, by room."""

    def __init__(self) -> None:
        super().__init__()
        self._owners: list[int] = []
        """The owner of each shard when they were last compared with it."""
        self._most = 0
        """How many there may be before it is looked which are still needed."""

    def prune(self, rooms: Callable[[], Set[str]]) -> None:
        """Forget rooms that nobody is in any more, if there are many more than at the last time."""
        if len(self) > self._most:
            for room in self.keys() - rooms():
                del self[room]
            self._most = 2 * len(self) + 100

    def moved(self, owners: list[int]) -> list[str]:
        """The rooms that have another owner now, by the owner of each shard."""
        if owners == self._owners:
            return []
        self._owners = owners
        now = {room: owners[shard_of(room_key(room))] for room in self}
        return [room for room, known in self.items() if now[room] not in (known, NOBODY)]


class Worker:
    """Sends requests to owners and messages to gateways, over the bus where these are other workers."""

    is_shared = True
    settle_after = SETTLE_AFTER
    _is_gone = False
    """The others have declared us gone: nobody is waited for any more."""

    def __init__(self, parlour: Components, members: Members, bus: Bus) -> None:
        self._parlour = parlour
        self._gateway, self._rooms, self._env = parlour.gateway, parlour.rooms, parlour.environment
        self._members, self._bus = members, bus
        self.me = members.me
        self._known_owners = KnownOwners()
        self._asked: dict[int, Asked] = {}
        """The requests that may not have been answered yet."""
        self._unsent: dict[int, Asked] = {}
        """Requests that found no owner."""
        self._again: Asked | None = None
        """What is asked again right now, as it was asked before."""
        self._ownerless: dict[str, Ownerless] = {}
        self._calls: dict[int, tuple[int, asyncio.Future[Mail]]] = {}
        """Calls without an answer: whom they were sent to, and who waits."""
        self._numbers = count(1)
        self._giving: set[int] = set()
        """Shards that are being handed over: their rooms are not ours any more."""
        self._alive: set[int] = {self.me}
        self._gone: set[int] = {NOBODY}
        """Workers that will never answer; whoever is neither has just joined, and not been seen yet."""
        self._tasks = Tasks()
        self._rounds = Rounds(parlour.clock, LOOK_EVERY, self._go_round)
        self.lobby = SharedLobby(parlour, self.me, lambda: self._living_owner(LOBBY), self._post)
        self.room_list = SharedRoomList(parlour, self.me, self._owner, self._post)
        self.limits = SharedLimits(parlour, lambda mail: bus.broadcast(encode_mail(mail)))
        self.greetings = Greetings(parlour.games, self._post)
        self.metrics = SharedMetrics(self.me, parlour.clock, self._siblings, self._post)
        self.network: Network | None = None
        """The sockets and HTTP calls of this worker, once there are any."""

    def join(self) -> None:
        """Take the place of the border within one process; before anybody asks anything."""
        self._gateway.number_from(first_number(self.me))
        self._gateway.ask = self.ask
        self._parlour.call = self._parlour.bots.call = self.call
        self._env.tell, self._env.tell_all = self._tell, self._tell_all
        self._env.ownership = self
        self._members.taken, self._members.asked = self._take, self._hand_over
        self._members.changed = self._see_members
        self._bus.heard, self._bus.lost = self._hear_mail, self._lose_link
        self._gateway.lobby = self.lobby
        self._env.listeners.append(self.lobby.hear)
        self._parlour.sessions.ended = self._tell_ended
        self._parlour.metrics = self.metrics.text
        self._parlour.pairing.call, self._parlour.pairing.people_in = self.call, self._people_in
        for part in (self._rounds, self.room_list, self.limits):
            part.start()

    def leave(self) -> None:
        """Own nothing any more, and stop looking."""
        for part in (self._rounds, self.room_list, self.limits):
            part.stop()
        self._env.ownership = OwnsNothing()

    def note_gone(self) -> None:
        """The others have declared this worker gone: nothing here finds an owner any more."""
        self._is_gone = True

    # Who owns what.

    def owns(self, room: str) -> bool:
        """True if this room is ours, and not being handed over."""
        key = room_key(room)
        return self._members.owner_of(key) == self.me and shard_of(key) not in self._giving

    def owner_of(self, key: str) -> int:
        """Who owns a key and can serve it; `NOBODY` while it changes hands."""
        owner = self._living_owner(key)
        return NOBODY if owner == self.me and shard_of(key) in self._giving else owner

    def is_fresh(self) -> bool:
        """True while nobody else can own our rooms."""
        return self._members.is_fresh()

    def shards(self) -> tuple[int, ...]:
        """The shards whose rooms are ours."""
        return tuple(shard for shard in self._members.shards() if shard not in self._giving)

    def does_chores(self) -> bool:
        """Whoever owns the lobby cleans up for all."""
        return self._members.owner_of("lobby") == self.me

    def _take(self, shards: set[int], gap: float) -> None:
        self._giving -= shards
        self._tasks.start(self._wake(self._rooms.take(shards, gap)))

    async def _wake(self, waking: Coroutine[Any, Any, None]) -> None:
        """Wake the rooms that were taken; they count here from now on."""
        try:
            await waking
            await self._rooms.creation.start()
        except Trouble as error:
            self._env.note_trouble(error)

    async def _hand_over(self, shard: int) -> None:
        self._giving.add(shard)
        try:
            if shard == shard_of(LOBBY):
                await self.lobby.hand_over()
            if self.network is not None:
                await self.network.let_go(shard)
            await self._rooms.hand_over(shard)
        except Trouble:
            self._giving.discard(shard)
            if shard == shard_of(LOBBY):
                self.lobby.keep()
            raise

    def _see_members(self) -> None:
        """Look who is gone: their rooms are asked for at their new owners, and their clients have left."""
        alive = {worker.id for worker in self._members.workers()} | {self.me}
        for gone in self._alive - alive:
            log.warning("worker_gone", worker=gone)
            self._bus.forget(gone)
            self._rooms.leave_gateway(gone)
            self._lose_calls(gone)
            self.greetings.forget(gone)
        for new in alive - self._alive:
            self.greetings.greet(new)
        lost, self._alive = self._alive - alive, alive
        self._gone |= lost
        if lost:
            self._bus.broadcast(encode_mail(LookNow()))
            self._check_sessions()
        self.lobby.look(alive - {self.me})
        self.room_list.look(alive - {self.me})
        self._look()
        for gone in lost:
            self._repeat_lost(gone)

    def _siblings(self) -> set[int]:
        """The other living workers of this machine."""
        machines = {worker.id: worker.machine for worker in self._members.workers()}
        return {id for id, machine in machines.items() if machine == machines.get(self.me)} - {self.me}

    def _look(self) -> None:
        """Ask for places again where a room has another owner, and for what found none before."""
        owners = [NOBODY if owner in self._gone else owner for owner in self._members.owners()]
        for room in self._known_owners.moved(owners):
            self._move(room)
        self._send_unsent([n for n, one in self._unsent.items() if self._owner(one.room) != one.worker])

    def _go_round(self) -> None:
        self._asked = {number: one for number, one in self._asked.items() if self._gateway.waits_for(number)}
        self._known_owners.prune(self._gateway.rooms)
        self._look()
        self._send_unsent(list(self._unsent))

    def _send_unsent(self, numbers: list[int]) -> None:
        """Ask again what found no owner; refuse what has found none for long."""
        now = self._parlour.clock.now()
        for number in numbers:
            unsent = self._unsent.pop(number)
            ownerless = self._ownerless.get(unsent.room)
            if ownerless is not None and now - self._waits_since(number, unsent, ownerless) > PATIENCE:
                self._gateway.refuse(number, _no_owner(in_doubt=unsent.in_doubt))
            else:
                self._repeat(number, unsent)
        for room, seen in tuple(self._ownerless.items()):
            if now - seen.last > FORGET_AFTER:
                del self._ownerless[room]

    def _waits_since(self, number: int, unsent: Asked, ownerless: Ownerless) -> float:
        """Since when somebody waits for an answer; for a place that a client had, since it has no owner."""
        returning = self._gateway.is_returning(number)
        return ownerless.since if returning else min(ownerless.since, unsent.since)

    def _note_ownerless(self, number: int, room: str) -> None:
        """Note a request that found no owner: it is sent again soon."""
        now = self._parlour.clock.now()
        before = self._ownerless.get(room)
        self._ownerless[room] = Ownerless(now if before is None else before.since, now)
        self._unsent[number] = self._asked.get(number, Asked(room, NOBODY, in_doubt=True, since=now))
        self._members.look_now()

    # Asking again.

    def _move(self, room: str) -> None:
        """A room has another owner: ask for places there, and for what can be asked twice.

        What came of the rest is told by the old owner's answers, or by the loss of its link.
        """
        before, self._known_owners[room] = self._known_owners[room], self._owner(room)
        self._gateway.come_back(room)
        for number in self._asked_of(before, room):
            if self._gateway.is_repeatable(number):
                asked = self._asked[number]
                self._repeat(number, asked._replace(in_doubt=before != NOBODY or asked.in_doubt))

    def _repeat_lost(self, worker: int) -> None:
        """The answers of a worker are lost: ask again what can be asked twice."""
        for number in self._asked_of(worker):
            self._repeat(number, self._asked[number]._replace(in_doubt=True), lost=True)

    def _repeat(self, number: int, asked: Asked, *, lost: bool = False) -> None:
        self._asked.pop(number, None)
        before, self._again = self._again, asked
        self._gateway.repeat(number, lost=lost)
        self._again = before

    def _asked_of(self, worker: int, room: str | None = None) -> list[int]:
        """What a worker was asked, in one room or in all."""
        asked = self._asked.items()
        return [number for number, one in asked if one.worker == worker and room in (None, one.room)]

    def _owner(self, room: str) -> int:
        return self._living_owner(room_key(room))

    def _living_owner(self, key: str) -> int:
        """The worker that owns a key; `NOBODY` also if that one is gone and no other has its place yet."""
        owner = self._members.owner_of(key)
        return NOBODY if owner in self._gone else owner

    # From our gateway to owners.

    def ask(self, ask: Ask) -> None:
        """Pass a request of our gateway to the owner of its room."""
        owner = self._owner(ask.room)
        if isinstance(ask, EnterRoom | AskRoom | LookRoom):
            self._known_owners.setdefault(ask.room, owner)
            again = self._again or Asked(ask.room, owner, in_doubt=False, since=self._parlour.clock.now())
            self._asked[ask.number] = again._replace(room=ask.room, worker=owner)
        if owner == self.me:
            self._rooms.ask(ask)
        elif owner != NOBODY:
            self._bus.send(owner, encode_mail(ask))
        elif isinstance(ask, EnterRoom | AskRoom | LookRoom):
            self._note_ownerless(ask.number, ask.room)

    # From our rooms to gateways.

    def _tell(self, told: ToldToOne) -> None:
        """Send a message to the gateway of the client that it is for."""
        number = told.client if isinstance(told, Pushed) else told.number
        assert number is not None  # noqa: S101 - a message to one
        self._send(gateway_of(number), told)

    def _tell_all(self, told: ToldToAll, roster: Roster) -> None:
        """Send a message to all gateways with somebody in the room; each gets what is heard there."""
        for gateway, listeners in roster.by_gateway().items():
            if isinstance(told, StepTold) and gateway != self.me:
                self._send(gateway, part_of(told, gateway, listeners))
            else:
                self._send(gateway, told)

    def _send(self, gateway: int, told: Told) -> None:
        if gateway == self.me:
            self._hear(told, self.me)
        else:  # perhaps we have not seen it in the table yet; if it is gone, the bus knows
            self._bus.send(gateway, encode_mail(told))

    def _hear(self, told: Told, sender: int) -> None:
        """A message of a room to our gateway."""
        if isinstance(told, Rejected):  # if its client's place is not known yet, it is asked again
            before, self._again = self._again, self._asked.get(told.number)
            self._gateway.hear(told)
            self._again = before
        elif isinstance(told, Moved) and told.number is not None:
            if self._gateway.waits_for(told.number):
                self._note_ownerless(told.number, told.room)
        elif isinstance(told, Moved | ComeAgain) and self._known_owners.get(told.room) != sender:
            pass  # it comes late: our clients are at another owner, who knows nothing of it
        elif isinstance(told, Moved):  # what the old owner did not do, it says of each request by itself
            self._gateway.come_back(told.room)
        else:
            self._gateway.hear(told)

    # Calls to rooms.

    async def call(self, room: str, call: RoomCall) -> Any:
        """Have a room carry out a call, wherever it is, and return the result."""
        given_up = self._parlour.clock.now() + PATIENCE
        while True:
            owner = self._owner(room)
            if owner == self.me and self.owns(room):
                return await self._rooms.call(room, call)
            answer = CallMoved(0) if owner in (NOBODY, self.me) else await self._ask_owner(owner, room, call)
            match answer:
                case CallDone():
                    return msgspec.json.decode(answer.result, type=RESULTS[type(call)])
                case CallRefused():
                    raise answer.refusal
                case _:  # it has another owner
                    pass
            if self._is_gone or self._parlour.clock.now() > given_up:
                raise _no_owner()
            self._members.look_now()
            await asyncio.sleep(LOOK_EVERY)

    async def _ask_owner(self, owner: int, room: str, call: RoomCall) -> Mail:
        answer: asyncio.Future[Mail] = asyncio.get_running_loop().create_future()
        number = next(self._numbers)
        self._calls[number] = (owner, answer)
        self._bus.send(owner, encode_mail(CallRoom(number, room, call)))
        try:
            return await answer
        finally:
            del self._calls[number]

    def _lose_calls(self, worker: int) -> None:
        """Nobody will answer what this worker was asked."""
        if self.network is not None:
            self.network.lose(worker)
        for owner, answer in tuple(self._calls.values()):
            if owner == worker and not answer.done():
                answer.set_exception(Refused(Code.OUTCOME_UNKNOWN, OUTCOME_NOT_KNOWN))

    async def _people_in(self, room: str) -> Sequence[SeatedPerson]:
        """The people in a room, wherever it is; nobody if it cannot be reached."""
        if self.owns(room):
            actor = self._rooms.peek(room)
            return () if actor is None else actor.people()
        try:
            people: Sequence[SeatedPerson] = await self.call(room, ListPeople())
        except Refused:
            return ()
        return people

    async def _carry_out(self, asker: int, call: CallRoom) -> None:
        answer: Mail
        if not self.owns(call.room):
            answer = CallMoved(call.number)
        else:
            try:
                result = await self._rooms.call(call.room, call.call)
                answer = CallDone(call.number, Raw(encode_mail(result)))
            except (Refused, Trouble) as error:
                why = excuse(error)
                answer = CallRefused(call.number, why.code, why.message, why.path)
        self._bus.send(asker, encode_mail(answer))

    # The bus.

    def _post(self, worker: int, mail: Mail) -> None:
        """Send a message to another worker."""
        if worker != self.me and worker not in self._gone:
            self._bus.send(worker, encode_mail(mail))

    def _tell_ended(self, player: str, session: int, device: int | None) -> None:
        """Tell all workers that a player has ended all sessions before this one, or that of a device."""
        for worker in self._alive - {self.me}:
            self._post(worker, SessionEnded(player, session, device))

    def _check_sessions(self) -> None:
        """Read again which sessions are ended: what another worker has told of it may not have come here."""
        self._tasks.start(self._parlour.sessions.check_again())

    def _hear_mail(self, sender: int, messages: list[bytes]) -> None:
        """Take messages of another worker, in order."""
        for message in messages:
            try:
                if message.startswith(DATA):
                    if self.network is not None:
                        self.network.pipes.take_data(sender, message)
                else:
                    self._take_mail(sender, decode_mail(message))
            except Exception:
                log.exception("mail_failed", sender=sender)

    def _take_mail(self, sender: int, mail: Mail) -> None:  # noqa: C901 - a table of all messages
        match mail:
            case CallRoom():
                self._tasks.start(self._carry_out(sender, mail))
            case CallDone() | CallRefused() | CallMoved():
                _, answer = self._calls.get(mail.number, (0, None))
                if answer is not None and not answer.done():
                    answer.set_result(mail)
            case EnterRoom() | LeaveRoom() | AskRoom() | LookRoom() | Resync():
                if not self.owns(mail.room):  # perhaps it is ours already
                    self._members.look_now()
                self._rooms.ask(mail)
            case _ if isinstance(mail, LobbyMail):
                self.lobby.take(sender, mail)
            case _ if isinstance(mail, NetworkMail):
                self._take_from_network(sender, mail)
            case _ if isinstance(mail, Notice):
                self._take_notice(sender, mail)
            case _:
                self._hear(mail, sender)

    def _take_notice(self, sender: int, notice: Notice) -> None:
        match notice:
            case AskMetrics():
                self.metrics.answer(sender, notice)
            case Greeting():
                self.greetings.take(sender, notice)
                self._check_sessions()
            case Watched():
                self.room_list.take(sender, notice)
            case MetricsTold():
                self.metrics.take(sender, notice)
            case SessionEnded():
                self._parlour.sessions.note_ended(notice.player, notice.session, notice.device)
            case SpentElsewhere():
                self.limits.take(notice)
            case LookNow():
                self._members.look_now()

    def _take_from_network(self, sender: int, mail: NetworkMail) -> None:
        if self.network is not None:
            self.network.take(sender, mail)

    def _lose_link(self, worker: int) -> None:
        """Messages of a living worker were lost, or ours to it: what it owns for us is asked for again."""
        if worker in self._gone:
            return
        log.warning("link_lost", worker=worker)
        self._lose_calls(worker)
        self._check_sessions()
        self.greetings.greet(worker)
        self.lobby.lose(worker)
        self.room_list.tell_all_of_ours(worker)
        for room, known in tuple(self._known_owners.items()):
            if known == worker:
                self._gateway.come_back(room)
        self._repeat_lost(worker)
        self._rooms.expect_again(worker, SETTLE_AFTER)


def part_of(told: StepTold, gateway: int, listeners: Listeners) -> StepTold:
    """A step as one gateway may know it: what nobody hears there stays here."""
    return replace(
        told,
        sends=tuple(send for send in told.sends if send.to in listeners.topics),
        changed={one: seen for one, seen in told.changed.items() if one in listeners.perspectives},
        syncs={one: push for one, push in told.syncs.items() if one in listeners.perspectives},
        reseated=tuple(one for one in told.reseated if gateway_of(one.client) == gateway),
        closed=tuple(client for client in told.closed if gateway_of(client) == gateway),
    )


def _no_owner(*, in_doubt: bool = False) -> Refused:
    if in_doubt:
        return Refused(Code.OUTCOME_UNKNOWN, OUTCOME_NOT_KNOWN)
    return Refused(Code.NOT_SAVED, "nobody looks after this room at the moment; try again")
