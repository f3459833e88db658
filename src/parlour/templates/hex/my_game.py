"""My game: take hexagons; the first player joins top and bottom, the second left and right."""

from collections.abc import Sequence
from typing import Annotated, Any

from msgspec import Meta
from msgspec.structs import replace

from parlour import Chance, Event, Game, Moment, Outcome, Refused, Send, State, Update
from parlour.scene import Piece, Scene, Side, Spot, hex_grid, path
from parlour.turns import win

SIZE = 7
AROUND = ((0, -1), (1, -1), (-1, 0), (1, 0), (-1, 1), (0, 1))
SIDES = ("top to bottom", "left to right")
HEIGHT = 0.866 * SIZE + 0.29


class Board(State):
    """The cells that were taken, in turns: every second one is of the same seat."""

    played: tuple[int, ...] = ()

    @property
    def turn(self) -> int:
        return len(self.played) % 2

    def joined(self, seat: int) -> bool:
        """Whether this seat has joined its two sides."""
        mine = set(self.played[seat::2])
        edge = [cell for cell in mine if divmod(cell, SIZE)[seat] == 0]
        seen = set(edge)
        while edge:
            row, column = divmod(edge.pop(), SIZE)
            if (row, column)[seat] == SIZE - 1:
                return True
            near = [(row + down, column + right) for right, down in AROUND]
            cells = {y * SIZE + x for y, x in near if 0 <= x < SIZE and 0 <= y < SIZE}
            edge += (cells & mine) - seen
            seen |= cells & mine
        return False


class Take(Event):
    """Take a cell, counted from 0, row by row."""

    cell: Annotated[int, Meta(ge=0, lt=SIZE * SIZE)]


def near_the_middle(view: Any, legal: Sequence[Any], chance: Chance) -> Any:
    """A bot: one of the free cells that are nearest to the middle."""

    def distance(event: Any) -> int:
        row, column = divmod(int(event["cell"]), SIZE)
        return abs(row - SIZE // 2) + abs(column - SIZE // 2)

    nearest = sorted(legal, key=distance)[:5]
    return chance.choice(nearest)


def goals() -> tuple[Spot, ...]:
    """A line along each side of the board, in the colour of the player who has to join it."""
    slant = (SIZE - 1) / 2
    top, left = ((0.9, 0.15), (SIZE + 0.1, 0.15)), ((0.25, 0.8), (slant + 0.25, HEIGHT - 0.35))
    bottom = tuple((x + slant, HEIGHT + 0.45) for x, _ in top)
    right = tuple((x + SIZE + 0.5, y) for x, y in left)
    return tuple(
        path(name, line, owner=seat)
        for name, seat, line in (
            ("top", 0, top),
            ("bottom", 0, bottom),
            ("left", 1, left),
            ("right", 1, right),
        )
    )


class MyGame(Game[Board]):
    """Two players; it cannot end in a draw."""

    name = "my_game"
    display_name = "My game"
    seats = range(2, 3)
    offers = ("resign",)
    bots = {"easy": near_the_middle}  # noqa: RUF012
    State = Board
    Event = Take

    def has_draws(self, config: object) -> bool:
        return False

    def init(self, config: object, moment: Moment) -> Board:
        return Board()

    def legal_events(self, state: Board, player: str | None) -> list[Take]:
        waits = None in state.players or player is None or player != state.player(state.turn)
        if waits or self.outcome(state):
            return []
        return [Take(cell) for cell in range(SIZE * SIZE) if cell not in state.played]

    def handle_event(self, state: Board, sender: str, event: Take, moment: Moment) -> Update[Board]:
        if event not in self.legal_events(state, sender):
            raise Refused("illegal_move", "you cannot take that cell now")
        told = Send("all", {"type": "taken", "cell": event.cell})
        return Update(replace(state, played=(*state.played, event.cell)), (told,))

    def outcome(self, state: Board) -> Outcome | None:
        for seat in (0, 1):
            if state.joined(seat):
                return win(state.players, seat, f"joined {SIDES[seat]}")
        return None

    def scene(self, state: Board, viewer: str | None) -> Scene:
        legal = {event.cell: event for event in self.legal_events(state, viewer)}
        over = self.outcome(state)
        last = len(state.played) - 1
        return Scene(
            SIZE + (SIZE - 1) / 2 + 1,
            HEIGHT + 0.6,
            spots=goals() + hex_grid(SIZE, SIZE, x=0.5, y=0.3, fill="wood", click=legal),
            pieces=tuple(
                Piece(f"s{cell}", "counter", f"c{cell}", owner=at % 2, mark="last" if at == last else None)
                for at, cell in enumerate(state.played)
            ),
            status=over.why if over else "Your turn" if legal else "Wait for the other player",
            turn=() if over or None in state.players else (state.turn,),
            sides=tuple(Side("counter", text) for text in SIDES),
        )
