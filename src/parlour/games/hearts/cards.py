"""The cards of Hearts: what they are called, what they count, and who takes a trick."""

from collections.abc import Iterable

import msgspec

SUITS = "CDSH"
RANKS = "23456789TJQKA"
QUEEN = "QS"
"""The queen of spades, who counts thirteen."""
ALL_POINTS = 26
REMOVED: dict[int, tuple[str, ...]] = {3: ("2D",), 4: (), 5: ("2D", "2C")}
"""What is left out of the pack so that everybody gets as many cards."""

SUIT_NAMES = {"C": "clubs", "D": "diamonds", "S": "spades", "H": "hearts"}
SUIT_SIGNS = {"C": "\u2663", "D": "\u2666", "S": "\u2660", "H": "\u2665"}
RANK_NAMES = {"T": "ten", "J": "jack", "Q": "queen", "K": "king", "A": "ace"}


def pack(players: int) -> tuple[str, ...]:
    """The cards for so many players, a rank and a suit each.

    >>> len(pack(3)), len(pack(4)), len(pack(5))
    (51, 52, 50)
    """
    return tuple(card for suit in SUITS for rank in RANKS if (card := rank + suit) not in REMOVED[players])


def lowest_club(players: int) -> str:
    """The card that leads to the first trick."""
    return next(card for card in pack(players) if card[1] == "C")


def height(card: str) -> int:
    """How high a card is within its suit."""
    return RANKS.index(card[0])


def points_of(cards: Iterable[str]) -> int:
    """What cards count: a heart one, the queen of spades thirteen.

    >>> points_of(("AH", "QS", "KC"))
    14
    """
    return sum(13 if card == QUEEN else card[1] == "H" for card in cards)


def in_order(cards: Iterable[str]) -> tuple[str, ...]:
    """Cards as a hand is held: clubs, diamonds, spades, hearts, each from low to high."""
    return tuple(sorted(cards, key=lambda card: (SUITS.index(card[1]), height(card))))


def written(card: str) -> str:
    """A card in a line of the log.

    >>> written("TH"), written("QS")
    ('♥10', '♠Q')
    """
    return SUIT_SIGNS[card[1]] + card[0].replace("T", "10")


def spoken(card: str) -> str:
    """A card as people call it.

    >>> spoken("QS"), spoken("7D")
    ('queen of spades', '7 of diamonds')
    """
    return f"{RANK_NAMES.get(card[0], card[0])} of {SUIT_NAMES[card[1]]}"


class Trick(msgspec.Struct, frozen=True):
    """The cards that were played to a trick, the first by the leader, then on to the left."""

    leader: int
    cards: tuple[str, ...] = ()

    @property
    def suit(self) -> str:
        """What was led."""
        return self.cards[0][1]

    @property
    def best(self) -> int:
        """Which of the cards takes the trick: the highest of the suit that was led."""
        suit = self.suit
        return max(
            range(len(self.cards)),
            key=lambda at: height(self.cards[at]) if self.cards[at][1] == suit else -1,
        )

    def winner(self, players: int) -> int:
        """Who takes it, as it is now."""
        return (self.leader + self.best) % players

    def by(self, players: int) -> dict[int, str]:
        """Who has played what."""
        return {(self.leader + at) % players: card for at, card in enumerate(self.cards)}
