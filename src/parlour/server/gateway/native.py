"""The doors of the protocols whose clients play in rooms: they find out who the player is."""

from collections.abc import Mapping
from urllib.parse import parse_qsl

from parlour.doors.ogetarts import WithOgetarts
from parlour.protocols import PROTOCOLS
from parlour.server.gateway.backing import Backing
from parlour.server.gateway.connections import RoomConnection
from parlour.server.gateway.outboxes import Peer
from parlour.server.gateway.upgrade import Door, Upgrade
from parlour.server.gateway.websocket import Socket
from parlour.server.sessions import Identities
from parlour.server.settings import Settings
from parlour.server.tokens import COOKIE, Bearer, Tokens, brought, new_player_id
from parlour.wire import Adapter, Greeting


class RoomDoor(Door):
    """The door of a protocol whose clients play in rooms."""

    def __init__(self, kind: type[Adapter], parlour: Backing, tokens: Tokens, settings: Settings) -> None:
        self._kind = kind
        self.paths = (kind.path,)
        self._gateway = parlour.gateway
        self._identities = Identities(tokens, parlour.sessions)
        self._tokens = tokens
        self._settings = settings

    def enter(self, socket: Socket, upgrade: Upgrade) -> tuple[Peer, Mapping[str, str]]:
        greeting = self._kind.greet(dict(parse_qsl(upgrade.query)), upgrade.subprotocols)
        socket.bearer, token = self._identify(greeting, upgrade, socket.peer)
        client = self._gateway.connect(self._kind(), socket, socket.bearer.player, token)
        agreed = greeting.subprotocol
        return RoomConnection(self._gateway, socket, client), {} if agreed is None else {
            "Sec-WebSocket-Protocol": agreed
        }

    def _identify(self, greeting: Greeting, upgrade: Upgrade, peer: str | None) -> tuple[Bearer, str | None]:
        """Who this is, and a new token for a new player. Cookies of other sites are ignored."""
        cookie = upgrade.cookie(COOKIE) if upgrade.is_ours(self._settings, peer) else None
        bearer = self._identities.bearer(brought(greeting.token), cookie)
        if bearer is not None:
            return bearer, None
        player = new_player_id()
        return Bearer(player, 0), self._tokens.issue(player)


ADAPTERS: dict[str, type[Adapter]] = {**PROTOCOLS, "phoenix": WithOgetarts}
"""The adapter of each protocol; the native one includes a door."""


def native_doors(parlour: Backing, tokens: Tokens, settings: Settings) -> list[Door]:
    """The doors of all protocols."""
    return [RoomDoor(kind, parlour, tokens, settings) for kind in ADAPTERS.values()]
