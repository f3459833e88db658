"""A game of Stratego at one moment: the board, whose turn it is, what was lost, and how it ended."""

from collections.abc import Iterator
from typing import Literal

import msgspec
from msgspec.structs import replace

from parlour.errors import Code, Refused
from parlour.game import Chance, State
from parlour.games.stratego import board
from parlour.games.stratego.board import (
    BLUE,
    FLAG,
    MARSHAL,
    MOVED,
    NOTHING,
    RANKS,
    RED,
    SHOWN,
    SIDES,
    SLID,
    Cells,
    Piece,
    Result,
    fight,
    is_slide,
)

Phase = Literal["waiting", "arranging", "playing", "over"]
Reason = Literal["flag", "stuck", "resigned", "time", "away", "agreed", "quiet"]

WHY: dict[Reason, str] = {
    "flag": "the flag is captured",
    "stuck": "no piece is left that can move",
    "resigned": "the other side resigned",
    "time": "the time is up",
    "away": "the other side was away too long",
    "agreed": "both sides agreed",
    "quiet": "nobody has fought for too long",
}

MANY_TRIES = 20


class Rules(msgspec.Struct, frozen=True):
    """What can differ from game to game; 0 seconds or moves: no limit."""

    lakes: bool = True
    setup: Literal["arrange", "random"] = "arrange"
    two_squares: bool = True
    arrange_seconds: int = 300
    quiet_limit: int = 200
    restart_after: int = 0


class Last(msgspec.Struct, frozen=True):
    """The last move; of a fight also both ranks, which everybody gets to see, and how the attacker fared."""

    start: int
    end: int
    side: int
    attacker: int = 0
    defender: int = 0
    result: Result | None = None

    def told(self) -> dict[str, object]:
        """The move as everybody is told."""
        move: dict[str, object] = {"side": SIDES[self.side], "from": self.start, "to": self.end}
        if self.result is None:
            return move
        ranks = {"attacker": RANKS[self.attacker], "defender": RANKS[self.defender]}
        return {**move, "fight": {**ranks, "result": self.result}}


class Walk(msgspec.Struct, frozen=True, array_like=True):
    """A move without a fight, and how many fights came before it."""

    fights: int
    side: int
    start: int
    end: int


class Ending(msgspec.Struct, frozen=True):
    """Who won, if anybody, and why."""

    winner: int | None
    reason: Reason


class Position(State, frozen=True):
    """All there is to know. Seat 0 has the red pieces, seat 1 the blue ones.

    >>> print(Position.parse("r9 b5").play(0, 1).rows()[0])
    . R9 . . . . . . . .
    """

    rules: Rules = Rules()
    phase: Phase = "waiting"
    cells: Cells = NOTHING
    turn: int = RED
    ready: tuple[bool, bool] = (False, False)
    fallen: tuple[tuple[Piece, ...], tuple[Piece, ...]] = ((), ())
    """Each side's, in the order in which they fell: the trays beside the board."""
    fights: tuple[Last, ...] = ()
    walks: tuple[Walk, ...] = ()
    trails: tuple[tuple[int, ...], tuple[int, ...]] = ((), ())
    """For each side the squares on which the piece that it moved last has stood, up to four."""
    last: Last | None = None
    quiet: int = 0
    """Moves since the last fight."""
    offer: int | None = None
    """The side that offers a draw."""
    declined: int | None = None
    """The side whose offer was declined, or passed over by a move, until it moves or offers again."""
    until: float | None = None
    """When the time to arrange is up: wall time, for display."""
    since: float = 0.0
    """When that time began, on the room's clock."""
    ending: Ending | None = None

    @classmethod
    def parse(cls, drawn: str, *, turn: int = RED, rules: Rules | None = None) -> "Position":
        """A game in the middle, on a board as it is drawn; a part of a board is its upper left corner."""
        cells, lakes = board.parse(drawn)
        return cls(rules=replace(rules or Rules(), lakes=lakes), phase="playing", cells=cells, turn=turn)

    @property
    def lost(self) -> list[str]:
        """The ranks of each side's fallen."""
        return ["".join(RANKS[piece.rank] for piece in side) for side in self.fallen]

    def __str__(self) -> str:
        words = board.draw(self.cells, lakes=self.rules.lakes)
        return "\n".join(" ".join(word.ljust(3) for word in row).rstrip() for row in words)

    def ids(self, viewer: int | None) -> list[int]:
        """What a side, or everybody without one, calls the pieces on the squares; 0 where there is none.

        While a side arranges its pieces, only that side can tell which one went where.
        """
        if self.phase != "arranging":
            return [0 if piece is None else piece.id for piece in self.cells]
        return [
            0 if piece is None else piece.id if piece.side == viewer else square + 1
            for square, piece in enumerate(self.cells)
        ]

    def open_to(self, viewer: int | None) -> tuple[int | None, ...]:
        """The sides whose ranks a side knows, or everybody without one; when it is over, both."""
        return (viewer,) if self.ending is None else (RED, BLUE)

    def rows(self, viewer: int | None = None) -> list[str]:
        """The board as a side sees it, or everybody without a side."""
        words = board.draw(self.cells, lakes=self.rules.lakes, knows=self.open_to(viewer))
        return [" ".join(row) for row in words]

    # Moves.

    def moves(self, side: int) -> Iterator[tuple[int, int]]:
        """From where to where a side may move, were it their turn."""
        watched = self._watched(side)
        for start, end in board.moves(self.cells, side, lakes=self.rules.lakes):
            if start != watched or not self._too_often(side, start, end):
                yield start, end

    def check(self, side: int, start: int, end: int) -> None:
        """Refuse a move that this side may not make."""
        why = board.why_not(self.cells, side, start, end, lakes=self.rules.lakes)
        if why is None and self._too_often(side, start, end):
            why = "a piece may go to and fro between two squares three times, not more"
        if why is not None:
            raise Refused(Code.ILLEGAL_MOVE, why)

    def _too_often(self, side: int, start: int, end: int) -> bool:
        """The two-square rule; a scout goes to and fro over every square on its way."""
        return start == self._watched(side) and board.shuttles((*self.trails[side], end))

    def _watched(self, side: int) -> int | None:
        """Where the one piece stands that may have gone to and fro too often."""
        trail = self.trails[side]
        return trail[-1] if len(trail) >= 4 and self.rules.two_squares else None

    def play(self, start: int, end: int) -> "Position":
        """After a move that is legal, and whatever comes of it."""
        side, piece, met = self.turn, self.cells[start], self.cells[end]
        assert piece is not None  # noqa: S101 - the move was checked
        known = max(piece.known, SLID if is_slide(start, end) else MOVED)
        answered = self if self.offer != 1 - side else self.without_offer()
        trails = list(self.trails)
        trails[side] = _longer(trails[side], start, end)
        after = replace(
            answered,
            cells=_put(self.cells, {start: None, end: replace(piece, known=known)}),
            turn=1 - side,
            trails=(trails[RED], trails[BLUE]),
            last=Last(start, end, side),
            quiet=self.quiet + 1,
            declined=None if answered.declined == side else answered.declined,
        )
        return (after.walked() if met is None else after.fought(piece, met)).judged()

    def walked(self) -> "Position":
        """Write down that the last move met nobody."""
        assert self.last is not None  # noqa: S101 - it was just made
        walk = Walk(len(self.fights), self.last.side, self.last.start, self.last.end)
        return replace(self, walks=(*self.walks, walk))

    def fought(self, attacker: Piece, defender: Piece) -> "Position":
        """Show both; the loser goes to its tray, and the winner stands there, known to everybody."""
        assert self.last is not None  # noqa: S101 - it was just made
        result = fight(attacker.rank, defender.rank)
        winner = {"won": attacker, "lost": defender, "both fell": None}[result]
        fallen = list(self.fallen)
        for piece in (attacker, defender):
            if piece is not winner:
                fallen[piece.side] += (piece,)
        last = replace(self.last, attacker=attacker.rank, defender=defender.rank, result=result)
        return replace(
            self,
            cells=_put(self.cells, {last.end: winner and replace(winner, known=SHOWN)}),
            fallen=(fallen[RED], fallen[BLUE]),
            last=last,
            fights=(*self.fights, last),
            quiet=0,
        )

    # The end.

    def judged(self) -> "Position":
        """Over when a flag fell, when a side cannot move, or when nobody has fought for long."""
        mover, other = 1 - self.turn, self.turn
        if self.last is not None and self.last.defender == FLAG:
            return self.ended(mover, "flag")
        beaten = [mover] if not self._has_mobile(mover) else []
        if not any(self.moves(other)):
            beaten.append(other)
        if beaten:
            return self.ended(None if len(beaten) == 2 else 1 - beaten[0], "stuck")
        if 0 < self.rules.quiet_limit <= self.quiet:
            return self.ended(None, "quiet")
        return self

    def _has_mobile(self, side: int) -> bool:
        """Whether a side has pieces that can move, though they may be hemmed in until the other has moved."""
        return any(piece and piece.side == side and piece.rank <= MARSHAL for piece in self.cells)

    def begun(self) -> "Position":
        """Red may move; who has drawn up so that nothing can has lost."""
        cells = tuple(piece and replace(piece, id=square + 1) for square, piece in enumerate(self.cells))
        return replace(self, phase="playing", cells=cells, ready=(True, True)).judged()

    def without_offer(self) -> "Position":
        """The offer of a draw is not taken; it stands until the other side says so, or moves."""
        return replace(self, offer=None, declined=self.offer)

    def ended(self, winner: int | None, reason: Reason) -> "Position":
        """Over."""
        return replace(self, phase="over", ending=Ending(winner, reason), offer=None, until=None)

    # What a viewer does not know.

    def reimagined(self, viewer: int | None, chance: Chance) -> "Position":
        """The same for all that this side knows, or everybody without a side."""
        known = self.open_to(viewer)
        for _ in range(MANY_TRIES):
            cells = self.cells
            for side in (RED, BLUE):
                if side not in known:
                    cells = board.redeal(cells, side, chance)
                    cells = board.renumber(cells, side, chance) if self.phase == "arranging" else cells
            other = replace(self, cells=cells)
            if _movers(self) == _movers(other):  # else one of them would be over
                return other
        return self


def _movers(position: Position) -> list[int]:
    return [side for side in (RED, BLUE) if any(position.moves(side))]


def _put(cells: Cells, changes: dict[int, Piece | None]) -> Cells:
    changed = list(cells)
    for square, piece in changes.items():
        changed[square] = piece
    return tuple(changed)


def _longer(trail: tuple[int, ...], start: int, end: int) -> tuple[int, ...]:
    """The way of the piece that moved; another piece begins a new one."""
    return (*trail[-3:], end) if trail and trail[-1] == start else (start, end)
