"""Values that break careless programs, over the socket and over HTTP: refused at the door."""

from contextlib import ExitStack, closing

import pytest

from tests.e2e.clients import Raw, refused_status

pytestmark = pytest.mark.e2e

MARKS = "a" + "\u0301" * 10_000


class Neighbours:
    """Two people in a room, who hear each other and nothing else."""

    def __init__(self, server, ann, bob):
        self.room = server.open_room()["id"]
        self.topic = f"game:{self.room}"
        self.ann, self.bob = ann, bob
        assert {ann.join(self.room).status, bob.join(self.room).status} == {"ok"}
        self.seq = 4

    def go_on(self):
        """The next step is the next one they made, so nothing else was one."""
        for person in (self.ann, self.bob):
            self.seq += 1
            assert person.ask(self.topic, "chat", {"text": "hello"}) == ("ok", {"seq": self.seq})


@pytest.fixture(scope="module")
def neighbours(patient):
    with ExitStack() as stack:
        people = [
            stack.enter_context(closing(Raw(patient, patient.guest(name).token))) for name in ("Ann", "Bob")
        ]
        yield Neighbours(patient, *people)


@pytest.fixture(autouse=True)
def undisturbed(neighbours):
    yield
    neighbours.go_on()


@pytest.fixture
def rude(patient, neighbours, knock):
    """Somebody who watches the room; what they send, they send as text."""
    raw = knock(patient, patient.guest("Rude").token)
    assert raw.join(neighbours.room, spectate=True).status == "ok"
    raw.topic = neighbours.topic
    return raw


def push(rude, event, payload):
    """The answer to a push whose payload is written out by hand."""
    rude.send(f'["1","poison","{rude.topic}","{event}",{payload}]')
    while (reply := rude.hear())[1] != "poison":
        pass
    return reply[4]["response"].get("code", reply[4]["status"])


# Numbers, nesting, and names that come twice.


@pytest.mark.parametrize(
    "value", ["NaN", "Infinity", "-Infinity", "+1", "01", "1.", ".5", "0x10", "1_000", "'a'"]
)
def test_what_is_no_json_ends_the_connection(rude, value):
    rude.send(f'["1","2","{rude.topic}","game_event",{{"event":{{"type":"mark","cell":{value}}}}}]')
    assert rude.end() == 1003


NUMBERS = [
    "1e999",
    "-1e999",
    "1E400",
    "9007199254740993",
    "-9007199254740993",
    "1" + "0" * 400,
    "18446744073709551616",
]


@pytest.mark.parametrize("number", NUMBERS)
def test_a_number_that_javascript_cannot_hold_is_refused(rude, number):
    assert push(rude, "game_event", f'{{"event":{{"type":"mark","cell":{number}}}}}') == "malformed"
    assert push(rude, "chat", f'{{"text":"hi","id":{number}}}') == "malformed"


@pytest.mark.parametrize("number", NUMBERS)
def test_so_it_is_over_http(patient, number):
    body = f'{{"game":"minesweeper","config":{{"width":{number}}}}}'
    answer = patient.call("POST", "/api/rooms", content=body)
    assert (answer.status_code, answer.json()["code"]) == (400, "malformed")


@pytest.mark.parametrize("levels", [33, 500])
def test_deep_nesting_is_refused(patient, rude, levels):
    deep = "[" * levels + "]" * levels
    assert push(rude, "game_event", f'{{"event":{deep}}}') == "malformed"
    answer = patient.call("POST", "/api/rooms", content=f'{{"game":"tictactoe","config":{{"a":{deep}}}}}')
    assert (answer.status_code, answer.json()["code"]) == (400, "malformed")


def test_strings_that_never_end_cost_no_time(patient, neighbours):
    answer = patient.call("POST", "/api/players", content=b"1e " + b'\\"' * 32_000)
    assert (answer.status_code, answer.json()["code"]) == (400, "malformed")
    assert answer.elapsed.total_seconds() < 2


def test_of_a_name_that_comes_twice_everybody_hears_the_last(rude, neighbours):
    assert push(rude, "chat", '{"text":"first","text":"second"}') == "ok"
    neighbours.seq += 1
    while (said := neighbours.ann.hear("chat")[4])["seq"] != neighbours.seq:
        pass
    assert said["text"] == "second"


# Text.


@pytest.mark.parametrize("text", [b"\xed\xa0\x80", b"\xed\xbf\xbf", b"\xc0\xaf", b"\xf8\x88\x80\x80\x80"])
def test_bytes_that_are_no_utf_8_end_the_connection_or_are_refused(patient, rude, text):
    answer = patient.call("POST", "/api/players", content=b'{"name":"a' + text + b'"}')
    assert (answer.status_code, answer.json()["code"]) == (400, "malformed")
    rude.send_broken_text(f'["1","2","{rude.topic}","chat",{{"text":"'.encode() + text + b'"}]')
    assert rude.end() == 1007


@pytest.mark.parametrize("text", ["\\ud800", "\\udfff", "\\ud800\\ud800", "\\udc00\\ud800", "a\\ud83d"])
def test_half_a_character_in_escapes_ends_the_connection_or_is_refused(patient, rude, text):
    answer = patient.call("POST", "/api/players", content=f'{{"name":"{text}"}}')
    assert (answer.status_code, answer.json()["code"]) == (400, "malformed")
    rude.send(f'["1","2","{rude.topic}","chat",{{"text":"{text}"}}]')
    assert rude.end() == 1003


WORDS = [
    MARKS,
    "a\r\nSet-Cookie: b=c",
    "\x00",
    "a\x1b[2J",
    "\u202egnp.exe",
    "\u2066x\u2069",
    "\ufeff",
    "\u00ad",
    "\U000e0041",
]
IDS = ["marks", "crlf", "null", "escape", "bidi", "isolate", "bom", "soft hyphen", "tag"]


@pytest.mark.parametrize("text", WORDS, ids=IDS)
def test_words_that_play_tricks_are_refused(patient, rude, text):
    assert rude.ask(rude.topic, "chat", {"text": text}).code == "invalid_text"
    answer = patient.call("POST", "/api/players", {"name": text})
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid_name")


# Names that mean something to a program.

SPECIAL = ["__proto__", "constructor", "toString", "hasOwnProperty", "__class__"]


@pytest.mark.parametrize("word", SPECIAL)
def test_special_words_are_words_like_others(patient, knock, word):
    guest = patient.guest(word)
    room = patient.open_room(id=word)
    assert (guest.name, room["id"]) == (word, word)
    raw = knock(patient, guest.token)
    answer = raw.join(word)
    assert (answer.status, answer.response["player"]) == ("ok", guest.id)
    assert raw.ask(f"game:{word}", word, {}).code == "unknown_event"
    assert raw.ask(f"game:{word}", "chat", {"text": word, "id": word}).status == "ok"
    assert raw.ask(f"game:{word}", "chat", {"text": word, word: {}}).code == "malformed"
    assert raw.ask(f"game:{word}", "game_event", {"event": {"type": word}}).code == "unknown_event"
    assert (
        raw.ask(f"game:{word}", "game_event", {"event": {"type": "mark", "cell": 0, word: {}}}).code
        == "malformed"
    )
    assert raw.ask(f"game:{word}", "leave", {}).status == "ok"


@pytest.mark.parametrize("word", [*SPECIAL, "../tictactoe", "tictactoe\x00", "TICTACTOE", "", "x" * 60_000])
def test_a_game_that_is_none_is_unknown(patient, word):
    answer = patient.call("POST", "/api/rooms", {"game": word})
    assert (answer.status_code, answer.json()["code"]) == (404, "unknown_game")
    assert len(answer.content) < 500


@pytest.mark.parametrize(
    "id", ["x" * 65, "x" * 60_000, "a/b", "a\r\nb", "a\x00", "é", "a b", "", "%2e", "a:b"]
)
def test_an_id_that_would_be_trouble_is_refused(patient, id):
    answer = patient.call("POST", "/api/rooms", {"game": "tictactoe", "id": id})
    assert (answer.status_code, answer.json()["code"]) == (400, "malformed")


@pytest.mark.parametrize("id", ["x" * 60_000, "../../etc/passwd", "a\r\nb", "a\x00b", "\u202e", MARKS])
def test_a_room_that_cannot_be_is_unknown_on_the_socket(rude, id):
    answer = rude.ask(f"game:{id}", "phx_join", {})
    assert answer.code == "unknown_room"
    assert len(answer.response["message"]) < 200


# Somebody else.


@pytest.mark.parametrize("field", ["player", "from", "as", "playerId", "seat", "name", "token"])
def test_nobody_speaks_for_another(patient, knock, rude, neighbours, field):
    ann = neighbours.ann.ask(neighbours.topic, "phx_join", {}).response["player"]
    for event, payload in (("chat", {"text": "hi"}), ("leave", {}), ("rematch", {})):
        assert rude.ask(rude.topic, event, {**payload, field: ann}).code == "malformed"
    assert (
        rude.ask(rude.topic, "game_event", {"event": {"type": "mark", "cell": 0}, field: ann}).code
        == "malformed"
    )
    assert knock(patient).ask(rude.topic, "phx_join", {field: ann}).code == "malformed"


def forgeries(mine, other):
    """Tokens of mine that say that I am another, or are not quite mine."""
    _, stamp, signature = mine.token.split(".")
    return [
        f"{other.id}.{stamp}.{signature}",
        f"{other.id}.{stamp}.",
        f"{other.id}..",
        other.id,
        f"{other.id}.none",
        f"{other.id}.{mine.token}",
        mine.token[:-2],
        mine.token.swapcase(),
        f"{mine.token}.{other.id}",
        f"{mine.token}%00",
    ]


def test_a_token_cannot_be_made_another_players(patient):
    for forged in forgeries(patient.guest("Eve"), patient.guest("Ann")):
        bearer = {"Authorization": f"Bearer {forged}"}
        answer = patient.call("GET", "/api/players/me/rooms", headers=bearer)
        assert (answer.status_code, answer.json()["code"]) == (401, "bad_token")
        assert refused_status(patient, token=forged) == 403


def origins(host):
    return [f"http://{host}.evil.example", f"http://evil.example/{host}", f"http://{host}@evil.example",
            f"http://evil.example:{host}",
            f"http://{host}/", f"http://{host}x", f"http://evil://{host}", "null", "", "http://", "file://",
            "http://localhost", f"http://{host}#", host, f"http://{host},http://evil.example"]  # fmt: skip


def test_pages_that_are_not_quite_ours_are_foreign(patient, knock, neighbours):
    ann = patient.guest("Ann")
    cookie = {"Cookie": f"parlour_token={ann.token}"}
    for origin in origins(patient.address):
        answer = patient.call("GET", "/api/players/me/rooms", headers={**cookie, "Origin": origin})
        assert (answer.status_code, answer.json()["code"]) == (401, "bad_token"), origin
        stranger = knock(patient, additional_headers={**cookie, "Origin": origin})
        assert stranger.join(neighbours.room, spectate=True).response["player"] != ann.id, origin
