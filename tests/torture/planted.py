"""Starts the real server with a fault that a judge must find: `python -m tests.torture.planted FAULT ...`."""

import os
import sys
from collections.abc import Callable, Sequence
from typing import Any, cast

from msgspec.structs import replace

from parlour.cli import app
from parlour.journal.base import Change, Drop, Record
from parlour.journal.sqlite import SqliteJournal
from parlour.journal.sqlite import journal as in_sqlite
from parlour.server.endpoint_records import ENDPOINT, Endpoint, Failure, endpoints_of, read_endpoint
from parlour.server.parts.accounts import authenticators
from parlour.server.parts.accounts.passkeys import PASSKEY, Passkeys
from parlour.server.parts.notifications import messages, notifications, rules
from parlour.server.parts.notifications.notifications import Notifications
from parlour.server.parts.notifications.rules import Delivery, delivery_record
from parlour.server.rooms import calling_records
from parlour.server.turn_records import AwaitedTurn, read_turn
from tests.torture.writers import DIE, WRITERS, die


def die_in_between() -> None:
    """End a life that is to end at a write at this instant: between two writes that should be one."""
    if os.environ.get(DIE):
        die()


def forget_challenges() -> None:
    """A challenge that was used can be used again."""

    async def use(self: Passkeys, challenge: Any) -> Sequence[Change]:
        del self, challenge
        return ()

    Passkeys._use = use  # type: ignore[method-assign]


def use_challenges_first() -> None:
    """The use of a challenge is not one write with what it is good for."""
    really_use = Passkeys._use

    async def use(self: Passkeys, challenge: Any) -> Sequence[Change]:
        await self._journal.keep(*await really_use(self, challenge))
        die_in_between()
        return ()

    Passkeys._use = use  # type: ignore[method-assign]


def forget_counts() -> None:
    """An authenticator may count backwards."""
    check = authenticators.check_signature

    def check_signature(*arguments: Any) -> int:
        check(*arguments)
        return 0

    authenticators.check_signature = check_signature  # type: ignore[assignment]


def keep_removed() -> None:
    """Nothing is written of a passkey that was removed."""
    keep = SqliteJournal.keep

    async def keep_some(self: SqliteJournal, *changes: Change) -> None:
        if not any(isinstance(one, Drop) and one.kind == PASSKEY for one in changes):
            await keep(self, *changes)

    SqliteJournal.keep = keep_some  # type: ignore[method-assign]


def note_no_tries() -> None:
    """It is not noted that a try is made."""
    begin = rules.begin_try

    def begin_try(delivery: Delivery, now: float) -> tuple[Delivery, Record]:
        tried, noted = begin(delivery, now)
        return tried, replace(noted, body=delivery_record(delivery, now).body)

    notifications.begin_try = begin_try  # type: ignore[attr-defined]


def try_again_at_once() -> None:
    """There is hardly a pause between two tries."""
    rules.PAUSES = (1.0,) * len(rules.PAUSES)  # type: ignore[assignment]


def tell_at_once() -> None:
    """Whoever is away for a moment is told."""
    calling_records.GRACE = 0.0


def tell_what_is_over() -> None:
    """Nobody looks whether a turn still stands before it is told."""

    async def endpoint_of(self: Notifications, delivery: Delivery) -> Endpoint | None:
        record = await self._journal.record(ENDPOINT, delivery.endpoint)
        return None if record is None else read_endpoint(record.body)

    Notifications._endpoint_of = endpoint_of  # type: ignore[method-assign]


def plan_in_two_writes() -> None:
    """A turn is noted as told before its deliveries are planned."""

    async def plan_turn(self: Notifications, record: Record, now: float) -> None:
        turn = read_turn(record.body)
        endpoints = await endpoints_of(self._journal, turn.player)
        first, second, *rest = rules.deliveries_of(record, turn, endpoints, now)
        await self._change([first, second])
        die_in_between()
        await self._change(rest)

    Notifications._plan_turn = plan_turn  # type: ignore[method-assign]


def name_each_try() -> None:
    """Each try has an id of its own."""
    id = cast("property", Delivery.id).fget
    assert id is not None
    Delivery.id = property(lambda self: f"{id(self)}-{self.tries}")  # type: ignore[method-assign, assignment]


def forget_what_was_taken() -> None:
    """It is not noted that a message was taken."""
    after = rules.after_try

    def after_try(record: Record, delivery: Delivery, failure: Failure | None) -> list[Change]:
        return after(record, delivery, failure or Failure(0.0, "not_reached", "nobody noted it"))

    notifications.after_try = after_try  # type: ignore[attr-defined]


def give_up_soon() -> None:
    """What has failed once is not tried again."""
    after = rules.after_try

    def after_try(record: Record, delivery: Delivery, failure: Failure | None) -> list[Change]:
        return after(record, delivery, failure if failure and failure.code == "gone" else None)

    notifications.after_try = after_try  # type: ignore[attr-defined]


def forget_browsers() -> None:
    """Turns are told by webhooks alone."""
    plan = rules.deliveries_of

    def deliveries_of(
        record: Record, turn: AwaitedTurn, endpoints: Sequence[Endpoint], now: float
    ) -> list[Change]:
        return plan(record, turn, [one for one in endpoints if one.kind == "webhook"], now)

    notifications.deliveries_of = deliveries_of  # type: ignore[attr-defined]


def sign_wrongly() -> None:
    """A message is signed with another secret."""
    sign = messages.signature
    messages.signature = lambda secret, date, body: sign(secret[1:], date, body)


OF_PASSKEYS = (forget_challenges, use_challenges_first, forget_counts, keep_removed)
OF_WEBHOOKS = (
    note_no_tries,
    try_again_at_once,
    tell_at_once,
    tell_what_is_over,
    plan_in_two_writes,
    name_each_try,
    forget_what_was_taken,
    give_up_soon,
    forget_browsers,
    sign_wrongly,
)
FAULTS: dict[str, Callable[[], None]] = {plant.__name__: plant for plant in (*OF_PASSKEYS, *OF_WEBHOOKS)}

if __name__ == "__main__":
    FAULTS[sys.argv.pop(1)]()
    in_sqlite.Writer = WRITERS["mortal"]  # type: ignore[attr-defined]
    app()
