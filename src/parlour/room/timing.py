"""What the players' clocks make of a room: whose time runs after a step, and what happens at its end."""

from typing import TypeVar

from msgspec.structs import replace

from parlour.clocks import MAX_LAG, Clocks, Flag, flagged
from parlour.errors import Code, Refused
from parlour.game import Game, Outcome
from parlour.room.offering import OfferingTurn
from parlour.room.values import FLAG, Alarm
from parlour.wire import Act

S = TypeVar("S")


def has_turns(game: Game[S]) -> bool:
    """Whether a game says whose turn it is, so that its players can have clocks."""
    return type(game).to_move is not Game.to_move or type(game).legal_events is not Game.legal_events


class TimedTurn(OfferingTurn[S]):
    """A turn with the clocks of the players."""

    __slots__ = ()

    def check_time(self, command: Act) -> None:
        """Give back the time that a move was on its way; refuse a move that came too late all the same."""
        if self.clocks is None:
            return
        seat = self.number(command.player)
        self.clocks = self.clocks.give_back(seat, command.lag, self.clock)
        out = self.clocks.out_at(seat)
        if out is not None and self.clock > out:
            raise Refused(Code.TOO_LATE, "your time is over")

    def flag(self, command: Flag) -> None:
        """The time of a player is over: the game says what that means, or they have lost."""
        seat = self.number(command.player)
        update = None if self.spared else self.game.handle_flag(self.state, command.player, self.moment())
        if update is None:
            self.decide(flagged(command.player, self.playing()))
        else:
            self.update(update)
            if self.clocks is not None:
                self.clocks = self.clocks.refill(seat, self.clock)

    def run_clocks(self, outcome: Outcome | None) -> None:
        """Let the time of those run who are to move now, and wake the room when it is over."""
        clocks = self.clocks
        if clocks is None:
            return
        plays = outcome is None and len(self.playing()) >= self.room.least
        if plays and not clocks.started and all(seat is None or seat.connected for seat in self.seats):
            clocks = replace(clocks, started=True)
        clocks = clocks.run(self.to_move() if plays and clocks.started else (), self.clock)
        self.clocks = clocks
        self.set_flag(clocks)

    def set_flag(self, clocks: Clocks) -> None:
        out = clocks.next_out
        seat = None if out is None else self.seats[out.seat]
        if out is None or seat is None:
            self.alarms.pop(FLAG, None)
        else:  # a move that was made in time may still be on its way
            self.alarms[FLAG] = Alarm(out.at + MAX_LAG, Flag(seat.player))

    def to_move(self) -> list[int]:
        """The seats whose turn it is."""
        named = self.game.to_move(self.state)
        return [
            number
            for number, seat in enumerate(self.seats)
            if seat is not None
            and (seat.player in named if named is not None else self.has_legal_events(seat.player))
        ]

    def has_legal_events(self, player: str) -> bool:
        legal = self.game.legal_events(self.state, player)
        return legal is not None and any(True for _ in legal)
