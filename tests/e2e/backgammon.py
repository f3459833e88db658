"""Matches of backgammon that are played quickly over sockets, by the players who also sit at browsers."""

import itertools
import random
from collections.abc import Callable
from contextlib import closing
from typing import Any

from parlour.game import Chance
from parlour.luck import AddedLuck, mixed
from tests.e2e.clients import Raw
from tests.e2e.servers import Server


def luck_for(seed: bytes, step: int, *dice: int) -> str:
    """Random bytes that let a step roll these dice, if each of two players adds them to the seed."""
    for number in itertools.count():
        luck = f"{number:032x}"
        chance = Chance(mixed(seed, [AddedLuck("", luck)] * 2), step)
        if tuple(chance.die() for _ in dice) == dice:
            return luck
    raise AssertionError


class Fast:
    """A second connection of a player, by their token; it knows what they see."""

    def __init__(self, server: Server, token: str, room: str) -> None:
        self.raw = Raw(server, token)
        self.topic = f"game:{room}"
        self.view: Any = None
        self.seq = -1
        self._refs = itertools.count(2)
        self.raw.send(["1", "1", self.topic, "phx_join", {}])
        self.catch_up(0)

    def close(self) -> None:
        self.raw.close()

    def catch_up(self, seq: int) -> None:
        """Hear everything up to this step."""
        while self.seq < seq:
            self._hear()

    def do(self, event: dict[str, Any]) -> int:
        """Play; the seq of it."""
        ref = str(next(self._refs))
        self.raw.send(["1", ref, self.topic, "game_event", {"event": event}])
        while (frame := self._hear())[1] != ref:
            pass
        assert frame[4]["status"] == "ok", frame
        seq: int = frame[4]["response"]["seq"]
        return seq

    def _hear(self) -> Any:
        frame = self.raw.hear()
        if frame[3] in ("sync", "update"):
            self.seq, self.view = frame[4]["seq"], frame[4].get("view", self.view)
        return frame


def hasten(server: Server, tokens: list[str], room: str, until: Callable[[Any], bool], luck: int = 7) -> None:
    """Play at random over sockets until the view of whoever is awaited is so."""
    rng = random.Random(luck)
    with closing(Fast(server, tokens[0], room)) as x, closing(Fast(server, tokens[1], room)) as o:
        x.catch_up(o.seq)  # by coming in, one makes steps
        pair = (x, o)
        while True:
            seat = x.view["awaited"][0]
            view = pair[seat].view
            if until(view):
                return
            seq = pair[seat].do(choose(view, rng))
            for player in pair:
                player.catch_up(seq)


def choose(view: Any, rng: random.Random) -> dict[str, Any]:
    """Something that whoever sees this view may do; doubles are mostly taken."""
    match view["phase"]:
        case "move" if view["ways"]:
            start, end = rng.choice(view["ways"]).split()[0].split("/")
            return {
                "type": "move",
                "from": int(start.replace("bar", "25")),
                "to": int(end.replace("off", "0")),
            }
        case "move":
            return {"type": "end_turn"}
        case "double":
            return {"type": rng.choice(("accept", "accept", "accept", "decline"))}
        case phase:
            return {"type": phase}
