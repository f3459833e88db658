"""Liar's dice: bid on dice that only their owner sees, or doubt a bid; whoever is wrong loses a die."""

from typing import Annotated

from msgspec import Meta
from msgspec.structs import replace

from parlour import Chance, Config, Event, Game, Moment, Outcome, Refused, Send, State, Update
from parlour.turns import next_seat, win

Dice = tuple[tuple[int, ...], ...]


class Bid(Event):
    """At least so many dice on the whole table show this face."""

    count: Annotated[int, Meta(ge=1)]
    face: Annotated[int, Meta(ge=1, le=6)]


class Doubt(Event):
    """The last bid is too high: show the dice."""


class Settings(Config):
    """How many play, and with how many dice each."""

    players: Annotated[int, Meta(ge=2, le=6)] = 3
    dice: Annotated[int, Meta(ge=1, le=6)] = 5


class Cups(State):
    """The dice under each seat's cup, the last bid with the seat that made it, and the dice shown last."""

    dice: Dice
    turn: int = 0
    bid: Bid | None = None
    bidder: int = 0
    shown: Dice = ()

    @property
    def out(self) -> set[int]:
        """The seats that have lost all dice."""
        return {seat for seat, dice in enumerate(self.dice) if not dice}

    def count(self, face: int) -> int:
        """How many dice on the table show this face."""
        return sum(dice.count(face) for dice in self.dice)


def roll(counts: list[int], chance: Chance) -> Dice:
    """So many dice for each seat."""
    return tuple(tuple(sorted(chance.die() for _ in range(count))) for count in counts)


class LiarsDice(Game[Cups]):
    """Two to six players bid on all the dice, and see only their own."""

    name = "liars_dice"
    display_name = "Liar's dice"
    seats = range(2, 7)
    State = Cups
    Event = Bid | Doubt
    Config = Settings

    def seats_for(self, config: Settings) -> range:
        return range(config.players, config.players + 1)

    def init(self, config: Settings, moment: Moment) -> Cups:
        return Cups(roll([config.dice] * config.players, moment.chance))

    def legal_events(self, state: Cups, player: str | None) -> list[Bid | Doubt]:
        if None in state.players or state.seat(player) != state.turn or self.outcome(state):
            return []
        most = sum(len(dice) for dice in state.dice)
        bids = [Bid(count, face) for count in range(1, most + 1) for face in range(1, 7)]
        if state.bid is None:
            return [*bids]
        lowest = (state.bid.count, state.bid.face)
        return [Doubt(), *(bid for bid in bids if (bid.count, bid.face) > lowest)]

    def handle_event(self, state: Cups, sender: str, event: Bid | Doubt, moment: Moment) -> Update[Cups]:
        if None in moment.seats or state.seat(sender) != state.turn:
            raise Refused("not_your_turn", "wait for your turn")
        if event not in self.legal_events(state, sender):
            raise Refused("illegal_move", "bid more dice, or as many of a higher face")
        if isinstance(event, Doubt):
            return self.settle(state, moment)
        after = replace(
            state, bid=event, bidder=state.turn, turn=next_seat(state.players, state.turn, state.out)
        )
        said = {"type": "bid", "seat": state.turn, "count": event.count, "face": event.face}
        return Update(after, (Send("all", said),))

    def settle(self, state: Cups, moment: Moment) -> Update[Cups]:
        """Show all dice; whoever was wrong loses one, and everybody rolls again."""
        assert state.bid is not None  # noqa: S101 (a doubt is legal only after a bid)
        found = state.count(state.bid.face)
        loser = state.turn if found >= state.bid.count else state.bidder
        counts = [len(dice) - (seat == loser) for seat, dice in enumerate(state.dice)]
        after = Cups(roll(counts, moment.chance), loser, shown=state.dice, players=state.players)
        if not counts[loser]:
            after = replace(after, turn=next_seat(state.players, loser, after.out))
        return Update(
            after, (Send("all", {"type": "shown", "dice": state.dice, "found": found, "loser": loser}),)
        )

    def view(self, state: Cups, viewer: str | None) -> dict[str, object]:
        mine = state.seat(viewer)
        return {
            "dice": [dice if seat == mine else len(dice) for seat, dice in enumerate(state.dice)],
            "bid": state.bid,
            "bidder": state.bidder,
            "turn": state.turn,
            "shown": state.shown,
        }

    def resample(self, state: Cups, viewer: str | None, chance: Chance) -> Cups:
        mine, imagined = state.seat(viewer), roll([len(dice) for dice in state.dice], chance)
        return replace(
            state,
            dice=tuple(dice if seat == mine else imagined[seat] for seat, dice in enumerate(state.dice)),
        )

    def outcome(self, state: Cups) -> Outcome | None:
        left = set(range(len(state.dice))) - state.out
        return win(state.players, left, "the last one with dice") if len(left) == 1 else None
