"""Sticks: take one to three; whoever takes the last loses. Its board is a page, in sticks-board/."""

from msgspec.structs import replace

from parlour import Event, Game, Moment, Outcome, Refused, State, Update
from parlour.turns import win


class Heap(State):
    """How many sticks are left, and whose turn it is."""

    left: int = 15
    turn: int = 0


class Take(Event):
    """Take so many sticks."""

    count: int


class Sticks(Game[Heap]):
    """Fifteen sticks for two."""

    name, display_name = "sticks", "Sticks"
    seats = range(2, 3)
    State = Heap
    Event = Take

    def init(self, config: object, moment: Moment) -> Heap:
        return Heap()

    def handle_event(self, state: Heap, sender: str, event: Take, moment: Moment) -> Update[Heap]:
        if event not in self.legal_events(state, sender):
            raise Refused("illegal_move", "take one, two or three sticks in your turn")
        return Update(replace(state, left=state.left - event.count, turn=1 - state.turn))

    def legal_events(self, state: Heap, player: str) -> list[Take]:
        turn = state.player(1) is not None and player == state.player(state.turn)
        return [Take(count) for count in (1, 2, 3) if turn and count <= state.left]

    def outcome(self, state: Heap) -> Outcome | None:
        return None if state.left else win(state.players, state.turn, "the last stick")
