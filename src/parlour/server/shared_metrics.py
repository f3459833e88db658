"""The metrics of all workers of one machine, whichever of them is asked."""

import asyncio
from collections.abc import Callable
from itertools import count

from parlour.server import metrics
from parlour.server.clock import Clock
from parlour.server.mail import AskMetrics, Mail, MetricsTold

PATIENCE = 0.5
"""Seconds that the other workers have for an answer."""


class Scrape:
    """One question to the other workers of this machine, and who has answered it."""

    def __init__(self, asked: set[int]) -> None:
        self.texts: dict[int, str] = {}
        self.missing = asked
        self.is_over = asyncio.Event()

    def note(self, worker: int, text: str) -> None:
        """Note an answer."""
        if worker in self.missing:
            self.missing.discard(worker)
            self.texts[worker] = text
        if not self.missing:
            self.is_over.set()


class SharedMetrics:
    """Asks the other workers of this machine for their metrics, and answers them."""

    def __init__(
        self, me: int, clock: Clock, siblings: Callable[[], set[int]], send: Callable[[int, Mail], None]
    ) -> None:
        self._me = me
        self._clock = clock
        self._siblings = siblings
        """Gives the other living workers of this machine."""
        self._send = send
        self._numbers = count(1)
        self._scrapes: dict[int, Scrape] = {}
        self.own: Callable[[], bytes] = metrics.text
        """This worker's own metrics."""

    async def text(self) -> bytes:
        """The metrics of all workers of this machine; who does not answer soon is left out, and counted."""
        number = next(self._numbers)
        scrape = self._scrapes[number] = Scrape(self._siblings())
        for worker in scrape.missing:
            self._send(worker, AskMetrics(number))
        timer = self._clock.call_at(self._clock.now() + PATIENCE, scrape.is_over.set)
        try:
            if scrape.missing:
                await scrape.is_over.wait()
        finally:
            timer.cancel()
            del self._scrapes[number]
        return metrics.merged({self._me: self.own().decode(), **scrape.texts}, len(scrape.missing))

    def answer(self, sender: int, asked: AskMetrics) -> None:
        """Answer the question of another worker."""
        self._send(sender, MetricsTold(asked.number, self.own().decode()))

    def take(self, sender: int, told: MetricsTold) -> None:
        """Take the answer of another worker."""
        if (scrape := self._scrapes.get(told.number)) is not None:
            scrape.note(sender, told.text)
