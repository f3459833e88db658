"""One schedule: a cluster and its people, drawn from a seed, through a storm and into the calm after it."""

import gc
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from itertools import chain
from random import Random
from typing import Any, NamedTuple

import structlog

from parlour.clocks import Absence, ClockKind, ClockSettings
from parlour.cluster.memory_bus import NO_FAULTS
from parlour.journal.shards import room_key, shard_of
from tests.simulation.accounts import AccountHolder, SignedInDevice, judge_accounts
from tests.simulation.cluster import Cluster, Machine, simulated
from tests.simulation.judge import judge
from tests.simulation.loop import VirtualLoop
from tests.simulation.people import Person
from tests.simulation.relays import Member, do_all_hear, judge_relay
from tests.simulation.seekers import Seeker, judge_tickets
from tests.simulation.weather import CALM, STORM, Mishap, Weather
from tests.simulation.wires import Client

BOOT = 6.0
"""Seconds within which a fresh cluster must be ready."""
SETTLE = 12.0
"""Seconds after the storm within which everybody must be able to play again."""
LINGER = 4.0
"""Seconds for which some schedules go on after that, to see that nothing more happens."""
ALL_TOLD = 90.0
"""Seconds within which whoever went is told, although requests are lost and tried again."""
DIES_WITHIN = 0.3
"""Seconds after a turn has begun within which a worker dies: before, while and after it is told."""
LAST_MATCH = 3.0
"""Seconds in which whoever has a ticket in the end is matched."""
LOOK_EVERY = 0.05
SEEKERS = ("una", "val", "wim")
MEMBERS = ("ivy", "jon", "kim")
HOLDERS = ("Xenia", "Yann", "Zora")
DEEDS = 36
"""What holders of accounts do during the storm."""
ALL_ENDED = 2.0
"""Seconds within which every connection of an ended session is closed,"""
LINK_PATIENCE = 5.0
"""and how much longer it takes where two workers have lost each other a moment ago."""
WORDS = 12
"""What is said at a relay during the storm."""
NAMES = ("ann", "bob", "cid", "dee", "eve", "fay", "gus", "hal")
SAYS = ("all", "all", "all", "me", "nobody", "chat", "remind")

Trace = Callable[[str], None]
Plant = Callable[["Schedule"], AbstractContextManager[None]]
BUGS = ("mail_failed", "not_told", "job_failed", "step_not_told", "part_failed", "bus_callback_failed",
        "game_failed", "leases_failed", "door_failed")  # fmt: skip
"""What the server logs when it has met a bug of its own."""


class Verdict(NamedTuple):
    """What came of a schedule."""

    seed: int
    broken: list[str]
    steps: int


class Schedule:
    """A cluster with people, and what goes wrong."""

    def __init__(self, seed: int, trace: Trace | None = None) -> None:
        self.seed = seed
        self.chance = Random(seed)
        self.weather = Weather.draw(self.chance)
        self.loop = VirtualLoop()
        self.cluster = Cluster(self.loop, self.chance, relay_history=seed % 6 == 1)
        self.rooms = [f"R{number}" for number in range(1, self.weather.rooms + 1)]
        self.people: list[Person] = []
        self.seekers: list[Seeker] = []
        self.members: list[Member] = []
        """Those of a relay."""
        self.holders: list[AccountHolder] = []
        self.broken: list[str] = []
        self.trace: Trace = (lambda what: trace(f"{self.loop.now:8.4f} {what}")) if trace else lambda _: None
        self._is_traced = trace is not None
        if trace is not None:
            self.cluster.trace = self.cluster.database.trace = self.trace

    def run(self) -> Verdict:
        """From the start of the cluster to the verdict."""
        with simulated(self.cluster), self._noting_bugs():
            try:
                self._boot()
                if not self.broken:
                    self._storm()
                    self._settle()
                    self._end_seeking()
                    self._end_sessions()
                self.broken += judge(self.cluster, self.people, self.rooms)
                self.broken += judge_tickets(self.cluster, self.seekers)
                self.broken += judge_relay(self.cluster, self.members)
                self.broken += judge_accounts(self.cluster, self.holders)
            finally:
                self.loop.close()
        return Verdict(self.seed, self.broken, sum(map(self.cluster.database.seq_of, self.rooms)))

    # A calm beginning.

    def _boot(self) -> None:
        cluster = self.cluster
        self._wait(BOOT, lambda: all(self._shards_of(machine) for machine in cluster.machines))
        away = Absence(5.0) if self.seed % 4 == 3 else None
        kind: ClockKind = "turn" if self.seed % 8 in (1, 3) else "increment"
        clock = ClockSettings(kind, 5.0, away=away) if self.seed % 2 else None
        for room in self.rooms:
            machine = self.chance.choice(cluster.machines)
            machine.process.start(machine.parlour.rooms.creation.create("saying", None, room, clock=clock))
        self._wait(1.0, lambda: all(cluster.database.store._by_id.get(room) for room in self.rooms))
        for name in NAMES[: self.weather.people]:
            self.people.append(self._person(name, self._wishes()))
        if self.seed % 3 == 0:
            self.seekers = [Seeker(cluster, name, self._chance_of(name)) for name in SEEKERS]
        elif self.seed % 3 == 1:
            self.members = [
                Member(cluster, number, name, self._chance_of(name)) for number, name in enumerate(MEMBERS)
            ]
        else:
            self.holders = [AccountHolder(cluster, name, self._chance_of(name)) for name in HOLDERS]
            for holder in self.holders[1:]:  # the first one does it in the storm
                holder.open()
        if self._has_webhooks:
            records = cluster.postbox.endpoints(*NAMES)
            machine = cluster.machines[0]
            machine.process.start(machine.journal.keep(*records))
        everybody: list[Person | Seeker | Member | AccountHolder]
        everybody = [*self.people, *self.seekers, *self.members, *self.holders]
        for one in everybody:
            one.come()
        self._wait(BOOT, lambda: all(person.is_content for person in self.people))

    def _chance_of(self, name: str) -> Random:
        """The chance of one of them alone: they do not do the same at the same time."""
        return Random(f"{self.seed}:{name}")

    @property
    def _has_webhooks(self) -> bool:
        """Whether those who are away are told of their turns."""
        return self.seed % 20 == 5

    def _wishes(self) -> dict[str, bool]:
        """Some rooms, and whether somebody wants to watch there."""
        chance = self.chance
        rooms = [room for room in self.rooms if chance.random() < 0.7] or [chance.choice(self.rooms)]
        return {room: chance.random() < 0.25 for room in rooms}

    def _person(self, name: str, wishes: dict[str, bool]) -> Person:
        chance = self.chance
        person = Person(self.cluster, name, wishes, careful=chance.random() < 0.65)
        person.trace = self.trace if self._is_traced else None
        return person

    def _shards_of(self, machine: Machine) -> int:
        rows = self.cluster.database.rows
        return machine.is_serving and sum(row.owner == machine.me and not row.wanted for row in rows)

    # A storm.

    def _storm(self) -> None:
        world, weather = self.loop.world, self.weather
        self.cluster.hub.faults, self.cluster.database.faults = weather.bus, weather.database
        for mishap in weather.mishaps:
            world.call_later(mishap.at, self._suffer, mishap)
        for _ in range(weather.commands):
            world.call_later(STORM * self.chance.random(), self._act)
        for word in range(WORDS if self.members else 0):
            world.call_later(STORM * self.chance.random(), self.members[word % len(self.members)].say)
        for deed in range(DEEDS if self.holders else 0):
            world.call_later(STORM * self.chance.random(), self.holders[deed % len(self.holders)].act)
        self.trace(f"the storm begins: {weather}")
        self.loop.run_until(self.loop.now + STORM)

    def _act(self) -> None:
        """Somebody does something."""
        chance = self.chance
        person = chance.choice(self.people)
        room = chance.choice(list(person.channels))
        watches = person.channels[room].spectates
        if chance.random() < (0.4 if watches else 0.08):
            person.leave(room)
        elif not watches and chance.random() < 0.08:
            person.stand_up(room)
        else:
            person.say(room, "chat" if watches else chance.choice(SAYS))

    def _suffer(self, mishap: Mishap) -> None:
        machines = self.cluster.machines
        self.trace(f"{mishap.what} for {mishap.seconds:.2f} s, {mishap.where}")
        if mishap.what == "hang_up":
            devices = [device for holder in self.holders for device in holder.devices]
            everybody: list[Person | Client] = [*self.people, *self.members, *devices]
            everybody[mishap.where % len(everybody)].hang_up()
        elif machines or mishap.what in ("no_bus", "crash", "freeze"):
            getattr(self, f"_{mishap.what}")(
                mishap, machines[mishap.where % len(machines)] if machines else None
            )

    def _kill(self, mishap: Mishap, machine: Machine) -> None:
        self.cluster.restart_after = mishap.seconds
        machine.kill()

    def _stop(self, mishap: Mishap, machine: Machine) -> None:
        self.cluster.restart_after = mishap.seconds
        machine.process.call_soon(machine.give_up, None)

    def _pause(self, mishap: Mishap, machine: Machine) -> None:
        machine.pause()
        self.loop.world.call_later(mishap.seconds, machine.resume)

    def _zombie(self, mishap: Mishap, _: Machine) -> None:
        """The owner of a room is paused until it is buried; somebody comes to it just before it goes on."""
        room = self.rooms[mishap.where % len(self.rooms)]
        owner = self.cluster.database.rows[shard_of(room_key(room))].owner
        for machine in self.cluster.serving:
            if machine.me == owner and not machine.process.is_paused:
                self._pause(mishap, machine)
                self.loop.world.call_later(mishap.seconds - 0.05, self._visitor(room).visit, machine)

    def _visitor(self, room: str) -> Person:
        """Somebody who is in this room already, or somebody new who wants to watch."""
        there = [person for person in self.people if room in person.channels]
        if self.chance.random() < 0.5 or len(self.people) == len(NAMES):
            return self.chance.choice(there or self.people)
        self.people.append(self._person(NAMES[len(self.people)], {room: True}))
        return self.people[-1]

    def _hog(self, mishap: Mishap, machine: Machine) -> None:
        """Its loop is busy, but the thread of its heart is not."""
        machine.process.pause()
        self.loop.world.call_later(mishap.seconds, machine.process.resume)

    def _cut(self, mishap: Mishap, machine: Machine) -> None:
        others = [other for other in self.cluster.machines if other is not machine]
        if others:
            one, other = machine.me, others[mishap.where % len(others)].me
            self.cluster.hub.separate(one, other)
            self.loop.world.call_later(mishap.seconds, self.cluster.hub.reunite, one, other)

    def _no_bus(self, mishap: Mishap, _: Machine) -> None:
        if self.cluster.hub.is_running:
            self.cluster.hub.fail()
            self.loop.world.call_later(mishap.seconds, self._end_no_bus)

    def _end_no_bus(self) -> None:
        if not self.cluster.hub.is_running:
            self.cluster.hub.recover()

    def _crash(self, mishap: Mishap, _: Machine) -> None:
        self.cluster.database.crash()
        self.loop.world.call_later(mishap.seconds, self.cluster.database.recover)

    def _freeze(self, mishap: Mishap, _: Machine) -> None:
        self.cluster.database.freeze(mishap.seconds)

    def _move(self, mishap: Mishap, machine: Machine) -> None:
        """Somebody wants a room's shard to be another worker's."""
        shard = shard_of(room_key(self.rooms[mishap.where % len(self.rooms)]))
        row = self.cluster.database.rows[shard]
        if row.owner and machine.me and row.owner != machine.me:
            self.cluster.database.rows[shard] = row._replace(wanted=machine.me)

    # The calm after it.

    def _settle(self) -> None:
        """Everything works again: everybody must be able to play, and hear all."""
        cluster = self.cluster
        cluster.hub.faults, cluster.database.faults = NO_FAULTS, CALM
        cluster.hub._separated.clear()
        self._end_no_bus()
        cluster.database.recover()
        cluster.database.freeze(0.0)
        for machine in cluster.machines:
            machine.resume()
        for person in self.people:
            person.patience = None
        self.trace("the storm is over")
        if not self._wait(SETTLE, self._is_restored):
            self._complain("after the storm")
            return
        for person in self.people:
            for room in person.channels:
                person.say(room, "chat", id=True)
        self.trace("all is well; everybody says a last word")
        if not self._wait(SETTLE, self._is_calm):
            self._complain("in the end")
        elif self.seed % 4 == 0:
            self._linger()
        elif self._has_webhooks:
            self._call_who_is_gone()

    def _end_seeking(self) -> None:
        """Nobody takes another ticket; those that there are find each other."""
        for seeker in self.seekers:
            seeker.seeks = False
        if self.seekers:
            self.loop.run_until(self.loop.now + LAST_MATCH)

    def _end_sessions(self) -> None:
        """Holders end their sessions; soon all connections of these are closed, and every worker knows it."""
        for holder in self.holders:
            for soon in (0.0, 0.5):
                self.loop.world.call_later(soon, holder.come_in)
            holder.end_all_but_one()
        if self.holders:
            self.loop.run_until(self.loop.now + ALL_ENDED)
            self._wait(LINK_PATIENCE, lambda: all(one.is_right for one in self._connections()))
        for machine in self.cluster.serving:
            for holder in self.holders:
                machine.process.start(holder.look(machine))
        self.loop.run_until(self.loop.now + LOOK_EVERY)

    def _connections(self) -> Iterator[SignedInDevice]:
        return chain.from_iterable(holder.connections for holder in self.holders)

    def _is_restored(self) -> bool:
        cluster = self.cluster
        return (
            len(cluster.serving) == cluster.size
            and all(person.is_content for person in self.people)
            and all(member.is_in for member in self.members)
            and all(holder.is_content for holder in self.holders)
        )

    def _is_calm(self) -> bool:
        has_heard = all(person.is_content and self._has_heard_all(person) for person in self.people)
        return has_heard and self._do_all_hear()

    def _do_all_hear(self) -> bool:
        """Whether all members of the relay have heard each other's last words; if not, they speak again."""
        do_they = all(member.said for member in self.members) and do_all_hear(self.members)
        for member in self.members:
            if not do_they:
                member.say()
        return do_they

    def _has_heard_all(self, person: Person) -> bool:
        seq_of = self.cluster.database.seq_of
        return all(channel.seq == seq_of(room) for room, channel in person.channels.items())

    def _complain(self, when: str) -> None:
        """Somebody cannot go on."""
        if len(self.cluster.serving) < self.cluster.size:
            self.broken.append(f"{when} only {len(self.cluster.serving)} workers serve")
        for person in self.people:
            if not person.is_content:
                self.broken.append(
                    f"{when} {person.name} waits for {person.waiting or person.unsent or 'a place'}"
                )
            elif not self._has_heard_all(person):
                heard = {room: channel.seq for room, channel in person.channels.items()}
                kept = {room: self.cluster.database.seq_of(room) for room in person.channels}
                self.broken.append(f"{when} {person.name} has heard {heard} of {kept}")
        for device in (
            one for holder in self.holders for one in (holder.guest, *holder.devices) if not one.is_content
        ):
            self.broken.append(f"{when} {device.name} is not connected, nor told that its session is ended")
        if not do_all_hear(self.members):
            self.broken.append(f"{when} not all members of the relay hear each other")

    def _call_who_is_gone(self) -> None:
        """Somebody goes, others play on, a worker dies: whoever is away is told, whatever is lost."""
        self._end_seeking()
        players = [one for one in self.people if not all(each.spectates for each in one.channels.values())]
        if not players:
            return
        gone = self.chance.choice(players)
        gone.go()
        for person in self.people:
            for room, channel in person.channels.items():
                if person is not gone and not channel.spectates:
                    person.say(room, "all", id=True)
        doomed = self.chance.choice(self.cluster.machines)
        self.loop.world.call_later(DIES_WITHIN * self.chance.random(), doomed.kill)
        self._wait(ALL_TOLD, self.cluster.postbox.has_told_all)

    def _linger(self) -> None:
        """Somebody goes; soon all others count as connected, and they do not."""
        gone = self.chance.choice(self.people)
        gone.go()
        self.loop.run_until(self.loop.now + LINGER)
        for room in self.rooms:
            self._check_connected(room, gone)
        others = [person for person in self.people if person is not gone]
        if not all(person.is_content and self._has_heard_all(person) for person in others):
            self._complain("long after")

    def _check_connected(self, room: str, gone: Person) -> None:
        found = next((one for machine in self.cluster.machines
                      if (one := machine.parlour.rooms.peek(room)) is not None), None)  # fmt: skip
        if found is None:
            return
        seated = {seat.player for seat in found.here.seats if seat is not None}
        expected = {person.name for person in self.people if person is not gone and room in person.channels}
        if {*found.here.connected} != expected & seated:
            self.broken.append(
                f"{found.here.connected} count as connected in {room}, {expected & seated} are"
            )

    # How that is done.

    def _wait(self, seconds: float, is_so: Callable[[], Any]) -> bool:
        """Let time pass until something is so; False if that takes too long."""
        end = self.loop.now + seconds
        while not is_so():
            if self.loop.now >= end:
                return False
            self.loop.run_until(self.loop.now + LOOK_EVERY)
        return True

    @contextmanager
    def _noting_bugs(self) -> Iterator[None]:
        """Note what the server logs as a bug; all else is not logged."""
        before = structlog.get_config()
        structlog.configure(wrapper_class=_logger(self), cache_logger_on_first_use=False)
        try:
            yield
        finally:
            structlog.configure(**before)


def _logger(schedule: Schedule) -> type:
    def note(_: Any, event: str, **values: Any) -> None:
        if schedule._is_traced:
            schedule.trace(f"{schedule.loop.current.name} logs {event} {values}")
        if event in BUGS:
            schedule.broken.append(f"logged as a bug: {event} {values}")

    class Noting:
        """A logger that notes only bugs."""

        def __init__(self, *_: Any, **__: Any) -> None: ...

        debug = info = warning = error = exception = critical = note

    return Noting


def run(seed: int, trace: Trace | None = None, plant: Plant | None = None) -> Verdict:
    """Run the schedule of a seed; *plant* may put a fault into it."""
    gc.disable()
    try:
        schedule = Schedule(seed, trace)
        with nullcontext() if plant is None else plant(schedule):
            return schedule.run()
    finally:
        gc.enable()
