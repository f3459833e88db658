"""What the players of any game can offer each other: a draw, a move taken back, a pause; and resigning.

One offer is open at a time, and stands until everybody else has agreed or one of them has not.
"""

from collections.abc import Sequence
from typing import Literal

import msgspec
from msgspec.structs import replace

from parlour.errors import Code, Refused
from parlour.game import Outcome

What = Literal["draw", "takeback", "pause", "resume"]

WORDS: dict[str, str] = {
    "draw": "a draw",
    "takeback": "taking a move back",
    "pause": "a pause",
    "resume": "going on",
}
"""What is offered, as a refusal calls it."""

# Commands. They are journaled, so their names and fields last.


class Offer(msgspec.Struct, frozen=True, tag_field="do", tag="offer"):
    """Offer something to everybody else who plays; the same offer of another player is agreed to by that."""

    player: str
    what: What


class Answer(msgspec.Struct, frozen=True, tag_field="do", tag="answer"):
    """Agree to an open offer or decline it; whoever made it takes it back by declining."""

    player: str
    what: What
    accept: bool


class Resign(msgspec.Struct, frozen=True, tag_field="do", tag="resign"):
    """Give the game up: the other side wins."""

    player: str


# What clients send.


class MakeOffer(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Offer something."""

    what: What
    id: str | None = None


class AnswerOffer(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Agree to an offer, decline it, or take one's own back."""

    what: What
    accept: bool
    id: str | None = None


class GiveUpGame(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Resign."""

    id: str | None = None


# What a room keeps and tells.


class OpenOffer(msgspec.Struct, frozen=True, omit_defaults=True):
    """An offer: of what, by whom, and who has agreed to it so far."""

    what: What
    by: str
    agreed: tuple[str, ...] = ()


class Offers(msgspec.Struct, frozen=True, omit_defaults=True):
    """What is on offer among the players of a room, and whether they have paused their game."""

    open: OpenOffer | None = None
    declined: tuple[OpenOffer, ...] = ()
    """What each player offered in vain since their last move."""
    paused: float | None = None
    """When the game's clock was stopped, by that clock."""

    def __bool__(self) -> bool:
        return self.open is not None or bool(self.declined) or self.paused is not None


class Verdict(msgspec.Struct, frozen=True):
    """How a room decided a game, and the outcome that counts instead of the game's own."""

    how: Literal["resigned", "agreed", "flagged"]
    outcome: Outcome


def make_offer(offers: Offers, player: str, what: What) -> Offers:
    """The offers after somebody made one: a new one, or one more who agrees to the open one."""
    there = offers.open
    if there is not None and there.what == what and there.by != player:
        return answer_offer(offers, player, what, accept=True)
    if there is not None:
        raise Refused(Code.OFFER_OPEN, f"an offer of {WORDS[there.what]} waits for an answer")
    if what in ("draw", "takeback") and OpenOffer(what, player) in offers.declined:
        why = f"{WORDS[what]} was declined; offer it again after your next move"
        raise Refused(Code.OFFER_DECLINED, why)
    return replace(offers, open=OpenOffer(what, player))


def answer_offer(offers: Offers, player: str, what: What, *, accept: bool) -> Offers:
    """The offers after somebody answered the open one."""
    there = offers.open
    if there is None or there.what != what or (accept and there.by == player):
        raise Refused(Code.NO_SUCH_OFFER, f"nobody offers you {WORDS[what]}")
    if accept:
        agreed = there.agreed if player in there.agreed else (*there.agreed, player)
        return replace(offers, open=replace(there, agreed=agreed))
    return withdrawn(offers) if there.by == player else declined(offers)


def withdrawn(offers: Offers) -> Offers:
    """The offers without the open one, which nobody has declined."""
    return replace(offers, open=None)


def declined(offers: Offers) -> Offers:
    """The offers after somebody declined the open one."""
    if offers.open is None:
        return offers
    vain = OpenOffer(offers.open.what, offers.open.by)
    before = tuple(one for one in offers.declined if one != vain)
    return replace(offers, open=None, declined=(*before, vain))


def after_move(offers: Offers, player: str) -> Offers:
    """The offers after a player's move: whoever moves instead of answering has declined.

    A move of their own makes up for what they have offered in vain, and ends a wish to take one back.
    """
    if offers.open is None and not offers.declined:
        return offers
    if offers.open is not None and offers.open.by != player:
        offers = declined(offers)
    elif offers.open is not None and offers.open.what == "takeback":
        offers = withdrawn(offers)
    return replace(offers, declined=tuple(one for one in offers.declined if one.by != player))


def is_agreed(offer: OpenOffer, players: Sequence[str]) -> bool:
    """True if everybody but the one who made it has agreed."""
    return all(player == offer.by or player in offer.agreed for player in players)


def resigned(player: str, players: Sequence[str]) -> Verdict:
    """The verdict when a player resigns."""
    others = tuple(other for other in players if other != player)
    return Verdict("resigned", Outcome(won=others, lost=(player,), why="the other side resigned"))


def drawn(players: Sequence[str]) -> Verdict:
    """The verdict when everybody agreed to a draw."""
    return Verdict("agreed", Outcome(drew=tuple(players), why="both sides agreed"))
