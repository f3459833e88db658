"""Runs a bot at a server: it goes back to its seats, takes invitations, and plays in some rooms at once."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

from parlour.client.client import Client
from parlour.client.http_calls import call_now
from parlour.client.lobby import Lobby
from parlour.client.seat import GONE, Seat
from parlour.client.thinking import BotFailed, Thinker
from parlour.errors import Code, Refused
from parlour.plugins import find_function

REMATCH_PATIENCE = 60.0
"""Seconds for which a bot waits for the others to want another game."""
WAITING = ("waiting", "playing", "over")


def find_token(server: str, file: Path, name: str | None) -> str:
    """The bot's token in a file; where there is none, a new bot's, which is written there."""
    if file.exists():
        return file.read_text(encoding="utf-8").strip()
    body: dict[str, Any] = {"bot": True}
    if name is not None:
        body["name"] = name
    token: str = call_now(server, "POST", "/api/players", body)["token"]
    file.touch(mode=0o600)
    file.write_text(token + "\n", encoding="utf-8")
    return token


class BotRunner:
    """One bot at one server."""

    def __init__(  # noqa: PLR0913 - one for each option of the command line
        self,
        client: Client,
        function: str,
        *,
        games: frozenset[str],
        rooms: int,
        timeout: float,
        say: Callable[[str], None],
        ranked: bool = False,
    ) -> None:
        self._client = client
        self._function = function
        self._games = games
        """Which games it plays; empty: all."""
        self._ranked = ranked
        """It also looks for ranked games with other bots."""
        self._free = asyncio.Semaphore(rooms)
        self._timeout = timeout
        self._say = say
        self._playing: dict[str, asyncio.Task[None]] = {}
        self._lobby: Lobby | None = None

    async def run(self, *rooms: str) -> None:
        """Go back to all seats, sit down in these rooms, and take invitations until cancelled."""
        find_function(self._function)
        known = await self._client.call("POST", "/api/players", {})
        if not known["bot"]:
            raise Refused(Code.BAD_TOKEN, "expected the token of a bot, got that of a person")
        self._lobby = lobby = await self._client.lobby(sorted(self._games))
        self._say(f"{known['name']} is at {self._client.server}; its id is {known['id']}")
        mine = await self._client.call("GET", "/api/players/me/rooms")
        seats = [one["id"] for one in mine if one["status"] in WAITING]
        async with asyncio.TaskGroup() as waiting:
            waiting.create_task(self._sit_down(*seats, *rooms))
            waiting.create_task(self._take_invitations(lobby))
            for game in sorted(self._games) if self._ranked else ():
                waiting.create_task(self._play_ranked(lobby, game))

    async def _sit_down(self, *rooms: str) -> None:
        for room in rooms:
            await self._begin(room)

    async def _take_invitations(self, lobby: Lobby) -> None:
        while True:
            invited = await lobby.invitation()
            if self._games and invited.game not in self._games:
                self._say(f"room {invited.room}: it does not play {invited.game}")
            else:
                await self._begin(invited.room)

    async def _play_ranked(self, lobby: Lobby, game: str) -> None:
        """Play one ranked game after the other, with whichever bots are there."""
        while True:
            try:
                room = await lobby.pair(game, mode="ranked")
            except Refused as why:
                if why.code != Code.UNKNOWN_TICKET:
                    raise
                continue  # nobody came
            await self._begin(room, again=False)
            await asyncio.wait([self._playing[room]])

    async def _begin(self, room: str, *, again: bool = True) -> None:
        """Play in a room, once there is time for one more; *again* asks for another game after each."""
        if room in self._playing:
            return
        await self._free.acquire()
        self._tell_free()
        self._playing[room] = asyncio.create_task(self._play(room, again=again))

    def _tell_free(self) -> None:
        """Let others invite it while it could play in one more room."""
        if self._lobby is not None:
            self._lobby.take_invitations(None if self._free.locked() else sorted(self._games))

    async def stop(self) -> None:
        """Leave all rooms; the seats are kept."""
        for task in self._playing.values():
            task.cancel()
        if self._playing:
            await asyncio.wait(list(self._playing.values()))

    async def _play(self, room: str, *, again: bool) -> None:
        """Play in one room as long as there is a game; what goes wrong here stops no other room."""
        thinker = Thinker(self._function, self._timeout)
        try:
            seat = await self._client.join(room)
            try:
                async with asyncio.TaskGroup() as group:
                    answering = group.create_task(_answer_offers(seat, thinker))
                    await self._play_games(seat, thinker, again=again)
                    answering.cancel()
            finally:
                await seat.close()
        except* BotFailed as failed:
            self._say(f"room {room}: the bot failed, and is absent from now on: {failed.exceptions[0]}")
        except* Refused as refused:
            code, message = refused.exceptions[0].args
            self._say(f"room {room}: {code}: {message}")
        finally:
            thinker.stop()
            del self._playing[room]
            self._free.release()
            self._tell_free()

    async def _play_games(self, seat: Seat, thinker: Thinker, *, again: bool) -> None:
        while seat.closed is None:
            async for turn in seat.turns():
                event = await thinker.ask(turn)
                await seat.wait(lambda seat: seat.offered is None)  # a move would decline what is offered
                if event is not None:
                    await _act(seat, event, turn.seq)
            if seat.result is not None:
                self._say(f"room {seat.room}: the game is over")
            if not again or not await _plays_again(seat):
                return


async def _answer_offers(seat: Seat, thinker: Thinker) -> None:
    """Have the bot answer whatever it is offered, until the room is closed."""
    while True:
        try:
            await seat.wait(lambda seat: seat.offered is not None)
        except Refused:
            return
        if (what := seat.offered) is None:
            continue
        try:
            await seat.answer(what, accept=await thinker.agrees(seat.view, what))
        except Refused as why:
            if why.code not in (Code.NO_SUCH_OFFER, Code.GAME_OVER, *GONE):  # too late
                raise


async def _act(seat: Seat, event: Any, seq: int) -> None:
    """Play; if the position has changed meanwhile, the next turn asks anew."""
    try:
        await seat.act(event, seq=seq)
    except Refused as why:
        if why.code != Code.STALE:
            raise


async def _plays_again(seat: Seat) -> bool:
    """Ask for another game, and wait a while for the others; False if there is none."""
    try:
        await seat.rematch()
        async with asyncio.timeout(REMATCH_PATIENCE):
            await seat.wait(lambda seat: seat.result is None)
    except (Refused, TimeoutError):
        return False
    return True
