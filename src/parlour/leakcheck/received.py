"""Everything that one viewer receives of a room, as bytes by where it came from."""

from collections.abc import Sequence
from typing import Any

import msgspec

from parlour.errors import Refused
from parlour.game import Game, Send
from parlour.mcp.texts import observation_of
from parlour.offers import Offers, What
from parlour.room import Instant, Room, apply, ask_to_join, perform_without_game
from parlour.scene import Scene, text_of
from parlour.wire import Command, Result, Step

WATCHER = "watcher"
"""Who looks on without ever taking a seat."""
NEWCOMER = "newcomer"
"""Who knocks and goes away again."""

encode = msgspec.json.Encoder().encode


class Eyes(msgspec.Struct, frozen=True):
    """Through which a room is seen: those of a seated player, or of everyone without a seat."""

    viewer: str | None

    @property
    def person(self) -> str:
        """Who asks when these eyes' owner does."""
        return WATCHER if self.viewer is None else self.viewer

    def topics(self, room: Room[Any], watching: Sequence[str]) -> Sequence[str]:
        """What its owner hears; *watching* is what the game lets spectators hear."""
        seat = room.seat(self.viewer)
        return watching if seat is None else seat.topics


class Done(msgspec.Struct, frozen=True):
    """What became of a command: the room after it, its step unless it was refused, and the asker's answer."""

    room: Room[Any]
    step: Step | None
    reply: bytes


class Difference(msgspec.Struct, frozen=True):
    """What came differently in two worlds, and where."""

    part: str
    here: bytes
    there: bytes


Received = dict[str, bytes]
"""What somebody receives, by what it is."""


def do(game: Game[Any], room: Room[Any], command: Command | None, at: Instant) -> Done:
    """Let a command happen as a server would; None: the alarm that is due rings."""
    asked = command or room.due(at.now)
    assert asked is not None, "the alarms of two worlds were compared before"  # noqa: S101
    try:
        after, step = apply(game, room, asked, at)
    except Refused as why:
        if not room.must(asked):
            return Done(room, None, encode(why.told()))
        after, step = perform_without_game(game, room, asked, at, why)
        return Done(after, step, encode(why.told()))
    return Done(after, step, encode({"seq": step.seq}))


def look(game: Game[Any], room: Room[Any], eyes: Eyes, at: Instant) -> Received:
    """What can be found out without anything happening; the view first, because it is the door."""
    view, scene = game.view(room.state, eyes.viewer), game.scene(room.state, eyes.viewer)
    legal = None if eyes.viewer is None else legal_events(game, room, eyes.viewer)
    received = {"view": encode(view)}
    if eyes.viewer is None:
        received["answer to who knocks"] = encode([_knock(game, room, at, spectate=s) for s in (False, True)])
    else:
        received["legal events"] = encode(legal)
    received["outcome"] = encode(room.outcome or game.outcome(room.state))
    received["observation"] = encode(game.observe(room.state, eyes.viewer))
    received["match score"] = encode(game.match_score(room.state))
    if isinstance(scene, Scene):
        place = _Place(
            room.id,
            game.name,
            room.seat_number(eyes.viewer),
            room.seq,
            text_of(scene, view),
            legal,
            None,
            room.offers,
        )
        seats = [seat and {"id": seat.player, "name": seat.name} for seat in room.seats]
        received["text for language models"] = encode(observation_of(place, {"seats": seats}))
    received["scene"] = encode(scene)  # late, since it may show the others
    received["clocks"] = encode(room.clocks)
    received["room"] = _sheet(room)
    received["time of the next alarm"] = encode(room.next_due)
    received["when told, while away, of the turn"] = encode(room.called.get(eyes.person))
    return received


class _Place(msgspec.Struct):
    """A place in a room, for the text that a language model reads."""

    room: str
    game: str
    number: int | None
    seq: int | None
    view: Any
    legal: list[Any] | None
    result: Result | None
    offers: Offers
    offered: What | None = None


def _knock(game: Game[Any], room: Room[Any], at: Instant, *, spectate: bool) -> Any:
    try:
        return {"seat": ask_to_join(game, room, NEWCOMER, at, spectate=spectate).joined.seat}
    except Refused as why:
        return why.told()


def _sheet(room: Room[Any]) -> bytes:
    """What everybody is told of a room: its plate over HTTP, and who is here."""
    seats = [seat and (seat.player, seat.name, seat.connected) for seat in room.seats]
    return encode(
        {
            "seq": room.seq,
            "status": room.status,
            "seats": seats,
            "seed_hash": room.seed_hash,
            "ended": room.ended,
            "offers": room.offers,
        }
    )


def hear(step: Step, topics: Sequence[str]) -> bytes:
    """The messages of a step that these topics bring, in their order; a sync brings the view."""
    sent = (effect for effect in step.effects if isinstance(effect, Send) and effect.to in topics)
    return encode([{"kind": effect.kind, "payload": effect.payload} for effect in sent])


def differ(here: Received, there: Received) -> Difference | None:
    """The first thing that is not the same."""
    for part in here:
        if here[part] != there[part]:
            return Difference(part, here[part], there[part])
    return None


def legal_events(game: Game[Any], room: Room[Any], player: str) -> list[Any] | None:
    """All that this player could do now; None where the game does not say."""
    legal = game.legal_events(room.state, player)
    return None if legal is None else list(legal)
