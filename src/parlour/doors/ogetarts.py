"""The door of Ogetarts' clients: topics ``games:<name>`` on the native socket, clicks on a board of Stratego.

A piece is ``[id, rank, player, i, j, revealed]``, an empty square ``[]``; rank 0 is one that is not known.
Player 1 has rows 0 to 3, and everybody counts rows and columns alike. The square that was clicked first
belongs to the connection: it is no step, and nobody else sees it.
"""

from typing import Annotated, Any

import msgspec
from msgspec import Meta
from msgspec.structs import replace

from parlour.errors import Code, Refused, parse
from parlour.games.stratego.board import MARSHAL, RANKS, SIDES, WIDTH
from parlour.games.stratego.formations import ARMY
from parlour.games.stratego.rules import Move, Reset
from parlour.protocols.phoenix import Frame, Phoenix
from parlour.sanitize import ROOM_ID, clean_name
from parlour.wire import Company, Enter, EnterByDoor, LookFirst, Push, Request, SendChat, SendEvent, Wish

TOPIC = "games:"
MOBILE = sum(RANKS.index(rank) <= MARSHAL for rank in ARMY)

View = dict[str, Any]

_encode = msgspec.json.Encoder().encode


class OgetartsJoin(msgspec.Struct, frozen=True):
    """Come in; *user* is what others see."""

    user: str | None = None


class Click(msgspec.Struct, frozen=True):
    """A square was clicked: row and column."""

    i: Annotated[int, Meta(ge=0, le=WIDTH - 1)]
    j: Annotated[int, Meta(ge=0, le=WIDTH - 1)]


class Talk(msgspec.Struct, frozen=True):
    """Say something to everybody."""

    message: str


_read_join = msgspec.json.Decoder(OgetartsJoin).decode
_read_click = msgspec.json.Decoder(Click).decode
_read_talk = msgspec.json.Decoder(Talk).decode


# What is shown.


def show(view: View, company: Company) -> View:
    """A view of Stratego as these clients read it."""
    winner, names = view["winner"], [seat.name if seat else "" for seat in company.seats]
    lost = [view["lost"][side] for side in SIDES]
    fallen = [
        [
            [id, RANKS.index(rank), player + 1, *divmod(id - 1, WIDTH), True]
            for id, rank in zip(ids, ranks, strict=True)
        ]
        for player, (ids, ranks) in enumerate(
            zip((view["fallen"][side] for side in SIDES), lost, strict=True)
        )
    ]
    return {
        "board": _board(view),
        "last_click": [],
        "p1_piece_count": MOBILE - _mobile(lost[0]),
        "p2_piece_count": MOBILE - _mobile(lost[1]),
        "p1_captured": fallen[0],
        "p2_captured": fallen[1],
        "flag_found": view["reason"] == "flag",
        "players": [name for name in names if name],
        "winner": None if winner is None else names[SIDES.index(winner)],
        "reason": view["reason"],
    }


def _mobile(ranks: str) -> int:
    return sum(RANKS.index(rank) <= MARSHAL for rank in ranks)


def _board(view: View) -> list[list[list[int | bool]]]:
    ids = view["ids"]
    return [
        [_piece(word, ids[WIDTH * i + j], i, j) for j, word in enumerate(row.split())]
        for i, row in enumerate(view["board"])
    ]


def _piece(word: str, id: int, i: int, j: int) -> list[int | bool]:
    """The piece of a word of a view.

    >>> _piece("R9", 15, 2, 3), _piece("b?'", 62, 5, 1), _piece(".", 0, 4, 4)
    ([15, 9, 1, 2, 3, True], [62, 0, 2, 5, 1, False], [])
    """
    if not id:
        return []
    player = 1 + (word[0].lower() == SIDES[1][0])
    return [id, RANKS.index(word[1]), player, i, j, word[0].isupper()]


# What is asked.


class Ogetarts(Phoenix):
    """The channels ``games:<name>`` of one connection, and which square it has clicked first in each."""

    shows = True
    __slots__ = ("_chosen",)

    def __init__(self, out: list[bytes] | None = None) -> None:
        super().__init__(out)
        self._chosen: dict[str, tuple[int, str]] = {}

    @staticmethod
    def topic_of(room: str | None) -> str:
        return f"{TOPIC}{room}"

    @staticmethod
    def room_of(topic: str) -> str:
        room = topic.removeprefix(TOPIC)
        if not ROOM_ID.fullmatch(room):
            why = f"expected a game's name of 1 to 64 letters, digits, dots, - and _, got {room[:80]!r}"
            raise Refused(Code.INVALID_NAME, why)
        return room

    def _enter(self, payload: bytes) -> Enter:
        user = parse(_read_join, payload).user
        name = None if user is None else clean_name(user)
        return EnterByDoor(game="stratego", config={"preset": "ogetarts"}, name=name)

    def _asked(self, room: str | None, event: str, payload: bytes) -> Wish:  # noqa: ARG002 - in any room
        match event:
            case "click":
                click = parse(_read_click, payload)
                return LookFirst(WIDTH * click.i + click.j)
            case "reset":
                return SendEvent(msgspec.Raw(_encode(Reset())))
            case "chat":
                return SendChat(parse(_read_talk, payload).message)
            case _:
                raise Refused(Code.UNKNOWN_EVENT, f"expected click, reset or chat, got {event[:40]!r}")

    @staticmethod
    def show(room: str, view: View, company: Company) -> View:  # noqa: ARG004 - the same in every room
        return show(view, company)

    def decide(self, request: Request, view: View) -> SendEvent | None:
        """The first click chooses a piece, the second moves it; the same one again lets it go."""
        assert isinstance(request.wish, LookFirst)  # noqa: S101 - nothing else is decided
        room, square = request.room or "", request.wish.asked
        you, words = view["you"], " ".join(view["board"]).split()
        if you is None:
            raise Refused(Code.NOT_SEATED, "only the two players move pieces; you are watching")
        if view["phase"] == "over":
            raise Refused(Code.ILLEGAL_MOVE, "the game is over")
        if view["phase"] != "playing":
            raise Refused(Code.NOT_YOUR_TURN, "the game has not begun")
        chosen, word = self._still_chosen(room, view), words[square]
        mine = word[0].lower() == you[0]
        if chosen is None:
            if not mine or word[1] in "BF":
                raise Refused(Code.ILLEGAL_MOVE, "first click a piece of yours that can move")
            self._chosen[room] = square, word
        elif chosen == square:
            del self._chosen[room]
        elif not mine:
            return SendEvent(msgspec.Raw(_encode(Move(chosen, square))))
        return None

    def _still_chosen(self, room: str, view: View) -> int | None:
        """The square that was clicked first, while the same piece stands there."""
        square, word = self._chosen.get(room, (0, ""))
        row, column = divmod(square, WIDTH)
        if word and view["phase"] == "playing" and view["board"][row].split()[column] == word:
            return square
        self._chosen.pop(room, None)
        return None

    # What is answered and told.

    def accept(self, request: Request, payload: Any) -> None:
        """Every answer but that to chat shows the game, with the square that this connection has chosen."""
        answer: dict[str, Any] = {}
        if "seen" in payload and not isinstance(request.wish, SendChat):
            room, game = request.room or "", payload["seen"].shown
            chosen = self._still_chosen(room, payload["seen"].view)
            last_click = [] if chosen is None else game["board"][chosen // WIDTH][chosen % WIDTH]
            answer["game"] = {**game, "last_click": last_click}
        if isinstance(request.wish, Enter):
            answer = {"join": request.room, **answer}
            if "token" in payload:
                answer["token"] = payload["token"]
        super().accept(request, answer)

    @staticmethod
    def encode(room: str | None, push: Push) -> bytes:
        return _frame(None, room, push)

    def encode_own(self, room: str | None, push: Push, ref: Frame | None = None) -> bytes:
        return _frame(self.join_ref_of(room, ref), room, push)


def _frame(join_ref: str | None, room: str | None, push: Push) -> bytes:
    """Chat and what changed on the board; these clients know no other news."""
    match push.name:
        case "chat":
            payload = {"message": push.payload["text"], "user": push.payload["name"]}
            return _encode((join_ref, None, f"{TOPIC}{room}", "new message", payload))
        case "update" | "sync" if "view" in push.payload:
            return _encode((join_ref, None, f"{TOPIC}{room}", "update", {"game": push.payload["view"]}))
        case _:
            return b""


class WithOgetarts(Phoenix):
    """The native socket with this door in it."""

    __slots__ = ("_door",)

    def __init__(self) -> None:
        super().__init__()
        self._door = Ogetarts(self._out)

    def _understand(self, frame: Frame) -> list[Request]:
        if frame.topic.startswith(TOPIC):
            return [replace(request, via=self._door) for request in self._door.take(frame)]
        return super()._understand(frame)
