"""`parlour simulate`: an arena on all cores, and its ratings as a table with a plot."""

import math
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any, NamedTuple

from rich.table import Table as Grid

from parlour.bots import bots_of
from parlour.errors import Code, Refused
from parlour.game import Bot, Game
from parlour.games import GAMES
from parlour.plugins import find_function
from parlour.server.game_loader import load_games
from parlour.sim.arena import Pairing, Played, Rated, Score, pairings, play_pair, rate
from parlour.sim.records import line_of, record_of

PLOT = 30
"""How many columns the plot of ratings has."""


class Arena(NamedTuple):
    """What is played by whom, in words that another process understands."""

    game: str
    """A game's name, or a Python file with one."""
    config: Any
    bots: tuple[str, ...]
    lines: bool = False
    """Whether the games are wanted as data."""
    views: bool = False
    """Whether what each seat saw is wanted, too."""


class Result(NamedTuple):
    """What came of an arena."""

    ratings: list[Rated]
    games: int
    unfinished: int
    faults: list[str]


class Hall(NamedTuple):
    """The same with the rules and the bots themselves."""

    game: Game[Any]
    config: Any
    bots: Mapping[str, Bot]
    arena: Arena

    def play(self, pairing: Pairing) -> "Report":
        """Both games of a pairing."""
        pair = play_pair(self.game, self.config, self.bots, pairing)
        return Report(
            pair.score,
            sum(game.unfinished for game in pair.games),
            tuple(game.fault for game in pair.games if game.fault),
            tuple(map(self._line, pair.games)) if self.arena.lines else (),
        )

    def _line(self, played: Played) -> bytes:
        seats = zip(played.table.seats, played.bots, strict=True)
        record = record_of(played.table, {player: bot for player, bot in seats if player is not None})
        return line_of(record, self.game, views=self.arena.views)


class Report(NamedTuple):
    """What a process tells of a pairing that it has played."""

    score: Score
    unfinished: int
    faults: tuple[str, ...]
    lines: tuple[bytes, ...]


def find_game(name: str) -> Game[Any]:
    """A game by its name, or the one in a Python file; `Refused` says what there is instead."""
    if name in GAMES:
        return GAMES[name]
    if not name.endswith(".py"):
        why = f"expected a Python file or one of {', '.join(GAMES)}, got {name}"
        raise Refused(Code.UNKNOWN_GAME, why)
    games = load_games(Path(name))
    if len(games) > 1:
        names = ", ".join(game.name for game in games)
        raise Refused(Code.UNKNOWN_GAME, f"{name}: expected a file with one game, got {names}")
    return games[0]


def find_bot(game: Game[Any], name: str) -> Bot:
    """A bot of this game by its name, or any function as ``module:function``."""
    if ":" not in name:
        there = bots_of(game)
        if name not in there:
            why = f"{game.name}: expected module:function or one of {', '.join(there)}, got {name}"
            raise Refused(Code.UNKNOWN_BOT, why)
        return there[name]
    found: Bot = find_function(name)
    return found


def enter(arena: Arena) -> Hall:
    """Read the rules, the config and the bots; `Refused` if one of them is none."""
    game = find_game(arena.game)
    if len(set(arena.bots)) < max(2, len(arena.bots)):
        raise Refused(Code.UNKNOWN_BOT, f"expected two bots or more, each once, got {', '.join(arena.bots)}")
    game.read_config({} if arena.config is None else arena.config)
    return Hall(game, arena.config, {name: find_bot(game, name) for name in arena.bots}, arena)


def simulate(
    arena: Arena,
    games: int,
    seed: int,
    jobs: int,
    heard: Callable[[int, int], None],
    out: Callable[[bytes], Any] | None = None,
) -> Result:
    """Let everybody meet everybody; *heard* is told after each pair how many of how many there were.

    *out* takes the games as lines, where the arena wants them.
    """
    enter(arena)
    todo = pairings(arena.bots, games, seed)
    reports: list[Report] = []
    for report in _played(arena, todo, min(jobs, len(todo))):
        reports.append(report._replace(lines=()))
        heard(len(reports), len(todo))
        if out is not None:
            out(b"".join(report.lines))
    return Result(
        rate([report.score for report in reports], seed),
        2 * len(reports),
        sum(report.unfinished for report in reports),
        [fault for report in reports for fault in report.faults],
    )


def cores() -> int:
    """How many processes can run at once here."""
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1


def _played(arena: Arena, todo: Sequence[Pairing], jobs: int) -> Iterator[Report]:
    """The pairs in order, whoever plays them; a process that dies is told by a sentence."""
    if jobs <= 1:
        yield from map(enter(arena).play, todo)
        return
    chunk = max(1, math.ceil(len(todo) / (jobs * 16)))
    with ProcessPoolExecutor(jobs, initializer=_begin, initargs=(arena,)) as pool:
        try:
            yield from pool.map(_play, todo, chunksize=chunk)
        except BrokenProcessPool:
            raise Refused(Code.INTERNAL_ERROR, "a process in which bots played died; try --jobs 1") from None
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


_halls: list[Hall] = []
"""Of a process that plays for another."""


def _begin(arena: Arena) -> None:
    _halls.append(enter(arena))


def _play(pairing: Pairing) -> Report:
    return _halls[0].play(pairing)


# What is shown.


def shown(result: Result, *, fancy: bool) -> Grid:
    """The ratings as a table, the best first, and how they lie beside each other."""
    grid = Grid(box=None, pad_edge=False, header_style="bold")
    grid.add_column("Bot", no_wrap=True)
    for name in ("Elo", "95 %", "Score", "Games"):
        grid.add_column(name, justify="right", no_wrap=True)
    grid.add_column("", no_wrap=True)
    for rated, bar in zip(result.ratings, bars(result.ratings, fancy=fancy), strict=True):
        between = f"[{rated.low:+.0f}, {rated.high:+.0f}]"
        grid.add_row(rated.bot, f"{rated.elo:+.0f}", between, f"{rated.share:.1%}", f"{rated.out_of:,}", bar)
    return grid


def bars(ratings: Sequence[Rated], *, fancy: bool) -> list[str]:
    """Each interval as a line, and its rating as a dot on it, all on one scale.

    >>> print(*bars([Rated("a", 50, 0, 100, 1, 2), Rated("b", -50, -100, 0, 1, 2)], fancy=False), sep="|\\n")
                   |------o-------||
    |-------o------|
    """
    begin, line, dot, end = "├─●┤" if fancy else "|-o|"
    least = min(rated.low for rated in ratings)
    scale = max(rated.high for rated in ratings) - least or 1.0

    def column(elo: float) -> int:
        return round((elo - least) / scale * PLOT)

    drawn = []
    for rated in ratings:
        low, at, high = column(rated.low), column(rated.elo), column(rated.high)
        cells = [" "] * low + [line] * (high - low + 1)
        cells[low], cells[high] = begin, end
        cells[at] = dot
        drawn.append("".join(cells))
    return drawn
