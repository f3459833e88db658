"""What all environments share: one table, its actions and observations, whose turn it is, and rewards."""

import secrets
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from parlour.agents.codec import ActionCodec
from parlour.agents.observations import Numbers, Observer
from parlour.errors import Code, Refused
from parlour.game import Game
from parlour.position import gains
from parlour.sim.table import Table, encode
from parlour.simulating import find_game

Mask = NDArray[np.int8]
Illegal = Literal["refuse", "lose"]
MOST_STEPS = 20_000
"""An episode that takes more steps than this is cut off."""


class Seats:
    """A table whose players are agents."""

    def __init__(self, game: str | Game[Any], config: Any = None) -> None:
        self.game = find_game(game) if isinstance(game, str) else game.checked()
        self.config = config
        self.codec = ActionCodec.of(self.game, config)
        self.observer = Observer(self.game, config)
        self._kinds = {type(event) for event in self.codec.events}
        self._numbers = {event: number for number, event in enumerate(self.codec.events)}
        count = len(Table(self.game, config).seats)
        self.agents = [f"player_{seat}" for seat in range(count)]
        self.table: Table | None = None
        self._seed = secrets.randbits(62)
        self._episode = 0
        self.luck = 0
        """The seed of this game."""

    def deal(self, seed: Any) -> Table:
        """A new game; without a seed the next one after the last."""
        if seed is not None:
            if not isinstance(seed, int | np.integer) or seed < 0:
                raise Refused(Code.MALFORMED, f"expected a seed of 0 or more, got {seed!r}"[:200])
            self._seed, self._episode = int(seed), 0
        self.luck = (self._seed << 32) + self._episode
        self.table = Table(self.game, self.config, seed=self.luck, players=self.agents)
        self._episode += 1
        return self.table

    def playing(self) -> Table:
        """The table; refused before the first reset."""
        if self.table is None:
            raise Refused(Code.GAME_OVER, "expected reset before anything else")
        return self.table

    def legal(self, seat: int) -> list[int]:
        """The numbers of what this seat could do now."""
        table = self.playing()
        if table.outcome is not None:
            return []
        events = list(self.game.legal_events(table.state, self.agents[seat]) or ())
        find = self._numbers.get
        found = [find(event, -1) for event in events]
        if -1 in found:  # kinds of events that are no actions at all are left out
            return [self.codec.index(event) for event in events if type(event) in self._kinds]
        return found

    def mask(self, legal: list[int]) -> Mask:
        """Which actions are legal, as ones and zeros."""
        mask = bytearray(len(self.codec))
        for action in legal:
            mask[action] = 1
        return np.frombuffer(mask, np.int8)

    def next(self, after: int) -> tuple[int, list[int]] | None:
        """The next seat that can do something, and what; timers ring where none can. None: it is over."""
        table, count = self.playing(), len(self.agents)
        while table.outcome is None and len(table.steps) < MOST_STEPS:
            for step in range(1, count + 1):
                seat = (after + step) % count
                if legal := self.legal(seat):
                    return seat, legal
            if not table.ring_timer():
                break
        return None

    def observe(self, seat: int) -> Numbers:
        """What this seat sees."""
        return self.observer.numbers(self.playing(), self.agents[seat])

    def rewards(self) -> dict[str, float]:
        """What each agent gets in the end: the points of the outcome; else 1, -1 or 0."""
        return dict(zip(self.agents, gains(self.playing().outcome, self.agents), strict=True))

    def illegal(self, action: int, seat: int) -> Refused:
        """Why an action cannot be done."""
        event = encode(self.codec.event(action)).decode()
        why = f"expected an action that the mask allows {self.agents[seat]}, got {action}: {event}"
        return Refused(Code.ILLEGAL_MOVE, why)
