"""Nim: a game from a file, whose rooms are held by a server that is started without it."""

from msgspec.structs import replace

from parlour import Event, Game, Moment, Outcome, Refused, State, Update


class Sticks(State, frozen=True):
    left: int = 7
    turn: int = 0


class Take(Event, frozen=True):
    count: int


class Nim(Game[Sticks]):
    name = "nim"
    display_name = "Nim"
    seats = range(2, 3)
    State = Sticks
    Event = Take

    def init(self, config: object, moment: Moment) -> Sticks:
        return Sticks()

    def handle_event(self, state: Sticks, sender: str, event: Take, moment: Moment) -> Update[Sticks]:
        if sender != state.player(state.turn) or not 0 < event.count <= min(3, state.left):
            raise Refused("illegal_move", "not now, or not so many")
        return Update(replace(state, left=state.left - event.count, turn=1 - state.turn))

    def outcome(self, state: Sticks) -> Outcome | None:
        if state.left > 0:
            return None
        loser, winner = (state.player(seat) or "" for seat in (state.turn, 1 - state.turn))
        return Outcome(won=(winner,), lost=(loser,), why="took the last stick")
