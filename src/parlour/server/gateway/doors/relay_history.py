"""Relays with a history: an envelope is kept before it is sent, and relays outlast the server."""

from collections import deque
from collections.abc import Callable
from functools import partial

import msgspec
import structlog
from websockets.frames import CloseCode

from parlour.errors import Code, Refused
from parlour.journal.base import Damaged, Journal, Trouble
from parlour.relay import ENVELOPE_WIRE, REMEMBERED_BYTES, Effects, Envelope, Intent, Relay, Tell, size_of
from parlour.server.clock import Clock
from parlour.server.gateway.doors.relay import OpenRelay, RelayConnection, Relays, Think, full
from parlour.server.gateway.websocket import Socket
from parlour.server.limits import Quota
from parlour.server.mailbox import Mailbox
from parlour.server.relay_records import (
    KeptEnvelope,
    held_by_all,
    held_of,
    keep_envelope,
    kept_envelopes,
)
from parlour.server.settings import Settings
from parlour.server.tokens import Tokens

log = structlog.get_logger()

SEGMENT = REMEMBERED_BYTES // 16
"""Bytes after which an envelope is kept with a list of all members: older ones can then be deleted."""


class Page(Envelope, frozen=True, gc=False, omit_defaults=True):
    """An envelope as the journal keeps it; some also list the members, in older journals all do."""

    others: tuple[str, ...] | None = None
    """All members but the sender, after it."""

    @property
    def envelope(self) -> Envelope:
        return Envelope(self.num, self.time, self.intent, self.sender, self.body)

    @property
    def before(self) -> tuple[str, ...] | None:
        """The members before it, if known."""
        if self.others is None or self.num == 0:
            return None if self.num else ()
        return self.others if self.intent is Intent.JOINER else (*self.others, self.sender)


_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(Page).decode


PAGE_DISK, RELAY_DISK = 64, 4096
"""Bytes that count on the disk besides text: of a page, where the name of its relay counts, too; and of a
relay, so that there cannot be too many small ones to search."""
LOADED = 4 * REMEMBERED_BYTES
"""Bytes of a relay that are loaded at most; older journals may have kept more."""
WEIGH_EVERY = 600.0
"""Seconds between two counts of what is kept, while there seems to be too much."""


class Segment:
    """Pages that are deleted together; the first of them lists the members."""

    __slots__ = ("bytes", "first")

    def __init__(self, first: int) -> None:
        self.first = first
        self.bytes = 0


class KeptRelay(OpenRelay):
    """A relay, what is kept of it, and the mailbox in which its changes happen one after the other."""

    __slots__ = (
        "disk", "holder", "is_loaded", "is_lost", "mailbox", "next", "segments", "unheard", "waiting",
    )  # fmt: skip

    def __init__(self, room: str, address: str) -> None:
        super().__init__(room, address, Relay(remembers=True))
        self.segments: deque[Segment] = deque()
        self.holder = address
        """The address that its kept bytes count for."""
        self.disk = 0
        """The bytes that are kept of it."""
        self.unheard = 0
        """Bytes of messages that wait for their turn."""
        self.mailbox = Mailbox()
        self.waiting = 0
        """How many jobs wait in the mailbox."""
        self.next = 0
        """The number of the first envelope that is not kept yet."""
        self.is_loaded = False
        self.is_lost = False
        """The journal failed: the state in memory is not reliable."""

    @property
    def held(self) -> int:
        return self.relay.held + self.unheard


class KeptRelays(Relays):
    """Relays that think, write, and only then send, as rooms with rules do."""

    def __init__(
        self,
        clock: Clock,
        ids: Tokens,
        settings: Settings,
        is_owner_for_sure: Callable[[], bool],
        journal: Journal,
        complain: Callable[[Trouble], None],
    ) -> None:
        super().__init__(clock, ids, settings, is_owner_for_sure)
        self._journal = journal
        self._complain = complain
        self._disk = self._nothing_kept()
        self._weighed: float | None = None
        """When the kept bytes were last counted."""
        self._is_short = False
        """There seems to be too much since then."""

    async def _drain(self, opened: OpenRelay) -> None:
        await _kept(opened).mailbox.drained()

    async def finish(self) -> None:
        await super().finish()
        for opened in list(self._in_memory.values()):
            await _kept(opened).mailbox.drained()

    def _nothing_kept(self) -> Quota:
        settings = self._settings
        return Quota("bytes of kept relays", settings.relay_disk, address=settings.address_relay_disk)

    def _say(self, opened: OpenRelay, connection: RelayConnection, body: bytes) -> None:
        kept, size = _kept(opened), len(body)
        if kept.unheard + size > REMEMBERED_BYTES:  # the journal does not keep up
            connection.close_too_fast()
            return
        kept.unheard += size
        self._count(kept)

        def hear() -> Effects[Socket]:
            kept.unheard -= size
            if not self._may_keep(kept, connection, size):
                return []
            return kept.relay.say(connection.socket, body, self._now())

        self._put(kept, hear, connection)

    def _opened(self, room: str, address: str) -> OpenRelay:
        return KeptRelay(room, address)

    def _join(self, opened: OpenRelay, connection: RelayConnection) -> Effects[Socket]:
        # Only now is it known who else is a member.
        if (why := full(opened.relay, connection.id, lasts=connection.numbered)) is not None:
            connection.close(why[0], CloseCode.TRY_AGAIN_LATER, why[1].strip())
            return []
        if not self._may_keep(_kept(opened), connection, 0):
            return []
        return super()._join(opened, connection)

    def _may_keep(self, opened: KeptRelay, connection: RelayConnection, size: int) -> bool:
        """True if a message of that size can be kept; otherwise its sender's connection is closed."""
        more = _on_disk(opened.room, size * 4 // 3) + ENVELOPE_WIRE + size_of(connection.id)
        if opened.disk == 0:
            more += RELAY_DISK
        if opened.disk + more > REMEMBERED_BYTES:
            return True  # older envelopes of the same relay are deleted instead
        try:
            self._disk.check(more, address=opened.holder)
        except Refused as why:
            self._is_short = True
            connection.close(Code.TOO_MANY, CloseCode.TRY_AGAIN_LATER, why.message)
            return False
        return True

    def _do(self, opened: OpenRelay, connection: RelayConnection, think: Think) -> None:
        self._put(opened, lambda: think(opened, connection), connection)

    def _ring(self, opened: OpenRelay) -> None:
        opened.alarm = None
        self._put(opened, lambda: opened.relay.wake(self._now()))

    def _put(
        self, opened: OpenRelay, think: Callable[[], Effects[Socket]], asker: RelayConnection | None = None
    ) -> None:
        kept = _kept(opened)
        kept.waiting += 1
        kept.mailbox.put(partial(self._run, kept, think, asker))

    async def _run(
        self, opened: KeptRelay, think: Callable[[], Effects[Socket]], asker: RelayConnection | None
    ) -> None:
        opened.waiting -= 1
        if opened.is_lost:
            if asker is not None:
                asker.socket.close(CloseCode.SERVICE_RESTART, "come again")
            return
        try:
            if self._weighed is None or (self._is_short and self._clock.now() >= self._weighed + WEIGH_EVERY):
                await self._weigh()
            if not opened.is_loaded:
                await self._load(opened)
            effects = think()
            await self._keep(opened, effects)
        except Trouble as error:
            self._close_all(opened, error, asker)
            return
        self._send_all(effects, asker)
        if opened.relay.members or not opened.waiting:
            self._settle(opened)

    async def _weigh(self) -> None:
        """Count what is kept again: old envelopes have been deleted meanwhile."""
        self._weighed, self._is_short = self._clock.now(), False
        held = await held_by_all(self._journal)
        self._disk = self._nothing_kept()
        for holder, size in held.items():
            self._disk.count(size, address=holder)

    async def _load(self, opened: KeptRelay) -> None:
        held = await held_of(self._journal, opened.room)
        if held is not None:
            opened.disk = held.bytes
            opened.holder = held.holder or opened.address
            self._disk.give_back(opened.disk, address=held.holder)
            self._disk.count(opened.disk, address=opened.holder)
        envelopes: list[Envelope] = []
        before: tuple[str, ...] | None = None
        try:
            for body in await kept_envelopes(self._journal, opened.room, LOADED):
                page = _decode(body)
                if opened.next not in (0, page.num):
                    raise Damaged(f"relay {opened.room}: number {opened.next} is missing")
                opened.next = page.num + 1
                before = page.before if before is None else before
                if before is not None:  # otherwise nobody knows who was a member
                    envelopes.append(page.envelope)
                    self._file(opened, page, len(body))
        except msgspec.DecodeError as error:
            raise Damaged(f"relay {opened.room}: {error}") from error
        opened.relay = Relay.recalled(before or (), envelopes, self._clock.now(), next=opened.next)
        opened.is_loaded = True

    async def _keep(self, opened: KeptRelay, effects: Effects[Socket]) -> None:
        for tell in effects:
            if isinstance(tell, Tell) and tell.envelope.num >= opened.next:  # not one that somebody missed
                opened.next = tell.envelope.num + 1
                kept = self._envelope(opened, tell)
                await keep_envelope(self._journal, opened.room, kept)
                self._disk.change(opened.disk, kept.bytes, address=opened.holder)
                opened.disk = kept.bytes

    def _envelope(self, opened: KeptRelay, tell: Tell[Socket]) -> KeptEnvelope:
        envelope, others = tell.envelope, None
        if not opened.segments or opened.segments[-1].bytes >= SEGMENT:
            others = tell.crowd.others(envelope.sender)
        page = Page(
            envelope.num, envelope.time, envelope.intent, envelope.sender, envelope.body, others=others
        )
        body = _encode(page)
        self._file(opened, page, len(body))
        size = RELAY_DISK + sum(segment.bytes for segment in opened.segments)
        while len(opened.segments) > 1 and size > REMEMBERED_BYTES:
            size -= opened.segments.popleft().bytes
        return KeptEnvelope(
            envelope.num, self._clock.now(), body, opened.segments[0].first, opened.holder, size
        )

    def _file(self, opened: KeptRelay, page: Page, size: int) -> None:
        """Count a page that is kept."""
        if not opened.segments or (page.others is not None and opened.segments[-1].bytes >= SEGMENT):
            opened.segments.append(Segment(page.num))
        opened.segments[-1].bytes += _on_disk(opened.room, size)

    def _close_all(self, opened: KeptRelay, error: Trouble, asker: RelayConnection | None) -> None:
        """Close all connections after the journal failed: nothing was sent, and the relay is loaded again."""
        opened.is_lost = True
        log.error("relay_lost", error=str(error))
        if isinstance(error, Damaged):
            code, why = CloseCode.INTERNAL_ERROR, "what was kept of this relay is damaged; take another name"
        else:
            code, why = CloseCode.SERVICE_RESTART, "come again"
            self._complain(error)
        sockets = [socket for member in opened.relay.members.values() for socket in member.lines]
        for socket in {*sockets, *([] if asker is None else [asker.socket])}:
            socket.close(code, why)
        self._forget(opened)


def _on_disk(room: str, size: int) -> int:
    """The bytes that a page of that size takes on the disk."""
    return PAGE_DISK + len(room.encode()) + size


def _kept(opened: OpenRelay) -> KeptRelay:
    assert isinstance(opened, KeptRelay)  # noqa: S101 - `_opened` makes no others
    return opened
