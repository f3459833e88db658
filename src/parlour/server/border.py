"""The border between gateways, which hold connections, and rooms, which own themselves: only values cross it.

A gateway asks, a room answers, and for each step a room tells the gateways that have listeners once. In one
process crossing is a function call; between two it is a message. No callable, adapter or socket crosses.
"""

from collections.abc import Callable
from typing import Any, Literal

import msgspec
from msgspec import UNSET, Raw, UnsetType

from parlour.errors import Refused
from parlour.game import Send
from parlour.wire import Command, Company, Push, Result

Perspective = str
"""Who looks at a room, and in which format: ``view``, ``view:<player>``, ``scene`` or ``scene:<player>``."""

Format = Literal["view", "scene"]

NOTHING = Raw(b"null")
"""Where there might be something encoded."""


def perspective_of(viewer: str | None, format: Format) -> Perspective:
    """The perspective of a seated player, or of everybody without a seat.

    >>> perspective_of("ann", "scene"), perspective_of(None, "view")
    ('scene:ann', 'view')
    """
    return format if viewer is None else f"{format}:{viewer}"


def viewer_of(perspective: Perspective) -> str | None:
    """The seated player whose perspective it is, if it is one's.

    >>> viewer_of("view:bot:easy"), viewer_of("scene")
    ('bot:easy', None)
    """
    return perspective.partition(":")[2] or None


def shows_scene(perspective: Perspective) -> bool:
    """True if it is seen as a scene, False if as a view."""
    return perspective.startswith("scene")


# What a gateway asks of a room. `client` is the gateway's number of a connection, `number` that of the ask.


class DoorEntry(msgspec.Struct, frozen=True):
    """How somebody enters by a door: into a room of one game, perhaps under a name."""

    game: str
    config: Any = None
    name: str | None = None
    opens: bool = True
    """Open the room first if there is none."""
    seat: Literal["if_free", "needed", "own"] = "if_free"
    """Without a free seat: watch, or be refused; or come only for one's own seat."""


class EnterRoom(msgspec.Struct, frozen=True, tag=True):
    """Give a client a place in a room."""

    room: str
    client: int
    number: int
    player: str
    address: str | None = None
    since: int | None = None
    """The seq of the last step it was told; what it missed is told before the whole view."""
    format: Format = "view"
    spectate: bool = False
    door: DoorEntry | None = None


class LeaveRoom(msgspec.Struct, frozen=True, tag=True):
    """Take a client's place away."""

    room: str
    client: int
    lost: bool = False
    """The connection is gone, and with it whatever it has asked for before."""


class AskRoom(msgspec.Struct, frozen=True, tag=True):
    """Do a command for a client that has a place."""

    room: str
    client: int
    number: int
    command: Command
    id: str | None = None
    """The command's own id, which makes it safe to ask twice."""
    seq: int | None = None
    """What the player saw; refused with a whole view if that has changed since."""
    looked_at: int | None = None
    """What a door saw; refused without one, and the door looks again."""


class LookRoom(msgspec.Struct, frozen=True, tag=True):
    """Say which step a client with a place has been told: then a door looks at what it sees, and decides."""

    room: str
    client: int
    number: int


class Resync(msgspec.Struct, frozen=True, tag=True):
    """Send a client that skipped steps the whole view."""

    room: str
    client: int


Ask = EnterRoom | LeaveRoom | AskRoom | LookRoom | Resync


# What a room tells a gateway.


class Accepted(msgspec.Struct, frozen=True, tag=True, omit_defaults=True):
    """A command was done, as step *seq*."""

    number: int
    seq: int
    warning: dict[str, Any] | None = None
    """What the game failed on; it was done all the same."""


class Rejected(msgspec.Struct, frozen=True, tag=True, omit_defaults=True):
    """An ask was refused: the parts of a `Refused`."""

    number: int
    code: str
    message: str
    path: str | None = None
    legal: Raw = NOTHING
    """What would be legal, if that is told."""

    @classmethod
    def by(cls, number: int, why: Refused) -> "Rejected":
        """A refusal as a value."""
        return cls(number, why.code, why.message, why.path, NOTHING if why.legal is None else why.legal)

    @property
    def refusal(self) -> Refused:
        """The value as a refusal."""
        legal = None if self.legal == NOTHING else self.legal
        return Refused(self.code, self.message, path=self.path, legal=legal)


class Viewpoint(msgspec.Struct, frozen=True):
    """What a client sees and hears: through a viewer's eyes, and these topics."""

    viewer: str | None
    topics: tuple[str, ...]


class Entered(msgspec.Struct, frozen=True, tag=True):
    """A client has a place: the answer to its ask. What it is told first comes as `Pushed`."""

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
    """What there is to see, for a door that shows it in its answer."""


class Pushed(msgspec.Struct, frozen=True, tag=True):
    """Tell one client something; a whole view among it ends a time of skipping."""

    room: str
    client: int
    pushes: tuple[Push, ...]


class Moved(msgspec.Struct, frozen=True):
    """A client sees and hears differently from now on, and is shown everything anew."""

    client: int
    viewpoint: Viewpoint
    sync: Push


class StepTold(msgspec.Struct, frozen=True, tag=True):
    """A step was kept: what everybody hears of it."""

    room: str
    seq: int
    sends: tuple[Send, ...] = ()
    changed: dict[Perspective, Raw] = {}
    """The new view, or the patch of the scene, of each perspective that changed."""
    syncs: dict[Perspective, Push] = {}
    """Where something is sent as ``sync``: everything, for each perspective."""
    result: Result | UnsetType | None = UNSET
    """How the game ended, where that changed."""
    more: bool = False
    """Another step is about to follow."""
    moved: tuple[Moved, ...] = ()
    closed: tuple[int, ...] = ()
    """Clients that may not be in the room any more."""
    company: Company | None = None
    """Who plays now, where that changed."""


class Announced(msgspec.Struct, frozen=True, tag=True):
    """Tell everybody in a room the same, except one client perhaps."""

    room: str
    push: Push
    but: int | None = None


class RoomClosed(msgspec.Struct, frozen=True, tag=True):
    """The room is closed to everybody in it."""

    room: str


class ComeAgain(msgspec.Struct, frozen=True, tag=True):
    """The room is loaded anew: whoever is in it is to connect again."""

    room: str


Told = Accepted | Rejected | Entered | Pushed | StepTold | Announced | RoomClosed | ComeAgain

AskRooms = Callable[[Ask], None]
TellGateway = Callable[[Told], None]
