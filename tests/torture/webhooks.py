"""Players who are away, and told of their turns by webhooks and in browsers, under kill -9."""

import asyncio
import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from parlour.client.connection import Connection, Frame
from parlour.client.connection import Lost as LineLost
from tests.e2e.servers import UNLIMITED, Guest, Server, guest_of
from tests.push_receiver import PushReceiver
from tests.torture.kept import read_file, rebuild
from tests.torture.lives import PATIENCE, PAUSE, WAYS, Lives, end
from tests.torture.postbox import Notes, Postbox
from tests.torture.standing_clock import shown
from tests.torture.telling import Hook, Story, Turn, judge, turns_of

STEPS = (3, 7, 11, 11, 31, 31, 121)
"""Seconds by which the clock goes on; whoever is away is told after 10, and once more 30 and 120 later."""
COMES = 0.12
"""How likely somebody comes between two steps of the clock, so that many turns last for some tries,"""
AGAIN = 0.5
"""and once more before the next one."""
RECEIPTS = (1, 8)
"""Messages of a life that ends with one."""
GONE = (LineLost, OSError, TimeoutError)


class Tellers(Lives):
    """Players in pairs with a room each, their server, its clock and their webhooks."""

    ways = WAYS | {"unanswered": 2, "answered": 2}
    between = (5, 30)

    def __init__(self, data: Path, clock: Path, server: Server, seed: int) -> None:
        super().__init__(server, seed)
        self.notes = Notes(data)
        self.postbox = Postbox(self.notes, self.chance, self._life_at, self.end)
        self.postbox.came = self.note_deed
        self.hooks: list[Hook] = []
        self.tables: list[tuple[Guest, str]] = []
        self.rests: list[float] = []
        self.kills: list[float] = []
        self.time = 1000.0
        self._clock = clock
        self._open, self._shut = asyncio.Event(), asyncio.Event()
        """Whether somebody may come: nobody does while time goes on, since a deed has one time."""
        self._visits = 0
        self._is_restful = True
        """It has come to rest each time so far; one that does not is broken, and nobody waits for it."""
        self._born = 0.0
        """When this life began."""

    # The clock and the lives.

    def _set_clock(self, time: float) -> None:
        self.time = time
        new = self._clock.with_suffix(".new")
        new.write_text(str(time))
        new.replace(self._clock)

    def _life_at(self, time: float) -> int:
        """The life of what was sent then: it may come when the next one has begun."""
        return self.number if time >= self._born else self.number - 1

    async def _start(self, fate: str) -> None:
        self._born = self.time + 1
        self._set_clock(self._born)
        try:
            await super()._start(fate)
        except AssertionError:
            self.kills.append(self.time)
            raise

    def end(self) -> None:
        if self.server.running:
            self.kills.append(self.time)
        super().end()

    async def wait_for_death(self, way: str) -> bool:
        if way not in ("unanswered", "answered"):
            return await super().wait_for_death(way)
        self.postbox.kill_at(way, self.chance.randrange(*RECEIPTS))
        with suppress(TimeoutError):
            async with asyncio.timeout(PATIENCE):
                await self.postbox.fulfilled.wait()
                return True
        self.postbox.kill_at("", 0)
        return False

    async def let_time_pass(self) -> None:
        """Time goes by in steps, each when the server has nothing more to do; until cancelled."""
        while True:
            self._shut.clear()
            self._open.set()
            await asyncio.sleep(2 * PAUSE)
            await self.up.wait()
            self._open.clear()
            self._shut.set()
            if await self.rest():
                await self.turn_clock(self.time + self.chance.choice(STEPS))

    async def turn_clock(self, time: float) -> None:
        """Let the clock show a time; a server that dies meanwhile shows it in its next life."""
        life = self.number
        self._set_clock(time)
        while self._is_alive(life):
            await asyncio.sleep(PAUSE / 4)
            if self._shown() >= time:
                return

    def _shown(self) -> float:
        return float(shown(self._clock).read_text() or 0)

    async def rest(self) -> bool:
        """Wait until the server has nothing more to do before time goes on; False if it dies before."""
        life, time, busy = self.number, self.time, ""
        with suppress(TimeoutError):
            async with asyncio.timeout(2 * PATIENCE if self._is_restful else PAUSE):
                while self._is_alive(life):
                    busy = self._keeps_busy()
                    if not busy:
                        self.rests.append(time)
                        return True
                    await self.postbox.release()
                    await asyncio.sleep(PAUSE / 4)
                return False
        self.complain(f"the server does not come to rest at {time:g}, because of {busy}")
        self._is_restful = False
        return True

    def _is_alive(self, life: int) -> bool:
        return self.number == life and self.up.is_set()

    def _keeps_busy(self) -> str:
        """What is still under way at this time of the clock; empty if nothing is."""
        if self._visits:
            return f"{self._visits} who are there"
        try:
            if self.notes.somebody_is_there():
                return "somebody who has gone, which is not written"
            first_due, deliveries = self.notes.first_due(), self.notes.deliveries()
        except sqlite3.Error as error:  # it is dead
            return str(error)
        if first_due <= self.time:
            return f"something that is due since {first_due:g}"
        mine = [receipt for receipt in self.postbox.receipts if receipt.life == self.number]
        have_come = {(receipt.id, receipt.at) for receipt in mine}
        tried = {(id, one.tried_at) for id, one in deliveries.items() if (one.tried_at or 0) >= self._born}
        for receipt in mine:
            receipt.settled = receipt.settled or (receipt.answer == "ok" and receipt.id not in deliveries)
        open = [one.id for one in mine if not one.settled and one.answer != "failed"]
        missing = sorted(id for id, _ in tried - have_come)
        return f"answers to {open}, tries of {missing}" if open or missing else ""

    # The players.

    async def gather(self, pairs: int) -> None:
        """Bring pairs to the running server; one player of each has two webhooks, and both have browsers."""
        for pair in range(pairs):
            room = f"room-{pair}"
            await self._made("/api/rooms", {"game": "tictactoe", "id": room})
            for seat in range(2):
                guest = guest_of(await self._made("/api/players", {"name": f"P{pair}-{seat}"}))
                self.tables.append((guest, room))
                for number in range(2 - seat):
                    path = f"/{guest.id}/{number}"
                    hook = {"url": self.postbox.url(path)}
                    made = await self._made("/api/notifications/webhooks", hook, guest.token)
                    self.hooks.append(Hook(guest.id, path, made["id"], made["secret"]))
                await self._add_browser(guest)

    async def _add_browser(self, guest: Guest) -> None:
        path, browser = f"/{guest.id}/browser", PushReceiver()
        self.postbox.browsers[path] = browser
        place = browser.subscription(self.postbox.url(path))
        made = await self._made("/api/notifications/push", place, guest.token)
        mine = (await self.ask("GET", "/api/notifications", token=guest.token)).json()
        self.hooks.append(Hook(guest.id, path, made["id"], mine["push_key"], browser))

    async def _made(self, path: str, body: Any, token: str | None = None) -> Any:
        answer = await self.ask("POST", path, body, token)
        assert answer.status_code == 201, answer.text
        return answer.json()

    async def visit(self, guest: Guest, room: str) -> None:
        """Come, do something, and go; again and again."""
        while True:
            await self.up.wait()
            await self._open.wait()
            if self.chance.random() < COMES:
                self._visits += 1
                with suppress(*GONE):
                    async with asyncio.timeout(PATIENCE):
                        await self._visit(guest, room)
                    self.note_deed()
                self._visits -= 1
                if self.chance.random() < AGAIN:
                    continue
            await self._shut.wait()

    async def _visit(self, guest: Guest, room: str) -> None:
        views: asyncio.Queue[Any] = asyncio.Queue()

        def hear(frame: Frame) -> None:
            if frame.event == "sync":
                views.put_nowait(frame.payload["view"])

        line = await Connection.open(f"http://{self.server.address}", guest.token, hear)
        closed = asyncio.create_task(line.wait_closed())
        closed.add_done_callback(lambda _: views.put_nowait({}))
        try:
            if (await line.ask(f"game:{room}", "phx_join", {}, "1")).status != "ok":
                self.counts["shut out"] += 1
                return
            for event, payload in self._wishes(await views.get()):
                await line.ask(f"game:{room}", event, payload, "1")
                self.counts["deeds"] += 1
        finally:
            line.cut()
            await closed

    def _wishes(self, view: Any) -> Iterator[tuple[str, Any]]:
        """A move if it is theirs, or another game; now and then nothing."""
        free = [cell for cell, mark in enumerate(view.get("cells", "")) if mark == "."]
        if self.chance.random() < 0.2:
            return
        if view.get("over"):
            yield "rematch", {}
        elif free and view.get("turn") == view.get("you"):
            yield "game_event", {"event": {"type": "mark", "cell": self.chance.choice(free)}}

    # The end.

    async def tell_all(self) -> None:
        """Let time pass until everybody is told; the webhooks take everything."""
        self.postbox.is_well, self._visits = True, 0
        while await self.rest() and self._is_restful and (due := self.notes.first_due()) < float("inf"):
            await self.turn_clock(due)

    def story(self, file: Path) -> Story:
        """All that happened, with the turns that the steps of the rooms have called."""
        with closing(sqlite3.connect(file)) as db:
            numbers = dict(db.execute("SELECT id, number FROM rooms").fetchall())
        turns: list[Turn] = []
        for rows in read_file(file):
            kept, found = rebuild(rows)
            self.complaints += [one.what for one in found]
            turns += [] if kept is None else turns_of(kept, numbers[rows.id])
        return Story(turns, self.hooks, self.postbox.receipts, self.rests, self.kills)


async def torture_webhooks(data: Path, kills: int, seed: int, pairs: int = 4, fault: str = "") -> Tellers:
    """Kill a server that often while it tells players of their turns."""
    clock = data.parent / f"{data.name}.clock"
    module = ("tests.torture.standing_clock", str(clock), fault)
    server = Server(data, "--local-webhooks", module=module, environment=UNLIMITED)
    tellers = Tellers(data, clock, server, seed)
    tasks: list[asyncio.Task[None]] = []
    async with tellers.postbox:
        try:
            await tellers.begin(last=True)
            await tellers.gather(pairs)
            tasks += [asyncio.create_task(tellers.visit(*table)) for table in tellers.tables]
            tasks.append(asyncio.create_task(tellers.let_time_pass()))
            for left in reversed(range(kills)):
                await tellers.kill(last=left == 0)
            await tellers.live_on(tellers.between[1])
            await end(tasks)
            await tellers.tell_all()
            await asyncio.to_thread(server.stop)
        finally:
            tellers.end()
            await end(tasks)
    story = tellers.story(data / "parlour.db")
    tellers.complaints += judge(story)
    again = len(story.receipts) - len({(receipt.path, receipt.id) for receipt in story.receipts})
    tellers.counts.update(
        turns=len(story.turns), receipts=len(story.receipts), received_again=again, **tellers.postbox.counts
    )
    tellers.counts.update(seconds=int(tellers.time))
    tellers.count_alarms()
    return tellers
