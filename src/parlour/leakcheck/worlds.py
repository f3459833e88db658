"""Whether `resample` is honest: what it draws must be as likely as it is, not as it truly was.

A game is played, and then played again from the start with the same commands and fresh luck, many times.
Where everything that a viewer received is the same, that luck could be the true one for all they know.
How often each thing is so in these worlds is compared with what `resample` draws for the same viewer.
"""

import hashlib
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from math import sqrt
from typing import Any, NamedTuple

import msgspec

from parlour.errors import Refused
from parlour.game import Chance, Game
from parlour.leakcheck.crowd import LeakCrowd
from parlour.leakcheck.received import WATCHER, Done, Eyes, do, encode, hear, legal_events
from parlour.room import Instant, Room, ask_to_join, open_room, topics_of
from parlour.wire import Act, Command, Connect, Join

NEW_YEAR = 1735689600.0
REPLAYS = 3000
"""How often a game is played again."""
LEAST = 30
"""So many replays must look the same to a viewer before a state is judged."""
MOST_WORLDS = 400
"""So many worlds are drawn by `resample`, at most."""
LIMIT = 5.0
"""Standard deviations between the two that no luck explains."""
OTHER_CHOICES = 8


class PastWorlds(NamedTuple):
    """One step of the game that was played."""

    command: Command | None
    at: Instant
    before: Room[Any]
    done: Done
    received: dict[Eyes, bytes]


class Finding(NamedTuple):
    """Where `resample` draws something too often or too seldom."""

    game: int
    seq: int
    viewer: str
    what: str
    replayed: float
    drawn: float
    z: float


class Judgement(msgspec.Struct):
    """What came of it."""

    game: str
    games: int = 0
    judged: int = 0
    """States whose worlds were compared, each for one viewer."""
    scarce: int = 0
    """States that too few replays led to."""
    dishonest: int = 0
    worst: Finding | None = None
    reasons: list[str] = []
    """Why some or all of it could not be judged."""

    @property
    def code(self) -> int:
        """How the command exits: 0 honest, 1 dishonest, 3 not judged, which is no pass."""
        return 1 if self.dishonest else 3 if self.reasons or not self.judged else 0

    def __str__(self) -> str:
        lines = [f"{self.game}: {self._verdict()}"]
        if self.worst is not None:
            w = self.worst
            where = f"game {w.game}, after step {w.seq}, {w.viewer}"
            shares = f"in {w.replayed:.0%} of the replays and {w.drawn:.0%} of what resample drew"
            lines.append(f"  furthest apart: {where}: {w.what} {shares} (z = {w.z:.1f}, limit {LIMIT:.0f})")
        lines += [f"  not judged: {reason}" for reason in self.reasons]
        return "\n".join(lines)

    def _verdict(self) -> str:
        seen = f"{self.judged} states in {self.games} games, and {self.scarce} with too few replays"
        match self.code:
            case 0:
                return f"resample is honest: {seen}"
            case 1:
                return f"DISHONEST resample: {self.dishonest} of {seen}"
            case _:
                return f"NOT JUDGED, which is no pass: {seen}"


def judge(
    game: Game[Any], config: Any = None, *, games: int = 5, steps: int = 30, seed: int = 0
) -> Judgement:
    """Play so many games, each many times again, and compare; the same seed plays the same games."""
    judgement = Judgement(game.name)
    if type(game).resample is Game.resample:
        judgement.reasons.append("nothing is hidden: the game has no resample of its own")
        return judgement
    for number in range(games):
        judgement.games += 1
        _Replays(game, config, judgement, f"{seed}:{number}").run(steps)
    if judgement.scarce > judgement.judged:
        judgement.reasons.append(
            f"after most steps fewer than {LEAST} of {REPLAYS} replays looked the same; try a smaller config"
        )
    elif not judgement.judged and not judgement.reasons:
        judgement.reasons.append("nothing was hidden in the games that were played")
    return judgement


class _Replays:
    """One game, and all its replays."""

    def __init__(self, game: Game[Any], config: Any, judgement: Judgement, seed: str) -> None:
        self.game = game
        self.config = config
        self.judgement = judgement
        self.seed = seed
        self.chance = Chance(self._secret("chance"), 0)
        self.watching: tuple[str, ...] | None = None
        self.past: list[PastWorlds] = []
        self.blind: set[Eyes] = set()
        """Those from whom somebody's choice was hidden."""

    def run(self, steps: int) -> None:
        """Play, play again, compare."""
        self._play(steps)
        worlds: dict[tuple[int, Eyes], list[Any]] = {}
        for number in range(REPLAYS):
            self._again(self._secret(f"luck {number}"), worlds)
        for at, past in enumerate(self.past):
            for eyes in past.received:
                self._note_choice(past, eyes)
                if eyes not in self.blind:
                    self._compare(at, eyes, worlds.get((at, eyes), []))

    def _play(self, steps: int) -> None:
        """One game by chance, up to its outcome: what follows it is no secret any more."""
        room, now = self._open(self._secret("room")), 0.0
        crowd = LeakCrowd(self.game, len(room.seats), self.chance)
        with suppress(Refused):
            joined = ask_to_join(self.game, room, WATCHER, self._instant(0.0), spectate=True).joined
            self.watching = topics_of(WATCHER, joined)
        seated = crowd.people[: len(room.seats)]
        begin: list[Command] = [one for p in seated for one in (Join(p, p.capitalize()), Connect(p))]
        for number in range(len(begin) + steps):
            due, later = room.next_due, now + (0.0 if number < len(begin) else crowd.pause())
            rings = due is not None and due <= later
            now = max(now, due or 0.0) if rings else later
            at = self._instant(now)
            command = begin[number] if number < len(begin) else None if rings else crowd.next(room, at)
            if command is None and room.due(now) is None:
                continue
            done = do(self.game, room, command, at)
            if done.step is None:
                continue
            if done.room.outcome is not None or done.room.ended is not None:
                return
            received = {eyes: self._received(eyes, done) for eyes in self._eyes(done.room)}
            self.past.append(PastWorlds(command, at, room, done, received))
            room = done.room

    def _again(self, seed: bytes, worlds: dict[tuple[int, Eyes], list[Any]]) -> None:
        """The same commands with other luck, for as long as it looks the same to anybody."""
        room = self._open(seed)
        alive: set[Eyes] = set()
        for at, past in enumerate(self.past):
            newcomers = past.received.keys() - (self.past[at - 1].received if at else {}).keys()
            if past.command is None and room.due(past.at.now) is None:
                return
            done = do(self.game, room, past.command, past.at)
            if done.step is None:
                return
            alive = {
                eyes
                for eyes, received in past.received.items()
                if (eyes in alive or eyes in newcomers) and self._received(eyes, done) == received
            }
            if not alive:
                return
            for eyes in alive:
                worlds.setdefault((at, eyes), []).append(done.room.state)
            room = done.room

    def _note_choice(self, past: PastWorlds, eyes: Eyes) -> None:
        """Whether somebody else could have done otherwise, and this viewer would not have known."""
        if eyes in self.blind or not isinstance(past.command, Act) or past.command.player == eyes.viewer:
            return
        legal = legal_events(self.game, past.before, past.command.player) or []
        for event in self.chance.shuffle(legal)[:OTHER_CHOICES]:
            other = do(self.game, past.before, Act(past.command.player, msgspec.Raw(encode(event))), past.at)
            hidden = other.step is not None and other.room.state != past.done.room.state
            if hidden and self._received(eyes, other) == past.received[eyes]:
                self.blind.add(eyes)
                why = (
                    f"{self._role(eyes, past.before)} cannot see what {past.command.player} chose: "
                    "a hidden choice would have to be drawn by how people choose"
                )
                if why not in self.judgement.reasons:
                    self.judgement.reasons.append(why)
                return

    def _compare(self, at: int, eyes: Eyes, replayed: list[Any]) -> None:
        """The worlds of the replays beside those of `resample`."""
        room = self.past[at].done.room
        drawn = [self.game.resample(room.state, eyes.viewer, self.chance) for _ in range(LEAST)]
        if all(world == room.state for world in (*drawn, *replayed)):
            return  # nothing is hidden here
        if len(replayed) < LEAST:
            self.judgement.scarce += 1
            return
        more = min(len(replayed), MOST_WORLDS) - LEAST
        drawn += [self.game.resample(room.state, eyes.viewer, self.chance) for _ in range(more)]
        self.judgement.judged += 1
        z, what, here, there = max(_distances(replayed, drawn))
        self.judgement.dishonest += z > LIMIT
        if self.judgement.worst is None or z > self.judgement.worst.z:
            number = self.judgement.games - 1
            role = self._role(eyes, room)
            self.judgement.worst = Finding(number, room.seq, role, what, here, there, z)

    # Who, when, and by which luck.

    def _open(self, seed: bytes) -> Room[Any]:
        return open_room(self.game, "ABCD", self.config, Instant(0.0, NEW_YEAR, seed))

    def _eyes(self, room: Room[Any]) -> list[Eyes]:
        seated = [Eyes(player) for player in room.players if player is not None]
        return seated if self.watching is None else [*seated, Eyes(None)]

    def _received(self, eyes: Eyes, done: Done) -> bytes:
        """What a step tells this viewer; the seed's hash tells nothing, and differs with the luck."""
        assert done.step is not None  # noqa: S101 - the caller looked
        room = done.room
        legal = None if eyes.viewer is None else legal_events(self.game, room, eyes.viewer)
        heard = hear(done.step, eyes.topics(room, self.watching or ()))
        view = self.game.view(room.state, eyes.viewer)
        return encode((view, legal, room.outcome, room.next_due, msgspec.Raw(heard)))

    def _role(self, eyes: Eyes, room: Room[Any]) -> str:
        number = room.seat_number(eyes.viewer)
        return "somebody without a seat" if number is None else f"seat {number}"

    def _instant(self, now: float) -> Instant:
        return Instant(now, NEW_YEAR + now, self._secret("shown"))

    def _secret(self, what: str) -> bytes:
        return hashlib.sha256(f"{self.seed}:{what}".encode()).digest()


def _distances(replayed: list[Any], drawn: list[Any]) -> Iterator[tuple[float, str, float, float]]:
    """How far apart the shares of everything that a state can hold are, in standard deviations."""
    here, there = (Counter(f for world in worlds for f in _features(world)) for worlds in (replayed, drawn))
    for what in here.keys() | there.keys():
        one, other = here[what] / len(replayed), there[what] / len(drawn)
        both = (here[what] + there[what]) / (len(replayed) + len(drawn))
        spread = sqrt(both * (1 - both) * (1 / len(replayed) + 1 / len(drawn)))
        yield (0.0 if spread == 0 else abs(one - other) / spread), what, one, other


def _features(state: Any) -> set[str]:
    """Everything that a state holds, by where it is; text character by character."""
    return set(_leaves(msgspec.to_builtins(state), "$"))


def _leaves(value: Any, path: str) -> Iterator[str]:
    match value:
        case dict():
            for key, item in value.items():
                yield from _leaves(item, f"{path}.{key}")
        case list() | tuple() | str() if len(value) > 1:
            for at, item in enumerate(value):
                yield from _leaves(item, f"{path}[{at}]")
        case _:
            yield f"{path} = {value!r}"
