"""Golden games: a game played at random, told so that a person can check it and a test can compare it.

`scripts/playthrough` writes them anew when a change of the rules or views is meant; read the difference.
"""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from parlour.errors import Refused
from parlour.game import Chance
from parlour.games import GAMES
from parlour.room import apply
from parlour.testing import Table, effects, legal
from parlour.wire import Chat, Step
from tests.samples import SMALL

FOLDER = Path(__file__).parents[1] / "playthroughs"
LUCK = {"minesweeper": 500, "stratego": 324, "stratego-ogetarts": 175}
"""Which of the games that chance could make is worth reading."""
CONFIGS: dict[str, Any] = {
    **SMALL,
    "stratego": None,
    "hex": {"size": 4},
    "stratego-ogetarts": {"preset": "ogetarts"},
    "backgammon-plakoto": {"variant": "plakoto"},
    "backgammon-fevga": {"variant": "fevga", "opening_dice": True},
}
STORIES = (*GAMES, *(story for story in CONFIGS if story not in GAMES))
"""One for each game, and for another way to play it: a game's name, a dash, and which."""
PLAYERS = ("ann", "bob", "cat", "dan")
MOST_EVENTS = {"hearts": 80}
USUALLY = 40
"""So many events a story has at most."""


def playthrough(story: str) -> str:
    """The whole story of one game."""
    return "\n".join(_story(story)) + "\n"


def _story(story: str) -> Iterator[str]:
    game, luck = GAMES[story.partition("-")[0]], LUCK.get(story, 0)
    table, chance = Table(game, CONFIGS.get(story), luck=luck), Chance(luck.to_bytes(32, "big"), 0)
    yield f"# {game.display_name}, made by scripts/playthrough: each step, what it causes, what is seen."
    yield f"rules {game.version}, config {_json(table.room.config)}"
    yield from _scene(table)
    table.sit(*PLAYERS[: len(table.room.seats)])
    for step in table.steps:
        yield from _told(step)
    yield from _scene(table)
    yield from _told(table.do(Chat("zoe", "Zoe", "Good luck!")))
    yield from _play(table, chance)
    yield from _told(table.leave("ann"))
    yield from _scene(table)
    for step in table.wait(1000):
        yield from _told(step)


def _play(table: Table, chance: Chance) -> Iterator[str]:
    """Legal events until there is an outcome."""
    for _ in range(MOST_EVENTS.get(table.game.name, USUALLY)):
        player, event = chance.choice(_possible(table))
        table.wait(chance.die(4))
        step = table.act(player, event)
        yield from _told(step)
        yield from _scene(table)
        if table.room.outcome is not None:
            return
        yield from _refused(table, step)


def _refused(table: Table, step: Step) -> Iterator[str]:
    """What is said to somebody who tries the same again, if that is refused."""
    try:
        apply(table.game, table.room, step.command, table.instant())
    except Refused as refused:
        yield f"   again? {_json(refused.told())}"


def _possible(table: Table) -> list[tuple[str, Any]]:
    seated = [player for player in table.room.players if player]
    return [(player, event) for player in seated for event in legal(table.game, table.state, player)]


def _told(step: Step) -> Iterator[str]:
    """A step and what it causes."""
    yield ""
    yield f"== step {step.seq} at {step.now:g} s: {_json(step.command)}"
    if step.draws:
        yield f"   draws {_json(step.draws)}"
    for effect in effects(step):
        yield "   " + " ".join(
            [effect.pop("type"), *(f"{key} {_json(value)}" for key, value in effect.items())]
        )


def _scene(table: Table) -> Iterator[str]:
    """The board, what can be done, and what everybody sees."""
    yield from (f"      {row}" for row in str(table.state).splitlines())
    for player in filter(None, table.room.players):
        yield f"   {player} may {_few(legal(table.game, table.state, player))}"
    views: dict[str, list[str]] = {}
    for viewer in (*filter(None, table.room.players), None):
        views.setdefault(_json(table.game.view(table.state, viewer)), []).append(viewer or "others")
    for view, viewers in views.items():
        yield f"   seen by {' and '.join(viewers)}: {view}"
    if table.room.outcome is not None:
        yield f"   outcome {_json(table.room.outcome)}"


def _few(legal: Any) -> str:
    """Some of the events, and how many there are."""
    if not legal:
        return "do nothing"
    shown = [*map(_json, legal)] if len(legal) <= 3 else [*map(_json, legal[:2]), "...", _json(legal[-1])]
    return f"do {len(legal)}: {' '.join(shown)}"


def _json(thing: Any) -> str:
    return msgspec.json.encode(thing).decode()


if __name__ == "__main__":
    for chosen in sys.argv[1:] or STORIES:
        (FOLDER / f"{chosen}.txt").write_text(playthrough(chosen))
