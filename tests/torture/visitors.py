"""Players who cannot be stopped: they play, chat, lose their line, come back, ask again, and keep diaries."""

import asyncio
import itertools
import json
from random import Random
from typing import Any

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake

from tests.torture.diary import Answered, Asked, Cut, Diary, Heard, Joined, ShutOut
from tests.torture.habits import Habits

PAUSE = 0.2
"""Seconds after which somebody comes again who was told so."""
GONE = (OSError, EOFError, ConnectionClosed, InvalidHandshake, TimeoutError)
"""How a connection ends, or does not begin, when there is no server at the other end."""


class World:
    """What visitors know of the server: where it is, and whether it is worth knocking."""

    def __init__(self) -> None:
        self.port = 0
        self.up = asyncio.Event()
        self.closing = False
        """Everybody finishes what they have begun, and begins nothing new."""
        self.shaky = False
        """The server may be without its journal for a while: who is told so comes again."""
        self.pause = 0.0
        """Seconds that somebody waits who found nobody at the door."""


class Table:
    """One room, as one visitor knows it."""

    def __init__(self, player: str, room: str, *, spectate: bool = False) -> None:
        self.diary = Diary(player, room)
        self.topic = f"game:{room}"
        self.spectate = spectate
        self.since: int | None = None
        self.view: dict[str, Any] = {}
        self.asked_since: int | None = None
        """What the last join said to have seen."""
        self.here = False
        """Joined and synced on the present connection."""
        self.pending: dict[str, Asked] = {}
        self.accepted: list[Asked] = []
        self.asked_rematch = False

    def hear(self, name: str, payload: dict[str, Any]) -> None:
        """Write a push down, then understand it."""
        self.diary.note(Heard(name, payload))
        if name in ("sync", "update"):
            self.since = payload["seq"]
            self.view = payload.get("view", self.view)
            self.asked_rematch = self.asked_rematch and self.view.get("over", False)
        if name == "sync":
            self.here = True

    def __str__(self) -> str:
        """Where it stands, for whoever waits for it in vain."""
        shut = [entry.code for entry in self.diary.all(ShutOut)][-1:]
        return f"{self.topic}: {'here' if self.here else 'not here'}, waits for {[*self.pending]}, {shut}"

    def lose(self) -> None:
        """The connection is gone."""
        self.diary.note(Cut())
        self.here = False


class Visitor:
    """One player with a connection (at a time) and some rooms."""

    def __init__(self, world: World, token: str, tables: list[Table], habits: Habits, chance: Random) -> None:
        self.world = world
        self.token = token
        self.tables = {table.topic: table for table in tables}
        self.habits = habits
        self.chance = chance
        self.restarts = 0
        """How often a connection was closed by a server that said it would be back."""
        self.rested = asyncio.Event()
        """Everywhere, and nothing left to be answered."""
        self.synced = asyncio.Event()
        """In every room."""
        self.sent_away = False
        """Was told that the server cannot do it now."""
        self._out: list[str] = []
        self._refs: dict[str, tuple[Table, str | None]] = {}
        self._numbers = itertools.count(1)

    async def live(self) -> None:
        """Come back whenever there is a server, until cancelled."""
        while True:
            await self.world.up.wait()
            try:
                await self._visit()
            except GONE:
                await asyncio.sleep(self.world.pause)
            finally:
                self._lose_all()
            if self.world.shaky:
                await asyncio.sleep(self.chance.uniform(0, PAUSE))

    async def _visit(self) -> None:
        url = f"ws://127.0.0.1:{self.world.port}/socket/websocket?vsn=2.0.0&token={self.token}"
        line = connect(url, compression=None, ping_interval=None, proxy=None, max_queue=None, open_timeout=20)
        async with line as open_line:
            playing = asyncio.create_task(self._play(open_line))
            try:
                await self._listen(open_line)
            except ConnectionClosed as closed:
                self.restarts += closed.rcvd is not None and closed.rcvd.code == 1012
            finally:
                playing.cancel()
                await asyncio.wait([playing])

    def _lose_all(self) -> None:
        self.sent_away = False
        self.rested.clear()
        self.synced.clear()
        self._out.clear()
        self._refs.clear()
        for table in self.tables.values():
            table.lose()

    # Listening.

    async def _listen(self, line: ClientConnection) -> None:
        for table in self.tables.values():
            table.asked_since = table.since
            payload: dict[str, Any] = {} if table.since is None else {"since": table.since}
            self._send(table, "phx_join", payload | ({"spectate": True} if table.spectate else {}))
        await self._flush(line)
        async for message in line:
            self._take(json.loads(message))
            if self.sent_away:
                line.transport.abort()
            await self._flush(line)

    def _take(self, frame: list[Any]) -> None:
        _, ref, topic, name, payload = frame
        table = self.tables[topic]
        if name == "phx_reply":
            asked, id = self._refs.pop(ref)
            if id is None:
                self._joined(asked, payload)
            else:
                self._answered(asked, id, payload)
        elif name in ("sync", "update", "game_event", "chat", "shutdown"):
            was_here = table.here
            table.hear(name, payload)
            if table.here and not was_here:
                self._ask_again(table)
        self._look_around()

    def _joined(self, table: Table, reply: Any) -> None:
        response = reply["response"]
        if reply["status"] == "ok":
            table.diary.note(Joined(table.asked_since, response["seq"], response["seat"]))
        elif self.world.shaky and response["code"] == "not_saved":
            self.sent_away = True
        else:
            table.diary.note(ShutOut(response["code"]))

    def _answered(self, table: Table, id: str, reply: Any) -> None:
        asked = table.pending.pop(id, None)
        if reply["status"] == "ok":
            table.diary.note(Answered(id, reply["response"]["seq"]))
            if asked is not None:
                table.accepted.append(asked)
        else:
            table.diary.note(Answered(id, code=reply["response"]["code"]))

    def _look_around(self) -> None:
        tables = self.tables.values()
        if all(table.here for table in tables):
            self.synced.set()
            if not any(table.pending for table in tables):
                self.rested.set()
                return
        self.rested.clear()

    # Asking.

    async def _play(self, line: ClientConnection) -> None:
        try:
            while not self.world.closing:
                await asyncio.sleep(self.chance.uniform(0, 2 * self.habits.pace))
                if self.chance.random() < self.habits.cuts:
                    line.transport.abort()
                    return
                self._act(self.chance.choice(list(self.tables.values())))
                await self._flush(line)
        except ConnectionClosed:
            return  # the listener notices, too

    def _act(self, table: Table) -> None:
        if not table.here or table.spectate or len(table.pending) >= self.habits.most:
            return
        if table.accepted and self.chance.random() < self.habits.repeats:
            self._ask(table, self.chance.choice(table.accepted))
            return
        wish = self.habits.choose(table.view, self.chance, idle=not table.pending)
        if wish is None or (wish[0] == "rematch" and table.asked_rematch):
            return
        table.asked_rematch = table.asked_rematch or wish[0] == "rematch"
        event, payload = wish
        id = f"{table.diary.player[:8]}-{next(self._numbers)}"
        for _ in range(1 + (self.chance.random() < self.habits.repeats)):
            self._ask(table, Asked(id, event, {**payload, "id": id}))

    def _ask(self, table: Table, asked: Asked) -> None:
        table.diary.note(asked)
        table.pending[asked.id] = asked
        self._send(table, asked.event, asked.payload, asked.id)
        self.rested.clear()

    def _ask_again(self, table: Table) -> None:
        """What was not answered is sent again with the same ids, but for a few things that are let go."""
        for asked in list(table.pending.values()):
            if self.chance.random() < self.habits.forgets:
                del table.pending[asked.id]
                table.asked_rematch = table.asked_rematch and asked.event != "rematch"
            else:
                self._ask(table, asked)

    def _send(self, table: Table, event: str, payload: dict[str, Any], id: str | None = None) -> None:
        ref = str(next(self._numbers))
        self._refs[ref] = (table, id)
        self._out.append(json.dumps(["1", ref, table.topic, event, payload]))

    async def _flush(self, line: ClientConnection) -> None:
        while self._out:
            await line.send(self._out.pop(0))
