"""A match: several games for a score, as a value; each function is one thing that a player can do."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta
from msgspec.structs import replace

from parlour.errors import Code, Refused
from parlour.game import OUT_OF_TIME, Chance, Config, State
from parlour.games.backgammon.board import SIDES, Board, Step
from parlour.games.backgammon.checkers import Checkers
from parlour.games.backgammon.moves import Dice, Way, die_for, left_of, routes, ways
from parlour.games.backgammon.notation import Entry, exported_game, point_name, written
from parlour.games.backgammon.variants import VARIANTS

PLANS = {"tavli": ("portes", "plakoto", "fevga")}
"""What is played in turn, where that is more than one game."""
TARGETS = {"cash": None, "five_points": 5, "seven_points": 7}
HIGHEST_CUBE = 64
WHOLE_WAYS = 2
"""From this version of the rules on a move must leave the rest of a whole way to be played."""
LATE_DECLINES = 3
"""From this version on a double that is not answered in time is declined."""
ROOM_CLOCKS = 4
"""From this version on the time is the room's; before, the game had timers of its own."""
Grade = Literal["single", "gammon", "backgammon"]
GRADES: tuple[Grade, ...] = ("single", "gammon", "backgammon")

Seconds = Annotated[int, Meta(ge=5, le=7 * 24 * 3600)]
Phase = Literal["ready", "roll", "move", "double", "over"]


class MatchConfig(Config, frozen=True):
    """Which games, for how many points, and how strictly."""

    variant: Annotated[
        Literal["backgammon", "tavla", "tavli", "portes", "plakoto", "fevga"],
        Meta(description="tavli is portes, plakoto and fevga in turn"),
    ] = "backgammon"
    match: Annotated[
        Literal["cash", "five_points", "seven_points"],
        Meta(description="cash: one game of each kind, and the points are added up"),
    ] = "cash"
    crawford: Annotated[
        bool, Meta(description="no doubling in the first game after somebody is one point away")
    ] = False
    opening_dice: Annotated[
        bool, Meta(description="each rolls one die, the higher begins and plays both")
    ] = False
    turn_seconds: Annotated[
        Seconds | None,
        Meta(
            description="instead, give the room a clock of kind turn", extra_json_schema={"deprecated": True}
        ),
    ] = None
    absence_seconds: Annotated[
        Seconds | None,
        Meta(description="instead, give the room a clock with away", extra_json_schema={"deprecated": True}),
    ] = None


class Cube(msgspec.Struct, frozen=True):
    """The doubling cube; without an owner it is in the middle, for both."""

    value: int = 1
    owner: int | None = None


class Resignation(msgspec.Struct, frozen=True):
    """What somebody would give the game up for, which the other side may refuse."""

    seat: int
    grade: Grade
    points: int
    refused: bool = False


class Played(msgspec.Struct, frozen=True):
    """A game that is over."""

    variant: str
    winner: int | None
    points: int
    how: str
    log: tuple[Entry, ...] = ()


class Match(State, frozen=True, kw_only=True):
    """All there is to know; seat 0 plays x, seat 1 plays o."""

    settings: MatchConfig
    board: Board
    before: Board
    """As it was when this turn began, to undo to."""
    checkers: Checkers
    """Which was where then."""
    last: tuple[int, tuple[int, ...]] | None = None
    """Whose the last turn was, and which checkers moved in it."""
    phase: Phase = "ready"
    turn: int = 0
    number: int = 0
    """Of the turn in this game, from 1."""
    ready: tuple[bool, bool] = (False, False)
    dice: tuple[int, ...] = ()
    """The two dice as they were rolled."""
    small_first: bool = False
    """Whether a click on a checker plays the smaller die of this turn first."""
    played: Way = ()
    """The steps of this turn so far."""
    cube: Cube = Cube()
    resigning: Resignation | None = None
    """A resignation that waits for an answer, or was refused; whoever plays on puts an end to it."""
    score: tuple[int, int] = (0, 0)
    games: tuple[Played, ...] = ()
    log: tuple[Entry, ...] = ()
    """What was done in this game."""
    ended: str = ""
    """How the match came to its end."""
    timed_turns: bool = False
    """The room's clock gives time for each turn, and so also for getting ready."""

    def __str__(self) -> str:
        whose = {"ready": "before a game", "over": "over"}.get(
            self.phase, f"{SIDES[self.turn]} to {self.phase}"
        )
        dice = f", dice {self.dice}, left {self.left}" if self.dice else ""
        cube = f", cube {self.cube.value}" if self.board.rules.cube else ""
        return f"{self.board}\n{self.board.variant}, {self.score[0]} : {self.score[1]}, {whose}{dice}{cube}"

    @property
    def seated(self) -> bool:
        """Both players have come."""
        return None not in (self.player(0), self.player(1))

    @property
    def on(self) -> bool:
        """The match can be won and lost."""
        return self.seated and self.phase != "over"

    @property
    def plan(self) -> tuple[str, ...]:
        return PLANS.get(self.settings.variant, (self.settings.variant,))

    @property
    def target(self) -> int | None:
        """The points to reach; None in a cash match."""
        return TARGETS[self.settings.match]

    @property
    def is_for_a_score(self) -> bool:
        """True unless it is a single game, which has no score."""
        return self.target is not None or len(self.plan) > 1

    @property
    def winner(self) -> int | None:
        """Who has more points."""
        x, o = self.score
        return None if x == o else int(o > x)

    @property
    def final(self) -> str:
        """How the match came out, the winner's points first, and by what."""
        how = "" if self.ended == "draw" else f" ({self.ended})"
        return f"{max(self.score)} \N{EN DASH} {min(self.score)}{how}"

    @property
    def awaited(self) -> tuple[int, ...]:
        """Who has to do something now."""
        match self.phase:
            case "ready":
                return tuple(seat for seat in (0, 1) if not self.ready[seat])
            case "double":
                return (1 - self.turn,)
            case "over":
                return ()
            case _:
                return (self.turn,)

    @property
    def clocks_run_for(self) -> tuple[int, ...]:
        """Whose time runs: while neither is ready nobody's, unless there is time for each turn."""
        if self.phase == "ready" and not any(self.ready) and not self.has_timed_turns:
            return ()
        return self.awaited

    @property
    def has_timed_turns(self) -> bool:
        """There is time for each turn; of older matches the config says so."""
        return self.timed_turns or self.settings.turn_seconds is not None

    @property
    def turn_id(self) -> tuple[object, ...]:
        """What there is time for: getting ready, a turn up to a double, its answer, the rest of the turn."""
        kind = self.phase if self.phase in ("ready", "double") else "turn"
        return kind, len(self.games), self.number, self.cube.value

    @property
    def answering(self) -> int | None:
        """Who is offered a resignation."""
        return None if self.resigning is None or self.resigning.refused else 1 - self.resigning.seat

    @property
    def left(self) -> Dice:
        """The dice that are still to be played."""
        return left_of(self.dice, self.played) if self.dice else ()

    @property
    def standing(self) -> Checkers:
        """Which checker is where now."""
        board, checkers = self.before, self.checkers
        for step in self.played:
            board, checkers = board.play(self.turn, step), checkers.play(board, self.turn, step)
        return checkers

    @property
    def has_hit(self) -> bool:
        """The last step of this turn came upon a lone checker."""
        board = self.before
        for step in self.played[:-1]:
            board = board.play(self.turn, step)
        return board.meets(self.turn, self.played[-1].end)

    @property
    def ways(self) -> tuple[Way, ...]:
        """All longest ways to play what is left of the roll."""
        return ways(self.board, self.turn, self.left) if self.phase == "move" else ()

    @property
    def routes(self) -> dict[Step, Way]:
        """The moves that can be made now."""
        return self.routes_under(None)

    def routes_under(self, version: int | None) -> dict[Step, Way]:
        """The moves that could be made by that version of the rules; None: today's."""
        whole = version is None or version >= WHOLE_WAYS
        return routes(self.board, self.turn, self.left, whole=whole) if self.phase == "move" else {}

    @property
    def by_click(self) -> dict[int, int]:
        """Where a click takes the checkers of each point: by one die, the larger first or the smaller."""
        first = min(self.left, default=0) if self.small_first else max(self.left, default=0)
        steps = [step for step, way in self.routes.items() if len(way) == 1]
        by_the_first_last = sorted(steps, key=lambda step: die_for(step, self.left) == first)
        return {step.start: step.end for step in by_the_first_last}

    @property
    def crawford(self) -> bool:
        """This is the one game without doubling: the first in which somebody is one point away."""
        if not self.settings.crawford or self.target is None:
            return False
        score = list(self.score)
        for game in reversed(self.games):
            if game.winner is not None:
                score[game.winner] -= game.points
            if max(score) == self.target - 1:
                return False  # an earlier game began like this
        return max(self.score) == self.target - 1

    @property
    def may_double(self) -> bool:
        """Whether the one on turn may offer the cube."""
        free = self.cube.owner in (None, self.turn) and self.cube.value < HIGHEST_CUBE
        return self.phase == "roll" and self.board.rules.cube and free and not self.crawford

    @property
    def invites_double(self) -> bool:
        """Whether a page offers it: before the first roll of a game nobody doubles, though it is accepted."""
        return self.may_double and self.number > 1


def new_match(settings: MatchConfig, *, timed_turns: bool = False) -> Match:
    """Before the first game."""
    board = Board.start(PLANS.get(settings.variant, (settings.variant,))[0])
    checkers = Checkers.on(board)
    return Match(settings=settings, board=board, before=board, checkers=checkers, timed_turns=timed_turns)


def drawn_match(drawn: str) -> Match:
    """A game in the middle, with x to move: the variant, the dice if there are some, and the board.

    >>> drawn_match("portes 6 1").dice
    (6, 1)
    """
    head, _, rows = drawn.strip().partition("\n")
    variant, *dice = head.split()
    board = Board.parse(variant, rows) if rows else Board.start(variant)
    match = replace(new_match(MatchConfig(variant=variant)), board=board, before=board)  # type: ignore[arg-type]
    return replace(match, checkers=Checkers.on(board), phase="move", dice=tuple(map(int, dice)))


# What a player can do; the one who asks has been found to be the one who may.


def say_ready(match: Match, seat: int, chance: Chance) -> Match:
    """One is ready; when both are, the next game begins."""
    ready = (match.ready[0] or seat == 0, match.ready[1] or seat == 1)
    return begin(match, chance) if all(ready) else replace(match, ready=ready)


def begin(match: Match, chance: Chance) -> Match:
    """Set the board up; chance says who begins the first game, later the winner does (after a draw x)."""
    board = Board.start(next_variant(match))
    match = replace(
        match,
        board=board,
        before=board,
        checkers=Checkers.on(board),
        last=None,
        ready=(False, False),
        cube=Cube(),
        number=1,
        log=(),
    )
    if match.settings.opening_dice:
        dice = (chance.die(), chance.die())
        while dice[0] == dice[1]:
            dice = (chance.die(), chance.die())
        return replace(match, phase="move", turn=int(dice[1] > dice[0]), dice=dice)
    starter = (match.games[-1].winner or 0) if match.games else chance.below(2)
    return replace(match, phase="roll", turn=starter)


def next_variant(match: Match) -> str:
    """What is played next; a plan that has come to its end begins anew."""
    return match.plan[len(match.games) % len(match.plan)]


def roll(match: Match, chance: Chance) -> Match:
    """Two dice for the one on turn."""
    return replace(match, phase="move", dice=(chance.die(), chance.die()))


def route_of(match: Match, start: int, end: int, version: int | None = None) -> Way:
    """The steps that a move stands for; refused if it cannot be made."""
    route = match.routes_under(version).get(Step(start, end))
    if route is None:
        told = f"{point_name(start)}/{point_name(end)}"
        left = ", ".join(map(str, match.left)) or "nothing"
        raise Refused(Code.ILLEGAL_MOVE, f"{told} is no move of a way to play {left}")
    return route


def move(match: Match, route: Way) -> Match:
    """Play these steps of one checker; all off, or both mothers pinned, ends the game."""
    board = match.board
    for step in route:
        board = board.play(match.turn, step)
    match = replace(match, board=board, played=match.played + route)
    if board.winner() is not None:
        grade = board.grade(1 - match.turn)
        return finish(match, match.turn, board.rules.wins[grade] * match.cube.value, GRADES[grade])
    return finish(match, None, 0, "draw") if board.drawn else match


def undo(match: Match) -> Match:
    """Take the last step of this turn back, with all that it did."""
    if not match.played:
        raise Refused(Code.ILLEGAL_MOVE, "there is nothing to undo")
    board, played = match.before, match.played[:-1]
    for step in played:
        board = board.play(match.turn, step)
    return replace(match, board=board, played=played)


def swap_dice(match: Match) -> Match:
    """A click on a checker shall play the other die first."""
    if len(set(match.left)) < 2:
        raise Refused(Code.ILLEGAL_MOVE, "there are not two different dice left to be swapped")
    return replace(match, small_first=not match.small_first)


def end_turn(match: Match) -> Match:
    """Hand the dice over, when there is nothing left to play."""
    if match.ways:
        raise Refused(Code.ILLEGAL_MOVE, f"there are dice to play: {', '.join(map(str, match.left))}")
    match = _put_down(match)
    return replace(match, phase="roll", turn=1 - match.turn, number=match.number + 1)


def _put_down(match: Match) -> Match:
    """The turn is over, and written down."""
    if not match.dice:
        return match
    standing = match.standing
    return replace(
        match,
        before=match.board,
        checkers=standing,
        last=(match.turn, standing.moved(match.checkers, match.turn)),
        dice=(),
        small_first=False,
        played=(),
        log=(*match.log, _turn(match)),
    )


def _turn(match: Match) -> Entry:
    """A turn as it is written down."""
    return (
        match.turn,
        f"{match.dice[0]}{match.dice[1]}: {written(match.before, match.turn, match.played)}".rstrip(),
    )


def offer(match: Match) -> Match:
    """Ask to play for twice as much."""
    if not match.may_double:
        raise Refused(Code.ILLEGAL_MOVE, _why_not_double(match))
    log = (*match.log, (match.turn, f" Doubles => {2 * match.cube.value}"))
    return replace(match, phase="double", log=log)


def _why_not_double(match: Match) -> str:
    if not match.board.rules.cube:
        return f"{match.board.variant} has no doubling cube"
    if match.crawford:
        return "this is the Crawford game: no doubling"
    if match.cube.value >= HIGHEST_CUBE:
        return f"the cube stands at {HIGHEST_CUBE}, it goes no higher"
    return "the cube is your opponent's"


def accept(match: Match) -> Match:
    """Play on for twice as much; the cube is now yours."""
    other = 1 - match.turn
    log = (*match.log, (other, " Takes"))
    return replace(match, phase="roll", cube=Cube(2 * match.cube.value, other), log=log)


def decline(match: Match) -> Match:
    """Give the game up for what the cube says."""
    match = replace(match, log=(*match.log, (1 - match.turn, " Drops")))
    return finish(match, match.turn, match.cube.value, "declined")


def resign_game(match: Match, seat: int, how: str = "resigned") -> Match:
    """Give the game up, for as much as it could still cost."""
    return finish(match, 1 - seat, at_stake(match, seat), how)


def at_stake(match: Match, seat: int) -> int:
    """The most that a side can still lose in this game."""
    wins = match.board.rules.wins
    return (wins[0] if match.board.counts[seat][0] else wins[-1]) * match.cube.value


def resign_match(match: Match, seat: int, how: str = "resigned") -> Match:
    """Give the match up: the other gets the points that are missing, or for cash those of all games left."""
    other, target = 1 - seat, match.target
    if target is not None:
        lose = _skipped if match.phase == "ready" else finish
        return over(lose(match, other, target - match.score[other], how), how)
    if match.phase != "ready":
        match = resign_game(match, seat, how)
    while len(match.games) < len(match.plan):
        match = _skipped(match, other, VARIANTS[next_variant(match)].wins[-1], how)
    missing = match.score[seat] + 1 - match.score[other]
    if missing > 0:  # whoever gives up has not won
        last = match.games[-1]
        games = (*match.games[:-1], replace(last, winner=other, points=last.points + missing))
        match = replace(match, games=games, score=_added(match.score, other, missing))
    return over(match, how)


def _skipped(match: Match, winner: int, points: int, how: str) -> Match:
    """A game that is lost without being played."""
    games = (*match.games, Played(next_variant(match), winner, points, how))
    return replace(match, games=games, score=_added(match.score, winner, points))


def finish(match: Match, winner: int | None, points: int, how: str) -> Match:
    """The game is over; so is the match, or else both may say that they are ready for the next."""
    match = _put_down(match)
    match = replace(
        match,
        phase="ready",
        resigning=None,
        games=(*match.games, Played(match.board.variant, winner, points, how, match.log)),
        score=match.score if winner is None else _added(match.score, winner, points),
        log=(),
    )
    done = len(match.games) >= len(match.plan) if match.target is None else max(match.score) >= match.target
    return over(match, how) if done else match


def _added(score: tuple[int, int], seat: int, points: int) -> tuple[int, int]:
    return (score[0] + points, score[1]) if seat == 0 else (score[0], score[1] + points)


def over(match: Match, how: str) -> Match:
    """The match is over."""
    return replace(match, phase="over", ready=(False, False), ended=how)


def out_of_time(match: Match, version: int | None) -> Match:
    """Whoever should have moved loses the game, between games the match; if neither is ready, it is over.

    A double that was not answered is declined, by that version of the rules; None: today's.
    """
    late = match.awaited
    if match.phase == "double" and (version is None or version >= LATE_DECLINES):
        return decline(match)
    if match.phase != "ready":
        return resign_game(match, late[0], OUT_OF_TIME)
    if len(late) == 1:
        return resign_match(match, late[0], OUT_OF_TIME)
    return over(match, "neither was ready in time")


def export(match: Match) -> str:
    """The match so far as text that other programs read."""
    names = [match.player(seat) or SIDES[seat] for seat in (0, 1)]
    parts = [f" {match.target or 0} point match"]
    score = (0, 0)
    for number, game in enumerate(match.games, 1):
        text = exported_game(number, game.variant, names, score, game.log)
        if game.winner is not None:
            score = _added(score, game.winner, game.points)
        won = f"{names[game.winner]} wins {game.points}" if game.winner is not None else "Nobody wins"
        parts.append(f"{text}\n      {won} ({game.how})")
    return "\n\n".join(parts) + "\n"
