"""A real endpoint of webhooks, and a push service: not always well, it sees in the journal what was noted."""

import asyncio
import sqlite3
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import closing, suppress
from pathlib import Path
from random import Random
from typing import NamedTuple

import msgspec
from cryptography.exceptions import InvalidTag

from parlour.server.parts.notifications.rules import DELIVERY, PAUSES, RETRY, read_delivery
from parlour.server.turn_records import TURN
from tests.push_receiver import PushReceiver
from tests.torture.telling import Receipt

MOODS = {"ok": 60, "failed": 20, "hung up": 10, "slow": 15}
FAILURES = ("503 So", "500 So", "302 So", "429 So")


class Noted(NamedTuple):
    """A delivery as it is kept."""

    tries: int
    due: float

    @property
    def tried_at(self) -> float | None:
        """When the last try began."""
        return self.due - PAUSES[min(self.tries, len(PAUSES)) - 1] if self.tries else None


class Notes:
    """What the journal of a server that runs has about turns and deliveries."""

    def __init__(self, data: Path) -> None:
        self._file = data / "parlour.db"

    def _open(self) -> closing[sqlite3.Connection]:
        return closing(sqlite3.connect(f"file:{self._file}?mode=ro", uri=True))

    def _read(self, kind: str) -> list[tuple[bytes, float | None]]:
        with self._open() as db:
            return db.execute("SELECT body, due FROM records WHERE kind = ?", (kind,)).fetchall()

    def deliveries(self) -> dict[str, Noted]:
        """All deliveries by their ids."""
        kept = [*self._read(DELIVERY), *self._read(RETRY)]
        rows = [(read_delivery(body), due) for body, due in kept]
        return {one.id: Noted(one.tries, due or 0.0) for one, due in rows}

    def somebody_is_there(self) -> bool:
        """True if somebody is in a room, or has just gone and that is not written yet."""
        with self._open() as db:
            return db.execute("SELECT 1 FROM rooms WHERE connected > 0 LIMIT 1").fetchone() is not None

    def first_due(self) -> float:
        """When something is to be done next; infinity if there is nothing."""
        dues = [due for kind in (TURN, DELIVERY, RETRY) for _, due in self._read(kind) if due is not None]
        return min(dues, default=float("inf"))


class Postbox:
    """Listens at 127.0.0.1; it fails, hangs up or hesitates now and then."""

    def __init__(
        self, notes: Notes, chance: Random, life_at: Callable[[float], int], kill: Callable[[], None]
    ) -> None:
        self.receipts: list[Receipt] = []
        self.is_well = False
        """It only takes what comes from now on."""
        self.counts: Counter[str] = Counter()
        self.browsers: dict[str, PushReceiver] = {}
        """By path: who else can read what comes there."""
        self.held = asyncio.Condition()
        """Slow answers wait for it."""
        self.came: Callable[[], None] = lambda: None
        self._notes, self._chance, self._life_at, self._kill = notes, chance, life_at, kill
        self._fate, self._until_fate = "", 0
        self.fulfilled = asyncio.Event()
        self._server: asyncio.Server

    def kill_at(self, fate: str, receipts: int) -> None:
        """Kill the server when so many messages have come: `unanswered`, or `answered`."""
        self.fulfilled.clear()
        self._fate, self._until_fate = fate, receipts

    async def __aenter__(self) -> "Postbox":
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.release()
        self._server.close()

    def url(self, path: str) -> str:
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}{path}"

    async def release(self) -> None:
        """Give the answers that wait."""
        async with self.held:
            self.held.notify_all()

    def _tries(self, id: str) -> int | None:
        """How many tries are noted; None if the server is gone, whose file is not to be touched."""
        try:
            noted = self._notes.deliveries().get(id)
        except sqlite3.Error:
            return None
        return 0 if noted is None else noted.tries

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, EOFError), closing(writer):
            head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
            headers = {
                name.lower(): value for name, _, value in (line.partition(": ") for line in head[1:-2])
            }
            body = await reader.readexactly(int(headers["content-length"]))
            receipt = self._read(head[0].split()[1], headers, body)
            receipt.tries = self._tries(receipt.id)
            receipt.life = self._life_at(receipt.at)
            self.receipts.append(receipt)
            self.came()
            self._until_fate -= 1
            doomed = self._fate if self._until_fate == 0 else ""
            if doomed != "unanswered":
                await self._answer(receipt, writer)
            if doomed:
                self.fulfilled.set()
                self._kill()

    def _read(self, path: str, headers: Mapping[str, str], body: bytes) -> Receipt:
        browser = self.browsers.get(path)
        if browser is None:
            return Receipt(path, headers["parlour-delivery"], body, headers["parlour-signature"], 0, None)
        try:
            body = browser.decrypt(body)
        except InvalidTag:
            return Receipt(path, "unreadable", b"", headers["authorization"], 0, None)
        self.counts["pushed"] += 1
        return Receipt(path, msgspec.json.decode(body)["id"], body, headers["authorization"], 0, None)

    async def _answer(self, receipt: Receipt, writer: asyncio.StreamWriter) -> None:
        (mood,) = ("ok",) if self.is_well else self._chance.choices(list(MOODS), list(MOODS.values()))
        self.counts[mood] += 1
        if mood == "slow":
            async with self.held:
                await self.held.wait()
        receipt.answer = "ok" if mood == "slow" else "failed" if mood == "hung up" else mood
        if mood != "hung up":
            status = self._chance.choice(FAILURES) if mood == "failed" else "200 So"
            writer.write(f"HTTP/1.1 {status}\r\nContent-Length: 0\r\n\r\n".encode())
            await writer.drain()
