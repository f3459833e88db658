"""A room without rules: it numbers what members say, passes it on, and knows who is there; no clock, no I/O.

Members are of two kinds. One that *lasts* has one line at a time and keeps its place for a while when that is
lost: whoever returns in time and knows the number of the last envelope it saw gets what it missed, and nobody
else notices. Any other may have several lines (two windows of one browser) and has left with the last.
"""

from collections import deque
from collections.abc import Hashable, Iterable, Iterator
from enum import StrEnum
from itertools import chain, islice
from math import inf
from typing import Any, Generic, TypeVar

import msgspec

L = TypeVar("L", bound=Hashable)

PLACES = 50
"""Lines and kept places that one relay has at most."""
PATIENCE = 5.0
"""Seconds for which a lasting member that lost its line keeps its place."""
KEPT_SECONDS = 60.0
KEPT_BYTES = 256 * 1024
"""How much is kept for those who return: so long, and so much, with room for the four largest messages."""
REMEMBERED_BYTES = 1024 * 1024
"""How much a relay that remembers keeps."""
WEIGHT = 200
"""Bytes that an envelope counts besides its body."""


class Intent(StrEnum):
    """Why an envelope was sent."""

    JOINER = "Joiner"
    PEER = "Peer"
    LEAVER = "Leaver"


class Envelope(msgspec.Struct, frozen=True, gc=False):
    """One numbered thing that happened: somebody came, said something, or left."""

    num: int
    time: int
    """Wall time in milliseconds since 1970."""
    intent: Intent
    sender: str
    others: tuple[str, ...]
    """Everybody else who was a member then, in the order in which they came."""
    body: bytes | None = None
    """What was said, as it came."""

    @property
    def members(self) -> tuple[str, ...]:
        """Who was a member after it."""
        return self.others if self.intent is Intent.LEAVER else (*self.others, self.sender)


class Ears(msgspec.Struct, Generic[L], frozen=True, gc=False):
    """Lines of lasting members, and those of others."""

    lasting: tuple[L, ...]
    windows: tuple[L, ...]


NOBODY: Ears[Any] = Ears((), ())


class Tell(msgspec.Struct, Generic[L], frozen=True, gc=False):
    """An effect: these lines get the envelope; its sender's own copy is a welcome, or a receipt."""

    envelope: Envelope
    own: Ears[L]
    rest: Ears[L]


class Cut(msgspec.Struct, Generic[L], frozen=True, gc=False):
    """An effect: this line is over, because a later one took its place."""

    line: L


Effects = list[Tell[L] | Cut[L]]


class Instant(msgspec.Struct, frozen=True, gc=False):
    """The time, handed in: the server's steady clock in seconds, and the wall's in milliseconds."""

    now: float
    date: int


class Missed(Exception):
    """What somebody wants to go on from is not kept (any more)."""


class Member(Generic[L]):
    """Somebody in a relay, with or without a line at the moment."""

    __slots__ = ("_others", "_rest", "id", "lasts", "lines", "since", "until")

    def __init__(self, id: str) -> None:
        self.id = id
        self.lasts = False
        self.lines: list[L] = []
        self.since = 0
        """The number of the envelope that this member came with."""
        self.until: float | None = None
        """When its place is given up, while it has no line."""
        self._others: tuple[str, ...] | None = None
        self._rest: Ears[L] | None = None

    def forget(self) -> None:
        """Somebody came or went: who the others are is found out anew."""
        self._others = self._rest = None

    def others(self, relay: "Relay[L]") -> tuple[str, ...]:
        """The ids of all other members."""
        if self._others is None:
            self._others = tuple(id for id in relay.members if id != self.id)
        return self._others

    def rest(self, relay: "Relay[L]") -> Ears[L]:
        """The lines of all other members."""
        if self._rest is None:
            others = [member for member in relay.members.values() if member is not self]
            lasting = (member.lines for member in others if member.lasts)
            windows = (member.lines for member in others if not member.lasts)
            self._rest = Ears(tuple(chain.from_iterable(lasting)), tuple(chain.from_iterable(windows)))
        return self._rest

    def ears(self, *lines: L) -> Ears[L]:
        """Lines of its own."""
        return Ears(lines, ()) if self.lasts else Ears((), lines)


class Relay(Generic[L]):
    """Members, their lines, the next number, and the newest envelopes.

    With *remembers*, envelopes do not grow old, and also somebody who has left may go on from one.
    """

    __slots__ = ("_bytes", "_kept", "_lines", "_next", "_remembers", "members")

    def __init__(self, *, remembers: bool = False) -> None:
        self.members: dict[str, Member[L]] = {}
        self._lines: dict[L, Member[L]] = {}
        self._next = 0
        self._remembers = remembers
        self._kept: deque[tuple[float, Envelope]] = deque()
        self._bytes = 0

    @classmethod
    def recalled(cls, envelopes: Iterable[Envelope], now: float) -> "Relay[L]":
        """A relay as it was when these were the newest envelopes; nobody has a line, and all may return."""
        relay = cls(remembers=True)
        members: tuple[str, ...] = ()
        for envelope in envelopes:
            relay._keep(envelope, now)
            relay._next, members = envelope.num + 1, envelope.members
        for id in members:
            member = relay.members[id] = Member[L](id)
            member.lasts, member.until = True, now + PATIENCE
        return relay

    # What is known.

    @property
    def first(self) -> int:
        """The number of the oldest envelope that is kept, or of the next one."""
        return self._kept[0][1].num if self._kept else self._next

    @property
    def due(self) -> float | None:
        """When somebody's patience is over; the relay wants to be woken then."""
        return min((m.until for m in self.members.values() if m.until is not None), default=None)

    def has_place(self, id: str, *, lasts: bool) -> bool:
        """Whether one more line finds a place; who lasts and is here already takes none."""
        member = self.members.get(id)
        if member is not None and (lasts or not member.lines):
            return True
        return len(self._lines) + sum(not m.lines for m in self.members.values()) < PLACES

    # What happens.

    def join(self, line: L, id: str, at: Instant, *, lasts: bool, last: int | None = None) -> Effects[L]:
        """Somebody comes, or returns having seen number *last*; `Missed` if it cannot go on from there."""
        self._age(at.now)
        if not lasts:
            return self._enter(line, id, at, lasts=False)
        member = self.members.get(id)
        missed = [] if last is None else self._missed(line, id, member, last + 1)
        if member is None:
            return [*missed, *self._enter(line, id, at, lasts=True)]
        cut: Effects[L] = [Cut(old) for old in member.lines]
        if last is not None:
            self._take_place(member, line)
            return [*cut, *missed]
        return [*cut, *self._leave(member, at), *self._enter(line, id, at, lasts=True)]

    def say(self, line: L, body: bytes, at: Instant) -> Effects[L]:
        """Somebody says something to all others."""
        member = self._lines.get(line)
        if member is None:  # its place was taken while this was on its way
            return []
        envelope = self._post(Intent.PEER, member, at, body)
        rest = member.rest(self)
        if member.lasts:
            return [Tell(envelope, Ears((line,), ()), rest)]
        if len(member.lines) > 1:
            siblings = (other for other in member.lines if other is not line)
            rest = Ears(rest.lasting, (*rest.windows, *siblings))
        return [Tell(envelope, NOBODY, rest)]

    def lose(self, line: L, at: Instant) -> Effects[L]:
        """A line is lost: a lasting member may return, another has left with its last one."""
        member = self._lines.pop(line, None)
        if member is None:
            return []
        member.lines.remove(line)
        self._forget()
        if member.lines:
            return []
        if member.lasts:
            member.until = at.now + PATIENCE
            return []
        return self._leave(member, at)

    def wake(self, at: Instant) -> Effects[L]:
        """Whoever did not return in time has left."""
        self._age(at.now)
        late = [m for m in self.members.values() if m.until is not None and m.until <= at.now]
        return [effect for member in late for effect in self._leave(member, at)]

    # What these are made of.

    def _enter(self, line: L, id: str, at: Instant, *, lasts: bool) -> Effects[L]:
        member = self.members.get(id)
        if member is None:
            member = self.members[id] = Member(id)
        member.lasts, member.until, member.since = lasts, None, self._next
        member.lines.append(line)
        self._lines[line] = member
        self._forget()
        # Its own other lines are told nothing: they know that it is here.
        return [Tell(self._post(Intent.JOINER, member, at), member.ears(line), member.rest(self))]

    def _leave(self, member: Member[L], at: Instant) -> Effects[L]:
        for line in member.lines:
            del self._lines[line]
        del self.members[member.id]
        self._forget()
        member.forget()
        return [Tell(self._post(Intent.LEAVER, member, at), NOBODY, member.rest(self))]

    def _take_place(self, member: Member[L], line: L) -> None:
        """A later line takes the place of the one before, and nobody is told."""
        for old in member.lines:
            del self._lines[old]
        member.lines[:] = [line]
        member.until = None
        self._lines[line] = member
        self._forget()

    def _missed(self, line: L, id: str, member: Member[L] | None, want: int) -> Effects[L]:
        """The envelopes from number *want* on, as this line would have got them."""
        if want == self._next:
            return []
        known = self._remembers or (member is not None and want >= member.since)
        if not known or not self.first <= want < self._next:
            raise Missed(f"expected a number that is kept for this member, got {want - 1}")
        return [_copy(line, id, envelope) for envelope in self._from(want)]

    def _from(self, want: int) -> Iterator[Envelope]:
        return (envelope for _, envelope in islice(self._kept, want - self.first, None))

    def _post(self, intent: Intent, member: Member[L], at: Instant, body: bytes | None = None) -> Envelope:
        envelope = Envelope(self._next, at.date, intent, member.id, member.others(self), body)
        self._next += 1
        self._keep(envelope, at.now)
        return envelope

    def _keep(self, envelope: Envelope, now: float) -> None:
        self._kept.append((now, envelope))
        self._bytes += _weight(envelope)
        self._age(now)

    def _age(self, now: float) -> None:
        """Let go of what is too old, or too much."""
        most, since = (REMEMBERED_BYTES, -inf) if self._remembers else (KEPT_BYTES, now - KEPT_SECONDS)
        while self._kept and (self._bytes > most or self._kept[0][0] < since):
            self._bytes -= _weight(self._kept.popleft()[1])

    def _forget(self) -> None:
        for member in self.members.values():
            member.forget()


def _copy(line: L, id: str, envelope: Envelope) -> Tell[L]:
    own = envelope.sender == id and envelope.intent is not Intent.LEAVER
    ears = Ears((line,), ())
    return Tell(envelope, ears, NOBODY) if own else Tell(envelope, NOBODY, ears)


def _weight(envelope: Envelope) -> int:
    return WEIGHT + 8 * len(envelope.others) + (0 if envelope.body is None else len(envelope.body))
