"""A bot for any game: it plays many worlds to their end that it cannot tell from the true one (IS-MCTS)."""

from collections.abc import Callable
from math import log, sqrt
from typing import Any

import msgspec

from parlour.errors import Code, Refused
from parlour.game import Bot, Chance
from parlour.position import BotWithWorlds, Clock, Position, gains, stand_still

Worth = Callable[[Any, str], float]
"""How good a state is for a player, from -1 to 1: where a game is not played to its end."""
EXPLORING = 0.7
"""How much what was seldom tried is preferred to what was good so far."""
_MASK = (1 << 64) - 1


def search(
    simulations: int = 1000,
    *,
    seconds: float = 0.5,
    rollout: Bot | None = None,
    depth: int = 200,
    worth: Worth | None = None,
    secrets: bool = True,
) -> BotWithWorlds:
    """A bot that plays so many games in its head, or for so many seconds, whichever ends first.

    They are played on by *rollout*, or by chance, for *depth* moves, and then judged by *worth*.
    A game without secrets that has a view of its own says so: *secrets* is False.
    """
    if simulations < 1 or depth < 1 or not seconds > 0:
        why = f"expected simulations, seconds and a depth above 0, got {simulations}, {seconds} and {depth}"
        raise Refused(Code.MALFORMED, why)

    def look(position: Position, seat: int, chance: Chance, clock: Clock) -> Any:
        tree = Tree(seat, QuickChance(chance.below(1 << 62)), rollout, depth, worth)
        return tree.best(position, simulations, clock, seconds)

    return BotWithWorlds(look, secrets)


class QuickChance(Chance):
    """Luck for what happens in one's head: nobody has to check it, so it may be quick."""

    __slots__ = ("number",)

    def __init__(self, seed: int) -> None:
        super().__init__(b"", 0)
        self.number = seed
        """It is another one after each draw."""

    def below(self, n: int) -> int:
        if not 0 < n <= 1 << 32:
            return super().below(n)
        self.number = (self.number * 6364136223846793005 + 1442695040888963407) & _MASK
        return ((self.number >> 32) * n) >> 32

    def _next(self) -> int:
        return (self.below(1 << 32) << 32) | self.below(1 << 32)


class Edge:
    """What is known of one event in one situation."""

    __slots__ = ("after", "available", "event", "mean", "rare", "then", "visits")

    def __init__(self, event: Any) -> None:
        self.event = event
        self.visits = 0
        self.available = 0
        """How often it could have been chosen, up to when its situation last met another position."""
        self.mean = 0.0
        """What its mover gained by it on average."""
        self.rare = 0.0
        """How much it is preferred for being seldom tried."""
        self.after: Position | None = None
        """What it leads to from the situation's own position, where no luck is in it."""
        self.then: Situation | None = None

    def note(self, gained: float) -> None:
        """It was chosen, and its mover gained that."""
        self.visits += 1
        self.mean += (gained - self.mean) / self.visits
        self.rare = EXPLORING / sqrt(self.visits)


class Situation:
    """All that a player cannot tell apart when it is their turn."""

    __slots__ = ("edges", "legal", "met", "position", "seat", "untried")

    def __init__(self, seat: int) -> None:
        self.seat = seat
        self.edges: dict[Any, Edge] = {}
        self.position: Position | None = None
        """The one in which it was met last."""
        self.legal: list[Edge] = []
        """What can be done there."""
        self.untried: list[Edge] = []
        """What of it was never done in any position."""
        self.met = 0
        """How often it was met there."""

    def meet(self, position: Position, legal: list[Any]) -> None:
        """It is met in this position; what follows from another one does not follow from it."""
        if self.position is not None and position.is_same(self.position):
            return
        edges = self.edges
        for event in legal:
            if event not in edges:
                edges[event] = Edge(event)
        for edge in self.legal:
            edge.available += self.met
            edge.after = edge.then = None
        self.met, self.position, self.legal = 0, position, [edges[event] for event in legal]
        self.untried = [edge for edge in self.legal if not edge.visits]


class Tree:
    """What one player has found out about situations; each is known by its mover's view."""

    def __init__(
        self, seat: int, chance: QuickChance, rollout: Bot | None, depth: int, worth: Worth | None
    ) -> None:
        self._seat, self._chance = seat, chance
        self._rollout, self._depth, self._worth = rollout, depth, worth
        self._situations: dict[bytes, Situation] = {}
        self._most = 1.0
        """The most that anybody gained or lost so far."""
        self.simulations = 0

    def best(
        self, position: Position, simulations: int, clock: Clock = stand_still, seconds: float = 1.0
    ) -> Any:
        """The event that was tried most often, as plain data; each try begins in a world of its own."""
        until = clock() + seconds
        game, player = position.game, position.seats[self._seat] or ""
        root = self._find(position, self._seat - 1)
        if root is None or root.seat != self._seat:
            return None
        while self.simulations < simulations and (self.simulations % 16 or clock() < until):
            world = game.resample(position.state, player, self._chance)
            if world is position.state:
                self._simulate(position, root)
            else:
                self._simulate(Position(game, world, position.seats, position.now), None)
            self.simulations += 1
        return msgspec.to_builtins(max(root.edges.values(), key=lambda edge: edge.visits).event)

    def _simulate(self, position: Position, then: Situation | None) -> None:
        """One game: through the situations that are known, one step beyond, and then played on.

        *then* is the situation in which it begins, if that is known.
        """
        path: list[tuple[int, Edge]] = []
        after, steps = self._seat - 1, 0
        while position.outcome is None and steps < self._depth:
            known = then is not None and then.position is position
            situation = then if known else self._find(position, after)
            if situation is None:
                break
            edge = self._select(situation)
            path.append((situation.seat, edge))
            after, steps, then = situation.seat, steps + 1, edge.then
            position = edge.after or self._play(position, situation, edge)
            if not edge.visits:
                position = self._play_on(position, after, self._depth - steps)
                break
            if then is None and edge.after is position and position.outcome is None:
                then = edge.then = self._find(position, after)
        gained = self._judge(position)
        for mover, edge in path:
            edge.note(gained[mover])

    def _play(self, position: Position, situation: Situation, edge: Edge) -> Position:
        """The position after this event, kept where no luck was in it."""
        before = self._chance.number
        after = self._until_somebody_can(position.play(situation.seat, edge.event, self._chance))
        if self._chance.number == before:
            edge.after = after
        return after

    def _until_somebody_can(self, position: Position) -> Position:
        """Timers ring where nobody can do anything."""
        while position.timers and position.outcome is None and not _next(position, -1)[1]:
            position = position.ring(self._chance) or position
        return position

    def _find(self, position: Position, after: int) -> Situation | None:
        """The situation of the next seat that can do something, new or known; None where nobody can."""
        seat, legal = _next(position, after)
        if not legal:
            return None
        key = _encode((seat, position.game.view(position.state, position.seats[seat])))
        situation = self._situations.get(key)
        if situation is None:
            situation = self._situations[key] = Situation(seat)
        situation.meet(position, legal)
        return situation

    def _select(self, situation: Situation) -> Edge:
        """Something that was not tried yet, else what promises most."""
        situation.met += 1
        if untried := situation.untried:
            return untried.pop(self._chance.below(len(untried)))
        best, most, scale, met = situation.legal[0], -1e9, 1 / self._most, situation.met
        last, width = -1, 0.0
        for edge in situation.legal:
            if edge.available != last:  # it is the same for all where all worlds allow the same
                last = edge.available
                width = sqrt(log(last + met))
            score = edge.mean * scale + width * edge.rare
            if score > most:
                best, most = edge, score
        return best

    def _play_on(self, position: Position, seat: int, steps: int) -> Position:
        """Play a world on without looking."""
        for _ in range(steps):
            if position.outcome is not None:
                break
            seat, legal = _next(position, seat)
            if legal:
                event = self._choose(position, seat, legal)
                position = position.play(seat, event, self._chance)
            elif (after := position.ring(self._chance)) is not None:
                position = after
            else:
                break
        return position

    def _choose(self, position: Position, seat: int, legal: list[Any]) -> Any:
        if self._rollout is None:
            return legal[self._chance.below(len(legal))]
        game = position.game
        view = msgspec.to_builtins(game.view(position.state, position.seats[seat]))
        event = self._rollout(view, msgspec.to_builtins(legal), self._chance)
        if event is None:
            return legal[self._chance.below(len(legal))]
        return game.read_event(msgspec.json.encode(event))

    def _judge(self, position: Position) -> tuple[float, ...]:
        if position.outcome is None and self._worth is not None:
            state = position.state
            return tuple([self._worth(state, player or "") * self._most for player in position.seats])
        gained = gains(position.outcome, position.seats)
        most = max(map(abs, gained))
        self._most = max(self._most, most)
        return gained


def _next(position: Position, after: int) -> tuple[int, list[Any]]:
    """The next seat that can do something, and what; nothing where nobody can."""
    count = len(position.seats)
    for step in range(1, count + 1):
        seat = (after + step) % count
        if legal := position.legal(seat):
            return seat, legal
    return after, []


_encode = msgspec.json.Encoder().encode
