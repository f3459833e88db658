"""My game: take one, two or three sticks in your turn; whoever takes the last one wins."""

from collections.abc import Sequence
from typing import Annotated, Any

from msgspec import Meta
from msgspec.structs import replace

from parlour import Chance, Config, Event, Game, Moment, Outcome, Refused, Send, State, Update
from parlour.scene import Control, Piece, Scene, Spot
from parlour.turns import next_seat, win


class Heap(State):
    """How many sticks are left, and whose turn it is."""

    left: int
    turn: int = 0
    last: int = 0
    """Who took the last ones."""


class Take(Event):
    """Take so many sticks."""

    count: Annotated[int, Meta(ge=1, le=3)]


class Settings(Config):
    """What can be set when a room is opened."""

    sticks: Annotated[int, Meta(ge=5, le=30, description="How many sticks there are at the start")] = 15


def leave_fours(view: Any, legal: Sequence[Any], chance: Chance) -> Any:
    """A bot: leave a multiple of four if that is possible, else take any number."""
    good = [event for event in legal if (view["left"] - event["count"]) % 4 == 0]
    return chance.choice(good or legal)


class MyGame(Game[Heap]):
    """Two to four players around one heap."""

    name = "my_game"
    display_name = "My game"
    seats = range(2, 5)
    bots = {"easy": leave_fours}  # noqa: RUF012
    State = Heap
    Event = Take
    Config = Settings

    def init(self, config: Settings, moment: Moment) -> Heap:
        return Heap(config.sticks)

    def legal_events(self, state: Heap, player: str | None) -> list[Take]:
        enough = sum(seated is not None for seated in state.players) >= self.seats.start
        if not enough or player is None or player != state.player(self.on_turn(state)):
            return []
        return [Take(count) for count in range(1, min(state.left, 3) + 1)]

    def on_turn(self, state: Heap) -> int:
        """Whose turn it is: the next who sits, if somebody got up."""
        taken = state.player(state.turn) is not None or not any(state.players)
        return state.turn if taken else next_seat(state.players, state.turn)

    def handle_event(self, state: Heap, sender: str, event: Take, moment: Moment) -> Update[Heap]:
        if event not in self.legal_events(state, sender):
            raise Refused("illegal_move", "not now, or not so many")
        seat = self.on_turn(state)
        turn = next_seat(state.players, seat)
        after = replace(state, left=state.left - event.count, turn=turn, last=seat)
        return Update(after, (Send("all", {"type": "taken", "count": event.count}),))

    def outcome(self, state: Heap) -> Outcome | None:
        return win(state.players, state.last, "took the last stick") if state.left == 0 else None

    def scene(self, state: Heap, viewer: str | None) -> Scene:
        legal = self.legal_events(state, viewer)
        sticks = range(state.left)
        return Scene(
            10,
            3,
            spots=tuple(Spot(f"p{at}", at % 10, at // 10, fill="felt") for at in range(30)),
            pieces=tuple(Piece(f"s{at}", "counter", f"p{at}", label="a stick") for at in sticks),
            controls=tuple(
                Control(f"take{event.count}", f"Take {event.count}", event, key=str(event.count))
                for event in legal
            ),
            status=f"{state.left} left. {'Your turn' if legal else 'Wait for the others'}",
            turn=() if state.left == 0 else (self.on_turn(state),),
        )
