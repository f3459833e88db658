"""One connection to the hub: calls in, requests out; pushes in, events out."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import msgspec

from parlour.doors.gammonx.board import place_of
from parlour.doors.gammonx.news import FORCED, Event, arrived, happened, returned
from parlour.doors.gammonx.payloads import ASK, Seen, error, read_seen, show
from parlour.doors.gammonx.terms import read_guid
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
from parlour.protocols.signalr import Call, SignalR, event
from parlour.wire import Consider, Enter, EnterAsGuest, Greeting, Push, Request, SendEvent, Wish, strict


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
    __slots__ = ("_date", "_joined", "_returns", "_seen", "_told", "match", "player")

    def __init__(self, date: Callable[[], float]) -> None:
        super().__init__()
        self._date = date
        """Wall time, for what is told of deadlines."""
        self.match: str | None = None
        self.player: str | None = None
        """The match that this connection plays in and as whom, once it has asked to join."""
        self._joined = False
        self._returns = False
        self._seen: Seen | None = None
        self._told: list[dict[str, Any]] = []
        """What the game told of the step that is being told."""

    @staticmethod
    def greet(query: Mapping[str, str], subprotocols: Sequence[str]) -> Greeting:
        """Tokens are welcome, and nobody must have one."""
        token = query.get("access_token") or query.get("token")
        return Greeting(token, subprotocols[0] if subprotocols else None)

    # What is asked.

    def receive(self, frame: str | bytes) -> list[Request]:
        return [request for call in self.take(frame) for request in self._understand(call)]

    def _understand(self, call: Call) -> list[Request]:
        command = COMMANDS.get(call.target.lower())
        if command is None:
            self._fail(call, f"Unknown hub method '{call.target[:40]}'", "UNKNOWN_METHOD")
            return []
        try:
            words = self._words(command, call)
        except Refused as why:
            told = f"Failed to invoke '{command.name}' due to an error on the server. {why.message}"
            self._fail(call, told, command.code)
            return []
        ref = Ref(command, call.id)
        try:
            return [self._join(ref, *words) if command is JOIN else self._ask(ref, *words)]
        except Refused as why:
            self._complain(ref, why)
            return []

    def _words(self, command: Command, call: Call) -> tuple[Any, ...]:
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
        return self._entry(ref._replace(player=player), match, player)

    def _entry(self, ref: Ref, match: str, player: str) -> Request:
        """The wish to sit in a match, as whom one says to be; or to have one's own seat back."""
        enter = EnterAsGuest(
            game="backgammon",
            show=partial(show, match, player),
            opens=False,
            seat="own" if ref.returns else "needed",
        )
        return Request(match, enter, ref)

    def back(self, match: str, player: str) -> Request:
        """The connection is there, for a player who may have a seat."""
        return self._entry(Ref(JOIN, None, player, returns=True), match, player)

    def _ask(self, ref: Ref, match: str, *fields: int) -> Request:
        match = read_guid(match, "matchId")
        if match != self.match:
            raise Refused(Code.NOT_JOINED, f"expected JoinMatch of match {match} first")
        return Request(match, self._wish(ref.command, *fields), ref)

    def _wish(self, command: Command, *fields: int) -> Wish:
        if command.shows is not None:
            return Consider(lambda _: None)
        action = command.event
        if action is None:
            start, end = (place_of(field, name) for field, name in zip(fields, ("from", "to"), strict=True))
            action = Move(start, end)
        return SendEvent(msgspec.Raw(_encode(action)))

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
        if not (ref.returns and why.code in (Code.NOT_SEATED, Code.UNKNOWN_ROOM)):
            self._complain(ref, why)

    def _complain(self, ref: Ref, why: Refused) -> None:
        """Errors are events; the call itself has been answered."""
        self._err(ref.command.code, why.message)
        self.complete(ref.id)

    def _fail(self, call: Call, message: str, code: str) -> None:
        """Not even a call; who wants no answer hears of it all the same."""
        if call.id is None:
            self._err(code, message)
        self.complete(call.id, message)

    def _err(self, code: str, message: str) -> None:
        """What is always allowed is to ask how things are; before, one has to join."""
        self._say(("error", error(code, message, ASK if self._joined else [JOIN.name])))

    def dismiss(self, room: str | None) -> None:  # noqa: ARG002 - there is only one
        """Whoever was not told the end of the match is told now."""
        if self._seen is not None and self._seen.phase != "over":
            self._say(FORCED)
        self._seen = None

    def _say(self, told: Event) -> None:
        self.tell(told[0], {"type": told[0], "payload": told[1]})

    # What is told.

    def encode(self, room: str | None, push: Push) -> bytes:  # noqa: ARG002 - there is only one
        """The events of a push; those of a step wait for its update, which comes last."""
        match push.name:
            case "game_event":
                self._told.append(_read_told(push.payload["payload"]))
            case "sync":
                self._seen = seen = read_seen(push.payload["view"])
                returns, self._returns = self._returns, False
                return _events(returned(seen) if returns else arrived(seen))
            case "update":
                return self._update(push.payload)
            case _:
                pass
        return b""

    def _update(self, payload: Mapping[str, Any]) -> bytes:
        told, self._told = self._told, []
        before = self._seen
        if before is None:
            return b""
        if "view" in payload:
            self._seen = read_seen(payload["view"])
        return _events(happened(before, self._seen or before, told, self._date()))


def _events(events: Any) -> bytes:
    return b"".join(event(name, {"type": name, "payload": payload}) for name, payload in events)
