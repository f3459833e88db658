"""The bodies of the HTTP calls: what they take and what they give."""

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from parlour.bots import bots_of
from parlour.clocks import ClockSettings
from parlour.game import Game
from parlour.ratings import Standing
from parlour.room import has_turns
from parlour.sanitize import MAX_NAME, ROOM_ID
from parlour.scene import Scene
from parlour.server.endpoint_records import EndpointKind, Failure
from parlour.server.result_records import GameResult, RatingPoint
from parlour.server.rooms.summary import Waits
from parlour.set_up import SetUp
from parlour.wire import Watching

WHO_WATCHES = "anyone, whoever has the link (it is listed only while it waits for players), or nobody"


Name = Annotated[
    str,
    Meta(
        description="what others see: no control, bidirectional or zero-width characters",
        examples=["Ann"],
        extra_json_schema={"minLength": 1, "maxLength": MAX_NAME},
    ),
]


class NewPlayer(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A guest, with a name if they want one."""

    name: Name | None = None
    bot: Annotated[
        bool | None, Meta(description="true: a program plays, for ever; only before the first game")
    ] = None


class KnownPlayer(msgspec.Struct, frozen=True):
    """A player and the token that proves who they are."""

    id: str
    name: str
    token: str
    account: bool
    """False for a guest."""
    bot: bool
    """A program plays: it is marked as a bot everywhere."""


class NewAccount(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An account for the guest who asks, under their name or another one."""

    name: Name | None = None


Credential = Annotated[
    dict[str, Any], Meta(description="what the browser's own API gives, by its `toJSON()`")
]


class NewAccountBy(NewAccount, frozen=True, forbid_unknown_fields=True):
    """An account, with a passkey if one was made for it."""

    passkey: Credential | None = None
    code: Annotated[str, Meta(description="a recovery code that the client made", max_length=200)] | None = (
        None
    )


class NewPasskey(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A passkey to add to an account."""

    passkey: Credential


class PublicKeyOptions(msgspec.Struct, frozen=True, rename="camel"):
    """What the browser's own API is asked for a passkey, as JSON; good for one answer within five minutes."""

    public_key: dict[str, Any]


class OpenedAccount(KnownPlayer, frozen=True):
    """A new account, and the code that signs it in on other devices: it is shown once."""

    code: str


class RecoveryCode(msgspec.Struct, frozen=True):
    """A code that signs an account in on other devices: it is shown once."""

    code: str


class SignIn(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Somebody who shows that an account is theirs, by one of these."""

    code: Annotated[str, Meta(description="the account's recovery code", max_length=200)] | None = None
    link: Annotated[str, Meta(description="the secret of a link to sign in", max_length=200)] | None = None
    passkey: Credential | None = None


class SignInLink(msgspec.Struct, frozen=True):
    """A link that signs one device in, once."""

    path: str
    """Where it leads on this server; the secret is behind the `#`, which browsers send to nobody."""
    lasts: float
    """Seconds."""


class Done(msgspec.Struct, frozen=True):
    """What was asked is done."""

    done: bool = True


class SignedInDevice(msgspec.Struct, frozen=True):
    """A device on which an account is signed in."""

    number: int
    name: str
    since: float
    seen: float
    """When it was signed in and when it was last used, as wall time."""
    here: bool
    """It is the one that asks."""


class MyPasskey(msgspec.Struct, frozen=True):
    """A passkey of an account."""

    id: str
    name: str
    """The browser and system where it was made."""
    domain: str
    """The name of the site where browsers use it."""
    since: float
    used: float
    """When it was made and when it was last used, as wall time."""


class MyAccount(msgspec.Struct, frozen=True):
    """Who I am, and on which devices I am signed in; a guest has none."""

    id: str
    name: str
    since: float | None
    """When the account was made, as wall time; None for a guest."""
    devices: list[SignedInDevice]
    passkeys: list[MyPasskey] | None
    """None where the server has none: `parlour[accounts]` is not installed."""


class NewRoom(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A room to open."""

    game: Annotated[str, Meta(description="as GET /api/games lists it", examples=["tictactoe"])]
    config: Annotated[dict[str, Any], Meta(description="by the game's config_schema")] = {}
    id: Annotated[str, Meta(extra_json_schema={"pattern": f"^{ROOM_ID.pattern}$"})] | None = None
    private: bool = False
    listed: Annotated[bool, Meta(description="false: it is in no list, but keeps a short id")] = True
    watching: Annotated[Watching, Meta(description=WHO_WATCHES)] = "anyone"
    apart: Annotated[bool, Meta(description="players and spectators talk apart")] = False
    clock: Annotated[ClockSettings | None, Meta(description="how much time players have")] = None


class NamedRoom(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A room under a name of one's own: the running one, or a new one."""

    game: Annotated[str, Meta(description="as GET /api/games lists it", examples=["tictactoe"])]
    config: Annotated[dict[str, Any], Meta(description="of a new room, by the game's config_schema")] = {}
    private: bool = False
    listed: Annotated[bool, Meta(description="of a new room; false: it is in no list")] = True
    watching: Annotated[Watching, Meta(description=f"of a new room: {WHO_WATCHES}")] = "anyone"
    apart: Annotated[bool, Meta(description="of a new room: players and spectators talk apart")] = False
    clock: Annotated[ClockSettings | None, Meta(description="of a new room: how much time players have")] = (
        None
    )


class Spelling(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How exactly an id must match."""

    any_case: Annotated[
        bool, Meta(description="where no room has this id, the only open one that differs in capitals")
    ] = False


class Again(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A wish for another game."""

    id: Annotated[str, Meta(description="makes it safe to ask twice")] | None = None


class Stepped(msgspec.Struct, frozen=True):
    """Done, and kept as this step."""

    seq: int


class NewBot(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A bot that is to play."""

    bot: (
        Annotated[str, Meta(description="one of the game's bots; its best without", examples=["random"])]
        | None
    ) = None


class NewInvitation(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A bot that plays over the network, and the room to which it is invited."""

    room: str
    bot: Annotated[str, Meta(description="the bot's id")]


class GameWanted(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which game."""

    game: str
    variant: Annotated[str, Meta(description="of a game whose config has one")] | None = None


class Ladder(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which leaderboard."""

    game: str
    variant: Annotated[str, Meta(description="of a game whose config has one")] | None = None
    bots: Annotated[bool, Meta(description="the ladder of bots that play over the network")] = False
    limit: Annotated[int, Meta(ge=1, le=100)] = 20


class Leader(Standing, frozen=True, omit_defaults=True):
    """A standing on a leaderboard."""

    guest: bool = False
    """Of a person without an account, so it is provisional: others may have the same name."""


class PublicPlayer(msgspec.Struct, frozen=True):
    """A player as anybody may see them: where they stand, and their last games."""

    id: str
    name: str
    bot: bool
    guest: bool
    """A person without an account: others may have the same name."""
    standings: list[Standing]
    results: list[GameResult]
    ratings: list[RatingPoint]
    """How the ratings have changed, the oldest first."""


class PublicGame(msgspec.Struct, frozen=True):
    """A game that can be played here."""

    name: str
    display_name: str
    seats: tuple[int, int]
    spectators: int | None
    version: int
    config_schema: dict[str, Any]
    set_up: SetUp
    """The settings in words, as far as the game says any."""
    bots: list[str]
    """Who can play it, the best last."""
    timeouts: Waits
    first_move: str
    """What somebody does first who has never played it; may be empty."""
    lucky: bool
    """Its rules draw by chance."""
    offers: list[str]
    clocks: bool
    """Whether its players can have clocks."""
    """What its players can do in every room: resign, offer a draw, ask for a move back, pause."""


Address = Annotated[str, Meta(max_length=2000, examples=["https://example.org/turns"])]


class MyEndpoint(msgspec.Struct, frozen=True):
    """A place where I am told that it is my turn."""

    id: str
    kind: EndpointKind
    url: str
    name: str
    """Of a browser: what it says of itself."""
    since: float
    failure: Failure | None
    """Why the last message did not arrive; None if it did. After `gone` no more are sent there."""


class NewWebhook(MyEndpoint, frozen=True):
    """A webhook that was just added."""

    secret: str
    """What signs its messages; it is shown this once."""


class MyNotifications(msgspec.Struct, frozen=True):
    """Where I am told that it is my turn."""

    push_key: str | None
    """What a browser subscribes with (`applicationServerKey`); None where the server cannot push."""
    endpoints: list[MyEndpoint]


class BrowserKeys(msgspec.Struct, frozen=True):
    """The keys with which messages to a browser are encrypted."""

    p256dh: Annotated[str, Meta(max_length=200)]
    auth: Annotated[str, Meta(max_length=100)]


class BrowserSubscription(msgspec.Struct, frozen=True):
    """A subscription of a browser for web push, as its `toJSON()` gives it."""

    endpoint: Address
    keys: BrowserKeys


class WebhookWanted(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An address that is to be told."""

    url: Address


class Preview(msgspec.Struct, frozen=True):
    """A little board of a game to look at, after some moves at random."""

    scene: Scene | None
    """None for a game that fails on it, or whose board is too large to be shown small."""


class PreviewWanted(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which board of a game."""

    choice: (
        Annotated[str, Meta(description="of a game whose settings have cards: the board of this one")] | None
    ) = None


class PublicServer(msgspec.Struct, frozen=True):
    """This server, as its pages and clients need to know it."""

    version: str
    address: (
        Annotated[str, Meta(description="what links to it begin with", examples=["http://192.168.1.7:8000"])]
        | None
    )
    """None where the server does not know: then it is the address by which it was reached."""


class Health(msgspec.Struct, frozen=True, omit_defaults=True):
    """Whether the server can do its work."""

    status: Literal["ok", "degraded"]
    version: str
    reason: str | None = None


def public_game(game: Game[Any], waits: Waits) -> PublicGame:
    """A game, as anybody may see it."""
    return PublicGame(
        name=game.name,
        display_name=game.display_name,
        seats=(game.seats.start, game.seats.stop - 1),
        spectators=game.spectators,
        version=game.version,
        config_schema=msgspec.json.schema(game.Config),
        set_up=game.set_up,
        bots=list(bots_of(game)),
        timeouts=waits,
        offers=list(game.offers),
        first_move=game.first_move,
        clocks=has_turns(game),
        lucky=game.lucky,
    )
