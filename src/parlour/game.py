"""What a game is: callbacks over a state, which return what should happen and do nothing themselves."""

import hmac
import inspect
import math
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, Generic, Literal, TypeVar, dataclass_transform, get_args

import msgspec

from parlour.clocks import ClockSettings, make_float
from parlour.errors import Code, Refused, parse
from parlour.scene import Scene, plain, turn_in, turn_status
from parlour.set_up import SetUp, check_set_up

GAME = ":game"
"""The sender of a game's own events, when one of its timers rings."""

_NAME = re.compile(r"[a-z][a-z0-9_]*")

S = TypeVar("S")
T = TypeVar("T")

Bot = Callable[[Any, Sequence[Any], "Chance"], Any]
"""A bot: what it sees, what it could do (both as plain data) and chance give one of the events, or None."""


def snake(name: str) -> str:
    """How an event class is called on the wire.

    >>> snake("OfferDraw")
    'offer_draw'
    """
    return "".join("_" + c.lower() if c.isupper() else c for c in name).lstrip("_")


class BotWithAnswers(msgspec.Struct, frozen=True):
    """A bot that also says whether it agrees to an offer: by what it sees and what is offered."""

    play: Bot
    answer: Callable[[Any, str], bool]

    def __call__(self, view: Any, legal: Sequence[Any], chance: "Chance") -> Any:
        return self.play(view, legal, chance)


@dataclass_transform(frozen_default=True, field_specifiers=(msgspec.field,))
class FrozenStruct(msgspec.StructMeta):
    """Tells type checkers that a subclass is frozen, too, so that authors need not write ``frozen=True``."""


class State(msgspec.Struct, metaclass=FrozenStruct, frozen=True, kw_only=True):
    """A good base for a game's state: *players* holds who sits where, kept by the default callbacks."""

    players: tuple[str | None, ...] = ()

    def player(self, seat: int) -> str | None:
        """Who has this seat, if anybody."""
        return self.players[seat] if seat < len(self.players) else None

    def seat(self, player: str | None) -> int | None:
        """Where this player sits, if anywhere."""
        return self.players.index(player) if player is not None and player in self.players else None


class Event(
    msgspec.Struct,
    metaclass=FrozenStruct,
    frozen=True,
    tag_field="type",
    tag=snake,
    forbid_unknown_fields=True,
):
    """The base of what players can do: ``class Mark(Event)`` is ``{"type": "mark", ...}`` on the wire."""


class Config(msgspec.Struct, metaclass=FrozenStruct, frozen=True, forbid_unknown_fields=True):
    """The base of a game's settings: every field has a default, the types make the form and the checks."""


OUT_OF_TIME = "out of time"
"""Why somebody has lost whose clock stands at zero."""
AWAY_TOO_LONG = "away too long"
"""Why somebody has lost who was away for longer than the room waits."""


class Outcome(msgspec.Struct, frozen=True, omit_defaults=True):
    """How a game ended: who won, who lost, who drew, and why in a few words."""

    won: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()
    drew: tuple[str, ...] = ()
    why: str = ""
    points: dict[str, float] = {}
    """What each player has won or lost, where that is more than a win or a loss."""


class Timeouts(msgspec.Struct, frozen=True):
    """After how many seconds a room gives up; None: never."""

    game: float | Literal["server"] | None = 300.0
    """Nobody joined and no player did anything; ``server``: as long as the server's settings say."""
    away: float | None = 120.0
    """A player's last connection is gone: then they have left."""
    nobody: float | None = 60.0
    """The last connected player is gone."""

    def __post_init__(self) -> None:
        for name in self.__struct_fields__:
            seconds = getattr(self, name)
            lasts = name == "game" and seconds == "server"
            if not lasts and seconds is not None and not 0 < seconds < math.inf:
                raise ValueError(f"timeout {name!r}: expected more than 0 seconds or None, got {seconds}")


class Send(msgspec.Struct, frozen=True, tag="send"):
    """Tell everyone who hears topic *to*; with kind ``sync`` each of them gets their whole view instead."""

    to: str
    payload: Any = None
    kind: Literal["game_event", "sync", "chat", "shutdown"] = "game_event"


class Later(msgspec.Struct, frozen=True, tag="later"):
    """Hand *event* to this game in so many seconds, then again *every* so many; the same key replaces."""

    key: str
    seconds: float
    event: Any
    every: float | None = None

    def __post_init__(self) -> None:
        soon = 0 <= self.seconds < math.inf
        often = self.every is None or 0 < self.every < math.inf
        if type(self.key) is not str or not (soon and often):
            raise ValueError(f"timer {self.key!r}: expected seconds >= 0 and every > 0, got {self}")
        make_float(self, "seconds", "every")


class Cancel(msgspec.Struct, frozen=True, tag="cancel"):
    """Take back the timer with this key, if there is one."""

    key: str


class End(msgspec.Struct, frozen=True, tag="end"):
    """End the room after so many seconds; with None an announced end is taken back."""

    after: float | None = 0.0

    def __post_init__(self) -> None:
        if self.after is not None and not 0 <= self.after < math.inf:
            raise ValueError(f"the end: expected 0 or more seconds or None, got {self.after}")
        make_float(self, "after")


Effect = Send | Later | Cancel | End


class Update(msgspec.Struct, Generic[S], frozen=True):
    """What a callback returns: the next state, and what it causes."""

    state: S
    effects: tuple[Effect, ...] = ()
    keeps_seat: bool = False
    """Returned by `leave_game`: whoever leaves gave something up, but not the seat."""


class Joined(msgspec.Struct, Generic[S], frozen=True):
    """Welcome: the topics to hear besides ``all`` and one's own, the seat (None: to watch), the update."""

    topics: tuple[str, ...]
    seat: int | None
    update: Update[S]


class Chance:
    """Luck that can be checked: draw k of step n is HMAC-SHA256(seed, "n:k"), taken without bias.

    >>> Chance(bytes(32), step=7).below(6) == Chance(bytes(32), step=7).below(6)
    True
    """

    __slots__ = ("_count", "_seed", "_step", "draws", "sizes")

    def __init__(self, seed: bytes, step: int) -> None:
        self._seed = seed
        self._step = step
        self._count = 0
        self.draws: list[int] = []
        self.sizes: list[int] = []
        """From how many possibilities each was drawn."""

    def below(self, n: int) -> int:
        """A whole number from 0 to n - 1, each as likely as the others."""
        if not 0 < n <= 1 << 63:
            raise ValueError(f"expected 1 to 2^63 possibilities, got {n}")
        fair = (1 << 64) - (1 << 64) % n
        while (number := self._next()) >= fair:
            pass  # numbers above the last whole multiple of n would favour the low ones
        self.draws.append(number % n)
        self.sizes.append(n)
        return number % n

    def choice(self, things: Sequence[T]) -> T:
        """One of them."""
        return things[self.below(len(things))]

    def sample(self, things: Sequence[T], count: int) -> list[T]:
        """So many different ones of them, in random order."""
        pool = list(things)
        for i in range(count):
            j = i + self.below(len(pool) - i)
            pool[i], pool[j] = pool[j], pool[i]
        return pool[:count]

    def shuffle(self, things: Sequence[T]) -> list[T]:
        """All of them, in random order."""
        return self.sample(things, len(things))

    def die(self, sides: int = 6) -> int:
        """1 to *sides*."""
        return 1 + self.below(sides)

    def _next(self) -> int:
        message = f"{self._step}:{self._count}".encode()
        self._count += 1
        return int.from_bytes(hmac.digest(self._seed, message, "sha256")[:8], "big")


class Moment(msgspec.Struct, frozen=True):
    """What the world hands to a callback: time, chance, and who sits where."""

    now: float
    """The room's clock in seconds: it stands still while the server is down."""
    date: float
    """Wall time in seconds since 1970, for display only."""
    chance: Chance
    seats: tuple[str | None, ...] = ()
    rules: int | None = None
    """While a kept step is played again: the version that made it. None: it happens now."""
    kept: tuple[Effect, ...] = ()
    """While a kept step is played again: what it caused."""
    clock: ClockSettings | None = None
    """How much time the players of this room have; None: they have no clocks."""


class Game(Generic[S]):
    """The rules of a game. Only `init` is required; every other callback has a sensible default."""

    name: str
    """How programs call it: lower case, unique on a server."""
    display_name: str
    seats: range
    """How many can play: ``range(2, 3)`` is exactly two, ``range(1, 5)`` one to four."""
    version: int = 1
    """Of the rules; raise it when an old history would play differently."""
    timeouts: Timeouts = Timeouts()
    spectators: int | None = None
    """How many may watch at once; None: as many as come."""
    offers: Collection[str] = ()
    """What the room lets its players do: resign (two players), offer a draw, ask for a move back, pause."""
    rules: str = ""
    """How it is played, as Markdown; if empty, the file beside the game's own: ``name.md``."""
    first_move: str = ""
    """What somebody does first who has never played it: a sentence beside the board of their first game."""
    preview_moves: int = 5
    """After so many moves by chance its little board is drawn: more, where a game begins out of sight."""
    lucky: bool = False
    """Its rules draw by chance: browsers add random bytes to it before the first draw."""
    bots: Mapping[str, Bot] = {}
    """Who else can play, by name; the last is the best. A bot that does anything legal is always there."""

    set_up: SetUp = SetUp()
    """The settings in words, for whoever sets a game up."""

    State: Any
    Event: Any = Any
    """What players may send: an `Event` or a union of them."""
    Timer: Any = None
    """What only the game's own timers may send; None: the same as Event."""
    Config: Any = Config

    def seats_for(self, config: Any) -> range:
        """How many can play with this config, within `seats`: for games whose tables are set for so many."""
        return self.seats

    def has_draws(self, config: Any) -> bool:
        """Whether a game for two with this config can end in a draw; ranked players see what one is worth."""
        return True

    def init(self, config: Any, moment: Moment) -> S:
        """The state at the start; raise `Refused` when the config makes no sense."""
        raise NotImplementedError(f"{type(self).__name__} has no init")

    def join_game(self, state: S, player: str, spectate: bool, moment: Moment) -> Joined[S]:  # noqa: FBT001
        """Give a seat while there is one; otherwise people may come to watch."""
        if spectate:
            return Joined((), None, Update(state))
        if None not in moment.seats:
            raise Refused(Code.GAME_FULL, "every seat is taken; you can watch")
        seat = moment.seats.index(None)
        return Joined((), seat, Update(_seated(state, moment.seats, seat, player)))

    def leave_game(self, state: S, player: str, why: str, moment: Moment) -> Update[S]:
        """Somebody wants to go (``manual``) or was gone for too long (``away_too_long``): their seat is free.

        Unless the update says ``keeps_seat``: then nobody else can have it, and they may come back.
        """
        if player not in moment.seats:
            return Update(state)
        return Update(_seated(state, moment.seats, moment.seats.index(player), None))

    def player_connected(self, state: S, player: str, moment: Moment) -> Update[S]:
        """A seated player's first connection is there; Parlour sends them their view by itself."""
        return Update(state)

    def player_disconnected(self, state: S, player: str, moment: Moment) -> Update[S]:
        """A seated player's last connection is gone; they have not left."""
        return Update(state)

    def handle_event(self, state: S, sender: str, event: Any, moment: Moment) -> Update[S]:
        """A player did something, or (sender `GAME`) a timer rang; raise `Refused` to say no."""
        raise Refused(Code.UNKNOWN_EVENT, f"{self.display_name} knows no events")

    def handle_verdict(self, state: S, outcome: Outcome, moment: Moment) -> Update[S]:
        """The room has ended the game so, because somebody resigned or all agreed; show what was hidden."""
        return Update(state)

    def to_move(self, state: S) -> Collection[str] | None:
        """The players whose clocks run now; None: those who have legal events."""
        return None

    def turn_id(self, state: S) -> object:
        """Something that changes with each turn, where a player can have two in a row: each has its time."""
        return None

    def handle_flag(self, state: S, player: str, moment: Moment) -> Update[S] | None:
        """A player's time is over and begins again; None: they have lost the game."""
        return None

    def take_clock(self, config: Any) -> tuple[Any, ClockSettings | None]:
        """A clock that used to be a setting of this game: the config without it, and the room's clock."""
        return config, None

    def handle_game_shutdown(self, state: S, moment: Moment) -> Update[S]:
        """The room is about to end, whatever this returns."""
        return Update(state)

    def view(self, state: S, viewer: str | None) -> Any:
        """All that this viewer may know; the only door for secrets. The default hides nothing."""
        return state

    def scene(self, state: S, viewer: str | None) -> Scene:
        """What this viewer's browser draws, and no more than they may know. The default needs no board."""
        legal = () if viewer is None else self.legal_events(state, viewer)
        some = None if legal is None else tuple(legal)
        players, outcome = tuple(getattr(state, "players", ())), self.outcome(state)
        view = msgspec.to_builtins(self.view(state, viewer))
        if outcome is not None:
            status = f"It is over: {outcome.why}" if outcome.why else "It is over"
            return plain(view, kinds_of(self.Event), some, status, players)
        turn = turn_in(view, players)
        if not turn and type(self).view is Game.view:  # nothing is hidden: what others can do is no secret
            acting = (bool(player and self.legal_events(state, player)) for player in players)
            turn = tuple(seat for seat, acts in enumerate(acting) if acts)
        mine = players.index(viewer) if viewer in players else None
        status = turn_status(turn, mine, can_act=None if some is None else bool(some))
        return plain(view, kinds_of(self.Event), some, status, players, turn)

    def diagram(self, text: str) -> Scene:
        """A board in the rules page; by default *text* is a state as JSON, seen by somebody who watches."""
        return self.scene(msgspec.json.decode(text, type=self.State), None)

    def legal_events(self, state: S, player: str) -> Iterable[Any] | None:
        """What this player could do now; None when the game does not say."""
        return None

    def outcome(self, state: S) -> Outcome | None:
        """How it ended, or None while it goes on."""
        return None

    def match_score(self, state: S) -> tuple[int, ...]:
        """The points of each seat in a match, which everybody may know; lists of rooms show them."""
        return ()

    def observe(self, state: S, viewer: str | None) -> Mapping[str, Sequence[float]] | None:
        """The view as numbers from -1 to 1, always equally many, for programs that learn; None: not given."""
        return None

    def actions(self, config: Any) -> Sequence[Any] | None:
        """Every event that `legal_events` can list under this config; None: as the types of events say."""
        return None

    def resample(self, state: S, viewer: str | None, chance: Chance) -> S:
        """Another state that this viewer cannot tell from this one; games with secrets say which."""
        return state

    def checked(self) -> "Game[S]":
        """This game, or a refusal that says what is wrong in its declaration; its path is the name."""
        for wanted in ("name", "display_name", "seats", "State"):
            if not hasattr(self, wanted):
                why = f"{type(self).__name__}: expected a {wanted}, got none"
                raise Refused(Code.GAME_ERROR, why, path=wanted)
        if not _NAME.fullmatch(str(self.name)):
            why = f"expected a name of a-z, 0-9 and _, got {self.name!r}"
            raise Refused(Code.GAME_ERROR, why, path="name")
        seats: Any = self.seats
        if not (isinstance(seats, range) and seats and seats.start >= 1 and seats.step == 1):
            raise self._wrong("seats", "seats like range(2, 3)", seats)
        if type(self).init is Game.init:
            raise self._wrong("init", "an init callback", "none")
        self._check_types()
        self._check_offers()
        for callback in CALLBACKS:
            self._check_callback(callback)
        try:
            self.read_config({})
        except Refused as why:
            raise self._wrong("Config", "a config with a default for every field", why.message) from None
        check_set_up(self.set_up, self.Config, self.read_config)
        return self

    def _wrong(self, name: str, expected: str, got: object) -> Refused:
        """What is wrong with something that this game declares."""
        return Refused(Code.GAME_ERROR, f"{self.name}: expected {expected}, got {got}", path=name)

    def _check_types(self) -> None:
        """What is declared is of the kind that Parlour can use."""
        if not isinstance(self.State, type):
            raise self._wrong("State", "State to be a class", repr(self.State))
        if not isinstance(self.timeouts, Timeouts):
            raise self._wrong("timeouts", "timeouts like Timeouts(away=60)", repr(self.timeouts))
        if not isinstance(self.first_move, str):
            raise self._wrong("first_move", "first_move to be a sentence", repr(self.first_move))
        moves: Any = self.preview_moves
        if not isinstance(moves, int) or moves < 0:
            raise self._wrong("preview_moves", "preview_moves of 0 or more", repr(moves))
        bots: Any = self.bots
        if not isinstance(bots, Mapping) or not all(map(callable, bots.values())):
            raise self._wrong("bots", "bots like {'easy': a_function}", repr(bots))
        for name, kind in (("Event", self.Event), ("Timer", self.Timer), ("State", self.State)):
            try:
                msgspec.json.Decoder(kind)
            except TypeError as error:
                raise self._wrong(name, f"{name} to have types that JSON can hold", error) from None

    def _check_offers(self) -> None:
        """What players can offer each other are things that a room knows."""
        if strange := set(self.offers) - OFFERS:
            known, got = ", ".join(sorted(OFFERS)), ", ".join(sorted(map(str, strange)))
            raise self._wrong("offers", f"offers of {known}", got)
        if "resign" in self.offers and self.seats != range(2, 3):
            raise self._wrong("offers", "two seats where one can resign", self.seats)

    def _check_callback(self, name: str) -> None:
        """A callback can be called with what it is handed."""
        wanted = list(inspect.signature(getattr(Game, name)).parameters)[1:]
        own = getattr(self, name)
        try:
            inspect.signature(own).bind(*wanted)
        except TypeError:
            got = ", ".join(inspect.signature(own).parameters)
            raise self._wrong(name, f"{name}({', '.join(wanted)})", f"{name}({got})") from None

    def read_config(self, config: Any) -> Any:
        """A config as it came from outside, checked."""

        def convert(value: Any) -> Any:
            return msgspec.convert(value, self.Config)

        return parse(convert, config, code=Code.INVALID_CONFIG, under="$.config")

    def read_event(self, event: bytes | msgspec.Raw) -> Any:
        """A player's event as it came from outside, checked."""
        try:
            return self._events.decode(event)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return self._explain(event)

    def _explain(self, event: bytes | msgspec.Raw) -> Any:
        """Refuse an event that cannot be read, with what was expected instead."""
        try:
            return parse(self._events.decode, event)
        except Refused as why:
            if why.path != "$.type":
                raise
            known, got = " or ".join(_tags(self.Event)), why.message.rpartition(" ")[2]
            message = f"$.type: expected {known}, got {got}"
            raise Refused(Code.UNKNOWN_EVENT, message, path=why.path) from None

    def read_timer(self, event: bytes | msgspec.Raw) -> Any:
        """The event of one of this game's own timers."""
        return parse(self._timers.decode, event)

    @cached_property
    def _events(self) -> "msgspec.json.Decoder[Any]":
        return msgspec.json.Decoder(self.Event)

    @cached_property
    def _timers(self) -> "msgspec.json.Decoder[Any]":
        return msgspec.json.Decoder(self.Event if self.Timer is None else self.Timer)


OFFERS = frozenset({"resign", "draw", "takeback", "pause"})
"""What a room can let the players of a game do."""

CALLBACKS = (
    "seats_for",
    "has_draws",
    "init",
    "join_game",
    "leave_game",
    "player_connected",
    "player_disconnected",
    "handle_event",
    "handle_verdict",
    "to_move",
    "turn_id",
    "handle_flag",
    "take_clock",
    "handle_game_shutdown",
    "view",
    "scene",
    "diagram",
    "legal_events",
    "outcome",
    "match_score",
    "observe",
    "actions",
    "resample",
)
"""What the platform calls, and so must be able to call."""


def kinds_of(events: Any) -> list[Any]:
    """The classes of a union of events, or the one."""
    return [kind for kind in get_args(events) or (events,) if hasattr(kind, "__struct_config__")]


def _tags(events: Any) -> list[str]:
    """What events are called on the wire."""
    return [str(kind.__struct_config__.tag) for kind in kinds_of(events)]


def _seated(state: S, seats: tuple[str | None, ...], seat: int, player: str | None) -> S:
    """The state with *player* in that seat, where it keeps track of seats at all."""
    if not isinstance(state, State):
        return state
    return msgspec.structs.replace(state, players=(*seats[:seat], player, *seats[seat + 1 :]))
