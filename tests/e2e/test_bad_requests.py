"""Requests that no client would make, byte by byte: a clear refusal, and the next one is served."""

import socket

import pytest

from tests.e2e.lines import PATIENCE
from tests.e2e.test_frames import KNOCK

pytestmark = pytest.mark.e2e

CLOSE = b"Host: x\r\nConnection: close\r\n"


def exchange(server, request, *, half=False):
    """All that comes back until the server ends it; with *half* we end our side first."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE) as line:
        line.sendall(request)
        if half:
            line.shutdown(socket.SHUT_WR)
        answer = b""
        try:
            while more := line.recv(1 << 16):
                answer += more
        except ConnectionResetError:
            pass
        return answer


def status(answer):
    return int(answer.split(b" ", 2)[1]) if answer.startswith(b"HTTP/1.") else None


def post(path, body, extra=b""):
    length = b"Content-Length: %d\r\n" % len(body)
    return b"POST " + path + b" HTTP/1.1\r\n" + CLOSE + length + extra + b"\r\n" + body


@pytest.fixture(autouse=True)
def serves_on(patient):
    """Whatever came before, the next request is answered."""
    yield
    assert patient.call("GET", "/health").status_code == 200
    assert "Traceback" not in patient.log


# Requests.


@pytest.mark.parametrize(
    "line",
    [b"BREW /health HTTP/1.1", b"GET /health HTTP/3.7", b"GET /health HTTP/1.1 x",
     b"CONNECT evil.example:443 HTTP/1.1", b"GET /\xff HTTP/1.1", b"GET /\x00 HTTP/1.1", b"G\x00T / HTTP/1.1",
     b"get /health HTTP/1.1"],
)  # fmt: skip
def test_a_first_line_that_is_none_is_refused(patient, line):
    assert status(exchange(patient, line + b"\r\n" + CLOSE + b"\r\n")) == 400


@pytest.mark.parametrize(
    "header",
    [b"A: b\x00c", b"A\x00: b", b"A : b", b": b", b"A: b\r\n folded", b"Content-Length: -5",
     b"Content-Length: five", b"Content-Length: 5\r\nContent-Length: 6",
     b"Transfer-Encoding: chunked\r\nContent-Length: 5"],
)  # fmt: skip
def test_a_header_that_is_none_is_refused(patient, header):
    answer = exchange(patient, b"POST /api/players HTTP/1.1\r\n" + CLOSE + header + b"\r\n\r\n{}", half=True)
    assert status(answer) == 400


@pytest.mark.parametrize("method", ["PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND"])
@pytest.mark.parametrize(
    "path", ["/api/rooms", "/health", "/api/rooms/NOPE/history", "/metrics", "/api/docs"]
)
def test_a_method_that_does_not_fit_is_refused_with_those_that_do(patient, method, path):
    answer = patient.call(method, path)
    assert (answer.status_code, answer.json()["code"]) == (405, "malformed")
    assert "GET" in answer.headers["allow"]


@pytest.mark.parametrize(
    "path", ["/api/rooms", "/health", "/metrics", "/api/docs", "/api/openapi.json", "/nothing"]
)
def test_a_head_has_no_body(patient, path):
    get, head = patient.call("GET", path), patient.call("HEAD", path)
    assert (head.status_code, head.content) == (get.status_code, b"")


@pytest.mark.parametrize(
    "path",
    [b"/api/rooms/%00", b"/api/rooms/..%2f..%2fetc%2fpasswd", b"/api/rooms/../../etc/passwd",
     b"/../../etc/passwd", b"//etc/passwd", b"/api/rooms/%ff", b"/api/rooms/%0d%0aX-Evil:%20yes",
     b"/api/rooms/" + b"x" * 60_000,
     b"/api//rooms", b"/health/", b"/api/rooms/..", b"/%5c..%5c..", b"*", b"http://[/health", b"/api/rooms/%",
     b"/api/rooms/" + b"%CC%81" * 10_000],
)  # fmt: skip
def test_a_path_that_leads_nowhere_is_not_found(patient, path):
    answer = exchange(patient, b"GET " + path + b" HTTP/1.1\r\n" + CLOSE + b"\r\n")
    assert status(answer) in (400, 404)
    assert b"root:" not in answer
    assert b"\r\nX-Evil" not in answer
    assert len(answer) < 2000


@pytest.mark.parametrize("host", [b"[", b"]:1", b"", b"x:99999", b"x\xff", b"evil.example", b"a" * 5000])
def test_a_strange_host_changes_nothing(patient, host):
    for path, expected in ((b"/nothing", 404), (b"/health", 200), (b"/health/", 404)):
        answer = exchange(
            patient, b"GET " + path + b" HTTP/1.1\r\nConnection: close\r\nHost: " + host + b"\r\n\r\n"
        )
        assert status(answer) == expected
        assert b"evil.example" not in answer


@pytest.mark.parametrize(
    "extra", [b"X: " + b"x" * 1_000_000 + b"\r\n", b"X: y\r\n" * 20_000], ids=["long", "many"]
)
def test_huge_headers_hurt_nobody(patient, extra):
    assert status(exchange(patient, b"GET /health HTTP/1.1\r\n" + CLOSE + extra + b"\r\n")) in (
        200,
        400,
        431,
        None,
    )
    assert status(exchange(patient, KNOCK + extra + b"\r\n")) in (400, 431, None)


# Bodies.


@pytest.mark.parametrize("length", [0, 1, 2, 20])
def test_half_a_request_is_no_request(patient, length):
    rooms = len(patient.call("GET", "/api/rooms").json())
    whole = post(b"/api/rooms", b'{"game":"tictactoe"}')
    assert status(exchange(patient, whole[: len(whole) - length - 1], half=True)) in (None, 400)
    assert len(patient.call("GET", "/api/rooms").json()) == rooms


@pytest.mark.parametrize("length", [5, 30, 60])
def test_half_a_head_is_no_request(patient, length):
    assert exchange(patient, post(b"/api/players", b"{}")[:length], half=True) == b""


@pytest.mark.parametrize("stated", [3, 65_536, 10**12])
def test_a_body_that_never_comes_is_waited_for_by_nobody_else(patient, stated):
    with socket.create_connection(("127.0.0.1", patient.port), timeout=PATIENCE) as line:
        line.sendall(b"POST /api/players HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n{}" % stated)
        assert patient.call("GET", "/health").status_code == 200


CHUNKED = b"POST /api/players HTTP/1.1\r\n" + CLOSE + b"Transfer-Encoding: chunked\r\n\r\n"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b"2\r\n{}\r\n0\r\n\r\n", 201),
        (b"1\r\n{\r\n1\r\n}\r\n0\r\nTrailer: x\r\n\r\n", 201),
        (b"0\r\n\r\n", 201),
        (b"ZZ\r\n{}\r\n0\r\n\r\n", 400),
        (b"-1\r\n{}\r\n0\r\n\r\n", 400),
        (b"2\r\n{}x\r\n0\r\n\r\n", 400),
        (b"FFFFFFFFFFFFFFFFF\r\n{}", 400),
        (b"11000\r\n" + b" " * 0x11000 + b"\r\n0\r\n\r\n", 413),
        (b"1000\r\n" + b" " * 0x1000 + b"\r\n" + b"1\r\n \r\n" * 70_000 + b"0\r\n\r\n", 413),
    ],
)  # fmt: skip
def test_a_body_in_chunks_is_a_body(patient, body, expected):
    answer = exchange(patient, CHUNKED + body)
    assert status(answer) in ((expected, None) if expected == 413 else (expected,))


@pytest.mark.parametrize(
    "kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "x"]
)
@pytest.mark.parametrize("body", [b"game=tictactoe", b"--x\r\n\r\n--x--", b"<game/>", b"\x1f\x8b\x08\x00"])
def test_a_body_of_another_kind_is_refused(patient, kind, body):
    answer = patient.call("POST", "/api/rooms", content=body, headers={"Content-Type": kind})
    assert (answer.status_code, answer.json()["code"]) == (400, "malformed")


def test_a_form_of_a_foreign_page_does_nothing_in_a_visitors_name(patient):
    ann = patient.guest("Ann")
    headers = {"Content-Type": "text/plain", "Origin": "http://evil.example"}
    headers["Cookie"] = f"parlour_token={ann.token}"
    answer = patient.call("POST", "/api/players", content=b'{"name":"Eve"}', headers=headers)
    assert answer.json()["id"] != ann.id
    assert "set-cookie" not in answer.headers


def test_requests_that_come_at_once_are_answered_in_their_order(patient):
    paths = (b"/health", b"/nothing", b"/api/games")
    pipelined = b"".join(b"GET " + path + b" HTTP/1.1\r\nHost: x\r\n\r\n" for path in paths)
    answer = exchange(patient, pipelined + post(b"/api/players", b"{}"))
    statuses = [int(part[:3]) for part in answer.split(b"HTTP/1.1 ")[1:]]
    assert statuses == [200, 404, 200, 201]


# Knocks.


def knock(target=b"/socket/websocket?vsn=2.0.0", method=b"GET", **headers):
    wanted: dict[str, bytes | None] = {
        "Host": b"x",
        "Upgrade": b"websocket",
        "Connection": b"Upgrade",
        "Sec-WebSocket-Version": b"13",
        "Sec-WebSocket-Key": b"dGhlIHNhbXBsZSBub25jZQ==",
    }
    wanted |= {name.replace("_", "-"): value for name, value in headers.items()}
    lines = [name.encode() + b": " + value for name, value in wanted.items() if value is not None]
    return b"\r\n".join([method + b" " + target + b" HTTP/1.1", *lines, b"", b""])


@pytest.mark.parametrize(
    ("request_", "expected"),
    [
        (knock(Sec_WebSocket_Version=b"8"), 400),
        (knock(Sec_WebSocket_Version=b"thirteen"), 400),
        (knock(Sec_WebSocket_Version=None), 400),
        (knock(Sec_WebSocket_Key=b"short"), 400),
        (knock(Sec_WebSocket_Key=b"\xff" * 24), 400),
        (knock(Sec_WebSocket_Key=None), 400),
        (knock(Sec_WebSocket_Key=b"x\r\nSec-WebSocket-Key: y"), 400),
        (knock(Sec_WebSocket_Protocol=b"phoenix, base64url.bearer.phx.\xe9"), 400),
        (knock(Sec_WebSocket_Protocol=b"phoenix, base64url.bearer.phx.YQ"), 403),
        (knock(Sec_WebSocket_Protocol=b",,,;"), 400),
        (knock(Origin=b"http://a\r\nOrigin: http://b"), 400),
        (knock(method=b"POST"), 405),
        (knock(method=b"POST", Content_Length=b"5") + b"hello", 400),
        (knock(method=b"DELETE"), 405),
        (knock(b"//[/socket/websocket?vsn=2.0.0"), 404),
        (knock(b"http://[x/socket/websocket?vsn=2.0.0"), 404),
        (knock(b"/socket/websocket/../websocket?vsn=2.0.0"), 404),
        (knock(b"/socket/websocket%00?vsn=2.0.0"), 404),
        (knock(b"/socket/websocket?vsn=2.0.0&token=%ff"), 403),
        (knock(b"/socket/websocket?vsn=" + b"2" * 5000), 403),
        (knock(b"/socket/websocket?" + b"vsn=2.0.0&" * 2000), 414),
        (knock(b"/socket/websocket?vsn=2.0.0;vsn[]=1&vsn=1.0.0"), 403),
    ],
)  # fmt: skip
def test_an_upgrade_that_is_malformed_is_refused(patient, request_, expected):
    assert status(exchange(patient, request_)) == expected


def test_an_upgrade_to_something_else_is_an_ordinary_request(patient):
    answer = exchange(
        patient, b"GET /health HTTP/1.1\r\nHost: x\r\nConnection: upgrade, close\r\nUpgrade: h2c\r\n\r\n"
    )
    assert status(answer) in (200, 400)


@pytest.mark.parametrize("garbage", [b"\x00" * 100, b"\xff" * 100, b"GET / HTTP/1.1\r\n\r\n", b"x" * 70_000])
def test_garbage_after_an_upgrade_ends_that_connection(patient, garbage):
    with socket.create_connection(("127.0.0.1", patient.port), timeout=PATIENCE) as line:
        line.sendall(knock())
        assert line.recv(1 << 16).startswith(b"HTTP/1.1 101")
        line.sendall(garbage)
        answer = line.recv(1 << 16)
        assert answer[:1] in (b"\x88", b"")
        assert answer[2:4] in (b"\x03\xea", b"\x03\xf1", b"")
