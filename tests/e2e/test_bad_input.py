"""Whatever somebody sends, it costs nobody else anything: two players go on in the same room meanwhile."""

import socket
from contextlib import ExitStack, closing

import pytest

from tests.e2e.clients import Player, refused_status

pytestmark = pytest.mark.e2e


class Table:
    """Two players in a room, who notice when something goes wrong."""

    def __init__(self, server, ann, bob):
        self.room = server.open_room()["id"]
        self.topic = f"game:{self.room}"
        self.ann, self.bob = ann, bob
        for player in (ann, bob):
            assert player.join(self.room).status == "ok"

    def goes_on(self):
        """They talk; everything arrives, once and in order, over the connections they have had all along."""
        seq = self.ann.chat("still here?")
        assert self.bob.chat("of course") == seq + 1
        for player, first in ((self.ann, 3), (self.bob, 5)):
            player.wait_for("update", seq=seq + 1)
            assert player.seqs == list(range(first, seq + 2))
            assert player.heard("close", "phx_error", "phx_close") == []
        return True


@pytest.fixture(scope="module")
def table(server):
    with ExitStack() as stack:
        players = [
            stack.enter_context(closing(Player(server, server.guest(name)))) for name in ("Ann", "Bob")
        ]
        yield Table(server, *players)


@pytest.fixture
def rude(server, table, knock):
    """Somebody who watches the same room over a bare socket."""
    raw = knock(server, server.guest("Rude").token)
    assert raw.join(table.room, spectate=True).status == "ok"
    return raw


# Frames that end the connection of whoever sends them.


@pytest.mark.parametrize(
    "text",
    ["hello", "", "{}", "[]", "[1, 2, 3, 4, 5]", '["1","1","game:X","chat"]', '["1","1","game:X","chat",NaN]',
     '["1","1","game:X","chat",{"text":"\\ud800"}]', "[" * 5_000, '["1","1",null,"chat",{}]'],
    ids=["words", "nothing", "object", "empty", "numbers", "short", "NaN", "surrogate", "deep", "no topic"],
)  # fmt: skip
def test_what_is_no_phoenix_frame_is_answered_by_close_1003(rude, table, text):
    rude.send(text)
    assert rude.end() == 1003
    assert table.goes_on()


def test_text_that_is_not_utf_8_is_answered_by_close_1007(rude, table):
    rude.send_broken_text(b'["1","2","game:X","chat",{"text":"\xff"}]')
    assert rude.end() == 1007
    assert table.goes_on()


@pytest.mark.parametrize("size", [64 * 1024 + 1, 1_000_000])
def test_a_frame_that_is_too_large_is_answered_by_close_1009(rude, table, size):
    rude.send("x" * size)
    assert rude.end() == 1009
    assert table.goes_on()


def test_a_message_whose_pieces_are_too_large_together_is_answered_by_close_1009(rude, table):
    rude.send("x" * 20_000 for _ in range(10))
    assert rude.end() == 1009
    assert table.goes_on()


def test_a_binary_frame_that_phoenix_could_not_have_made_is_answered_by_close_1003(rude, table):
    rude.send(b"\x07\xff\xff")
    assert rude.end() == 1003
    assert table.goes_on()


# Frames that are refused, and no more than that.


def test_a_binary_push_of_the_real_client_is_refused_and_the_channel_lives(server, enter, table):
    eve = enter(server, "Eve")
    eve.join(table.room, spectate=True)
    refused = eve.ask("push", topic=eve.topic, event="chat", binary=[1, 2, 3])
    assert refused.code == "malformed"
    assert eve.chat("in words, then") > 0
    assert table.goes_on()


@pytest.mark.parametrize("event", ["game_event", "chat", "leave", "rematch", "nonsense"])
def test_events_before_joining_are_refused(server, knock, table, event):
    raw = knock(server, server.guest("Rude").token)
    assert raw.ask(table.topic, event, {"text": "hi"}, None).code == "not_joined"
    assert raw.join(table.room, spectate=True).status == "ok"
    assert table.goes_on()


@pytest.mark.parametrize("event", ["game_event", "leave", "rematch"])
def test_events_of_spectators_are_refused(rude, table, event):
    payload = {"event": {"type": "mark", "cell": 4}} if event == "game_event" else {}
    assert rude.ask(table.topic, event, payload).code in ("not_seated", "not_over")
    assert table.goes_on()


@pytest.mark.parametrize(
    ("event", "payload", "code"),
    [
        ("nonsense", {}, "unknown_event"),
        ("chat", {"text": "x" * 501}, "invalid_text"),
        ("chat", {"text": " "}, "invalid_text"),
        ("chat", {"text": "\u202eevil"}, "invalid_text"),
        ("chat", {"text": 7}, "malformed"),
        ("chat", {"text": "hi", "to": "all"}, "malformed"),
        ("chat", {"text": "hi", "id": "x" * 65}, "malformed"),
        ("chat", [], "malformed"),
        ("chat", None, "malformed"),
        ("game_event", {"event": 2**60}, "malformed"),
        ("game_event", {}, "malformed"),
    ],
)
def test_a_payload_that_makes_no_sense_is_refused(rude, table, event, payload, code):
    assert rude.ask(table.topic, event, payload).code == code
    assert rude.ask("phoenix", "heartbeat", {}, None) == ("ok", {})
    assert table.goes_on()


@pytest.mark.parametrize(
    "event",
    [{"type": "mark"}, {"type": "mark", "cell": 9}, {"type": "mark", "cell": 0, "cheat": True}, "mark", None,
     {"type": "mark", "cell": 1e300}],
)  # fmt: skip
def test_a_move_that_makes_no_sense_is_refused_to_the_player_who_makes_it(table, event):
    assert table.ann.push("game_event", {"event": event}).code == "malformed"
    assert table.goes_on()


@pytest.mark.parametrize(
    "payload", [{"since": "5"}, {"since": 1.5}, {"format": "xml"}, {"spectate": 1}, {"as": "Ann"}, [], None]
)
def test_a_join_that_makes_no_sense_is_refused(server, knock, table, payload):
    raw = knock(server)
    assert raw.ask(table.topic, "phx_join", payload).code == "malformed"
    assert table.goes_on()


@pytest.mark.parametrize("since", [-1, 10**6, 2**53])
def test_a_since_from_nowhere_gets_the_whole_view(rude, table, since):
    assert rude.join(table.room, spectate=True, since=since).status == "ok"
    assert rude.hear("sync")[4]["reset"] is True
    assert table.goes_on()


@pytest.mark.parametrize("topic", ["game:", "game", "", "matches:tictactoe", "phoenix", "x" * 1000])
def test_a_topic_that_is_none_is_refused(server, knock, table, topic):
    raw = knock(server)
    assert raw.ask(topic, "phx_join", {}).code == "unknown_room"
    assert table.goes_on()


def test_a_socket_has_at_most_a_hundred_channels(server, knock, table):
    raw = knock(server)
    rooms = [server.open_room()["id"] for _ in range(100)]
    assert {raw.join(room, spectate=True).status for room in rooms} == {"ok"}
    assert raw.join(table.room, spectate=True).code == "too_many"
    assert raw.ask(f"game:{rooms[0]}", "phx_leave", {}).status == "ok"
    assert raw.join(table.room, spectate=True).status == "ok"
    assert table.goes_on()


# Knocks that are turned away.


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/socket/websocket", 403),
        ("/socket/websocket?vsn=1.0.0", 403),
        ("/socket/websocket?vsn=3.0.0", 403),
        ("/socket/websocket?vsn=2.0.0&token=forged", 403),
        ("/socket", 404),
        ("/socket/longpoll?vsn=2.0.0", 404),
        ("/", 404),
        ("/api/rooms", 404),
    ],
)
def test_an_upgrade_at_a_wrong_path_is_refused(server, table, path, status):
    assert refused_status(server, path=path) == status
    assert table.goes_on()


NO_KEY = b"GET /socket/websocket HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\n"
ENDLESS = b"GET /" + b"x" * 100_000 + b" HTTP/1.1\r\n\r\n"


@pytest.mark.parametrize(
    "head",
    [b"\x16\x03\x01\x02\x00", b"GET\r\n\r\n", NO_KEY, ENDLESS],
    ids=["tls", "no http", "no key", "endless"],
)
def test_bytes_that_are_no_request_at_all_end_with_a_refusal(server, table, head):
    with socket.create_connection(("127.0.0.1", server.port), timeout=10) as plug:
        plug.sendall(head)
        assert b" 4" in plug.recv(1024)[:12]
    assert table.goes_on()


# Calls that are refused.


@pytest.mark.parametrize(
    "name", ["", "  ", "x" * 41, "x" * 10_240, "a\x00b", "a\nb", "a\x1b[31mb", "a\u202eb", "a\u200bb"]
)
def test_a_name_that_cannot_be_shown_is_refused_by_400(server, table, name):
    answer = server.call("POST", "/api/players", {"name": name})
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid_name")
    assert table.goes_on()


@pytest.mark.parametrize(
    ("path", "body", "status", "code"),
    [
        ("/api/players", b"{", 400, "malformed"),
        ("/api/players", b'{"name": "Ann", "admin": true}', 400, "malformed"),
        ("/api/players", b"[" * 5_000, 400, "malformed"),
        ("/api/players", b'{"name": "\xff"}', 400, "malformed"),
        ("/api/players", b'{"name": "' + b"x" * 70_000 + b'"}', 413, "too_large"),
        ("/api/rooms", b'{"game": "chess"}', 404, "unknown_game"),
        ("/api/rooms", b'{"game": "minesweeper", "config": {"mines": 1000}}', 400, "invalid_config"),
        ("/api/rooms", b'{"game": "tictactoe", "id": "../../etc/passwd"}', 400, "malformed"),
        ("/api/nothing", b"{}", 404, "not_found"),
    ],
)
def test_a_call_that_makes_no_sense_is_refused_with_a_code(server, table, path, body, status, code):
    answer = server.call("POST", path, content=body)
    assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert table.goes_on()
