"""Starting where one cannot, asking for too much, and games that never end: with real processes."""

import select
import socket
import sqlite3
import time
from contextlib import closing, suppress

import pytest
from websockets.exceptions import InvalidStatus

from parlour.journal.sqlite.file import FORMAT
from tests.e2e.lines import PATIENCE
from tests.e2e.servers import launch

pytestmark = pytest.mark.e2e

GREEDY = """
import asyncio
import re
import time

from parlour import Event, Game, State, Update


class Nothing(State, frozen=True):
    pass


class Think(Event, frozen=True):
    how: str = "loop"


class Greedy(Game[Nothing]):
    name = "greedy"
    display_name = "Greedy"
    seats = range(1, 2)
    State = Nothing
    Event = Think

    def init(self, config, moment):
        return Nothing()

    def handle_event(self, state, sender, event, moment):
        match event.how:
            case "backtrack":
                re.match(r"(a+)+$", "a" * 40 + "b")
            case "exit":
                raise SystemExit(7)
            case "block the loop":
                asyncio.get_running_loop().call_later(0.1, time.sleep, 3600)
                return Update(state)
            case _:
                while True:
                    pass
"""


def said(*arguments):
    """What a server says that does not start, and its exit code."""
    process = launch("serve", *map(str, arguments))
    out, _ = process.communicate(timeout=PATIENCE)
    return process.returncode, " ".join(out.split())


# Starting.


def test_a_second_server_on_the_same_data_does_not_start(serve):
    server = serve()
    code, sentence = said("--port", 0, "--data", server.data)
    assert code == 1
    assert "another server is using the data folder" in sentence


def test_a_port_that_is_in_use_is_said_in_a_sentence(serve, tmp_path):
    server = serve()
    code, sentence = said("--port", server.port, "--data", tmp_path / "other")
    assert code == 1
    assert f"cannot listen on 127.0.0.1 port {server.port}: Address already in use" in sentence


def test_an_address_that_is_not_of_this_machine_is_said_in_a_sentence(tmp_path):
    code, sentence = said("--port", 0, "--host", "192.0.2.77", "--data", tmp_path)
    assert code == 1
    assert "cannot listen on 192.0.2.77 port 0: " in sentence


def test_a_public_url_that_is_none_is_said_in_a_sentence(tmp_path):
    code, sentence = said("--port", 0, "--data", tmp_path, "--public-url", "games.example")
    assert code == 1
    assert "--public-url: expected an address like https://games.example, got 'games.example'" in sentence


def test_a_data_folder_that_cannot_be_is_said_in_a_sentence():
    code, sentence = said("--port", 0, "--data", "/proc/nothing")
    assert code == 1
    assert "cannot use the data folder /proc/nothing" in sentence


def test_a_journal_of_a_newer_parlour_is_said_in_a_sentence(tmp_path):
    with closing(sqlite3.connect(tmp_path / "parlour.db")) as db:
        db.execute("PRAGMA user_version = 99")
        db.execute(f"PRAGMA application_id = {int.from_bytes(b'Parl', 'big')}")
        db.commit()
    code, sentence = said("--port", 0, "--data", tmp_path)
    assert code == 1
    assert f"has format 99, and this Parlour reads formats up to {FORMAT}" in sentence
    assert "Traceback" not in sentence


# Asking for too much.


def test_whoever_asks_too_quickly_is_refused_and_then_cut_and_others_play_on(serve, knock, seat):
    server = serve("--rate", 5, "--player-rate", 0, "--address-rate", 0)
    room = server.open_room()["id"]
    (ann,) = seat(server, room, "Ann")
    hasty = knock(server, server.guest("Bob").token)
    assert hasty.join(room).status == "ok"
    codes = [hasty.ask(f"game:{room}", "rematch", {}).code for _ in range(40)]
    assert codes[-1] == "too_fast"
    with suppress(OSError):
        for n in range(1000):
            hasty.send(["1", str(n), f"game:{room}", "rematch", {}])
    assert hasty.end() == 1008
    assert ann.chat("still here")


def test_a_join_that_is_refused_for_haste_leaves_the_room_it_would_have_joined_again(serve, knock, seat):
    server = serve("--rate", 5, "--player-rate", 0, "--address-rate", 0)
    room = server.open_room()["id"]
    (ann,) = seat(server, room, "Ann")
    bob = server.guest("Bob")
    hasty = knock(server, bob.token)
    codes = [hasty.join(room).code for _ in range(15)]
    assert codes[0] is None
    assert codes[-1] == "too_fast"
    ann.wait_for_presence({ann.id: 1})


def test_an_address_with_too_many_sockets_is_turned_away(serve, knock):
    server = serve("--address-connections", 2)
    first, second = knock(server), knock(server)
    with pytest.raises(InvalidStatus) as refused:
        knock(server)
    assert refused.value.response.status_code == 429
    first.close()
    second.close()


def silent_lines(server, count, refused):
    """TCP connections that say nothing, once the server has closed so many of them: those that it holds."""
    lines = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(count)]
    ended: list[socket.socket] = []
    until = time.monotonic() + PATIENCE
    while len(ended) < refused and time.monotonic() < until:
        ended, _, _ = select.select(lines, [], [], 0.1)
    assert len(ended) == refused
    for line in ended:
        with suppress(ConnectionError):
            assert line.recv(1) == b""
        line.close()
    return [line for line in lines if line not in ended]


def test_an_address_holds_so_many_connections_that_say_nothing_and_the_next_are_closed_at_once(serve):
    server = serve("--address-connections", 5, "--header-timeout", 60)
    held = silent_lines(server, 20, 15)
    for line in held[1:]:
        line.close()
    held[0].sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    with held[0].makefile("rb") as answer:  # whoever is held is answered
        assert b'parlour_lines_cut_total{why="too_many"} 15.0' in answer.read()
    held[0].close()


def test_the_connections_of_a_known_proxy_are_not_counted_as_its_own(serve):
    server = serve("--address-connections", 2, "--proxies", "127.0.0.1", "--header-timeout", 60)
    for line in silent_lines(server, 10, 0):
        line.sendall(b"GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        assert line.recv(15).startswith(b"HTTP/1.1 200")
        line.close()


def test_a_request_that_does_not_arrive_is_not_waited_for(serve):
    server = serve("--header-timeout", 1)
    began = time.monotonic()
    with closing(socket.create_connection(("127.0.0.1", server.port))) as half:
        half.sendall(b"POST /api/rooms HTTP/1.1\r\nHost: x\r\nContent-Length: 50\r\n\r\n{")
        with suppress(ConnectionError):
            assert half.recv(100) == b""
    assert time.monotonic() - began < 5


def test_whoever_pings_and_never_reads_is_cut(serve):
    server = serve("--max-outbox", 100_000)
    with closing(socket.create_connection(("127.0.0.1", server.port))) as silent:
        silent.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        silent.sendall(
            b"GET /socket/websocket?vsn=2.0.0 HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\n"
            b"Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
            b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
        )
        ping = b"\x89\xfd" + bytes(4) + b"x" * 125
        with pytest.raises(ConnectionError):
            silent.sendall(ping * 500_000)
    assert server.call("GET", "/health").status_code == 200


@pytest.mark.parametrize("path", ["//[", "/socket/websocket?vsn=2.0.0&[", "/%00"])
def test_an_odd_address_leaves_no_connection_behind(serve, path):
    server = serve()
    for _ in range(20):
        with closing(socket.create_connection(("127.0.0.1", server.port))) as odd:
            odd.sendall(
                b"GET "
                + path.encode()
                + b" HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
            )
            assert odd.recv(20).startswith(b"HTTP/1.1 ")
    began = time.monotonic()
    assert server.stop() == 0
    assert time.monotonic() - began < 5


# Games that never end.


def test_a_game_that_loops_for_ever_is_cut_off_and_other_rooms_go_on(serve, tmp_path, seat):
    file = tmp_path / "greedy.py"
    file.write_text(GREEDY)
    server = serve(file, "--callback-timeout", 0.3, healthy=False)
    bad, good = server.open_room("greedy")["id"], server.open_room()["id"]
    ann, bob = seat(server, good, "Ann", "Bob")
    (eve,) = seat(server, bad, "Eve")
    refused = eve.play("think")
    assert refused.code == "game_overran"
    assert "more than 0.3 s of CPU time" in refused.response["message"]
    assert ann.mark(4)
    assert bob.mark(0)
    room = server.room(bad)
    assert (room["status"], room["ended"]) == ("ended", "game_overran")
    server.stop()
    assert "loop_blocked" in server.log
    assert "while True" in server.log


def test_a_backtracking_regular_expression_is_cut_off_health_and_sigterm_go_on(serve, tmp_path, seat):
    file = tmp_path / "greedy.py"
    file.write_text(GREEDY)
    server = serve(file, "--callback-timeout", 0.3, healthy=False)
    (eve,) = seat(server, server.open_room("greedy")["id"], "Eve")
    assert eve.play("think", how="backtrack").code == "game_overran"
    assert server.call("GET", "/health").status_code == 200
    assert server.stop() == 0


def test_a_game_that_wants_to_exit_costs_one_command_and_sigterm_ends_the_server(serve, tmp_path, seat):
    file = tmp_path / "greedy.py"
    file.write_text(GREEDY)
    server = serve(file, healthy=False)
    room = server.open_room("greedy")["id"]
    (eve,) = seat(server, room, "Eve")
    assert eve.play("think", how="exit").code == "game_error"
    assert eve.play("think", how="exit").code == "game_error"
    assert server.call("GET", "/health").status_code == 200
    assert server.stop() == 0


def test_a_stop_has_a_time_limit_and_says_what_was_not_stored(serve, tmp_path, seat):
    file = tmp_path / "greedy.py"
    file.write_text(GREEDY)
    server = serve(file, "--stop-timeout", 0.5, healthy=False)
    room = server.open_room("greedy")["id"]
    (eve,) = seat(server, room, "Eve")
    eve.play("think", how="block the loop")
    server.wait_for_log("loop_blocked")
    assert server.stop() == 1
    (line,) = [line for line in server.log.splitlines() if "stop_took_too_long" in line]
    assert room in line
