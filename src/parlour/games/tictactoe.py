"""Noughts and crosses: the smallest whole game, and the one to copy for your own."""

from functools import cache
from typing import Annotated

from msgspec import Meta
from msgspec.structs import replace

from parlour.errors import Code, Refused
from parlour.game import Event, Game, Moment, Outcome, Send, State, Update

LINES = ((0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6))
MARKS = "XO"


class Board(State, frozen=True):
    """Nine cells, row by row: X, O, or a dot where nobody has been.

    >>> print(Board.parse("X . . / . O . / . . ."))
    X . .
    . O .
    . . .
    """

    cells: str = "." * 9

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
    def turn(self) -> int:
        """Whose turn it is: 0 for X, who begins, 1 for O."""
        return self.cells.count("X") - self.cells.count("O")

    @property
    def winner(self) -> int | None:
        """Who has three in a row."""
        return winner_of(self.cells)

    @property
    def over(self) -> bool:
        """Somebody won, or there is no cell left."""
        return self.winner is not None or "." not in self.cells


@cache
def winner_of(cells: str) -> int | None:
    """Who has three in a row here; there are so few boards that each is looked at once."""
    for a, b, c in LINES:
        if cells[a] == cells[b] == cells[c] != ".":
            return MARKS.index(cells[a])
    return None


class Mark(Event, frozen=True):
    """Put your mark into a cell, counted 0 to 8 row by row."""

    cell: Annotated[int, Meta(ge=0, le=8)]


class TicTacToe(Game[Board]):
    """Two players, three in a row wins."""

    name = "tictactoe"
    display_name = "Noughts and crosses"
    seats = range(2, 3)
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
        return Update(replace(state, cells=cells), (told,))

    def view(self, state: Board, viewer: str | None) -> dict[str, object]:
        seat, winner, over = state.seat(viewer), state.winner, state.over
        return {
            "cells": state.cells,
            "turn": None if over else MARKS[state.turn],
            "you": None if seat is None else MARKS[seat],
            "winner": None if winner is None else MARKS[winner],
            "over": over,
        }

    def legal_events(self, state: Board, player: str) -> list[Mark]:
        if state.over or None in (state.player(0), state.player(1)) or player != state.player(state.turn):
            return []
        return [Mark(cell) for cell, mark in enumerate(state.cells) if mark == "."]

    def outcome(self, state: Board) -> Outcome | None:
        if not state.over:
            return None
        x, o = (state.player(seat) or "" for seat in (0, 1))
        match state.winner:
            case 0:
                return Outcome(won=(x,), lost=(o,), why="three in a row")
            case 1:
                return Outcome(won=(o,), lost=(x,), why="three in a row")
            case _:
                return Outcome(drew=(x, o), why="the board is full")
