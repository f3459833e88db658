"""What a real server writes to its log about those who make noise."""

import json
import socket
from contextlib import closing

import pytest

pytestmark = pytest.mark.e2e

MALFORMED = 300

GAME = """
from parlour import Event, Game, State


class Nothing(State, frozen=True):
    pass


class Say(Event, frozen=True):
    words: str


class Echo(Game[Nothing]):
    name = "echo"
    display_name = "Echo"
    seats = range(1, 2)
    State = Nothing
    Event = Say

    def init(self, config, moment):
        return Nothing()

    def handle_event(self, state, sender, event, moment):
        raise ValueError(event.words)
"""


def test_malformed_requests_are_a_line_a_second_in_the_shape_of_the_log(serve):
    server = serve()
    for _ in range(MALFORMED):
        with closing(socket.create_connection(("127.0.0.1", server.port))) as line:
            line.sendall(b"\x1b[2J nonsense\r\n\r\n")
            assert line.recv(100).startswith(b"HTTP/1.1 400")
    server.stop()
    said = [json.loads(line) for line in server.log.splitlines() if "Invalid HTTP request" in line]
    assert sum(line.get("times", 1) for line in said) == MALFORMED
    assert len(said) < MALFORMED / 2
    assert "\x1b" not in server.log


def test_a_players_words_in_the_exception_of_a_game_do_not_reach_a_terminal_as_they_are(
    tmp_path, serve, seat
):
    game = tmp_path / "echo_game.py"
    game.write_text(GAME)
    server = serve(game, terminal=True, healthy=False)
    room = server.open_room("echo")["id"]
    (ann,) = seat(server, room, "Ann")
    event = {"type": "say", "words": "\x1b[2J\x1b]0;owned\x07\r\nforged line"}
    assert ann.push("game_event", {"event": event}).status == "error"
    server.wait_for_log(r"ValueError: \x1b[2J\x1b]0;owned\x07\r\nforged line")
    assert "\x1b[2J" not in server.log
    assert not [line for line in server.log.splitlines() if line.startswith("forged")]
