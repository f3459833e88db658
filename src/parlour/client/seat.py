"""A place in a room: what is seen from there, whose turn it is, and everything that a player can ask."""

from collections.abc import AsyncIterator, Callable
from secrets import token_bytes, token_hex
from typing import Any

import msgspec

from parlour.client.channel import Channel, Host
from parlour.errors import Code
from parlour.game import Chance
from parlour.offers import Offers, What
from parlour.wire import PUSHES, JoinAnswer, Meta, Result

GONE = (Code.ROOM_ENDED, Code.NOT_JOINED, Code.UNKNOWN_ROOM)
"""Why a place is closed that has nothing more to tell."""


class Turn(msgspec.Struct, frozen=True):
    """Something to decide: what is seen, and what is legal; None where the game does not list it."""

    view: Any
    legal: list[Any] | None
    seq: int
    chance: Chance
    """Luck for a player who wants some; no room knows it."""


class Seat(Channel):
    """What one client knows of a room, and what it asks there."""

    def __init__(
        self,
        host: Host,
        room: str,
        options: dict[str, Any],
        hear: Callable[[str, Any], None] | None = None,
    ) -> None:
        super().__init__(host, f"game:{room}")
        self.room = room
        self.player = ""
        self.game = ""
        self.number: int | None = None
        """Which seat it is; None for somebody who watches."""
        self.seq: int | None = None
        """The last step that was told."""
        self.view: Any = None
        self.legal: list[Any] | None = None
        self.result: Result | None = None
        self.offers = Offers()
        self.here: dict[str, list[Meta]] = {}
        """The players who are here, and under ``spectators`` how many watch."""
        self.is_synced = False
        self._options = options
        self._heard = hear
        self._changed_at = -1
        """The step that last changed what is seen or legal."""
        self._acted_at = -1
        """The last step that this client made by a move."""

    # Hearing.

    def _payload(self) -> dict[str, Any]:
        return self._options if self.seq is None else {**self._options, "since": self.seq}

    def _joined(self, answer: Any) -> None:
        joined = msgspec.convert(answer, JoinAnswer)
        self.player, self.game, self.number = joined["player"], joined["game"], joined["seat"]

    def _take(self, name: str, payload: Any) -> None:
        told: Any = msgspec.convert(payload, PUSHES[name]) if name in PUSHES else payload
        if name == "update" and self.seq is not None and told["seq"] > self.seq + 1:
            if self._connection is not None:  # something is missing
                self.begin(self._connection)
            return
        if name in ("sync", "update"):
            self._note(told, whole=name == "sync")
        elif name == "presence_state":
            self.here = {key: here["metas"] for key, here in told.items()}
        elif name == "presence_diff":
            self._note_presence(told)
        if self._heard is not None:
            self._heard(name, payload)

    def _note(self, told: dict[str, Any], *, whole: bool) -> None:
        """Learn what a step changed, or all there is."""
        self.seq = told["seq"]
        if told.get("reset") or any(
            name in told and told[name] != getattr(self, name) for name in ("view", "legal")
        ):
            self._changed_at = told["seq"]
        for name in ("view", "legal"):
            if name in told:
                setattr(self, name, told[name])
        if whole or "result" in told:
            self.result = told.get("result")
        if whole or "offers" in told:
            self.offers = told.get("offers") or Offers()
        self.is_synced = True

    def _note_presence(self, told: Any) -> None:
        here = {key: list(metas) for key, metas in self.here.items()}
        for key, left in told["leaves"].items():
            refs = {meta["phx_ref"] for meta in left["metas"]}
            here[key] = [meta for meta in here.get(key, []) if meta["phx_ref"] not in refs]
        for key, came in told["joins"].items():
            here[key] = [*here.get(key, []), *came["metas"]]
        self.here = {key: metas for key, metas in here.items() if metas}

    async def wait(self, look: Callable[["Seat"], bool]) -> None:
        """Wait until something is so; `Refused` if the room is closed before."""
        while not look(self):
            if self.closed is not None:
                raise self.closed
            await self._news.wait()

    async def turns(self) -> AsyncIterator[Turn]:
        """Each time when there is something to decide, until the game or the room is over.

        Where the game does not list what is legal, each time when something else is seen.
        """
        last = -1
        while True:
            while not self._has_turn(last):
                if self.closed is not None and self.closed.code not in GONE:
                    raise self.closed
                if self.closed is not None or self.result is not None:
                    return
                await self._news.wait()
            assert self.seq is not None  # noqa: S101 - something is seen
            last = self.seq
            yield Turn(self.view, self.legal, last, Chance(token_bytes(32), last))

    def _has_turn(self, last: int) -> bool:
        """True if there is something to decide that was not decided at step *last*."""
        if self.closed is not None or self.result is not None or self.offers.paused is not None:
            return False
        if self.seq is None or not self.is_synced or self.legal == [] or self.seq < self._acted_at:
            return False
        return self._changed_at > last or self._acted_at > last

    # Asking.

    async def act(self, event: Any, *, seq: int | None = None, id: str | None = None) -> int:
        """Play; with the *seq* of a turn, only if what was seen then has not changed. Gives the step."""
        payload: dict[str, Any] = {"event": event}
        if seq is not None:
            payload["seq"] = seq
        self._acted_at = await self._do("game_event", payload, id)
        return self._acted_at

    async def chat(self, text: str, *, id: str | None = None) -> int:
        """Say something."""
        return await self._do("chat", {"text": text}, id)

    async def leave(self, *, id: str | None = None) -> int:
        """Give the seat up for good."""
        return await self._do("leave", {}, id)

    async def rematch(self, *, id: str | None = None) -> int:
        """Ask for another game."""
        return await self._do("rematch", {}, id)

    async def offer(self, what: What, *, id: str | None = None) -> int:
        """Offer the others a draw, say."""
        return await self._do("offer", {"what": what}, id)

    async def answer(self, what: What, *, accept: bool, id: str | None = None) -> int:
        """Agree to what is offered, or decline it."""
        return await self._do("answer", {"what": what, "accept": accept}, id)

    @property
    def offered(self) -> What | None:
        """What somebody else offers, while that waits for this player."""
        there = self.offers.open
        if there is None or self.number is None or self.player in (there.by, *there.agreed):
            return None
        return there.what

    async def resign(self, *, id: str | None = None) -> int:
        """Give the game up."""
        return await self._do("resign", {}, id)

    async def _do(self, event: str, payload: dict[str, Any], id: str | None) -> int:
        answer = await self.ask(event, {**payload, "id": id or token_hex(12)})
        seq: int = answer["seq"]
        return seq
