"""The GammonX door with the real npm `@microsoft/signalr`, which knows nothing of Parlour."""

import itertools
import json
import subprocess
import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.lines import PATIENCE, Lines
from tests.e2e.servers import Server

pytestmark = pytest.mark.e2e

FOLDER = Path(__file__).parent
WHOLE_MATCH = 120.0
"""Seconds in which two programs have played a match."""


class Player:
    """Somebody at a SignalR client of their own."""

    def __init__(self, server: Server, id: str | None = None) -> None:
        self.id = id or str(uuid.uuid4())
        self.match = ""
        self._server = server
        self._numbers = itertools.count(1)
        self._node = subprocess.Popen(
            ["node", "gammonx.mjs"], cwd=FOLDER, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert self._node.stdout is not None
        self.lines = Lines(self._node.stdout, json.loads)

    def want(self, variant: int = 0, modus: int = 0, type: int = 2, **headers: str) -> str:
        wish = {"PlayerId": self.id, "MatchVariant": variant, "MatchModus": modus, "MatchType": type}
        answer = self._server.call("POST", "/api/matches/join", wish, headers=headers)
        assert answer.status_code == 200, answer.text
        self.match = answer.json()["payload"]["matchId"]
        return self.match

    def connect(self, prefix: str = "", **options: Any) -> None:
        url = f"http://{self._server.address}{prefix}/matchhub"
        query = f"matchId={self.match}&playerId={self.id}"
        assert self.ask("connect", url=url, query=query, options=options) is None

    def do(self, what: str, **more: Any) -> None:
        assert self._node.stdin is not None
        self._node.stdin.write(json.dumps({"do": what, **more}) + "\n")
        self._node.stdin.flush()

    def ask(self, what: str, **more: Any) -> str | None:
        """Do something and wait until it is done; what went wrong."""
        number = next(self._numbers)
        self.do(what, n=number, **more)

        def there(lines: list[Any]) -> Any:
            return next((line for line in lines if line.get("answer") == number), None)

        error: str | None = self.lines.wait(there, f"an answer to {what}").get("error")
        return error

    def invoke(self, target: str, *arguments: Any) -> str | None:
        return self.ask("invoke", args=[target, self.match, *arguments])

    def hear(self, name: str, count: int = 1, patience: float = PATIENCE) -> Any:
        """The payload of an event, as soon as it has come so often."""

        def there(lines: list[Any]) -> Any:
            like = [line for line in lines if line.get("heard") == name]
            return like[count - 1] if len(like) >= count else None

        return self.lines.wait(there, f"{name} for the {count}. time", patience).get("payload")

    def play(self, seed: int, *, cuts: int = 0, after: int = 0) -> None:
        """Join, and play by itself until the match is over; the line is cut after so many calls."""
        self.do("play", match=self.match, player=self.id, seed=seed, cuts=cuts, after=after)

    def heard(self, name: str) -> list[Any]:
        return [line.get("payload") for line in list(self.lines.all) if line.get("heard") == name]

    def close(self) -> None:
        with self._node:
            assert self._node.stdin is not None
            self._node.stdin.close()
            try:
                self._node.wait(PATIENCE)
            finally:
                self._node.kill()
            self.lines.end()


Come = Callable[..., Player]


@pytest.fixture
def come(server: Server) -> Iterator[Come]:
    with ExitStack() as stack:

        def one(at: Server | None = None, id: str | None = None) -> Player:
            return stack.enter_context(closing(Player(at or server, id)))

        yield one


@pytest.mark.parametrize("type", [0, 1, 2], ids=["five points", "seven points", "cash"])
@pytest.mark.parametrize("variant", [0, 1, 2], ids=["backgammon", "tavla", "tavli"])
def test_two_real_clients_play_a_whole_match_with_a_reconnect_in_the_middle(come, variant, type):
    ann, bob = come(), come()
    for who in (ann, bob):
        who.want(variant, 0, type)
        who.connect("/game" if who is bob else "")
    assert ann.match == bob.match
    ann.play(seed=1 + variant, cuts=1, after=30)
    bob.play(seed=7 + type)
    ends = [who.hear("match-ended", patience=WHOLE_MATCH) for who in (ann, bob)]
    for who, end in zip((ann, bob), ends, strict=True):
        who.hear("force-disconnect")
        assert end["allowedCommands"] == []
        assert not who.heard("wrong-board")
        assert not who.heard("wrong-type")
        assert not who.heard("error")
    ann.hear("reconnected")
    assert bob.hear("player-disconnected")["playerId"] == ann.id
    assert bob.hear("player-connected")
    assert ends[0] == ends[1]
    check_match(ends[0], variant, type)


def check_match(end: Any, variant: int, type: int) -> None:
    """The score is that of the games, and enough to end the match."""
    assert (end["variant"], end["modus"], end["type"]) == (variant, 0, type)
    players = [end["player1"], end["player2"]]
    for player in players:
        won = [game["score"] for game in end["gameRounds"] if game["winner"] == player["id"]]
        assert player["score"] == sum(won)
    games = [game["modus"] for game in end["gameRounds"]]
    plan = {0: [0], 1: [1], 2: [2, 3, 4]}[variant]
    assert games == [plan[number % len(plan)] for number in range(len(games))]
    if type == 2:
        assert len(games) == len(plan)
    else:
        assert max(player["score"] for player in players) >= (5, 7)[type]
    assert [game["gameRoundIndex"] for game in end["gameRounds"]] == list(range(len(games)))
    assert end["gameRound"] == len(games)


def test_a_real_client_plays_a_whole_match_against_a_bot_with_a_reconnect_in_the_middle(come, serve):
    ann = come(serve("--bot-pace", 0))  # a bot that waits for nobody's eyes
    ann.want(0, 2, 2)
    ann.connect()
    ann.play(seed=3, cuts=1, after=12)
    end = ann.hear("match-ended", patience=WHOLE_MATCH)
    ann.hear("force-disconnect")
    ann.hear("reconnected")
    assert (end["modus"], end["player1"]["id"]) == (2, ann.id)
    assert not ann.heard("error")
    assert not ann.heard("wrong-board")
