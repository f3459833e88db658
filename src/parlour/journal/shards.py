"""Shards: whatever has an owner among many workers has a key, and every key is in one of 256 shards."""

from zlib import crc32

SHARDS = 256
LOBBY = "lobby"
"""The key of all tickets: whoever plays waits nowhere else, so they have one owner."""


def shard_of(key: str) -> int:
    """The shard of a key: ``room:ABCD``, ``relay:x``, ``lobby``.

    >>> shard_of("room:ABCD"), shard_of("room:ABCE"), shard_of("lobby")
    (252, 106, 247)
    """
    return crc32(key.encode(errors="surrogatepass")) % SHARDS


def room_key(id: str) -> str:
    """The key of a room.

    >>> room_key("ABCD")
    'room:ABCD'
    """
    return f"room:{id}"
