"""python -m tests.attack.hostile NAME PORT AMOUNT: one hostile client; what came of it as a line of JSON.

It comes from an address of its own (127.0.0.66), so that limits for one address hit it alone, and it stops by
itself: after AMOUNT bytes or calls, or after SECONDS.
"""

import itertools
import json
import select
import socket
import sys
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from typing import Any

import httpx

from fuzz.doors import KNOCK, masked
from tests.attack.endpoints import endless_webhooks
from tests.attack.identities import forged_users, wrong_passkeys

ADDRESS = "127.0.0.66"
SECONDS = 8.0
"""How long one attack lasts at most, once it was cut or refused."""
PATIENCE = 60.0
"""How long a flood goes on that is neither; a machine that is busy takes long to read what is too much."""
LINES = 400
"""Connections that one attack opens at most, one after the other."""
CHUNK = 64 * 1024
"""Bytes that are sent at once."""

Tally = Counter[str]
"""What came of an attack: sent (bytes), cut (lines), refused, done (calls that were accepted)."""

SIGNALR = b'{"protocol":"json","version":1}\x1e'
FAULTY_CALL = b'{"type":1,"target":"Nope","arguments":[],"invocationId":"1"}\x1e'

DOORS: dict[str, tuple[str, bytes]] = {
    "native": ("/socket/websocket?vsn=2.0.0", b""),
    "relay": ("/g/attacked?id=mallory", b""),
    "gammonx": (f"/matchhub?matchId={uuid.uuid4()}&playerId={uuid.uuid4()}", masked(0x81, SIGNALR)),
    "xsos": ("/socket.io/?EIO=4&transport=websocket", masked(0x81, b"40")),
}
"""Where a socket is opened, and what is said first."""

OPEN_TEXT = masked(0x01, b"x")
"""The first fragment of a text that never ends."""
KINDS: dict[str, tuple[bytes, bytes]] = {
    "pings": (b"", masked(0x89, b"")),
    "pongs": (b"", masked(0x8A, b"")),
    "continuations": (OPEN_TEXT, masked(0x00, b"")),
    "texts": (b"", masked(0x81, b"3")),
    "binaries": (b"", masked(0x82, b"")),
    "large": (b"", masked(0x81, b"[" * 30_000)),
}
"""What begins a flood, and what it is made of."""


CHUNKED = b"GET /nowhere HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"
REQUESTS: dict[str, tuple[bytes, bytes]] = {
    "calls": (b"", b"GET /nowhere HTTP/1.1\r\n\r\n"),
    "chunks": (CHUNKED, b"1\r\n \r\n"),
    "trailers": (CHUNKED + b"0\r\n", b"a:b\r\n"),
    "headers": (b"GET /nowhere HTTP/1.1\r\n", b"a:b\r\n"),
    "bodies": (b"GET /nowhere HTTP/1.1\r\nContent-Length: 999999999\r\n\r\n", b" " * 1000),
}
"""The same over plain HTTP: requests that do not wait for answers, or do not end."""


class Line:
    """A WebSocket, or plain TCP, that sends what it likes, and hears whether it is still wanted."""

    def __init__(self, port: int, path: str | None) -> None:
        self.socket = socket.create_connection(
            ("127.0.0.1", port), timeout=SECONDS, source_address=(ADDRESS, 0)
        )
        self.is_open = path is None
        if path is not None:
            self.socket.sendall(KNOCK.replace(b"/socket/websocket?vsn=2.0.0", path.encode()) + b"\r\n")
            self.is_open = self.socket.recv(12) == b"HTTP/1.1 101"
        self.socket.setblocking(False)

    def flood(self, data: bytes, amount: int, until: float) -> int:
        """Send *data* again and again; the bytes that were taken before the end, or before the cut."""
        sent, rest = 0, memoryview(data)
        while sent < amount and self.is_open and time.monotonic() < until:
            readable, writable, _ = select.select([self.socket], [self.socket], [], 0.1)
            try:
                if readable and not self.socket.recv(1 << 20):
                    self.is_open = False
                elif writable:
                    taken = self.socket.send(rest)
                    sent += taken
                    rest = rest[taken:] or memoryview(data)
            except OSError:
                self.is_open = False
        return sent

    def hear_out(self, until: float) -> None:
        """Listen until the other side has had enough."""
        while self.is_open and time.monotonic() < until:
            readable, _, _ = select.select([self.socket], [], [], 0.1)
            try:
                self.is_open = not readable or bool(self.socket.recv(1 << 20))
            except OSError:
                self.is_open = False

    def close(self) -> None:
        self.socket.close()


def flood(door: str, kind: str) -> Callable[[int, int], Tally]:
    """Frames of one kind at one door, on one line after the other as each is cut."""
    path, hello = DOORS[door]
    begin, frame = KINDS[kind]
    return flood_with(path, hello + begin, frame)


def flood_with(path: str | None, hello: bytes, frame: bytes) -> Callable[[int, int], Tally]:
    """The same frame again and again."""
    chunk = frame * max(1, CHUNK // len(frame))

    def attack(port: int, amount: int) -> Tally:
        tally = Tally()
        begun = time.monotonic()
        for _ in range(LINES):
            until = begun + (SECONDS if tally["cut"] + tally["refused"] else PATIENCE)
            if tally["sent"] >= amount or time.monotonic() > until:
                break
            try:
                line = Line(port, path)
            except OSError:
                tally["refused"] += 1
                continue
            if line.is_open:
                tally["sent"] += line.flood(hello, len(hello), until) if hello else 0
                tally["sent"] += line.flood(chunk, amount - tally["sent"], until)
                line.hear_out(until)  # what was sent may wait in between
                tally["cut"] += not line.is_open
            else:
                tally["refused"] += 1
            line.close()
        return tally

    return attack


# Calls over HTTP.


Ask = tuple[str, str, Any]
"""Method, path, body."""


def calls(asks: Callable[[], Iterator[Ask]], headers: Callable[[int], dict[str, str]] | None = None) -> Any:
    """HTTP calls as fast as they are answered, each by somebody new."""

    def attack(port: int, amount: int) -> Tally:
        tally = Tally()
        until = time.monotonic() + SECONDS
        transport = httpx.HTTPTransport(local_address=ADDRESS)
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", transport=transport, timeout=SECONDS) as http:
            for number, (method, path, body) in enumerate(itertools.islice(asks(), amount)):
                if time.monotonic() > until:
                    break
                http.cookies.clear()
                try:
                    answer = http.request(method, path, json=body, headers=headers(number) if headers else {})
                except httpx.HTTPError:
                    tally["cut"] += 1
                    continue
                tally["sent"] += len(answer.request.content) + 200
                tally["done" if answer.is_success else "refused"] += 1
                tally["server_errors"] += answer.status_code == 500
        return tally

    return attack


def new_rooms() -> Iterator[Ask]:
    """Rooms that nobody will ever sit in."""
    return itertools.repeat(("POST", "/api/rooms", {"game": "stratego"}))


def new_players() -> Iterator[Ask]:
    return itertools.repeat(("POST", "/api/players", {}))


def guesses() -> Iterator[Ask]:
    """Ids of rooms that are not there."""
    return (("GET", f"/api/rooms/{uuid.uuid4()}", None) for _ in itertools.count())


def guessed_codes() -> Iterator[Ask]:
    """Recovery codes that nobody has."""
    return (("POST", "/api/sign-in", {"code": uuid.uuid4().hex[:20]}) for _ in itertools.count())


def guessed_links() -> Iterator[Ask]:
    return (("POST", "/api/sign-in", {"link": uuid.uuid4().hex}) for _ in itertools.count())


def challenges() -> Iterator[Ask]:
    """Questions to authenticators that are never answered."""
    return itertools.repeat(("POST", "/api/sign-in/options", None))


def hub_tickets() -> Iterator[Ask]:
    """Wishes for a match by ids that anybody can make up."""
    wish = {"MatchVariant": 0, "MatchModus": 0, "MatchType": 0}
    return (("POST", "/api/matches/join", {**wish, "PlayerId": str(uuid.uuid4())}) for _ in itertools.count())


def forged(number: int) -> dict[str, str]:
    """Another address in each call, by somebody who is no proxy."""
    return {"X-Forwarded-For": f"198.51.{number // 250 % 250}.{number % 250}"}


def tickets(port: int, amount: int) -> Tally:
    """Each of many guests takes tickets for different games."""
    tally = Tally()
    until = time.monotonic() + SECONDS
    transport = httpx.HTTPTransport(local_address=ADDRESS)
    with httpx.Client(base_url=f"http://127.0.0.1:{port}", transport=transport, timeout=SECONDS) as http:
        token = ""
        for number in range(amount):
            if time.monotonic() > until:
                break
            if number % 20 == 0:
                http.cookies.clear()
                answer = http.post("/api/players", json={})
                token = answer.json().get("token", token)
            clock = {"kind": "turn", "seconds": number % 100}  # some too short, all another queue
            body = {"game": "backgammon", "config": {}, "clock": clock}
            answer = http.post("/api/tickets", json=body, headers={"Authorization": f"Bearer {token}"})
            tally["done" if answer.is_success else "refused"] += 1
            tally["server_errors"] += answer.status_code == 500
    return tally


def many_accounts(port: int, amount: int) -> Tally:
    """Guest after guest becomes an account, which takes a name from everybody else."""
    tally = Tally()
    until = time.monotonic() + SECONDS
    transport = httpx.HTTPTransport(local_address=ADDRESS)
    with httpx.Client(base_url=f"http://127.0.0.1:{port}", transport=transport, timeout=SECONDS) as http:
        for number in range(amount):
            if time.monotonic() > until:
                break
            http.cookies.clear()
            http.post("/api/players", json={})
            answer = http.post("/api/account", json={"name": f"Mallory {number}"})
            tally["done" if answer.is_success else "refused"] += 1
            tally["server_errors"] += answer.status_code == 500
    return tally


def members(port: int, amount: int) -> Tally:
    """Guest after guest becomes an account, and has webhooks that are not to be reached, or not allowed."""
    tally = Tally()
    until = time.monotonic() + SECONDS
    transport = httpx.HTTPTransport(local_address=ADDRESS)
    urls = ("https://127.0.0.1/", "https://[::ffff:10.0.0.1]/", "https://nowhere.invalid/", "http://x/")
    with httpx.Client(base_url=f"http://127.0.0.1:{port}", transport=transport, timeout=SECONDS) as http:
        for number in range(amount // (len(urls) + 2)):
            if time.monotonic() > until:
                break
            http.cookies.clear()
            body = {"name": f"Mallory {uuid.uuid4().hex[:8]} {number}"}
            asks: list[Ask] = [("POST", "/api/players", {}), ("POST", "/api/account", body)]
            asks += [("POST", "/api/notifications/webhooks", {"url": url}) for url in urls]
            for method, path, said in asks:
                answer = http.request(method, path, json=said)  # who they are is in a cookie
                tally["done" if answer.is_success else "refused"] += 1
                tally["server_errors"] += answer.status_code == 500
                tally["reached"] += answer.is_success and path.endswith("webhooks")
    return tally


# Relays.


def many_relays(port: int, amount: int) -> Tally:
    """A relay for each line, and the lines are kept open."""
    tally = Tally()
    until = time.monotonic() + SECONDS
    lines = []
    for number in range(amount):
        if time.monotonic() > until:
            break
        try:
            line = Line(port, f"/g/flood-{number}?id=mallory")
        except OSError:
            tally["refused"] += 1
            continue
        tally["done" if line.is_open else "refused"] += 1
        lines.append(line)
    for line in lines:
        line.close()
    return tally


def long_ids(port: int, amount: int) -> Tally:
    """Fifty members with long ids who say one byte each: what is told repeats all ids."""
    tally = Tally()
    until = time.monotonic() + SECONDS
    members = []
    for number in range(50):
        with suppress(OSError):
            line = Line(port, f"/g/amplified?id={number}{'x' * 145}")
            tally["done" if line.is_open else "refused"] += 1
            members.append(line)
    said = masked(0x81, b"1")
    for member in itertools.cycle(members) if members else ():
        if tally["sent"] >= amount or time.monotonic() > until or not any(line.is_open for line in members):
            break
        tally["sent"] += member.flood(said, len(said), until)
    for line in members:
        tally["cut"] += not line.is_open
        line.close()
    return tally


def silence(port: int, amount: int) -> Tally:
    """Connections that say nothing."""
    tally = Tally()
    until = time.monotonic() + SECONDS
    plugs = []
    for _ in range(min(amount, 4000)):
        if time.monotonic() > until:
            break
        try:
            plugs.append(socket.create_connection(("127.0.0.1", port), 2.0, source_address=(ADDRESS, 0)))
            tally["done"] += 1
        except OSError:
            tally["refused"] += 1
    httpx.get(f"http://127.0.0.1:{port}/health", timeout=SECONDS)  # comes in after all of them
    for plug in plugs:
        plug.setblocking(False)
        with suppress(BlockingIOError):  # still open
            tally["cut"] += _is_ended(plug)
        plug.close()
    return tally


def _is_ended(plug: socket.socket) -> bool:
    try:
        return plug.recv(1) == b""
    except ConnectionError:
        return True


ATTACKS: dict[str, Callable[[int, int], Tally]] = {
    **{f"{kind} at {door}": flood(door, kind) for door in DOORS for kind in KINDS},
    **{f"{kind} at http": flood_with(None, *request) for kind, request in REQUESTS.items()},
    "records at gammonx": flood_with(*DOORS["gammonx"], masked(0x81, FAULTY_CALL * 400)),
    "rooms": calls(new_rooms),
    "rooms by forged addresses": calls(new_rooms, forged),
    "identities": calls(new_players),
    "guessed ids": calls(guesses),
    "guessed recovery codes": calls(guessed_codes),
    "guessed links": calls(guessed_links),
    "challenges": calls(challenges),
    "accounts": many_accounts,
    "accounts and webhooks": members,
    "webhooks without end": partial(endless_webhooks, address=ADDRESS),
    "garbage as passkeys": partial(wrong_passkeys, network="127.0.66"),
    "users by forged headers": partial(forged_users, address=ADDRESS),
    "tickets": tickets,
    "tickets at gammonx": calls(hub_tickets),
    "relays": many_relays,
    "long ids at relays": long_ids,
    "silent connections": silence,
}
"""By name: what is done to a server."""


def main() -> None:
    name, port, amount = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    sys.stdout.write(json.dumps(ATTACKS[name](port, amount)) + "\n")


if __name__ == "__main__":
    main()
