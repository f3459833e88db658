"""Fox and hounds: four hounds hunt a fox on the dark squares. The pieces are pictures in fox-board/."""

from typing import Annotated

from msgspec import Meta
from msgspec.structs import replace

from parlour import Event, Game, Moment, Outcome, Refused, State, Update
from parlour.scene import Fill, Piece, Scene, Side, Spot
from parlour.turns import win

SIZE = 8
FOX = 0
Square = Annotated[int, Meta(ge=0, lt=SIZE * SIZE)]


class Hunt(State):
    """Where everybody stands, the fox first; squares are counted row by row from the hounds' side."""

    squares: tuple[int, ...] = (60, 1, 3, 5, 7)
    turn: int = FOX
    """The fox is seat 0, all hounds are seat 1."""


class Step(Event):
    """Go one square diagonally; hounds only ever go forward."""

    animal: Annotated[int, Meta(ge=0, le=4)]
    to: Square


class FoxAndHounds(Game[Hunt]):
    """The fox wants to get through, the hounds want to corner it."""

    name = "fox"
    display_name = "Fox and hounds"
    seats = range(2, 3)
    State = Hunt
    Event = Step

    def init(self, config: object, moment: Moment) -> Hunt:
        return Hunt()

    def handle_event(self, state: Hunt, sender: str, event: Step, moment: Moment) -> Update[Hunt]:
        if event not in self.legal_events(state, sender):
            raise Refused("illegal_move", "that animal cannot go there now")
        squares = tuple(event.to if at == event.animal else square for at, square in enumerate(state.squares))
        return Update(replace(state, squares=squares, turn=1 - state.turn))

    def legal_events(self, state: Hunt, player: str) -> list[Step]:
        full = len(state.players) == 2 and None not in state.players
        return steps(state) if full and state.seat(player) == state.turn and not self.outcome(state) else []

    def outcome(self, state: Hunt) -> Outcome | None:
        if len(state.players) < 2:
            return None
        if state.squares[FOX] < SIZE:
            return win(state.players, 0, "the fox is through")
        if not steps(state):
            return win(
                state.players, 1 - state.turn, "nobody can move" if state.turn else "the fox is cornered"
            )
        return None

    def scene(self, state: Hunt, viewer: str | None) -> Scene:
        drops: dict[int, dict[str, Step]] = {}
        for step in self.legal_events(state, viewer or ""):
            drops.setdefault(step.animal, {})[f"s{step.to}"] = step
        squares = (
            Spot(f"s{at}", at % SIZE, at // SIZE, fill=fill(at), label=named(at)) for at in range(SIZE**2)
        )
        animals = (
            Piece(
                f"a{at}",
                look(at),
                f"s{square}",
                owner=min(at, 1),
                label=look(at)[:-4],
                drops=drops.get(at, {}),
            )
            for at, square in enumerate(state.squares)
        )
        status = "Your turn" if drops else f"Waiting for {{{state.turn}}}"
        sides = (Side("fox.svg"), Side("hound.svg"))
        return Scene(
            SIZE, SIZE, tuple(squares), tuple(animals), status=status, turn=(state.turn,), sides=sides
        )


def steps(state: Hunt) -> list[Step]:
    """All that whoever's turn it is could do."""
    animals = range(1) if state.turn == FOX else range(1, 5)
    return [Step(animal, to) for animal in animals for to in around(state, animal) if to not in state.squares]


def around(state: Hunt, animal: int) -> list[int]:
    """The squares that an animal could go to if they were free."""
    row, column = divmod(state.squares[animal], SIZE)
    rows = [row - 1, row + 1] if animal == FOX else [row + 1]
    return [y * SIZE + x for y in rows for x in (column - 1, column + 1) if 0 <= x < SIZE and 0 <= y < SIZE]


def look(animal: int) -> str:
    """The picture of an animal: a file in fox-board/."""
    return "fox.svg" if animal == FOX else "hound.svg"


def fill(square: int) -> Fill:
    """Light and dark squares in turns."""
    return "dark" if (square // SIZE + square) % 2 else "light"


def named(square: int) -> str:
    """A square as chess players write it: the hounds come from row 8."""
    return f"{'abcdefgh'[square % SIZE]}{SIZE - square // SIZE}"
