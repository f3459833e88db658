"""People who do what people do in a room: play, mostly, but also talk, come, go, and try nonsense."""

import math
from typing import Any

import msgspec
from msgspec import inspect

from parlour.clocks import Claim
from parlour.errors import Refused
from parlour.game import Chance, Game
from parlour.leakcheck.received import WATCHER, encode, legal_events
from parlour.offers import Answer, Offer, Resign, What
from parlour.room import Instant, Room, apply, is_timer
from parlour.wire import Act, Chat, Command, Connect, Disconnect, Join, Leave, Rematch, Shutdown

DEEDS = ("play",) * 24 + ("guess",) * 2 + ("wait",) * 2 + ("chat", "come", "come", "go")
AFTERWARDS = ("rematch",) * 5 + ("play", "play", "chat", "come", "go")
"""What happens next, each as often as it stands here: while a game goes on, and when it is over."""

PAUSES = (0.0, 0.0, 0.25, 1.0, 3.0)
MANY_TRIES = 20
MOST_KNOWN = 500


class LeakCrowd:
    """Everybody in and around one room, acting by chance."""

    def __init__(self, game: Game[Any], seats: int, chance: Chance) -> None:
        self.game = game
        self.chance = chance
        self.people = [f"player{number}" for number in range(1, seats + 2)]
        """One more than there are seats, so that somebody can take over."""
        self._deeds = (*DEEDS, "offer") if game.offers else DEEDS
        self._known: dict[bytes, None] = {}
        self._type = inspect.type_info(game.Event)

    def pause(self) -> float:
        """How long nobody does anything."""
        return self.chance.choice(PAUSES)

    def next(self, room: Room[Any], at: Instant) -> Command | None:
        """What happens next; None: everybody waits for the next alarm."""
        match self.chance.choice(self._deeds if room.outcome is None else AFTERWARDS):
            case "play":
                return self._play(room, at)
            case "guess":
                return self._guess(room, at)
            case "wait":
                return None if _awaits_the_game(room) else self._chat()
            case "come":
                return self._come(room)
            case "go":
                return self._go(room)
            case "rematch":
                return self._again(room)
            case "offer":
                return self._offer(room)
            case _:
                return self._chat()

    def attempts(self, legal: Any) -> list[bytes]:
        """Events that somebody could try: legal, wrong now, wrong in this game, and no events at all."""
        known = [self.chance.choice(list(self._known))] if self._known else []
        legal = [encode(self.chance.choice(legal))] if legal else []
        imagined = [self._imagine(), self._imagine()]
        return [*legal, *known, *imagined, _broken(self.chance.choice([*known, *imagined]), self.chance)]

    def interrupt(self, room: Room[Any]) -> Command:
        """Something that can happen at any time and that no game can refuse."""
        deed = self.chance.below(3)
        if deed == 0 or not any(room.players):
            return Shutdown("game_timeout")
        player = self.chance.choice([player for player in room.players if player is not None])
        return Disconnect(player) if deed == 1 else Leave(player)

    def _play(self, room: Room[Any], at: Instant) -> Command:
        """Something legal, of somebody who is here; a guess where the game does not say what is legal."""
        silent = False
        for player in self.chance.shuffle(room.connected):
            legal = legal_events(self.game, room, player)
            if legal:
                event = encode(self.chance.choice(legal))
                self._remember(event)
                return Act(player, msgspec.Raw(event))
            silent = silent or legal is None
        return self._guess(room, at) if silent else self._come(room)

    def _guess(self, room: Room[Any], at: Instant) -> Command:
        """An event by its types alone, if possible one that is accepted: not all that is legal is listed."""
        command: Command = self._chat()
        for _ in range(MANY_TRIES if room.connected else 0):
            event = self._imagine()
            command = Act(self.chance.choice(room.connected), msgspec.Raw(event))
            try:
                apply(self.game, room, command, at)
            except Refused:
                continue
            self._remember(event)
            break
        return command

    def _come(self, room: Room[Any]) -> Command:
        """Who is not connected connects, who has no seat takes one."""
        away = [seat.player for seat in room.seats if seat is not None and not seat.connected]
        if away:
            return Connect(self.chance.choice(away))
        outside = [person for person in self.people if room.seat(person) is None]
        if None in room.seats and outside:
            person = self.chance.choice(outside)
            return Join(person, person.capitalize())
        return self._chat()

    def _go(self, room: Room[Any]) -> Command:
        seated = [seat.player for seat in room.seats if seat is not None]
        if not seated:
            return self._chat()
        player = self.chance.choice(seated)
        return Leave(player) if self.chance.below(3) == 0 else Disconnect(player)

    def _again(self, room: Room[Any]) -> Command:
        waiting = [seat.player for seat in room.seats if seat is not None and not seat.again]
        return Rematch(self.chance.choice(waiting)) if waiting else self._chat()

    def _offer(self, room: Room[Any]) -> Command:
        """An offer, an answer to the open one, or, rarely, giving up."""
        open = room.offers.open
        if room.late("claim") and room.connected:
            return Claim(self.chance.choice(room.connected))
        if not room.connected or self.chance.below(8) == 0:
            return Resign(self.chance.choice(self.people))
        player = self.chance.choice(room.connected)
        if open is not None:
            return Answer(player, open.what, accept=self.chance.below(2) == 0)
        what: What = self.chance.choice(("draw", "takeback", "pause", "resume"))
        return Offer(player, what)

    def _chat(self) -> Command:
        person = self.chance.choice((*self.people, WATCHER))
        return Chat(person, person.capitalize(), "hello")

    def _imagine(self) -> bytes:
        return encode(imagine(self._type, self.chance))

    def _remember(self, event: bytes) -> None:
        if len(self._known) < MOST_KNOWN:
            self._known[event] = None


def _awaits_the_game(room: Room[Any]) -> bool:
    """The next alarm is one of the game's own, not the end of the room's patience; in a pause none is."""
    alarms = room.running
    first = min(alarms, key=lambda key: (alarms[key].due, key), default="")
    return is_timer(first)


def imagine(kind: inspect.Type, chance: Chance) -> Any:  # noqa: C901, PLR0911, PLR0912 - a table of types
    """Plain data of this type; anything goes where it does not matter.

    >>> from typing import Literal
    >>> imagine(inspect.type_info(tuple[Literal[7], None]), Chance(bytes(32), step=1))
    [7, None]
    """
    match kind:
        case inspect.StructType():
            return _imagine_struct(kind, chance)
        case inspect.UnionType():
            return imagine(chance.choice(kind.types), chance)
        case inspect.LiteralType():
            return chance.choice(kind.values)
        case inspect.EnumType():
            return chance.choice([member.value for member in kind.cls])
        case inspect.IntType():
            return _imagine_int(kind, chance)
        case inspect.FloatType():
            return chance.choice((0.0, 0.5, 1.0, 10.0))
        case inspect.BoolType():
            return chance.choice((False, True))
        case inspect.StrType():
            return chance.choice(("", "a", "all"))
        case inspect.TupleType():
            return [imagine(item, chance) for item in kind.item_types]
        case inspect.ListType() | inspect.VarTupleType() | inspect.SetType() | inspect.FrozenSetType():
            return [imagine(kind.item_type, chance) for _ in range(chance.below(4))]
        case inspect.DictType():
            return {}
        case _:
            return None


def _imagine_struct(kind: inspect.StructType, chance: Chance) -> dict[str, Any]:
    thing = {} if kind.tag_field is None else {kind.tag_field: kind.tag}
    for field in kind.fields:
        if field.required or chance.below(2):
            thing[field.encode_name] = imagine(field.type, chance)
    return thing


def _imagine_int(kind: inspect.IntType, chance: Chance) -> int:
    """Within its bounds; near nothing where it has none, for that is where rules are."""
    low = kind.ge if kind.ge is not None else None if kind.gt is None else kind.gt + 1
    high = kind.le if kind.le is not None else None if kind.lt is None else kind.lt - 1
    if low is None:
        low = -1 if high is None else min(-1, high)
    if high is None:
        high = low + 12
    return math.ceil(low) + chance.below(math.floor(high) - math.ceil(low) + 1)


def _broken(event: bytes, chance: Chance) -> bytes:
    """The event with something wrong in its form."""
    thing = msgspec.json.decode(event)
    if not isinstance(thing, dict) or not thing:
        return b"[]"
    name = chance.choice(sorted(thing))
    rest = {key: value for key, value in thing.items() if key != name}
    return encode(chance.choice((rest, {**rest, name: [thing[name]]}, {**thing, "surprise": 1})))
