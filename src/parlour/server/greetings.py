"""Workers greet each other with the games that they have, so that a difference is noticed and told."""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import structlog

from parlour.game import Game
from parlour.server.mail import Greeting, Mail

log = structlog.get_logger()


class Greetings:
    """Tells other workers which games there are here, and compares them with theirs."""

    def __init__(self, games: Mapping[str, Game[Any]], send: Callable[[int, Mail], None]) -> None:
        self._games = games
        self._send = send
        self._heard: dict[int, dict[str, int]] = {}
        """The games of the workers that have greeted us, by name, with the versions of their rules."""
        self._has_heard = asyncio.Event()

    def greet(self, worker: int, *, ask: bool = False) -> None:
        """Greet a worker; *ask* it to greet in return."""
        self._send(worker, Greeting(self._ours(), ask))

    async def meet(self, workers: Iterable[int], patience: float) -> bool:
        """Greet these workers; True as soon as one has answered, False if none has in these seconds."""
        for worker in workers:
            self.greet(worker, ask=True)
        try:
            async with asyncio.timeout(patience):
                await self._has_heard.wait()
        except TimeoutError:
            return False
        return True

    def take(self, sender: int, greeting: Greeting) -> None:
        """Take a greeting, and answer it if that is wanted."""
        if greeting.ask:
            self.greet(sender)
        if self._heard.get(sender) != greeting.games:
            self._compare(sender, greeting.games)
        self._heard[sender] = greeting.games
        self._has_heard.set()

    def forget(self, worker: int) -> None:
        """A worker is gone."""
        self._heard.pop(worker, None)

    def _compare(self, worker: int, theirs: Mapping[str, int]) -> None:
        ours = self._ours()
        if theirs != ours:
            versions = [name for name in ours.keys() & theirs.keys() if ours[name] != theirs[name]]
            log.warning(
                "games_differ",
                worker=worker,
                only_here=sorted(ours.keys() - theirs.keys()),
                only_there=sorted(theirs.keys() - ours.keys()),
                other_versions=sorted(versions),
                do="start all workers with the same games: a room waits while its worker lacks its game",
            )

    def _ours(self) -> dict[str, int]:
        return {name: game.version for name, game in self._games.items()}
