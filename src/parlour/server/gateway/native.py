"""The doors of the protocols whose clients play in rooms: they find out who the player is."""

from collections.abc import Mapping
from contextlib import suppress
from urllib.parse import parse_qsl

from parlour.doors.ogetarts import WithOgetarts
from parlour.errors import Refused
from parlour.protocols import PROTOCOLS
from parlour.server.gateway.backing import Backing
from parlour.server.gateway.connections import RoomConnection
from parlour.server.gateway.outboxes import Peer
from parlour.server.gateway.upgrade import Door, Upgrade
from parlour.server.gateway.websocket import Socket
from parlour.server.settings import Settings
from parlour.server.tokens import COOKIE, Tokens, brought, new_player_id
from parlour.wire import Adapter, Greeting


class RoomDoor:
    """The door of a protocol whose clients play in rooms."""

    def __init__(self, kind: type[Adapter], parlour: Backing, tokens: Tokens, settings: Settings) -> None:
        self._kind = kind
        self._gateway, self._sessions = parlour.gateway, parlour.sessions
        self._tokens = tokens
        self._settings = settings

    def enter(self, socket: Socket, upgrade: Upgrade) -> tuple[Peer, Mapping[str, str]]:
        greeting = self._kind.greet(dict(parse_qsl(upgrade.query)), upgrade.subprotocols)
        player, token = self._identify(greeting, upgrade, socket.peer)
        client = self._gateway.connect(self._kind(), socket, player, token)
        agreed = greeting.subprotocol
        return RoomConnection(self._gateway, socket, client), {} if agreed is None else {
            "Sec-WebSocket-Protocol": agreed
        }

    def _identify(self, greeting: Greeting, upgrade: Upgrade, peer: str | None) -> tuple[str, str | None]:
        """The player, and a new token if they sent none. A cookie from another site's page is ignored."""
        if (given := brought(greeting.token)) is not None:
            return self._sessions.player(self._tokens.bearer(given)), None
        token = upgrade.cookie(COOKIE)
        if token is not None and upgrade.is_ours(self._settings, peer):
            with suppress(Refused):  # an invalid cookie makes somebody a guest, and keeps nobody out
                return self._sessions.player(self._tokens.bearer(token, expires=False)), None
        player = new_player_id()
        return player, self._tokens.issue(player)


ADAPTERS: dict[str, type[Adapter]] = {**PROTOCOLS, "phoenix": WithOgetarts}
"""The adapter of each protocol; the native one includes a door."""


def native_doors(parlour: Backing, tokens: Tokens, settings: Settings) -> dict[str, Door]:
    """The doors of all protocols, by path."""
    return {kind.path: RoomDoor(kind, parlour, tokens, settings) for kind in ADAPTERS.values()}
