"""The two kinds of clients: the real npm `phoenix` client in a Node process, and a bare WebSocket."""

import itertools
import json
import socket
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from websockets.client import ClientProtocol
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.frames import Frame
from websockets.protocol import State
from websockets.sync.client import connect
from websockets.uri import parse_uri

from tests.e2e.lines import PATIENCE
from tests.e2e.node import NodeClient
from tests.e2e.servers import Guest, Server

FOLDER = Path(__file__).parent
NATIVE = "/socket/websocket?vsn=2.0.0"


def address(server: Server, token: str | None = None, path: str = NATIVE) -> str:
    """Where a socket is opened."""
    return f"ws://{server.address}{path}" + ("" if token is None else f"&token={token}")


class Answer(NamedTuple):
    """What came of something asked."""

    status: str
    response: Any

    @property
    def code(self) -> str | None:
        """Why it was refused."""
        return self.response["code"] if self.status == "error" else None


class Player(NodeClient):
    """Somebody at a phoenix client of their own; what they hear is kept in order."""

    def __init__(self, server: Server, guest: Guest, **options: Any) -> None:
        self.guest = guest
        self.topic = ""
        super().__init__("player.mjs")
        options.setdefault("params", {"token": guest.token})
        try:
            self.ask("connect", url=f"ws://{server.address}/socket", options=options)
            self.wait_for("open")
        except AssertionError:
            self.close()
            raise

    @property
    def id(self) -> str:
        """Who this is, as the server says."""
        return self.guest.id

    # What a player does.

    def answer(self, number: int) -> Answer:
        """What became of a command."""
        line = self.answered(number)
        return Answer(line["status"], line["response"])

    def ask(self, do: str, **more: Any) -> Answer:
        return self.answer(self.tell(do, **more))

    def join(self, room: str, *, resume: bool = True, **payload: Any) -> Answer:
        """Come into a room; with *resume* every later rejoin says what was seen last."""
        self.topic = f"game:{room}"
        before = len(self.heard("sync"))
        answer = self.ask("join", topic=self.topic, payload=payload, resume=resume)
        if answer.status == "ok":
            self.wait_for("sync", count=before + 1)
        return answer

    def push(self, event: str, payload: Any) -> Answer:
        return self.ask("push", topic=self.topic, event=event, payload=payload)

    def push_soon(self, event: str, payload: Any) -> int:
        """Push and do not wait; the number under which the answer comes."""
        return self.tell("push", topic=self.topic, event=event, payload=payload)

    def play(self, type: str, id: str | None = None, **fields: Any) -> Answer:
        """A move; with an id it may be sent twice."""
        payload = {"event": {"type": type, **fields}}
        return self.push("game_event", payload if id is None else {**payload, "id": id})

    def mark(self, cell: int) -> int:
        """Noughts and crosses: mark a cell; the seq of it."""
        answer = self.play("mark", cell=cell)
        assert answer.status == "ok", answer
        seq: int = answer.response["seq"]
        return seq

    def chat(self, text: str) -> int:
        """Say something; the seq of it."""
        answer = self.push("chat", {"text": text})
        assert answer.status == "ok", answer
        seq: int = answer.response["seq"]
        return seq

    def leave(self) -> Answer:
        """Unsubscribe, as `channel.leave()` does."""
        return self.ask("leave", topic=self.topic)

    def cut(self, *, back: bool) -> None:
        """Lose the connection without a word, and the network too unless it is *back* at once."""
        self.ask("cut", back=back)

    def come_back(self) -> None:
        """The network is there again; the client notices by itself."""
        self.ask("back")

    # What a player hears.

    def heard(self, *names: str) -> list[tuple[str, Any]]:
        """The (name, payload) of all messages with these names, in order."""
        return [(line["heard"], line["payload"]) for line in self.heard_lines(*names)]

    def wait_for(self, name: str, count: int = 1, **fields: Any) -> Any:
        """The payload of the message so named and with these fields, or of the *count*-th such."""
        return self.hear_line(name, count, lambda line: line["payload"].items() >= fields.items())["payload"]

    def see(self, seq: int) -> Any:
        """The view as soon as this step is told."""
        self.wait_for("update", seq=seq)
        return self.view

    def wait_for_presence(self, tabs: dict[str, int], spectators: int = 0) -> Any:
        """The metas by key, once just these players are here with so many tabs, and so many watch."""

        def look(lines: list[Any]) -> Any:
            states = [line["payload"] for line in lines if line.get("heard") == "presence"]
            metas = {key: entry["metas"] for key, entry in states[-1].items()} if states else {}
            watching = sum(meta["count"] for meta in metas.get("spectators", ()))
            here = {key: len(found) for key, found in metas.items() if key != "spectators"}
            return metas if (here, watching) == (tabs, spectators) else None

        return self.lines.wait(look, f"presence of {tabs} and {spectators} spectators")

    @property
    def seqs(self) -> list[int]:
        """The numbers of the steps that were told one by one."""
        return [payload["seq"] for _, payload in self.heard("update")]

    @property
    def result(self) -> Any:
        """How the game ended, as this player was told."""
        found = [load["result"] for _, load in self.heard("update", "sync") if load.get("result")]
        return found[-1] if found else None

    @property
    def view(self) -> Any:
        """What this player sees now."""
        return [load["view"] for _, load in self.heard("update", "sync") if "view" in load][-1]


class Raw:
    """A bare WebSocket that sends what it likes."""

    def __init__(self, server: Server, token: str | None = None, *, path: str = NATIVE, **more: Any) -> None:
        self._refs = itertools.count(1)
        self._stack = ExitStack()
        url = address(server, token, path)
        line = connect(url, compression=None, ping_interval=None, proxy=None, max_queue=None, **more)
        self.line = self._stack.enter_context(line)

    def close(self) -> None:
        self._stack.close()

    def send(self, frame: list[Any] | str | bytes | Iterator[str]) -> None:
        """A list as JSON, a string as text, bytes as a binary frame, an iterator as fragments of text."""
        with suppress(ConnectionClosed):  # how it ends is seen by `end`
            self.line.send(json.dumps(frame) if isinstance(frame, list) else frame)

    def send_broken_text(self, text: bytes) -> None:
        """A text frame with whatever bytes."""
        self.line.send(text, text=True)

    def hear(self, *events: str) -> Any:
        """The next frame, or the next with one of these events."""
        while True:
            frame = json.loads(self.line.recv(timeout=PATIENCE))
            if not events or frame[3] in events:
                return frame

    def ask(self, topic: str, event: str, payload: Any, join_ref: str | None = "1") -> Answer:
        """Send, and wait for the reply to it."""
        ref = f"r{next(self._refs)}"
        self.send([join_ref, ref, topic, event, payload])
        while (reply := self.hear("phx_reply"))[1] != ref:
            pass
        return Answer(reply[4]["status"], reply[4]["response"])

    def join(self, room: str, **payload: Any) -> Answer:
        return self.ask(f"game:{room}", "phx_join", payload)

    def end(self) -> int:
        """The close code that the server ends this with; 1006 when it just cuts the line."""
        try:
            while True:
                self.line.recv(timeout=PATIENCE)
        except ConnectionClosed as closed:
            return 1006 if closed.rcvd is None else int(closed.rcvd.code)


def refused_status(server: Server, **more: Any) -> int:
    """The HTTP status with which a knock is turned away."""
    with pytest.raises(InvalidStatus) as refused:
        Raw(server, **more)
    return refused.value.response.status_code


class Silent:
    """A client that joins a room and after that neither reads nor answers anything."""

    def __init__(self, server: Server, token: str, room: str, **payload: Any) -> None:
        self._plug = socket.socket()
        self._plug.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        self._plug.settimeout(PATIENCE)
        self._plug.connect(("127.0.0.1", server.port))
        self._protocol = ClientProtocol(parse_uri(address(server, token)))
        self._protocol.send_request(self._protocol.connect())
        self._send()
        while self._protocol.state is not State.OPEN:
            self._protocol.receive_data(self._plug.recv(1024))
        self._protocol.send_text(json.dumps(["1", "1", f"game:{room}", "phx_join", payload]).encode())
        self._send()

    def _send(self) -> None:
        self._plug.sendall(b"".join(self._protocol.data_to_send()))

    def read_until(self, event: str, **fields: Any) -> list[Any]:
        """Read after all; every frame up to the first with this event and these fields."""
        frames: list[Any] = []
        while True:
            for received in self._protocol.events_received():
                if isinstance(received, Frame):
                    frames.append(json.loads(bytes(received.data)))
                    if frames[-1][3] == event and fields.items() <= frames[-1][4].items():
                        return frames
            self._protocol.receive_data(self._plug.recv(1 << 20))

    def is_cut(self) -> bool:
        """The other side has ended it; waits for that."""
        try:
            while self._plug.recv(1 << 20):
                pass
        except ConnectionResetError:
            return True
        return True

    def close(self) -> None:
        self._plug.close()
