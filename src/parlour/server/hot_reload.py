"""Hot reload: loads a game file again when it is saved; its rooms go on under the new rules."""

import asyncio
from collections.abc import Callable, MutableMapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import structlog

from parlour.errors import Code, Refused
from parlour.game import Game
from parlour.pictures import FOLDER, KINDS, board_folder
from parlour.server.board_pages import board_stamp
from parlour.server.components import Components
from parlour.server.game_loader import is_from, load_games, raised_in, two_of_a_name
from parlour.server.logs import escaped

log = structlog.get_logger()

LOOK_AT_FILES_EVERY = 0.5
"""Seconds between two looks at the files."""

BOARD = "board: "
"""How a fault begins that is of a game's board page; the game's scene is shown instead."""

Stamp = tuple[tuple[str, int, int], ...] | None
"""Identifies a saved version of a file and of the pictures beside it."""


class Reloader:
    """Loads saved game files again and moves their rooms to the new rules."""

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
        self._boards = {game.name: board_stamp(game) for game in self._own_games()}
        parlour.environment.callback_failed = self._note_bug
        parlour.environment.scene_failed = self._note_scene
        for game in self._own_games():
            self._load_board(game)

    async def watch(self) -> None:
        """Look for saved files at intervals."""
        while True:
            await asyncio.sleep(LOOK_AT_FILES_EVERY)
            self.look()

    def look(self) -> None:
        """Load the files that were saved since the last look."""
        for file, before in self._stamps.items():
            now = _stamp(file)
            if now not in (None, before):  # an editor may remove it for a moment
                self._stamps[file] = now
                self._load(file)
        for game in self._own_games():
            stamp = board_stamp(game)
            if stamp != self._boards.get(game.name):
                self._boards[game.name] = stamp
                self._load_board(game)
                self._parlour.rooms.see_anew(game.name)

    def _own_games(self) -> list[Game[Any]]:
        """The games of the watched files."""
        return [game for game in self._games.values() if any(is_from(game, file) for file in self._stamps)]

    def _load_board(self, game: Game[Any]) -> None:
        """Read the board page of a game; what is wrong with it is shown in the game's rooms."""
        faults = self._parlour.environment.faults
        try:
            self._parlour.environment.boards.load(game)
        except Refused as why:
            folder = board_folder(game)
            fault = why.message if folder is None else why.message.replace(f"{folder.parent}/", "")
            self._show_fault(game.name, f"{BOARD}{fault}", why.message)
            return
        if faults.get(game.name, "").startswith(BOARD):
            del faults[game.name]

    def _load(self, file: Path) -> None:
        try:
            games = load_games(file, self._say)
            self._check_names(games, file)
        except Refused as why:
            log.error("not_reloaded", file=str(file), why=why.message)
            self._say(f"{why.message}. The old rules go on.")
            self._note(file, why.message.replace(str(file), file.name))  # players need not know the folder
            return
        self._note(file, None)
        for game in games:
            self._games[game.name] = game
            self._load_board(game)
            self._parlour.rooms.use_rules(game, partial(self._say_why, game))
        log.info("reloaded", file=str(file), games=[game.name for game in games])
        self._say(f"{file} is loaded again.")

    def _check_names(self, games: Sequence[Game[Any]], file: Path) -> None:
        """A game of one file cannot take the name of a game of another."""
        for other in self._stamps:
            for game in games:
                if other != file and game.name in self._games and is_from(self._games[game.name], other):
                    raise Refused(Code.GAME_ERROR, two_of_a_name(game, file, other))

    def _note(self, file: Path, fault: str | None) -> None:
        """Show in the rooms of a file's games what is wrong with it, until it is saved."""
        for name, game in self._games.items():
            if not is_from(game, file) or self._parlour.environment.faults.get(name) == fault:
                continue
            if fault is None:
                del self._parlour.environment.faults[name]
            else:
                self._parlour.environment.faults[name] = fault
            self._parlour.rooms.show_anew(name)

    def _note_scene(self, game: str, why: str) -> None:
        """Show in a game's rooms why its scene cannot be drawn, until its file is loaded again."""
        self._show_fault(game, f"scene: {why}", f"{game}: the scene cannot be drawn: {why}")

    def _note_bug(self, game: Game[Any], error: BaseException) -> None:
        """Show in a game's rooms what a callback raised and in which line, until its file is loaded again."""
        for file in self._stamps:
            if is_from(game, file):
                line = raised_in(error, file)
                place = file.name if line is None else f"{file.name}, line {line}"
                fault = escaped(f"{place}: {type(error).__name__}: {error}")
                self._show_fault(game.name, fault, str(file.parent / fault))

    def _show_fault(self, game: str, fault: str, sentence: str) -> None:
        """Show a fault in the rooms and say it to the author, once."""
        if self._parlour.environment.faults.get(game) != fault:
            self._parlour.environment.faults[game] = fault
            self._say(sentence)
            self._parlour.rooms.show_anew(game)

    def _say_why(self, game: Game[Any], why: Refused) -> None:
        """Report why the new rules cannot show a room."""
        self._say(f"{game.display_name}: {why.message}")


def _stamp(file: Path) -> Stamp:
    try:
        beside = sorted(file.parent.glob(f"*{FOLDER}/*"))
        files = [file, *(one for one in beside if one.suffix.lower() in KINDS)]
        stats = [(file.name, file.stat()) for file in files]
    except OSError:
        return None
    return tuple((name, stat.st_mtime_ns, stat.st_size) for name, stat in stats)
