"""Records of endpoints: the addresses at which players want to be told of their turns."""

import hashlib
from typing import Literal

import msgspec

from parlour.journal.base import Journal, Record, RecordQuery
from parlour.server.record_decoding import read_all

ENDPOINT = "endpoint"

EndpointKind = Literal["push", "webhook"]


FailureCode = Literal["gone", "bad_status", "not_reached", "bad_address"]


class Failure(msgspec.Struct, frozen=True):
    """Why the last message to an endpoint did not arrive."""

    date: float
    """When, as wall time."""
    code: FailureCode
    why: str
    """The same in a sentence."""


class Endpoint(msgspec.Struct, frozen=True, omit_defaults=True):
    """Where a player is told: a browser's push service, or a program of the player's own."""

    id: str
    kind: EndpointKind
    player: str
    url: str
    since: float
    """When it was added, as wall time."""
    name: str = ""
    """Of a browser: what it says of itself."""
    secret: str = ""
    """Of a webhook: what signs its messages. Of a browser: with its key, what they are encrypted by."""
    key: str = ""
    """Of a browser: its public key."""
    session: int = 0
    device: int = 0
    """Of a browser: where it was signed in when it was added; once it is signed out, it is told no more."""
    failure: Failure | None = None
    """Why the last message did not arrive; None if it did, or if there was none yet."""

    @property
    def is_gone(self) -> bool:
        """True if nobody is there any more: it is kept for its owner to read, and told nothing."""
        return self.failure is not None and self.failure.code == "gone"


_encode = msgspec.json.Encoder().encode
read_endpoint = msgspec.json.Decoder(Endpoint).decode


def endpoint_id(kind: EndpointKind, url: str, player: str) -> str:
    """The id of an endpoint: a browser has one whoever uses it, a webhook one for each player."""
    whose = "" if kind == "push" else player
    return hashlib.sha256(f"{kind}\n{whose}\n{url}".encode()).hexdigest()[:24]


def endpoint_record(endpoint: Endpoint) -> Record:
    """The record of an endpoint."""
    return Record(ENDPOINT, endpoint.id, _encode(endpoint), owner=endpoint.player, sort=endpoint.since)


async def endpoints_of(journal: Journal, player: str) -> list[Endpoint]:
    """Where a player is told, the oldest first."""
    return read_all(await journal.records(RecordQuery(ENDPOINT, owner=player)), read_endpoint)
