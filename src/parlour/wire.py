"""What goes in and out of a room: commands in, steps kept, pushes out; and the contract of an adapter."""

import hashlib
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, Literal, NamedTuple, NotRequired, Protocol, TypedDict

import msgspec
from msgspec import UNSET, UnsetType

from parlour.clocks import Claim, ClaimWin, Clocks, ClockSettings, Flag, SetClock
from parlour.errors import Refused
from parlour.game import Effect, Outcome
from parlour.luck import AddedLuck, AddLuck, LuckyBytes, SendLuck
from parlour.offers import Answer, AnswerOffer, GiveUpGame, MakeOffer, Offer, Offers, Resign
from parlour.scene import Patch, Scene

# Commands: what somebody asks of a room. They are journaled, so their names and fields last.


class Join(msgspec.Struct, frozen=True, tag_field="do", tag="join", omit_defaults=True):
    """Take a seat."""

    player: str
    name: str
    bot: bool = False
    """A bot of this server, which is connected from now on."""
    remote: bool = False  # a bot that plays over the network, and comes and goes like a person
    luck: LuckyBytes | None = None
    """Random bytes for the seed, where nothing was drawn from it yet: a game may draw as soon as they sit."""
    account: bool = False
    """Of somebody with an account, whose name nobody else has; else a guest, or a bot."""


class Connect(msgspec.Struct, frozen=True, tag_field="do", tag="connect"):
    """A seated player's first connection is there."""

    player: str


class Disconnect(msgspec.Struct, frozen=True, tag_field="do", tag="disconnect"):
    """A seated player's last connection is gone."""

    player: str


class Act(msgspec.Struct, frozen=True, tag_field="do", tag="act", omit_defaults=True):
    """A player's move, as JSON that the game's own types read."""

    player: str
    event: msgspec.Raw
    lag: float = 0.0
    """Seconds that it was on its way, as the gateway measured it, where the player has a clock."""
    stand_in: bool = False
    """A bot made it for the player, whose time is over."""


class Chat(msgspec.Struct, frozen=True, tag_field="do", tag="chat", omit_defaults=True):
    """Say something to everyone in the room."""

    player: str
    name: str
    text: str
    account: bool = False


class Rename(msgspec.Struct, frozen=True, tag_field="do", tag="rename", omit_defaults=True):
    """Call a seated player otherwise from now on: their account has a new name, is new, or is deleted."""

    player: str
    name: str
    account: bool = False


class Leave(msgspec.Struct, frozen=True, tag_field="do", tag="leave"):
    """Give the seat up, or lose it by being away for too long."""

    player: str
    why: Literal["manual", "away_too_long"] = "manual"
    loses: bool | UnsetType = UNSET
    """The game is lost by it and the seat kept, unless its rules say otherwise: ranked, or with clocks."""


class Rematch(msgspec.Struct, frozen=True, tag_field="do", tag="rematch"):
    """Ask for another game; it begins when every seat has asked."""

    player: str


class Ring(msgspec.Struct, frozen=True, tag_field="do", tag="ring"):
    """A timer that the game set is due."""

    key: str
    event: msgspec.Raw
    every: float | None = None


class Hold(msgspec.Struct, frozen=True, tag_field="do", tag="hold"):
    """The room's clock stood still for so long, because its game was not there."""

    seconds: float


class Shutdown(msgspec.Struct, frozen=True, tag_field="do", tag="shutdown"):
    """The room ends."""

    reason: str


Watching = Literal["anyone", "link", "nobody"]
"""Who may watch a room: anyone who finds it in the list, whoever has the link, or nobody without a seat."""

Command = (
    Join | Connect | Disconnect | Act | Chat | Rename | Leave | Rematch | Offer
    | Answer | Resign | Claim | AddLuck | Flag | Ring | Hold | SetClock | Shutdown
)  # fmt: skip


def asker(command: Command) -> str | None:
    """The player who asked, if it was one."""
    player: str | None = getattr(command, "player", None)
    return player


class Step(msgspec.Struct, frozen=True, omit_defaults=True, dict=True):
    """One numbered change of a room, with all that is needed to play it again."""

    seq: int
    now: float
    date: float
    rules: int
    """The version of the rules that made it."""
    command: Command
    before: bytes
    """The digest of the step before."""
    id: str | None = None
    """The command's own id, which makes it safe to send twice."""
    draws: tuple[int, ...] = ()
    effects: tuple[Effect, ...] = ()
    seed: bytes | None = None
    """The fresh seed, where this step brought the outcome and so showed the old one."""
    spared: bool = False
    """The game failed on it, so only the room's own part was done."""

    @cached_property
    def body(self) -> bytes:
        """The step as a journal keeps it; made once."""
        return _encode(self)

    @cached_property
    def digest(self) -> bytes:
        """What the next step says came before it; made once."""
        return hashlib.sha256(self.body).digest()


def digest(body: bytes) -> bytes:
    """The fingerprint of a kept step."""
    return hashlib.sha256(body).digest()


_encode = msgspec.json.Encoder().encode
read_step = msgspec.json.Decoder(Step).decode


class RevealedSeed(msgspec.Struct, frozen=True, omit_defaults=True):
    """A seed that an outcome made public, and the steps that drew from it."""

    first: int
    last: int
    seed: bytes
    added: tuple[AddedLuck, ...] = ()
    """What players added to it."""


# Requests: what a client asks through an adapter. `ref` is the adapter's own note of whom to answer.


class Enter(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Come into a room, or come back to it with the seq of the last update that was seen."""

    since: int | None = None
    format: Literal["view", "scene", "text"] = "view"
    spectate: bool = False
    luck: LuckyBytes | None = None  # goes into the seed with the seat that is taken
    legal: bool = False  # tell a seated player what is legal, too
    plays: tuple[str, ...] | None = None  # at the lobby: games to which a bot can be invited; empty: all


class EnterByDoor(Enter, frozen=True, kw_only=True):
    """Come into a room of one game by a door, under a name; it is opened first where there is none."""

    game: str
    config: Any = None
    name: str | None = None
    opens: bool = True
    seat: Literal["if_free", "needed", "own"] = "if_free"
    """Whoever finds no seat free watches, or is refused where one is needed; or comes only for their own."""


class Exit(msgspec.Struct, frozen=True):
    """Stop hearing a room (a seat is kept)."""


class SendEvent(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Play; with the seq of what the player saw, only if nothing that they see has changed since."""

    event: msgspec.Raw
    id: str | None = None
    seq: int | None = None


class SendChat(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Say something."""

    text: str
    id: str | None = None


class GiveUpSeat(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Leave the game for good."""

    id: str | None = None


class PlayAgain(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Ask for a rematch."""

    id: str | None = None


class LookFirst(msgspec.Struct, frozen=True):
    """Let the door look at what its client sees, and decide what to do; see `DoorAdapter.decide`."""

    asked: Any = None
    """The door's own note of what was asked."""
    id: str | None = None


class Queue(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """At the lobby: take a ticket."""

    game: str
    config: dict[str, Any] = {}
    mode: Literal["normal", "ranked", "bot"] = "normal"
    bot: str | None = None
    """Who the opponent should be, in mode ``bot``; the game's best without."""
    clock: ClockSettings | None = None
    """How much time players have; whoever wants another clock, or none, is in another queue."""
    brings_luck: bool = False
    """Sit down on arrival, with random bytes, and not before: the game begins when all have come."""


class Unqueue(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """At the lobby: give a ticket back."""

    ticket: str


LobbyWish = Queue | Unqueue

OfferWish = MakeOffer | AnswerOffer | GiveUpGame | ClaimWin

Wish = SendEvent | SendChat | GiveUpSeat | PlayAgain | OfferWish | SendLuck | LookFirst


def command_of(player: str, wish: Wish) -> Command:  # noqa: C901, PLR0911 - a table of all wishes
    """What a wish asks of a room; who says something has their name there."""
    match wish:
        case SendEvent():
            return Act(player, wish.event)
        case SendChat():
            return Chat(player, "", wish.text)
        case GiveUpSeat():
            return Leave(player)
        case PlayAgain():
            return Rematch(player)
        case MakeOffer():
            return Offer(player, wish.what)
        case AnswerOffer():
            return Answer(player, wish.what, wish.accept)
        case GiveUpGame():
            return Resign(player)
        case ClaimWin():
            return Claim(player)
        case SendLuck():
            return AddLuck(player, wish.luck)
        case LookFirst():
            raise AssertionError("a door decides what this is")


class Request(msgspec.Struct, frozen=True):
    """One thing that a client asks; `room` is None for the lobby."""

    room: str | None
    wish: Enter | Exit | Wish | LobbyWish
    ref: Any = None
    via: "Adapter | None" = None
    """The adapter of a door inside the one that read this: the answer goes out through it."""


class Push(msgspec.Struct, frozen=True):
    """One thing told to clients without being asked, by the name and payload of the native socket."""

    name: str
    payload: Any


# What is told on the native socket, by the names of the pushes: the shapes of their payloads.


class Result(msgspec.Struct, frozen=True, omit_defaults=True):
    """How a game ended, and the seed that proves its luck; the hash is that of the seed now in use."""

    outcome: Outcome
    seed: str
    seed_hash: str
    verdict: Literal["resigned", "agreed", "flagged"] | None = None
    """How the room decided the game, where that was not for its rules to say."""
    added: tuple[AddedLuck, ...] = ()
    """The random bytes that players added to the seed, in order."""


class Sync(TypedDict):
    """Everything that a viewer may know: a view, in format ``text`` as text; in ``scene`` a scene."""

    seq: int
    view: NotRequired[Any]
    scene: NotRequired[Scene]
    now: NotRequired[float]
    result: NotRequired[Result]
    offers: NotRequired[Offers]
    clocks: NotRequired[Clocks]
    """The players' clocks, where the room has some; times are those of ``now``."""
    legal: NotRequired[list[Any] | None]
    """What this player could do now, for whoever joined with ``legal``; None: the game does not list it."""
    reset: NotRequired[bool]
    fault: NotRequired[str]
    """Why the saved rules could not be loaded (``--reload``): the old ones go on."""


class Updated(TypedDict):
    """The end of a step: what changed for this viewer."""

    seq: int
    view: NotRequired[Any]
    patch: NotRequired[Patch]
    legal: NotRequired[list[Any] | None]
    result: NotRequired[Result | None]
    offers: NotRequired[Offers]
    clocks: NotRequired[Clocks]
    now: NotRequired[float]
    """The room's clock, where a pause ended or the players' clocks changed."""


class GameEvent(TypedDict):
    """Something that the game tells."""

    seq: int
    payload: Any


_From = TypedDict("_From", {"from": str})


class ChatLine(_From):
    """Somebody said something."""

    seq: int
    name: str
    text: str
    at: float
    account: NotRequired[bool]


class Closing(TypedDict):
    """The room is over."""

    reason: str


class JoinAnswer(TypedDict):
    """The answer to a join."""

    player: str
    game: str
    seq: int
    seat: int | None
    token: NotRequired[str]


class Meta(TypedDict):
    """One connection of somebody who is here; or, under ``spectators``, how many watch."""

    phx_ref: str
    phx_ref_prev: NotRequired[str]
    name: NotRequired[str]
    seat: NotRequired[int]
    again: NotRequired[bool]
    bot: NotRequired[bool]
    account: NotRequired[bool]
    count: NotRequired[int]


class Here(TypedDict):
    """Everything that is known of one key of the presence."""

    metas: list[Meta]


class PresenceDiff(TypedDict):
    """Who came and who went, as Phoenix tells it."""

    joins: dict[str, Here]
    leaves: dict[str, Here]


PUSHES: dict[str, Any] = {
    "sync": Sync,
    "update": Updated,
    "game_event": GameEvent,
    "chat": ChatLine,
    "shutdown": Closing,
    "presence_state": dict[str, Here],
    "presence_diff": PresenceDiff,
}
"""What is told in a room, by name."""


class Greeting(msgspec.Struct, frozen=True):
    """What a client said about itself when it knocked."""

    token: str | None = None
    subprotocol: str | None = None


class Adapter(Protocol):
    """One connection's side of a wire protocol, without I/O: frames in, requests out, answers to frames."""

    name: str
    path: str
    """Where its clients knock."""
    personal: bool
    """What it encodes depends on what this client was told before, so that nothing is shared with others."""
    shows: bool
    """It is a door's, and shows views in a way of its own: see `DoorAdapter`."""

    @staticmethod
    def greet(query: Mapping[str, str], subprotocols: Sequence[str]) -> Greeting:
        """Read the opening request; `Refused` keeps the client out."""
        ...

    def receive(self, frame: str | bytes) -> list[Request]:
        """What this frame asks; `Refused` when it is beyond understanding, and the connection ends."""
        ...

    def accept(self, request: Request, payload: Any) -> None:
        """Answer a request with yes."""
        ...

    def refuse(self, request: Request, why: Refused) -> None:
        """Answer a request with no."""
        ...

    def dismiss(self, room: str | None) -> None:
        """Tell the client that this room is closed to it now."""
        ...

    def frames(self) -> list[bytes]:
        """The text frames that wait to be sent to this client."""
        ...

    def encode(self, room: str | None, push: Push) -> bytes:
        """The text frame of a push; static unless personal: the same bytes serve all of this protocol."""
        ...

    def encode_own(self, room: str | None, push: Push, ref: Any = None) -> bytes:
        """The text frame of a push for this client alone; *ref* is of the request that it came in with."""
        ...


class Sitter(NamedTuple):
    """Who sits in a seat, and their name."""

    player: str
    name: str


class Company(msgspec.Struct, frozen=True):
    """Who plays in a room, and how they were found: what a door shows beside a view."""

    seats: tuple[Sitter | None, ...]
    mode: Literal["normal", "ranked", "bot"] = "normal"


class DoorAdapter(Adapter, Protocol):
    """The adapter of a door, whose clients see a game in another server's shapes."""

    def show(self, room: str, view: Any, company: Company) -> Any:
        """What clients are shown of a view; *company* says who plays. Static unless personal."""
        ...

    def decide(self, request: Request, view: Any) -> SendEvent | None:
        """What to do about a `LookFirst`, now that its client sees this; None: nothing but an answer."""
        ...
