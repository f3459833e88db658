"""Noughts and crosses: the smallest whole game, and the one to copy for your own."""

from functools import cache
from typing import Annotated

from msgspec import Meta
from msgspec.structs import replace

from parlour.errors import Code, Refused
from parlour.game import Event, Game, Moment, Outcome, Send, State, Timeouts, Update
from parlour.scene import Line, Piece, Scene, Side, grid
from parlour.turns import draw, win

LINES = ((0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6))
MARKS = "XO"
GRID = tuple(Line(*ends) for at in (1, 2) for ends in ((at, 0.06, at, 2.94), (0.06, at, 2.94, at)))
PLACES = ("top left", "top", "top right", "left", "centre", "right", "bottom left", "bottom", "bottom right")


class Board(State, frozen=True):
    """Nine cells, row by row: X, O, or a dot where nobody has been.

    >>> print(Board.parse("X . . / . O . / . . ."))
    X . .
    . O .
    . . .
    """

    cells: str = "." * 9
    played: tuple[int, ...] = ()
    """The cells in the order in which they were taken."""

    @classmethod
    def parse(cls, drawn: str) -> "Board":
        """A board as it is drawn, its rows on lines of their own or between slashes."""
        cells = "".join(drawn.replace("/", " ").split())
        if len(cells) != 9 or set(cells) - set(f"{MARKS}."):
            raise ValueError(f"expected nine cells made of X, O and dots, got {cells!r}")
        return cls(cells)

    def __str__(self) -> str:
        return "\n".join(" ".join(self.cells[row : row + 3]) for row in (0, 3, 6))

    @property
    def full(self) -> bool:
        """Both players are here."""
        return None not in (self.player(0), self.player(1))

    @property
    def turn(self) -> int:
        """Whose turn it is: 0 for X, who begins, 1 for O."""
        return self.cells.count("X") - self.cells.count("O")

    @property
    def winner(self) -> int | None:
        """Who has three in a row."""
        line = line_of(self.cells)
        return MARKS.index(self.cells[line[0]]) if line else None

    @property
    def over(self) -> bool:
        """Somebody won, or there is no cell left."""
        return self.winner is not None or "." not in self.cells


@cache
def line_of(cells: str) -> tuple[int, ...]:
    """Three in a row, if there are; there are so few boards that each is looked at once."""
    for a, b, c in LINES:
        if cells[a] == cells[b] == cells[c] != ".":
            return (a, b, c)
    return ()


class Mark(Event, frozen=True):
    """Put your mark into a cell, counted 0 to 8 row by row."""

    cell: Annotated[int, Meta(ge=0, le=8)]


MOVES = tuple(Mark(cell) for cell in range(9))


class TicTacToe(Game[Board]):
    """Two players, three in a row wins."""

    name = "tictactoe"
    display_name = "Noughts and crosses"
    seats = range(2, 3)
    timeouts = Timeouts(game="server", away=None, nobody=None)
    offers = ("resign", "draw", "takeback")
    first_move = "Click any free square: three of yours in a row win."
    State = Board
    Event = Mark

    def init(self, config: object, moment: Moment) -> Board:
        return Board()

    def handle_event(self, state: Board, sender: str, event: Mark, moment: Moment) -> Update[Board]:
        if state.over:
            raise Refused(Code.ILLEGAL_MOVE, "the game is over")
        if None in moment.seats:
            raise Refused(Code.NOT_YOUR_TURN, "the game begins when both players are here")
        mark = MARKS[state.turn]
        if sender != state.player(state.turn):
            raise Refused(Code.NOT_YOUR_TURN, f"it is {mark}'s turn")
        if state.cells[event.cell] != ".":
            raise Refused(Code.ILLEGAL_MOVE, f"cell {event.cell} is taken")
        cells = state.cells[: event.cell] + mark + state.cells[event.cell + 1 :]
        told = Send("all", {"type": "marked", "cell": event.cell, "mark": mark})
        return Update(replace(state, cells=cells, played=(*state.played, event.cell)), (told,))

    def view(self, state: Board, viewer: str | None) -> dict[str, object]:
        seat, winner, over = state.seat(viewer), state.winner, state.over
        return {
            "cells": state.cells,
            "turn": None if over else MARKS[state.turn],
            "you": None if seat is None else MARKS[seat],
            "winner": None if winner is None else MARKS[winner],
            "over": over,
        }

    def scene(self, state: Board, viewer: str | None) -> Scene:
        legal = {mark.cell: mark for mark in self.legal_events(state, viewer)}
        return Scene(
            3,
            3,
            spots=grid(3, 3, labels=PLACES, click=legal, fill="none"),
            pieces=tuple(_piece(state, cell) for cell, mark in enumerate(state.cells) if mark != "."),
            lines=(*GRID, *_strike(state)),
            status=_status(state, state.seat(viewer)),
            turn=() if state.over or not state.full else (state.turn,),
            sides=(Side("x"), Side("o")),
            cue="move" if state.winner is None else "win",
            log=tuple(f"{{{turn % 2}}}: {PLACES[cell]}" for turn, cell in enumerate(state.played)),
        )

    def diagram(self, text: str) -> Scene:
        return self.scene(Board.parse(text), None)

    def legal_events(self, state: Board, player: str | None) -> list[Mark]:
        if state.over or not state.full or player != state.player(state.turn):
            return []
        return [move for move, mark in zip(MOVES, state.cells, strict=True) if mark == "."]

    def observe(self, state: Board, viewer: str | None) -> dict[str, tuple[float, ...]]:
        seat = state.seat(viewer) or 0
        *marks, free = _planes(state.cells)
        return {"mine": marks[seat], "theirs": marks[1 - seat], "free": free}

    def outcome(self, state: Board) -> Outcome | None:
        if not state.over:
            return None
        if state.winner is None:
            return draw(state.players, "the board is full")
        return win(state.players, state.winner, "three in a row")


@cache
def _planes(cells: str) -> tuple[tuple[float, ...], ...]:
    """For each mark, which cells have it; and which are free."""
    return tuple(tuple(float(cell == mark) for cell in cells) for mark in f"{MARKS}.")


def _piece(board: Board, cell: int) -> Piece:
    mark = board.cells[cell]
    return Piece(
        f"m{cell}",
        "x" if mark == "X" else "o",
        f"c{cell}",
        owner=MARKS.index(mark),
        label=mark,
        mark="win" if cell in line_of(board.cells) else "last" if board.played[-1:] == (cell,) else None,
    )


def _strike(board: Board) -> tuple[Line, ...]:
    """The line through three in a row, from edge to edge."""
    if board.winner is None:
        return ()
    first, _, last = line_of(board.cells)
    (x, y), (to_x, to_y) = ((cell % 3, cell // 3) for cell in (first, last))
    dx, dy = (to_x - x) * 0.19, (to_y - y) * 0.19
    return (Line(x + 0.5 - dx, y + 0.5 - dy, to_x + 0.5 + dx, to_y + 0.5 + dy, owner=board.winner),)


def _status(board: Board, seat: int | None) -> str:
    """What this seat, or somebody who watches, wants to know first."""
    if board.winner is not None:
        return (
            "You win: three in a row" if board.winner == seat else f"{{{board.winner}}} wins: three in a row"
        )
    if board.over:
        return "A draw: the board is full"
    if not board.full:
        return "Waiting for another player"
    return "Your turn" if board.turn == seat else f"Waiting for {{{board.turn}}}"
