"""The judge of webhooks and browsers: what they received, held against the turns that rooms called."""

import hashlib
import hmac
from base64 import urlsafe_b64decode
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import msgspec
from cryptography.exceptions import InvalidSignature

from parlour.server.parts.notifications.push import TOKEN_LASTS
from parlour.server.parts.notifications.rules import PAUSES
from parlour.server.rooms.calling_records import GRACE
from tests.push_receiver import PushReceiver, claims_of
from tests.torture.kept import Kept
from tests.torture.standing_clock import EPOCH

ALL_TRIES = len(PAUSES)


class Hook(NamedTuple):
    """A webhook of a player, or a browser."""

    player: str
    path: str
    id: str
    secret: str
    """What signs its messages; of a browser the server's own key."""
    browser: PushReceiver | None = None


class Turn(NamedTuple):
    """A turn of somebody who was away when it began."""

    player: str
    room: str
    number: int
    seq: int
    began: float
    ended: float
    """When it was over, or its player was there; infinity if neither."""


class Receipt(msgspec.Struct):
    """A message as it came, and could be read there."""

    path: str
    id: str
    """By the header."""
    body: bytes
    signature: str
    life: int
    """The life of the server in which it came."""
    tries: int | None
    """How many tries were noted when it came; None if it was too late to look."""
    answer: str = "none"
    """`ok` or `failed`; `none` if the line was cut before."""
    settled: bool = False
    """The server has noted that it was taken."""

    @property
    def at(self) -> float:
        """When it was sent, by the clock of the server."""
        return date_of(self.signature) - EPOCH


def date_of(signature: str) -> int:
    """The date in the header of a webhook's message, or of one to a browser, which is valid until a time."""
    if not signature.startswith("vapid"):
        return int(signature.partition(",")[0].removeprefix("t="))
    claims = signature.split(".")[1]
    until: int = msgspec.json.decode(urlsafe_b64decode(claims + "=" * (-len(claims) % 4)))["exp"]
    return until - TOKEN_LASTS


class Story(NamedTuple):
    """All that happened."""

    turns: Sequence[Turn]
    hooks: Sequence[Hook]
    receipts: Sequence[Receipt]
    """In the order in which they came."""
    rests: Sequence[float]
    """Times of the clock at which the server had nothing more to do."""
    kills: Sequence[float]


def turns_of(kept: Kept, number: int) -> Iterator[Turn]:
    """The turns of those who were away, by a room's steps."""
    for seq, (step, room) in enumerate(zip(kept.steps, kept.rooms[1:], strict=True), 1):
        for player, called in room.called.items():
            if called == seq and player not in room.connected:
                yield Turn(player, kept.id, number, seq, step.now, _end_of(kept, player, seq))


def _end_of(kept: Kept, player: str, seq: int) -> float:
    for step, room in zip(kept.steps[seq:], kept.rooms[seq + 1 :], strict=True):
        if room.called.get(player) != seq or player in room.connected:
            return step.now
    return float("inf")


def judge(story: Story) -> Iterator[str]:
    """The promises that were broken."""
    hooks = {hook.path: hook for hook in story.hooks}
    turns = {
        (hook.path, f"{turn.number}-{turn.seq}-{hook.id[:8]}"): turn
        for turn in story.turns
        for hook in story.hooks
        if hook.player == turn.player
    }
    received: dict[tuple[str, str], list[Receipt]] = defaultdict(list)
    for receipt in story.receipts:
        received[receipt.path, receipt.id].append(receipt)
        yield from _judge_signature(receipt, hooks[receipt.path])
    for (path, id), receipts in received.items():
        turn = turns.get((path, id))
        if turn is None:
            yield f"{path} was told of {id}, which called nobody there"
        else:
            yield from _judge_turn(turn, receipts)
        yield from _judge_repeats(f"{path} was told of {id}", receipts)
    for (path, id), turn in turns.items():
        yield from _judge_absence(f"{path} was not told of {id}", turn, received[path, id], story)


def signed(secret: str, date: int, body: bytes) -> str:
    """The header of a message, as the docs say how to check it."""
    digest = hmac.new(secret.encode(), f"{date}.".encode() + body, hashlib.sha256).hexdigest()
    return f"t={date},v1={digest}"


def _judge_signature(receipt: Receipt, hook: Hook) -> Iterator[str]:
    if hook.browser is None:
        fits = receipt.signature == signed(hook.secret, date_of(receipt.signature), receipt.body)
    else:
        fits = _is_of_server(receipt.signature, hook.secret)
    if not fits:
        yield f"{receipt.path} was told of {receipt.id} with a signature that does not fit"


def _is_of_server(signature: str, key: str) -> bool:
    """Whether a push service would take a message for one of the server with this key."""
    try:
        claims_of(signature, key)
    except InvalidSignature:
        return False
    return True


def _judge_turn(turn: Turn, receipts: Iterable[Receipt]) -> Iterator[str]:
    """It says of which turn it is, not too soon, and not when the turn is over."""
    expected = {"kind": "your_turn", "player": turn.player, "room": turn.room, "date": EPOCH + turn.began}
    for receipt in receipts:
        body: dict[str, Any] = msgspec.json.decode(receipt.body)
        if body["id"] != receipt.id or not body.items() >= expected.items():
            yield f"{receipt.path} was told of {receipt.id} in wrong words: {body}, expected {expected}"
        if receipt.at < turn.began + GRACE:
            yield f"{receipt.path} was told of {receipt.id} {receipt.at - turn.began:g} s after it began"
        if receipt.at > turn.ended:
            yield f"{receipt.path} was told of {receipt.id} {receipt.at - turn.ended:g} s after it was over"


def _judge_repeats(what: str, receipts: Sequence[Receipt]) -> Iterator[str]:
    """Each try is noted before it is made; it is made again only if nobody knows, or it failed."""
    noted = 0
    for receipt in receipts:
        if receipt.tries is not None:
            if receipt.tries <= noted:
                yield f"{what} in a try that was not noted before"
            noted = receipt.tries
    for first, second in pairwise(receipts):
        if first.settled or (first.answer == "ok" and first.life == second.life):
            yield f"{what} although it had taken that"
        pause = PAUSES[0] if first.tries is None else PAUSES[min(first.tries, ALL_TRIES) - 1]
        if second.at - first.at < pause:
            yield f"{what} twice in {second.at - first.at:g} s"
        if first.tries is not None and first.answer == "failed" and first.tries >= ALL_TRIES:
            yield f"{what} once more after all tries had failed"


def _judge_absence(what: str, turn: Turn, receipts: Sequence[Receipt], story: Story) -> Iterator[str]:
    """Whoever is still to be told when the server has come to rest was told."""
    for due, tries, wait in [(turn.began + GRACE, 0, "in time"), *_pauses(receipts)]:
        rest = _rest_after(due, tries, story)
        if rest < turn.ended and not any(due <= one.at <= rest for one in receipts):
            yield f"{what} {wait}"
    told = any(receipt.answer == "ok" or receipt.tries == ALL_TRIES for receipt in receipts)
    if turn.ended == float("inf") and not told:
        yield f"{what} at all"


def _pauses(receipts: Sequence[Receipt]) -> Iterator[tuple[float, int, str]]:
    """When it is tried again what was not taken, and after how many tries."""
    for receipt in receipts:
        if receipt.answer != "ok" and receipt.tries is not None and 0 < receipt.tries < ALL_TRIES:
            yield receipt.at + PAUSES[receipt.tries - 1], receipt.tries, f"again after try {receipt.tries}"


def _rest_after(due: float, tries: int, story: Story) -> float:
    """When the server has come to rest after it was to try; each kill on the way may have cost a try."""
    while True:
        rest = next((at for at in story.rests if at >= due), float("inf"))
        kills = [at for at in story.kills if due <= at <= rest]
        tries += len(kills)
        if not kills or tries > ALL_TRIES:
            return float("inf") if kills else rest
        due = kills[-1] + 1 + PAUSES[tries - 1]
