"""Limits by address that many workers share: whoever asks much at one of them is charged at all."""

from collections.abc import Callable

from parlour.server.clock import Rounds
from parlour.server.components import Components
from parlour.server.mail import Mail, SpentElsewhere

TELL_EVERY = 1.0
"""Seconds between two messages about who has asked most."""
MOST_TOLD = 100
"""Addresses that one message names at most."""
SHARE = 0.05
"""The part of its rate that an address must have spent to be named; with less at 20 workers, it may."""


class SharedLimits:
    """Tells the other workers which addresses ask most here, and charges here what these ask elsewhere."""

    def __init__(self, parlour: Components, tell_all: Callable[[Mail], None]) -> None:
        self._requests = parlour.limits.by_address
        self._guesses = parlour.environment.guesses.by_address
        self._accounts = parlour.limits.accounts
        self._tell_all = tell_all
        self._rounds = Rounds(parlour.clock, TELL_EVERY, self._tell)

    def start(self) -> None:
        """Begin to count and to tell."""
        for allowances in (self._requests, self._guesses, self._accounts):
            allowances.count_spending()
        self._rounds.start()

    def stop(self) -> None:
        """Tell nothing any more."""
        self._rounds.stop()

    def _tell(self) -> None:
        requests = self._requests.heaviest(MOST_TOLD, SHARE)
        guesses = self._guesses.heaviest(MOST_TOLD, SHARE)
        accounts = self._accounts.heaviest(MOST_TOLD, SHARE)
        if requests or guesses or accounts:
            self._tell_all(SpentElsewhere(requests, guesses, accounts))

    def take(self, mail: SpentElsewhere) -> None:
        """Charge what was asked at another worker."""
        self._requests.charge(mail.requests)
        self._guesses.charge(mail.guesses)
        self._accounts.charge(mail.accounts)
