"""What the players' clocks make of a room: whose time runs after a step, and what happens at its end."""

from collections.abc import Collection, Iterable, Sequence
from typing import Any, TypeVar

from msgspec.structs import replace

from parlour.clocks import MAX_LAG, Claim, Clocks, ClockSettings, Flag, SetClock
from parlour.errors import Code, Refused
from parlour.game import AWAY_TOO_LONG, OUT_OF_TIME, Game, Outcome
from parlour.offers import Verdict
from parlour.room.offering import OfferingTurn
from parlour.room.old_clocks import run_as_then
from parlour.room.values import FLAG, TIMING, Alarm
from parlour.wire import Act, Command, Ring

S = TypeVar("S")


def has_turns(game: Game[S]) -> bool:
    """Whether a game says whose turn it is, so that its players can have clocks."""
    return type(game).to_move is not Game.to_move or lists_moves(game)


def lists_moves(game: Game[S]) -> bool:
    """Whether a game says what a player can do, so that a bot can do it for them."""
    return type(game).legal_events is not Game.legal_events


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


def flagged(player: str, players: Collection[str], why: str) -> Verdict:
    """The verdict when a player's time is over."""
    others = tuple(other for other in players if other != player)
    return Verdict("flagged", Outcome(won=others, lost=(player,), why=why))


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

    def time(self, command: Flag | Claim | SetClock) -> None:
        """Carry out what comes of the players' clocks."""
        match command:
            case Flag():
                self.flag(command)
            case Claim():
                self.claim(command)
            case SetClock():
                self.set_clock(command.clock)

    def set_clock(self, clock: ClockSettings) -> None:
        """Give clocks to a room that had a timer of its game instead; in a running game they run at once."""
        clocks = Clocks.wound_up(clock, len(self.seats))
        self.clocks = replace(clocks, started=self.room.status == "playing")

    def flag(self, command: Flag) -> None:
        """The time of a player is over: they lose by it, or the room was set up otherwise."""
        clocks = self.clocks
        settings = None if clocks is None else clocks.settings.away if command.gone else clocks.settings
        if clocks is None or settings is None or settings.at_zero == "lose":
            self.fall(command.player, gone=command.gone)
        else:
            self.clocks = clocks.mark_out(self.number(command.player), gone=command.gone)

    def claim(self, command: Claim) -> None:
        """End the game against a player whose time is over, if the room leaves that to the others."""
        self.check_offers(command.player)
        clocks = self.clocks
        late = [] if clocks is None else [one for one in clocks.late("claim") if self.seats[one] is not None]
        if clocks is None or not late or self.number(command.player) in late:
            raise Refused(Code.ILLEGAL_MOVE, "you can claim the game when the time of another is over")
        seat = late[0]
        thought_too_long = clocks.settings.at_zero == "claim" and clocks.seats[seat].out
        self.fall(self.taken(seat).player, gone=not thought_too_long)

    def fall(self, player: str, *, gone: bool) -> None:
        """A player loses because their time is over, unless the game makes something else of it."""
        spared = gone or self.spared
        update = None if spared else self.game.handle_flag(self.state, player, self.moment())
        if update is None:
            why = AWAY_TOO_LONG if gone else OUT_OF_TIME
            self.decide(flagged(player, self.playing(), why))
            return
        self.update(update)
        self.clocks = self.clocks and self.clocks.refill(self.number(player), self.clock)

    def run_clocks(self, command: Command, outcome: Outcome | None) -> None:
        """Let the time of those run who are to move now or away, and wake the room when it is over."""
        clocks = self.clocks
        if clocks is None:
            return
        if outcome is None and self.room.outcome is not None:  # a rematch, or the game began again by itself
            clocks = Clocks.wound_up(clocks.settings, len(self.seats))
        plays = outcome is None and len(self.playing()) >= self.room.least
        if plays and not clocks.started and all(seat is None or seat.connected for seat in self.seats):
            clocks = replace(clocks, started=True)
        every = self.game.turn_id(self.state) != self.game.turn_id(self.room.state)
        to_move: Collection[int] = ()
        gone: Collection[int] = ()
        runs = plays and clocks.started
        if runs:
            players = [None if seat is None else seat.player for seat in self.seats]
            to_move = seats_to_move(self.game, self.state, players)
            gone = [seat for seat, one in enumerate(self.seats) if one is not None and not one.connected]
        if self.room.timing < TIMING:
            self.clocks = run_as_then(clocks, to_move, gone, self.clock, every=every)
        else:
            idle = [seat for seat, one in enumerate(self.seats) if one is None or not runs]
            if outcome is None:  # from an idle seat, too, whoever is gone has not come back
                gone = [seat for seat, one in enumerate(self.seats) if one is None or not one.connected]
            ended = self.ended_turns(command, clocks.ended(to_move, idle, every=every), outcome)
            self.clocks = clocks.run(to_move, gone, self.clock, ended=ended, idle=idle)
            self.count_turns(ended, clocks.given_up(ended))
        self.set_flag(self.clocks)

    def ended_turns(
        self, command: Command, seats: Collection[int], outcome: Outcome | None
    ) -> Collection[int]:
        """The seats whose turn has ended by this command: by a move, say, but not because somebody left.

        With the game only the turn of whoever made its last move has ended.
        """
        if outcome is not None:
            seat = self.room.seat_number(command.player) if isinstance(command, Act) else None
            return () if seat is None or self.room.outcome is not None else (seat,)
        return seats if isinstance(command, Act | Ring | Flag | Claim) else ()

    def count_turns(self, ended: Collection[int], given_up: Collection[int]) -> None:
        """Note that these turns have ended since the moves that can be taken back; some were given up."""
        if not ended:
            return
        none = (0,) * len(self.seats)
        self.past = tuple(
            [
                replace(
                    past,
                    turns=_counted(past.turns, ended),
                    given_up=_counted(past.given_up or none, given_up) if given_up else past.given_up,
                )
                for past in self.past
            ]
        )

    def call_absent(self, outcome: Outcome | None) -> dict[str, int]:
        """The players whose turn it is and who were away in it: each is called once a turn, at this step."""
        before = self.room.called
        away = [one.player for one in self.seats if one is not None and not one.connected and not one.bot]
        if not before and not away:
            return before
        players = [None if seat is None else seat.player for seat in self.seats]
        if outcome is not None or self.ended is not None or len(self.playing()) < self.room.least:
            return {}
        seated = {player: seq for player, seq in before.items() if player in players}
        if self.spared or self.offers.paused is not None:
            return seated
        try:
            to_move = [players[seat] for seat in seats_to_move(self.game, self.state, players)]
            is_same_turn = self.game.turn_id(self.state) == self.game.turn_id(self.room.state)
        except Exception:  # noqa: BLE001 - a game that cannot say whose turn it is can be played all the same
            return seated
        kept = {player: seq for player, seq in before.items() if player in to_move and is_same_turn}
        new = {player: self.room.seq + 1 for player in away if player in to_move}
        return {**new, **kept}

    def set_flag(self, clocks: Clocks) -> None:
        out = clocks.next_out
        seat = None if out is None else self.seats[out.seat]
        if out is None or seat is None:
            self.alarms.pop(FLAG, None)
        else:
            self.alarms[FLAG] = Alarm(out.at, Flag(seat.player, out.gone))

    def wait_by_clocks(self) -> None:
        """While a player's time runs out, neither their seat nor the room is given up before it has."""
        if FLAG in self.alarms and self.offers.paused is None:
            for key in [key for key in self.alarms if key in ("idle", "nobody") or key.startswith("away:")]:
                del self.alarms[key]
        elif self.room.waits_by_clocks:
            for seat in self.seats:
                if seat is not None and not seat.connected:
                    self.await_return(seat.player)
            self.notice_empty()
            self.refresh()


def _counted(counts: tuple[int, ...], seats: Collection[int]) -> tuple[int, ...]:
    """The counts of each seat, with one more of these."""
    return tuple([count + (seat in seats) for seat, count in enumerate(counts)])
