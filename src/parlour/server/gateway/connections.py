"""Who hears what: connections, their places in rooms, and the fan-out of a step to all of them."""

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Protocol, cast

from msgspec import UNSET
from websockets.frames import CloseCode

from parlour.errors import Code, Refused
from parlour.game import Send
from parlour.room import is_own_topic, own_topic
from parlour.server.gateway.fanout import Line, WriteGroup, framed, pushed
from parlour.server.limits import FRAME_COST, cost_of, too_fast
from parlour.server.rooms.perspectives import Drawn, Eyes, Shown, Sight, eyes_of
from parlour.wire import Adapter, Enter, Exit, Push, Request, Step

if TYPE_CHECKING:
    from parlour.server.gateway.websocket import Socket
    from parlour.server.rooms.host import Host

CROWD = 100
"""So many in a room, and its spectators hear of everything a moment later, but cheaply."""


class Client:
    """One connection: its adapter, who it is, and the rooms it has asked to be in."""

    __slots__ = ("_gone", "adapter", "guests", "line", "name", "player", "rooms", "token")

    def __init__(self, adapter: Adapter, line: Line, player: str, *, token: str | None = None) -> None:
        self.adapter = adapter
        self.line = line
        self.player = player
        self.name: str | None = None
        """What others see, once it was looked up."""
        self.token = token
        """A token that this client does not know yet and is told when it joins."""
        self.rooms: set[str] = set()
        """Where it has a place."""
        self.guests: dict[Adapter, Client] = {}
        """The same connection, as the doors within its protocol see it."""
        self._gone = False

    def asking(self, request: Request) -> "Client":
        """Who asks: this client itself, or the one who came by a door within its protocol."""
        if request.via is None:
            return self
        if request.via not in self.guests:
            self.guests[request.via] = Client(request.via, self.line, self.player, token=self.token)
        return self.guests[request.via]

    def lose(self) -> None:
        """The connection is lost: this client takes no place any more."""
        self._gone = True

    def is_gone(self) -> bool:
        """Nobody is there."""
        return self._gone

    def accept(self, request: Request, payload: Any) -> None:
        """Answer with yes."""
        self.adapter.accept(request, payload)
        self.flush()

    def refuse(self, request: Request, why: Refused) -> None:
        """Answer with no; where nobody knows yes or no, the client must come back and see."""
        if why.code == Code.OUTCOME_UNKNOWN:
            self.line.close(CloseCode.SERVICE_RESTART, "come again")
            return
        self.adapter.refuse(request, why)
        self.flush()

    def push(self, room: str | None, pushes: Iterable[Push], ref: Any = None) -> None:
        """Tell this client alone; *ref* is of the request that it came in with."""
        self.line.write(b"".join(pushed(self.adapter.encode_own(room, push, ref)) for push in pushes))

    def dismiss(self, room: str | None) -> None:
        """The room is closed to this client."""
        self.adapter.dismiss(room)
        self.flush()

    def flush(self) -> None:
        """Send what the adapter has to say."""
        for frame in self.adapter.frames():
            self.line.write(framed(frame))


class Caller:
    """The visit of a client to the rooms: turns what it sends into requests to the host."""

    __slots__ = ("_client", "_host", "_socket")

    def __init__(self, host: "Host", socket: "Socket", client: Client) -> None:
        self._host = host
        self._socket = socket
        self._client = client

    @property
    def name(self) -> str:
        return self._client.adapter.name

    @property
    def player(self) -> str:
        return self._client.player

    def begin(self) -> None:
        """Clients of the host speak first."""

    def receive(self, message: Any, *, text: bool) -> None:
        client = self._client
        try:
            requests = client.adapter.receive(str(message, "utf-8") if text else bytes(message))
        except UnicodeDecodeError:
            self._socket.close(CloseCode.INVALID_DATA, "text must be UTF-8")
            return
        except Refused as why:
            self._socket.close(CloseCode.UNSUPPORTED_DATA, why.message)
            return
        client.flush()
        if not requests:
            self._socket.may_ask(client.player, FRAME_COST)  # heartbeats and noise count, too
        for request in requests:
            # To leave costs something, too, but is never refused.
            if self._socket.may_ask(client.player, cost_of(request.wish)) or isinstance(request.wish, Exit):
                self._host.receive(client, request)
            else:
                self._refuse(client.asking(request), request)

    def _refuse(self, client: Client, request: Request) -> None:
        """Say no to the hasty; a join that is refused has closed the channel of the one before."""
        client.refuse(request, too_fast())
        if isinstance(request.wish, Enter) and request.room in client.rooms:
            self._host.receive(client, Request(request.room, Exit()))

    def catch_up(self) -> None:
        self._host.catch_up(self._client)

    def part(self) -> None:
        """The close code says it all."""

    def end(self) -> None:
        self._host.gone(self._client)


class Voice(Protocol):
    """What encodes for a client: its protocol, the same for all who speak it, or an adapter of its own."""

    def encode(self, room: str | None, push: Push) -> bytes:
        """The text frame of a push."""
        ...


def voice_of(adapter: Adapter) -> Voice:
    """Whoever has the same voice can be told with the same bytes."""
    return adapter if adapter.personal else cast("Voice", type(adapter))


class Place:
    """A client's place in a room: through whose eyes it sees, and which topics it hears."""

    __slots__ = (
        "client", "ears", "enter", "eyes", "group", "line", "muted", "own", "phx_ref", "ref", "stale",
        "viewer",
    )  # fmt: skip

    def __init__(self, client: Client, enter: Enter, ref: Any = None) -> None:
        self.client = client
        self.line = client.line
        self.enter = enter
        """How it came in."""
        self.ref = ref
        """Of the request that it came in with: what is for this place alone is told under it."""
        self.phx_ref = ""
        """What presence calls this place, given by the audience."""
        self.own = own_topic(client.player)
        self.muted = False
        """The client has asked to leave or to join anew: it is told no more here."""
        self.stale = False
        """Has skipped steps because its line was clogged, and needs a whole view."""
        self.group: WriteGroup | None = None
        """With whom it is told the same, in a crowd."""
        self.open_ears(None, ())

    def push(self, room: str, *pushes: Push) -> None:
        """Tell this place alone."""
        self.client.push(room, pushes, self.ref)

    def step_out(self) -> None:
        """From now on it is told something else than its choir, or the same again."""
        if self.group is not None:
            self.group.disband()

    def open_ears(self, viewer: str | None, topics: Iterable[str]) -> None:
        """See with these eyes and hear these topics from now on, and one's own as always."""
        self.step_out()
        others = frozenset(topic for topic in topics if topic != self.own)
        self.viewer = viewer
        self.eyes = eyes_of(viewer, self.enter)
        self.ears: tuple[Voice, Eyes, frozenset[str]] = (voice_of(self.client.adapter), self.eyes, others)
        """Whoever has the same is told the same, unless somebody is addressed alone."""

    def hears(self, topic: str) -> bool:
        return topic in self.ears[2] or topic == self.own

    def blink(self) -> None:
        """See with other eyes, but nothing yet: first everything is shown, not what changed."""
        self.step_out()
        self.ears = (self.ears[0], CLOSED, self.ears[2])

    def open_eyes(self) -> None:
        """See what changes from now on."""
        self.step_out()
        self.ears = (self.ears[0], self.eyes, self.ears[2])

    def is_like(self, viewer: str | None, topics: Iterable[str]) -> bool:
        """Sees with these eyes and hears these topics already."""
        return self.viewer == viewer and self.ears[2] | {self.own} == {*topics, self.own}


CLOSED = ":closed"
"""The eyes of nobody."""

Sights = Mapping[Eyes, Sight]
"""What all eyes see now."""


class Audience:
    """Everybody who hears one room."""

    def __init__(self, room: str, load: str) -> None:
        self.room = room
        self._load = load
        """Different each time the room is loaded: clients take an equal phx_ref for the same place."""
        self._places: dict[Client, Place] = {}
        self._count = 0
        self._groups: list[tuple[Place, WriteGroup]] = []
        """In a crowd, the spectators who are told the same, each with one of them."""
        self._singles: list[Place] = []
        """In a crowd, those who are told on their own."""
        self._gathered = False

    def __iter__(self) -> Iterator[Place]:
        return iter(tuple(self._places.values()))

    def __len__(self) -> int:
        return len(self._places)

    def place(self, client: Client) -> Place | None:
        """Where this client is, if it is here."""
        return self._places.get(client)

    def add(self, place: Place) -> None:
        """Somebody takes a place; a client's later place replaces its earlier one."""
        self._count += 1
        place.phx_ref = f"{self._load}-{self._count}"
        self._gathered = False
        self._places[place.client] = place
        place.client.rooms.add(self.room)

    def remove(self, client: Client) -> Place | None:
        """Take a client's place away."""
        client.rooms.discard(self.room)
        place = self._places.pop(client, None)
        if place is not None:
            place.step_out()
            self._gathered = False
        return place

    def mute(self, client: Client) -> None:
        """Tell this client no more from its place here."""
        if (place := self._places.get(client)) is not None:
            place.muted = True
            place.step_out()

    def has(self, player: str) -> bool:
        """One of this player's connections is here."""
        return any(place.client.player == player for place in self._places.values())

    @property
    def eyes(self) -> set[Eyes]:
        """The different eyes that look at this room."""
        return {place.eyes for place in self._places.values()}

    @property
    def spectators(self) -> set[str]:
        """The people who watch without a seat."""
        return {place.client.player for place in self._places.values() if place.viewer is None}

    def tell(self, push: Push, *, but: Client | None = None) -> None:
        """Tell everybody the same, except one perhaps."""
        frames: dict[Voice, bytes] = {}
        for place in self:
            if place.client is but or place.muted:
                continue
            voice = place.ears[0]
            if voice not in frames:
                frames[voice] = pushed(voice.encode(self.room, push))
            place.client.line.write(frames[voice])

    def speak(self, step: Step, views: Sights, changed: Sights, result: Any, *, more: bool = False) -> None:
        """Tell a step: to each viewer its pushes, then exactly one update; made once for all who share it.

        With *more* another step is about to follow, and spectators may hear of both at once; so they may in a
        crowd, where the steps of a moment cost a lot less in one write than one by one.
        """
        telling = Telling(self.room, step, views, changed, result)
        crowded = len(self._places) > CROWD
        if crowded and not any(map(is_own_topic, telling.addressed)):
            self._gather()
            for place, group in self._groups:
                group.write(telling.to(place), more=more)
            self._speak(telling, self._singles, more=more)
        else:
            self._speak(telling, self._places.values(), more=more or crowded)

    def _speak(self, telling: "Telling", places: Iterable[Place], *, more: bool) -> None:
        told, addressed = telling.told, telling.addressed
        for place in places:
            if place.muted:
                continue
            line, watches = place.line, place.viewer is None
            if place.stale or (watches and line.clogged):
                place.stale = True
                continue
            frames = None if place.own in addressed else told.get(place.ears)
            line.write(telling.to(place) if frames is None else frames, more=more and watches)

    def gather_anew(self) -> None:
        """Somebody listens again who did not."""
        self._gathered = False

    def _gather(self) -> None:
        """Have those in one choir who are told the same, and who listen."""
        if self._gathered and all(group.together for _, group in self._groups):
            return
        for _, group in self._groups:
            group.disband()
        alike: dict[Any, list[Place]] = {}
        self._singles = []
        for place in self._places.values():
            if place.viewer is not None or place.muted or place.stale or place.line.clogged:
                self._singles.append(place)
            else:
                alike.setdefault(place.ears, []).append(place)
        self._groups = [
            (places[0], WriteGroup([place.line for place in places])) for places in alike.values()
        ]
        for place, group in self._groups:
            for member in alike[place.ears]:
                member.group = group
        self._gathered = True


class Telling:
    """One step on its way to everybody: each frame is made once for all who hear the same."""

    def __init__(self, room: str, step: Step, views: Sights, changed: Sights, result: Any) -> None:
        self._room = room
        self._seq = step.seq
        self._views = views
        self._changed = changed
        self._result = result
        self._sends = [effect for effect in step.effects if isinstance(effect, Send)]
        self.addressed = {send.to for send in self._sends}
        """The topics of those who are told something else than others with the same ears."""
        self.told: dict[Any, bytes] = {}
        """What each kind of listener is told, once somebody asked."""
        self._frames: dict[tuple[Voice, int], bytes] = {}

    def to(self, place: Place) -> bytes:
        """What this place is told: its pushes, then exactly one update."""
        key = (place.ears, place.own) if place.own in self.addressed else place.ears
        told = self.told.get(key)
        if told is None:
            told = self.told[key] = self._tell(place)
        return told

    def _tell(self, place: Place) -> bytes:
        voice, eyes, _ = place.ears
        frames, encode = [], voice.encode
        update: dict[str, Any] = {"seq": self._seq}
        seen = self._changed.get(eyes)
        for number, send in enumerate(self._sends):
            if not place.hears(send.to):
                continue
            if send.kind != "sync":
                frames.append(self._frame(voice, number))
            elif eyes in self._views:
                frames.append(pushed(encode(self._room, sync(self._seq, self._views[eyes]))))
                seen = None
        if isinstance(seen, Drawn):
            update["patch"] = seen.patch
        elif seen is not None:
            update["view"] = seen.raw if isinstance(seen, Shown) else seen
        if self._result is not UNSET:
            update["result"] = self._result
        frames.append(pushed(encode(self._room, Push("update", update))))
        return b"".join(frames)

    def _frame(self, voice: Voice, number: int) -> bytes:
        """The frame of a push that says the same to all who hear it."""
        frame = self._frames.get((voice, number))
        if frame is None:
            push = push_of(self._sends[number], self._seq)
            frame = self._frames[voice, number] = pushed(voice.encode(self._room, push))
        return frame


def push_of(send: Send, seq: int) -> Push:
    """The push of something that was said, whoever hears it."""
    match send.kind:
        case "chat":
            return Push("chat", {"seq": seq, **send.payload})
        case "shutdown":
            return Push("shutdown", send.payload)
        case _:
            return Push("game_event", {"seq": seq, "payload": send.payload})


class Hearer(Protocol):
    """Somebody who is told a step: in a place now, or in the past."""

    def hears(self, topic: str) -> bool:
        """They are told what is sent there."""
        ...


def heard(step: Step, place: Hearer) -> Iterator[Push]:
    """The messages of a past step that reach this place; whole views are left out, one follows anyway."""
    for effect in step.effects:
        if isinstance(effect, Send) and effect.kind != "sync" and place.hears(effect.to):
            yield push_of(effect, step.seq)


def sync(
    seq: int,
    seen: Sight,
    result: Any = None,
    *,
    now: float | None = None,
    reset: bool = False,
    fault: str | None = None,
) -> Push:
    """Everything a viewer may know at *seq*; with a scene the time on the room's clock, for its clocks."""
    payload: dict[str, Any] = {"seq": seq}
    if isinstance(seen, Drawn):
        payload["scene"] = seen.whole
        if now is not None:
            payload["now"] = now
    else:
        payload["view"] = seen.raw if isinstance(seen, Shown) else seen
    if result is not None:
        payload["result"] = result
    if reset:
        payload["reset"] = True
    if fault is not None:
        payload["fault"] = fault
    return Push("sync", payload)
