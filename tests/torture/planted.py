"""Starts the real server with a fault that a judge must find: `python -m tests.torture.planted FAULT ...`."""

import sys
from collections.abc import Callable, Sequence
from typing import Any

from parlour.cli import app
from parlour.journal.base import Change, Drop
from parlour.journal.sqlite import SqliteJournal
from parlour.journal.sqlite import journal as in_sqlite
from parlour.server.parts.accounts import authenticators
from parlour.server.parts.accounts.passkeys import PASSKEY, Passkeys
from tests.torture.writers import WRITERS


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


FAULTS: dict[str, Callable[[], None]] = {
    plant.__name__: plant for plant in (forget_challenges, use_challenges_first, forget_counts, keep_removed)
}

if __name__ == "__main__":
    FAULTS[sys.argv.pop(1)]()
    in_sqlite.Writer = WRITERS["mortal"]  # type: ignore[attr-defined]
    app()
