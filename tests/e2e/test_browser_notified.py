"""Where somebody is told of their turns, as the account page lists it: with why a message did not arrive."""

from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Event, Thread

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.e2e

NOTED = """async () => (await (await fetch('/api/notifications')).json()).endpoints[0].failure"""


@pytest.fixture
def gone():
    """An address at which nobody is any more, and whether somebody has asked there."""
    asked = Event()

    class Nobody(BaseHTTPRequestHandler):
        def do_POST(self):
            self.send_error(410)
            asked.set()

        def log_message(self, *_):
            pass

    with HTTPServer(("127.0.0.1", 0), Nobody) as site:
        Thread(target=site.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{site.server_port}/turns", asked
        site.shutdown()


def test_whoever_is_told_nowhere_any_more_reads_why_in_their_language(serve, visit, gone):
    address, asked = gone
    server = serve("--local-webhooks")
    room = server.open_room()["id"]
    ann = visit(server, "Ann").come_in(room)
    visit(server, "Bob").come_in(room)
    ann.sees("Your turn")
    ann.go("/account").page.get_by_text("For programs: a webhook").click()
    ann.page.get_by_label("Address").fill(address)
    ann.page.get_by_role("button", name="Add", exact=True).click()
    place = ann.page.get_by_role("region", name="Notifications").get_by_role("listitem")
    expect(place).to_contain_text(address)
    expect(place).not_to_contain_text("did not arrive")
    assert asked.wait(60)
    ann.page.wait_for_function(NOTED, polling=500)
    ann.go("/account")
    expect(place).to_contain_text("the answer was 410: nobody is there any more")
    ann.go("/account?lang=de")
    german = ann.page.get_by_role("region", name="Mitteilungen").get_by_role("listitem")
    expect(german).to_contain_text("Die letzte Mitteilung (")
    expect(german).to_contain_text("die Antwort war 410: Dort ist niemand mehr")
