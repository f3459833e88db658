"""My game: everybody plays a card in turn, and the highest takes the trick; most tricks win."""

from collections.abc import Sequence
from typing import Annotated, Any

from msgspec import Meta
from msgspec.structs import replace

from parlour import Chance, Event, Game, Moment, Outcome, Refused, Send, State, Update
from parlour.scene import Piece, Scene, Side, Spot, Suit, card
from parlour.turns import win_by_score

RANKS = ("7", "8", "9", "10", "J", "Q", "K", "A")
SUITS: tuple[Suit, ...] = ("clubs", "diamonds", "spades", "hearts")
CARDS = len(RANKS) * len(SUITS)
HAND = 5


class Deal(State):
    """Cards are numbers, higher ones beat lower ones. Hands are secret, the trick lies open."""

    hands: tuple[tuple[int, ...], ...]
    trick: tuple[int | None, ...] = (None, None)
    turn: int = 0
    taken: tuple[int, ...] = (0, 0)


class Play(Event):
    """Play a card of your hand."""

    card: Annotated[int, Meta(ge=0, lt=CARDS)]


def play_high(view: Any, legal: Sequence[Any], chance: Chance) -> Any:
    """A bot: the highest card."""
    return max(legal, key=lambda event: int(event["card"]))


class MyGame(Game[Deal]):
    """Two players with five cards each."""

    name = "my_game"
    display_name = "My game"
    seats = range(2, 3)
    offers = ("resign",)
    lucky = True
    bots = {"easy": play_high}  # noqa: RUF012
    State = Deal
    Event = Play

    def init(self, config: object, moment: Moment) -> Deal:
        deck = moment.chance.shuffle(range(CARDS))
        return Deal((tuple(sorted(deck[:HAND])), tuple(sorted(deck[HAND : 2 * HAND]))))

    def legal_events(self, state: Deal, player: str | None) -> list[Play]:
        if None in state.players or player is None or player != state.player(state.turn):
            return []
        return [Play(held) for held in state.hands[state.turn]]

    def handle_event(self, state: Deal, sender: str, event: Play, moment: Moment) -> Update[Deal]:
        if event not in self.legal_events(state, sender):
            raise Refused("illegal_move", "you cannot play that card now")
        seat, other = state.turn, 1 - state.turn
        begins = None not in state.trick or state.trick == (None, None)
        trick = tuple(event.card if at == seat else None if begins else state.trick[at] for at in (0, 1))
        hands = tuple(tuple(held for held in hand if held != event.card) for hand in state.hands)
        after = replace(state, hands=hands, trick=trick, turn=other)
        told = Send("all", {"type": "played", "seat": seat, "card": event.card})
        if trick[0] is None or trick[1] is None:
            return Update(after, (told,))
        winner = int(trick[1] > trick[0])
        taken = tuple(count + (at == winner) for at, count in enumerate(state.taken))
        return Update(replace(after, turn=winner, taken=taken), (told,))

    def outcome(self, state: Deal) -> Outcome | None:
        if any(state.hands):
            return None
        return win_by_score(state.players, state.taken, f"{max(state.taken)} tricks")

    def view(self, state: Deal, viewer: str | None) -> dict[str, object]:
        """Everybody sees the trick and how many cards are left; a hand is for its player alone."""
        seat = state.seat(viewer)
        return {
            "hand": () if seat is None else state.hands[seat],
            "left": [len(hand) for hand in state.hands],
            "trick": state.trick,
            "turn": state.turn,
            "taken": state.taken,
        }

    def resample(self, state: Deal, viewer: str | None, chance: Chance) -> Deal:
        """Other cards in the hands that this viewer does not see: any that they have not seen."""
        seat = state.seat(viewer)
        known = {*state.trick, *(() if seat is None else state.hands[seat])}
        unseen = chance.shuffle([held for held in range(CARDS) if held not in known])
        hands = []
        for at, hand in enumerate(state.hands):
            hands.append(hand if at == seat else tuple(sorted(unseen[: len(hand)])))
            unseen = unseen if at == seat else unseen[len(hand) :]
        return replace(state, hands=tuple(hands))

    def scene(self, state: Deal, viewer: str | None) -> Scene:
        seat = state.seat(viewer)
        near, far = (1, 0) if seat == 1 else (0, 1)  # everybody has their own hand in front of them
        legal = {play.card: play for play in self.legal_events(state, viewer)}
        over = self.outcome(state)
        return Scene(
            7,
            6.6,
            spots=(
                Spot("felt", 0, 0, 7, 6.6, fill="felt"),
                Spot(f"hand{near}", 0.5, 4.4, 6, 2, "hand", "none", label=f"the hand of {{{near}}}"),
                Spot(f"hand{far}", 0.5, 0.2, 6, 2, "hand", "none", label=f"the hand of {{{far}}}"),
                Spot(f"trick{near}", 2.1, 2.5, 1.2, 1.68, fill="none", label=f"played by {{{near}}}"),
                Spot(f"trick{far}", 3.7, 2.5, 1.2, 1.68, fill="none", label=f"played by {{{far}}}"),
            ),
            pieces=(
                *(
                    _face(held, f"hand{at}", place, legal.get(held))
                    if at == seat
                    else Piece(f"b{at}-{place}", "card_back", f"hand{at}", place, at, label="face down")
                    for at, hand in enumerate(state.hands)
                    for place, held in enumerate(hand)
                ),
                *(_face(held, f"trick{at}") for at, held in enumerate(state.trick) if held is not None),
            ),
            status=over.why if over else "Your turn" if legal else "Wait for the other player",
            turn=() if over or None in state.players else (state.turn,),
            sides=tuple(Side("card_back", f"tricks: {count}") for count in state.taken),
        )


def _face(number: int, spot: str, at: int = 0, click: Any = None) -> Piece:
    """A card that the viewer sees."""
    rank, suit = RANKS[number // len(SUITS)], SUITS[number % len(SUITS)]
    return card(f"k{number}", spot, rank, suit, at=at, click=click)
