"""Goofspiel: by matching the prize, or by playing the rest of the game out many times for each card."""

from collections.abc import Mapping, Sequence
from typing import Any

from parlour.game import Bot, Chance
from parlour.games.goofspiel import Ties, winner_of

GAMES = 24
"""So often the rest of a game is imagined for each card."""
CANDIDATES = 6
"""So many cards are tried, those that are nearest to a fair bid."""


def match_the_prize(view: Any, legal: Sequence[Any], chance: Chance) -> Any:
    """The card that stands in the hand where the prize stands among those to come, or one beside it."""
    hand = [event["card"] for event in legal]
    wanted = fair_bid(hand, view["prizes"], _to_come(view)) + chance.below(3) - 1
    return legal[max(0, min(len(legal) - 1, wanted))]


def play_it_out(view: Any, legal: Sequence[Any], chance: Chance) -> Any:
    """The card after which the rest, played out as others might, brings most."""
    hand, me = [event["card"] for event in legal], view["you"]
    middle = fair_bid(hand, view["prizes"], _to_come(view))
    near = sorted(range(len(hand)), key=lambda at: abs(at - middle))[:CANDIDATES]
    worth = dict.fromkeys(near, 0.0)
    for _ in range(GAMES):
        deck = chance.shuffle(_to_come(view))
        others = [_guess(other, view, chance) for other in view["hands"]]
        luck = [chance.below(3) - 1 for _ in deck]
        for at in near:
            bids = [*others[:me], hand[at], *others[me + 1 :]]
            worth[at] += _lead(_played_out(view, bids, deck, luck), me)
    return legal[max(near, key=lambda at: worth[at])]


def fair_bid(hand: Sequence[int], prizes: Sequence[int], to_come: Sequence[int]) -> int:
    """Which card of a hand, from the lowest, is to these prizes as the hand is to all that is left.

    >>> fair_bid((1, 2, 3, 4), (4,), (1, 2, 3))
    3
    """
    stake = min(sum(prizes), max((*to_come, *prizes)))
    lower = sum(prize < stake for prize in to_come)
    return min(len(hand) - 1, round(lower * (len(hand) - 1) / max(1, len(to_come))))


def _to_come(view: Any) -> list[int]:
    """The prizes that nobody has seen yet."""
    seen = {*view["prizes"], *(prize for round in view["rounds"] for prize in round["prizes"])}
    return [prize for prize in range(1, view["cards"] + 1) if prize not in seen]


def _guess(hand: Sequence[int], view: Any, chance: Chance) -> int:
    """What somebody with this hand might bid: near the fair card, and sometimes anything."""
    if chance.below(6) == 0:
        return chance.choice(hand)
    at = fair_bid(hand, view["prizes"], _to_come(view)) + chance.below(3) - 1
    return hand[max(0, min(len(hand) - 1, at))]


def _played_out(view: Any, bids: Sequence[int], deck: Sequence[int], luck: Sequence[int]) -> list[int]:
    """The scores after these bids, and then everybody near the fair card."""
    ties: Ties = view["ties"]
    scores, hands = list(view["scores"]), [list(hand) for hand in view["hands"]]
    prizes: list[int] = list(view["prizes"])
    for number in range(len(deck) + 1):
        if number:
            prizes.append(deck[number - 1])
            rest = deck[number:]
            bids = [
                hand[max(0, min(len(hand) - 1, fair_bid(hand, prizes, rest) + _shift(seat, number, luck)))]
                for seat, hand in enumerate(hands)
            ]
        winner = winner_of(tuple(bids), ties)
        if winner is not None:
            scores[winner] += sum(prizes)
        if winner is not None or ties == "discard":
            prizes = []
        for hand, bid in zip(hands, bids, strict=True):
            hand.remove(bid)
    return scores


def _shift(seat: int, number: int, luck: Sequence[int]) -> int:
    """By how much a seat is off the fair card in a round: each by another of the numbers that were drawn."""
    return luck[(number + 3 * seat) % len(luck)]


def _lead(scores: Sequence[int], me: int) -> float:
    """How far one is ahead of the best of the others; to win at all counts as much as ten points."""
    ahead = scores[me] - max(score for seat, score in enumerate(scores) if seat != me)
    return ahead + (10 if ahead > 0 else -10 if ahead < 0 else 0)


BOTS: Mapping[str, Bot] = {"fair": match_the_prize, "shrewd": play_it_out}
