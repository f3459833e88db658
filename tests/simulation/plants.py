"""Faults that can be planted, each into one schedule: a simulation that does not find them proves nothing."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from msgspec.structs import replace

from parlour.clocks import Clocks
from parlour.cluster.leases import Leases
from parlour.errors import Code, Refused
from parlour.journal.base import Change, Record, Unchanged
from parlour.server.endpoint_records import Endpoint
from parlour.server.gateway.doors.relay_history import KeptRelays
from parlour.server.gateway.gateway import Gateway
from parlour.server.parts.accounts.accounts import SIGN_IN_LINK, Accounts, Link, SignedIn
from parlour.server.parts.accounts.passkeys import Passkeys
from parlour.server.parts.accounts.secrets import digest_of
from parlour.server.parts.notifications import notifications
from parlour.server.parts.notifications.rules import Delivery, begin_try, deliveries_of, delivery_record
from parlour.server.parts.pairing import pairing
from parlour.server.rooms.registry import RoomRegistry
from parlour.server.sessions import KeptPlayer, Sessions
from tests.simulation.cluster import ProcessBus, RoomsClock
from tests.simulation.journal import WorkerJournal
from tests.simulation.schedule import Schedule


@contextmanager
def replaced(owner: Any, name: str, value: Any) -> Iterator[None]:
    """Let a class or a module do something else for a while."""
    before = getattr(owner, name)
    setattr(owner, name, value)
    try:
        yield
    finally:
        setattr(owner, name, before)


@contextmanager
def no_fence(schedule: Schedule) -> Iterator[None]:
    """Writes of a worker that was declared gone are kept."""
    schedule.cluster.database.has_fence = False
    yield


def ignored_gap(_: Schedule) -> AbstractContextManager[None]:
    """Nobody is told that messages on a link were lost."""
    call = ProcessBus._call

    def call_unless_lost(bus: ProcessBus, callback: Callable[..., None], *arguments: Any) -> None:
        if callback != bus.lost:
            call(bus, callback, *arguments)

    return replaced(ProcessBus, "_call", call_unless_lost)


def late_lease(_: Schedule) -> AbstractContextManager[None]:
    """A worker shows rooms from memory although its lease may be over."""
    return replaced(Leases, "is_fresh", lambda _: True)


def hasty_hand_over(_: Schedule) -> AbstractContextManager[None]:
    """A worker hands a shard over while it still has its rooms."""

    async def return_at_once(_: RoomRegistry, _shard: int) -> None: ...

    return replaced(RoomRegistry, "hand_over", return_at_once)


def repeated_commands(_: Schedule) -> AbstractContextManager[None]:
    """Commands without an id are sent again although the lost owner may have carried them out."""
    return replaced(Gateway, "is_repeatable", lambda *_: True)


def told_too_early(_: Schedule) -> AbstractContextManager[None]:
    """A step is told before it is kept."""
    append = WorkerJournal.append

    def append_later(journal: WorkerJournal, room: int, steps: Any, writes: Any, kept: Any) -> None:
        journal._process.call_soon(kept, None)
        append(journal, room, steps, writes, lambda _: None)

    return replaced(WorkerJournal, "append", append_later)


def slow_clock(_: Schedule) -> AbstractContextManager[None]:
    """A worker whose rooms' clock is behind does not jump forward."""
    start = RoomsClock.start

    def start_once(clock: RoomsClock, at: float) -> None:
        if not clock._shift:
            start(clock, at)

    return replaced(RoomsClock, "start", start_once)


def unread_tickets(_: Schedule) -> AbstractContextManager[None]:
    """A new owner of the lobby does not read the tickets that there are."""

    async def read_nothing(_: Any) -> list[Any]:
        return []

    return replaced(pairing, "kept_tickets", read_nothing)


def relay_told_too_early(_: Schedule) -> AbstractContextManager[None]:
    """An envelope of a relay is sent before it is kept."""
    keep, jobs = KeptRelays._keep, []

    async def keep_later(relays: KeptRelays, opened: Any, effects: Any) -> None:
        jobs.append(asyncio.get_running_loop().create_task(keep(relays, opened, effects)))

    return replaced(KeptRelays, "_keep", keep_later)


def told_again(_: Schedule) -> AbstractContextManager[None]:
    """A try to tell somebody of their turn is noted, but others need not wait for what comes of it."""

    def begin_at_once(delivery: Delivery, now: float) -> tuple[Delivery, Record]:
        tried, _ = begin_try(delivery, now)
        return tried, delivery_record(tried, now)

    return replaced(notifications, "begin_try", begin_at_once)


def turns_not_told(_: Schedule) -> AbstractContextManager[None]:
    """That somebody was to be told of their turn is noted as done before it is."""

    def forget(record: Record, *_: Any) -> list[Change]:
        return [Unchanged(record), replace(record, due=None)]

    return replaced(notifications, "deliveries_of", forget)


def browsers_not_told(_: Schedule) -> AbstractContextManager[None]:
    """A turn is told by webhooks alone."""
    plan = deliveries_of

    def plan_webhooks(record: Record, turn: Any, endpoints: Sequence[Endpoint], now: float) -> list[Change]:
        return plan(record, turn, [one for one in endpoints if one.kind == "webhook"], now)

    return replaced(notifications, "deliveries_of", plan_webhooks)


def lost_news(_: Schedule) -> AbstractContextManager[None]:
    """A worker that may have missed which sessions were ended does not look."""

    async def look_at_nothing(_: Sessions) -> None: ...

    return replaced(Sessions, "check_again", look_at_nothing)


def lasting_links(_: Schedule) -> AbstractContextManager[None]:
    """A link signs in whoever has it, as often as they like."""

    async def sign_in(accounts: Accounts, secret: str, device: str) -> SignedIn:
        link = await accounts._journal.record(SIGN_IN_LINK, digest_of(secret))
        if link is None:
            raise Refused(Code.LINK_EXPIRED, "there is no such link")

        async def make(account: KeptPlayer) -> tuple[KeptPlayer, tuple[Change, ...]]:
            return accounts.on_device(account, device), ()

        return await accounts.sign_in(link.owner, make)

    return replaced(Accounts, "sign_in_by_link", sign_in)


def lasting_challenges(_: Schedule) -> AbstractContextManager[None]:
    """An answer to a challenge is good as often as somebody sends it."""

    async def use_nothing(*_: Any) -> Sequence[Change]:
        return ()

    return replaced(Passkeys, "_use", use_nothing)


@contextmanager
def unended_links(_: Schedule) -> Iterator[None]:
    """A link signs in also after the account has ended all sessions, or the one that made it."""

    async def drop_nothing(*_: Any) -> Sequence[Change]:
        return ()

    always = replaced(Link, "is_valid", lambda *_: True)
    with always, replaced(Accounts, "_without_links", drop_nothing):
        yield


@contextmanager
def paid_for_leaving(_: Schedule) -> Iterator[None]:
    """Whoever gives up a seat is paid for the turn, as if it had ended."""
    pay = Clocks.run

    def run(clocks: Clocks, *args: Any, idle: Sequence[int] = (), ended: Sequence[int] = ()) -> Clocks:
        turns = [seat for seat in idle if clocks.seats[seat].has_turn]
        return pay(clocks, *args, idle=idle, ended=[*ended, *turns])

    with replaced(Clocks, "run", run):
        yield


PLANTS: dict[str, Callable[[Schedule], AbstractContextManager[None]]] = {
    plant.__name__: plant
    for plant in (
        no_fence, ignored_gap, late_lease, hasty_hand_over, repeated_commands, told_too_early, slow_clock,
        unread_tickets, relay_told_too_early, told_again, turns_not_told, browsers_not_told,
        lost_news,
        lasting_links, lasting_challenges, unended_links, paid_for_leaving,
    )
}  # fmt: skip
