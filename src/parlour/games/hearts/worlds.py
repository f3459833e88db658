"""Other hands that a player could take for the true ones: each that fits is as likely as the others."""

from collections.abc import Mapping, Sequence
from functools import cache
from math import comb

from msgspec.structs import replace

from parlour.game import Chance
from parlour.games.hearts.cards import Trick, in_order, lowest_club, pack, points_of
from parlour.games.hearts.deal import PASSED, Position

PRECISE = 1 << 62
"""Luck is drawn from no more possibilities than these; where there are more, they are scaled."""


def reimagined(state: Position, viewer: int | None, chance: Chance) -> Position:
    """The same game with other cards wherever this seat, or somebody who watches, cannot see them."""
    if state.phase not in ("passing", "playing"):
        return state
    known = known_hands(state, viewer)
    sure = {card for hand in known for card in hand}
    gone = {card for trick in state.tricks for card in trick.cards}
    hidden = [card for card in pack(state.rules.players) if card not in sure | gone]
    rooms = [len(hand) - len(known[seat]) for seat, hand in enumerate(state.hands)]
    barred = barred_cards(state.tricks, state.rules.players)
    seats = [seat for seat in range(state.rules.players) if seat != viewer]
    holders = {card: frozenset(seat for seat in seats if card not in barred[seat]) for card in hidden}
    drawn = deal_out(holders, rooms, chance)
    hands = tuple(in_order((*known[seat], *drawn[seat])) for seat in range(state.rules.players))
    return _with_choices(replace(state, hands=hands), viewer, chance)


def known_hands(state: Position, viewer: int | None) -> list[tuple[str, ...]]:
    """The cards of each hand that a viewer knows: all of their own, what they gave, and who must lead."""
    known: list[tuple[str, ...]] = [()] * state.rules.players
    if viewer is not None:
        known[viewer] = state.hands[viewer]
        if state.phase == "playing" and state.pass_by:
            receiver = state.receiver(viewer)
            known[receiver] = tuple(card for card in state.gave[viewer] if card in state.hands[receiver])
    if state.phase == "playing" and not state.tricks:
        lowest, leader = lowest_club(state.rules.players), state.leader
        if lowest not in known[leader]:
            known[leader] = (*known[leader], lowest)
    return known


def barred_cards(tricks: Sequence[Trick], players: int) -> list[frozenset[str]]:
    """For each seat the cards that it cannot hold, by what it played when it had to follow."""
    barred: list[set[str]] = [set() for _ in range(players)]
    broken = False
    for number, trick in enumerate(tricks):
        for seat, card in trick.by(players).items():
            if card[1] != trick.suit:
                barred[seat] |= _suit(trick.suit, players)
                if number == 0 and points_of((card,)):  # only who has nothing else plays points here
                    barred[seat] |= {one for one in pack(players) if not points_of((one,))}
        if trick.suit == "H" and not broken:  # only who has nothing but hearts leads the first
            barred[trick.leader] |= {one for one in pack(players) if one[1] != "H"}
        broken = broken or any(card[1] == "H" for card in trick.cards)
    return [frozenset(cards) for cards in barred]


def _suit(suit: str, players: int) -> set[str]:
    return {card for card in pack(players) if card[1] == suit}


# Who holds what.


def deal_out(holders: Mapping[str, frozenset[int]], rooms: Sequence[int], chance: Chance) -> list[list[str]]:
    """Deal cards to seats with so much room each, a card only to its holders; every way is as likely.

    Cards with the same holders are alike: how many of them each gets is drawn by how many ways there are,
    then which by shuffling.
    """
    groups: dict[frozenset[int], list[str]] = {}
    for card, seats in holders.items():
        groups.setdefault(seats, []).append(card)
    kinds = tuple((tuple(sorted(seats)), len(cards)) for seats, cards in groups.items())
    hands: list[list[str]] = [[] for _ in rooms]
    ways = _Ways(kinds)
    for at, cards in enumerate(groups.values()):
        pile = chance.shuffle(cards)
        left = tuple(room - len(hand) for room, hand in zip(rooms, hands, strict=True))
        for seat, count in ways.split(at, left, chance).items():
            hands[seat] += [pile.pop() for _ in range(count)]
    return hands


class _Ways:
    """How many ways there are to deal the kinds of cards from one on, into so much room."""

    def __init__(self, kinds: tuple[tuple[tuple[int, ...], int], ...]) -> None:
        self.kinds = kinds
        self.count = cache(self._count)

    def _count(self, at: int, left: tuple[int, ...]) -> int:
        if at == len(self.kinds):
            return 1
        return sum(number for _, number in self._splits(at, left))

    def _splits(self, at: int, left: tuple[int, ...]) -> list[tuple[tuple[int, ...], int]]:
        """How a kind can be shared out, and how many ways to go on there are each time."""
        seats, size = self.kinds[at]
        found = []
        for counts in _shares(size, tuple(left[seat] for seat in seats)):
            after = list(left)
            for seat, count in zip(seats, counts, strict=True):
                after[seat] -= count
            found.append((counts, _orders(counts) * self.count(at + 1, tuple(after))))
        return found

    def split(self, at: int, left: tuple[int, ...], chance: Chance) -> dict[int, int]:
        """How many of a kind each seat gets, drawn."""
        splits = self._splits(at, left)
        total = sum(number for _, number in splits)
        mark = chance.below(PRECISE) * total // PRECISE
        for counts, number in splits:
            mark -= number
            if mark < 0:
                return dict(zip(self.kinds[at][0], counts, strict=True))
        raise ValueError(f"expected hands that fit what was played, got {self.kinds} for {left}")


def _shares(size: int, rooms: tuple[int, ...]) -> list[tuple[int, ...]]:
    """All ways to share so many cards out, none getting more than there is room for."""
    if len(rooms) == 1:
        return [(size,)] if size <= rooms[0] else []
    rest = sum(rooms[1:])
    return [
        (first, *others)
        for first in range(max(0, size - rest), min(size, rooms[0]) + 1)
        for others in _shares(size - first, rooms[1:])
    ]


def _orders(counts: tuple[int, ...]) -> int:
    """In how many ways different cards can be shared out so.

    >>> _orders((2, 1))
    3
    """
    number, left = 1, sum(counts)
    for count in counts:
        number *= comb(left, count)
        left -= count
    return number


# What was chosen in secret.


def _with_choices(state: Position, viewer: int | None, chance: Chance) -> Position:
    """Other choices of cards to pass on, by those whom the viewer did not see choosing."""
    seats = range(state.rules.players)
    if state.phase == "passing":
        chosen = tuple(state.chosen[seat] if seat == viewer else _some(state, seat, chance) for seat in seats)
        return replace(state, chosen=chosen)
    if not state.pass_by:
        return state
    gave = tuple(_given(state, seat, viewer, chance) for seat in seats)
    return replace(state, gave=gave, chosen=gave)


def _some(state: Position, seat: int, chance: Chance) -> tuple[str, ...]:
    count = PASSED if state.ready[seat] else chance.below(PASSED + 1)
    return in_order(chance.sample(state.hands[seat], count))


def _given(state: Position, seat: int, viewer: int | None, chance: Chance) -> tuple[str, ...]:
    """Three of the cards that the receiver got to hold, unless the viewer gave or received them."""
    receiver = state.receiver(seat)
    if viewer is not None and viewer in (seat, receiver):
        return state.gave[seat]
    played = [trick.by(state.rules.players).get(receiver) for trick in state.tricks]
    return in_order(chance.sample([*filter(None, played), *state.hands[receiver]], PASSED))
