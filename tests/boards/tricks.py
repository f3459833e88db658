"""A trick-taking game for four: follow suit; the highest card of the suit that was led wins."""

from typing import Annotated, Any

from msgspec import Meta
from msgspec.structs import replace

from parlour import Event, Game, Moment, Outcome, Refused, State, Update
from parlour.scene import Box, Narrow, Piece, Scene, Side, Spot, Suit, card

RANKS = ("2", "3", "4", "5", "6", "7", "8", "9", "10", "J", "Q", "K", "A")
SUITS: tuple[Suit, ...] = ("clubs", "diamonds", "spades", "hearts")


class Table(State, frozen=True):
    """Cards are numbers: suit * 13 + rank."""

    hands: tuple[tuple[int, ...], ...] = ()
    trick: tuple[tuple[int, int], ...] = ()
    """Who played which card, in this order."""
    last: tuple[tuple[int, int], ...] = ()
    turn: int = 0
    taken: tuple[int, ...] = (0, 0, 0, 0)


class Play(Event, frozen=True):
    """Put a card of yours on the table."""

    card: Annotated[int, Meta(ge=0, le=51)]


class Tricks(Game[Table]):
    """Four hands, thirteen tricks."""

    name = "tricks"
    display_name = "Tricks"
    seats = range(4, 5)
    State = Table
    Event = Play

    def init(self, config: object, moment: Moment) -> Table:
        deck = moment.chance.shuffle(range(52))
        return Table(hands=tuple(tuple(sorted(deck[seat::4])) for seat in range(4)))

    def handle_event(self, state: Table, sender: str, event: Play, moment: Moment) -> Update[Table]:
        if event not in self.legal_events(state, sender):
            raise Refused("illegal_move", "that card cannot be played now")
        seat = state.turn
        hands = tuple(
            tuple(card for card in hand if card != event.card) if at == seat else hand
            for at, hand in enumerate(state.hands)
        )
        trick = (*state.trick, (seat, event.card))
        if len(trick) < 4:
            return Update(replace(state, hands=hands, trick=trick, turn=(seat + 1) % 4))
        led = trick[0][1] // 13
        winner = max((card, who) for who, card in trick if card // 13 == led)[1]
        taken = tuple(count + (at == winner) for at, count in enumerate(state.taken))
        return Update(replace(state, hands=hands, trick=(), last=trick, turn=winner, taken=taken))

    def legal_events(self, state: Table, player: str) -> list[Play]:
        if None in state.players or len(state.players) < 4 or player != state.player(state.turn):
            return []
        hand = state.hands[state.turn]
        led = [card for card in hand if state.trick and card // 13 == state.trick[0][1] // 13]
        return [Play(card) for card in led or hand]

    def view(self, state: Table, viewer: str | None) -> object:
        seat = state.seat(viewer)
        hand = () if seat is None else state.hands[seat]
        left = [len(hand) for hand in state.hands]
        return {
            "hand": hand,
            "left": left,
            "trick": state.trick,
            "last": state.last,
            "turn": state.turn,
            "taken": state.taken,
        }

    def outcome(self, state: Table) -> Outcome | None:
        if any(state.hands):
            return None
        best = max(state.taken)
        won = [
            player
            for player, taken in zip(state.players, state.taken, strict=True)
            if player and taken == best
        ]
        return Outcome(won=tuple(won), why=f"{best} tricks")

    def scene(self, state: Table, viewer: str | None) -> Scene:
        me, sits = state.seat(viewer) or 0, state.seat(viewer) is not None
        legal = {play.card: play for play in self.legal_events(state, viewer or "")}
        spots, pieces = [Spot("felt", 0, 0, 12, 8.6, fill="felt")], []
        for seat, hand in enumerate(state.hands):
            at, whose = (seat - me) % 4, f"{{{seat}}}"
            (x, y), (right, down) = TRICK[at], WON[at]
            spots += [
                Spot(f"h{at}", *HANDS[at], "hand", "none", label=f"the hand of {whose}"),
                Spot(f"t{at}", x, y, 1.2, 1.68, fill="none", label=f"played by {whose}"),
                Spot(f"w{at}", right, down, 0.8, 0.8, fill="none", label=f"won by {whose}"),
            ]
            for number, held in enumerate(hand):
                if sits and seat == me:
                    pieces.append(face(held, f"h{at}", at=number, click=legal.get(held)))
                else:
                    id = f"b{seat}-{number}"
                    pieces.append(Piece(id, "card_back", f"h{at}", number, seat, label="card face down"))
            if taken := state.taken[seat]:
                pieces.append(Piece(f"n{seat}", "counter", f"w{at}", owner=seat, count=taken, label="trick"))
        for seat, played in state.trick or state.last:
            pieces.append(face(played, f"t{(seat - me) % 4}", dim=not state.trick))
        status = "Your turn" if legal else f"Waiting for {{{state.turn}}}"
        sides = tuple(Side("card_back", f"{taken} tricks") for taken in state.taken)
        return Scene(12, 8.6, tuple(spots), tuple(pieces), status=status, turn=(state.turn,), sides=sides,
                     narrow=NARROW)  # fmt: skip


def face(number: int, spot: str, **more: Any) -> Piece:
    """A card that the viewer sees."""
    return card(f"k{number}", spot, RANKS[number % 13], SUITS[number // 13], **more)


HANDS: list[Box] = [(1, 6.2, 10, 2.3), (0.1, 1.6, 1.2, 4.4), (3.2, 0.1, 5.6, 1.2), (10.7, 1.6, 1.2, 4.4)]
TRICK, WON = ((5.4, 4), (3.7, 2.9), (5.4, 1.8), (7.1, 2.9)), ((9.2, 4.9), (1.5, 4.9), (2.1, 0.3), (9.7, 2))
SMALL = ((0.1, 5.75, 5.8, 1.95), (0.05, 1.3, 0.8, 3.6), (1.2, 0.1, 3.6, 0.9), (5.15, 1.3, 0.8, 3.6))
PLACES = {f"t{at}": (x / 1.3 - 1.75, y / 1.1 - 0.2, 1.2, 1.68) for at, (x, y) in enumerate(TRICK)}
PLACES |= {f"h{at}": box for at, box in enumerate(SMALL)}
PLACES |= {f"w{at}": (x, y, 0.8, 0.8) for at, (x, y) in enumerate(((4.2, 4.6), (0, 5), (5, 0.1), (5.2, 5)))}
NARROW = Narrow(6, 7.8, PLACES | {"felt": (0, 0, 6, 7.8)})
