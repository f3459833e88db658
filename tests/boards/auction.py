"""A sealed-bid auction for five: everybody writes a bid, the highest pays it and takes the lot."""

from typing import Annotated, Any

from msgspec import Meta
from msgspec.structs import replace

from parlour import Event, Game, Moment, Outcome, Refused, State, Update
from parlour.scene import Control, Narrow, Piece, Scene, Side, Spot

LOTS = ("Vase", "Clock", "Globe", "Lamp", "Harp", "Map")


class Sale(State, frozen=True):
    """What is sold, what was bid for it, and who has what."""

    lot: int = 0
    bids: tuple[int | None, ...] = (None,) * 5
    last: tuple[int, ...] = ()
    coins: tuple[int, ...] = (20,) * 5
    bought: tuple[int, ...] = ()
    """Who took each lot."""


class Bid(Event, frozen=True):
    """Write down what the lot is worth to you."""

    coins: Annotated[int, Meta(ge=0, le=20)]


class Auction(Game[Sale]):
    """Five bidders, six lots, twenty coins each."""

    name = "auction"
    display_name = "Auction"
    seats = range(5, 6)
    State = Sale
    Event = Bid

    def init(self, config: object, moment: Moment) -> Sale:
        return Sale()

    def handle_event(self, state: Sale, sender: str, event: Bid, moment: Moment) -> Update[Sale]:
        seat = state.seat(sender)
        if seat is None or self.outcome(state) or len(state.players) < 5 or None in state.players:
            raise Refused("not_your_turn", "there is nothing to bid for")
        if event.coins > state.coins[seat]:
            raise Refused("illegal_move", f"you have {state.coins[seat]} coins")
        bids = tuple(event.coins if at == seat else bid for at, bid in enumerate(state.bids))
        if None in bids:
            return Update(replace(state, bids=bids))
        best = bids.index(max(bid or 0 for bid in bids))
        coins = tuple(held - (bids[at] or 0) * (at == best) for at, held in enumerate(state.coins))
        last, bought = tuple(bid or 0 for bid in bids), (*state.bought, best)
        sold = replace(state, lot=state.lot + 1, bids=(None,) * 5, last=last, coins=coins, bought=bought)
        return Update(sold)

    def legal_events(self, state: Sale, player: str) -> list[Bid]:
        seat = state.seat(player)
        ready = len(state.players) == 5 and None not in state.players and not self.outcome(state)
        return [Bid(coins) for coins in range(state.coins[seat] + 1)] if ready and seat is not None else []

    def view(self, state: Sale, viewer: str | None) -> object:
        seat = state.seat(viewer)
        mine, done = None if seat is None else state.bids[seat], [bid is not None for bid in state.bids]
        return {
            "lot": state.lot,
            "last": state.last,
            "coins": state.coins,
            "bought": state.bought,
            "bid": mine,
            "done": done,
        }

    def outcome(self, state: Sale) -> Outcome | None:
        if state.lot < len(LOTS):
            return None
        most = max(map(state.bought.count, range(5)))
        won = [player or "" for seat, player in enumerate(state.players) if state.bought.count(seat) == most]
        return Outcome(won=tuple(won), why=f"{most} lots")

    def scene(self, state: Sale, viewer: str | None) -> Scene:
        seat, open = state.seat(viewer), state.lot < len(LOTS)
        waits = seat is not None and open and state.bids[seat] is None
        spots = [Spot("felt", 0, 0, 10, 6, fill="felt"),
                 Spot("lots", 3.2, 0.3, 1.5, 2.1, shape="pile", fill="none", label="to come"),
                 Spot("lot", 5.3, 0.3, 1.5, 2.1, fill="none", label="for sale")]  # fmt: skip
        rest = Piece("rest", "card_back", "lots", count=len(LOTS) - state.lot - 1, label="lot")
        pieces = [lot(number, f"s{at}", at=number) for number, at in enumerate(state.bought)]
        pieces += [rest] * (rest.count > 0) + ([lot(state.lot, "lot")] if open else [])
        for at, purse in enumerate(state.coins):
            x, who, bid = 2 * at + 0.1, f"{{{at}}}", state.bids[at]
            spots += [Spot(f"n{at}", x, 2.6, 1.8, 0.4, fill="none", text=who),
                      Spot(f"s{at}", x, 4.4, 1.8, 1.5, "hand", "sunken", label=f"bought by {who}"),
                      Spot(f"p{at}", x, 3.2, 0.9, 0.9, fill="none", label=f"purse of {who}"),
                      Spot(f"b{at}", x + 1, 3, 0.8, 1.2, fill="none", label=f"of {who}")]  # fmt: skip
            pieces.append(Piece(f"c{at}", "counter", f"p{at}", owner=at, count=purse, label="coin"))
            if bid is not None:
                pieces.append(Piece(f"b{state.lot}-{at}", "card_back", f"b{at}", owner=at, label="bid"))
            elif state.last:
                text, id = str(state.last[at]), f"b{state.lot - 1}-{at}"
                pieces.append(Piece(id, "card", f"b{at}", text=text, label=f"bid {text}", dim=True))
        coins = {"coins": {"type": "integer", "minimum": 0, "maximum": state.coins[seat or 0]}}
        bids = Control("bid", "Bid", {"type": "bid"}, fields={"type": "object", "properties": coins})
        return Scene(10, 6, tuple(spots), tuple(pieces), (bids,) * waits, narrow=NARROW,
                     status="Write your bid" if waits else "Waiting for the others' bids",
                     turn=tuple(at for at in range(5) if open and state.bids[at] is None),
                     sides=tuple(Side("counter", f"{held} coins") for held in state.coins))  # fmt: skip


def lot(number: int, spot: str, **more: Any) -> Piece:
    """What is sold, as a card."""
    return Piece(f"lot{number}", "card", spot, text=LOTS[number], tone=number + 1, label=LOTS[number], **more)


ROW = {"n": (0.1, 0, 2, 0.4), "p": (0.2, 0.4, 0.8, 0.8), "b": (1.2, 0.4, 0.6, 0.84), "s": (2.4, 0, 3.5, 1.3)}
ROWS = {f"{id}{at}": (x, y + 2.3 + 1.4 * at, w, h) for at in range(5) for id, (x, y, w, h) in ROW.items()}
TOP = {"felt": (0, 0, 6, 9.4), "lots": (1.2, 0.2, 1.3, 1.82), "lot": (3.4, 0.2, 1.3, 1.82)}
NARROW = Narrow(6, 9.4, ROWS | TOP)
