"""What storms of fuzzed frames at a live server have in common, whatever the protocol."""

import argparse
import socket
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from fuzz.doors import KNOCK, masked
from tests.e2e.servers import UNLIMITED, Server

BATCH = 200
"""Frames on one connection, the last of which ends it."""

SCALARS: tuple[Any, ...] = (
    None, True, False, 0, -1, 1.5, 1e308, 2**53, 2**53 + 1, 10**30, "", "a", "hello", "\x00", "\u202e",
    "x" * 3000, "\U0001f642", "z\u0301" * 300, "__proto__", "<script>", "../../etc", "9" * 40, [], {},
)  # fmt: skip
RAW_ENDS = (
    b"\xf1\x80",
    b"\x83\x80",
    b"\x81\x05hello",
    b"\x89\xfe\x00\xff",
    b"\x80\x80",
    b"\x88\x81\x00",
    b"\xc1\x80",
)
"""Reserved bits and opcodes, no mask, a long ping, a continuation of nothing, half a close: then zeros."""


def masked_any(data: bytes, opcode: int = 0x81) -> bytes:
    """A client's frame of whatever size."""
    if len(data) < 65536:
        return masked(opcode, data)
    return bytes([opcode, 0xFF]) + len(data).to_bytes(8, "big") + bytes(4) + data


def knock(port: int, path: str) -> socket.socket:
    """A connection that asks for a WebSocket at this path."""
    line = socket.create_connection(("127.0.0.1", port), timeout=30)
    line.sendall(KNOCK.replace(b"/socket/websocket?vsn=2.0.0", path.encode()) + b"\r\n")
    return line


def enter(port: int, path: str) -> socket.socket:
    """The same, let in."""
    line = knock(port, path)
    assert line.recv(12) == b"HTTP/1.1 101", "a knock was turned away"
    return line


class Ended(AssertionError):
    """A line ended before its time."""

    def __init__(self, heard: bytes) -> None:
        super().__init__(f"the line ended before its time: {heard[-200:]!r}")
        self.heard = heard
        """The last of what was said."""


def hear_out(line: socket.socket, wanted: bytes, heard: bytes = b"") -> bytes:
    """Read until this was said: the door has read all that came before. The last of what was *heard*."""
    while wanted not in heard:
        try:
            more = line.recv(1 << 16)
        except ConnectionResetError:
            more = b""
        if not more:
            raise Ended(heard)
        heard = heard[-100:] + more
    return heard


def take_turns(
    lines: Sequence[socket.socket],
    frames: Sequence[bytes],
    turn: int,
    check: Callable[[int], tuple[bytes, bytes]],
) -> None:
    """These lines say the frames, a few each in turn; *check* is a question and the answer to wait for."""
    heard = [b""] * len(lines)  # a goodbye may come with the answer before it
    for begin in range(0, len(frames), turn):
        question, answer = check(begin)
        for number, line in enumerate(lines):
            with suppress(BrokenPipeError, ConnectionResetError):  # what was heard tells why
                line.sendall(b"".join(frames[begin + number : begin + turn : len(lines)]) + question)
            heard[number] = hear_out(line, answer, heard[number])


def memory(server: Server) -> int:
    """Bytes of the server that are in memory."""
    pages = Path(f"/proc/{server.pid}/statm").read_text().split()[1]
    return int(pages) * 4096


class Report(NamedTuple):
    """What came of it."""

    frames: int
    seconds: float
    cold: int
    """Bytes of memory more than before the first frame."""
    grown: int
    """Bytes of memory more than after the first tenth, when everything has been used once."""
    disturbed: bool
    """Those beside it heard something else than they would have without."""

    def judge(self, what: str, server: Server) -> None:
        """Print it, and fail if anything was harmed."""
        cold, grown = self.cold / 2**20, self.grown / 2**20
        print(f"{self.frames:,} frames in {self.seconds:.0f} s")
        print(f"memory {grown:+.1f} MB since the first tenth, {cold:+.1f} MB since the start")
        if self.disturbed:
            sys.exit(f"{what}: those beside it were disturbed")
        if self.grown > 10 * 2**20:
            sys.exit(f"{what}: expected at most 10 MB more memory")
        if trouble := [line for line in server.log.splitlines() if "Traceback" in line or '"error"' in line]:
            sys.exit(f"{what}: the server complained: {trouble[0][:4000]}")


Beside = Callable[[Callable[[], None]], Any]
"""What somebody does beside a storm, which they let blow in the middle; what they heard."""


def blow(server: Server, frames: int, visit: Callable[[int, int], int], beside: Beside, alone: Any) -> Report:
    """So many frames, by visits that hear how many are left and came before, and say how many they had."""
    count, cold, warm = 0, memory(server), 0

    def rage() -> None:
        nonlocal count, warm
        while count < frames:
            count += visit(frames - count, count)
            if not warm and count >= frames // 10:
                warm = memory(server)

    begin = time.monotonic()
    heard = beside(rage)
    seconds, now = time.monotonic() - begin, memory(server)
    return Report(count, seconds, now - cold, now - warm, heard != alone)


@contextmanager
def own_server() -> Iterator[Server]:
    """A server with a journal on disk, as people run it, that limits nobody."""
    with TemporaryDirectory() as data:
        server = Server(Path(data), "--durability", "process", environment=UNLIMITED).start()
        try:
            yield server
        finally:
            server.stop()


def command(name: str, doc: str | None, storm: Callable[[Server, int, int], Report]) -> None:
    """A storm at a server of its own, from the command line."""
    parser = argparse.ArgumentParser(prog=f"python -m fuzz.{name}", description=doc)
    parser.add_argument("--frames", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with own_server() as server:
        report = storm(server, options.frames, options.seed)
    report.judge(f"fuzz-{name}", server)
