"""Records of the games that were played in a room, made from its kept steps; people become numbers."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import msgspec

from parlour.errors import Refused
from parlour.game import Chance, Game, Moment
from parlour.room import Room
from parlour.room import replay as replay_step
from parlour.sim.records import GameRecord, record_of, repeat, replay
from parlour.sim.table import Step, Table, encode
from parlour.wire import Act, Connect, Disconnect, Join, Leave, Rematch, Ring
from parlour.wire import Step as Kept

Number = Callable[[str], str]
"""What a player is called in a record."""


class NoRecord(Exception):
    """A game happened in a way that rules alone cannot repeat; the sentence says how."""


def records_of(
    game: Game[Any], opening: Room[Any], steps: Iterable[Kept], number: Number, bot: Number
) -> Iterator[GameRecord | NoRecord]:
    """Each game of a room that has an outcome, or why there is no record of it; one that goes on is left out.

    *bot* gives the name of a bot by its player's id, and nothing for people.
    """
    recorder, room = Recorder(game, opening, number, bot), opening
    for step in steps:
        before = room
        try:
            room = replay_step(game, before, step)
        except Refused as why:
            yield NoRecord(f"step {step.seq}: {why.message}")
            return
        try:
            recorder.follow(before, room, step)
        except (NoRecord, Refused) as why:
            recorder.give_up(why.message if isinstance(why, Refused) else str(why))
        if room.outcome is not None and before.outcome is None:
            yield recorder.finish(room)


class Recorder:
    """Follows a room at a table of its own, from each beginning of a game to its outcome."""

    def __init__(self, game: Game[Any], room: Room[Any], number: Number, bot: Number) -> None:
        self.game = game
        self.number = number
        self.bot = bot
        self.begin(room, self._drawn(room, room.seed), None)

    def begin(self, room: Room[Any], draws: list[int], rules: int | None) -> None:
        """A new game, with nobody at the table."""
        self.ids: dict[str, str] = {}
        """What everybody who sat in this game is called."""
        self.trouble = ""
        self.state: Any = None
        self.start: float | None = None
        self.rules = rules
        self.config = room.config
        self.table = Table.scripted(self.game, room.config, draws, rules)

    def follow(self, before: Room[Any], after: Room[Any], step: Kept) -> None:
        """Do at the table what happened in the room."""
        if before.outcome is not None:
            if after.outcome is None:
                self._begin_again(before, after, step)
            return
        if self.trouble:
            return
        self._check(step)
        at = before.clock(step.now)
        self.start = at if self.start is None else self.start
        self.table.now = at - self.start
        self.table.script = list(step.draws)
        if after.verdict is not None and before.verdict is None:
            self.table.decide(self._renamed(after.verdict.outcome))
        elif len(after.past) < len(before.past) and not isinstance(step.command, Leave | Join | Act):
            if after.outcome is None and after.state != before.state:
                self._take_back(len(before.past) - len(after.past))
        else:
            self._do(step)
        if self.table.script:
            raise NoRecord(f"step {step.seq} drew more in the room")

    def give_up(self, why: str) -> None:
        """This game cannot be recorded; the next one may."""
        self.trouble = self.trouble or why

    def finish(self, room: Room[Any]) -> GameRecord | NoRecord:
        """The record of the game that has just ended."""
        if self.trouble:
            return NoRecord(self.trouble)
        if self.table.outcome != self._renamed(room.outcome):
            return NoRecord("the rules alone lead to another outcome")
        bots = {name: self.bot(id) for id, name in self.ids.items()}
        record = record_of(self.table, bots, self.state)
        if any(id in encode(record).decode() for id, name in self.ids.items() if not bots[name]):
            return NoRecord("it has the id of a player within a text")
        seated = {name: seat for id, name in self.ids.items() if (seat := room.seat_number(id)) is not None}
        try:
            replay(record, self.game)
        except Refused as why:
            return NoRecord(why.message)
        return record if len(seated) == len(self.ids) else NoRecord("a seat changed hands during the game")

    def _check(self, step: Kept) -> None:
        if step.spared:
            raise NoRecord(f"the game failed on step {step.seq}")
        if self.rules is None:
            self.rules = step.rules
            self.table.rules = None if step.rules == self.game.version else step.rules
        if step.rules != self.rules:
            raise NoRecord(f"the rules changed at step {step.seq}")

    def _do(self, step: Kept) -> None:
        match step.command:
            case Join(player=player, bot=is_bot):
                self.table.join(self._name(player))
                if is_bot:
                    self.table.connect(self._name(player))
            case Connect(player=player):
                self.table.connect(self._name(player))
            case Disconnect(player=player):
                self.table.disconnect(self._name(player))
            case Leave(player=player, why=why):
                self.table.leave(self._name(player), why)
            case Act(player=player, event=event):
                self.table.act(self._name(player), self._plain(event))
            case Ring(event=event):
                self.table.play_timer(self._plain(event))
            case _:
                pass

    def _begin_again(self, before: Room[Any], after: Room[Any], step: Kept) -> None:
        """By a rematch from the beginning, or by the game itself from the position that it has made."""
        if not isinstance(step.command, Rematch):
            self.begin(after, self._drawn(after, b""), step.rules)
            seats = [None if player is None else self._name(player) for player in after.players]
            self.state = self._plain(msgspec.json.encode(after.state))
            self.table.resume(msgspec.convert(self.state, self.game.State), seats)
            return
        script = list(step.draws)
        self.begin(after, self._drawn(after, b""), step.rules)
        self.table.open(self.game, after.config, script=script)
        self.start = before.clock(step.now)
        present = [player for player in before.players if player is not None]
        for player in (*present[1:], present[0]):
            self.table.join(self._name(player))
        if script:
            raise NoRecord("the rematch drew more in the room")

    def _take_back(self, moves: int) -> None:
        """Forget the last moves: a record has those that count."""
        acts = [
            at for at, step in enumerate(self.table.steps) if step.does == "act" and step.seat is not None
        ]
        kept: list[Step] = self.table.steps[: acts[-moves]]
        names = {seat: name for seat, name in enumerate(self.table.seats) if name is not None}
        table = Table.scripted(self.game, self.config, self.table.opening, self.rules)
        if self.state is not None:
            table.resume(msgspec.convert(self.state, self.game.State), self.table.seats)
        for step in kept:
            repeat(table, step, names)
        self.table = table

    def _drawn(self, room: Room[Any], seed: bytes) -> list[int]:
        """What is drawn by this seed to set the game up."""
        chance = Chance(seed, 0)
        seats = (None,) * len(room.seats)
        self.game.init(self.game.read_config(room.config), Moment(0.0, 0.0, chance, seats))
        return chance.draws

    def _name(self, player: str) -> str:
        return self.ids.setdefault(player, self.number(player))

    def _renamed(self, outcome: Any) -> Any:
        if outcome is None:
            return None
        return msgspec.convert(self._plain(msgspec.json.encode(outcome)), type(outcome))

    def _plain(self, thing: bytes | msgspec.Raw) -> Any:
        """JSON read, with numbers in place of everybody who sat in this game."""
        return _with_names(msgspec.json.decode(thing), self.ids)


def _with_names(thing: Any, ids: dict[str, str]) -> Any:
    """The same plain data with other names for these ids, as values and as keys."""
    if isinstance(thing, str):
        return ids.get(thing, thing)
    if isinstance(thing, list):
        return [_with_names(one, ids) for one in thing]
    if isinstance(thing, dict):
        return {ids.get(key, key): _with_names(value, ids) for key, value in thing.items()}
    return thing


def numbered() -> Number:
    """Numbers for players in the order in which they come, the same for the same player."""
    numbers: dict[str, str] = {}
    return lambda player: numbers.setdefault(player, str(len(numbers) + 1))
