"""What all rooms of a process share: games, journal, clock, gateway and parts."""

import secrets
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, TypeVar

import structlog

from parlour.errors import Code, Refused
from parlour.game import Game
from parlour.journal.base import DiskFailed, Journal, Trouble
from parlour.lobby import Reservations
from parlour.room import Instant, Patience
from parlour.server import metrics
from parlour.server.board_pages import BoardPages
from parlour.server.border import ToldToAll, ToldToOne
from parlour.server.clock import Clock
from parlour.server.rooms.events import Publish, RoomEvent
from parlour.server.rooms.guess_limit import Guesses
from parlour.server.rooms.ownership import Ownership, SoleOwner
from parlour.server.rooms.perspectives import SceneFailed
from parlour.server.rooms.roster import Roster
from parlour.server.sessions import Sessions
from parlour.server.settings import Settings
from parlour.server.watchdog import Overrun, Watchdog

T = TypeVar("T")
log = structlog.get_logger()

LAG = 0.1
"""Seconds for which the loop may be blocked before its stack is logged."""
SEED_BYTES = 32


def fresh_seeds() -> Iterator[bytes]:
    """Seeds from the operating system, fetched many at a time."""
    while True:
        pool = secrets.token_bytes(100 * SEED_BYTES)
        yield from (pool[at : at + SEED_BYTES] for at in range(0, len(pool), SEED_BYTES))


def patience_of(settings: Settings) -> Patience:
    """How long rooms last on this server."""
    days, minutes = settings.room_days, settings.empty_room_minutes
    return Patience(days * 86400 or None, minutes * 60 or None)


class Environment:
    """All that a room uses of the server; it knows no room."""

    def __init__(
        self,
        games: Mapping[str, Game[Any]],
        journal: Journal,
        clock: Clock,
        settings: Settings,
        draw_seed: Callable[[], bytes] | None = None,
    ) -> None:
        self.games = games
        self.journal = journal
        self.clock = clock
        self.settings = settings
        self.watchdog = Watchdog(settings.callback_timeout, LAG)
        self.sessions = Sessions(journal, clock)
        self.guesses = Guesses(clock, settings.address_guesses)
        self.reservations = Reservations()
        self.patience = patience_of(settings)
        self.boards = BoardPages()
        self.faults: dict[str, str] = {}
        """What is wrong with the file of a game that its author works on, by the name of the game."""
        self.scene_failed: Callable[[str, str], None] = lambda _game, _why: None
        """Shows in a game's rooms why its scene cannot be drawn, while its author is at work."""
        self.callback_failed: Callable[[Game[Any], BaseException], None] = lambda _game, _error: None
        """Shows in a game's rooms what a callback raised, while its author is at work."""
        self.trouble: str | None = None
        """Why the journal's last write failed."""
        self.tell: Callable[[ToldToOne], None] = lambda _: None
        """Sends a message to the gateway of the client that it is for, once there is one."""
        self.tell_all: Callable[[ToldToAll, Roster], None] = lambda _told, _roster: None
        """Sends a message to all gateways with somebody in the room."""
        self.ownership: Ownership = SoleOwner()
        self.give_up: Callable[[Trouble], None] = lambda _: None
        """Stops the server, because the disk has failed."""
        self.listeners: list[Publish] = []
        """The parts that listen to events of rooms."""
        self._draw_seed = draw_seed or partial(next, fresh_seeds())

    def publish(self, event: RoomEvent) -> None:
        """Pass an event of a room to the parts."""
        for hear in self.listeners:
            try:
                hear(event)
            except Exception:  # a bug in a part must not reach the room, nor the other parts
                log.exception("part_failed", what=type(event).__name__)

    def instant(self) -> Instant:
        """The current time and date, with a fresh random seed for the game."""
        return Instant(self.clock.now(), self.clock.date(), self._draw_seed(), patience=self.patience)

    def wanted_game(self, name: str, path: str | None = None) -> Game[Any]:
        """The game that a request names; *path* says where in the request."""
        game = self.games.get(name)
        if game is None:
            where, expected = "" if path is None else f"{path}: ", ", ".join(self.games)
            raise Refused(
                Code.UNKNOWN_GAME, f"{where}expected one of {expected}, got {name[:64]!r}", path=path
            )
        return game

    def kept_game(self, name: str) -> Game[Any]:
        """The game of something that is kept; it may not be on this server any more."""
        game = self.games.get(name)
        if game is None:
            raise Refused(Code.UNKNOWN_GAME, f"the game {name} is not on this server now")
        return game

    def ask_game(self, game: Game[Any], room: str, think: Callable[[], T]) -> T:
        """Run a game's code, only here: a bug in it costs one command, never the room.

        What it raises to end the program ends nothing: that takes a signal, which the server itself handles.
        """
        try:
            return self.watchdog.run(think)
        except Refused:
            raise
        except Overrun as error:
            self.watchdog.rest()
            log.exception("game_overran", room=room, game=game.name, could_not_be_interrupted=error.late)
            raise Refused(
                Code.GAME_OVERRAN, f"{game.display_name} took {error}; the room is closed"
            ) from None
        except SceneFailed as error:
            log.exception("scene_failed", room=room, game=game.name)
            metrics.game_errors.labels(game.name).inc()
            self.scene_failed(game.name, str(error))
            raise Refused(
                Code.GAME_ERROR, f"{game.display_name} could not draw this; nothing changed"
            ) from None
        except BaseException as error:
            log.exception("game_failed", room=room, game=game.name)
            metrics.game_errors.labels(game.name).inc()
            self.callback_failed(game, error)
            raise Refused(Code.GAME_ERROR, f"{game.display_name} failed on this; nothing changed") from None

    def note_trouble(self, error: Trouble) -> None:
        """Note that a write failed: the server's health reports it until a write succeeds."""
        self.trouble = str(error)
        log.error("not_kept", error=str(error))
        if isinstance(error, DiskFailed):
            self.give_up(error)
