"""The XsOs door, version 3: two players of one chat, whose messages are passed on, in order and not lost.

All the playing is done by the clients. This decides who gets what: a message of a line (a connection) goes
in, and out comes what each line is told. No clock and no network; both are handed in.
"""

import re
from collections.abc import Callable
from typing import Annotated, Any, Literal, NamedTuple, Protocol

import msgspec
from msgspec import Meta, Struct, field

from parlour.errors import Code, Refused, parse
from parlour.games.tictactoe import MARKS, Board
from parlour.sanitize import strict

VERSION = 3
SERVER = "server"
"""Who says what no player said; nobody else may use this name."""
AWAY_TIMEOUT = 120.0
"""Seconds for which a seat is kept for somebody whose line broke."""
MAX_KEPT = 100
MAX_KEPT_BYTES = 64 * 1024
"""What is kept for somebody who is away; more is refused to the one who says it."""
MAX_ABSENT = 10_000
"""Seats of people who are away, of all pairs; then the longest absent lose theirs."""
MAX_WAITING = 512 * 1024
"""Bytes that a seat holds at most of what was told to a line and has perhaps not arrived."""
SEAT, MESSAGE = 4096, 64
"""Bytes that a seat and a message count besides what was said."""

# What a client may say.

Id = Annotated[str, Meta(min_length=1, max_length=256)]
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


class Message(Struct, frozen=True, kw_only=True):
    """What every message has; fields that nobody knows are passed on."""

    version: Annotated[int, Meta(ge=VERSION, le=VERSION)]
    seq: Annotated[int, Meta(ge=0)]
    player: Id = field(name="from")
    chat: Id = field(name="utouId")
    action: str


class Introduction(Message, frozen=True):
    """Who is here."""

    name: Annotated[str, Meta(max_length=256)]
    img: Annotated[str, Meta(max_length=2048)] | None = field(name="imgURL", default=None)


class XsosJoin(Introduction, frozen=True):
    """Here I am."""


class StartGame(Introduction, frozen=True):
    """I heard your join; let us begin."""


class StartGameAck(Message, frozen=True):
    """Yes, let us."""


class UpdateGame(Message, frozen=True):
    """The board after my move, row by row: 1 is O, -1 is X, 0 is empty."""

    game: Annotated[tuple[Literal[-1, 0, 1], ...], Meta(min_length=9, max_length=9)]


class GameOver(Message, frozen=True):
    """I see that your move ended it."""


class LeaveGame(Message, frozen=True):
    """Goodbye."""


ACTIONS: dict[str, type[Message]] = {
    "join": XsosJoin,
    "start_game": StartGame,
    "start_game_ack": StartGameAck,
    "update_game": UpdateGame,
    "game_over": GameOver,
    "leave_game": LeaveGame,
}
_base = msgspec.json.Decoder(Message)
_readers = {action: msgspec.json.Decoder(kind) for action, kind in ACTIONS.items()}


def read(body: bytes) -> Message:
    """A message, or a refusal that says what was expected and what came.

    >>> read(b'{"version":3,"seq":0,"from":"ann","utouId":"chat","action":"dance"}')
    Traceback (most recent call last):
    parlour.errors.Refused: ('unknown_event', "$.action: expected join, ... leave_game, got 'dance'")
    """
    base = parse(_base.decode, strict(body))
    for where, id in (("$.from", base.player), ("$.utouId", base.chat)):
        if _CONTROL.search(id):
            what = f"{where}: expected no control characters, got {id[:40]!r}"
            raise Refused(Code.MALFORMED, what, path=where)
    if base.player == SERVER:
        raise Refused(Code.MALFORMED, f"$.from: expected a player, got {SERVER!r}", path="$.from")
    reader = _readers.get(base.action)
    if reader is None:
        what = f"$.action: expected join, ... leave_game, got {base.action[:40]!r}"
        raise Refused(Code.UNKNOWN_EVENT, what, path="$.action")
    return parse(reader.decode, body)


# The referee.


class XsosRecord(NamedTuple):
    """A game as the referee knows it: who began with which mark, and the board, on which that mark is X."""

    beginner: str
    mark: int
    board: Board


def judge(record: XsosRecord | None, player: str, game: tuple[int, ...]) -> XsosRecord:
    """The record with one more move, or a refusal; the first move decides who has which mark.

    >>> begun = judge(None, "ann", (0, 0, 0, 0, 1, 0, 0, 0, 0))
    >>> judge(begun, "ann", (1, 0, 0, 0, 1, 0, 0, 0, 0))
    Traceback (most recent call last):
    parlour.errors.Refused: ('not_your_turn', 'it is the turn of the other player')
    """
    record = record or XsosRecord(player, next(filter(None, game), 1), Board())
    board, began = record.board, player == record.beginner
    if board.over:
        raise Refused(Code.ILLEGAL_MOVE, "the game is over")
    if (board.turn == 0) != began:
        raise Refused(Code.NOT_YOUR_TURN, "it is the turn of the other player")
    cells = "".join("." if not mark else MARKS[mark != record.mark] for mark in game)
    changed = [cell for cell in range(9) if cells[cell] != board.cells[cell]]
    if len(changed) != 1:
        raise Refused(Code.ILLEGAL_MOVE, f"expected one new mark, got {len(changed)} cells that changed")
    (cell,) = changed
    if board.cells[cell] != ".":
        raise Refused(Code.ILLEGAL_MOVE, f"cell {cell} is taken")
    if cells[cell] != MARKS[board.turn]:
        raise Refused(Code.ILLEGAL_MOVE, f"cell {cell}: expected your own mark, got the other player's")
    return record._replace(board=Board(cells))


# Who is where.


class Told(NamedTuple):
    """What is said to a line: one `server_msg`."""

    line: str
    body: bytes


class XsosAnswer(NamedTuple):
    """What comes of a message: the acknowledgement, if one was asked for, and what lines are told."""

    ack: dict[str, Any]
    told: list[Told]

    @property
    def code(self) -> str | None:
        """Why it was refused, if it was."""
        return self.ack.get("code")


class Account(Protocol):
    """Counts the bytes that are held for an address and in total."""

    def check(self, amount: int = 1, **holders: str) -> None:
        """Refuse with `too_many` what is too much."""
        ...

    def change(self, before: int, now: int, **holders: str) -> None:
        """Count *now* where *before* was counted."""
        ...


class Ear:
    """A line, how much it was told, and the seat that it speaks for."""

    __slots__ = ("complaints", "line", "seat", "told")

    def __init__(self, line: str) -> None:
        self.line = line
        self.told = 0
        self.complaints = 0
        self.seat: XsosSeat | None = None


class XsosSeat:
    """A player's place in a chat; it outlives the line for a while."""

    __slots__ = (
        "address", "away_since", "chat", "counted", "ear", "handed", "kept", "pair", "player", "seq",
        "settled",
    )  # fmt: skip

    def __init__(self, chat: str, player: str, pair: "Pair") -> None:
        self.address = ""
        """For whom it is counted: where its line comes from, or came from."""
        self.counted = 0
        """The bytes that are counted for it."""
        self.chat = chat
        self.player = player
        self.pair: Pair | None = pair
        """None when it is over: the other has left, which is the last thing to be told."""
        self.ear: Ear | None = None
        self.seq: int | None = None
        self.away_since = 0.0
        self.kept: list[bytes] = []
        self.handed: list[bytes | None] = []
        """Told to the line, and perhaps not arrived; None for what need not be told again."""
        self.settled = 0
        """How many that the line was told are behind those in `handed`."""

    @property
    def weight(self) -> int:
        """The bytes that it holds."""
        return SEAT + sum(MESSAGE + len(body or b"") for body in (*self.kept, *self.handed))

    def take(self, ear: Ear) -> None:
        """Speak through this line from now on."""
        self.ear, ear.seat = ear, self
        self.handed, self.settled = [], ear.told
        self.seq = None

    def settle(self, arrived: int) -> None:
        """So many of what the line was told have arrived for certain."""
        count = max(0, min(arrived - self.settled, len(self.handed)))
        del self.handed[:count]
        self.settled += count

    def let_go(self, now: float) -> None:
        """The line is gone, and with it what had not arrived: that is kept."""
        if self.ear is not None:
            self.ear.seat = None
        self.ear, self.away_since = None, now
        self.kept = [body for body in self.handed if body is not None] + self.kept
        self.handed = []

    def keep(self, body: bytes) -> None:
        """Remember for when they are back."""
        if len(self.kept) >= MAX_KEPT or sum(map(len, self.kept)) + len(body) > MAX_KEPT_BYTES:
            raise Refused(Code.TOO_MANY, f"the other player is away, and {len(self.kept)} messages wait")
        self.kept.append(body)


class Pair:
    """At most two seats of one chat, in the order of their joins."""

    __slots__ = ("record", "seats")

    def __init__(self) -> None:
        self.seats: list[XsosSeat] = []
        self.record: XsosRecord | None = None

    def other(self, seat: XsosSeat) -> XsosSeat | None:
        """The one who sits opposite, if somebody does."""
        return next((each for each in self.seats if each is not seat), None)


class Xsos:
    """All pairs of this server."""

    def __init__(
        self,
        arrived: Callable[[str], int],
        whose: Callable[[str], str],
        held: Account,
        *,
        referee: bool = False,
    ) -> None:
        self._arrived = arrived
        """How many of the messages that a line was told have reached the other end for certain."""
        self._whose = whose
        """Where a line comes from."""
        self._held = held
        self._touched: set[XsosSeat] = set()
        """Seats that may hold more or less than what is counted for them."""
        self._referee = referee
        self._ears: dict[str, Ear] = {}
        self._seats: dict[tuple[str, str], XsosSeat] = {}
        self._pairs: dict[str, Pair] = {}
        self._absent: dict[XsosSeat, None] = {}
        self._told: list[Told] = []
        self.jumps = 0
        """Messages whose `seq` did not follow the one before."""

    def __len__(self) -> int:
        """Seats that are taken or kept."""
        return len(self._seats)

    # What the network reports.

    def receive(self, line: str, body: bytes, now: float, *, asked: bool) -> XsosAnswer:
        """Somebody says something, and may have *asked* for an acknowledgement."""
        ear = self._ears.setdefault(line, Ear(line))
        try:
            message = read(body)
        except Refused as why:
            return self._refuse(ear, why, asked=asked)
        try:
            delivered = self._hear(ear, message, body, now)
        except Refused as why:
            return self._refuse(ear, why, message.chat, asked=asked)
        return XsosAnswer({"delivered": delivered}, self._collect())

    def refuse(self, line: str, why: Refused, *, asked: bool) -> XsosAnswer:
        """Say no to something that did not get as far as `receive`."""
        return self._refuse(self._ears.setdefault(line, Ear(line)), why, asked=asked)

    def gone(self, line: str, now: float) -> list[Told]:
        """A line is lost; its seat waits."""
        ear = self._ears.pop(line, None)
        if ear is not None and ear.seat is not None:
            self._part(ear.seat, now)
            while len(self._absent) > MAX_ABSENT:
                self._give_up(next(iter(self._absent)))
        return self._collect()

    def expire(self, now: float) -> list[Told]:
        """Whoever is away for too long has left."""
        while self._absent and now - (seat := next(iter(self._absent))).away_since >= AWAY_TIMEOUT:
            self._give_up(seat)
        return self._collect()

    # Coming in.

    def _hear(self, ear: Ear, message: Message, body: bytes, now: float) -> bool:
        """Whether the other player was told at once."""
        new = False
        seat = self._seat_of(ear, message)
        if seat is None:
            seat, new = self._find_seat(ear, message, now)
        if seat is None:
            return False
        self._count(seat, message.seq)
        match message:
            case LeaveGame():
                return self._leave(seat, body)
            case XsosJoin():
                return new and self._pass_on(seat, body)
            case GameOver() if seat.pair is None:
                return False  # it crossed the other's goodbye
            case _:
                return self._play(seat, message, body)

    def _seat_of(self, ear: Ear, message: Message) -> XsosSeat | None:
        """The seat that this line speaks for already; a join after the end is for another game."""
        seat = ear.seat
        if seat is None:
            return None
        if seat.pair is None and isinstance(message, XsosJoin):
            self._forget(seat)
            return None
        if (seat.chat, seat.player) != (message.chat, message.player):
            raise Refused(
                Code.NOT_JOINED,
                f"this connection speaks for {seat.player} in {seat.chat}; leave first, or open another",
            )
        return seat

    def _find_seat(self, ear: Ear, message: Message, now: float) -> tuple[XsosSeat | None, bool]:
        """The seat that a line takes or comes back to, and whether it is new; none for a late goodbye."""
        seat = self._seats.get((message.chat, message.player))
        if seat is not None and self._come_back(seat, ear, now):
            return seat, False
        if isinstance(message, XsosJoin):
            return self._sit(ear, message), True
        if isinstance(message, LeaveGame):
            return None, False
        raise Refused(Code.NOT_JOINED, f"expected a join first, got {message.action}")

    def _come_back(self, seat: XsosSeat, ear: Ear, now: float) -> bool:
        """Tell what was missed; a seat where all is over and told is none to come back to."""
        if (old := seat.ear) is not None:
            self._part(seat, now)
            taken = Refused(Code.NOT_JOINED, "another connection has taken this seat")
            self._complain(old, taken, seat.chat)
        self._absent.pop(seat, None)
        if seat.pair is None and not seat.kept:
            self._forget(seat)
            return False
        missed, seat.kept = seat.kept, []
        self._take(seat, ear)
        for body in missed:
            self._hand(seat, body)
        return True

    def _sit(self, ear: Ear, message: Message) -> XsosSeat:
        pair = self._pairs.get(message.chat) or Pair()
        if len(pair.seats) == 2:
            raise Refused(Code.GAME_FULL, "two players are in this chat's game already")
        self._held.check(SEAT, address=self._whose(ear.line))
        self._pairs[message.chat] = pair
        seat = XsosSeat(message.chat, message.player, pair)
        pair.seats.append(seat)
        self._seats[message.chat, message.player] = seat
        self._take(seat, ear)
        return seat

    def _take(self, seat: XsosSeat, ear: Ear) -> None:
        seat.take(ear)
        self._count_seat(seat, 0)
        seat.address = self._whose(ear.line)
        self._touched.add(seat)

    def _count(self, seat: XsosSeat, seq: int) -> None:
        """A jump is delivered all the same: the receivers are the ones to mind, and none does."""
        if seat.seq is not None and seq != seat.seq + 1:
            self.jumps += 1
        seat.seq = seq

    # Playing.

    def _play(self, seat: XsosSeat, message: Message, body: bytes) -> bool:
        pair = seat.pair
        if pair is None:
            raise Refused(Code.NOT_JOINED, "the other player has left; join for another game")
        if pair.other(seat) is None:
            raise Refused(Code.NOT_YOUR_TURN, "the game begins when both players are here")
        record = pair.record
        if self._referee and isinstance(message, UpdateGame):
            record = judge(record, seat.player, message.game)
        elif isinstance(message, StartGame) and record is not None and record.board.over:
            record = None
        delivered = self._pass_on(seat, body)
        pair.record = record  # only now: what could not be kept for the other has not happened
        return delivered

    def _pass_on(self, seat: XsosSeat, body: bytes) -> bool:
        """Tell the other, or keep it for them."""
        other = seat.pair and seat.pair.other(seat)
        if not other:
            return False
        if other.ear is not None:
            other.settle(self._arrived(other.ear.line))
        self._count_seat(other, other.weight)
        self._held.check(MESSAGE + len(body), address=other.address)
        if other.weight > MAX_WAITING:
            raise Refused(Code.TOO_MANY, "the other player does not read, and much waits for them")
        if other.ear is None:
            other.keep(body)
            self._touched.add(other)
            return False
        self._hand(other, body)
        return True

    # Going.

    def _part(self, seat: XsosSeat, now: float) -> None:
        """A line is lost, or another one took its place; where all is over and told, nothing waits."""
        if seat.ear is not None:
            seat.settle(self._arrived(seat.ear.line))
        seat.let_go(now)
        self._touched.add(seat)
        if seat.pair is None and not seat.kept:
            self._forget(seat)
        else:
            self._absent[seat] = None

    def _leave(self, seat: XsosSeat, body: bytes) -> bool:
        """The other hears it, and that is the end of the pair."""
        delivered = False
        if seat.pair is not None:
            other = seat.pair.other(seat)
            if other is not None and other.ear is None:
                other.kept.append(body)  # the last word finds a place
                self._touched.add(other)
            elif other is not None:
                self._hand(other, body)
                delivered = True
            del self._pairs[seat.chat]
            if other is not None:
                other.pair = None
        self._forget(seat)
        return delivered

    def _give_up(self, seat: XsosSeat) -> None:
        """Nobody comes back to this seat; the other is told as by a goodbye."""
        self._leave(seat, _server_message(seat.chat, 0, {"action": "leave_game"}))

    def _forget(self, seat: XsosSeat) -> None:
        if seat.ear is not None:
            seat.ear.seat = None
        self._absent.pop(seat, None)
        self._seats.pop((seat.chat, seat.player), None)
        self._touched.add(seat)

    # Counting.

    def _count_touched(self) -> None:
        for seat in self._touched:
            is_there = self._seats.get((seat.chat, seat.player)) is seat
            self._count_seat(seat, seat.weight if is_there else 0)
        self._touched.clear()

    def _count_seat(self, seat: XsosSeat, weight: int) -> None:
        if weight != seat.counted:
            self._held.change(seat.counted, weight, address=seat.address)
            seat.counted = weight

    # Speaking.

    def _hand(self, seat: XsosSeat, body: bytes) -> None:
        if seat.ear is not None:
            self._say(seat.ear, body)

    def _say(self, ear: Ear, body: bytes, *, again: bool = True) -> None:
        ear.told += 1
        if (seat := ear.seat) is not None:
            seat.settle(self._arrived(ear.line))
            seat.handed.append(body if again else None)
            self._touched.add(seat)
        self._told.append(Told(ear.line, body))

    def _complain(self, ear: Ear, why: Refused, chat: str) -> None:
        said = {"action": "error", "code": why.code, "message": why.message}
        self._say(ear, _server_message(chat, ear.complaints, said), again=False)
        ear.complaints += 1

    def _refuse(self, ear: Ear, why: Refused, chat: str | None = None, *, asked: bool) -> XsosAnswer:
        if not asked:
            self._complain(ear, why, chat or (ear.seat.chat if ear.seat else ""))
        return XsosAnswer({"code": why.code, "message": why.message}, self._collect())

    def _collect(self) -> list[Told]:
        self._count_touched()
        told, self._told = self._told, []
        return told


def _server_message(chat: str, seq: int, more: dict[str, str]) -> bytes:
    return msgspec.json.encode({"version": VERSION, "seq": seq, "from": SERVER, "utouId": chat, **more})
