"""The frames of a step: each is made once for all who hear the same."""

from collections.abc import Container, Mapping
from typing import Any, NamedTuple, Protocol

from msgspec import UNSET

from parlour.server.border import Perspective, StepTold, shows_scene
from parlour.server.gateway.fanout import pushed
from parlour.server.step_messages import push_of
from parlour.wire import Push


class Encoder(Protocol):
    """What encodes for a client: its protocol, the same for all who speak it, or an adapter of its own."""

    def encode(self, room: str | None, push: Push) -> bytes:
        """The text frame of a push."""
        ...


class Listener(Protocol):
    """A place, as far as it matters for what it is told."""

    encoder: Encoder
    perspective: Perspective
    own: str
    key: Any
    door: Any

    def hears(self, topic: str) -> bool:
        """True if it is told what is sent there."""
        ...


class Seen(NamedTuple):
    """A view, and what a door makes of it for its clients."""

    view: Any
    shown: Any


SeenByDoors = Mapping[tuple[Encoder, Perspective], Seen]


class StepFrames:
    """One step on its way to everybody at this gateway."""

    __slots__ = ("_changed", "_frames", "_room", "_seen", "_told", "addressed", "made")

    def __init__(self, room: str, told: StepTold, seen: SeenByDoors, changed: Container[Any]) -> None:
        self._room = room
        self._told = told
        self._seen = seen
        """What doors show now, by encoder and perspective."""
        self._changed = changed
        """Where that is different from before the step."""
        self.addressed = {send.to for send in told.sends}
        """The topics of those who are told something else than others with the same key."""
        self.made: dict[Any, bytes] = {}
        """What each kind of listener is told, once somebody asked."""
        self._frames: dict[tuple[Encoder, int], bytes] = {}

    def to(self, place: Listener) -> bytes:
        """What this place is told: its pushes, then exactly one update."""
        key = (place.key, place.own) if place.own in self.addressed else place.key
        frames = self.made.get(key)
        if frames is None:
            frames = self.made[key] = self._make(place)
        return frames

    def _make(self, place: Listener) -> bytes:
        told, encoder, room = self._told, place.encoder, self._room
        perspective = place.key[1]
        frames: list[bytes] = []
        update: dict[str, Any] = {"seq": told.seq}
        changed = told.changed.get(perspective) if place.door is None else self._shown(place, perspective)
        for number, send in enumerate(told.sends):
            if not place.hears(send.to):
                continue
            if send.kind != "sync":
                frames.append(self._message(encoder, number))
            elif perspective in told.syncs:
                frames.append(pushed(encoder.encode(room, self._sync(place, perspective))))
                changed = None
        if changed is not None:
            update["patch" if shows_scene(perspective) else "view"] = changed
        if told.result is not UNSET:
            update["result"] = told.result
        frames.append(pushed(encoder.encode(room, Push("update", update))))
        return frames[0] if len(frames) == 1 else b"".join(frames)

    def _shown(self, place: Listener, perspective: Perspective) -> Any:
        """What a door shows, if that changed."""
        key = (place.encoder, perspective)
        return self._seen[key].shown if key in self._changed else None

    def _sync(self, place: Listener, perspective: Perspective) -> Push:
        sync = self._told.syncs[perspective]
        if place.door is None:
            return sync
        shown = self._seen[place.encoder, perspective].shown
        return Push(sync.name, {**sync.payload, "view": shown})

    def _message(self, encoder: Encoder, number: int) -> bytes:
        """The frame of a push that says the same to all who hear it."""
        frame = self._frames.get((encoder, number))
        if frame is None:
            push = push_of(self._told.sends[number], self._told.seq)
            frame = self._frames[encoder, number] = pushed(encoder.encode(self._room, push))
        return frame
