"""Who is in a room: the places of clients at all gateways, and their presence."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from parlour.room import Room
from parlour.server.border import Format, Perspective, Viewpoint, gateway_of, legal_of, perspective_of
from parlour.wire import Push

Metas = dict[str, dict[str, Any]]
"""The meta of each connection, by its phx_ref."""

SPECTATORS = "spectators"


class Place:
    """A client's place in a room."""

    __slots__ = (
        "account",
        "client",
        "format",
        "legal",
        "name",
        "perspective",
        "phx_ref",
        "player",
        "topics",
        "viewer",
    )

    def __init__(
        self,
        client: int,
        player: str,
        name: str,
        format: Format,
        *,
        legal: bool = False,
        account: bool = False,
    ) -> None:
        self.client = client
        self.player = player
        self.name = name
        self.format = format
        self.legal = legal
        """It is told what is legal, too, while it has a seat."""
        self.account = account
        """Of somebody with an account."""
        self.phx_ref = ""
        """The phx_ref of this place, given by the roster."""
        self.move(Viewpoint(None, ()))

    def move(self, viewpoint: Viewpoint) -> None:
        """Take another viewpoint from now on."""
        self.viewer = viewpoint.viewer
        self.topics = viewpoint.topics
        self.perspective: Perspective = perspective_of(viewpoint.viewer, self.format)

    def perspectives(self, viewer: str | None) -> tuple[Perspective, ...]:
        """All that this place is told as this viewer."""
        perspective = perspective_of(viewer, self.format)
        return (perspective, legal_of(viewer)) if self.legal and viewer is not None else (perspective,)

    @property
    def viewpoint(self) -> Viewpoint:
        """What this place sees and receives."""
        return Viewpoint(self.viewer, self.topics)


class Listeners(NamedTuple):
    """What is seen and heard at one gateway."""

    perspectives: set[Perspective]
    topics: set[str]


class Roster:
    """Everybody in one room."""

    __slots__ = ("_at", "_count", "_load", "perspectives", "places")

    def __init__(self, load: str) -> None:
        self._load = load
        """Different each time the room is loaded: clients take an equal phx_ref for the same place. Empty if
        clients keep their places over a change of owners; then their own numbers are enough."""
        self.places: dict[int, Place] = {}
        """By the number of the client."""
        self.perspectives: set[Perspective] = set()
        """The different perspectives from which the room is seen."""
        self._count = 0
        self._at: dict[int, Listeners] | None = None

    def __iter__(self) -> Iterator[Place]:
        return iter(tuple(self.places.values()))

    def __len__(self) -> int:
        return len(self.places)

    def add(self, place: Place) -> None:
        """Give a client a place; it replaces an earlier one."""
        self.remove(place.client)
        self._count += 1
        place.phx_ref = f"{self._load}-{self._count}" if self._load else f"{place.client:x}"
        self.places[place.client] = place
        self.note_perspectives()

    def remove(self, client: int) -> Place | None:
        """Take a client's place away."""
        place = self.places.pop(client, None)
        if place is not None:
            self.note_perspectives()
        return place

    def clear(self) -> None:
        """Take all places away."""
        self.places.clear()
        self.note_perspectives()

    def has(self, player: str) -> bool:
        """True if one of this player's clients is here."""
        return any(place.player == player for place in self.places.values())

    def note_perspectives(self) -> None:
        """Work out the perspectives anew, after somebody came, went or changed seats."""
        self.perspectives = {one for place in self for one in place.perspectives(place.viewer)}
        self._at = None

    def by_gateway(self) -> "dict[int, Listeners]":
        """The gateways that have places here, and what is heard at each."""
        if self._at is None:
            self._at = {}
            for client, place in self.places.items():
                here = self._at.setdefault(gateway_of(client), Listeners(set(), set()))
                here.perspectives.update(place.perspectives(place.viewer))
                here.topics.update(place.topics)
        return self._at

    def perspectives_in(self, room: Room[Any]) -> set[Perspective]:
        """The perspectives that there will be once everybody has the viewpoint of their seat in *room*."""
        return {
            one
            for place in self
            for one in place.perspectives(place.player if room.seat(place.player) else None)
        }

    @property
    def spectators(self) -> set[str]:
        """The players without a seat."""
        return {place.player for place in self.places.values() if place.viewer is None}


class Presence:
    """Presence in Phoenix's format; remembers what was sent last, so that only differences are sent."""

    __slots__ = ("_count_meta", "_counts", "_load", "_told")

    def __init__(self, load: str) -> None:
        self._load = load
        self._told: dict[str, Metas] = {}
        self._counts = 0
        self._count_meta: dict[str, Any] = {}

    def state(self) -> Push:
        """The whole presence, for a client that just entered."""
        return Push("presence_state", {key: _listed(metas) for key, metas in self._told.items()})

    def seats_changed(self, room: Room[Any], roster: Roster) -> Push | None:
        """The change since the last time in the connections of seated players."""
        seated = {**_connected(room, roster), **self._bots(room)}
        return self._difference({**seated, SPECTATORS: self._told.get(SPECTATORS, {})})

    def count_changed(self, roster: Roster) -> Push | None:
        """The change since the last time in the number of spectators."""
        count = len(roster.spectators)
        if self._count_meta.get("count") != count:
            self._counts += 1
            previous = self._count_meta.get("phx_ref")
            self._count_meta = {"phx_ref": f"{self._load}-spectators-{self._counts}", "count": count}
            if previous is not None:
                self._count_meta["phx_ref_prev"] = previous
        return self._difference({**self._told, SPECTATORS: {self._count_meta["phx_ref"]: self._count_meta}})

    def _difference(self, now: dict[str, Metas]) -> Push | None:
        joins = _beyond(now, self._told)
        leaves = _beyond(self._told, now)
        self._told = {key: metas for key, metas in now.items() if metas}
        return Push("presence_diff", {"joins": joins, "leaves": leaves}) if joins or leaves else None

    def _bots(self, room: Room[Any]) -> dict[str, Metas]:
        """Bots have no connection, and are always present."""
        bots: dict[str, Metas] = {}
        for number, seat in enumerate(room.seats):
            if seat is not None and seat.bot:
                ref = f"{self._load}-bot-{number}"
                bots[seat.player] = {ref: {"phx_ref": ref, "name": seat.name, "seat": number, "bot": True}}
        return bots


def _connected(room: Room[Any], roster: Roster) -> dict[str, Metas]:
    seated: dict[str, Metas] = {}
    for place in roster:
        seat = room.seat(place.viewer)
        if seat is not None:
            number = room.seat_number(place.viewer)
            # To clients, phx_ref alone identifies a meta, so another seat or another wish needs a new one.
            ref = f"{place.phx_ref}-{number}{'-again' if seat.again else ''}"
            meta: dict[str, Any] = {"phx_ref": ref, "name": seat.name, "seat": number}
            if seat.remote:
                meta["bot"] = True
            if seat.account:
                meta["account"] = True
            seated.setdefault(seat.player, {})[ref] = {**meta, "again": True} if seat.again else meta
    return seated


def _beyond(these: dict[str, Metas], those: dict[str, Metas]) -> dict[str, Any]:
    """The connections in *these* that are missing or different in *those*."""
    beyond = {}
    for key, metas in these.items():
        new = {ref: meta for ref, meta in metas.items() if those.get(key, {}).get(ref) != meta}
        if new:
            beyond[key] = _listed(new)
    return beyond


def _listed(metas: Metas) -> dict[str, Any]:
    return {"metas": list(metas.values())}
