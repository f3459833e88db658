"""The games that can be played: those that come with Parlour, and those of other installed packages."""

from collections.abc import Iterable
from importlib.metadata import EntryPoint
from typing import Any

from parlour.errors import Code, Refused
from parlour.game import Game
from parlour.pictures import pictures_of
from parlour.plugins import load_each, registered

GROUP = "parlour.games"
"""The group of entry points; each is the name of a game and its class."""
ORDER = ("tictactoe", "minesweeper", "stratego", "backgammon", "hex", "hearts", "goofspiel")
"""How games are listed; all others come after these."""


def collect(entries: Iterable[EntryPoint]) -> tuple[dict[str, Game[Any]], list[str]]:
    """The games by name, and a sentence for each that cannot be used."""
    games: dict[str, Game[Any]] = {}

    def take(name: str, kind: Any) -> None:
        if not (isinstance(kind, type) and issubclass(kind, Game)):
            raise Refused(Code.GAME_ERROR, f"expected a class that derives from parlour.Game, got {kind!r}")
        game = kind().checked()
        if game.name != name:
            raise Refused(Code.GAME_ERROR, f"expected a game of the name {name}, got {game.name}")
        if name in games:
            raise Refused(Code.NAME_TAKEN, f"there is a game {name} already")
        pictures_of(game)  # refuses what no browser should get
        games[name] = game

    troubles = load_each(entries, take)
    return {name: games[name] for name in (*ORDER, *games) if name in games}, troubles


GAMES, TROUBLES = collect(registered(GROUP))
if not GAMES:
    raise ImportError(
        "no game is registered in this Python environment: install Parlour again (in a clone: make setup)"
    )
