"""Hex on 11 x 11: the first joins top and bottom, the second left and right."""

from typing import Annotated

from msgspec import Meta
from msgspec.structs import replace

from parlour import Event, Game, Moment, Outcome, Refused, State, Update
from parlour.scene import Piece, Scene, Side, hex_grid, polygon

SIZE = 11
AROUND = ((0, -1), (1, -1), (-1, 0), (1, 0), (-1, 1), (0, 1))


class Board(State, frozen=True):
    """The cells that were taken, in turns."""

    played: tuple[int, ...] = ()

    def joined(self, seat: int) -> bool:
        """Whether this seat has joined its sides."""
        mine = set(self.played[seat::2])
        seen = {cell for cell in mine if (cell // SIZE, cell % SIZE)[seat] == 0}
        edge = list(seen)
        while edge:
            row, column = divmod(edge.pop(), SIZE)
            if (row, column)[seat] == SIZE - 1:
                return True
            for dx, dy in AROUND:
                x, y = column + dx, row + dy
                near = y * SIZE + x
                if 0 <= x < SIZE and 0 <= y < SIZE and near in mine - seen:
                    seen.add(near)
                    edge.append(near)
        return False


class Put(Event, frozen=True):
    """Take a cell, counted row by row."""

    cell: Annotated[int, Meta(ge=0, lt=SIZE * SIZE)]


class Hexes(Game[Board]):
    """Two players; there is no draw."""

    name = "hexes"
    display_name = "Hexes"
    seats = range(2, 3)
    State = Board
    Event = Put

    def init(self, config: object, moment: Moment) -> Board:
        return Board()

    def handle_event(self, state: Board, sender: str, event: Put, moment: Moment) -> Update[Board]:
        if event not in self.legal_events(state, sender):
            raise Refused("illegal_move", "that cell cannot be taken now")
        return Update(replace(state, played=(*state.played, event.cell)))

    def legal_events(self, state: Board, player: str) -> list[Put]:
        full = len(state.players) == 2 and None not in state.players
        if not full or player != state.player(len(state.played) % 2) or self.outcome(state):
            return []
        return [Put(cell) for cell in range(SIZE * SIZE) if cell not in state.played]

    def outcome(self, state: Board) -> Outcome | None:
        for seat in (0, 1):
            if state.joined(seat):
                won, lost = state.player(seat), state.player(1 - seat)
                return Outcome(won=(won or "",), lost=(lost or "",), why="the sides are joined")
        return None

    def scene(self, state: Board, viewer: str | None) -> Scene:
        turn, over = len(state.played) % 2, self.outcome(state) is not None
        free = [] if over or state.seat(viewer) is None else set(range(SIZE * SIZE)) - set(state.played)
        mine = bool(self.legal_events(state, viewer or ""))
        return Scene(
            18.1,
            10.9,
            spots=(*SIDES, *hex_grid(SIZE, SIZE, x=1, y=0.55, click={cell: Put(cell) for cell in free})),
            pieces=tuple(
                Piece(
                    f"s{cell}",
                    "counter",
                    f"c{cell}",
                    owner=at % 2,
                    label=("red", "blue")[at % 2],
                    mark="last" if at == len(state.played) - 1 else None,
                )
                for at, cell in enumerate(state.played)
            ),
            waiting=not mine,
            status="Your turn" if mine else f"Waiting for {{{turn}}}",
            turn=(turn,),
            sides=(Side("counter", "top to bottom"), Side("counter", "left to right")),
        )


A, B, C, D = (0, 0), (11.75, 0), (18.05, 10.9), (6.3, 10.9)
MIDDLE = (9, 5.45)
SIDES = (
    polygon("top", (A, B, MIDDLE), owner=0),
    polygon("right", (B, C, MIDDLE), owner=1),
    polygon("bottom", (C, D, MIDDLE), owner=0),
    polygon("left", (D, A, MIDDLE), owner=1),
)
