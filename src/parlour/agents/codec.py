"""Events of a game as numbers: the space of actions, by the game itself or by the types of its events."""

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

import msgspec
from msgspec import inspect

from parlour.errors import Code, Refused
from parlour.game import Game, kinds_of
from parlour.sim.play import MOST_STEPS, chance_of
from parlour.sim.table import Table, encode

MOST_ACTIONS = 50_000
SURVEYED = 20
"""So many games are played at random to see which events can ever be legal."""
SURVEYED_STEPS = 400
"""And so many steps of each at most."""

Values = dict[tuple[type, str], dict[Any, None]]
"""What was seen in each field of the classes that have it."""


class ActionCodec:
    """The events that can be legal, numbered from 0."""

    def __init__(self, game: Game[Any], events: Sequence[Any]) -> None:
        if not events:
            why = f"{game.name}: expected legal_events to list something, got nothing"
            raise Refused(Code.GAME_ERROR, why)
        if len(events) > MOST_ACTIONS:
            raise Refused(
                Code.TOO_MANY,
                f"{game.name}: expected at most {MOST_ACTIONS:,} actions, got {len(events):,}; "
                "give the game an actions callback",
            )
        self.game = game
        self.events = tuple(events)
        self._numbers = {event: number for number, event in enumerate(self.events)}

    @classmethod
    def of(cls, game: Game[Any], config: Any = None) -> "ActionCodec":
        """The actions that the game lists; otherwise those that its types allow and play shows."""
        read = game.read_config({} if config is None else config)
        listed = game.actions(read)
        return cls(game, _imagined(game, config) if listed is None else listed)

    def __len__(self) -> int:
        return len(self.events)

    def event(self, action: Any) -> Any:
        """The event with this number; refused if there is none."""
        number = self.checked(action)
        return self.events[number]

    def checked(self, action: Any) -> int:
        """An action as it came from outside, checked."""
        try:
            number = action.__index__()
        except (AttributeError, TypeError):
            number = -1
        if not 0 <= number < len(self.events):
            why = f"expected an action from 0 to {len(self.events) - 1}, got {action!r}"
            raise Refused(Code.MALFORMED, why[:200])
        return int(number)

    def index(self, event: Any) -> int:
        """The number of an event; refused if it has none, which names it."""
        number = self._numbers.get(event)
        if number is None:
            why = f"{self.game.name}: expected one of {len(self)} actions, got {encode(event).decode()}"
            raise Refused(Code.UNKNOWN_EVENT, f"{why}; give the game an actions callback")
        return number

    def to_json(self) -> str:
        """All events in their order, to be kept with what was learnt by them."""
        return encode({"game": self.game.name, "version": self.game.version, "events": self.events}).decode()

    @classmethod
    def from_json(cls, game: Game[Any], text: str) -> "ActionCodec":
        """The same numbers as when it was written."""
        plain = msgspec.json.decode(text)
        return cls(game, [game.read_event(msgspec.json.encode(event)) for event in plain["events"]])


def _imagined(game: Game[Any], config: Any) -> list[Any]:
    """All events of the classes that are ever legal; fields without bounds have the values that were seen."""
    seen = _survey(game, config)
    classes = {type(event) for event in seen}
    values: Values = {}
    for event in seen:
        for field in msgspec.structs.fields(event):
            owner = _owner(type(event), field.name)
            values.setdefault((owner, field.name), {})[getattr(event, field.name)] = None
    events = dict.fromkeys(
        event for kind in kinds_of(game.Event) if kind in classes for event in _all_of(kind, values)
    )
    return [*events, *(event for event in seen if event not in events)]


def _all_of(kind: Any, values: Values) -> Iterator[Any]:
    info = inspect.type_info(kind)
    assert isinstance(info, inspect.StructType)  # noqa: S101 - events are structs
    domains = [
        _domain(field.type) or tuple(values.get((_owner(kind, field.name), field.name), ()))
        for field in info.fields
    ]
    total = 1
    for domain in domains:
        total *= max(1, len(domain))
    if total > MOST_ACTIONS:
        raise Refused(
            Code.TOO_MANY,
            f"{kind.__name__}: expected at most {MOST_ACTIONS:,} actions, got {total:,}; "
            "give the game an actions callback",
        )
    return (kind(*chosen) for chosen in product(*domains))


def _owner(kind: Any, field: str) -> type:
    """The class that brings this field: its values are shared by all classes that derive from it."""
    owners = [base for base in kind.__mro__ if field in getattr(base, "__annotations__", {})]
    owner: type = owners[-1] if owners else kind
    return owner


def _domain(kind: inspect.Type) -> tuple[Any, ...]:
    """All values of a type, where they have bounds; nothing where they have not."""
    match kind:
        case inspect.LiteralType():
            return tuple(kind.values)
        case inspect.BoolType():
            return (False, True)
        case inspect.NoneType():
            return (None,)
        case inspect.EnumType():
            return tuple(kind.cls)
        case inspect.IntType(ge=int(low), le=int(high)):
            return tuple(range(low, high + 1))
        case inspect.UnionType():
            parts = [_domain(part) for part in kind.types]
            return tuple(value for part in parts for value in part) if all(parts) else ()
        case _:
            return ()


def _survey(game: Game[Any], config: Any) -> dict[Any, None]:
    """What was legal in some games of random play, in which every kind of event is equally likely."""
    seen: dict[Any, None] = {}
    for seed in range(SURVEYED):
        table, chance = Table(game, config, seed=seed), chance_of(seed)
        while table.outcome is None and len(table.steps) < min(SURVEYED_STEPS, MOST_STEPS):
            legal = {player: events for player in table.active if (events := table.legal(player))}
            if not legal:
                if not table.ring_timer():
                    break
                continue
            for events in legal.values():
                seen.update(dict.fromkeys(events))
            player = chance.choice(list(legal))
            kinds: dict[type, list[Any]] = {}
            for event in legal[player]:
                kinds.setdefault(type(event), []).append(event)
            table.act(player, chance.choice(kinds[chance.choice(list(kinds))]))
    return seen
