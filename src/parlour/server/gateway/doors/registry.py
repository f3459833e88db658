"""All doors: how each is made. A new protocol is one more line here."""

from collections.abc import Callable
from typing import NamedTuple, Protocol

from parlour.journal.base import Journal, Trouble
from parlour.server.gateway.backing import Backing
from parlour.server.gateway.doors.gammonx import GammonxDoor
from parlour.server.gateway.doors.relay import Relays
from parlour.server.gateway.doors.relay_history import KeptRelays
from parlour.server.gateway.native import ADAPTERS, RoomDoor
from parlour.server.gateway.upgrade import Door
from parlour.server.limits import Limits
from parlour.server.settings import Settings
from parlour.server.tokens import Tokens


class KeepingBacking(Backing, Protocol):
    """The server, as a door uses it that keeps something itself."""

    journal: Journal

    def note_trouble(self, trouble: Trouble) -> None:
        """Report that the journal failed."""

    def is_owner_for_sure(self) -> bool:
        """False if another worker may own by now what this one owned."""
        ...


class DoorNeeds(NamedTuple):
    """What a door is made of."""

    parlour: KeepingBacking
    tokens: Tokens
    limits: Limits
    settings: Settings


def _gammonx(needs: DoorNeeds) -> Door:
    return GammonxDoor(needs.parlour, needs.tokens, needs.limits, needs.settings)


def _relay(needs: DoorNeeds) -> Door:
    parlour, ids, settings = needs.parlour, needs.tokens.of_kind("relay"), needs.settings
    if settings.relay_history:
        return KeptRelays(
            parlour.clock, ids, settings, parlour.is_owner_for_sure, parlour.journal, parlour.note_trouble
        )
    return Relays(parlour.clock, ids, settings, parlour.is_owner_for_sure)


def _xsos(needs: DoorNeeds) -> Door | None:
    if not needs.settings.xsos:
        return None
    # Its Socket.IO library, which nothing else needs, is imported only if the door is open.
    from parlour.server.gateway.doors.xsos import XsosDoor  # noqa: PLC0415

    return XsosDoor(needs.limits, needs.parlour.clock, needs.settings)


def _native(name: str) -> Callable[[DoorNeeds], Door]:
    return lambda needs: RoomDoor(ADAPTERS[name], needs.parlour, needs.tokens, needs.settings)


DOORS: dict[str, Callable[[DoorNeeds], Door | None]] = {
    **{name: _native(name) for name in ADAPTERS},
    "relay": _relay,
    "gammonx": _gammonx,
    "xsos": _xsos,
}
"""How each door is made; None if the settings close it."""


def open_doors(needs: DoorNeeds) -> list[Door]:
    """All doors that the settings open."""
    return [door for make in DOORS.values() if (door := make(needs)) is not None]
