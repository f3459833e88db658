"""Games of OpenSpiel on a server: ``parlour serve examples/openspiel_games.py``.

They need ``pip install 'parlour[openspiel]'``. Any game in which players take turns can be brought in by
three lines, as at the end of this file.
"""

from functools import lru_cache
from types import MappingProxyType
from typing import Any

import pyspiel
from msgspec.structs import replace

from parlour import Chance, Event, Game, Joined, Moment, Outcome, Refused, State, Update
from parlour.bots.search import search
from parlour.errors import Code

FINE = 1 << 53
"""A chance node is drawn to so many parts: as fine as its probabilities are."""


class Do(Event):
    """One of the actions that are legal now, in OpenSpiel's words."""

    action: str


class History(State):
    """All that was done and drawn, as OpenSpiel numbers it: that is the whole state."""

    done: tuple[int, ...] = ()


@lru_cache(maxsize=4096)
def reached(spiel: str, done: tuple[int, ...]) -> Any:
    """OpenSpiel's own state after this history; nobody may change it."""
    if not done:
        return pyspiel.load_game(spiel).new_initial_state()
    state = reached(spiel, done[:-1]).clone()
    state.apply_action(done[-1])
    return state


class FromSpiel(Game[History]):
    """A sequential game of OpenSpiel, played by its rules."""

    spiel: str
    State = History
    Event = Do

    def at(self, state: History) -> Any:
        """OpenSpiel's state; long histories are walked a piece at a time."""
        for end in range(500, len(state.done), 500):
            reached(self.spiel, state.done[:end])
        return reached(self.spiel, state.done)

    def drawn(self, state: History, chance: Chance) -> History:
        """The history with all that chance has to decide now."""
        while (now := self.at(state)).is_chance_node():
            at, (outcome, _) = chance.below(FINE) / FINE, now.chance_outcomes()[-1]
            for action, likely in now.chance_outcomes():
                at -= likely
                if at < 0:
                    outcome = action
                    break
            state = replace(state, done=(*state.done, outcome))
        return state

    def init(self, config: object, moment: Moment) -> History:
        return History()

    def join_game(self, state: History, player: str, spectate: bool, moment: Moment) -> Joined[History]:  # noqa: FBT001
        joined = super().join_game(state, player, spectate, moment)
        if joined.seat is None or self.waits(joined.update.state):
            return joined
        return replace(joined, update=Update(self.drawn(joined.update.state, moment.chance)))

    def waits(self, state: History) -> bool:
        """Whether somebody is still to come."""
        return len(state.players) < self.seats.start or None in state.players

    def handle_event(self, state: History, sender: str, event: Do, moment: Moment) -> Update[History]:
        seat, now = state.seat(sender), self.at(state)
        if self.waits(state) or now.current_player() != seat:
            raise Refused(Code.NOT_YOUR_TURN, "it is not your turn")
        for action in now.legal_actions():
            if now.action_to_string(seat, action) == event.action:
                return Update(self.drawn(replace(state, done=(*state.done, action)), moment.chance))
        raise Refused(Code.ILLEGAL_MOVE, f"expected a legal action, got {event.action[:64]}", path="$.action")

    def legal_events(self, state: History, player: str) -> list[Do]:
        seat, now = state.seat(player), self.at(state)
        if seat is None or self.waits(state) or now.current_player() != seat:
            return []
        return [Do(now.action_to_string(seat, action)) for action in now.legal_actions()]

    def view(self, state: History, viewer: str | None) -> dict[str, object]:
        """What OpenSpiel lets this seat observe; who watches a game with secrets sees whose turn it is."""
        seat, now = state.seat(viewer), self.at(state)
        if self.waits(state) or (seat is None and self.hides):
            seen = ""
        else:
            seen = now.information_state_string(seat) if self.hides else now.observation_string(seat or 0)
        points = now.returns() if now.is_terminal() else ()
        return {"turn": now.current_player(), "seen": seen.splitlines(), "points": points}

    @property
    def hides(self) -> bool:
        """Whether players have secrets."""
        kind = pyspiel.load_game(self.spiel).get_type()
        return bool(kind.information == pyspiel.GameType.Information.IMPERFECT_INFORMATION)

    def outcome(self, state: History) -> Outcome | None:
        now = self.at(state)
        if not now.is_terminal():
            return None
        points = {
            player or "": float(gain) for player, gain in zip(state.players, now.returns(), strict=True)
        }
        best, worst = max(points.values()), min(points.values())
        if best == worst:
            return Outcome(drew=tuple(points), points=points)
        won = tuple(player for player, gain in points.items() if gain == best)
        return Outcome(won=won, lost=tuple(one for one in points if one not in won), points=points)

    def resample(self, state: History, viewer: str | None, chance: Chance) -> History:
        """Another history that looks the same to this seat; few games of OpenSpiel can say which."""
        seat, now = state.seat(viewer), self.at(state)
        if not self.hides or seat is None or now.is_terminal() or self.waits(state):
            return state
        other = now.resample_from_infostate(seat, lambda: chance.below(FINE) / FINE)
        return replace(state, done=tuple(other.history()))


class ConnectFour(FromSpiel):
    """Four in a row."""

    spiel = name = "connect_four"
    display_name = "Connect Four"
    seats = range(2, 3)
    bots = MappingProxyType({"search": search(300, secrets=False)})


class LeducPoker(FromSpiel):
    """A card each of six, one on the table, two rounds of bets."""

    spiel = name = "leduc_poker"
    display_name = "Leduc poker"
    seats = range(2, 3)
    lucky = True
