"""The boards of the games that are here already: they are played."""

from typing import Annotated

from msgspec import Meta
from msgspec.structs import replace

from parlour import Event, Game, Moment, State, Update
from parlour.games.minesweeper import Chord, Flag, Minesweeper, Open
from parlour.games.tictactoe import Mark, TicTacToe
from parlour.scene import Clock, Piece, Scene, Side, grid
from parlour.testing import Table
from tests.scenes import Moments


def noughts_and_crosses() -> Moments:
    """Ann sees how she wins."""
    table = Table(TicTacToe()).sit("ann", "bob")
    moments = [("Ann may begin", table.game.scene(table.state, "ann"))]
    titles = {4: "Ann, centre", 0: "Bob, top left", 2: "a threat", 5: "Bob overlooks it", 6: "Three in a row"}
    for cell, title in titles.items():
        table.act(("ann", "bob")[len(moments) % 2 - 1], Mark(cell))
        moments.append((title, table.game.scene(table.state, "ann")))
    return moments


def minesweeper() -> Moments:
    """A field of 30 x 16: opened, flagged, chorded, lost."""
    table = Table(Minesweeper(), {"preset": "advanced"}, luck=5).sit("ann")
    moments = [("A closed field", table.game.scene(table.state, "ann"))]

    def do(title: str, event: object) -> None:
        table.now += 7
        table.act("ann", event)
        moments.append((title, table.game.scene(table.state, "ann")))

    do("The first cell opens its region", Open(15, 8))
    field = table.state
    mine = next(
        cell for cell in sorted(field.mined) if any(field.cells[near] == "1" for near in field.around(cell))
    )
    one = next(near for near in field.around(mine) if field.cells[near] == "1")
    do("A flag", Flag(**field.place(mine)))
    if any(table.state.cells[near] in "#*" for near in field.around(one)):
        do("A chord", Chord(**field.place(one)))
    closed = next(cell for cell, drawn in enumerate(table.state.cells) if drawn == "#")
    do("A wrong flag", Flag(**field.place(closed)))
    hit = next(cell for cell, drawn in enumerate(table.state.cells) if drawn == "*")
    do("A mine", Open(**field.place(hit)))
    return moments


class Heap(State, frozen=True):
    """Matches on a heap."""

    left: int = 5


class Take(Event, frozen=True):
    """Take some of the heap."""

    count: Annotated[int, Meta(ge=1, le=3)]


class Bet(Event, frozen=True):
    """Say how it will end."""

    sum: Annotated[int, Meta(ge=1, le=100, description="in matches")]
    loud: bool = False


class Nim(Game[Heap]):
    """A game that draws no scene of its own."""

    name = "nim"
    display_name = "Nim"
    seats = range(2, 3)
    State = Heap
    Event = Take | Bet

    def init(self, config: object, moment: Moment) -> Heap:
        return Heap()

    def handle_event(self, state: Heap, sender: str, event: Take, moment: Moment) -> Update[Heap]:
        return Update(replace(state, left=state.left - event.count))

    def view(self, state: Heap, viewer: str | None) -> dict[str, object]:
        return {"left": state.left, "heap": ["| " * state.left, "= " * state.left]}

    def legal_events(self, state: Heap, player: str) -> list[Take] | None:
        return [Take(count) for count in range(1, min(state.left, 3) + 1)]


class Gamble(Nim):
    """One that does not say what is legal."""

    def legal_events(self, state: Heap, player: str) -> None:
        return None


def plain() -> Moments:
    """Text, and a button for everything that can be done; or forms."""
    table = Table(Nim()).sit("ann", "bob")
    moments = [("A heap of five", table.game.scene(table.state, "ann"))]
    table.act("ann", Take(3))
    moments.append(("A heap of two", table.game.scene(table.state, "ann")))
    return [*moments, ("Nobody says what is legal", Gamble().scene(table.state, "ann"))]


def connect_four() -> Moments:
    """Seven columns, six rows: a disc falls to the lowest free hole."""

    def drawn(*played: int) -> Scene:
        heights = [0] * 7
        pieces = []
        for turn, column in enumerate(played):
            cell = column + 7 * (5 - heights[column])
            heights[column] += 1
            seat, last = turn % 2, turn == len(played) - 1
            disc = Piece(f"d{turn}", "disc", f"c{cell}", owner=seat, label=("first", "second")[seat])
            pieces.append(replace(disc, mark="last" if last else None))
        click = {cell: {"type": "drop", "column": cell % 7} for cell in range(42) if heights[cell % 7] < 6}
        mine = len(played) % 2 == 0
        return Scene(
            7,
            6,
            clocks=(Clock(90, at=2.0 * len(played), down=True, seat=len(played) % 2),),
            spots=grid(7, 6, shape="round", fill="wood", click=click if mine else {}),
            pieces=tuple(pieces),
            status="Your turn" if mine else "Waiting for {1}",
            turn=(len(played) % 2,),
            sides=(Side("disc"), Side("disc")),
        )

    return [("Empty", drawn()), ("One disc", drawn(3)), ("Many", drawn(3, 3, 2, 4, 3, 3, 5, 0))]
