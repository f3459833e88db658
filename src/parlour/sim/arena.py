"""Where bots meet: pairs of games on the same luck with the seats swapped, and ratings with intervals."""

import math
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple

from msgspec.structs import replace

from parlour.bots.chance import choose_any
from parlour.bots.search import QuickChance
from parlour.errors import Refused
from parlour.game import Bot, Chance, Game, Outcome
from parlour.position import BotWithWorlds
from parlour.sim.play import Unfinished, play_bots
from parlour.sim.table import Table

ELO = 400 / math.log(10)
RESAMPLES = 400
"""So often the pairs are drawn again to see how far luck could move a rating."""
MOST_MOVES = 5000
ENOUGH = 1e-6
"""Strengths that change by less than this share are found."""


class Pairing(NamedTuple):
    """Two bots who meet twice on the same luck: the second time with the seats swapped."""

    one: str
    other: str
    luck: int


class Played(NamedTuple):
    """A game of two bots, and how it ended for the first of them: 1 won, 0 lost, a half neither."""

    table: Table
    bots: tuple[str, ...]
    """The bot in each seat."""
    score: float
    fault: str = ""
    """What a bot did that cannot be played; it has lost by it."""
    unfinished: bool = False


class Score(NamedTuple):
    """What the first bot of a pairing has won of it."""

    pairing: Pairing
    points: float
    out_of: int


class Pair(NamedTuple):
    """What came of a pairing."""

    score: Score
    games: tuple[Played, ...]


class BotRaised(Exception):
    """A bot failed by itself."""


def pairings(bots: Sequence[str], games: int, seed: int = 0) -> list[Pairing]:
    """Everybody meets everybody equally often; as many pairs as make about so many games, at least one each.

    >>> pairings(["easy", "hard"], games=4)
    [Pairing(one='easy', other='hard', luck=0), Pairing(one='easy', other='hard', luck=1)]
    """
    meetings = list(combinations(bots, 2))
    each = max(1, math.ceil(games / (2 * len(meetings)))) if meetings else 0
    return [Pairing(*meeting, seed + number) for number in range(each) for meeting in meetings]


def play_pair(game: Game[Any], config: Any, bots: Mapping[str, Bot], pairing: Pairing) -> Pair:
    """Both games of a pairing; where there is one seat, each plays alone, and the better result counts."""
    one, other, luck = pairing
    games = tuple(play_game(game, config, bots, names, luck) for names in ((one, other), (other, one)))
    if len(games[0].bots) == 1:
        first, second = (played.score for played in games)
        return Pair(Score(pairing, 0.5 + (first > second) / 2 - (first < second) / 2, 1), games)
    return Pair(Score(pairing, games[0].score + 1 - games[1].score, 2), games)


def play_game(
    game: Game[Any], config: Any, bots: Mapping[str, Bot], names: tuple[str, str], luck: int
) -> Played:
    """One game; the two take the seats in turn, the first of them the first."""
    table = Table(game, config, seed=luck)
    seated = tuple(names[seat % 2] for seat in range(len(table.seats)))
    asked = 0

    def guarded(seat: int, bot: Bot) -> Bot:
        if bot is choose_any:  # nothing can go wrong, and it need not see anything
            return bot

        def answer(*question: Any) -> Any:
            nonlocal asked
            asked = seat
            try:
                return ask(*question)
            except Exception as error:
                raise BotRaised(f"it raised {type(error).__name__}: {error}") from error

        ask = bot.look if isinstance(bot, BotWithWorlds) else bot
        return replace(bot, look=answer) if isinstance(bot, BotWithWorlds) else answer

    try:
        for _ in play_bots(
            table, [guarded(seat, bots[name]) for seat, name in enumerate(seated)], luck, MOST_MOVES
        ):
            pass
    except (Refused, BotRaised) as why:
        said = f"it answered what is refused: {why.message}" if isinstance(why, Refused) else str(why)
        fault = f"{seated[asked]}, luck {luck}, step {len(table.steps)}: {said}"
        return Played(table, seated, float(seated[asked] != names[0]), fault)
    except Unfinished:
        return Played(table, seated, 0.5, unfinished=True)
    assert table.outcome is not None  # noqa: S101 - play_bots returns when there is one
    return Played(table, seated, score_of(table, table.outcome))


def score_of(table: Table, outcome: Outcome) -> float:
    """How it ended for whoever has every second seat, the first among them."""
    results = [_result(outcome, player or "") for player in table.seats]
    if len(results) == 1:
        return results[0]
    mine, theirs = results[::2], results[1::2]
    ahead = sum(mine) / len(mine) - sum(theirs) / len(theirs)
    return 0.5 + (ahead > 0) / 2 - (ahead < 0) / 2


def _result(outcome: Outcome, player: str) -> float:
    return 1.0 if player in outcome.won else 0.0 if player in outcome.lost else 0.5


# Ratings.


class Rated(NamedTuple):
    """A bot, and how strong it is; the mean of all is 0."""

    bot: str
    elo: float
    low: float
    high: float
    """It lies between these in 95 of 100 such arenas."""
    score: float
    out_of: int

    @property
    def share(self) -> float:
        """Of all points that it could have won."""
        return self.score / self.out_of if self.out_of else 0.0


Scores = Mapping[tuple[str, str], Sequence[tuple[float, int]]]
"""For each two bots, of each pair: the points of the first, and out of how many."""


def rate(won: Sequence[Score], seed: int = 0) -> list[Rated]:
    """Bradley-Terry ratings, the best first, with intervals by a bootstrap over pairs."""
    scores: dict[tuple[str, str], list[tuple[float, int]]] = {}
    for pairing, points, out_of in won:
        scores.setdefault((pairing.one, pairing.other), []).append((points, out_of))
    elos = elos_of(scores)
    chance = QuickChance(seed)
    others = [elos_of(_resampled(scores, chance)) for _ in range(RESAMPLES)]
    rated = [_rated(bot, elo, sorted(other[bot] for other in others), scores) for bot, elo in elos.items()]
    return sorted(rated, key=lambda one: -one.elo)


def _rated(bot: str, elo: float, drawn: Sequence[float], scores: Scores) -> Rated:
    won, out_of = 0.0, 0
    for (one, other), results in scores.items():
        if bot in (one, other):
            points, games = (sum(column) for column in zip(*results, strict=True))
            won += points if bot == one else games - points
            out_of += int(games)
    return Rated(
        bot,
        elo,
        drawn[math.floor(0.025 * len(drawn))],
        drawn[math.ceil(0.975 * len(drawn)) - 1],
        won,
        out_of,
    )


def _resampled(scores: Scores, chance: Chance) -> Scores:
    return {
        meeting: [results[chance.below(len(results))] for _ in results] for meeting, results in scores.items()
    }


def elos_of(scores: Scores) -> dict[str, float]:
    """The ratings under which these scores are most likely, with one draw added for each two who met.

    Without it, whoever has won every game would be stronger without bounds.

    >>> {bot: round(elo) for bot, elo in elos_of({("a", "b"): [(2.0, 2)] * 5}).items()}
    {'a': 264, 'b': -264}
    """
    bots = sorted({bot for meeting in scores for bot in meeting})
    won = dict.fromkeys(bots, 0.0)
    games: list[tuple[str, str, float]] = []
    for (one, other), results in scores.items():
        points, count = sum(score for score, _ in results) + 0.5, sum(games for _, games in results) + 1
        won[one] += points
        won[other] += count - points
        games.append((one, other, count))
    strengths = _strengths(won, games)
    mean = sum(map(math.log, strengths.values())) / max(1, len(bots))
    return {bot: ELO * (math.log(strengths[bot]) - mean) for bot in bots}


def _strengths(won: Mapping[str, float], games: Sequence[tuple[str, str, float]]) -> dict[str, float]:
    """Bradley and Terry's strengths, by repeated correction."""
    strengths = dict.fromkeys(won, 1.0)
    for _ in range(1000):
        weights = dict.fromkeys(won, 0.0)
        for one, other, count in games:
            weight = count / (strengths[one] + strengths[other])
            weights[one] += weight
            weights[other] += weight
        after = {bot: won[bot] / weights[bot] for bot in won}
        scale = math.exp(-sum(map(math.log, after.values())) / len(after))
        after = {bot: strength * scale for bot, strength in after.items()}
        if all(abs(after[bot] / strengths[bot] - 1) < ENOUGH for bot in won):
            return after
        strengths = after
    return strengths
