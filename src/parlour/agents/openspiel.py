"""Games for the algorithms of OpenSpiel: every draw of the rules is a chance node with its exact outcomes.

They need an extra: ``pip install 'parlour[openspiel]'``.
"""

import hashlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pyspiel

from parlour.agents.codec import ActionCodec
from parlour.agents.observations import Observer
from parlour.errors import Code, Refused
from parlour.game import Chance, Game
from parlour.position import Position, gains
from parlour.sim.play import chance_of, play_on
from parlour.sim.table import Table, encode
from parlour.simulating import find_game

MOST_STEPS = 20_000
"""A game that takes more moves than this is cut off, and nobody gets anything."""
MOST_OUTCOMES = 10_000
"""A draw from more possibilities than this is no chance node that anything could look through."""
SURVEYED = 20

Move = Callable[[Chance], Position]
_games: "dict[str, SpielGame]" = {}
"""All that were made, so that a pickled state finds its game."""


def as_spiel(game: str | Game[Any], config: Any = None, *, most_points: float | None = None) -> "SpielGame":
    """A game by its name, itself, or a Python file, as a game of OpenSpiel.

    *most_points* is the most that anybody can win or lose, where random play does not show it.
    """
    rules = find_game(game) if isinstance(game, str) else game.checked()
    return SpielGame(rules, config, most_points)


class Undrawn(BaseException):
    """The rules want one more draw than the script has: from so many possibilities."""

    def __init__(self, count: int) -> None:
        super().__init__(count)
        self.count = count


class OpenChance(Chance):
    """Luck that is known so far; whoever asks for more learns that here is a chance node."""

    __slots__ = ("_script",)

    def __init__(self, script: tuple[int, ...]) -> None:
        super().__init__(b"", 0)
        self._script = script

    def below(self, n: int) -> int:
        if n < 1:
            raise ValueError(f"expected 1 or more possibilities, got {n}")
        if n == 1:
            return 0
        at = len(self.draws)
        if at == len(self._script):
            raise Undrawn(n)
        self.draws.append(self._script[at])
        self.sizes.append(n)
        return self._script[at]


class _Opening(Table):
    """A table that is set up with luck from outside."""

    def __init__(self, game: Game[Any], config: Any, chance: Chance) -> None:
        self._given = chance
        super().__init__(game, config)

    def _chance(self) -> Chance:
        return self._given


class Survey:
    """What random play shows of a game: how it draws, and what can be won."""

    def __init__(self, game: Game[Any], config: Any) -> None:
        self.seats = 0
        self.most_outcomes = 1
        self.most_points = 0.0
        self.is_zero_sum = True
        for seed in range(SURVEYED):
            self._play(game, config, seed)

    def _play(self, game: Game[Any], config: Any, seed: int) -> None:
        table, chance = _Sized(game, config, seed), chance_of(seed)
        while table.outcome is None and len(table.steps) < MOST_STEPS:
            if not play_on(table, chance) and not table.ring_timer():
                break
        gained = gains(table.outcome, table.seats)
        self.seats = len(table.seats)
        self.most_outcomes = max(self.most_outcomes, *(size for sizes in table.sizes for size in sizes), 1)
        self.most_points = max(self.most_points, *map(abs, gained))
        self.is_zero_sum &= sum(gained) == 0


class _Sized(Table):
    """A table that notes from how many possibilities was drawn."""

    def __init__(self, game: Game[Any], config: Any, seed: int) -> None:
        self.sizes: list[list[int]] = []
        super().__init__(game, config, seed=seed)

    def _chance(self) -> Chance:
        chance = super()._chance()
        self.sizes.append(chance.sizes)
        return chance


class SpielGame(pyspiel.Game):
    """The rules of one game under one config."""

    def __init__(self, rules: Game[Any], config: Any, most_points: float | None = None) -> None:
        self.rules = rules
        self.config = config
        self.codec = ActionCodec.of(rules, config)
        self.words = [encode(event).decode() for event in self.codec.events]
        self.kinds = {type(event) for event in self.codec.events}
        survey = Survey(rules, config)
        self.most_outcomes = survey.most_outcomes
        self.most_points = most_points or survey.most_points or 1.0
        self.is_zero_sum = survey.is_zero_sum
        self.observes = type(rules).observe is not Game.observe
        self.first = Node(self, None, None, self._open)
        kind = self._kind(survey)
        info = pyspiel.GameInfo(
            num_distinct_actions=len(self.codec),
            max_chance_outcomes=survey.most_outcomes if survey.most_outcomes > 1 else 0,
            num_players=survey.seats,
            min_utility=-self.most_points,
            max_utility=self.most_points,
            utility_sum=0.0 if self.is_zero_sum else None,
            max_game_length=MOST_STEPS,
        )
        self.short_name = kind.short_name
        _games[kind.short_name] = self
        # A class, because OpenSpiel lets go of it when Python has ended: of anything else that would fail.
        pyspiel.register_game(kind, type("Again", (), {"__new__": lambda _cls, _params=None: self}))
        super().__init__(kind, info, {})

    def _kind(self, survey: Survey) -> Any:
        name = f"parlour_{self.rules.name}"
        if self.config:
            name += f"_{hashlib.sha256(encode(self.config)).hexdigest()[:8]}"
        kinds, known = pyspiel.GameType, pyspiel.GameType.Information
        hides = type(self.rules).resample is not Game.resample
        lucky = survey.most_outcomes > 1
        return kinds(
            short_name=name,
            long_name=self.rules.display_name,
            dynamics=kinds.Dynamics.SEQUENTIAL,
            chance_mode=kinds.ChanceMode.EXPLICIT_STOCHASTIC if lucky else kinds.ChanceMode.DETERMINISTIC,
            information=known.IMPERFECT_INFORMATION if hides else known.PERFECT_INFORMATION,
            utility=kinds.Utility.ZERO_SUM if self.is_zero_sum else kinds.Utility.GENERAL_SUM,
            reward_model=kinds.RewardModel.TERMINAL,
            max_num_players=survey.seats,
            min_num_players=survey.seats,
            provides_information_state_string=True,
            provides_information_state_tensor=False,
            provides_observation_string=True,
            provides_observation_tensor=self.observes,
        )

    def _open(self, chance: Chance) -> Position:
        table = _Opening(self.rules, self.config, chance)
        timers = {key: (timer.due, timer.event, timer.every) for key, timer in table.timers.items()}
        return Position(self.rules, table.state, table.seats, table.now, timers)

    def new_initial_state(self) -> "SpielState":
        return SpielState(self)

    def make_py_observer(self, iig_obs_type: Any = None, params: Any = None) -> "SpielObserver":
        if params:
            raise Refused(Code.MALFORMED, f"expected no parameters for an observer, got {params}"[:200])
        return SpielObserver(self, iig_obs_type or pyspiel.IIGObservationType(perfect_recall=False))


class Node:
    """A place in the tree of a game: somebody's turn, a chance node, or the end. It is never changed."""

    def __init__(
        self,
        game: SpielGame,
        parent: "Node | None",
        position: Position | None,
        move: Move,
        draws: tuple[int, ...] = (),
        by: int = -1,
    ) -> None:
        self.game = game
        self.position = position
        """None until everybody sits."""
        self.parent, self.by = parent, by
        """The node from which an action or a draw led here, and which."""
        drawn = parent is not None and parent.is_chance
        self.before: Node | None = parent.before if parent and drawn else parent
        """Where the last move was made."""
        seat = parent.seat if parent else None
        self.mover: tuple[int, int] = parent.mover if parent and drawn else (-1 if seat is None else seat, by)
        """Who made the last move, and which; seat -1: the game itself."""
        self.moves: int = parent.moves + (not drawn) if parent else 0
        self.outcomes: int = 0
        """Of the draw that has to be made here."""
        self.seat: int | None = None
        self.legal: list[int] = []
        self._move: Move | None = move
        self._draws = draws
        self.seen: dict[int, str] = {}
        """By player, the fingerprint of all that they have seen; made when it is asked for."""
        self._go_on()

    @property
    def is_chance(self) -> bool:
        """Whether something has to be drawn here."""
        return self.outcomes > 0

    def __deepcopy__(self, memo: Any) -> "Node":
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        path: list[int] = []
        node = self
        while node.parent is not None:
            path.append(node.by)
            node = node.parent
        return _walked, (self.game.short_name, path[::-1])

    def _go_on(self) -> None:
        """Do what is to be done until somebody has to decide: a player, or chance."""
        while True:
            if self._move is not None:
                try:
                    self.position = self._move(OpenChance(self._draws))
                except Undrawn as undrawn:
                    self.outcomes = self._checked(undrawn.count)
                    return
                self._move, self._draws = None, ()
            assert self.position is not None  # noqa: S101 - the opening was its move
            if self._finds_seat(self.position) or not self.position.timers or self.moves >= MOST_STEPS:
                return
            self._move = _ringing(self.position)
            self.moves += 1

    def _checked(self, count: int) -> int:
        """A draw that algorithms can be told of."""
        if count > MOST_OUTCOMES:
            why = f"expected draws of at most {MOST_OUTCOMES:,} possibilities, got {count:,}"
            raise Refused(Code.TOO_MANY, f"{self.game.rules.name}: {why}")
        return count

    def _finds_seat(self, position: Position) -> bool:
        count, codec = len(position.seats), self.game.codec
        if position.outcome is not None or self.moves >= MOST_STEPS:
            return False
        for step in range(1, count + 1):
            seat = (self.mover[0] + step) % count
            events = [event for event in position.legal(seat) if type(event) in self.game.kinds]
            if events:
                self.seat, self.legal = seat, sorted({codec.index(event) for event in events})
                return True
        return False

    def drawn(self, outcome: int) -> "Node":
        """The node after this outcome of a chance node."""
        if not 0 <= outcome < self.outcomes:
            why = f"expected an outcome from 0 to {self.outcomes - 1}, got {outcome}"
            raise Refused(Code.MALFORMED, why)
        draws = (*self._draws, outcome)
        assert self._move is not None  # noqa: S101 - it is what draws
        return Node(self.game, self, self.position, self._move, draws, outcome)

    def played(self, action: int) -> "Node":
        """The node after this action of whoever is to move."""
        seat, position = self.seat, self.position
        if seat is None or position is None:
            raise Refused(Code.GAME_OVER, "expected a game that goes on, but it is over")
        event = self.game.codec.event(action)
        if action not in self.legal:
            why = (
                f"expected an action that is legal for player {seat}, got {action}: {encode(event).decode()}"
            )
            raise Refused(Code.ILLEGAL_MOVE, why)

        def move(chance: Chance) -> Position:
            return position.play(seat, event, chance)

        return Node(self.game, self, position, move, by=action)

    def view(self, player: int | None) -> str:
        """What a player sees now, as JSON; None: what everybody may see."""
        if self.position is None:
            return ""
        viewer = None if player is None else self.position.seats[player]
        return encode(self.game.rules.view(self.position.state, viewer)).decode()

    def told(self, player: int) -> str:
        """All that a player has seen and done until now, as a fingerprint, and what they see now."""
        chain: list[Node] = []
        node: Node | None = self
        while node is not None and player not in node.seen:
            chain.append(node)
            node = node.before
        so_far = "" if node is None else node.seen[player]
        for later in reversed(chain):
            did = later.mover[1] if later.mover[0] == player else ""
            seen = f"{so_far}|{did}|{later.view(player)}"
            so_far = later.seen[player] = hashlib.sha256(seen.encode()).hexdigest()[:32]
        return f"{so_far} {self.view(player)}"


def _walked(name: str, path: list[int]) -> Node:
    """The node at the end of this path: how a pickled one is found again."""
    if name not in _games:
        raise Refused(
            Code.UNKNOWN_GAME, f"expected as_spiel to have made {name} in this process, got nothing"
        )
    node = _games[name].first
    for by in path:
        node = node.drawn(by) if node.outcomes else node.played(by)
    return node


def _ringing(position: Position) -> Move:
    def move(chance: Chance) -> Position:
        after = position.ring(chance)
        assert after is not None  # noqa: S101 - it has timers
        return after

    return move


class SpielState(pyspiel.State):
    """A game at one moment, as OpenSpiel's algorithms walk through it."""

    def __init__(self, game: SpielGame) -> None:
        super().__init__(game)
        self.node = game.first

    def current_player(self) -> int:
        node = self.node
        if node.outcomes:
            return int(pyspiel.PlayerId.CHANCE)
        return int(pyspiel.PlayerId.TERMINAL) if node.seat is None else node.seat

    def is_terminal(self) -> bool:
        return self.node.seat is None and not self.node.outcomes

    def chance_outcomes(self) -> list[tuple[int, float]]:
        count = self.node.outcomes
        return [(outcome, 1 / count) for outcome in range(count)]

    def _legal_actions(self, player: int) -> list[int]:
        return self.node.legal if player == self.node.seat else []

    def _apply_action(self, action: int) -> None:
        node = self.node
        self.node = node.drawn(action) if node.outcomes else node.played(action)

    def _action_to_string(self, player: int, action: int) -> str:
        if player == pyspiel.PlayerId.CHANCE:
            return f"draw {action}"
        return self.node.game.words[action]

    def returns(self) -> list[float]:
        node = self.node
        if node.position is None or not self.is_terminal():
            return [0.0] * node.game.num_players()
        gained = gains(node.position.outcome, node.position.seats)
        most = node.game.most_points
        if max(map(abs, gained)) > most or (node.game.is_zero_sum and sum(gained) != 0):
            why = f"{node.game.rules.name}: expected at most {most:g} points, and as surveyed, got {gained}"
            raise Refused(Code.GAME_ERROR, f"{why}; give as_spiel most_points")
        return list(gained)

    def __str__(self) -> str:
        position = self.node.position
        return "" if position is None else encode(position.state).decode()


class SpielObserver:
    """What a player sees, as numbers (by the game's `observe`) and as text (the view)."""

    def __init__(self, game: SpielGame, kind: Any) -> None:
        self._game, self._kind = game, kind
        self.dict: dict[str, Any] = {}
        self.tensor: Any = None
        if game.observes and not kind.perfect_recall:
            self._observer = Observer(game.rules, game.config)
            self.tensor = np.zeros(self._observer.size, np.float32)
            self.dict["observation"] = self.tensor

    def set_from(self, state: SpielState, player: int) -> None:
        """Put what this player sees into the tensor."""
        position = state.node.position
        if self.tensor is not None:
            self.tensor.fill(0)
            if position is not None:
                viewer = position.seats[player] if self._sees_own else None
                self.tensor[:] = self._observer.row(position.state, viewer)

    def string_from(self, state: SpielState, player: int) -> str:
        """What this player sees; with perfect recall, all that they have ever seen."""
        if not self._sees_own:
            return state.node.view(None) if self._kind.public_info else ""
        return state.node.told(player) if self._kind.perfect_recall else state.node.view(player)

    @property
    def _sees_own(self) -> bool:
        return bool(self._kind.private_info == pyspiel.PrivateInfoType.SINGLE_PLAYER)
