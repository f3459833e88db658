"""One player who plays by tools: calls in, texts and data out, over a client of the server."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any, NamedTuple

import msgspec

from parlour.client import Client, Lobby, Lost, Seat
from parlour.errors import Code, Refused, parse
from parlour.mcp.calls import (
    CALLS,
    MOST_SECONDS,
    Act,
    Leave,
    ListGames,
    ListRooms,
    Negotiate,
    Observe,
    OpenRoom,
    SitDown,
    WaitForTurn,
    read_call,
)
from parlour.mcp.texts import MOST_LEGAL, Observation, observation_of, page_text
from parlour.sanitize import strict

MOST_ROOMS = 20
"""Listed rooms that are told at most."""


class Answer(NamedTuple):
    """What a tool gives: a text to read, and the same as data."""

    text: str
    data: dict[str, Any]
    refused: bool = False


class ToolPlayer:
    """What one player has open at a server, and the tools by which they play."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self._seats: dict[str, Seat] = {}
        self._lobby: Lobby | None = None
        self._entering = asyncio.Lock()
        self._tools: Mapping[type, Callable[[Any], Awaitable[Answer]]] = {
            ListGames: self.list_games,
            ListRooms: self.list_rooms,
            OpenRoom: self.open_room,
            SitDown: self.sit_down,
            Observe: self.observe,
            Act: self.act,
            WaitForTurn: self.wait_for_turn,
            Negotiate: self.negotiate,
            Leave: self.leave,
        }

    async def call(self, name: str, arguments: Mapping[str, Any] | None) -> Answer:
        """Carry out a call; what is refused is told as data, with what would be legal."""
        try:
            if name not in CALLS:
                raise Refused(
                    Code.UNKNOWN_EVENT, f"expected one of the tools {', '.join(CALLS)}, got {name[:40]!r}"
                )
            asked = strict(msgspec.json.encode({**(arguments or {}), "tool": name}))
            call = parse(read_call, asked)
            return await self._tools[type(call)](call)
        except Refused as why:
            return refusal(why)
        except (OSError, Lost) as error:
            return refusal(Refused(Code.OUTCOME_UNKNOWN, f"the server could not be reached: {error}"))

    # Looking around.

    async def list_games(self, asked: ListGames) -> Answer:
        games = await self.client.call("GET", "/api/games")
        if asked.game is not None:
            return await self._describe(asked.game, games)
        told = [
            {"name": one["name"], "title": one["display_name"], "seats": one["seats"], "bots": one["bots"]}
            for one in games
        ]
        lines = [
            f"{one['name']}: {one['title']}, {_seats(one['seats'])}; bots: {', '.join(one['bots']) or 'none'}"
            for one in told
        ]
        return Answer("\n".join(lines), {"games": told})

    async def _describe(self, name: str, games: list[dict[str, Any]]) -> Answer:
        """One game: its rules, and the shapes of its settings and events."""
        game = next((one for one in games if one["name"] == name), None)
        if game is None:
            known = ", ".join(one["name"] for one in games)
            raise Refused(Code.UNKNOWN_GAME, f"expected one of {known}, got {name[:40]!r}", path="$.game")
        rules = page_text(await self.client.call("GET", f"/api/games/{name}/rules"))
        schemas = await self.client.call("GET", f"/api/games/{name}/schema")
        shapes = {"config": schemas["config"], "event": schemas["event"]}
        text = "\n".join((rules, f"settings and events: {msgspec.json.encode(shapes).decode()}"))
        return Answer(text, {"name": name, "rules": rules, **shapes})

    async def list_rooms(self, asked: ListRooms) -> Answer:  # noqa: ARG002 - takes nothing
        mine = await self.client.call("GET", "/api/players/me/rooms")
        others = await self.client.call("GET", "/api/rooms")
        told = {
            "mine": [_room(room) for room in mine],
            "open": [_room(room) for room in others[:MOST_ROOMS] if None in room["seats"]],
        }
        lines = [
            f"{'yours' if kind == 'mine' else 'open'}: {room['room']}, {room['game']}, {room['status']}, "
            f"{', '.join(name or 'a free seat' for name in room['seats'])}"
            for kind, rooms in told.items()
            for room in rooms
        ]
        return Answer("\n".join(lines) or "no rooms; open one", told)

    # Sitting down.

    async def open_room(self, asked: OpenRoom) -> Answer:
        room = await self.client.open_room(asked.game, asked.config, private=asked.private)
        seat = await self._seat(room, watch=False)
        if asked.bot is not None:
            await self.client.call("POST", f"/api/rooms/{room}/bots", {"bot": asked.bot})
        return await self._see(seat)

    async def sit_down(self, asked: SitDown) -> Answer:
        if (asked.room is None) == (asked.game is None):
            raise Refused(Code.MALFORMED, "expected either room or game, got both or neither")
        room = asked.room
        if asked.game is not None:
            room = await self._pair(asked.game, ranked=asked.ranked)
        if room is None:
            said = "nobody has come yet; call sit_down again to go on waiting"
            return Answer(said, {"waiting": True, "text": said})
        seat = await self._seat(room, watch=False)
        if seat.result is not None:
            await self._up_to(seat, await seat.rematch())
        return await self._see(seat)

    async def _pair(self, game: str, *, ranked: bool) -> str | None:
        """The room in which somebody was found; None if nobody has come for a while."""
        if self._lobby is None or self._lobby.closed is not None:
            self._lobby = await self.client.lobby()
        try:
            async with asyncio.timeout(MOST_SECONDS):
                return await self._lobby.pair(game, mode="ranked" if ranked else "normal")
        except TimeoutError:
            return None

    async def leave(self, asked: Leave) -> Answer:
        seat = await self._seat(asked.room, watch=True)
        if seat.number is None:
            raise Refused(Code.NOT_SEATED, f"you have no seat in room {asked.room}")
        await seat.leave()
        await seat.close()
        self._seats.pop(asked.room, None)
        said = f"you have left room {asked.room}"
        return Answer(said, {"room": asked.room, "left": True, "text": said})

    async def _seat(self, room: str, *, watch: bool) -> Seat:
        """A place in a room: the one that is there, one's own seat, or one to watch from."""
        async with self._entering:
            seat = self._seats.get(room)
            if seat is not None and seat.closed is None and not watch:
                await self._catch_up(seat)
            if seat is not None and (seat.closed is not None or (seat.number is None and not watch)):
                await seat.close()
                seat = None
            if seat is None:
                seat = await self.client.join(room, spectate=watch, text=True)
                self._seats[room] = seat
                if seat.number is None and not watch:
                    raise Refused(Code.GAME_FULL, f"no seat is free in room {room}; you may observe it")
            return seat

    # Playing.

    async def observe(self, asked: Observe) -> Answer:
        return await self._see(await self._seat(asked.room, watch=True))

    async def act(self, asked: Act) -> Answer:
        seat = await self._seat(asked.room, watch=True)
        try:
            step = await seat.act(asked.event, seq=asked.seq)
        except Refused as why:
            legal = why.legal if why.legal is not None else seat.legal
            raise Refused(why.code, why.message, path=why.path, legal=legal) from None
        await self._up_to(seat, step)
        return await self._see(seat)

    async def wait_for_turn(self, asked: WaitForTurn) -> Answer:
        seat = await self._seat(asked.room, watch=True)
        seen, answer = seat.seq, None
        with suppress(TimeoutError):
            async with asyncio.timeout(asked.seconds):
                while answer is None or not _has_news(seat, seen):
                    await seat.wait(lambda seat: _has_news(seat, seen))
                    answer = await self._see(seat)
        return answer or await self._see(seat)

    async def negotiate(self, asked: Negotiate) -> Answer:
        seat = await self._seat(asked.room, watch=True)
        match asked.do:
            case "resign":
                step = await seat.resign()
            case "accept" | "decline":
                await self._catch_up(seat)
                if (what := seat.offered) is None:
                    raise Refused(Code.NO_SUCH_OFFER, "nobody offers you anything")
                step = await seat.answer(what, accept=asked.do == "accept")
            case what:
                step = await seat.offer(what)
        await self._up_to(seat, step)
        return await self._see(seat)

    async def _up_to(self, seat: Seat, step: int) -> None:
        """Hear what a step of one's own has brought."""
        await seat.wait(lambda seat: seat.seq is not None and seat.seq >= step)

    async def _see(self, seat: Seat) -> Answer:
        """What is seen from a place."""
        seen: Observation = observation_of(seat, await self._catch_up(seat))
        return Answer(seen.text, msgspec.to_builtins(seen))

    async def _catch_up(self, seat: Seat) -> dict[str, Any]:
        """Hear all that has happened, also by calls that another worker answered; gives the room."""
        room: dict[str, Any] = await self.client.call("GET", f"/api/rooms/{seat.room}")
        if seat.closed is None:
            await self._up_to(seat, room["seq"])
            sitting = [None if one is None else one["id"] for one in room["seats"]]
            seat.number = sitting.index(seat.player) if seat.player in sitting else None
        return room


def refusal(why: Refused) -> Answer:
    """A refusal as data: a code, a sentence and what would be legal, up to so many events."""
    legal = list(why.legal or ())[:MOST_LEGAL]
    told = why.told() if why.legal is None else {**why.told(), "legal": legal}
    lines = [f"refused, {why.code}: {why.message}"]
    lines += [f"legal: {msgspec.json.encode(event).decode()}" for event in legal]
    return Answer("\n".join(lines), told, refused=True)


def _has_news(seat: Seat, seen: int | None) -> bool:
    """True if there is something to do, or the game is over; where nobody can say, if something happened."""
    if seat.offered is not None:
        return True
    if seat.result is not None or seat.number is None:
        return seat.result is not None or seat.seq != seen
    return bool(seat.legal) if seat.legal is not None else seat.seq != seen


def _room(room: Mapping[str, Any]) -> dict[str, Any]:
    names = [None if seat is None else seat["name"] for seat in room["seats"]]
    told = {"room": room["id"], "game": room["game"], "status": room["status"], "seats": names}
    if room.get("waits_for_you") is not None:
        told["waits_for_you"] = room["waits_for_you"]
    return told


def _seats(bounds: list[int]) -> str:
    least, most = bounds
    return f"{least} seats" if least == most else f"{least} to {most} seats"
