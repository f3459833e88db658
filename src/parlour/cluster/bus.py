"""The bus: how workers send messages to each other. Its numbered links are in `parlour.cluster.links`."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Protocol

import structlog

from parlour.cluster.frames import LONGEST_FRAME, Announcement, encode
from parlour.cluster.links import TICK, Heard, Links, Lost

log = structlog.get_logger()

LONGEST_ANNOUNCEMENT = LONGEST_FRAME - 64
"""Bytes of a message to all: it goes in one frame."""


class BusFailed(Exception):
    """The bus cannot be used; the sentence says why."""


class Bus(Protocol):
    """Messages between workers.

    What one worker sends to another is heard in the order sent, once and without a hole; or both are told
    `lost`. Whatever was sent before that and not heard is gone. What is sent from then on is heard after it.
    A peer that does not answer for five seconds is lost, too: whether it is dead is for others to say.
    """

    me: int
    """The id of this worker, which no other has or will have."""
    heard: Callable[[int, list[bytes]], None]
    """Called with a worker and its messages."""
    lost: Callable[[int], None]
    """Called with a worker whose messages to us, or ours to it, may have been lost."""
    cut: Callable[[], None]
    """Called when the whole bus is away; then every link is lost. Messages wait a while for its return."""
    joined_again: Callable[[], None]
    """Called when the bus is back."""

    @property
    def is_connected(self) -> bool:
        """False while the whole bus is away."""
        ...

    async def start(self) -> None:
        """Join the bus, or raise `BusFailed`."""
        ...

    async def stop(self) -> None:
        """Send what can be sent, and leave the bus. Nothing is called any more."""
        ...

    def send(self, worker: int, message: bytes) -> None:
        """Send a message to another worker; never waits. The messages of one turn of the loop go together."""
        ...

    def broadcast(self, message: bytes) -> None:
        """Send a message of at most 512 KB to all other workers.

        It is outside of all links: it may get lost, and nobody is told; nor has it an order among others.
        """
        ...

    def forget(self, worker: int) -> None:
        """Drop a worker that is gone for ever: nothing is sent to it, and nothing heard from it, any more."""
        ...


class LinkedBus(ABC):
    """What every bus does: number the messages by `Links`, and call back. How frames travel is left open."""

    def __init__(self, me: int) -> None:
        self.me = me
        self.heard: Callable[[int, list[bytes]], None] = _ignore
        self.lost: Callable[[int], None] = _ignore
        self.cut: Callable[[], None] = _ignore
        self.joined_again: Callable[[], None] = _ignore
        self._links = Links(me)
        self._connected = False
        self._stopped = False
        self._flush_planned = False

    @property
    def is_connected(self) -> bool:
        """False while the whole bus is away."""
        return self._connected

    def send(self, worker: int, message: bytes) -> None:
        """Send a message to another worker, together with all others of this turn."""
        self._links.send(worker, message)
        if not self._flush_planned:
            self._plan_flush()

    def broadcast(self, message: bytes) -> None:
        """Send a message to all other workers; it may get lost in silence."""
        if len(message) > LONGEST_ANNOUNCEMENT:
            raise ValueError(f"expected at most {LONGEST_ANNOUNCEMENT:,} bytes for all, got {len(message):,}")
        if self._connected:
            self._transmit_to_all(encode(Announcement(self.me, message)))

    def forget(self, worker: int) -> None:
        """Drop a worker that is gone for ever."""
        self._links.forget(worker)

    # How frames travel, and when.

    @abstractmethod
    def _transmit(self, worker: int, frame: bytes) -> None: ...

    @abstractmethod
    def _transmit_to_all(self, frame: bytes) -> None: ...

    @abstractmethod
    def _call_later(self, delay: float, callback: Callable[[], None]) -> None:
        """Call once this turn of the loop is over, and not before so many seconds have passed."""

    # For those who carry frames.

    def _begin(self) -> None:
        """The bus is there for the first time."""
        self._connected = True
        self._call_later(TICK, self._tick)

    def _receive(self, frame: bytes) -> None:
        """A frame has come."""
        if self._stopped:
            return
        event = self._links.receive(frame)
        if isinstance(event, Heard):
            self._call(self.heard, event.peer, event.messages)
        elif event is not None:
            self._call(self.lost, event.peer)
        if self._links.has_frames:
            self._plan_flush()

    def _went_away(self) -> None:
        """The whole bus is away."""
        if self._connected and not self._stopped:
            self._connected = False
            lost = self._links.begin_anew()
            self._call(self.cut)
            self._report(lost)

    def _came_back(self) -> None:
        """The whole bus is back."""
        if not self._connected and not self._stopped:
            self._connected = True
            self._plan_flush()
            self._call(self.joined_again)

    def _tick(self) -> None:
        """Ask about unacknowledged frames, report the links given up, and schedule the next tick."""
        if not self._stopped:
            self._call_later(TICK, self._tick)
            self._report(self._links.tick())
            if self._links.has_frames:
                self._plan_flush()

    def _flush(self) -> None:
        """Send all that is due."""
        self._flush_planned = False
        if self._connected:
            for worker, frame in self._links.take():
                self._transmit(worker, frame)

    def _plan_flush(self) -> None:
        if not self._flush_planned:
            self._flush_planned = True
            self._call_later(0, self._flush)

    def _report(self, lost: list[Lost]) -> None:
        for (peer,) in lost:
            self._call(self.lost, peer)

    def _call(self, callback: Callable[..., None], *arguments: Any) -> None:
        """Call back; an error there is not the bus's, which goes on."""
        try:
            callback(*arguments)
        except Exception as error:
            log.error("bus_callback_failed", exc_info=error)


def _ignore(*_: Any) -> None:
    """Call nobody."""
