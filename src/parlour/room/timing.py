"""What the players' clocks make of a room: whose time runs after a step, and what happens at its end."""

from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

from msgspec.structs import replace

from parlour.clocks import MAX_LAG, Claim, Clocks, Flag, flagged
from parlour.errors import Code, Refused
from parlour.game import Game, Outcome
from parlour.room.offering import OfferingTurn
from parlour.room.values import FLAG, Alarm
from parlour.wire import Act

S = TypeVar("S")


def has_turns(game: Game[S]) -> bool:
    """Whether a game says whose turn it is, so that its players can have clocks."""
    return type(game).to_move is not Game.to_move or type(game).legal_events is not Game.legal_events


def seats_to_move(game: Game[S], state: S, players: Sequence[str | None]) -> list[int]:
    """The seats whose clocks run: those whom the game names, or else who has a legal event."""
    named = game.to_move(state)
    if named is not None:
        return [seat for seat, player in enumerate(players) if player is not None and player in named]
    return [
        seat
        for seat, player in enumerate(players)
        if player is not None and any(True for _ in _legal(game, state, player))
    ]


def _legal(game: Game[S], state: S, player: str) -> Iterable[Any]:
    legal = game.legal_events(state, player)
    return () if legal is None else legal


class TimedTurn(OfferingTurn[S]):
    """A turn with the clocks of the players."""

    __slots__ = ()

    def check_time(self, command: Act) -> None:
        """Give back the time that a move was on its way; refuse a move that came too late all the same."""
        if self.clocks is None:
            return
        seat = self.number(command.player)
        lag = command.lag if self.taken(seat).bot else min(command.lag, MAX_LAG)
        self.clocks = self.clocks.give_back(seat, lag, self.clock)
        out = self.clocks.out_at(seat)
        if out is not None and self.clock > out:
            raise Refused(Code.TOO_LATE, "your time is over")

    def flag(self, command: Flag) -> None:
        """The time of a player is over: the game or the settings say what that means, or they have lost."""
        seat, clocks = self.number(command.player), self.clocks
        update = None if self.spared else self.game.handle_flag(self.state, command.player, self.moment())
        if update is not None:
            self.update(update)
            self.clocks = clocks and clocks.refill(seat, self.clock)
        elif clocks is None or clocks.settings.at_zero == "lose":
            self.decide(flagged(command.player, self.playing()))
        else:
            self.clocks = clocks.mark_out(seat)

    def claim(self, command: Claim) -> None:
        """End the game against a player whose time is over, if the room leaves that to the others."""
        self.check_offers(command.player)
        late = [] if self.clocks is None or self.clocks.settings.at_zero != "claim" else self.room.late
        if not late or command.player in late:
            raise Refused(Code.ILLEGAL_MOVE, "you can claim the game when the time of another is over")
        self.decide(flagged(late[0], self.playing()))

    def run_clocks(self, outcome: Outcome | None) -> None:
        """Let the time of those run who are to move now, and wake the room when it is over."""
        clocks = self.clocks
        if clocks is None:
            return
        if outcome is None and self.room.outcome is not None:  # a rematch, or the game began anew by itself
            clocks = Clocks.wound_up(clocks.settings, len(self.seats))
        plays = outcome is None and len(self.playing()) >= self.room.least
        if plays and not clocks.started and all(seat is None or seat.connected for seat in self.seats):
            clocks = replace(clocks, started=True)
        players = [None if seat is None else seat.player for seat in self.seats]
        to_move = seats_to_move(self.game, self.state, players) if plays and clocks.started else ()
        clocks = clocks.run(to_move, self.clock)
        self.clocks = clocks
        self.set_flag(clocks)

    def set_flag(self, clocks: Clocks) -> None:
        out = clocks.next_out
        seat = None if out is None else self.seats[out.seat]
        if out is None or seat is None:
            self.alarms.pop(FLAG, None)
        else:  # a move that was made in time may still be on its way
            self.alarms[FLAG] = Alarm(out.at + MAX_LAG, Flag(seat.player))
