"""A room without rules: it numbers what members say, passes it on, and knows who is there; no clock, no I/O.

Members are of two kinds. One that *lasts* has one line at a time and keeps its place for a while when that is
lost: whoever returns in time and knows the number of the last envelope it saw gets what it missed, and nobody
else notices. Any other may have several lines (two windows of one browser) and has left with the last.
"""

import re
from collections import deque
from collections.abc import Hashable, Iterable, Iterator
from enum import StrEnum
from itertools import chain, islice
from math import inf
from typing import Any, Generic, TypeVar

import msgspec

L = TypeVar("L", bound=Hashable)

MAX_PLACES = 50
"""Lines and kept places that one relay has at most."""
RETURN_TIMEOUT = 5.0
"""Seconds for which a lasting member that lost its line keeps its place."""
KEPT_SECONDS = 60.0
KEPT_BYTES = 256 * 1024
"""How much is kept for those who return: so long, and so much, with room for the four largest messages."""
REMEMBERED_BYTES = 1024 * 1024
"""How much a relay that remembers keeps."""
IDS_BYTES = 8 * 1024
"""How long the ids of all members may be together: every envelope that is sent has them all."""
PORTION = 64 * 1024
"""How much of what it missed a line gets at once, as `Relay.fan_out` counts it."""
RELAY_MEMORY, MEMBER_MEMORY, READER_MEMORY, ENVELOPE_MEMORY = 2048, 1024, 2560, 320
"""Bytes of memory that each takes, besides ids and bodies; a reader is a member who has yet to get what it
missed."""
ENVELOPE_WIRE = 150
"""Bytes of an envelope on the wire besides its ids and its body."""

_SHORT = re.compile(r"[\w .:/@+=~-]*", re.ASCII)


class Intent(StrEnum):
    """Why an envelope was sent."""

    JOINER = "Joiner"
    PEER = "Peer"
    LEAVER = "Leaver"


def size_of(id: str) -> int:
    """The most bytes that an id takes: on the wire a sign may be six, and in memory eight.

    >>> size_of("ann"), size_of("<b>")
    (6, 27)
    """
    return 3 + len(id) * (1 if _SHORT.fullmatch(id) else 8)


class Envelope(msgspec.Struct, frozen=True, gc=False):
    """One numbered thing that happened: somebody came, said something, or left."""

    num: int
    time: int
    """Wall time in milliseconds since 1970."""
    intent: Intent
    sender: str
    body: bytes | None = None
    """What was said, as it came."""


class Crowd:
    """Who is here between one coming or going and the next, in the order in which they came."""

    __slots__ = ("ids", "written")

    def __init__(self, ids: Iterable[str]) -> None:
        self.ids = tuple(ids)
        self.written: Any = None
        """What a door makes of it for the wire; it goes with the crowd."""

    def others(self, id: str) -> tuple[str, ...]:
        """All but one."""
        return tuple(other for other in self.ids if other != id)


class Ears(msgspec.Struct, Generic[L], frozen=True):
    """Lines of lasting members, and those of others."""

    lasting: tuple[L, ...]
    windows: tuple[L, ...]


NOBODY: Ears[Any] = Ears((), ())


class Tell(msgspec.Struct, Generic[L], frozen=True):
    """An effect: these lines get the envelope; its sender's own copy is a welcome, or a receipt."""

    envelope: Envelope
    crowd: Crowd
    """Who was there after it."""
    own: Ears[L]
    rest: Ears[L]


class Cut(msgspec.Struct, Generic[L], frozen=True):
    """An effect: this line is over, because a later one took its place."""

    line: L


class More(msgspec.Struct, Generic[L], frozen=True):
    """An effect: this line has yet to get more of what it missed, when it has taken what it got."""

    line: L


Effects = list[Tell[L] | Cut[L] | More[L]]


class RelayInstant(msgspec.Struct, frozen=True, gc=False):
    """The time, handed in: the server's steady clock in seconds, and the wall's in milliseconds."""

    now: float
    date: int


class Missed(Exception):
    """What somebody wants to go on from is not kept (any more)."""


class MissedReader:
    """How far somebody who returned has got: the next number, and who was there before it."""

    __slots__ = ("here", "num")

    def __init__(self, num: int, here: dict[str, None]) -> None:
        self.num = num
        self.here = here


class Member(Generic[L]):
    """Somebody in a relay, with or without a line at the moment."""

    __slots__ = ("_rest", "id", "lasts", "lines", "reader", "since", "size", "until")

    def __init__(self, id: str) -> None:
        self.id = id
        self.size = size_of(id)
        self.lasts = False
        self.lines: list[L] = []
        self.since = 0
        """The number of the envelope that this member came with."""
        self.until: float | None = None
        """When its place is given up, while it has no line."""
        self.reader: MissedReader | None = None
        """While it has yet to get what it missed; until then it is told nothing else."""
        self._rest: Ears[L] | None = None

    def forget(self) -> None:
        """Somebody came or went: who the others are is found out anew."""
        self._rest = None

    def rest(self, relay: "Relay[L]") -> Ears[L]:
        """The lines of all other members."""
        if self._rest is None:
            others = [m for m in relay.members.values() if m is not self and m.reader is None]
            lasting = (member.lines for member in others if member.lasts)
            windows = (member.lines for member in others if not member.lasts)
            self._rest = Ears(tuple(chain.from_iterable(lasting)), tuple(chain.from_iterable(windows)))
        return self._rest

    def ears(self, *lines: L) -> Ears[L]:
        """Lines of its own."""
        if self.reader is not None:
            return NOBODY
        return Ears(lines, ()) if self.lasts else Ears((), lines)


class Relay(Generic[L]):
    """Members, their lines, the next number, and the newest envelopes.

    With *remembers*, envelopes do not grow old, and also somebody who has left may go on from one.
    """

    __slots__ = (
        "_before", "_bytes", "_crowd", "_ids", "_kept", "_lines", "_next", "_remembers", "held", "members",
    )  # fmt: skip

    def __init__(self, *, remembers: bool = False) -> None:
        self.members: dict[str, Member[L]] = {}
        self._lines: dict[L, Member[L]] = {}
        self._crowd: Crowd | None = None
        self._ids = 0
        """How long the ids of all members are together."""
        self._next = 0
        self._remembers = remembers
        self._kept: deque[tuple[float, int, Envelope]] = deque()
        """The newest envelopes: when they came, and the bytes of memory that they take."""
        self._bytes = 0
        self._before: dict[str, None] = {}
        """Who was there before the oldest envelope that is kept."""
        self.held = RELAY_MEMORY
        """The bytes of memory that all of this takes."""

    @classmethod
    def recalled(
        cls, before: Iterable[str], envelopes: Iterable[Envelope], now: float, *, next: int = 0
    ) -> "Relay[L]":
        """A relay as it was when these were the newest envelopes; nobody has a line, and all may return."""
        relay = cls(remembers=True)
        relay._next = next
        for id in before:
            relay._recall(id)
        here = dict(relay._before)
        for envelope in envelopes:
            relay._keep(envelope, size_of(envelope.sender), now)
            relay._next = envelope.num + 1
            _change(here, envelope)
        for id in here:
            member = relay._add(id)
            member.lasts, member.until = True, now + RETURN_TIMEOUT
        return relay

    # What is known.

    @property
    def first(self) -> int:
        """The number of the oldest envelope that is kept, or of the next one."""
        return self._kept[0][2].num if self._kept else self._next

    @property
    def crowd(self) -> Crowd:
        """Who is here now."""
        if self._crowd is None:
            self._crowd = Crowd(self.members)
        return self._crowd

    @property
    def due(self) -> float | None:
        """When somebody's patience is over; the relay wants to be woken then."""
        return min((m.until for m in self.members.values() if m.until is not None), default=None)

    def is_reading(self, line: L) -> bool:
        """Whether this line has yet to get something that it missed."""
        member = self._lines.get(line)
        return member is not None and member.reader is not None

    def fan_out(self, size: int) -> int:
        """How many bytes a message of that size becomes, on the way to all who get it."""
        return len(self._lines) * (ENVELOPE_WIRE + self._ids + size * 4 // 3)

    def has_place(self, id: str, *, lasts: bool) -> bool:
        """Whether one more line finds a place; who lasts and is here already takes none."""
        member = self.members.get(id)
        if member is not None and (lasts or not member.lines):
            return True
        return len(self._lines) + sum(not m.lines for m in self.members.values()) < MAX_PLACES

    def can_list(self, id: str) -> bool:
        """Whether this id and those of all members are not too long together."""
        return id in self.members or self._ids + size_of(id) <= IDS_BYTES

    # What happens.

    def join(self, line: L, id: str, at: RelayInstant, *, lasts: bool, last: int | None = None) -> Effects[L]:
        """Somebody comes, or returns having seen number *last*; `Missed` if it cannot go on from there."""
        self._age(at.now)
        if not lasts:
            return self._enter(line, id, at, lasts=False)
        member = self.members.get(id)
        reader = None if last is None else self._reader(member, last + 1)
        if member is None:
            return [*self._enter(line, id, at, lasts=True, reader=reader), *self.read_on(line)]
        cut: Effects[L] = [Cut(old) for old in member.lines]
        if last is not None:
            self._take_place(member, line, reader)
            return [*cut, *self.read_on(line)]
        return [*cut, *self._leave(member, at), *self._enter(line, id, at, lasts=True)]

    def read_on(self, line: L) -> Effects[L]:
        """The next portion of what a line missed; `Missed` if that is not kept any more."""
        member = self._lines.get(line)
        if member is None or member.reader is None:
            return []
        told: Effects[L] = []
        size = ids = 0
        crowd, reader = None, member.reader
        for envelope in self._from(reader.num):
            if size >= PORTION:
                return [*told, More(line)]
            if _change(reader.here, envelope) or crowd is None:
                crowd = Crowd(reader.here)
                ids = sum(map(size_of, crowd.ids))
            told.append(_copy(line, member.id, envelope, crowd))
            size += ENVELOPE_WIRE + ids + (0 if envelope.body is None else len(envelope.body) * 4 // 3)
            reader.num = envelope.num + 1
        self._set_reader(member, None)
        self._forget()
        return told

    def say(self, line: L, body: bytes, at: RelayInstant) -> Effects[L]:
        """Somebody says something to all others."""
        member = self._lines.get(line)
        if member is None:  # its place was taken while this was on its way
            return []
        envelope = self._post(Intent.PEER, member, at, body)
        rest, crowd = member.rest(self), self._crowd or self.crowd
        if member.lasts:
            return [Tell(envelope, crowd, NOBODY if member.reader else Ears((line,), ()), rest)]
        if len(member.lines) > 1:
            siblings = (other for other in member.lines if other is not line)
            rest = Ears(rest.lasting, (*rest.windows, *siblings))
        return [Tell(envelope, crowd, NOBODY, rest)]

    def lose(self, line: L, at: RelayInstant) -> Effects[L]:
        """A line is lost: a lasting member may return, another has left with its last one."""
        member = self._lines.pop(line, None)
        if member is None:
            return []
        member.lines.remove(line)
        self._set_reader(member, None)
        self._forget()
        if member.lines:
            return []
        if member.lasts:
            member.until = at.now + RETURN_TIMEOUT
            return []
        return self._leave(member, at)

    def wake(self, at: RelayInstant) -> Effects[L]:
        """Whoever did not return in time has left."""
        self._age(at.now)
        late = [m for m in self.members.values() if m.until is not None and m.until <= at.now]
        return [effect for member in late for effect in self._leave(member, at)]

    def shrink(self, most: int) -> None:
        """Let go of the oldest envelopes until no more bytes are held than that, or none is left."""
        while self._kept and self.held > most:
            self._drop()

    # What these are made of.

    def _enter(
        self, line: L, id: str, at: RelayInstant, *, lasts: bool, reader: MissedReader | None = None
    ) -> Effects[L]:
        member = self.members.get(id) or self._add(id)
        member.lasts, member.until, member.since = lasts, None, self._next
        self._set_reader(member, reader)
        member.lines.append(line)
        self._lines[line] = member
        self._forget()
        # Its own other lines are told nothing: they know that it is here.
        envelope = self._post(Intent.JOINER, member, at)
        return [Tell(envelope, self.crowd, member.ears(line), member.rest(self))]

    def _add(self, id: str) -> Member[L]:
        member = self.members[id] = Member(id)
        self._ids += member.size
        self.held += MEMBER_MEMORY + 2 * member.size  # once here, once as a door writes it
        self._crowd = None
        return member

    def _leave(self, member: Member[L], at: RelayInstant) -> Effects[L]:
        for line in member.lines:
            del self._lines[line]
        del self.members[member.id]
        self._ids -= member.size
        self.held -= MEMBER_MEMORY + 2 * member.size
        self._set_reader(member, None)
        self._crowd = None
        self._forget()
        member.forget()
        envelope = self._post(Intent.LEAVER, member, at)
        return [Tell(envelope, self.crowd, NOBODY, member.rest(self))]

    def _take_place(self, member: Member[L], line: L, reader: MissedReader | None) -> None:
        """A later line takes the place of the one before, and nobody is told."""
        for old in member.lines:
            del self._lines[old]
        member.lines[:] = [line]
        member.until = None
        self._set_reader(member, reader)
        self._lines[line] = member
        self._forget()

    def _set_reader(self, member: Member[L], reader: MissedReader | None) -> None:
        self.held += READER_MEMORY * ((reader is not None) - (member.reader is not None))
        member.reader = reader

    def _reader(self, member: Member[L] | None, want: int) -> MissedReader | None:
        """Where somebody goes on who wants the envelopes from that number on; None if there are none."""
        if want == self._next:
            return None
        known = self._remembers or (member is not None and want >= member.since)
        if not known or not self.first <= want < self._next:
            raise Missed(f"expected a number that is kept for this member, got {want - 1}")
        here = dict(self._before)
        for _, _, envelope in islice(self._kept, want - self.first):
            _change(here, envelope)
        return MissedReader(want, here)

    def _from(self, want: int) -> Iterator[Envelope]:
        if want < self.first:
            raise Missed(f"expected a number that is still kept, got {want}")
        return (envelope for _, _, envelope in islice(self._kept, want - self.first, None))

    def _post(
        self, intent: Intent, member: Member[L], at: RelayInstant, body: bytes | None = None
    ) -> Envelope:
        envelope = Envelope(self._next, at.date, intent, member.id, body)
        self._next += 1
        self._keep(envelope, member.size, at.now)
        return envelope

    def _keep(self, envelope: Envelope, size: int, now: float) -> None:
        weight = ENVELOPE_MEMORY + size + (0 if envelope.body is None else len(envelope.body))
        self._kept.append((now, weight, envelope))
        self._bytes += weight
        self.held += weight
        self._age(now)

    def _age(self, now: float) -> None:
        """Let go of what is too old, or too much."""
        most, since = (REMEMBERED_BYTES, -inf) if self._remembers else (KEPT_BYTES, now - KEPT_SECONDS)
        while self._kept and (self._bytes > most or self._kept[0][0] < since):
            self._drop()

    def _drop(self) -> None:
        """Let go of the oldest envelope; what it changed is not forgotten."""
        _, weight, envelope = self._kept.popleft()
        self._bytes -= weight
        self.held -= weight
        if envelope.body is not None:
            return
        id = envelope.sender
        if envelope.intent is Intent.JOINER:
            self._recall(id)
        elif id in self._before:
            del self._before[id]
            self.held -= ENVELOPE_MEMORY + size_of(id)

    def _recall(self, id: str) -> None:
        """This one was there before what is kept."""
        if id not in self._before:
            self._before[id] = None
            self.held += ENVELOPE_MEMORY + size_of(id)

    def _forget(self) -> None:
        for member in self.members.values():
            member.forget()


def _change(here: dict[str, None], envelope: Envelope) -> bool:
    """Who is here after an envelope; whether that is different from before."""
    if envelope.intent is Intent.JOINER:
        here[envelope.sender] = None
    elif envelope.intent is Intent.LEAVER:
        here.pop(envelope.sender, None)
    else:
        return False
    return True


def _copy(line: L, id: str, envelope: Envelope, crowd: Crowd) -> Tell[L]:
    own = envelope.sender == id and envelope.intent is not Intent.LEAVER
    ears = Ears((line,), ())
    return Tell(envelope, crowd, ears, NOBODY) if own else Tell(envelope, crowd, NOBODY, ears)
