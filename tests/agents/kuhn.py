"""Kuhn poker: a card each of three, one bet; small enough to be solved."""

from msgspec.structs import replace

from parlour import Chance, Event, Game, Moment, Outcome, Refused, State, Update
from parlour.errors import Code

ENDS = {"pp": 1, "bb": 2, "pbb": 2, "bp": 1, "pbp": 1}
"""The betting that ends a game, and what each has put in at least."""


class Pass(Event, frozen=True):
    """Check, or fold."""


class Bet(Event, frozen=True):
    """Bet, or call."""


class Hand(State, frozen=True):
    cards: tuple[int, ...] = ()
    bets: str = ""


class Kuhn(Game[Hand]):
    name = "kuhn"
    display_name = "Kuhn poker"
    seats = range(2, 3)
    lucky = True
    State = Hand
    Event = Pass | Bet

    def init(self, config: object, moment: Moment) -> Hand:
        return Hand(cards=tuple(moment.chance.sample(range(3), 2)))

    def handle_event(self, state: Hand, sender: str, event: object, moment: Moment) -> Update[Hand]:
        if not self.legal_events(state, sender):
            raise Refused(Code.NOT_YOUR_TURN, "it is not your turn")
        return Update(replace(state, bets=state.bets + ("b" if isinstance(event, Bet) else "p")))

    def legal_events(self, state: Hand, player: str | None) -> list[Event]:
        waits = state.bets in ENDS or state.seat(player) != len(state.bets) % 2
        return [] if waits else [Pass(), Bet()]

    def view(self, state: Hand, viewer: str | None) -> dict[str, object]:
        seat = state.seat(viewer)
        shown = state.cards if state.bets in ENDS else None
        return {"card": None if seat is None else state.cards[seat], "bets": state.bets, "cards": shown}

    def outcome(self, state: Hand) -> Outcome | None:
        stake = ENDS.get(state.bets)
        if stake is None:
            return None
        if state.bets.endswith("bp"):  # folded
            winner = (len(state.bets) - 2) % 2
        else:
            winner = int(state.cards[1] > state.cards[0])
        won, lost = (state.player(seat) or "" for seat in (winner, 1 - winner))
        return Outcome(won=(won,), lost=(lost,), points={won: float(stake), lost: -float(stake)})

    def resample(self, state: Hand, viewer: str | None, chance: Chance) -> Hand:
        seat = state.seat(viewer)
        if state.bets in ENDS:
            return state
        if seat is None:
            return replace(state, cards=tuple(chance.sample(range(3), 2)))
        other = chance.choice([card for card in range(3) if card != state.cards[seat]])
        own = state.cards[seat]
        return replace(state, cards=(own, other) if seat == 0 else (other, own))
