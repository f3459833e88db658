"""How strong players are: Glicko-2, and what else a ladder says of somebody.

The method and its example are M. Glickman's ("Example of the Glicko-2 system"); the numbers of the steps in
the comments are his.
"""

from collections.abc import Mapping, Sequence
from math import exp, log, pi, sqrt
from typing import Any

import msgspec
from msgspec.structs import replace

from parlour.game import Outcome

SCALE = 173.7178
MIDDLE = 1500.0
TAU = 0.5
"""How much a volatility may change; between 0.3 and 1.2."""
ENOUGH = 1e-6
PERIOD = 7 * 86400.0
"""Seconds without a game after which a rating is a little less certain."""
WIDEST = 350.0


class Rating(msgspec.Struct, frozen=True):
    """What is believed of a player's strength, and how firmly."""

    rating: float = MIDDLE
    deviation: float = WIDEST
    volatility: float = 0.06

    @property
    def worth(self) -> float:
        """What the player is almost certainly worth; leaderboards go by this.

        >>> Rating(1500.0, 350.0).worth, Rating(1500.0, 50.0).worth
        (800.0, 1400.0)
        """
        return self.rating - 2 * self.deviation


def rate(rating: Rating, games: Sequence[tuple[Rating, float]], *, tau: float = TAU) -> Rating:
    """The rating after these games of one period: against whom, and 1 for a win, 0.5 for a draw, 0."""
    if not games:
        return idle(rating, 1)
    mu, phi = (rating.rating - MIDDLE) / SCALE, rating.deviation / SCALE  # step 2
    precision = surprise = 0.0
    for other, score in games:
        weight = 1 / sqrt(1 + 3 * (other.deviation / SCALE) ** 2 / pi**2)
        expected = 1 / (1 + exp(-weight * (mu - (other.rating - MIDDLE) / SCALE)))
        precision += weight**2 * expected * (1 - expected)
        surprise += weight * (score - expected)
    variance = 1 / precision  # step 3
    sigma = _volatility(rating.volatility, phi, variance, variance * surprise, tau)  # steps 4 and 5
    phi = 1 / sqrt(1 / (phi**2 + sigma**2) + precision)  # steps 6 and 7
    return Rating(SCALE * (mu + phi**2 * surprise) + MIDDLE, SCALE * phi, sigma)  # step 8


def idle(rating: Rating, periods: int) -> Rating:
    """The rating of somebody who has not played for so long: as high, but less certain."""
    phi = sqrt((rating.deviation / SCALE) ** 2 + periods * rating.volatility**2)
    return replace(rating, deviation=min(WIDEST, phi * SCALE))


def _volatility(sigma: float, phi: float, variance: float, delta: float, tau: float) -> float:
    """Step 5: where *f* is zero, found by the Illinois method."""
    start = log(sigma**2)

    def f(x: float) -> float:
        spread = phi**2 + variance + exp(x)
        return exp(x) * (delta**2 - spread) / (2 * spread**2) - (x - start) / tau**2

    low = start
    if delta**2 > phi**2 + variance:
        high = log(delta**2 - phi**2 - variance)
    else:
        steps = 1
        while f(start - steps * tau) < 0:
            steps += 1
        high = start - steps * tau
    at_low, at_high = f(low), f(high)
    while abs(high - low) > ENOUGH:
        middle = low + (low - high) * at_low / (at_high - at_low)
        at_middle = f(middle)
        if at_middle * at_high <= 0:
            low, at_low = high, at_high
        else:
            at_low /= 2
        high, at_high = middle, at_middle
    return exp(low / 2)


# Ladders.


class Standing(msgspec.Struct, frozen=True, omit_defaults=True):
    """A player on a ladder."""

    ladder: str
    player: str
    name: str
    rating: Rating = Rating()
    won: int = 0
    lost: int = 0
    drew: int = 0
    streak: int = 0
    """Games won in a row up to now; below zero, games lost."""
    longest: int = 0
    """The most games ever won in a row."""
    played: float = 0.0
    """When the last game was, as wall time."""


def ladder_of(game: str, config: Any, *, bots: bool = False) -> str:
    """Where a game counts: a config with a variant has a ladder for each, and bots have ladders of their own.

    >>> ladder_of("backgammon", {"variant": "fevga"}), ladder_of("tictactoe", {})
    ('backgammon/fevga', 'tictactoe')
    >>> ladder_of("tictactoe", {}, bots=True)
    'tictactoe//bots'
    """
    variant = config.get("variant") if isinstance(config, Mapping) else None
    ladder = f"{game}/{variant}" if isinstance(variant, str) else game
    if not bots:
        return ladder
    return f"{ladder}/bots" if ladder != game else f"{game}//bots"


def settle(
    standings: Sequence[Standing], outcome: Outcome, date: float, names: Mapping[str, str]
) -> tuple[Standing, ...]:
    """The standings of two players after a game between them; without two such, as they were."""
    if len(standings) != 2 or any(_score(standing.player, outcome) is None for standing in standings):
        return tuple(standings)
    named = [replace(standing, name=names[standing.player]) for standing in standings]
    one, other = (_rested(standing, date) for standing in named)
    return (
        _after(one, other.rating, _score(one.player, outcome) or 0.0, date),
        _after(other, one.rating, _score(other.player, outcome) or 0.0, date),
    )


class Stake(msgspec.Struct, frozen=True):
    """A player's rating before a game, and what it will be after a win, a draw and a loss."""

    player: str
    rating: float
    won: float | None = None
    drew: float | None = None
    """None where no game ends in a draw; all three are None while one of the two is missing."""
    lost: float | None = None


def stakes(standings: Sequence[Standing], date: float, *, draws: bool) -> tuple[Stake, ...]:
    """What two players are about to play for, by the calculation that will rate their game.

    While only one of them is there, only their rating.
    """
    if len(standings) != 2:
        return tuple(Stake(standing.player, standing.rating.rating) for standing in standings)
    one, other = (standing.player for standing in standings)
    names = {standing.player: standing.name for standing in standings}

    def after(outcome: Outcome) -> tuple[float, ...]:
        return tuple(settled.rating.rating for settled in settle(standings, outcome, date, names))

    won, lost = after(Outcome(won=(one,), lost=(other,))), after(Outcome(won=(other,), lost=(one,)))
    drew = after(Outcome(drew=(one, other))) if draws else (None, None)
    first, second = (standing.rating.rating for standing in standings)
    return (Stake(one, first, won[0], drew[0], lost[0]), Stake(other, second, lost[1], drew[1], won[1]))


def _score(player: str, outcome: Outcome) -> float | None:
    for players, score in ((outcome.won, 1.0), (outcome.drew, 0.5), (outcome.lost, 0.0)):
        if player in players:
            return score
    return None


def _rested(standing: Standing, date: float) -> Standing:
    periods = int((date - standing.played) / PERIOD) if standing.played else 0
    return replace(standing, rating=idle(standing.rating, periods)) if periods > 0 else standing


def _after(standing: Standing, other: Rating, score: float, date: float) -> Standing:
    won, lost = score == 1, score == 0
    streak = max(standing.streak, 0) + 1 if won else min(standing.streak, 0) - 1 if lost else 0
    return replace(
        standing,
        rating=rate(standing.rating, [(other, score)]),
        won=standing.won + won,
        lost=standing.lost + lost,
        drew=standing.drew + (not won and not lost),
        streak=streak,
        longest=max(standing.longest, streak),
        played=date,
    )
