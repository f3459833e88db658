"""Play at any table, with a room or without: legal events by chance, bots, timers where nobody can play."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

import msgspec

from parlour.bots.chance import choose_any
from parlour.game import Bot, Chance, Game, Outcome
from parlour.position import BotWithWorlds

MOST_STEPS = 20_000
"""A game that takes more steps than this does not end."""


class Playable(Protocol):
    """A table, as far as it can be played at."""

    game: Game[Any]

    @property
    def state(self) -> Any: ...
    @property
    def outcome(self) -> Outcome | None: ...
    @property
    def active(self) -> list[str]:
        """Those who may play now."""

    @property
    def steps(self) -> Sequence[Any]: ...
    def legal(self, player: str) -> list[Any]: ...
    def sees(self, viewer: str | None) -> Any: ...
    def act(self, player: str, event: Any) -> Any: ...
    def ring_timer(self) -> bool:
        """Let the next timer of the game ring; False if there is none."""


class Unfinished(AssertionError):
    """A game came to no end: there is nothing that anybody does, or it takes too long."""


def plain(thing: Any) -> Any:
    """What a client, or a bot, gets of it: JSON read back."""
    return msgspec.json.decode(msgspec.json.encode(thing))


def chance_of(seed: int) -> Chance:
    """Luck for whoever plays, not for the table."""
    return Chance(f"play {seed}".encode(), 0)


def play_on(table: Playable, chance: Chance) -> bool:
    """One legal event of somebody who is here; False where nobody can do anything."""
    for player in chance.shuffle(table.active):
        if choices := table.legal(player):
            table.act(player, chance.choice(choices))
            return True
    return False


def play_to_end(
    table: Playable, chance: Chance, look: Callable[[], None] = lambda: None, most: int = MOST_STEPS
) -> Outcome:
    """Legal play until there is an outcome, a look after each move; timers ring where nobody can play."""
    while table.outcome is None:
        if len(table.steps) >= most:
            raise Unfinished(f"expected an outcome of random play, but after {most} steps there is none")
        if not play_on(table, chance) and not table.ring_timer():
            raise Unfinished(
                "expected an outcome, a legal event or a timer of the game, but there is none: "
                "legal_events lists nothing for anybody, and outcome is None"
            )
        look()
    return table.outcome


def play_bots(
    table: Playable, bots: Sequence[Bot], luck: int = 0, most: int = 5000
) -> Iterator[tuple[str, Any]]:
    """Let bots play, one in each seat, until there is an outcome; who did what.

    A bot gets plain data, as from a server: its view and what it could do.
    """
    seats = table.active
    for number in range(most):
        if table.outcome is not None:
            return
        for seat, bot in zip(seats, bots, strict=False):
            event = ask(table, seat, bot, Chance(f"{luck}:{number}:{seat}".encode(), 0))
            if event is not None:
                table.act(seat, event)
                yield seat, event
                break
        else:
            if not table.ring_timer():
                raise Unfinished("expected an outcome, but no bot does anything, and no timer will ring")
    raise Unfinished(f"expected an outcome, but after {most} moves of bots there is none")


def ask(table: Playable, player: str, bot: Bot, chance: Chance) -> Any:
    """What this bot does now; None where it does nothing, or can do nothing."""
    legal = table.legal(player)
    if not legal:
        return None
    if bot is choose_any:  # it looks at nothing
        return chance.choice(legal)
    if isinstance(bot, BotWithWorlds):
        return bot.ask(table.game, table.state, player, table.active, chance)
    return bot(table.sees(player), plain(legal), chance)
