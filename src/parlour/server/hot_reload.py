"""Games in Python files of somebody's own: a saved file is loaded again, and its rooms go on."""

import asyncio
from collections.abc import Callable, MutableMapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import structlog

from parlour.errors import Code, Refused
from parlour.game import Game
from parlour.journal.base import Stored, Trouble
from parlour.server.game_loader import is_from, load_games
from parlour.server.rooms.host import Host
from parlour.server.rooms.perspectives import see
from parlour.server.rooms.summary import Live, freeze, thaw

log = structlog.get_logger()

LOOK_AT_FILES_EVERY = 0.5
"""Seconds between two looks at the files."""

Stamp = tuple[int, int] | None
"""By which a saved file is told from the one before."""


class Reloader:
    """Looks whether a file was saved; then its rooms go on under the new rules from where they are."""

    def __init__(
        self,
        host: Host,
        games: MutableMapping[str, Game[Any]],
        files: Sequence[Path],
        say: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._host = host
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
            for live in self._host.registry.in_memory():
                live.mailbox.put(partial(self._renew, live, game))
        log.info("reloaded", file=str(file), games=[game.name for game in games])
        self._say(f"{file} is loaded anew.")

    def _note(self, file: Path, fault: str | None) -> None:
        """Rooms of the file's games show why it does not load, until it does."""
        for name, game in self._games.items():
            if not is_from(game, file) or self._host.faults.get(name) == fault:
                continue
            if fault is None:
                del self._host.faults[name]
            else:
                self._host.faults[name] = fault
            for live in self._host.registry.in_memory():
                live.mailbox.put(partial(self._tell, live, name))

    async def _tell(self, live: Live, name: str) -> None:
        if live.room is not None and live.room.game == name:
            self._host.attendance.show_all(live, list(live.audience))

    async def _renew(self, live: Live, game: Game[Any]) -> None:
        """Store the room as it is and go on from there; runs in its lane."""
        if live.room is None or live.room.game != game.name or live.game is game:
            return
        try:
            frozen = await self._store(live)
            room = self._host.ask_game(game, live.id, partial(thaw, game, frozen))
        except Trouble as error:
            self._host.registry.try_again(
                live, Refused(Code.NOT_SAVED, str(error)), partial(self._renew, live, game)
            )
            return
        except Refused as why:
            log.warning("rules_changed", room=live.id, error=why.message)
            over = Refused(Code.RULES_CHANGED, "the rules have changed since; the room is closed")
            await self._host.condemn(live, over)
            return
        live.game, live.room = game, room
        self._show(live)

    async def _store(self, live: Live) -> bytes:
        room = live.here
        frozen = self._host.ask_game(live.game, live.id, partial(freeze, room))
        stored = Stored(room.seq, frozen)
        await self._host.journal.update_room(live.number, stored=stored, due=room.next_due)
        live.stored, live.due = room.seq, room.next_due
        return frozen

    def _show(self, live: Live) -> None:
        """Everybody sees everything as the new rules show it; where they fail at that, what they had."""
        try:
            for eyes in live.audience.eyes:
                live.views[eyes] = self._host.ask_game(
                    live.game, live.id, partial(see, live.game, live.here, eyes)
                )
        except Refused as why:
            self._say(f"{live.game.display_name}: {why.message}")
            return
        self._host.attendance.show_all(live, list(live.audience))


def _stamp(file: Path) -> Stamp:
    try:
        stat = file.stat()
    except OSError:
        return None
    return stat.st_mtime_ns, stat.st_size
