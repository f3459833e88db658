"""The XsOs door with the real npm `socket.io-client`, and with whatever else may knock there."""

import itertools
import json
import socket
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx
import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from fuzz.doors import masked
from fuzz.xsos import open_line
from tests.e2e.lines import PATIENCE
from tests.e2e.node import NodeClient
from tests.e2e.servers import Server

pytestmark = pytest.mark.e2e

FOLDER = Path(__file__).parent
SOCKET = "/socket.io/?EIO=4&transport=websocket"
chats = itertools.count(1)


class Player(NodeClient):
    """Somebody at a Socket.IO client of their own."""

    def __init__(self, server: Server, name: str, chat: str, transports: list[str], version: int = 4) -> None:
        self.name = name
        self.chat = chat
        self._seq = itertools.count()
        self._told = 0
        super().__init__("xsos.mjs")
        options = {"transports": transports}
        self.tell("connect", url=f"http://{server.address}", options=options, version=version)
        self.wait_for("connect")
        if transports == ["polling", "websocket"]:
            self.wait_for("upgrade", transport="websocket")

    def wait_for(self, heard: str, count: int = 1, **more: Any) -> None:
        self.hear_line(heard, count, lambda line: line.items() >= more.items())

    def say(self, action: str, **more: Any) -> Any:
        """Say something; the acknowledgement."""
        if action in ("join", "start_game"):
            more = {"name": self.name, **more}
        base = {"version": 3, "seq": next(self._seq), "from": self.name, "utouId": self.chat}
        return self.say_raw({**base, "action": action, **more})

    def say_raw(self, *args: Any) -> Any:
        return self.answered(self.tell("say", args=args))["ack"]

    def move(self, *game: int) -> Any:
        return self.say("update_game", game=game)

    @property
    def messages(self) -> list[Any]:
        return [line["message"] for line in self.heard_lines("server_msg")]

    def hear(self, *actions: str) -> list[Any]:
        """The next messages, which are of these actions."""
        upto = self._told + len(actions)
        self.lines.wait(lambda _: len(self.messages) >= upto or None, f"{self.name} to hear {actions}")
        next_ones = self.messages[self._told : upto]
        assert [message["action"] for message in next_ones] == list(actions)
        self._told = upto
        return next_ones

    def break_off(self) -> None:
        """The connection breaks, and the network is down."""
        self.tell("cut")
        self.wait_for("disconnect")

    def come_back(self) -> None:
        """The network is there again, and the client comes back by itself."""
        before = len(self.heard_lines("connect"))
        self.tell("back")
        self.wait_for("connect", count=before + 1)
        self._seq = itertools.count()


WAYS = [["websocket"], ["polling"], ["polling", "websocket"]]


@pytest.fixture(params=WAYS, ids="+".join)
def two(server: Server, request: pytest.FixtureRequest) -> Iterator[tuple[Player, Player]]:
    with ExitStack() as stack:
        chat = f"chat {next(chats)} of {request.node.name}"
        ann, bob = (
            stack.enter_context(closing(Player(server, name, chat, request.param))) for name in ("ann", "bob")
        )
        yield ann, bob


def test_two_real_clients_play_a_whole_game_with_a_break_in_the_middle(two):
    play_with_a_break(*two)


@pytest.mark.parametrize("transports", WAYS, ids="+".join)
def test_the_originals_own_library_plays_a_whole_game_against_todays(server, transports):
    with (
        closing(Player(server, "ann", f"old {next(chats)}", ["websocket"])) as ann,
        closing(Player(server, "bob", ann.chat, transports, version=2)) as bob,
    ):
        play_with_a_break(ann, bob)


def play_with_a_break(ann: Player, bob: Player) -> None:
    assert ann.say("join") == {"delivered": False}
    assert bob.say("join") == {"delivered": True}
    ann.hear("join")
    ann.say("start_game")
    bob.hear("start_game")
    bob.say("start_game_ack")
    ann.hear("start_game_ack")
    ann.move(1, 0, 0, 0, 0, 0, 0, 0, 0)
    bob.hear("update_game")
    bob.move(1, 0, 0, 0, -1, 0, 0, 0, 0)
    ann.hear("update_game")

    bob.break_off()
    ann.move(1, 1, 0, 0, -1, 0, 0, 0, 0)
    bob.come_back()
    assert bob.say("join") == {"delivered": False}
    (missed,) = bob.hear("update_game")
    assert missed["game"] == [1, 1, 0, 0, -1, 0, 0, 0, 0]

    assert bob.move(1, 1, 0, 0, -1, 0, -1, 0, 0) == {"delivered": True}
    ann.hear("update_game")
    ann.move(1, 1, 1, 0, -1, 0, -1, 0, 0)
    bob.hear("update_game")
    assert bob.say("game_over") == {"delivered": True}
    ann.hear("game_over")
    assert bob.say("leave_game") == {"delivered": True}
    ann.hear("leave_game")
    assert ann.say("leave_game") == {"delivered": False}
    assert (len(ann.messages), len(bob.messages)) == (6, 4), "nobody hears more than that"


def test_both_break_off_and_neither_misses_anything(two):
    ann, bob = two
    ann.say("join")
    bob.say("join")
    ann.hear("join")
    for absent, present in ((bob, ann), (ann, bob)):
        absent.break_off()
        for number in range(20):
            present.say("start_game", round=number)
        absent.come_back()
        absent.say("join")
        assert [message["round"] for message in absent.hear(*["start_game"] * 20)] == list(range(20))


def test_a_third_client_is_told_and_disturbs_nobody(server, two):
    ann, bob = two
    ann.say("join")
    bob.say("join")
    with closing(Player(server, "eve", ann.chat, ["websocket"])) as eve:
        message = {"version": 3, "seq": 0, "from": "eve", "utouId": eve.chat, "action": "join", "name": "Eve"}
        eve.tell("tell", args=[message])
        (told,) = eve.hear("error")
        assert (told["from"], told["code"]) == ("server", "game_full")
        assert eve.say("update_game", game=[1] * 9)["code"] == "not_joined"
    ann.say("start_game")
    bob.hear("start_game")
    ann.hear("join")


def test_bad_messages_of_a_real_client_are_refused_one_by_one(two):
    ann, _ = two
    assert ann.say_raw()["code"] == "malformed"
    assert ann.say_raw(None)["code"] == "malformed"
    assert ann.say("dance")["code"] == "unknown_event"
    assert ann.say("join", version=2)["code"] == "malformed"
    assert ann.say("join", utouId="x" * 10_000)["code"] == "malformed"
    assert ann.say("join", **{"from": "a\x00b"})["code"] == "malformed"
    assert ann.say("join") == {"delivered": False}


def test_clients_come_back_to_a_server_that_was_restarted(serve):
    server = serve()
    with (
        closing(Player(server, "ann", "c", ["websocket"])) as ann,
        closing(Player(server, "bob", "c", ["polling"])) as bob,
    ):
        server.stop()
        for player in (ann, bob):
            player.wait_for("disconnect")
        server.start()
        for player in (ann, bob):
            player.wait_for("connect", count=2)
        ann.say("join")
        bob.say("join")
        ann.hear("join")


def test_a_stop_waits_for_nobody_who_polls(serve):
    server = serve()
    with closing(Player(server, "ann", "c", ["polling"])):
        assert server.stop() == 0
    assert "Cancel" not in server.log


def test_the_referee_is_there_when_asked_for(serve):
    server = serve("--xsos-referee")
    with (
        closing(Player(server, "ann", "c", ["websocket"])) as ann,
        closing(Player(server, "bob", "c", ["websocket"])) as bob,
    ):
        ann.say("join")
        bob.say("join")
        assert ann.move(1, 1, 0, 0, 0, 0, 0, 0, 0)["code"] == "illegal_move"
        assert ann.move(1, 0, 0, 0, 0, 0, 0, 0, 0) == {"delivered": True}
        bob.hear("update_game")


# Bare lines.


def knock(server: Server, path: str = SOCKET, **more: Any) -> Any:
    return connect(f"ws://{server.address}{path}", compression=None, **more)


@contextmanager
def enter(server: Server) -> Iterator[Any]:
    with knock(server) as line:
        line.recv(timeout=PATIENCE)
        line.send("40")
        assert line.recv(timeout=PATIENCE).startswith("40")
        yield line


def hear_out(line: Any) -> int:
    """Listen until the line is closed; the code that says why."""
    with suppress(ConnectionClosed):
        while True:
            line.recv(timeout=PATIENCE)
    return int(line.protocol.close_rcvd.code)


def join(line: Any, name: str, chat: str) -> None:
    message = {"version": 3, "seq": 0, "from": name, "utouId": chat, "action": "join", "name": name}
    line.send("421" + json.dumps(["client_msg", message]))
    assert line.recv(timeout=PATIENCE).startswith("431")


@pytest.mark.parametrize(
    ("frame", "code"),
    [("hello", 1003), (b"binary", 1003), ("4" * 70_000, 1009), ("42" + "x" * 70_000, 1009)],
)
def test_what_is_no_packet_closes_the_line_with_the_code_that_says_why(server, frame, code):
    with enter(server) as line:
        line.send(frame)
        assert hear_out(line) == code


def test_text_that_is_not_utf_8_is_closed_with_1007(server):
    with enter(server) as line:
        line.socket.sendall(masked(0x81, b"42\xff\xfe"))
        assert hear_out(line) == 1007


def test_a_page_of_another_site_may_connect(server):
    answer = httpx.get(
        f"http://{server.address}/socket.io/?EIO=4&transport=polling",
        headers={"Origin": "https://liff.example"},
        trust_env=False,
    )
    assert answer.headers["access-control-allow-origin"] == "https://liff.example"
    with knock(server, origin="https://liff.example") as line:
        assert line.recv(timeout=PATIENCE).startswith("0{")


@pytest.mark.parametrize("path", ["/socket.io", "/socket.io/admin/", "/SOCKET.IO/"])
def test_there_is_nothing_beside_the_door(server, path):
    answer = httpx.get(f"http://{server.address}{path}?EIO=4&transport=polling", trust_env=False)
    assert answer.status_code == 404
    with pytest.raises(InvalidStatus) as refused, knock(server, f"{path}?EIO=4&transport=websocket"):
        pass
    assert refused.value.response.status_code == 404


def test_a_member_who_does_not_read_is_cut_and_hears_what_they_missed_on_return(serve):
    server = serve()
    chat = "stuck"
    with enter(server) as ann, open_line(server.port) as stuck:
        join(ann, "ann", chat)
        stuck.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        base = {"version": 3, "seq": 0, "from": "bob", "utouId": chat, "action": "join", "name": "Bob"}
        stuck.sendall(masked(0x81, b"42" + json.dumps(["client_msg", base]).encode()))
        assert '"bob"' in ann.recv(timeout=PATIENCE)
        told, answer = 0, '"delivered":true'
        while '"delivered":true' in answer and told < 10_000:
            message = {**base, "from": "ann", "seq": told, "action": "start_game", "imgURL": "x" * 2000}
            ann.send(f"42{told}" + json.dumps(["client_msg", message]))
            answer = ann.recv(timeout=PATIENCE)
            told += '"delivered"' in answer  # with as much as can wait, one more is refused
        assert '"delivered":false' in answer or '"too_many"' in answer
        server.wait_for_log("line_cut")
        with enter(server) as bob:
            join_again = json.dumps(["client_msg", base])
            bob.send("42" + join_again)
            missed = json.loads(bob.recv(timeout=PATIENCE)[2:])[1]
            assert 0 < missed["seq"] < told
            for seq in range(missed["seq"] + 1, told):
                assert json.loads(bob.recv(timeout=PATIENCE)[2:])[1]["seq"] == seq


def test_whoever_pings_without_end_and_reads_no_pong_is_cut(server):
    pings = masked(0x89, b"x" * 125) * 1000
    with open_line(server.port) as line:
        sent = 0
        with suppress(ConnectionError):
            while sent < 1000:
                line.sendall(pings)
                sent += 1
    assert 0 < sent < 1000


def test_a_flood_is_refused_then_cut_and_hurts_nobody(tmp_path):
    limited = {"PARLOUR_RATE": "20", "PARLOUR_ADDRESS_RATE": "0", "PARLOUR_PLAYER_RATE": "0"}
    server = Server(tmp_path / "data", environment=limited).start()
    try:
        with enter(server) as ann, enter(server) as bob, enter(server) as eve:
            join(ann, "ann", "c")
            join(bob, "bob", "c")
            ann.recv(timeout=PATIENCE)
            with suppress(ConnectionClosed):
                for _ in range(5000):
                    eve.send('42["client_msg",{}]')
                    eve.send("3")
            assert hear_out(eve) == 1008
            bob.send('42["client_msg",{"version":3,"seq":1,"from":"bob","utouId":"c","action":"game_over"}]')
            assert "game_over" in ann.recv(timeout=PATIENCE)
        assert server.call("GET", "/metrics").text.count(
            'parlour_refusals_total{code="too_fast",game="xsos"}'
        )
    finally:
        server.stop()
    assert "Traceback" not in server.log
    assert '"error"' not in server.log
