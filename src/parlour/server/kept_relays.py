"""Relays that remember: what passes through is kept before it is told, and they go on where they stopped."""

from collections.abc import Callable
from functools import partial
from itertools import pairwise

import msgspec
import structlog
from websockets.frames import CloseCode

from parlour.doors.relay import FULL
from parlour.journal.base import Damaged, Journal, Letter, Trouble
from parlour.relay import Effects, Envelope, Relay, Tell
from parlour.server.clock import Clock
from parlour.server.config import Settings
from parlour.server.lane import Lane
from parlour.server.players import Tokens
from parlour.server.relays import Live, Relays, Think, Visitor
from parlour.server.sockets import Socket

log = structlog.get_logger()

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(Envelope).decode


class KeptLive(Live):
    """A relay, and the lane in which things happen to it one after the other."""

    __slots__ = ("is_loaded", "is_lost", "lane", "next", "waiting")

    def __init__(self, room: str) -> None:
        super().__init__(room, Relay(remembers=True))
        self.lane = Lane()
        self.waiting = 0
        """How much has been asked and not begun."""
        self.next = 0
        """The number of the first envelope that is not kept yet."""
        self.is_loaded = False
        self.is_lost = False
        """The journal failed: what is in memory is not to be believed."""


class KeptRelays(Relays):
    """Thinks, writes, and only then speaks, as the host does for rooms with rules."""

    def __init__(
        self,
        clock: Clock,
        ids: Tokens,
        settings: Settings,
        journal: Journal,
        complain: Callable[[Trouble], None],
    ) -> None:
        super().__init__(clock, ids, settings)
        self._journal = journal
        self._complain = complain

    def say(self, visitor: Visitor, body: bytes) -> None:
        live = self._live.get(visitor.room)
        if live is not None:
            self._do(live, visitor, lambda live, visitor: live.relay.say(visitor.socket, body, self._now()))

    def _opened(self, room: str) -> Live:
        return KeptLive(room)

    def _join(self, live: Live, visitor: Visitor) -> Effects[Socket]:
        # Only now is it known who else is there.
        if not live.relay.has_place(visitor.id, lasts=visitor.numbered):
            visitor.socket.close(CloseCode.TRY_AGAIN_LATER, FULL.strip())
            return []
        return super()._join(live, visitor)

    def _do(self, live: Live, visitor: Visitor, think: Think) -> None:
        self._put(live, lambda: think(live, visitor), visitor.socket)

    def _ring(self, live: Live) -> None:
        live.alarm = None
        self._put(live, lambda: live.relay.wake(self._now()))

    def _put(self, live: Live, think: Callable[[], Effects[Socket]], asker: Socket | None = None) -> None:
        assert isinstance(live, KeptLive)  # noqa: S101 - `_opened` makes no others
        live.waiting += 1
        live.lane.put(partial(self._run, live, think, asker))

    async def _run(self, live: KeptLive, think: Callable[[], Effects[Socket]], asker: Socket | None) -> None:
        live.waiting -= 1
        if live.is_lost:
            if asker is not None:
                asker.close(CloseCode.SERVICE_RESTART, "come again")
            return
        try:
            if not live.is_loaded:
                await self._load(live)
            effects = think()
            await self._keep(live, effects)
        except Trouble as error:
            self._lose_all(live, error, asker)
            return
        self._speak(effects)
        if live.relay.members or not live.waiting:
            self._settle(live)

    async def _load(self, live: KeptLive) -> None:
        try:
            envelopes = [_decode(body) for body in await self._journal.posted(live.room)]
        except msgspec.DecodeError as error:
            raise Damaged(f"relay {live.room}: {error}") from error
        if any(after.num != before.num + 1 for before, after in pairwise(envelopes)):
            raise Damaged(f"relay {live.room}: a number is missing")
        live.relay = Relay.recalled(envelopes, self._clock.now())
        live.next = envelopes[-1].num + 1 if envelopes else 0
        live.is_loaded = True

    async def _keep(self, live: KeptLive, effects: Effects[Socket]) -> None:
        told = [effect.envelope for effect in effects if isinstance(effect, Tell)]
        for envelope in told:
            if envelope.num >= live.next:  # not one that somebody missed
                live.next = envelope.num + 1
                letter = Letter(envelope.num, self._clock.date(), _encode(envelope), live.relay.first)
                await self._journal.post(live.room, letter)

    def _lose_all(self, live: KeptLive, error: Trouble, asker: Socket | None) -> None:
        """The journal failed: nobody was told, all come again, and the relay is loaded anew for them."""
        live.is_lost = True
        log.error("relay_lost", error=str(error))
        self._complain(error)
        lines = [line for member in live.relay.members.values() for line in member.lines]
        for line in {*lines, *([] if asker is None else [asker])}:
            line.close(CloseCode.SERVICE_RESTART, "come again")
        self._forget(live)
