"""Numbered links between workers, over a network that may lose, repeat and reorder frames; without I/O.

Both ends of a link have the same link number, and each end numbers its frames in it from 1. So a worker hears
what another one sent in order, without repeats and without a hole, or both are told that the link is lost:

- A link opens when both ends have said hello and know that they are heard. What is sent before that waits.
- An end that misses a frame, or hears no acknowledgement, leaves the link: it goes on to the next link
  number, and its hello there tells the other end. Whoever hears a hello of a higher number has lost the link.
- Whatever was sent in a lost link and not yet heard is gone. Nothing of it is heard later.

A worker's id is never used again, and neither is a link number between two workers.
"""

from collections.abc import Iterator
from typing import NamedTuple

from parlour.cluster.frames import (
    LONGEST_FRAME,
    Ack,
    Announcement,
    Ask,
    Data,
    Hello,
    Numbered,
    Progress,
    decode,
    encode,
)

TICK = 0.25
"""Seconds between two ticks."""
PATIENCE = 20
"""Ticks without any progress after which a link is lost. Ticks are counted, and not seconds: after a time in
which this worker stood still, answers may wait unread."""
MOST_WAITING = 16 * 1024 * 1024
"""Bytes that can wait until a link is open."""
LONGEST_BATCH = LONGEST_FRAME - 64
"""Bytes of the messages in a frame: the rest is its header."""
PREFIX = 5
"""Bytes that a message needs in a frame besides its own, at most."""


class Heard(NamedTuple):
    """Messages from a peer, next in order."""

    peer: int
    messages: list[bytes]


class Lost(NamedTuple):
    """What was sent to a peer, or by it, and not heard until now will never be heard."""

    peer: int


def batches(messages: list[bytes]) -> Iterator[tuple[list[bytes], bool]]:
    """The messages by frames, in order; True for a piece of a message that the next frame continues."""
    batch: list[bytes] = []
    size = 0
    for message in messages:
        if batch and size + len(message) + PREFIX > LONGEST_BATCH:
            yield batch, False
            batch, size = [], 0
        start = 0
        while len(message) - start + PREFIX > LONGEST_BATCH:
            yield [message[start : start + LONGEST_BATCH - PREFIX]], True
            start += LONGEST_BATCH - PREFIX
        if start:
            yield [message[start:]], False
        else:
            batch.append(message)
            size += len(message) + PREFIX
    if batch:
        yield batch, False


class Link:
    """One end of the link between two workers."""

    __slots__ = (
        "_ack_due",
        "_acked",
        "_ask_due",
        "_full",
        "_hello_due",
        "_me",
        "_pieces",
        "_progress",
        "_received",
        "_sent",
        "_sent_before_tick",
        "_size",
        "_tries",
        "_waiting",
        "number",
    )

    def __init__(self, me: int) -> None:
        self._me = me
        self.begin(1)

    def begin(self, number: int) -> None:
        """Begin this link number, with nothing sent or heard in it."""
        self.number = number
        self._progress = Progress.SILENT
        self._sent = self._acked = self._received = 0
        """The number of the last frame sent, of the last one known to have arrived, of the last one heard."""
        self._sent_before_tick = 0
        self._tries = 0
        """Ticks in a row at which an answer was missing."""
        self._waiting: list[bytes] = []
        self._size = 0
        self._full = False
        """More was sent than can wait: nothing goes any more, and the next tick says so."""
        self._pieces: list[bytes] = []
        """What has come of a long message."""
        self._hello_due, self._ask_due, self._ack_due = True, False, False

    @property
    def is_due(self) -> bool:
        """True if there are frames to take."""
        if self._hello_due or self._ask_due or self._ack_due:
            return True
        return bool(self._waiting) and self._progress is Progress.OPEN

    # Sending.

    def put(self, message: bytes) -> None:
        """Send a message after all earlier ones."""
        if self._full:
            return
        self._waiting.append(message)
        self._size += len(message)
        if self._size > MOST_WAITING and self._progress is not Progress.OPEN:
            self._full = True
            self._waiting = []

    def take(self) -> list[bytes]:
        """The frames that are due."""
        frames: list[bytes] = []
        if self._hello_due:
            self._hello_due = False
            frames.append(encode(Hello(self._me, self.number, self._progress)))
        if self._waiting and self._progress is Progress.OPEN:
            self._ack_due = False  # every frame acknowledges
            frames += self._take_messages()
        if self._ack_due:
            self._ack_due = False
            frames.append(encode(Ack(self._me, self.number, self._received)))
        if self._ask_due:
            self._ask_due = False
            frames.append(encode(Ask(self._me, self.number, self._sent)))
        return frames

    def _take_messages(self) -> list[bytes]:
        waiting, size = self._waiting, self._size
        self._waiting, self._size = [], 0
        if size + PREFIX * len(waiting) <= LONGEST_BATCH:
            return [self._number(waiting)]
        return [self._number(messages, unfinished=unfinished) for messages, unfinished in batches(waiting)]

    def _number(self, messages: list[bytes], *, unfinished: bool = False) -> bytes:
        """Make the next frame."""
        self._sent += 1
        return encode(Data(self._me, self.number, self._sent, self._received, messages, unfinished))

    def tick(self) -> bool:
        """Repeat what was not answered; False if there was no answer for too long."""
        if self._full:
            return False
        if self._progress is not Progress.OPEN:
            self._hello_due = True
            self._tries += bool(self._waiting)
        elif self._acked < self._sent_before_tick:
            self._ask_due = True
            self._tries += 1
        else:
            self._tries = 0
        self._sent_before_tick = self._sent
        return self._tries <= PATIENCE

    # Receiving: each returns the messages that were heard, or None if the link is lost.

    def hear(self, frame: Numbered) -> list[bytes] | None:
        """Receive a frame of this link."""
        match frame:
            case Data():
                return self._hear_data(frame)
            case Hello():
                return self._hear_hello(frame.progress)
            case Ask():
                self._open()
                self._ack_due = True
                return [] if frame.n <= self._received else None
            case Ack():
                self._open()
                self._hear_ack(frame.n)
                return []

    def _hear_hello(self, progress: Progress) -> list[bytes]:
        if progress is not Progress.SILENT:
            self._open()
        elif self._progress is Progress.SILENT:
            self._progress = Progress.HEARD
        self._hello_due = progress is not Progress.OPEN
        return []

    def _hear_data(self, frame: Data) -> list[bytes] | None:
        self._open()
        self._hear_ack(frame.received)
        if frame.n != self._received + 1:
            return [] if frame.n <= self._received else None
        self._received = frame.n
        if frame.unfinished:
            self._pieces += frame.messages
            return []
        if self._pieces:
            self._pieces += frame.messages
            whole, self._pieces = b"".join(self._pieces), []
            return [whole]
        return frame.messages

    def _hear_ack(self, n: int) -> None:
        if self._acked < n <= self._sent:
            self._acked = n
            self._tries = 0

    def _open(self) -> None:
        if self._progress is not Progress.OPEN:
            self._progress = Progress.OPEN
            self._hello_due = False
            self._tries = 0


class Links:
    """A worker's links to all others."""

    def __init__(self, me: int) -> None:
        self._me = me
        self._links: dict[int, Link] = {}
        self._busy: dict[int, Link] = {}
        """Links that may have frames to send."""
        self._forgotten: set[int] = set()

    @property
    def has_frames(self) -> bool:
        """True if `take` may return something."""
        return bool(self._busy)

    def send(self, peer: int, message: bytes) -> None:
        """Send a message to a peer as soon as its link is open."""
        link = self._busy.get(peer)
        if link is None:
            if peer == self._me:
                raise ValueError(f"worker {peer} sends to itself")
            if peer in self._forgotten:
                return
            link = self._busy[peer] = self._link(peer)
        link.put(message)

    def take(self) -> list[tuple[int, bytes]]:
        """The frames that are due, each with the peer that it is for."""
        busy, self._busy = self._busy, {}
        return [(peer, frame) for peer, link in busy.items() for frame in link.take()]

    def receive(self, raw: bytes) -> Heard | Lost | None:
        """Receive a frame. One that cannot be read is dropped, and missed later as if it had not come."""
        frame = decode(raw)
        if frame is None or frame.sender == self._me or frame.sender in self._forgotten:
            return None
        if isinstance(frame, Announcement):
            return Heard(frame.sender, [frame.message])
        return self._hear(frame)

    def _hear(self, frame: Numbered) -> Heard | Lost | None:
        peer = frame.sender
        link = self._link(peer)
        if frame.link < link.number:
            return None  # delayed, from a link that both have left or that our hello will end
        lost = frame.link > link.number
        if lost:
            link.begin(frame.link)
        messages = link.hear(frame)
        if messages is None or (lost and not isinstance(frame, Hello)):  # a hole: a link begins with a hello
            link.begin(link.number + 1)
            lost = True
        if link.is_due:
            self._busy[peer] = link
        if lost:
            return Lost(peer)
        return Heard(peer, messages) if messages else None

    def tick(self) -> list[Lost]:
        """Repeat what was not answered, every `TICK` seconds; returns the links that are given up."""
        self._busy = dict(self._links)
        silent = [peer for peer, link in self._links.items() if not link.tick()]
        return [self._lose(peer) for peer in silent]

    def begin_anew(self) -> list[Lost]:
        """Give up all links: the network was away."""
        self._busy = dict(self._links)
        return [self._lose(peer) for peer in self._links]

    def forget(self, peer: int) -> None:
        """Drop a peer that is gone for ever: nothing is sent to it, and nothing heard from it, any more."""
        self._links.pop(peer, None)
        self._busy.pop(peer, None)
        self._forgotten.add(peer)

    def _lose(self, peer: int) -> Lost:
        link = self._links[peer]
        link.begin(link.number + 1)
        return Lost(peer)

    def _link(self, peer: int) -> Link:
        link = self._links.get(peer)
        if link is None:
            link = self._links[peer] = Link(self._me)
        return link
