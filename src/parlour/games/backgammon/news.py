"""What everybody is told of a change: games that began and ended, the end of the match."""

from collections.abc import Iterator

from parlour.game import Moment, Send, Update
from parlour.games.backgammon.match import Match
from parlour.games.backgammon.old_timers import timers_of_then


def tell(type: str, **said: object) -> Send:
    """Something that everybody hears."""
    return Send("all", {"type": type, **said})


def settled(before: Match, after: Match, told: Send | None, moment: Moment) -> Update[Match]:
    """A change with all that is told of it."""
    if after is before:
        return Update(before)
    said = () if told is None else (told,)
    return Update(after, (*said, *_news(before, after), *timers_of_then(moment)))


def _news(before: Match, after: Match) -> Iterator[Send]:
    for game in after.games[len(before.games) :]:
        yield tell("game_ended", winner=game.winner, points=game.points, how=game.how)
    if before.phase == "ready" and after.phase in ("roll", "move"):
        yield tell("game_started", game=len(after.games), variant=after.board.variant, starter=after.turn)
    if after.phase == "over" != before.phase:
        yield tell("match_ended", score=after.score)
