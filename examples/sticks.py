"""Sticks: take one to three; whoever takes the last loses. Its board is a page of its own: sticks/board."""

from msgspec.structs import replace

from parlour import Event, Game, Moment, Outcome, Refused, State, Update


class Heap(State, frozen=True):
    """How many sticks are left, and whose turn it is."""

    left: int = 15
    turn: int = 0


class Take(Event, frozen=True):
    """Take so many sticks."""

    count: int


class Sticks(Game[Heap]):
    """Fifteen sticks for two."""

    name = "sticks"
    display_name = "Sticks"
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
        full = len(state.players) == 2 and None not in state.players
        return (
            [Take(n) for n in range(1, min(3, state.left) + 1)]
            if full and player == state.player(state.turn)
            else []
        )

    def outcome(self, state: Heap) -> Outcome | None:
        winner, loser = state.player(state.turn) or "", state.player(1 - state.turn) or ""
        return None if state.left else Outcome(won=(winner,), lost=(loser,), why="the last stick")
