"""Goofspiel, the game of pure strategy: everybody bids for the same prizes with the same cards, in secret."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal, TypeVar

import msgspec
from msgspec import Meta
from msgspec.structs import replace

from parlour.errors import Code, Refused
from parlour.game import Chance, Config, Event, Game, Joined, Moment, Outcome, Send, State, Timeouts, Update
from parlour.scene import Mark, Narrow, Piece, Scene, Side, Spot
from parlour.set_up import Card, Label, Preset, SetUp

T = TypeVar("T")
Ties = Literal["carry", "cancel", "discard"]


class GoofspielConfig(Config, frozen=True):
    """How many play, with how many cards, and what becomes of a tie."""

    players: Annotated[int, Meta(ge=2, le=5, description="people and bots at the table")] = 2
    cards: Annotated[int, Meta(ge=3, le=13, description="in each hand, and as many prizes")] = 13
    ties: Annotated[
        Ties,
        Meta(
            description="carry: the prize stays and the next one is added; "
            "cancel: equal bids do not count, and the next lower one wins; discard: nobody gets it"
        ),
    ] = "carry"


SET_UP = SetUp(
    cards="ties",
    presets=(
        Preset("Two", {}, "A duel.", "Players"),
        Preset("Three", {"players": 3}, "", "Players"),
        Preset("Four", {"players": 4}, "", "Players"),
        Preset("Five", {"players": 5}, "A lively table.", "Players"),
    ),
    labels={
        "players": Label("Players", "Empty seats can be taken by bots.", "players", group="Players"),
        "cards": Label("Cards", "In each hand, and as many prizes.", "cards", group="Length"),
        "ties": Label(
            "Ties",
            choices={
                "carry": Card("The prize stays", "The next one is added, and both go together."),
                "cancel": Card("Equal bids cancel", "The highest bid that nobody else made wins."),
                "discard": Card("Nobody gets it", "The prize is out of the game."),
            },
        ),
    },
)


class Round(msgspec.Struct, frozen=True):
    """What was bid for which prizes, and who took them, if anybody."""

    prizes: tuple[int, ...]
    bids: tuple[int, ...]
    winner: int | None


class Auction(State, frozen=True):
    """A game at one moment; everything of the players is by seat."""

    seats: int = 2
    cards: int = 13
    ties: Ties = "carry"
    deck: tuple[int, ...] = ()
    """The prizes that nobody has seen yet, the next one first."""
    prizes: tuple[int, ...] = ()
    """What everybody bids for now."""
    hands: tuple[tuple[int, ...], ...] = ()
    """The cards to bid with; a sealed bid is still among them."""
    bids: tuple[int | None, ...] = ()
    """What was put down face down."""
    rounds: tuple[Round, ...] = ()

    @property
    def full(self) -> bool:
        """Everybody is here."""
        return len(self.players) == self.seats and None not in self.players

    @property
    def over(self) -> bool:
        """All cards are played."""
        return bool(self.hands) and not self.hands[0]

    @property
    def scores(self) -> tuple[int, ...]:
        """The sum of the prizes that each has taken."""
        return tuple(sum(self.taken(seat)) for seat in range(self.seats))

    def taken(self, seat: int) -> tuple[int, ...]:
        """The prizes of one seat, in the order in which they came."""
        return tuple(prize for round in self.rounds if round.winner == seat for prize in round.prizes)

    def dealt(self, chance: Chance) -> "Auction":
        """The prizes are shuffled, and the first is turned up."""
        first, *rest = chance.shuffle(range(1, self.cards + 1))
        hand = tuple(range(1, self.cards + 1))
        return replace(
            self, deck=tuple(rest), prizes=(first,), hands=(hand,) * self.seats, bids=(None,) * self.seats
        )

    def with_bid(self, seat: int, card: int) -> "Auction":
        """A card lies face down; when everybody's does, they are turned over."""
        after = replace(self, bids=_put(self.bids, seat, card))
        return after if None in after.bids else after.revealed()

    def revealed(self) -> "Auction":
        """The bids are turned over, and somebody takes the prizes, or nobody."""
        bids = tuple(bid or 0 for bid in self.bids)
        winner = winner_of(bids, self.ties)
        stays = winner is None and self.ties != "discard"
        return replace(
            self,
            rounds=(*self.rounds, Round(self.prizes, bids, winner)),
            hands=tuple(
                tuple(card for card in hand if card != bid)
                for hand, bid in zip(self.hands, bids, strict=True)
            ),
            bids=(None,) * self.seats,
            prizes=(*(self.prizes if stays else ()), *self.deck[:1]),
            deck=self.deck[1:],
        )


def winner_of(bids: tuple[int, ...], ties: Ties) -> int | None:
    """Who takes the prizes: the highest bid, if it is the only one of its height.

    >>> winner_of((7, 9, 3), "carry"), winner_of((9, 9, 3), "carry"), winner_of((9, 9, 3), "cancel")
    (1, None, 2)
    """
    counted = [bid for bid in bids if ties != "cancel" or bids.count(bid) == 1]
    best = max(counted, default=0)
    return bids.index(best) if bids.count(best) == 1 else None


def _put(things: tuple[T, ...], at: int, thing: T) -> tuple[T, ...]:
    return (*things[:at], thing, *things[at + 1 :])


# What a browser draws.

WIDTH, HEIGHT, UPRIGHT = 12.0, 8.8, 6.0
Box = tuple[float, float, float, float]


def layout(seat: int, seats: int) -> dict[str, tuple[Box, Box]]:
    """Where everything lies for this seat, and where on an upright phone: the others above, oneself below."""
    others, boxes = seats - 1, {}
    wide = WIDTH / others
    for at in range(others):
        one = (seat + 1 + at) % seats
        x, room = wide * at, min(wide, 6.0)
        left = x + (wide - room) / 2
        top = 1.3 * at
        boxes[f"n{one}"] = ((left + 0.1, 0.15, room - 0.2, 0.42), (0.05, top + 0.14, 1.3, 0.36))
        boxes[f"h{one}"] = ((left + 0.2, 0.65, room - 0.4, 1.05), (3.0, top + 0.1, 2.92, 1.1))
        boxes[f"b{one}"] = ((x + wide / 2 - 0.5, 1.85, 1.0, 1.4), (2.12, top + 0.08, 0.83, 1.16))
        boxes[f"l{one}"] = ((x + wide / 2 - 1.4, 2.15, 0.78, 1.1), (1.4, top + 0.2, 0.66, 0.93))
        boxes[f"c{one}"] = ((x + wide / 2 + 0.65, 2.2, 0.75, 0.75), (0.38, top + 0.52, 0.66, 0.66))
    low = 1.3 * others
    boxes["deck"] = ((1.9, 3.75, 1.3, 1.82), (0.15, low + 0.25, 1.15, 1.61))
    boxes["prizes"] = ((3.5, 3.75, 3.4, 1.82), (1.4, low + 0.25, 2.0, 1.61))
    boxes[f"b{seat}"] = ((8.3, 3.75, 1.3, 1.82), (4.2, low + 0.25, 1.15, 1.61))
    boxes[f"l{seat}"] = ((7.2, 4.2, 0.98, 1.37), (3.5, low + 0.75, 0.66, 0.93))
    boxes[f"c{seat}"] = ((9.85, 4.25, 0.8, 0.8), (5.37, low + 0.7, 0.6, 0.6))
    boxes[f"h{seat}"] = ((0.6, 6.25, 10.8, 2.35), (0.1, low + 2.15, 5.8, 1.8))
    boxes["felt"] = ((0, 0, WIDTH, HEIGHT), (0, 0, UPRIGHT, low + 4.1))
    return boxes


def draw(state: Auction, seat: int | None, bids: Mapping[int, Event]) -> Scene:
    """The table as a seat sees it, or somebody who watches; *bids* are what the cards of the hand send."""
    boxes = layout(seat or 0, state.seats)
    tall = {id: box for id, (_, box) in boxes.items()}
    return Scene(
        WIDTH,
        HEIGHT,
        spots=tuple(_spots(boxes, state.seats)),
        pieces=(*_prizes(state), *_cards(state, seat, bids), *_scores(state)),
        status=_status(state, seat),
        turn=tuple(at for at, bid in enumerate(state.bids) if bid is None and state.full and not state.over),
        sides=tuple(Side("card_back", _points(score)) for score in state.scores),
        cue="win" if state.over else "capture" if state.rounds and not any(state.bids) else "move",
        log=tuple(_told(round) for round in state.rounds),
        narrow=Narrow(UPRIGHT, tall["felt"][3], tall),
    )


def _spots(boxes: Mapping[str, tuple[Box, Box]], seats: int) -> Iterator[Spot]:
    yield Spot("felt", *boxes["felt"][0], fill="felt")
    yield Spot("deck", *boxes["deck"][0], shape="pile", fill="none", label="prizes to come")
    yield Spot("prizes", *boxes["prizes"][0], shape="hand", fill="none", label="prizes to bid for")
    for seat in range(seats):
        who = f"{{{seat}}}"
        if f"n{seat}" in boxes:
            yield Spot(f"n{seat}", *boxes[f"n{seat}"][0], fill="none", text=who)
        yield Spot(f"h{seat}", *boxes[f"h{seat}"][0], shape="hand", fill="none", label=f"cards of {who}")
        yield Spot(f"b{seat}", *boxes[f"b{seat}"][0], fill="none", label=f"bid of {who}")
        yield Spot(f"l{seat}", *boxes[f"l{seat}"][0], fill="none", label=f"last bid of {who}")
        yield Spot(f"c{seat}", *boxes[f"c{seat}"][0], fill="none", label=f"points of {who}")


def _prizes(state: Auction) -> Iterator[Piece]:
    if state.deck:
        yield Piece("deck-back", "card_back", "deck", count=len(state.deck), label="prize")
    for at, prize in enumerate(state.prizes):
        yield Piece(
            f"prize{prize}", "card", "prizes", at, text=str(prize), glyph="diamonds", label=f"prize {prize}"
        )


def _cards(state: Auction, seat: int | None, bids: Mapping[int, Event]) -> Iterator[Piece]:
    """The cards that everybody still has, the sealed bids, and what was bid for the last prize."""
    for one, hand in enumerate(state.hands):
        sealed = state.bids[one]
        lying = sealed if one == seat else None
        for at, card in enumerate(card for card in hand if card != lying):
            yield _card(one, card, f"h{one}", at=at, click=bids.get(card) if one == seat else None)
        if lying is not None:
            yield _card(one, lying, f"b{one}")
        elif sealed is not None:
            yield Piece(f"bid{one}", "card_back", f"b{one}", owner=one, label="sealed bid")
        if state.rounds:
            last = state.rounds[-1]
            won = last.winner == one
            yield _card(one, last.bids[one], f"l{one}", dim=not won, mark="win" if won else None)


def _card(seat: int, card: int, spot: str, **more: Any) -> Piece:
    return Piece(f"k{seat}-{card}", "card", spot, owner=seat, text=str(card), label=str(card), **more)


def _scores(state: Auction) -> Iterator[Piece]:
    for seat, score in enumerate(state.scores):
        if score:
            yield Piece(
                f"score{seat}", "counter", f"c{seat}", owner=seat, text=str(score), label=_points(score)
            )


def _points(score: int) -> str:
    return "1 point" if score == 1 else f"{score} points"


def _told(round: Round) -> str:
    """A round as a line: who took what with which bid, or that nobody did."""
    bids = ", ".join(f"{{{seat}}} {bid}" for seat, bid in enumerate(round.bids))
    prizes = " + ".join(map(str, round.prizes))
    if round.winner is None:
        return f"Nobody takes {prizes}: {bids}"
    return f"{{{round.winner}}} takes {prizes}: {bids}"


def _status(state: Auction, seat: int | None) -> str:
    """What this seat, or somebody who watches, wants to know first."""
    if state.over:
        most = max(state.scores)
        best = state.scores.index(most)
        if state.scores.count(most) > 1:
            return f"A draw: as many points: {most}"
        why = f"the most points: {most}"
        return f"You win: {why}" if best == seat else f"{{{best}}} wins: {why}"
    if not state.full:
        return "Waiting for other players"
    stake = " and ".join(map(str, state.prizes))
    if seat is None:
        return f"Everybody bids for {stake}"
    return f"Your turn: bid for {stake}" if state.bids[seat] is None else "Waiting for the other bids"


def draw_row(text: str) -> Scene:
    """A prize and the bids for it, as the rules page shows them; the one with a star takes it."""
    prize, *bids = text.split()
    width = 1.35 * (len(bids) + 1) + 0.85
    places = [0.3, *(0.8 + 1.35 * (1 + at) for at in range(len(bids)))]
    spots = [Spot("felt", 0, 0, width, 2.3, fill="felt")]
    spots += [
        Spot(f"s{at}", x, 0.3, 1.2, 1.68, fill="none", label=f"card {1 + at}") for at, x in enumerate(places)
    ]
    pieces = [Piece("prize", "card", "s0", text=prize, glyph="diamonds", label=f"prize {prize}")]
    for at, bid in enumerate(bids):
        takes = bid.endswith("*")
        mark: Mark | None = "win" if takes else None
        pieces.append(_card(at, int(bid.rstrip("*")), f"s{1 + at}", mark=mark, dim="*" in text and not takes))
    return Scene(width, 2.3, tuple(spots), tuple(pieces))


class Bid(Event, frozen=True):
    """Put one of my cards down, face down; until everybody has bid I may take another one instead."""

    card: Annotated[int, Meta(ge=1, le=13)]


class Goofspiel(Game[Auction]):
    """A prize is turned up, all bid at once, the highest bid takes it; the most points win."""

    name = "goofspiel"
    display_name = "Goofspiel"
    first_move = "Click a card to bid it for the prize: the highest bid takes it, and every card bids once."
    seats = range(2, 6)
    timeouts = Timeouts(game="server", away=None, nobody=None)
    lucky = True
    State = Auction
    Event = Bid
    Config = GoofspielConfig
    set_up = SET_UP

    def seats_for(self, config: GoofspielConfig) -> range:
        return range(config.players, config.players + 1)

    def init(self, config: GoofspielConfig, moment: Moment) -> Auction:
        return Auction(seats=config.players, cards=config.cards, ties=config.ties)

    def join_game(self, state: Auction, player: str, spectate: bool, moment: Moment) -> Joined[Auction]:  # noqa: FBT001
        """The first prize is turned up when every seat is taken; who sits down later takes over the hand."""
        joined = super().join_game(state, player, spectate, moment)
        seated = joined.update.state
        if joined.seat is None or seated.hands or not seated.full:
            return joined
        dealt = seated.dealt(moment.chance)
        return replace(
            joined, update=Update(dealt, (Send("all", {"type": "prize", "prizes": dealt.prizes}),))
        )

    def handle_event(self, state: Auction, sender: str, event: Bid, moment: Moment) -> Update[Auction]:
        seat = moment.seats.index(sender)
        if state.over:
            raise Refused(Code.ILLEGAL_MOVE, "the game is over")
        if None in moment.seats:
            raise Refused(Code.NOT_YOUR_TURN, "the game goes on when every seat is taken")
        if event.card not in state.hands[seat]:
            raise Refused(Code.ILLEGAL_MOVE, f"you have no {event.card} any more", path="$.card")
        after = state.with_bid(seat, event.card)
        sealed = Send("all", {"type": "sealed", "seat": seat})
        if len(after.rounds) == len(state.rounds):
            return Update(after, () if state.bids[seat] is not None else (sealed,))
        told = after.rounds[-1]
        shown = Send("all", {"type": "revealed", "bids": told.bids, "winner": told.winner})
        turned = Send("all", {"type": "prize", "prizes": after.prizes})
        return Update(after, (sealed, shown) if after.over else (sealed, shown, turned))

    def view(self, state: Auction, viewer: str | None) -> dict[str, object]:
        """Everything but the bids of others that are still face down, and the prizes to come."""
        seat = state.seat(viewer)
        is_on = seat is not None and bool(state.hands)
        return {
            "you": seat,
            "cards": state.cards,
            "ties": state.ties,
            "prizes": state.prizes,
            "to_come": len(state.deck),
            "hands": state.hands,
            "sealed": tuple(bid is not None for bid in state.bids),
            "bid": state.bids[seat] if is_on and seat is not None else None,
            "rounds": state.rounds,
            "scores": state.scores,
            "over": state.over,
        }

    def observe(self, state: Auction, viewer: str | None) -> dict[str, tuple[float, ...]]:
        """All from 0 to 1: cards by their height; seats count on from one's own."""
        seat = state.seat(viewer)
        order = [((seat or 0) + step) % state.seats for step in range(state.seats)]
        cards, dealt = range(1, state.cards + 1), bool(state.hands)
        seen = {*state.prizes, *(prize for round in state.rounds for prize in round.prizes)}
        bid = state.bids[seat] if dealt and seat is not None else None
        return {
            "hands": tuple([float(dealt and card in state.hands[one]) for one in order for card in cards]),
            "bid": tuple([float(card == bid) for card in cards]),
            "sealed": tuple([float(dealt and state.bids[one] is not None) for one in order]),
            "prizes": tuple([float(card in state.prizes) for card in cards]),
            "to_come": tuple([float(card not in seen) for card in cards]),
            "scores": tuple([state.scores[one] / sum(cards) for one in order]),
        }

    def actions(self, config: GoofspielConfig) -> list[Bid]:
        return [Bid(card) for card in range(1, config.cards + 1)]

    def scene(self, state: Auction, viewer: str | None) -> Scene:
        seat = state.seat(viewer)
        can_bid = seat is not None and state.full and not state.over
        return draw(
            state,
            seat,
            {card: Bid(card) for card in state.hands[seat]} if can_bid and seat is not None else {},
        )

    def diagram(self, text: str) -> Scene:
        return draw_row(text)

    def legal_events(self, state: Auction, player: str | None) -> list[Bid]:
        seat = state.seat(player)
        if seat is None or not state.full or not state.hands or state.bids[seat] is not None:
            return []
        return [Bid(card) for card in state.hands[seat]]

    def turn_id(self, state: Auction) -> object:
        """Each round has its time, also for whoever was the last to bid before it."""
        return len(state.rounds)

    def outcome(self, state: Auction) -> Outcome | None:
        if not state.over:
            return None
        most = max(state.scores)
        best = tuple(state.player(seat) or "" for seat, score in enumerate(state.scores) if score == most)
        lost = tuple(state.player(seat) or "" for seat, score in enumerate(state.scores) if score < most)
        if len(best) > 1:
            return Outcome(drew=best, lost=lost, why=f"as many points: {most}")
        return Outcome(won=best, lost=lost, why=f"the most points: {most}")

    def match_score(self, state: Auction) -> tuple[int, ...]:
        return state.scores

    def resample(self, state: Auction, viewer: str | None, chance: Chance) -> Auction:
        """Another order of the prizes to come, and other bids of those who have bid."""
        if not state.hands:
            return state
        own = state.seat(viewer)
        bids = tuple(
            bid if bid is None or seat == own else chance.choice(state.hands[seat])
            for seat, bid in enumerate(state.bids)
        )
        return replace(state, deck=tuple(chance.shuffle(state.deck)), bids=bids)
