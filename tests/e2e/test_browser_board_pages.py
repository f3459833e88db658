"""A game's own board page in real browsers: it is played by and watched, and can reach nothing else."""

import re
import shutil
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.e2e.conftest import end
from tests.e2e.servers import UNLIMITED, Server

pytestmark = pytest.mark.e2e

STICKS = Path(__file__).parents[2] / "examples" / "sticks"

TRIES = {
    "cookies": "document.cookie",
    "storage": "localStorage.length",
    "the storage of a tab": "sessionStorage.length",
    "databases": "indexedDB.open('x')",
    "caches": "caches.keys()",
    "the parent's page": "parent.document.title",
    "the parent's address": "parent.location.href",
    "the parent's storage": "parent.localStorage.length",
    "the whole window": "top.document.cookie",
    "a call": "fetch('/api/rooms')",
    "a call elsewhere": "fetch('https://example.org/')",
    "another room": "fetch('/api/rooms/' + ROOM + '/history')",
    "a socket": "new Promise((done, no) => {"
    " const s = new WebSocket('ws://' + HOST + '/socket/websocket'); s.onopen = done; s.onerror = no; })",
    "a window": "open('/').document",
    "leading the page away": "top.location = '/r/' + ROOM",
}
"""What a page without an origin may not do; each raises an error or is refused."""


HUGE = "{ type: 'event', event: 'x'.repeat(99999) }"


@pytest.fixture
def file(tmp_path):
    """The example, to be changed."""
    shutil.copytree(f"{STICKS}-board", tmp_path / "sticks-board")
    return Path(shutil.copy(f"{STICKS}.py", tmp_path))


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    """A server with the example as it is."""
    server = Server(tmp_path_factory.mktemp("shared"), f"{STICKS}.py", environment=UNLIMITED).start()
    yield server
    end(server)


def sit(server, visit, *, clock=None, **more):
    """Two at the example's board."""
    ann, bob = visit(server, "Ann", **more), visit(server, "Bob", **more)
    if clock:
        room = server.open_room("sticks", clock=clock)["id"]
        come_in(ann, room)
    else:
        room = open_room(ann)
    come_in(bob, room)
    return ann, bob, room


def open_room(visitor):
    visitor.go("/")
    visitor.page.get_by_label("Your name").fill(visitor.name)
    visitor.page.get_by_role("button", name="A friend to play Sticks with", exact=True).click()
    visitor.page.wait_for_url(re.compile(r"/r/\w+$"))
    return visitor.page.url.rpartition("/")[2]


def come_in(visitor, room, way="Sit down"):
    visitor.go(f"/r/{room}")
    visitor.page.get_by_label("Your name").fill(visitor.name)
    visitor.page.get_by_role("button", name=way, exact=True).click()
    expect(sticks(visitor)).to_have_count(15)


def sticks(visitor):
    return visitor.page.frame_locator("iframe").locator("button")


def take(visitor, count):
    visitor.sees("Your turn")
    visitor.page.frame_locator("iframe").get_by_label(f"take {count}", exact=True).click()


def frame_of(visitor):
    """The frame of the board, whose scripts a test runs as if they were its own."""
    return visitor.page.locator("iframe").element_handle().content_frame()


def test_the_example_is_played_to_its_end_and_watched_and_leafed_through(shared, visit):
    ann, bob, room = sit(shared, visit, clock={"kind": "increment", "seconds": 300})
    for seat in (0, 1):
        expect(ann.page.locator(f"[data-seat='{seat}'] time")).to_have_text(re.compile(r"^[45]:\d\d$"))
    eve = visit(ann.server, "Eve")
    come_in(eve, room, "Watch")
    expect(sticks(eve).and_(eve.page.frame_locator("iframe").locator(":enabled"))).to_have_count(0)
    for turn, count in enumerate((3, 3, 3, 3, 2)):
        take((ann, bob)[turn % 2], count)
    expect(sticks(eve)).to_have_count(1)
    bob.page.reload()
    bob.sees("Your turn")
    bob.say("Well played")
    ann.reads("Well played")
    take(bob, 1)
    ann.sees("You win: the last stick")
    bob.sees("Ann wins: the last stick")
    for visitor in (ann, bob, eve):
        expect(sticks(visitor)).to_have_count(0)
    eve.go(f"/r/{room}/replay")
    expect(sticks(eve)).to_have_count(15)
    eve.press("End")
    expect(sticks(eve)).to_have_count(0)


def test_a_page_reads_no_cookie_no_storage_no_parent_and_no_other_room(shared, visit):
    ann, bob, room = sit(shared, visit)
    frame = frame_of(ann)
    assert frame.evaluate("[self.origin, document.referrer, name]") == ["null", "", ""]
    done = {}
    for what, script in TRIES.items():
        source = script.replace("ROOM", repr(room)).replace("HOST", repr(ann.server.address))
        done[what] = frame.evaluate(
            f"async () => {{ try {{ await ({source}); return 'done'; }} catch {{ return 'refused'; }} }}"
        )
    assert [what for what, how in done.items() if how == "done"] == []
    picture = "(from) => new Promise((r) => {"
    picture += (
        " const i = new Image(); i.onload = () => r('shown'); i.onerror = () => r('not'); i.src = from; })"
    )
    assert frame.evaluate(picture, "http://localhost:9/pixel.png") == "not"
    ann.sees("Your turn")
    expect(ann.page).to_have_url(re.compile(f"/r/{room}$"))
    ann.complaints.clear()  # the browser has told of each refusal


def test_what_a_page_asks_of_the_server_is_asked_by_nobody(shared, visit):
    ann = visit(shared, "Ann")
    asked = []
    ann.page.on("request", lambda one: asked.append(one) if "/boards/" in one.url else None)
    open_room(ann)
    expect(sticks(ann)).to_have_count(15)
    scripts = [one for one in asked if one.url.endswith("board.js")]
    assert [one.all_headers().get("cookie") for one in scripts] == [None]
    assert [one.all_headers().get("referer") for one in asked] == [None] * len(asked)


def test_a_page_that_is_opened_by_itself_has_no_origin_either(shared, visit):
    ann = visit(shared, "Ann")
    open_room(ann)
    ann.go("/boards/sticks/index.html")
    assert ann.page.evaluate("self.origin") == "null"


def test_a_page_cannot_lead_its_frame_to_another_page(shared, visit):
    ann, _, room = sit(shared, visit)
    for place in ("https://example.org/", "/", f"/r/{room}"):
        with ann.page.expect_event("framenavigated"):
            frame_of(ann).evaluate("(place) => void setTimeout(() => (location.href = place))", place)
        assert frame_of(ann).evaluate("document.querySelector('input, main') === null")
        assert "example.org" not in frame_of(ann).url
        ann.page.reload()
        expect(sticks(ann)).to_have_count(15)
    ann.complaints.clear()  # the browser has told of each refusal


def test_an_event_that_a_page_makes_up_is_refused_like_any_other(shared, visit):
    ann, bob, _ = sit(shared, visit)
    send = "(event) => new Promise((heard) => {"
    send += " addEventListener('message', ({ data }) => data.type === 'refused' && heard(data.code));"
    send += " parent.postMessage({ type: 'event', event }, '*'); })"
    ann.sees("Your turn")
    assert frame_of(ann).evaluate(send, {"type": "take", "count": 9}) == "illegal_move"
    ann.reads("Take one, two or three sticks in your turn")
    assert frame_of(bob).evaluate(send, {"type": "take", "count": 1}) == "illegal_move"
    assert frame_of(ann).evaluate(send, {"type": "resign_for", "who": "bob"}) == "unknown_event"
    expect(sticks(bob)).to_have_count(15)
    ann.sees("Your turn")


def test_a_window_without_an_origin_that_is_not_the_board_is_not_heard(shared, visit):
    ann, bob, _ = sit(shared, visit)
    ann.sees("Your turn")
    said = "{ type: 'event', event: { type: 'take', count: 1 } }"
    ann.page.evaluate(f"postMessage({said}, '*')")
    ann.page.evaluate("""() => new Promise((loaded) => {
        const other = document.createElement("iframe");
        other.sandbox = "allow-scripts";
        other.src = "/boards/sticks/index.html";
        other.onload = loaded;
        document.body.append(other);
    })""")
    ann.page.frames[-1].evaluate(f"parent.postMessage({said}, '*')")
    ann.page.evaluate("document.body.lastChild.remove()")
    take(ann, 2)
    bob.sees("Your turn")
    expect(sticks(bob)).to_have_count(13)


def test_a_page_that_floods_is_stopped_with_a_sentence_and_the_room_goes_on(shared, visit):
    ann, bob, _ = sit(shared, visit)
    ann.sees("Your turn")
    flood = (
        "for (let n = 0; n < 20000; n++) parent.postMessage({ type: 'event', event: { type: 'no', n } }, '*')"
    )
    frame_of(ann).evaluate(f"() => void setTimeout(() => {{ {flood} }})")
    ann.reads("The game's own board has sent too many messages, and was stopped. The game goes on.")
    ann.has("iframe", 0)
    ann.say("Still here")
    bob.reads("Still here")
    ann.click("Show it again")
    expect(sticks(ann)).to_have_count(15)
    take(ann, 1)
    bob.sees("Your turn")


def test_what_is_no_event_is_told_beside_the_board(shared, visit):
    ann, bob, _ = sit(shared, visit)
    for message in (
        "'take'",
        "{ type: 'event' }",
        "{ type: 'event', event: 1n }",
        "{ type: 'event', event: 'x'.repeat(99999) }",
    ):
        frame_of(ann).evaluate(f"parent.postMessage({message}, '*')")
        ann.reads("The game's own board has sent something that is no event.")
    take(ann, 1)
    bob.sees("Your turn")
    ann.reads_no_more("something that is no event")


def test_a_page_is_told_who_i_am_how_i_like_it_and_what_i_can_do(serve, visit, file):
    script = file.parent / "sticks-board" / "board.js"
    script.write_text(
        script.read_text() + "\naddEventListener('message', ({ data }) => (self.told = data));\n"
    )
    ann, bob, _ = sit(serve(file), visit, color_scheme="dark")
    told = frame_of(bob).evaluate("told")
    view = {"players": told["view"]["players"], "left": 15, "turn": 0}
    assert told == {
        "type": "state", "seat": 1, "names": ["Ann", "Bob"], "view": view, "legal": [],
        "theme": "dark", "language": "en", "still": True,
    }  # fmt: skip


def test_a_saved_page_is_loaded_again_and_one_that_is_wrong_is_told_in_the_room(serve, visit, file):
    ann, bob, _ = sit(serve(file, "--reload"), visit)
    page = file.parent / "sticks-board" / "index.html"
    good = page.read_text()
    page.write_text(good.replace("<title>", "<title lang=la>"))
    for visitor in (ann, bob):
        expect(visitor.page.frame_locator("iframe").locator("title[lang=la]")).to_be_attached()
    page.unlink()
    ann.reads("The game's own board cannot be shown: sticks-board/index.html: expected the page of the board")
    ann.click("Take 1")
    bob.sees("Your turn")
    page.write_text(good)
    expect(sticks(bob)).to_have_count(14)
    take(bob, 2)
    ann.sees("Your turn")
