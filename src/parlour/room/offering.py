"""What offers, answers to them and resigning make of a room."""

from typing import TypeVar

from msgspec.structs import replace

from parlour.clocks import Clocks
from parlour.errors import Code, Refused
from parlour.game import Outcome
from parlour.offers import (
    WORDS,
    Answer,
    Offer,
    Offers,
    Resign,
    Verdict,
    answer_offer,
    drawn,
    is_agreed,
    make_offer,
    resigned,
    withdrawn,
)
from parlour.room.turn import Turn
from parlour.room.values import TIMING, Past, is_timer

S = TypeVar("S")

MOST_TAKEN_BACK = 8
"""How many moves a room remembers, where they can be taken back."""


def without_turns(past: Past[S], back: Past[S]) -> Past[S]:
    """What there was before a move, without the turns since a later one that is taken back."""
    turns, given_up = _fewer(past.turns, back.turns), _fewer(past.given_up, back.given_up)
    return replace(past, turns=turns, given_up=given_up)


def _fewer(counts: tuple[int, ...], taken: tuple[int, ...]) -> tuple[int, ...]:
    """The counts of each seat without those that were taken back; empty ones count nothing."""
    if not counts or not taken:
        return counts
    return tuple([count - fewer for count, fewer in zip(counts, taken, strict=True)])


class OfferingTurn(Turn[S]):
    """A turn with the room's part of offers."""

    __slots__ = ()

    def negotiate(self, command: Offer | Answer | Resign) -> None:
        """Carry out an offer, an answer to one, or a resignation."""
        self.check_offers(command.player)
        match command:
            case Offer():
                self.offer(command)
            case Answer():
                accept = command.accept
                self.offers = answer_offer(self.offers, command.player, command.what, accept=accept)
            case Resign():
                self.resign(command.player)
        self.settle_offer()

    def offer(self, command: Offer) -> None:
        what, name = command.what, self.game.display_name
        if ("pause" if what == "resume" else what) not in self.game.offers:
            raise Refused(Code.NOT_IN_THIS_GAME, f"{name} does not have {WORDS[what]} by agreement")
        paused = self.offers.paused is not None
        if what == "resume" and not paused:
            raise Refused(Code.NO_SUCH_OFFER, "the game is not paused")
        if what in ("takeback", "pause") and paused:
            raise Refused(Code.GAME_PAUSED, "the game is paused; it goes on when everybody agrees")
        if what == "takeback" and not any(past.player == command.player for past in self.past):
            raise Refused(Code.ILLEGAL_MOVE, "you have made no move that could be taken back")
        if what == "takeback":
            self.clocks_before(self.last_move(command.player))
        self.offers = make_offer(self.offers, command.player, what)

    def resign(self, player: str) -> None:
        if "resign" not in self.game.offers:
            why = f"{self.game.display_name} leaves no resigning to the room; look among its own moves"
            raise Refused(Code.NOT_IN_THIS_GAME, why)
        self.offers = withdrawn(self.offers)
        self.decide(resigned(player, self.playing()))

    def settle_offer(self) -> None:
        """Do what was offered, if everybody agrees."""
        offer = self.offers.open
        if offer is None or not is_agreed(offer, self.playing()):
            return
        self.offers = withdrawn(self.offers)
        match offer.what:
            case "draw":
                self.decide(drawn(self.playing()))
            case "takeback":
                self.take_back(offer.by)
            case "pause":
                self.offers = replace(self.offers, paused=self.now)
            case "resume":
                self.end_pause()

    def decide(self, verdict: Verdict) -> None:
        """End the game by the room's verdict; the game may show now what it hid."""
        self.verdict = verdict
        self.end_pause()
        self.stop_timers()
        if not self.spared:
            self.update(self.game.handle_verdict(self.state, verdict.outcome, self.moment()))

    def remember(self, player: str) -> None:
        """Keep what there is before a player's move, where the game lets it be taken back."""
        if "takeback" in self.game.offers:
            timers = {key: alarm for key, alarm in self.alarms.items() if is_timer(key)}
            clocks = self.clocks if self.room.timing >= TIMING else None
            past = Past(player, self.state, self.now, timers, clocks, (0,) * len(self.seats))
            self.past = (*self.past[1 - MOST_TAKEN_BACK :], past)

    def take_back(self, player: str) -> None:
        """Go back to before the last move of a player; timers have the time that they had then."""
        last = self.last_move(player)
        self.clocks = self.clocks_before(last)
        past = self.past[last]
        self.past = tuple([without_turns(one, past) for one in self.past[:last]])
        self.stop_timers()
        for key, alarm in past.timers.items():
            self.alarms[key] = replace(alarm, due=self.now + alarm.due - past.now)
        self.state = past.state

    def last_move(self, player: str) -> int:
        """The last move of a player, among those that can be taken back."""
        return max(number for number, past in enumerate(self.past) if past.player == player)

    def clocks_before(self, move: int) -> Clocks | None:
        """The clocks if this move is taken back; refused if somebody would have no time left."""
        past = self.past[move]
        if self.clocks is None or past.clocks is None:
            return self.clocks
        clocks = self.clocks.taken_back(past.clocks, past.now, past.turns, past.given_up, self.clock)
        if clocks is None:
            why = "so much time was spent since that move that it cannot be taken back"
            raise Refused(Code.TOO_LATE, why)
        return clocks

    def end_pause(self) -> None:
        """Let the game's clock go on from where it stood; the room's own alarms never stood still."""
        paused = self.offers.paused
        if paused is None:
            return
        lasted = self.now - paused
        self.offers = replace(self.offers, paused=None)
        self.behind, self.now = self.behind + lasted, paused
        for key, alarm in self.alarms.items():
            if not is_timer(key):
                self.alarms[key] = replace(alarm, due=alarm.due - lasted)

    def clear_offers(self, outcome: Outcome | None) -> None:
        """Offers and moves to take back last as long as the game and those who play it."""
        if not self.offers and not self.past:
            return
        if outcome is not None:
            self.end_pause()
        same = [seat and seat.player for seat in self.seats] == [*self.room.players]
        if outcome is not None or not same:
            self.past = ()
            self.offers = Offers(paused=self.offers.paused)

    def check_offers(self, player: str) -> None:
        """Refuse an offer or an answer to one of somebody who does not play, or when nobody does."""
        seat = self.taken(self.number(player))
        if not seat.connected:
            raise Refused(Code.NOT_JOINED, "only somebody who is connected can do that")
        if self.room.outcome is not None:
            raise Refused(Code.GAME_OVER, "the game is over")
        if self.room.status != "playing":
            raise Refused(Code.ILLEGAL_MOVE, "the game begins when everybody is here")
        if not seat.bot:
            self.refresh()

    def check_playable(self) -> None:
        """Refuse a move while the game is paused, or after the room has ended it."""
        if self.offers.paused is not None:
            raise Refused(Code.GAME_PAUSED, "the game is paused; it goes on when everybody agrees")
        if self.verdict is not None and self.game.outcome(self.state) is None:
            raise Refused(Code.GAME_OVER, "the game is over")

    def playing(self) -> list[str]:
        """Everybody with a seat."""
        return [seat.player for seat in self.seats if seat is not None]
