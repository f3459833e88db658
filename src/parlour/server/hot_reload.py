"""Games in Python files of somebody's own: a saved file is loaded again, and its rooms go on."""

import asyncio
from collections.abc import Callable, MutableMapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import structlog

from parlour.errors import Refused
from parlour.game import Game
from parlour.server.components import Components
from parlour.server.game_loader import is_from, load_games

log = structlog.get_logger()

LOOK_AT_FILES_EVERY = 0.5
"""Seconds between two looks at the files."""

Stamp = tuple[int, int] | None
"""By which a saved file is told from the one before."""


class Reloader:
    """Looks whether a file was saved; then its rooms go on under the new rules from where they are."""

    def __init__(
        self,
        parlour: Components,
        games: MutableMapping[str, Game[Any]],
        files: Sequence[Path],
        say: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._parlour = parlour
        self._games = games
        self._say = say
        self._stamps = {file: _stamp(file) for file in files}

    async def watch(self) -> None:
        """Look again and again."""
        while True:
            await asyncio.sleep(LOOK_AT_FILES_EVERY)
            self.look()

    def look(self) -> None:
        """Load what was saved since the last look."""
        for file, before in self._stamps.items():
            now = _stamp(file)
            if now not in (None, before):  # an editor may take it away for a moment
                self._stamps[file] = now
                self._load(file)

    def _load(self, file: Path) -> None:
        try:
            games = load_games(file)
        except Refused as why:
            log.error("not_reloaded", file=str(file), why=why.message)
            self._say(f"{why.message}. The old rules go on.")
            self._note(file, why.message.replace(str(file), file.name))  # where it lies is not for players
            return
        self._note(file, None)
        for game in games:
            self._games[game.name] = game
            self._parlour.rooms.use_rules(game, partial(self._say_why, game))
        log.info("reloaded", file=str(file), games=[game.name for game in games])
        self._say(f"{file} is loaded anew.")

    def _note(self, file: Path, fault: str | None) -> None:
        """Rooms of the file's games show why it does not load, until it does."""
        for name, game in self._games.items():
            if not is_from(game, file) or self._parlour.environment.faults.get(name) == fault:
                continue
            if fault is None:
                del self._parlour.environment.faults[name]
            else:
                self._parlour.environment.faults[name] = fault
            self._parlour.rooms.show_anew(name)

    def _say_why(self, game: Game[Any], why: Refused) -> None:
        """A room goes on under the new rules, which cannot show it."""
        self._say(f"{game.display_name}: {why.message}")


def _stamp(file: Path) -> Stamp:
    try:
        stat = file.stat()
    except OSError:
        return None
    return stat.st_mtime_ns, stat.st_size
