"""Members of a relay: each has a WebSocket to some worker, comes back when it is lost, and keeps a diary."""

from base64 import b64decode
from collections import Counter
from collections.abc import Iterator, Sequence
from random import Random
from typing import NamedTuple

import msgspec

from parlour.server.relay_records import kept_envelopes
from tests.simulation.cluster import Cluster
from tests.simulation.database import finish
from tests.simulation.wires import CLOSE, Client

RELAY = "/g/one"
BAD_LASTNUM = 4000


class Envelope(NamedTuple):
    """What a relay has sent."""

    num: int
    body: str | None
    is_receipt: bool


class Visit:
    """What a member heard over one connection, from which number on it wanted to, and what it said first."""

    def __init__(self, wanted: int | None, first_word: int) -> None:
        self.wanted, self.first_word = wanted, first_word
        self.heard: list[Envelope] = []


class Member(Client):
    """Somebody at the relay."""

    def __init__(self, cluster: Cluster, number: int, name: str, chance: Random) -> None:
        super().__init__(cluster, name, f"203.0.113.{10 + number}", chance)
        self.visits: list[Visit] = []
        self.said = 0
        self.forgotten = 0
        """How often the relay did not know any more what was missed."""

    @property
    def last_word(self) -> str:
        return f"{self.name} {self.said}"

    def has_heard(self, word: str) -> bool:
        """Whether this was among what came over the last connections."""
        return any(one.body == word for visit in self.visits[-3:] for one in visit.heard)

    def _path(self) -> str:
        """The relay, from where it was."""
        last = self._last()
        self.visits.append(Visit(None if last is None else last + 1, self.said + 1))
        return f"{RELAY}?id={self.name}" + ("" if last is None else f"&lastnum={last}")

    def _last(self) -> int | None:
        """The number of the last envelope that is known, unless the relay has forgotten."""
        for visit in reversed(self.visits):
            if visit.heard:
                return visit.heard[-1].num
            if visit.wanted is None:
                return None
        return None

    def say(self) -> None:
        """Say the next word, if connected."""
        if self.is_in and self.is_connected:
            self.said += 1
            body = self.last_word.encode()
            self._send(bytes((0x82, 0x80 | len(body), 0, 0, 0, 0)) + body)  # masked with nothing

    def _take(self, kind: int, body: bytes) -> None:
        if kind == CLOSE:
            if int.from_bytes(body[:2], "big") == BAD_LASTNUM:
                self.forgotten += 1
                self.visits.append(Visit(None, self.said + 1))
            self.hang_up()
        else:
            told = msgspec.json.decode(body)
            text = None if told["Body"] is None else b64decode(told["Body"]).decode()
            self.visits[-1].heard.append(Envelope(told["Num"], text, told["Receipt"]))


def judge_relay(cluster: Cluster, members: Sequence[Member]) -> Iterator[str]:
    """Nobody hears a hole or anything twice; who speaks is heard in order; what is kept is what was told."""
    kept = _kept(cluster) if cluster.settings.relay_history else None
    for member in members:
        times = Counter(one.body for visit in member.visits for one in visit.heard if one.body is not None)
        yield from (f"{member.name} heard {body!r} {many} times" for body, many in times.items() if many > 1)
        for visit in member.visits:
            yield from _judge_visit(member.name, visit)
            if kept is not None:
                yield from _judge_kept(member.name, visit, kept)
        if kept is not None and member.forgotten:
            yield f"the relay does not know any more what {member.name} missed"


def _judge_visit(name: str, visit: Visit) -> Iterator[str]:
    numbers = [one.num for one in visit.heard]
    if not numbers:
        return
    first = numbers[0] if visit.wanted is None else visit.wanted
    if numbers != list(range(first, first + len(numbers))):
        yield f"{name} wanted to hear from {first} on, and heard {numbers}"
    mine = [int(one.body.split()[1]) for one in visit.heard if one.is_receipt and one.body is not None]
    mine = [word for word in mine if word >= visit.first_word]
    if mine != list(range(visit.first_word, visit.first_word + len(mine))):
        yield f"{name} spoke from {visit.first_word} on, and was given receipts for {mine}"


def _judge_kept(name: str, visit: Visit, kept: dict[int, str | None]) -> Iterator[str]:
    for one in visit.heard:
        if kept.get(one.num, "nothing") != one.body:
            yield f"{name} heard {one.body!r} as {one.num}, and kept is {kept.get(one.num, 'nothing')!r}"


def _kept(cluster: Cluster) -> dict[int, str | None]:
    """The bodies of a relay that are kept, by their numbers."""
    pages = map(msgspec.json.decode, finish(kept_envelopes(cluster.database.store, RELAY)))
    return {page["num"]: b64decode(page["body"]).decode() if "body" in page else None for page in pages}


def do_all_hear(members: Sequence[Member]) -> bool:
    """Whether everybody has heard the last word of everybody."""
    return all(one.is_in and one.has_heard(other.last_word) for one in members for other in members)
