"""What these clients are shown of a match: the payloads of their events, for one of the two players."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

import msgspec

from parlour.clocks import Clocks
from parlour.doors.gammonx.board import board_state, can_move, move_sequences
from parlour.doors.gammonx.terms import (
    GAME_OVER,
    GAMES,
    MODES,
    MOVING,
    NOT_STARTED,
    ROLLED,
    TYPES,
    UNKNOWN,
    VARIANTS,
    WAITING_FOR_END_TURN,
    WAITING_FOR_OPPONENT,
    WAITING_FOR_ROLL,
    game_id,
)
from parlour.errors import Code, Refused
from parlour.lobby import Mode
from parlour.wire import Company

View = dict[str, Any]
RESIGN = ["ResignGame", "ResignMatch"]


class Seen(msgspec.Struct, frozen=True):
    """A match as one of its players sees it, and the payloads that show it."""

    match_id: str
    you: int
    players: tuple[str | None, ...]
    """Their ids."""
    phase: str
    ready: tuple[bool, bool]
    allowed: list[str]
    game: msgspec.Raw
    match: msgspec.Raw

    @property
    def seated(self) -> bool:
        """Both players have come."""
        return None not in self.players

    @property
    def begun(self) -> bool:
        """A game is being played."""
        return self.phase not in ("ready", "over")


_encode = msgspec.json.Encoder().encode


class Viewer(NamedTuple):
    """Who looks at a match."""

    match: str
    id: str
    """Their own, which the others are never told."""
    others: Callable[[str, str], str]
    """The id by which they know another player in this match."""


def show(viewer: Viewer, view: View, company: Company) -> Seen:
    """A view of backgammon for the player in one of its seats; *company* is who plays, and how they met."""
    match, me, others = viewer
    you: int | None = view["you"]
    if you is None:
        raise Refused(Code.NOT_SEATED, "only the two players see a match by this door")
    players = tuple(None if seat is None else others(match, seat.player) for seat in company.seats)
    players = tuple(me if seat == you else player for seat, player in enumerate(players))
    allowed = allowed_commands(view, None not in players)
    return Seen(
        match_id=match,
        you=you,
        players=players,
        phase=view["phase"],
        ready=_ready(view),
        allowed=allowed,
        game=_raw(game_state(match, view, players, allowed)),
        match=_raw(match_state(match, company.mode, view, players, allowed)),
    )


def _raw(payload: dict[str, Any]) -> msgspec.Raw:
    return msgspec.Raw(_encode(payload))


def _ready(view: View) -> tuple[bool, bool]:
    """Who has said that the next game may begin."""
    waits = view["phase"] == "ready" and view["awaited"]
    return (bool(waits) and 0 not in view["awaited"], bool(waits) and 1 not in view["awaited"])


def allowed_commands(view: View, seated: bool) -> list[str]:  # noqa: FBT001
    """What the viewer may do now."""
    if view["phase"] == "over" or not seated:
        return []
    mine = _own_commands(view) if view["you"] in view["awaited"] else []
    resign = RESIGN[1:] if view["phase"] == "ready" else RESIGN
    double = ["OfferDouble"] if view["may_double"] and "Roll" in mine else []
    return mine + resign + double


def _own_commands(view: View) -> list[str]:
    """What is for the viewer to do."""
    match view["phase"]:
        case "ready":
            return ["StartGame"]
        case "roll":
            return ["Roll"]
        case "double":
            return ["AcceptDouble", "DeclineDouble"]
        case _:
            undo = ["UndoMove"] if view["played"] else []
            return ["Move" if view["ways"] else "EndTurn", *undo]


def lobby(match: str, players: Sequence[str | None], allowed: Sequence[str]) -> dict[str, Any]:
    """Who has come to a match."""
    return {
        "id": match,
        "groupName": f"match_{match}",
        "player1": players[0],
        "player2": players[1],
        "matchFound": None not in players,
        "allowedCommands": allowed,
    }


def game_state(
    match: str, view: View, players: Sequence[str | None], allowed: Sequence[str]
) -> dict[str, Any]:
    """The game that is played now, or was the last."""
    you: int = view["you"]
    active = _active(view)
    waits = view["turn"] is not None and active != you
    return {
        "modus": GAMES[view["variant"]],
        "matchId": match,
        "id": game_id(match, _round(view) - 1),
        "phase": WAITING_FOR_OPPONENT if waits else _phase(view),
        "activeTurn": players[active],
        "turnNumber": view["turn_number"],
        "diceRolls": dice_rolls(view["dice"], view["left"]),
        "moveSequences": move_sequences(view, you),
        "boardState": board_state(view, you),
        "allowedCommands": allowed,
    }


def _active(view: View) -> int:
    """Whose turn it is; between games the last winner's, since some clients expect an id at any time."""
    if view["turn"] is None:
        winners = [game["winner"] for game in view["match"]["games"]]
        return (winners[-1] if winners else None) or 0
    turn: int = view["turn"]
    return 1 - turn if view["phase"] == "double" else turn  # it is for the other to answer


def _phase(view: View) -> int:
    """How far the one on turn is."""
    match view["phase"]:
        case "ready" | "over":
            return GAME_OVER if view["match"]["games"] else NOT_STARTED
        case "move" if can_move(view):
            return MOVING if view["played"] else ROLLED
        case "move":
            return WAITING_FOR_END_TURN
        case _:
            return WAITING_FOR_ROLL


def dice_rolls(dice: Sequence[int], left: Sequence[int]) -> list[dict[str, Any]]:
    """The two dice as they were rolled; half of a double is used when two of its four moves are made.

    >>> dice_rolls((5, 2), (5,))
    [{'roll': 5, 'used': False}, {'roll': 2, 'used': True}]
    >>> dice_rolls((2, 2), (2,))
    [{'roll': 2, 'used': True}, {'roll': 2, 'used': False}]
    """
    if len(set(dice)) == 2:
        return [{"roll": die, "used": die not in left} for die in dice]
    spent = (4 - len(left)) // 2
    return [{"roll": die, "used": number < spent} for number, die in enumerate(dice)]


def _round(view: View) -> int:
    """The number of the game that is played or was the last, from 1."""
    over = len(view["match"]["games"])
    return over + 1 if view["phase"] not in ("ready", "over") else max(over, 1)


def match_state(
    match: str, mode: Mode, view: View, players: Sequence[str | None], allowed: Sequence[str]
) -> dict[str, Any]:
    """The score, and how each game went."""
    told = view["match"]
    score: tuple[int, int] = told["score"]
    rounds = [
        _game_round(number, game["variant"], GAME_OVER, _winner(game, players), game["points"])
        for number, game in enumerate(told["games"])
    ]
    if view["phase"] not in ("ready", "over"):
        rounds.append(_game_round(len(rounds), view["variant"], _phase(view), None, None))
    won = int(score[1] > score[0]) if view["phase"] == "over" and score[0] != score[1] else None
    return {
        "id": match,
        "groupName": f"match_{match}",
        "gameRound": _round(view),
        "gameRounds": rounds,
        "variant": _number(VARIANTS, told["variant"]),
        "modus": MODES.index(mode),
        "type": _number(TYPES, told["type"]),
        "player1": _player(players[0], score[0]),
        "player2": _player(players[1], score[1]),
        "winner": None if won is None else players[won],
        "loser": None if won is None else players[1 - won],
        "allowedCommands": allowed,
    }


def _winner(game: View, players: Sequence[str | None]) -> str | None:
    return None if game["winner"] is None else players[game["winner"]]


def _game_round(
    number: int, variant: str, phase: int, winner: str | None, points: int | None
) -> dict[str, Any]:
    return {
        "gameRoundIndex": number,
        "modus": GAMES[variant],
        "phase": phase,
        "winner": winner,
        "score": points,
        "points": points,
    }


def _player(id: str | None, score: int) -> dict[str, Any] | None:
    return None if id is None else {"id": id, "score": score, "points": score}


def _number(names: Sequence[str], name: str) -> int:
    return names.index(name) if name in names else UNKNOWN


# What is told of time and of trouble.


def iso(date: float) -> str:
    """Wall time as these clients read it.

    >>> iso(1735689630.5)
    '2025-01-01T00:00:30.500000Z'
    """
    return datetime.fromtimestamp(date, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


class MatchTime(NamedTuple):
    """The clocks of a match as they were told, and when that was."""

    clocks: Clocks | None = None
    now: float = 0.0
    """By the clock of the room."""
    date: float = 0.0
    """As wall time."""
    paused: bool = False

    def is_away(self, seat: int) -> bool:
        """True if a player is away, where that is limited."""
        away = self.clocks.away if self.clocks is not None else ()
        return bool(away) and (away[seat].since is not None or away[seat].out)

    def may_be_away(self, seat: int) -> float:
        """For how many seconds a player may be away, as it was when they went."""
        return self.clocks.away[seat].left if self.clocks is not None and self.clocks.away else 0.0

    def turn_ends(self, seat: int) -> float | None:
        """In how many seconds a player's time for this turn is over, if it runs."""
        if self.clocks is None or self.clocks.settings.kind != "turn" or self.paused:
            return None
        out = self.clocks.out_at(seat)
        return None if out is None else out - self.now

    def half_time(self, seat: int) -> float | None:
        """In how many seconds half of that time is over, if that is to come."""
        ends = self.turn_ends(seat)
        half = None if ends is None or self.clocks is None else ends - self.clocks.settings.seconds / 2
        return half if half is not None and half > 0 else None


def disconnected(seen: Seen, seat: int, time: MatchTime) -> dict[str, Any]:
    """Somebody is away, and for how long they may be."""
    left = time.may_be_away(seat)
    return {
        "gracePeriod": f"{timedelta(seconds=int(left))!s:0>8}",
        "expiration": iso(time.date + left),
        "playerId": seen.players[seat],
        "allowedCommands": seen.allowed,
    }


def turn_timer(seen: Seen, time: MatchTime) -> dict[str, Any]:
    """Half of the time for a turn is over."""
    return {
        "activePlayer": seen.players[seen.you],
        "turnExpiration": iso(time.date + (time.turn_ends(seen.you) or 0.0)),
        "allowedCommands": seen.allowed,
    }


def error(code: str, message: str, allowed: Sequence[str]) -> dict[str, Any]:
    """Something was not done."""
    return {"code": code, "message": message, "allowedCommands": allowed}
