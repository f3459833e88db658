"""Games as environments of PettingZoo: one agent at a time (AEC), or all at once (parallel)."""

from typing import Any, Literal

import numpy as np
from gymnasium import spaces
from pettingzoo import AECEnv, ParallelEnv

from parlour.agents.seats import Illegal, Mask, Seats
from parlour.errors import Code, Refused
from parlour.game import Game
from parlour.sim.table import encode

MaskIn = Literal["observation", "info"]


def aec_env(
    game: str | Game[Any], config: Any = None, *, mask: MaskIn = "observation", illegal: Illegal = "refuse"
) -> "GameEnv":
    """A game by its name, itself, or a Python file, as an environment where agents act one after the other.

    It checks what PettingZoo's usual wrappers check. An illegal action is refused, or (*illegal*) loses.
    """
    return GameEnv(Seats(game, config), mask, illegal)


def parallel_env(
    game: str | Game[Any], config: Any = None, *, mask: MaskIn = "observation"
) -> "ParallelGameEnv":
    """The same where all agents act at once; the last action is to do nothing."""
    return ParallelGameEnv(Seats(game, config), mask)


def _observation_space(seats: Seats, actions: int, mask: MaskIn) -> spaces.Space[Any]:
    box = spaces.Box(-1.0, 1.0, (seats.observer.size,), np.float32)
    if mask == "info":
        return box
    return spaces.Dict({"observation": box, "action_mask": spaces.Box(0, 1, (actions,), np.int8)})


class GameEnv(AECEnv[str, Any, Any]):
    """One game after the other, of which each agent has a seat."""

    def __init__(self, seats: Seats, mask: MaskIn, illegal: Illegal) -> None:
        super().__init__()
        self.seats = seats
        self.codec = seats.codec
        self.metadata = {
            "name": f"parlour_{seats.game.name}", "render_modes": ["ansi"], "is_parallelizable": False
        }  # fmt: skip
        self.render_mode: str | None = None
        self.possible_agents = list(seats.agents)
        self.agents: list[str] = []
        self._in_info = mask == "info"
        self._loses = illegal == "lose"
        self._number = {agent: number for number, agent in enumerate(seats.agents)}
        space, actions = _observation_space(seats, len(seats.codec), mask), spaces.Discrete(len(seats.codec))
        self.observation_spaces = dict.fromkeys(seats.agents, space)
        self.action_spaces = dict.fromkeys(seats.agents, actions)
        self._legal: list[int] = []
        self._no_mask = seats.mask([])

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:  # noqa: ARG002 - PettingZoo's
        self.seats.deal(seed)
        self.agents = list(self.possible_agents)
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self.agent_selection = self.agents[0]
        self._skip_agent_selection = None
        self._advance(-1)

    def observe(self, agent: str) -> Any:
        seats = self.seats
        numbers = seats.observe(self._number[agent])
        if self._in_info:
            return numbers
        return {"observation": numbers, "action_mask": self._mask(agent)}

    def _mask(self, agent: str) -> Mask:
        return self.seats.mask(self._legal) if agent == self.agent_selection else self._no_mask.copy()

    def step(self, action: Any) -> None:
        if not self.agents:
            raise Refused(Code.GAME_OVER, "expected reset, because the game is over")
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            if action is not None:
                raise Refused(
                    Code.GAME_OVER, f"expected None, because it is over for {agent}, got {action!r}"
                )
            self._was_dead_step(None)
            return
        number, seat = self.codec.checked(action), self._number[agent]
        self._cumulative_rewards[agent] = 0.0
        if number in self._legal:
            self.seats.playing().play(seat, self.codec.events[number])
            self._advance(seat)
        elif self._loses:
            self._lose(agent)
        else:
            raise self.seats.illegal(number, seat)

    def _advance(self, seat: int) -> None:
        """Go on to whoever can do something next, or end."""
        following = self.seats.next(seat)
        if following is not None:
            number, self._legal = following
            self.agent_selection = self.possible_agents[number]
            if self._in_info:
                self.infos = {agent: {"action_mask": self._no_mask} for agent in self.agents}
                self.infos[self.agent_selection] = {"action_mask": self.seats.mask(self._legal)}
            return
        over = self.seats.playing().outcome is not None
        self._end(self.seats.rewards(), terminated=over)

    def _lose(self, agent: str) -> None:
        """An illegal action: whoever did it has lost, and nobody else has won."""
        self._end({other: -1.0 if other == agent else 0.0 for other in self.agents}, terminated=True)

    def _end(self, rewards: dict[str, float], *, terminated: bool) -> None:
        self._legal = []
        if self._in_info:
            self.infos = {agent: {"action_mask": self._no_mask} for agent in self.agents}
        self.rewards = rewards
        self.terminations = dict.fromkeys(self.agents, terminated)
        self.truncations = dict.fromkeys(self.agents, not terminated)
        self._accumulate_rewards()
        self._deads_step_first()

    def render(self) -> str:
        """What everybody may see, as JSON."""
        return encode(self.seats.playing().sees(None)).decode()

    def close(self) -> None:
        pass


class ParallelGameEnv(ParallelEnv[str, Any, Any]):
    """All agents act at once, and are heard by seat; what has become illegal by then is not done."""

    def __init__(self, seats: Seats, mask: MaskIn) -> None:
        self.seats = seats
        self.codec = seats.codec
        self.metadata = {"name": f"parlour_{seats.game.name}", "render_modes": []}
        self.render_mode: str | None = None
        self.possible_agents = list(seats.agents)
        self.agents: list[str] = []
        self.nothing = len(seats.codec)
        """The action of those who can or want to do nothing."""
        self._in_info = mask == "info"
        space = _observation_space(seats, self.nothing + 1, mask)
        self.observation_spaces = dict.fromkeys(seats.agents, space)
        self.action_spaces = dict.fromkeys(seats.agents, spaces.Discrete(self.nothing + 1))

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        return self.action_spaces[agent]

    def reset(
        self,
        seed: int | None = None,
        options: dict[str, Any] | None = None,  # noqa: ARG002 - PettingZoo's
    ) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
        self.seats.deal(seed)
        self.agents = list(self.possible_agents)
        self.seats.next(-1)
        return self._told()

    def step(
        self, actions: dict[str, Any]
    ) -> tuple[dict[str, Any], dict[str, float], dict[str, bool], dict[str, bool], dict[str, dict[str, Any]]]:
        if not self.agents:
            raise Refused(Code.GAME_OVER, "expected reset, because the game is over")
        table, wanted = self.seats.playing(), self._wanted(actions)
        for seat, number in wanted.items():
            if number in self.seats.legal(seat):
                table.play(seat, self.codec.events[number])
        goes_on = self.seats.next(-1) is not None
        over = table.outcome is not None
        observations, infos = self._told()
        rewards = self.seats.rewards()
        terminations = dict.fromkeys(self.possible_agents, over)
        truncations = dict.fromkeys(self.possible_agents, not over and not goes_on)
        if not goes_on:
            self.agents = []
        return observations, rewards, terminations, truncations, infos

    def _wanted(self, actions: dict[str, Any]) -> dict[int, int]:
        """What each seat wants to do, where that is something; what is not legal is refused."""
        if strange := sorted(set(actions) - set(self.agents)):
            raise Refused(Code.NOT_SEATED, f"expected actions of {', '.join(self.agents)}, got {strange}")
        wanted = {}
        for seat, agent in enumerate(self.possible_agents):
            action = actions.get(agent, self.nothing)
            if action != self.nothing:
                wanted[seat] = self.codec.checked(action)
                if wanted[seat] not in self.seats.legal(seat):
                    raise self.seats.illegal(wanted[seat], seat)
        return wanted

    def _told(self) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
        observations: dict[str, Any] = {}
        infos: dict[str, dict[str, Any]] = {}
        for seat, agent in enumerate(self.possible_agents):
            legal = self.seats.legal(seat)
            mask = np.append(self.seats.mask(legal), np.int8(not legal))
            numbers = self.seats.observe(seat)
            observations[agent] = numbers if self._in_info else {"observation": numbers, "action_mask": mask}
            infos[agent] = {"action_mask": mask} if self._in_info else {}
        return observations, infos

    def render(self) -> None:
        return None

    def close(self) -> None:
        pass
