"""Who is here, in Phoenix's shapes: seated players one by one, spectators as a number."""

from typing import Any

from parlour.room import Room
from parlour.server.gateway.connections import Audience
from parlour.wire import Push

Metas = dict[str, dict[str, Any]]
"""What is known of each connection, by its phx_ref."""

SPECTATORS = "spectators"


class Presence:
    """What a room was last told about who is here, so that only the difference need be told."""

    def __init__(self, load: str) -> None:
        self._load = load
        self._told: dict[str, Metas] = {}
        self._counts = 0
        self._count_meta: dict[str, Any] = {}

    def state(self) -> Push:
        """Everything, for somebody who just came in."""
        return Push("presence_state", {key: _listed(metas) for key, metas in self._told.items()})

    def seats_changed(self, room: Room[Any], audience: Audience) -> Push | None:
        """What to tell since the last time about the seated players' connections."""
        return self._tell({**self._seated(room, audience), SPECTATORS: self._told.get(SPECTATORS, {})})

    def count_changed(self, audience: Audience) -> Push | None:
        """What to tell since the last time about the number of spectators."""
        count = len(audience.spectators)
        if self._count_meta.get("count") != count:
            self._counts += 1
            previous = self._count_meta.get("phx_ref")
            self._count_meta = {"phx_ref": f"{self._load}-spectators-{self._counts}", "count": count}
            if previous is not None:
                self._count_meta["phx_ref_prev"] = previous
        return self._tell({**self._told, SPECTATORS: {self._count_meta["phx_ref"]: self._count_meta}})

    def _tell(self, now: dict[str, Metas]) -> Push | None:
        joins = _beyond(now, self._told)
        leaves = _beyond(self._told, now)
        self._told = {key: metas for key, metas in now.items() if metas}
        return Push("presence_diff", {"joins": joins, "leaves": leaves}) if joins or leaves else None

    def _seated(self, room: Room[Any], audience: Audience) -> dict[str, Metas]:
        return {**_connected(room, audience), **self._bots(room)}

    def _bots(self, room: Room[Any]) -> dict[str, Metas]:
        """They have no connection, and are always here."""
        bots: dict[str, Metas] = {}
        for number, seat in enumerate(room.seats):
            if seat is not None and seat.bot:
                ref = f"{self._load}-bot-{number}"
                bots[seat.player] = {ref: {"phx_ref": ref, "name": seat.name, "seat": number, "bot": True}}
        return bots


def _connected(room: Room[Any], audience: Audience) -> dict[str, Metas]:
    seated: dict[str, Metas] = {}
    for place in audience:
        seat = room.seat(place.viewer)
        if seat is not None:
            number = room.seat_number(place.viewer)
            # Clients tell metas apart by phx_ref alone, so another seat or another wish needs another one.
            ref = f"{place.phx_ref}-{number}{'-again' if seat.again else ''}"
            meta = {"phx_ref": ref, "name": seat.name, "seat": number}
            seated.setdefault(seat.player, {})[ref] = {**meta, "again": True} if seat.again else meta
    return seated


def _beyond(these: dict[str, Metas], those: dict[str, Metas]) -> dict[str, Any]:
    """The connections in *these* that are not, or not like this, in *those*."""
    beyond = {}
    for key, metas in these.items():
        new = {ref: meta for ref, meta in metas.items() if those.get(key, {}).get(ref) != meta}
        if new:
            beyond[key] = _listed(new)
    return beyond


def _listed(metas: Metas) -> dict[str, Any]:
    return {"metas": list(metas.values())}
