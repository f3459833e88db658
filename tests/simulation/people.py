"""People who play: each has a connection to some worker, comes back when it is lost, and keeps a diary."""

from collections.abc import Callable
from itertools import count
from typing import Any, NamedTuple

import msgspec

from parlour.protocols.phoenix import Phoenix
from parlour.server.gateway.connections import RoomConnection
from tests.simulation.cluster import Cluster, Machine

LATENCY = 0.001
"""Seconds that anything takes from a client to its worker, and back."""
COME_BACK = 0.15
"""Seconds after which somebody comes back whose connection was lost."""
TRY_AGAIN = 0.2
"""Seconds after which somebody tries again who was told to."""
TRY_AGAIN_CODES = ("not_saved", "too_late")
"""The room could not keep it, or the time of whoever asked is over and begins again in a moment."""


class Line:
    """A connection between a client and a worker: what a socket is otherwise."""

    address: str | None = "203.0.113.1"
    clogged = False
    lag = 0.0
    direct = None
    write_groups: Any = ()

    def __init__(self, person: "Person", machine: Machine) -> None:
        self.person, self.machine = person, machine
        self._world = machine.cluster.loop.world
        self._down: list[bytes] = []
        self._connection: RoomConnection | None = None
        self._is_open = True
        """At the worker's side."""
        self.is_open = True
        """At the client's side."""
        machine.lines[self] = None
        machine.process.call_later(LATENCY, self._accept)

    # At the worker.

    def _accept(self) -> None:
        gateway = self.machine.parlour.gateway
        client = gateway.connect(Phoenix(), self, self.person.name)
        self._connection = RoomConnection(gateway, self, client)  # type: ignore[arg-type]

    def _receive(self, text: bytes) -> None:
        if self._is_open and self._connection is not None:
            self._connection.receive(text, text=True)

    def may_ask(self, _player: str, _cost: float) -> bool:
        return True

    def write(self, frames: bytes, *, more: bool = False) -> None:
        if self._is_open:
            if not self._down:
                self._world.call_later(LATENCY, self._deliver)
            self._down.append(frames)

    write_now = write

    def measure_lag(self) -> None: ...

    def hold(self, due: Callable[[], None]) -> None:
        self.machine.process.call_later(0.01, due)

    def close(self, code: int, _reason: str) -> None:
        """The worker hangs up."""
        if self._is_open:
            self._world.call_later(LATENCY, self._closed, code)
            self._end()

    def shut_down(self) -> None:
        """The worker stops."""
        self.close(1012, "come again")

    def _end(self) -> None:
        if self._is_open:
            self._is_open = False
            self.machine.lines.pop(self, None)
            if self._connection is not None:
                self.machine.process.call_soon(self._connection.end)

    # On the way.

    def break_off(self) -> None:
        """The worker is dead: what it sent last may be lost."""
        self._is_open = False
        self.machine.lines.pop(self, None)
        if self.machine.cluster.chance.random() < 0.5:
            self._down.clear()
        self._world.call_later(LATENCY, self._closed, 1006)

    def _deliver(self) -> None:
        down, self._down = self._down, []
        for frames in down:
            if self.is_open:
                self.person.hear(texts_of(frames))

    def _closed(self, code: int) -> None:
        self._deliver()
        if self.is_open:
            self.is_open = False
            self.person.lose(code)

    # At the client.

    def send(self, frame: list[Any]) -> None:
        self.machine.process.call_later(LATENCY, self._receive, msgspec.json.encode(frame))

    def hang_up(self) -> None:
        self.is_open = False
        self.machine.process.call_later(LATENCY, self._end)


def texts_of(frames: bytes) -> list[Any]:
    """The messages in WebSocket frames."""
    found = []
    while frames:
        size, start = frames[1], 2
        if size == 126:
            size, start = int.from_bytes(frames[2:4], "big"), 4
        elif size == 127:
            size, start = int.from_bytes(frames[2:10], "big"), 10
        found.append(msgspec.json.decode(frames[start : start + size]))
        frames = frames[start + size :]
    return found


class Sent(NamedTuple):
    """A request that waits for its answer."""

    room: str
    event: str
    payload: dict[str, Any]
    at: float
    word: str | None = None
    """What only this command says."""
    told: int = 0
    """The last step of the room that anybody had heard of when it was sent."""


class Heard(NamedTuple):
    """What was told of a room: an event of a step, or where the room is now."""

    name: str
    seq: int
    payload: Any
    view: Any = None
    """The view that the client has from then on."""


class Acknowledged(NamedTuple):
    """A command that was answered with the number of its step."""

    room: str
    word: str
    seq: int


class Channel:
    """What a client knows of one room."""

    def __init__(self, *, spectates: bool) -> None:
        self.spectates = spectates
        self.ref: str | None = None
        """Of the last join on this connection."""
        self.is_joined = False
        self.is_wanted = True
        self.seq: int | None = None
        self.view: Any = None
        self.heard: list[list[Heard]] = [[]]
        """In order; a new list each time that the client forgot what it knew."""

    def forget(self) -> None:
        self.seq, self.view = None, None
        self.heard.append([])


class Person:
    """Somebody who plays in some rooms."""

    def __init__(self, cluster: Cluster, name: str, rooms: dict[str, bool], *, careful: bool) -> None:
        self.name = name
        self.cluster = cluster
        self.careful = careful
        """Sends an id with every command, and the command again until it is answered."""
        self.channels = {room: Channel(spectates=spectates) for room, spectates in rooms.items()}
        self.line: Line | None = None
        self.patience: float | None = 2.0
        """Seconds without an answer after which they try another worker; None: they wait for ever."""
        self.acknowledged: list[Acknowledged] = []
        self.refused: list[tuple[Sent, str]] = []
        self.unknown: list[Sent] = []
        """Commands without an id of which nobody knows what came of them."""
        self.waiting: dict[str, Sent] = {}
        """By the ref."""
        self.unsent: list[Sent] = []
        """To be sent as soon as the room is joined."""
        self.broken: list[str] = []
        self.trace: Callable[[str], None] | None = None
        self._refs = count(1)
        self._words = count(1)
        self._world = cluster.loop.world

    # What they do.

    def come(self, machine: Machine | None = None) -> None:
        """Connect to this worker, or to any, and join all rooms."""
        if self.line is not None and self.line.is_open:
            return
        serving = self.cluster.serving
        if not serving:
            self._world.call_later(TRY_AGAIN, self.come)
            return
        machine = machine if machine in serving else self.cluster.chance.choice(serving)
        self._note(f"connects to worker {machine.me}")
        self.line = Line(self, machine)
        for room in self.channels:
            self.join(room)

    def visit(self, machine: Machine) -> None:
        """Go to this worker instead."""
        self.hang_up()
        self.come(machine)

    def join(self, room: str) -> None:
        """Join a room, from where it was last known."""
        channel = self.channels[room]
        if self.line is None or not self.line.is_open or not channel.is_wanted:
            return
        payload: dict[str, Any] = {"spectate": True} if channel.spectates else {}
        if channel.seq is not None:
            payload["since"] = channel.seq
        channel.is_joined = False
        told = self.cluster.told.get(room, 0)
        channel.ref = self._send(Sent(room, "phx_join", payload, self.cluster.loop.now, None, told))

    def leave(self, room: str) -> None:
        """Stop hearing a room, and join it again soon."""
        channel = self.channels[room]
        if channel.is_joined and self.line is not None and self.line.is_open:
            self._give_up(room)
            channel.is_joined = False
            self._send(Sent(room, "phx_leave", {}, self.cluster.loop.now))
            self._world.call_later(TRY_AGAIN, self._join_anew, room)

    def _join_anew(self, room: str) -> None:
        if not self.channels[room].is_joined:
            self.join(room)

    def hang_up(self) -> None:
        """Close the connection, and come back soon."""
        if self.line is not None and self.line.is_open:
            self._note("hangs up")
            self.line.hang_up()
            self.lose(1000)

    def stand_up(self, room: str) -> None:
        """Give the seat up, and sit down again soon."""
        if self.channels[room].is_joined and self.line is not None and self.line.is_open:
            word = f"{self.name}{next(self._words)}"
            self._send(Sent(room, "leave", {"id": word}, self.cluster.loop.now, word))

    def say(self, room: str, kind: str = "all", *, id: bool | None = None) -> None:
        """Say a new word."""
        word = f"{self.name}{next(self._words)}"
        event, payload = _command(kind, word)
        if self.careful if id is None else id:
            payload["id"] = word
        sent = Sent(room, event, payload, self.cluster.loop.now, word)
        if self.channels[room].is_joined and self.line is not None and self.line.is_open:
            self._send(sent)
        else:
            self.unsent.append(sent)

    def go(self) -> None:
        """Leave for good."""
        for channel in self.channels.values():
            channel.is_wanted = False
        self.hang_up()
        self.unsent.clear()

    @property
    def is_content(self) -> bool:
        """True if they are where they want to be, and wait for nothing."""
        there = all(channel.is_joined or not channel.is_wanted for channel in self.channels.values())
        return there and not self.waiting and not self.unsent

    # What they hear.

    def hear(self, frames: list[Any]) -> None:
        for join_ref, ref, topic, event, payload in frames:
            self._note(f"hears {event} {payload}" if event != "phx_reply" else f"is answered {payload}")
            if event == "phx_reply":
                self._hear_answer(ref, payload["status"], payload["response"])
            elif event == "phx_close" and self.channels[topic.removeprefix("game:")].is_joined:
                if join_ref == self.channels[topic.removeprefix("game:")].ref:
                    self.broken.append(f"{self.name} was dismissed from {topic}")
            elif event in HEARD:
                room = topic.removeprefix("game:")
                channel = self.channels[room]
                if channel.is_joined and join_ref in (None, channel.ref):
                    self._hear_news(room, channel, event, payload)

    def _hear_answer(self, ref: str, status: str, response: Any) -> None:
        sent = self.waiting.pop(ref, None)
        if sent is None:
            return
        if sent.event == "phx_join":
            self._hear_join(sent, ref, status, response)
        elif sent.event == "phx_leave":
            pass
        elif status == "ok":
            assert sent.word is not None
            self.acknowledged.append(Acknowledged(sent.room, sent.word, response["seq"]))
            self._check_kept(sent.room, response["seq"])
            if sent.event == "leave":
                self.leave(sent.room)
        else:
            self._hear_refusal(sent, response)

    def _hear_join(self, sent: Sent, ref: str, status: str, response: Any) -> None:
        channel = self.channels[sent.room]
        if ref != channel.ref:
            return
        if status != "ok":
            if response["code"] not in TRY_AGAIN_CODES:
                self.broken.append(f"{self.name} may not join {sent.room}: {response}")
            self._world.call_later(TRY_AGAIN, self._join_anew, sent.room)
            return
        channel.is_joined = True
        if response["seq"] < sent.told:
            self.broken.append(
                f"{self.name} was shown step {response['seq']} of {sent.room} after {sent.told}"
            )
        self._check_kept(sent.room, response["seq"])
        unsent, self.unsent = self.unsent, []
        for one in unsent:
            if one.room == sent.room:
                self._send(one)
            else:
                self.unsent.append(one)

    def _hear_refusal(self, sent: Sent, why: Any) -> None:
        assert sent.word is not None
        if sent.word in self.cluster.database.words(sent.room):
            self.broken.append(f"{self.name} was refused {sent.word}, which was kept: {why}")
        if "id" in sent.payload and why["code"] in TRY_AGAIN_CODES:
            self._world.call_later(TRY_AGAIN, self._say_again, sent)
            return
        if why["code"] not in (*TRY_AGAIN_CODES, "not_seated", "game_over"):
            self.broken.append(f"{self.name} was refused {sent.word}: {why}")
        self.refused.append((sent, why["code"]))

    def _say_again(self, sent: Sent) -> None:
        if self.channels[sent.room].is_joined and self.line is not None and self.line.is_open:
            self._send(sent)
        else:
            self.unsent.append(sent)

    def _hear_news(self, room: str, channel: Channel, event: str, payload: Any) -> None:
        seq: int = payload["seq"]
        self._check_kept(room, seq)
        known = channel.seq
        if event in ("update", "sync"):
            if event == "update" and known is not None and seq != known + 1:
                self.broken.append(f"{self.name} heard update {seq} of {room} after {known}")
            if event == "sync" and known is not None and seq < known:
                self.broken.append(f"{self.name} heard sync {seq} of {room} after {known}")
            channel.seq = seq
            channel.view = payload.get("view", channel.view)
        elif known is not None and seq <= known:
            self.broken.append(f"{self.name} heard {event} {seq} of {room} after {known}")
        channel.heard[-1].append(Heard(event, seq, payload, channel.view))

    def _check_kept(self, room: str, seq: int) -> None:
        self.cluster.told[room] = max(seq, self.cluster.told.get(room, 0))
        kept = self.cluster.database.seq_of(room)
        if seq > kept:
            self.broken.append(f"{self.name} heard of step {seq} of {room}, and only {kept} are kept")

    def lose(self, code: int) -> None:
        """The connection is closed."""
        self._note(f"is cut off ({code})")
        for room in self.channels:
            self._give_up(room)
            self.channels[room].is_joined = False
        if any(channel.is_wanted for channel in self.channels.values()):
            self._world.call_later(COME_BACK, self.come)

    def _give_up(self, room: str) -> None:
        """No answers will come: commands with an id are sent again later."""
        for ref, sent in tuple(self.waiting.items()):
            if sent.room != room:
                continue
            del self.waiting[ref]
            if sent.word is not None and "id" in sent.payload:
                self.unsent.append(sent)
            elif sent.word is not None:
                self.unknown.append(sent)

    def _send(self, sent: Sent) -> str:
        assert self.line is not None
        ref = str(next(self._refs))
        join_ref = ref if sent.event == "phx_join" else self.channels[sent.room].ref
        self._note(f"sends {sent.event} {sent.payload} to {sent.room}")
        self.waiting[ref] = sent
        self.line.send([join_ref, ref, f"game:{sent.room}", sent.event, sent.payload])
        if self.patience is not None:
            self._world.call_later(self.patience, self._lose_patience, ref, self.line)
        return ref

    def _lose_patience(self, ref: str, line: Line) -> None:
        if self.patience is not None and ref in self.waiting and line is self.line:
            self.hang_up()

    def _note(self, what: str) -> None:
        if self.trace is not None:
            self.trace(f"{self.name} {what}")


HEARD = ("update", "sync", "game_event", "chat")


def _command(kind: str, word: str) -> tuple[str, dict[str, Any]]:
    match kind:
        case "chat":
            return "chat", {"text": word}
        case "remind":
            return "game_event", {"event": {"type": "remind", "word": word, "seconds": 0.5}}
        case _:
            return "game_event", {"event": {"type": "say", "word": word, "to": kind}}
