"""Ids that can be shown, in place of player ids that open a seat: made with a key, and opening nothing.

The clients of some doors prove who they are by an id of their own choice alone. Nothing behind the door knows
that id: the player is called by the lasting pseudonym that is made of it here.
"""

import hmac
import re
import uuid

GUID = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_BARE = re.compile(rf"gammonx:({GUID})".encode())


class Pseudonyms:
    """Makes the same ids of the same ids, as long as the key is the same."""

    def __init__(self, key: bytes) -> None:
        self._key = key

    def player(self, guid: str) -> str:
        """The lasting id of the player whose client brings this GUID.

        >>> Pseudonyms(b"key").player("fdd907ca-794a-43f4-83e6-cadfabc57c45")
        'gammonx:75b3a9da58a1c611f0300017'
        """
        return "gammonx:" + self._made("player", guid).hex()[:24]

    def in_match(self, match: str, player: str) -> str:
        """The GUID by which the others in a match know a player: another one in every match."""
        return str(uuid.UUID(bytes=self._made("match", match, player)[:16], version=4))

    def hide(self, text: bytes) -> bytes:
        """*text* with lasting ids where it has players by the GUIDs of their clients."""

        def hidden(found: re.Match[bytes]) -> bytes:
            return self.player(found[1].decode()).encode()

        return _BARE.sub(hidden, text)

    def _made(self, *words: str) -> bytes:
        return hmac.digest(self._key, "\n".join(words).encode(), "sha256")
