"""The check itself: a game played at random in many worlds at once, which each viewer must find the same.

What is compared, for each viewer and each other world that `resample` gives them:

- as soon as the worlds part: the view, the legal events, the observation, the outcome, the text for language
  models, what a newcomer is answered, what everybody is told of the room, and when the next alarm rings; all
  of it must be the same;
- what the viewer is answered to events of their own, legal and not: accepted or refused in both worlds, and
  the refusals the same;
- after somebody else's event, beside another that they could have chosen: if the states differ only in what
  `resample` changes, and the views do not, the choice is hidden, and all they receive must be the same;
- in an export with views: what it says of each seat, beside another world for that seat;
- after every command that happens in both worlds: if the views differ, the step revealed something, and that
  comparison is over. Otherwise all of the above must be the same, and the messages that the viewer heard.
"""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import msgspec
from msgspec.structs import replace

from parlour.clocks import Absence, ClockSettings
from parlour.errors import Refused
from parlour.game import Chance, Game
from parlour.leakcheck.crowd import LeakCrowd
from parlour.leakcheck.exports import compare_exports
from parlour.leakcheck.received import (
    WATCHER,
    Difference,
    Done,
    Eyes,
    Received,
    differ,
    do,
    encode,
    hear,
    legal_events,
    look,
)
from parlour.leakcheck.report import Leak, Report
from parlour.room import Instant, Room, ask_to_join, has_turns, open_room, topics_of
from parlour.wire import Act, Command, Connect, Join, asker

NEW_YEAR = 1735689600.0
FRESH = 2
"""Other worlds that every viewer is given anew before each step."""
KEPT_STEPS = 2
"""Older worlds that go on beside the real one: some leaks come late."""
TRIES = 8
"""More worlds are tried when a step was revealing in all of them: one where the revealed thing is the same
shows whether something else slipped out with it."""
CHOICES = 2
"""Other events that a player could have chosen, tried beside each that they did."""
LAST_RINGS = 20
EXPORTS = 2
"""Games that are exported, with what each seat saw."""
CLOCK = ClockSettings("increment", 60.0, 2.0, "claim", Absence(30.0, "claim"))
"""What players have in every second game: whose time runs is told to everybody, and must tell no secret."""


def check(game: Game[Any], config: Any = None, *, games: int = 20, steps: int = 100, seed: int = 0) -> Report:
    """Play so many games of so many steps, and report the first leak; the same seed plays the same games."""
    report = Report(game.name, hides=type(game).resample is not Game.resample)
    try:
        for number in range(games if report.hides else 0):
            report.games += 1
            clock = CLOCK if number % 2 and has_turns(game) else None
            _Play(game, config, report, seed=f"{seed}:{number}", clock=clock).run(steps)
        for number in range(min(games, EXPORTS) if report.hides else 0):
            chance = Chance(f"{seed}:{number}:export".encode(), 0)
            with _noting(f"in export {number}"):
                report.exports += compare_exports(game, config, chance, seed=number, steps=steps)
    except Leak as leak:
        leak.game, leak.number = game.name, report.games - 1
        report.leak = leak
    return report


class _Twin(msgspec.Struct, frozen=True):
    """Another world that a viewer must not be able to tell from the real one."""

    room: Room[Any]
    origin: Received
    """The states of both worlds when they parted."""
    resampled: int


class _Play:
    """One game, from the first to join to the end of the room."""

    def __init__(
        self, game: Game[Any], config: Any, report: Report, *, seed: str, clock: ClockSettings | None
    ) -> None:
        self.game = game
        self.report = report
        self.seed = seed
        self.now = 0.0
        self.chance = Chance(self._secret("chance"), 0)
        at = Instant(0.0, NEW_YEAR, self._secret("room"))
        self.room: Room[Any] = open_room(game, "ABCD", config, at, clock=clock)
        self.crowd = LeakCrowd(game, len(self.room.seats), self.chance)
        self.watching: tuple[str, ...] | None = None
        self.twins: dict[Eyes, list[_Twin]] = {}
        self.happens: Command | None = None

    def run(self, steps: int) -> None:
        """Everybody sits down, so many things happen, and then all alarms ring until the room ends."""
        for person in self.crowd.people[: len(self.room.seats)]:
            self.step(Join(person, person.capitalize()))
            self.step(Connect(person))
        for _ in range(steps):
            if self.room.ended is None:
                self.step(self.next())
        for _ in range(LAST_RINGS):
            if self.room.ended is None and self.room.next_due is not None:
                self.step(None)

    def next(self) -> Command | None:
        """What happens after a pause, unless an alarm rings before it is over."""
        later, due = self.now + self.crowd.pause(), self.room.next_due
        if due is not None and due <= later:
            return None
        self.now = later
        return self.crowd.next(self.room, self.instant())

    def step(self, command: Command | None) -> None:
        """Let something happen in all worlds and compare what comes of it; None: the next alarm rings."""
        if command is None:
            self.now = max(self.now, self.room.next_due or 0.0)
        self.happens = command or self.room.due(self.now)
        with _noting(
            f"in game {self.report.games - 1}, in or before step {self.room.seq + 1}: {self.happens}"
        ):
            self.let_watch()
            for eyes in self.eyes():
                with self.told_by(eyes):
                    self.give_worlds(eyes)
            done = do(self.game, self.room, command, self.instant())
            for eyes in self.twins:
                with self.told_by(eyes):
                    self.twins[eyes] = self.go_on(eyes, command, done)[:KEPT_STEPS]
            self.compare_choices(command, done)
        self.room = done.room
        self.report.steps += done.step is not None

    def let_watch(self) -> None:
        """Somebody watches from when the game lets them; before, nobody without a seat can learn anything."""
        if self.watching is None:
            with suppress(Refused):
                joined = ask_to_join(self.game, self.room, WATCHER, self.instant(), spectate=True).joined
                self.watching = topics_of(WATCHER, joined)

    def eyes(self) -> list[Eyes]:
        """Everybody's: those in their seats, and those of the rest."""
        seated = [Eyes(player) for player in self.room.players if player is not None]
        return seated if self.watching is None else [*seated, Eyes(None)]

    # Other worlds.

    def give_worlds(self, eyes: Eyes) -> None:
        """Some fresh worlds for this viewer, who also tries out in each what they could do."""
        self.report.by_viewer.setdefault(self.role(eyes), 0)
        here = look(self.game, self.room, eyes, self.instant())
        for _ in range(FRESH):
            twin = self.resample(eyes, here)
            if twin is not None:
                self.twins.setdefault(eyes, []).append(twin)
                self.try_out(eyes, twin)

    def resample(self, eyes: Eyes, here: Received) -> _Twin | None:
        """Another world for this viewer; None where resample has no other."""
        state = self.room.state
        other = self.game.resample(state, eyes.viewer, self.chance)
        self.report.note_fields(state, other)
        if other == state:
            return None
        origin = {"here": encode(state), "there": encode(other)}
        twin = _Twin(replace(self.room, state=other), origin, self.room.seq)
        self.report.worlds += 1
        self.report.by_viewer[self.role(eyes)] += 1
        with self.in_twin(twin):
            found = differ(here, look(self.game, twin.room, eyes, self.instant()))
        self.same(found, twin, at_once=True)
        return twin

    def try_out(self, eyes: Eyes, twin: _Twin) -> None:
        """What could happen now besides what does, tried in both worlds and taken back."""
        before = self.happens
        for command in self.possible(eyes):
            self.happens = command
            with _noting(f"while trying {command}"):
                done = do(self.game, self.room, command, self.instant())
            if not self.has_left(eyes, done):
                self.compare(eyes, twin, command, done)
        self.happens = before

    def possible(self, eyes: Eyes) -> Iterator[Command]:
        """Events of this viewer's own, sense and nonsense; and something that nobody can refuse."""
        seat = self.room.seat(eyes.viewer)
        if seat is not None and seat.connected:
            for event in self.crowd.attempts(legal_events(self.game, self.room, seat.player)):
                yield Act(seat.player, msgspec.Raw(event))
        yield self.crowd.interrupt(self.room)

    def go_on(self, eyes: Eyes, command: Command | None, done: Done) -> list[_Twin]:
        """This viewer's worlds after the command, without those that they can now tell apart."""
        if self.has_left(eyes, done):
            return []
        worlds = [self.compare(eyes, twin, command, done) for twin in self.twins[eyes]]
        same = [twin for twin in worlds if twin is not None]
        if worlds and not same:
            here = look(self.game, self.room, eyes, self.instant())
            for _ in range(TRIES):
                fresh = self.resample(eyes, here)
                if fresh is not None and (after := self.compare(eyes, fresh, command, done)) is not None:
                    return [after]
        return same

    def compare_choices(self, command: Command | None, done: Done) -> None:
        """What others receive of a choice that is hidden from them must not depend on it."""
        if not isinstance(command, Act) or done.step is None:
            return
        choices = legal_events(self.game, self.room, command.player) or []
        for event in self.chance.sample(choices, min(len(choices), CHOICES)):
            with _noting(f"while trying {event!r} instead"):
                other = do(
                    self.game, self.room, Act(command.player, msgspec.Raw(encode(event))), self.instant()
                )
            if other.step is None or not self.report.is_secret(done.room.state, other.room.state):
                continue
            origin = {"here": encode(done.room.state), "there": encode(other.room.state)}
            twin = _Twin(other.room, origin, done.room.seq)
            for eyes in self.eyes():
                if eyes.viewer == command.player or self.has_left(eyes, done):
                    continue
                one, two = self.received(eyes, done), self.received(eyes, other)
                if one["view"] == two["view"]:
                    with self.told_by(eyes):
                        self.same(differ(one, two), twin)

    def has_left(self, eyes: Eyes, done: Done) -> bool:
        """From now on the viewer sees through other eyes, and all comparisons are off."""
        return eyes.viewer is not None and done.room.seat(eyes.viewer) is None

    def compare(self, eyes: Eyes, twin: _Twin, command: Command | None, here: Done) -> _Twin | None:
        """The other world after the same command, or None where the two parted for good reasons."""
        with self.in_twin(twin):
            there = do(self.game, twin.room, command, self.instant())
        if self.happens is not None and asker(self.happens) == eyes.person:
            self.report.refusals += here.step is None
            self.same(_replies(here, there), twin)
        if here.step is None or there.step is None:
            # Somebody else's move was refused, in both worlds or in one: nobody but them knows.
            return twin if here.step is there.step else None
        one = self.received(eyes, here)
        with self.in_twin(twin):
            other = self.received(eyes, there)
        if one["view"] != other["view"]:
            self.report.reveals += 1
            return None
        self.same(differ(one, other), twin)
        return replace(twin, room=there.room)

    def received(self, eyes: Eyes, done: Done) -> Received:
        """All that a step brings to this viewer."""
        assert done.step is not None  # noqa: S101 - the caller looked
        received = look(self.game, done.room, eyes, self.instant())
        topics = eyes.topics(done.room, self.watching or ())
        return {**received, "messages": hear(done.step, topics)}

    def same(self, found: Difference | None, twin: _Twin, *, at_once: bool = False) -> None:
        """Count a comparison, and stop everything if it found a difference."""
        self.report.comparisons += 1
        if found is not None:
            leak = Leak(found, twin.origin, resampled=twin.resampled)
            leak.at_once = at_once
            raise leak

    # Who, when, and by which luck.

    @contextmanager
    def told_by(self, eyes: Eyes) -> Iterator[None]:
        """A leak that is found here is this viewer's, in this step."""
        try:
            yield
        except Leak as leak:
            leak.viewer = f"{eyes.person}, {self.role(eyes)},"
            leak.seq = self.room.seq if leak.at_once else self.room.seq + 1
            leak.command = encode(self.happens)
            raise

    @contextmanager
    def in_twin(self, twin: _Twin) -> Iterator[None]:
        """A failure that is found here may be resample's fault."""
        with _noting(
            f"in a world that resample made after step {twin.resampled}, not in the real one; "
            f"is its state possible? {twin.origin['there'].decode()}"
        ):
            yield

    def role(self, eyes: Eyes) -> str:
        """What kind of viewer this is."""
        number = self.room.seat_number(eyes.viewer)
        return "without a seat" if number is None else f"seat {number}"

    def instant(self) -> Instant:
        """The present, the same for all worlds, with a fresh seed for each step."""
        return Instant(self.now, NEW_YEAR + self.now, self._secret(f"step {self.room.seq + 1}"))

    def _secret(self, what: str) -> bytes:
        return hashlib.sha256(f"{self.seed}:{what}".encode()).digest()


def _replies(here: Done, there: Done) -> Difference | None:
    """A difference of what two worlds answered to the one who asked."""
    return None if here.reply == there.reply else Difference("reply", here.reply, there.reply)


@contextmanager
def _noting(what: str) -> Iterator[None]:
    """A bug of the game stops the check; its author is told what it was asked."""
    try:
        yield
    except Leak:
        raise
    except Exception as bug:
        bug.add_note(f"({what})")
        raise
