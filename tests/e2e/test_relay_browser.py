"""Chromium's own WebSocket, with its cookies, at a relay; and the page for those who write clients."""

import json
import threading
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from tests.e2e import relays

pytestmark = pytest.mark.e2e

bring = pytest.fixture(relays.members)


@pytest.fixture
def room():
    return f"/g/{uuid.uuid4()}"


@pytest.fixture
def tab(browser):
    """Opens tabs of one browser, which share their cookies."""
    context = browser.new_context()
    yield context.new_page
    context.close()


LISTEN = """
  heard = []; waiting = [];
  socket = new WebSocket("%s");
  socket.onmessage = ({ data }) => (waiting.shift() ?? ((text) => heard.push(text)))(data);
  hear = () => heard.length ? heard.shift() : new Promise((tell) => waiting.push(tell));
  true
"""


def listen(page, server, room):
    page.evaluate(LISTEN % f"ws://{server.address}{room}")


def hear(page):
    return json.loads(page.evaluate("Promise.resolve(hear())"))


def test_a_browser_is_known_by_its_cookie_in_every_window_and_room(server, bring, room, tab):
    bob = bring(server, room)
    (bobs,) = bob.hear()["To"]
    one, two = tab(), tab()
    for page in (one, two):
        page.goto(f"http://{server.address}/relay")
    listen(one, server, room)
    (me,) = hear(one)["To"]
    assert bob.hear() | {"Time": 0} == {"From": [me], "To": [bobs], "Time": 0, "Intent": "Joiner"}
    listen(two, server, room)
    assert hear(two) | {"Time": 0} == {"From": [bobs], "To": [me], "Time": 0, "Intent": "Welcome"}
    assert bob.hear("Joiner")["From"] == [me]
    one.evaluate("""socket.send('{"turn": "♠"}')""")
    assert bob.hear()["Body"] == hear(two)["Body"] == {"turn": "♠"}
    one.evaluate("socket.close()")
    two.evaluate("socket.close()")
    assert bob.hear("Leaver")["From"] == [me]
    listen(one, server, f"{room}/another")
    assert hear(one)["To"] == [me]
    assert one.evaluate("document.cookie") == ""


@pytest.fixture
def elsewhere():
    """The address of a page of another site."""
    with ThreadingHTTPServer(("127.0.0.1", 0), BlankPage) as site:
        threading.Thread(target=site.serve_forever, daemon=True).start()
        yield f"http://localhost:{site.server_port}/"
        site.shutdown()


class BlankPage(BaseHTTPRequestHandler):
    """Answers everything with a page on which there is nothing."""

    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()

    def log_message(self, *_):
        """Nothing is said of it."""


def test_a_foreign_page_is_somebody_else_and_leaves_the_cookie_alone(server, room, tab, elsewhere):
    page = tab()
    page.goto(f"http://{server.address}/relay")
    listen(page, server, room)
    (me,) = hear(page)["To"]
    foreign = tab()
    foreign.goto(elsewhere)
    listen(foreign, server, room)
    (stranger,) = hear(foreign)["To"]
    assert stranger != me
    listen(page, server, f"{room}/another")
    assert hear(page)["To"] == [me]


SHOWN = """
  new Promise((done) => {
    const look = () => document.body.innerText.includes("%s") ? done(true) : setTimeout(look, 20);
    look();
  })
"""


def test_the_page_shows_envelopes_as_they_pass_and_sends_one(server, bring, room, tab):
    page = tab()
    page.goto(f"http://{server.address}/relay")
    name = room.removeprefix("/g/")
    page.evaluate(f"""
      element = (id) => document.getElementById(id);
      element("room").value = "{name}"; element("who").value = "ann"; element("open").click(); true
    """)
    page.evaluate(SHOWN % "Welcome")
    bob = bring(server, f"{room}?id=bob")
    assert bob.hear()["From"] == ["ann"]
    bob.say("♠ from Bob")
    assert page.evaluate(SHOWN % "♠ from Bob")
    page.evaluate("""element("message").value = '{"turn": 1}'; element("send").click()""")
    assert bob.hear()["Receipt"] is True
    assert bob.hear()["Body"] == "eyJ0dXJuIjogMX0="
    page.wait_for_function("""() => element("last").value === "3" """)  # its own receipt
    page.evaluate("""element("leave").click()""")
    assert page.evaluate(SHOWN % "closed 1005")
    assert page.evaluate("""element("last").value""") == "3"
