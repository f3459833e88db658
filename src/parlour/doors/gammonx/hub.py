"""One connection to the hub: calls in, requests out; pushes in, events out."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import msgspec

from parlour.clocks import Clocks
from parlour.doors.gammonx.board import place_of
from parlour.doors.gammonx.news import FORCED, Event, Shown, arrived, happened, returned
from parlour.doors.gammonx.payloads import MatchTime, Seen, Viewer, error, show, turn_timer
from parlour.doors.gammonx.reasons import entry_refused, why_not
from parlour.doors.gammonx.terms import RATE_LIMIT_ERROR, read_guid
from parlour.errors import Code, Refused, parse
from parlour.games.backgammon.play import (
    Accept,
    Action,
    Decline,
    Double,
    EndTurn,
    Move,
    Ready,
    ResignGame,
    ResignMatch,
    Roll,
    Undo,
)
from parlour.offers import Offers
from parlour.protocols.signalr import HubCall, SignalR, event
from parlour.sanitize import strict
from parlour.wire import Company, Enter, EnterByDoor, Greeting, LookFirst, Push, Request, SendEvent, Wish


class Command(NamedTuple):
    """A method of the hub."""

    name: str
    code: str
    """Of the errors that it can cause."""
    event: Action | None = None
    """What it is in our game, where that is always the same."""
    shows: str | None = None
    """The event that answers it, where it only asks how things are."""


JOIN = Command("JoinMatch", "LOBBY_ERROR")
MOVE = Command("Move", "MOVE_ERROR")
COMMANDS = {
    command.name.lower(): command
    for command in (
        JOIN,
        MOVE,
        Command("StartGame", "START_GAME_ERROR", Ready()),
        Command("Roll", "ROLL_ERROR", Roll()),
        Command("UndoMove", "UNDO_MOVE_ERROR", Undo()),
        Command("EndTurn", "END_TURN_ERROR", EndTurn()),
        Command("ResignGame", "RESIGN_GAME_ERROR", ResignGame()),
        Command("ResignMatch", "RESIGN_MATCH_ERROR", ResignMatch()),
        Command("OfferDouble", "OFFER_DOUBLE_ERROR", Double()),
        Command("AcceptDouble", "ACCEPT_DOUBLE_ERROR", Accept()),
        Command("DeclineDouble", "DECLINE_DOUBLE_ERROR", Decline()),
        Command("StartMatch", "START_MATCH_ERROR", shows="match-state"),
        Command("GameState", "GET_GAME_STATE_ERROR", shows="game-state"),
        Command("MatchState", "GET_MATCH_STATE_ERROR", shows="match-state"),
    )
}


class Ref(NamedTuple):
    """Whom to answer, and what about."""

    command: Command
    id: str | None
    player: str | None = None
    """Who wants to join, by their own id."""
    returns: bool = False
    """Nobody called: the connection itself came back to a seat."""
    fields: tuple[int, ...] = ()
    """From where to where, of a move."""


_encode = msgspec.json.Encoder().encode
_read_one = msgspec.json.Decoder(tuple[str]).decode
_read_join = msgspec.json.Decoder(tuple[str, str]).decode
_read_move = msgspec.json.Decoder(tuple[str, int, int]).decode
_read_told = msgspec.json.Decoder(dict[str, Any]).decode


class GammonX(SignalR):
    """What one client knows of its match, so that it can be told what changes."""

    name = "gammonx"
    path = "/matchhub"
    personal = True
    shows = True
    __slots__ = (
        "_date", "_end", "_ended", "_joined", "_others", "_plan", "_returning", "_returns", "_seen", "_time",
        "_told", "_view", "match", "player",
    )  # fmt: skip

    def __init__(
        self,
        date: Callable[[], float],
        others: Callable[[str, str], str],
        end: Callable[[], None] = lambda: None,
        plan: Callable[[float | None], None] = lambda _: None,
    ) -> None:
        super().__init__()
        self._date = date
        """Wall time, for what is told of deadlines."""
        self._others = others
        """Makes the ids by which this client knows the other players of a match."""
        self._end = end
        """Ends the connection, once everything is said."""
        self._plan = plan
        """Plans a call of `warn` in so many seconds instead of the last one; None: none."""
        self._ended = False
        self.match: str | None = None
        self.player: str | None = None
        """The match that this connection plays in and as whom, once it has asked to join."""
        self._joined = False
        self._returns = False
        self._returning: str | None = None
        """Whose seat the connection came back to, before that is answered."""
        self._seen: Seen | None = None
        self._time = MatchTime()
        self._view: Any = None
        """The match when the last command was looked at, to say why that is not done."""
        self._told: list[dict[str, Any]] = []
        """What the game told of the step that is being told."""

    @staticmethod
    def greet(query: Mapping[str, str], subprotocols: Sequence[str]) -> Greeting:
        """Tokens are welcome, and nobody must have one."""
        token = query.get("access_token") or query.get("token")
        return Greeting(token, subprotocols[0] if subprotocols else None)

    # What is asked.

    def receive(self, frame: str | bytes) -> list[Request]:
        asked = [self.understand(record) for record in self.records(frame)]
        return [request for request in asked if request is not None]

    def understand(self, record: bytes) -> Request | None:
        """What one record asks for, if it asks for something that can be."""
        call = self.read(record)
        return None if call is None else self._understand(call)

    def _understand(self, call: HubCall) -> Request | None:
        command = COMMANDS.get(call.target.lower())
        if command is None:
            self._fail(call, f"Unknown hub method '{call.target[:40]}'", "UNKNOWN_METHOD")
            return None
        try:
            words = self._words(command, call)
        except Refused as why:
            told = f"Failed to invoke '{command.name}' due to an error on the server. {why.message}"
            self._fail(call, told, command.code)
            return None
        ref = Ref(command, call.id)
        try:
            return self._join(ref, *words) if command is JOIN else self._ask(ref, *words)
        except Refused as why:
            self._complain(ref, why)
            return None

    def _words(self, command: Command, call: HubCall) -> tuple[Any, ...]:
        """The arguments, which must be as many as the method takes, and of its types."""
        read = {JOIN: _read_join, MOVE: _read_move}.get(command, _read_one)
        words: tuple[Any, ...] = parse(read, strict(_encode(call.arguments)), under="arguments")
        return words

    def _join(self, ref: Ref, match: str, player: str) -> Request:
        match, player = read_guid(match, "matchId"), read_guid(player, "playerId")
        for mine, theirs in ((self.match, match), (self.player, player)):
            if mine not in (None, theirs):
                why = f"this connection plays match {self.match} as {self.player}; open another"
                raise Refused(Code.NOT_JOINED, why)
        self.match, self.player = match, player  # what follows at once is for this match
        return self._entry(ref._replace(player=player), match)

    def _entry(self, ref: Ref, match: str) -> Request:
        """The wish to sit in a match, as whom one says to be; or to have one's own seat back."""
        seat: Literal["own", "needed"] = "own" if ref.returns else "needed"
        return Request(match, EnterByDoor(game="backgammon", opens=False, seat=seat), ref)

    def back(self, match: str, player: str) -> Request:
        """The connection is there, for a player who may have a seat."""
        self._returning = player
        return self._entry(Ref(JOIN, None, player, returns=True), match)

    def _ask(self, ref: Ref, match: str, *fields: int) -> Request:
        match = read_guid(match, "matchId")
        if match != self.match:
            raise Refused(Code.NOT_JOINED, f"expected JoinMatch of match {match} first")
        places = tuple(place_of(field, name) for field, name in zip(fields, ("from", "to"), strict=False))
        return Request(match, self._wish(ref.command, places), ref._replace(fields=places))

    def _wish(self, command: Command, places: tuple[int, ...]) -> Wish:
        if command.shows is not None:
            return LookFirst()
        return LookFirst(SendEvent(msgspec.Raw(_encode(command.event or Move(*places)))))

    def decide(self, request: Request, view: Any) -> SendEvent | None:
        """Do what was asked for; the view says why, if it is not done."""
        assert isinstance(request.wish, LookFirst)  # noqa: S101 - nothing else is decided
        event: SendEvent | None = request.wish.asked
        if event is not None:
            self._view = view
        return event

    def show(self, room: str, view: Any, company: Company) -> Seen:
        """A match as its player sees it."""
        return show(Viewer(room, self.player or self._returning or "", self._others), view, company)

    # What is answered.

    def accept(self, request: Request, payload: Any) -> None:  # noqa: ARG002 - all is told by pushes
        ref: Ref = request.ref
        if isinstance(request.wish, Enter):
            self.match, self.player, self._returns = request.room, ref.player, ref.returns
            self._joined = True
        elif ref.command.shows is not None and self._seen is not None:
            shown = self._seen.game if ref.command.shows == "game-state" else self._seen.match
            self._say((ref.command.shows, shown))
        self.complete(ref.id)

    def refuse(self, request: Request, why: Refused) -> None:
        ref: Ref = request.ref
        if ref.command is JOIN and not ref.returns and not self._joined:
            self.match = self.player = None
        if ref.returns and why.code in (Code.NOT_SEATED, Code.UNKNOWN_ROOM):
            return  # nothing was asked yet
        if ref.returns and why.code == Code.ROOM_ENDED:
            self._say(FORCED)
            return
        self._complain(ref, why, request.room or "")

    def _complain(self, ref: Ref, why: Refused, match: str = "") -> None:
        """Errors are events; the call itself has been answered."""
        message = why.message
        if why.code in (Code.ILLEGAL_MOVE, Code.NOT_YOUR_TURN) and self._view is not None:
            message = why_not(ref.command.name, ref.fields, self._view)
        elif match:
            message = entry_refused(why, match)
        self._err(RATE_LIMIT_ERROR if why.code == Code.TOO_FAST else ref.command.code, message)
        self.complete(ref.id)

    def _fail(self, call: HubCall, message: str, code: str) -> None:
        """Not even a call; who wants no answer hears of it all the same."""
        if call.id is None:
            self._err(code, message)
        self.complete(call.id, message)

    def _err(self, code: str, message: str) -> None:
        self._say(("error", error(code, message, self._allowed)))

    @property
    def _allowed(self) -> list[str]:
        """What this player may do now."""
        if self._seen is not None:
            return self._seen.allowed
        return [] if self._joined else [JOIN.name]

    def dismiss(self, room: str | None) -> None:  # noqa: ARG002 - there is only one
        """Whoever was not told the end of the match is told now."""
        if self._seen is not None and self._seen.phase != "over":
            self._say(FORCED)
        self._seen = None

    def _say(self, told: Event) -> None:
        if self._ended:
            return
        self.tell(told[0], {"type": told[0], "payload": told[1]})
        if told == FORCED:
            self._finish()

    def _finish(self) -> None:
        """That was the last event: whatever is still asked is only answered."""
        self._ended = True
        self._end()

    def _events(self, events: Iterable[Event]) -> bytes:
        told = tuple(events)
        if FORCED in told:
            self._finish()
        return b"".join(event(name, {"type": name, "payload": payload}) for name, payload in told)

    # What is told.

    def encode(self, room: str | None, push: Push) -> bytes:  # noqa: ARG002 - there is only one
        """The events of a push; those of a step wait for its update, which comes last."""
        match push.name:
            case "game_event":
                told = push.payload["payload"]
                self._told.append(_read_told(told) if isinstance(told, msgspec.Raw) else told)
            case "sync":
                self._seen = seen = push.payload["view"]
                self._time = MatchTime()
                self._take_time(push.payload)
                returns, self._returns = self._returns, False
                return self._events(returned(seen) if returns else arrived(seen))
            case "update":
                return self._update(push.payload)
            case _:
                pass
        return b""

    def encode_own(self, room: str | None, push: Push, ref: Any = None) -> bytes:  # noqa: ARG002
        return self.encode(room, push)  # all is for this client alone

    def _update(self, payload: Mapping[str, Any]) -> bytes:
        told, self._told = self._told, []
        if self._seen is None:
            return b""
        before = Shown(self._seen, self._time)
        if "view" in payload:
            self._seen = payload["view"]
        self._take_time(payload)
        return self._events(happened(before, Shown(self._seen, self._time), told))

    def _take_time(self, payload: Mapping[str, Any]) -> None:
        """See how much time there is, and when half of that for this player's turn will be over."""
        if "now" not in payload:
            return
        clocks, paused = self._time.clocks, self._time.paused
        if "clocks" in payload:  # from another worker a sync comes as plain data
            clocks = msgspec.convert(payload["clocks"], Clocks)
        if "offers" in payload:
            paused = msgspec.convert(payload["offers"], Offers).paused is not None
        self._time = MatchTime(clocks, payload["now"], self._date(), paused)
        if self._seen is not None:
            self._plan(self._time.half_time(self._seen.you))

    def warn(self) -> None:
        """Tell this player that half of the time for the turn is over."""
        if self._seen is not None:
            self._say(("turn-timer", turn_timer(self._seen, self._time)))
