"""Relays on a real server: both generations, bad input, floods, stuck members, and what a plain call gets."""

import base64
import json
import socket
import uuid
from contextlib import closing

import pytest
from websockets.exceptions import InvalidStatus

from tests.e2e import relays

pytestmark = pytest.mark.e2e

bring = pytest.fixture(relays.members)


@pytest.fixture
def room():
    return f"/g/{uuid.uuid4()}"


def test_two_of_today_talk_and_both_get_the_same_envelope(server, bring, room):
    ann, bob = bring(server, f"{room}?id=ann"), bring(server, f"{room}?id=bob")
    assert (ann.hear()["Intent"], ann.hear()["From"]) == ("Welcome", ["bob"])
    assert bob.hear()["From"] == ["ann"]
    bob.say('{"turn":0}')
    heard, receipt = ann.hear(), bob.hear()
    assert receipt == {**heard, "Receipt": True}
    assert base64.b64decode(heard["Body"]) == b'{"turn":0}'


def test_the_first_generation_is_known_by_its_cookie(server, bring, room):
    ann, bob = bring(server, room), bring(server, room)
    (me,) = ann.hear()["To"]
    assert bob.hear()["From"] == [me]
    ann.say('{"letters": ["D"]}')
    assert bob.hear()["Body"] == {"letters": ["D"]}
    window = bring(server, room, additional_headers={"Cookie": ann.cookie})
    assert window.hear()["To"] == [me]
    assert bob.hear("Joiner")["From"] == [me]


def test_who_lost_the_line_returns_to_what_was_missed(server, bring, room):
    ann, bob = bring(server, f"{room}?id=ann"), bring(server, f"{room}?id=bob")
    last = bob.hear()["Num"]
    bob.line.socket.shutdown(socket.SHUT_RDWR)
    for word in ("one", "two"):
        ann.say(word)
    assert ann.hear("Peer")["To"] == ["bob"]
    again = bring(server, f"{room}?id=bob&lastnum={last}")
    assert [again.hear()["Num"], again.hear()["Num"]] == [last + 1, last + 2]


def test_five_seconds_after_a_goodbye_the_others_hear_that_somebody_left(server, bring, room):
    ann, bob = bring(server, f"{room}?id=ann"), bring(server, f"{room}?id=bob")
    said = bob.hear()["Time"]
    bob.line.close()
    left = ann.hear("Leaver")
    assert left["From"] == ["bob"]
    assert 4500 < left["Time"] - said < 9000


def test_a_plain_call_is_told_what_is_expected_and_takes_no_place(server, bring, room):
    for _ in range(60):
        answer = server.call("GET", room)
        assert (answer.status_code, answer.text) == (400, "Bad Request\n")
        assert answer.headers["Sec-Websocket-Version"] == "13"
    assert bring(server, f"{room}?id=ann").hear()["Num"] == 0


@pytest.mark.parametrize(("path", "where"), [("/g", "/g/"), ("/g//a", "/g/a")])
def test_an_untidy_address_leads_to_the_tidy_one(server, path, where):
    answer = server.call("GET", path)
    assert (answer.status_code, answer.headers["Location"]) == (301, where)


def status(bring, server, path):
    with pytest.raises(InvalidStatus) as refused:
        bring(server, path)
    response = refused.value.response
    return response.status_code, bytes(response.body).decode()


@pytest.mark.parametrize(
    ("path", "says"),
    [
        ("/g/" + "x" * 5_000, "expected a room of at most 300 characters, got 5003"),
        ("/g/a?id=" + "x" * 5_000, "expected an id of at most 300 characters, got 5000"),
        ("/g/a%00b", "expected a room without control characters, got U+0000"),
        ("/g/a?id=a%0Ab", "expected an id without control characters, got U+000A"),
    ],
)
def test_a_name_that_cannot_be_taken_is_refused_with_a_reason(server, bring, path, says):
    code, text = status(bring, server, path)
    assert code == 400
    assert says in text


@pytest.mark.parametrize("path", ["/g/" + "x" * 10_000, "/g/a?id=" + "x" * 10_000])
def test_an_address_of_ten_kilobytes_is_too_long(server, bring, path):
    assert status(bring, server, path)[0] == 414


def test_the_fifty_first_is_turned_away_and_the_next_room_is_open(patient, bring, room):
    crowd = [bring(patient, f"{room}?id=p{number}") for number in range(50)]
    assert status(bring, patient, f"{room}?id=late") == (503, "Maximum number of clients in game\n")
    assert status(bring, patient, room) == (503, "Maximum number of clients in game\n")
    crowd[7].line.close()
    assert bring(patient, f"{room}?id=p7&lastnum=49").line is not None
    assert bring(patient, f"{room}/x?id=late").hear()["Intent"] == "Welcome"


def test_a_message_of_sixty_kilobytes_passes_and_one_byte_more_ends_the_line(server, bring, room):
    ann, bob = bring(server, f"{room}?id=ann"), bring(server, f"{room}?id=bob")
    ann.say(b"x" * 61440)
    assert len(base64.b64decode(bob.hear("Peer")["Body"])) == 61440
    ann.say(iter([b"x" * 61440, b"x"]))
    assert ann.end() == (1009, "")
    assert bob.hear("Leaver")["From"] == ["ann"]


def test_bytes_that_are_not_text_pass_as_they_are(server, bring, room):
    ann, bob = bring(server, f"{room}?id=ann"), bring(server, f"{room}?id=bob")
    for text in (True, False):
        ann.say(b"\xff\x00\xfe", text=text)
        assert base64.b64decode(bob.hear("Peer")["Body"]) == b"\xff\x00\xfe"


def test_text_of_the_first_generation_must_be_text(server, bring, room):
    ann = bring(server, room)
    ann.say(b"\xff\x00\xfe", text=True)
    assert ann.end() == (1007, "text must be UTF-8")


def test_a_flood_is_ended_with_a_code_and_harms_nobody(serve, bring, room):
    server = serve("--rate", 50)
    ann, eve = bring(server, f"{room}?id=ann"), bring(server, f"{room}?id=eve")
    for number in range(3000):
        eve.say(str(number))
    assert eve.end() == (1008, "too fast")
    heard = [ann.hear() for _ in range(3)]
    ann.say("still here")
    while heard[-1]["Receipt"] is False:
        heard.append(ann.hear())
    assert [envelope["Num"] for envelope in heard] == list(range(len(heard)))
    assert 'parlour_relay_refusals_total{code="too_fast"} 1.0' in server.call("GET", "/metrics").text


class Stuck:
    """A member that reads nothing."""

    def __init__(self, server, path):
        self._plug = socket.socket()
        self._plug.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        self._plug.settimeout(15)
        self._plug.connect(("127.0.0.1", server.port))
        self._plug.sendall(
            f"GET {path} HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n".encode()
        )

    def close(self):
        self._plug.close()


def test_a_member_that_stops_reading_is_cut_and_slows_nobody(serve, bring, room):
    server = serve("--max-outbox", 400_000)
    ann, bob = bring(server, f"{room}?id=ann"), bring(server, f"{room}?id=bob")
    with closing(Stuck(server, f"{room}?id=stuck")):
        assert bob.hear("Joiner")["From"] == ["stuck"]
        said = 0
        while "line_cut" not in server.log and said < 400:
            ann.say(b"x" * 60_000)
            assert bob.hear("Peer")["From"] == ["ann"]
            said += 1
        assert 5 < said < 400
        left = bob.hear("Leaver")
    assert left["From"] == ["stuck"]


def test_a_stop_sends_everybody_to_the_next_server(serve, bring, room):
    server = serve()
    ann = bring(server, f"{room}?id=ann")
    assert ann.hear()["Intent"] == "Welcome"
    server.stop()
    assert ann.end()[0] == 1012


def test_rooms_of_games_and_relays_have_nothing_to_do_with_each_other(server, bring):
    game = server.open_room()["id"]
    ann = bring(server, f"/g/{game}?id=ann")
    assert ann.hear()["From"] == []
    assert json.dumps(server.room(game)["seats"]).count("null") == 2
    relays = [found for found in server.call("GET", "/api/rooms").json() if "/g/" in found["id"]]
    assert relays == []
