"""What most games need besides their own rules: whose turn is next, who is ready, how it ended."""

from collections.abc import Collection, Sequence

from parlour.game import Outcome

Players = Sequence[str | None]
"""Who sits where, as `State.players` and `Moment.seats` have it; None where a seat is free."""


def next_seat(players: Players, seat: int, out: Collection[int] = ()) -> int:
    """The next taken seat after this one, around the table; seats in *out* are passed over.

    >>> next_seat(("ann", None, "cat", "dan"), 0)
    2
    >>> next_seat(("ann", "bob", "cat"), 2, out={0})
    1
    """
    around = [(seat + step) % len(players) for step in range(1, len(players) + 1)]
    return next((at for at in around if players[at] is not None and at not in out), seat)


def can_start(players: Players, ready: Collection[int], least: int = 1) -> bool:
    """At least so many seats are taken, and whoever sits has said to be ready.

    >>> can_start(("ann", "bob", None), ready={0, 1}, least=2)
    True
    >>> can_start(("ann", "bob", None), ready={0}, least=2)
    False
    """
    taken = {seat for seat, player in enumerate(players) if player is not None}
    return len(taken) >= least and taken <= set(ready)


def win(players: Players, seats: int | Collection[int], why: str = "") -> Outcome:
    """One seat, or several as a team, has won, and all others who sit have lost.

    >>> win(("ann", "bob"), 1, "four in a row")
    Outcome(won=('bob',), lost=('ann',), drew=(), why='four in a row', points={})
    """
    winners = (seats,) if isinstance(seats, int) else seats
    won, lost = (
        tuple(p for at, p in enumerate(players) if p is not None and (at in winners) is is_winner)
        for is_winner in (True, False)
    )
    return Outcome(won=won, lost=lost, why=why)


def draw(players: Players, why: str = "") -> Outcome:
    """Nobody has won: all who sit have drawn.

    >>> draw(("ann", "bob"), "the board is full").drew
    ('ann', 'bob')
    """
    return Outcome(drew=tuple(player for player in players if player is not None), why=why)


def win_by_score(players: Players, scores: Sequence[float], why: str = "") -> Outcome:
    """The highest score wins; whoever shares it has drawn, and all others have lost.

    >>> win_by_score(("ann", "bob", "cat"), (3, 7, 5)).won
    ('bob',)
    >>> shared = win_by_score(("ann", "bob", "cat"), (7, 7, 5))
    >>> shared.drew, shared.lost
    (('ann', 'bob'), ('cat',))
    """
    taken = [(player, score) for player, score in zip(players, scores, strict=True) if player is not None]
    most = max((score for _, score in taken), default=0)
    best = tuple(player for player, score in taken if score == most)
    lost = tuple(player for player, score in taken if score != most)
    if len(best) == 1:
        return Outcome(won=best, lost=lost, why=why)
    return Outcome(drew=best, lost=lost, why=why)
