"""Sockets and HTTP calls that come to one worker and that another one serves."""

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from itertools import count

import structlog
from msgspec.structs import replace
from websockets.http11 import Request as UpgradeRequest

from parlour.errors import Code, Refused
from parlour.journal.base import NotKept
from parlour.journal.shards import shard_of
from parlour.server.api.forwarding import Forwarding, HttpAnswer, HttpCall
from parlour.server.border import first_number
from parlour.server.gateway.pipes import OwnerEnd, Pipes
from parlour.server.gateway.sockets import Sockets
from parlour.server.gateway.upgrade import Door
from parlour.server.gateway.websocket import Socket
from parlour.server.mail import NetworkMail, encode_mail
from parlour.server.refusals import OUTCOME_NOT_KNOWN
from parlour.server.sessions import LookUpFirst
from parlour.server.tasks import Tasks

log = structlog.get_logger()


LOOK_EVERY = 0.05
LOOKS = 56
"""How often, and how many times, it is looked for an owner that is not there yet."""


LOOKS_AT_CHANGE = 10
"""The same, for a worker that another one takes for the owner."""


ONLY_READ = ("GET", "HEAD")
"""Methods of calls that change nothing."""


class Network:
    """Passes connections and calls on to the owners of what they are about, and takes those of others."""

    def __init__(self, sockets: Sockets, forwarding: Forwarding, doors: Sequence[Door]) -> None:
        self._sockets = sockets
        self._forwarding = forwarding
        self._doors = doors
        self._me = 0
        self._owner_of: Callable[[str], int] = lambda _: 0
        self._send: Callable[[int, bytes], None] = lambda _worker, _message: None
        self.pipes = Pipes(self._post, encode_mail, sockets.new_socket)
        self._numbers = count(1)
        self._calls: dict[int, tuple[int, asyncio.Future[HttpAnswer]]] = {}
        self._tasks = Tasks()

    def join(self, me: int, owner_of: Callable[[str], int], send: Callable[[int, bytes], None]) -> None:
        """Begin to pass on what others own."""
        self._me, self._owner_of, self._send = me, owner_of, send
        self.pipes.number_from(first_number(me))
        self._sockets.forward = self._forward
        self._forwarding.answer = self._answer

    def _post(self, worker: int, message: bytes) -> None:
        self._send(worker, message)

    # From here to owners.

    def _forward(self, socket: Socket, key: str, request: UpgradeRequest) -> bool:
        owner = self._owner_of(key)
        if owner == self._me:
            return False
        if isinstance(socket.transport, OwnerEnd):  # it was passed on once: two workers disagree
            raise LookUpFirst(partial(self._become_owner, key))
        if not owner:
            raise LookUpFirst(partial(self._owner, key))
        socket.pass_on(self.pipes.open(owner, socket.transport, request))
        return True

    async def _answer(self, key: str, call: HttpCall) -> HttpAnswer | None:
        """Have the owner of a key answer; None if that is us. What only reads is asked twice if it dies."""
        try:
            return await self._answer_once(key, call)
        except Refused:
            if call.method not in ONLY_READ:
                raise
        return await self._answer_once(key, call)

    async def _answer_once(self, key: str, call: HttpCall) -> HttpAnswer | None:
        owner = await self._owner(key)
        if owner == self._me:
            return None
        number = next(self._numbers)
        answer: asyncio.Future[HttpAnswer] = asyncio.get_running_loop().create_future()
        self._calls[number] = (owner, answer)
        self._send(owner, encode_mail(replace(call, number=number)))
        try:
            return await answer
        finally:
            del self._calls[number]

    async def _owner(self, key: str) -> int:
        """The owner of a key; if it has none, it will have one soon."""
        for _ in range(LOOKS):
            if owner := self._owner_of(key):
                return owner
            await asyncio.sleep(LOOK_EVERY)
        raise NotKept("nobody looks after this at the moment; try again")

    async def _become_owner(self, key: str) -> None:
        """Wait until this worker owns a key, as another one believes already."""
        for _ in range(LOOKS_AT_CHANGE):
            if self._owner_of(key) == self._me:
                return
            await asyncio.sleep(LOOK_EVERY)
        raise NotKept("another worker looks after this now; try again")

    # From others to what is ours.

    def take(self, sender: int, mail: NetworkMail) -> None:
        """Take a message of another worker."""
        if isinstance(mail, HttpCall):
            self._tasks.start(self._run(sender, mail))
        elif isinstance(mail, HttpAnswer):
            _, answer = self._calls.get(mail.number, (0, None))
            if answer is not None and not answer.done():
                answer.set_result(mail)
        else:
            self.pipes.take(sender, mail)

    async def _run(self, sender: int, call: HttpCall) -> None:
        try:
            answer = await self._forwarding.run(call)
        except Exception:
            log.exception("call_failed", path=call.path)
            answer = HttpAnswer(call.number, 500, [], b"")
        self._send(sender, encode_mail(answer))

    # As owners change.

    def lose(self, worker: int) -> None:
        """A worker is gone, or messages were lost: what goes over it ends."""
        self.pipes.lose_worker(worker)
        for owner, answer in tuple(self._calls.values()):
            if owner == worker and not answer.done():
                answer.set_exception(Refused(Code.OUTCOME_UNKNOWN, OUTCOME_NOT_KNOWN))

    async def let_go(self, shard: int) -> None:
        """Another worker is to own a shard: end what doors keep of it; its clients come to the next owner."""

        def moves(key: str) -> bool:
            return shard_of(key) == shard

        self._sockets.close_moved(moves)
        for door in self._doors:
            await door.let_go(moves)
