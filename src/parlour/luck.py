"""Random bytes that players add to a seed before anything is drawn, so that nobody alone chose the luck."""

import hmac
from collections.abc import Iterable
from typing import Annotated

import msgspec
from msgspec import Meta

LuckyBytes = Annotated[str, Meta(pattern="^[0-9a-f]{32}$", description="16 random bytes in hexadecimal")]


class AddLuck(msgspec.Struct, frozen=True, tag_field="do", tag="luck"):
    """Add random bytes to the seed of the next draws; journaled, so its name and fields last."""

    player: str
    luck: LuckyBytes


class SendLuck(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Add random bytes to the seed, once for each game and before its first draw."""

    luck: LuckyBytes
    id: str | None = None


class AddedLuck(msgspec.Struct, frozen=True):
    """Who added which bytes to a seed."""

    player: str
    luck: LuckyBytes


def mixed(seed: bytes, added: Iterable[AddedLuck]) -> bytes:
    """The key of the draws: the seed itself, or with what was added HMAC-SHA256(seed, all of it in order).

    >>> mixed(b"seed", ()) == b"seed"
    True
    >>> len(mixed(b"seed", (AddedLuck("ann", "00" * 16),)))
    32
    """
    message = b"".join([bytes.fromhex(one.luck) for one in added])
    return hmac.digest(seed, message, "sha256") if message else seed
