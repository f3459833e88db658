"""The border between gateways, which hold connections, and rooms, which own themselves: only values cross it.

A gateway asks and a room answers; for each step a room sends one message to every gateway with listeners. In
one process crossing is a function call; between two it is a message. No callable, adapter or socket crosses.
"""

from collections.abc import Callable
from typing import Any, Literal

import msgspec
from msgspec import UNSET, Raw, UnsetType

from parlour.clocks import Clocks
from parlour.errors import Refused
from parlour.game import Send
from parlour.offers import Offers
from parlour.wire import Command, Company, Push, Result

Perspective = str
"""Who looks at a room, and at what: ``view``, ``view:<player>``, the same with ``scene`` or ``text`` or, what
this player could do, ``legal:<player>``."""

Format = Literal["view", "scene", "text"]

NOTHING = Raw(b"null")
"""An encoded value that may be absent."""


def perspective_of(viewer: str | None, format: Format) -> Perspective:
    """The perspective of a seated player, or of everybody without a seat.

    >>> perspective_of("ann", "scene"), perspective_of(None, "view")
    ('scene:ann', 'view')
    """
    return format if viewer is None else f"{format}:{viewer}"


def legal_of(viewer: str) -> Perspective:
    """The perspective of what a seated player could do."""
    return f"legal:{viewer}"


def viewer_of(perspective: Perspective) -> str | None:
    """The seated player whose perspective it is; None for a spectator's.

    >>> viewer_of("view:bot:easy"), viewer_of("scene")
    ('bot:easy', None)
    """
    return perspective.partition(":")[2] or None


def shows_scene(perspective: Perspective) -> bool:
    """True if this perspective is drawn as a scene, False if it is sent as a view."""
    return perspective.startswith("scene")


# What a gateway asks of a room. `client` is the gateway's number of a connection, `number` the request's.
# No two gateways give the same: the upper bits are the gateway's own number, that of its worker.

GATEWAY_BITS = 40


def first_number(gateway: int) -> int:
    """The number below the first that a gateway gives."""
    return gateway << GATEWAY_BITS


def gateway_of(number: int) -> int:
    """The gateway that gave this number.

    >>> gateway_of(first_number(7) + 1)
    7
    """
    return number >> GATEWAY_BITS


class DoorEntry(msgspec.Struct, frozen=True):
    """How a door's client enters: a room of one game, perhaps under a name."""

    game: str
    config: Any = None
    name: str | None = None
    opens: bool = True
    """Open the room first if there is none."""
    seat: Literal["if_free", "needed", "own"] = "if_free"
    """What to do if no seat is free: watch, or be refused; or come only for one's own seat."""


class EnterRoom(msgspec.Struct, frozen=True, tag=True):
    """Give a client a place in a room."""

    room: str
    client: int
    number: int
    player: str
    address: str | None = None
    since: int | None = None
    """The seq of the last step that the client has; later steps are sent before the whole view."""
    format: Format = "view"
    spectate: bool = False
    door: DoorEntry | None = None
    again: bool = False
    """The client has a place already, and the room another owner since: it is told only what it missed."""
    luck: str | None = None
    """Random bytes that go into the seed with the seat that is taken."""
    legal: bool = False
    """Tell the client what is legal, too, while it has a seat."""


class LeaveRoom(msgspec.Struct, frozen=True, tag=True):
    """Take a client's place away."""

    room: str
    client: int
    lost: bool = False
    """The connection is closed, and its earlier requests with it."""


class AskRoom(msgspec.Struct, frozen=True, tag=True):
    """Carry out a command for a client that has a place."""

    room: str
    client: int
    number: int
    command: Command
    id: str | None = None
    """The command's own id, which makes it safe to send twice."""
    seq: int | None = None
    """The seq that the player saw; if it is out of date, the command is refused and a whole view sent."""
    looked_at: int | None = None
    """The seq that a door saw; if it is out of date, the command is refused and the door looks again."""


class LookRoom(msgspec.Struct, frozen=True, tag=True):
    """Report the last step that a client has: then its door looks at its view and decides."""

    room: str
    client: int
    number: int


class Resync(msgspec.Struct, frozen=True, tag=True):
    """Send the whole view to a client that skipped steps."""

    room: str
    client: int


Ask = EnterRoom | LeaveRoom | AskRoom | LookRoom | Resync


# What a room sends to a gateway.


class Accepted(msgspec.Struct, frozen=True, tag=True, omit_defaults=True):
    """A command was carried out, as step *seq*."""

    number: int
    seq: int
    warning: dict[str, Any] | None = None
    """The error of the game, if it failed on the command; the step was kept all the same."""


class Rejected(msgspec.Struct, frozen=True, tag=True, omit_defaults=True):
    """A request was refused: the fields of a `Refused`."""

    number: int
    code: str
    message: str
    path: str | None = None
    legal: Raw = NOTHING
    """The legal events, if they are sent along."""

    @classmethod
    def by(cls, number: int, why: Refused) -> "Rejected":
        """Make the message of a refusal."""
        return cls(number, why.code, why.message, why.path, NOTHING if why.legal is None else why.legal)

    @property
    def refusal(self) -> Refused:
        """Make a refusal of the message."""
        legal = None if self.legal == NOTHING else self.legal
        return Refused(self.code, self.message, path=self.path, legal=legal)


class Viewpoint(msgspec.Struct, frozen=True):
    """What a client sees and receives: a viewer's perspective, and some topics."""

    viewer: str | None
    topics: tuple[str, ...]


class Entered(msgspec.Struct, frozen=True, tag=True):
    """A client has a place: the answer to its request. Its first pushes follow as `Pushed`."""

    room: str
    client: int
    number: int
    player: str
    game: str
    seq: int
    seat: int | None
    viewpoint: Viewpoint
    company: Company
    view: Raw = NOTHING
    """The view, for a door that sends it in its answer."""
    timed: bool = False
    """The player has a clock: the way of each move is measured."""


class Pushed(msgspec.Struct, frozen=True, tag=True):
    """Send pushes to one client; a whole view among them ends its time of skipping steps."""

    room: str
    client: int
    pushes: tuple[Push, ...]
    number: int | None = None
    """The request to enter after whose answer this comes: it is for that place only."""


class Reseated(msgspec.Struct, frozen=True):
    """A client has another viewpoint from now on, and is sent everything anew."""

    client: int
    viewpoint: Viewpoint
    sync: Push


class StepTold(msgspec.Struct, frozen=True, tag=True):
    """A step was kept: all that gateways send to those who listen."""

    room: str
    seq: int
    sends: tuple[Send, ...] = ()
    changed: dict[Perspective, Raw] = {}
    """The new view, or the patch of the scene, of each perspective that changed."""
    syncs: dict[Perspective, Push] = {}
    """The whole view for each perspective, if something is sent as ``sync``."""
    result: Result | UnsetType | None = UNSET
    """The result of the game, if it changed."""
    offers: Offers | UnsetType = UNSET
    """What is on offer among the players, if it changed."""
    clocks: Clocks | UnsetType = UNSET
    """The players' clocks, if these changed."""
    now: float | UnsetType = UNSET
    """The room's clock, if a pause of the game ended or the players' clocks changed."""
    more: bool = False
    """True if another step is about to follow."""
    reseated: tuple[Reseated, ...] = ()
    closed: tuple[int, ...] = ()
    """Clients that are no longer allowed in the room."""
    company: Company | None = None
    """The players, if they changed."""


class Announced(msgspec.Struct, frozen=True, tag=True):
    """Send the same push to everybody in a room, perhaps except one client."""

    room: str
    push: Push
    but: int | None = None


class RoomClosed(msgspec.Struct, frozen=True, tag=True):
    """The room is closed for everybody in it."""

    room: str


class Moved(msgspec.Struct, frozen=True, tag=True):
    """The room is not owned by this worker (any more): ask its owner."""

    room: str
    number: int | None = None
    """The request that was not carried out; None: the room is being handed over with all its clients."""


class ComeAgain(msgspec.Struct, frozen=True, tag=True):
    """The room is being loaded again: everybody in it has to connect again."""

    room: str


ToldToOne = Accepted | Rejected | Entered | Pushed | Moved
ToldToAll = StepTold | Announced | RoomClosed | Moved | ComeAgain
Told = Accepted | Rejected | Entered | Pushed | StepTold | Announced | RoomClosed | Moved | ComeAgain

AskRooms = Callable[[Ask], None]
TellGateway = Callable[[Told], None]
