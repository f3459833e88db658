"""How well the bots move in backgammon, by GNU Backgammon: the equity that they lose by a move.

The positions are from games of bots against each other on luck of their own, which nobody has trained on.
Every way to play the roll is judged by gnubg's network without looking ahead; its best loses nothing.
Equity counts in points: once where only winning counts, once with gammons and backgammons, without the cube.
"""

import json
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from examples import td_backgammon as td
from parlour.bots.backgammon.levels import BOTS, each_end
from parlour.game import Bot, Chance
from parlour.games.backgammon.board import Board, Step
from parlour.games.backgammon.moves import die_for, rolled, routes, without
from parlour.games.backgammon.variants import BAR

GNUBG = shutil.which("gnubg", path="/usr/games:/usr/local/bin:/usr/bin") or shutil.which("gnubg")
SEED = b"positions that nobody trained on."
POSITIONS = 1000
SAME = 1e-4
"""Who loses less than this has found the best move."""
EACH = 3
"""Of so many turns of a game one is taken."""
JUDGE = """
import gnubg, json
for command in ("set automatic game off", "set automatic roll off", "new session"):
    gnubg.command(command)
context = gnubg.evalcontext()
context["plies"], context["cubeful"] = 0, 0
with open(PATH) as file:
    boards = json.load(file)
cube = gnubg.cubeinfo()
judged = [gnubg.evaluate((tuple(a), tuple(b)), cube, context)[:5] for a, b in boards]
with open(PATH, "w") as file:
    json.dump(judged, file)
"""
"""What gnubg's own Python runs: boards as pairs of (the side that has moved, the side that rolls)."""


class Spot(NamedTuple):
    """A roll to be played: side x is on turn."""

    board: Board
    dice: tuple[int, ...]


class Equity(NamedTuple):
    """What a board is worth to the side that has just moved."""

    win: float
    money: float


def collect(wanted: int) -> list[Spot]:
    """Positions with a choice, from games of medium and hard against each other."""
    spots: list[Spot] = []
    number = 0
    while len(spots) < wanted:
        chance = Chance(SEED, number)
        number += 1
        board, side, turn = Board.start("backgammon"), 0, 0
        while board.winner() is None and len(spots) < wanted:
            dice = rolled(chance.die(), chance.die())
            level = ("medium", "hard")[side ^ (number % 2)]
            if turn % EACH == 2 and len(afters(Spot(board, dice))) > 1:
                spots.append(Spot(board, dice))
            board = turned(played(BOTS[level], Spot(board, dice), chance))
            side, turn = 1 - side, turn + 1
    return spots


def turned(board: Board) -> Board:
    """The same with the sides swapped, so that whoever is on turn is x."""
    return Board(board.variant, board.counts[::-1])


def played(bot: Bot, spot: Spot, chance: Chance) -> Board:
    """The board after a bot's whole turn."""
    board, left = spot
    while found := routes(board, 0, left):
        legal = [{"type": "move", "from": start, "to": end} for start, end in found]
        event = bot(_seen(board, left), legal, chance)
        for step in found[Step(event["from"], event["to"])]:
            board, left = board.play(0, step), without(left, die_for(step, left))
    return board


def _seen(board: Board, left: tuple[int, ...]) -> dict[str, Any]:
    """What a bot looks at of a view when it moves."""
    return {
        "variant": board.variant,
        "you": 0,
        "left": left,
        "checkers": board.counts,
        "pinned": board.pinned,
    }


def afters(spot: Spot) -> set[Board]:
    """The boards that the roll can lead to."""
    return {end for _, end in each_end(spot.board, 0, spot.dice)}


def judge(boards: Sequence[Board]) -> dict[Board, Equity]:
    """What gnubg thinks of boards on which x has just moved."""
    with tempfile.TemporaryDirectory() as folder:
        data, script = Path(folder, "boards.json"), Path(folder, "judge.py")
        data.write_text(json.dumps([[_points(board, 0), _points(board, 1)] for board in boards]))
        script.write_text(f"PATH = {str(data)!r}\n{JUDGE}")
        run = [str(GNUBG), "-t", "-q", "-p", str(script)]
        subprocess.run(run, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        return {
            board: equity(*answer)
            for board, answer in zip(boards, json.loads(data.read_text()), strict=True)
            if board.winner() is None
        } | {board: _won(board) for board in boards if board.winner() is not None}


def _points(board: Board, side: int) -> tuple[int, ...]:
    """A side's checkers as gnubg has them: the points from its own end on, then the bar."""
    return board.counts[side][1 : BAR + 1]


def equity(
    win: float, gammon: float, backgammon: float, lost_gammon: float, lost_backgammon: float
) -> Equity:
    """From what gnubg says for the side that rolls to what it means for the other."""
    only_win = 2 * win - 1
    return Equity(-only_win, -(only_win + gammon + backgammon - lost_gammon - lost_backgammon))


def _won(board: Board) -> Equity:
    return Equity(1.0, float(board.rules.wins[board.grade(1)]))


def lost(bot: Bot, spots: Sequence[Spot], known: Mapping[Board, Equity]) -> list[Equity]:
    """What a bot loses in each position against gnubg's best."""
    found = []
    for number, spot in enumerate(spots):
        mine = known[played(bot, spot, Chance(SEED, number))]
        all_ends = [known[end] for end in afters(spot)]
        best = Equity(max(end.win for end in all_ends), max(end.money for end in all_ends))
        found.append(Equity(best.win - mine.win, best.money - mine.money))
    return found


def told(name: str, losses: Sequence[Equity]) -> str:
    """A line about a bot: the means, each with what it may be off by in 95 of 100 cases."""
    parts = []
    for values in zip(*losses, strict=True):
        off = 1.96 * statistics.stdev(values) / len(values) ** 0.5
        parts.append(f"{statistics.mean(values):.4f} +- {off:.4f}")
    best = sum(loss.money < SAME for loss in losses) / len(losses)
    return f"{name:<8}{parts[0]:>20}{parts[1]:>20}{best:>12.0%}"


def main() -> int:
    """Measure all levels, and the network of make train where there is one."""
    if GNUBG is None:
        sys.stderr.write("expected gnubg, GNU Backgammon, and found none: install Debian's package gnubg\n")
        return 1
    bots = dict(BOTS)
    if Path(td.WEIGHTS, "tavla.npz").exists():
        bots["td"] = td.play
    else:
        sys.stderr.write(f"no network in {td.WEIGHTS}: make train makes one, to be measured, too\n")
    spots = collect(int(sys.argv[1]) if len(sys.argv) > 1 else POSITIONS)
    known = judge(list({end: None for spot in spots for end in afters(spot)}))
    write = sys.stdout.write
    write(f"{len(spots):,} positions, {len(known):,} boards; equity lost per move\n")
    write(f"{'bot':<8}{'to win':>20}{'with gammons':>20}{'best move':>12}\n")
    for name, bot in bots.items():
        write(told(name, lost(bot, spots, known)) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
