"""Deeds of an account's holder: what was asked for when, and what came of it."""

from collections.abc import Iterable

import msgspec

from parlour.server.tokens import Bearer


class Deed(msgspec.Struct):
    """What somebody has asked for, and what came of it."""

    what: str
    began: float
    bearer: Bearer | None = None
    """By whose token it was asked for."""
    ended: float | None = None
    """None: it was not answered, or nobody knows what came of it."""
    refused: str | None = None
    word: str = ""
    """The code, the link, the passkey or the name that it was about."""
    challenge: str = ""
    """Of a passkey's use: what it answers."""
    session: int = 0
    device: int = 0
    """The device that it signed in or out, and the account's session then."""

    @property
    def may_be_done(self) -> bool:
        return self.refused is None

    @property
    def is_done(self) -> bool:
        return self.refused is None and self.ended is not None

    def is_before(self, other: "Deed") -> bool:
        return self.ended is not None and self.ended <= other.began


def done(deeds: Iterable[Deed], *what: str) -> list[Deed]:
    """Those of a kind that were answered as done."""
    return [deed for deed in deeds if deed.what in what and deed.is_done]


def maybe(deeds: Iterable[Deed], *what: str) -> list[Deed]:
    """Those of a kind that were done, or of which nobody knows."""
    return [deed for deed in deeds if deed.what in what and deed.may_be_done]
