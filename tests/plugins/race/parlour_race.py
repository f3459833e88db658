"""Race to ten: by turns one or two steps; whoever says ten wins. A package of one game and its bot."""

from collections.abc import Sequence
from typing import Annotated, Any

from msgspec import Meta
from msgspec.structs import replace

from parlour import Event, Game, Moment, Outcome, Refused, State, Update
from parlour.scene import Piece, Scene, grid


class Track(State, frozen=True):
    at: int = 0
    turn: int = 0


class Go(Event, frozen=True):
    steps: Annotated[int, Meta(ge=1, le=2)]


class Race(Game[Track]):
    name = "race"
    display_name = "Race to ten"
    seats = range(2, 3)
    State = Track
    Event = Go

    def init(self, config: object, moment: Moment) -> Track:
        return Track()

    def handle_event(self, state: Track, sender: str, event: Go, moment: Moment) -> Update[Track]:
        if state.at >= 10 or None in moment.seats or sender != state.player(state.turn):
            raise Refused("not_your_turn", "wait for the other player")
        return Update(replace(state, at=state.at + event.steps, turn=1 - state.turn))

    def legal_events(self, state: Track, player: str) -> list[dict[str, Any]]:
        if state.at >= 10 or None in state.players or player != state.player(state.turn):
            return []
        return [{"type": "go", "steps": steps} for steps in (1, 2)]

    def outcome(self, state: Track) -> Outcome | None:
        if state.at < 10:
            return None
        loser, winner = (state.player(seat) or "" for seat in (state.turn, 1 - state.turn))
        return Outcome(won=(winner,), lost=(loser,), why="said ten")

    def scene(self, state: Track, viewer: str | None) -> Scene:
        legal = {state.at + event["steps"]: event for event in self.legal_events(state, viewer or "")}
        track = grid(12, 1, click=legal, labels=[str(number) for number in range(12)])
        runner = Piece("runner", "runner.svg", f"c{state.at}", label="runner")
        status = "Your turn" if legal else f"Waiting for {{{state.turn}}}"
        return Scene(12, 1, track, (runner,), status=status, turn=(state.turn,))


def hurry(view: Any, legal: Sequence[Any], chance: Any) -> Any:
    """As far as it can."""
    return max(legal, key=lambda event: event["steps"])


BOTS = {"hasty": hurry}
