"""A line that is dead without a word is noticed, and what was asked meanwhile is done once."""

import re
from contextlib import closing

import pytest
from playwright.sync_api import expect

from tests.e2e.browser import lose_the_server
from tests.e2e.proxy import Proxy

pytestmark = pytest.mark.e2e


@pytest.fixture
def way(server):
    """To the server, by a line that can freeze."""
    with closing(Proxy(server)) as proxy:
        yield proxy


@pytest.fixture
def table(server, way, visit):
    """Ann, whose line can freeze and whose page's clock the test turns, and Bob."""
    ann, bob = visit(way, "Ann"), visit(server, "Bob")
    ann.context.clock.install()
    bob.come_in(ann.open_room())
    ann.sees("Your turn")
    ann.context.clock.pause_at(ann.page.evaluate("Date.now() + 1000"))
    return ann, bob


def pass_seconds(visitor, count):
    visitor.context.clock.run_for(round(count * 1000))


def trouble(visitor):
    return visitor.page.get_by_text(re.compile("^Reconnecting"))


def test_a_move_on_a_frozen_line_is_told_as_late_after_two_seconds_and_the_line_as_dead_after_five(
    table, way
):
    ann, bob = table
    way.freeze()
    ann.mark("centre")
    pass_seconds(ann, 1.9)
    ann.sees("Your turn")
    pass_seconds(ann, 0.2)
    ann.sees("Sending…")
    expect(trouble(ann)).to_have_count(0)
    pass_seconds(ann, 2.9)
    expect(ann.page.get_by_text("Reconnecting: your game is safe")).to_be_visible()
    expect(ann.page.get_by_role("img", name="here")).to_have_count(0)
    way.thaw()
    ann.context.clock.resume()
    bob.sees("Your turn")
    expect(trouble(ann)).to_have_count(0)
    ann.sees("Waiting for Bob")
    expect(ann.board.locator("[data-piece]")).to_have_count(1)


def test_a_line_that_freezes_while_nobody_asks_anything_is_noticed_by_its_heartbeat(table, way):
    ann, bob = table
    way.freeze()
    pass_seconds(ann, 22)  # to ask, to wait for an answer, and to close what does not close
    expect(trouble(ann)).to_be_visible()
    way.thaw()
    ann.context.clock.resume()
    expect(trouble(ann)).to_have_count(0)
    ann.mark("centre")
    bob.sees("Your turn")


SLEPT = "(() => { const real = Date.now; Date.now = () => real() + 3600000; })()"
"""A computer that slept for an hour, which its own clock counts and its browser does not."""


def test_a_line_that_died_while_the_computer_slept_is_told_as_dead_after_seconds(table, way):
    ann, bob = table
    way.freeze()
    ann.page.evaluate(SLEPT)
    pass_seconds(ann, 9)
    expect(trouble(ann)).to_be_visible()
    way.thaw()
    ann.context.clock.resume()
    expect(trouble(ann)).to_have_count(0)
    ann.mark("centre")
    bob.sees("Your turn")


def test_a_server_that_lives_and_is_slow_with_one_answer_is_waited_for(server, visit):
    ann, bob = visit(server, "Ann"), visit(server, "Bob")
    ann.context.clock.install()
    held: list[str] = []
    lines: list[object] = []

    def hold_answers(line):
        """Everything passes but the answers to moves and what comes of them, until they are let go."""
        lines.append(line)
        upstream = line.connect_to_server()

        def tell(told):
            slow = holding and ('"seq"' in told or '"update"' in told)
            held.append(told) if slow else line.send(told)

        upstream.on_message(tell)

    holding: list[bool] = []
    ann.page.route_web_socket(re.compile("/socket/"), hold_answers)
    bob.come_in(ann.open_room())
    ann.sees("Your turn")
    ann.context.clock.pause_at(ann.page.evaluate("Date.now() + 1000"))
    holding.append(True)
    ann.mark("centre")
    bob.sees("Your turn")
    pass_seconds(ann, 2.1)
    ann.sees("Sending…")
    for _ in range(6):
        pass_seconds(ann, 1)
        ann.page.evaluate("fetch('/health')")  # the answer to a ping is here before this one's
    ann.sees("Sending…")
    assert len(lines) == 1
    holding.clear()
    for told in held:
        lines[0].send(told)  # type: ignore[attr-defined]
    ann.sees("Waiting for Bob")


def test_a_page_that_one_message_did_not_reach_catches_up_and_plays_on(server, visit):
    ann, bob = visit(server, "Ann"), visit(server, "Bob")
    to_lose: list[str] = []

    def lose(line):
        """Everything passes but what is to be lost."""

        def tell(told):
            if to_lose and to_lose[0] in told:
                to_lose.pop()
            else:
                line.send(told)

        line.connect_to_server().on_message(tell)

    ann.page.route_web_socket(re.compile("/socket/"), lose)
    ann.come_in(bob.open_room())
    bob.mark("centre")
    ann.sees("Your turn")
    to_lose.append('"update"')
    ann.mark("top left")
    bob.sees("Your turn")
    bob.mark("right")
    ann.sees("Your turn")
    assert not to_lose
    ann.mark("left")
    bob.sees("Your turn")


KEPT = """
caches.open('offline-2').then((all) => all.keys())
  .then((all) => all.map(({ url }) => new URL(url).pathname).sort())
"""


@pytest.mark.parametrize(
    ("locale", "title", "words", "again"),
    [
        ("en-GB", "Leaderboard", "The server cannot be reached", "Try again now"),
        ("de-DE", "Rangliste", "Der Server ist nicht zu erreichen", "Jetzt noch einmal versuchen"),
    ],
)
def test_a_page_says_that_the_server_cannot_be_reached_and_leads_back(
    serve, visit, locale, title, words, again
):
    server = serve()
    ann = visit(server, "Ann", locale=locale).go("/leaderboard")
    expect(ann.page.get_by_role("heading", name=title)).to_be_visible()
    lose_the_server(ann)
    expect(ann.page.get_by_role("heading", name=words)).to_be_visible()
    assert ann.page.evaluate("getComputedStyle(document.querySelector('main')).display") == "grid"
    # it, its style, the words of a notification, and nothing else
    assert ann.page.evaluate(KEPT) == ["/offline.css", "/offline.html", "/turn-words.json"]
    server.start()
    ann.page.get_by_role("link", name=again).click()
    expect(ann.page.get_by_role("heading", name=title)).to_be_visible()
