"""Chromium's own WebSocket, with its cookies, at a relay; and the page for those who write clients."""

import json
import uuid

import pytest

from tests.e2e import relays
from tests.e2e.browser import CHROMIUM, chromium

pytestmark = [pytest.mark.e2e, pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium")]

bring = pytest.fixture(relays.members)


@pytest.fixture
def room():
    return f"/g/{uuid.uuid4()}"


@pytest.fixture
def tab(tmp_path):
    with chromium(tmp_path / "profile") as open_tab:
        yield open_tab


LISTEN = """
  heard = []; waiting = [];
  socket = new WebSocket("%s");
  socket.onmessage = ({ data }) => (waiting.shift() ?? ((text) => heard.push(text)))(data);
  hear = () => heard.length ? heard.shift() : new Promise((tell) => waiting.push(tell));
  true
"""


def listen(page, server, room):
    page.run(LISTEN % f"ws://{server.address}{room}")


def hear(page):
    return json.loads(page.run("Promise.resolve(hear())"))


def test_a_browser_is_known_by_its_cookie_in_every_window_and_room(server, bring, room, tab):
    bob = bring(server, room)
    (bobs,) = bob.hear()["To"]
    one, two = tab(), tab()
    for page in (one, two):
        page.visit(f"http://{server.address}/relay")
    listen(one, server, room)
    (me,) = hear(one)["To"]
    assert bob.hear() | {"Time": 0} == {"From": [me], "To": [bobs], "Time": 0, "Intent": "Joiner"}
    listen(two, server, room)
    assert hear(two) | {"Time": 0} == {"From": [bobs], "To": [me], "Time": 0, "Intent": "Welcome"}
    assert bob.hear("Joiner")["From"] == [me]
    one.run("""socket.send('{"turn": "♠"}')""")
    assert bob.hear()["Body"] == hear(two)["Body"] == {"turn": "♠"}
    one.run("socket.close()")
    two.run("socket.close()")
    assert bob.hear("Leaver")["From"] == [me]
    listen(one, server, f"{room}/another")
    assert hear(one)["To"] == [me]
    assert one.run("document.cookie") == ""


def test_a_foreign_page_is_somebody_else_and_leaves_the_cookie_alone(server, room, tab):
    page = tab()
    page.visit(f"http://{server.address}/relay")
    listen(page, server, room)
    (me,) = hear(page)["To"]
    foreign = tab()
    foreign.visit(f"http://localhost:{server.port}/relay")
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
    page.visit(f"http://{server.address}/relay")
    name = room.removeprefix("/g/")
    page.run(f"""
      element = (id) => document.getElementById(id);
      element("room").value = "{name}"; element("who").value = "ann"; element("open").click(); true
    """)
    page.run(SHOWN % "Welcome")
    bob = bring(server, f"{room}?id=bob")
    assert bob.hear()["From"] == ["ann"]
    bob.say("♠ from Bob")
    assert page.run(SHOWN % "♠ from Bob")
    page.run("""element("message").value = '{"turn": 1}'; element("send").click()""")
    assert bob.hear()["Receipt"] is True
    assert bob.hear()["Body"] == "eyJ0dXJuIjogMX0="
    page.run("""element("leave").click()""")
    assert page.run(SHOWN % "closed 1005")
    assert page.run("""element("last").value""") == "3"
