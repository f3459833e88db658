"""My game: put a stone on a free square; three of yours in a row win."""

from collections.abc import Sequence
from typing import Annotated, Any

from msgspec import Meta
from msgspec.structs import replace

from parlour import Chance, Event, Game, Moment, Outcome, Refused, Send, State, Update
from parlour.scene import Piece, Scene, Side, grid
from parlour.turns import draw, next_seat, win

SIZE = 4
DIRECTIONS = ((1, 0), (0, 1), (1, 1), (1, -1))


class Board(State):
    """Squares row by row: None while a square is free, then the seat whose stone lies there."""

    squares: tuple[int | None, ...] = (None,) * SIZE * SIZE
    turn: int = 0

    @property
    def row(self) -> list[int]:
        """Three squares in a row with stones of one seat, if there are."""
        for square, seat in enumerate(self.squares):
            for right, down in DIRECTIONS:
                x, y = square % SIZE + 2 * right, square // SIZE + 2 * down
                line = [square + step * (right + SIZE * down) for step in range(3)]
                fits = x < SIZE and 0 <= y < SIZE
                if seat is not None and fits and all(self.squares[at] == seat for at in line):
                    return line
        return []


class Put(Event):
    """Put a stone on a square, counted from 0, row by row."""

    square: Annotated[int, Meta(ge=0, lt=SIZE * SIZE)]


def take_a_win(view: Any, legal: Sequence[Any], chance: Chance) -> Any:
    """A bot: a move that wins at once, else any move."""
    for event in legal:
        squares = list(view["squares"])
        squares[event["square"]] = view["turn"]
        if Board(tuple(squares)).row:
            return event
    return chance.choice(legal)


class MyGame(Game[Board]):
    """Two players take turns on a board of squares."""

    name = "my_game"
    display_name = "My game"
    seats = range(2, 3)
    offers = ("resign", "draw")
    bots = {"easy": take_a_win}  # noqa: RUF012
    State = Board
    Event = Put

    def init(self, config: object, moment: Moment) -> Board:
        return Board()

    def legal_events(self, state: Board, player: str | None) -> list[Put]:
        waits = None in state.players or player is None or state.seat(player) != state.turn
        if waits or state.row:
            return []
        return [Put(square) for square, seat in enumerate(state.squares) if seat is None]

    def handle_event(self, state: Board, sender: str, event: Put, moment: Moment) -> Update[Board]:
        if sender != state.player(state.turn):
            raise Refused("not_your_turn", "wait for the other player")
        if event not in self.legal_events(state, sender):
            raise Refused("illegal_move", "you cannot put a stone there now")
        squares = tuple(
            state.turn if square == event.square else seat for square, seat in enumerate(state.squares)
        )
        after = replace(state, squares=squares, turn=next_seat(state.players, state.turn))
        return Update(after, (Send("all", {"type": "put", "square": event.square}),))

    def outcome(self, state: Board) -> Outcome | None:
        if line := state.row:
            return win(state.players, state.squares[line[0]] or 0, "three in a row")
        return None if None in state.squares else draw(state.players, "the board is full")

    def scene(self, state: Board, viewer: str | None) -> Scene:
        legal = {event.square: event for event in self.legal_events(state, viewer)}
        over = self.outcome(state)
        return Scene(
            SIZE,
            SIZE,
            spots=grid(SIZE, SIZE, fill="felt", click=legal),
            pieces=tuple(
                Piece(f"s{at}", "disc", f"c{at}", owner=seat, mark="win" if at in state.row else None)
                for at, seat in enumerate(state.squares)
                if seat is not None
            ),
            status=over.why if over else "Your turn" if legal else "Wait for the other player",
            turn=() if over or None in state.players else (state.turn,),
            sides=(Side("disc"), Side("disc")),
        )
