"""Games as environments of Gymnasium: one seat for the agent, bots in all others."""

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

from parlour.agents.observations import Numbers
from parlour.agents.seats import Illegal, Mask, Seats
from parlour.errors import Code, Refused
from parlour.game import Bot, Chance, Game
from parlour.sim.play import ask
from parlour.simulating import find_bot


def solo_env(
    game: str | Game[Any],
    config: Any = None,
    *,
    bots: str | Bot = "random",
    seat: int = 0,
    illegal: Illegal = "lose",
) -> "SoloEnv":
    """A game by its name, itself, or a Python file; this bot, by its name or itself, has all other seats.

    An illegal action loses with a reward of -1, or (*illegal*) is refused.
    """
    return SoloEnv(Seats(game, config), bots, seat, illegal)


class SoloEnv(gymnasium.Env[Numbers, Any]):
    """One game after the other; the actions that can be chosen are in `action_masks` and in the info."""

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012 - Gymnasium's own

    def __init__(self, seats: Seats, bots: str | Bot, seat: int, illegal: Illegal) -> None:
        if not 0 <= seat < len(seats.agents):
            raise Refused(Code.NOT_SEATED, f"expected a seat from 0 to {len(seats.agents) - 1}, got {seat}")
        self.seats = seats
        self.codec = seats.codec
        self.seat = seat
        self.bot = find_bot(seats.game, bots) if isinstance(bots, str) else bots
        self.observation_space = spaces.Box(-1.0, 1.0, (seats.observer.size,), np.float32)
        self.action_space = spaces.Discrete(len(seats.codec))
        self.render_mode = None
        self._loses = illegal == "lose"
        self._legal: list[int] = []
        self._over = True

    def reset(
        self,
        *,
        seed: int | None = None,
        options: dict[str, Any] | None = None,  # noqa: ARG002 - Gymnasium's
    ) -> tuple[Numbers, dict[str, Any]]:
        super().reset(seed=seed)
        self.seats.deal(int(self.np_random.integers(1 << 62)))
        self._over = False
        self._go_on()
        return self.seats.observe(self.seat), self._info()

    def step(self, action: Any) -> tuple[Numbers, float, bool, bool, dict[str, Any]]:
        if self._over:
            raise Refused(Code.GAME_OVER, "expected reset, because the game is over or has not begun")
        number = self.codec.checked(action)
        if number not in self._legal:
            if not self._loses:
                raise self.seats.illegal(number, self.seat)
            self._over, self._legal = True, []
            return self.seats.observe(self.seat), -1.0, True, False, self._info()
        table = self.seats.playing()
        table.play(self.seat, self.codec.events[number])
        self._go_on()
        over = table.outcome is not None
        self._over = over or not self._legal
        reward = self.seats.rewards()[self.seats.agents[self.seat]]
        return self.seats.observe(self.seat), reward, over, self._over and not over, self._info()

    def action_masks(self) -> Mask:
        """Which actions are legal now."""
        return self.seats.mask(self._legal)

    def _info(self) -> dict[str, Any]:
        return {"action_mask": self.action_masks()}

    def _go_on(self) -> None:
        """Let the bots play until the agent can do something, or it is over."""
        while (following := self.seats.next(self.seat - 1)) is not None:
            seat, self._legal = following
            if seat == self.seat:
                return
            if not any(self._answer(other) for other in range(len(self.seats.agents)) if other != self.seat):
                break
        self._legal = []

    def _answer(self, seat: int) -> bool:
        """Whether the bot in this seat did something."""
        table, agent = self.seats.playing(), self.seats.agents[seat]
        chance = Chance(f"{self.seats.luck}:{len(table.steps)}:{seat}".encode(), 0)
        try:
            event = ask(table, agent, self.bot, chance)
        except Exception as error:
            why = f"the bot in seat {seat} raised {type(error).__name__}: {error}"
            raise Refused(Code.GAME_ERROR, why) from error
        if event is None or table.outcome is not None:
            return False
        table.act(agent, event)
        return True
