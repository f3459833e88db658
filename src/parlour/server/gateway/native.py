"""The doors of the protocols whose clients play in the host's rooms: who somebody is, and what they speak."""

from collections.abc import Mapping
from contextlib import suppress
from urllib.parse import parse_qsl

from parlour.doors.ogetarts import WithOgetarts
from parlour.errors import Refused
from parlour.protocols import PROTOCOLS
from parlour.server.gateway.connections import Caller, Client
from parlour.server.gateway.fanout import Peer
from parlour.server.gateway.upgrade import Door, Upgrade
from parlour.server.gateway.websocket import Socket
from parlour.server.rooms.host import Host
from parlour.server.settings import Settings
from parlour.server.tokens import COOKIE, Tokens, brought, new_player_id
from parlour.wire import Adapter, Greeting


class Calls:
    """The door of a protocol whose clients play in the host's rooms."""

    def __init__(self, kind: type[Adapter], host: Host, tokens: Tokens, settings: Settings) -> None:
        self._kind = kind
        self._host = host
        self._tokens = tokens
        self._settings = settings

    def enter(self, socket: Socket, upgrade: Upgrade) -> tuple[Peer, Mapping[str, str]]:
        greeting = self._kind.greet(dict(parse_qsl(upgrade.query)), upgrade.subprotocols)
        player, token = self._identify(greeting, upgrade, socket.peer)
        client = Client(self._kind(), socket, player, token=token)
        agreed = greeting.subprotocol
        return Caller(self._host, socket, client), {} if agreed is None else {
            "Sec-WebSocket-Protocol": agreed
        }

    def _identify(self, greeting: Greeting, upgrade: Upgrade, peer: str | None) -> tuple[str, str | None]:
        """Who knocks: (player, a new token if they brought none). A foreign page's cookie is ignored."""
        if (given := brought(greeting.token)) is not None:
            return self._host.sessions.player(self._tokens.bearer(given)), None
        token = upgrade.cookie(COOKIE)
        if token is not None and upgrade.is_ours(self._settings, peer):
            with suppress(Refused):  # a cookie that says nothing is no reason to keep a visitor out
                return self._host.sessions.player(self._tokens.bearer(token, expires=False)), None
        player = new_player_id()
        return player, self._tokens.issue(player)


def native_doors(host: Host, tokens: Tokens, settings: Settings) -> dict[str, Door]:
    """A door for every protocol, by its path; the native one has another in it."""
    kinds: tuple[type[Adapter], ...] = (*PROTOCOLS.values(), WithOgetarts)
    return {kind.path: Calls(kind, host, tokens, settings) for kind in kinds}
