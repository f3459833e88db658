"""Records of preferences: how a player likes the pages for browsers, the same on all their devices."""

from collections.abc import Sequence
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from parlour.journal.base import Change, Damaged, Journal, Record
from parlour.server.record_decoding import read
from parlour.server.sessions import Asker, KeptPlayer, Sessions

PREFERENCES = "preferences"


class Preferences(msgspec.Struct, frozen=True, omit_defaults=True):
    """How a player likes the pages; rules and rooms never see it."""

    sound: bool = True
    theme: Annotated[Literal["system", "light", "dark"], Meta(description="system: as the device has it")] = (
        "system"
    )
    animation: Annotated[Literal["normal", "fast", "none"], Meta(description="how fast pieces move")] = (
        "normal"
    )
    flip: Annotated[bool, Meta(description="see the board from the other side")] = False
    confirm: Annotated[bool, Meta(description="ask before a move on the board is sent")] = False
    notify: Annotated[bool, Meta(description="tell me of my turn while I look elsewhere")] = False
    hinted: Annotated[
        tuple[Annotated[str, Meta(max_length=64)], ...],
        Meta(max_length=100, description="games whose hint for the first move was put away"),
    ] = ()
    language: Annotated[
        str, Meta(max_length=35, description="the code of one, such as de; empty: that of the browser")
    ] = ""


class ChosenPreferences(Preferences, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """Preferences as somebody sends them: all of them, those left out as they usually are."""


_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(Preferences).decode


async def preferences_of(journal: Journal, player: str) -> Preferences:
    """A player's preferences; the usual ones if they chose none, or if what was kept is damaged."""
    try:
        record = await journal.record(PREFERENCES, player)
        return Preferences() if record is None else read(record, _decode)
    except Damaged:  # logged
        return Preferences()


async def keep_preferences(sessions: Sessions, who: Asker, chosen: Preferences) -> None:
    """Keep a player's preferences in place of the old ones; of whoever was just deleted nothing is kept."""

    async def keep(player: KeptPlayer) -> tuple[KeptPlayer, Sequence[Change]]:
        return player, (Record(PREFERENCES, player.id, _encode(chosen)),)

    await sessions.change(who, keep)
