"""Who hears a room at this gateway: the places of its clients, and the fan-out of a step to all of them."""

from collections.abc import Container, Iterable, Mapping
from functools import lru_cache
from typing import Any, NamedTuple, Protocol, cast

import msgspec
import structlog
from msgspec import UNSET, Raw
from msgspec.structs import replace

from parlour.errors import Code, Refused
from parlour.room import is_own_topic, own_topic
from parlour.server.border import (
    Format,
    Perspective,
    StepTold,
    Viewpoint,
    legal_of,
    perspective_of,
    shows_scene,
)
from parlour.server.gateway.connections import Client
from parlour.server.gateway.outboxes import WriteGroup, pushed
from parlour.server.step_messages import push_of
from parlour.wire import Company, DoorAdapter, Push

log = structlog.get_logger()

CROWD = 100
"""So many in a room, and its spectators hear of everything a moment later, but cheaply."""
PAUSED = ":paused"
"""The perspective of a client that is to be shown everything anew before it hears what changes."""


class Encoder(Protocol):
    """What encodes for a client: its protocol, the same for all who speak it, or an adapter of its own."""

    def encode(self, room: str | None, push: Push) -> bytes:
        """The text frame of a push."""
        ...


class Seen(NamedTuple):
    """A view, and what a door makes of it for its clients."""

    view: Any
    shown: Any


SeenByDoors = Mapping[tuple[Encoder, Perspective], Seen]


@lru_cache(maxsize=1000)
def shared(topics: frozenset[str]) -> frozenset[str]:
    """Intern a set of topics: clients that hear the same topics share one object."""
    return topics


class Place:
    """A client's place in a room: from which perspective it sees, and which topics it hears."""

    __slots__ = (
        "client", "door", "encoder", "entry", "format", "group", "key", "legal", "legal_perspective",
        "muted", "outbox", "own", "perspective", "ref", "returning", "since", "stale", "topics", "viewer",
    )  # fmt: skip

    def __init__(
        self,
        client: Client,
        format: Format,
        viewpoint: Viewpoint,
        ref: Any = None,
        *,
        legal: bool = False,
    ) -> None:
        self.client = client
        self.outbox = client.outbox
        self.format = format
        self.legal = legal
        """It is told what is legal, too, while it has a seat."""
        self.ref = ref
        """Of the request that it came in with: what is for this place alone is told under it."""
        adapter = client.adapter
        self.encoder: Encoder = cast("Encoder", adapter if adapter.personal else type(adapter))
        """Whoever has the same can be told with the same bytes."""
        self.door = cast("DoorAdapter", adapter) if adapter.shows else None
        """The door that shows its clients a view in a way of its own."""
        self.own = own_topic(client.player)
        self.muted = False
        """The client has asked to leave or to join anew: it is told no more here."""
        self.returning = False
        """The room has another owner, which was asked for the place again and for what was missed."""
        self.entry = 0
        """The request by which it has its place."""
        self.since = 0
        """The last step that it was told before that."""
        self.stale = False
        """Has skipped steps because its outbox was full, and needs a whole view."""
        self.group: WriteGroup | None = None
        """With whom it is told the same, in a crowd."""
        self.move(viewpoint)

    def move(self, viewpoint: Viewpoint) -> None:
        """See and hear from another viewpoint from now on."""
        self.leave_group()
        self.viewer = viewpoint.viewer
        self.topics = shared(frozenset([topic for topic in viewpoint.topics if topic != self.own]))
        self.perspective: Perspective = perspective_of(viewpoint.viewer, self.format)
        asks = self.legal and viewpoint.viewer is not None
        self.legal_perspective: Perspective = legal_of(viewpoint.viewer or "") if asks else ""
        """Where it is told what is legal; empty: nowhere."""
        self.key = (self.encoder, self.perspective, self.topics, self.legal)
        """Whoever has the same is told the same, unless somebody is addressed alone."""

    def pause(self) -> None:
        """Hear of the next step without what changed: everything is shown anew after it."""
        self.leave_group()
        self.key = (self.encoder, PAUSED, self.topics, self.legal)

    def go_on(self) -> None:
        """Hear what changes from now on."""
        self.leave_group()
        self.key = (self.encoder, self.perspective, self.topics, self.legal)

    def leave_group(self) -> None:
        """From now on it is told something else than its group, or the same again."""
        if self.group is not None:
            self.group.disband()


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

    def to(self, place: Place) -> bytes:
        """What this place is told: its pushes, then exactly one update."""
        key = (place.key, place.own) if place.own in self.addressed else place.key
        frames = self.made.get(key)
        if frames is None:
            frames = self.made[key] = self._make(place)
        return frames

    def _make(self, place: Place) -> bytes:
        told, encoder, room = self._told, place.encoder, self._room
        perspective = place.key[1]
        frames: list[bytes] = []
        update: dict[str, Any] = {"seq": told.seq}
        changed = told.changed.get(perspective) if place.door is None else self._shown(place, perspective)
        legal = None if perspective == PAUSED else told.changed.get(place.legal_perspective)
        for number, send in enumerate(told.sends):
            if send.to not in place.topics and send.to != place.own:
                continue
            if send.kind != "sync":
                frames.append(self._message(encoder, number))
            elif perspective in told.syncs:
                frames.append(pushed(encoder.encode(room, self._sync(place, perspective))))
                changed = legal = None
        shown = "patch" if shows_scene(perspective) else "view"
        update |= {name: value for name, value in (("legal", legal), (shown, changed)) if value is not None}
        for name in ("result", "offers", "clocks", "now"):
            if (value := getattr(told, name)) is not UNSET:
                update[name] = value
        frames.append(pushed(encoder.encode(room, Push("update", update))))
        return frames[0] if len(frames) == 1 else b"".join(frames)

    def _shown(self, place: Place, perspective: Perspective) -> Any:
        """What a door shows, if that changed."""
        key = (place.encoder, perspective)
        return self._seen[key].shown if key in self._changed else None

    def _sync(self, place: Place, perspective: Perspective) -> Push:
        sync = self._told.syncs[perspective]
        if (legal := self._told.syncs.get(place.legal_perspective)) is not None:
            sync = Push(sync.name, {**sync.payload, "legal": legal.payload["view"]})
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


class CloseToClient(Protocol):
    """Closes a room to one of its clients."""

    def __call__(self, place: Place) -> None: ...


class Audience:
    """Everybody at this gateway who hears one room."""

    __slots__ = (
        "_close", "_gathered", "_groups", "_places", "_seen", "_singles", "company", "room", "seq",
    )  # fmt: skip

    def __init__(self, room: str, company: Company, close: CloseToClient) -> None:
        self.room = room
        self.company = company
        self.seq = 0
        """The last step that was told."""
        self._close = close
        self._places: dict[int, Place] = {}
        self._seen: dict[tuple[Encoder, Perspective], Seen] = {}
        """What doors have shown last."""
        self._groups: list[tuple[Place, WriteGroup]] = []
        """In a crowd, the spectators who are told the same, each with one of them."""
        self._singles: list[Place] = []
        """In a crowd, those who are told on their own."""
        self._gathered = False

    def __len__(self) -> int:
        return len(self._places)

    def place(self, client: int) -> Place | None:
        """Where this client is, if it is here."""
        return self._places.get(client)

    def places(self) -> list[Place]:
        """All places."""
        return list(self._places.values())

    def add(self, place: Place) -> None:
        """Somebody takes a place; a client's later place replaces its earlier one."""
        self.remove(place.client)
        self._places[place.client.number] = place
        place.client.rooms.add(self.room)
        self._gathered = False

    def remove(self, client: Client) -> None:
        """Remove a client from the audience."""
        client.rooms.discard(self.room)
        place = self._places.pop(client.number, None)
        if place is not None:
            place.leave_group()
            self._gathered = False
            if place.door is not None and not any(place.key == other.key for other in self._places.values()):
                self._seen.pop((place.encoder, place.perspective), None)

    def mute(self, client: Client) -> None:
        """Tell this client no more from its place here."""
        if (place := self._places.get(client.number)) is not None:
            place.muted, place.returning = True, False
            place.leave_group()

    def regroup(self) -> None:
        """Somebody hears again who did not: groups are made anew."""
        self._gathered = False

    # What a door makes of it.

    def look(self, place: Place) -> Seen | None:
        """What a door has shown last from this place."""
        return self._seen.get((place.encoder, place.perspective))

    def see(self, place: Place, view: Any) -> Seen:
        """Let a door show a view to this place; may be refused to somebody without a seat."""
        assert place.door is not None  # noqa: S101 - the caller looked
        view = msgspec.json.decode(view) if isinstance(view, Raw) else view
        try:
            seen = Seen(view, place.door.show(self.room, view, self.company))
        except Refused:
            raise
        except Exception:
            log.exception("door_failed", door=place.client.adapter.name, room=self.room)
            raise Refused(Code.INTERNAL_ERROR, "this went wrong on our side") from None
        self._seen[place.encoder, place.perspective] = seen
        return seen

    def _show_changes(self, told: StepTold) -> set[tuple[Encoder, Perspective]]:
        """Let doors show what they make of a step; gives where that is different from before."""
        changed: set[tuple[Encoder, Perspective]] = set()
        done: set[tuple[Encoder, Perspective]] = set()
        for place in self.places():
            key = (place.encoder, place.perspective)
            before = None if place.door is None or key in done else self._seen.get(key)
            if before is None or (told.company is None and place.perspective not in told.changed):
                continue
            done.add(key)
            try:
                if self.see(place, told.changed.get(place.perspective, before.view)).shown != before.shown:
                    changed.add(key)
            except Refused:  # nothing can be shown to them any more
                self._close(place)
        return changed

    # Telling.

    def push(self, place: Place, pushes: Iterable[Push]) -> None:
        """Tell one place; a whole view among it ends a time of skipping."""
        made: list[Push] = []
        for push in pushes:
            if push.name == "sync":
                if place.stale:
                    place.stale = self._gathered = False
                if place.door is not None and "view" in push.payload:
                    shown = self.see(place, push.payload["view"]).shown
                    push = replace(push, payload={**push.payload, "view": shown})  # noqa: PLW2901 - as shown
            made.append(push)
        place.client.push(self.room, made, place.ref)

    def announce(self, push: Push, but: int | None = None) -> None:
        """Tell everybody the same, except one perhaps."""
        frames: dict[Encoder, bytes] = {}
        for number, place in tuple(self._places.items()):
            if number == but or place.muted:
                continue
            if place.encoder not in frames:
                frames[place.encoder] = pushed(place.encoder.encode(self.room, push))
            place.outbox.write(frames[place.encoder])

    def tell(self, told: StepTold) -> None:
        """Send a step to every viewer: its pushes, then exactly one update; equal views share their bytes.

        If another step is about to follow, spectators may hear of both at once; so they may in a crowd, where
        the steps of a moment cost a lot less in one write than one by one.
        """
        self.seq = told.seq
        if told.company is not None:
            self.company = told.company
        for reseated in told.reseated:
            if (place := self._places.get(reseated.client)) is not None:
                place.move(reseated.viewpoint)
                place.pause()
        frames = StepFrames(self.room, told, self._seen, self._show_changes(told) if self._seen else ())
        crowded = len(self._places) > CROWD
        if crowded and not any(map(is_own_topic, frames.addressed)):
            self._gather()
            for place, group in self._groups:
                group.write(frames.to(place), more=told.more)
            self._tell(frames, self._singles, more=told.more)
        else:
            self._tell(frames, self._places.values(), more=told.more or crowded)
        for reseated in told.reseated:
            if (place := self._places.get(reseated.client)) is not None:
                self._show_moved(place, reseated.sync)

    def _tell(self, frames: StepFrames, places: Iterable[Place], *, more: bool) -> None:
        made, addressed = frames.made, frames.addressed
        for place in places:
            if place.muted:
                continue
            outbox, watches = place.outbox, place.viewer is None
            if place.stale or (watches and outbox.clogged):
                place.stale = True
                continue
            ready = None if place.own in addressed else made.get(place.key)
            outbox.write(frames.to(place) if ready is None else ready, more=more and watches)

    def _show_moved(self, place: Place, sync: Push) -> None:
        """Show everything to somebody who sees and hears differently now."""
        place.go_on()
        try:
            self.push(place, (sync,))
        except Refused:  # the door is only for those with a seat
            self._close(place)

    # Crowds.

    def _gather(self) -> None:
        """Have those in one group who are told the same, and who listen."""
        if self._gathered and all(group.together for _, group in self._groups):
            return
        for _, group in self._groups:
            group.disband()
        alike: dict[Any, list[Place]] = {}
        self._singles = []
        for place in self._places.values():
            if place.viewer is not None or place.muted or place.stale or place.outbox.clogged:
                self._singles.append(place)
            else:
                alike.setdefault(place.key, []).append(place)
        self._groups = [
            (places[0], WriteGroup([place.outbox for place in places])) for places in alike.values()
        ]
        for place, group in self._groups:
            for member in alike[place.key]:
                member.group = group
        self._gathered = True
