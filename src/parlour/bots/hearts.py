"""Hearts with some sense: pass on what is dangerous, stay below, and give points to others."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from parlour.game import Bot, Chance
from parlour.games.hearts.cards import QUEEN, SUITS, Trick, height, pack, points_of


class Seen(NamedTuple):
    """What matters of a view for a card: the trick so far, the hand, and what the others still hold."""

    hand: Sequence[str]
    trick: Trick | None
    others: frozenset[str]
    last_to_play: bool

    @classmethod
    def of(cls, view: Any) -> "Seen":
        """What a view says."""
        tricks = [Trick(trick["leader"], tuple(trick["cards"])) for trick in view["tricks"]]
        is_open = bool(tricks) and len(tricks[-1].cards) < view["players"]
        gone = {card for trick in tricks for card in trick.cards}
        others = frozenset(pack(view["players"])) - gone - set(view["hand"])
        trick = tricks[-1] if is_open else None
        return cls(view["hand"], trick, others, trick is not None and len(trick.cards) == view["players"] - 1)


def play_sensibly(view: Any, legal: Sequence[Any], chance: Chance) -> Any:
    """Three dangerous cards to pass; then the card that costs least."""
    if legal[0]["type"] == "pass":
        return legal[0]
    if legal[0]["type"] == "choose":
        hand = view["hand"]
        return max(legal, key=lambda event: danger(event["card"], hand) + chance.below(100) / 1000)
    seen = Seen.of(view)
    cost = lead_cost if seen.trick is None else follow_cost
    return min(legal, key=lambda event: cost(event["card"], seen) + chance.below(100) / 1000)


def danger(card: str, hand: Sequence[str]) -> float:
    """How much one wants to be rid of a card before the play."""
    suit = [one for one in hand if one[1] == card[1]]
    below = sum(height(one) < height(card) for one in suit)
    if card[1] == "S":
        low = sum(height(one) < height(QUEEN) for one in suit)
        if card == QUEEN:
            return 30 - 6 * low
        return 26 - 6 * low if card in ("KS", "AS") else -5
    short = 6 if len(suit) <= 3 and card[1] != "H" else 0
    return height(card) + short - 1.5 * below + (2 if card[1] == "H" else 0)


def lead_cost(card: str, seen: Seen) -> float:
    """What leading a card may cost: it is taken back if the others hold nothing higher."""
    rest = [one for one in seen.others if one[1] == card[1]]
    higher = sum(height(one) > height(card) for one in rest)
    if not rest:
        return 20 + height(card)  # nobody can follow: whoever has points gives them
    takes = 1 - higher / len(rest)
    if card[1] == "S" and QUEEN in seen.others:
        return 25 + height(card) if height(card) > height(QUEEN) else 2 * takes - 3
    if card == QUEEN:
        return 40
    risk = {"H": 9}.get(card[1], 4 if len(rest) >= 6 else 8)
    return risk * takes + (1 if card[1] == "H" else 0) + height(card) / 20


def follow_cost(card: str, seen: Seen) -> float:
    """What a card costs in a trick that somebody led; what gets rid of danger costs less than nothing."""
    trick = seen.trick
    assert trick is not None  # noqa: S101 - who leads asks `lead_cost`
    if card[1] != trick.suit:
        return -_relief(card, seen)
    best = trick.cards[trick.best]
    if height(card) < height(best):
        return -20 if card == QUEEN else -height(card) / 4
    points = points_of((*trick.cards, card))
    if seen.last_to_play:  # it takes the trick for sure: then with the highest
        return 4 * points + (30 if card == QUEEN else 0) - height(card) / 10
    higher = sum(one[1] == card[1] and height(one) > height(card) for one in seen.others)
    fear = 13 if trick.suit == "S" and QUEEN in seen.others else 3
    return (points + fear) / (1 + higher) + (30 if card == QUEEN else 0) + height(card) / 10


def _relief(card: str, seen: Seen) -> float:
    """How good it is to be rid of a card when one cannot follow."""
    if card == QUEEN:
        return 100
    if card in ("KS", "AS") and QUEEN in seen.others:
        return 60 + height(card)
    if card[1] == "H":
        return 30 + height(card)
    suit = [one for one in seen.hand if one[1] == card[1]]
    return height(card) - len(suit) / 2


def play_low(view: Any, legal: Sequence[Any], chance: Chance) -> Any:  # noqa: ARG001 - it leaves nothing to luck
    """Pass on the highest, and play the lowest that is allowed; what cannot follow is the highest."""
    if legal[0]["type"] == "pass":
        return legal[0]
    if legal[0]["type"] == "choose":
        return max(legal, key=lambda event: (height(event["card"]), SUITS.index(event["card"][1])))
    seen = Seen.of(view)
    if seen.trick is not None and legal[0]["card"][1] != seen.trick.suit:
        return max(legal, key=lambda event: (points_of((event["card"],)), height(event["card"])))
    return min(legal, key=lambda event: height(event["card"]))


BOTS: Mapping[str, Bot] = {"casual": play_low, "sensible": play_sensibly}
