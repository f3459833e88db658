"""A game of Hearts at one moment: the hands, the passing, the tricks, the score."""

from typing import Literal, TypeVar

import msgspec
from msgspec.structs import replace

from parlour.errors import Code, Refused
from parlour.game import Chance, State
from parlour.games.hearts.cards import (
    ALL_POINTS,
    SUIT_NAMES,
    Trick,
    in_order,
    lowest_club,
    pack,
    points_of,
    spoken,
    written,
)

PASSED = 3
"""So many cards everybody passes on."""
LEFT, KEPT = (1, "to the left"), (0, "")
PASSES: dict[int, tuple[tuple[int, str], ...]] = {
    3: (LEFT, (2, "to the right"), KEPT),
    4: (LEFT, (3, "to the right"), (2, "across"), KEPT),
    5: (LEFT, (4, "to the right"), (2, "two to the left"), (3, "two to the right"), KEPT),
}
"""How many seats on the cards go, deal by deal, and in words; 0: everybody keeps theirs."""
T = TypeVar("T")
Phase = Literal["waiting", "passing", "playing", "over"]


class Rules(msgspec.Struct, frozen=True):
    """How a table plays."""

    players: int = 4
    points: int = 50
    """The game ends with the deal in which somebody comes to so many; 0: after one deal."""
    passing: bool = True


class Position(State, frozen=True):
    """All there is to know of a game; hands are in order, everything else by seat."""

    rules: Rules = Rules()
    phase: Phase = "waiting"
    number: int = 0
    """Which deal it is, from 1."""
    hands: tuple[tuple[str, ...], ...] = ()
    chosen: tuple[tuple[str, ...], ...] = ()
    """What each wants to pass on."""
    ready: tuple[bool, ...] = ()
    """Who has passed on what they chose."""
    gave: tuple[tuple[str, ...], ...] = ()
    """What each has passed on in this deal."""
    tricks: tuple[Trick, ...] = ()
    """Those of this deal; the last may not be full yet."""
    before: Trick | None = None
    """The last trick of the deal before."""
    deals: tuple[tuple[int, ...], ...] = ()
    """What each deal counted."""
    log: tuple[str, ...] = ()

    # Who and where.

    @property
    def full(self) -> bool:
        """Everybody is here."""
        return len(self.players) == self.rules.players and None not in self.players

    @property
    def totals(self) -> tuple[int, ...]:
        """The points of all deals."""
        return tuple(sum(deal[seat] for deal in self.deals) for seat in range(self.rules.players))

    @property
    def pass_by(self) -> int:
        """How many seats on the cards of this deal go; 0: there is no passing."""
        return self._passing[0]

    @property
    def pass_way(self) -> str:
        """Where the cards of this deal go, in words."""
        return self._passing[1]

    @property
    def _passing(self) -> tuple[int, str]:
        ways = PASSES[self.rules.players]
        return ways[(self.number - 1) % len(ways)] if self.rules.passing and self.number else KEPT

    def receiver(self, seat: int) -> int:
        """Who gets what this seat passes on."""
        return (seat + self.pass_by) % self.rules.players

    def giver(self, seat: int) -> int:
        """Whose cards this seat gets."""
        return (seat - self.pass_by) % self.rules.players

    @property
    def trick(self) -> Trick | None:
        """The trick that is being played, if one card or more lies there."""
        last = self.tricks[-1] if self.tricks else None
        return last if last and len(last.cards) < self.rules.players else None

    @property
    def turn(self) -> int | None:
        """Who plays the next card."""
        if self.phase != "playing":
            return None
        if self.trick:
            return (self.trick.leader + len(self.trick.cards)) % self.rules.players
        return self.leader

    @property
    def leader(self) -> int:
        """Who leads to the next trick: the one with the lowest club, then whoever took the last."""
        if self.tricks:
            return self.tricks[-1].winner(self.rules.players)
        lowest = lowest_club(self.rules.players)
        return next(seat for seat, hand in enumerate(self.hands) if lowest in hand)

    @property
    def to_act(self) -> tuple[int, ...]:
        """The seats that are to do something."""
        if self.phase == "passing":
            return tuple(seat for seat, ready in enumerate(self.ready) if not ready)
        return () if self.turn is None else (self.turn,)

    @property
    def broken(self) -> bool:
        """A heart has been played, so that hearts can be led."""
        return any(card[1] == "H" for trick in self.tricks for card in trick.cards)

    def taken(self, seat: int) -> tuple[str, ...]:
        """The cards that count among those that this seat took in this deal."""
        return tuple(
            card
            for trick in self.tricks
            if len(trick.cards) == self.rules.players and trick.winner(self.rules.players) == seat
            for card in trick.cards
            if points_of((card,))
        )

    @property
    def points(self) -> tuple[int, ...]:
        """What the tricks of this deal count so far."""
        return tuple(points_of(self.taken(seat)) for seat in range(self.rules.players))

    @property
    def winners(self) -> tuple[int, ...]:
        """Who has the fewest points."""
        totals = self.totals
        return tuple(seat for seat, total in enumerate(totals) if total == min(totals))

    # What can be played.

    def playable(self, seat: int) -> tuple[str, ...]:
        """The cards that this seat may play now."""
        return tuple(card for card in self.hands[seat] if self.why_not(seat, card) is None)

    def why_not(self, seat: int, card: str) -> str | None:
        """Why this seat may not play this card to the trick, in words."""
        hand, trick = self.hands[seat], self.trick
        if trick is None:
            return self._why_not_lead(hand, card)
        if any(other[1] == trick.suit for other in hand):
            return None if card[1] == trick.suit else f"you have {SUIT_NAMES[trick.suit]}, and must play one"
        if len(self.tricks) == 1 and points_of((card,)) and not all(points_of((one,)) for one in hand):
            return "the first trick is free of points: play another card"
        return None

    def _why_not_lead(self, hand: tuple[str, ...], card: str) -> str | None:
        lowest = lowest_club(self.rules.players)
        if not self.tricks:
            return None if card == lowest else f"the {spoken(lowest)} leads to the first trick"
        if card[1] == "H" and not self.broken and any(other[1] != "H" for other in hand):
            return "hearts cannot be led before somebody has played one"
        return None

    # What happens.

    def dealt(self, chance: Chance) -> "Position":
        """The next deal."""
        players = self.rules.players
        cards = chance.shuffle(pack(players))
        each = len(cards) // players
        before = self.tricks[-1] if self.tricks else None
        fresh = replace(
            self,
            number=self.number + 1,
            hands=tuple(in_order(cards[seat * each : (seat + 1) * each]) for seat in range(players)),
            chosen=((),) * players,
            ready=(False,) * players,
            gave=((),) * players,
            tricks=(),
            before=before,
        )
        return replace(fresh, phase="passing" if fresh.pass_by else "playing")

    def with_chosen(self, seat: int, card: str) -> "Position":
        """A card is chosen to be passed on, or no longer."""
        if self.phase != "passing" or self.ready[seat]:
            raise Refused(Code.ILLEGAL_MOVE, "there is nothing to pass on now")
        if card not in self.hands[seat]:
            raise Refused(Code.ILLEGAL_MOVE, f"you do not have the {spoken(card)}", path="$.card")
        own = self.chosen[seat]
        if card not in own and len(own) == PASSED:
            raise Refused(Code.ILLEGAL_MOVE, "three are chosen: put one of them back first")
        wanted = tuple(one for one in own if one != card) if card in own else in_order((*own, card))
        return replace(self, chosen=_put(self.chosen, seat, wanted))

    def with_passed(self, seat: int) -> "Position":
        """A seat passes on what it chose; when all have, the cards change hands."""
        if self.phase != "passing" or self.ready[seat]:
            raise Refused(Code.ILLEGAL_MOVE, "there is nothing to pass on now")
        if len(self.chosen[seat]) != PASSED:
            raise Refused(Code.ILLEGAL_MOVE, f"choose three cards first, you have {len(self.chosen[seat])}")
        after = replace(self, ready=_put(self.ready, seat, thing=True))
        return after.exchanged() if all(after.ready) else after

    def exchanged(self) -> "Position":
        """What everybody chose changes hands, and the play begins."""
        hands = tuple(
            in_order((*(set(hand) - set(self.chosen[seat])), *self.chosen[self.giver(seat)]))
            for seat, hand in enumerate(self.hands)
        )
        line = f"Deal {self.number}: three cards each {self.pass_way}"
        return replace(self, phase="playing", hands=hands, gave=self.chosen, log=(*self.log, line))

    def with_card(self, seat: int, card: str) -> "Position":
        """A card is played; a full trick is taken, and the last one counted."""
        if self.phase != "playing" or seat != self.turn:
            raise Refused(Code.NOT_YOUR_TURN, "it is not your turn")
        if card not in self.hands[seat]:
            raise Refused(Code.ILLEGAL_MOVE, f"you do not have the {spoken(card)}", path="$.card")
        if why := self.why_not(seat, card):
            raise Refused(Code.ILLEGAL_MOVE, why, path="$.card")
        trick = self.trick or Trick(seat)
        grown = replace(trick, cards=(*trick.cards, card))
        hand = tuple(one for one in self.hands[seat] if one != card)
        tricks = (*self.tricks[:-1], grown) if self.trick else (*self.tricks, grown)
        after = replace(self, hands=_put(self.hands, seat, hand), tricks=tricks)
        if len(grown.cards) < self.rules.players:
            return after
        after = replace(after, log=(*after.log, _told(grown, self.rules.players)))
        return after if any(after.hands) else after.counted()

    def counted(self) -> "Position":
        """The deal is over: who took all points gives them to the others instead."""
        points, lines = self.points, list(self.log)
        if ALL_POINTS in points:
            lines.append(f"{{{points.index(ALL_POINTS)}}} shoots the moon")
            points = tuple(0 if one == ALL_POINTS else ALL_POINTS for one in points)
        after = replace(self, deals=(*self.deals, points))
        said = ", ".join(f"{{{seat}}} {total}" for seat, total in enumerate(after.totals))
        after = replace(after, log=(*lines, f"After deal {self.number}: {said}"))
        over = not self.rules.points or max(after.totals) >= self.rules.points
        return replace(after, phase="over") if over else after


def _told(trick: Trick, players: int) -> str:
    """A trick as a line: who takes it, the cards in order, and what they count."""
    cards = " ".join(map(written, trick.cards))
    points = points_of(trick.cards)
    counted = "" if not points else " (1 point)" if points == 1 else f" ({points} points)"
    return f"{{{trick.winner(players)}}}: {cards}{counted}"


def _put(things: tuple[T, ...], at: int, thing: T) -> tuple[T, ...]:
    return (*things[:at], thing, *things[at + 1 :])
