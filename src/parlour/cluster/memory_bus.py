"""A bus within one process, for tests and simulations: it fails as it is told, and the same way each time."""

from collections.abc import Callable
from typing import Protocol

import msgspec

from parlour.cluster.bus import BusFailed, LinkedBus


class Clock(Protocol):
    """The time of a simulation, turned by whoever runs it."""

    def now(self) -> float:
        """Seconds."""
        ...

    def call_at(self, when: float, callback: Callable[[], None]) -> object:
        """Plan *callback*. Those of one time are called in the order in which they were planned."""
        ...


class Chance(Protocol):
    """A seeded source of chance, such as `random.Random(7)`."""

    def random(self) -> float:
        """A number from 0 to 1, without 1."""
        ...


class Faults(msgspec.Struct, frozen=True):
    """What happens to frames on their way."""

    drop: float = 0.0
    """The share that gets lost."""
    duplicate: float = 0.0
    """The share that comes twice."""
    garble: float = 0.0
    """The share that comes damaged."""
    delay: float = 0.0
    """Seconds that a frame takes at most; each one takes a part of that by chance."""
    reorder: bool = False
    """Frames may overtake each other, if they take different times."""


NO_FAULTS = Faults()


class Hub:
    """The network between the buses of one process."""

    def __init__(self, clock: Clock, chance: Chance, faults: Faults = NO_FAULTS) -> None:
        self.clock = clock
        self.faults = faults
        """May be replaced at any time; frames that are under way are not affected."""
        self.is_running = True
        self._failures = 0
        self._chance = chance
        self._buses: dict[int, MemoryBus] = {}
        self._separated: set[frozenset[int]] = set()
        self._last_arrivals: dict[tuple[int, int], float] = {}

    # Faults that are made by hand.

    def fail(self) -> None:
        """Take the whole bus away from everybody, with all that is under way."""
        self.is_running = False
        self._failures += 1
        for bus in list(self._buses.values()):
            bus.went_away()

    def recover(self) -> None:
        """Bring the bus back."""
        self.is_running = True
        for bus in list(self._buses.values()):
            bus.came_back()

    def separate(self, one: int, other: int) -> None:
        """Drop all frames between two workers."""
        self._separated.add(frozenset((one, other)))

    def reunite(self, one: int, other: int) -> None:
        """Let frames between two workers pass again."""
        self._separated.discard(frozenset((one, other)))

    def pause(self, worker: int) -> None:
        """Freeze a worker: it does nothing, and what comes for it waits."""
        self._buses[worker].pause()

    def resume(self, worker: int) -> None:
        """Let a worker go on, with all that has waited."""
        self._buses[worker].resume()

    def kill(self, worker: int) -> None:
        """End a worker without a last word."""
        self._buses.pop(worker).kill()

    # For the buses.

    def join(self, bus: "MemoryBus") -> None:
        """Carry frames from and to this bus."""
        self._buses[bus.me] = bus

    def leave(self, worker: int) -> None:
        """Carry no more frames to this worker."""
        self._buses.pop(worker, None)

    def carry(self, sender: int, worker: int, frame: bytes) -> None:
        """Carry a frame, with all faults."""
        if not self.is_running or frozenset((sender, worker)) in self._separated:
            return
        if self._happens(self.faults.drop):
            return
        if self._happens(self.faults.garble):
            frame = frame[: len(frame) // 2]
        for _ in range(2 if self._happens(self.faults.duplicate) else 1):
            self._deliver(worker, frame, self._arrival(sender, worker))

    def carry_to_all(self, sender: int, frame: bytes) -> None:
        """Carry a frame to everybody else, with all faults."""
        for worker in list(self._buses):
            if worker != sender:
                self.carry(sender, worker, frame)

    def _arrival(self, sender: int, worker: int) -> float:
        """When a frame arrives: not before earlier ones of the same way, unless they may be overtaken."""
        when = self.clock.now()
        if self.faults.delay:
            when += self.faults.delay * self._chance.random()
        if not self.faults.reorder:
            when = max(when, self._last_arrivals.get((sender, worker), 0.0))
        self._last_arrivals[sender, worker] = when
        return when

    def _deliver(self, worker: int, frame: bytes, when: float) -> None:
        failures = self._failures

        def arrive() -> None:
            bus = self._buses.get(worker)
            if bus is not None and failures == self._failures:
                bus.arrive(frame)

        self.clock.call_at(when, arrive)

    def _happens(self, share: float) -> bool:
        return bool(share) and self._chance.random() < share


class MemoryBus(LinkedBus):
    """One worker's end of a `Hub`."""

    def __init__(self, hub: Hub, me: int) -> None:
        super().__init__(me)
        self._hub = hub
        self._held: list[Callable[[], None]] | None = None
        """What waits while the worker is frozen."""

    async def start(self) -> None:
        """Join the hub."""
        if not self._hub.is_running:
            raise BusFailed("the hub is not running")
        self._hub.join(self)
        self._begin()

    async def stop(self) -> None:
        """Send what can be sent, and leave."""
        self._flush()
        self.kill()
        self._hub.leave(self.me)

    # For the hub.

    def arrive(self, frame: bytes) -> None:
        """A frame has come."""
        self._do(lambda: self._receive(frame))

    def went_away(self) -> None:
        """The hub has failed."""
        self._do(self._went_away)

    def came_back(self) -> None:
        """The hub is back."""
        self._do(self._came_back)

    def pause(self) -> None:
        """Do nothing until `resume`."""
        self._held = self._held or []

    def resume(self) -> None:
        """Do all that has waited."""
        held, self._held = self._held or [], None
        for callback in held:
            self._do(callback)

    def kill(self) -> None:
        """Do nothing any more."""
        self._stopped, self._connected = True, False

    def _do(self, callback: Callable[[], None]) -> None:
        if self._held is None:
            callback()
        else:
            self._held.append(callback)

    def _transmit(self, worker: int, frame: bytes) -> None:
        self._hub.carry(self.me, worker, frame)

    def _transmit_to_all(self, frame: bytes) -> None:
        self._hub.carry_to_all(self.me, frame)

    def _call_later(self, delay: float, callback: Callable[[], None]) -> None:
        self._hub.clock.call_at(self._hub.clock.now() + delay, lambda: self._do(callback))
