"""Raid: on your turn draw a card, or raid: then all others discard one, at the same time and in any order."""

from typing import Annotated

from msgspec import Meta
from msgspec.structs import replace

from parlour import Chance, Config, Event, Game, Moment, Outcome, Refused, Send, State, Update
from parlour.turns import next_seat, win_by_score


class Draw(Event):
    """Take the top card of the deck."""


class Raid(Event):
    """Make everybody else discard a card; each player may do so twice."""


class Discard(Event):
    """Give up a card, because somebody raids."""

    card: int


class Settings(Config):
    """How many play."""

    players: Annotated[int, Meta(ge=2, le=4)] = 3


class Camp(State):
    """The deck, the hands, the raids that each seat has left, who has to discard, and what was discarded."""

    deck: tuple[int, ...]
    hands: tuple[tuple[int, ...], ...]
    raids: tuple[int, ...]
    turn: int = 0
    discarding: tuple[int, ...] = ()
    discards: tuple[int, ...] = ()

    @property
    def over(self) -> bool:
        return not self.deck and not self.discarding


class RaidGame(Game[Camp]):
    """The highest sum of cards wins when the deck is empty."""

    name = "raid"
    display_name = "Raid"
    seats = range(2, 5)
    State = Camp
    Event = Draw | Raid | Discard
    Config = Settings

    def seats_for(self, config: Settings) -> range:
        return range(config.players, config.players + 1)

    def init(self, config: Settings, moment: Moment) -> Camp:
        cards = moment.chance.shuffle(list(range(1, 1 + 7 * config.players)))
        hands = tuple(tuple(sorted(cards[3 * seat : 3 * seat + 3])) for seat in range(config.players))
        return Camp(tuple(cards[3 * config.players :]), hands, (2,) * config.players)

    def legal_events(self, state: Camp, player: str | None) -> list[Draw | Raid | Discard]:
        seat = state.seat(player)
        if seat is None or None in state.players or state.over:
            return []
        if state.discarding:
            return [Discard(card) for card in state.hands[seat]] if seat in state.discarding else []
        if seat != state.turn:
            return []
        return [Draw(), Raid()] if state.raids[seat] else [Draw()]

    def handle_event(
        self, state: Camp, sender: str, event: Draw | Raid | Discard, moment: Moment
    ) -> Update[Camp]:
        seat = moment.seats.index(sender)
        if not (legal := self.legal_events(state, sender)):
            raise Refused("not_your_turn", "wait for the others")
        if event not in legal:
            raise Refused("illegal_move", "that is not what you can do now")
        match event:
            case Draw():
                return self.draw(state, seat)
            case Raid():
                return self.raid(state, seat)
            case Discard(card):
                return self.discard(state, seat, card)

    def draw(self, state: Camp, seat: int) -> Update[Camp]:
        """The top card goes to a hand, and the turn passes."""
        top, *rest = state.deck
        hands = tuple(tuple(sorted((*h, top))) if at == seat else h for at, h in enumerate(state.hands))
        after = replace(state, deck=tuple(rest), hands=hands, turn=next_seat(state.players, seat))
        return Update(after, (Send("all", {"type": "drawn", "seat": seat}),))

    def raid(self, state: Camp, seat: int) -> Update[Camp]:
        """All others with cards have to discard; the turn passes when the last of them has."""
        raids = tuple(count - (at == seat) for at, count in enumerate(state.raids))
        others = tuple(at for at, hand in enumerate(state.hands) if hand and at != seat)
        after = replace(state, raids=raids, discarding=others, turn=next_seat(state.players, seat))
        return Update(after, (Send("all", {"type": "raided", "seat": seat}),))

    def discard(self, state: Camp, seat: int, card: int) -> Update[Camp]:
        """A card leaves the game, for everybody to see."""
        hands = tuple(
            tuple(held for held in hand if held != card) if at == seat else hand
            for at, hand in enumerate(state.hands)
        )
        left = tuple(at for at in state.discarding if at != seat)
        after = replace(state, hands=hands, discarding=left, discards=(*state.discards, card))
        return Update(after, (Send("all", {"type": "discarded", "seat": seat, "card": card}),))

    def view(self, state: Camp, viewer: str | None) -> dict[str, object]:
        mine = state.seat(viewer)
        return {
            "deck": len(state.deck),
            "hands": [
                hand if seat == mine or state.over else len(hand) for seat, hand in enumerate(state.hands)
            ],
            "raids": state.raids,
            "turn": state.turn,
            "discarding": state.discarding,
            "discards": state.discards,
        }

    def resample(self, state: Camp, viewer: str | None, chance: Chance) -> Camp:
        if state.over:
            return state
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

    def outcome(self, state: Camp) -> Outcome | None:
        return (
            win_by_score(state.players, [sum(hand) for hand in state.hands], "the highest cards")
            if state.over
            else None
        )
