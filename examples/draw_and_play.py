"""Draw and play: both draw until the deck is empty, then they play cards in pairs, and high takes low."""

from typing import Literal

from msgspec.structs import replace

from parlour import Chance, Event, Game, Moment, Outcome, Refused, Send, State, Update
from parlour.turns import win_by_score

CARDS = 12


class Draw(Event):
    """Take the top card of the deck."""


class Play(Event):
    """Put a card from your hand on the table."""

    card: int


class Cards(State):
    """The deck, both hands, the one or two cards on the table, and who took how many pairs."""

    deck: tuple[int, ...]
    hands: tuple[tuple[int, ...], ...] = ((), ())
    turn: int = 0
    table: tuple[int, ...] = ()
    pairs: tuple[int, ...] = (0, 0)

    @property
    def phase(self) -> Literal["draw", "play", "over"]:
        """What a turn consists of now."""
        if self.deck:
            return "draw"
        return "play" if any(self.hands) else "over"


def changed(
    hands: tuple[tuple[int, ...], ...], seat: int, hand: tuple[int, ...]
) -> tuple[tuple[int, ...], ...]:
    """The same hands, except for one seat's."""
    return tuple(hand if other == seat else before for other, before in enumerate(hands))


class DrawAndPlay(Game[Cards]):
    """Two players, twelve cards with the numbers 1 to 12."""

    name = "draw_and_play"
    display_name = "Draw and play"
    seats = range(2, 3)
    State = Cards
    Event = Draw | Play

    def init(self, config: object, moment: Moment) -> Cards:
        return Cards(tuple(moment.chance.shuffle(list(range(1, CARDS + 1)))))

    def legal_events(self, state: Cards, player: str | None) -> list[Draw | Play]:
        if None in state.players or state.seat(player) != state.turn:
            return []
        match state.phase:
            case "draw":
                return [Draw()]
            case "play":
                return [Play(card) for card in state.hands[state.turn]]
            case "over":
                return []

    def handle_event(self, state: Cards, sender: str, event: Draw | Play, moment: Moment) -> Update[Cards]:
        if None in moment.seats or state.seat(sender) != state.turn:
            raise Refused("not_your_turn", "wait for the other player")
        if event not in self.legal_events(state, sender):
            raise Refused("illegal_move", f"not in the {state.phase} phase, or not in your hand")
        return self.draw(state) if isinstance(event, Draw) else self.play(state, event.card)

    def draw(self, state: Cards) -> Update[Cards]:
        """The top card goes to a hand; only its owner sees which it is."""
        top, *rest = state.deck
        hands = changed(state.hands, state.turn, tuple(sorted((*state.hands[state.turn], top))))
        after = replace(state, deck=tuple(rest), hands=hands, turn=1 - state.turn)
        return Update(after, (Send("all", {"type": "drawn", "seat": state.turn}),))

    def play(self, state: Cards, card: int) -> Update[Cards]:
        """The first card of a pair is led; the second decides who takes it, and who leads the next."""
        seat, effects = state.turn, (Send("all", {"type": "played", "seat": state.turn, "card": card}),)
        hand = tuple(held for held in state.hands[seat] if held != card)
        after = replace(state, hands=changed(state.hands, seat, hand))
        if len(state.table) != 1:
            return Update(replace(after, table=(card,), turn=1 - seat), effects)
        taker = seat if card > state.table[0] else 1 - seat
        pairs = tuple(count + (other == taker) for other, count in enumerate(state.pairs))
        return Update(replace(after, table=(*state.table, card), turn=taker, pairs=pairs), effects)

    def view(self, state: Cards, viewer: str | None) -> dict[str, object]:
        mine = state.seat(viewer)
        return {
            "phase": state.phase,
            "deck": len(state.deck),
            "hands": [hand if seat == mine else len(hand) for seat, hand in enumerate(state.hands)],
            "table": state.table,
            "pairs": state.pairs,
            "turn": state.turn,
        }

    def resample(self, state: Cards, viewer: str | None, chance: Chance) -> Cards:
        mine = state.seat(viewer)
        unseen = [
            *state.deck,
            *(card for seat, hand in enumerate(state.hands) if seat != mine for card in hand),
        ]
        unseen = chance.shuffle(unseen)
        hands = tuple(
            hand if seat == mine else tuple(sorted(unseen.pop() for _ in hand))
            for seat, hand in enumerate(state.hands)
        )
        return replace(state, deck=tuple(unseen), hands=hands)

    def outcome(self, state: Cards) -> Outcome | None:
        return win_by_score(state.players, state.pairs, "the most pairs") if state.phase == "over" else None
