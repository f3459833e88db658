"""python -m fuzz.gammonx [--frames N]: fuzzed frames at the GammonX hub of a live server, a match beside it.

Most frames are calls that a SignalR client could have made if it had gone mad, by the two players of a match,
so that some are played; others have arguments that do not fit, are no calls, no records or no frames. Some
wishes come by POST. Shown: no traceback in the log, memory as before, the match beside it undisturbed.
"""

import json
import random
import socket
import uuid
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from typing import Any

import httpx
from websockets.sync.client import connect

from fuzz.doors import masked
from fuzz.mutate import inputs
from fuzz.storm import (
    BATCH,
    RAW_ENDS,
    SCALARS,
    Ended,
    Report,
    blow,
    command,
    enter,
    hear_out,
    masked_any,
    take_turns,
)
from parlour.doors.gammonx.hub import COMMANDS
from parlour.errors import Refused
from parlour.protocols.signalr import END, SignalR, farewell
from tests.e2e.lines import PATIENCE
from tests.e2e.servers import Server

TURN = 20
"""Frames after which the other player has their say: what they are told meanwhile must not be too much."""
LASTS = 2
"""Visits until the mad have another match."""
OFTEN = 5
"""Visits between two turns of the match beside them."""
HAND = '{"protocol":"json","version":1}' + END
ENDS = ("ResignGame", "ResignMatch", "DeclineDouble")
RARELY = 0.002
"""How often somebody gives up, so that matches last for a while."""
NAMES = tuple(one.name for one in COMMANDS.values() if one.name not in ENDS)
PLAYED = (
    "StartGame",
    "Roll",
    "Move",
    "Move",
    "EndTurn",
    "UndoMove",
    "OfferDouble",
    "AcceptDouble",
    "GameState",
)
STARTS = (0, 11, 16, 18) * 15
"""Where one's checkers are at first: from there something may be played."""
TARGETS = ("Dance", "", "__proto__", "roll\r\n", "x" * 300, "\u202e", "constructor")
SEEDS = (
    b'{"type":1,"target":"Move","arguments":["281ccec7-ea50-4ab1-be58-32669e11ee14",0,2],"invocationId":"7"}\x1e',
    b'{"type":6}\x1e',
    b'{"type":7}\x1e',
    b'{"type":3,"invocationId":"1","result":null}\x1e',
)
WISHES = (
    b'{"PlayerId":"fdd907ca-794a-43f4-83e6-cadfabc57c45","MatchVariant":2,"MatchModus":0,"MatchType":2}',
    b'{"playerId":"fdd907ca-794a-43f4-83e6-cadfabc57c45","matchModus":1}',
)


def new_id() -> str:
    return str(uuid.uuid4())


def want(http: httpx.Client, player: str, type: int) -> str:
    """Ask for a match of backgammon; its id."""
    answer = http.post("/api/matches/join", json={"PlayerId": player, "MatchType": type})
    id: str = answer.json()["payload"]["matchId"]
    return id


# The mad.


GOODBYE = farewell()
"""The last record of a match that is over."""
CLOSED = b"\x88\x02\x03\xe8"
"""The frame after it, which may be all that is left to read."""


class Frames:
    """Makes frames; the same ones for the same number, ids apart."""

    def __init__(self, number: int) -> None:
        self.chance = random.Random(number)
        self.match = new_id()
        self.players = (new_id(), new_id())
        self._ruined = inputs(SEEDS, number)
        self._wishes = inputs(WISHES, number)

    def mad(self) -> bytes:
        """What leaves a connection open: a whole record, several, or one in two pieces; as text or not."""
        chance = self.chance
        while True:
            said = (self._any_record() + END) * chance.choice((1, 1, 1, 1, 2, 5))
            if is_harmless(said):
                break
        if chance.random() < 0.05:
            half = len(said) // 2
            first, second = (masked_any(part.encode()) for part in (said[:half], said[half:]))
            return first + masked(0x89, b"between") + second
        return masked_any(said.encode(), chance.choice((0x81, 0x81, 0x82)))

    def _any_record(self) -> str:
        kind = self.chance.random()
        if kind < 0.1:
            return next(self._ruined)[:5000].decode(errors="replace").rstrip(END)
        if kind < 0.2:
            fields = {
                "type": self.chance.choice((2, 3, 4, 5, 6, 8, 0, -1)),
                "target": "Roll",
                "invocationId": "1",
            }
            return json.dumps({**fields, "item": self.chance.choice(SCALARS)})
        return self._call()

    def _call(self) -> str:
        chance = self.chance
        target = chance.choice(PLAYED if chance.random() < 0.7 else (*NAMES, *TARGETS))
        if chance.random() < RARELY:
            target = chance.choice(ENDS)
        arguments = self._arguments(target)
        if chance.random() < 0.1:
            arguments.insert(chance.randrange(len(arguments) + 1), chance.choice(SCALARS))
        id = chance.choice((None, "1", "1", "x" * 100, "\u202e"))
        call = {"type": 1, "target": chance.choice((target, target.upper())), "arguments": arguments}
        return json.dumps(
            call if id is None else {**call, "invocationId": id}, ensure_ascii=chance.random() < 0.5
        )

    def _arguments(self, target: str) -> list[Any]:
        """Something that this method may well take, or anything."""
        chance = self.chance
        match = self.match if chance.random() < 0.9 else chance.choice((new_id(), *SCALARS))
        if target == "Move":
            start = chance.choice((*STARTS, -1, *range(24), 24, -100, 100))
            return [match, start, chance.choice((start + chance.randrange(1, 7), -100))]
        if target == "JoinMatch":
            return [match, chance.choice((*self.players, new_id(), "ann"))]
        return [match]

    def last(self) -> bytes:
        """What ends a connection, most likely."""
        if self.chance.random() < 0.3:
            return self.chance.choice(RAW_ENDS) + bytes(300)
        return masked_any(next(self._ruined), self.chance.choice((0x81, 0x82)))

    def wish(self) -> tuple[str, bytes]:
        """A call over HTTP, to one of the queues that there are or are not."""
        queue = self.chance.choice((self.match, new_id(), "nonsense"))
        path = self.chance.choice(("join", f"queues/{queue}", f"queues/{queue}/cancel"))
        if self.chance.random() < 0.5:
            return path, next(self._wishes)
        wish = {"PlayerId": new_id(), "MatchVariant": self.chance.choice((1, 2)), "MatchType": 2}
        return path, json.dumps({**wish, "MatchModus": self.chance.choice((0, 1, 2, 3, 99))}).encode()


def is_harmless(said: str) -> bool:
    """Whether a connection survives this."""
    reader = SignalR()
    reader.is_open = True
    with suppress(Refused):
        for record in reader.records(said):
            reader.read(record)
        return not reader.left
    return False


def visit(server: Server, made: Frames, count: int, before: int) -> int:
    """Both players of a match, who say anything in turn, and end badly; how many frames that were.

    Where the match ends their lines do, too, after a goodbye.
    """
    said = 0

    def check(begin: int) -> tuple[bytes, bytes]:
        nonlocal said
        said, number = begin, before + begin
        asked = {"type": 1, "target": "Nothing", "arguments": [], "invocationId": f"check {number}"}
        return masked(0x81, (json.dumps(asked) + END).encode()), f'"check {number}"'.encode()

    try:
        with open_line(server, made, 0) as one, open_line(server, made, 1) as two:
            take_turns((one, two), [made.mad() for _ in range(count - 2)], TURN, check)
            for line in (one, two):
                line.sendall(made.last())
    except Ended as early:
        if GOODBYE not in early.heard and not early.heard.endswith(CLOSED):
            raise
        return said + 1
    return count


def open_line(server: Server, made: Frames, number: int) -> socket.socket:
    player = made.players[number]
    line = enter(server.port, f"/matchhub?matchId={made.match}&playerId={player}")
    call = {"type": 1, "target": "JoinMatch", "arguments": [made.match, player], "invocationId": "join"}
    line.sendall(masked(0x81, (HAND + json.dumps(call) + END).encode()))
    hear_out(line, b'"join"')  # until then what is asked is held, or even refused
    return line


# The match beside them.


class Player:
    """Somebody who plays properly."""

    def __init__(self, server: Server, match: str, id: str) -> None:
        self._match = match
        address = f"ws://{server.address}/matchhub?matchId={match}&playerId={id}"
        self._open = ExitStack()
        self._line = self._open.enter_context(connect(address, compression=None))
        self._line.send(HAND)
        self._records = self._listen()
        assert next(self._records) == {}
        self._count = 0
        self.shown: dict[str, Any] = {}
        """The last game that was shown."""

    def _listen(self) -> Iterator[Any]:
        while True:
            for record in str(self._line.recv(PATIENCE)).split(END)[:-1]:
                yield json.loads(record)

    def call(self, target: str, *arguments: Any) -> list[str]:
        """Call a method; the names of all events until it was answered."""
        self._count += 1
        id = str(self._count)
        call = {"type": 1, "target": target, "arguments": [self._match, *arguments], "invocationId": id}
        self._line.send(json.dumps(call) + END)
        names: list[str] = []
        for record in self._records:
            if record.get("invocationId") == id:
                return [*names, "failed"] if "error" in record else names
            if record["type"] == 1:
                names.append(record["target"])
                payload = record["arguments"][0]["payload"]
                self.shown = payload if "boardState" in payload else self.shown
        raise AssertionError("unreachable")

    def close(self) -> None:
        self._open.close()


class Beside:
    """A match between two who play properly, one turn after the other; when it is over, another one."""

    def __init__(self, server: Server, http: httpx.Client) -> None:
        self._server = server
        self._http = http
        self.trouble: list[str] = []
        """What was not as it should be."""
        self.turns = 0
        self._players: tuple[Player, ...] = ()
        self._begin()

    def _begin(self) -> None:
        ids = (new_id(), new_id())
        matches = [want(self._http, id, 1) for id in ids]
        if matches[0] != matches[1]:
            self.trouble.append("two who wanted the same were not sent to the same match")
        self.close()
        self._players = tuple(Player(self._server, match, id) for match, id in zip(matches, ids, strict=True))
        for method, argument in (("JoinMatch", ids), ("StartGame", ((), ()))):
            for player, more in zip(self._players, argument, strict=True):
                self._do(player, method, *((more,) if more else ()))

    def _do(self, player: Player, target: str, *arguments: Any) -> list[str]:
        events = player.call(target, *arguments)
        bad = {"error", "failed", "force-disconnect", "player-disconnected"}.intersection(events)
        if bad and "match-ended" not in events:
            self.trouble.append(f"{target} was answered with {', '.join(sorted(bad))}")
        return events

    def play(self) -> None:
        """One whole turn; both see the same board, each as white."""
        mover = self._mover()
        if mover is None:
            self._begin()
            return
        events = self._do(mover, "Roll")
        while "Move" in mover.shown["allowedCommands"] and not {"game-ended", "match-ended"}.intersection(
            events
        ):
            move = mover.shown["moveSequences"][0]["moves"][0]
            events = self._do(mover, "Move", move["from"], move["to"])
        if "match-ended" in events or "game-ended" in events:
            self._begin()
            return
        self._do(mover, "EndTurn")
        self.turns += 1

    def _mover(self) -> Player | None:
        """Whose turn it is, by what both are shown."""
        for player in self._players:
            self._do(player, "GameState")
        one, other = (player.shown["boardState"]["fields"] for player in self._players)
        if one != [-count for count in reversed(other)]:
            self.trouble.append("the two see different boards")
        return next((one for one in self._players if "Roll" in one.shown["allowedCommands"]), None)

    def close(self) -> None:
        for player in self._players:
            player.close()


def storm(server: Server, frames: int, number: int = 1) -> Report:
    """So many frames beside two people who play."""
    made = Frames(number)
    with httpx.Client(base_url=f"http://{server.address}", trust_env=False, timeout=30) as http:
        beside, visits, over = Beside(server, http), 0, False

        def rave(left: int, before: int) -> int:
            nonlocal visits, over
            if visits % LASTS == 0 or over:
                made.players = (new_id(), new_id())
                made.match = [want(http, player, 0) for player in made.players][-1]
            count = max(4, min(BATCH, left))
            said = visit(server, made, count, before)
            over = said < count
            path, body = made.wish()
            assert http.post(f"/api/matches/{path}", content=body).status_code in (200, 400, 404, 413)
            if visits % OFTEN == 0:
                beside.play()
            visits += 1
            return said

        def rage(between: Any) -> list[str]:
            between()
            beside.play()
            return beside.trouble

        report = blow(server, frames, rave, rage, alone=[])
        beside.close()
        print(f"{beside.turns} turns were played beside them; trouble: {beside.trouble[:3] or 'none'}")
        return report


if __name__ == "__main__":
    command("gammonx", __doc__, storm)
